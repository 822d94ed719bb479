/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as they are read: their shapes, found or made, and the codes of their values.
 */
#include "device/internal.h"

/* The order in which a shape was read: where the value of each name goes. */
struct device_source {
    uint32_t nattrs, ncapacities; /* with those of two spellings */
    const struct str *names;      /* of attributes, then of capacities */
    const uint32_t *to;           /* position in the shape; DROPPED */
};
enum { DROPPED = UINT32_MAX };

struct input {
    struct str driver;
    const struct device_attr *attrs;
    const struct device_capacity *capacities;
    uint32_t nattrs, ncapacities;
    bool multiple;
};

/* ---- Making a shape ---- */

struct named {
    uint32_t id, from; /* from: its number in the input */
    struct str name;
};

static bool is_qualified(struct str name)
{
    return str_find_byte(name, '/', 0) != SIZE_MAX;
}

/* By id, the spelling with a domain first. */
static int by_id(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    int order = (int)is_qualified(y->name) - (int)is_qualified(x->name);
    return order ? order : (x->from > y->from) - (x->from < y->from);
}

struct draft { /* of a shape */
    uint32_t *ids, *to;
    struct str *names, *source;
    struct device_column **columns;
    uint32_t n; /* names so far */
};

/* Adds names [from, from + n) of the input, sorted; returns how many there are. */
static uint32_t add_names(struct device_names *names, struct draft *t, struct named *v,
                          uint32_t n, bool capacity)
{
    uint32_t first = t->n;
    if (n > 1)
        qsort(v, n, sizeof *v, by_id);
    for (uint32_t i = 0; i < n; i++) {
        bool again = t->n > first && t->ids[t->n - 1] == v[i].id;
        t->source[v[i].from] = arena_str(&names->arena, v[i].name);
        t->to[v[i].from] = again ? DROPPED : t->n;
        if (again)
            continue;
        t->ids[t->n] = v[i].id;
        t->names[t->n] = t->source[v[i].from];
        t->columns[t->n] = device_column(names, v[i].id, capacity);
        t->n++;
    }
    return t->n - first;
}

static const struct device_shape *shape_new(struct device_names *names,
                                            const struct input *in)
{
    struct arena *a = &names->arena;
    uint32_t n = in->nattrs + in->ncapacities;
    struct named *v = mem_array(n, sizeof *v);
    for (uint32_t i = 0; i < n; i++) {
        struct str name =
            i < in->nattrs ? in->attrs[i].name : in->capacities[i - in->nattrs].name;
        v[i] = (struct named){device_name_id(names, in->driver, name), i, name};
    }
    struct draft t = {ARENA_ARRAY(a, uint32_t, n),
                      ARENA_ARRAY(a, uint32_t, n),
                      ARENA_ARRAY(a, struct str, n),
                      ARENA_ARRAY(a, struct str, n),
                      ARENA_ARRAY(a, struct device_column *, n),
                      0};
    struct device_shape *s = ARENA_NEW(a, struct device_shape);
    struct device_source *source = ARENA_NEW(a, struct device_source);
    *s = (struct device_shape){.driver = arena_str(a, in->driver),
                               .allow_multiple = in->multiple,
                               .nattrs = add_names(names, &t, v, in->nattrs, false)};
    s->ncapacities = add_names(names, &t, v + in->nattrs, in->ncapacities, true);
    s->driver_value = cel_string_marked(s->driver);
    s->ids = t.ids;
    s->names = t.names;
    s->columns = t.columns;
    *source = (struct device_source){in->nattrs, in->ncapacities, t.source, t.to};
    s->source = source;
    free(v);
    return s;
}

/* ---- Finding a shape ---- */

static bool is_shape(const struct device_shape *s, const struct input *in)
{
    const struct device_source *x = s->source;
    if (x->nattrs != in->nattrs || x->ncapacities != in->ncapacities ||
        s->allow_multiple != in->multiple || !str_eq(s->driver, in->driver))
        return false;
    for (uint32_t i = 0; i < in->nattrs; i++)
        if (!str_eq(x->names[i], in->attrs[i].name))
            return false;
    for (uint32_t i = 0; i < in->ncapacities; i++)
        if (!str_eq(x->names[x->nattrs + i], in->capacities[i].name))
            return false;
    return true;
}

static void add_text(struct strbuf *b, struct str s)
{
    uint32_t n = (uint32_t)s.n;
    strbuf_add(b, &n, sizeof n);
    strbuf_addstr(b, s);
}

static struct str shape_key(struct device_names *names, const struct input *in)
{
    struct strbuf *b = &names->key;
    strbuf_clear(b);
    strbuf_addc(b, in->multiple ? 'm' : 's');
    strbuf_add(b, &in->nattrs, sizeof in->nattrs);
    add_text(b, in->driver);
    for (uint32_t i = 0; i < in->nattrs; i++)
        add_text(b, in->attrs[i].name);
    for (uint32_t i = 0; i < in->ncapacities; i++)
        add_text(b, in->capacities[i].name);
    return strbuf_str(b);
}

static const struct device_shape *shape_of(struct device_names *names,
                                           const struct input *in)
{
    if (names->last && is_shape(names->last, in))
        return names->last;
    struct str key = shape_key(names, in);
    struct strmap_entry *e = strmap_find(&names->shapes, key);
    if (!e) {
        e = strmap_put(&names->shapes, arena_str(&names->arena, key), NULL);
        e->value.ptr = (void *)shape_new(names, in);
    }
    return names->last = e->value.ptr;
}

