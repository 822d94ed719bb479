/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cluster.h"

#include "api/view_read.h"

void cluster_init(struct cluster *c)
{
    *c = (struct cluster){0};
    arena_init(&c->arena);
    device_names_init(&c->names);
}

void cluster_fini(struct cluster *c)
{
    vec_release(&c->nodes);
    vec_release(&c->slices);
    vec_release(&c->classes);
    vec_release(&c->taint_rules);
    vec_release(&c->claims);
    vec_release(&c->templates);
    vec_release(&c->pods);
    vec_release(&c->workloads);
    strmap_release(&c->node_index);
    strmap_release(&c->class_index);
    strmap_release(&c->claim_index);
    strmap_release(&c->template_index);
    strmap_release(&c->made_index);
    strmap_release(&c->namespaces);
    strmap_release(&c->priorities);
    strmap_release(&c->seen);
    device_names_fini(&c->names);
    arena_fini(&c->arena);
}

/* ---- looking up ---- */

struct str cluster_key(struct cluster *c, struct str namespace, struct str name)
{
    return arena_printf(&c->arena, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

const struct view_node *cluster_node(const struct cluster *c, struct str name)
{
    const struct strmap_entry *e = strmap_find(&c->node_index, name);
    return e ? c->nodes.v[e->value.u] : NULL;
}

const struct view_class *cluster_class(const struct cluster *c, struct str name)
{
    const struct strmap_entry *e = strmap_find(&c->class_index, name);
    return e ? c->classes.v[e->value.u] : NULL;
}

struct cluster_claim *cluster_claim(struct cluster *c, struct str namespace,
                                    struct str name)
{
    const struct strmap_entry *e =
        strmap_find(&c->claim_index, cluster_key(c, namespace, name));
    return e ? &c->claims.v[e->value.u] : NULL;
}

const struct cluster_template *cluster_template(struct cluster *c, struct str namespace,
                                                struct str name)
{
    const struct strmap_entry *e =
        strmap_find(&c->template_index, cluster_key(c, namespace, name));
    return e ? &c->templates.v[e->value.u] : NULL;
}

struct cluster_claim *cluster_claim_made(struct cluster *c, struct str pod_uid,
                                         struct str entry)
{
    const struct strmap_entry *e =
        pod_uid.n ? strmap_find(&c->made_index, cluster_key(c, pod_uid, entry)) : NULL;
    return e ? &c->claims.v[e->value.u] : NULL;
}

bool cluster_priority(const struct cluster *c, const struct view_pod *pod, int64_t *out)
{
    static const struct {
        const char *name;
        int64_t value;
    } BUILT_IN[] = {
        {"system-node-critical", 2000001000},
        {"system-cluster-critical", 2000000000},
    };
    struct str class = pod->priority_class;
    *out = pod->has_priority ? pod->priority : class.n ? 0 : c->default_priority;
    if (pod->has_priority || class.n == 0)
        return true;
    for (int i = 0; i < 2; i++)
        if (str_is(class, BUILT_IN[i].name)) {
            *out = BUILT_IN[i].value;
            return true;
        }
    const struct strmap_entry *e = strmap_find(&c->priorities, class);
    *out = e ? e->value.i : 0;
    return e != NULL;
}

const struct cluster_origin *cluster_meet(struct cluster *c, struct str kind,
                                          struct str namespace, struct str name,
                                          struct cluster_origin here)
{
    bool made;
    struct str key = arena_printf(&c->arena, "%.*s %.*s/%.*s", STR_ARG(kind),
                                  STR_ARG(namespace), STR_ARG(name));
    struct strmap_entry *e = strmap_put(&c->seen, key, &made);
    if (!made)
        return e->value.ptr;
    struct cluster_origin *origin = ARENA_NEW(&c->arena, struct cluster_origin);
    *origin = here;
    e->value.ptr = origin;
    return NULL;
}

/* ---- adding ---- */

static void enter(struct strmap *map, struct str key, size_t at)
{
    strmap_put(map, key, NULL)->value.u = at;
}

static bool add_node(struct cluster *c, const struct doc *d, struct err *e)
{
    const struct view_node *v = view_node_new(d, &c->arena, e);
    if (!v)
        return false;
    enter(&c->node_index, v->meta.name, c->nodes.n);
    vec_push(&c->nodes, v);
    return true;
}

static bool add_class(struct cluster *c, const struct doc *d, struct err *e)
{
    const struct view_class *v = view_class_new(d, &c->arena, e);
    if (!v)
        return false;
    enter(&c->class_index, v->meta.name, c->classes.n);
    vec_push(&c->classes, v);
    return true;
}

/* As claim number at. */
static bool view_claim_at(struct cluster *c, size_t at, const struct doc *d,
                          struct cluster_claim *out, struct err *e)
{
    const struct view_claim *v = view_claim_new(d, &c->arena, e);
    if (!v)
        return false;
    enter(&c->claim_index, cluster_key(c, v->meta.namespace, v->meta.name), at);
    struct str entry = doc_get_text(doc_path(d, "metadata.annotations"),
                                    "resource.kubernetes.io/pod-claim-name");
    if (v->owner_uid.n && entry.n)
        enter(&c->made_index, cluster_key(c, v->owner_uid, entry), at);
    *out = (struct cluster_claim){v, d, entry};
    return true;
}

static bool add_claim(struct cluster *c, const struct doc *d, struct err *e)
{
    struct cluster_claim claim;
    if (!view_claim_at(c, c->claims.n, d, &claim, e))
        return false;
    vec_push(&c->claims, claim);
    return true;
}

bool cluster_set_claim(struct cluster *c, struct cluster_claim *claim,
                       const struct doc *object)
{
    return view_claim_at(c, (size_t)(claim - c->claims.v), object, claim, NULL);
}

static bool add_template(struct cluster *c, const struct doc *d, struct err *e)
{
    struct view_meta meta;
    view_meta_read(d, &meta, &c->arena);
    const struct doc *spec = doc_get(d, "spec");
    struct cluster_template t = {meta.namespace, meta.name, doc_get(spec, "spec"),
                                 doc_get(spec, "metadata")};
    (void)e;
    enter(&c->template_index, cluster_key(c, t.namespace, t.name), c->templates.n);
    vec_push(&c->templates, t);
    return true;
}

static bool add_pod(struct cluster *c, const struct doc *d, struct err *e)
{
    const struct view_pod *v = view_pod_new(d, &c->arena, e);
    if (!v)
        return false;
    vec_push(&c->pods, v);
    return true;
}

static bool add_taint_rule(struct cluster *c, const struct doc *d, struct err *e)
{
    const struct view_taint_rule *v = view_taint_rule_new(d, &c->arena, e);
    if (!v)
        return false;
    vec_push(&c->taint_rules, v);
    return true;
}

static bool add_namespace(struct cluster *c, const struct doc *d, struct err *e)
{
    struct view_meta meta;
    const struct doc *labels = doc_path(d, "metadata.labels");
    (void)e;
    view_meta_read(d, &meta, &c->arena);
    strmap_put(&c->namespaces, meta.name, NULL)->value.u =
        doc_is_string(doc_get(labels, "resource.kubernetes.io/admin-access"), "true");
    return true;
}

static bool add_priority_class(struct cluster *c, const struct doc *d, struct err *e)
{
    struct view_meta meta;
    bool is_default = false;
    int64_t value = 0;
    (void)e;
    view_meta_read(d, &meta, &c->arena);
    doc_get_int64(d, "value", &value);
    strmap_put(&c->priorities, meta.name, NULL)->value.i = value;
    if (doc_get_bool(d, "globalDefault", &is_default) && is_default)
        c->default_priority = value;
    return true;
}

static bool add_slice(struct cluster *c, const struct doc *object, struct err *e)
{
    const struct view_slice *v = view_slice_new(object, &c->names, &c->arena, e);
    if (!v)
        return false;
    vec_push(&c->slices, v);
    c->ndevices += v->ndevices;
    return true;
}

/* ---- workloads ---- */

static const struct {
    const char *kind, *group;
    enum cluster_workload_kind value;
} WORKLOADS[] = {
    {"Deployment", "apps", CLUSTER_DEPLOYMENT},
    {"ReplicaSet", "apps", CLUSTER_REPLICA_SET},
    {"StatefulSet", "apps", CLUSTER_STATEFUL_SET},
    {"DaemonSet", "apps", CLUSTER_DAEMON_SET},
    {"Job", "batch", CLUSTER_JOB},
};
enum { NWORKLOADS = sizeof WORKLOADS / sizeof *WORKLOADS };

static int64_t number(const struct doc *d, const char *key, int64_t otherwise)
{
    int64_t v;
    return doc_get_int64(d, key, &v) ? v : otherwise;
}

/* A Job runs as many pods at a time as it may, and no more than it still needs. */
static int64_t job_pods(const struct doc *d)
{
    const struct doc *spec = doc_get(d, "spec"), *status = doc_get(d, "status");
    bool suspended = false;
    doc_get_bool(spec, "suspend", &suspended);
    int64_t parallel = number(spec, "parallelism", 1);
    int64_t left = number(spec, "completions", parallel) - number(status, "succeeded", 0);
    if (suspended || left < 0)
        return 0;
    return left < parallel ? left : parallel;
}

static void read_owner(struct cluster *c, const struct doc *d, struct cluster_workload *w)
{
    const struct doc *owners = doc_path(d, "metadata.ownerReferences");
    for (uint32_t i = 0; owners && owners->type == DOC_LIST && i < owners->n; i++) {
        bool controller = false;
        doc_get_bool(&owners->items[i], "controller", &controller);
        if (!controller)
            continue;
        w->owner_kind = arena_str(&c->arena, doc_get_text(&owners->items[i], "kind"));
        w->owner_name = arena_str(&c->arena, doc_get_text(&owners->items[i], "name"));
    }
}

/* What the controller adds to every pod of a DaemonSet, so that a node's own troubles do
 * not keep it away. */
static void add_daemon_tolerations(struct cluster *c, struct view_pod *pod)
{
    static const struct {
        const char *key, *effect;
    } ROWS[] = {
        {"node.kubernetes.io/not-ready", "NoExecute"},
        {"node.kubernetes.io/unreachable", "NoExecute"},
        {"node.kubernetes.io/disk-pressure", "NoSchedule"},
        {"node.kubernetes.io/memory-pressure", "NoSchedule"},
        {"node.kubernetes.io/pid-pressure", "NoSchedule"},
        {"node.kubernetes.io/unschedulable", "NoSchedule"},
    };
    enum { NROWS = sizeof ROWS / sizeof *ROWS };
    uint32_t n = pod->ntolerations;
    struct view_toleration *v = ARENA_ARRAY(&c->arena, struct view_toleration, n + NROWS);
    for (uint32_t i = 0; i < n; i++)
        v[i] = pod->tolerations[i];
    for (uint32_t i = 0; i < NROWS; i++)
        v[n + i] = (struct view_toleration){.key = str_from(ROWS[i].key),
                                            .op = STR("Exists"),
                                            .effect = str_from(ROWS[i].effect)};
    pod->tolerations = v;
    pod->ntolerations = n + NROWS;
}

static bool add_workload(struct cluster *c, int which, const struct doc *d, struct err *e)
{
    const struct doc *spec = doc_get(d, "spec");
    struct cluster_workload w = {.kind = WORKLOADS[which].value,
                                 .kind_name = str_from(WORKLOADS[which].kind)};
    view_meta_read(d, &w.meta, &c->arena);
    read_owner(c, d, &w);
    w.selector = doc_get(spec, "selector");
    struct view_pod *pod =
        view_pod_from_template(doc_get(spec, "template"), &c->arena, e);
    w.pod = pod;
    if (!pod)
        return err_wrap(e, "%s \"%.*s/%.*s\": spec.template", WORKLOADS[which].kind,
                        STR_ARG(w.meta.namespace), STR_ARG(w.meta.name));
    w.replicas = w.kind == CLUSTER_JOB ? job_pods(d) : number(spec, "replicas", 1);
    if (w.kind == CLUSTER_DAEMON_SET) {
        add_daemon_tolerations(c, pod);
        w.replicas = 0;
    }
    if (!w.meta.deleting)
        vec_push(&c->workloads, w);
    return true;
}

/* ---- by kind ---- */

static const struct {
    const char *kind, *group;
    bool (*add)(struct cluster *c, const struct doc *d, struct err *e);
} KINDS[] = {
    {"Node", "", add_node},
    {"Namespace", "", add_namespace},
    {"Pod", "", add_pod},
    {"PriorityClass", "scheduling.k8s.io", add_priority_class},
    {"ResourceSlice", "resource.k8s.io", add_slice},
    {"DeviceClass", "resource.k8s.io", add_class},
    {"ResourceClaim", "resource.k8s.io", add_claim},
    {"ResourceClaimTemplate", "resource.k8s.io", add_template},
    {"DeviceTaintRule", "resource.k8s.io", add_taint_rule},
};
enum { NKINDS = sizeof KINDS / sizeof *KINDS };

bool cluster_wants(struct str group, struct str kind)
{
    for (int i = 0; i < NKINDS; i++)
        if (str_is(kind, KINDS[i].kind) && str_is(group, KINDS[i].group))
            return true;
    for (int i = 0; i < NWORKLOADS; i++)
        if (str_is(kind, WORKLOADS[i].kind) && str_is(group, WORKLOADS[i].group))
            return true;
    return false;
}

bool cluster_add(struct cluster *c, struct str kind, const struct doc *object,
                 struct err *e)
{
    for (int i = 0; i < NKINDS; i++)
        if (str_is(kind, KINDS[i].kind))
            return KINDS[i].add(c, object, e);
    for (int i = 0; i < NWORKLOADS; i++)
        if (str_is(kind, WORKLOADS[i].kind))
            return add_workload(c, i, object, e);
    return true;
}
