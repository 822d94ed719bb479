/* SPDX-License-Identifier: Apache-2.0 */
#include "api/definition_inner.h"

#include <stdlib.h>
#include <string.h>

/* ---- reporting ---- */

static const struct doc NOTHING = {.type = DOC_NULL};

struct str definition_shown(struct definition_check *c, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d ? d : &NOTHING, DOC_JSON_COMPACT, &b);
    struct str s = arena_str(c->a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

void definition_report(struct definition_check *c, enum api_error_type type,
                       struct str path, struct str bad, struct str detail)
{
    struct api_error e = {
        .type = type, .path = path, .bad = bad, .detail = detail, .pos = UINT32_MAX};
    vec_push(&c->errors->list, e);
}

struct str definition_at(struct definition_check *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    return s;
}

void definition_required(struct definition_check *c, struct str path, const char *detail)
{
    definition_report(c, API_ERROR_REQUIRED, path, STR_NONE, str_from(detail));
}

void definition_invalid(struct definition_check *c, struct str path, const struct doc *d,
                        struct str detail)
{
    definition_report(c, API_ERROR_INVALID, path, definition_shown(c, d), detail);
}

void definition_invalid_text(struct definition_check *c, struct str path, struct str bad,
                             struct str detail)
{
    struct doc d = doc_make_string(c->a, bad);
    definition_invalid(c, path, &d, detail);
}

struct str definition_problems(struct definition_check *c, enum name_kind kind,
                               struct str name)
{
    struct str problems[NAME_MAX_PROBLEMS], all = STR("");
    unsigned n = name_check(kind, name, c->a, problems);
    for (unsigned i = 0; i < n; i++)
        all = definition_at(c, "%.*s%s%.*s", STR_ARG(all), i ? "," : "",
                            STR_ARG(problems[i]));
    return all;
}

/* ---- reading ---- */

const struct doc *definition_member(const struct doc *d, const char *key)
{
    const struct doc *v = doc_get(d, key);
    return v && v->type != DOC_NULL ? v : NULL;
}

const struct doc *definition_items(const struct doc *d, const char *key)
{
    static const struct doc none = {.type = DOC_LIST};
    const struct doc *v = definition_member(d, key);
    return v && v->type == DOC_LIST ? v : &none;
}

struct str definition_text(const struct doc *d, const char *key)
{
    struct str s = doc_get_text(d, key);
    return s.p ? s : STR("");
}

bool definition_on(const struct doc *d, const char *key)
{
    bool on = false;
    doc_get_bool(d, key, &on);
    return on;
}

const struct doc *definition_version(const struct doc *spec, struct str name)
{
    const struct doc *list = definition_items(spec, "versions");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(definition_text(&list->items[i], "name"), name))
            return &list->items[i];
    return NULL;
}
