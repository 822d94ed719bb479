/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/value.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "cel/cel.h"
#include "cel/unordered.h"
#include "num/quantity.h"
#include "num/semver.h"

/* What is to be said about a kind as a whole. */
struct kind_row {
    const char *go; /* name of the Go type in upstream's texts */
    const struct cel_type *type;
    bool closed; /* == with another kind is an error, not false */
};

#define OPAQUE(n)                                                                        \
    {                                                                                    \
        .kind = CEL_T_OPAQUE, .weight = 1, .name = (n)                                   \
    }
const struct cel_type cel_type_quantity = OPAQUE("kubernetes.Quantity");
const struct cel_type cel_type_semver = OPAQUE("kubernetes.Semver");
const struct cel_type cel_type_ip = OPAQUE("net.IP");
const struct cel_type cel_type_cidr = OPAQUE("net.CIDR");
const struct cel_type cel_type_url = OPAQUE("kubernetes.URL");
const struct cel_type cel_type_format = OPAQUE("kubernetes.NamedFormat");
static const struct cel_type *const optional_params[] = {&cel_type_dyn};
const struct cel_type cel_type_optional_dyn = {.kind = CEL_T_OPAQUE,
                                               .nparams = 1,
                                               .weight = 2,
                                               .name = "optional_type",
                                               .params = optional_params};

static const struct kind_row kinds[CEL_KINDS] = {
    [CEL_ERROR] = {"*types.Err", &cel_type_error, false},
    [CEL_NULL] = {"types.Null", &cel_type_null, false},
    [CEL_BOOL] = {"types.Bool", &cel_type_bool, false},
    [CEL_INT] = {"types.Int", &cel_type_int, false},
    [CEL_UINT] = {"types.Uint", &cel_type_uint, false},
    [CEL_DOUBLE] = {"types.Double", &cel_type_double, false},
    [CEL_STRING] = {"types.String", &cel_type_string, false},
    [CEL_BYTES] = {"types.Bytes", &cel_type_bytes, false},
    [CEL_DURATION] = {"types.Duration", &cel_type_duration, false},
    [CEL_TIMESTAMP] = {"types.Timestamp", &cel_type_timestamp, false},
    [CEL_LIST] = {"*types.baseList", &cel_type_list_dyn, false},
    [CEL_MAP] = {"*types.baseMap", &cel_type_map_dyn, false},
    [CEL_TYPE] = {"*types.Type", &cel_type_type, false},
    [CEL_OPTIONAL] = {"*types.Optional", &cel_type_optional_dyn, false},
    [CEL_OBJECT] = {"*cel.ObjectVal", NULL, false},
    [CEL_QUANTITY] = {"cel.Quantity", &cel_type_quantity, true},
    [CEL_SEMVER] = {"cel.Semver", &cel_type_semver, true},
    [CEL_IP] = {"cel.IP", &cel_type_ip, true},
    [CEL_CIDR] = {"cel.CIDR", &cel_type_cidr, true},
    [CEL_URL] = {"cel.URL", &cel_type_url, true},
    [CEL_FORMAT] = {"cel.Format", &cel_type_format, true},
};

const struct cel_type *cel_type_of_value(struct cel_value v)
{
    return v.kind == CEL_OBJECT ? v.object->type : kinds[v.kind].type;
}

const char *cel_kind_name(struct cel_value v)
{
    return cel_type_name(cel_type_of_value(v));
}

const char *cel_kind_go_name(struct cel_value v)
{
    return kinds[v.kind].go;
}

/* ---- Errors ---- */

struct cel_value cel_errorf(struct cel_run *run, const char *fmt, ...)
{
    struct arena *a = &run->arena;
    struct cel_error *e = ARENA_NEW(a, struct cel_error);
    va_list ap;
    va_start(ap, fmt);
    e->text = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return (struct cel_value){.kind = CEL_ERROR, .error = e};
}

struct cel_value cel_no_overload(struct cel_run *run)
{
    (void)run;
    static const struct cel_error e = {.text = {"no such overload", 16}};
    return (struct cel_value){.kind = CEL_ERROR, .error = &e};
}

struct cel_value cel_no_key(struct cel_run *run, struct cel_value key)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_go(key, &b);
    struct cel_value e = cel_errorf(run, "no such key: %.*s", STR_ARG(strbuf_str(&b)));
    strbuf_release(&b);
    return e;
}

