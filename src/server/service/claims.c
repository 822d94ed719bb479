/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service/claims.h"

#include "api/service.h"
#include "server/access/bootstrap.h"

enum { CLAIMS_MAX = 256 }; /* more than a Service is let have (service.c) */

/* ---- what a Service holds ---- */

static bool is_service(const struct write *w)
{
    const struct api_kind *k = w->r->res->hub;
    return k->group[0] == '\0' && strcmp(k->resource, "services") == 0;
}

struct str claim_key(struct server *s, struct str address, uint32_t port, struct arena *a)
{
    if (!address.n)
        return arena_printf(a, CLAIMS_PORTS "%u", port);
    return object_key(kinds_stored(s, "networking.k8s.io", "ipaddresses"), STR(""),
                      address, a);
}

bool claims_have(const struct claim_list *list, struct str key)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].key, key))
            return true;
    return false;
}

static void add(struct server *s, struct claim_list *list, struct claim c,
                struct arena *a)
{
    c.key = claim_key(s, c.address, c.port, a);
    if (list->n < CLAIMS_MAX && !claims_have(list, c.key))
        list->v[list->n++] = c;
}

static void add_address(struct server *s, struct claim_list *list, struct str text,
                        struct arena *a)
{
    struct claim c = {0};
    unsigned __int128 address;
    char shown[ADDRESS_TEXT];
    if (!address_parse(text, &address, &c.six))
        return;
    address_print(address, c.six, shown);
    c.address = arena_str(a, str_from(shown));
    add(s, list, c, a);
}

static void add_port(struct server *s, struct claim_list *list, const struct doc *d,
                     const char *key, struct arena *a)
{
    int64_t port;
    if (doc_get_int64(d, key, &port) && port > 0 && port < 65536)
        add(s, list, (struct claim){.port = (uint32_t)port}, a);
}

struct claim_list claims_of(struct server *s, const struct doc *service, struct arena *a)
{
    const struct doc *spec = doc_get(service, "spec"), *ips = doc_get(spec, "clusterIPs"),
                     *ports = doc_get(spec, "ports");
    struct claim_list list = {ARENA_ARRAY(a, struct claim, CLAIMS_MAX), 0};
    if (!service_is(spec, "ExternalName") && !service_is_headless(spec))
        for (uint32_t i = 0; ips && ips->type == DOC_LIST && i < ips->n; i++)
            add_address(s, &list, doc_str(&ips->items[i]), a);
    for (uint32_t i = 0; ports && ports->type == DOC_LIST && i < ports->n; i++)
        add_port(s, &list, &ports->items[i], "nodePort", a);
    if (service_needs_health(spec))
        add_port(s, &list, spec, "healthCheckNodePort", a);
    return list;
}

static struct claim_list without(struct claim_list all, const struct claim_list *others)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all.n; i++)
        if (!claims_have(others, all.v[i].key))
            all.v[kept++] = all.v[i];
    all.n = kept;
    return all;
}

/* ---- the bytes ---- */

static const char ADDRESS[] =
    "{\"kind\":\"IPAddress\",\"apiVersion\":\"networking.k8s.io/v1\",\"metadata\":{"
    "\"name\":\"%s\",\"uid\":\"%s\",\"creationTimestamp\":\"%s\",\"labels\":{"
    "\"ipaddress.kubernetes.io/ip-family\":\"%s\","
    "\"ipaddress.kubernetes.io/managed-by\":\"ipallocator.k8s.io\"}},\"spec\":{"
    "\"parentRef\":{\"resource\":\"services\",\"namespace\":\"%s\",\"name\":\"%s\"}}}";

static void encode_address(struct server *s, const struct claim *c, struct str namespace,
                           struct str name, struct str now, struct arena *a,
                           struct strbuf *out)
{
    struct doc_source src = {.name = "claim"};
    struct doc d = doc_make_map();
    src.text = arena_printf(a, ADDRESS, c->address.p, write_new_uid(a).p,
                            arena_str(a, now).p, c->six ? "IPv6" : "IPv4",
                            arena_str(a, namespace).p, arena_str(a, name).p);
    doc_read_json(&src, a, &d, NULL);
    d = doc_dup(a, &d);
    bootstrap_complete(kinds_stored(s, "networking.k8s.io", "ipaddresses"), &d, now, a);
    object_encode(&d, out);
}

void claim_encode(struct server *s, const struct claim *c, const struct doc *service,
                  struct str now, struct arena *a, struct strbuf *out)
{
    struct str namespace = meta_text(service, "namespace"),
               name = meta_text(service, "name");
    if (c->address.n) {
        encode_address(s, c, namespace, name, now, a, out);
        return;
    }
    struct doc d = doc_make_map();
    doc_set(a, &d, "namespace", doc_make_string(a, namespace));
    doc_set(a, &d, "name", doc_make_string(a, name));
    doc_set(a, &d, "since", doc_make_string(a, now));
    doc_write_json(&d, DOC_JSON_COMPACT, out);
}

