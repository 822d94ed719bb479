/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values against a schema, as kube-openapi validates them (pkg/validation/validate): what
 * is reported, with which texts, and which branch of anyOf or oneOf is told of.
 */
#include <math.h>

#include "api/structural_formats.h"
#include "api/structural_numbers.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "cel/regex.h"

enum finding_kind {
    FIND_PLAIN, /* of no field: told at the root */
    FIND_INVALID,
    FIND_TYPE,
    FIND_REQUIRED,
    FIND_ENUM,
    FIND_TOO_LONG,
    FIND_TOO_MANY,
};

struct finding {
    struct finding *next;
    enum finding_kind kind;
    struct str path, text, shown;
    uint64_t hash; /* of the text */
    int64_t max;   /* of TOO_LONG and TOO_MANY */
};

struct result {
    struct finding *first, *last; /* each once */
    uint32_t n;
    uint32_t matches; /* how much of the schema agrees */
};

struct check_values {
    struct arena *a;
    bool raw;
    struct strbuf path; /* from the value that is checked */
};

/* Findings of a value that has not changed are dropped. */
static struct result values_check(struct check_values *c, const struct schema *s,
                                  const struct doc *d, struct schema_pair *pair);

/* ---- Results ---- */

/* More of them than anybody reads are not told. */
enum { FINDINGS_MAX = 2000 };

static void add(struct check_values *c, struct result *r, struct finding f)
{
    for (const struct finding *o = r->first; o; o = o->next)
        if (o->hash == f.hash && o->kind == f.kind && str_eq(o->text, f.text) &&
            str_eq(o->path, f.path))
            return;
    if (r->n == FINDINGS_MAX)
        return;
    struct finding *copy = ARENA_NEW(c->a, struct finding);
    *copy = f;
    copy->next = NULL;
    *(r->first ? &r->last->next : &r->first) = copy;
    r->last = copy;
    r->n++;
}

static void merge(struct check_values *c, struct result *r, const struct result *other)
{
    uint32_t matches = r->matches + other->matches;
    if (!r->first)
        *r = *other;
    else
        for (const struct finding *f = other->first; f; f = f->next)
            add(c, r, *f);
    r->matches = matches;
}

static struct str path_text(const struct check_values *c)
{
    return strbuf_str(&c->path);
}

static void find_text(struct check_values *c, struct result *r, enum finding_kind kind,
                      struct str shown, struct str text, int64_t max)
{
    struct finding f = {.kind = kind, .shown = shown, .text = text, .max = max};
    if (kind != FIND_PLAIN)
        f.path = arena_str(c->a, path_text(c));
    f.hash = str_hash(text);
    add(c, r, f);
}

