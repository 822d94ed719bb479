/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/publish_plan.h"

#include "api/timestamp.h"
#include "base/map.h"
#include "base/vec.h"

enum { INDEX_DIGITS = 5 };

struct plan {
    const struct publish_want *want;
    const struct doc *live;
    struct arena *a;
    const struct doc **matched; /* by number; NULL: there is none */
    struct doc *specs;          /* wanted, without their pool */
    bool *changed;
    int64_t generation; /* the highest there is; -1: there is none */
    bool mixed;         /* those that match are not all and only those of the highest */
    VEC(struct publish_write) writes;
};

static uint32_t digits_of(uint32_t n)
{
    uint32_t digits = INDEX_DIGITS;
    while (digits < 8 && (n - 1) >> (4 * digits))
        digits++;
    return digits;
}

/* ---- what is there ---- */

static struct str meta_text(const struct doc *slice, const char *key)
{
    return doc_get_text(doc_get(slice, "metadata"), key);
}

static int64_t generation_of(const struct doc *slice)
{
    int64_t n = 0;
    doc_get_int64(doc_path(slice, "spec.pool"), "generation", &n);
    return n;
}

/* UINT32_MAX: none of ours. */
static uint32_t number_of(const struct plan *p, const struct doc *slice)
{
    struct str name = meta_text(slice, "name");
    uint32_t n = 0, digits = digits_of(p->want->slices->n);
    if (str_find_byte(name, '-', 0) != digits ||
        !str_eq(doc_get_text(doc_path(slice, "spec.pool"), "name"), p->want->pool))
        return UINT32_MAX;
    for (uint32_t i = 0; i < digits; i++) {
        int digit = str_hex_digit(name.p[i]);
        if (digit < 0)
            return UINT32_MAX;
        n = n << 4 | (uint32_t)digit;
    }
    return n < p->want->slices->n ? n : UINT32_MAX;
}

static void add_delete(struct plan *p, const struct doc *slice)
{
    vec_push_in(p->a, &p->writes,
                (struct publish_write){.verb = PUBLISH_DELETE, .old = slice});
}

/* Of two with one number the one whose name comes first stays: whoever else looks sees it
 * so too. */
static void match(struct plan *p, const struct doc *slice)
{
    uint32_t n = number_of(p, slice);
    const struct doc **place = n == UINT32_MAX ? NULL : &p->matched[n];
    if (!place) {
        add_delete(p, slice);
    } else if (!*place) {
        *place = slice;
    } else if (str_cmp(meta_text(slice, "name"), meta_text(*place, "name")) < 0) {
        add_delete(p, *place);
        *place = slice;
    } else {
        add_delete(p, slice);
    }
}

/* One that only waits for a finalizer counts for its generation alone, which is not ours
 * then. No number comes behind the last generation there is, so nothing of it can stay.
 */
static void match_all(struct plan *p)
{
    p->generation = -1;
    for (uint32_t i = 0; i < p->live->n; i++)
        if (generation_of(&p->live->items[i]) > p->generation)
            p->generation = generation_of(&p->live->items[i]);
    bool last = p->generation == INT64_MAX;
    for (uint32_t i = 0; i < p->live->n; i++) {
        const struct doc *slice = &p->live->items[i];
        if (meta_text(slice, "deletionTimestamp").n)
            p->mixed |= generation_of(slice) == p->generation;
        else if (last)
            add_delete(p, slice);
        else
            match(p, slice);
    }
    if (last)
        p->generation = 0;
}

/* ---- times of taints ---- */

static void index_devices(const struct plan *p, struct strmap *devices)
{
    for (uint32_t i = 0; i < p->live->n; i++) {
        const struct doc *list = doc_path(&p->live->items[i], "spec.devices");
        for (uint32_t k = 0; list && list->type == DOC_LIST && k < list->n; k++)
            strmap_put(devices, doc_get_text(&list->items[k], "name"), NULL)->value.ptr =
                &list->items[k];
    }
}

