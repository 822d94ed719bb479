/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_api.h"

#include <stdlib.h>

/* ---- objects ---- */

static struct doc *list_of(struct fake_api *f, struct doc *all, struct str resource)
{
    struct doc *list = (struct doc *)doc_get_str(all, resource);
    return list ? list : doc_set_str(f->a, all, resource, doc_make_list());
}

static struct str meta_text(const struct doc *d, const char *key)
{
    return doc_get_text(doc_get(d, "metadata"), key);
}

static struct doc *find(struct doc *list, struct str namespace, struct str name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(meta_text(&list->items[i], "name"), name) &&
            str_eq(meta_text(&list->items[i], "namespace"), namespace))
            return &list->items[i];
    return NULL;
}

static void put(struct fake_api *f, struct doc *all, struct str resource,
                const struct doc *object)
{
    struct doc *list = list_of(f, all, resource);
    struct doc *old =
        find(list, meta_text(object, "namespace"), meta_text(object, "name"));
    struct doc own = doc_dup(f->a, object);
    if (old)
        *old = own;
    else
        doc_append(f->a, list, own);
}

const struct doc *fake_api_list(struct fake_api *f, const char *resource)
{
    return list_of(f, &f->objects, str_from(resource));
}

const struct doc *fake_api_find(struct fake_api *f, const char *resource,
                                const struct doc *like)
{
    return find(list_of(f, &f->objects, str_from(resource)), meta_text(like, "namespace"),
                meta_text(like, "name"));
}

/* ---- what is asked ---- */

struct asked {
    struct str namespace, resource, name, sub;
    bool watch;
};

static struct str next_part(struct str path, size_t *at)
{
    if (*at >= path.n)
        return STR_NONE;
    size_t end = str_find_byte(path, '/', *at + 1);
    struct str part = str_sub(path, *at + 1, end);
    *at = end == SIZE_MAX ? path.n : end;
    return part;
}

/* "/api/V/..." or "/apis/G/V/...", then "namespaces/NS/" or not. */
static void read_path(const struct net_exchange *x, struct asked *q)
{
    size_t at = 0;
    struct str part = next_part(x->path, &at);
    if (str_is(part, "apis"))
        next_part(x->path, &at);
    next_part(x->path, &at);
    *q = (struct asked){.watch = str_starts(x->query, STR("watch=true"))};
    q->resource = next_part(x->path, &at);
    if (str_is(q->resource, "namespaces")) {
        q->namespace = next_part(x->path, &at);
        q->resource = next_part(x->path, &at);
    }
    q->name = next_part(x->path, &at);
    q->sub = next_part(x->path, &at);
}

static void set_text(struct fake_api *f, struct doc *d, const char *key, struct str s)
{
    if (s.n)
        doc_set(f->a, d, key, doc_make_string(f->a, s));
}

static struct doc body_of(struct fake_api *f, const struct net_exchange *x)
{
    struct doc_source src = {.name = "body", .text = arena_str(f->a, x->body)};
    struct doc d = doc_make_null();
    if (x->body.n)
        doc_read_json(&src, f->a, &d, NULL);
    return d;
}

static void write_down(struct fake_api *f, const struct asked *q, const char *verb,
                       const char *what, const struct doc *body, struct str type)
{
    struct doc action = doc_make_map();
    bool whole = str_is(str_from(what ? what : ""), "object");
    set_text(f, &action, "verb", str_from(verb));
    set_text(f, &action, "resource", q->resource);
    set_text(f, &action, "subresource", q->sub);
    set_text(f, &action, "namespace", q->namespace);
    if (!whole)
        set_text(f, &action, "name", q->name);
    set_text(f, &action, "patchType", type);
    if (what)
        doc_set(f->a, &action, what, doc_dup(f->a, body));
    doc_append(f->a, &f->actions, action);
}

/* ---- like a server in earnest ---- */

static struct doc *meta_of(struct doc *d)
{
    return (struct doc *)doc_get(d, "metadata");
}

static void stamp(struct fake_api *f, struct doc *d)
{
    set_text(f, meta_of(d), "resourceVersion",
             arena_printf(f->a, "%llu", (unsigned long long)++f->version));
}

/* What watches begin with is what they would have been told. */
static void make_known(struct fake_api *f, struct str resource, const char *type,
                       const struct doc *d)
{
    struct doc *list = list_of(f, &f->known, resource);
    struct doc *have = find(list, meta_text(d, "namespace"), meta_text(d, "name"));
    if (strcmp(type, "DELETED") != 0)
        put(f, &f->known, resource, d);
    else if (have)
        *have = list->items[--list->n];
}

