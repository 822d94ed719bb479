/* SPDX-License-Identifier: Apache-2.0 */
/* Services: what stays of chosen values, the families of their addresses before any is
 * chosen, and what another type does away with. */
#include "api/prepare_inner.h"
#include "api/proto.h"
#include "api/rules.h"
#include "api/service.h"

static const char IP[] = "clusterIP", IPS[] = "clusterIPs", FAMILIES[] = "ipFamilies",
                  POLICY[] = "ipFamilyPolicy", NODE_PORT[] = "nodePort",
                  HEALTH_PORT[] = "healthCheckNodePort", SINGLE[] = "SingleStack";

/* ---- questions ---- */

bool service_is(const struct doc *spec, const char *type)
{
    return doc_is_string(doc_get(spec, "type"), type);
}

static uint32_t count(const struct doc *spec, const char *key)
{
    const struct doc *list = doc_get(spec, key);
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct str item(const struct doc *spec, const char *key, uint32_t i)
{
    return i < count(spec, key) ? api_text(&doc_get(spec, key)->items[i]) : STR("");
}

bool service_is_headless(const struct doc *spec)
{
    return count(spec, IPS) == 1 && str_is(item(spec, IPS, 0), "None");
}

/* Those of a balancer can do without. */
static bool wants_ports(const struct doc *spec)
{
    bool wanted = true;
    doc_get_bool(spec, "allocateLoadBalancerNodePorts", &wanted);
    return service_is(spec, "NodePort") || (service_is(spec, "LoadBalancer") && wanted);
}

bool service_has_ports(const struct doc *spec)
{
    return service_is(spec, "NodePort") || service_is(spec, "LoadBalancer");
}

bool service_needs_health(const struct doc *spec)
{
    return service_is(spec, "LoadBalancer") &&
           doc_is_string(doc_get(spec, "externalTrafficPolicy"), "Local");
}

bool service_is_external(const struct doc *spec)
{
    return service_has_ports(spec) ||
           (service_is(spec, "ClusterIP") && count(spec, "externalIPs"));
}

static bool has_addresses(const struct doc *spec)
{
    return !service_is(spec, "ExternalName");
}

static bool same(const struct doc *a, const struct doc *b, const char *key)
{
    uint32_t n = count(a, key);
    return n == count(b, key) && (n == 0 || doc_equal(doc_get(a, key), doc_get(b, key)));
}

static bool same_text(const struct doc *a, const struct doc *b, const char *key)
{
    return str_eq(api_text(doc_get(a, key)), api_text(doc_get(b, key)));
}

static bool has_selector(const struct doc *spec)
{
    const struct doc *d = doc_get(spec, "selector");
    return d && d->type == DOC_MAP && d->n;
}

/* Pods of others, if any: the cluster's own families say nothing of them. */
static bool is_headless_without_selector(const struct doc *spec)
{
    return doc_is_string(doc_get(spec, IP), "None") && !has_selector(spec);
}

static int64_t number(const struct doc *d, const char *key)
{
    int64_t n = 0;
    doc_get_int64(d, key, &n);
    return n;
}

static struct doc *ports_of(struct doc *spec)
{
    struct doc *list = api_edit_get(spec, "ports");
    return list && list->type == DOC_LIST ? list : NULL;
}

/* The port of nodes that is listed last under a name; 0: none. */
static int64_t port_named(const struct doc *spec, struct str name)
{
    const struct doc *list = doc_get(spec, "ports");
    int64_t found = 0;
    for (uint32_t i = 0; i < count(spec, "ports"); i++)
        if (str_eq(api_text(doc_get(&list->items[i], "name")), name))
            found = number(&list->items[i], NODE_PORT);
    return found;
}

static bool uses_port(const struct doc *spec, int64_t port)
{
    const struct doc *list = doc_get(spec, "ports");
    for (uint32_t i = 0; i < count(spec, "ports"); i++)
        if (number(&list->items[i], NODE_PORT) == port)
            return true;
    return false;
}

/* ---- what was chosen stays ---- */

static void keep_ports(const struct api_prepare *p, struct doc *spec,
                       const struct doc *was)
{
    struct doc *list = ports_of(spec);
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct doc *port = &list->items[i];
        int64_t before = port_named(was, api_text(doc_get(port, "name")));
        if (number(port, NODE_PORT) == 0 && before && !uses_port(spec, before))
            doc_set(p->a, port, NODE_PORT, doc_make_int(p->a, before));
    }
}

