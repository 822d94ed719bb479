/* SPDX-License-Identifier: Apache-2.0 */
#include "control/endpoints_make.h"

#include <stdlib.h>

#include "api/edit.h"
#include "base/map.h"
#include "base/vec.h"
#include "control/fields.h"
#include "control/pods.h"
#include "control/selecting.h"

enum { ADDRESSES_MAX = 1000 };

static const char HEADLESS[] = "service.kubernetes.io/headless",
                  OVER[] = "endpoints.kubernetes.io/over-capacity";

/* ---- addresses by ports ---- */

struct address {
    struct doc doc;
    struct str ip, uid;
    bool ready;
};

struct addresses {
    struct address *v;
    uint32_t n, cap;
};

struct port { /* with those that offer it */
    struct str key;
    struct doc doc; /* of type null: no port at all */
    struct addresses who;
};

struct ports {
    struct port *v;
    uint32_t n, cap;
};

static struct str print(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_SORT, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static void offer(struct ports *all, const struct doc *port, const struct address *who,
                  struct arena *a)
{
    struct port p = {.key = print(port, a), .doc = *port};
    uint32_t i = 0;
    while (i < all->n && !str_eq(all->v[i].key, p.key))
        i++;
    if (i == all->n)
        vec_push_in(a, all, p);
    vec_push_in(a, &all->v[i].who, *who);
}

static bool wants_ipv6(const struct doc *service, const struct doc *pod)
{
    const struct doc *families = field_list(service, "spec.ipFamilies");
    if (families->n)
        return doc_is_string(&families->items[0], "IPv6");
    if (!service_has_no_address(service))
        return service_is_ipv6(field_text(service, "spec.clusterIP"));
    return service_is_ipv6(field_text(pod, "status.podIP"));
}

static struct str address_of(const struct doc *service, const struct doc *pod)
{
    const struct doc *list = field_list(pod, "status.podIPs");
    bool ipv6 = wants_ipv6(service, pod);
    for (uint32_t i = 0; i < list->n; i++) {
        struct str ip = doc_get_text(&list->items[i], "ip");
        if (ip.n && service_is_ipv6(ip) == ipv6)
            return ip;
    }
    return STR_NONE;
}

static bool make_address(const struct doc *service, const struct doc *pod,
                         struct arena *a, struct address *out)
{
    struct str node = field_text(pod, "spec.nodeName");
    *out = (struct address){.doc = doc_make_map(),
                            .ip = address_of(service, pod),
                            .uid = field_meta(pod, "uid")};
    if (!out->ip.n)
        return false;
    out->ready =
        field_bool(service, "spec.publishNotReadyAddresses") || pod_is_ready(pod, NULL);
    doc_set_text(a, &out->doc, "ip", out->ip);
    if (service_names_pod(service, pod))
        doc_set_text(a, &out->doc, "hostname", field_text(pod, "spec.hostname"));
    doc_set_text(a, &out->doc, "nodeName", node.p ? node : STR(""));
    doc_set(a, &out->doc, "targetRef", service_pod_ref(pod, a));
    return true;
}

static struct doc make_port(const struct doc *port, int64_t number, struct arena *a)
{
    struct doc p = doc_make_map();
    struct str name = doc_get_text(port, "name"), app = doc_get_text(port, "appProtocol");
    if (name.n)
        doc_set_text(a, &p, "name", name);
    doc_set(a, &p, "port", doc_make_int(a, number));
    doc_set_text(a, &p, "protocol", doc_get_text(port, "protocol"));
    if (app.p)
        doc_set_text(a, &p, "appProtocol", app);
    return p;
}

static void add_pod(struct ports *all, const struct doc *service, const struct doc *pod,
                    struct arena *a)
{
    const struct doc *list = field_list(service, "spec.ports");
    struct doc none = doc_make_null();
    struct address who;
    if (!service_takes_pod(pod, field_bool(service, "spec.publishNotReadyAddresses")) ||
        !make_address(service, pod, a, &who))
        return;
    if (!list->n && service_has_no_address(service))
        offer(all, &none, &who, a);
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t number;
        if (!service_find_port(&list->items[i], pod, &number))
            continue;
        struct doc port = make_port(&list->items[i], number, a);
        offer(all, &port, &who, a);
    }
}

/* ---- ports by addresses ---- */

static int by_ip(const void *x, const void *y)
{
    const struct address *a = x, *b = y;
    int ip = str_cmp(a->ip, b->ip);
    return ip ? ip : str_cmp(a->uid, b->uid);
}

/* Who they are, and which of them are ready. */
static struct str addresses_key(struct addresses *who, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    qsort(who->v, who->n, sizeof *who->v, by_ip);
    for (uint32_t i = 0; i < who->n; i++)
        strbuf_addf(&b, "%.*s/%.*s/%d;", STR_ARG(who->v[i].ip), STR_ARG(who->v[i].uid),
                    who->v[i].ready);
    struct str key = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return key;
}

static int by_key(const void *x, const void *y)
{
    const struct port *a = x, *b = y;
    return str_cmp(a->key, b->key);
}

static struct doc list_addresses(const struct addresses *who, bool ready, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < who->n; i++)
        if (who->v[i].ready == ready)
            doc_append(a, &list, who->v[i].doc);
    return list;
}

static struct doc make_subset(const struct addresses *who, struct arena *a)
{
    struct doc s = doc_make_map(), ready = list_addresses(who, true, a),
               others = list_addresses(who, false, a);
    if (ready.n)
        doc_set(a, &s, "addresses", ready);
    if (others.n)
        doc_set(a, &s, "notReadyAddresses", others);
    return s;
}