static void told(struct fake_api *f, const struct asked *q, const char *type,
                 const struct doc *d)
{
    const char *resource = arena_str(f->a, q->resource).p;
    if (f->stores && !f->late) {
        make_known(f, str_from(resource), type, d);
        fake_api_tell(f, type, resource, d);
    } else if (f->stores) {
        struct doc e = doc_make_map();
        set_text(f, &e, "type", str_from(type));
        set_text(f, &e, "resource", q->resource);
        doc_set(f->a, &e, "object", doc_dup(f->a, d));
        doc_append(f->a, &f->untold, e);
    }
}

static bool is_held_back(const struct doc *d)
{
    const struct doc *list = doc_path(d, "metadata.finalizers");
    return list && list->n > 0;
}

static bool is_deleted(const struct doc *d)
{
    return meta_text(d, "deletionTimestamp").n > 0;
}

/* What a write of a part leaves as it was. */
static void keep_rest(struct fake_api *f, const struct asked *q, struct doc *d,
                      const struct doc *have)
{
    const struct doc *status = doc_get(q->sub.n ? d : have, "status");
    struct doc kept = status ? doc_dup(f->a, status) : doc_make_map();
    if (q->sub.n)
        *d = doc_dup(f->a, have);
    doc_set(f->a, d, "status", kept);
}

static bool counts_down(struct fake_api *f, struct doc *failure, const char *key)
{
    int64_t n;
    if (!doc_get_int64(failure, key, &n) || n <= 0)
        return false;
    doc_set(f->a, failure, key, doc_make_int(f->a, n - 1));
    return true;
}

static struct doc *failure_of(struct fake_api *f, const struct asked *q, const char *verb)
{
    for (uint32_t i = 0; i < f->failures.n; i++) {
        struct doc *d = &f->failures.items[i];
        struct str v = doc_get_text(d, "verb"), r = doc_get_text(d, "resource"),
                   sub = doc_get_text(d, "subresource");
        bool any_verb = !v.n || str_is(v, "*") || str_is(v, verb);
        bool any_kind = !r.n || str_is(r, "*") || str_eq(r, q->resource);
        if (!any_verb || !any_kind || (sub.n && !str_eq(sub, q->sub)) ||
            counts_down(f, d, "skip"))
            continue;
        if (!doc_get(d, "times") || counts_down(f, d, "times"))
            return d;
    }
    return NULL;
}

/* ---- answers ---- */

static void respond(struct fake_api *f, struct net_exchange *x, unsigned status,
                    const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    struct doc lost = doc_make_map();
    int64_t code;
    if (f->lost && doc_get_int64(f->lost, "status", &code)) {
        status = (unsigned)code;
        d = &lost;
    }
    f->lost = NULL;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    net_respond_buf(x, status, NULL, 0, &b);
}

static void refuse(struct fake_api *f, struct net_exchange *x, unsigned status,
                   const char *reason, struct str message)
{
    struct doc d = doc_make_map();
    set_text(f, &d, "reason", str_from(reason));
    set_text(f, &d, "message", message);
    respond(f, x, status, &d);
}

static void say(struct fake_api *f, struct net_exchange *x, const char *type,
                const struct doc *object)
{
    struct strbuf b = STRBUF_INIT;
    struct doc event = doc_make_map();
    set_text(f, &event, "type", str_from(type));
    doc_set(f->a, &event, "object", *object);
    doc_write_json(&event, DOC_JSON_COMPACT, &b);
    strbuf_addc(&b, '\n');
    net_write(x, strbuf_str(&b));
    strbuf_release(&b);
}

static void say_end(struct fake_api *f, struct net_exchange *x)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), notes = doc_make_map();
    set_text(f, &notes, "k8s.io/initial-events-end", STR("true"));
    set_text(f, &meta, "resourceVersion", STR("1"));
    doc_set(f->a, &meta, "annotations", notes);
    doc_set(f->a, &d, "metadata", meta);
    say(f, x, "BOOKMARK", &d);
}

static void on_gone(void *ctx)
{
    struct fake_stream *s = ctx;
    struct net_exchange *x = s->x;
    s->x = NULL;
    net_done(x);
}

static void watch(struct fake_api *f, struct net_exchange *x, struct str resource)
{
    struct doc *list = list_of(f, &f->known, resource);
    struct fake_stream *s = f->streams;
    while (s < f->streams + f->nstreams && s->x)
        s++;
    f->nstreams += s == f->streams + f->nstreams;
    *s = (struct fake_stream){x, arena_str(f->a, resource)};
    net_on_gone(x, on_gone, s);
    net_begin(x, 200, NULL, 0);
    for (uint32_t i = 0; i < list->n; i++)
        say(f, x, "ADDED", &list->items[i]);
    say_end(f, x);
}

