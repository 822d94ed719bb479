/* SPDX-License-Identifier: Apache-2.0 */
/* The namespaces that every cluster has. */
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
