/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CEL values at run time: 16 bytes, passed by value. What a value points to lives in the
 * arena of the run, in the program's constants, or in the caller's data; values own
 * nothing.
 */
#ifndef DRAY_CEL_VALUE_H
#define DRAY_CEL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "cel/type.h"

struct quantity;
struct semver;

enum cel_kind {
    CEL_ERROR, /* an error is a value; && || all exists may absorb it */
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_DURATION,  /* i: nanoseconds */
    CEL_TIMESTAMP, /* i: Unix seconds, len: nanoseconds */
    CEL_LIST,
    CEL_MAP,
    CEL_TYPE,
    CEL_OPTIONAL, /* optional: the value, or NULL for none */
    CEL_OBJECT,   /* of the host */
    CEL_QUANTITY,
    CEL_SEMVER,
    CEL_IP,
    CEL_CIDR,
    CEL_URL,
    CEL_FORMAT,
    CEL_KINDS
};

struct cel_error;
struct cel_map;
struct cel_object;
struct cel_ip;
struct cel_cidr;
struct cel_url;
struct cel_format;

struct cel_value {
    uint8_t kind; /* enum cel_kind */
    uint8_t aux;  /* private to the kind */
    uint16_t aux2;
    uint32_t len; /* bytes of string and bytes, items of a list, entries of a map */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        const char *s; /* string, bytes; not NUL-terminated */
        const struct cel_value *items;
        const struct cel_map *map;
        const struct cel_error *error;
        const struct cel_type *type;
        const struct cel_value *optional;
        const struct cel_object *object;
        const struct quantity *quantity;
        const struct semver *semver;
        const struct cel_ip *ip;
        const struct cel_cidr *cidr;
        const struct cel_url *url;
        const struct cel_format *format;
    };
};

struct cel_error {
    struct str text;
    uint32_t id; /* AST node it arose at, 0 unknown */
    bool internal;
};

struct cel_entry {
    struct cel_value key, value;
};

struct cel_map { /* insertion order; keys bool, int, uint, string; 1 == 1u == 1.0 as keys
                  */
    struct cel_entry *entries;
    uint32_t n;
    uint32_t *slots; /* private hash index, NULL for small maps */
    uint32_t mask;
};

/* An object of the host: fields by name. */
struct cel_run;
struct cel_object_ops {
    /* Value of a field; *present false (and the default value) if unset. An unknown field
     * is answered with an error value. */
    struct cel_value (*get)(const struct cel_object *o, struct str field,
                            struct cel_run *run, bool *present);
    bool (*equal)(const struct cel_object *a, const struct cel_object *b);
};
struct cel_object {
    const struct cel_type *type;
    const struct cel_object_ops *ops;
    const void *data;
};

static inline struct cel_value cel_bool(bool b)
{
    return (struct cel_value){.kind = CEL_BOOL, .b = b};
}
static inline struct cel_value cel_int(int64_t i)
{
    return (struct cel_value){.kind = CEL_INT, .i = i};
}
static inline struct cel_value cel_uint(uint64_t u)
{
    return (struct cel_value){.kind = CEL_UINT, .u = u};
}
static inline struct cel_value cel_double(double d)
{
    return (struct cel_value){.kind = CEL_DOUBLE, .d = d};
}
static inline struct cel_value cel_null(void)
{
    return (struct cel_value){.kind = CEL_NULL};
}
static inline struct cel_value cel_string(struct str s)
{
    return (struct cel_value){.kind = CEL_STRING, .len = (uint32_t)s.n, .s = s.p};
}
static inline struct cel_value cel_bytes(struct str s)
{
    return (struct cel_value){.kind = CEL_BYTES, .len = (uint32_t)s.n, .s = s.p};
}
static inline struct cel_value cel_duration(int64_t ns)
{
    return (struct cel_value){.kind = CEL_DURATION, .i = ns};
}
static inline struct cel_value cel_timestamp(int64_t sec, uint32_t ns)
{
    return (struct cel_value){.kind = CEL_TIMESTAMP, .len = ns, .i = sec};
}
static inline struct cel_value cel_list(const struct cel_value *items, uint32_t n)
{
    return (struct cel_value){.kind = CEL_LIST, .len = n, .items = items};
}
static inline struct cel_value cel_type_value(const struct cel_type *t)
{
    return (struct cel_value){.kind = CEL_TYPE, .type = t};
}
static inline struct cel_value cel_optional_none(void)
{
    return (struct cel_value){.kind = CEL_OPTIONAL};
}
static inline struct str cel_str(struct cel_value v)
{
    return (struct str){v.s, v.len};
}
static inline bool cel_is_error(struct cel_value v)
{
    return v.kind == CEL_ERROR;
}

struct cel_value cel_optional_of(struct cel_run *run, struct cel_value v);
/* entries are taken as they are; a key given twice is an error value. */
struct cel_value cel_map_make(struct cel_run *run, struct cel_entry *entries, uint32_t n);
/* NULL: no such key. Numeric keys match across int, uint and double. */
const struct cel_value *cel_map_find(const struct cel_map *m, struct cel_value key);

/* Errors. The text is copied into the run's arena. */
struct cel_value cel_errorf(struct cel_run *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct cel_value cel_no_overload(struct cel_run *run); /* "no such overload" */
struct cel_value cel_no_key(struct cel_run *run,
                            struct cel_value key); /* "no such key: x" */

/* CEL's ==: bool, or an error where Kubernetes' opaque types refuse another type. */
struct cel_value cel_equal(struct cel_run *run, struct cel_value a, struct cel_value b);
/* Ordering of two values that have one: int -1, 0, 1, or an error value. */
struct cel_value cel_compare(struct cel_run *run, struct cel_value a, struct cel_value b);
/* Code points, bytes, items, entries; -1 if the kind has no size. */
int64_t cel_size(struct cel_value v);
/* Size as the cost tracker counts it (spec 4.7): 1 for scalars. */
uint64_t cel_cost_size(struct cel_value v);
/* The run-time type: type(v). Lists and maps are list(dyn), map(dyn, dyn). */
const struct cel_type *cel_type_of_value(struct cel_value v);
/* "int", "kubernetes.Semver" as CEL names it; and Go's name ("types.Int") in some texts.
 */
const char *cel_kind_name(struct cel_value v);
const char *cel_kind_go_name(struct cel_value v);
/* The text form of golden/cel's README ("text" of a value); also what dray prints. */
void cel_print(struct cel_value v, struct strbuf *out);
/* Copies v with all it points to. */
struct cel_value cel_dup(struct cel_value v, struct arena *a);

#endif
