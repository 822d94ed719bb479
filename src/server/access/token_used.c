/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/token_used.h"

#include <stdlib.h>
#include <time.h>

#include "api/apply.h"
#include "api/timestamp.h"

static const char LABEL[] = "kubernetes.io/legacy-token-last-used";

struct tracking { /* of one write */
    struct arena a;
};

static void written(void *ctx, enum store_answer answer, uint64_t revision,
                    const struct err *e)
{
    struct tracking *t = ctx;
    arena_fini(&t->a);
    free(t);
}

static struct str day_of(struct arena *a, time_t at)
{
    return str_sub(timestamp_print(at, 0, false, a), 0, strlen("2026-01-31"));
}

/* Clocks of servers differ a little around midnight. */
static bool is_said(const struct doc *secret, time_t now, struct arena *a)
{
    struct str said = doc_get_text(doc_path(secret, "metadata.labels"), LABEL);
    return str_eq(said, day_of(a, now)) || str_eq(said, day_of(a, now + 24 * 3600));
}

static void set_label(struct doc *secret, struct str day, struct arena *a)
{
    struct doc *meta = object_meta(secret);
    const struct doc *labels = doc_get(meta, "labels");
    struct doc all =
        labels && labels->type == DOC_MAP ? doc_dup(a, labels) : doc_make_map();
    doc_set(a, &all, LABEL, doc_make_string(a, day));
    doc_set(a, meta, "labels", all);
}

static void write_secret(struct server *s, struct tracking *t, const struct resource *res,
                         struct cache_object *o, time_t now)
{
    struct doc live = object_doc(o, &t->a), d = object_doc(o, &t->a);
    struct strbuf b = STRBUF_INIT;
    set_label(&d, day_of(&t->a, now), &t->a);
    struct apply_write w = {.kind = res->kind,
                            .now = timestamp_print(now, 0, false, &t->a),
                            .manager = STR("kube-apiserver")};
    struct doc entries = apply_update(&w, &live, &d, &t->a);
    if (entries.n)
        doc_set(&t->a, object_meta(&d), "managedFields", entries);
    object_encode(&d, &b);
    struct store_write write = {.key = arena_str(&t->a, o->key),
                                .value = strbuf_str(&b),
                                .expect = o->revision,
                                .done = written,
                                .ctx = t};
    store_submit(s->store, &write);
    strbuf_release(&b);
}

void token_used(struct server *s, struct str namespace, struct str secret)
{
    struct tracking *t = mem_zalloc(sizeof *t);
    time_t now = time(NULL);
    const struct resource *res = kinds_stored(s, "", "secrets");
    struct cache_object *o =
        cache_get(s->cache, object_key(res, namespace, secret, &t->a));
    struct doc d = o ? object_doc(o, &t->a) : doc_make_map();
    if (o && !is_said(&d, now, &t->a)) {
        write_secret(s, t, res, o, now);
        return;
    }
    arena_fini(&t->a);
    free(t);
}
