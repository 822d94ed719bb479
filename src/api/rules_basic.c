/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of general use: presence, sizes, formats, immutability. */
#include <stdlib.h>

#include "api/rules.h"
#include "api/rules_text.h"
#include "api/timestamp.h"
#include "base/map.h"
#include "num/quantity.h"

/* ---- presence ---- */

static bool is_empty(const struct doc *d)
{
    return !d || ((d->type == DOC_STRING || d->type == DOC_LIST) && d->n == 0);
}

/* Go's zero time, which counts as none. */
static bool is_zero_time(const struct api_field *f, const struct doc *d)
{
    static const int64_t YEAR_1 = -62135596800;
    int64_t seconds;
    int32_t nanos;
    return f->form == API_TIME && f->container == API_ONE && d && d->type == DOC_STRING &&
           timestamp_parse(doc_str(d), &seconds, &nanos) && seconds == YEAR_1 && !nanos;
}

/* An empty struct is there, an empty map field is not. */
API_RULE(required)
{
    bool empty_map = at->value && at->value->type == DOC_MAP && at->value->n == 0 &&
                     at->field->container != API_ONE;
    if (!is_empty(at->value) && !empty_map && !is_zero_time(at->field, at->value))
        return true;
    return api_report(at, API_ERROR_REQUIRED, "%s", arg);
}

/* A number that must not be zero. */
API_RULE(required_number)
{
    int64_t v;
    if (at->value && doc_int64(at->value, &v) && v != 0)
        return true;
    return api_report(at, API_ERROR_REQUIRED, "%s", arg);
}

API_RULE(not_empty)
{
    return at->value->n
               ? true
               : api_report(at, API_ERROR_INVALID, "must not be empty if specified");
}

API_RULE(true_or_unset)
{
    if (at->value->type == DOC_BOOL && !at->value->b)
        api_report(at, API_ERROR_INVALID, "must be either unset or set to true");
    return true;
}

/* ---- sizes ---- */

static uint32_t limit_of(const char *arg)
{
    return (uint32_t)strtoul(arg, NULL, 10);
}

API_RULE(max)
{
    uint32_t max = limit_of(arg);
    if (!at->value || at->value->n <= max)
        return true;
    return api_report(at, API_ERROR_TOO_MANY, "%u: must have at most %u item%s",
                      at->value->n, max, max == 1 ? "" : "s");
}

/* As max, but the items are looked at all the same. */
API_RULE(max_soft)
{
    rule_max(at, arg);
    return true;
}

API_RULE(max_bytes)
{
    if (api_text(at->value).n > limit_of(arg))
        api_report(at, API_ERROR_TOO_LONG, "may not be more than %s bytes", arg);
    return true;
}

API_RULE(each_max_bytes)
{
    api_each(at, rule_max_bytes, arg);
    return true;
}

/* arg is the least number and, after a bar, what is said of a smaller one. */
API_RULE(at_least)
{
    char *text;
    int64_t v = 0, min = strtoll(arg, &text, 10);
    if ((at->value && !doc_int64(at->value, &v)) || v >= min)
        return true;
    if (*text == '|')
        return api_fail(at, API_ERROR_INVALID, text + 1);
    return api_report(at, API_ERROR_INVALID, "must be greater than or equal to %s", arg);
}

API_RULE(at_most)
{
    int64_t v = 0, max = strtoll(arg, NULL, 10);
    if ((!at->value || doc_int64(at->value, &v)) && v > max)
        api_report(at, API_ERROR_INVALID, "must be less than or equal to %s", arg);
    return true;
}

/* ---- uniqueness ---- */

/* The members named in keys ("a|b"), as one text; the item itself without keys. */
static struct str item_key(struct arena *a, const struct doc *item, const char *keys)
{
    struct strbuf b = STRBUF_INIT;
    if (keys[0] == '\0')
        doc_write_json(item, DOC_JSON_SORT, &b);
    struct str left = str_from(keys);
    while (left.n) {
        size_t bar = str_find_byte(left, '|', 0);
        struct str value = api_text(doc_get_str(item, str_sub(left, 0, bar)));
        strbuf_addf(&b, "%zu:%.*s,", value.n, STR_ARG(value));
        left = bar == SIZE_MAX ? STR_NONE : str_sub(left, bar + 1, SIZE_MAX);
    }
    struct str key = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return key;
}

/* The declarative stage shows the whole item, the other one its key if that is one text.
 */
