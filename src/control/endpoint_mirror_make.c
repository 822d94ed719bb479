/* SPDX-License-Identifier: Apache-2.0 */
#include "control/endpoint_mirror_make.h"

#include "base/names.h"
#include "control/fields.h"
#include "control/selecting.h"

static const struct owner_kind ENDPOINTS = {
    {"", "v1", "endpoints", true}, "v1", "Endpoints"};

bool endpoint_mirror_wants(const struct doc *endpoints)
{
    return !str_is(field_label(endpoints, "endpointslice.kubernetes.io/skip-mirror"),
                   "true") &&
           !field_note(endpoints, "control-plane.alpha.kubernetes.io/leader").p;
}

/* ---- endpoints ---- */

static void copy(struct arena *a, struct doc *to, const struct doc *from, const char *key)
{
    const struct doc *found = doc_get(from, key);
    if (found && found->type != DOC_NULL)
        doc_set(a, to, key, *found);
}

static struct doc make_endpoint(const struct doc *address, bool ready, struct arena *a)
{
    struct doc e = doc_make_map(), list = doc_make_list(), conditions = doc_make_map();
    doc_append(a, &list, doc_make_string(a, doc_get_text(address, "ip")));
    doc_set(a, &conditions, "ready", doc_make_bool(ready));
    doc_set(a, &e, "addresses", list);
    doc_set(a, &e, "conditions", conditions);
    copy(a, &e, address, "targetRef");
    copy(a, &e, address, "nodeName");
    if (doc_get_text(address, "hostname").n)
        copy(a, &e, address, "hostname");
    return e;
}

static struct doc make_ports(const struct doc *subset, struct arena *a)
{
    const struct doc *list = field_list(subset, "ports");
    struct doc ports = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++) {
        struct doc p = doc_make_map();
        struct str name = doc_get_text(&list->items[i], "name");
        doc_set_text(a, &p, "name", name.p ? name : STR(""));
        copy(a, &p, &list->items[i], "port");
        copy(a, &p, &list->items[i], "protocol");
        copy(a, &p, &list->items[i], "appProtocol");
        doc_append(a, &ports, p);
    }
    return ports;
}

struct adding {
    struct slice_order *o;
    const struct doc *ports;
    uint32_t n; /* addresses of the subset, of whatever type */
};

static void add_addresses(struct adding *to, const struct doc *list, bool ready)
{
    struct slice_order *o = to->o;
    for (uint32_t i = 0; i < list->n && to->n < ENDPOINT_MIRROR_MAX; i++, to->n++) {
        struct str ip = doc_get_text(&list->items[i], "ip");
        if (!ip.n || service_is_ipv6(ip) != !strcmp(o->address_type, "IPv6"))
            continue;
        struct doc e = make_endpoint(&list->items[i], ready, o->a);
        slice_add(o, slice_group(o, to->ports), &e);
    }
}

static uint32_t count(const struct doc *subset)
{
    return field_count(subset, "addresses") + field_count(subset, "notReadyAddresses");
}

uint32_t endpoint_mirror_skipped(const struct doc *endpoints)
{
    const struct doc *subsets = field_list(endpoints, "subsets");
    uint32_t n = 0;
    for (uint32_t i = 0; i < subsets->n; i++)
        if (count(&subsets->items[i]) > ENDPOINT_MIRROR_MAX)
            n += count(&subsets->items[i]) - ENDPOINT_MIRROR_MAX;
    return n;
}

/* ---- slices ---- */

static struct doc make_labels(const struct object *endpoints, struct arena *a)
{
    const struct doc *own = doc_path(endpoints->doc, "metadata.labels");
    struct doc labels = own && own->type == DOC_MAP ? doc_dup(a, own) : doc_make_map();
    doc_set_text(a, &labels, SLICE_SERVICE, endpoints->name);
    doc_set_text(a, &labels, SLICE_MANAGER, STR(ENDPOINT_MIRROR_MANAGER));
    return labels;
}

/* All but what was said of the object itself. */
static struct doc make_annotations(const struct object *endpoints, struct arena *a)
{
    const struct doc *own = doc_path(endpoints->doc, "metadata.annotations");
    struct doc notes = own && own->type == DOC_MAP ? doc_dup(a, own) : doc_make_map();
    doc_remove(&notes, STR("endpoints.kubernetes.io/last-change-trigger-time"));
    doc_remove(&notes, STR("kubectl.kubernetes.io/last-applied-configuration"));
    return notes;
}

static struct slice_order begin(const struct object *endpoints, const char *type,
                                struct arena *a)
{
    struct str prefix = arena_printf(a, "%.*s-", STR_ARG(endpoints->name));
    bool fits =
        name_valid(NAME_DNS1123_SUBDOMAIN, arena_printf(a, "%.*sa", STR_ARG(prefix)));
    return (struct slice_order){
        .a = a,
        .address_type = type,
        .namespace = endpoints->namespace,
        .prefix = fits ? prefix : endpoints->name,
        .labels = make_labels(endpoints, a),
        .annotations = make_annotations(endpoints, a),
        .owner = adopt_reference(a, &ENDPOINTS, endpoints),
        .owner_uid = endpoints->uid,
        .most = ENDPOINT_MIRROR_MAX,
    };
}

struct slice_order endpoint_mirror_order(const struct object *endpoints, const char *type,
                                         struct arena *a)
{
    struct slice_order o = begin(endpoints, type, a);
    const struct doc *subsets = field_list(endpoints->doc, "subsets");
    for (uint32_t i = 0; i < subsets->n; i++) {
        struct doc ports = make_ports(&subsets->items[i], a);
        struct adding to = {&o, &ports, 0};
        add_addresses(&to, field_list(&subsets->items[i], "addresses"), true);
        add_addresses(&to, field_list(&subsets->items[i], "notReadyAddresses"), false);
    }
    return o;
}
