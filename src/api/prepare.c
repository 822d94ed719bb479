/* SPDX-License-Identifier: Apache-2.0 */
#include "api/prepare.h"

#include <stdio.h>

#include "api/canonical.h"
#include "api/defaults.h"
#include "api/prepare_inner.h"
#include "base/names.h"

struct doc *prepare_map(const struct api_prepare *p, struct doc *d, const char *key)
{
    struct doc *have = api_edit_get(d, key);
    return have && have->type == DOC_MAP ? have : doc_set(p->a, d, key, doc_make_map());
}

void prepare_text(const struct api_prepare *p, struct doc *d, const char *key,
                  struct str text)
{
    doc_set(p->a, d, key, doc_make_string(p->a, text));
}

void prepare_keep(const struct api_prepare *p, struct doc *d, const struct doc *old,
                  const char *key)
{
    const struct doc *was = doc_get(old, key);
    if (was)
        doc_set(p->a, d, key, doc_dup(p->a, was));
    else
        doc_remove(d, str_from(key));
}

/* ---- kinds that fill something in ---- */

static bool lists(const struct doc *list, const char *text)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(&list->items[i], text))
            return true;
    return false;
}

static void append_text(const struct api_prepare *p, struct doc *d, const char *key,
                        struct str text)
{
    struct doc *list = api_edit_get(d, key);
    if (!list)
        list = doc_set(p->a, d, key, doc_make_list());
    doc_append(p->a, list, doc_make_string(p->a, text));
}

static void new_namespace(const struct api_prepare *p, struct doc *object,
                          const struct doc *old)
{
    struct doc *spec = prepare_map(p, object, "spec");
    if (!lists(doc_get(spec, "finalizers"), "kubernetes"))
        append_text(p, spec, "finalizers", STR("kubernetes"));
}

static void changed_namespace(const struct api_prepare *p, struct doc *object,
                              const struct doc *old)
{
    prepare_keep(p, prepare_map(p, object, "spec"), doc_get(old, "spec"), "finalizers");
}

static void new_volume(const struct api_prepare *p, struct doc *object,
                       const struct doc *old)
{
    prepare_text(p, prepare_map(p, object, "status"), "lastPhaseTransitionTime", p->now);
}

/* A phase that changes does so now, unless the writer says otherwise. */
static void volume_status(const struct api_prepare *p, struct doc *object,
                          const struct doc *old)
{
    static const char when[] = "lastPhaseTransitionTime";
    struct doc *status = prepare_map(p, object, "status");
    const struct doc *was = doc_get(old, "status");
    struct str time = doc_get_text(status, when), before = doc_get_text(was, when);
    if (str_eq(doc_get_text(status, "phase"), doc_get_text(was, "phase"))) {
        if (!time.n)
            prepare_keep(p, status, was, when);
    } else if (!time.n || str_eq(time, before)) {
        prepare_text(p, status, when, p->now);
    }
}

/* Labels that Jobs put on their pods, where the user has not; on themselves sometimes. */
static void label_pods(const struct api_prepare *p, struct doc *template, struct str name,
                       struct str uid)
{
    const struct {
        const char *key;
        struct str value;
    } wanted[] = {{"job-name", name},
                  {"batch.kubernetes.io/job-name", name},
                  {"controller-uid", uid},
                  {"batch.kubernetes.io/controller-uid", uid}};
    struct doc *labels = prepare_map(p, prepare_map(p, template, "metadata"), "labels");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!doc_get(labels, wanted[i].key))
            prepare_text(p, labels, wanted[i].key, wanted[i].value);
}

static void new_job(const struct api_prepare *p, struct doc *object,
                    const struct doc *old)
{
    static const char owner[] = "batch.kubernetes.io/controller-uid";
    const struct doc *meta = doc_get(object, "metadata");
    struct str name = doc_get_text(meta, "name"), uid = doc_get_text(meta, "uid");
    struct doc *spec = prepare_map(p, object, "spec");
    bool manual = false;
    if (doc_get_bool(spec, "manualSelector", &manual) && manual)
        return;
    label_pods(p, prepare_map(p, spec, "template"), name, uid);
    if (p->shares_labels)
        label_pods(p, object, name, uid);
    struct doc *match = prepare_map(p, prepare_map(p, spec, "selector"), "matchLabels");
    if (!doc_get(match, owner))
        prepare_text(p, match, owner, uid);
}

