/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/pod_info.h"

#include "api/pod_amounts.h"
#include "api/view_read.h"

enum { DEFAULT_CPU = 100, DEFAULT_MEMORY = 200 * 1024 * 1024 };

/* ---- requests ---- */

/* What a container asks for, or what scores take it to ask for. */
static int64_t wish(const struct view_container *c, const char *name, int64_t usual)
{
    for (uint32_t i = 0; i < c->nrequests; i++)
        if (str_is(c->requests[i].name, name))
            return resource_value(c->requests[i].name, &c->requests[i].value);
    return usual;
}

static int64_t amount_of(const struct view_amount *v, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_is(v[i].name, name))
            return resource_value(v[i].name, &v[i].value);
    return -1;
}

/* As view_pod_requests, of one resource and with something usual for silence. */
static int64_t scored(const struct view_pod *p, const char *name, int64_t usual)
{
    int64_t sidecars = 0, peak = 0, sum = 0;
    int64_t overhead = amount_of(p->overhead, p->noverhead, name),
            pod = amount_of(p->pod_requests, p->npod_requests, name);
    for (uint32_t i = 0; i < p->ninit_containers; i++) {
        int64_t v = wish(&p->init_containers[i], name, usual);
        if (sidecars + v > peak)
            peak = sidecars + v;
        sidecars += p->init_containers[i].restarts ? v : 0;
    }
    for (uint32_t i = 0; i < p->ncontainers; i++)
        sum += wish(&p->containers[i], name, usual);
    sum += sidecars;
    if (peak > sum)
        sum = peak;
    if (pod >= 0)
        sum = pod;
    return sum + (overhead > 0 ? overhead : 0);
}

static void read_needs(const struct doc *d, struct arena *a, struct pod_info *out)
{
    struct arena scratch;
    arena_init(&scratch);
    struct amounts sum = pod_requests(d, &scratch);
    for (uint32_t i = 0; i < sum.n; i++)
        sum.v[i].name = arena_str(a, sum.v[i].name);
    out->need = resources_of(sum.v, sum.n, a);
    out->score_cpu = scored(out->pod, "cpu", DEFAULT_CPU);
    out->score_memory = scored(out->pod, "memory", DEFAULT_MEMORY);
    arena_fini(&scratch);
}

/* ---- containers ---- */

static bool is_sidecar(const struct doc *c)
{
    return doc_is_string(doc_get(c, "restartPolicy"), "Always");
}

static uint32_t count_ports(const struct doc *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *ports = doc_get(&list->items[i], "ports");
        n += ports && ports->type == DOC_LIST ? ports->n : 0;
    }
    return n;
}

static void add_port(struct view_reader *r, const struct doc *d, struct host_port *v,
                     uint32_t *n)
{
    struct host_port p = {view_text(r, d, "hostIP"), view_text(r, d, "protocol"),
                          view_int(r, d, "hostPort")};
    if (p.port <= 0)
        return;
    if (!p.ip.n)
        p.ip = STR("0.0.0.0");
    if (!p.protocol.n)
        p.protocol = STR("TCP");
    v[(*n)++] = p;
}

static void add_ports(struct view_reader *r, const struct doc *list, bool sidecars,
                      struct host_port *v, uint32_t *n)
{
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *ports = view_list(r, &list->items[i], "ports");
        for (uint32_t k = 0; ports && k < ports->n; k++)
            if (!sidecars || is_sidecar(&list->items[i]))
                add_port(r, &ports->items[k], v, n);
    }
}

static void read_ports(struct view_reader *r, const struct doc *spec,
                       struct pod_info *out)
{
    const struct doc *init = view_list(r, spec, "initContainers"),
                     *main = view_list(r, spec, "containers");
    uint32_t most = count_ports(init) + count_ports(main);
    struct host_port *v = ARENA_ARRAY(r->a, struct host_port, most);
    add_ports(r, main, false, v, &out->nports);
    add_ports(r, init, true, v, &out->nports);
    out->ports = v;
}

struct str image_normalize(struct str image, struct arena *a)
{
    size_t colon = str_rfind_byte(image, ':'), slash = str_rfind_byte(image, '/');
    bool tagged = colon != SIZE_MAX && (slash == SIZE_MAX || colon > slash);
    return tagged ? image : arena_printf(a, "%.*s:latest", STR_ARG(image));
}

static void add_images(struct view_reader *r, const struct doc *list, struct str *v,
                       uint32_t *n)
{
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct str image = view_text(r, &list->items[i], "image");
        v[(*n)++] = image_normalize(image, r->a);
    }
}

