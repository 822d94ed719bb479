/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a relay asks: the kubelet of a node, a container of a pod. */
#include <stdlib.h>

#include "base/query.h"
#include "server/relay/relay.h"

enum { KUBELET_PORT = 10250 };

struct cache_object *target_find(struct request *r, const char *resource, struct str name)
{
    const struct resource *res = kinds_find(r->s, STR(""), STR("v1"), str_from(resource));
    struct str namespace = res->main->namespaced ? r->route.namespace : STR_NONE;
    struct cache_object *o =
        cache_get(r->s->cache, object_key(res, namespace, name, r->a));
    if (o)
        return o;
    struct request of = *r;
    of.res = res;
    fail_missing(&of, name);
    r->failure = of.failure;
    return NULL;
}

/* ---- nodes ---- */

bool kubelet_configure(struct server *s, const struct kubelet_opts *o, struct err *e)
{
    struct kubelet_access *k = &s->kubelet;
    *k = (struct kubelet_access){
        .cert_pem = s->dir.kubelet_client.cert_pem,
        .key_pem = s->dir.kubelet_client.key_pem,
        .address_types =
            str_from(o->address_types ? o->address_types
                                      : "Hostname,InternalDNS,InternalIP,ExternalDNS,"
                                        "ExternalIP")};
    if (!o->client_certificate != !o->client_key)
        return err_set(e, ERR_INVALID,
                       "a kubelet's client needs both a certificate and a key");
    return (!o->client_key ||
            (dir_read_file(&s->arena, o->client_certificate, &k->cert_pem, e) &&
             dir_read_file(&s->arena, o->client_key, &k->key_pem, e))) &&
           (!o->certificate_authority ||
            dir_read_file(&s->arena, o->certificate_authority, &k->ca_pem, e));
}

static struct str address_of(const struct doc *node, struct str type)
{
    const struct doc *all = doc_path(node, "status.addresses");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (str_eq(doc_get_text(&all->items[i], "type"), type))
            return doc_get_text(&all->items[i], "address");
    return STR_NONE;
}

/* types: "Hostname,InternalIP" */
static struct str preferred(const struct doc *node, struct str types)
{
    struct str found = STR_NONE;
    for (struct str rest = types, part; !found.p && str_split_next(&rest, ',', &part);)
        found = address_of(node, part);
    return found;
}

/* As Go prints them: "{Hostname a} {InternalIP 10.0.0.1}". */
static bool fail_unreachable(struct request *r, const struct doc *node)
{
    const struct doc *all = doc_path(node, "status.addresses");
    struct str known = STR("");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        known = arena_printf(r->a, "%.*s%s{%.*s %.*s}", STR_ARG(known), i ? " " : "",
                             STR_ARG(doc_get_text(&all->items[i], "type")),
                             STR_ARG(doc_get_text(&all->items[i], "address")));
    return fail(r, 500, NULL, "no preferred addresses found; known addresses: [%.*s]",
                STR_ARG(known));
}

bool target_of_node(struct request *r, struct str name, struct relay_target *out)
{
    struct cache_object *o = target_find(r, "nodes", name);
    int64_t port = 0;
    if (!o)
        return false;
    struct doc node = object_doc(o, r->a);
    *out = (struct relay_target){.tls = true, .kubelet = true};
    out->host = preferred(&node, r->s->kubelet.address_types);
    doc_get_int64(doc_path(&node, "status.daemonEndpoints.kubeletEndpoint"), "Port",
                  &port);
    out->port = port > 0 && port < 65536 ? (uint16_t)port : KUBELET_PORT;
    return out->host.n > 0 || fail_unreachable(r, &node);
}

/* ---- names with ports ---- */

static bool is_scheme(struct str s)
{
    return s.n == 0 || str_is(s, "http") || str_is(s, "https");
}

bool target_split(struct request *r, const char *what, struct str id, struct str *scheme,
                  struct str *name, struct str *port)
{
    size_t one = str_find_byte(id, ':', 0);
    size_t two = one == SIZE_MAX ? SIZE_MAX : str_find_byte(id, ':', one + 1);
    bool three = two != SIZE_MAX;
    *scheme = three ? str_sub(id, 0, one) : STR("");
    *name = three ? str_sub(id, one + 1, two) : str_sub(id, 0, one);
    size_t last = three ? two : one;
    *port = last == SIZE_MAX ? STR("") : str_sub(id, last + 1, SIZE_MAX);
    bool more = str_find_byte(*port, ':', 0) != SIZE_MAX;
    if (!more && name->n && is_scheme(*scheme))
        return true;
    return fail_bad(r, "invalid %s request \"%.*s\"", what, STR_ARG(id));
}

bool target_port(struct request *r, struct str text, uint16_t *out)
{
    char *end;
    const char *s = arena_str(r->a, text).p;
    unsigned long n = strtoul(s, &end, 10);
    if (text.n == 0 || *end || n == 0 || n > 65535)
        return fail_bad(r, "invalid port \"%.*s\"", STR_ARG(text));
    *out = (uint16_t)n;
    return true;
}

void target_param(struct strbuf *path, const char *name, struct str value)
{
    bool first = str_find_byte(strbuf_str(path), '?', 0) == SIZE_MAX;
    strbuf_addf(path, "%c%s=", first ? '?' : '&', name);
    query_escape(value, path);
}

/* ---- containers ---- */

static const char *const CONTAINERS[] = {"initContainers", "containers",
                                         "ephemeralContainers"};
enum { NCONTAINERS = sizeof CONTAINERS / sizeof *CONTAINERS };

static bool has_container(const struct doc *spec, struct str name)
{
    for (int i = 0; i < NCONTAINERS; i++) {
        const struct doc *all = doc_get(spec, CONTAINERS[i]);
        for (uint32_t j = 0; all && all->type == DOC_LIST && j < all->n; j++)
            if (str_eq(doc_get_text(&all->items[j], "name"), name))
                return true;
    }
    return false;
}

static struct str container_names(struct arena *a, const struct doc *spec)
{
    struct str names = STR("");
    for (int i = 0; i < NCONTAINERS; i++) {
        const struct doc *all = doc_get(spec, CONTAINERS[i]);
        for (uint32_t j = 0; all && all->type == DOC_LIST && j < all->n; j++)
            names = arena_printf(a, "%.*s%s%.*s", STR_ARG(names), names.n ? " " : "",
                                 STR_ARG(doc_get_text(&all->items[j], "name")));
    }
    return names;
}

struct str target_container(struct request *r, const struct doc *pod, struct str named)
{
    const struct doc *spec = doc_get(pod, "spec");
    const struct doc *all = doc_get(spec, "containers");
    struct str name = meta_text(pod, "name");
    uint32_t n = all && all->type == DOC_LIST ? all->n : 0;
    if (named.n && has_container(spec, named))
        return named;
    if (!named.n && n == 1)
        return doc_get_text(&all->items[0], "name");
    if (named.n)
        fail_bad(r, "container %.*s is not valid for pod %.*s", STR_ARG(named),
                 STR_ARG(name));
    else if (n == 0)
        fail_bad(r, "a container name must be specified for pod %.*s", STR_ARG(name));
    else
        fail_bad(r,
                 "a container name must be specified for pod %.*s, choose one of: [%.*s]",
                 STR_ARG(name), STR_ARG(container_names(r->a, spec)));
    return STR_NONE;
}
