/* SPDX-License-Identifier: Apache-2.0 */
/* Services, volume claims, and what is counted by the piece, in quotas. */
#include "api/quota_inner.h"

bool quota_on_create(const struct quota_request *q)
{
    return !*q->sub && q->verb == QUOTA_CREATE;
}

bool quota_on_change(const struct quota_request *q)
{
    return !*q->sub && (q->verb == QUOTA_CREATE || q->verb == QUOTA_UPDATE);
}

bool quota_selects(const struct quota_scope *s, struct str value)
{
    bool in = false;
    for (uint32_t i = 0; s->values && i < s->values->n; i++)
        in = in || (value.p && str_eq(doc_str(&s->values->items[i]), value));
    return str_is(s->op, "Exists")         ? value.p != NULL
           : str_is(s->op, "DoesNotExist") ? value.p == NULL
           : str_is(s->op, "In")           ? in
                                           : str_is(s->op, "NotIn") && !in;
}

struct str quota_count_name(struct arena *a, const char *group, const char *resource)
{
    return arena_printf(a, "count/%s%s%s", resource, *group ? "." : "", group);
}

static bool is_one_of(struct str name, const char *const *names)
{
    while (*names && !str_is(name, *names))
        names++;
    return *names != NULL;
}

/* ---- services ---- */

static bool service_counts(const struct quota_request *q, struct str name)
{
    static const char *const NAMES[] = {"count/services", "services",
                                        "services.nodeports", "services.loadbalancers",
                                        NULL};
    (void)q;
    return is_one_of(name, NAMES);
}

/* Ports that have a node port already. */
static int64_t named_ports(const struct doc *ports)
{
    int64_t n = 0, port;
    for (uint32_t i = 0; ports && i < ports->n; i++)
        n += doc_get_int64(&ports->items[i], "nodePort", &port) && port != 0;
    return n;
}

static void service_usage(const struct quota_request *q, const struct doc *service,
                          struct amounts *out)
{
    const struct doc *spec = doc_get(service, "spec"), *ports = doc_get(spec, "ports");
    struct str type = doc_get_text(spec, "type");
    bool balanced = str_is(type, "LoadBalancer"), allocate = true;
    (void)q;
    ports = ports && ports->type == DOC_LIST ? ports : NULL;
    int64_t n = ports ? ports->n : 0;
    if (balanced && doc_get_bool(spec, "allocateLoadBalancerNodePorts", &allocate) &&
        !allocate)
        n = named_ports(ports);
    amounts_set_int(out, STR("count/services"), 1);
    amounts_set_int(out, STR("services"), 1);
    amounts_set_int(out, STR("services.loadbalancers"), balanced);
    amounts_set_int(out, STR("services.nodeports"),
                    balanced || str_is(type, "NodePort") ? n : 0);
}

const struct quota_evaluator quota_services = {
    "", "services", quota_on_change, service_counts, service_usage, NULL, NULL};

/* ---- volume claims ---- */

static const char OF_CLASS[] = ".storageclass.storage.k8s.io/";
static const char *const VOLUME_NAMES[] = {"persistentvolumeclaims", "requests.storage",
                                           NULL};

/* Classes of attributes that a claim has, had or is to have. */
static struct str attributes_class(const struct doc *claim, int i)
{
    static const char *const PATHS[] = {"spec.volumeAttributesClassName",
                                        "status.currentVolumeAttributesClassName",
                                        ("status.modifyVolumeStatus."
                                         "targetVolumeAttributesClassName")};
    const struct doc *d = doc_path(claim, PATHS[i]);
    return d && d->type == DOC_STRING && d->n ? doc_str(d) : STR_NONE;
}
enum { NATTRIBUTES = 3 };

static struct quantity storage_of(const struct doc *amounts, struct arena *a, bool *there)
{
    struct amounts all = amounts_read(a, amounts);
    const struct quantity *v = amounts_get(&all, STR("storage"));
    *there = v != NULL;
    return v ? *v : QUANTITY_ZERO;
}

/* What a volume was given may be more than was asked for. Upstream means to look at
 * changes of that alone, but compares addresses, so that every status is looked at. */
static bool volume_handles(const struct quota_request *q)
{
    return quota_on_change(q) || strcmp(q->sub, "status") == 0;
}

static bool volume_counts(const struct quota_request *q, struct str name)
{
    size_t at = str_find(name, str_from(OF_CLASS));
    if (str_is(name, "count/persistentvolumeclaims") || is_one_of(name, VOLUME_NAMES))
        return true;
    for (int i = 0; at != SIZE_MAX && VOLUME_NAMES[i]; i++)
        if (str_ends(name, arena_printf(q->w->a, "%s%s", OF_CLASS, VOLUME_NAMES[i])))
            return true;
    return false;
}

