/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of named quantities, as in resources.requests and status.used: each name once,
 * sorted. Names are borrowed; all else lives in the arena.
 */
#ifndef DRAY_API_AMOUNTS_H
#define DRAY_API_AMOUNTS_H

#include "api/view.h"

struct amounts {
    struct arena *a;
    struct view_amount *v;
    uint32_t n, cap;
};

/* The members of a map; what is no quantity counts as 0. NULL or no map: empty. */
struct amounts amounts_read(struct arena *a, const struct doc *map);
struct doc amounts_doc(const struct amounts *x);
struct amounts amounts_dup(const struct amounts *x);

/* NULL: the name is not there. */
const struct quantity *amounts_get(const struct amounts *x, struct str name);
void amounts_set(struct amounts *x, struct str name, struct quantity value);
void amounts_set_int(struct amounts *x, struct str name, int64_t value);
void amounts_add_all(struct amounts *x, const struct amounts *more);
/* The larger of both for each name. */
void amounts_raise_all(struct amounts *x, const struct amounts *other);
/* x - less, but 0 where less than nothing is left; names of both. */
void amounts_less(struct amounts *x, const struct amounts *less);
/* Only what keep says. */
void amounts_filter(struct amounts *x,
                    bool (*keep)(void *ctx, const struct view_amount *v), void *ctx);
/* The same names and values. */
bool amounts_equal(const struct amounts *x, const struct amounts *y);
/* "cpu=1,memory=2Gi" */
struct str amounts_print(const struct amounts *x);

#endif
