/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/publish.h"

#include <stdlib.h>

#include "api/convert.h"
#include "api/schema.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/query.h"
#include "base/rng.h"
#include "client/informer.h"
#include "client/worker.h"
#include "driver/publish_plan.h"

enum {
    LOOK_MS = 300000,
    SETTLE_MS = 1000,
    LONGEST_MS = 60000, /* between tries */
    /* Whoever keeps changing the slices is answered at once so often, then every so many
     * times settle_ms: two that want different things do not wear out the server. */
    MENDS_AT_ONCE = 5,
    MEND_EVERY = 30,
};

static const struct client_kind KINDS[] = {
    {"resource.k8s.io", "v1", "resourceslices", false},
    {"resource.k8s.io", "v1beta2", "resourceslices", false},
    {"resource.k8s.io", "v1beta1", "resourceslices", false},
};
enum { NKINDS = sizeof KINDS / sizeof *KINDS };
static const struct client_kind NODE = {"", "v1", "nodes", false};
static const struct str KEY = STR_INIT("slices");

struct want { /* one inventory; counted: work that runs keeps its own */
    uint32_t refs;
    uint32_t devices;
    struct slices slices[2]; /* by layout */
    enum slices_layout layout;
    bool tried_other;    /* the server has refused the first one */
    struct doc *adopted; /* of the layout's slices */
    bool settled;        /* it was published whole once */
    struct arena arena;
};

struct driver_publish {
    struct client *client;
    struct driver_publish_opts opts;
    const char *fields;  /* selector of the driver's slices on the node */
    struct str selector; /* the same, encoded */
    struct arena arena;  /* of the texts of opts */
    struct worker *worker;
    struct want *want; /* NULL: nothing yet */
    unsigned kind;     /* of KINDS, that the server has */
    bool reached;
    struct informer *informer; /* of that kind; NULL: not yet */
    const struct client_kind *informed;
    struct strmap known; /* uid -> version, as it was last seen or written */
    struct arena known_arena;
    struct rng rng;
    uint64_t mend_at; /* the last of the mends that are accounted for */
    struct driver_publish_status status;
    struct strbuf trouble, dropped;
};

/* ---- wants ---- */

static void want_unref(void *ctx)
{
    struct want *w = ctx;
    if (!w || --w->refs)
        return;
    arena_fini(&w->arena);
    free(w);
}

static void want_reset(struct want *w, enum slices_layout layout)
{
    w->layout = layout;
    w->adopted = ARENA_ARRAY(&w->arena, struct doc, w->slices[layout].n);
}

static struct want *want_new(const struct driver_inventory *v, enum slices_layout layout)
{
    struct want *w = mem_zalloc(sizeof *w);
    w->refs = 1;
    w->devices = v->ndevices;
    slices_make(v, SLICES_APART, &w->arena, &w->slices[SLICES_APART]);
    w->slices[SLICES_TOGETHER] = w->slices[SLICES_APART];
    if (v->ncounters)
        slices_make(v, SLICES_TOGETHER, &w->arena, &w->slices[SLICES_TOGETHER]);
    want_reset(w, layout);
    return w;
}

/* ---- work ---- */

struct kept { /* of work, in its arena */
    struct driver_publish *p;
    struct want *want;
    bool planned; /* once: what comes of its writes is for the next look */
    struct publish_plan plan;
    unsigned kind; /* of KINDS, that the server has */
    uint32_t done; /* writes of the plan that are answered */
    bool refused;  /* of these one for its layout */
};

static void release_kept(void *ctx)
{
    struct kept *k = ctx;
    want_unref(k->want);
}

static struct kept *take(struct work *w)
{
    struct driver_publish *p = w->ctx;
    struct kept *k = w->kept;
    if (k)
        return k;
    w->kept = k = ARENA_NEW(w->a, struct kept);
    *k = (struct kept){.p = p, .want = p->want};
    k->want->refs++;
    w->release = release_kept;
    p->status.looks++;
    return k;
}

static const struct api_kind *slice_kind(const char *version)
{
    struct str group = STR("resource.k8s.io");
    return api_resource_find(group, str_from(version), STR("resourceslices"));
}

static void to_version(struct doc *slice, const char *from, const char *to,
                       struct arena *a)
{
    if (strcmp(from, to) != 0)
        api_convert(slice_kind(from), slice_kind(to), slice, a);
}

/* ---- what is there ---- */

