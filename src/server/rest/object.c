/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects between store, cache and documents. A stored object is its JSON in the hub
 * version, in the order of Go, and begins with resource.head. Its revision is known only
 * once it is stored, and put in by copying, behind its uid.
 */
#include <stdio.h>

#include "api/convert.h"
#include "api/order.h"
#include "doc/json_scan.h"
#include "server/custom/custom.h"
#include "server/service/claims.h"

static const struct str METADATA = {"\"metadata\":{", 12};

static void write_member(struct strbuf *out, struct str key, const struct doc *value)
{
    struct doc text = {.type = DOC_STRING, .n = (uint32_t)key.n, .s = key.p};
    doc_write_json(&text, DOC_JSON_COMPACT, out);
    strbuf_addc(out, ':');
    doc_write_json(value, DOC_JSON_COMPACT, out);
}

static void write_meta(struct strbuf *out, const struct doc *meta)
{
    bool first = true;
    for (uint32_t i = 0; meta && i < meta->n; i++) {
        const struct doc_member *m = &meta->members[i];
        if (str_is(doc_key(m), "resourceVersion"))
            continue;
        if (!first)
            strbuf_addc(out, ',');
        first = false;
        write_member(out, doc_key(m), &m->value);
    }
}

static void print_object(const struct doc *d, struct strbuf *out)
{
    strbuf_adds(out, "{");
    write_member(out, STR("kind"), doc_get(d, "kind"));
    strbuf_addc(out, ',');
    write_member(out, STR("apiVersion"), doc_get(d, "apiVersion"));
    strbuf_addc(out, ',');
    strbuf_addstr(out, METADATA);
    write_meta(out, doc_get(d, "metadata"));
    strbuf_addc(out, '}');
    for (uint32_t i = 0; i < d->n; i++) {
        const struct doc_member *m = &d->members[i];
        struct str key = doc_key(m);
        if (str_is(key, "kind") || str_is(key, "apiVersion") || str_is(key, "metadata"))
            continue;
        strbuf_addc(out, ',');
        write_member(out, key, &m->value);
    }
    strbuf_addc(out, '}');
}

void object_encode(const struct doc *d, struct strbuf *out)
{
    struct arena a = {0};
    struct doc ordered = doc_dup(&a, d);
    api_order_object(&ordered, &a);
    print_object(&ordered, out);
    arena_fini(&a);
}

/* ---- the cache's view ---- */

/* Skips what stands at the place; false: something else does. */
static bool skip(struct str s, size_t *at, struct str text)
{
    if (!str_starts(str_sub(s, *at, SIZE_MAX), text))
        return false;
    *at += text.n;
    return true;
}

/* Bytes up to the first member of the metadata: {"kind":"Foo","apiVersion":"g/v",
 * "metadata":{. 0: it begins otherwise. Which definition is behind a custom resource is
 * not asked: it may be yet to come. */
static size_t head_of(struct str json)
{
    static const struct str PARTS[] = {STR("{\"kind\":\""), STR("\",\"apiVersion\":\""),
                                       STR("\",\"metadata\":{")};
    size_t at = 0;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (i > 0)
            at = str_find_byte(json, '"', at);
        if (at == SIZE_MAX || !skip(json, &at, PARTS[i]))
            return 0;
    }
    return at;
}

/* Of what is stored in one version alone the length is known. 0: it is none of res. */
static size_t head_length(const struct resource *res, struct str json)
{
    if (!res || res->custom)
        return head_of(json);
    return str_starts(json, res->head) ? res->head.n : 0;
}

static char *put(char *at, struct str s)
{
    return (char *)memcpy(at, s.p, s.n) + s.n;
}

/* Where the metadata's revision belongs, behind its uid: only plain names stand before
 * that. Where it is not so, first. */
static size_t revision_place(struct str json, size_t head)
{
    static const struct str NAME = STR("\"name\":\""), UID = STR("\"uid\":\"");
    struct str rest = str_sub(json, head, SIZE_MAX);
    size_t uid = str_starts(rest, NAME) ? str_find(rest, UID) : SIZE_MAX;
    size_t end = uid == SIZE_MAX ? uid : str_find_byte(rest, '"', uid + UID.n);
    bool more = end < rest.n - 1 && rest.p[end + 1] == ',';
    return more ? head + end + 2 : head;
}

