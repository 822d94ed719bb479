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
    CEL_TIMESTAMP, /* i: Unix seconds, len: nanoseconds, aux2: the zone it prints in, as
                    * minutes east of UTC (int16_t) */
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

/* What aux means. */
enum {
    CEL_STRING_ASCII = 1, /* of a string: known to have as many code points as bytes */
    CEL_ERROR_FATAL = 1,  /* of an error: ends the evaluation, nothing absorbs it */
};

/* aux2 of a list that the host makes: == and + do not look at the order of a set, or of
 * items with keys, the names of which are in a list in front of the items (items[-1]). */
enum { CEL_LIST_SET = 1, CEL_LIST_KEYED = 2 };

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

/* Entries in insertion order. A lookup tries the key's own kind first and then equal
 * numbers of the other kinds: an int finds a uint and the reverse, a double finds both.
 */
struct cel_map {
    struct cel_entry *entries;
    uint32_t n;
    uint32_t *slots; /* private hash index, NULL for small maps */
    uint32_t mask;
    /* What an index, a select or an optional step gives for a key that is not there (spec
     * 4.2); NULL: "no such key". `in`, size, == and iteration do not see it. */
    const struct cel_value *missing;
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
/* As cel_string, with the ASCII mark if it is, and with a mark in aux2 that other texts
 * mostly do not have: for strings whose size is asked and that are compared often. Then
 * two that differ are told apart without a look at their bytes. Whoever makes a new text
 * from a copy of a value sets its aux2 to 0. */
struct cel_value cel_string_marked(struct str s);
static inline bool cel_text_may_equal(struct cel_value a, struct cel_value b)
{
    return a.len == b.len && (a.aux2 == b.aux2 || a.aux2 == 0 || b.aux2 == 0);
}
static inline bool cel_text_equal(struct cel_value a, struct cel_value b)
{
    return cel_text_may_equal(a, b) &&
           (a.len == 0 || a.s == b.s || memcmp(a.s, b.s, a.len) == 0);
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
/* The same instant, printed in a zone so many minutes east of UTC. */
static inline struct cel_value cel_timestamp_in(int64_t sec, uint32_t ns, int minutes)
{
    struct cel_value v = cel_timestamp(sec, ns);
    v.aux2 = (uint16_t)minutes;
    return v;
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

static inline struct cel_value cel_map_value(const struct cel_map *m)
{
    return (struct cel_value){.kind = CEL_MAP, .len = m->n, .map = m};
}

struct cel_value cel_optional_of(struct cel_run *run, struct cel_value v);
/* Takes entries, which the map then owns, and reorders nothing; of two equal keys of one
 * kind the first keeps its place and the last its value. */
struct cel_value cel_map_make(struct cel_run *run, struct cel_entry *entries, uint32_t n);
/* NULL: no such key. */
const struct cel_value *cel_map_find(const struct cel_map *m, struct cel_value key);

/* Lists and maps that grow. Zero-initialise; the memory is of the run's arena. The value
 * made of one stays valid, with the items it had, while the builder grows on. */
struct cel_list_builder {
    struct cel_value *items;
    uint32_t n, cap;
};
void cel_list_push(struct cel_run *run, struct cel_list_builder *b, struct cel_value v);
static inline struct cel_value cel_list_done(const struct cel_list_builder *b)
{
    return cel_list(b->items, b->n);
}

struct cel_map_builder {
    struct cel_map map;
    uint32_t cap;
};
/* Adds an entry, or sets the value of an equal key of the same kind. */
void cel_map_put(struct cel_run *run, struct cel_map_builder *b, struct cel_value key,
                 struct cel_value value);
/* As cel_map_find, in what the builder has so far. */
static inline const struct cel_value *cel_map_has(const struct cel_map_builder *b,
                                                  struct cel_value key)
{
    return cel_map_find(&b->map, key);
}
struct cel_value cel_map_done(struct cel_run *run, const struct cel_map_builder *b);

/* Errors. The text is copied into the run's arena; run may be NULL for a text that is a
 * literal without conversions. */
struct cel_value cel_errorf(struct cel_run *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct cel_value cel_no_overload(struct cel_run *run); /* "no such overload" */
struct cel_value cel_no_key(struct cel_run *run,
                            struct cel_value key); /* "no such key: x" */
/* An error whose text (a constant) lives as long as the program. */
#define CEL_ERROR_CONST(literal)                                                         \
    __extension__({                                                                      \
        static const struct cel_error error_ = {                                         \
            .text = {(literal), sizeof(literal) - 1}};                                   \
        (struct cel_value){.kind = CEL_ERROR, .error = &error_};                         \
    })

/* Counts a step that has no price of its own, such as the comparison of two lists; false
 * when there were too many (cel_run.work_limit), and then the evaluation fails. */
bool cel_work(struct cel_run *run);
struct cel_value cel_too_much_work(void);

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
/* As Go's %v has it, which upstream's error texts quote: "no such key: a". */
void cel_print_go(struct cel_value v, struct strbuf *out);
/* Go's %g of a double, and its plain decimal form (%f with the shortest digits). */
void cel_print_double(double d, struct strbuf *out);
void cel_print_decimal(double d, struct strbuf *out);
/* Copies v with all it points to, except objects of the host. */
struct cel_value cel_dup(struct cel_value v, struct arena *a);

extern const struct cel_type cel_type_optional_dyn, cel_type_quantity, cel_type_semver,
    cel_type_ip, cel_type_cidr, cel_type_url, cel_type_format;

/* What the libraries tell about their own types (lib_ip.c, lib_url.c, lib_format.c). */
bool cel_ip_equal(const struct cel_ip *a, const struct cel_ip *b);
void cel_ip_print(const struct cel_ip *ip, struct strbuf *out);
uint64_t cel_ip_size(const struct cel_ip *ip); /* bytes of the address: 4 or 16 */
const struct cel_ip *cel_ip_dup(const struct cel_ip *ip, struct arena *a);
bool cel_cidr_equal(const struct cel_cidr *a, const struct cel_cidr *b);
void cel_cidr_print(const struct cel_cidr *c, struct strbuf *out);
uint64_t cel_cidr_size(const struct cel_cidr *c); /* ceil(prefix length / 8) */
const struct cel_cidr *cel_cidr_dup(const struct cel_cidr *c, struct arena *a);
bool cel_url_equal(const struct cel_url *a, const struct cel_url *b);
void cel_url_print(const struct cel_url *u, struct strbuf *out);
const struct cel_url *cel_url_dup(const struct cel_url *u, struct arena *a);
const char *cel_format_name(const struct cel_format *f); /* formats are constants */

#endif
