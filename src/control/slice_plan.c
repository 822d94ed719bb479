/* SPDX-License-Identifier: Apache-2.0 */
#include "control/slice_plan.h"

#include <stdlib.h>

#include "api/edit.h"
#include "base/vec.h"
#include "control/fields.h"

const struct client_kind slices_kind = {"discovery.k8s.io", "v1", "endpointslices", true};

/* ---- what is wanted ---- */

static int by_text(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    return str_cmp(*x, *y);
}

static struct str sorted_text(struct str *parts, uint32_t n, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (n)
        qsort(parts, n, sizeof *parts, by_text);
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&b, "%.*s;", STR_ARG(parts[i]));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static struct str print(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_SORT, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* Whatever their order. */
static struct str ports_key(const struct doc *ports, struct arena *a)
{
    uint32_t n = ports && ports->type == DOC_LIST ? ports->n : 0;
    struct str *parts = ARENA_ARRAY(a, struct str, n + 1);
    for (uint32_t i = 0; i < n; i++)
        parts[i] = print(&ports->items[i], a);
    return sorted_text(parts, n, a);
}

static struct str endpoint_key(const struct doc *endpoint, struct arena *a)
{
    const struct doc *addresses = field_list(endpoint, "addresses");
    struct str *parts = ARENA_ARRAY(a, struct str, addresses->n + 1);
    for (uint32_t i = 0; i < addresses->n; i++)
        parts[i] = doc_str(&addresses->items[i]);
    return arena_printf(a, "%.*s|%.*s|%.*s/%.*s",
                        STR_ARG(sorted_text(parts, addresses->n, a)),
                        STR_ARG(doc_get_text(endpoint, "hostname")),
                        STR_ARG(field_text(endpoint, "targetRef.namespace")),
                        STR_ARG(field_text(endpoint, "targetRef.name")));
}

static struct slice_group *find_group(const struct slice_order *o, struct str key)
{
    for (uint32_t i = 0; i < o->ngroups; i++)
        if (str_eq(o->groups[i].key, key))
            return &o->groups[i];
    return NULL;
}

struct slice_group *slice_group(struct slice_order *o, const struct doc *ports)
{
    struct str key = ports_key(ports, o->a);
    struct slice_group *found = find_group(o, key), g = {.key = key, .ports = *ports};
    if (found)
        return found;
    struct {
        struct slice_group *v;
        uint32_t n, cap;
    } groups = {o->groups, o->ngroups, o->groups_cap};
    vec_push_in(o->a, &groups, g);
    o->groups = groups.v;
    o->ngroups = groups.n;
    o->groups_cap = groups.cap;
    return &o->groups[o->ngroups - 1];
}

void slice_add(struct slice_order *o, struct slice_group *g, const struct doc *endpoint)
{
    struct slice_endpoint e = {.key = endpoint_key(endpoint, o->a), .doc = *endpoint};
    vec_push_in(o->a, g, e);
}

/* ---- slices ---- */

struct slice {              /* one of a group, as it will be */
    const struct object *o; /* NULL: it is new */
    struct doc *endpoints;
    uint32_t n, cap, had;
    bool changed, relabelled;
};

struct filling { /* the slices of one group */
    struct slice_order *o;
    struct slice_group *g;
    struct slice *v;
    uint32_t n, cap;
    uint32_t left; /* endpoints that have no place yet */
    uint32_t next; /* the first of them, or before it */
};

static bool is_reserved(struct str label)
{
    return str_is(label, SLICE_SERVICE) || str_is(label, SLICE_MANAGER) ||
           str_is(label, SLICE_HEADLESS);
}

static uint32_t count_own(const struct doc *labels)
{
    uint32_t n = 0;
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++)
        n += !is_reserved(doc_key(&labels->members[i]));
    return n;
}

/* Those that are not the controllers' own. */
static bool same_labels(const struct doc *have, const struct doc *want)
{
    for (uint32_t i = 0; i < want->n; i++) {
        struct str key = doc_key(&want->members[i]);
        const struct doc *found = doc_get_str(have, key);
        if (!is_reserved(key) && !(found && doc_equal(found, &want->members[i].value)))
            return false;
    }
    return count_own(have) == count_own(want);
}

static bool has_annotations(const struct object *o, const struct doc *want)
{
    const struct doc *have = doc_path(o->doc, "metadata.annotations");
    for (uint32_t i = 0; i < want->n; i++) {
        const struct doc *found = doc_get_str(have, doc_key(&want->members[i]));
        if (!found || !doc_equal(found, &want->members[i].value))
            return false;
    }
    return true;
}

