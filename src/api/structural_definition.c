/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a version of a definition: all that is checked when it is written. */
#include <stdlib.h>

#include "api/structural_check.h"
#include "api/structural_formats.h"

/* ---- The root ---- */

/* Beside a status subresource, whose schema is looked at alone. */
static const char *const ROOT_REFUSED[] = {
    "id",
    "$schema",
    "$ref", /* before the type, in upstream's order */
    "nullable",
    "default",
    "enum",
    "maxProperties",
    "minProperties",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "additionalProperties",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
};

/* An empty list is something, too. */
static bool is_set(const struct schema *s, const char *name)
{
    const struct doc *d = doc_get(s->doc, name);
    if (!d || d->type == DOC_NULL)
        return false;
    return d->type == DOC_BOOL ? d->b : d->type != DOC_STRING || d->n;
}

static bool any_set(const struct schema *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_set(s, ROOT_REFUSED[i]))
            return true;
    return false;
}

static void check_root(const struct schema *s, bool status, struct strbuf *path,
                       const struct schema_report *r)
{
    size_t all = sizeof ROOT_REFUSED / sizeof *ROOT_REFUSED;
    bool typed = s->type == SCHEMA_OBJECT || s->type == SCHEMA_UNTYPED;
    if (status && !any_set(s, 0, 3) && !typed) {
        struct doc type = {
            .type = DOC_STRING, .n = (uint32_t)s->type_name.n, .s = s->type_name.p};
        schema_fail_at(r, path, "type", API_ERROR_INVALID, schema_shown(r->a, &type),
                       "only \"object\" is allowed as the type at the root of the schema "
                       "if the status subresource is enabled");
    } else if (status && any_set(s, 0, all)) {
        schema_fail(r, path, API_ERROR_INVALID, schema_shown_schema(r->a, s->doc),
                    "only [Description Type Format Title Maximum ExclusiveMaximum "
                    "Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems "
                    "MinItems UniqueItems MultipleOf Required Items Properties "
                    "ExternalDocs Example XPreserveUnknownFields XValidations] fields "
                    "are allowed at the root of the schema if the status subresource is "
                    "enabled");
    }
    if (s->nullable)
        schema_fail_at(r, path, "nullable", API_ERROR_FORBIDDEN, STR_NONE,
                       "nullable cannot be true at the root");
}

/* ---- What is stored already ---- */

static void learn(void *ctx, struct schema *s)
{
    struct schema_known *k = ctx;
    bool made;
    for (uint32_t i = 0; i < s->nrules; i++) {
        strmap_put(&k->rules, s->rules[i].rule, &made);
        if (s->rules[i].message_expression.n)
            strmap_put(&k->messages, s->rules[i].message_expression, &made);
    }
}

static void each_version(const struct doc *spec, struct arena *a, schema_each_fn *fn,
                         void *ctx)
{
    const struct doc *versions = doc_get(spec, "versions");
    for (uint32_t i = 0; versions && versions->type == DOC_LIST && i < versions->n; i++) {
        const struct doc *d = doc_path(&versions->items[i], "schema.openAPIV3Schema");
        struct str why;
        struct schema *s = d ? schema_parse(d, a, &why) : NULL;
        if (s)
            schema_each(s, fn, ctx);
    }
}

/* ---- All of it ---- */

/* Whether rules can be compiled: the schema is structural, and so are its defaults. *late
 * is an error that others make superfluous. */
static bool check_structure(const struct doc *d, const struct schema *s,
                            const struct api_cel *cel, struct strbuf *path,
                            const struct schema_report *r, const char **late)
{
    struct str why;
    *late = schema_unsupported(s);
    if (*late || !schema_is_structural(s, path, r))
        return false;
    if (!s->has_defaults)
        return true;
    struct schema *own = schema_parse(d, r->a, &why); /* compiled in another way */
    return !own || schema_check_defaults(own, cel, path, r);
}