static void keep_chosen(const struct api_prepare *p, struct doc *spec,
                        const struct doc *was)
{
    if (has_addresses(was) && has_addresses(spec)) {
        if (!doc_get_text(spec, IP).n)
            prepare_keep(p, spec, was, IP);
        if (!count(spec, IPS) && count(was, IPS))
            prepare_keep(p, spec, was, IPS);
    }
    if (wants_ports(was) && wants_ports(spec))
        keep_ports(p, spec, was);
    if (service_needs_health(was) && service_needs_health(spec) &&
        !number(spec, HEALTH_PORT))
        prepare_keep(p, spec, was, HEALTH_PORT);
}

/* ---- families ---- */

static void append(const struct api_prepare *p, struct doc *spec, const char *key,
                   struct str text)
{
    struct doc *list = api_edit_get(spec, key);
    if (!list)
        list = doc_set(p->a, spec, key, doc_make_list());
    doc_append(p->a, list, doc_make_string(p->a, text));
}

/* clusterIP is the first of clusterIPs; writers of old know only the one. */
static void join_addresses(const struct api_prepare *p, struct doc *spec,
                           const struct doc *was)
{
    struct str ip = doc_get_text(spec, IP), before = doc_get_text(was, IP);
    bool changed = was && !str_eq(ip, before);
    if (was && !changed && !count(spec, IPS))
        prepare_keep(p, spec, was, IPS);
    if (changed && same(spec, was, IPS))
        doc_remove(spec, str_from(IPS));
    if (ip.n && !count(spec, IPS) && (!was || changed))
        append(p, spec, IPS, ip);
}

static void choose_policy(const struct api_prepare *p, struct doc *spec,
                          const struct doc *was)
{
    if (doc_get_text(spec, POLICY).p)
        return;
    if (doc_get_text(was, POLICY).p)
        prepare_keep(p, spec, was, POLICY);
    else
        prepare_text(p, spec, POLICY,
                     is_headless_without_selector(spec) ? STR("RequireDualStack")
                                                        : str_from(SINGLE));
}

/* Of two addresses or families that were not touched one is given up. */
static void give_up_second(struct doc *spec, const struct doc *was, const char *key)
{
    struct doc *list = api_edit_get(spec, key);
    if (was && list && list->type == DOC_LIST && list->n > 1 && same(spec, was, key))
        list->n = 1;
}

struct completing {
    const struct api_prepare *p;
    struct api_walk w;
    struct doc *spec;
    const struct doc *was;
    bool single;
};

static bool knows(const struct completing *c, struct str family)
{
    return str_find(str_from(c->p->families), family) != SIZE_MAX;
}

static bool knows_both(const struct completing *c)
{
    return str_find_byte(str_from(c->p->families), ',', 0) != SIZE_MAX;
}

static void refuse(struct completing *c, const char *field, const char *text)
{
    api_report_path(&c->w, arena_printf(c->w.a, "spec.%s", field),
                    doc_get(c->spec, field), API_ERROR_INVALID, "%s", text);
}

static bool is_fewer(const struct completing *c, const char *key)
{
    return count(c->spec, key) && count(c->spec, key) < count(c->was, key);
}

static void check_policy(struct completing *c)
{
    if (c->was && !c->single && is_fewer(c, IPS))
        refuse(c, POLICY, "must be 'SingleStack' to release the secondary cluster IP");
    if (c->was && !c->single && is_fewer(c, FAMILIES))
        refuse(c, POLICY, "must be 'SingleStack' to release the secondary IP family");
    if (c->single && count(c->spec, IPS) == 2)
        refuse(
            c, POLICY,
            "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs "
            "are specified");
    if (c->single && count(c->spec, FAMILIES) == 2)
        refuse(
            c, POLICY,
            "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families "
            "are specified");
}