static struct slice keep(struct filling *f, const struct object *o, struct strmap *wanted)
{
    const struct doc *list = field_list(o->doc, "endpoints");
    struct slice s = {.o = o, .had = list->n};
    s.endpoints = ARENA_ARRAY(f->o->a, struct doc, list->n + f->o->most);
    for (uint32_t i = 0; i < list->n; i++) {
        struct strmap_entry *e =
            strmap_find(wanted, endpoint_key(&list->items[i], f->o->a));
        struct slice_endpoint *want = e ? &f->g->v[e->value.u] : NULL;
        if (!want || want->placed)
            continue;
        want->placed = true;
        f->left--;
        s.changed |= !doc_equal(&want->doc, &list->items[i]);
        s.endpoints[s.n++] = want->doc;
    }
    s.changed |= s.n != list->n;
    s.relabelled = !same_labels(doc_path(o->doc, "metadata.labels"), &f->o->labels) ||
                   !has_annotations(o, &f->o->annotations);
    return s;
}

static void fill(struct filling *f, struct slice *s)
{
    for (; f->left && s->n < f->o->most; f->next++) {
        struct slice_endpoint *e = &f->g->v[f->next];
        if (e->placed)
            continue;
        e->placed = true;
        f->left--;
        s->endpoints[s->n++] = e->doc;
        s->changed = true;
    }
}

/* The fullest of those that change anyhow. */
static struct slice *fullest_changed(const struct filling *f)
{
    struct slice *best = NULL;
    for (uint32_t i = 0; i < f->n; i++) {
        struct slice *s = &f->v[i];
        bool changes = (s->changed && s->n) || (!s->changed && s->relabelled);
        if (changes && s->n < f->o->most && (!best || s->n > best->n))
            best = s;
    }
    return best;
}

/* The one that all the rest fits into best. */
static struct slice *best_unchanged(const struct filling *f)
{
    struct slice *best = NULL;
    for (uint32_t i = 0; i < f->n; i++) {
        struct slice *s = &f->v[i];
        if (!s->changed && s->n + f->left <= f->o->most && (!best || s->n > best->n))
            best = s;
    }
    return best;
}

static struct slice *add_slice(struct filling *f)
{
    struct slice s = {0};
    s.endpoints = ARENA_ARRAY(f->o->a, struct doc, f->o->most);
    vec_push_in(f->o->a, f, s);
    return &f->v[f->n - 1];
}

static void place_rest(struct filling *f)
{
    struct slice *s;
    while (f->left && (s = fullest_changed(f)))
        fill(f, s);
    while (f->left) {
        s = f->left < f->o->most ? best_unchanged(f) : NULL;
        fill(f, s ? s : add_slice(f));
    }
}

static void index_wanted(struct filling *f, struct strmap *wanted)
{
    strmap_init(wanted);
    for (uint32_t i = 0; i < f->g->n; i++) {
        bool made;
        struct strmap_entry *e = strmap_put(wanted, f->g->v[i].key, &made);
        e->value.u = made ? i : e->value.u;
        f->g->v[i].placed = !made; /* one that comes twice is there once */
        f->left += made;
    }
}

/* ---- documents ---- */

static void set_annotations(const struct slice_order *o, struct doc *slice)
{
    for (uint32_t i = 0; i < o->annotations.n; i++)
        field_set_meta(o->a, slice, "annotations", o->annotations.members[i].key,
                       doc_str(&o->annotations.members[i].value));
}

static struct doc list_of(const struct slice_order *o, const struct slice *s)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < s->n; i++)
        doc_append(o->a, &list, s->endpoints[i]);
    return list;
}

static struct doc new_slice(const struct slice_order *o, const struct doc *ports,
                            const struct doc *endpoints)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), refs = doc_make_list();
    doc_append(o->a, &refs, o->owner);
    doc_set_text(o->a, &meta, "generateName", o->prefix);
    doc_set_text(o->a, &meta, "namespace", o->namespace);
    doc_set(o->a, &meta, "labels", o->labels);
    doc_set(o->a, &meta, "ownerReferences", refs);
    doc_set_text(o->a, &d, "apiVersion", STR("discovery.k8s.io/v1"));
    doc_set_text(o->a, &d, "kind", STR("EndpointSlice"));
    doc_set(o->a, &d, "metadata", meta);
    doc_set_text(o->a, &d, "addressType", str_from(o->address_type));
    doc_set(o->a, &d, "ports", *ports);
    doc_set(o->a, &d, "endpoints", *endpoints);
    set_annotations(o, &d);
    return d;
}

