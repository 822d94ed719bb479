/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of validation, and the values that they show as Go prints them. */
#include "api/rules.h"
#include "base/quote.h"

/* ---- types ---- */

static const struct {
    const char *reason, *words;
    bool shows; /* the bad value */
} TYPES[] = {
    [API_ERROR_REQUIRED] = {"FieldValueRequired", "Required value", false},
    [API_ERROR_INVALID] = {"FieldValueInvalid", "Invalid value", true},
    [API_ERROR_TYPE] = {"FieldValueTypeInvalid", "Invalid value", true},
    [API_ERROR_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value", true},
    [API_ERROR_TOO_MANY] = {"FieldValueTooMany", "Too many", false},
    [API_ERROR_TOO_LONG] = {"FieldValueTooLong", "Too long", false},
    [API_ERROR_TOO_SHORT] = {"FieldValueTooShort", "Too short", false},
    [API_ERROR_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value", true},
    [API_ERROR_FORBIDDEN] = {"FieldValueForbidden", "Forbidden", false},
    [API_ERROR_NOT_FOUND] = {"FieldValueNotFound", "Not found", true},
    [API_ERROR_INTERNAL] = {"InternalError", "Internal error", false},
};

const char *api_error_reason(enum api_error_type t)
{
    return TYPES[t].reason;
}

void api_errors_release(struct api_errors *errors)
{
    vec_release(&errors->list);
}

void api_error_print(const struct api_error *e, struct strbuf *out)
{
    strbuf_addf(out, "%.*s: %s", STR_ARG(e->path), TYPES[e->type].words);
    if (e->bad.n)
        strbuf_addf(out, ": %.*s", STR_ARG(e->bad));
    if (e->detail.n)
        strbuf_addf(out, ": %.*s", STR_ARG(e->detail));
}

/* ---- values ---- */

struct place {                     /* what the tables know about a path */
    const struct api_type *in;     /* the struct at it, or the one that holds it */
    const struct api_field *field; /* NULL: the object itself, or unknown */
    bool item;                     /* of the field's list or map */
};

static size_t name_end(struct str path, size_t at)
{
    while (at < path.n && path.p[at] != '.' && path.p[at] != '[')
        at++;
    return at;
}

static struct place find_place(const struct api_type *root, struct str path)
{
    struct place p = {.in = root};
    for (size_t at = 0; p.in && at < path.n;) {
        if (path.p[at] == '[') {
            size_t close = str_find_byte(path, ']', at);
            at = close == SIZE_MAX ? path.n : close + 1;
            p.item = true;
            continue;
        }
        at += path.p[at] == '.';
        size_t end = name_end(path, at);
        p.in = p.field ? p.field->type : p.in;
        p.field = p.in ? api_field_find(p.in, str_sub(path, at, end)) : NULL;
        p.item = false;
        if (!p.field)
            return (struct place){0};
        at = end;
    }
    return p;
}

/* tagged: with the names and omissions of the API; the hand-written stage looks at Go's
 * own types, which have none. */
static void show_value(const struct api_field *f, bool item, bool tagged,
                       const struct doc *d, struct strbuf *out);

static const char *shown_zero(const struct place *p)
{
    const struct api_field *f = p->field;
    if (!f || p->item || f->container != API_ONE || f->flags & API_POINTER)
        return "null";
    switch (f->form) {
    case API_STRING:
    case API_BYTES:
        return "\"\"";
    case API_BOOL:
        return "false";
    case API_INT32:
    case API_INT64:
    case API_DOUBLE:
    case API_INT_OR_STRING:
        return "0";
    case API_QUANTITY:
        return "\"0\"";
    default:
        return "null";
    }
}

/* As Go names a field that JSON has under this name. */
static void show_name(const char *name, bool tagged, struct strbuf *out)
{
    static const struct {
        const char *json, *go;
    } SHORT[] = {
        {"api", "API"}, {"id", "ID"}, {"ip", "IP"}, {"uid", "UID"}, {"url", "URL"}};
    size_t n = 0;
    for (size_t i = 0; !tagged && !n && i < sizeof SHORT / sizeof *SHORT; i++) {
        size_t len = strlen(SHORT[i].json);
        if (strncmp(name, SHORT[i].json, len) == 0 &&
            (name[len] < 'a' || name[len] > 'z')) {
            strbuf_adds(out, SHORT[i].go);
            n = len;
        }
    }
    char first = name[n];
    if (!tagged && n == 0 && first >= 'a' && first <= 'z')
        first = (char)(first - 'a' + 'A');
    if (first)
        strbuf_addf(out, "%c%s", first, name + n + 1);
}

/* In the order in which Go declares the fields, which is that of their numbers. */
static void show_struct(const struct api_type *t, bool tagged, const struct doc *d,
                        struct strbuf *out)
{
    static const struct doc nothing = {.type = DOC_MAP};
    const char *comma = "";
    strbuf_addc(out, '{');
    for (uint16_t i = 0; i < t->nnumbered; i++) {
        const struct api_field *f = &t->fields[t->by_number[i]];
        const struct place zero = {t, f, false};
        const struct doc *value = doc_get(d, f->name);
        bool inside = f->form == API_STRUCT && f->container == API_ONE &&
                      !(f->flags & API_POINTER) && f->type->form == API_STRUCT;
        if (!value && tagged)
            continue;
        strbuf_addf(out, "%s\"", comma);
        show_name(f->name, tagged, out);
        strbuf_adds(out, "\":");
        if (value || inside)
            show_value(f, false, tagged, value ? value : &nothing, out);
        else
            strbuf_adds(out, shown_zero(&zero));
        comma = ",";
    }
    strbuf_addc(out, '}');
}

static void show_list(const struct api_field *f, bool tagged, const struct doc *d,
                      struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (uint32_t i = 0; i < d->n; i++) {
        strbuf_adds(out, i ? "," : "");
        show_value(f, true, tagged, &d->items[i], out);
    }
    strbuf_addc(out, ']');
}

static void show_value(const struct api_field *f, bool item, bool tagged,
                       const struct doc *d, struct strbuf *out)
{
    bool one = item || f->container == API_ONE;
    if (d->type == DOC_LIST && !one && f->container == API_LIST)
        show_list(f, tagged, d, out);
    else if (d->type == DOC_MAP && one && f->form == API_STRUCT &&
             f->type->form == API_STRUCT)
        show_struct(f->type, tagged, d, out);
    else
        doc_write_json(d, DOC_JSON_SORT, out);
}

/* Go's JSON is safe inside of HTML. */
static struct str escaped(struct arena *a, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("<>&", s.p[i]) && s.p[i])
            strbuf_addf(&b, "\\u00%02x", (unsigned)s.p[i]);
        else
            strbuf_addc(&b, s.p[i]);
    }
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

struct str api_shown_text(struct arena *a, struct str text)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, text);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