static enum progress ask_node(struct work *w, struct str *uid)
{
    const struct driver_publish *p = w->ctx;
    const struct client_answer *a;
    enum progress ok = work_ask(
        w, "GET", NULL, client_path(&NODE, STR_NONE, p->opts.node, NULL, w->a), NULL, &a);
    if (ok != PROGRESS_DONE)
        return ok;
    if (a->status == 404)
        return work_fail(w,
                         "there is no node \"%.*s\": --node NAME says which one this is",
                         STR_ARG(p->opts.node));
    if (!a->ok)
        return work_fail(w, "node %.*s: %s", STR_ARG(p->opts.node), a->message);
    *uid = doc_get_text(doc_get(work_answer_doc(w, a), "metadata"), "uid");
    return uid->n ? PROGRESS_DONE
                  : work_fail(w, "node %.*s has no uid", STR_ARG(p->opts.node));
}

/* The first version that the server has, of the one that it had and those behind it. */
static enum progress ask_slices(struct work *w, unsigned *kind, struct doc *live)
{
    const struct driver_publish *p = w->ctx;
    const struct client_answer *a = NULL;
    for (unsigned i = 0; i < NKINDS; i++) {
        *kind = (p->kind + i) % NKINDS;
        struct str path = client_path(&KINDS[*kind], STR_NONE, STR_NONE, NULL, w->a);
        path = arena_printf(w->a, "%.*s?fieldSelector=%.*s", STR_ARG(path),
                            STR_ARG(p->selector));
        enum progress ok = work_ask(w, "GET", NULL, path, NULL, &a);
        if (ok != PROGRESS_DONE)
            return ok;
        if (a->status != 404)
            break;
    }
    if (a->status == 404)
        return work_fail(w, "the server has no ResourceSlices: %s", a->message);
    if (!a->ok)
        return work_fail(w, "slices of %.*s: %s", STR_ARG(p->opts.driver), a->message);
    const struct doc *d = work_answer_doc(w, a), *items = doc_get(d, "items");
    if (!d)
        return work_fail(w, "the server's list of slices cannot be read");
    *live = items && items->type == DOC_LIST ? doc_dup(w->a, items) : doc_make_list();
    for (uint32_t i = 0; i < live->n; i++)
        to_version(&live->items[i], KINDS[*kind].version, "v1", w->a);
    return PROGRESS_DONE;
}

/* ---- what the watch has told already ---- */

static void know(struct driver_publish *p, const struct doc *slice)
{
    const struct doc *meta = doc_get(slice, "metadata");
    struct str uid = arena_str(&p->known_arena, doc_get_text(meta, "uid"));
    struct str version =
        arena_str(&p->known_arena, doc_get_text(meta, "resourceVersion"));
    strmap_put(&p->known, uid, NULL)->value.ptr = (void *)version.p;
}

static void know_all(struct driver_publish *p, const struct doc *live)
{
    strmap_clear(&p->known);
    arena_reset(&p->known_arena);
    for (uint32_t i = 0; i < live->n; i++)
        know(p, &live->items[i]);
}

static uint64_t now_ms(const struct driver_publish *p)
{
    return net_now_ms(client_loop(p->client));
}

static uint64_t mend_wait(struct driver_publish *p)
{
    uint64_t now = now_ms(p), most = MENDS_AT_ONCE * MEND_EVERY * p->opts.settle_ms;
    uint64_t ahead = p->mend_at > now ? p->mend_at - now : 0;
    return ahead > most ? ahead - most + p->opts.settle_ms : p->opts.settle_ms;
}

static void account_mend(struct driver_publish *p)
{
    uint64_t now = now_ms(p);
    p->mend_at = (p->mend_at > now ? p->mend_at : now) + MEND_EVERY * p->opts.settle_ms;
    p->status.mended++;
}

static void on_changed(void *ctx, const struct object *old, const struct object *now)
{
    struct driver_publish *p = ctx;
    const struct object *o = now ? now : old;
    const struct strmap_entry *e = strmap_find(&p->known, o->uid);
    bool known = now ? e && str_is(now->version, e->value.ptr) : !e;
    if (!known)
        worker_add_after(p->worker, KEY, mend_wait(p));
}

static void on_trouble(void *ctx, const char *what)
{
    struct driver_publish *p = ctx;
    if (p->opts.log)
        p->opts.log(p->opts.log_ctx, what);
}

static const struct informer_ops INFORMER = {.changed = on_changed,
                                             .trouble = on_trouble};

/* A version that is gone takes its watch with it. */
static void follow(struct driver_publish *p, unsigned kind)
{
    p->kind = kind;
    p->reached = true;
    if (p->informed == &KINDS[kind])
        return;
    struct informer_opts o = {.kind = KINDS[kind], .fields = p->fields, .metadata = true};
    informer_free(p->informer);
    p->informer = informer_new(p->client, &o, &INFORMER, p);
    p->informed = &KINDS[kind];
}

/* ---- writing ---- */