static struct doc changed_slice(const struct slice_order *o, const struct slice *s)
{
    struct doc d = doc_dup(o->a, s->o->doc);
    doc_set(o->a, field_make(o->a, &d, "metadata"), "labels", o->labels);
    doc_set(o->a, &d, "endpoints", list_of(o, s));
    set_annotations(o, &d);
    return d;
}

static void write_down(struct filling *f, struct slice_plan *plan)
{
    struct arena *a = f->o->a;
    for (uint32_t i = 0; i < f->n; i++) {
        struct slice *s = &f->v[i];
        if (!s->o) {
            struct doc list = list_of(f->o, s);
            vec_push_in(a, &plan->create, new_slice(f->o, &f->g->ports, &list));
        } else if (s->changed && !s->n) {
            vec_push_in(a, &plan->delete, s->o);
        } else if (s->changed || s->relabelled) {
            vec_push_in(a, &plan->update, changed_slice(f->o, s));
        }
    }
}

/* ---- the whole ---- */

static bool is_owned(const struct slice_order *o, const struct object *slice)
{
    const struct doc *refs = field_list(slice->doc, "metadata.ownerReferences");
    for (uint32_t i = 0; i < refs->n; i++)
        if (str_eq(doc_get_text(&refs->items[i], "uid"), o->owner_uid))
            return true;
    return false;
}

static void plan_group(struct slice_order *o, struct slice_group *g,
                       const struct objects *existing, struct slice_plan *plan)
{
    struct filling f = {.o = o, .g = g};
    struct strmap wanted;
    index_wanted(&f, &wanted);
    for (uint32_t i = 0; i < existing->n; i++) {
        const struct object *slice = existing->v[i];
        struct str key = ports_key(doc_get(slice->doc, "ports"), o->a);
        if (is_owned(o, slice) && str_eq(key, g->key))
            vec_push_in(o->a, &f, keep(&f, slice, &wanted));
    }
    strmap_release(&wanted);
    place_rest(&f);
    write_down(&f, plan);
}

/* Slices of others, and those whose ports nobody has anymore. */
static void drop_strangers(struct slice_order *o, const struct objects *existing,
                           struct slice_plan *plan)
{
    for (uint32_t i = 0; i < existing->n; i++) {
        const struct object *slice = existing->v[i];
        struct str key = ports_key(doc_get(slice->doc, "ports"), o->a);
        if (!is_owned(o, slice) || !find_group(o, key))
            vec_push_in(o->a, &plan->delete, slice);
    }
}

static bool is_placeholder(const struct slice_order *o, const struct object *slice)
{
    const struct doc *labels = doc_path(slice->doc, "metadata.labels");
    return is_owned(o, slice) && !field_count(slice->doc, "ports") &&
           !field_count(slice->doc, "endpoints") && labels &&
           doc_equal(labels, &o->labels);
}

/* It says that there are none, and that somebody has looked. */
static void hold_place(struct slice_order *o, uint32_t nexisting, struct slice_plan *plan)
{
    struct doc none = doc_make_list();
    if (!o->placeholder || plan->delete.n != nexisting || plan->create.n)
        return;
    if (plan->delete.n == 1 && is_placeholder(o, plan->delete.v[0]))
        plan->delete.n = 0;
    else
        vec_push_in(o->a, &plan->create, new_slice(o, &none, &none));
}

/* Slices that go are used for those that come, so that names stay. */
static void reuse(struct slice_order *o, struct slice_plan *plan)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < plan->delete.n; i++) {
        const struct object *slice = plan->delete.v[i];
        if (!plan->create.n || !is_owned(o, slice)) {
            plan->delete.v[left++] = slice;
            continue;
        }
        struct doc d = plan->create.v[--plan->create.n];
        doc_set_text(o->a, api_edit_get(&d, "metadata"), "name", slice->name);
        vec_push_in(o->a, &plan->update, d);
    }
    plan->delete.n = left;
}

static void add_all(struct arena *a, struct slice_plan *to, const struct slice_plan *from)
{
    for (uint32_t i = 0; i < from->create.n; i++)
        vec_push_in(a, &to->create, from->create.v[i]);
    for (uint32_t i = 0; i < from->update.n; i++)
        vec_push_in(a, &to->update, from->update.v[i]);
    for (uint32_t i = 0; i < from->delete.n; i++)
        vec_push_in(a, &to->delete, from->delete.v[i]);
}

void slice_plan(struct slice_order *o, const struct objects *existing,
                struct slice_plan *plan)
{
    struct slice_plan own = {0};
    for (uint32_t i = 0; i < o->ngroups; i++)
        plan_group(o, &o->groups[i], existing, &own);
    drop_strangers(o, existing, &own);
    hold_place(o, existing->n, &own);
    reuse(o, &own);
    add_all(o->a, plan, &own);
}
