/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and updating, and the way of every write into the store. */
#include "server/admission/quota.h"
#include "server/custom/custom.h"
#include "server/observe/measure.h"
#include "server/rest/awaiting.h"
#include "server/rest/scale.h"

#include "api/apply.h"
#include "server/service/claims.h"

enum {
    MAX_TRIES = 5, /* as upstream retries a patch */
    MAX_NAMES = 8, /* of generateName */
    MAX_LOST = 32, /* claims of a Service that others were faster with */
    MAX_WAITS = 10,
    WAIT_MS = 150,
};

/* ---- into the store ---- */

static void answer_status(struct write *w)
{
    struct request *r = w->r;
    r->failure = (struct failure){.code = w->code,
                                  .has_details = true,
                                  .name = w->name,
                                  .group = str_from(r->res->main->group),
                                  .kind = str_from(r->res->main->resource),
                                  .uid = meta_text(&w->object, "uid")};
    request_answer_failure(r);
}

/* The answer is what is kept now, byte for byte. */
static bool answer_kept(struct write *w, uint64_t revision)
{
    struct cache_object *o = NULL;
    if (revision && !w->quiet && !w->then && w->answer == WRITE_OBJECT &&
        request_plain(w->r))
        o = cache_get(w->r->s->cache, w->key);
    if (!o || o->revision != revision)
        return false;
    request_answer_object(w->r, w->code, o);
    return true;
}

static void finish(struct write *w, uint64_t revision)
{
    struct request *r = w->r;
    cache_object_unref(w->old);
    w->old = NULL;
    if (answer_kept(w, revision))
        return;
    if (revision && !w->quiet)
        write_set_meta(r, &w->object, "resourceVersion",
                       arena_printf(r->a, "%llu", (unsigned long long)revision));
    if (w->then) {
        w->then(w, true);
    } else if (w->answer == WRITE_STATUS) {
        answer_status(w);
    } else {
        object_convert(NULL, r->res, &w->object, r->a);
        request_answer(r, w->code, &w->object);
    }
}

static void retry(void *ctx)
{
    struct write *w = ctx;
    cache_object_unref(w->old);
    w->old = NULL;
    w->drop = false;
    w->again(w);
}

void write_fail(struct write *w)
{
    if (awaiting_begin(w->r, retry, w))
        return;
    cache_object_unref(w->old);
    w->old = NULL;
    if (w->then)
        w->then(w, false);
    else
        request_answer_failure(w->r);
}

static void retry_name(struct write *w)
{
    w->made = STR_NONE;
    retry(w);
}

static void fail_exists(struct write *w)
{
    struct request *r = w->r;
    struct cache_object *o = cache_get(r->s->cache, w->key);
    struct doc d = o ? object_doc(o, r->a) : doc_make_map();
    fail_object(r, 409, "AlreadyExists", w->name, "%s%.*s \"%.*s\" already exists",
                meta_text(&d, "deletionTimestamp").n ? "object is being deleted: " : "",
                STR_ARG(qualified(r->a, str_from(r->res->main->resource),
                                  str_from(r->res->main->group))),
                STR_ARG(w->name));
}

static void fail_stored(struct write *w, enum store_answer answer)
{
    struct request *r = w->r;
    struct str text = w->outcome.text.n ? w->outcome.text : STR("store");
    if (answer == STORE_EXISTS)
        fail_exists(w);
    else if (answer == STORE_MISSING)
        fail_missing(r, w->name);
    else if (answer == STORE_CONFLICT)
        fail_conflict(r, w->name,
                      "the object has been modified; please apply your changes to the "
                      "latest version and try again");
    else
        fail(r, 500, "InternalError", "Internal error occurred: %.*s", STR_ARG(text));
    write_fail(w);
}

static void conclude(struct write *w)
{
    enum store_answer answer = w->outcome.answer;
    bool raced = answer == STORE_CONFLICT || (answer == STORE_MISSING && w->old);
    bool named = w->old || meta_text(&w->body, "name").n;
    if (answer == STORE_OK)
        finish(w, w->outcome.revision);
    else if (raced && w->tries < MAX_TRIES)
        retry(w);
    else if (answer == STORE_EXISTS && !named && w->tries < MAX_NAMES)
        retry_name(w);
    else
        fail_stored(w, answer);
}

static void stored(void *ctx, enum store_answer answer, uint64_t revision,
                   const struct err *e)
{
    struct write *w = ctx;
    measure_store(w->r,
                  w->drop  ? "delete"
                  : w->old ? "update"
                           : "create",
                  answer == STORE_OK, w->submitted_ns);
    w->outcome = (struct outcome){.answer = answer, .revision = revision};
    if (e)
        w->outcome.text = arena_printf(w->r->a, "%s", err_text(e));
    claims_settle(w, answer == STORE_OK, conclude);
}

/* A write that changes nothing makes no revision. */
static bool changes_nothing(struct write *w)
{
    struct doc stored;
    if (w->old && !w->drop && w->r->res->custom) {
        /* as it lies there: another version of it is a change */
        stored = object_doc(w->old, w->r->a);
        return apply_same_but_times(&stored, &w->object, w->r->a);
    }
    return w->old && !w->drop && apply_same_but_times(write_live(w), &w->object, w->r->a);
}

static void commit_dry(struct write *w)
{
    struct str key = w->key;
    if (!w->old && cache_get(w->r->s->cache, key)) {
        fail_stored(w, STORE_EXISTS);
        return;
    }
    if (!w->old)
        write_drop_meta(&w->object, "resourceVersion");
    finish(w, 0);
}

