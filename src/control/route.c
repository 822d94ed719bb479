/* SPDX-License-Identifier: Apache-2.0 */
#include "control/route.h"

#include "api/claim_refs.h"
#include "control/fields.h"
#include "control/labels.h"

const struct object *route_owner(const struct route *r, const struct object *o)
{
    const struct doc *controller = claim_ref_controller(o->doc);
    if (!controller || !str_is(doc_get_text(controller, "kind"), r->owners->name))
        return NULL;
    const struct object *owner = informer_find(shared_informer(r->known), o->namespace,
                                               doc_get_text(controller, "name"));
    return owner && str_eq(owner->uid, doc_get_text(controller, "uid")) ? owner : NULL;
}

static void wake(const struct route *r, const struct object *owner)
{
    if (r->delay_ms)
        worker_add_after(r->worker, owner->key, r->delay_ms);
    else
        worker_add(r->worker, owner->key);
}

/* ---- orphans ---- */

struct fitting {
    const struct route *route;
    const struct object *orphan;
};

static void add_fitting(void *ctx, const struct object *owner)
{
    const struct fitting *f = ctx;
    const struct doc *selector = doc_path(owner->doc, "spec.selector");
    if (str_eq(owner->namespace, f->orphan->namespace) && !labels_select_all(selector) &&
        labels_match_object(selector, f->orphan->doc))
        wake(f->route, owner);
}

static void add_all_fitting(const struct route *r, const struct object *orphan)
{
    struct fitting f = {r, orphan};
    if (!claim_ref_controller(orphan->doc) && !field_deleted(orphan->doc))
        informer_each(shared_informer(r->known), add_fitting, &f);
}

/* ---- what has happened ---- */

static void tell(const struct route *r, const struct object *owner,
                 const struct object *old, const struct object *now)
{
    if (!owner)
        return;
    if (r->changed)
        r->changed(r->ctx, owner, old, now);
    wake(r, owner);
}

static void gone(const struct route *r, const struct object *old)
{
    const struct object *owner = route_owner(r, old);
    if (owner && r->expect)
        expect_saw_gone(r->expect, owner->key, old->uid);
    tell(r, owner, old, NULL);
}

/* One that is on its way out already counts as gone: whoever was waited for was seen
 * before. */
static void come(const struct route *r, const struct object *now)
{
    const struct object *owner = route_owner(r, now);
    if (!owner) {
        add_all_fitting(r, now);
        return;
    }
    if (r->expect && field_deleted(now->doc))
        expect_saw_gone(r->expect, owner->key, now->uid);
    else if (r->expect)
        expect_saw_made(r->expect, owner->key);
    tell(r, owner, NULL, now);
}

static bool same_path(const struct object *a, const struct object *b, const char *path)
{
    const struct doc *x = doc_path(a->doc, path), *y = doc_path(b->doc, path);
    return (!x && !y) || (x && y && doc_equal(x, y));
}

static void change(const struct route *r, const struct object *old,
                   const struct object *now)
{
    const struct object *owner = route_owner(r, now), *before = route_owner(r, old);
    bool same_owner = before == owner;
    if (!same_owner)
        tell(r, before, old, now);
    if (owner && r->expect && field_deleted(now->doc))
        expect_saw_gone(r->expect, owner->key, now->uid);
    tell(r, owner, old, now);
    if (!owner && (!same_owner || !same_path(old, now, "metadata.labels") ||
                   !same_path(old, now, "metadata.ownerReferences")))
        add_all_fitting(r, now);
}

void route_change(const struct route *r, const struct object *old,
                  const struct object *now)
{
    bool other = old && now && !str_eq(old->uid, now->uid);
    if (old && (!now || other))
        gone(r, old);
    if (now && (!old || other))
        come(r, now);
    else if (now)
        change(r, old, now);
}
