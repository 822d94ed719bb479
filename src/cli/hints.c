/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hints.h"

/* ---- unknown fields ---- */

/* Letters to change, drop or add to make one of the other; at most max + 1. */
static unsigned distance(struct str a, struct str b, unsigned max)
{
    enum { LONGEST = 64 };
    unsigned row[LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return max + 1;
    for (size_t k = 0; k <= b.n; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b.n; k++) {
            unsigned best = diagonal + ((a.p[i - 1] | 32) != (b.p[k - 1] | 32));
            diagonal = row[k];
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[b.n];
}

static const struct api_field *near_field(const struct api_type *t, struct str name)
{
    const struct api_field *best = NULL;
    unsigned least = name.n < 4 ? 1 : 3;
    for (uint16_t i = 0; i < t->nfields; i++) {
        unsigned d = distance(str_from(t->fields[i].name), name, least);
        if (d < least) {
            least = d;
            best = &t->fields[i];
        }
    }
    return best;
}

/* A field of t, not a list, whose struct has a field of that name. */
static const struct api_field *holder(const struct api_type *t, struct str name)
{
    for (uint16_t i = 0; i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        if (f->form == API_STRUCT && f->container == API_ONE &&
            api_field_find(f->type, name))
            return f;
    }
    return NULL;
}

static struct str last_name(struct str path)
{
    size_t from = 0, dot;
    while ((dot = str_find_byte(path, '.', from)) != SIZE_MAX)
        from = dot + 1;
    return str_sub(path, from, SIZE_MAX);
}

static struct str parent_path(struct str path)
{
    struct str name = last_name(path);
    return str_sub(path, 0, path.n > name.n ? path.n - name.n - 1 : 0);
}

/* What stands under the unknown field belongs to the struct itself ("basic",
 * "spec.spec"). */
static bool members_fit(const struct api_type *t, const struct doc *value)
{
    if (!value || value->type != DOC_MAP || value->n == 0)
        return false;
    for (uint32_t i = 0; i < value->n; i++)
        if (!api_field_find(t, doc_key(&value->members[i])))
            return false;
    return true;
}

struct str hint_for_issue(const struct api_issue *x, const struct doc *object,
                          struct arena *a)
{
    if (x->kind == API_DUPLICATE_FIELD)
        return STR("the key is there twice in one map; keep one");
    if (x->kind != API_UNKNOWN_FIELD)
        return STR("");
    struct str name = last_name(x->path), parent = parent_path(x->path);
    const struct api_field *f = holder(x->in, name);
    if (f)
        return arena_printf(a, "%.*s belongs under \"%s\": write %.*s.%s.%.*s",
                            STR_ARG(name), f->name, STR_ARG(parent), f->name,
                            STR_ARG(name));
    if (members_fit(x->in, x->value))
        return arena_printf(
            a, "in %.*s what stands under \"%.*s\" belongs directly under %.*s",
            STR_ARG(doc_get_text(object, "apiVersion")), STR_ARG(name),
            STR_ARG(parent.n ? parent : STR("the object")));
    f = near_field(x->in, name);
    if (f)
        return arena_printf(a, "did you mean \"%s\"?", f->name);
    return STR("");
}

/* ---- CEL ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* The domain to propose: that of the only driver, or a stand-in. */
static struct str some_driver(const struct cluster *c)
{
    struct str driver = STR_NONE;
    for (size_t i = 0; c && i < c->slices.n; i++) {
        if (driver.n && !str_eq(driver, c->slices.v[i]->driver))
            return STR("DRIVER");
        driver = c->slices.v[i]->driver;
    }
    return driver.n ? driver : STR("DRIVER");
}

/* device.capacity["memory"]: the first index is the domain. Offset of the bracket, or
 * SIZE_MAX. *name is what stands in it. */
static size_t bare_index(struct str x, const char *map, struct str *name)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "device.%s[", map);
    size_t at = str_find(x, strbuf_str(&b));
    size_t open = at == SIZE_MAX ? at : at + b.n;
    strbuf_release(&b);
    if (at == SIZE_MAX || open + 1 >= x.n || (x.p[open] != '"' && x.p[open] != '\''))
        return SIZE_MAX;
    size_t close = str_find_byte(x, x.p[open], open + 1);
    *name = str_sub(x, open + 1, close);
    bool domain = str_find_byte(*name, '.', 0) != SIZE_MAX;
    return close == SIZE_MAX || domain ? SIZE_MAX : open - 1;
}

