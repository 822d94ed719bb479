/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's sort.Slice: quicksort that notices patterns. It is not stable, and where keys are
 * equal its order is what users of upstream see; so every choice of a pivot and every
 * exchange here is Go's.
 */
#include "cel/lib_sort.h"

#include "cel/lib.h"

struct sorting {
    struct cel_run *run;
    const struct cel_value *keys;
    uint32_t *index;
};

enum {
    SMALL = 12,      /* sorted by insertion */
    NINTHER = 50,    /* from here on a pivot is the median of nine */
    MAX_SWAPS = 12,  /* exchanges that finding the median of nine can take */
    MAX_SHIFTS = 5,  /* of a nearly sorted range */
    SHORT_SHIFT = 50 /* shorter ranges are not worth shifting */
};

enum hint { HINT_NONE, HINT_INCREASING, HINT_DECREASING };

static bool less(const struct sorting *s, int64_t i, int64_t j)
{
    struct cel_value c = cel_compare(s->run, s->keys[s->index[i]], s->keys[s->index[j]]);
    return c.kind == CEL_INT && c.i < 0;
}

static void swap(struct sorting *s, int64_t i, int64_t j)
{
    uint32_t at = s->index[i];
    s->index[i] = s->index[j];
    s->index[j] = at;
}

/* All of the following work on [a, b). */

static void insertion_sort(struct sorting *s, int64_t a, int64_t b)
{
    for (int64_t i = a + 1; i < b; i++)
        for (int64_t j = i; j > a && less(s, j, j - 1); j--)
            swap(s, j, j - 1);
}

static void sift_down(struct sorting *s, int64_t root, int64_t n, int64_t first)
{
    for (;;) {
        int64_t child = 2 * root + 1;
        if (child >= n)
            return;
        if (child + 1 < n && less(s, first + child, first + child + 1))
            child++;
        if (!less(s, first + root, first + child))
            return;
        swap(s, first + root, first + child);
        root = child;
    }
}

static void heap_sort(struct sorting *s, int64_t a, int64_t b)
{
    int64_t n = b - a;
    for (int64_t i = (n - 1) / 2; i >= 0; i--)
        sift_down(s, i, n, a);
    for (int64_t i = n - 1; i >= 0; i--) {
        swap(s, a, a + i);
        sift_down(s, 0, i, a);
    }
}

/* Smaller ones left of the pivot's new place, which is returned. */
static int64_t partition(struct sorting *s, int64_t a, int64_t b, int64_t pivot,
                         bool *was_partitioned)
{
    int64_t i = a + 1, j = b - 1;
    swap(s, a, pivot);
    *was_partitioned = true;
    for (;;) {
        while (i <= j && less(s, i, a))
            i++;
        while (i <= j && !less(s, j, a))
            j--;
        if (i > j)
            break;
        swap(s, i++, j--);
        *was_partitioned = false;
    }
    swap(s, j, a);
    return j;
}

/* As partition, for a range that holds nothing smaller than the pivot: equal ones left.
 */
static int64_t partition_equal(struct sorting *s, int64_t a, int64_t b, int64_t pivot)
{
    int64_t i = a + 1, j = b - 1;
    swap(s, a, pivot);
    for (;;) {
        while (i <= j && !less(s, a, i))
            i++;
        while (i <= j && less(s, a, j))
            j--;
        if (i > j)
            return i;
        swap(s, i++, j--);
    }
}

static void shift_left(struct sorting *s, int64_t from)
{
    for (int64_t j = from; j >= 1 && less(s, j, j - 1); j--)
        swap(s, j, j - 1);
}

static void shift_right(struct sorting *s, int64_t from, int64_t b)
{
    for (int64_t j = from; j < b && less(s, j, j - 1); j++)
        swap(s, j, j - 1);
}

