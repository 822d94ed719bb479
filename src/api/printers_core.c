/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of nodes, events, services, volumes, workloads and devices. */
#include "api/printers_inner.h"

#include "api/age.h"
#include "api/timestamp.h"

static struct str lower(const struct printing *p, struct str s)
{
    char *copy = arena_alloc(p->a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        copy[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 32 : s.p[i]);
    copy[s.n] = '\0';
    return (struct str){copy, s.n};
}

static struct str text_or(const struct doc *object, const char *path, struct str other)
{
    struct str s = cell_path_text(object, path);
    return s.n ? s : other;
}

static bool is_deleted(const struct doc *object)
{
    return cell_path_text(object, "metadata.deletionTimestamp").n > 0;
}

/* ---- nodes ---- */

struct doc cell_node_status(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    const struct doc *ready = cell_condition(object, "status.conditions", "Ready");
    bool closed = false;
    doc_get_bool(doc_get(object, "spec"), "unschedulable", &closed);
    const char *word = !ready ? "Unknown" : cell_is_true(ready) ? "Ready" : "NotReady";
    return cell_of(p,
                   arena_printf(p->a, "%s%s", word, closed ? ",SchedulingDisabled" : ""));
}

struct doc cell_node_roles(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    static const struct str prefix = {"node-role.kubernetes.io/", 24};
    const struct doc *labels = doc_path(object, "metadata.labels");
    struct cell_texts roles = {0};
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        struct str key = doc_key(&labels->members[i]),
                   value = doc_str(&labels->members[i].value);
        if (str_starts(key, prefix) && key.n > prefix.n)
            cell_add(p, &roles, str_sub(key, prefix.n, SIZE_MAX));
        else if (str_is(key, "kubernetes.io/role") && value.n)
            cell_add(p, &roles, value);
    }
    cell_sort(&roles);
    return cell_of(p, roles.n ? cell_joined(p, &roles, ",") : STR("<none>"));
}

struct doc cell_node_address(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    const struct doc *found = cell_condition(object, "status.addresses", argument);
    return cell_of(p, found ? doc_get_text(found, "address") : STR("<none>"));
}

struct doc cell_node_kernel(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    struct str version =
        text_or(object, "status.nodeInfo.kernelVersion", STR("<unknown>"));
    struct str machine = cell_path_text(object, "status.nodeInfo.architecture");
    if (!machine.n)
        return cell_of(p, version);
    return cell_of(p,
                   arena_printf(p->a, "%.*s (%.*s)", STR_ARG(version), STR_ARG(machine)));
}

/* ---- events, of core and of events.k8s.io ---- */

static struct str event_text(const struct doc *event, const char *core, const char *other)
{
    return text_or(event, core, cell_path_text(event, other));
}

static struct str first_seen(const struct doc *event)
{
    struct str first = event_text(event, "firstTimestamp", "deprecatedFirstTimestamp");
    return first.n ? first : cell_path_text(event, "eventTime");
}

struct doc cell_event_first(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    return cell_of(p, age_of(first_seen(object), p->now, p->a));
}

struct doc cell_event_last(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    struct str last = event_text(object, "lastTimestamp", "deprecatedLastTimestamp");
    if (!last.n)
        last = first_seen(object);
    if (cell_path_is_map(object, "series"))
        last = cell_path_text(object, "series.lastObservedTime");
    return cell_of(p, age_of(last, p->now, p->a));
}

struct doc cell_event_object(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    struct str name = event_text(object, "involvedObject.name", "regarding.name"),
               kind = event_text(object, "involvedObject.kind", "regarding.kind");
    kind = lower(p, kind);
    if (!name.n)
        return cell_of(p, kind);
    return cell_of(p, arena_printf(p->a, "%.*s/%.*s", STR_ARG(kind), STR_ARG(name)));
}

struct doc cell_event_source(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    struct str who = event_text(object, "source.component", "deprecatedSource.component");
    struct str host = event_text(object, "source.host", "deprecatedSource.host");
    if (!who.n)
        who = event_text(object, "reportingComponent", "reportingController");
    if (!host.n)
        host = cell_path_text(object, "reportingInstance");
    if (!host.n)
        return cell_of(p, who);
    return cell_of(p, arena_printf(p->a, "%.*s, %.*s", STR_ARG(who), STR_ARG(host)));
}

