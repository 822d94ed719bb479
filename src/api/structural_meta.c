/* SPDX-License-Identifier: Apache-2.0 */
/* apiVersion, kind and metadata of resources within objects. */
#include "api/canonical.h"
#include "api/decode.h"
#include "api/structural_inner.h"
#include "base/names.h"

static const struct api_type *meta_type(void)
{
    return api_type_find(STR("meta"), STR("v1"), STR("ObjectMeta"));
}

/* ---- Decoding ---- */

static bool wrong(const struct schema_coerce *c, struct strbuf *at, const char *name,
                  const struct doc *value, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static bool wrong(const struct schema_coerce *c, struct strbuf *at, const char *name,
                  const struct doc *value, const char *fmt, ...)
{
    va_list ap;
    size_t here = schema_path_child(at, str_from(name));
    *c->wrong = (struct api_error){.type = API_ERROR_INVALID,
                                   .path = arena_str(c->a, strbuf_str(at)),
                                   .bad = schema_shown(c->a, value),
                                   .pos = UINT32_MAX};
    va_start(ap, fmt);
    c->wrong->detail = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    schema_path_back(at, here);
    return false;
}

static const char *json_name(const struct doc *d)
{
    static const char *const names[] = {
        [DOC_NULL] = "null",     [DOC_BOOL] = "bool",  [DOC_NUMBER] = "number",
        [DOC_STRING] = "string", [DOC_LIST] = "array", [DOC_MAP] = "object",
    };
    return names[d->type];
}

/* The member of metadata that a path within it belongs to. */
static struct str first_of(struct str path)
{
    size_t n = 0;
    while (n < path.n && path.p[n] != '.' && path.p[n] != '[')
        n++;
    return str_sub(path, 0, n);
}

/* What Go calls the type of a member, or of what is in it. */
static const char *go_type(struct str field, bool whole)
{
    const struct api_field *f = api_field_find(meta_type(), field);
    if (!f || f->form == API_STRUCT)
        return whole && f ? "[]v1.Object" : "v1.Object";
    if (whole && f->container == API_MAP)
        return "map[string]string";
    if (whole && f->container == API_LIST)
        return "[]string";
    return f->form == API_INT64 ? "int64" : "string";
}

static bool bad_metadata(const struct schema_coerce *c, struct strbuf *at,
                         const struct doc *meta, const struct api_issue *issue)
{
    struct str field = first_of(issue->path);
    if (!field.n)
        return wrong(c, at, "metadata", meta,
                     "json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
                     json_name(meta));
    return wrong(c, at, "metadata", meta,
                 "json: cannot unmarshal %s into Go struct field ObjectMeta.%.*s of type "
                 "%s",
                 issue->value ? json_name(issue->value) : "value", STR_ARG(field),
                 go_type(field, field.n == issue->path.n));
}

/* Notes what is unknown, and drops what cannot be decoded, or reports it. */
static bool take_issues(const struct schema_coerce *c, struct doc *meta,
                        const struct api_issues *issues, struct strbuf *at)
{
    for (size_t i = 0; i < issues->list.n; i++) {
        const struct api_issue *issue = &issues->list.v[i];
        if (issue->kind == API_WRONG_TYPE && !c->drop)
            return bad_metadata(c, at, meta, issue);
        if (issue->kind == API_WRONG_TYPE)
            doc_remove(meta, first_of(issue->path));
        if (issue->kind != API_UNKNOWN_FIELD || !c->found)
            continue;
        size_t here = schema_path_child(at, STR("metadata"));
        schema_path_child(at, issue->path);
        schema_paths_add(c->found, strbuf_str(at), c->a);
        schema_path_back(at, here);
    }
    return true;
}

static bool coerce_metadata(const struct schema_coerce *c, struct doc *meta,
                            struct strbuf *at)
{
    const struct api_type *type = meta_type();
    struct api_issues issues = {0};
    if (meta->type == DOC_NULL)
        *meta = doc_make_map();
    if (meta->type != DOC_MAP && c->drop)
        return true;
    api_check_shape(type, meta, STR(""), c->a, &issues);
    bool ok = take_issues(c, meta, &issues, at);
    api_issues_release(&issues);
    if (ok)
        api_canonical(type, meta, c->a);
    const struct doc *created = ok ? doc_get(meta, "creationTimestamp") : NULL;
    if (created && created->type == DOC_NULL)
        doc_remove(meta, STR("creationTimestamp"));
    return ok;
}

static bool coerce_resource(const struct schema_coerce *c, struct doc *d,
                            struct strbuf *at)
{
    static const char *const names[] = {"apiVersion", "kind"};
    for (unsigned i = 0; i < 2; i++) {
        const struct doc *value = doc_get(d, names[i]);
        if (!value || value->type == DOC_STRING)
            continue;
        if (!c->drop)
            return wrong(c, at, names[i], value, "must be a string");
        doc_remove(d, str_from(names[i]));
    }
    struct doc *meta = (struct doc *)doc_get(d, "metadata");
    return !meta || coerce_metadata(c, meta, at);
}

static bool coerce_below(const struct schema_coerce *c, const struct schema *s,
                         struct doc *d, struct strbuf *at)
{
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        const struct schema *p = schema_prop(s, key);
        const struct schema *below = p ? p : s->extra;
        if (!below || !below->has_embedded)
            continue;
        size_t here = p ? schema_path_child(at, key) : schema_path_key(at, key);
        bool ok = schema_coerce(c, below, &d->members[i].value, false, at);
        schema_path_back(at, here);
        if (!ok)
            return false;
    }
    return true;
}