/* Answers as the test wants it. */
static bool fails(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                  const char *verb)
{
    const struct doc *d = failure_of(f, q, verb);
    int64_t status = 500;
    bool after = false;
    if (!d)
        return false;
    if (doc_get_bool(d, "after", &after) && after) {
        f->lost = d;
        return false;
    }
    doc_get_int64(d, "status", &status);
    refuse(f, x, (unsigned)status, arena_str(f->a, doc_get_text(d, "reason")).p,
           doc_get_text(d, "error"));
    return true;
}

static void create(struct fake_api *f, struct net_exchange *x, const struct asked *q)
{
    struct doc d = body_of(f, x);
    write_down(f, q, "create", "object", &d, STR_NONE);
    if (fails(f, x, q, "create"))
        return;
    if (f->create_fails) {
        refuse(f, x, 409, "Conflict",
               arena_printf(f->a,
                            "Operation cannot be fulfilled on %.*s.resource.k8s.io "
                            "\"fake name\": fake conflict",
                            STR_ARG(q->resource)));
        return;
    }
    struct doc *meta = (struct doc *)doc_get(&d, "metadata");
    struct str base = doc_get_text(meta, "generateName");
    bool named = f->stores && doc_get_text(meta, "name").n;
    if (named && find(list_of(f, &f->objects, q->resource), q->namespace,
                      doc_get_text(meta, "name"))) {
        refuse(f, x, 409, "AlreadyExists", STR("it already exists"));
        return;
    }
    if (base.n && !named)
        set_text(f, meta, "name",
                 f->stores
                     ? arena_printf(f->a, "%.*s%u", STR_ARG(base), f->ngenerated++)
                     : arena_printf(f->a, "%.*s-%u", STR_ARG(base), ++f->ngenerated));
    set_text(f, meta, "namespace", q->namespace);
    if (f->stores) {
        stamp(f, &d);
        set_text(f, meta, "uid",
                 arena_printf(f->a, "made-%llu", (unsigned long long)f->version));
    }
    put(f, &f->objects, q->resource, &d);
    told(f, q, "ADDED", &d);
    respond(f, x, 201, &d);
}

static void event(struct fake_api *f, struct net_exchange *x)
{
    struct doc d = body_of(f, x);
    struct str type = doc_get_text(&d, "type"), reason = doc_get_text(&d, "reason"),
               message = doc_get_text(&d, "message");
    struct str text = arena_printf(f->a, "%.*s %.*s %.*s", STR_ARG(type), STR_ARG(reason),
                                   STR_ARG(message));
    doc_append(f->a, &f->events, doc_make_string(f->a, text));
    respond(f, x, 201, &d);
}

static void get(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                const struct doc *have)
{
    write_down(f, q, "get", NULL, NULL, STR_NONE);
    if (fails(f, x, q, "get"))
        return;
    if (have)
        respond(f, x, 200, have);
    else
        refuse(f, x, 404, "NotFound",
               arena_printf(f->a, "%.*s \"%.*s\" not found", STR_ARG(q->resource),
                            STR_ARG(q->name)));
}

static void remove_one(struct fake_api *f, const struct asked *q, struct doc *have)
{
    struct doc *list = list_of(f, &f->objects, q->resource);
    struct doc gone = *have;
    *have = list->items[--list->n];
    told(f, q, "DELETED", &gone);
}

/* false: it is answered. */
static bool replace(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                    struct doc *d, struct doc *have)
{
    if (!have) {
        refuse(f, x, 404, "NotFound", STR("not found"));
        return false;
    }
    if (!str_eq(meta_text(d, "resourceVersion"), meta_text(have, "resourceVersion"))) {
        refuse(f, x, 409, "Conflict", STR("the object has been modified"));
        return false;
    }
    keep_rest(f, q, d, have);
    stamp(f, d);
    if (!is_deleted(have) || is_held_back(d))
        return true;
    remove_one(f, q, have);
    respond(f, x, 200, d);
    return false;
}

static void update(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                   struct doc *have)
{
    struct doc d = body_of(f, x);
    write_down(f, q, "update", "object", &d, STR_NONE);
    if (fails(f, x, q, "update"))
        return;
    if (f->stores && !replace(f, x, q, &d, have))
        return;
    put(f, &f->objects, q->resource, &d);
    told(f, q, "MODIFIED", &d);
    respond(f, x, 200, &d);
}