/* Somebody was faster with an address or a port: others are tried, and where one was
 * asked for by its number, that is what the next try says. */
static void submit(struct write *w, bool ready)
{
    if (!ready && (w->claims.broken || w->claims.tries++ == MAX_LOST)) {
        if (!w->claims.broken)
            fail(w->r, 500, "InternalError",
                 "Internal error occurred: others took every address and port that was "
                 "tried");
        write_fail(w);
        return;
    }
    if (!ready) {
        retry(w);
        return;
    }
    struct strbuf b = STRBUF_INIT;
    struct store_write s = {
        .key = w->key, .expect = w->old ? w->old->revision : 0, .done = stored, .ctx = w};
    if (!w->drop) {
        object_encode(&w->object, &b);
        s.value = strbuf_str(&b);
    }
    w->tries++;
    w->submitted_ns = measure_now();
    store_submit(w->r->s->store, &s);
    strbuf_release(&b);
}

static void commit(struct write *w)
{
    if (w->r->dry_run) {
        commit_dry(w);
        return;
    }
    if (changes_nothing(w)) {
        w->object = object_doc(w->old, w->r->a); /* it is changed on its way out */
        finish(w, 0);
        return;
    }
    claims_take(w, submit);
}

static void paid(struct write *w, bool ok)
{
    if (ok)
        commit(w);
    else
        write_fail(w);
}

/* Whether the answer can be made as soon as it is stored: a webhook is asked before. */
static bool is_answerable(struct write *w)
{
    struct request *r = w->r;
    if (!custom_asks(r->res) || w->answer != WRITE_OBJECT)
        return true;
    struct doc copy = doc_dup(r->a, &w->object);
    return object_convert(r, r->res, &copy, r->a);
}

void write_commit(struct write *w)
{
    if (!is_answerable(w))
        write_fail(w);
    else if (!quota_pay(w, paid))
        commit(w);
}

const struct doc *write_live(struct write *w)
{
    if (!w->live) {
        w->live = ARENA_NEW(w->r->a, struct doc);
        *w->live = object_doc(w->old, w->r->a);
        if (w->r->res->custom)
            custom_to_stored(NULL, w->r->res, w->live, w->r->a);
    }
    return w->live;
}

bool write_readable(struct write *w)
{
    struct request *r = w->r;
    if (!custom_asks(r->res))
        return true;
    struct doc d = object_doc(w->old, r->a);
    bool ok = custom_ready(r, &w->old, 1, CUSTOM_CHANGE) &&
              custom_to_stored(r, r->res, &d, r->a);
    w->live = NULL;
    return ok && object_convert(r, r->res, &d, r->a);
}

bool write_load(struct write *w)
{
    w->live = NULL;
    struct request *r = w->r;
    w->name = r->route.name;
    w->key = object_key(r->res, r->route.namespace, w->name, r->a);
    w->old = cache_get(r->s->cache, w->key);
    if (w->old)
        cache_object_ref(w->old);
    return w->old != NULL;
}

/* ---- verbs ---- */

static void stop_waiting(struct write *w)
{
    w->timer = NULL;
    *w->link_waiting = w->next_waiting;
    if (w->next_waiting)
        w->next_waiting->link_waiting = w->link_waiting;
}

static void create_now(void *ctx)
{
    struct write *w = ctx;
    stop_waiting(w);
    w->r->failure = (struct failure){0};
    w->again(w);
}

/* What is missing may be on its way. */
static bool waits(struct write *w)
{
    struct server *s = w->r->s;
    if (!w->r->failure.passing || w->waits == MAX_WAITS || s->ending)
        return false;
    w->waits++;
    w->timer = net_timer_start(s->loop, WAIT_MS, 0, create_now, w);
    w->next_waiting = s->waiting;
    w->link_waiting = &s->waiting;
    if (w->next_waiting)
        w->next_waiting->link_waiting = &w->next_waiting;
    s->waiting = w;
    return true;
}

void write_end_all(struct server *s)
{
    s->ending = true;
    while (s->waiting) {
        struct write *w = s->waiting;
        net_timer_stop(w->timer);
        stop_waiting(w);
        write_fail(w);
    }
    awaiting_end_all(s);
}

static void create(struct write *w)
{
    struct doc d = doc_dup(w->r->a, &w->body);
    if (write_finish_create(w, &d))
        write_commit(w);
    else if (!waits(w))
        write_fail(w);
}

void write_create(struct request *r)
{
    struct write *w = ARENA_NEW(r->a, struct write);
    *w = (struct write){.r = r, .code = 201, .again = create};
    if (write_read_body(r, &w->body))
        create(w);
    else
        write_fail(w);
}

static bool make_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    if (write_load(w)) {
        w->code = 200;
        return is_scale(w->r->res) ? scale_finish_update(w, d)
                                   : write_finish_update(w, d);
    }
    if (r->res->sub || !kinds_put_creates(r->res->main))
        return fail_missing(r, w->name);
    w->code = 201;
    return write_finish_create(w, d);
}

static void update(struct write *w)
{
    struct doc d = doc_dup(w->r->a, &w->body);
    if (make_update(w, &d))
        write_commit(w);
    else
        write_fail(w);
}

void write_update(struct request *r)
{
    struct write *w = ARENA_NEW(r->a, struct write);
    *w = (struct write){.r = r, .again = update};
    w->name = r->route.name;
    bool ok =
        is_scale(r->res) ? scale_read_body(r, &w->body) : write_read_body(r, &w->body);
    if (ok && identity_same_name(w, &w->body))
        update(w);
    else
        write_fail(w);
}
