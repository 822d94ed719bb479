/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and ports for a Service, chosen from what is free as far as is known here. */
#include "api/service.h"
#include "server/service/claims.h"

enum {
    PORTS_MAX = 200, /* of a Service; more is nobody's need (upstream: no limit) */
    DRY_PORT = 32768
};

struct choosing {
    struct write *w;
    struct request *r;
    struct doc *d, *spec;
    const struct doc *old, *was;
    struct claim_list held; /* by what is stored */
    struct claim_list own;  /* that this write has chosen */
    uint32_t dry_port;
};

static uint64_t random_number(void)
{
    uint64_t n;
    pki_random((unsigned char *)&n, sizeof n);
    return n;
}

static uint32_t count(const struct doc *spec, const char *key)
{
    const struct doc *list = doc_get(spec, key);
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct doc *list_of(struct choosing *c, const char *key)
{
    const struct doc *list = doc_get(c->spec, key);
    struct doc made = list && list->type == DOC_LIST ? *list : doc_make_list();
    return doc_set(c->r->a, c->spec, key, made);
}

/* ---- failures ---- */

static bool refuse(struct choosing *c, struct str path, const struct doc *value,
                   struct str shown, const char *text)
{
    struct api_errors errors = {0};
    struct api_error e = {.type = API_ERROR_INVALID,
                          .path = path,
                          .bad = shown,
                          .detail = str_from(text),
                          .pos = UINT32_MAX,
                          .value = value};
    vec_push(&errors.list, e);
    write_fail_invalid(c->r, c->w->name, &errors);
    api_errors_release(&errors);
    return false;
}

static bool refuse_address(struct choosing *c, struct str address, const char *why)
{
    struct strbuf b = STRBUF_INIT;
    const struct doc *ips = doc_get(c->spec, "clusterIPs");
    doc_write_json(ips, DOC_JSON_COMPACT, &b);
    struct str shown = arena_str(c->r->a, strbuf_str(&b));
    strbuf_release(&b);
    return refuse(
        c, STR("spec.clusterIPs"), ips, shown,
        arena_printf(c->r->a, "failed to allocate IP %.*s: %s", STR_ARG(address), why).p);
}

static bool fail_internal(struct choosing *c, const char *text)
{
    fail(c->r, 500, "InternalError", "Internal error occurred: %s", text);
    fail_cause(c->r, NULL, str_from(text), STR_NONE);
    return false;
}

/* ---- what is free ---- */

static bool is_taken(const struct choosing *c, struct str key)
{
    return claims_have(&c->own, key) || claims_have(&c->w->claims.lost, key) ||
           cache_get(c->r->s->cache, key);
}

static void note(struct choosing *c, struct claim claim)
{
    c->own.v[c->own.n++] = claim;
}

/* ---- addresses ---- */

struct ranges { /* that are ready, of one family */
    bool six;
    VEC(struct address_range) list;
};

static bool is_ready(const struct doc *d)
{
    const struct doc *list = doc_path(d, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Ready"))
            return doc_is_string(doc_get(&list->items[i], "status"), "True");
    return !meta_text(d, "deletionTimestamp").n;
}

static bool add_ranges(void *ctx, struct cache_object *o)
{
    struct ranges *r = ctx;
    struct arena a = {0};
    struct doc d = object_doc(o, &a);
    const struct doc *cidrs = doc_path(&d, "spec.cidrs");
    bool ready = is_ready(&d) && !meta_text(&d, "deletionTimestamp").n;
    for (uint32_t i = 0; ready && cidrs && cidrs->type == DOC_LIST && i < cidrs->n; i++) {
        struct address_range range;
        if (address_range_parse(doc_str(&cidrs->items[i]), &range) && range.six == r->six)
            vec_push(&r->list, range);
    }
    arena_fini(&a);
    return true;
}

static void find_ranges(struct choosing *c, struct ranges *r)
{
    struct server *s = c->r->s;
    const struct resource *res = kinds_stored(s, "networking.k8s.io", "servicecidrs");
    cache_each(s->cache, res->prefix, STR_NONE, add_ranges, r);
}

static bool take_address(struct choosing *c, unsigned __int128 address, bool six,
                         char text[ADDRESS_TEXT])
{
    address_print(address, six, text);
    struct str key = claim_key(c->r->s, str_from(text), 0, c->r->a);
    if (is_taken(c, key))
        return false;
    note(c, (struct claim){.key = key});
    return true;
}

/* Any that is free from first to last, from a random one on. */
static bool take_between(struct choosing *c, unsigned __int128 first,
                         unsigned __int128 last, bool six, char text[ADDRESS_TEXT])
{
    if (first > last)
        return false;
    unsigned __int128 size = last - first + 1, at = random_number() % size;
    for (unsigned __int128 i = 0; i < size; i++, at = at + 1 == size ? 0 : at + 1)
        if (take_address(c, first + at, six, text))
            return true;
    return false;
}

static bool take_any(struct choosing *c, const struct ranges *ranges,
                     char text[ADDRESS_TEXT])
{
    for (size_t i = 0; i < ranges->list.n; i++) {
        const struct address_range *r = &ranges->list.v[i];
        if (c->r->dry_run) { /* whichever it would be */
            address_print(r->base, r->six, text);
            return true;
        }
        if (take_between(c, r->low_end, r->last, r->six, text) ||
            take_between(c, r->first, r->low_end - 1, r->six, text))
            return true;
    }
    fail_internal(c, arena_printf(c->r->a,
                                  "failed to allocate a serviceIP for Service \"%.*s\": "
                                  "range is full",
                                  STR_ARG(c->w->name))
                         .p);
    return false;
}

/* What upstream says of it where nothing is to be stored. */
static const char *outside_text(struct choosing *c, struct str asked,
                                const struct address_range *r)
{
    char base[ADDRESS_TEXT];
    address_print(r->base, r->six, base);
    return arena_printf(c->r->a,
                        "the provided IP (%.*s) is not in the valid range. The range of "
                        "valid IPs is %s/%u",
                        STR_ARG(asked), base, r->prefix)
        .p;
}

static bool take_asked(struct choosing *c, const struct ranges *ranges, struct str asked)
{
    unsigned __int128 address;
    char text[ADDRESS_TEXT];
    bool six, inside = false, known = address_parse(asked, &address, &six);
    if (c->r->dry_run && known && ranges->list.n == 1) {
        const struct address_range *r = &ranges->list.v[0];
        return (r->first <= address && address <= r->last) ||
               refuse_address(c, asked, outside_text(c, asked, r));
    }
    for (size_t i = 0; known && i < ranges->list.n; i++)
        inside = inside || (ranges->list.v[i].first <= address &&
                            address <= ranges->list.v[i].last);
    if (!inside)
        return refuse_address(c, asked,
                              "the provided network does not match the current range");
    return take_address(c, address, six, text) || c->r->dry_run ||
           refuse_address(c, asked, "provided IP is already allocated");
}

static bool choose_address(struct choosing *c, uint32_t i)
{
    struct ranges ranges = {0};
    struct doc *ips = list_of(c, "clusterIPs");
    struct str asked = i < ips->n ? doc_str(&ips->items[i]) : STR("");
    char text[ADDRESS_TEXT] = "";
    ranges.six = doc_is_string(&doc_get(c->spec, "ipFamilies")->items[i], "IPv6");
    find_ranges(c, &ranges);
    bool ok = asked.n ? take_asked(c, &ranges, asked) : take_any(c, &ranges, text);
    vec_release(&ranges.list);
    if (!ok || asked.n)
        return ok;
    struct doc chosen = doc_make_string(c->r->a, str_from(text));
    doc_append(c->r->a, list_of(c, "clusterIPs"), chosen);
    if (i == 0)
        doc_set(c->r->a, c->spec, "clusterIP", chosen);
    return true;
}

/* Those that it has, it keeps; the families say what is missing. */
static bool choose_addresses(struct choosing *c)
{
    uint32_t from = 0;
    if (service_is(c->spec, "ExternalName") || service_is_headless(c->spec))
        return true;
    if (c->was && !service_is(c->was, "ExternalName")) {
        if (service_is_headless(c->was))
            return true;
        from = count(c->was, "ipFamilies");
        if (from != 1 || count(c->spec, "ipFamilies") != 2)
            return true;
    }
    for (uint32_t i = from; i < count(c->spec, "ipFamilies"); i++)
        if (!choose_address(c, i))
            return false;
    return true;
}

/* ---- ports ---- */

/* Why not, or NULL. */
static const char *take_port(struct choosing *c, uint32_t port)
{
    const struct port_range *r = &c->r->s->ports;
    struct str key = claim_key(c->r->s, STR(""), port, c->r->a);
    bool inside = port >= r->first && port - r->first < r->n;
    if (!inside && !c->r->dry_run) /* which upstream tries without its range */
        return arena_printf(c->r->a,
                            "provided port is not in the valid range. The range of valid "
                            "ports is %u-%u",
                            r->first, r->first + r->n - 1)
            .p;
    if (is_taken(c, key))
        return "provided port is already allocated";
    note(c, (struct claim){.key = key, .port = port});
    return NULL;
}

static uint32_t free_port(struct choosing *c, uint32_t first, uint32_t n)
{
    uint32_t at = n ? (uint32_t)(random_number() % n) : 0;
    for (uint32_t i = 0; i < n; i++, at = at + 1 == n ? 0 : at + 1)
        if (!take_port(c, first + at))
            return first + at;
    return 0;
}

/* 0: there is none. */
static uint32_t any_port(struct choosing *c)
{
    const struct port_range *r = &c->r->s->ports;
    uint32_t low = port_range_low(r);
    if (c->r->dry_run) {
        for (uint32_t i = 0; i < c->own.n; i++)
            if (c->own.v[i].port >= c->dry_port)
                c->dry_port = c->own.v[i].port;
        if (!c->dry_port)
            c->dry_port = DRY_PORT;
        return ++c->dry_port;
    }
    uint32_t port = free_port(c, r->first + low, r->n - low);
    return port ? port : free_port(c, r->first, low);
}

static int64_t number(const struct doc *d, const char *key)
{
    int64_t n = 0;
    doc_get_int64(d, key, &n);
    return n;
}

static bool refuse_port(struct choosing *c, uint32_t i, int64_t port, const char *why)
{
    struct arena *a = c->r->a;
    return refuse(c, arena_printf(a, "spec.ports[%u].nodePort", i), NULL,
                  arena_printf(a, "%lld", (long long)port), why);
}

static bool set_any_port(struct choosing *c, struct doc *d, const char *key,
                         const char *what)
{
    uint32_t port = any_port(c);
    if (!port)
        return fail_internal(
            c, arena_printf(c->r->a, "failed to allocate a %s: range is full", what).p);
    doc_set(c->r->a, d, key, doc_make_int(c->r->a, port));
    return true;
}

static bool holds_port(const struct choosing *c, int64_t port)
{
    for (uint32_t i = 0; i < c->held.n; i++)
        if (c->held.v[i].port && c->held.v[i].port == port)
            return true;
    return false;
}

static bool chose_port(const struct choosing *c, int64_t port)
{
    for (uint32_t i = 0; i < c->own.n; i++)
        if (c->own.v[i].port && c->own.v[i].port == port)
            return true;
    return false;
}

/* What another port of a new Service, of the same number and another protocol, has. */
static int64_t shared_port(const struct doc *ports, uint32_t before, uint32_t i)
{
    for (uint32_t k = 0; k < before; k++)
        if (k != i &&
            number(&ports->items[k], "port") == number(&ports->items[i], "port") &&
            number(&ports->items[k], "nodePort"))
            return number(&ports->items[k], "nodePort");
    return 0;
}

static bool ask_port(struct choosing *c, uint32_t i, int64_t port)
{
    const char *why = take_port(c, (uint32_t)port);
    return !why || refuse_port(c, i, port, why);
}

static bool choose_new_port(struct choosing *c, struct doc *ports, uint32_t i, bool any)
{
    struct doc *d = &ports->items[i];
    int64_t port = number(d, "nodePort");
    int64_t earlier = shared_port(ports, i, i), later = shared_port(ports, ports->n, i);
    if (!port && !any)
        return true;
    if (earlier && port && port != earlier)
        return ask_port(c, i, port);
    if (!port && (earlier || later))
        port = earlier ? earlier : later;
    if (port && chose_port(c, port) && earlier == port)
        return doc_set(c->r->a, d, "nodePort", doc_make_int(c->r->a, port)) != NULL;
    if (!port)
        return set_any_port(c, d, "nodePort", "nodePort");
    doc_set(c->r->a, d, "nodePort", doc_make_int(c->r->a, port));
    return ask_port(c, i, port);
}

static bool choose_changed_port(struct choosing *c, struct doc *ports, uint32_t i,
                                bool any)
{
    struct doc *d = &ports->items[i];
    int64_t port = number(d, "nodePort");
    if (!port)
        return !any || set_any_port(c, d, "nodePort", "nodePort");
    return holds_port(c, port) || chose_port(c, port) || ask_port(c, i, port);
}

static bool choose_ports(struct choosing *c)
{
    struct doc *ports = list_of(c, "ports");
    bool any = true;
    if (!service_has_ports(c->spec) || ports->n == 0)
        return true;
    if (service_is(c->spec, "LoadBalancer"))
        doc_get_bool(c->spec, "allocateLoadBalancerNodePorts", &any);
    for (uint32_t i = 0; i < ports->n; i++)
        if (!(c->old ? choose_changed_port : choose_new_port)(c, ports, i, any))
            return false;
    return true;
}

static bool choose_health_port(struct choosing *c)
{
    static const char KEY[] = "healthCheckNodePort";
    int64_t port = number(c->spec, KEY);
    if (!service_needs_health(c->spec) || service_needs_health(c->was))
        return true;
    if (!port)
        return set_any_port(c, c->spec, KEY, "HealthCheck NodePort 0");
    const char *why = take_port(c, (uint32_t)port);
    return !why ||
           fail_internal(c, arena_printf(c->r->a,
                                         "failed to allocate requested HealthCheck "
                                         "NodePort %lld: %s",
                                         (long long)port, why)
                                .p);
}

/* ---- all of it ---- */

static bool complete(struct choosing *c)
{
    struct api_errors errors = {0};
    struct api_prepare p = {
        .a = c->r->a, .now = c->r->now, .families = c->r->s->services.families};
    bool ok = api_service_complete(&p, c->d, c->old, &errors) ||
              write_fail_invalid(c->r, c->w->name, &errors);
    api_errors_release(&errors);
    return ok;
}

static bool has_few_ports(struct choosing *c)
{
    return count(c->spec, "ports") <= PORTS_MAX ||
           refuse(c, STR("spec.ports"), NULL, STR_NONE, "there are too many ports");
}

bool service_choose(struct write *w, struct doc *d, const struct doc *old)
{
    struct request *r = w->r;
    const struct api_kind *k = r->res->hub;
    if (k->group[0] || strcmp(k->resource, "services") != 0 || r->res->sub)
        return true;
    struct choosing c = {.w = w, .r = r, .d = d, .old = old};
    c.was = doc_get(old, "spec");
    if (old)
        c.held = claims_of(r->s, old, r->a);
    if (!complete(&c))
        return false;
    const struct doc *spec = doc_get(d, "spec");
    c.spec = doc_set(r->a, d, "spec", *spec);
    c.own.v = ARENA_ARRAY(r->a, struct claim, PORTS_MAX + 8);
    return has_few_ports(&c) && choose_addresses(&c) && choose_ports(&c) &&
           choose_health_port(&c);
}