/* Behind it stands a newline, which ends an answer (object_line). */
static struct str with_revision(struct str before, struct str after, uint64_t revision,
                                struct arena *a)
{
    char middle[64];
    int n = snprintf(middle, sizeof middle, "\"resourceVersion\":\"%llu\",",
                     (unsigned long long)revision);
    size_t size = before.n + (size_t)n + after.n;
    char *p = arena_alloc(a, size + 1);
    char *end = put(put(put(p, before), (struct str){middle, (size_t)n}), after);
    *end = '\n';
    return (struct str){p, size};
}

/* What is looked for in an object. */
enum { NAME, NAMESPACE, LABELS, COMPONENT, REPORTER, FIXED_WANTS };
static const struct str FIXED_PATHS[FIXED_WANTS] = {
    STR("metadata.name"), STR("metadata.namespace"), STR("metadata.labels"),
    STR("source.component"), STR("reportingComponent")};
enum { FIELDS = sizeof((struct field_labels *)0)->labels / sizeof(struct field_label) };

struct found {
    struct json_want wants[FIXED_WANTS + FIELDS];
    uint32_t n;
};

/* Copied to the object; texts with escapes are read in scratch. */
static struct str raw_text(struct str raw, struct cache_object *o, struct arena *scratch)
{
    struct str s = STR_NONE;
    json_raw_string(raw, scratch, &s);
    return arena_str(&o->arena, s);
}

static void fill_labels(struct cache_object *o, struct str raw, struct arena *scratch)
{
    struct str at = raw, key, value;
    uint32_t n = 0;
    while (json_raw_member(&at, &key, &value))
        n++;
    if (n == 0)
        return;
    struct cache_pair *pairs = ARENA_ARRAY(&o->arena, struct cache_pair, n);
    at = raw;
    for (uint32_t i = 0; i < n && json_raw_member(&at, &key, &value); i++)
        pairs[i] =
            (struct cache_pair){raw_text(key, o, scratch), raw_text(value, o, scratch)};
    o->labels = pairs;
    o->nlabels = n;
}

static struct str path_of(const struct field_label *l)
{
    return strcmp(l->path, "status.successful") == 0 ? STR("status.succeeded")
                                                     : str_from(l->path);
}

/* Who reported an event: by one name or the other. */
static struct str event_source(const struct found *f, struct cache_object *o,
                               struct arena *scratch)
{
    struct str s = raw_text(f->wants[COMPONENT].raw, o, scratch);
    return s.n ? s : raw_text(f->wants[REPORTER].raw, o, scratch);
}

static struct str field_text(const struct found *f, uint32_t i,
                             const struct field_label *l, struct cache_object *o,
                             struct arena *scratch)
{
    struct str raw = f->wants[FIXED_WANTS + i].raw;
    char first = raw.n ? raw.p[0] : 'n';
    if (strcmp(l->path, "source") == 0)
        return event_source(f, o, scratch);
    if (first == '"')
        return raw_text(raw, o, scratch);
    bool none = first == 'n' || first == '{' || first == '[';
    return none ? str_from(l->absent) : arena_str(&o->arena, raw);
}

static void fill_fields(const struct resource *res, struct cache_object *o,
                        const struct found *f, struct arena *scratch)
{
    const struct field_label *l = res->labels->labels;
    struct cache_pair pairs[FIELDS];
    uint32_t n = 0;
    for (uint32_t i = 0; l[i].path; i++)
        if (l[i].absent)
            pairs[n++] = (struct cache_pair){str_from(l[i].path),
                                             field_text(f, i, &l[i], o, scratch)};
    if (n == 0)
        return;
    struct cache_pair *kept = ARENA_ARRAY(&o->arena, struct cache_pair, n);
    memcpy(kept, pairs, n * sizeof *kept);
    o->fields = kept;
    o->nfields = n;
}

/* Those of a custom resource are looked up when they are asked for: its definition may
 * change, or be yet to come. */
static bool has_fields(const struct resource *res)
{
    return res && !res->custom;
}