static const char TEMPLATE_GENERATION[] = "deprecated.daemonset.template.generation";

static int64_t template_generation(const struct doc *object)
{
    struct str text =
        doc_get_text(doc_path(object, "metadata.annotations"), TEMPLATE_GENERATION);
    int64_t n = 0;
    for (size_t i = 0; i < text.n && n < INT32_MAX; i++)
        n = text.p[i] >= '0' && text.p[i] <= '9' ? n * 10 + (text.p[i] - '0') : INT32_MAX;
    return n;
}

static void set_template_generation(const struct api_prepare *p, struct doc *object,
                                    int64_t n)
{
    struct doc *meta = prepare_map(p, object, "metadata");
    prepare_text(p, prepare_map(p, meta, "annotations"), TEMPLATE_GENERATION,
                 arena_printf(p->a, "%lld", (long long)n));
}

static void new_daemonset(const struct api_prepare *p, struct doc *object,
                          const struct doc *old)
{
    int64_t n = template_generation(object);
    set_template_generation(p, object, n < 1 ? 1 : n);
}

static bool differ(const struct doc *a, const struct doc *b)
{
    return a && b ? !doc_equal(a, b) : a != b;
}

static void changed_daemonset(const struct api_prepare *p, struct doc *object,
                              const struct doc *old)
{
    bool changed =
        differ(doc_path(object, "spec.template"), doc_path(old, "spec.template"));
    set_template_generation(p, object, template_generation(old) + changed);
}

/* Of secrets a service account knows the names alone. */
static void tidy_account(const struct api_prepare *p, struct doc *object,
                         const struct doc *old)
{
    struct doc *secrets = api_edit_get(object, "secrets");
    for (uint32_t i = 0; secrets && secrets->type == DOC_LIST && i < secrets->n; i++) {
        struct doc name = doc_make_map();
        prepare_keep(p, &name, &secrets->items[i], "name");
        secrets->items[i] = name;
    }
}

/* A taint of another effect counts from now, unless the writer says since when. */
static void changed_taint(const struct api_prepare *p, struct doc *object,
                          const struct doc *old)
{
    struct doc *taint = prepare_map(p, prepare_map(p, object, "spec"), "taint");
    const struct doc *was = doc_path(old, "spec.taint");
    if (!str_eq(doc_get_text(taint, "effect"), doc_get_text(was, "effect")) &&
        str_eq(doc_get_text(taint, "timeAdded"), doc_get_text(was, "timeAdded")))
        prepare_text(p, taint, "timeAdded", p->now);
}

static bool same_device(const struct doc *a, const struct doc *b)
{
    static const char *const parts[] = {"driver", "pool", "device", "shareID"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!str_eq(doc_get_text(a, parts[i]), doc_get_text(b, parts[i])))
            return false;
    return true;
}

static bool allocates(const struct doc *claim, const struct doc *device)
{
    const struct doc *results = doc_path(claim, "status.allocation.devices.results");
    for (uint32_t i = 0; results && results->type == DOC_LIST && i < results->n; i++)
        if (same_device(&results->items[i], device))
            return true;
    return false;
}

/* The status of a device goes with its allocation. */
static void claim_status(const struct api_prepare *p, struct doc *object,
                         const struct doc *old)
{
    struct doc *status = prepare_map(p, object, "status"),
               *devices = api_edit_get(status, "devices");
    uint32_t kept = 0;
    if (!devices || devices->type != DOC_LIST)
        return;
    for (uint32_t i = 0; i < devices->n; i++)
        if (!allocates(old, &devices->items[i]) || allocates(object, &devices->items[i]))
            devices->items[kept++] = devices->items[i];
    devices->n = kept;
    if (!kept)
        doc_remove(status, STR("devices"));
}

