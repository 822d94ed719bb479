/* SPDX-License-Identifier: Apache-2.0 */
#include "control/slice_sync.h"

#include "base/vec.h"
#include "control/fields.h"
#include "control/podwork.h"

static void by_service(struct index *x, const struct object *o)
{
    struct str service = field_label(o->doc, SLICE_SERVICE);
    struct arena a;
    arena_init(&a);
    if (service.n)
        index_emit(
            x, arena_printf(&a, "%.*s/%.*s", STR_ARG(o->namespace), STR_ARG(service)));
    arena_fini(&a);
}

void slice_sync_init(struct slice_sync *x, const char *manager)
{
    x->manager = manager;
    index_init(&x->by_service, by_service);
    expect_init(&x->expect);
    written_init(&x->written);
}

void slice_sync_fini(struct slice_sync *x)
{
    index_fini(&x->by_service);
    expect_fini(&x->expect);
    written_fini(&x->written);
}

static bool is_mine(const struct slice_sync *x, const struct object *o)
{
    return o && str_is(field_label(o->doc, SLICE_MANAGER), x->manager);
}

static struct str service_of(const struct object *o, struct arena *a)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(o->namespace),
                        STR_ARG(field_label(o->doc, SLICE_SERVICE)));
}

struct str slice_sync_change(struct slice_sync *x, const struct object *old,
                             const struct object *now, struct arena *a)
{
    bool was = is_mine(x, old), is = is_mine(x, now);
    index_change(&x->by_service, was ? old : NULL, is ? now : NULL);
    if (!was && !is)
        return STR_NONE;
    struct str service = service_of(is ? now : old, a);
    bool same = old && now && str_eq(old->uid, now->uid);
    if (was && !same) {
        expect_saw_gone(&x->expect, service, old->uid);
        written_forget(&x->written, old->uid);
    }
    if (is && !same)
        expect_saw_made(&x->expect, service);
    return service;
}

bool slice_sync_gather(struct slice_sync *x, struct sync *s, struct str service,
                       uint32_t list, uint64_t now_ms)
{
    uint32_t n = 0;
    bool seen = true;
    if (!s->fresh)
        return true;
    const struct str *keys = index_find(&x->by_service, service, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *slice = informer_get(shared_informer(x->slices), keys[i]);
        if (!slice || field_deleted(slice->doc))
            continue;
        seen &= written_is_seen(&x->written, slice);
        sync_hold(s, list, slice);
    }
    return seen && expect_is_met(&x->expect, service, now_ms);
}

struct objects slice_sync_of_type(const struct sync *s, uint32_t list, const char *type)
{
    struct objects found = {0};
    const struct object_list *all = &s->lists[list];
    for (uint32_t i = 0; i < all->n; i++)
        if (str_is(field_text(all->v[i]->doc, "addressType"), type))
            vec_push_in(s->a, &found, (const struct object *)all->v[i]);
    return found;
}

/* ---- requests ---- */

struct applying {
    struct slice_sync *x;
    struct sync *s;
    struct str service;
    bool *begun; /* of the plan's requests, from round to round */
};

static bool begins(struct applying *p, uint32_t i)
{
    bool first = !p->begun[i];
    p->begun[i] = true;
    return first;
}

static uint64_t now_ms(const struct sync *s)
{
    return net_now_ms(client_loop(s->work->steps.client));
}

static enum progress make(struct applying *p, uint32_t i, const struct doc *slice)
{
    const struct client_answer *answer;
    const struct doc *made;
    if (begins(p, i))
        expect_made(&p->x->expect, p->service, 1, now_ms(p->s));
    enum progress done = sync_post(p->s, &slices_kind, slice, &made, &answer);
    if (done != PROGRESS_DONE || made)
        return done;
    expect_saw_made(&p->x->expect, p->service);
    if (podwork_is_terminating(answer))
        return PROGRESS_DONE;
    return work_fail(p->s->work, "failed to create EndpointSlice for Service %.*s: %s",
                     STR_ARG(p->service), answer->message);
}

static enum progress change(struct applying *p, const struct doc *slice)
{
    const struct client_answer *answer;
    const struct doc *made;
    enum progress done = sync_put(p->s, &slices_kind, NULL, slice, &made, &answer);
    if (done == PROGRESS_DONE && made)
        written_note(&p->x->written, made);
    if (done == PROGRESS_DONE && !made)
        return work_fail(
            p->s->work, "failed to update %.*s EndpointSlice for Service %.*s: %s",
            STR_ARG(field_meta(slice, "name")), STR_ARG(p->service), answer->message);
    return done;
}

static enum progress drop(struct applying *p, uint32_t i, const struct object *slice)
{
    if (begins(p, i))
        expect_gone(&p->x->expect, p->service, slice->uid, now_ms(p->s));
    enum progress done = sync_delete(p->s, &slices_kind, slice->doc);
    if (done == PROGRESS_FAILED)
        expect_saw_gone(&p->x->expect, p->service, slice->uid);
    return done;
}

enum progress slice_sync_apply(struct slice_sync *x, struct sync *s, struct str service,
                               const struct slice_plan *plan, bool making)
{
    uint32_t n = plan->create.n;
    if (!s->begun)
        s->begun = ARENA_ARRAY(s->a, bool, n + plan->delete.n + 1);
    struct applying p = {x, s, service, s->begun};
    enum progress done = PROGRESS_DONE;
    for (uint32_t i = 0; making && i < n && done == PROGRESS_DONE; i++)
        done = make(&p, i, &plan->create.v[i]);
    for (uint32_t i = 0; i < plan->update.n && done == PROGRESS_DONE; i++)
        done = change(&p, &plan->update.v[i]);
    for (uint32_t i = 0; i < plan->delete.n && done == PROGRESS_DONE; i++)
        done = drop(&p, n + i, plan->delete.v[i]);
    return done;
}