struct cel_value cel_optional_of(struct cel_run *run, struct cel_value v)
{
    struct cel_value *p = arena_alloc(&run->arena, sizeof *p);
    *p = v;
    return (struct cel_value){.kind = CEL_OPTIONAL, .optional = p};
}

void cel_list_push(struct cel_run *run, struct cel_list_builder *b, struct cel_value v)
{
    if (b->n == b->cap) {
        uint32_t cap = b->cap ? b->cap * 2 : 4;
        struct cel_value *items = arena_alloc(&run->arena, cap * sizeof *items);
        if (b->n != 0)
            memcpy(items, b->items, b->n * sizeof *items);
        b->items = items;
        b->cap = cap;
    }
    b->items[b->n++] = v;
}

/* ---- Order of numbers of different kinds, exactly as upstream compares them: a double
 * in the range of the other kind meets it as a double. ---- */

static int order_double(double a, double b)
{
    return (a > b) - (a < b);
}

static int order_double_int(double d, int64_t i)
{
    if (d < -0x1p63)
        return -1;
    if (d > 0x1p63)
        return 1;
    return order_double(d, (double)i);
}

static int order_double_uint(double d, uint64_t u)
{
    if (d < 0)
        return -1;
    if (d > 0x1p64)
        return 1;
    return order_double(d, (double)u);
}

static int order_int_uint(int64_t i, uint64_t u)
{
    if (i < 0)
        return -1;
    return ((uint64_t)i > u) - ((uint64_t)i < u);
}

static bool is_number(struct cel_value v)
{
    return v.kind >= CEL_INT && v.kind <= CEL_DOUBLE;
}

/* Both are numbers and neither is NaN. */
static int order_numbers(struct cel_value a, struct cel_value b)
{
    enum { PAIR = 16 };
    switch (a.kind * PAIR + b.kind) {
    case CEL_INT *PAIR + CEL_INT:
        return (a.i > b.i) - (a.i < b.i);
    case CEL_UINT *PAIR + CEL_UINT:
        return (a.u > b.u) - (a.u < b.u);
    case CEL_INT *PAIR + CEL_UINT:
        return order_int_uint(a.i, b.u);
    case CEL_UINT *PAIR + CEL_INT:
        return -order_int_uint(b.i, a.u);
    case CEL_DOUBLE *PAIR + CEL_INT:
        return order_double_int(a.d, b.i);
    case CEL_INT *PAIR + CEL_DOUBLE:
        return -order_double_int(b.d, a.i);
    case CEL_DOUBLE *PAIR + CEL_UINT:
        return order_double_uint(a.d, b.u);
    case CEL_UINT *PAIR + CEL_DOUBLE:
        return -order_double_uint(b.d, a.u);
    default:
        return order_double(a.d, b.d);
    }
}

static bool is_nan(struct cel_value v)
{
    return v.kind == CEL_DOUBLE && isnan(v.d);
}

/* ---- Equality ---- */

static struct cel_value equal_lists(struct cel_run *run, struct cel_value a,
                                    struct cel_value b)
{
    if (a.len != b.len)
        return cel_bool(false);
    struct cel_value result = cel_bool(true);
    for (uint32_t i = 0; i < a.len; i++) {
        struct cel_value v = cel_equal(run, a.items[i], b.items[i]);
        if (v.kind == CEL_BOOL && !v.b)
            return v;
        if (v.kind == CEL_ERROR && result.kind != CEL_ERROR)
            result = v;
    }
    return result;
}

static struct cel_value equal_maps(struct cel_run *run, const struct cel_map *a,
                                   const struct cel_map *b)
{
    if (a->n != b->n)
        return cel_bool(false);
    struct cel_value result = cel_bool(true);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct cel_value *other = cel_map_find(b, a->entries[i].key);
        struct cel_value v =
            other ? cel_equal(run, a->entries[i].value, *other) : cel_bool(false);
        if (v.kind == CEL_BOOL && !v.b)
            return v;
        if (v.kind == CEL_ERROR && result.kind != CEL_ERROR)
            result = v;
    }
    return result;
}

static struct cel_value equal_optionals(struct cel_run *run, struct cel_value a,
                                        struct cel_value b)
{
    if (a.optional == NULL || b.optional == NULL)
        return cel_bool(a.optional == b.optional);
    return cel_equal(run, *a.optional, *b.optional);
}