/* A version that has ever been stored stays listed. */
static void changed_definition(const struct api_prepare *p, struct doc *object,
                               const struct doc *old)
{
    const struct doc *versions = doc_path(object, "spec.versions");
    struct doc *status = prepare_map(p, object, "status");
    for (uint32_t i = 0; versions && versions->type == DOC_LIST && i < versions->n; i++) {
        bool storage = false;
        struct str name = doc_get_text(&versions->items[i], "name");
        if (doc_get_bool(&versions->items[i], "storage", &storage) && storage &&
            !lists(doc_get(status, "storedVersions"), name.p))
            append_text(p, status, "storedVersions", name);
    }
}

/* dataSource and dataSourceRef say the same, as far as the older one can. */
static void copy_source(const struct api_prepare *p, struct doc *spec, const char *from,
                        const char *to)
{
    static const char *const parts[] = {"apiGroup", "kind", "name"};
    const struct doc *source = api_edit_get(spec, from);
    struct doc copy = doc_make_map();
    if (!source || api_edit_get(spec, to) || doc_get_text(source, "namespace").n)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        prepare_keep(p, &copy, source, parts[i]);
    doc_set(p->a, spec, to, copy);
}

static bool old_source_can_say(const struct doc *source)
{
    struct str group = doc_get_text(source, "apiGroup");
    return doc_is_string(doc_get(source, "kind"), "PersistentVolumeClaim")
               ? group.n == 0
               : doc_is_string(doc_get(source, "kind"), "VolumeSnapshot") &&
                     str_is(group, "snapshot.storage.k8s.io");
}

/* Sources of other namespaces are an alpha feature. */
static void drop_foreign_source(struct doc *spec, const struct doc *old)
{
    static const char REF[] = "dataSourceRef";
    const struct doc *was = doc_get(doc_get(old, "spec"), REF);
    if (doc_get_text(doc_get(spec, REF), "namespace").n && !(was && was->type == DOC_MAP))
        doc_remove(spec, str_from(REF));
}

/* So is what is known of a volume's health. */
static void status_of_claim(const struct api_prepare *p, struct doc *object,
                            const struct doc *old)
{
    struct doc *status = prepare_map(p, object, "status");
    (void)p;
    if (!doc_get(doc_get(old, "status"), "healthStatus"))
        doc_remove(status, STR("healthStatus"));
}

static void sources_of_claim(const struct api_prepare *p, struct doc *object,
                             const struct doc *old)
{
    struct doc *spec = prepare_map(p, object, "spec");
    drop_foreign_source(spec, old);
    const struct doc *source = api_edit_get(spec, "dataSource"),
                     *was = doc_path(old, "spec.dataSource");
    bool in_use = was && was->type == DOC_MAP;
    if (source && !in_use && !api_edit_get(spec, "dataSourceRef") &&
        !old_source_can_say(source))
        doc_remove(spec, STR("dataSource"));
    copy_source(p, spec, "dataSource", "dataSourceRef");
    copy_source(p, spec, "dataSourceRef", "dataSource");
}

/* podCIDR is the first of podCIDRs, and counts more where they differ. */
static void ranges_of_node(const struct api_prepare *p, struct doc *object,
                           const struct doc *old)
{
    struct doc *spec = prepare_map(p, object, "spec");
    struct doc *all = api_edit_get(spec, "podCIDRs"), list = doc_make_list();
    struct str one = doc_get_text(spec, "podCIDR");
    (void)old;
    if (one.n && ((!all || all->n == 0) || !str_eq(doc_str(&all->items[0]), one))) {
        doc_append(p->a, &list, doc_make_string(p->a, one));
        doc_set(p->a, spec, "podCIDRs", list);
    } else if (!one.n && all && all->n) {
        prepare_text(p, spec, "podCIDR", doc_str(&all->items[0]));
    }
}

/* To upstream these are always what they are. */
static void types_of_claims(void *ctx, struct doc *claim)
{
    const struct api_prepare *p = ctx;
    if (claim->type != DOC_MAP)
        return;
    prepare_text(p, claim, "apiVersion", STR("v1"));
    prepare_text(p, claim, "kind", STR("PersistentVolumeClaim"));
}

/* To upstream the annotation is a field of every DaemonSet, and whoever writes one owns
 * it; what it says is settled later. */