static void read_images(struct view_reader *r, const struct doc *spec,
                        struct pod_info *out)
{
    const struct doc *init = view_list(r, spec, "initContainers"),
                     *main = view_list(r, spec, "containers"),
                     *volumes = view_list(r, spec, "volumes");
    uint32_t most = (init ? init->n : 0) + (main ? main->n : 0);
    struct str *v = ARENA_ARRAY(r->a, struct str, most + (volumes ? volumes->n : 0));
    add_images(r, init, v, &out->nimages);
    add_images(r, main, v, &out->nimages);
    for (uint32_t i = 0; volumes && i < volumes->n; i++) {
        const struct doc *image = view_map(r, &volumes->items[i], "image");
        if (image)
            v[out->nimages++] = image_normalize(view_text(r, image, "reference"), r->a);
    }
    out->images = v;
}

/* ---- affinity ---- */

static void read_term(struct view_reader *r, const struct doc *d, struct pod_term *out)
{
    const struct doc *ns = view_map(r, d, "namespaceSelector");
    out->pods = selector_read(r, view_map(r, d, "labelSelector"));
    out->namespaces = view_strs(r, d, "namespaces");
    out->namespace_selector = selector_read(r, ns);
    out->any_namespace = ns && selector_empty(&out->namespace_selector);
    out->topology_key = view_text(r, d, "topologyKey");
}

static struct pod_terms read_terms(struct view_reader *r, const struct doc *list,
                                   bool weighted)
{
    struct pod_terms t;
    struct pod_term *v = VIEW_ITEMS(r, list, struct pod_term, &t.n);
    for (uint32_t i = 0; i < t.n; i++) {
        const struct doc *d = &list->items[i];
        read_term(r, weighted ? view_map(r, d, "podAffinityTerm") : d, &v[i]);
        v[i].weight = weighted ? view_int(r, d, "weight") : 0;
    }
    t.v = v;
    return t;
}

static void read_preferred_nodes(struct view_reader *r, const struct doc *node,
                                 struct pod_info *out)
{
    const struct doc *list =
        view_list(r, node, "preferredDuringSchedulingIgnoredDuringExecution");
    struct preferred_node *v =
        VIEW_ITEMS(r, list, struct preferred_node, &out->npreferred_nodes);
    for (uint32_t i = 0; i < out->npreferred_nodes; i++) {
        struct doc terms = doc_make_list(), selector = doc_make_map();
        const struct doc *preference = view_map(r, &list->items[i], "preference");
        v[i].weight = view_int(r, &list->items[i], "weight");
        if (!preference)
            continue;
        doc_append(r->a, &terms, *preference);
        doc_set(r->a, &selector, "nodeSelectorTerms", terms);
        const struct view_node_selector *s = view_read_node_selector(r, &selector);
        v[i].term = s->nterms ? s->terms[0] : (struct view_term){0};
    }
    out->preferred_nodes = v;
}

static void read_affinity(struct view_reader *r, const struct doc *affinity,
                          struct pod_info *out)
{
    static const char HARD[] = "requiredDuringSchedulingIgnoredDuringExecution",
                      SOFT[] = "preferredDuringSchedulingIgnoredDuringExecution";
    const struct doc *with = view_map(r, affinity, "podAffinity"),
                     *without = view_map(r, affinity, "podAntiAffinity");
    out->affinity = read_terms(r, view_list(r, with, HARD), false);
    out->anti_affinity = read_terms(r, view_list(r, without, HARD), false);
    out->preferred_affinity = read_terms(r, view_list(r, with, SOFT), true);
    out->preferred_anti = read_terms(r, view_list(r, without, SOFT), true);
    read_preferred_nodes(r, view_map(r, affinity, "nodeAffinity"), out);
}

bool pod_info_has_affinity(const struct pod_info *p)
{
    return p->affinity.n || p->anti_affinity.n || p->preferred_affinity.n ||
           p->preferred_anti.n;
}

/* ---- spread ---- */

static struct selector with_keys(struct view_reader *r, const struct selector *s,
                                 const struct view_strs *keys, const struct labels *pod)
{
    struct view_label *v = ARENA_ARRAY(r->a, struct view_label, keys->n);
    struct labels l = {v, 0};
    for (uint32_t i = 0; pod && i < keys->n; i++) {
        const struct str *value = view_label_find(pod->v, pod->n, keys->v[i]);
        if (value)
            v[l.n++] = (struct view_label){keys->v[i], *value};
    }
    if (!l.n || s->nothing)
        return *s;
    struct selector more = selector_of_labels(&l, r->a);
    return selector_and(s, &more, r->a);
}

