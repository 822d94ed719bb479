/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/rbac_rules.h"

#include "base/quote.h"

static bool is_star(struct str s)
{
    return s.n == 1 && s.p[0] == '*';
}

static bool has_or_star(const struct names *names, struct str name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (str_eq(names->v[i], name) || is_star(names->v[i]))
            return true;
    return false;
}

/* ---- reading ---- */

static struct rule read_rule(const struct doc *d, struct arena *a)
{
    return (struct rule){.verbs = names_read(doc_get(d, "verbs"), a),
                         .groups = names_read(doc_get(d, "apiGroups"), a),
                         .resources = names_read(doc_get(d, "resources"), a),
                         .resource_names = names_read(doc_get(d, "resourceNames"), a),
                         .urls = names_read(doc_get(d, "nonResourceURLs"), a)};
}

struct rules rules_read(const struct doc *list, struct arena *a)
{
    if (!list || list->type != DOC_LIST || list->n == 0)
        return (struct rules){0};
    struct rule *v = ARENA_ARRAY(a, struct rule, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        v[i] = read_rule(&list->items[i], a);
    return (struct rules){v, list->n};
}

struct doc rule_doc(const struct rule *r, struct arena *a)
{
    const struct {
        const char *key;
        const struct names *names;
    } ROWS[] = {{"verbs", &r->verbs},
                {"apiGroups", &r->groups},
                {"resources", &r->resources},
                {"resourceNames", &r->resource_names},
                {"nonResourceURLs", &r->urls}};
    struct doc d = doc_make_map();
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].names->n)
            doc_set(a, &d, ROWS[i].key, names_doc(*ROWS[i].names, a));
    return d;
}

/* ---- one request ---- */

/* "*" + "/status" */
static bool is_any_with(struct str pattern, struct str subresource)
{
    return subresource.n && pattern.n == subresource.n + 2 &&
           str_starts(pattern, STR("*/")) && str_ends(pattern, subresource);
}

static bool is_combined(struct str pattern, const struct attributes *want)
{
    size_t n = want->resource.n;
    if (want->subresource.n == 0)
        return str_eq(pattern, want->resource);
    return pattern.n == n + 1 + want->subresource.n &&
           str_starts(pattern, want->resource) && pattern.p[n] == '/' &&
           str_ends(pattern, want->subresource);
}

static bool resource_matches(const struct names *names, const struct attributes *want)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (is_star(names->v[i]) || is_combined(names->v[i], want) ||
            is_any_with(names->v[i], want->subresource))
            return true;
    return false;
}

/* "/api/" + "*" covers all paths that begin so. */
static bool url_covers(struct str owner, struct str path)
{
    size_t n = owner.n;
    while (n && owner.p[n - 1] == '*')
        n--;
    return str_eq(owner, path) || (n < owner.n && str_starts(path, str_sub(owner, 0, n)));
}

static bool url_matches(const struct names *urls, struct str path)
{
    for (uint32_t i = 0; i < urls->n; i++)
        if (url_covers(urls->v[i], path))
            return true;
    return false;
}

bool rule_allows(const struct rule *r, const struct attributes *want)
{
    if (!has_or_star(&r->verbs, want->verb))
        return false;
    if (want->path.p)
        return url_matches(&r->urls, want->path);
    return has_or_star(&r->groups, want->group) &&
           resource_matches(&r->resources, want) &&
           (r->resource_names.n == 0 || names_have(&r->resource_names, want->name));
}

/* ---- coverage ---- */

/* A rule is taken apart into atoms: one verb on one resource, name or path. */
struct atom {
    struct str verb, group, resource, name, url; /* name.p, url.p NULL: none */
};
typedef VEC(struct atom) atoms;

static void split_resources(const struct rule *r, atoms *out)
{
    for (uint32_t g = 0; g < r->groups.n; g++)
        for (uint32_t i = 0; i < r->resources.n; i++)
            for (uint32_t v = 0; v < r->verbs.n; v++) {
                struct atom one = {r->verbs.v[v], r->groups.v[g], r->resources.v[i],
                                   STR_NONE, STR_NONE};
                for (uint32_t n = 0; n < r->resource_names.n; n++) {
                    one.name = r->resource_names.v[n];
                    vec_push(out, one);
                }
                if (r->resource_names.n == 0)
                    vec_push(out, one);
            }
}

static void split_urls(const struct rule *r, atoms *out)
{
    for (uint32_t i = 0; i < r->urls.n; i++)
        for (uint32_t v = 0; v < r->verbs.n; v++)
            vec_push(out, (struct atom){.verb = r->verbs.v[v], .url = r->urls.v[i]});
}