static void check_unique(struct api_at *at, const char *keys, const char *below)
{
    struct strmap seen = STRMAP_INIT;
    bool whole = keys[0] == '\0' || strchr(keys, '|') || at->w->declared;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *item = &at->value->items[i];
        bool made;
        strmap_put(&seen, item_key(at->w->a, item, keys), &made);
        if (!made)
            api_report_at(at, arena_printf(at->w->a, "[%u]%s", i, below).p,
                          whole ? item : api_member(item, keys), API_ERROR_DUPLICATE,
                          "%s", "");
    }
    strmap_release(&seen);
}

API_RULE(unique)
{
    check_unique(at, arg, "");
    return true;
}

/* Names of items, reported at the name itself, as pods have it. */
API_RULE(unique_names)
{
    check_unique(at, "name", ".name");
    return true;
}

/* ---- formats ---- */

unsigned rules_problems(struct api_walk *w, enum name_kind kind, struct str s,
                        struct str problems[NAME_MAX_PROBLEMS])
{
    const struct str characters = STR(" characters");
    unsigned n = name_check(kind, s, w->a, problems);
    for (unsigned i = 0; i < n && w->declared; i++)
        if (str_ends(problems[i], characters))
            problems[i] = arena_printf(
                w->a, "%.*s bytes", (int)(problems[i].n - characters.n), problems[i].p);
    return n;
}

bool rules_name_at(struct api_at *at, const char *suffix, const struct doc *value,
                   enum name_kind kind)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = rules_problems(at->w, kind, api_text(value), problems);
    for (unsigned i = 0; i < n; i++)
        api_report_at(at, suffix, value, API_ERROR_INVALID, "%.*s", STR_ARG(problems[i]));
    return n == 0;
}

bool rules_name(struct api_at *at, enum name_kind kind)
{
    return rules_name_at(at, "", at->value, kind);
}

const char *rules_index(struct api_at *at, uint32_t i)
{
    return arena_printf(at->w->a, "[%u]", i).p;
}

API_RULE(dns_label)
{
    return rules_name(at, NAME_DNS1123_LABEL);
}

API_RULE(each_dns_label)
{
    api_each(at, rule_dns_label, arg);
    return true;
}

API_RULE(dns_subdomain)
{
    return rules_name(at, NAME_DNS1123_SUBDOMAIN);
}

API_RULE(caseless_subdomain)
{
    return rules_name(at, NAME_DNS1123_SUBDOMAIN_CASELESS);
}

API_RULE(class_name)
{
    if (is_empty(at->value))
        return api_report(at, API_ERROR_REQUIRED, "%s", "");
    return rules_name(at, NAME_DNS1123_SUBDOMAIN);
}

API_RULE(label_key)
{
    return rules_name(at, NAME_LABEL_KEY);
}

API_RULE(label_key_or_empty)
{
    return is_empty(at->value) || rules_name(at, NAME_LABEL_KEY);
}

API_RULE(label_value)
{
    return rules_name(at, NAME_LABEL_VALUE);
}

/* Keys of a map; a bad one is reported at the map. */
API_RULE(label_keys)
{
    struct str problems[NAME_MAX_PROBLEMS];
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        unsigned n = rules_problems(at->w, NAME_DNS1123_LABEL,
                                    doc_key(&at->value->members[i]), problems);
        for (unsigned k = 0; k < n; k++)
            rules_bad_key(at, &at->value->members[i], API_ERROR_INVALID, problems[k]);
    }
    return true;
}

bool rules_bad_key(struct api_at *at, const struct doc_member *m,
                   enum api_error_type type, struct str text)
{
    struct doc *key = ARENA_NEW(at->w->a, struct doc);
    *key = doc_make_string(at->w->a, doc_key(m));
    key->pos = m->key_pos;
    return api_report_at(at, "", key, type, "%.*s", STR_ARG(text));
}

enum { DRIVER_NAME_MAX = 63, POOL_NAME_MAX = 253, ID_MAX = 32 };

struct str rules_lowered(struct arena *a, struct str s)
{
    char *p = (char *)arena_str(a, s).p;
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] + 'a' - 'A');
    return (struct str){p, s.n};
}

/* Defects of names with parts: each with the part that it is about. */
struct defects {
    struct api_at *at; /* NULL: they are only counted */
    unsigned n;
};

static void defect(struct defects *d, struct str part, enum api_error_type type,
                   struct str text)
{
    if (d->at)
        api_report_shown(d->at, "", api_shown_text(d->at->w->a, part), type, "%.*s",
                         STR_ARG(text));
    d->n++;
}

