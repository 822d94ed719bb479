/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode.h"

#include "api/timestamp.h"
#include "base/base64.h"
#include "num/quantity.h"

/* Where the walk is: a chain of steps on the stack, written out when something is wrong.
 */
struct step {
    const struct step *up;
    enum { STEP_FIELD, STEP_INDEX, STEP_KEY } kind;
    struct str name; /* field or key */
    uint32_t index;
};

struct walk {
    struct arena *a;
    struct api_issues *issues;
    struct str prefix;
    const struct step *at; /* NULL: the whole */
    bool decodable;
};

static void check_struct(struct walk *w, const struct api_type *t, const struct doc *d);

void api_issues_release(struct api_issues *issues)
{
    vec_release(&issues->list);
}

static void write_path(const struct step *at, struct strbuf *out)
{
    if (!at)
        return;
    write_path(at->up, out);
    if (at->kind == STEP_FIELD)
        strbuf_addf(out, "%s%.*s", out->n ? "." : "", STR_ARG(at->name));
    else if (at->kind == STEP_INDEX)
        strbuf_addf(out, "[%u]", at->index);
    else
        strbuf_addf(out, "[%.*s]", STR_ARG(at->name));
}

static struct api_issue *issue(struct walk *w, enum api_issue_kind kind, uint32_t pos)
{
    struct api_issue i = {.kind = kind, .pos = pos};
    struct strbuf path = STRBUF_INIT;
    strbuf_addstr(&path, w->prefix);
    write_path(w->at, &path);
    i.path = arena_str(w->a, strbuf_str(&path));
    strbuf_release(&path);
    vec_push(&w->issues->list, i);
    return &w->issues->list.v[w->issues->list.n - 1];
}

static void wrong_type(struct walk *w, const struct doc *d, const char *want,
                       const char *hint)
{
    struct api_issue *i = issue(w, API_WRONG_TYPE, d->pos);
    i->value = d;
    i->text = arena_printf(w->a, "expected %s, got %s%s", want, doc_type_name(d), hint);
    w->decodable = false;
}

/* ---- scalars ---- */

static bool fits_int32(const struct doc *d)
{
    int64_t v;
    return doc_int64(d, &v) && v >= INT32_MIN && v <= INT32_MAX;
}

static bool fits_int64(const struct doc *d)
{
    int64_t v;
    return doc_int64(d, &v);
}

static bool is_time(const struct doc *d)
{
    int64_t seconds;
    int32_t nanos;
    return timestamp_parse(doc_str(d), &seconds, &nanos);
}

/* Go reads six digits after the point, no more and no less. */
static bool is_micro_time(const struct doc *d)
{
    enum { POINT = 19, DIGITS = 6 };
    struct str s = doc_str(d);
    size_t end = POINT + 1;
    while (end < s.n && s.p[end] >= '0' && s.p[end] <= '9')
        end++;
    return is_time(d) && s.n > POINT && s.p[POINT] == '.' && end == POINT + 1 + DIGITS;
}

static bool any_text(const struct doc *d)
{
    (void)d;
    return true;
}

struct scalar {
    uint32_t types; /* bit set of enum doc_type */
    bool (*fits)(const struct doc *d);
    const char *want;
};

#define ONLY(type) (1u << (type))

static const struct scalar SCALARS[] = {
    [API_STRING] = {ONLY(DOC_STRING), any_text, "a string"},
    [API_BYTES] = {ONLY(DOC_STRING), any_text, "base64 text"},
    [API_BOOL] = {ONLY(DOC_BOOL), any_text, "true or false"},
    [API_INT32] = {ONLY(DOC_NUMBER), fits_int32, "a 32-bit integer"},
    [API_INT64] = {ONLY(DOC_NUMBER), fits_int64, "a 64-bit integer"},
    [API_DOUBLE] = {ONLY(DOC_NUMBER), any_text, "a number"},
    [API_TIME] = {ONLY(DOC_STRING), is_time, "a time such as 2026-01-31T12:00:00Z"},
    [API_MICRO_TIME] = {ONLY(DOC_STRING), is_micro_time,
                        "a time such as 2026-01-31T12:00:00.000000Z"},
    [API_DURATION] = {ONLY(DOC_STRING), any_text, "a duration such as 1h30m"},
    [API_QUANTITY] = {ONLY(DOC_STRING) | ONLY(DOC_NUMBER), any_text,
                      "a quantity such as 40Gi"},
    [API_INT_OR_STRING] = {ONLY(DOC_STRING) | ONLY(DOC_NUMBER), any_text,
                           "an integer or a string"},
    [API_OBJECT] = {ONLY(DOC_MAP), any_text, "a map"},
    [API_RAW] = {~0u, any_text, "any value"},
    [API_FIELDS_V1] = {ONLY(DOC_MAP), any_text, "a map"},
    [API_ANY] = {~0u, any_text, "any value"},
};