static const struct doc *same_taint(const struct doc *device, const struct doc *taint)
{
    const struct doc *list = doc_get(device, "taints");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *t = &list->items[i];
        if (str_eq(doc_get_text(t, "key"), doc_get_text(taint, "key")) &&
            str_eq(doc_get_text(t, "value"), doc_get_text(taint, "value")) &&
            str_eq(doc_get_text(t, "effect"), doc_get_text(taint, "effect")))
            return t;
    }
    return NULL;
}

/* A second more or less is no difference. */
static bool is_about(struct str a, struct str b)
{
    int64_t x, y;
    int32_t nanos;
    return timestamp_parse(a, &x, &nanos) && timestamp_parse(b, &y, &nanos) &&
           x - y <= 1 && y - x <= 1;
}

/* Whoever says nothing about the time of a taint keeps what is published. */
static void keep_time(struct arena *a, struct doc *taint, const struct doc *device)
{
    const struct doc *same = same_taint(device, taint);
    struct str is = doc_get_text(same, "timeAdded"),
               want = doc_get_text(taint, "timeAdded");
    if (is.n && (!want.n || is_about(is, want)))
        doc_set_text(a, taint, "timeAdded", is);
}

static void keep_times_of(struct arena *a, struct doc *device, const struct doc *old)
{
    struct doc *list = (struct doc *)doc_get(device, "taints");
    for (uint32_t i = 0; old && list && i < list->n; i++)
        keep_time(a, &list->items[i], old);
}

static bool has_taints(const struct doc *spec)
{
    const struct doc *list = doc_get(spec, "devices");
    for (uint32_t i = 0; list && i < list->n; i++)
        if (doc_get(&list->items[i], "taints"))
            return true;
    return false;
}

static void keep_times(struct plan *p, struct doc *spec)
{
    struct strmap devices = STRMAP_INIT;
    struct doc *list = (struct doc *)doc_get(spec, "devices");
    if (!has_taints(spec))
        return;
    index_devices(p, &devices);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct strmap_entry *e =
            strmap_find(&devices, doc_get_text(&list->items[i], "name"));
        keep_times_of(p->a, &list->items[i], e ? e->value.ptr : NULL);
    }
    strmap_release(&devices);
}

/* ---- what is wanted ---- */

static struct doc spec_of(struct plan *p, uint32_t i)
{
    const struct publish_want *w = p->want;
    bool adopted = w->adopted && w->adopted[i].type == DOC_MAP;
    struct doc spec = doc_dup(p->a, adopted ? &w->adopted[i] : &w->slices->v[i]);
    doc_set_text(p->a, &spec, "driver", w->driver);
    doc_set_text(p->a, &spec, "nodeName", w->node);
    keep_times(p, &spec);
    return spec;
}

static void set_pool(struct plan *p, struct doc *spec, int64_t generation)
{
    struct doc pool = doc_make_map();
    doc_set_text(p->a, &pool, "name", p->want->pool);
    doc_set(p->a, &pool, "generation", doc_make_int(p->a, generation));
    doc_set(p->a, &pool, "resourceSliceCount", doc_make_int(p->a, p->want->slices->n));
    doc_set(p->a, spec, "pool", pool);
}

static struct doc owner(const struct plan *p)
{
    struct doc o = doc_make_map();
    doc_set_text(p->a, &o, "apiVersion", STR("v1"));
    doc_set_text(p->a, &o, "kind", STR("Node"));
    doc_set_text(p->a, &o, "name", p->want->node);
    doc_set_text(p->a, &o, "uid", p->want->node_uid);
    doc_set(p->a, &o, "controller", doc_make_bool(true));
    return o;
}