struct doc cell_event_message(const struct printing *p, const struct doc *object,
                              const char *argument)
{
    return cell_of(p, str_trim(event_text(object, "message", "note")));
}

struct doc cell_event_count(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    int64_t count = cell_path_int(object, "count");
    if (!count)
        count = cell_path_int(object, "deprecatedCount");
    if (cell_path_is_map(object, "series"))
        return doc_make_int(p->a, cell_path_int(object, "series.count"));
    return doc_make_int(p->a, count ? count : 1);
}

/* ---- configuration, quotas ---- */

struct doc cell_config_data(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    const struct doc *text = doc_get(object, "data"),
                     *bytes = doc_get(object, "binaryData");
    uint32_t n = text && text->type == DOC_MAP ? text->n : 0;
    return doc_make_int(p->a, n + (bytes && bytes->type == DOC_MAP ? bytes->n : 0));
}

/* "name: used/hard" of what is limited ("limits") or of all else (""). */
struct doc cell_quota(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    const struct doc *hard = doc_path(object, "status.hard"),
                     *used = doc_path(object, "status.used");
    struct cell_texts names = {0}, texts = {0};
    for (uint32_t i = 0; hard && hard->type == DOC_MAP && i < hard->n; i++)
        cell_add(p, &names, doc_key(&hard->members[i]));
    cell_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        const struct doc *u = doc_get_str(used, names.v[i]);
        struct str have = u && u->type == DOC_STRING ? doc_str(u) : STR("0"),
                   most = doc_str(doc_get_str(hard, names.v[i]));
        if (str_starts(names.v[i], STR("limits.")) == (*argument != '\0'))
            cell_add(p, &texts,
                     arena_printf(p->a, "%.*s: %.*s/%.*s", STR_ARG(names.v[i]),
                                  STR_ARG(have), STR_ARG(most)));
    }
    return cell_of(p, cell_joined(p, &texts, ", "));
}

/* ---- services and endpoints ---- */

static void add_ingress(const struct printing *p, const struct doc *object,
                        struct cell_texts *texts)
{
    const struct doc *v;
    uint32_t n = cell_list(object, "status.loadBalancer.ingress", &v);
    for (uint32_t i = 0; i < n; i++) {
        struct str at = text_or(&v[i], "ip", cell_path_text(&v[i], "hostname"));
        if (at.n)
            cell_add(p, texts, at);
    }
    cell_sort(texts);
}

struct doc cell_addresses(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    struct cell_texts texts = {0};
    add_ingress(p, object, &texts);
    return cell_of(p, cell_joined(p, &texts, ","));
}

static struct str first_of(const struct doc *object, const char *list, const char *field)
{
    const struct doc *v;
    if (!cell_list(object, list, &v))
        return STR("<none>");
    struct str s = field ? doc_get_text(v, field) : doc_str(v);
    return s.n ? s : STR("<none>");
}

struct doc cell_cluster_ip(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    return cell_of(p, first_of(object, "spec.clusterIPs", NULL));
}

struct doc cell_pod_ip(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    return cell_of(p, first_of(object, "status.podIPs", "ip"));
}

struct doc cell_service_ip(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    struct str type = cell_path_text(object, "spec.type");
    bool balanced = str_is(type, "LoadBalancer");
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "spec.externalIPs", &v);
    if (str_is(type, "ExternalName"))
        return cell_of(p, cell_path_text(object, "spec.externalName"));
    if (!balanced && !str_is(type, "ClusterIP") && !str_is(type, "NodePort"))
        return cell_of(p, STR("<unknown>"));
    if (balanced)
        add_ingress(p, object, &texts);
    for (uint32_t i = 0; i < n; i++)
        cell_add(p, &texts, doc_str(&v[i]));
    if (texts.n)
        return cell_of(p, cell_joined(p, &texts, ","));
    return cell_of(p, balanced ? STR("<pending>") : STR("<none>"));
}