/* "$patch: delete" takes the item of this uid out of a list. */
static bool patch_deletes(struct doc *list, const struct doc *value)
{
    const struct doc *item =
        value->type == DOC_LIST && value->n == 1 ? value->items : NULL;
    uint32_t kept = 0;
    if (!item || !doc_is_string(doc_get(item, "$patch"), "delete"))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!str_eq(doc_get_text(&list->items[i], "uid"), doc_get_text(item, "uid")))
            list->items[kept++] = list->items[i];
    if (list)
        list->n = kept;
    return true;
}

static void patch_member(struct fake_api *f, struct doc *own, const struct doc_member *m)
{
    struct doc *have = (struct doc *)doc_get_str(own, doc_key(m));
    if (!patch_deletes(have, &m->value))
        doc_set_str(f->a, own, doc_key(m), m->value);
}

/* Owners are added, and a finalizer is taken off; where the uid is another's: false. */
static bool patch_meta(struct fake_api *f, struct doc *have, const struct doc *patch)
{
    const struct doc *meta = doc_get(patch, "metadata"),
                     *refs = doc_get(meta, "ownerReferences"),
                     *off = doc_get(meta, "$deleteFromPrimitiveList/finalizers");
    struct doc *own = meta_of(have), left = doc_make_list();
    const struct doc *list = doc_get(own, "finalizers");
    struct str uid = doc_get_text(meta, "uid");
    if (uid.n && !str_eq(uid, doc_get_text(own, "uid")))
        return false;
    if (refs && !doc_get(own, "ownerReferences"))
        doc_set(f->a, own, "ownerReferences", *refs);
    for (uint32_t i = 0; off && list && i < list->n; i++)
        if (!doc_equal(&list->items[i], &off->items[0]))
            doc_append(f->a, &left, list->items[i]);
    if (off)
        doc_set(f->a, own, "finalizers", left);
    return true;
}

/* Of a status: its members take the place of what is there. */
static void patch(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                  struct doc *have)
{
    struct doc d = body_of(f, x);
    const struct doc *status = doc_get(&d, "status");
    write_down(f, q, "patch", "patch", &d, net_header_get(x, "content-type"));
    if (fails(f, x, q, "patch"))
        return;
    if (!have) {
        get(f, x, q, NULL);
        return;
    }
    struct doc *own = (struct doc *)doc_get(have, "status");
    if (!own || own->type != DOC_MAP)
        own = doc_set(f->a, have, "status", doc_make_map());
    for (uint32_t i = 0; status && i < status->n; i++)
        patch_member(f, own, &status->members[i]);
    if (f->stores && !patch_meta(f, have, &d)) {
        refuse(f, x, 409, "Conflict", STR("another uid"));
        return;
    }
    if (f->stores)
        stamp(f, have);
    if (f->stores && is_deleted(have) && !is_held_back(have)) {
        struct doc gone = doc_dup(f->a, have);
        remove_one(f, q, have);
        respond(f, x, 200, &gone);
        return;
    }
    told(f, q, "MODIFIED", have);
    respond(f, x, 200, have);
}

static void drop(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                 struct doc *have)
{
    struct doc status = doc_make_map();
    write_down(f, q, "delete", NULL, NULL, STR_NONE);
    if (fails(f, x, q, "delete"))
        return;
    if (have && f->stores && is_held_back(have)) {
        set_text(f, meta_of(have), "deletionTimestamp", STR("2026-01-01T00:00:00Z"));
        stamp(f, have);
        told(f, q, "MODIFIED", have);
    } else if (have) {
        remove_one(f, q, have);
    }
    respond(f, x, have ? 200 : 404, &status);
}

static void bind_pod(struct fake_api *f, struct net_exchange *x, const struct asked *q,
                     struct doc *have)
{
    struct doc d = body_of(f, x);
    write_down(f, q, "create", "object", &d, STR_NONE);
    if (fails(f, x, q, "create"))
        return;
    struct doc *spec = (struct doc *)doc_get(have, "spec");
    if (!have) {
        refuse(f, x, 404, "NotFound", STR("not found"));
        return;
    }
    if (doc_get_text(spec, "nodeName").n) {
        refuse(f, x, 409, "Conflict", STR("pod is already assigned to a node"));
        return;
    }
    set_text(f, spec, "nodeName", doc_get_text(doc_get(&d, "target"), "name"));
    stamp(f, have);
    told(f, q, "MODIFIED", have);
    respond(f, x, 201, &d);
}

