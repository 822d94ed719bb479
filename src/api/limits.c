/* SPDX-License-Identifier: Apache-2.0 */
#include "api/limits.h"

#include "api/edit.h"
#include "api/pod_amounts.h"

#include <stdlib.h>

static const struct doc *list_at(const struct doc *d, const char *path)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *list = doc_path(d, path);
    return list && list->type == DOC_LIST ? list : &NONE;
}

/* ---- defaults ---- */

static int by_key(const void *x, const void *y)
{
    return str_cmp(doc_key(x), doc_key(y));
}

static struct doc *map_of(struct doc *d, const char *key, struct arena *a)
{
    struct doc *map = api_edit_get(d, key);
    return map ? map : doc_set(a, d, key, doc_make_map());
}

/* Of all items for containers; of equal names the last. */
static struct doc defaults_of(const struct doc *range, const char *which, struct arena *a)
{
    const struct doc *items = list_at(range, "spec.limits");
    struct doc all = doc_make_map();
    for (uint32_t i = 0; i < items->n; i++) {
        const struct doc *map = doc_get(&items->items[i], which);
        bool ours = doc_is_string(doc_get(&items->items[i], "type"), "Container");
        for (uint32_t k = 0; ours && map && map->type == DOC_MAP && k < map->n; k++)
            doc_set_str(a, &all, doc_key(&map->members[k]), map->members[k].value);
    }
    if (all.n > 1)
        qsort(all.members, all.n, sizeof *all.members, by_key);
    return all;
}

struct filling {
    struct arena *a;
    struct doc requests, limits; /* that are filled in */
    struct strbuf told;
};

/* "cpu, memory request for container c" */
static void tell(struct filling *f, const char *names, const char *what, const char *kind,
                 struct str container)
{
    strbuf_addf(&f->told, "%s%s %s for %s %.*s", f->told.n ? "; " : "", names, what, kind,
                STR_ARG(container));
}

static void fill_list(struct filling *f, struct doc *container, const char *which,
                      const struct doc *from, const char *what, const char *kind)
{
    struct doc *resources = map_of(container, "resources", f->a), *map = NULL;
    struct strbuf names = STRBUF_INIT;
    for (uint32_t i = 0; i < from->n; i++) {
        struct str name = doc_key(&from->members[i]);
        if (doc_get_str(doc_get(resources, which), name))
            continue;
        map = map_of(resources, which, f->a);
        doc_set_str(f->a, map, name, from->members[i].value);
        strbuf_addf(&names, "%s%.*s", names.n ? ", " : "", STR_ARG(name));
    }
    if (map && map->n > 1)
        qsort(map->members, map->n, sizeof *map->members, by_key);
    if (names.n)
        tell(f, strbuf_cstr(&names), what, kind, doc_get_text(container, "name"));
    strbuf_release(&names);
}

static void fill_containers(struct filling *f, struct doc *pod, const char *containers,
                            const char *kind)
{
    struct doc *spec = api_edit_get(pod, "spec");
    struct doc *list = spec ? api_edit_get(spec, containers) : NULL;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        fill_list(f, &list->items[i], "requests", &f->requests, "request", kind);
        fill_list(f, &list->items[i], "limits", &f->limits, "limit", kind);
    }
}

void limits_default(const struct doc *range, struct doc *pod, struct arena *a)
{
    struct filling f = {.a = a,
                        .requests = defaults_of(range, "defaultRequest", a),
                        .limits = defaults_of(range, "default", a)};
    fill_containers(&f, pod, "containers", "container");
    fill_containers(&f, pod, "initContainers", "init container");
    struct doc *meta = api_edit_get(pod, "metadata");
    if (f.told.n && meta) {
        struct str text =
            arena_printf(a, "LimitRanger plugin set: %s", strbuf_cstr(&f.told));
        struct doc *map = map_of(meta, "annotations", a);
        doc_set(a, map, "kubernetes.io/limit-ranger", doc_make_string(a, text));
        qsort(map->members, map->n, sizeof *map->members, by_key);
    }
    strbuf_release(&f.told);
}

/* ---- limits ---- */

enum { MAX_PROBLEMS = 64 }; /* that are told */

struct judging {
    struct arena *a;
    const char *type;
    struct amounts requests, limits;
    struct str *problems; /* MAX_PROBLEMS */
    uint32_t n;
};