struct doc cell_service_ports(const struct printing *p, const struct doc *object,
                              const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "spec.ports", &v);
    for (uint32_t i = 0; i < n; i++) {
        long long port = cell_path_int(&v[i], "port"),
                  node = cell_path_int(&v[i], "nodePort");
        struct str protocol = doc_get_text(&v[i], "protocol");
        cell_add(p, &texts,
                 node > 0
                     ? arena_printf(p->a, "%lld:%lld/%.*s", port, node, STR_ARG(protocol))
                     : arena_printf(p->a, "%lld/%.*s", port, STR_ARG(protocol)));
    }
    return cell_of(p, n ? cell_joined(p, &texts, ",") : STR("<none>"));
}

enum { SHOWN = 3 };

/* The first few of many. */
static struct str shortened(const struct printing *p, struct cell_texts *texts,
                            struct str none)
{
    size_t n = texts->n;
    if (!n)
        return none;
    if (n <= SHOWN)
        return cell_joined(p, texts, ",");
    texts->n = SHOWN;
    struct str some = cell_joined(p, texts, ",");
    return arena_printf(p->a, "%.*s + %zu more...", STR_ARG(some), n - SHOWN);
}

static void add_subset(const struct printing *p, const struct doc *subset,
                       const struct doc *port, struct cell_texts *texts)
{
    const struct doc *v;
    uint32_t n = cell_list(subset, "addresses", &v);
    for (uint32_t i = 0; i < n; i++) {
        struct str ip = doc_get_text(&v[i], "ip");
        bool six = str_find_byte(ip, ':', 0) != SIZE_MAX;
        cell_add(p, texts,
                 !port
                     ? ip
                     : arena_printf(p->a, six ? "[%.*s]:%lld" : "%.*s:%lld", STR_ARG(ip),
                                    (long long)cell_path_int(port, "port")));
    }
}

struct doc cell_endpoints(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    const struct doc *subsets, *ports;
    struct cell_texts texts = {0};
    uint32_t n = cell_list(object, "subsets", &subsets);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t nports = cell_list(&subsets[i], "ports", &ports);
        if (!nports)
            add_subset(p, &subsets[i], NULL, &texts);
        for (uint32_t k = 0; k < nports; k++)
            add_subset(p, &subsets[i], &ports[k], &texts);
    }
    return cell_of(p, shortened(p, &texts, n ? STR("") : STR("<none>")));
}

struct doc cell_slice_ports(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "ports", &v);
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *name = doc_get(&v[i], "name");
        struct str port = cell_path_text(&v[i], "port");
        bool named = name && name->type == DOC_STRING;
        cell_add(p, &texts, port.n ? port : named ? doc_str(name) : STR("*"));
    }
    struct str all = shortened(p, &texts, STR("<unset>"));
    return cell_of(p, all.n ? all : STR("<unset>"));
}

struct doc cell_slice_endpoints(const struct printing *p, const struct doc *object,
                                const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v, *addresses;
    uint32_t n = cell_list(object, "endpoints", &v);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = cell_list(&v[i], "addresses", &addresses);
        for (uint32_t k = 0; k < m; k++)
            cell_add(p, &texts, doc_str(&addresses[k]));
    }
    return cell_of(p, shortened(p, &texts, STR("<unset>")));
}

struct doc cell_server_versions(const struct printing *p, const struct doc *object,
                                const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "status.storageVersions", &v);
    for (uint32_t i = 0; i < n; i++) {
        struct str server = doc_get_text(&v[i], "apiServerID"),
                   version = doc_get_text(&v[i], "encodingVersion");
        cell_add(p, &texts,
                 arena_printf(p->a, "%.*s=%.*s", STR_ARG(server), STR_ARG(version)));
    }
    return cell_of(p, shortened(p, &texts, STR("<unset>")));
}

/* The first rules' hosts. */
struct doc cell_hosts(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "spec.rules", &v), i = 0;
    for (; i < n && texts.n < SHOWN; i++)
        if (doc_get_text(&v[i], "host").n)
            cell_add(p, &texts, doc_get_text(&v[i], "host"));
    if (!texts.n)
        return cell_of(p, STR("*"));
    struct str all = cell_joined(p, &texts, ",");
    return cell_of(
        p,
        i == n ? all : arena_printf(p->a, "%.*s + %u more...", STR_ARG(all), n - SHOWN));
}

/* ---- volumes ---- */

struct doc cell_phase(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    return cell_of(p, is_deleted(object) ? STR("Terminating")
                                         : cell_path_text(object, "status.phase"));
}

