/* SPDX-License-Identifier: Apache-2.0 */
/* The namespaces that every cluster has, and the admission that guards their life. */
#include "api/canonical.h"
#include "api/defaults.h"
#include "api/prepare.h"
#include "server/write.h"

static const char *const ALWAYS[] = {"default", "kube-system", "kube-public",
                                     "kube-node-lease"};
enum { NALWAYS = sizeof ALWAYS / sizeof *ALWAYS };

static const struct resource *namespaces_of(const struct server *s)
{
    return kinds_find(s, STR(""), STR("v1"), STR("namespaces"));
}

/* ---- at the start ---- */

struct making { /* of all of them */
    uint32_t left;
    bool failed;
    struct err *e;
};

static void made(void *ctx, enum store_answer answer, uint64_t revision,
                 const struct err *e)
{
    struct making *m = ctx;
    m->left--;
    if (answer == STORE_FAILED && !m->failed) {
        m->failed = true;
        err_set(m->e, e->code, "%s", err_text(e));
    }
}

static void make(struct server *s, const char *name, struct str now, struct arena *a,
                 struct making *m)
{
    const struct resource *res = namespaces_of(s);
    struct doc d = doc_make_map(), meta = doc_make_map();
    doc_set(a, &meta, "name", doc_make_string(a, str_from(name)));
    doc_set(a, &meta, "uid", doc_make_string(a, write_new_uid(a)));
    doc_set(a, &meta, "creationTimestamp", doc_make_string(a, now));
    doc_set(a, &d, "kind", doc_make_string(a, STR("Namespace")));
    doc_set(a, &d, "apiVersion", doc_make_string(a, STR("v1")));
    doc_set(a, &d, "metadata", meta);
    api_default(res->kind, &d, now, a);
    api_canonical(res->kind->type, &d, a);
    struct api_prepare p = {.a = a, .now = now};
    api_prepare_create(&p, res->kind, &d);
    struct strbuf b = STRBUF_INIT;
    object_encode(&d, &b);
    struct store_write w = {.key = object_key(res, STR(""), str_from(name), a),
                            .value = strbuf_str(&b),
                            .expect = 0,
                            .done = made,
                            .ctx = m};
    m->left++;
    store_submit(s->store, &w);
    strbuf_release(&b);
}

bool namespaces_make(struct server *s, struct str now, struct err *e)
{
    struct arena a = {0};
    struct making m = {.e = e};
    for (int i = 0; i < NALWAYS; i++) {
        struct str key = object_key(namespaces_of(s), STR(""), str_from(ALWAYS[i]), &a);
        if (!cache_get(s->cache, key))
            make(s, ALWAYS[i], now, &a, &m);
    }
    while (m.left)
        net_loop_run_once(s->loop, true);
    arena_fini(&a);
    return !m.failed;
}

/* ---- admission ---- */

static struct cache_object *find(struct request *r, struct str name)
{
    return cache_get(r->s->cache, object_key(namespaces_of(r->s), STR(""), name, r->a));
}

bool namespaces_admit(struct request *r, struct str name)
{
    struct str ns = r->route.namespace;
    if (!ns.p)
        return true;
    struct cache_object *o = find(r, ns);
    if (!o) {
        fail(r, 404, "NotFound", "namespaces \"%.*s\" not found", STR_ARG(ns));
        r->failure.has_details = true;
        r->failure.name = ns;
        r->failure.kind = STR("namespaces");
        return false;
    }
    struct str phase = cache_pair_find(o->fields, o->nfields, STR("status.phase"));
    if (!str_is(phase, "Terminating"))
        return true;
    fail_object(r, 403, "Forbidden", name,
                "%.*s \"%.*s\" is forbidden: unable to create new content in namespace "
                "%.*s because it is being terminated",
                STR_ARG(qualified(r->a, str_from(r->res->main->resource),
                                  str_from(r->res->main->group))),
                STR_ARG(name), STR_ARG(ns));
    fail_cause(r, "NamespaceTerminating",
               arena_printf(r->a, "namespace %.*s is being terminated", STR_ARG(ns)),
               STR("metadata.namespace"));
    return false;
}

bool namespaces_admit_delete(struct request *r, struct str name)
{
    if (r->res->main != namespaces_of(r->s)->main)
        return true;
    for (int i = 0; i < NALWAYS - 1; i++)
        if (str_is(name, ALWAYS[i]))
            return fail_object(r, 403, "Forbidden", name,
                               "namespaces \"%.*s\" is forbidden: this namespace may "
                               "not be deleted",
                               STR_ARG(name));
    return true;
}