static void count_template(const struct api_prepare *p, struct doc *object)
{
    const struct doc *notes = doc_path(object, "metadata.annotations");
    if (!notes || !doc_get(notes, TEMPLATE_GENERATION))
        set_template_generation(p, object, 0);
}

void api_prepare_sent(const struct api_prepare *p, const struct api_kind *kind,
                      struct doc *object)
{
    if (strcmp(kind->resource, "daemonsets") == 0)
        count_template(p, object);
    else if (strcmp(kind->resource, "nodes") == 0 && doc_get(object, "spec"))
        ranges_of_node(p, object, NULL);
    else if (strcmp(kind->resource, "statefulsets") == 0)
        api_edit_each(object, "spec.volumeClaimTemplates[]", types_of_claims, (void *)p);
}

static void changed_node(const struct api_prepare *p, struct doc *object,
                         const struct doc *old)
{
    prepare_keep(p, object, old, "status");
    ranges_of_node(p, object, old);
}

static bool has_text(const struct doc *list, const char *path, struct str text)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(doc_get(&list->items[i], path), "kubernetes.io/hostname"),
                   text))
            return true;
    return false;
}

/* What v1beta1 said by labels: nobody says it anymore, and of what is stored only the
 * node's name lives on. */
static void drop_topology(const struct api_prepare *p, struct doc *object,
                          const struct doc *old)
{
    static const char TOPOLOGY[] = "deprecatedTopology";
    const struct doc *was = doc_get(old, "endpoints");
    struct doc *list = api_edit_get(object, "endpoints");
    if (!list || list->type != DOC_LIST || (was && doc_equal(list, was)))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        struct str host =
            doc_get_text(doc_get(&list->items[i], TOPOLOGY), "kubernetes.io/hostname");
        if (host.n && !doc_get(&list->items[i], "nodeName") &&
            has_text(was, TOPOLOGY, host) && name_valid(NAME_DNS1123_SUBDOMAIN, host))
            prepare_text(p, &list->items[i], "nodeName", host);
        doc_remove(&list->items[i], str_from(TOPOLOGY));
    }
}

/* Leases that replicas agree on by a strategy are an alpha feature. */
static void plain_lease(const struct api_prepare *p, struct doc *object,
                        const struct doc *old)
{
    struct doc *spec = prepare_map(p, object, "spec");
    (void)old;
    doc_remove(spec, STR("strategy"));
    doc_remove(spec, STR("preferredHolder"));
}

/* ---- kinds as rows ---- */

enum { STATUS = 1, STATUS_ALONE = 2, FIRST = 4 };

struct preparation {
    const char *group, *resource;
    /* STATUS: status and the rest are written apart; STATUS_ALONE: who writes the status
     * writes no metadata; FIRST: generation 1 when new. */
    unsigned flags;
    const char *counts; /* "a,b": generation counts changes of these; NULL: of nothing */
    prepare_fn *created, *changed, *status;
};

#define SPEC "spec"
#define ADMISSION "admissionregistration.k8s.io"
#define FLOW "flowcontrol.apiserver.k8s.io"
#define CERTIFICATES "certificates.k8s.io"