static void name_defects(struct defects *d, struct api_walk *w, enum name_kind kind,
                         struct str checked, struct str part, const char *prefix)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = rules_problems(w, kind, checked, problems);
    for (unsigned i = 0; i < n; i++)
        defect(d, part, API_ERROR_INVALID,
               arena_printf(w->a, "%s%.*s", prefix, STR_ARG(problems[i])));
}

static void driver_defects(struct defects *d, struct api_walk *w, struct str s)
{
    bool declared = w->declared;
    if (s.n == 0) {
        defect(d, s, API_ERROR_REQUIRED, STR(""));
        return;
    }
    if ((declared ? utf8_count(s) : s.n) > DRIVER_NAME_MAX)
        defect(d, s, API_ERROR_TOO_LONG,
               arena_printf(w->a, "may not be more than %d %s", DRIVER_NAME_MAX,
                            declared ? "characters" : "bytes"));
    if (declared)
        name_defects(d, w, NAME_DNS1123_SUBDOMAIN_CASELESS, s, s, "");
    else
        name_defects(d, w, NAME_DNS1123_SUBDOMAIN, rules_lowered(w->a, s), s, "");
}

API_RULE(driver_name)
{
    struct defects d = {.at = at};
    driver_defects(&d, at->w, api_text(at->value));
    return d.n == 0;
}

static void pool_part(struct defects *d, struct api_walk *w, struct str whole,
                      struct str part, unsigned i)
{
    struct str prefix = arena_printf(w->a, "segment %u: ", i);
    if (!w->declared)
        name_defects(d, w, NAME_DNS1123_SUBDOMAIN, part, part, "");
    else if (part.n)
        name_defects(d, w, NAME_DNS1123_SUBDOMAIN, part, part, prefix.p);
    else
        defect(d, whole, API_ERROR_INVALID,
               arena_printf(w->a, "%smust not be empty", prefix.p));
}

/* Parts between slashes are subdomains. Absence is another rule's business. */
API_RULE(pool_path)
{
    struct str s = api_text(at->value);
    struct defects d = {.at = at};
    if (s.n > POOL_NAME_MAX)
        defect(&d, s, API_ERROR_TOO_LONG,
               arena_printf(at->w->a, "may not be more than %d bytes", POOL_NAME_MAX));
    for (size_t from = 0, i = 0;; i++) {
        size_t slash = str_find_byte(s, '/', from);
        pool_part(&d, at->w, s, str_sub(s, from, slash), (unsigned)i);
        if (slash == SIZE_MAX)
            return d.n == 0;
        from = slash + 1;
    }
}

API_RULE(pool_name)
{
    if (is_empty(at->value))
        return api_fail(at, API_ERROR_REQUIRED, "");
    return rule_pool_path(at, arg);
}

static void identifier(struct defects *d, struct api_walk *w, struct str id)
{
    if (id.n > ID_MAX)
        defect(d, id, API_ERROR_TOO_LONG, STR("may not be more than 32 bytes"));
    name_defects(d, w, NAME_C_IDENTIFIER, id, id, "");
}

static void domain(struct defects *d, struct api_walk *w, struct str s)
{
    if (s.n == 0) {
        defect(d, s, API_ERROR_INVALID,
               w->declared ? STR("prefix must not be empty")
                           : STR("the domain must not be empty"));
    } else if (!w->declared) {
        driver_defects(d, w, s);
    } else {
        if (s.n > DRIVER_NAME_MAX)
            defect(d, s, API_ERROR_TOO_LONG, STR("may not be more than 63 bytes"));
        name_defects(d, w, NAME_DNS1123_SUBDOMAIN, s, s, "prefix: ");
    }
}

/* "id" or "domain/id". More than one slash is not checked, as upstream accepts such names
 * (spec 2.1). */
static void qualified_name(struct defects *d, struct api_walk *w, struct str s)
{
    size_t slash = str_find_byte(s, '/', 0);
    if (slash == SIZE_MAX) {
        identifier(d, w, s);
        return;
    }
    struct str id = str_sub(s, slash + 1, SIZE_MAX);
    if (str_find_byte(id, '/', 0) != SIZE_MAX)
        return;
    domain(d, w, str_sub(s, 0, slash));
    if (id.n == 0)
        defect(d, id, API_ERROR_INVALID,
               w->declared ? STR("name must not be empty")
                           : STR("the name must not be empty"));
    else
        identifier(d, w, id);
}