static void add_port(struct doc *subset, const struct doc *port, struct arena *a)
{
    struct doc *list = api_edit_get(subset, "ports");
    if (port->type == DOC_NULL)
        return;
    list = list ? list : doc_set(a, subset, "ports", doc_make_list());
    doc_append(a, list, *port);
}

static struct doc repack(struct ports *all, struct arena *a)
{
    struct doc subsets = doc_make_list();
    struct strmap places;
    strmap_init(&places);
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_key);
    for (uint32_t i = 0; i < all->n; i++) {
        bool made;
        struct strmap_entry *e =
            strmap_put(&places, addresses_key(&all->v[i].who, a), &made);
        if (made) {
            e->value.u = subsets.n;
            doc_append(a, &subsets, make_subset(&all->v[i].who, a));
        }
        add_port(&subsets.items[e->value.u], &all->v[i].doc, a);
    }
    strmap_release(&places);
    return subsets;
}

/* ---- no more than a thousand ---- */

static uint32_t count(const struct doc *subsets, const char *which)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < subsets->n; i++)
        n += field_count(&subsets->items[i], which);
    return n;
}

/* Each subset gives its share; ready addresses have precedence. */
static bool truncate_subsets(struct doc *subsets)
{
    uint32_t ready = count(subsets, "addresses"),
             others = count(subsets, "notReadyAddresses");
    bool cut_ready = ready > ADDRESSES_MAX;
    const char *which = cut_ready ? "addresses" : "notReadyAddresses";
    uint32_t most = cut_ready ? ADDRESSES_MAX : ADDRESSES_MAX - ready,
             total = cut_ready ? ready : others, left = most;
    if (ready + others <= ADDRESSES_MAX)
        return false;
    for (uint32_t i = 0; i < subsets->n; i++) {
        struct doc *list = api_edit_get(&subsets->items[i], which);
        uint64_t share = list ? ((uint64_t)list->n * most + total - 1) / total : 0;
        share = share < left ? share : left;
        if (cut_ready)
            doc_remove(&subsets->items[i], STR("notReadyAddresses"));
        if (list && share < list->n)
            list->n = (uint32_t)share;
        left -= (uint32_t)share;
    }
    return true;
}

struct doc endpoints_subsets(const struct doc *service, const struct objects *pods,
                             struct arena *a, bool *truncated)
{
    struct ports all = {0};
    for (uint32_t i = 0; i < pods->n; i++)
        add_pod(&all, service, pods->v[i]->doc, a);
    struct doc subsets = repack(&all, a);
    *truncated = truncate_subsets(&subsets);
    return subsets;
}

/* ---- the object ---- */

static struct doc make_labels(const struct object *service, struct arena *a)
{
    const struct doc *own = doc_path(service->doc, "metadata.labels");
    struct doc labels = own && own->type == DOC_MAP ? doc_dup(a, own) : doc_make_map();
    if (service_has_no_address(service->doc))
        doc_set_text(a, &labels, HEADLESS, STR(""));
    else
        doc_remove(&labels, str_from(HEADLESS));
    doc_set_text(a, &labels, ENDPOINTS_MANAGER_LABEL, STR(ENDPOINTS_MANAGER));
    return labels;
}

static struct doc new_endpoints(const struct object *service, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set_text(a, &d, "apiVersion", STR("v1"));
    doc_set_text(a, &d, "kind", STR("Endpoints"));
    doc_set_text(a, field_make(a, &d, "metadata"), "name", service->name);
    doc_set_text(a, field_make(a, &d, "metadata"), "namespace", service->namespace);
    return d;
}

static int by_item(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

/* Subsets as a text that says the same whatever the order of their parts. */
static struct str normal_form(const struct doc *list, struct arena *a)
{
    struct str *parts = ARENA_ARRAY(a, struct str, list->n + 1);
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *item = &list->items[i];
        if (item->type != DOC_MAP || doc_get(item, "ip") || doc_get(item, "port")) {
            parts[i] = print(item, a);
            continue;
        }
        parts[i] = arena_printf(
            a, "{%.*s|%.*s|%.*s}", STR_ARG(normal_form(field_list(item, "addresses"), a)),
            STR_ARG(normal_form(field_list(item, "notReadyAddresses"), a)),
            STR_ARG(normal_form(field_list(item, "ports"), a)));
    }
    if (list->n)
        qsort(parts, list->n, sizeof *parts, by_item);
    for (uint32_t i = 0; i < list->n; i++)
        strbuf_addf(&b, "%.*s,", STR_ARG(parts[i]));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static bool same_labels(const struct doc *have, const struct doc *want)
{
    return have && doc_equal(have, want);
}

bool endpoints_make(const struct object *service, const struct object *known,
                    const struct objects *pods, struct arena *a, struct doc *out)
{
    bool truncated, marked = known && field_note(known->doc, OVER).p;
    struct doc subsets = endpoints_subsets(service->doc, pods, a, &truncated),
               labels = make_labels(service, a);
    if (known && marked == truncated &&
        same_labels(doc_path(known->doc, "metadata.labels"), &labels) &&
        str_eq(normal_form(field_list(known->doc, "subsets"), a),
               normal_form(&subsets, a)))
        return false;
    *out = known ? doc_dup(a, known->doc) : new_endpoints(service, a);
    doc_set(a, field_make(a, out, "metadata"), "labels", labels);
    if (truncated)
        field_set_meta(a, out, "annotations", OVER, STR("truncated"));
    else if (marked)
        doc_remove(field_make(a, field_make(a, out, "metadata"), "annotations"),
                   str_from(OVER));
    doc_remove(out, STR("subsets"));
    if (subsets.n)
        doc_set(a, out, "subsets", subsets);
    return true;
}