static const struct preparation ROWS[] = {
    {"", "namespaces", STATUS, NULL, new_namespace, changed_namespace},
    {"", "nodes", 0, NULL, ranges_of_node, changed_node},
    {"", "persistentvolumeclaims", STATUS, NULL, sources_of_claim, sources_of_claim,
     status_of_claim},
    {"", "persistentvolumes", STATUS, NULL, new_volume, NULL, volume_status},
    {"", "pods", STATUS | FIRST, SPEC, prepare_new_pod, NULL, prepare_pod_status},
    {"", "podtemplates", FIRST, "template"},
    {"", "replicationcontrollers", STATUS | FIRST, SPEC},
    {"", "resourcequotas", STATUS, NULL},
    {"", "serviceaccounts", 0, NULL, tidy_account, tidy_account},
    {"", "services", STATUS, NULL, prepare_service, prepare_service},
    {ADMISSION, "mutatingadmissionpolicies", FIRST, SPEC},
    {ADMISSION, "mutatingadmissionpolicybindings", FIRST, SPEC},
    {ADMISSION, "mutatingwebhookconfigurations", FIRST, "webhooks"},
    {ADMISSION, "validatingadmissionpolicies", STATUS | STATUS_ALONE | FIRST, SPEC},
    {ADMISSION, "validatingadmissionpolicybindings", FIRST, SPEC},
    {ADMISSION, "validatingwebhookconfigurations", FIRST, "webhooks"},
    {"apiextensions.k8s.io", "customresourcedefinitions", STATUS | FIRST, SPEC, NULL,
     changed_definition},
    {"apiregistration.k8s.io", "apiservices", STATUS, NULL},
    {"apps", "daemonsets", STATUS | FIRST, SPEC, new_daemonset, changed_daemonset},
    {"apps", "deployments", STATUS | FIRST, "spec,metadata.annotations"},
    {"apps", "replicasets", STATUS | FIRST, SPEC},
    {"apps", "statefulsets", STATUS | FIRST, SPEC},
    {"autoscaling", "horizontalpodautoscalers", STATUS | FIRST, SPEC},
    {"batch", "cronjobs", STATUS | FIRST, SPEC},
    {"batch", "jobs", STATUS | FIRST, SPEC, new_job},
    {CERTIFICATES, "certificatesigningrequests", STATUS, NULL, prepare_new_request,
     prepare_request, prepare_request_status},
    {CERTIFICATES, "podcertificaterequests", STATUS | STATUS_ALONE, NULL},
    {"coordination.k8s.io", "leases", 0, NULL, plain_lease, plain_lease},
    {"discovery.k8s.io", "endpointslices", FIRST,
     "addressType,endpoints,ports,metadata.labels", drop_topology, drop_topology},
    {FLOW, "flowschemas", STATUS | STATUS_ALONE | FIRST, SPEC},
    {FLOW, "prioritylevelconfigurations", STATUS | STATUS_ALONE | FIRST, SPEC},
    {"internal.apiserver.k8s.io", "storageversions", STATUS | STATUS_ALONE, NULL},
    {"networking.k8s.io", "ingressclasses", FIRST, SPEC},
    {"networking.k8s.io", "ingresses", STATUS | FIRST, SPEC},
    {"networking.k8s.io", "networkpolicies", FIRST, SPEC},
    {"networking.k8s.io", "servicecidrs", STATUS | STATUS_ALONE, NULL},
    {"policy", "poddisruptionbudgets", STATUS | FIRST, SPEC},
    {"resource.k8s.io", "deviceclasses", FIRST, SPEC},
    {"resource.k8s.io", "devicetaintrules", STATUS | STATUS_ALONE | FIRST, SPEC, NULL,
     changed_taint},
    {"resource.k8s.io", "resourceclaims", STATUS | STATUS_ALONE, NULL, NULL, NULL,
     claim_status},
    {"resource.k8s.io", "resourcepoolstatusrequests", STATUS | STATUS_ALONE, NULL},
    {"resource.k8s.io", "resourceslices", FIRST, SPEC},
    {"scheduling.k8s.io", "podgroups", STATUS | STATUS_ALONE, NULL},
    {"scheduling.k8s.io", "priorityclasses", FIRST, NULL},
    {"storage.k8s.io", "csidrivers", 0, SPEC},
    {"storage.k8s.io", "csinodes", STATUS | STATUS_ALONE, NULL},
    {"storage.k8s.io", "volumeattachments", STATUS | STATUS_ALONE, NULL},
    {"storagemigration.k8s.io", "storageversionmigrations", STATUS | STATUS_ALONE, NULL},
};

/* The kind's row; *sub is "" or the subresource's name. */
static const struct preparation *row_of(const struct api_kind *kind, struct str *sub)
{
    static const struct preparation none = {0};
    struct str name = str_from(kind->resource);
    size_t slash = str_find_byte(name, '/', 0);
    *sub = slash == SIZE_MAX ? STR("") : str_sub(name, slash + 1, SIZE_MAX);
    name = str_sub(name, 0, slash);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (str_is(name, ROWS[i].resource) && strcmp(ROWS[i].group, kind->group) == 0)
            return &ROWS[i];
    return &none;
}

/* ---- what all kinds share ---- */