/* ---- What fails every expression ---- */

static bool is_bad(const struct device_attr_value *v)
{
    return v->kind == DEVICE_ATTR_NONE || v->bad;
}

/* Why the version is none; the first, of a list. */
static struct str version_error(const struct device_attr *attr, struct arena *a)
{
    const struct device_attr_value *v = &attr->value;
    bool list = v->kind == DEVICE_ATTR_VERSIONS;
    struct err e = ERR_INIT;
    struct semver parsed;
    for (uint32_t i = 0; i < (list ? v->n : 1); i++)
        if (!semver_parse(list ? v->strings[i] : v->s, false, a, &parsed, &e))
            break;
    struct str text = arena_printf(a, "attribute %.*s: parse semantic version: %s",
                                   STR_ARG(attr->name), err_text(&e));
    err_release(&e);
    return text;
}

/* Of several upstream reports any; here it is the first by name. */
static const struct str *explain_bad(const struct device_attr *at, struct arena *a)
{
    struct str *text = ARENA_NEW(a, struct str);
    if (at->value.kind == DEVICE_ATTR_NONE)
        *text = arena_printf(a, "attribute %.*s: unsupported attribute value",
                             STR_ARG(at->name));
    else
        *text = version_error(at, a);
    return text;
}

/* ---- Facts ---- */

/* Also of an attribute that is dropped for its other spelling: it may be bad. */
static void fill_attrs(struct device_facts *out, struct device_names *names,
                       const struct input *in, uint32_t *codes, struct arena *a)
{
    const struct device_source *x = out->shape->source;
    const struct device_attr *bad = NULL;
    for (uint32_t i = 0; i < in->nattrs; i++) {
        const struct device_attr *attr = &in->attrs[i];
        bool dropped = x->to[i] == DROPPED;
        struct device_column *c =
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are nattrs */
            dropped ? device_column(names, device_name_id(names, in->driver, attr->name),
                                    false)
                    : out->shape->columns[x->to[i]];
        uint32_t code = device_column_attr(names, c, &attr->value);
        if (!dropped)
            codes[x->to[i]] = code;
        if (is_bad(&device_value_at(c, code)->attr) &&
            (!bad || str_cmp(attr->name, bad->name) < 0))
            bad = attr;
    }
    if (bad)
        out->bad = explain_bad(bad, a);
}

static void fill_capacities(struct device_facts *out, struct device_names *names,
                            const struct input *in, uint32_t *codes, struct arena *a)
{
    const struct device_shape *s = out->shape;
    const uint32_t *to = s->source->to + in->nattrs;
    const struct device_capacity_policy **policies = NULL;
    for (uint32_t i = 0; i < in->ncapacities; i++) {
        const struct device_capacity *c = &in->capacities[i];
        if (to[i] == DROPPED)
            continue;
        codes[to[i]] = device_column_amount(names, s->columns[to[i]], &c->value);
        if (c->policy && !policies)
            policies =
                ARENA_ARRAY(a, const struct device_capacity_policy *, s->ncapacities);
        if (c->policy)
            policies[to[i] - s->nattrs] = c->policy;
    }
    out->policies = policies;
}

void device_facts_make(struct device_facts *out, struct device_names *names,
                       struct str driver, const struct device_attr *attrs,
                       uint32_t nattrs, const struct device_capacity *capacities,
                       uint32_t ncapacities, bool allow_multiple, struct arena *a)
{
    const struct input in = {driver, attrs,       capacities,
                             nattrs, ncapacities, allow_multiple};
    *out = (struct device_facts){.shape = shape_of(names, &in)};
    uint32_t n = out->shape->nattrs + out->shape->ncapacities;
    uint32_t *codes = arena_alloc(a, (n + !n) * sizeof *codes);
    codes[0] = 0;
    fill_attrs(out, names, &in, codes, a);
    fill_capacities(out, names, &in, codes, a);
    out->codes = codes;
}

/* ---- Other names ---- */

/* As it was published, as far as it counts: of two spellings one is left. */
static struct input input_of(const struct device_facts *d, struct arena *a)
{
    const struct device_shape *s = d->shape;
    struct device_attr *attrs = ARENA_ARRAY(a, struct device_attr, s->nattrs);
    struct device_capacity *capacities =
        ARENA_ARRAY(a, struct device_capacity, s->ncapacities);
    for (uint32_t i = 0; i < s->nattrs; i++)
        attrs[i] = (struct device_attr){s->names[i], *device_attr(d, i)};
    for (uint32_t i = 0; i < s->ncapacities; i++)
        capacities[i] = device_capacity(d, i);
    return (struct input){s->driver, attrs,          capacities,
                          s->nattrs, s->ncapacities, s->allow_multiple};
}

/* The order of a shape is that of ids, which are others. What is bad stays so, and its
 * text is the device's own. */
void device_facts_move(struct device_facts *d, struct device_names *fresh,
                       struct arena *scratch)
{
    const struct input in = input_of(d, scratch);
    struct device_facts moved;
    device_facts_make(&moved, fresh, in.driver, in.attrs, in.nattrs, in.capacities,
                      in.ncapacities, in.multiple, scratch);
    uint32_t n = in.nattrs + in.ncapacities;
    memcpy((uint32_t *)d->codes, moved.codes, (n + !n) * sizeof *moved.codes);
    if (d->policies && moved.policies)
        memcpy((void *)d->policies, moved.policies,
               in.ncapacities * sizeof *moved.policies);
    d->shape = moved.shape;
}