static struct doc precondition(const struct doc *slice, struct arena *a)
{
    const struct doc *meta = doc_get(slice, "metadata");
    struct doc d = doc_make_map(), p = doc_make_map();
    doc_set_text(a, &p, "uid", doc_get_text(meta, "uid"));
    doc_set_text(a, &p, "resourceVersion", doc_get_text(meta, "resourceVersion"));
    doc_set(a, &d, "preconditions", p);
    return d;
}

static enum progress ask_write(struct work *w, const struct publish_write *x,
                               const struct client_answer **out)
{
    const unsigned kind = ((const struct kept *)w->kept)->kind;
    static const char *const METHODS[] = {
        [PUBLISH_DELETE] = "DELETE", [PUBLISH_UPDATE] = "PUT", [PUBLISH_CREATE] = "POST"};
    struct str name =
        x->old ? doc_get_text(doc_get(x->old, "metadata"), "name") : STR_NONE;
    struct str path = client_path(&KINDS[kind], STR_NONE, name, NULL, w->a);
    struct doc body;
    if (x->verb == PUBLISH_DELETE) {
        body = precondition(x->old, w->a);
    } else {
        body = doc_dup(w->a, &x->object);
        to_version(&body, "v1", KINDS[kind].version, w->a);
        doc_set_text(w->a, &body, "apiVersion",
                     arena_printf(w->a, "resource.k8s.io/%s", KINDS[kind].version));
        doc_set_text(w->a, &body, "kind", STR("ResourceSlice"));
    }
    return work_ask(w, METHODS[x->verb], NULL, path, &body, out);
}

/* What the server made of it becomes what is wanted of it, if it is something else. */
static void adopt(struct work *w, const struct publish_write *x, struct doc *stored)
{
    struct kept *k = w->kept;
    struct driver_publish *p = k->p;
    struct doc now;
    if (!publish_plan_differs(&x->object, stored, w->a, &now))
        return;
    struct str what = publish_plan_dropped(&x->object, stored, w->a);
    k->want->adopted[x->index] = doc_dup(&k->want->arena, &now);
    strbuf_clear(&p->dropped);
    strbuf_addf(&p->dropped,
                "the server does not keep what slice %u says; features that may be off: ",
                x->index);
    strbuf_addstr(&p->dropped, what);
    if (p->opts.log)
        p->opts.log(p->opts.log_ctx, strbuf_cstr(&p->dropped));
}

static void count_write(struct driver_publish *p, enum publish_verb verb)
{
    p->status.created += verb == PUBLISH_CREATE;
    p->status.updated += verb == PUBLISH_UPDATE;
    p->status.deleted += verb == PUBLISH_DELETE;
}

/* Once for each answer. */
static void note(struct work *w, const struct publish_write *x,
                 const struct client_answer *a)
{
    struct kept *k = w->kept;
    struct driver_publish *p = k->p;
    const struct doc *answer = a->ok ? work_answer_doc(w, a) : NULL;
    if (a->ok)
        count_write(p, x->verb);
    if (x->verb == PUBLISH_DELETE && (a->ok || a->status == 404)) {
        strmap_remove(&p->known, doc_get_text(doc_get(x->old, "metadata"), "uid"));
    } else if (answer) {
        struct doc stored = doc_dup(w->a, answer);
        know(p, &stored);
        to_version(&stored, KINDS[k->kind].version, "v1", w->a);
        adopt(w, x, &stored);
    }
    k->refused |= a->status == 422 && strstr(a->message, "consumesCounters");
}

/* The next one; what is done is not looked at again. */
static enum progress write_next(struct work *w)
{
    const struct client_answer *a;
    struct kept *k = w->kept;
    const struct publish_write *x = &k->plan.writes[k->done];
    enum progress ok = ask_write(w, x, &a);
    if (ok != PROGRESS_DONE)
        return ok;
    note(w, x, a);
    k->done++;
    if (a->ok || (x->verb == PUBLISH_DELETE && a->status == 404))
        return PROGRESS_DONE;
    if (a->status == 409 || (a->status == 404 && x->verb == PUBLISH_UPDATE))
        return PROGRESS_FAILED; /* somebody was faster: looked at anew, nobody is told */
    return work_fail(w, "slice %u of %.*s: %s", x->index, STR_ARG(k->p->opts.driver),
                     a->message);
}

/* ---- the look ---- */

static void set_trouble(struct driver_publish *p, const char *text)
{
    strbuf_clear(&p->trouble);
    strbuf_adds(&p->trouble, text);
}

/* A server before 1.35 wants counters where they are taken of. */
static void change_layout(struct kept *k)
{
    struct want *w = k->want;
    if (!k->refused || w->tried_other)
        return;
    w->tried_other = true;
    want_reset(w, w->layout == SLICES_APART ? SLICES_TOGETHER : SLICES_APART);
}