static bool discover(struct fake_api *f, struct net_exchange *x)
{
    bool core = str_is(x->path, "/api");
    const struct doc *d = &f->discovery[!core];
    if (!core && !str_is(x->path, "/apis"))
        return false;
    respond(f, x, d->type == DOC_MAP ? 200 : 404, d);
    return true;
}

static void handle(void *ctx, struct net_exchange *x)
{
    struct fake_api *f = ctx;
    struct asked q;
    if (discover(f, x))
        return;
    read_path(x, &q);
    struct doc *have = find(list_of(f, &f->objects, q.resource), q.namespace, q.name);
    if (q.watch)
        watch(f, x, q.resource);
    else if (str_is(q.resource, "events"))
        event(f, x);
    else if (f->stores && str_is(q.sub, "binding"))
        bind_pod(f, x, &q, have);
    else if (str_is(x->method, "POST"))
        create(f, x, &q);
    else if (str_is(x->method, "GET"))
        get(f, x, &q, have);
    else if (str_is(x->method, "PUT"))
        update(f, x, &q, have);
    else if (str_is(x->method, "PATCH"))
        patch(f, x, &q, have);
    else
        drop(f, x, &q, have);
}

/* ---- the test's side ---- */

void fake_api_open(struct fake_api *f, struct arena *a)
{
    static const struct net_server_opts opts;
    static const struct net_inner_opts who = {STR("controller"), NULL, 0};
    *f = (struct fake_api){.loop = net_loop_new(NULL),
                           .a = a,
                           .objects = doc_make_map(),
                           .known = doc_make_map(),
                           .actions = doc_make_list(),
                           .failures = doc_make_list(),
                           .untold = doc_make_list(),
                           .events = doc_make_list()};
    f->server = net_server_new(f->loop, &opts, handle, f, NULL);
    f->client = client_new_inner(f->loop, net_inner_new(f->server, &who));
}

void fake_api_close(struct fake_api *f)
{
    client_free(f->client);
    fake_api_settle(f);
    net_server_free(f->server);
    net_loop_free(f->loop);
}

void fake_api_put(struct fake_api *f, const char *resource, const struct doc *object,
                  bool known)
{
    put(f, &f->objects, str_from(resource), object);
    if (!known)
        return;
    put(f, &f->known, str_from(resource), object);
    fake_api_tell(f, "ADDED", resource, object);
}

void fake_api_tell(struct fake_api *f, const char *type, const char *resource,
                   const struct doc *object)
{
    for (uint32_t i = 0; i < f->nstreams; i++)
        if (f->streams[i].x && str_is(f->streams[i].resource, resource))
            say(f, f->streams[i].x, type, object);
}

static void tell_untold(struct fake_api *f, const struct doc *e, const char *lost)
{
    const char *type = arena_str(f->a, doc_get_text(e, "type")).p,
               *resource = arena_str(f->a, doc_get_text(e, "resource")).p;
    const struct doc *object = doc_get(e, "object");
    make_known(f, str_from(resource), type, object);
    if (strcmp(type, lost) != 0)
        fake_api_tell(f, type, resource, object);
}

void fake_api_tell_late(struct fake_api *f, const char *lost)
{
    struct doc events = f->untold;
    f->untold = doc_make_list();
    for (uint32_t i = 0; i < events.n; i++)
        tell_untold(f, &events.items[i], lost);
}

void fake_api_catch_up(struct fake_api *f)
{
    f->known = doc_dup(f->a, &f->objects);
    f->untold = doc_make_list();
}

void fake_api_write(struct fake_api *f, const char *resource, const struct doc *object)
{
    struct asked q = {.resource = str_from(resource)};
    bool is_new = !fake_api_find(f, resource, object);
    struct doc d = doc_dup(f->a, object);
    stamp(f, &d);
    put(f, &f->objects, q.resource, &d);
    told(f, &q, is_new ? "ADDED" : "MODIFIED", &d);
}

void fake_api_remove(struct fake_api *f, const char *resource, const struct doc *like)
{
    struct asked q = {.resource = str_from(resource)};
    struct doc *have = (struct doc *)fake_api_find(f, resource, like);
    if (have)
        remove_one(f, &q, have);
}

void fake_api_tell_some(struct fake_api *f, uint32_t n)
{
    uint32_t i = 0;
    for (; i < n && i < f->untold.n; i++)
        tell_untold(f, &f->untold.items[i], "");
    f->untold.n -= i;
    if (f->untold.n)
        memmove(f->untold.items, f->untold.items + i,
                f->untold.n * sizeof *f->untold.items);
}

void fake_api_settle(struct fake_api *f)
{
    for (int i = 0; i < 20; i++)
        net_loop_run_once(f->loop, false);
}