API_RULE(qualified_keys)
{
    struct defects d = {.at = at};
    for (uint32_t i = 0; at->value && i < at->value->n; i++)
        qualified_name(&d, at->w, doc_key(&at->value->members[i]));
    return true;
}

static void full_name_defects(struct defects *d, struct api_walk *w, struct str s)
{
    qualified_name(d, w, s);
    if (str_find_byte(s, '/', 0) == SIZE_MAX)
        defect(d, s, API_ERROR_INVALID,
               STR("a fully qualified name must be a domain and a name separated by a "
                   "slash"));
}

API_RULE(full_name)
{
    struct defects d = {.at = at};
    full_name_defects(&d, at->w, api_text(at->value));
    return d.n == 0;
}

bool rules_full_name_valid(struct api_walk *w, struct str s)
{
    struct defects d = {0};
    full_name_defects(&d, w, s);
    return d.n == 0;
}

API_RULE(uuid)
{
    struct str s = api_text(at->value);
    bool ok = s.n == 36;
    for (size_t i = 0; ok && i < s.n; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23)
            ok = s.p[i] == '-';
        else
            ok = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
    }
    if (!ok)
        api_report(at, API_ERROR_INVALID,
                   "must be a lowercase UUID in 8-4-4-4-12 format");
    return ok;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One dot-separated identifier; numeric ones without leading zeros where strict. */
static bool semver_identifier(struct str s, bool strict, bool numeric_only)
{
    bool numeric = true;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        numeric = numeric && is_digit(c);
        if (!is_digit(c) && !is_letter(c) && c != '-')
            return false;
    }
    if (s.n == 0 || (numeric_only && !numeric))
        return false;
    return !(strict && numeric && s.n > 1 && s.p[0] == '0');
}

/* Dot-separated identifiers; exactly want of them unless want is 0. */
static bool semver_parts(struct str s, bool strict, bool numeric_only, unsigned want)
{
    size_t from = 0;
    for (unsigned n = 1;; n++) {
        size_t dot = str_find_byte(s, '.', from);
        if (!semver_identifier(str_sub(s, from, dot), strict, numeric_only))
            return false;
        if (dot == SIZE_MAX)
            return want == 0 || n == want;
        from = dot + 1;
    }
}

bool rules_semver_shape(struct str s)
{
    size_t plus = str_find_byte(s, '+', 0);
    if (plus != SIZE_MAX &&
        !semver_parts(str_sub(s, plus + 1, SIZE_MAX), false, false, 0))
        return false;
    struct str left = str_sub(s, 0, plus);
    size_t dash = str_find_byte(left, '-', 0);
    if (dash != SIZE_MAX &&
        !semver_parts(str_sub(left, dash + 1, SIZE_MAX), true, false, 0))
        return false;
    return semver_parts(str_sub(left, 0, dash), true, true, 3);
}

API_RULE(semver)
{
    if (!rules_semver_shape(api_text(at->value)))
        api_report(at, API_ERROR_INVALID,
                   "must be a string compatible with semver.org spec 2.0.0");
    return true;
}

API_RULE(each_semver)
{
    api_each(at, rule_semver, arg);
    return true;
}

API_RULE(one_of)
{
    return rules_among(api_text(at->value), arg) ||
           rules_not_supported(at, "", at->value, arg);
}

API_RULE(one_of_if_set)
{
    return is_empty(at->value) || rule_one_of(at, arg);
}

bool rules_not_supported(struct api_at *at, const char *suffix, const struct doc *value,
                         const char *choices)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *p = choices; *p; p++) {
        if (*p == '|')
            strbuf_adds(&b, "\", \"");
        else
            strbuf_addc(&b, *p);
    }
    api_report_at(at, suffix, value, API_ERROR_NOT_SUPPORTED, "supported values: \"%s\"",
                  strbuf_cstr(&b));
    strbuf_release(&b);
    return false;
}

/* ---- raw JSON (spec 2.1) ---- */

API_RULE(raw_json)
{
    const struct doc *d = at->value;
    if (!d)
        return at->field->flags & API_REQUIRED ||
                       str_is(str_from(at->field->name), "parameters")
                   ? api_report(at, API_ERROR_REQUIRED, "%s", "")
                   : true;
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    size_t n = b.n;
    strbuf_release(&b);
    if (!at->w->stored && n > limit_of(arg))
        return api_report(at, API_ERROR_TOO_LONG, "may not be more than %s bytes", arg);
    if (d->type != DOC_MAP)
        return api_report_shown(at, "", STR("\"<value omitted>\""), API_ERROR_INVALID,
                                "must be a valid JSON object");
    return true;
}