/* "PATH in body" and the text behind it. */
static void find(struct check_values *c, struct result *r, enum finding_kind kind,
                 struct str shown, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void find(struct check_values *c, struct result *r, enum finding_kind kind,
                 struct str shown, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    text = arena_printf(c->a, "%.*s in body %.*s", STR_ARG(path_text(c)), STR_ARG(text));
    find_text(c, r, kind, shown, text, 0);
}

/* What is no error of a field: it stands at no path of its own. */
static void find_plain(struct check_values *c, struct result *r, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void find_plain(struct check_values *c, struct result *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    find_text(c, r, FIND_PLAIN, STR_NONE, text, 0);
}

static void find_over(struct check_values *c, struct result *r, enum finding_kind kind,
                      uint32_t have, int64_t max)
{
    find_text(c, r, kind, arena_printf(c->a, "%u", have),
              arena_printf(c->a, "%lld", (long long)max), max);
}

static struct str quote(struct check_values *c, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, s);
    struct str out = arena_str(c->a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

/* ---- Types ---- */

static struct str type_of(const struct doc *d, const char **format)
{
    *format = "";
    switch ((enum doc_type)d->type) {
    case DOC_BOOL:
        return STR("boolean");
    case DOC_STRING:
        return STR("string");
    case DOC_LIST:
        return STR("array");
    case DOC_MAP:
        return STR("object");
    case DOC_NUMBER:
        if (schema_number_of(d).whole) {
            *format = "int64";
            return STR("integer");
        }
        *format = "float64";
        return STR("number");
    default:
        return STR("null");
    }
}

static bool any_type(const struct check_values *c, const struct schema *s)
{
    return s->type_name.n || (s->int_or_string && !c->raw);
}

static bool has_type(const struct check_values *c, const struct schema *s,
                     const char *type)
{
    if (s->int_or_string && !c->raw)
        return strcmp(type, "integer") == 0 || strcmp(type, "string") == 0;
    return str_is(s->type_name, type);
}

static struct str wanted_type(const struct check_values *c, const struct schema *s)
{
    return s->int_or_string && !c->raw ? STR("integer,string") : s->type_name;
}

/* Formats that mean nothing for the type are as good as absent. */
static struct str format_of(const struct check_values *c, const struct schema *s)
{
    struct str f = s->values->format;
    if (c->raw || !f.n)
        return f;
    bool ok = false;
    if (s->int_or_string || s->type == SCHEMA_UNTYPED || s->type == SCHEMA_STRING)
        ok = schema_format_find(f);
    else if (s->type == SCHEMA_INTEGER)
        ok = str_is(f, "int32") || str_is(f, "int64");
    else if (s->type == SCHEMA_NUMBER)
        ok = str_is(f, "float") || str_is(f, "double");
    return ok ? f : STR("");
}

static void find_type(struct check_values *c, struct result *r, struct str want,
                      struct str have)
{
    find(c, r, FIND_TYPE, quote(c, have), "must be of type %.*s: %.*s", STR_ARG(want),
         STR_ARG(quote(c, have)));
}

static void check_null(struct check_values *c, const struct schema *s, struct result *r)
{
    if (any_type(c, s) && !s->nullable && !has_type(c, s, "null"))
        find_type(c, r, wanted_type(c, s), STR("null"));
    else
        r->matches++;
}

static void check_type(struct check_values *c, const struct schema *s,
                       const struct doc *d, struct result *r)
{
    const char *format;
    struct str type = type_of(d, &format), want = format_of(c, s);
    bool number = has_type(c, s, "number"), integer = has_type(c, s, "integer");
    bool text = d->type == DOC_STRING || d->type == DOC_LIST;
    bool fits = has_type(c, s, type.p);
    if (d->type == DOC_NUMBER && schema_number_of(d).whole)
        fits = fits || number;
    else if (d->type == DOC_NUMBER)
        fits = fits || (integer && schema_is_integer(schema_number_of(d).d));
    if (!text && want.n && !fits && !str_is(want, format))
        find_type(c, r, want, str_from(format));
    else if (!number && !integer && want.n && text)
        r->matches++;
    else if (!fits)
        find_type(c, r, wanted_type(c, s), type);
    else
        r->matches++;
}

/* ---- Enumerations ---- */

/* Go converts the value to the type of the choice before it compares. */
static bool chosen(const struct doc *choice, const struct doc *d)
{
    char utf8[4];
    if (choice->type == DOC_NULL || !d || d->type == DOC_NULL)
        return false;
    if (choice->type == d->type && d->type != DOC_NUMBER)
        return schema_same(choice, d);
    if (d->type != DOC_NUMBER)
        return false;
    struct schema_number n = schema_number_of(d);
    if (choice->type == DOC_NUMBER) {
        struct schema_number want = schema_number_of(choice);
        if (want.whole)
            return want.i == (n.whole ? n.i : schema_truncate(n.d));
        return want.d == n.d;
    }
    if (choice->type != DOC_STRING || !n.whole)
        return false;
    unsigned size = n.i >= 0 && n.i <= 0x10ffff ? utf8_encode((uint32_t)n.i, utf8) : 0;
    struct str as_text = size ? (struct str){utf8, size} : STR("\xef\xbf\xbd");
    return str_eq(doc_str(choice), as_text);
}

static void check_enum(struct check_values *c, const struct schema *s,
                       const struct doc *d, struct result *r)
{
    const struct doc *enums = s->values->enums;
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; enums && i < enums->n; i++)
        if (chosen(&enums->items[i], d))
            return;
    if (!enums)
        return;
    strbuf_adds(&b, "supported values: ");
    for (uint32_t i = 0; i < enums->n; i++) {
        const struct doc *v = &enums->items[i];
        struct strbuf json = STRBUF_INIT;
        if (v->type != DOC_STRING)
            schema_write_json(v, &json);
        strbuf_adds(&b, i ? ", " : "");
        strbuf_add_quoted(&b, v->type == DOC_STRING ? doc_str(v) : strbuf_str(&json));
        strbuf_release(&json);
    }
    find_text(c, r, FIND_ENUM, schema_shown(c->a, d), arena_str(c->a, strbuf_str(&b)), 0);
    strbuf_release(&b);
}

/* ---- Strings ---- */

static bool matches(struct check_values *c, const struct schema_values *v, struct str s,
                    struct result *r)
{
    struct err e = ERR_INIT;
    struct cel_regex *own = v->regex ? NULL : cel_regex_new(v->pattern, &e);
    const struct cel_regex *re = v->regex ? v->regex : own;
    bool ok = re && cel_regex_match(re, s);
    if (!ok)
        find(c, r, FIND_INVALID, quote(c, s), "should match '%.*s%s%s'",
             STR_ARG(v->pattern),
             re ? "" : ", but pattern is invalid: ", re ? "" : err_text(&e));
    cel_regex_free(own);
    err_release(&e);
    return ok;
}

/* Ends at the first thing wrong. */
static void check_string(struct check_values *c, const struct schema *s, struct str text,
                         struct result *r)
{
    const struct schema_values *v = s->values;
    int64_t n = v->set ? (int64_t)utf8_count(text) : 0;
    if (schema_bounded(s, BOUND_MAX_LENGTH) && n > v->whole[BOUND_MAX_LENGTH]) {
        find_over(c, r, FIND_TOO_LONG, 0, v->whole[BOUND_MAX_LENGTH]);
    } else if (schema_bounded(s, BOUND_MIN_LENGTH) && n < v->whole[BOUND_MIN_LENGTH]) {
        find(c, r, FIND_INVALID, quote(c, text), "should be at least %lld chars long",
             (long long)v->whole[BOUND_MIN_LENGTH]);
    } else if (v->pattern.n) {
        matches(c, v, text, r);
    }
}

static void check_format(struct check_values *c, const struct schema_format *f,
                         const struct schema *s, struct str text, struct result *r)
{
    if (!schema_format_valid(f, s->values->format_regex, text))
        find(c, r, FIND_TYPE, quote(c, text), "must be of type %.*s: %.*s",
             STR_ARG(s->values->format), STR_ARG(quote(c, text)));
}

/* ---- Numbers ---- */

struct number_sink {
    struct check_values *c;
    struct result *r;
    struct str shown;
    double d;
};

static void add_number(void *ctx, enum number_text how, struct str text)
{
    struct number_sink *k = ctx;
    struct strbuf b = STRBUF_INIT;
    cel_print_double(k->d, &b);
    struct str shown = how == NUMBER_AT ? k->shown : arena_str(k->c->a, strbuf_str(&b));
    strbuf_release(&b);
    if (how == NUMBER_AT || how == NUMBER_AT_DOUBLE)
        find(k->c, k->r, FIND_INVALID, shown, "%.*s", STR_ARG(text));
    else
        find_text(k->c, k->r, how == NUMBER_PLAIN ? FIND_PLAIN : FIND_INVALID,
                  str_sub(text, str_rfind_byte(text, ' ') + 1, SIZE_MAX), text, 0);
}

/* Formats of another type bound nothing. */
static struct str number_format(const struct schema *s, bool one)
{
    struct str f = s->values->format;
    bool integer = one && s->type == SCHEMA_INTEGER,
         number = one && s->type == SCHEMA_NUMBER;
    if ((integer && (str_is(f, "int32") || str_is(f, "int64"))) ||
        (number && (str_is(f, "float") || str_is(f, "double"))))
        return f;
    return STR("");
}

static void check_number(struct check_values *c, const struct schema *s,
                         const struct doc *d, struct result *r)
{
    bool one = !s->int_or_string || c->raw;
    struct number_sink sink = {c, r, schema_shown(c->a, d), schema_number_of(d).d};
    const struct schema_number_check check = {
        .s = s,
        .n = schema_number_of(d),
        .type =
            one && (s->type == SCHEMA_INTEGER || s->type == SCHEMA_NUMBER) ? s->type : 0,
        .format = number_format(s, one),
        .path = path_text(c),
        .add = add_number,
        .ctx = &sink,
    };
    schema_check_number(&check, c->a);
    r->matches++;
}

/* ---- Lists and maps ---- */

static void check_list(struct check_values *c, const struct schema *s,
                       const struct doc *d, struct schema_pair *pair, struct result *r)
{
    const struct schema_values *v = s->values;
    for (uint32_t i = 0; s->items && i < d->n; i++) {
        struct schema_pair below;
        bool old = schema_pair_item(pair, i, c->a, &below);
        size_t here = schema_path_index(&c->path, i);
        struct result item = values_check(c, s->items, &d->items[i], old ? &below : NULL);
        merge(c, r, &item);
        schema_path_back(&c->path, here);
    }
    if (schema_bounded(s, BOUND_MIN_ITEMS) && d->n < v->whole[BOUND_MIN_ITEMS])
        find(c, r, FIND_INVALID, arena_printf(c->a, "%u", d->n),
             "should have at least %lld items", (long long)v->whole[BOUND_MIN_ITEMS]);
    if (schema_bounded(s, BOUND_MAX_ITEMS) && d->n > v->whole[BOUND_MAX_ITEMS])
        find_over(c, r, FIND_TOO_MANY, d->n, v->whole[BOUND_MAX_ITEMS]);
    r->matches++;
}

static void check_size(struct check_values *c, const struct schema *s,
                       const struct doc *d, struct result *r)
{
    const struct schema_values *v = s->values;
    if (schema_bounded(s, BOUND_MIN_PROPERTIES) && d->n < v->whole[BOUND_MIN_PROPERTIES])
        find(c, r, FIND_INVALID, arena_printf(c->a, "%u", d->n),
             "should have at least %lld properties",
             (long long)v->whole[BOUND_MIN_PROPERTIES]);
    if (schema_bounded(s, BOUND_MAX_PROPERTIES) && d->n > v->whole[BOUND_MAX_PROPERTIES])
        find_over(c, r, FIND_TOO_MANY, d->n, v->whole[BOUND_MAX_PROPERTIES]);
}

/* apiVersion and kind of the object itself are never kept for being old. */
static bool pair_below(struct check_values *c, struct schema_pair *pair, struct str key,
                       const struct doc *now, struct schema_pair *out)
{
    bool typemeta = c->path.n == 0 && (str_is(key, "apiVersion") || str_is(key, "kind"));
    return !typemeta && schema_pair_key(pair, key, now, c->a, out);
}

static void check_member(struct check_values *c, const struct schema *s,
                         const struct doc_member *m, struct schema_pair *pair,
                         struct result *r)
{
    struct str key = doc_key(m);
    const struct schema *p = schema_prop(s, key), *below = p ? p : s->extra;
    struct schema_pair old;
    if (!below)
        return;
    bool paired = pair_below(c, pair, key, &m->value, &old);
    size_t here = c->path.n;
    if (here || !p) /* the root's additional ones are ".key" */
        strbuf_addc(&c->path, '.');
    strbuf_addstr(&c->path, key);
    struct result member = values_check(c, below, &m->value, paired ? &old : NULL);
    merge(c, r, &member);
    schema_path_back(&c->path, here);
}

static void check_required(struct check_values *c, const struct schema *s,
                           const struct doc *d, struct result *r)
{
    const struct doc *required = s->values->required;
    struct schema_lookup members = {.map = d};
    for (uint32_t i = 0; required && i < required->n; i++) {
        struct str key = doc_str(&required->items[i]);
        if (schema_lookup(&members, key, c->a))
            continue;
        size_t here = c->path.n;
        strbuf_addc(&c->path, '.');
        strbuf_addstr(&c->path, key);
        find(c, r, FIND_REQUIRED, STR_NONE, "is required");
        schema_path_back(&c->path, here);
    }
}

static void check_map(struct check_values *c, const struct schema *s, const struct doc *d,
                      struct schema_pair *pair, struct result *r)
{
    check_size(c, s, d, r);
    for (uint32_t i = 0; i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        if (s->additional == ADDITIONAL_FALSE && !schema_prop(s, key))
            find_text(c, r, FIND_INVALID, quote(c, key),
                      arena_printf(c->a, "%.*s.%.*s in body is a forbidden property",
                                   STR_ARG(path_text(c)), STR_ARG(key)),
                      0);
        check_member(c, s, &d->members[i], pair, r);
    }
    check_required(c, s, d, r);
}

/* ---- Nested schemas ---- */

/* What they find counts even of what has not changed. */
static struct result nested(struct check_values *c, const struct schema *s,
                            const struct doc *d)
{
    return values_check(c, s, d, NULL);
}

/* Of the branches that fail the one that agrees with the value most. */
static bool better(const struct result *r, const struct result *best, bool any)
{
    return !any || r->matches > best->matches;
}

static void check_any_of(struct check_values *c, const struct schema_nested *list,
                         const struct doc *d, struct result *r)
{
    struct result best = {0};
    bool ok = false;
    for (uint32_t i = 0; !ok && i < list->n; i++) {
        struct result branch = nested(c, &list->v[i], d);
        ok = !branch.first;
        if (ok || better(&branch, &best, i > 0))
            best = branch;
    }
    if (list->n && !ok)
        find_plain(c, r, "%.*s must validate at least one schema (anyOf)",
                   STR_ARG(quote(c, path_text(c))));
    merge(c, r, &best);
}

static void check_one_of(struct check_values *c, const struct schema_nested *list,
                         const struct doc *d, struct result *r)
{
    struct result best = {0}, first = {0};
    uint32_t valid = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        struct result branch = nested(c, &list->v[i], d);
        if (!branch.first && valid++ == 0)
            first = branch;
        if (branch.first && valid == 0 && better(&branch, &best, i > 0))
            best = branch;
    }
    if (list->n == 0)
        return;
    if (valid == 0)
        find_plain(c, r,
                   "%.*s must validate one and only one schema (oneOf). Found none valid",
                   STR_ARG(quote(c, path_text(c))));
    else if (valid > 1)
        find_plain(c, r,
                   "%.*s must validate one and only one schema (oneOf). Found %u valid "
                   "alternatives",
                   STR_ARG(quote(c, path_text(c))), valid);
    if (valid < 2)
        merge(c, r, valid ? &first : &best);
}

static void check_all_of(struct check_values *c, const struct schema_nested *list,
                         const struct doc *d, struct result *r)
{
    uint32_t valid = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        struct result branch = nested(c, &list->v[i], d);
        valid += !branch.first;
        merge(c, r, &branch);
    }
    if (valid != list->n)
        find_plain(c, r, "%.*s must validate all the schemas (allOf)%s",
                   STR_ARG(quote(c, path_text(c))), valid ? "" : ". None validated");
}

