/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice about CEL. The text is mended step by step, each step for one kind of mistake;
 * what comes out is proposed only if it compiles within the cost limit.
 */
#include "cli/hints.h"
#include "cli/tokens.h"

struct mending {
    struct cluster *c;
    struct arena *a;
    struct str text;     /* mended so far */
    const char *reasons; /* of the first step that changed something; NULL: none */
};

static bool contains(struct str s, const char *what)
{
    return str_find(s, str_from(what)) != SIZE_MAX;
}

/* ---- what the cluster's devices have ---- */

static bool shape_has(const struct device_shape *s, struct str name, bool capacity)
{
    uint32_t i = capacity ? s->nattrs : 0;
    uint32_t end = s->nattrs + (capacity ? s->ncapacities : 0);
    while (i < end && !str_eq(s->names[i], name))
        i++;
    return i < end;
}

static bool has_name(const struct view_slice *s, struct str name, bool capacity)
{
    const struct device_shape *last = NULL;
    for (uint32_t i = 0; i < s->ndevices; i++) {
        const struct device_shape *shape = s->devices[i].facts.shape;
        if (shape != last && shape_has(shape, name, capacity))
            return true;
        last = shape;
    }
    return false;
}

/* The driver whose devices have the name; a stand-in if several do, or none. */
static struct str driver_of(const struct cluster *c, struct str name, bool capacity)
{
    struct str driver = STR_NONE;
    for (size_t i = 0; i < c->slices.n; i++) {
        const struct view_slice *s = c->slices.v[i];
        if (str_eq(driver, s->driver) || !has_name(s, name, capacity))
            continue;
        if (driver.n)
            return STR("DRIVER");
        driver = s->driver;
    }
    return driver.n ? driver : STR("DRIVER");
}

static bool is_capacity(const struct cluster *c, struct str name)
{
    for (size_t i = 0; i < c->slices.n; i++)
        if (has_name(c->slices.v[i], name, true))
            return true;
    return false;
}

static struct str path_text(const struct mending *m, struct str name, bool capacity)
{
    return arena_printf(m->a, "device.%s[\"%.*s\"].%.*s",
                        capacity ? "capacity" : "attributes",
                        STR_ARG(driver_of(m->c, name, capacity)), STR_ARG(name));
}

/* ---- steps ---- */

static void replace(struct mending *m, const struct tokens *t, uint32_t first,
                    uint32_t end, struct str with, const char *reason)
{
    size_t from = t->v[first].pos, to = t->v[end - 1].pos + t->v[end - 1].len;
    struct str head = str_sub(m->text, 0, from), tail = str_sub(m->text, to, SIZE_MAX);
    m->text =
        arena_printf(m->a, "%.*s%.*s%.*s", STR_ARG(head), STR_ARG(with), STR_ARG(tail));
    if (!m->reasons)
        m->reasons = reason;
}

/* and, or, not, a single = or &: written as in other languages. */
static bool mend_operators(struct mending *m)
{
    static const struct {
        const char *wrong, *right;
    } WORDS[] = {{"and", "&&"}, {"AND", "&&"}, {"or", "||"}, {"OR", "||"}, {"not", "!"}};
    struct tokens t;
    tokens_read(&t, m->text, m->a);
    for (uint32_t i = 0; i < t.n; i++)
        for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
            if (tokens_is(&t, i, WORDS[k].wrong) && !tokens_is(&t, i + 1, "(") &&
                (i == 0 || !tokens_is(&t, i - 1, "."))) {
                replace(m, &t, i, i + 1, str_from(WORDS[k].right),
                        "CEL writes && for and, || for or, ! for not");
                return true;
            }
    return false;
}