struct str api_shown(struct api_walk *w, struct str path, const struct doc *d)
{
    struct place p = find_place(w->type, path);
    struct strbuf b = STRBUF_INIT;
    if (!d)
        return str_from(shown_zero(&p));
    if (d->type == DOC_STRING)
        return api_shown_text(w->a, doc_str(d));
    if (p.field)
        show_value(p.field, p.item, w->declared, d, &b);
    else if (p.in && d->type == DOC_MAP)
        show_struct(p.in, w->declared, d, &b);
    else
        doc_write_json(d, DOC_JSON_SORT, &b);
    struct str s = escaped(w->a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* ---- reporting ---- */

/* shown: STR_NONE takes the value itself. */
static bool report(struct api_walk *w, struct str path, const struct doc *value,
                   struct str shown, enum api_error_type type, const char *fmt,
                   va_list ap)
{
    struct api_error e = {.type = type, .path = path, .value = value, .pos = UINT32_MAX};
    e.detail = arena_vprintf(w->a, fmt, ap);
    if (value)
        e.pos = value->pos;
    if (TYPES[type].shows)
        e.bad = shown.p ? shown : api_shown(w, path, value);
    vec_push(&w->errors->list, e);
    return false;
}

static struct str path_below(struct api_at *at, const char *suffix)
{
    struct str here = strbuf_str(&at->w->path);
    return arena_printf(at->w->a, "%.*s%s", STR_ARG(here),
                        here.n == 0 && suffix[0] == '.' ? suffix + 1 : suffix);
}

bool api_report_path(struct api_walk *w, struct str path, const struct doc *value,
                     enum api_error_type type, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(w, path, value, STR_NONE, type, fmt, ap);
    va_end(ap);
    return false;
}

bool api_report(struct api_at *at, enum api_error_type type, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(at->w, path_below(at, ""), at->value, STR_NONE, type, fmt, ap);
    va_end(ap);
    return false;
}

bool api_report_at(struct api_at *at, const char *suffix, const struct doc *value,
                   enum api_error_type type, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(at->w, path_below(at, suffix), value, STR_NONE, type, fmt, ap);
    va_end(ap);
    return false;
}

static const struct doc *item_at(const struct doc *list, struct str index)
{
    size_t i = 0;
    for (size_t k = 0; k < index.n; k++) {
        if (index.p[k] < '0' || index.p[k] > '9' || i >= list->n)
            return NULL;
        i = i * 10 + (size_t)(index.p[k] - '0');
    }
    return i < list->n ? &list->items[i] : NULL;
}

/* What a path says that goes on from d: ".limits[cpu]", "[3].name". NULL: nothing. */
static const struct doc *value_below(const struct doc *d, struct str path)
{
    while (d && path.n) {
        bool item = path.p[0] == '[';
        size_t end = item ? str_find_byte(path, ']', 1) : name_end(path, 1);
        struct str name = str_sub(path, 1, end);
        if (d->type == DOC_LIST)
            d = item_at(d, name);
        else
            d = d->type == DOC_MAP ? doc_get_str(d, name) : NULL;
        path = str_sub(path, end + item, SIZE_MAX);
    }
    return d;
}

bool api_report_shown(struct api_at *at, const char *suffix, struct str shown,
                      enum api_error_type type, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(at->w, path_below(at, suffix), value_below(at->value, str_from(suffix)), shown,
           type, fmt, ap);
    va_end(ap);
    return false;
}

bool api_fail(struct api_at *at, enum api_error_type type, const char *text)
{
    return api_report(at, type, "%s", text);
}