static void check_logic(struct check_values *c, const struct schema *s,
                        const struct doc *d, struct result *r)
{
    const struct schema_logic *l = s->logic;
    check_any_of(c, &l->any_of, d, r);
    check_one_of(c, &l->one_of, d, r);
    check_all_of(c, &l->all_of, d, r);
    if (l->not_) {
        struct result branch = nested(c, l->not_, d);
        if (!branch.first)
            find_plain(c, r, "%.*s must not validate the schema (not)",
                       STR_ARG(quote(c, path_text(c))));
    }
    r->matches++;
}

/* ---- Values ---- */

static void check_kind(struct check_values *c, const struct schema *s,
                       const struct doc *d, struct schema_pair *pair, struct result *r)
{
    const struct schema_format *f;
    switch ((enum doc_type)d->type) {
    case DOC_STRING:
        check_string(c, s, doc_str(d), r);
        r->matches++;
        f = schema_format_find(format_of(c, s));
        if (f)
            check_format(c, f, s, doc_str(d), r);
        r->matches += f != NULL;
        break;
    case DOC_NUMBER:
        check_number(c, s, d, r);
        r->matches++;
        break;
    case DOC_LIST:
        check_list(c, s, d, pair, r);
        r->matches++;
        break;
    default:
        break;
    }
}