/* Characters between tokens that are none: "=" and "&" alone. */
static bool mend_single(struct mending *m)
{
    struct tokens t;
    tokens_read(&t, m->text, m->a);
    for (uint32_t i = 0; i + 1 < t.n; i++) {
        size_t from = t.v[i].pos + t.v[i].len;
        struct str gap = str_sub(m->text, from, t.v[i + 1].pos), c = str_trim(gap);
        const char *right = str_is(c, "=")   ? "=="
                            : str_is(c, "&") ? "&&"
                            : str_is(c, "|") ? "||"
                                             : NULL;
        if (!right)
            continue;
        m->text =
            arena_printf(m->a, "%.*s %s %.*s", STR_ARG(str_sub(m->text, 0, from)), right,
                         STR_ARG(str_sub(m->text, t.v[i + 1].pos, SIZE_MAX)));
        m->reasons = m->reasons ? m->reasons : "CEL doubles these: ==, &&, ||";
        return true;
    }
    return false;
}

/* device.capacity["memory"]: the first index is the domain. */
static bool mend_path(struct mending *m)
{
    struct tokens t;
    struct tokens_path path;
    tokens_read(&t, m->text, m->a);
    for (uint32_t from = 0; tokens_path(&t, from, &path, m->a); from = path.end) {
        if (path.name.n || path.domain.n == 0 ||
            str_find_byte(path.domain, '.', 0) != SIZE_MAX)
            continue;
        replace(m, &t, path.first, path.end, path_text(m, path.domain, path.capacity),
                path.capacity
                    ? "the first index of device.capacity is the domain, usually "
                      "the driver"
                    : "the first index of device.attributes is the domain, "
                      "usually the driver");
        return true;
    }
    return false;
}

static bool is_order(const struct tokens *t, uint32_t i)
{
    switch (t->v[i].kind) {
    case CEL_TOK_LT:
    case CEL_TOK_LE:
    case CEL_TOK_GT:
    case CEL_TOK_GE:
        return true;
    default:
        return false;
    }
}

static bool is_comparison(const struct tokens *t, uint32_t i)
{
    return is_order(t, i) || t->v[i].kind == CEL_TOK_EQ || t->v[i].kind == CEL_TOK_NE;
}

/* 16Gi, "16Gi", quantity("16Gi"), 16: the quantity's text; STR_NONE: it is none. */
static struct str amount_of(const struct tokens *t, uint32_t first, uint32_t end,
                            struct arena *a)
{
    if (tokens_is(t, first, "quantity") && end == first + 4)
        return tokens_string(t, first + 2, a);
    struct str text = end == first + 1 && t->v[first].kind == CEL_TOK_STRING
                          ? tokens_string(t, first, a)
                          : tokens_span(t, first, end);
    struct quantity q;
    return text.n && quantity_parse(text, a, &q, NULL) ? text : STR_NONE;
}

/* The left side of a comparison with an amount: a capacity, or a bare name. */
static struct str amount_path(struct mending *m, const struct tokens *t, uint32_t first,
                              uint32_t end)
{
    struct tokens_path path;
    if (end == first + 1 && t->v[first].kind == CEL_TOK_IDENT &&
        !tokens_is(t, first, "device"))
        return path_text(m, tokens_text(t, first), true);
    if (!tokens_path(t, first, &path, m->a) || path.first != first || path.end != end ||
        path.name.n == 0)
        return STR_NONE;
    if (path.capacity)
        return tokens_span(t, first, end);
    return is_capacity(m->c, path.name) ? path_text(m, path.name, true) : STR_NONE;
}

static bool mend_comparison_at(struct mending *m, const struct tokens *t, uint32_t i)
{
    uint32_t left, right;
    tokens_operands(t, i, &left, &right);
    struct str amount = amount_of(t, i + 1, right, m->a);
    struct str path = amount.n ? amount_path(m, t, left, i) : STR_NONE;
    if (path.n == 0)
        return false;
    bool is_quantity = tokens_is(t, i + 1, "quantity");
    struct str now = tokens_span(t, left, right), mended;
    if (t->v[i].kind == CEL_TOK_NE)
        mended = arena_printf(m->a, "!(%.*s == quantity(\"%.*s\"))", STR_ARG(path),
                              STR_ARG(amount));
    else if (t->v[i].kind == CEL_TOK_EQ)
        mended = arena_printf(m->a, "%.*s == quantity(\"%.*s\")", STR_ARG(path),
                              STR_ARG(amount));
    else
        mended = arena_printf(m->a, "%.*s.compareTo(quantity(\"%.*s\")) %.*s 0",
                              STR_ARG(path), STR_ARG(amount), STR_ARG(tokens_text(t, i)));
    if (str_eq(now, mended))
        return false;
    replace(m, t, left, right, mended,
            t->v[i].kind == CEL_TOK_NE && is_quantity
                ? "only == of amounts has a cost that is known beforehand"
                : "amounts are quantities, compared by compareTo");
    return true;
}