static void __attribute__((format(printf, 2, 3)))
report(struct judging *j, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(j->a, fmt, ap);
    va_end(ap);
    for (uint32_t i = 0; i < j->n; i++)
        if (str_eq(j->problems[i], text))
            return;
    if (j->n < MAX_PROBLEMS)
        j->problems[j->n++] = text;
}

static struct str show(const struct judging *j, const struct quantity *q)
{
    return quantity_print(q, j->a);
}

/* As numbers of thousandths, rounded up; of whole ones where one of three is too large
 * for that. */
static int compare(const struct quantity *x, const struct quantity *y,
                   const struct quantity *other)
{
    static const int64_t MOST = INT64_MAX / 1000;
    int64_t a, b, c = 0;
    bool fit = quantity_scaled(x, 0, &a) && quantity_scaled(y, 0, &b) &&
               (!other || quantity_scaled(other, 0, &c));
    if (fit && a <= MOST && b <= MOST && c <= MOST)
        fit = quantity_scaled(x, 3, &a) && quantity_scaled(y, 3, &b);
    return fit ? (a > b) - (a < b) : quantity_cmp(x, y);
}

static void check_min(struct judging *j, struct str name, const struct quantity *least)
{
    const struct quantity *request = amounts_get(&j->requests, name),
                          *limit = amounts_get(&j->limits, name);
    struct str shown = show(j, least);
    if (!request)
        report(j, "minimum %.*s usage per %s is %.*s.  No request is specified",
               STR_ARG(name), j->type, STR_ARG(shown));
    else if (compare(request, least, limit) < 0)
        report(j, "minimum %.*s usage per %s is %.*s, but request is %.*s", STR_ARG(name),
               j->type, STR_ARG(shown), STR_ARG(show(j, request)));
    else if (limit && compare(limit, least, request) < 0)
        report(j, "minimum %.*s usage per %s is %.*s, but limit is %.*s", STR_ARG(name),
               j->type, STR_ARG(shown), STR_ARG(show(j, limit)));
}

static void check_max(struct judging *j, struct str name, const struct quantity *most)
{
    const struct quantity *request = amounts_get(&j->requests, name),
                          *limit = amounts_get(&j->limits, name);
    struct str shown = show(j, most);
    if (!limit)
        report(j, "maximum %.*s usage per %s is %.*s.  No limit is specified",
               STR_ARG(name), j->type, STR_ARG(shown));
    else if (compare(limit, most, request) > 0)
        report(j, "maximum %.*s usage per %s is %.*s, but limit is %.*s", STR_ARG(name),
               j->type, STR_ARG(shown), STR_ARG(show(j, limit)));
    else if (request && compare(request, most, limit) > 0)
        report(j, "maximum %.*s usage per %s is %.*s, but request is %.*s", STR_ARG(name),
               j->type, STR_ARG(shown), STR_ARG(show(j, request)));
}

static void check_max_request(struct judging *j, struct str name,
                              const struct quantity *most)
{
    const struct quantity *request = amounts_get(&j->requests, name);
    struct str shown = show(j, most);
    if (!request)
        report(j, "maximum %.*s usage per %s is %.*s.  No request is specified",
               STR_ARG(name), j->type, STR_ARG(shown));
    else if (compare(request, most, NULL) > 0)
        report(j, "maximum %.*s usage per %s is %.*s, but request is %.*s", STR_ARG(name),
               j->type, STR_ARG(shown), STR_ARG(show(j, request)));
}

/* In thousandths where that can be told; the ratio itself is shown. */
static double ratio_of(const struct quantity *request, const struct quantity *limit)
{
    int64_t r = 0, l = 0;
    int digits = 0;
    if (quantity_scaled(request, 0, &r) && quantity_scaled(limit, 0, &l) &&
        r <= INT64_MAX / 1000 && l <= INT64_MAX / 1000)
        digits = 3;
    if (quantity_scaled(request, digits, &r) && quantity_scaled(limit, digits, &l))
        return (double)l / (double)r;
    return quantity_as_double(limit) / quantity_as_double(request);
}

static bool is_nothing(const struct quantity *q)
{
    return !q || quantity_sign(q) == 0;
}