/* Mends a few places of a nearly sorted range; whether it is sorted then. */
static bool mend(struct sorting *s, int64_t a, int64_t b)
{
    int64_t i = a + 1;
    for (int n = 0; n < MAX_SHIFTS; n++) {
        while (i < b && !less(s, i, i - 1))
            i++;
        if (i == b)
            return true;
        if (b - a < SHORT_SHIFT)
            return false;
        swap(s, i, i - 1);
        if (i - a >= 2)
            shift_left(s, i - 1);
        if (b - i >= 2)
            shift_right(s, i + 1, b);
    }
    return false;
}

static uint64_t bit_length(uint64_t n)
{
    return n ? 64 - (uint64_t)__builtin_clzll(n) : 0;
}

static uint64_t xorshift(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Exchanges three around the middle with others, always the same for a length. */
static void break_patterns(struct sorting *s, int64_t a, int64_t b)
{
    int64_t n = b - a, middle = a + n / 4 * 2;
    uint64_t random = (uint64_t)n, mask = (UINT64_C(1) << bit_length((uint64_t)n)) - 1;
    if (n < 8)
        return;
    for (int64_t i = middle - 1; i <= middle + 1; i++) {
        int64_t other = (int64_t)(xorshift(&random) & mask);
        swap(s, i, a + (other >= n ? other - n : other));
    }
}

static void order(const struct sorting *s, int64_t *a, int64_t *b, int *swaps)
{
    if (!less(s, *b, *a))
        return;
    int64_t t = *a;
    *a = *b;
    *b = t;
    ++*swaps;
}

static int64_t median(const struct sorting *s, int64_t a, int64_t b, int64_t c,
                      int *swaps)
{
    order(s, &a, &b, swaps);
    order(s, &b, &c, swaps);
    order(s, &a, &b, swaps);
    return b;
}

static int64_t choose_pivot(const struct sorting *s, int64_t a, int64_t b,
                            enum hint *hint)
{
    int swaps = 0;
    int64_t n = b - a, i = a + n / 4, j = a + n / 4 * 2, k = a + n / 4 * 3;
    if (n >= NINTHER) {
        i = median(s, i - 1, i, i + 1, &swaps);
        j = median(s, j - 1, j, j + 1, &swaps);
        k = median(s, k - 1, k, k + 1, &swaps);
    }
    if (n >= 8)
        j = median(s, i, j, k, &swaps);
    *hint = swaps == 0           ? HINT_INCREASING
            : swaps == MAX_SWAPS ? HINT_DECREASING
                                 : HINT_NONE;
    return j;
}

static void reverse(struct sorting *s, int64_t a, int64_t b)
{
    for (b--; a < b; a++, b--)
        swap(s, a, b);
}

/* limit: bad pivots left before the heap takes over. */
static void sort_range(struct sorting *s, int64_t a, int64_t b, int limit)
{
    bool balanced = true, partitioned = true;
    while (b - a > SMALL) {
        int64_t n = b - a;
        enum hint hint;
        if (limit == 0) {
            heap_sort(s, a, b);
            return;
        }
        if (!balanced) {
            break_patterns(s, a, b);
            limit--;
        }
        int64_t pivot = choose_pivot(s, a, b, &hint);
        if (hint == HINT_DECREASING) {
            reverse(s, a, b);
            pivot = b - 1 - (pivot - a);
            hint = HINT_INCREASING;
        }
        if (balanced && partitioned && hint == HINT_INCREASING && mend(s, a, b))
            return;
        if (a > 0 && !less(s, a - 1, pivot)) {
            a = partition_equal(s, a, b, pivot);
            continue;
        }
        int64_t mid = partition(s, a, b, pivot, &partitioned);
        if (mid - a < b - mid) {
            balanced = mid - a >= n / 8;
            sort_range(s, a, mid, limit);
            a = mid + 1;
        } else {
            balanced = b - mid >= n / 8;
            sort_range(s, mid + 1, b, limit);
            b = mid;
        }
    }
    insertion_sort(s, a, b);
}

void cel_sort_index(struct cel_run *run, const struct cel_value *keys, uint32_t *index,
                    uint32_t n)
{
    struct sorting s = {run, keys, index};
    sort_range(&s, 0, n, (int)bit_length(n));
}