/* Of addresses that are asked for. */
static void infer_families(struct completing *c)
{
    for (uint32_t i = count(c->spec, FAMILIES); i < count(c->spec, IPS); i++) {
        struct str ip = item(c->spec, IPS, i), family = STR("IPv4");
        if (str_find_byte(ip, ':', 0) != SIZE_MAX)
            family = STR("IPv6");
        if (str_is(ip, "None"))
            return;
        if (knows(c, family))
            append(c->p, c->spec, FAMILIES, family);
        else
            api_report_path(&c->w, arena_printf(c->w.a, "spec.clusterIPs[%u]", i),
                            doc_get(c->spec, IPS), API_ERROR_INVALID,
                            "%s is not configured on this cluster", family.p);
    }
}

static void check_families(struct completing *c)
{
    if (doc_is_string(doc_get(c->spec, POLICY), "RequireDualStack") && !knows_both(c))
        refuse(c, POLICY, "this cluster is not configured for dual-stack services");
    for (uint32_t i = 0; i < count(c->spec, FAMILIES); i++)
        if (!knows(c, item(c->spec, FAMILIES, i)))
            api_report_path(&c->w, arena_printf(c->w.a, "spec.ipFamilies[%u]", i),
                            &doc_get(c->spec, FAMILIES)->items[i], API_ERROR_INVALID,
                            "not configured on this cluster");
}

static void add_families(struct completing *c)
{
    struct str known = str_from(c->p->families);
    if (!count(c->spec, FAMILIES))
        append(c->p, c->spec, FAMILIES, str_sub(known, 0, str_find_byte(known, ',', 0)));
    bool both = knows_both(c) || is_headless_without_selector(c->spec);
    struct str other =
        str_is(item(c->spec, FAMILIES, 0), "IPv4") ? STR("IPv6") : STR("IPv4");
    if (!c->single && both && count(c->spec, FAMILIES) == 1)
        append(c->p, c->spec, FAMILIES, other);
}

/* One that only prefers two stays as it is, whatever the cluster has learned since. */
static bool prefers_as_before(const struct completing *c)
{
    static const char PREFER[] = "PreferDualStack";
    struct str before = doc_get_text(c->was, POLICY);
    return c->was && service_is(c->spec, api_text(doc_get(c->was, "type")).p) &&
           has_addresses(c->spec) && doc_is_string(doc_get(c->spec, POLICY), PREFER) &&
           (before.n == 0 || str_is(before, PREFER)) && same(c->spec, c->was, IPS) &&
           same(c->spec, c->was, FAMILIES);
}

static void check_addresses(struct completing *c)
{
    struct api_at at = {.w = &c->w,
                        .type = c->w.type,
                        .parent = c->w.object,
                        .value = c->spec,
                        .old = c->was};
    at.field = api_field_find(c->w.type, STR("spec"));
    strbuf_adds(&c->w.path, "spec");
    rules_service_addresses(&at);
}

static bool is_fine(const struct completing *c)
{
    return c->w.errors->list.n == 0;
}

static bool complete_families(struct completing *c)
{
    if (!has_addresses(c->spec) || prefers_as_before(c))
        return true;
    choose_policy(c->p, c->spec, c->was);
    check_addresses(c);
    if (!is_fine(c))
        return false;
    c->single = doc_is_string(doc_get(c->spec, POLICY), SINGLE);
    if (c->single) {
        give_up_second(c->spec, c->was, IPS);
        give_up_second(c->spec, c->was, FAMILIES);
    }
    check_policy(c);
    infer_families(c);
    if (is_fine(c) && !is_headless_without_selector(c->spec))
        check_families(c);
    if (is_fine(c))
        add_families(c);
    return is_fine(c);
}