static void check_quantity(struct walk *w, const struct doc *d)
{
    struct quantity q;
    struct err e = ERR_INIT;
    if (!quantity_parse(doc_str(d), w->a, &q, &e)) {
        struct api_issue *i = issue(w, API_WRONG_TYPE, d->pos);
        i->value = d;
        i->text = arena_printf(w->a, "\"%.*s\" is no quantity: %s", STR_ARG(doc_str(d)),
                               err_text(&e));
        w->decodable = false;
    }
    err_release(&e);
}

static void check_bytes(struct walk *w, const struct doc *d)
{
    size_t fault = base64_fault(doc_str(d));
    if (fault == SIZE_MAX)
        return;
    struct api_issue *i = issue(w, API_WRONG_TYPE, d->pos);
    i->value = d;
    i->text = arena_printf(w->a, "illegal base64 data at input byte %zu", fault);
    w->decodable = false;
}

static const char *scalar_hint(enum api_form form, const struct doc *d)
{
    if (form == API_STRING && (d->type == DOC_NUMBER || d->type == DOC_BOOL))
        return "; write it in quotes";
    if ((form == API_INT32 || form == API_INT64 || form == API_BOOL) &&
        d->type == DOC_STRING)
        return "; write it without quotes";
    return "";
}

static void check_scalar(struct walk *w, enum api_form form, const struct doc *d)
{
    const struct scalar *s = &SCALARS[form];
    if (!(s->types & ONLY(d->type)) || !s->fits(d))
        wrong_type(w, d, s->want, scalar_hint(form, d));
    else if (form == API_QUANTITY)
        check_quantity(w, d);
    else if (form == API_BYTES)
        check_bytes(w, d);
}

/* ---- containers ---- */

static void check_value(struct walk *w, const struct api_field *f, const struct doc *d)
{
    if (d->type == DOC_NULL)
        return;
    if (f->form == API_STRUCT)
        check_struct(w, f->type, d);
    else
        check_scalar(w, (enum api_form)f->form, d);
}

static void check_list(struct walk *w, const struct api_field *f, const struct doc *d)
{
    if (d->type != DOC_LIST) {
        wrong_type(w, d, "a list", "");
        return;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        const struct step here = {.up = w->at, .kind = STEP_INDEX, .index = i};
        w->at = &here;
        check_value(w, f, &d->items[i]);
        w->at = here.up;
    }
}

static void check_map(struct walk *w, const struct api_field *f, const struct doc *d)
{
    if (d->type != DOC_MAP) {
        wrong_type(w, d, "a map", "");
        return;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        const struct step here = {
            .up = w->at, .kind = STEP_KEY, .name = doc_key(&d->members[i])};
        const struct doc *value = &d->members[i].value;
        w->at = &here;
        if (f->container == API_MAP_OF_LISTS && value->type != DOC_NULL)
            check_list(w, f, value);
        else
            check_value(w, f, value);
        w->at = here.up;
    }
}

static void check_field(struct walk *w, const struct api_field *f, const struct doc *d)
{
    if (d->type == DOC_NULL)
        return;
    switch (f->container) {
    case API_LIST:
        check_list(w, f, d);
        break;
    case API_MAP:
    case API_MAP_OF_LISTS:
        check_map(w, f, d);
        break;
    default:
        check_value(w, f, d);
    }
}

static void unknown_field(struct walk *w, const struct api_type *t,
                          const struct doc_member *m)
{
    struct api_issue *i = issue(w, API_UNKNOWN_FIELD, m->key_pos);
    i->in = t;
    i->value = &m->value;
    i->text = arena_printf(w->a, "unknown field \"%.*s\"", STR_ARG(i->path));
}

static void check_struct(struct walk *w, const struct api_type *t, const struct doc *d)
{
    if (t->form == API_ANY)
        return;
    if (d->type != DOC_MAP) {
        wrong_type(w, d, "a map", "");
        return;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        const struct doc_member *m = &d->members[i];
        const struct step here = {.up = w->at, .kind = STEP_FIELD, .name = doc_key(m)};
        const struct api_field *f = api_field_find(t, doc_key(m));
        w->at = &here;
        if (f)
            check_field(w, f, &m->value);
        else
            unknown_field(w, t, m);
        w->at = here.up;
    }
}

bool api_check_shape(const struct api_type *t, const struct doc *d, struct str prefix,
                     struct arena *a, struct api_issues *issues)
{
    struct walk w = {.a = a, .issues = issues, .prefix = prefix, .decodable = true};
    check_struct(&w, t, d);
    return w.decodable;
}

bool api_check_object(const struct api_kind *k, const struct doc *object,
                      const struct doc_source *src, struct arena *a,
                      struct api_issues *issues)
{
    for (size_t i = 0; src && i < src->ndups; i++) {
        struct api_issue dup = {.kind = API_DUPLICATE_FIELD, .pos = src->dups[i].pos};
        dup.path = arena_str(a, str_from(src->dups[i].path));
        dup.text = arena_printf(a, "duplicate field \"%s\"", src->dups[i].path);
        vec_push(&issues->list, dup);
    }
    return api_check_shape(k->type, object, STR_NONE, a, issues);
}
