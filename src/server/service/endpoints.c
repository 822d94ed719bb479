/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pod answers for a service: of its EndpointSlices, those of the service's own
 * family first, a port of the name that is asked for, and from a random place on the
 * first endpoint that is ready and is the pod that it says.
 */
#include "net/pki.h"
#include "server/relay/relay.h"

struct slices {
    struct request *r;
    struct str service;
    struct doc list; /* the preferred ones first */
    const char *family;
    bool preferred; /* which ones are gathered now */
};

static bool gather(void *ctx, struct cache_object *o)
{
    struct slices *s = ctx;
    struct str of =
        cache_pair_find(o->labels, o->nlabels, STR("kubernetes.io/service-name"));
    if (!str_eq(of, s->service))
        return true;
    struct doc d = object_doc(o, s->r->a);
    if (str_is(doc_get_text(&d, "addressType"), s->family) == s->preferred)
        doc_append(s->r->a, &s->list, d);
    return true;
}

static void gather_all(struct slices *s)
{
    struct request *r = s->r;
    const struct resource *res =
        kinds_find(r->s, STR("discovery.k8s.io"), STR("v1"), STR("endpointslices"));
    struct str prefix = res ? arena_printf(r->a, "%.*s%.*s/", STR_ARG(res->prefix),
                                           STR_ARG(r->route.namespace))
                            : STR_NONE;
    for (int i = 0; res && i < 2; i++) {
        s->preferred = i == 0;
        cache_each(r->s->cache, prefix, STR_NONE, gather, s);
    }
}

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static bool has_address(const struct doc *pod, struct str ip)
{
    const struct doc *all = doc_path(pod, "status.podIPs");
    for (uint32_t i = 0; i < count(all); i++)
        if (str_eq(doc_get_text(&all->items[i], "ip"), ip))
            return true;
    return false;
}

static struct str address_of(const struct doc *endpoint)
{
    const struct doc *all = doc_get(endpoint, "addresses");
    return count(all) ? doc_str(&all->items[0]) : STR("");
}

/* Only to addresses that are pods' is anything sent: whoever writes EndpointSlices may
 * not reach what he likes through the server. */
static bool is_pod(struct request *r, const struct doc *endpoint)
{
    const struct doc *ref = doc_get(endpoint, "targetRef");
    struct failure kept = r->failure;
    if (!str_eq(doc_get_text(ref, "namespace"), r->route.namespace))
        return false;
    struct cache_object *o = target_find(r, "pods", doc_get_text(ref, "name"));
    r->failure = kept;
    if (!o)
        return false;
    struct doc pod = object_doc(o, r->a);
    return has_address(&pod, address_of(endpoint));
}

static bool is_ready(const struct doc *endpoint)
{
    bool ready = true;
    doc_get_bool(doc_get(endpoint, "conditions"), "ready", &ready);
    return ready;
}

static const struct doc *pick(struct request *r, const struct doc *endpoints)
{
    uint32_t n = count(endpoints), start = 0;
    pki_random(&start, sizeof start);
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *e = &endpoints->items[(i + start % n) % n];
        if (is_ready(e) && is_pod(r, e))
            return e;
    }
    return NULL;
}

static bool pick_from(struct request *r, const struct doc *slice, struct str port,
                      struct relay_target *to)
{
    const struct doc *ports = doc_get(slice, "ports"), *e;
    for (uint32_t i = 0; i < count(ports); i++) {
        struct str name = doc_get_text(&ports->items[i], "name");
        int64_t number = 0;
        bool ok = str_eq(name.p ? name : STR(""), port) &&
                  doc_get_int64(&ports->items[i], "port", &number) && number > 0 &&
                  number < 65536;
        if (!ok || !(e = pick(r, doc_get(slice, "endpoints"))))
            continue;
        to->host = address_of(e);
        to->port = (uint16_t)number;
        return true;
    }
    return false;
}

/* The name of the service's port of that number. */
static bool port_name(struct request *r, const struct doc *service, uint16_t number,
                      struct str *name)
{
    const struct doc *ports = doc_path(service, "spec.ports");
    for (uint32_t i = 0; i < count(ports); i++) {
        int64_t n = 0;
        if (doc_get_int64(&ports->items[i], "port", &n) && n == number) {
            *name = doc_get_text(&ports->items[i], "name");
            return true;
        }
    }
    return fail(r, 503, "ServiceUnavailable",
                "no service port %u found for service \"%.*s\"", number,
                STR_ARG(meta_text(service, "name")));
}

static bool is_number(struct str s)
{
    size_t i = 0;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return s.n > 0 && i == s.n;
}

static bool find_port(struct request *r, struct str name, struct str *port)
{
    uint16_t number;
    struct cache_object *o;
    if (!is_number(*port))
        return true;
    if (!target_port(r, *port, &number) || !(o = target_find(r, "services", name)))
        return false;
    struct doc service = object_doc(o, r->a);
    return port_name(r, &service, number, port);
}

bool target_of_service(struct request *r, struct relay_target *out)
{
    struct str scheme, name, port;
    if (!target_split(r, "service", r->route.name, &scheme, &name, &port) ||
        !find_port(r, name, &port))
        return false;
    struct slices s = {
        .r = r, .service = name, .list = doc_make_list(), .family = "IPv4"};
    gather_all(&s);
    *out = (struct relay_target){.tls = str_is(scheme, "https")};
    for (uint32_t i = 0; i < s.list.n; i++)
        if (pick_from(r, &s.list.items[i], port.p ? port : STR(""), out))
            return true;
    return fail(r, 503, "ServiceUnavailable",
                "no endpoints available for service \"%.*s\"", STR_ARG(name));
}
