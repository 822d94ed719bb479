/* SPDX-License-Identifier: Apache-2.0 */
#include "control/endpoint_slice_make.h"

#include "base/names.h"
#include "control/fields.h"
#include "control/pods.h"
#include "control/selecting.h"

enum { ENDPOINTS_MAX = 100 }; /* of one slice */

static const struct owner_kind SERVICE = {{"", "v1", "services", true}, "v1", "Service"};

/* ---- one endpoint ---- */

static struct doc addresses_of(const struct doc *pod, const char *type, struct arena *a)
{
    const struct doc *list = field_list(pod, "status.podIPs");
    struct doc out = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++) {
        struct str ip = doc_get_text(&list->items[i], "ip");
        if (ip.n && service_is_ipv6(ip) == !strcmp(type, "IPv6"))
            doc_append(a, &out, doc_make_string(a, ip));
    }
    return out;
}

static void add_conditions(struct doc *e, const struct doc *service,
                           const struct doc *pod, struct arena *a)
{
    struct doc c = doc_make_map();
    bool serving = pod_is_ready(pod, NULL), leaving = field_deleted(pod),
         always = field_bool(service, "spec.publishNotReadyAddresses");
    doc_set(a, &c, "ready", doc_make_bool(always || (serving && !leaving)));
    doc_set(a, &c, "serving", doc_make_bool(serving));
    doc_set(a, &c, "terminating", doc_make_bool(leaving));
    doc_set(a, e, "conditions", c);
}

static struct doc named_list(struct str name, struct arena *a)
{
    struct doc list = doc_make_list(), one = doc_make_map();
    doc_set_text(a, &one, "name", name);
    doc_append(a, &list, one);
    return list;
}

static bool has_mode(const struct doc *service)
{
    struct str hints = field_note(service, "service.kubernetes.io/topology-aware-hints"),
               mode = field_note(service, "service.kubernetes.io/topology-mode");
    struct str said = hints.p ? hints : mode;
    return str_is(said, "Auto") || str_is(said, "auto");
}

/* Traffic stays in the zone, or on the node, as spec.trafficDistribution says. */
static void add_hints(struct doc *e, const struct doc *service, struct str zone,
                      struct str node, struct arena *a)
{
    struct str how = field_text(service, "spec.trafficDistribution");
    bool by_node = str_is(how, "PreferSameNode"),
         by_zone = by_node || str_is(how, "PreferClose") || str_is(how, "PreferSameZone");
    struct doc hints = doc_make_map();
    if (has_mode(service) || !field_bool(e, "conditions.ready"))
        return;
    if (by_zone && zone.n)
        doc_set(a, &hints, "forZones", named_list(zone, a));
    if (by_node && node.n)
        doc_set(a, &hints, "forNodes", named_list(node, a));
    if (hints.n)
        doc_set(a, e, "hints", hints);
}

static struct doc make_endpoint(const struct doc *service, const struct doc *pod,
                                const struct doc *addresses, struct str zone,
                                struct arena *a)
{
    struct doc e = doc_make_map();
    struct str node = field_text(pod, "spec.nodeName");
    doc_set(a, &e, "addresses", *addresses);
    add_conditions(&e, service, pod, a);
    if (service_names_pod(service, pod))
        doc_set_text(a, &e, "hostname", field_text(pod, "spec.hostname"));
    if (node.n)
        doc_set_text(a, &e, "nodeName", node);
    if (zone.n)
        doc_set_text(a, &e, "zone", zone);
    doc_set(a, &e, "targetRef", service_pod_ref(pod, a));
    add_hints(&e, service, zone, node, a);
    return e;
}

/* ---- its ports ---- */

static struct doc make_ports(const struct doc *service, const struct doc *pod,
                             struct arena *a)
{
    const struct doc *list = field_list(service, "spec.ports");
    struct doc out = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *port = &list->items[i];
        struct doc p = doc_make_map();
        struct str app = doc_get_text(port, "appProtocol"),
                   name = doc_get_text(port, "name");
        int64_t number;
        if (!service_find_port(port, pod, &number))
            continue;
        doc_set_text(a, &p, "name", name.p ? name : STR(""));
        doc_set(a, &p, "port", doc_make_int(a, number));
        doc_set_text(a, &p, "protocol", doc_get_text(port, "protocol"));
        if (app.p)
            doc_set_text(a, &p, "appProtocol", app);
        doc_append(a, &out, p);
    }
    return out;
}

/* ---- all of them ---- */

static bool is_reserved(struct str label)
{
    return str_is(label, SLICE_SERVICE) || str_is(label, SLICE_MANAGER) ||
           str_is(label, SLICE_HEADLESS);
}

static struct doc make_labels(const struct object *service, struct arena *a)
{
    const struct doc *own = doc_path(service->doc, "metadata.labels");
    struct doc labels = doc_make_map();
    for (uint32_t i = 0; own && own->type == DOC_MAP && i < own->n; i++)
        if (!is_reserved(doc_key(&own->members[i])))
            doc_set(a, &labels, own->members[i].key, own->members[i].value);
    if (service_has_no_address(service->doc))
        doc_set_text(a, &labels, SLICE_HEADLESS, STR(""));
    doc_set_text(a, &labels, SLICE_SERVICE, service->name);
    doc_set_text(a, &labels, SLICE_MANAGER, STR(ENDPOINT_SLICES_MANAGER));
    return labels;
}

static struct slice_order begin(const struct object *service, const char *type,
                                struct arena *a)
{
    struct str prefix = arena_printf(a, "%.*s-", STR_ARG(service->name));
    bool fits =
        name_valid(NAME_DNS1123_SUBDOMAIN, arena_printf(a, "%.*sa", STR_ARG(prefix)));
    return (struct slice_order){
        .a = a,
        .address_type = type,
        .namespace = service->namespace,
        .prefix = fits ? prefix : service->name,
        .labels = make_labels(service, a),
        .annotations = doc_make_map(),
        .owner = adopt_reference(a, &SERVICE, service),
        .owner_uid = service->uid,
        .most = ENDPOINTS_MAX,
        .placeholder = true,
    };
}

struct slice_order endpoint_slice_order(const struct object *service,
                                        const struct objects *pods, const char *type,
                                        slice_zone_fn *zone, void *ctx, struct arena *a,
                                        const struct object **lost)
{
    struct slice_order o = begin(service, type, a);
    bool always = field_bool(service->doc, "spec.publishNotReadyAddresses");
    for (uint32_t i = 0; i < pods->n; i++) {
        const struct doc *pod = pods->v[i]->doc;
        if (!service_takes_pod(pod, true))
            continue;
        struct doc ports = make_ports(service->doc, pod, a),
                   addresses = addresses_of(pod, type, a);
        struct slice_group *g = slice_group(&o, &ports);
        struct str where = zone(ctx, field_text(pod, "spec.nodeName"));
        if (!where.p && !always) {
            *lost = pods->v[i];
            continue;
        }
        if (!addresses.n)
            continue;
        struct doc e = make_endpoint(service->doc, pod, &addresses, where, a);
        slice_add(&o, g, &e);
    }
    return o;
}