bool schema_coerce(const struct schema_coerce *c, const struct schema *s, struct doc *d,
                   bool resource, struct strbuf *at)
{
    if (!s->has_embedded && !resource)
        return true;
    if (d->type == DOC_MAP && (resource || s->embedded) && !coerce_resource(c, d, at))
        return false;
    for (uint32_t i = 0; s->items && d->type == DOC_LIST && i < d->n; i++) {
        size_t here = schema_path_index(at, i);
        bool ok = schema_coerce(c, s->items, &d->items[i], false, at);
        schema_path_back(at, here);
        if (!ok)
            return false;
    }
    return coerce_below(c, s, d, at);
}

/* ---- Validation ---- */

static struct str joined(struct arena *a, const char *before, const struct str *problems,
                         unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, before);
    for (unsigned i = 0; i < n; i++) {
        strbuf_adds(&b, i ? "," : "");
        strbuf_addstr(&b, problems[i]);
    }
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* false: reported. */
static bool check_text(const struct schema_report *r, struct strbuf *at, const char *name,
                       const struct doc *value)
{
    const char *why = value->type != DOC_STRING ? "must be a string"
                      : value->n == 0           ? "must not be empty"
                                                : NULL;
    if (why)
        schema_fail_at(r, at, name, API_ERROR_INVALID, schema_shown(r->a, value), "%s",
                       why);
    return !why;
}

static void check_version(const struct schema_report *r, struct strbuf *at,
                          const struct doc *value)
{
    if (!check_text(r, at, "apiVersion", value))
        return;
    struct str text = doc_str(value);
    size_t slash = str_find_byte(text, '/', 0);
    if (slash != SIZE_MAX && str_find_byte(text, '/', slash + 1) != SIZE_MAX)
        schema_fail_at(r, at, "apiVersion", API_ERROR_INVALID, schema_shown(r->a, value),
                       "unexpected GroupVersion string: %.*s", STR_ARG(text));
}

static void check_kind(const struct schema_report *r, struct strbuf *at,
                       const struct doc *value)
{
    struct str problems[NAME_MAX_PROBLEMS];
    if (!check_text(r, at, "kind", value))
        return;
    struct str lower = arena_str(r->a, doc_str(value));
    for (size_t i = 0; i < lower.n; i++)
        if (lower.p[i] >= 'A' && lower.p[i] <= 'Z')
            ((char *)lower.p)[i] = (char)(lower.p[i] - 'A' + 'a');
    unsigned n = name_check(NAME_DNS1035_LABEL, lower, r->a, problems);
    if (!n)
        return;
    struct str text =
        joined(r->a, "may have mixed case, but should otherwise match: ", problems, n);
    schema_fail_at(r, at, "kind", API_ERROR_INVALID, schema_shown(r->a, value), "%.*s",
                   STR_ARG(text));
}

static void check_metadata(const struct schema_report *r, struct strbuf *at,
                           const struct doc *value)
{
    const struct api_validate_opts opts = {.op = API_CREATE};
    struct api_issues issues = {0};
    struct api_error e;
    const struct schema_coerce c = {.a = r->a, .wrong = &e};
    struct doc meta = value->type == DOC_NULL ? doc_make_map() : doc_dup(r->a, value);
    api_check_shape(meta_type(), &meta, STR(""), r->a, &issues);
    bool ok = take_issues(&c, &meta, &issues, at);
    api_issues_release(&issues);
    if (!ok) {
        vec_push(&r->errors->list, e);
        return;
    }
    struct str space = doc_get_text(&meta, "namespace");
    if (!doc_get_text(&meta, "name").n)
        doc_set(r->a, &meta, "name", doc_make_string(r->a, STR("fakename")));
    size_t here = schema_path_child(at, STR("metadata"));
    api_validate_metadata(&meta, NULL, space.n, "segment", strbuf_str(at), &opts, r->a,
                          r->errors);
    schema_path_back(at, here);
}

static void check_resource(const struct schema_report *r, struct strbuf *at,
                           const struct doc *d)
{
    const struct doc *version = doc_get(d, "apiVersion"), *kind = doc_get(d, "kind"),
                     *meta = doc_get(d, "metadata");
    if (!version)
        schema_fail_at(r, at, "apiVersion", API_ERROR_REQUIRED, STR_NONE, "%s", "");
    if (!kind)
        schema_fail_at(r, at, "kind", API_ERROR_REQUIRED, STR_NONE, "%s", "");
    if (version)
        check_version(r, at, version);
    if (kind)
        check_kind(r, at, kind);
    if (meta)
        check_metadata(r, at, meta);
}

static void check_below(const struct schema *s, const struct doc *d, struct strbuf *at,
                        const struct schema_report *r)
{
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        const struct schema *p = schema_prop(s, key);
        const struct schema *below = p ? p : s->extra;
        if (!below || !below->has_embedded)
            continue;
        size_t here = p ? schema_path_child(at, key) : schema_path_key(at, key);
        schema_check_meta(below, &d->members[i].value, false, at, r);
        schema_path_back(at, here);
    }
}

void schema_check_meta(const struct schema *s, const struct doc *d, bool resource,
                       struct strbuf *at, const struct schema_report *r)
{
    if (!s->has_embedded && !resource)
        return;
    if (d->type == DOC_MAP && (resource || s->embedded))
        check_resource(r, at, d);
    for (uint32_t i = 0; s->items && d->type == DOC_LIST && i < d->n; i++) {
        size_t here = schema_path_index(at, i);
        schema_check_meta(s->items, &d->items[i], false, at, r);
        schema_path_back(at, here);
    }
    check_below(s, d, at, r);
}
