/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include "unit/unit.h"

static const struct doc *read_yaml(struct site *s, const char *text)
{
    struct doc_source src = {.name = "objects", .text = str_from(text)};
    struct doc_list list;
    struct err e = ERR_INIT;
    if (!doc_read_yaml(&src, &s->a, &list, &e) || list.n != 1)
        fail_msg("%s: %s", text, err_text(&e));
    return &list.v[0];
}

/* Its name is its uid: what was made first has no meaning here. */
static struct object *make_object(struct site *s, const struct doc *d,
                                  object_view_fn *view)
{
    struct object_opts opts = {.view = view};
    struct doc copy = doc_dup(&s->a, d);
    struct doc *meta = (struct doc *)doc_get(&copy, "metadata");
    struct err e = ERR_INIT;
    doc_set_text(&s->a, meta, "uid", doc_get_text(meta, "name"));
    struct object *o = object_of_doc(&copy, &opts, &e);
    if (!o)
        fail_msg("%s", err_text(&e));
    return o;
}

static void add(struct site *s, const struct doc *d)
{
    bool node = doc_is_string(doc_get(d, "kind"), "Node");
    struct object *o = make_object(s, d, node ? node_info_new : pod_info_new);
    if (node)
        cache_set_node(&s->world.cache, o);
    else
        cache_set_pod(&s->world.cache, o);
    object_unref(o);
}

void site_open(struct site *s, const char *objects)
{
    *s = (struct site){.profile = profile_default()};
    arena_init(&s->a);
    cache_init(&s->world.cache);
    const struct doc *list = read_yaml(s, objects);
    for (uint32_t i = 0; i < list->n; i++)
        add(s, &list->items[i]);
}

struct str site_try(struct site *s, const char *pod)
{
    s->pod = make_object(s, read_yaml(s, pod), pod_info_new);
    s->tried = true;
    cycle_init(&s->cycle, &s->world, &s->profile, s->pod, &s->a);
    cycle_run(&s->cycle);
    return s->cycle.code == SCHED_SUCCESS ? s->cycle.node->name : s->cycle.message;
}

void site_close(struct site *s)
{
    if (s->tried)
        cycle_fini(&s->cycle);
    object_unref(s->pod);
    cache_fini(&s->world.cache);
    nominated_fini(&s->world.nominated);
    arena_fini(&s->a);
}