static void check_ratio(struct judging *j, struct str name, const struct quantity *most)
{
    const struct quantity *request = amounts_get(&j->requests, name),
                          *limit = amounts_get(&j->limits, name);
    struct str shown = show(j, most);
    if (is_nothing(request)) {
        report(j,
               "%.*s max limit to request ratio per %s is %.*s, but no request is "
               "specified or request is 0",
               STR_ARG(name), j->type, STR_ARG(shown));
        return;
    }
    if (is_nothing(limit)) {
        report(j,
               "%.*s max limit to request ratio per %s is %.*s, but no limit is "
               "specified or limit is 0",
               STR_ARG(name), j->type, STR_ARG(shown));
        return;
    }
    int64_t whole, milli;
    double ratio = ratio_of(request, limit), bound = quantity_as_double(most),
           seen = ratio;
    if (quantity_scaled(most, 0, &whole) && whole <= INT64_MAX / 1000 &&
        quantity_scaled(most, 3, &milli)) {
        seen = ratio * 1000;
        bound = (double)milli;
    }
    if (seen > bound)
        report(j,
               "%.*s max limit to request ratio per %s is %.*s, but provided ratio is %f",
               STR_ARG(name), j->type, STR_ARG(shown), ratio);
}

typedef void check_fn(struct judging *j, struct str name, const struct quantity *bound);

static void check_all(struct judging *j, const struct doc *item, const char *which,
                      check_fn *check)
{
    struct amounts bounds = amounts_read(j->a, doc_get(item, which));
    for (uint32_t i = 0; i < bounds.n; i++)
        check(j, bounds.v[i].name, &bounds.v[i].value);
}

static void check_item(struct judging *j, const struct doc *item)
{
    check_all(j, item, "min", check_min);
    check_all(j, item, "max", check_max);
    check_all(j, item, "maxLimitRequestRatio", check_ratio);
}

static void check_containers(struct judging *j, const struct doc *item,
                             const struct doc *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *resources = doc_get(&list->items[i], "resources");
        j->requests = amounts_read(j->a, doc_get(resources, "requests"));
        j->limits = amounts_read(j->a, doc_get(resources, "limits"));
        check_item(j, item);
    }
}

static void check_pod(struct judging *j, const struct doc *item, const struct doc *pod)
{
    if (str_is(doc_get_text(item, "type"), "Container")) {
        j->type = "Container";
        check_containers(j, item, list_at(pod, "spec.containers"));
        check_containers(j, item, list_at(pod, "spec.initContainers"));
    } else if (str_is(doc_get_text(item, "type"), "Pod")) {
        j->type = "Pod";
        j->requests = pod_wanted(pod, "requests", j->a);
        j->limits = pod_wanted(pod, "limits", j->a);
        check_item(j, item);
    }
}

static void check_claim(struct judging *j, const struct doc *item,
                        const struct doc *claim)
{
    if (!str_is(doc_get_text(item, "type"), "PersistentVolumeClaim"))
        return;
    j->type = "PersistentVolumeClaim";
    j->limits = (struct amounts){.a = j->a};
    j->requests = amounts_read(j->a, doc_path(claim, "spec.resources.requests"));
    check_all(j, item, "min", check_min);
    check_all(j, item, "max", check_max_request);
}

struct str limits_check(const struct doc *range, const char *resource,
                        const struct doc *object, struct arena *a)
{
    const struct doc *items = list_at(range, "spec.limits");
    bool pod = strcmp(resource, "pods") == 0;
    struct strbuf b = STRBUF_INIT;
    struct judging j = {.a = a, .problems = ARENA_ARRAY(a, struct str, MAX_PROBLEMS)};
    if (pod && !pod_amounts_countable(object))
        return arena_printf(a, "containers may name %d amounts at most", POD_AMOUNTS_MAX);
    for (uint32_t i = 0; i < items->n; i++)
        (pod ? check_pod : check_claim)(&j, &items->items[i], object);
    for (uint32_t i = 0; i < j.n; i++)
        strbuf_addf(&b, "%s%.*s", i ? ", " : j.n > 1 ? "[" : "", STR_ARG(j.problems[i]));
    if (j.n > 1)
        strbuf_addc(&b, ']');
    struct str text = j.n ? arena_str(a, strbuf_str(&b)) : STR_NONE;
    strbuf_release(&b);
    return text;
}