/* ---- taking ---- */

static void break_off(struct write *w, const struct err *e)
{
    w->claims.broken = true;
    fail(w->r, 500, "InternalError", "Internal error occurred: %s",
         e ? err_text(e) : "store");
}

static void give_back(struct write *w, const struct claim_list *list);

static void tell_lost(struct write *w)
{
    w->claims.taken(w, false);
}

static void settled(struct write *w)
{
    struct claims *c = &w->claims;
    if (--c->left == 0)
        c->then(w);
}

static void after_take(struct write *w)
{
    struct claims *c = &w->claims;
    if (!c->failed) {
        c->taken(w, true);
        return;
    }
    c->then = tell_lost;
    give_back(w, &c->take);
}

struct taking {
    struct write *w;
    struct claim *claim;
};

static void note_lost(struct write *w, const struct claim *claim)
{
    struct claim_list *lost = &w->claims.lost;
    struct claim_list more = {ARENA_ARRAY(w->r->a, struct claim, lost->n + 1),
                              lost->n + 1};
    if (lost->n)
        memcpy(more.v, lost->v, lost->n * sizeof *lost->v);
    more.v[lost->n] = *claim;
    *lost = more;
}

static void taken_one(void *ctx, enum store_answer answer, uint64_t revision,
                      const struct err *e)
{
    struct taking *t = ctx;
    struct write *w = t->w;
    if (answer == STORE_OK) {
        t->claim->revision = revision;
    } else {
        w->claims.failed = true;
        if (answer == STORE_EXISTS)
            note_lost(w, t->claim);
        else
            break_off(w, e);
    }
    settled(w);
}

static void submit_take(struct write *w, struct claim *claim)
{
    struct taking *t = ARENA_NEW(w->r->a, struct taking);
    struct strbuf b = STRBUF_INIT;
    *t = (struct taking){w, claim};
    claim_encode(w->r->s, claim, &w->object, w->r->now, w->r->a, &b);
    struct store_write s = {
        .key = claim->key, .value = strbuf_str(&b), .done = taken_one, .ctx = t};
    store_submit(w->r->s->store, &s);
    strbuf_release(&b);
}

void claims_take(struct write *w, void (*taken)(struct write *w, bool ok))
{
    struct claims *c = &w->claims;
    struct server *s = w->r->s;
    struct arena *a = w->r->a;
    c->take.n = c->drop.n = 0;
    if (is_service(w)) {
        struct claim_list now = {0}, before = {0};
        if (!w->drop)
            now = claims_of(s, &w->object, a);
        if (w->old)
            before = claims_of(s, write_live(w), a);
        c->drop =
            (struct claim_list){ARENA_ARRAY(a, struct claim, before.n + 1), before.n};
        if (before.n)
            memcpy(c->drop.v, before.v, before.n * sizeof *before.v);
        c->drop = without(c->drop, &now);
        c->take = without(now, &before);
    }
    c->taken = taken;
    c->then = after_take;
    c->failed = c->broken = false;
    c->left = c->take.n;
    if (!c->left)
        taken(w, true);
    for (uint32_t i = 0, n = c->left; i < n; i++)
        submit_take(w, &c->take.v[i]);
}

/* ---- giving back ---- */

static void gave_back(void *ctx, enum store_answer answer, uint64_t revision,
                      const struct err *e)
{
    settled(ctx); /* what is left over is found later */
}

/* The revision of a claim that is this Service's; 0: it is not. */
static uint64_t revision_of(struct write *w, const struct claim *claim)
{
    struct cache_object *o = cache_get(w->r->s->cache, claim->key);
    if (claim->revision || !o)
        return claim->revision;
    struct doc d = object_doc(o, w->r->a);
    const struct doc *owner = claim->address.n ? doc_path(&d, "spec.parentRef") : &d;
    bool ours =
        str_eq(doc_get_text(owner, "namespace"), meta_text(&w->object, "namespace")) &&
        str_eq(doc_get_text(owner, "name"), meta_text(&w->object, "name"));
    return ours ? o->revision : 0;
}

static void give_back(struct write *w, const struct claim_list *list)
{
    struct claims *c = &w->claims;
    c->left = 1; /* so that it ends here when there is nothing to wait for */
    for (uint32_t i = 0; i < list->n; i++) {
        struct store_write s = {.key = list->v[i].key, .done = gave_back, .ctx = w};
        s.expect = list->v[i].revision ? list->v[i].revision : 0;
        if (!s.expect && list != &c->take)
            s.expect = revision_of(w, &list->v[i]);
        if (!s.expect)
            continue;
        c->left++;
        store_submit(w->r->s->store, &s);
    }
    settled(w);
}

void claims_settle(struct write *w, bool stored, void (*then)(struct write *w))
{
    w->claims.then = then;
    give_back(w, stored ? &w->claims.drop : &w->claims.take);
}
