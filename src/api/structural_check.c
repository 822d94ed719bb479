/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a schema is structural (apiextensions-apiserver pkg/apiserver/schema): types
 * everywhere, and nested schemas that only restrict what stands outside of them.
 */
#include <stdlib.h>

#include "api/rules.h"
#include "api/structural_check.h"
#include "cel/regex.h"

enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

struct check {
    struct schema_report r;
    struct strbuf *path;
};

static void forbid(struct check *c, const char *name, const char *why)
{
    schema_fail_at(&c->r, c->path, name, API_ERROR_FORBIDDEN, STR_NONE, "%s", why);
}

static void require(struct check *c, const char *name, const char *why)
{
    schema_fail_at(&c->r, c->path, name, API_ERROR_REQUIRED, STR_NONE, "%s", why);
}

static void refuse(struct check *c, const char *name, struct str bad, const char *why)
{
    schema_fail_at(&c->r, c->path, name, API_ERROR_INVALID, bad, "%s", why);
}

/* ---- Keywords that no structure has ---- */

static const struct {
    const char *name, *text;
} UNSUPPORTED[] = {
    {"id", "OpenAPIV3Schema 'id' is not supported"},
    {"$schema", "OpenAPIV3Schema 'schema' is not supported"},
    {"$ref", "OpenAPIV3Schema '$ref' is not supported"},
    {"patternProperties", "OpenAPIV3Schema 'patternProperties' is not supported"},
    {"dependencies", "OpenAPIV3Schema 'dependencies' is not supported"},
    {"additionalItems", "OpenAPIV3Schema 'additionalItems' is not supported"},
    {"definitions", "OpenAPIV3Schema 'definitions' is not supported"},
};

/* additionalItems counts whatever it is, the others when something is in them. */
static bool keyword_used(const struct schema *s, const char *name)
{
    const struct doc *d = doc_get(s->doc, name);
    return d && d->type != DOC_NULL && (d->type == DOC_BOOL || d->n || name[0] == 'a');
}

static const char *unsupported_in(const struct schema_nested *n)
{
    const char *text = NULL;
    for (uint32_t i = 0; !text && i < n->n; i++)
        text = schema_unsupported(&n->v[i]);
    return text;
}

static const char *unsupported_logic(const struct schema_logic *l)
{
    const char *text = l->not_ ? schema_unsupported(l->not_) : NULL;
    text = text ? text : unsupported_in(&l->all_of);
    text = text ? text : unsupported_in(&l->any_of);
    return text ? text : unsupported_in(&l->one_of);
}

const char *schema_unsupported(const struct schema *s)
{
    bool preserve;
    for (size_t i = 0; i < sizeof UNSUPPORTED / sizeof *UNSUPPORTED; i++)
        if (keyword_used(s, UNSUPPORTED[i].name))
            return UNSUPPORTED[i].text;
    const char *text = unsupported_logic(s->logic);
    if (text)
        return text;
    if (doc_get_bool(s->doc, "x-kubernetes-preserve-unknown-fields", &preserve) &&
        !preserve)
        return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or "
               "undefined";
    if (s->many_items)
        return "OpenAPIV3Schema 'items' must be a schema, but is an array";
    text = s->items ? schema_unsupported(s->items) : NULL;
    for (uint32_t i = 0; !text && i < s->nprops; i++)
        text = schema_unsupported(s->props[i].schema);
    return !text && s->extra ? schema_unsupported(s->extra) : text;
}

/* ---- int-or-string ---- */

/* The members that say something. */
static bool is_said(const struct doc *d)
{
    return d->type == DOC_BOOL ? d->b
                               : d->type != DOC_NULL && (d->n || d->type == DOC_NUMBER);
}

static bool only_type(const struct schema *s, const char *type)
{
    for (uint32_t i = 0; i < s->doc->n; i++)
        if (!str_is(doc_key(&s->doc->members[i]), "type") &&
            is_said(&s->doc->members[i].value))
            return false;
    return str_is(s->type_name, type);
}

static bool is_int_or_string(const struct schema_nested *any_of)
{
    return any_of->n == 2 && only_type(&any_of->v[0], "integer") &&
           only_type(&any_of->v[1], "string");
}

/* ---- Nested schemas ---- */

