/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/event_rows.h"

#include <stdlib.h>

#include "api/age.h"
#include "base/clock.h"

int64_t event_rows_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* When it was seen last: of a series, told once, or as it was made. */
static struct str last_of(const struct doc *event)
{
    struct str series = doc_get_text(doc_get(event, "series"), "lastObservedTime"),
               last = doc_get_text(event, "lastTimestamp"),
               once = doc_get_text(event, "eventTime");
    if (series.n)
        return series;
    if (last.n)
        return last;
    return once.n ? once : doc_get_text(doc_get(event, "metadata"), "creationTimestamp");
}

static struct str first_of(const struct doc *event)
{
    struct str first = doc_get_text(event, "firstTimestamp"),
               once = doc_get_text(event, "eventTime");
    return first.n ? first : once.n ? once : last_of(event);
}

/* Times of one form sort as texts; whole seconds and parts of them differ behind "Z". */
static int compare(const void *x, const void *y)
{
    struct str a = last_of(x), b = last_of(y);
    int c = str_cmp(str_sub(a, 0, 19), str_sub(b, 0, 19));
    return c ? c : str_cmp(a, b);
}

void event_rows_sort(struct doc *items)
{
    if (items->n)
        qsort(items->items, items->n, sizeof *items->items, compare);
}

struct str event_age(const struct doc *event, int64_t now, struct arena *a)
{
    int64_t count = 1;
    struct str last = age_of(last_of(event), now, a);
    if (!doc_get_int64(doc_get(event, "series"), "count", &count))
        doc_get_int64(event, "count", &count);
    if (count <= 1)
        return last;
    return arena_printf(a, "%.*s (x%lld over %.*s)", STR_ARG(last), (long long)count,
                        STR_ARG(age_of(first_of(event), now, a)));
}