/* The steps of upstream's SchemaValidator in its order; each that applies counts. */
static void check_steps(struct check_values *c, const struct schema *s,
                        const struct doc *d, struct schema_pair *pair, struct result *r)
{
    if (any_type(c, s) || format_of(c, s).n) {
        check_type(c, s, d, r);
        r->matches++;
    }
    check_logic(c, s, d, r);
    r->matches++;
    check_kind(c, s, d, pair, r);
    check_enum(c, s, d, r);
    r->matches++;
    if (d->type == DOC_MAP) {
        check_map(c, s, d, pair, r);
        r->matches++;
    }
    r->matches++;
}

static struct result values_check(struct check_values *c, const struct schema *s,
                                  const struct doc *d, struct schema_pair *pair)
{
    struct result r = {0};
    if (d->type == DOC_NULL) {
        check_null(c, s, &r);
        check_enum(c, s, d, &r);
    } else {
        check_steps(c, s, d, pair, &r);
    }
    if (r.first && schema_pair_same(pair, c->a))
        r = (struct result){.matches = r.matches};
    return r;
}

/* ---- Errors ---- */

static struct str counted(struct arena *a, int64_t n, const char *one, const char *many,
                          const char *before, const char *odd)
{
    if (n < 0)
        return str_from(odd);
    return arena_printf(a, "%s %lld %s", before, (long long)n, n == 1 ? one : many);
}