static bool mend_comparison(struct mending *m)
{
    struct tokens t;
    tokens_read(&t, m->text, m->a);
    for (uint32_t i = 1; i + 1 < t.n; i++)
        if (is_comparison(&t, i) && mend_comparison_at(m, &t, i))
            return true;
    return false;
}

/* memory.isGreaterThan(...), model == "x": names that are a device's. */
static bool mend_bare(struct mending *m)
{
    struct tokens t;
    tokens_read(&t, m->text, m->a);
    for (uint32_t i = 0; i < t.n; i++) {
        struct str name = tokens_text(&t, i);
        bool bare =
            t.v[i].kind == CEL_TOK_IDENT && !tokens_is(&t, i + 1, "(") &&
            (i == 0 || (!tokens_is(&t, i - 1, ".") && !tokens_is(&t, i - 1, "?")));
        bool capacity = bare && is_capacity(m->c, name);
        bool attribute =
            bare && !capacity && !str_is(driver_of(m->c, name, false), "DRIVER");
        if (!capacity && !attribute)
            continue;
        replace(m, &t, i, i + 1, path_text(m, name, capacity),
                "a device's own values are reached through device.attributes and "
                "device.capacity");
        return true;
    }
    return false;
}

/* A call's arguments end here: the token behind ")" of the "(" at i. */
static uint32_t behind_call(const struct tokens *t, uint32_t i)
{
    int depth = 0;
    for (; i < t->n; i++) {
        depth += tokens_is(t, i, "(");
        depth -= tokens_is(t, i, ")");
        if (depth == 0)
            return i + 1;
    }
    return i;
}

static struct str without_marks(const struct tokens *t, const struct tokens_path *path,
                                struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = path->first; i < path->end; i++)
        if (!tokens_is(t, i, "?"))
            strbuf_addstr(&b, tokens_text(t, i));
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* device.attributes["d"].?x.orValue("").f(): what an optional holds has no known size. */
static bool mend_optional(struct mending *m)
{
    struct tokens t;
    struct tokens_path path;
    tokens_read(&t, m->text, m->a);
    for (uint32_t from = 0; tokens_path(&t, from, &path, m->a); from = path.end) {
        bool unwraps = tokens_is(&t, path.end + 1, "orValue") ||
                       tokens_is(&t, path.end + 1, "value");
        if (!path.optional || !unwraps || !tokens_is(&t, path.end + 2, "("))
            continue;
        uint32_t rest = behind_call(&t, path.end + 2), left, right;
        tokens_operands(&t, path.first, &left, &right);
        if (left != path.first)
            continue; /* !device..., or the right side of a comparison */
        struct str plain = without_marks(&t, &path, m->a);
        struct str tail = rest < right ? str_sub(m->text, t.v[rest].pos,
                                                 t.v[right - 1].pos + t.v[right - 1].len)
                                       : STR("");
        struct str sep = rest < right && !tokens_is(&t, rest, ".") ? STR(" ") : STR("");
        replace(m, &t, left, right,
                arena_printf(m->a, "has(%.*s) && %.*s%.*s%.*s", STR_ARG(plain),
                             STR_ARG(plain), STR_ARG(sep), STR_ARG(tail)),
                "what an optional holds has no size that is known beforehand: guard with "
                "has()");
        return true;
    }
    return false;
}

/* ---- proposals ---- */