void structural_check(const struct doc *schema, const struct structural_check_opts *opts,
                      struct arena *a, struct api_errors *errors)
{
    const struct schema_report r = {a, errors};
    struct strbuf path = STRBUF_INIT;
    struct schema_known known = {STRMAP_INIT, STRMAP_INIT};
    struct schema_openapi_opts openapi = {.known = &known, .unlimited = opts->unchanged};
    size_t before = errors->list.n;
    struct str why;
    const char *late = NULL;
    strbuf_adds(&path, opts->path);
    schema_path_child(&path, STR("openAPIV3Schema"));
    struct schema *s = schema_parse(schema, a, &why);
    if (!s) {
        schema_fail(&r, &path, API_ERROR_INVALID, STR("\"\""), "%.*s", STR_ARG(why));
    } else {
        each_version(opts->old_spec, a, learn, &known);
        check_root(s, opts->status, &path, &r);
        if (check_structure(schema, s, opts->cel, &path, &r, &late))
            openapi.cel = opts->cel;
        schema_check_openapi(s, &openapi, &path, &r);
    }
    if (late && errors->list.n == before)
        schema_fail(&r, &path, API_ERROR_INVALID, STR("\"\""), "%s", late);
    strmap_release(&known.rules);
    strmap_release(&known.messages);
    strbuf_release(&path);
}

/* ---- Warnings ---- */

struct warnings {
    struct arena *a;
    struct schema_paths formats, sets; /* texts; sets each once */
    struct strmap seen;
};

static bool is_known_format(const struct schema *s)
{
    struct str f = s->values->format;
    if (s->type == SCHEMA_UNTYPED || s->type == SCHEMA_STRING)
        return schema_format_find(f);
    if (s->type == SCHEMA_INTEGER)
        return str_is(f, "int32") || str_is(f, "int64");
    return s->type == SCHEMA_NUMBER && (str_is(f, "float") || str_is(f, "double"));
}

static void add_set(struct warnings *w, const char *type)
{
    struct str text = arena_printf(w->a,
                                   "x-kubernetes-list-type: set for items of type \"%s\" "
                                   "is not supported by server-side apply or CEL "
                                   "validation rules",
                                   type);
    bool made;
    strmap_put(&w->seen, text, &made);
    if (made)
        schema_paths_add(&w->sets, text, w->a);
}

static void collect(void *ctx, struct schema *s)
{
    struct warnings *w = ctx;
    if (s->values->format.n && !is_known_format(s)) {
        struct doc d = {.type = DOC_STRING,
                        .n = (uint32_t)s->values->format.n,
                        .s = s->values->format.p};
        struct str shown = schema_shown(w->a, &d);
        schema_paths_add(&w->formats,
                         arena_printf(w->a, "unrecognized format %.*s", STR_ARG(shown)),
                         w->a);
    }
    if (s->list_type == LIST_SET && s->items && s->items->type == SCHEMA_OBJECT)
        add_set(w, "object");
    if (s->list_type == LIST_SET && s->items && s->items->type == SCHEMA_ARRAY)
        add_set(w, "array");
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool has_text(const struct schema_paths *p, struct str text)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i], text))
            return true;
    return false;
}

static void tell(const struct schema_paths *now, const struct schema_paths *old,
                 structural_warn_fn *warn, void *ctx)
{
    for (uint32_t i = 0; i < now->n; i++)
        if (!has_text(old, now->v[i]))
            warn(ctx, now->v[i]);
}

void structural_warnings(const struct doc *spec, const struct doc *old_spec,
                         struct arena *a, structural_warn_fn *warn, void *ctx)
{
    struct warnings now = {.a = a}, old = {.a = a};
    each_version(spec, a, collect, &now);
    each_version(old_spec, a, collect, &old);
    if (now.sets.n > 1)
        qsort(now.sets.v, now.sets.n, sizeof *now.sets.v, by_text);
    tell(&now.formats, &old.formats, warn, ctx);
    tell(&now.sets, &old.sets, warn, ctx);
    strmap_release(&now.seen);
    strmap_release(&old.seen);
}

/* ---- Selectable fields ---- */

bool structural_selectable(const struct doc *schema, struct str path, struct arena *a,
                           struct str *clean, struct str *why)
{
    const struct schema *found;
    struct schema *s = schema_parse(schema, a, why);
    if (!s)
        return false;
    const char *wrong = schema_field_path(s, path, false, a, clean, &found);
    *why = wrong ? arena_printf(a, "is an invalid path: %s", wrong) : STR_NONE;
    if (wrong)
        return false;
    if (str_is(*clean, "metadata") || str_starts(*clean, STR("metadata.")))
        *why = STR("must not point to fields in metadata");
    else if (!found || (found->type != SCHEMA_STRING && found->type != SCHEMA_BOOLEAN &&
                        found->type != SCHEMA_INTEGER))
        *why = STR("must point to a field of type string, boolean or integer. Enum "
                   "string fields and strings with formats are allowed.");
    return !why->p;
}