static void report(const struct schema_report *r, const struct finding *f, struct str at)
{
    static const enum api_error_type types[] = {
        [FIND_PLAIN] = API_ERROR_INVALID,      [FIND_INVALID] = API_ERROR_INVALID,
        [FIND_TYPE] = API_ERROR_TYPE,          [FIND_REQUIRED] = API_ERROR_REQUIRED,
        [FIND_ENUM] = API_ERROR_NOT_SUPPORTED, [FIND_TOO_LONG] = API_ERROR_TOO_LONG,
        [FIND_TOO_MANY] = API_ERROR_TOO_MANY,
    };
    struct strbuf path = STRBUF_INIT;
    struct str detail = f->text, name = f->path, shown = f->shown;
    if (name.n && name.p[0] == '.')
        name = str_sub(name, 1, SIZE_MAX);
    strbuf_addstr(&path, at);
    if (f->kind != FIND_PLAIN && name.n)
        schema_path_child(&path, name);
    if (f->kind == FIND_PLAIN)
        shown = STR("\"\"");
    else if (f->kind == FIND_REQUIRED)
        detail = STR("");
    else if (f->kind == FIND_TOO_LONG)
        shown = STR_NONE;
    if (f->kind == FIND_TOO_LONG)
        detail = counted(r->a, f->max, "byte", "bytes", "may not be more than",
                         "value is too long");
    else if (f->kind == FIND_TOO_MANY)
        detail = counted(r->a, f->max, "item", "items", "must have at most",
                         "has too many items");
    schema_fail(r, &path, types[f->kind], shown, "%.*s", STR_ARG(detail));
    strbuf_release(&path);
}

void schema_check_values(const struct schema *s, const struct doc *d,
                         struct schema_pair *pair, bool raw, struct str at,
                         const struct schema_report *r)
{
    struct check_values c = {.a = r->a, .raw = raw, .path = STRBUF_INIT};
    struct result result = values_check(&c, s, d, pair);
    for (const struct finding *f = result.first; f; f = f->next)
        report(r, f, at);
    strbuf_release(&c.path);
}