/* Finds it in value, or, where that is unusual, in a copy that is written anew. */
static bool look(const struct resource *res, struct str value, struct found *f,
                 struct arena *scratch)
{
    struct doc_source src = {.name = "store", .text = value};
    struct strbuf b = STRBUF_INIT;
    struct doc d;
    const struct field_label *l = has_fields(res) ? res->labels->labels : NULL;
    for (f->n = 0; f->n < FIXED_WANTS; f->n++)
        f->wants[f->n].path = FIXED_PATHS[f->n];
    for (; l && l->path; l++)
        f->wants[f->n++].path = path_of(l);
    if (json_scan(value, f->wants, f->n))
        return true;
    if (!doc_read_json(&src, scratch, &d, NULL))
        return false;
    doc_write_json(&d, DOC_JSON_COMPACT, &b);
    struct str anew = arena_str(scratch, strbuf_str(&b));
    strbuf_release(&b);
    return json_scan(anew, f->wants, f->n);
}

/* What is no object of the API: claims of ports. */
static bool decode_claim(struct str value, struct cache_object *o)
{
    o->json = arena_str(&o->arena, value);
    o->namespace = o->name = STR("");
    return true;
}

bool object_decode(void *server, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o)
{
    struct server *s = server;
    if (str_starts(key, STR(CLAIMS_RANGES)))
        return decode_claim(value, o);
    const struct resource *res = kinds_of_key(s, key);
    struct found f;
    size_t head = head_length(res, value);
    bool ok = head && look(res, value, &f, &s->scratch);
    if (ok) {
        o->namespace = raw_text(f.wants[NAMESPACE].raw, o, &s->scratch);
        o->name = raw_text(f.wants[NAME].raw, o, &s->scratch);
        size_t at = revision_place(value, head);
        o->json = with_revision(str_sub(value, 0, at), str_sub(value, at, SIZE_MAX),
                                revision, &o->arena);
        fill_labels(o, f.wants[LABELS].raw, &s->scratch);
        if (has_fields(res))
            fill_fields(res, o, &f, &s->scratch);
    }
    arena_reset(&s->scratch);
    return ok;
}

struct str object_line(const struct cache_object *o)
{
    return (struct str){o->json.p, o->json.n + 1};
}

struct str object_item(const struct resource *res, const struct cache_object *o)
{
    return str_sub(o->json, res->head.n - METADATA.n, SIZE_MAX);
}

struct str object_json_at(const struct resource *res, const struct cache_object *o,
                          uint64_t revision, struct arena *a)
{
    size_t at = revision_place(o->json, head_length(res, o->json));
    size_t end = str_find_byte(o->json, ',', at);
    return with_revision(str_sub(o->json, 0, at), str_sub(o->json, end + 1, SIZE_MAX),
                         revision, a);
}

/* ---- documents ---- */

struct doc object_doc(const struct cache_object *o, struct arena *a)
{
    struct doc_source src = {.name = "store", .text = o->json};
    struct doc d = doc_make_map();
    doc_read_json(&src, a, &d, NULL);
    return doc_dup(a, &d);
}

bool object_convert(struct request *r, const struct resource *res, struct doc *d,
                    struct arena *a)
{
    if (res->custom)
        return custom_convert(r, res, d, a);
    if (res->main == res->hub)
        return true;
    api_convert(res->hub, res->main, d, a);
    doc_set(a, d, "apiVersion", doc_make_string(a, res->api_version));
    return true;
}

struct str object_key(const struct resource *res, struct str namespace, struct str name,
                      struct arena *a)
{
    if (!res->main->namespaced)
        return arena_printf(a, "%.*s%.*s", STR_ARG(res->prefix), STR_ARG(name));
    return arena_printf(a, "%.*s%.*s/%.*s", STR_ARG(res->prefix), STR_ARG(namespace),
                        STR_ARG(name));
}

struct doc *object_meta(struct doc *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (str_is(doc_key(&d->members[i]), "metadata") &&
            d->members[i].value.type == DOC_MAP)
            return &d->members[i].value;
    return NULL;
}

struct str meta_text(const struct doc *d, const char *member)
{
    return doc_get_text(doc_get(d, "metadata"), member);
}