/* The node alone controls it; other owners stay, but for nodes that were. */
static struct doc owners(const struct plan *p, const struct doc *slice)
{
    struct doc list = doc_make_list(), own = owner(p);
    const struct doc *have = doc_path(slice, "metadata.ownerReferences");
    for (uint32_t i = 0; have && have->type == DOC_LIST && i < have->n; i++) {
        bool controls = false;
        doc_get_bool(&have->items[i], "controller", &controls);
        if (!controls && !doc_is_string(doc_get(&have->items[i], "kind"), "Node"))
            doc_append(p->a, &list, have->items[i]);
    }
    doc_append(p->a, &list, own);
    return list;
}

static bool is_changed(struct plan *p, uint32_t i)
{
    const struct doc *slice = p->matched[i];
    struct doc spec = p->specs[i], refs = owners(p, slice);
    const struct doc *is = doc_get(slice, "spec"),
                     *have = doc_path(slice, "metadata.ownerReferences");
    set_pool(p, &spec, generation_of(slice));
    return !is || !doc_equal(is, &spec) || !have || !doc_equal(have, &refs);
}

/* ---- writes ---- */

static void add_update(struct plan *p, uint32_t i)
{
    struct doc d = doc_dup(p->a, p->matched[i]), spec = p->specs[i];
    struct doc *meta = (struct doc *)doc_get(&d, "metadata");
    set_pool(p, &spec, p->generation);
    doc_set(p->a, meta, "ownerReferences", owners(p, &d));
    doc_set(p->a, &d, "spec", spec);
    vec_push_in(p->a, &p->writes,
                (struct publish_write){PUBLISH_UPDATE, i, p->matched[i], d});
}

static void add_create(struct plan *p, uint32_t i)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), spec = p->specs[i];
    set_pool(p, &spec, p->generation);
    doc_set_text(p->a, &meta, "generateName",
                 arena_printf(p->a, "%0*x-%.*s-%.*s-", (int)digits_of(p->want->slices->n),
                              i, STR_ARG(p->want->driver), STR_ARG(p->want->node)));
    doc_set(p->a, &meta, "ownerReferences", owners(p, NULL));
    doc_set(p->a, &d, "metadata", meta);
    doc_set(p->a, &d, "spec", spec);
    vec_push_in(p->a, &p->writes, (struct publish_write){PUBLISH_CREATE, i, NULL, d});
}

static void compare(struct plan *p)
{
    for (uint32_t i = 0; i < p->want->slices->n; i++) {
        p->specs[i] = spec_of(p, i);
        if (!p->matched[i])
            continue;
        p->changed[i] = is_changed(p, i);
        p->mixed |= generation_of(p->matched[i]) != p->generation;
    }
}

/* One slice may change alone; more of them make a new generation, which whoever reads
 * takes for the pool only when all of it is there (spec 5.8.7). */
static void choose_generation(struct plan *p)
{
    uint32_t n = p->want->slices->n, missing = 0, changed = 0;
    for (uint32_t i = 0; i < n; i++) {
        missing += !p->matched[i];
        changed += p->changed[i];
    }
    if (!missing && changed <= 1 && !p->mixed)
        return;
    p->generation = p->generation < 0 ? 1 : p->generation + 1;
    for (uint32_t i = 0; i < n; i++)
        p->changed[i] = p->matched[i] != NULL;
}

void publish_plan_make(const struct publish_want *want, const struct doc *live,
                       struct arena *a, struct publish_plan *out)
{
    uint32_t n = want->slices->n;
    struct plan p = {.want = want,
                     .live = live,
                     .a = a,
                     .matched = ARENA_ARRAY(a, const struct doc *, n),
                     .specs = ARENA_ARRAY(a, struct doc, n),
                     .changed = ARENA_ARRAY(a, bool, n)};
    match_all(&p);
    compare(&p);
    choose_generation(&p);
    for (uint32_t i = 0; i < n; i++)
        if (p.changed[i])
            add_update(&p, i);
    for (uint32_t i = 0; i < n; i++)
        if (!p.matched[i])
            add_create(&p, i);
    *out = (struct publish_plan){p.writes.v, (uint32_t)p.writes.n, p.generation};
}
