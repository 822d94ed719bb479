/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading documents into views: small typed steps with one shared error. A reader
 * remembers the first failure; later steps do nothing, so callers check once at the end.
 */
#ifndef DRAY_API_VIEW_READ_H
#define DRAY_API_VIEW_READ_H

#include "api/view.h"

struct view_reader {
    struct arena *a;
    struct err *e;
    bool failed;
};

/* Records "field: want, got a TYPE" unless something failed before. */
void view_fail(struct view_reader *r, const char *field, const char *want,
               const struct doc *got);

/* Members of d; absent and null are empty. A wrong type fails. Texts are copied. */
struct str view_text(struct view_reader *r, const struct doc *d, const char *field);
bool view_bool(struct view_reader *r, const struct doc *d, const char *field,
               bool *present);
int64_t view_int(struct view_reader *r, const struct doc *d, const char *field);
struct view_strs view_strs(struct view_reader *r, const struct doc *d, const char *field);
/* The list or map itself; NULL when absent, null, or failed. */
const struct doc *view_list(struct view_reader *r, const struct doc *d,
                            const char *field);
const struct doc *view_map(struct view_reader *r, const struct doc *d, const char *field);
/* A quantity given as string or number; false when it cannot be read. */
bool view_quantity(struct view_reader *r, const struct doc *d, const char *field,
                   struct quantity *out);
/* map {name: quantity}, or {name: {member: quantity}} with member not NULL; sorted by
 * name. */
const struct view_amount *view_amount_map(struct view_reader *r, const struct doc *map,
                                          const char *member, uint32_t *n);
const struct view_label *view_label_map(struct view_reader *r, const struct doc *map,
                                        uint32_t *n);
void view_read_meta(struct view_reader *r, const struct doc *object,
                    struct view_meta *out);
const struct view_taint *view_read_taints(struct view_reader *r, const struct doc *list,
                                          uint32_t *n);
const struct view_toleration *view_read_tolerations(struct view_reader *r,
                                                    const struct doc *list, uint32_t *n);
const struct view_node_selector *view_read_node_selector(struct view_reader *r,
                                                         const struct doc *d);
struct view_taint view_read_taint(struct view_reader *r, const struct doc *d);

/* An array of n zeroed items in the reader's arena for the items of list; *n its length.
 */
#define VIEW_ITEMS(r, list, type, count)                                                 \
    ((list) ? (*(count) = (list)->n, ARENA_ARRAY((r)->a, type, *(count)))                \
            : (*(count) = 0, (type *)NULL))

#endif