static bool equal_objects(const struct cel_object *a, const struct cel_object *b)
{
    if (a == b)
        return true;
    return a->ops == b->ops && a->ops->equal != NULL && a->ops->equal(a, b);
}

static bool equal_timestamps(struct cel_value a, struct cel_value b)
{
    return a.i == b.i && a.len == b.len;
}

enum { WORK_LIMIT = 16 << 20 };

bool cel_work(struct cel_run *run)
{
    return !run || ++run->work <= (run->work_limit ? run->work_limit : WORK_LIMIT);
}

struct cel_value cel_too_much_work(void)
{
    static const struct cel_error e = {
        .text = {"operation cancelled: too many comparisons", 41}};
    return (struct cel_value){.kind = CEL_ERROR, .aux = CEL_ERROR_FATAL, .error = &e};
}

/* Values of one kind. */
static struct cel_value equal_same(struct cel_run *run, struct cel_value a,
                                   struct cel_value b)
{
    switch (a.kind) {
    case CEL_BOOL:
        return cel_bool(a.b == b.b);
    case CEL_STRING:
    case CEL_BYTES:
        return cel_bool(cel_text_equal(a, b));
    case CEL_TIMESTAMP:
        return cel_bool(equal_timestamps(a, b));
    case CEL_LIST:
        if (!cel_work(run))
            return cel_too_much_work();
        return a.aux2 && run ? cel_equal_unordered(run, a, b) : equal_lists(run, a, b);
    case CEL_MAP:
        return cel_work(run) ? equal_maps(run, a.map, b.map) : cel_too_much_work();
    case CEL_TYPE: /* type-erased: list(int) == list(string) */
        return cel_bool(strcmp(cel_type_name(a.type), cel_type_name(b.type)) == 0);
    case CEL_OPTIONAL:
        return equal_optionals(run, a, b);
    case CEL_OBJECT:
        return cel_bool(equal_objects(a.object, b.object));
    case CEL_QUANTITY:
        return cel_bool(quantity_cmp(a.quantity, b.quantity) == 0);
    case CEL_SEMVER:
        return cel_bool(semver_cmp(a.semver, b.semver) == 0);
    case CEL_IP:
        return cel_bool(cel_ip_equal(a.ip, b.ip));
    case CEL_CIDR:
        return cel_bool(cel_cidr_equal(a.cidr, b.cidr));
    case CEL_URL:
        return cel_bool(cel_url_equal(a.url, b.url));
    case CEL_FORMAT:
        return cel_bool(a.format == b.format);
    default: /* null, duration */
        return cel_bool(a.kind == CEL_NULL || a.i == b.i);
    }
}

struct cel_value cel_equal(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (a.kind == CEL_ERROR)
        return a;
    if (b.kind == CEL_ERROR)
        return b;
    if (is_number(a) && is_number(b))
        return cel_bool(!is_nan(a) && !is_nan(b) && order_numbers(a, b) == 0);
    if (a.kind == b.kind)
        return equal_same(run, a, b);
    if (kinds[a.kind].closed && b.kind != CEL_NULL)
        return cel_no_overload(run);
    return cel_bool(false);
}

/* ---- Order ---- */

static int order_timestamps(struct cel_value a, struct cel_value b)
{
    if (a.i != b.i)
        return a.i < b.i ? -1 : 1;
    return (a.len > b.len) - (a.len < b.len);
}

struct cel_value cel_compare(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    bool numbers = is_number(a) && is_number(b);
    if (is_nan(a) || (numbers && is_nan(b)))
        return CEL_ERROR_CONST("NaN values cannot be ordered");
    if (numbers)
        return cel_int(order_numbers(a, b));
    if (a.kind != b.kind)
        return cel_no_overload(run);
    switch (a.kind) {
    case CEL_BOOL:
        return cel_int((int)a.b - (int)b.b);
    case CEL_STRING:
    case CEL_BYTES: {
        int order = str_cmp(cel_str(a), cel_str(b));
        return cel_int((order > 0) - (order < 0));
    }
    case CEL_DURATION:
        return cel_int((a.i > b.i) - (a.i < b.i));
    case CEL_TIMESTAMP:
        return cel_int(order_timestamps(a, b));
    default:
        return cel_no_overload(run);
    }
}

/* ---- Sizes ---- */

struct cel_value cel_string_marked(struct str s)
{
    struct cel_value v = cel_string(s);
    if (utf8_is_ascii(s))
        v.aux = CEL_STRING_ASCII;
    v.aux2 = (uint16_t)(str_hash(s) >> 48) | 1; /* 0 is no mark */
    return v;
}