static enum progress finish(struct work *w)
{
    const struct kept *k = w->kept;
    struct driver_publish *p = k->p;
    uint64_t more = (uint64_t)rng_range(&p->rng, 0, (int64_t)p->opts.look_ms / 2);
    k->want->settled = true;
    if (k->want == p->want) {
        p->status.settled = k->plan.n == 0;
        p->status.generation = k->plan.generation;
    }
    set_trouble(p, "");
    w->again_ms = k->plan.n ? p->opts.settle_ms : p->opts.look_ms + more;
    return PROGRESS_DONE;
}

static enum progress write_all(struct work *w)
{
    struct kept *k = w->kept;
    while (k->done < k->plan.n) {
        enum progress ok = write_next(w);
        if (ok == PROGRESS_FAILED)
            change_layout(k);
        if (ok != PROGRESS_DONE)
            return ok;
    }
    return finish(w);
}

static void make_plan(struct work *w, struct str node_uid, const struct doc *live)
{
    struct kept *k = w->kept;
    struct driver_publish *p = k->p;
    const struct publish_want want = {.driver = p->opts.driver,
                                      .node = p->opts.node,
                                      .pool = p->opts.pool,
                                      .node_uid = node_uid,
                                      .slices = &k->want->slices[k->want->layout],
                                      .adopted = k->want->adopted};
    publish_plan_make(&want, live, w->a, &k->plan);
    k->planned = true;
    know_all(p, live);
    follow(p, k->kind);
    if (k->plan.n && k->want->settled)
        account_mend(p);
}

static enum progress look(struct work *w)
{
    struct kept *k = take(w);
    struct str uid = STR_NONE;
    struct doc live = doc_make_list();
    if (!k->planned) {
        enum progress ok = ask_node(w, &uid);
        if (ok == PROGRESS_DONE)
            ok = ask_slices(w, &k->kind, &live);
        if (ok != PROGRESS_DONE)
            return ok;
        make_plan(w, uid, &live);
    }
    return write_all(w);
}

/* ---- outside ---- */

static void on_log(void *ctx, const char *text)
{
    struct driver_publish *p = ctx;
    p->status.failed++;
    p->status.settled = false;
    set_trouble(p, text);
    on_trouble(p, text);
}

static void copy_opts(struct driver_publish *p, const struct driver_publish_opts *o)
{
    struct strbuf b = STRBUF_INIT;
    p->opts = *o;
    p->opts.driver = arena_str(&p->arena, o->driver);
    p->opts.node = arena_str(&p->arena, o->node);
    p->opts.pool = o->pool.n ? arena_str(&p->arena, o->pool) : p->opts.node;
    p->opts.look_ms = o->look_ms ? o->look_ms : LOOK_MS;
    p->opts.settle_ms = o->settle_ms ? o->settle_ms : SETTLE_MS;
    p->fields = arena_printf(&p->arena, "spec.driver=%.*s,spec.nodeName=%.*s",
                             STR_ARG(o->driver), STR_ARG(o->node))
                    .p;
    query_escape(str_from(p->fields), &b);
    p->selector = arena_str(&p->arena, strbuf_str(&b));
    strbuf_release(&b);
}

struct driver_publish *driver_publish_new(struct client *c,
                                          const struct driver_publish_opts *o)
{
    struct driver_publish *p = mem_zalloc(sizeof *p);
    p->client = c;
    copy_opts(p, o);
    rng_init(&p->rng, o->seed ? o->seed : str_hash(o->node));
    const struct worker_opts w = {
        .queue = {.workers = 1, .longest_ms = LONGEST_MS}, .log = on_log, .log_ctx = p};
    p->worker = worker_new(c, &w, look, p);
    return p;
}

void driver_publish_free(struct driver_publish *p)
{
    if (!p)
        return;
    informer_free(p->informer);
    worker_free(p->worker);
    want_unref(p->want);
    strmap_release(&p->known);
    strbuf_release(&p->trouble);
    strbuf_release(&p->dropped);
    arena_fini(&p->known_arena);
    arena_fini(&p->arena);
    free(p);
}

void driver_publish_set(struct driver_publish *p, const struct driver_inventory *v)
{
    struct want *old = p->want;
    p->want = want_new(v, old ? old->layout : SLICES_APART);
    want_unref(old);
    p->status.settled = false;
    strbuf_clear(&p->dropped);
    worker_add(p->worker, KEY);
}

struct driver_publish_status driver_publish_status(const struct driver_publish *p)
{
    struct driver_publish_status s = p->status;
    s.version = p->reached ? KINDS[p->kind].version : "";
    s.devices = p->want ? p->want->devices : 0;
    s.slices = p->want ? p->want->slices[p->want->layout].n : 0;
    s.trouble = strbuf_cstr(&p->trouble);
    s.dropped = strbuf_cstr(&p->dropped);
    return s;
}