bool api_service_complete(const struct api_prepare *p, struct doc *object,
                          const struct doc *old, struct api_errors *errors)
{
    struct api_errors none = {0};
    struct completing c = {
        .p = p, .spec = prepare_map(p, object, "spec"), .was = doc_get(old, "spec")};
    c.w = (struct api_walk){.a = p->a,
                            .errors = errors ? errors : &none,
                            .path = STRBUF_INIT,
                            .object = object,
                            .type = api_type_of_object(STR("v1"), STR("Service")),
                            .role = ""};
    if (c.was)
        keep_chosen(p, c.spec, c.was);
    join_addresses(p, c.spec, c.was);
    bool ok = complete_families(&c);
    strbuf_release(&c.w.path);
    api_errors_release(&none);
    return ok;
}

/* ---- another type ---- */

static void drop(struct doc *spec, const char *key)
{
    doc_remove(spec, str_from(key));
}

static bool same_value(const struct doc *a, const struct doc *b, const char *key)
{
    const struct doc *x = doc_get(a, key), *y = doc_get(b, key);
    return (!x && !y) || (x && y && doc_equal(x, y));
}

static void drop_addresses(struct doc *spec, const struct doc *was)
{
    if (same_text(spec, was, IP) && same(spec, was, IPS)) {
        drop(spec, IP);
        drop(spec, IPS);
    }
    if (same(spec, was, FAMILIES))
        drop(spec, FAMILIES);
    if (same_text(spec, was, POLICY))
        drop(spec, POLICY);
}

static void drop_ports(struct doc *spec, const struct doc *was)
{
    struct doc *list = ports_of(spec);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (number(&list->items[i], NODE_PORT) &&
            !uses_port(was, number(&list->items[i], NODE_PORT)))
            return; /* he wants one all the same */
    for (uint32_t i = 0; list && i < list->n; i++)
        drop(&list->items[i], NODE_PORT);
}

/* What the old type needed, and the new one does not, goes unless it was changed. */
static void drop_of_type(struct doc *spec, const struct doc *was)
{
    static const char BALANCER[] = "LoadBalancer",
                      ALLOCATE[] = "allocateLoadBalancerNodePorts";
    if (has_addresses(was) && !has_addresses(spec))
        drop_addresses(spec, was);
    if (service_has_ports(was) && !service_has_ports(spec))
        drop_ports(spec, was);
    if (service_needs_health(was) && !service_needs_health(spec) &&
        number(spec, HEALTH_PORT) == number(was, HEALTH_PORT))
        drop(spec, HEALTH_PORT);
    if (service_is(was, BALANCER) && !service_is(spec, BALANCER)) {
        if (same_value(spec, was, ALLOCATE))
            drop(spec, ALLOCATE);
        if (same_value(spec, was, "loadBalancerClass"))
            drop(spec, "loadBalancerClass");
    }
    if (service_is_external(was) && !service_is_external(spec) &&
        same_text(spec, was, "externalTrafficPolicy"))
        drop(spec, "externalTrafficPolicy");
}

/* Nobody meant to have it with names of elsewhere; what is no policy is still refused. */
static void drop_traffic(struct doc *spec)
{
    static const char KEY[] = "internalTrafficPolicy";
    const struct doc *policy = doc_get(spec, KEY);
    if (doc_is_string(policy, "Cluster") || doc_is_string(policy, "Local"))
        drop(spec, KEY);
}

void prepare_service(const struct api_prepare *p, struct doc *object,
                     const struct doc *old)
{
    struct doc *spec = prepare_map(p, object, "spec");
    if (p->families)
        api_service_complete(p, object, old, NULL);
    if (!has_addresses(spec))
        drop_traffic(spec);
    if (!old)
        return;
    drop_of_type(spec, doc_get(old, "spec"));
    if (!service_is(spec, "LoadBalancer"))
        doc_set(p->a, prepare_map(p, object, "status"), "loadBalancer", doc_make_map());
}