static const struct {
    const char *name, *why;
} NESTED[] = {
    {"type", "must be empty to be structural"},
    {"default", "must be undefined to be structural"},
    {"title", "must be empty to be structural"},
    {"description", "must be empty to be structural"},
    {"nullable", "must be false to be structural"},
    {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
    {"x-kubernetes-embedded-resource", "must be false to be structural"},
    {"x-kubernetes-int-or-string", "must be false to be structural"},
    {"x-kubernetes-list-map-keys", "must be empty to be structural"},
    {"x-kubernetes-list-type", "must be undefined to be structural"},
    {"x-kubernetes-map-type", "must be undefined to be structural"},
    {"x-kubernetes-validations", "must be empty to be structural"},
};

/* Whether a keyword that nested schemas may not have is there. */
static bool nested_has(const struct schema *s, const char *name)
{
    const struct doc *d = doc_get(s->doc, name);
    if (!d || d->type == DOC_NULL)
        return false;
    return strcmp(name, "default") == 0 || strstr(name, "-type") || is_said(d);
}

static void check_nested(struct check *c, const struct schema *s, bool skip_any_of);

static void check_nested_at(struct check *c, const char *name, const struct schema *s)
{
    size_t here = schema_path_child(c->path, str_from(name));
    if (s)
        check_nested(c, s, false);
    schema_path_back(c->path, here);
}

static void check_nested_list(struct check *c, const char *name,
                              const struct schema_nested *list, bool skip_any_of)
{
    size_t here = schema_path_child(c->path, str_from(name));
    for (uint32_t i = 0; i < list->n; i++) {
        size_t item = schema_path_index(c->path, i);
        check_nested(c, &list->v[i], skip_any_of && i == 0);
        schema_path_back(c->path, item);
    }
    schema_path_back(c->path, here);
}

static void check_pattern(struct check *c, struct str pattern)
{
    struct err e = ERR_INIT;
    if (pattern.n && !cel_regex_check(pattern, &e))
        schema_fail_at(&c->r, c->path, "pattern", API_ERROR_INVALID,
                       api_shown_text(c->r.a, pattern),
                       "must be a valid regular expression, but isn't: %s", err_text(&e));
    err_release(&e);
}

/* skip: the exceptions that make an int-or-string. */
static void check_logic(struct check *c, const struct schema *s, bool skip_any_of,
                        bool skip_first)
{
    if (!skip_any_of)
        check_nested_list(c, "anyOf", &s->logic->any_of, false);
    check_nested_list(c, "allOf", &s->logic->all_of, skip_first);
    check_nested_list(c, "oneOf", &s->logic->one_of, false);
    check_nested_at(c, "not", s->logic->not_);
    check_pattern(c, s->values->pattern);
}

static void check_nested(struct check *c, const struct schema *s, bool skip_any_of)
{
    check_logic(c, s, skip_any_of, false);
    check_nested_at(c, "items", s->items);
    size_t here = schema_path_child(c->path, STR("properties"));
    for (uint32_t i = 0; i < s->nprops; i++) {
        size_t prop = schema_path_key(c->path, s->props[i].name);
        check_nested(c, s->props[i].schema, false);
        if (str_is(s->props[i].name, "metadata"))
            schema_fail(&c->r, c->path, API_ERROR_FORBIDDEN, STR_NONE,
                        "must not be specified in a nested context");
        schema_path_back(c->path, prop);
    }
    schema_path_back(c->path, here);
    if (s->additional == ADDITIONAL_SCHEMA || s->additional == ADDITIONAL_TRUE)
        forbid(c, "additionalProperties", "must be undefined to be structural");
    for (size_t i = 0; i < sizeof NESTED / sizeof *NESTED; i++)
        if (nested_has(s, NESTED[i].name))
            forbid(c, NESTED[i].name, NESTED[i].why);
}

/* ---- The structure ---- */

static void check_type(struct check *c, const struct schema *s, enum level level)
{
    static const char *const missing[] = {
        [LEVEL_ROOT] = "must not be empty at the root",
        [LEVEL_ITEM] = "must not be empty for specified array items",
        [LEVEL_FIELD] = "must not be empty for specified object fields",
    };
    static const char embedded[] =
        "must be object if x-kubernetes-embedded-resource is true";
    if (s->embedded && s->type != SCHEMA_OBJECT) {
        if (s->type == SCHEMA_UNTYPED)
            require(c, "type", embedded);
        else
            refuse(c, "type", api_shown_text(c->r.a, s->type_name), embedded);
    } else if (s->type == SCHEMA_UNTYPED && !s->int_or_string && !s->preserve) {
        require(c, "type", missing[level]);
    }
    if (s->embedded && s->additional)
        forbid(c, "additionalProperties",
               "must not be used if x-kubernetes-embedded-resource is set");
    if (level == LEVEL_ROOT && s->type != SCHEMA_UNTYPED && s->type != SCHEMA_OBJECT)
        refuse(c, "type", api_shown_text(c->r.a, s->type_name),
               "must be object at the root");
}

static void check_extensions(struct check *c, const struct schema *s)
{
    if (s->int_or_string && s->preserve)
        refuse(c, "x-kubernetes-preserve-unknown-fields", STR("true"),
               "must be false if x-kubernetes-int-or-string is true");
    if (s->int_or_string && s->embedded)
        refuse(c, "x-kubernetes-embedded-resource", STR("true"),
               "must be false if x-kubernetes-int-or-string is true");
}

/* Nothing but its type, a default, and the two names. */
static bool plain_metadata(const struct schema *s)
{
    bool name = schema_prop(s, STR("name")), prefix = schema_prop(s, STR("generateName"));
    if (s->nprops != (uint32_t)name + (uint32_t)prefix)
        return false;
    for (uint32_t i = 0; i < s->doc->n; i++) {
        struct str key = doc_key(&s->doc->members[i]);
        if (!str_is(key, "type") && !str_is(key, "default") &&
            !str_is(key, "properties") && is_said(&s->doc->members[i].value))
            return false;
    }
    return s->additional == ADDITIONAL_NONE;
}

static void check_metadata(struct check *c, const struct schema *s, bool resource,
                           enum level level)
{
    const struct schema *meta = schema_prop(s, STR("metadata"));
    if (!meta)
        return;
    size_t props = schema_path_child(c->path, STR("properties"));
    schema_path_key(c->path, STR("metadata"));
    if (resource && meta->type != SCHEMA_OBJECT)
        refuse(c, "type", api_shown_text(c->r.a, meta->type_name), "must be object");
    if (level == LEVEL_ROOT && !plain_metadata(meta))
        schema_fail(&c->r, c->path, API_ERROR_FORBIDDEN, STR_NONE,
                    "must not specify anything other than name and generateName, but "
                    "metadata is implicitly specified");
    schema_path_back(c->path, props);
}

static void check_type_meta(struct check *c, const struct schema *s, const char *name)
{
    const struct schema *p = schema_prop(s, str_from(name));
    if (!p || p->type == SCHEMA_STRING)
        return;
    size_t props = schema_path_child(c->path, STR("properties"));
    schema_path_key(c->path, str_from(name));
    refuse(c, "type", api_shown_text(c->r.a, p->type_name), "must be string");
    schema_path_back(c->path, props);
}

static void check_structure(struct check *c, const struct schema *s, enum level level);

static void check_below(struct check *c, const struct schema *s, enum level level)
{
    if (s->type == SCHEMA_ARRAY && !s->items)
        require(c, "items", "must be specified");
    size_t here = schema_path_child(c->path, STR("items"));
    if (s->items)
        check_structure(c, s->items, LEVEL_ITEM);
    schema_path_back(c->path, here);
    schema_path_child(c->path, STR("properties"));
    for (uint32_t i = 0; i < s->nprops; i++) {
        size_t prop = schema_path_key(c->path, s->props[i].name);
        check_structure(c, s->props[i].schema, LEVEL_FIELD);
        schema_path_back(c->path, prop);
    }
    schema_path_back(c->path, here);
    if (s->additional && level == LEVEL_ROOT)
        forbid(c, "additionalProperties", "must not be used at the root");
    schema_path_child(c->path, STR("additionalProperties"));
    if (s->extra)
        check_structure(c, s->extra, LEVEL_FIELD);
    schema_path_back(c->path, here);
}

static void check_structure(struct check *c, const struct schema *s, enum level level)
{
    const struct schema_nested *all = &s->logic->all_of;
    bool first = all->n && is_int_or_string(&all->v[0].logic->any_of);
    bool resource = level == LEVEL_ROOT || s->embedded;
    check_below(c, s, level);
    check_extensions(c, s);
    check_logic(c, s, is_int_or_string(&s->logic->any_of), first);
    check_type(c, s, level);
    if (resource) {
        check_type_meta(c, s, "kind");
        check_type_meta(c, s, "apiVersion");
    }
    check_metadata(c, s, resource, level);
    if (s->embedded && !s->preserve && !s->nprops)
        require(c, "properties",
                "must not be empty if x-kubernetes-embedded-resource is true without "
                "x-kubernetes-preserve-unknown-fields");
}

/* ---- Completeness: what is restricted is there ---- */

struct complete {
    struct schema_report r;
    struct strbuf *spath, *vpath; /* of the structure, of the restriction */
};

static void complete_value(struct complete *c, const struct schema *v,
                           const struct schema *s);

static void missing(struct complete *c)
{
    struct strbuf *v = c->vpath;
    schema_fail(&c->r, c->spath, API_ERROR_REQUIRED, STR_NONE,
                "because it is defined in %.*s", STR_ARG(strbuf_str(v)));
}

static void complete_nested(struct complete *c, const struct schema *v,
                            const struct schema *s)
{
    if (!s) {
        missing(c);
        return;
    }
    complete_value(c, v, s);
    size_t sp = schema_path_child(c->spath, STR("items"));
    size_t vp = schema_path_child(c->vpath, STR("items"));
    if (v->items)
        complete_nested(c, v->items, s->items);
    schema_path_back(c->spath, sp);
    schema_path_back(c->vpath, vp);
    schema_path_child(c->spath, STR("properties"));
    schema_path_child(c->vpath, STR("properties"));
    for (uint32_t i = 0; i < v->nprops; i++) {
        size_t s2 = schema_path_key(c->spath, v->props[i].name);
        size_t v2 = schema_path_key(c->vpath, v->props[i].name);
        complete_nested(c, v->props[i].schema, schema_prop(s, v->props[i].name));
        schema_path_back(c->spath, s2);
        schema_path_back(c->vpath, v2);
    }
    schema_path_back(c->spath, sp);
    schema_path_back(c->vpath, vp);
}

static void complete_list(struct complete *c, const char *name,
                          const struct schema_nested *list, const struct schema *s)
{
    size_t here = schema_path_child(c->vpath, str_from(name));
    for (uint32_t i = 0; i < list->n; i++) {
        size_t item = schema_path_index(c->vpath, i);
        complete_nested(c, &list->v[i], s);
        schema_path_back(c->vpath, item);
    }
    schema_path_back(c->vpath, here);
}

static void complete_value(struct complete *c, const struct schema *v,
                           const struct schema *s)
{
    size_t here = schema_path_child(c->vpath, STR("not"));
    if (v->logic->not_)
        complete_nested(c, v->logic->not_, s);
    schema_path_back(c->vpath, here);
    complete_list(c, "allOf", &v->logic->all_of, s);
    complete_list(c, "anyOf", &v->logic->any_of, s);
    complete_list(c, "oneOf", &v->logic->one_of, s);
}

/* ---- */

struct printed {
    struct str text;
    struct api_error error;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct printed *)a)->text, ((const struct printed *)b)->text);
}

static void sort_errors(struct api_errors *errors, size_t from, struct arena *a)
{
    size_t n = errors->list.n - from;
    struct printed *v = ARENA_ARRAY(a, struct printed, n);
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < n; i++) {
        v[i].error = errors->list.v[from + i];
        strbuf_clear(&b);
        api_error_print(&v[i].error, &b);
        v[i].text = arena_str(a, strbuf_str(&b));
    }
    strbuf_release(&b);
    if (n > 1)
        qsort(v, n, sizeof *v, by_text);
    for (size_t i = 0; i < n; i++)
        errors->list.v[from + i] = v[i].error;
}

bool schema_is_structural(const struct schema *s, struct strbuf *path,
                          const struct schema_report *r)
{
    size_t before = r->errors->list.n;
    struct strbuf vpath = STRBUF_INIT;
    strbuf_addstr(&vpath, strbuf_str(path));
    struct check c = {*r, path};
    struct complete complete = {*r, path, &vpath};
    check_structure(&c, s, LEVEL_ROOT);
    complete_value(&complete, s, s);
    strbuf_release(&vpath);
    sort_errors(r->errors, before, r->a);
    return r->errors->list.n == before;
}