static bool is_good(struct mending *m)
{
    const struct device_env_opts opts = {
        .kind = DEVICE_ENV_NEW, .consumable_capacity = true, .list_attributes = true};
    struct device_expr_error error;
    struct device_env *env = device_env_new(&opts, &m->c->names);
    struct device_expr *x = device_expr_new(env, m->text, DEVICE_SELECTOR, m->a, &error);
    bool ok = x && device_expr_estimate(x).max <= DEVICE_COST_LIMIT;
    device_expr_free(x);
    device_env_free(env);
    return ok;
}

typedef bool mend_fn(struct mending *m);

/* Each step is repeated while it finds something; a step shortens the list of mistakes,
 * the bound is for those that would not. */
static struct str propose(struct cluster *c, struct str text, mend_fn *const *steps,
                          struct arena *a)
{
    enum { MOST = 32 };
    struct mending m = {c, a, text, NULL};
    for (int left = MOST; *steps && left > 0;)
        if ((*steps)(&m))
            left--;
        else
            steps++;
    if (!m.reasons)
        return STR("");
    if (!is_good(&m))
        return str_from(m.reasons);
    return arena_printf(a, "%s: write %.*s", m.reasons, STR_ARG(m.text));
}

/* ---- names that are none ---- */

static const char *const MEMBERS[] = {"driver", "attributes", "capacity",
                                      "allowMultipleAllocations"};
static const char *const NAMES[] = {
    "device",     "quantity", "semver",    "isGreaterThan", "isLessThan", "compareTo",
    "startsWith", "endsWith", "contains",  "matches",       "exists",     "all",
    "size",       "has",      "includes",  "lowerAscii",    "upperAscii", "split",
    "isQuantity", "isSemver", "asInteger", "orValue",       "hasValue",   "filter",
    "map",        "isSorted", "indexOf",   "replace",
};

static struct str quoted(struct str message, const char *before)
{
    size_t at = str_find(message, str_from(before));
    if (at == SIZE_MAX)
        return STR_NONE;
    size_t from = at + strlen(before), to = str_find_byte(message, '\'', from);
    return str_sub(message, from, to);
}

static struct str near_of(const char *const *names, size_t n, struct str name,
                          struct arena *a)
{
    struct hint_nearest near = hint_nearest_to(name);
    for (size_t i = 0; i < n; i++)
        hint_nearest_try(&near, str_from(names[i]));
    return near.name.n ? arena_printf(a, "did you mean \"%.*s\"?", STR_ARG(near.name))
                       : STR("");
}

static struct str hint_for_name(struct str message, struct arena *a)
{
    struct str field = quoted(message, "undefined field '");
    struct str name = quoted(message, "undeclared reference to '");
    if (str_is(field, "name"))
        return STR("a selector cannot see a device's name; select by attributes");
    if (field.n)
        return near_of(MEMBERS, sizeof MEMBERS / sizeof *MEMBERS, field, a);
    return name.n ? near_of(NAMES, sizeof NAMES / sizeof *NAMES, name, a) : STR("");
}

/* ---- the answers ---- */

struct str hint_for_cel(struct cluster *c, struct str expression, struct str message,
                        struct arena *a)
{
    static mend_fn *const WRONG[] = {mend_operators,  mend_single, mend_path,
                                     mend_comparison, mend_bare,   NULL};
    static mend_fn *const COSTLY[] = {mend_optional, mend_comparison, NULL};
    bool costly = contains(message, "cost limit");
    struct str hint = costly ? STR("") : hint_for_name(message, a);
    if (hint.n == 0)
        hint = propose(c, expression, costly ? COSTLY : WRONG, a);
    if (hint.n == 0 && contains(message, "must evaluate to bool"))
        hint = STR("a selector is a question: compare the value, as in ... == \"x\"");
    return hint;
}