static bool resource_covers(const struct names *held, struct str resource)
{
    size_t slash = str_find_byte(resource, '/', 0);
    struct str sub =
        slash == SIZE_MAX ? STR_NONE : str_sub(resource, slash + 1, SIZE_MAX);
    for (uint32_t i = 0; i < held->n; i++)
        if (is_star(held->v[i]) || str_eq(held->v[i], resource) ||
            (slash != SIZE_MAX && held->v[i].n == sub.n + 2 &&
             str_starts(held->v[i], STR("*/")) && str_ends(held->v[i], sub)))
            return true;
    return false;
}

static bool covers(const struct rule *held, const struct atom *want)
{
    if (!has_or_star(&held->verbs, want->verb))
        return false;
    if (want->url.p)
        return url_matches(&held->urls, want->url);
    return has_or_star(&held->groups, want->group) &&
           resource_covers(&held->resources, want->resource) &&
           (held->resource_names.n == 0 ||
            (want->name.p && names_have(&held->resource_names, want->name)));
}

static bool is_covered(struct rules held, const struct atom *want)
{
    for (uint32_t i = 0; i < held.n; i++)
        if (covers(&held.v[i], want))
            return true;
    return false;
}

static void print_names(struct strbuf *out, const char *label, const struct names *names,
                        const char **comma)
{
    if (names->n == 0)
        return;
    strbuf_addf(out, "%s%s:[", *comma, label);
    for (uint32_t i = 0; i < names->n; i++) {
        strbuf_adds(out, i ? " " : "");
        strbuf_add_quoted(out, names->v[i]);
    }
    strbuf_addc(out, ']');
    *comma = ", ";
}

void rule_print(const struct rule *r, struct strbuf *out)
{
    const char *comma = "";
    strbuf_addc(out, '{');
    print_names(out, "APIGroups", &r->groups, &comma);
    print_names(out, "Resources", &r->resources, &comma);
    print_names(out, "NonResourceURLs", &r->urls, &comma);
    print_names(out, "ResourceNames", &r->resource_names, &comma);
    print_names(out, "Verbs", &r->verbs, &comma);
    strbuf_addc(out, '}');
}

static bool same_object(const struct atom *a, const struct atom *b)
{
    return !a->url.p && !b->url.p && str_eq(a->group, b->group) &&
           str_eq(a->resource, b->resource) && !a->name.p == !b->name.p &&
           str_eq(a->name, b->name);
}

static struct names one_name(struct str s, struct arena *a)
{
    struct str *v = ARENA_NEW(a, struct str);
    *v = s;
    return (struct names){v, s.p != NULL};
}

/* The first atom together with those behind it that differ by their verb alone; these are
 * taken out. */
static struct rule take_rule(atoms *left, struct arena *a)
{
    struct atom first = left->v[0];
    struct str *verbs = ARENA_ARRAY(a, struct str, left->n);
    struct rule r = {.verbs = {verbs, 0},
                     .groups = one_name(first.group, a),
                     .resources = one_name(first.resource, a),
                     .resource_names = one_name(first.name, a),
                     .urls = one_name(first.url, a)};
    size_t kept = 0;
    for (size_t i = 0; i < left->n; i++)
        if (i == 0 || same_object(&first, &left->v[i]))
            verbs[r.verbs.n++] = left->v[i].verb;
        else
            left->v[kept++] = left->v[i];
    left->n = kept;
    return r;
}

struct rules rules_uncovered(struct rules held, struct rules wanted, struct arena *a)
{
    atoms all = {0};
    for (uint32_t i = 0; i < wanted.n; i++) {
        split_resources(&wanted.v[i], &all);
        split_urls(&wanted.v[i], &all);
    }
    size_t kept = 0;
    for (size_t i = 0; i < all.n; i++)
        if (!is_covered(held, &all.v[i]))
            all.v[kept++] = all.v[i];
    all.n = kept;
    struct rule *v = ARENA_ARRAY(a, struct rule, all.n);
    struct rules out = {v, 0};
    while (all.n)
        v[out.n++] = take_rule(&all, a);
    vec_release(&all);
    return out;
}

static int compare(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str line_of(const struct rule *r, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    rule_print(r, &b);
    struct str line = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return line;
}

struct str rules_missing(struct rules held, struct rules wanted, struct arena *a)
{
    struct rules left = rules_uncovered(held, wanted, a);
    struct str *lines = ARENA_ARRAY(a, struct str, left.n);
    for (uint32_t i = 0; i < left.n; i++)
        lines[i] = line_of(&left.v[i], a);
    if (left.n)
        qsort(lines, left.n, sizeof *lines, compare);
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < left.n; i++)
        if (i == 0 || !str_eq(lines[i], lines[i - 1]))
            strbuf_addf(&b, "%s%.*s", i ? "\n" : "", STR_ARG(lines[i]));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}