int64_t cel_size(struct cel_value v)
{
    switch (v.kind) {
    case CEL_STRING:
        return v.aux & CEL_STRING_ASCII ? v.len : (int64_t)utf8_count(cel_str(v));
    case CEL_BYTES:
    case CEL_LIST:
        return v.len;
    case CEL_MAP:
        return v.map->n;
    default:
        return -1;
    }
}

uint64_t cel_cost_size(struct cel_value v)
{
    switch (v.kind) {
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_LIST:
    case CEL_MAP:
        return (uint64_t)cel_size(v);
    case CEL_OPTIONAL:
        return v.optional ? cel_cost_size(*v.optional) : 1;
    case CEL_IP:
        return cel_ip_size(v.ip);
    case CEL_CIDR:
        return cel_cidr_size(v.cidr);
    default:
        return 1;
    }
}

/* ---- Copies ---- */

static struct cel_value dup_list(struct cel_value v, struct arena *a)
{
    struct cel_value *items = arena_alloc(a, v.len * sizeof *items);
    for (uint32_t i = 0; i < v.len; i++)
        items[i] = cel_dup(v.items[i], a);
    return cel_list(items, v.len);
}

static struct cel_value dup_map(const struct cel_map *m, struct arena *a)
{
    struct cel_map *copy = ARENA_NEW(a, struct cel_map);
    *copy = *m;
    copy->entries = arena_alloc(a, m->n * sizeof *copy->entries);
    for (uint32_t i = 0; i < m->n; i++) {
        copy->entries[i].key = cel_dup(m->entries[i].key, a);
        copy->entries[i].value = cel_dup(m->entries[i].value, a);
    }
    if (m->slots != NULL) {
        size_t size = ((size_t)m->mask + 1) * sizeof *m->slots;
        copy->slots = memcpy(arena_alloc(a, size), m->slots, size);
    }
    if (m->missing != NULL) {
        struct cel_value *missing = arena_alloc(a, sizeof *missing);
        *missing = cel_dup(*m->missing, a);
        copy->missing = missing;
    }
    return cel_map_value(copy);
}

static struct cel_value dup_error(const struct cel_error *e, struct arena *a)
{
    struct cel_error *copy = ARENA_NEW(a, struct cel_error);
    *copy = *e;
    copy->text = arena_str(a, e->text);
    return (struct cel_value){.kind = CEL_ERROR, .error = copy};
}

static const struct quantity *dup_quantity(const struct quantity *q, struct arena *a)
{
    struct quantity *copy = arena_alloc(a, sizeof *copy);
    *copy = quantity_dup(q, a);
    return copy;
}

static const struct semver *dup_semver(const struct semver *v, struct arena *a)
{
    struct semver *copy = arena_alloc(a, sizeof *copy);
    *copy = *v;
    copy->pre = arena_str(a, v->pre);
    copy->build = arena_str(a, v->build);
    return copy;
}

static const struct cel_value *dup_one(const struct cel_value *v, struct arena *a)
{
    struct cel_value *copy = arena_alloc(a, sizeof *copy);
    *copy = cel_dup(*v, a);
    return copy;
}

struct cel_value cel_dup(struct cel_value v, struct arena *a)
{
    switch (v.kind) {
    case CEL_ERROR: {
        struct cel_value e = dup_error(v.error, a);
        e.aux = v.aux;
        return e;
    }
    case CEL_STRING:
    case CEL_BYTES:
        v.s = arena_str(a, cel_str(v)).p;
        break;
    case CEL_LIST:
        return dup_list(v, a);
    case CEL_MAP:
        return dup_map(v.map, a);
    case CEL_OPTIONAL:
        v.optional = v.optional ? dup_one(v.optional, a) : NULL;
        break;
    case CEL_QUANTITY:
        v.quantity = dup_quantity(v.quantity, a);
        break;
    case CEL_SEMVER:
        v.semver = dup_semver(v.semver, a);
        break;
    case CEL_IP:
        v.ip = cel_ip_dup(v.ip, a);
        break;
    case CEL_CIDR:
        v.cidr = cel_cidr_dup(v.cidr, a);
        break;
    case CEL_URL:
        v.url = cel_url_dup(v.url, a);
        break;
    default: /* scalars, types, formats, objects: nothing of their own behind them */
        break;
    }
    return v;
}
