/* SPDX-License-Identifier: Apache-2.0 */
#include "server/observe/health.h"

struct probe {
    struct request *r;
    const char *kind; /* "readyz" */
    struct str name;  /* of one check; STR_NONE: all */
    bool current;     /* the store has answered */
};

static bool always(const struct probe *p)
{
    (void)p;
    return true;
}

static bool has_store(const struct probe *p)
{
    return p->current;
}

static bool stays(const struct probe *p)
{
    return !p->r->s->ending;
}

/* By upstream's names. What is made at the start is there before anybody is let in. */
static const struct check {
    const char *name;
    bool ready_only;
    bool (*is_well)(const struct probe *p);
} CHECKS[] = {
    {"ping", false, always},
    {"log", false, always},
    {"etcd", false, has_store},
    {"etcd-readiness", true, has_store},
    {"informer-sync", true, always},
    {"poststarthook/rbac/bootstrap-roles", false, always},
    {"poststarthook/scheduling/bootstrap-system-priority-classes", false, always},
    {"shutdown", true, stays},
};
enum { NCHECKS = sizeof CHECKS / sizeof *CHECKS };

static bool is_here(const struct probe *p, const struct check *c)
{
    return !c->ready_only || strcmp(p->kind, "readyz") == 0;
}

static void answer(struct request *r, unsigned code, struct strbuf *body)
{
    request_answer_bytes(r, code, "text/plain; charset=utf-8", body);
    strbuf_release(body);
}

static void answer_one(struct probe *p)
{
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < NCHECKS; i++) {
        if (!is_here(p, &CHECKS[i]) || !str_is(p->name, CHECKS[i].name))
            continue;
        bool well = CHECKS[i].is_well(p);
        strbuf_adds(&b, well ? "ok" : "internal server error: it is not well\n");
        answer(p->r, well ? 200 : 500, &b);
        return;
    }
    request_answer_nowhere(p->r);
}

/* ---- what is left out ---- */

static bool is_excluded(const struct probe *p, const char *name)
{
    const struct query *q = &p->r->query;
    for (uint32_t i = 0; i < q->n; i++)
        if (str_is(q->params[i].name, "exclude") && str_is(q->params[i].value, name))
            return true;
    return false;
}

static bool is_known(const struct probe *p, struct str name)
{
    for (int i = 0; i < NCHECKS; i++)
        if (is_here(p, &CHECKS[i]) && str_is(name, CHECKS[i].name))
            return true;
    return false;
}

static void warn_of_unknown(const struct probe *p, struct strbuf *b)
{
    const struct query *q = &p->r->query;
    const char *before = "warn: some health checks cannot be excluded: no matches for ";
    bool any = false;
    for (uint32_t i = 0; i < q->n; i++) {
        struct str name = q->params[i].value;
        if (!str_is(q->params[i].name, "exclude") || is_known(p, name))
            continue;
        strbuf_addf(b, "%s\"%.*s\"", any ? ", " : before, STR_ARG(name));
        any = true;
    }
    if (any)
        strbuf_addc(b, '\n');
}

/* ---- all ---- */

static bool look_at_all(const struct probe *p, struct strbuf *b)
{
    bool all = true;
    for (int i = 0; i < NCHECKS; i++) {
        const struct check *c = &CHECKS[i];
        if (!is_here(p, c))
            continue;
        if (is_excluded(p, c->name)) {
            strbuf_addf(b, "[+]%s excluded: ok\n", c->name);
            continue;
        }
        bool well = c->is_well(p);
        strbuf_addf(b, well ? "[+]%s ok\n" : "[-]%s failed: reason withheld\n", c->name);
        all = all && well;
    }
    warn_of_unknown(p, b);
    return all;
}

static void answer_all(struct probe *p)
{
    struct strbuf b = STRBUF_INIT;
    bool well = look_at_all(p, &b);
    strbuf_addf(&b, "%s check %s\n", p->kind, well ? "passed" : "failed");
    if (well && !query_get(&p->r->query, "verbose").p) {
        strbuf_clear(&b);
        strbuf_adds(&b, "ok");
    }
    answer(p->r, well ? 200 : 500, &b);
}

static void on_synced(void *ctx, bool current)
{
    struct probe *p = ctx;
    p->current = current;
    if (p->name.p)
        answer_one(p);
    else
        answer_all(p);
}

bool health_serve(struct request *r)
{
    static const char *const KINDS[] = {"healthz", "livez", "readyz"};
    struct str path = str_sub(r->x->path, 1, SIZE_MAX), name = STR_NONE;
    size_t slash = str_find_byte(path, '/', 0);
    if (slash != SIZE_MAX) {
        name = str_sub(path, slash + 1, SIZE_MAX);
        path = str_sub(path, 0, slash);
    }
    for (int i = 0; i < 3; i++) {
        if (!str_is(path, KINDS[i]))
            continue;
        struct probe *p = ARENA_NEW(r->a, struct probe);
        *p = (struct probe){r, KINDS[i], name, false};
        store_sync(r->s->store, on_synced, p);
        return true;
    }
    return false;
}