static void set_generation(const struct api_prepare *p, struct doc *object, int64_t n)
{
    struct doc *meta = prepare_map(p, object, "metadata");
    if (n > 0)
        doc_set(p->a, meta, "generation", doc_make_int(p->a, n));
    else
        doc_remove(meta, STR("generation"));
}

static bool counts_change(const char *paths, const struct doc *object,
                          const struct doc *old)
{
    struct str rest = str_from(paths);
    while (rest.n) {
        char path[64];
        size_t comma = str_find_byte(rest, ',', 0);
        struct str one = str_sub(rest, 0, comma);
        snprintf(path, sizeof path, "%.*s", STR_ARG(one));
        if (differ(doc_path(object, path), doc_path(old, path)))
            return true;
        rest = comma == SIZE_MAX ? STR("") : str_sub(rest, comma + 1, SIZE_MAX);
    }
    return false;
}

static void keep_metadata(const struct api_prepare *p, struct doc *object,
                          const struct doc *old)
{
    static const char *const fields[] = {
        "deletionTimestamp", "selfLink",   "labels",
        "annotations",       "finalizers", "ownerReferences"};
    struct doc *meta = prepare_map(p, object, "metadata");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        prepare_keep(p, meta, doc_get(old, "metadata"), fields[i]);
}

/* As it will be read back. */
static void settle(const struct api_prepare *p, const struct api_kind *kind,
                   struct doc *object)
{
    api_canonical(kind->type, object, p->a);
    api_default(kind, object, p->now, p->a);
    api_canonical(kind->type, object, p->a);
}

void api_prepare_create(const struct api_prepare *p, const struct api_kind *kind,
                        struct doc *object)
{
    struct str sub;
    const struct preparation *row = row_of(kind, &sub);
    struct doc *meta = prepare_map(p, object, "metadata");
    doc_remove(meta, STR("deletionTimestamp"));
    doc_remove(meta, STR("deletionGracePeriodSeconds"));
    if (row->flags & STATUS)
        doc_remove(object, STR("status"));
    if (row->flags & FIRST)
        set_generation(p, object, 1);
    prepare_drop_alpha(kind, object, NULL);
    if (row->created)
        row->created(p, object, NULL);
    settle(p, kind, object);
}

static void update_status(const struct api_prepare *p, const struct preparation *row,
                          struct doc *object, const struct doc *old)
{
    prepare_keep(p, object, old, "spec");
    if (row->flags & STATUS_ALONE)
        keep_metadata(p, object, old);
    if (row->status)
        row->status(p, object, old);
}

static void update_rest(const struct api_prepare *p, const struct preparation *row,
                        struct doc *object, const struct doc *old, int64_t generation)
{
    if (row->flags & STATUS)
        prepare_keep(p, object, old, "status");
    if (row->changed)
        row->changed(p, object, old);
    if (row->counts && counts_change(row->counts, object, old))
        set_generation(p, object, generation + 1);
}

/* Of pods. */
static void update_part(const struct api_prepare *p, struct str sub, struct doc *object,
                        const struct doc *old, int64_t generation)
{
    if (str_is(sub, "ephemeralcontainers"))
        prepare_pod_debug(p, object, old);
    else if (str_is(sub, "resize"))
        prepare_pod_resize(p, object, old);
    keep_metadata(p, object, old);
    if (counts_change(SPEC, object, old))
        set_generation(p, object, generation + 1);
}

void api_prepare_update(const struct api_prepare *p, const struct api_kind *kind,
                        struct doc *object, const struct doc *old)
{
    struct str sub;
    int64_t generation = 0;
    const struct preparation *row = row_of(kind, &sub);
    doc_get_int64(doc_get(old, "metadata"), "generation", &generation);
    set_generation(p, object, generation);
    if (sub.n == 0 || str_is(sub, "status"))
        prepare_drop_alpha(kind, object, old);
    if (str_is(sub, "status"))
        update_status(p, row, object, old);
    else if (str_is(sub, "finalize"))
        prepare_keep(p, object, old, "status");
    else if (str_is(sub, "approval"))
        prepare_request_approval(p, object, old);
    else if (sub.n)
        update_part(p, sub, object, old, generation);
    else
        update_rest(p, row, object, old, generation);
    settle(p, kind, object);
}
