/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slices of a node's drivers. What was published stands in an annotation as a hash,
 * so that a slice that the server has completed is not taken for another. When one is
 * missing or differs, all of them are written anew as the pool's next generation.
 */
#include "node/sim_inner.h"

static const struct client_kind SLICE = {"resource.k8s.io", "v1", "resourceslices",
                                         false};
static const char HASH[] = "sim.dray.dev/published", TAINT[] = "sim.dray.dev/unhealthy";

struct publication {
    struct doc want[SIM_SHAPE_MAX_SLICES];
    const struct doc *have[SIM_SHAPE_MAX_SLICES]; /* NULL: there is none */
    uint32_t n;
    int64_t generation; /* that the pool had; 0: none */
    bool changed;
};

/* ---- what is wanted ---- */

static bool is_listed(struct str list, struct str name)
{
    bool found = false;
    for (struct str rest = list, part; !found && str_split_next(&rest, ',', &part);)
        found = str_eq(str_trim(part), name);
    return found;
}

static void taint(struct doc *device, struct arena *a)
{
    struct doc t = doc_make_map(), list = doc_make_list();
    const struct doc *had = doc_get(device, "taints");
    if (had)
        list = doc_dup(a, had);
    doc_set_text(a, &t, "key", str_from(TAINT));
    doc_set_text(a, &t, "value", STR("true"));
    doc_set_text(a, &t, "effect", STR("NoExecute"));
    doc_append(a, &list, t);
    doc_set(a, device, "taints", list);
}

static void taint_unhealthy(struct doc *slice, struct str unhealthy, struct arena *a)
{
    const struct doc *found = doc_path(slice, "spec.devices");
    if (!unhealthy.n || !found || found->type != DOC_LIST)
        return;
    for (uint32_t i = 0; i < found->n; i++)
        if (is_listed(unhealthy, doc_get_text(&found->items[i], "name")))
            taint(&found->items[i], a);
}

static struct str hash_of(const struct doc *slice, struct arena *a)
{
    struct strbuf json = STRBUF_INIT;
    doc_write_json(doc_get(slice, "spec"), DOC_JSON_SORT, &json);
    struct str out =
        arena_printf(a, "%016llx", (unsigned long long)str_hash(strbuf_str(&json)));
    strbuf_release(&json);
    return out;
}

static struct doc owner(const struct object *node, struct arena *a)
{
    struct doc list = doc_make_list(), o = doc_make_map();
    doc_set_text(a, &o, "apiVersion", STR("v1"));
    doc_set_text(a, &o, "kind", STR("Node"));
    doc_set_text(a, &o, "name", node->name);
    doc_set_text(a, &o, "uid", node->uid);
    doc_set(a, &o, "controller", doc_make_bool(true));
    doc_append(a, &list, o);
    return list;
}

static struct doc want(const struct sim_node *n, uint32_t i, const struct object *node,
                       struct arena *a)
{
    const struct sim_node_view *v = node->view;
    struct doc slice = sim_shape_slice(n->shape, i, n->name, a), notes = doc_make_map(),
               meta = *doc_get(&slice, "metadata");
    taint_unhealthy(&slice, v->unhealthy, a);
    doc_set_text(a, &notes, HASH, hash_of(&slice, a));
    doc_set(a, &meta, "annotations", notes);
    doc_set(a, &meta, "ownerReferences", owner(node, a));
    doc_set(a, &slice, "metadata", meta);
    return slice;
}

/* ---- what there is ---- */

static struct str name_of(const struct doc *slice)
{
    return doc_get_text(doc_get(slice, "metadata"), "name");
}

static struct str published(const struct doc *slice)
{
    return doc_get_text(doc_path(slice, "metadata.annotations"), HASH);
}

/* Of another node of this name, before it was deleted: it goes with its owner. */
static bool is_other_nodes(const struct doc *slice, const struct object *node)
{
    const struct doc *list = doc_path(slice, "metadata.ownerReferences");
    return !list || list->type != DOC_LIST || list->n == 0 ||
           !str_eq(doc_get_text(&list->items[0], "uid"), node->uid);
}

static enum progress look(struct work *w, struct publication *p, uint32_t i,
                          const struct object *node)
{
    const struct client_answer *answer;
    struct str path = client_path(&SLICE, STR_NONE, name_of(&p->want[i]), NULL, w->a);
    enum progress step = work_ask(w, "GET", NULL, path, NULL, &answer);
    int64_t generation = 0;
    if (step != PROGRESS_DONE)
        return step;
    if (!answer->ok && answer->status != 404)
        return work_fail(w, "%s", answer->message);
    const struct doc *have = answer->ok ? work_answer_doc(w, answer) : NULL;
    doc_get_int64(doc_path(have, "spec.pool"), "generation", &generation);
    p->have[i] = have;
    p->generation = generation > p->generation ? generation : p->generation;
    p->changed |= !have || !str_eq(published(have), published(&p->want[i])) ||
                  is_other_nodes(have, node);
    return PROGRESS_DONE;
}

/* ---- writing ---- */

static void set_generation(struct doc *slice, int64_t generation, struct arena *a)
{
    struct doc spec = *doc_get(slice, "spec"), pool = *doc_get(&spec, "pool");
    doc_set(a, &pool, "generation", doc_make_int(a, generation));
    doc_set(a, &spec, "pool", pool);
    doc_set(a, slice, "spec", spec);
}

static void set_version(struct doc *slice, const struct doc *have, struct arena *a)
{
    struct doc meta = *doc_get(slice, "metadata");
    struct str version = doc_get_text(doc_get(have, "metadata"), "resourceVersion");
    doc_set_text(a, &meta, "resourceVersion", version);
    doc_set(a, slice, "metadata", meta);
}

static enum progress write_one(struct work *w, const struct publication *p, uint32_t i)
{
    struct doc slice = p->want[i];
    const struct doc *have = p->have[i];
    const struct client_answer *answer;
    struct str name = have ? name_of(&slice) : STR_NONE;
    set_generation(&slice, p->generation + 1, w->a);
    if (have)
        set_version(&slice, have, w->a);
    struct str path = client_path(&SLICE, STR_NONE, name, NULL, w->a);
    enum progress step = work_ask(w, have ? "PUT" : "POST", NULL, path, &slice, &answer);
    if (step == PROGRESS_DONE && !answer->ok)
        return work_fail(w, "%s", answer->message);
    return step;
}

/* Questions are asked side by side: all at once, then all of the writes. */
enum progress sim_publish(struct work *w, struct sim_node *n, const struct object *node)
{
    struct publication *p = ARENA_NEW(w->a, struct publication);
    enum progress all = PROGRESS_DONE, one;
    p->n = sim_shape_nslices(n->shape);
    for (uint32_t i = 0; i < p->n; i++) {
        p->want[i] = want(n, i, node, w->a);
        one = look(w, p, i, node);
        all = one == PROGRESS_DONE ? all : one;
    }
    if (all != PROGRESS_DONE || !p->changed)
        return all;
    for (uint32_t i = 0; i < p->n; i++) {
        one = write_one(w, p, i);
        all = one == PROGRESS_DONE ? all : one;
    }
    return all;
}
