/* SPDX-License-Identifier: Apache-2.0 */
/* A driver is not asked for an operation when each of its results says so (spec 5.5 rule
 * 9). */
#include <stdlib.h>

#include "node/claims_inner.h"

static bool is_in(const struct doc *list, const char *text)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(&list->items[i], text))
            return true;
    return false;
}

static bool is_of(const struct doc *result, struct str driver)
{
    return str_eq(doc_get_text(result, "driver"), driver);
}

/* Each result of the driver has the operation, or (unless it is "*") all of them. */
static bool all_skip(const struct doc *results, struct str driver, const char *operation)
{
    for (uint32_t i = 0; i < results->n; i++) {
        const struct doc *skips = doc_get(&results->items[i], "skipNodeOperations");
        if (is_of(&results->items[i], driver) && !is_in(skips, operation) &&
            !is_in(skips, "*"))
            return false;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_listed(const struct str *v, uint32_t n, struct str s)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i], s))
            return true;
    return false;
}

/* What a result names and all of them skip. A result that has "*" names nothing else. */
static void add_skipped(const struct doc *results, const struct doc *result,
                        struct str driver, struct str *out, uint32_t *n)
{
    const struct doc *skips = doc_get(result, "skipNodeOperations");
    if (is_in(skips, "*"))
        return;
    for (uint32_t i = 0; skips && skips->type == DOC_LIST && i < skips->n; i++) {
        const struct doc *s = &skips->items[i];
        if (s->type == DOC_STRING && !is_listed(out, *n, doc_str(s)) &&
            all_skip(results, driver, s->s))
            out[(*n)++] = doc_str(s);
    }
}

static uint32_t count_skips(const struct doc *results)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < results->n; i++) {
        const struct doc *skips = doc_get(&results->items[i], "skipNodeOperations");
        n += skips && skips->type == DOC_LIST ? skips->n : 0;
    }
    return n;
}

static void read_skipped(const struct doc *results, struct arena *a,
                         struct checkpoint_driver *out)
{
    struct str *v = ARENA_ARRAY(a, struct str, count_skips(results));
    uint32_t n = 0;
    bool all = all_skip(results, out->name, "*");
    if (all)
        v[n++] = STR("*");
    for (uint32_t i = 0; !all && i < results->n; i++)
        if (is_of(&results->items[i], out->name))
            add_skipped(results, &results->items[i], out->name, v, &n);
    qsort(v, n, sizeof *v, by_text);
    out->skipped = v;
    out->nskipped = n;
}

static bool is_known(const struct checkpoint_driver *v, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].name, name))
            return true;
    return false;
}

bool drivers_of_claim(const struct doc *claim, bool optional_operations, struct arena *a,
                      struct checkpoint_claim *out, struct err *e)
{
    const struct doc *results = doc_path(claim, "status.allocation.devices.results");
    uint32_t max = results && results->type == DOC_LIST ? results->n : 0;
    struct checkpoint_driver *v = ARENA_ARRAY(a, struct checkpoint_driver, max + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < max; i++) {
        struct str name = doc_get_text(&results->items[i], "driver");
        if (is_known(v, n, name))
            continue;
        v[n].name = name;
        read_skipped(results, a, &v[n]);
        if (v[n++].nskipped > 0 && !optional_operations)
            return err_set(
                e, ERR_UNSUPPORTED,
                "DRAOptionalNodeOperations feature gate is disabled on kubelet");
    }
    out->drivers = v;
    out->ndrivers = n;
    return true;
}
