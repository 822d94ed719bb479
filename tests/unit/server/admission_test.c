/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each plugin alone, on objects as they come from decoding, beside a small cluster of
 * others in the cache.
 */
#include "server/admission/admission.h"

#include "server/access/user.h"
#include "server/observe/metrics.h"
#include "unit/unit.h"

static struct server s;
static struct arena arena;

static struct str quoted(const char *json)
{
    char *text = arena_strdup(&arena, json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return str_from(text);
}

static struct doc parse(const char *json)
{
    struct doc_source src = {.name = "test", .text = quoted(json)};
    struct doc d;
    assert_true(doc_read_json(&src, &arena, &d, NULL));
    return doc_dup(&arena, &d);
}

/* ---- the cluster ---- */

static const struct {
    const char *group, *resource, *namespace, *name, *json;
} CLUSTER[] = {
    {"", "namespaces", "", "default", "'status':{'phase':'Active'}"},
    {"", "namespaces", "", "ending", "'status':{'phase':'Terminating'}"},
    {"", "serviceaccounts", "default", "default",
     "'imagePullSecrets':[{'name':'pull'}],'secrets':[{'name':'mine'}]"},
    {"", "serviceaccounts", "default", "quiet", "'automountServiceAccountToken':false"},
    {"", "nodes", "", "n1",
     "'status':{'declaredFeatures':['InPlacePodVerticalScalingInitContainers'],"
     "'allocatable':{'cpu':'2','memory':'1Gi'}}"},
    {"", "pods", "default", "on-n1", "'spec':{'nodeName':'n1'}"},
    {"", "pods", "default", "on-n2", "'spec':{'nodeName':'n2'}"},
    {"scheduling.k8s.io", "priorityclasses", "", "high",
     "'value':1000,'preemptionPolicy':'Never'"},
    {"scheduling.k8s.io", "priorityclasses", "", "usual",
     "'value':7,'globalDefault':true,'preemptionPolicy':'PreemptLowerPriority'"},
    {"storage.k8s.io", "storageclasses", "", "fast", "'allowVolumeExpansion':true"},
    {"node.k8s.io", "runtimeclasses", "", "vm",
     "'handler':'vm','overhead':{'podFixed':{'cpu':'100m'}},'scheduling':{"
     "'nodeSelector':{'vm':'yes'},'tolerations':[{'key':'vm','operator':'Exists'}]}"},
};

/* meta: what stands beside the name. */
static void put(const char *group, const char *resource, const char *namespace,
                const char *name, const char *meta, const char *json)
{
    static uint64_t revision = 1;
    revision++;
    const struct resource *res = kinds_stored(&s, group, resource);
    assert_non_null(res);
    struct str key = object_key(res, str_from(namespace), str_from(name), &arena);
    struct str text = arena_printf(
        &arena,
        "{'kind':'%s','apiVersion':'%s%s%s','metadata':{'name':'%s','namespace':'%s',"
        "'uid':'uid-%s','creationTimestamp':'2026-01-01T00:00:00Z'%s}%s%s}",
        res->hub->name, group, *group ? "/" : "", res->hub->version, name, namespace,
        name, meta, *json ? "," : "", json);
    struct store_change c = {.kind = STORE_PUT,
                             .revision = revision,
                             .key = key,
                             .value = quoted(text.p),
                             .created = true};
    cache_apply(s.cache, &c);
}

static int set_up(void **state)
{
    (void)state;
    s.gates = api_gates_default;
    s.opts = (struct server_opts)SERVER_OPTS_INIT;
    kinds_init(&s);
    s.metrics = metrics_new();
    s.cache = cache_new(&(struct cache_opts){.decode = object_decode, .ctx = &s});
    for (size_t i = 0; i < UNIT_COUNT(CLUSTER); i++)
        put(CLUSTER[i].group, CLUSTER[i].resource, CLUSTER[i].namespace, CLUSTER[i].name,
            "", CLUSTER[i].json);
    put("", "serviceaccounts", "default", "strict",
        ",'annotations':{'kubernetes.io/enforce-mountable-secrets':'true'}",
        "'secrets':[{'name':'mine'}]");
    put("", "nodes", "", "n2",
        ",'labels':{'topology.kubernetes.io/zone':'z','other':'x'}", "");
    put("storage.k8s.io", "storageclasses", "", "usual",
        ",'annotations':{'storageclass.kubernetes.io/is-default-class':'true'}", "");
    put("networking.k8s.io", "ingressclasses", "", "web",
        ",'annotations':{'ingressclass.kubernetes.io/is-default-class':'true'}", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cache_free(s.cache);
    metrics_free(s.metrics);
    strmap_release(&s.by_name);
    strmap_release(&s.by_key);
    arena_fini(&s.scratch);
    arena_fini(&s.arena);
    arena_fini(&arena);
    return 0;
}

/* ---- one request ---- */

static const struct str NODES[] = {STR("system:nodes")};
static const struct user ADMIN = {.name = STR("admin"), .admin = true},
                         NODE = {.name = STR("system:node:n1"),
                                 .groups = NODES,
                                 .ngroups = 1};

/* Only this plugin is on. */
static void switch_to(const char *plugin)
{
    const char *enable = strcmp(plugin, "-") ? plugin : NULL;
    assert_true(admission_configure(&s, NULL, NULL, NULL));
    uint64_t usual = s.admission;
    assert_true(admission_configure(&s, enable, NULL, NULL));
    uint64_t with = s.admission;
    struct err e = ERR_INIT;
    bool off = admission_configure(&s, NULL, enable, &e);
    assert_true(off);
    s.admission = with & ~(s.admission & usual);
}

/* "GROUP/RESOURCE[/SUBRESOURCE]", whether it is served or not. */
static const struct resource *find(const char *path)
{
    struct str text = str_from(path);
    size_t slash = str_find_byte(text, '/', 0), sub = str_find_byte(text, '/', slash + 1);
    const char *group = arena_str(&arena, str_sub(text, 0, slash)).p,
               *name = arena_str(&arena, str_sub(text, slash + 1, sub)).p;
    const struct resource *main = kinds_stored(&s, group, name);
    assert_non_null(main);
    struct resource *res = ARENA_NEW(&arena, struct resource);
    *res = *main;
    res->sub = sub == SIZE_MAX ? NULL : path + sub + 1;
    return res;
}

struct row {
    const char *plugin;
    const struct user *user;
    enum admit_verb verb;
    const char *resource, *name, *object, *old;
    /* The refusal; or "PATH=JSON", "!PATH": not there; "": let through. */
    const char *want;
};

static struct str text_of(const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static bool is_placed(const struct doc *d, const char *want)
{
    struct str w = quoted(want);
    size_t eq = str_find_byte(w, '=', 0);
    if (want[0] == '!')
        return !doc_path(d, want + 1);
    const struct doc *at = doc_path(d, arena_str(&arena, str_sub(w, 0, eq)).p);
    struct str got = at ? text_of(at) : STR("nothing");
    bool same = str_eq(got, str_sub(w, eq + 1, SIZE_MAX));
    if (!same)
        print_error("got  %.*s\n", STR_ARG(got));
    return same;
}

static void run(const struct row *row)
{
    struct doc object = parse(row->object ? row->object : "{}"),
               old = parse(row->old ? row->old : "{}");
    struct net_exchange x = {.arena = &arena};
    struct request r = {
        .s = &s, .x = &x, .a = &arena, .user = row->user, .res = find(row->resource)};
    r.route.namespace = r.res->main->namespaced ? STR("default") : STR_NONE;
    if (strncmp(row->name, "ending/", 7) == 0)
        r.route.namespace = STR("ending");
    struct admission a = {&r, row->verb, str_from(row->name),
                          row->object ? &object : NULL, row->old ? &old : NULL};
    switch_to(row->plugin);
    bool ok = admission_mutate(&a) && admission_validate(&a);
    if (!ok && !str_ends(r.failure.message, str_from(row->want)))
        print_error("got  %.*s\n", STR_ARG(r.failure.message));
    const char *stop = row->want + strcspn(row->want, " =");
    bool refusal = row->want[0] && row->want[0] != '!' && *stop != '=';
    if (refusal)
        ROW(row->want, !ok && str_ends(r.failure.message, str_from(row->want)));
    else
        ROW(row->want, ok && (!row->want[0] || is_placed(&object, row->want)));
}

#define C ADMIT_CREATE
#define U ADMIT_UPDATE
#define D ADMIT_DELETE

static const struct row LIFECYCLE[] = {
    {"NamespaceLifecycle", &ADMIN, C, "/pods", "p", "{}", NULL, ""},
    {"NamespaceLifecycle", &ADMIN, C, "/pods", "ending/p", "{}", NULL,
     "unable to create new content in namespace ending because it is being terminated"},
    {"NamespaceLifecycle", &ADMIN, U, "/pods", "ending/p", "{}", "{}", ""},
    {"NamespaceLifecycle", &ADMIN, D, "/namespaces", "kube-system", NULL, "{}",
     "this namespace may not be deleted"},
    {"NamespaceLifecycle", &ADMIN, D, "/namespaces", "kube-node-lease", NULL, "{}", ""},
    {"NamespaceExists", &ADMIN, D, "/pods", "p", NULL, "{}", ""},
    {"AlwaysDeny", &ADMIN, D, "/pods", "p", NULL, "{}",
     "admission control is denying all modifications"},
    {"AlwaysAdmit", &ADMIN, C, "/pods", "p", "{}", NULL, "!spec"},
};

#define POD(spec) "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c'}]" spec "}}"
#define MIRROR(spec)                                                                     \
    "{'metadata':{'name':'p','annotations':{'kubernetes.io/config.mirror':'x'}},"        \
    "'spec':{'containers':[{'name':'c'}]" spec "}}"

static const struct row ACCOUNTS[] = {
    {"ServiceAccount", &ADMIN, C, "/pods", "p", POD(), NULL,
     "spec.serviceAccountName='default'"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p", POD(), NULL,
     "spec.serviceAccount='default'"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p", POD(), NULL,
     "spec.imagePullSecrets=[{'name':'pull'}]"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p",
     POD(",'imagePullSecrets':[{'name':'own'}]"), NULL,
     "spec.imagePullSecrets=[{'name':'own'}]"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p",
     POD(",'volumes':[{'name':'kube-api-access-x'}]"), NULL,
     "spec.containers=[{'name':'c','volumeMounts':[{'name':'kube-api-access-x','readOnly'"
     ":true,'mountPath':'/var/run/secrets/kubernetes.io/serviceaccount'}]}]"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p",
     POD(",'automountServiceAccountToken':false"), NULL, "!spec.volumes"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p", POD(",'serviceAccountName':'quiet'"),
     NULL, "!spec.volumes"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p", POD(",'serviceAccountName':'none'"), NULL,
     "error looking up service account default/none: serviceaccount \"none\" not found"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p",
     POD(",'serviceAccountName':'strict','volumes':[{'secret':{'secretName':'other'}}]"),
     NULL,
     "volume with secret.secretName=\"other\" is not allowed because service account "
     "strict does not reference that secret"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p",
     POD(",'serviceAccountName':'strict','volumes':[{'secret':{'secretName':'mine'}}]"),
     NULL, "spec.serviceAccountName='strict'"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p", MIRROR(), NULL, "!spec.volumes"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p", MIRROR(",'serviceAccountName':'quiet'"),
     NULL, "a mirror pod may not reference service accounts"},
    {"ServiceAccount", &ADMIN, C, "/pods", "p",
     MIRROR(",'imagePullSecrets':[{'name':'x'}]"), NULL,
     "a mirror pod may not reference secrets"},
    {"ServiceAccount", &ADMIN, U, "/pods", "p", POD(), POD(), "!spec.serviceAccountName"},
};

#define OWNED(rest)                                                                      \
    "{'metadata':{'name':'p','annotations':{'kubernetes.io/config.mirror':'x'},"         \
    "'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n1','uid':'uid-n1'"     \
    ",'controller':true}]},'spec':{'nodeName':'n1'" rest "}}"
#define LABELS(labels) "{'metadata':{'name':'n1','labels':{" labels "}}}"
#define SLICE(node) "{'metadata':{'name':'s'},'spec':{'nodeName':'" node "'}}"
#define TOKEN(name, uid)                                                                 \
    "{'spec':{'audiences':[],'boundObjectRef':{'apiVersion':'v1','kind':'Pod','name':"   \
    "'" name "','uid':'" uid "'}}}"

static const struct row NODE_RESTRICTION[] = {
    {"NodeRestriction", &ADMIN, C, "/pods", "p", POD(), NULL, ""},
    {"NodeRestriction", &NODE, C, "/pods", "p", POD(), NULL,
     "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n1\" can only "
     "create mirror pods"},
    {"NodeRestriction", &NODE, C, "/pods", "p", OWNED(), NULL, ""},
    {"NodeRestriction", &NODE, C, "/pods", "p", MIRROR(",'nodeName':'n1'"), NULL,
     "can only create pods with an owner reference set to itself"},
    {"NodeRestriction", &NODE, C, "/pods", "p", MIRROR(",'nodeName':'n2'"), NULL,
     "can only create pods with spec.nodeName set to itself"},
    {"NodeRestriction", &NODE, C, "/pods", "p", OWNED(",'resourceClaims':[{'name':'c'}]"),
     NULL, "can not create pods that reference resourceclaims"},
    {"NodeRestriction", &NODE, C, "/pods", "p",
     OWNED(",'volumes':[{'persistentVolumeClaim':{'claimName':'x'}}]"), NULL,
     "can not create pods that reference persistentvolumeclaims"},
    {"NodeRestriction", &NODE, C, "/pods", "p",
     OWNED(",'volumes':[{'projected':{'sources':[{'clusterTrustBundle':{}}]}}]"), NULL,
     "can not create pods that reference clustertrustbundles"},
    {"NodeRestriction", &NODE, C, "/pods", "p",
     OWNED(",'volumes':[{'projected':{'sources':[{'downwardAPI':{}}]}}]"), NULL, ""},
    {"NodeRestriction", &NODE, U, "/pods", "p", POD(), POD(),
     "unexpected operation \"UPDATE\", node \"n1\" can only create and delete mirror "
     "pods"},
    {"NodeRestriction", &NODE, D, "/pods", "p", NULL, POD(",'nodeName':'n1'"), ""},
    {"NodeRestriction", &NODE, D, "/pods", "p", NULL, POD(),
     "can only delete pods with spec.nodeName set to itself"},
    {"NodeRestriction", &NODE, U, "/pods/status", "p", POD(",'nodeName':'n1'"),
     POD(",'nodeName':'n1'"), ""},
    {"NodeRestriction", &NODE, U, "/pods/status", "p",
     "{'status':{'resourceClaimStatuses':[{'name':'a'}]}}", POD(",'nodeName':'n1'"),
     "node \"n1\" cannot update resource claim statues"},
    {"NodeRestriction", &NODE, C, "/nodes", "n2", "{}", NULL,
     "node \"n1\" is not allowed to modify node \"n2\""},
    {"NodeRestriction", &NODE, C, "/nodes", "n1",
     LABELS("'kubernetes.io/os':'linux','x.node.kubernetes.io/y':'1','mine':'1'"), NULL,
     ""},
    {"NodeRestriction", &NODE, C, "/nodes", "n1",
     LABELS("'node-restriction.kubernetes.io/b':'','k8s.io/a':''"), NULL,
     "is not allowed to set the following labels: k8s.io/a, "
     "node-restriction.kubernetes.io/b"},
    {"NodeRestriction", &NODE, U, "/nodes", "n1", LABELS("'mine':'2'"),
     LABELS("'a.k8s.io/x':'1'"), "is not allowed to modify labels: a.k8s.io/x"},
    {"NodeRestriction", &NODE, U, "/nodes", "n1", "{'spec':{'taints':[{'key':'a'}]}}",
     "{}", "node \"n1\" is not allowed to modify taints"},
    {"NodeRestriction", &NODE, C, "resource.k8s.io/resourceslices", "s", SLICE("n1"),
     NULL, ""},
    {"NodeRestriction", &NODE, C, "resource.k8s.io/resourceslices", "s", SLICE("n2"),
     NULL, "can only create ResourceSlice with the same NodeName as the requesting node"},
    {"NodeRestriction", &NODE, D, "resource.k8s.io/resourceslices", "s", NULL, "{}",
     "can only delete ResourceSlice with the same NodeName as the requesting node"},
    {"NodeRestriction", &NODE, U, "coordination.k8s.io/leases", "n1", "{}", "{}",
     "can only access leases in the \"kube-node-lease\" system namespace"},
    {"NodeRestriction", &NODE, U, "storage.k8s.io/csinodes", "n2", "{}", "{}",
     "can only access CSINode with the same name as the requesting node"},
    {"NodeRestriction", &NODE, C, "/serviceaccounts/token", "default", "{'spec':{}}",
     NULL, "node requested token not bound to a pod"},
    {"NodeRestriction", &NODE, C, "/serviceaccounts/token", "default",
     TOKEN("on-n2", "uid-on-n2"), NULL,
     "node requested token bound to a pod scheduled on a different node"},
    {"NodeRestriction", &NODE, C, "/serviceaccounts/token", "default",
     TOKEN("on-n1", "other"), NULL,
     "The object might have been deleted and then recreated"},
    {"NodeRestriction", &NODE, U, "/persistentvolumeclaims", "c", "{}", "{}",
     "may only update PVC status"},
    {"NodeRestriction", &NODE, U, "/persistentvolumeclaims/status", "c",
     "{'metadata':{},'status':{'capacity':{'storage':'2Gi'}}}",
     "{'metadata':{},'status':{}}", ""},
    {"NodeRestriction", &NODE, U, "/persistentvolumeclaims/status", "c",
     "{'metadata':{},'status':{'phase':'Lost'}}", "{'metadata':{},'status':{}}",
     "is not allowed to update fields other than status.quantity and status.conditions"},
};

static const struct row PODS[] = {
    {"Priority", &ADMIN, C, "/pods", "p", POD(",'priorityClassName':'high'"), NULL,
     "spec.priority=1000"},
    {"Priority", &ADMIN, C, "/pods", "p", POD(",'priorityClassName':'high'"), NULL,
     "spec.preemptionPolicy='Never'"},
    {"Priority", &ADMIN, C, "/pods", "p", POD(), NULL, "spec.priorityClassName='usual'"},
    {"Priority", &ADMIN, C, "/pods", "p", POD(",'priorityClassName':'none'"), NULL,
     "no PriorityClass with name none was found"},
    {"Priority", &ADMIN, C, "/pods", "p", POD(",'priority':1"), NULL,
     "the integer value of priority (1) must not be provided in pod spec; priority "
     "admission controller computed 7 from the given PriorityClass name"},
    {"Priority", &ADMIN, U, "/pods", "p", POD(), POD(",'priority':5"), "spec.priority=5"},
    {"Priority", &ADMIN, C, "scheduling.k8s.io/priorityclasses", "x",
     "{'metadata':{'name':'x'},'globalDefault':true}", NULL,
     "PriorityClass usual is already marked as default. Only one default can exist"},
    {"DefaultTolerationSeconds", &ADMIN, C, "/pods", "p",
     POD(",'tolerations':[{'key':'node.kubernetes.io/not-ready'}]"), NULL,
     "spec.tolerations=[{'key':'node.kubernetes.io/not-ready'},{'key':"
     "'node.kubernetes.io/unreachable','operator':'Exists','effect':'NoExecute',"
     "'tolerationSeconds':300}]"},
    {"ExtendedResourceToleration", &ADMIN, C, "/pods", "p",
     "{'spec':{'containers':[{'resources':{'requests':{'cpu':'1','b.com/x':'1',"
     "'a.com/x':'1','deviceclass.resource.kubernetes.io/c':'1'}}}]}}",
     NULL,
     "spec.tolerations=[{'key':'a.com/x','operator':'Exists','effect':'NoSchedule'},"
     "{'key':'b.com/x','operator':'Exists','effect':'NoSchedule'}]"},
    {"AlwaysPullImages", &ADMIN, C, "/pods", "p",
     POD(",'volumes':[{'image':{'reference':'a'}}]"), NULL,
     "spec.volumes=[{'image':{'reference':'a','pullPolicy':'Always'}}]"},
    {"AlwaysPullImages", &ADMIN, U, "/pods", "p",
     "{'spec':{'containers':[{'image':'a','imagePullPolicy':'Never'}]}}",
     "{'spec':{'containers':[{'image':'a'}]}}",
     "spec.containers=[{'image':'a','imagePullPolicy':'Never'}]"},
    {"LimitPodHardAntiAffinityTopology", &ADMIN, C, "/pods", "p",
     POD(",'affinity':{'podAntiAffinity':{'"
         "requiredDuringSchedulingIgnoredDuringExecution'"
         ":[{'topologyKey':'rack'}]}}"),
     NULL, "has TopologyKey rack but only key kubernetes.io/hostname is allowed"},
    {"RuntimeClass", &ADMIN, C, "/pods", "p", POD(",'runtimeClassName':'vm'"), NULL,
     "spec.overhead={'cpu':'100m'}"},
    {"RuntimeClass", &ADMIN, C, "/pods", "p",
     POD(",'runtimeClassName':'vm','tolerations':[{'key':'vm','operator':'Equal'},"
         "{'key':'x'}]"),
     NULL, "spec.tolerations=[{'key':'x'},{'key':'vm','operator':'Exists'}]"},
    {"RuntimeClass", &ADMIN, C, "/pods", "p",
     POD(",'runtimeClassName':'vm','nodeSelector':{'vm':'no'}"), NULL,
     "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; "
     "pod.spec.nodeSelector[vm] "
     "= no"},
    {"RuntimeClass", &ADMIN, C, "/pods", "p", POD(",'runtimeClassName':'none'"), NULL,
     "pod rejected: RuntimeClass \"none\" not found"},
    {"RuntimeClass", &ADMIN, C, "/pods", "p", POD(",'overhead':{'cpu':'1'}"), NULL,
     "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
     "Overhead"},
    {"RuntimeClass", &ADMIN, C, "/pods", "p",
     POD(",'runtimeClassName':'vm','overhead':{'cpu':'1'}"), NULL,
     "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
    {"PodTopologyLabels", &ADMIN, C, "/pods/binding", "p",
     "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n2'}}", NULL,
     "metadata.labels={'topology.kubernetes.io/zone':'z'}"},
    {"PodTopologyLabels", &ADMIN, C, "/pods", "p", POD(), NULL, "!metadata.labels"},
};

#define CLAIM(class, size, phase)                                                        \
    "{'spec':{'storageClassName':'" class "','resources':{'requests':{'storage':'" size  \
                                          "'}}},'status':{'phase':'" phase "'}}"
#define AT(generation, rest)                                                             \
    "{'metadata':{'name':'p','generation':" generation "},'spec':{'nodeName':'n1'," rest \
    "}}"

static const struct row OTHERS[] = {
    {"TaintNodesByCondition", &ADMIN, C, "/nodes", "n", "{}", NULL,
     "spec.taints=[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]"},
    {"StorageObjectInUseProtection", &ADMIN, C, "/persistentvolumes", "v", "{}", NULL,
     "metadata.finalizers=['kubernetes.io/pv-protection']"},
    {"StorageObjectInUseProtection", &ADMIN, C, "storage.k8s.io/volumeattributesclasses",
     "v", "{}", NULL, "metadata.finalizers=['kubernetes.io/vac-protection']"},
    {"DefaultStorageClass", &ADMIN, C, "/persistentvolumeclaims", "c", "{}", NULL,
     "spec.storageClassName='usual'"},
    {"DefaultStorageClass", &ADMIN, C, "/persistentvolumeclaims", "c",
     "{'spec':{'storageClassName':''}}", NULL, "spec.storageClassName=''"},
    {"DefaultIngressClass", &ADMIN, C, "networking.k8s.io/ingresses", "i", "{}", NULL,
     "spec.ingressClassName='web'"},
    {"DefaultIngressClass", &ADMIN, C, "networking.k8s.io/ingresses", "i",
     "{'metadata':{'annotations':{'kubernetes.io/ingress.class':'x'}}}", NULL, "!spec"},
    {"PersistentVolumeClaimResize", &ADMIN, U, "/persistentvolumeclaims", "c",
     CLAIM("fast", "2Gi", "Bound"), CLAIM("fast", "1Gi", "Bound"), ""},
    {"PersistentVolumeClaimResize", &ADMIN, U, "/persistentvolumeclaims", "c",
     CLAIM("fast", "2Gi", "Pending"), CLAIM("fast", "1Gi", "Pending"),
     "Only bound persistent volume claims can be expanded"},
    {"PersistentVolumeClaimResize", &ADMIN, U, "/persistentvolumeclaims", "c",
     CLAIM("usual", "2Gi", "Bound"), CLAIM("usual", "1Gi", "Bound"),
     "the storageclass that provisions the pvc must support resize"},
    {"PersistentVolumeClaimResize", &ADMIN, U, "/persistentvolumeclaims", "c",
     CLAIM("usual", "1024Mi", "Bound"), CLAIM("usual", "1Gi", "Bound"), ""},
    {"DenyServiceExternalIPs", &ADMIN, C, "/services", "s",
     "{'spec':{'externalIPs':['1.2.3.4']}}", NULL,
     "Use of external IPs is denied by admission control"},
    {"DenyServiceExternalIPs", &ADMIN, U, "/services", "s",
     "{'spec':{'externalIPs':['1.2.3.4']}}",
     "{'spec':{'externalIPs':['1.2.3.4','1.2.3.5']}}", ""},
    {"CertificateSubjectRestriction", &ADMIN, C,
     "certificates.k8s.io/certificatesigningrequests", "r",
     "{'spec':{'signerName':'kubernetes.io/kube-apiserver-client','request':'AAAA'}}",
     NULL, "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"},
    {"NodeDeclaredFeatureValidator", &ADMIN, U, "/pods", "p",
     AT("2", "'resources':{'requests':{'cpu':'1'}}"), AT("1", "'x':1"),
     "pod update requires features InPlacePodLevelResourcesVerticalScaling which are not "
     "available on node \"n1\""},
    {"NodeDeclaredFeatureValidator", &ADMIN, U, "/pods", "p",
     AT("2", "'initContainers':[{'resources':{'requests':{'cpu':'1'}}}]"),
     AT("1", "'initContainers':[{'resources':{}}]"), ""},
    {"PodResizeValidator", &ADMIN, U, "/pods/resize", "p",
     AT("2", "'containers':[{'name':'c','resources':{'requests':{'cpu':'3'}}}]"),
     AT("1", "'x':1"),
     "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: "
     "2000"},
};

static void run_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run(&rows[i]);
}

static void test_plugins(void **state)
{
    (void)state;
    run_all(LIFECYCLE, UNIT_COUNT(LIFECYCLE));
    run_all(ACCOUNTS, UNIT_COUNT(ACCOUNTS));
    run_all(NODE_RESTRICTION, UNIT_COUNT(NODE_RESTRICTION));
    run_all(PODS, UNIT_COUNT(PODS));
    run_all(OTHERS, UNIT_COUNT(OTHERS));
}

/* The volume of a token has a name of its own. */
static void test_token_volume(void **state)
{
    (void)state;
    struct doc pod = parse(POD());
    struct net_exchange x = {.arena = &arena};
    struct request r = {
        .s = &s, .x = &x, .a = &arena, .user = &ADMIN, .res = find("/pods")};
    r.route.namespace = STR("default");
    struct admission a = {&r, C, STR("p"), &pod, NULL};
    switch_to("ServiceAccount");
    assert_true(admission_mutate(&a));
    const struct doc *volume = &doc_path(&pod, "spec.volumes")->items[0],
                     *mounts = doc_get(&doc_path(&pod, "spec.containers")->items[0],
                                       "volumeMounts");
    struct str name = doc_get_text(volume, "name");
    assert_true(str_starts(name, STR("kube-api-access-")));
    assert_int_equal(name.n, strlen("kube-api-access-") + 5);
    assert_true(str_eq(doc_get_text(&mounts->items[0], "name"), name));
    assert_str(
        text_of(doc_get(volume, "projected")),
        quoted("{'sources':[{'serviceAccountToken':{'expirationSeconds':3607,'path':"
               "'token'}},{'configMap':{'name':'kube-root-ca.crt','items':[{'key':"
               "'ca.crt','path':'ca.crt'}]}},{'downwardAPI':{'items':[{'path':"
               "'namespace','fieldRef':{'apiVersion':'v1','fieldPath':"
               "'metadata.namespace'}}]}}],'defaultMode':420}")
            .p);
}

/* ---- switches ---- */

static const struct {
    const char *enable, *disable, *error; /* NULL: none */
} SWITCHES[] = {
    {NULL, NULL, NULL},
    {"NodeRestriction,AlwaysPullImages", "ServiceAccount", NULL},
    {NULL, "LimitRanger,ResourceQuota,PodSecurity", NULL},
    {"Nothing", NULL,
     "--enable-admission-plugins: there is no admission plugin \"Nothing\""},
    {NULL, "Nothing",
     "--disable-admission-plugins: there is no admission plugin \"Nothing\""},
    {"ImagePolicyWebhook", NULL,
     "--enable-admission-plugins: ImagePolicyWebhook is a plugin of kube-apiserver that "
     "is "
     "not here"},
    {"RuntimeClass", "RuntimeClass", "RuntimeClass is both enabled and disabled"},
};

static void test_switches(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SWITCHES); i++) {
        struct err e = ERR_INIT;
        bool ok = admission_configure(&s, SWITCHES[i].enable, SWITCHES[i].disable, &e);
        if (!ok && !SWITCHES[i].error)
            print_error("%s\n", err_text(&e));
        if (SWITCHES[i].error)
            assert_string_equal(err_text(&e), SWITCHES[i].error);
        ROW(SWITCHES[i].error ? SWITCHES[i].error : "none", ok == !SWITCHES[i].error);
        err_release(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plugins),
        cmocka_unit_test(test_token_volume),
        cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
