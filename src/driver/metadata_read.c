/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of objects, the newest version first: a reader takes the first that it knows
 * and does not look at what follows (spec 5.10 rule 9).
 */
#include "driver/metadata_inner.h"

/* Behind the bracket that closes the object which starts at from; 0: it does not end. */
static size_t object_end(struct str s, size_t from)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = from; i < s.n; i++) {
        char c = s.p[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']') && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* ---- one object ---- */

static bool wrong(const struct doc *d, const char *key, const char *want, struct err *e)
{
    return err_set(e, ERR_INVALID, "%s is a %s, must be a %s", key, doc_type_name(d),
                   want);
}

/* Absent and null are empty. */
static bool read_text(const struct doc *d, const char *key, struct str *out,
                      struct err *e)
{
    const struct doc *v = doc_get(d, key);
    if (v && v->type != DOC_NULL && v->type != DOC_STRING)
        return wrong(v, key, "string", e);
    *out = v && v->type == DOC_STRING ? doc_str(v) : STR_NONE;
    return true;
}

/* Of that type, or *out is NULL. */
static bool read_part(const struct doc *d, const char *key, enum doc_type type,
                      const struct doc **out, struct err *e)
{
    const struct doc *v = doc_get(d, key);
    if (v && v->type == DOC_NULL)
        v = NULL;
    if (v && v->type != type)
        return wrong(v, key, type == DOC_MAP ? "map" : "list", e);
    *out = v;
    return true;
}

static bool read_device(const struct doc *d, struct metadata_device *out, struct err *e)
{
    return (d->type == DOC_MAP || wrong(d, "devices[]", "map", e)) &&
           read_text(d, "driver", &out->driver, e) &&
           read_text(d, "pool", &out->pool, e) && read_text(d, "name", &out->name, e) &&
           read_part(d, "attributes", DOC_MAP, &out->attributes, e) &&
           read_part(d, "networkData", DOC_MAP, &out->network, e);
}

static bool read_request(const struct doc *d, struct arena *a,
                         struct metadata_request *out, struct err *e)
{
    const struct doc *list = NULL;
    if ((d->type != DOC_MAP && !wrong(d, "requests[]", "map", e)) ||
        !read_text(d, "name", &out->name, e) ||
        !read_part(d, "devices", DOC_LIST, &list, e))
        return false;
    uint32_t n = list ? list->n : 0;
    struct metadata_device *devices = ARENA_ARRAY(a, struct metadata_device, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!read_device(&list->items[i], &devices[i], e))
            return false;
    }
    out->devices = devices;
    out->n = n;
    return true;
}

static bool read_requests(const struct doc *d, struct arena *a, struct metadata *out,
                          struct err *e)
{
    const struct doc *list = NULL;
    if (!read_part(d, "requests", DOC_LIST, &list, e))
        return false;
    uint32_t n = list ? list->n : 0;
    struct metadata_request *requests = ARENA_ARRAY(a, struct metadata_request, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!read_request(&list->items[i], a, &requests[i], e))
            return false;
    }
    out->requests = requests;
    out->n = n;
    return true;
}

static bool read_generation(const struct doc *meta, int64_t *out, struct err *e)
{
    const struct doc *v = doc_get(meta, "generation");
    *out = 0;
    return !v || v->type == DOC_NULL || doc_int64(v, out) ||
           wrong(v, "generation", "whole number", e);
}

static bool read_object(const struct doc *d, struct arena *a, struct metadata *out,
                        struct err *e)
{
    const struct doc *meta = NULL, *pod_claim = doc_get(d, "podClaimName");
    struct metadata m = {0};
    m.has_pod_claim = pod_claim && pod_claim->type != DOC_NULL;
    if (!read_part(d, "metadata", DOC_MAP, &meta, e) ||
        !read_text(meta, "name", &m.name, e) ||
        !read_text(meta, "namespace", &m.namespace, e) ||
        !read_text(meta, "uid", &m.uid, e) || !read_generation(meta, &m.generation, e) ||
        !read_text(d, "podClaimName", &m.pod_claim, e) || !read_requests(d, a, &m, e))
        return false;
    *out = m;
    return true;
}

/* ---- the stream ---- */

static size_t skip_blanks(struct str s, size_t i)
{
    while (i < s.n && strchr(" \t\r\n", s.p[i]) && s.p[i] != '\0')
        i++;
    return i;
}

/* The object that starts at *at, as a document. */
static bool next_object(struct str stream, size_t *at, struct arena *a, struct doc *d,
                        struct err *e)
{
    size_t end = stream.p[*at] == '{' ? object_end(stream, *at) : 0;
    if (end == 0)
        return err_set(e, ERR_INVALID, "byte %zu: %s", *at,
                       stream.p[*at] == '{' ? "the object does not end"
                                            : "no object starts here");
    struct doc_source src = {.name = "metadata", .text = str_sub(stream, *at, end)};
    *at = end;
    return doc_read_json(&src, a, d, e);
}

/* What to do with an object: take it, or go on to the next. */
enum verdict { TAKE, PASS_OVER, REFUSE };

static enum verdict judge(const struct doc *d, struct err *e)
{
    struct str version = doc_get_text(d, "apiVersion"), kind = doc_get_text(d, "kind");
    if (version.n == 0 || kind.n == 0)
        err_set(e, ERR_INVALID, "an object says no %s",
                version.n == 0 ? "apiVersion" : "kind");
    else if (!metadata_version_known(version))
        return PASS_OVER;
    else if (!str_is(kind, METADATA_KIND))
        err_set(e, ERR_INVALID, "kind \"%.*s\" is not " METADATA_KIND, STR_ARG(kind));
    else
        return TAKE;
    return REFUSE;
}

static bool nothing_found(const struct strbuf *unknown, struct err *e)
{
    if (unknown->n == 0)
        return err_set(e, ERR_NOT_FOUND, "no metadata objects found in stream");
    return err_set(e, ERR_NOT_FOUND,
                   "no compatible metadata version found in stream (unknown versions: "
                   "%s)",
                   strbuf_cstr(unknown));
}

static bool read_first(struct str stream, struct arena *a, struct strbuf *unknown,
                       struct metadata *out, struct err *e)
{
    for (size_t at = skip_blanks(stream, 0); at < stream.n;
         at = skip_blanks(stream, at)) {
        struct doc d;
        if (!next_object(stream, &at, a, &d, e))
            return false;
        enum verdict v = judge(&d, e);
        if (v != PASS_OVER)
            return v == TAKE && read_object(&d, a, out, e);
        struct str version = doc_get_text(&d, "apiVersion");
        strbuf_addf(unknown, "%s%.*s", unknown->n ? ", " : "", STR_ARG(version));
    }
    return nothing_found(unknown, e);
}

bool metadata_read(struct str stream, struct arena *a, struct metadata *out,
                   struct err *e)
{
    struct strbuf unknown = STRBUF_INIT;
    bool ok = read_first(stream, a, &unknown, out, e);
    strbuf_release(&unknown);
    return ok;
}
