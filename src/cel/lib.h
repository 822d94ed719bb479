/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: what the function libraries share. A function gets arguments of the
 * kinds of its row, receiver first; what it makes lives in the arena of the run; it fails
 * by returning an error value.
 */
#ifndef DRAY_CEL_LIB_H
#define DRAY_CEL_LIB_H

#include "cel/cel.h"
#include "cel/func.h"
#include "cel/value.h"

struct cel_regex;

#define CEL_COUNT(table) ((uint32_t)(sizeof(table) / sizeof(table)[0]))

/* Rows of a table of functions. */
#define CEL_ROW(id_, name_, member_, type_, since_, fn_)                                 \
    {                                                                                    \
        .id = (id_), .function = (name_), .type = (type_), .member = (member_),          \
        .since = (since_), .fn = (fn_)                                                   \
    }
#define CEL_MEMBER(id_, name_, type_, since_, fn_)                                       \
    CEL_ROW(id_, name_, true, type_, since_, fn_)
#define CEL_GLOBAL(id_, name_, type_, since_, fn_)                                       \
    CEL_ROW(id_, name_, false, type_, since_, fn_)

/* Longest text a function makes; more is an error. */
enum { CEL_TEXT_MAX = 1 << 24, CEL_LIST_MAX = 1 << 21 };

/* Moves a text into the run's arena: a string, or an error if it is too long. */
struct cel_value cel_lib_text(struct cel_run *run, struct strbuf *b);
/* A constant text. */
struct cel_value cel_lib_cstr(const char *s);
/* The error in e, put behind a prefix (may be ""); releases e. */
struct cel_value cel_lib_failed(struct cel_run *run, const char *prefix, struct err *e);
/* A copy of v in the run's arena, for values that are pointers. */
#define CEL_LIB_NEW(run, v)                                                              \
    ((__typeof__(v) *)memcpy(arena_alloc(&(run)->arena, sizeof(v)), &(v), sizeof(v)))

/* a == b, where an error counts as no. */
bool cel_lib_equal(struct cel_run *run, struct cel_value a, struct cel_value b);

/* Whether values of its kind compare as less and greater. */
bool cel_lib_is_ordered(struct cel_value v);

/* ---- Run-time costs (spec 4.7) that several libraries charge ---- */

uint64_t cel_cost_one(const struct cel_value *args, unsigned n, struct cel_value result);
/* c(receiver * T), and c(receiver * 2T). */
uint64_t cel_cost_scan(const struct cel_value *args, unsigned n, struct cel_value result);
uint64_t cel_cost_scan_twice(const struct cel_value *args, unsigned n,
                             struct cel_value result);
/* Every text and scalar that the receiver holds is looked at. */
uint64_t cel_cost_traverse(const struct cel_value *args, unsigned n,
                           struct cel_value result);
/* c((1 + receiver) * T) * c(pattern * R). */
uint64_t cel_cost_match(const struct cel_value *args, unsigned n,
                        struct cel_value result);

/* ---- Regular expressions compiled at plan time ---- */

struct cel_value cel_regex_find_value(struct cel_run *run, const struct cel_regex *re,
                                      struct cel_value text);
/* limit < 0: all. */
struct cel_value cel_regex_find_all_value(struct cel_run *run, const struct cel_regex *re,
                                          struct cel_value text, int64_t limit);

#endif