/* "100Gi" < "8Gi" as texts. */
struct str hint_for_accepted(struct cluster *c, struct str expression, struct arena *a)
{
    struct tokens t;
    tokens_read(&t, expression, a);
    for (uint32_t i = 1; i + 1 < t.n; i++) {
        uint32_t left, right;
        struct tokens_path path;
        struct quantity q;
        tokens_operands(&t, i, &left, &right);
        if (!is_order(&t, i) || right != i + 2 || t.v[i + 1].kind != CEL_TOK_STRING ||
            !tokens_path(&t, left, &path, a) || path.end != i || path.capacity ||
            !quantity_parse(tokens_string(&t, i + 1, a), a, &q, NULL))
            continue;
        struct mending m = {c, a, expression, NULL};
        return arena_printf(
            a,
            "texts are compared letter by letter, \"8Gi\" is above \"16Gi\"; amounts are "
            "capacities: write %.*s.compareTo(quantity(%.*s)) %.*s 0",
            STR_ARG(path_text(&m, path.name, true)), STR_ARG(tokens_text(&t, i + 1)),
            STR_ARG(tokens_text(&t, i)));
    }
    return STR("");
}

/* "no such key: mode. consider using ..." */
static struct str missing_key(struct str error)
{
    static const char KEY[] = "no such key: ";
    size_t at = str_find(error, str_from(KEY));
    if (at == SIZE_MAX)
        return STR_NONE;
    struct str rest = str_sub(error, at + strlen(KEY), SIZE_MAX);
    size_t end = 0;
    while (end < rest.n && rest.p[end] != ' ' && rest.p[end] != '\n')
        end++;
    while (end > 0 && (rest.p[end - 1] == '.' || rest.p[end - 1] == ','))
        end--;
    return str_sub(rest, 0, end);
}

static bool reads(struct str expression, struct str key, struct str *path,
                  struct arena *a)
{
    struct tokens t;
    struct tokens_path p;
    tokens_read(&t, expression, a);
    for (uint32_t from = 0; tokens_path(&t, from, &p, a); from = p.end)
        if (str_eq(p.name, key)) {
            *path = tokens_span(&t, p.first, p.end);
            return true;
        }
    return false;
}

/* version >= "1.2.3": a version is no text. */
static struct str version_hint(struct str expression, struct arena *a)
{
    struct tokens t;
    struct tokens_path p;
    struct semver v;
    tokens_read(&t, expression, a);
    for (uint32_t i = 1; i + 1 < t.n; i++) {
        uint32_t left, right;
        tokens_operands(&t, i, &left, &right);
        if (!is_comparison(&t, i) || right != i + 2 ||
            t.v[i + 1].kind != CEL_TOK_STRING || !tokens_path(&t, left, &p, a) ||
            p.end != i || p.capacity ||
            !semver_parse(tokens_string(&t, i + 1, a), false, a, &v, NULL))
            continue;
        return arena_printf(
            a,
            "a version is no text: write %.*s.compareTo(semver(%.*s)) %.*s "
            "0",
            STR_ARG(tokens_span(&t, p.first, p.end)), STR_ARG(tokens_text(&t, i + 1)),
            STR_ARG(tokens_text(&t, i)));
    }
    return STR("");
}

static struct str overload_hint(const struct str *expressions, uint32_t n,
                                struct arena *a)
{
    for (uint32_t i = 0; i < n; i++) {
        struct str hint = version_hint(expressions[i], a);
        if (hint.n)
            return hint;
    }
    return STR("a value is compared with one of another type: look at what the device "
               "publishes (string, int, bool, version)");
}

static struct str key_hint(struct str key, const struct str *expressions, uint32_t n,
                           struct arena *a)
{
    struct str path;
    for (uint32_t i = 0; i < n; i++)
        if (reads(expressions[i], key, &path, a))
            return arena_printf(
                a, "not every device has %.*s; guard it: has(%.*s) && %.*s ...",
                STR_ARG(key), STR_ARG(path), STR_ARG(path));
    return arena_printf(a,
                        "not every device has %.*s: guard it, or ask for device.driver "
                        "first",
                        STR_ARG(key));
}

struct str hint_for_runtime(struct str error, const struct str *expressions, uint32_t n,
                            struct arena *a)
{
    struct str key = missing_key(error);
    if (key.n)
        return key_hint(key, expressions, n, a);
    if (contains(error, "no such overload"))
        return overload_hint(expressions, n, a);
    return STR("");
}