/* ---- immutability ---- */

static bool changed(struct api_at *at)
{
    return at->old_parent && !api_same(at->w, at->field, at->value, at->old);
}

/* The declarative stage shows no value. */
static void check_immutable(struct api_at *at, const char *text)
{
    if (!changed(at))
        return;
    if (at->w->declared)
        api_report_shown(at, "", STR("null"), API_ERROR_INVALID, "%s", text);
    else
        api_fail(at, API_ERROR_INVALID, text);
}

/* The declarative stage says nothing else then. */
API_RULE(immutable)
{
    check_immutable(at, "field is immutable");
    return !at->w->declared || !changed(at);
}

API_RULE(when_new)
{
    return at->w->opts->op == API_CREATE;
}

/* Of an object that is kept for itself; inside another it is a form to make some from,
 * and upstream does not look at this part of it. */
API_RULE(of_object)
{
    return at->parent == at->w->object;
}

/* Immutable, and on update only that is checked. */
API_RULE(frozen)
{
    check_immutable(at, "field is immutable");
    return at->w->opts->op == API_CREATE;
}

/* May be set or cleared, never changed; its content is checked when it is new. */
API_RULE(set_once)
{
    if (!at->old)
        return true;
    check_immutable(at, "field cannot be modified once set");
    return false;
}

API_RULE(frozen_once_set)
{
    if (!at->old)
        return true;
    check_immutable(at, "field is immutable");
    return false;
}

/* The list's expressions and parameters are trusted when it equals the stored one. */
API_RULE(stored_when_same)
{
    at->w->stored = at->old_parent && !changed(at);
    return true;
}

API_RULE(gated)
{
    if (api_gate(at->w->opts->gates, api_gate_find(str_from(arg))))
        return true;
    return api_report(at, API_ERROR_FORBIDDEN, "%s", "");
}

/* ---- small formats of single fields ---- */

API_RULE(extended_resource_name)
{
    struct str s = api_text(at->value), problems[NAME_MAX_PROBLEMS];
    if (str_find_byte(s, '/', 0) == SIZE_MAX)
        api_report(
            at, API_ERROR_INVALID,
            "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
    else if (str_find(s, STR("kubernetes.io/")) != SIZE_MAX)
        api_report(at, API_ERROR_INVALID, "must not have \"kubernetes.io/\" domain");
    if (str_starts(s, STR("requests.")))
        api_report(at, API_ERROR_INVALID, "must not have \"requests.\" prefix");
    struct str quota = arena_printf(at->w->a, "requests.%.*s", STR_ARG(s));
    unsigned n = name_check(NAME_LABEL_KEY, quota, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report(at, API_ERROR_INVALID, "%.*s", STR_ARG(problems[i]));
    return true;
}

static bool is_reason_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == ',' || c == ':';
}

API_RULE(condition_reason)
{
    struct str s = api_text(at->value);
    bool ok = s.n && is_letter(s.p[0]) && s.p[s.n - 1] != ',' && s.p[s.n - 1] != ':';
    for (size_t i = 0; ok && i < s.n; i++)
        ok = is_reason_char(s.p[i]);
    if (!ok)
        api_report(
            at, API_ERROR_INVALID,
            "a condition reason must start with alphabetic character, optionally "
            "followed by a string of alphanumeric characters or '_,:', and must end "
            "with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
            "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for "
            "validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    return true;
}

bool rules_quantity(struct api_at *at, const struct doc *parent, const char *key,
                    struct quantity *out)
{
    const struct doc *d = api_member(parent, key);
    return d && (d->type == DOC_STRING || d->type == DOC_NUMBER) &&
           quantity_parse(doc_str(d), at->w->a, out, NULL);
}

unsigned rules_chosen(struct arena *a, const struct choice *choices, size_t n,
                      struct str *shown)
{
    struct strbuf b = STRBUF_INIT;
    unsigned set = 0;
    for (size_t i = 0; i < n; i++)
        if (choices[i].set)
            strbuf_addf(&b, "%s%s", set++ ? ", " : "{", choices[i].name);
    strbuf_adds(&b, set ? "}" : "");
    *shown = arena_printf(a, "\"%s\"", strbuf_cstr(&b));
    strbuf_release(&b);
    return set;
}
