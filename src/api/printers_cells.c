/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that many kinds have, and what all cells are made with. */
#include "api/printers_inner.h"

#include <stdlib.h>

#include "api/age.h"

/* ---- helpers ---- */

struct doc cell_of(const struct printing *p, struct str text)
{
    return doc_make_string(p->a, text);
}

uint32_t cell_list(const struct doc *object, const char *path, const struct doc **items)
{
    const struct doc *d = doc_path(object, path);
    bool list = d && d->type == DOC_LIST;
    *items = list ? d->items : NULL;
    return list ? d->n : 0;
}

struct str cell_path_text(const struct doc *object, const char *path)
{
    const struct doc *d = doc_path(object, path);
    return d && (d->type == DOC_STRING || d->type == DOC_NUMBER) ? doc_str(d) : STR("");
}

int64_t cell_path_int(const struct doc *object, const char *path)
{
    const struct doc *d = doc_path(object, path);
    int64_t v = 0;
    return d && doc_int64(d, &v) ? v : 0;
}

void cell_add(const struct printing *p, struct cell_texts *texts, struct str text)
{
    if (texts->n == texts->cap) {
        size_t cap = texts->cap ? 2 * texts->cap : 8;
        struct str *v = ARENA_ARRAY(p->a, struct str, cap);
        if (texts->n)
            memcpy(v, texts->v, texts->n * sizeof *v);
        texts->v = v;
        texts->cap = cap;
    }
    texts->v[texts->n++] = text;
}

struct str cell_joined(const struct printing *p, const struct cell_texts *texts,
                       const char *between)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < texts->n; i++) {
        strbuf_adds(&b, i ? between : "");
        strbuf_addstr(&b, texts->v[i]);
    }
    struct str s = arena_str(p->a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void cell_sort(struct cell_texts *texts)
{
    size_t kept = 0;
    if (texts->n)
        qsort(texts->v, texts->n, sizeof *texts->v, by_bytes);
    for (size_t i = 0; i < texts->n; i++)
        if (!kept || !str_eq(texts->v[i], texts->v[kept - 1]))
            texts->v[kept++] = texts->v[i];
    texts->n = kept;
}

const struct doc *cell_condition(const struct doc *object, const char *path,
                                 const char *type)
{
    const struct doc *v;
    uint32_t n = cell_list(object, path, &v);
    for (uint32_t i = 0; i < n; i++)
        if (doc_is_string(doc_get(&v[i], "type"), type))
            return &v[i];
    return NULL;
}

bool cell_path_is_map(const struct doc *object, const char *path)
{
    const struct doc *d = doc_path(object, path);
    return d && d->type == DOC_MAP;
}

bool cell_is_true(const struct doc *condition)
{
    return doc_is_string(doc_get(condition, "status"), "True");
}

/* Splits "path|fallback": the value at the path, NULL where it is unset. */
static const struct doc *at(const struct doc *object, const char *argument,
                            struct str *fallback)
{
    char path[96];
    struct str all = str_from(argument);
    size_t bar = str_find_byte(all, '|', 0), n = bar == SIZE_MAX ? all.n : bar;
    *fallback = bar == SIZE_MAX ? STR("") : str_sub(all, bar + 1, SIZE_MAX);
    n = n < sizeof path ? n : sizeof path - 1;
    memcpy(path, argument, n);
    path[n] = '\0';
    const struct doc *d = doc_path(object, path);
    return d && d->type != DOC_NULL ? d : NULL;
}

/* ---- values at a path ---- */

struct doc cell_text(const struct printing *p, const struct doc *object,
                     const char *argument)
{
    struct str fallback;
    const struct doc *d = at(object, argument, &fallback);
    bool text = d && (d->type == DOC_STRING || d->type == DOC_NUMBER) && d->n;
    return cell_of(p, text ? doc_str(d) : fallback);
}

/* A number; the fallback's text where it is unset, 0 without one. */
struct doc cell_int(const struct printing *p, const struct doc *object,
                    const char *argument)
{
    struct str fallback;
    const struct doc *d = at(object, argument, &fallback);
    int64_t v = 0;
    if (!d && fallback.n)
        return cell_of(p, fallback);
    if (d)
        doc_int64(d, &v);
    return doc_make_int(p->a, v);
}

struct doc cell_bool(const struct printing *p, const struct doc *object,
                     const char *argument)
{
    struct str fallback;
    const struct doc *d = at(object, argument, &fallback);
    return doc_make_bool(d && d->type == DOC_BOOL ? d->b : str_is(fallback, "true"));
}

struct doc cell_yes_no(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    struct str fallback;
    const struct doc *d = at(object, argument, &fallback);
    if (!d || d->type != DOC_BOOL)
        return cell_of(p, fallback);
    return cell_of(p, d->b ? STR("True") : STR("False"));
}

struct doc cell_age(const struct printing *p, const struct doc *object,
                    const char *argument)
{
    struct str fallback;
    const struct doc *d = at(object, argument, &fallback);
    if (!d && strchr(argument, '|'))
        return cell_of(p, fallback);
    return cell_of(
        p, age_of(d && d->type == DOC_STRING ? doc_str(d) : STR(""), p->now, p->a));
}

/* Items of a list, members of a map. */
struct doc cell_count(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    const struct doc *d = doc_path(object, argument);
    bool counts = d && (d->type == DOC_LIST || d->type == DOC_MAP);
    return doc_make_int(p->a, counts ? d->n : 0);
}

struct doc cell_join(const struct printing *p, const struct doc *object,
                     const char *argument)
{
    struct str fallback;
    struct cell_texts texts = {0};
    const struct doc *d = at(object, argument, &fallback);
    for (uint32_t i = 0; d && d->type == DOC_LIST && i < d->n; i++)
        if (d->items[i].type == DOC_STRING)
            cell_add(p, &texts, doc_str(&d->items[i]));
    return cell_of(p, texts.n ? cell_joined(p, &texts, ",") : fallback);
}

/* "a|b": the numbers at a and b as "1/2". */
struct doc cell_ratio(const struct printing *p, const struct doc *object,
                      const char *argument)
{
    struct str of;
    int64_t some = 0;
    const struct doc *d = at(object, argument, &of);
    if (d)
        doc_int64(d, &some);
    return cell_of(p, arena_printf(p->a, "%lld/%lld", (long long)some,
                                   (long long)cell_path_int(object, of.p)));
}

/* "a|b": the texts at a and b as "x/y". */
struct doc cell_pair(const struct printing *p, const struct doc *object,
                     const char *argument)
{
    struct str second;
    const struct doc *d = at(object, argument, &second);
    struct str first = d && d->type == DOC_STRING ? doc_str(d) : STR(""),
               last = cell_path_text(object, second.p);
    return cell_of(p, arena_printf(p->a, "%.*s/%.*s", STR_ARG(first), STR_ARG(last)));
}

/* "a|b": the text at a, or the one at b: names that differ between versions. */
struct doc cell_either(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    struct str second;
    const struct doc *d = at(object, argument, &second);
    return cell_of(p, d && d->type == DOC_STRING ? doc_str(d)
                                                 : cell_path_text(object, second.p));
}

static struct doc each_text(const struct printing *p, const struct doc *object,
                            const char *list, const char *field)
{
    const struct doc *v;
    struct cell_texts texts = {0};
    uint32_t n = cell_list(object, list, &v);
    for (uint32_t i = 0; i < n; i++)
        cell_add(p, &texts, cell_path_text(&v[i], field));
    return cell_of(p, cell_joined(p, &texts, ","));
}

struct doc cell_containers(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    return each_text(p, object, argument, "name");
}

struct doc cell_images(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    return each_text(p, object, argument, "image");
}

/* ---- labels and selectors ---- */

static void add_labels(const struct printing *p, const struct doc *labels,
                       struct cell_texts *texts)
{
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        struct str key = doc_key(&labels->members[i]),
                   value = doc_str(&labels->members[i].value);
        cell_add(p, texts, arena_printf(p->a, "%.*s=%.*s", STR_ARG(key), STR_ARG(value)));
    }
}