static struct str storage_class(const struct doc *claim)
{
    const struct doc *old = doc_get(doc_path(claim, "metadata.annotations"),
                                    "volume.beta.kubernetes.io/storage-class");
    return old && old->type == DOC_STRING
               ? doc_str(old)
               : doc_get_text(doc_get(claim, "spec"), "storageClassName");
}

/* Whole bytes: quotas have no others. */
static struct quantity whole(struct quantity q)
{
    int64_t bytes, exact;
    if (quantity_scaled_exact(&q, 0, &exact) || !quantity_scaled(&q, 0, &bytes))
        return q;
    return quantity_from_int64(bytes, q.format);
}

static void volume_usage(const struct quota_request *q, const struct doc *claim,
                         struct amounts *out)
{
    struct arena *a = q->w->a;
    struct str class = storage_class(claim);
    bool asked, promised;
    struct quantity size =
        storage_of(doc_path(claim, "spec.resources.requests"), a, &asked);
    struct quantity given =
        storage_of(doc_path(claim, "status.allocatedResources"), a, &promised);
    size = whole(size);
    if (promised && quantity_cmp(&given, &size) > 0)
        size = whole(given);
    amounts_set_int(out, STR("count/persistentvolumeclaims"), 1);
    for (int i = 0; VOLUME_NAMES[i]; i++) {
        struct quantity v = i ? size : quantity_from_int64(1, QUANTITY_DECIMAL_SI);
        if (i && !asked)
            break;
        amounts_set(out, str_from(VOLUME_NAMES[i]), v);
        if (class.n)
            amounts_set(
                out,
                arena_printf(a, "%.*s%s%s", STR_ARG(class), OF_CLASS, VOLUME_NAMES[i]),
                v);
    }
}

static bool volume_in_scope(const struct quota_request *q, const struct quota_scope *s,
                            const struct doc *claim)
{
    bool any = false, found = false;
    (void)q;
    if (!str_is(s->name, "VolumeAttributesClass"))
        return false;
    for (int i = 0; i < NATTRIBUTES; i++) {
        struct str name = attributes_class(claim, i);
        any = any || name.n;
        found = found || (name.n && quota_selects(s, name));
    }
    return any ? found : quota_selects(s, STR_NONE);
}

const struct quota_evaluator quota_volume_claims = {"",
                                                    "persistentvolumeclaims",
                                                    volume_handles,
                                                    volume_counts,
                                                    volume_usage,
                                                    volume_in_scope,
                                                    NULL};

/* ---- everything else: by the piece ---- */

/* Kinds that quotas knew before all others, by the bare name. */
static bool has_old_name(const struct quota_request *q)
{
    static const char *const NAMES[] = {"configmaps", "resourcequotas",
                                        "replicationcontrollers", "secrets", NULL};
    return !*q->group && is_one_of(str_from(q->resource), NAMES);
}

static bool piece_counts(const struct quota_request *q, struct str name)
{
    return (has_old_name(q) && str_is(name, q->resource)) ||
           str_eq(name, quota_count_name(q->w->a, q->group, q->resource));
}

static void piece_usage(const struct quota_request *q, const struct doc *object,
                        struct amounts *out)
{
    (void)object;
    amounts_set_int(out, quota_count_name(q->w->a, q->group, q->resource), 1);
    if (has_old_name(q))
        amounts_set_int(out, str_from(q->resource), 1);
}

static const struct quota_evaluator PIECES = {
    "", "", quota_on_create, piece_counts, piece_usage, NULL, NULL};

const struct quota_evaluator *quota_evaluator(const char *group, const char *resource)
{
    static const struct quota_evaluator *const OWN[] = {
        &quota_pods, &quota_services, &quota_volume_claims, &quota_claims};
    static const char *const IGNORED[][2] = {
        {"", "bindings"},
        {"", "componentstatuses"},
        {"authentication.k8s.io", "tokenreviews"},
        {"authentication.k8s.io", "selfsubjectreviews"},
        {"authorization.k8s.io", "subjectaccessreviews"},
        {"authorization.k8s.io", "selfsubjectaccessreviews"},
        {"authorization.k8s.io", "localsubjectaccessreviews"},
        {"authorization.k8s.io", "selfsubjectrulesreviews"},
        {"", "events"},
        {"events.k8s.io", "events"},
    };
    for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++)
        if (strcmp(group, IGNORED[i][0]) == 0 && strcmp(resource, IGNORED[i][1]) == 0)
            return NULL;
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (strcmp(group, OWN[i]->group) == 0 && strcmp(resource, OWN[i]->resource) == 0)
            return OWN[i];
    return &PIECES;
}