static struct str domain_hint(const struct cluster *c, struct str x, struct arena *a)
{
    static const char *const MAPS[] = {"capacity", "attributes"};
    for (int i = 0; i < 2; i++) {
        struct str name;
        if (bare_index(x, MAPS[i], &name) != SIZE_MAX)
            return arena_printf(a,
                                "the first index of device.%s is the domain, usually the "
                                "driver: write device.%s[\"%.*s\"].%.*s",
                                MAPS[i], MAPS[i], STR_ARG(some_driver(c)), STR_ARG(name));
    }
    return STR("");
}

/* NAME OP QUANTITY, as in memory >= 16Gi. */
static struct str comparison_hint(const struct cluster *c, struct str x, struct arena *a)
{
    static const char *const OPS[] = {">=", "<=", ">", "<", "=="};
    x = str_trim(x);
    size_t n = 0;
    while (n < x.n && is_word(x.p[n]))
        n++;
    struct str name = str_sub(x, 0, n), rest = str_trim(str_sub(x, n, SIZE_MAX));
    for (size_t i = 0; n && i < sizeof OPS / sizeof *OPS; i++) {
        if (!str_starts(rest, str_from(OPS[i])))
            continue;
        struct str value = str_trim(str_sub(rest, strlen(OPS[i]), SIZE_MAX));
        if (value.n >= 2 && (value.p[0] == '"' || value.p[0] == '\''))
            value = str_sub(value, 1, value.n - 1);
        struct quantity q;
        if (value.n == 0 || !quantity_parse(value, a, &q, NULL))
            return STR("");
        return arena_printf(
            a,
            "amounts are compared by compareTo: write "
            "device.capacity[\"%.*s\"].%.*s.compareTo(quantity(\"%.*s\")) %s 0",
            STR_ARG(some_driver(c)), STR_ARG(name), STR_ARG(value), OPS[i]);
    }
    return STR("");
}

struct str hint_for_cel(const struct cluster *c, struct str expression,
                        const struct cel_issue *issue, struct arena *a)
{
    struct str hint = domain_hint(c, expression, a);
    if (hint.n == 0)
        hint = comparison_hint(c, expression, a);
    if (hint.n == 0 && str_find(issue->msg, STR("undefined field 'name'")) != SIZE_MAX)
        hint = STR("a selector cannot see a device's name; select by attributes");
    return hint;
}

struct str hint_for_error(const struct cluster *c, const struct api_error *x,
                          struct arena *a)
{
    (void)c;
    (void)a;
    struct str e = x->value && x->value->type == DOC_STRING ? doc_str(x->value) : STR("");
    if (x->type != API_ERROR_FORBIDDEN ||
        str_find(x->detail, STR("cost limit")) == SIZE_MAX)
        return STR("");
    if (str_find(e, STR(".?")) != SIZE_MAX)
        return STR(
            "an optional loses the size bound of what it holds: guard with has(...) && "
            "instead of .? and orValue");
    if (str_find(e, STR("!=")) != SIZE_MAX)
        return STR(
            "only == of quantities and versions has a fixed cost: write !(a == b)");
    return STR("");
}

/* ---- versions ---- */

struct str hint_for_version(struct str api_version, struct str kind, struct arena *a)
{
    size_t slash = str_find_byte(api_version, '/', 0);
    struct str group = slash == SIZE_MAX ? STR("") : str_sub(api_version, 0, slash);
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < api_nkinds; i++)
        if (str_is(kind, api_kinds[i].name) && str_is(group, api_kinds[i].group) &&
            !strchr(api_kinds[i].resource, '/'))
            strbuf_addf(&b, "%s%s", b.n ? ", " : "", api_kinds[i].version);
    struct str versions = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    if (versions.n == 0)
        return STR("");
    return arena_printf(a, "Kubernetes 1.37 has %.*s in %.*s", STR_ARG(kind),
                        STR_ARG(versions));
}