struct doc cell_labels(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    struct cell_texts texts = {0};
    add_labels(p, doc_path(object, argument), &texts);
    cell_sort(&texts);
    return cell_of(p, texts.n ? cell_joined(p, &texts, ",") : STR("<none>"));
}

struct requirement {
    struct str key, text;
};

static int by_key(const void *a, const void *b)
{
    const struct requirement *x = a, *y = b;
    int c = str_cmp(x->key, y->key);
    return c ? c : (x > y) - (x < y);
}

static struct str in_words(const struct printing *p, const struct doc *expression)
{
    struct str key = doc_get_text(expression, "key"), operator= doc_get_text(expression,
                                                                             "operator");
    struct cell_texts values = {0};
    const struct doc *v;
    uint32_t n = cell_list(expression, "values", &v);
    if (str_is(operator, "Exists"))
        return key;
    if (str_is(operator, "DoesNotExist"))
        return arena_printf(p->a, "!%.*s", STR_ARG(key));
    for (uint32_t i = 0; i < n; i++)
        cell_add(p, &values, doc_str(&v[i]));
    cell_sort(&values);
    struct str all = cell_joined(p, &values, ",");
    return arena_printf(p->a, "%.*s %s (%.*s)", STR_ARG(key),
                        str_is(operator, "In") ? "in" : "notin", STR_ARG(all));
}

/* Requirements in the order of their keys. */
static struct str selector_text(const struct printing *p, const struct doc *selector)
{
    const struct doc *labels = doc_get(selector, "matchLabels"), *v;
    uint32_t n = cell_list(selector, "matchExpressions", &v), count = 0;
    uint32_t nlabels = labels && labels->type == DOC_MAP ? labels->n : 0;
    struct requirement *all = ARENA_ARRAY(p->a, struct requirement, n + nlabels + 1);
    struct cell_texts equal = {0}, texts = {0};
    add_labels(p, labels, &equal);
    for (uint32_t i = 0; i < nlabels; i++)
        all[count++] = (struct requirement){doc_key(&labels->members[i]), equal.v[i]};
    for (uint32_t i = 0; i < n; i++)
        all[count++] =
            (struct requirement){doc_get_text(&v[i], "key"), in_words(p, &v[i])};
    qsort(all, count, sizeof *all, by_key);
    for (uint32_t i = 0; i < count; i++)
        cell_add(p, &texts, all[i].text);
    return cell_joined(p, &texts, ",");
}

struct doc cell_selector(const struct printing *p, const struct doc *object,
                         const char *argument)
{
    struct str text = selector_text(p, doc_path(object, argument));
    return cell_of(p, text.n ? text : STR("<none>"));
}

/* The same, but empty stays empty. */
struct doc cell_deployment_selector(const struct printing *p, const struct doc *object,
                                    const char *argument)
{
    return cell_of(p, selector_text(p, doc_path(object, argument)));
}