struct doc cell_modes(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    static const struct {
        const char *mode;
        struct str text;
    } KNOWN[] = {{"ReadWriteOnce", {"RWO", 3}},
                 {"ReadOnlyMany", {"ROX", 3}},
                 {"ReadWriteMany", {"RWX", 3}},
                 {"ReadWriteOncePod", {"RWOP", 4}}};
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, argument, &v);
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++)
        for (uint32_t i = 0; i < n; i++)
            if (doc_is_string(&v[i], KNOWN[k].mode)) {
                cell_add(p, &texts, KNOWN[k].text);
                break;
            }
    return cell_of(p, cell_joined(p, &texts, ","));
}

static bool is_bound(const struct doc *claim)
{
    return cell_path_text(claim, "spec.volumeName").n > 0;
}

struct doc cell_claim_modes(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    return is_bound(object) ? cell_modes(p, object, "status.accessModes")
                            : cell_of(p, STR(""));
}

struct doc cell_claim_capacity(const struct printing *p, const struct doc *object,
                               const char *argument)
{
    return cell_of(p, is_bound(object)
                          ? text_or(object, "status.capacity.storage", STR("0"))
                          : STR(""));
}

struct doc cell_class(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    const struct doc *old = doc_get(doc_path(object, "metadata.annotations"),
                                    "volume.beta.kubernetes.io/storage-class");
    return cell_of(p, old && old->type == DOC_STRING
                          ? doc_str(old)
                          : cell_path_text(object, "spec.storageClassName"));
}

struct doc cell_claim_ref(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    return cell_path_is_map(object, argument)
               ? cell_pair(p, doc_path(object, argument), "namespace|name")
               : cell_of(p, STR(""));
}

/* ---- jobs ---- */

struct doc cell_job_status(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    static const char *const types[] = {
        "Complete", "Failed", "", "Suspended", "FailureTarget", "SuccessCriteriaMet"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!*types[i] && is_deleted(object))
            return cell_of(p, STR("Terminating"));
        if (cell_is_true(cell_condition(object, "status.conditions", types[i])))
            return cell_of(p, str_from(types[i]));
    }
    return cell_of(p, STR("Running"));
}

struct doc cell_job_completions(const struct printing *p, const struct doc *object,
                                const char *argument)
{
    long long done = cell_path_int(object, "status.succeeded"),
              at_once = cell_path_int(object, "spec.parallelism");
    const struct doc *wanted = doc_path(object, "spec.completions");
    int64_t n;
    if (wanted && doc_int64(wanted, &n))
        return cell_of(p, arena_printf(p->a, "%lld/%lld", done, (long long)n));
    if (at_once > 1)
        return cell_of(p, arena_printf(p->a, "%lld/1 of %lld", done, at_once));
    return cell_of(p, arena_printf(p->a, "%lld/1", done));
}

struct doc cell_job_duration(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    struct str start = cell_path_text(object, "status.startTime"),
               end = cell_path_text(object, "status.completionTime");
    int64_t seconds, now = p->now;
    int32_t nanos;
    if (!start.n)
        return cell_of(p, STR(""));
    if (timestamp_parse(end, &seconds, &nanos))
        now = seconds * 1000000000 + nanos;
    return cell_of(p, age_of(start, now, p->a));
}

struct doc cell_controller(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    const struct doc *v;
    uint32_t n = cell_list(object, "metadata.ownerReferences", &v);
    for (uint32_t i = 0; i < n; i++) {
        bool controls = false;
        if (!doc_get_bool(&v[i], "controller", &controls) || !controls)
            continue;
        struct str kind = lower(p, doc_get_text(&v[i], "kind")),
                   group = doc_get_text(&v[i], "apiVersion"),
                   name = doc_get_text(&v[i], "name");
        size_t slash = str_find_byte(group, '/', 0);
        group = slash == SIZE_MAX ? STR("") : str_sub(group, 0, slash);
        return cell_of(p,
                       arena_printf(p->a, "%.*s%s%.*s/%.*s", STR_ARG(kind),
                                    group.n ? "." : "", STR_ARG(group), STR_ARG(name)));
    }
    return cell_of(p, STR("<none>"));
}
