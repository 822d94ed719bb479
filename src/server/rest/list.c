/* SPDX-License-Identifier: Apache-2.0 */
/* One object, and lists of them: what is there now, or what was at a revision. */
#include <stdlib.h>

#include "api/proto.h"
#include "server/custom/custom.h"
#include "server/rest/awaiting.h"
#include "server/rest/continue.h"
#include "server/rest/scale.h"

/* ---- what is asked for ---- */

bool request_revision(struct request *r, uint64_t *out)
{
    struct str s = query_get(&r->query, "resourceVersion");
    *out = 0;
    if (s.n == 0)
        return true;
    for (size_t i = 0; i < s.n && i < 20; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return fail_bad(r,
                            "invalid resource version: resourceVersion: Invalid value: "
                            "\"%.*s\": strconv.ParseUint: parsing \"%.*s\": invalid "
                            "syntax",
                            STR_ARG(s), STR_ARG(s));
    *out = strtoull(arena_str(r->a, s).p, NULL, 10);
    return true;
}

struct str request_prefix(const struct request *r)
{
    if (!r->route.namespace.p)
        return r->res->prefix;
    return arena_printf(r->a, "%.*s%.*s/", STR_ARG(r->res->prefix),
                        STR_ARG(r->route.namespace));
}

static bool fail_too_large(struct request *r, uint64_t asked)
{
    fail(r, 504, "Timeout", "Timeout: Too large resource version: %llu, current: %llu",
         (unsigned long long)asked, (unsigned long long)cache_revision(r->s->cache));
    r->failure.retry_seconds = 1;
    fail_cause(r, "ResourceVersionTooLarge", STR("Too large resource version"), STR_NONE);
    return false;
}

static bool fail_expired(struct request *r, const char *text)
{
    return fail(r, 410, "Expired", "%s", text);
}

/* ---- one ---- */

static void answer_scale(struct request *r, struct cache_object *o)
{
    struct doc d = object_doc(o, r->a);
    if (!object_convert(r, r->res, &d, r->a) || !scale_shows(r, &d)) {
        request_answer_failure(r);
        return;
    }
    struct doc scale = scale_of(r, &d);
    request_answer(r, 200, &scale);
}

/* Once more, when whoever converts it has answered; else the request has failed. */
static void fail_or_wait(struct request *r, void (*again)(void *ctx))
{
    if (!awaiting_begin(r, again, r))
        request_answer_failure(r);
}

static void get_again(void *ctx)
{
    read_get(ctx);
}

void read_get(struct request *r)
{
    struct str key = object_key(r->res, r->route.namespace, r->route.name, r->a);
    struct cache_object *o = cache_get(r->s->cache, key);
    uint64_t revision;
    bool ok = request_revision(r, &revision);
    if (!ok)
        r->failure.code = 500, r->failure.reason = NULL;
    ok = ok && (revision <= cache_revision(r->s->cache) || fail_too_large(r, revision));
    ok =
        ok && (o || fail_missing(r, r->route.name)) && custom_ready(r, &o, 1, CUSTOM_GET);
    if (ok && is_scale(r->res))
        answer_scale(r, o);
    else if (ok)
        request_answer_object(r, 200, o);
    else
        fail_or_wait(r, get_again);
}

/* ---- selection ---- */

static bool field_known(const struct resource *res, struct str key)
{
    if (str_is(key, "metadata.name"))
        return true;
    /* Upstream takes the namespace of cluster-scoped kinds only where it has no labels of
     * the kind's own. */
    if (str_is(key, "metadata.namespace"))
        return res->main->namespaced || !res->labels->group;
    for (const struct field_label *l = res->labels->labels; l->path; l++)
        if (l->absent && str_is(key, l->path))
            return true;
    return false;
}

static bool fail_field(struct request *r, struct str key)
{
    const struct api_kind *k = r->res->main;
    switch (r->res->labels->refusal) {
    case REFUSE_CORE:
        return fail_bad(r, "field label not supported: %.*s", STR_ARG(key));
    case REFUSE_QUOTED:
        return fail_bad(r, "field label \"%.*s\" not supported for %s", STR_ARG(key),
                        k->name);
    case REFUSE_KIND:
        return fail_bad(r, "field label not supported for %.*s, Kind=%s: %.*s",
                        STR_ARG(r->res->api_version), k->name, STR_ARG(key));
    case REFUSE_KNOWN_ONLY:
        break;
    }
    return fail_bad(r,
                    "\"%.*s\" is not a known field selector: only \"metadata.name\", "
                    "\"metadata.namespace\"",
                    STR_ARG(key));
}

static struct str stored_field(const struct resource *res, struct str key)
{
    for (const struct field_label *l = res->labels->labels; l->path; l++)
        if (l->stored && str_is(key, l->path))
            return str_from(l->stored);
    return key;
}

bool selection_read(struct request *r, struct selection *out)
{
    struct str why;
    out->custom = r->res->custom;
    struct str labels = query_get(&r->query, "labelSelector"),
               fields = query_get(&r->query, "fieldSelector");
    if (!selector_parse_labels(labels, r->a, &out->labels, &why) ||
        !selector_parse_fields(fields, r->a, &out->fields, &why))
        return fail_bad(r, "%.*s", STR_ARG(why));
    for (uint32_t i = 0; i < out->fields.n; i++) {
        struct requirement *q = (struct requirement *)&out->fields.all[i];
        if (!field_known(r->res, q->key))
            return fail_field(r, q->key);
        q->key = stored_field(r->res, q->key);
    }
    return true;
}

static struct str field_value(const struct cache_object *o, struct str key)
{
    if (str_is(key, "metadata.name"))
        return o->name;
    if (str_is(key, "metadata.namespace"))
        return o->namespace;
    return cache_pair_find(o->fields, o->nfields, key);
}

bool selection_matches(const struct selection *s, const struct cache_object *o)
{
    if (s->custom && s->fields.n)
        return custom_matches(s, o);
    for (uint32_t i = 0; i < s->fields.n; i++)
        if (!requirement_holds(&s->fields.all[i], field_value(o, s->fields.all[i].key)))
            return false;
    return selector_matches_labels(&s->labels, o);
}

/* ---- lists ---- */

struct listing {
    struct request *r;
    struct str prefix, after; /* whole keys; after: STR_NONE at the start */
    struct selection selection;
    uint64_t revision;                  /* that is listed */
    uint64_t limit;                     /* 0: none */
    VEC(struct cache_object *) objects; /* borrowed, or of `past` */
    bool more;
    uint64_t left;      /* how many more, when that is known (without selectors) */
    struct strmap past; /* key to object as of the revision (NULL: absent); references */
};

static bool take(void *ctx, struct cache_object *o)
{
    struct listing *l = ctx;
    if (!selection_matches(&l->selection, o))
        return true;
    if (l->limit && l->objects.n == l->limit) {
        l->more = true;
        return false;
    }
    vec_push(&l->objects, o);
    return true;
}

static void list_now(struct listing *l)
{
    struct cache *c = l->r->s->cache;
    cache_each(c, l->prefix, l->after, take, l);
    if (l->more)
        l->left = cache_count(c, l->prefix, l->objects.v[l->objects.n - 1]->key);
}

/* Goes through all events that are remembered: the last one up to the revision says what
 * a key was, and where there is none, the first one after it. */
static void note_past(void *ctx, const struct cache_event *e)
{
    struct listing *l = ctx;
    bool made;
    if (e->kind == CACHE_BOOKMARK)
        return;
    struct strmap_entry *m = strmap_put(&l->past, e->object->key, &made);
    bool before = e->revision <= l->revision;
    if (!made && !before)
        return;
    if (made) /* the key must outlive the event */
        m->key = arena_str(l->r->a, e->object->key);
    struct cache_object *was = before ? e->object : e->previous;
    if (before && e->kind == CACHE_DELETED)
        was = NULL;
    cache_object_unref(m->value.ptr);
    m->value.ptr = was ? cache_object_ref(was) : NULL;
}

static bool take_unchanged(void *ctx, struct cache_object *o)
{
    struct listing *l = ctx;
    if (!strmap_find(&l->past, o->key) && selection_matches(&l->selection, o))
        vec_push(&l->objects, o);
    return true;
}

static int by_key(const void *x, const void *y)
{
    return str_cmp((*(struct cache_object *const *)x)->key,
                   (*(struct cache_object *const *)y)->key);
}

static void add_past(struct listing *l)
{
    strmap_each(&l->past, m)
    {
        struct cache_object *o = m->value.ptr;
        if (o && (!l->after.p || str_cmp(o->key, l->after) > 0) &&
            selection_matches(&l->selection, o))
            vec_push(&l->objects, o);
    }
    if (l->objects.n)
        qsort(l->objects.v, l->objects.n, sizeof *l->objects.v, by_key);
    if (l->limit && l->objects.n > l->limit) {
        l->more = true;
        l->left = l->objects.n - l->limit;
        l->objects.n = l->limit;
    }
}

/* As of a revision before now: false when that is not known anymore. */
static bool list_past(struct listing *l)
{
    struct cache *c = l->r->s->cache;
    uint64_t oldest = cache_oldest(c, l->prefix);
    if (l->revision < oldest)
        return false;
    struct cache_watch *w = cache_watch(c, l->prefix, oldest, note_past, l);
    if (!w)
        return false;
    cache_unwatch(w);
    cache_each(c, l->prefix, l->after, take_unchanged, l);
    add_past(l);
    return true;
}

static bool fail_options(struct request *r, const char *field, const char *text)
{
    fail(r, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: %s: Forbidden: %s",
         field, text);
    fail_cause(r, "FieldValueForbidden", arena_printf(r->a, "Forbidden: %s", text),
               str_from(field));
    r->failure.group = STR("meta.k8s.io");
    r->failure.kind = STR("ListOptions");
    return false;
}

static bool fail_match(struct request *r, struct str match)
{
    fail(r, 422, "Invalid",
         "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported "
         "value: \"%.*s\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
         STR_ARG(match));
    fail_cause(r, "FieldValueNotSupported",
               arena_printf(r->a,
                            "Unsupported value: \"%.*s\": supported values: \"Exact\", "
                            "\"NotOlderThan\", \"\"",
                            STR_ARG(match)),
               STR("resourceVersionMatch"));
    r->failure.group = STR("meta.k8s.io");
    r->failure.kind = STR("ListOptions");
    return false;
}

static bool check_match(struct request *r, struct str match, bool has_revision, bool zero,
                        bool goes_on)
{
    if (query_get(&r->query, "sendInitialEvents").p)
        return fail_options(r, "sendInitialEvents",
                            "sendInitialEvents is forbidden for list");
    if (match.n == 0)
        return true;
    if (goes_on)
        return fail_options(
            r, "resourceVersionMatch",
            "resourceVersionMatch is forbidden when continue is provided");
    if (!has_revision)
        return fail_options(
            r, "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!str_is(match, "Exact") && !str_is(match, "NotOlderThan"))
        return fail_match(r, match);
    if (str_is(match, "Exact") && zero)
        return fail_options(
            r, "resourceVersionMatch",
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    return true;
}

static bool read_continue(struct listing *l, struct str token)
{
    struct continue_token t;
    if (!continue_parse(token, l->r->a, &t))
        return fail_bad(l->r, "continue key is not valid: illegal base64 data");
    l->after =
        arena_printf(l->r->a, "%.*s%.*s", STR_ARG(l->r->res->prefix), STR_ARG(t.after));
    if (t.revision)
        l->revision = t.revision;
    return str_starts(l->after, l->prefix) ||
           fail_bad(l->r, "continue key is not valid: it is of another list");
}

static bool read_listing(struct listing *l)
{
    struct request *r = l->r;
    struct str match = query_get(&r->query, "resourceVersionMatch"),
               token = query_get(&r->query, "continue"),
               limit = query_get(&r->query, "limit");
    uint64_t asked, now = cache_revision(r->s->cache);
    bool has = query_get(&r->query, "resourceVersion").n > 0;
    if (!request_revision(r, &asked) ||
        !check_match(r, match, has, asked == 0, token.n > 0) ||
        !selection_read(r, &l->selection))
        return false;
    l->limit = limit.n ? strtoull(arena_str(r->a, limit).p, NULL, 10) : 0;
    l->prefix = request_prefix(r);
    l->revision = now;
    if (token.n && asked)
        return fail_bad(r, "specifying resource version is not allowed when using "
                           "continue");
    if (token.n)
        return read_continue(l, token);
    if (asked > now)
        return fail_too_large(r, asked);
    if (str_is(match, "Exact") || (asked && l->limit && match.n == 0))
        l->revision = asked;
    return true;
}

static bool collect(struct listing *l)
{
    if (l->revision >= cache_revision(l->r->s->cache)) {
        list_now(l);
        return true;
    }
    if (list_past(l))
        return true;
    if (!l->after.p)
        return fail_expired(l->r,
                            "The resourceVersion for the provided list is too old.");
    return fail_expired(l->r,
                        "The provided continue parameter is too old to display a "
                        "consistent list result. You must start a new list without the "
                        "continue parameter.");
}

static struct str next_token(struct listing *l)
{
    struct str last = l->objects.v[l->objects.n - 1]->key;
    struct continue_token t = {l->revision, str_sub(last, l->r->res->prefix.n, SIZE_MAX)};
    return continue_print(&t, l->r->a);
}

void list_note_end(struct request *r, struct doc *meta)
{
    if (r->res->custom && r->accept.as == AS_OBJECT)
        doc_set_text(r->a, meta, "continue", STR(""));
}

static struct doc list_meta(struct listing *l)
{
    struct arena *a = l->r->a;
    struct doc m = doc_make_map();
    doc_set(a, &m, "resourceVersion",
            doc_make_string(a, arena_printf(a, "%llu", (unsigned long long)l->revision)));
    if (!l->more) {
        list_note_end(l->r, &m);
        return m;
    }
    doc_set(a, &m, "continue", doc_make_string(a, next_token(l)));
    if (l->left && l->selection.labels.n == 0 && l->selection.fields.n == 0)
        doc_set(a, &m, "remainingItemCount", doc_make_int(a, (int64_t)l->left));
    return m;
}

/* The objects' own bytes, one after another, as long as they are being sent. */
struct plain_list {
    struct strbuf head;
    struct str *parts;
    struct cache_object **objects; /* references */
    size_t n;
};

static void drop_plain(void *ctx)
{
    struct plain_list *p = ctx;
    for (size_t i = 0; i < p->n; i++)
        cache_object_unref(p->objects[i]);
    strbuf_release(&p->head);
    free(p->objects);
    free(p->parts);
    free(p);
}

static void write_head(struct listing *l, struct strbuf *b)
{
    struct doc meta = list_meta(l);
    bool bare = !l->r->res->custom; /* items do not say their kind */
    strbuf_addf(b, "{\"kind\":\"%s\",\"apiVersion\":\"%.*s\",\"metadata\":",
                kinds_list_kind(l->r->res->main, l->r->a),
                STR_ARG(l->r->res->api_version));
    doc_write_json(&meta, DOC_JSON_COMPACT, b);
    strbuf_adds(b, l->objects.n == 0 ? ",\"items\":[]}\n"
                   : bare            ? ",\"items\":[{"
                                     : ",\"items\":[");
}

static void answer_plain(struct listing *l)
{
    struct plain_list *p = mem_zalloc(sizeof *p);
    bool bare = !l->r->res->custom;
    uint32_t n = 0;
    p->n = l->objects.n;
    p->parts = mem_array(2 * p->n + 1, sizeof *p->parts);
    p->objects = mem_array(p->n, sizeof *p->objects);
    write_head(l, &p->head);
    p->parts[n++] = strbuf_str(&p->head);
    for (size_t i = 0; i < p->n; i++) {
        p->objects[i] = cache_object_ref(l->objects.v[i]);
        p->parts[n++] =
            bare ? object_item(l->r->res, p->objects[i]) : p->objects[i]->json;
        p->parts[n++] = i + 1 == p->n ? STR("]}\n") : bare ? STR(",{") : STR(",");
    }
    struct net_parts body = {p->parts, n, drop_plain, p};
    request_answer_parts(l->r, 200, media_type(MEDIA_JSON), &body);
}

/* ---- lists whose items are made, one after another ---- */

struct made_list {
    struct listing *l;
    struct doc head;      /* the list without its items */
    struct arena scratch; /* of one item */
    struct strbuf out;
    struct api_proto_list proto;
};

static struct doc list_head(struct listing *l)
{
    struct request *r = l->r;
    struct arena *a = r->a;
    struct doc d = doc_make_map();
    bool metadata = r->accept.as == AS_METADATA_LIST;
    struct str kind = str_from(kinds_list_kind(r->res->main, a)),
               version = r->res->api_version;
    if (metadata) {
        kind = STR("PartialObjectMetadataList");
        version = arena_printf(a, "meta.k8s.io/%s", r->accept.as_version);
    }
    doc_set(a, &d, "kind", doc_make_string(a, kind));
    doc_set(a, &d, "apiVersion", doc_make_string(a, version));
    doc_set(a, &d, "metadata", list_meta(l));
    return d;
}

/* In the scratch arena. */
static struct doc make_item(struct made_list *m, const struct cache_object *o)
{
    struct request *r = m->l->r, item = *r;
    struct doc d = object_doc(o, &m->scratch);
    object_convert(NULL, r->res, &d, &m->scratch);
    item.a = &m->scratch;
    item.accept.as = AS_METADATA;
    if (r->accept.as == AS_METADATA_LIST) {
        request_shape(&item, &d);
    } else if (!r->res->custom) {
        doc_remove(&d, STR("kind"));
        doc_remove(&d, STR("apiVersion"));
    }
    return d;
}

static bool print_proto(struct made_list *m)
{
    struct listing *l = m->l;
    bool ok = api_proto_list_begin(&m->proto, &m->head, l->r->a, &m->out, NULL);
    for (size_t i = 0; ok && i < l->objects.n; i++) {
        struct doc d = make_item(m, l->objects.v[i]);
        ok = api_proto_list_add(&m->proto, &d, &m->scratch, NULL);
        arena_reset(&m->scratch);
    }
    if (ok)
        api_proto_list_end(&m->proto);
    return ok;
}

static void print_json(struct made_list *m)
{
    struct listing *l = m->l;
    strbuf_clear(&m->out);
    doc_write_json(&m->head, DOC_JSON_COMPACT, &m->out);
    m->out.n--; /* its last brace */
    if (l->objects.n == 0 && l->r->accept.as == AS_METADATA_LIST) {
        strbuf_adds(&m->out, ",\"items\":null}\n"); /* as upstream has it */
        return;
    }
    strbuf_adds(&m->out, ",\"items\":[");
    for (size_t i = 0; i < l->objects.n; i++) {
        struct doc d = make_item(m, l->objects.v[i]);
        strbuf_adds(&m->out, i ? "," : "");
        doc_write_json(&d, DOC_JSON_COMPACT, &m->out);
        arena_reset(&m->scratch);
    }
    strbuf_adds(&m->out, "]}\n");
}

static void answer_items(struct listing *l)
{
    struct made_list m = {.l = l, .head = list_head(l)};
    enum media media = l->r->accept.media;
    if (media == MEDIA_PROTO && !print_proto(&m))
        media = MEDIA_JSON;
    if (media == MEDIA_JSON)
        print_json(&m);
    request_answer_bytes(l->r, 200, media_type(media), &m.out);
    strbuf_release(&m.out);
    arena_fini(&m.scratch);
}

/* Tables and YAML, of all items at once. */
static void answer_made(struct listing *l)
{
    struct request *r = l->r;
    struct arena *a = r->a;
    struct doc list = doc_make_map(), items = doc_make_list();
    doc_set(a, &list, "kind",
            doc_make_string(a, str_from(kinds_list_kind(r->res->main, a))));
    doc_set(a, &list, "apiVersion", doc_make_string(a, r->res->api_version));
    doc_set(a, &list, "metadata", list_meta(l));
    for (size_t i = 0; i < l->objects.n; i++) {
        struct doc d = object_doc(l->objects.v[i], a);
        object_convert(NULL, r->res, &d, a);
        if (r->accept.as == AS_OBJECT && !r->res->custom) {
            doc_remove(&d, STR("kind"));
            doc_remove(&d, STR("apiVersion"));
        }
        doc_append(a, &items, d);
    }
    doc_set(a, &list, "items", items);
    request_answer(r, 200, &list);
}

/* Whether the objects' own bytes are what is asked for. */
static bool is_plain(const struct listing *l)
{
    for (size_t i = 0; l->r->res->custom && i < l->objects.n; i++)
        if (!custom_fresh(l->r->res, l->objects.v[i]))
            return false;
    return request_plain(l->r);
}

static void list_again(void *ctx)
{
    read_list(ctx);
}

void read_list(struct request *r)
{
    struct listing l = {.r = r};
    if (!read_listing(&l) || !custom_selectable(r, &l.selection, CUSTOM_LIST) ||
        !collect(&l) || !custom_ready(r, l.objects.v, l.objects.n, CUSTOM_LIST))
        fail_or_wait(r, list_again);
    else if (is_plain(&l))
        answer_plain(&l);
    else if (r->accept.media != MEDIA_YAML && !r->pretty &&
             (r->accept.as == AS_OBJECT || r->accept.as == AS_METADATA_LIST))
        answer_items(&l);
    else
        answer_made(&l);
    vec_release(&l.objects);
    strmap_each(&l.past, m) cache_object_unref(m->value.ptr);
    strmap_release(&l.past);
}