const struct spread_rule *spread_rules_read(struct view_reader *r, const struct doc *list,
                                            const struct labels *pod, uint32_t *n)
{
    struct spread_rule *v = VIEW_ITEMS(r, list, struct spread_rule, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *d = &list->items[i];
        struct selector s = selector_read(r, view_map(r, d, "labelSelector"));
        struct view_strs keys = view_strs(r, d, "matchLabelKeys");
        v[i].max_skew = view_int(r, d, "maxSkew");
        v[i].min_domains = view_int(r, d, "minDomains");
        v[i].min_domains += v[i].min_domains == 0;
        v[i].topology_key = view_text(r, d, "topologyKey");
        v[i].pods = with_keys(r, &s, &keys, pod);
        v[i].hard = str_is(view_text(r, d, "whenUnsatisfiable"), "DoNotSchedule");
        v[i].any_affinity = str_is(view_text(r, d, "nodeAffinityPolicy"), "Ignore");
        v[i].honor_taints = str_is(view_text(r, d, "nodeTaintsPolicy"), "Honor");
    }
    return v;
}

/* ---- volumes ---- */

/* Disks that a node has for itself: the field that names one, and whether several nodes
 * may read it at a time. */
static const struct {
    const char *kind, *field;
    bool shareable;
} DISKS[] = {
    {"gcePersistentDisk", "pdName", true},
    {"awsElasticBlockStore", "volumeID", false},
    {"iscsi", "iqn", true},
    {"rbd", "image", true},
};

static bool read_disk(struct view_reader *r, const struct doc *d, struct pod_volume *out)
{
    for (size_t i = 0; i < sizeof DISKS / sizeof *DISKS; i++) {
        const struct doc *disk = view_map(r, d, DISKS[i].kind);
        if (!disk)
            continue;
        struct str pool = view_text(r, disk, "pool");
        out->device = arena_printf(r->a, "%s %.*s %.*s", DISKS[i].kind, STR_ARG(pool),
                                   STR_ARG(view_text(r, disk, DISKS[i].field)));
        out->read_only = view_bool(r, disk, "readOnly", NULL);
        out->shareable = DISKS[i].shareable;
        return true;
    }
    return false;
}

static bool read_volume(struct view_reader *r, const struct doc *d,
                        const struct pod_info *pod, struct pod_volume *out)
{
    const struct doc *claim = view_map(r, d, "persistentVolumeClaim");
    out->name = view_text(r, d, "name");
    if (claim) {
        out->claim = view_text(r, claim, "claimName");
        return true;
    }
    if (view_map(r, d, "ephemeral")) {
        out->ephemeral = true;
        out->claim = arena_printf(r->a, "%.*s-%.*s", STR_ARG(pod->pod->meta.name),
                                  STR_ARG(out->name));
        return true;
    }
    return read_disk(r, d, out);
}

static void read_volumes(struct view_reader *r, const struct doc *list,
                         struct pod_info *out)
{
    struct pod_volume *v = ARENA_ARRAY(r->a, struct pod_volume, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++) {
        v[out->nvolumes] = (struct pod_volume){0};
        out->nvolumes += read_volume(r, &list->items[i], out, &v[out->nvolumes]);
    }
    out->volumes = v;
}

/* ---- all of it ---- */

static void read_status(struct view_reader *r, const struct doc *status,
                        struct pod_info *out)
{
    out->nominated = view_text(r, status, "nominatedNodeName");
    out->started = view_text(r, status, "startTime");
    if (!out->started.n)
        out->started = out->pod->meta.created;
}

static void read_spec(struct view_reader *r, const struct doc *spec, struct pod_info *out)
{
    out->scheduler = view_text(r, spec, "schedulerName");
    out->group = view_text(r, view_map(r, spec, "schedulingGroup"), "podGroupName");
    out->priority = out->pod->has_priority ? out->pod->priority : 0;
    out->may_preempt = !str_is(view_text(r, spec, "preemptionPolicy"), "Never");
    out->gated = out->pod->ngates > 0;
    read_ports(r, spec, out);
    read_images(r, spec, out);
    read_affinity(r, view_map(r, spec, "affinity"), out);
    out->spread = spread_rules_read(r, view_list(r, spec, "topologySpreadConstraints"),
                                    &out->labels, &out->nspread);
    read_volumes(r, view_list(r, spec, "volumes"), out);
}

const void *pod_info_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct pod_info *out = ARENA_NEW(a, struct pod_info);
    out->pod = view_pod_new(d, a, e);
    if (!out->pod)
        return NULL;
    out->labels = (struct labels){out->pod->labels, out->pod->nlabels};
    read_spec(&r, view_map(&r, d, "spec"), out);
    read_status(&r, view_map(&r, d, "status"), out);
    read_needs(d, a, out);
    return r.failed ? NULL : out;
}
