/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds what. A use of an administrator counts for nobody; shares of one device stand
 * beside each other as long as each has another identifier; every other use is alone.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "driver/prepare_inner.h"

struct prepare_claim *prepare_holds_find(const struct prepare_holds *h, struct str uid)
{
    struct strmap_entry *at = strmap_find(&h->claims, uid);
    return at ? at->value.ptr : NULL;
}

void prepare_holds_remove(struct prepare_holds *h, struct str uid)
{
    struct prepare_claim *c = prepare_holds_find(h, uid);
    if (!c)
        return;
    strmap_remove(&h->claims, c->uid);
    free(c);
}

void prepare_holds_fini(struct prepare_holds *h)
{
    strmap_each(&h->claims, at) free(at->value.ptr);
    strmap_release(&h->claims);
}

/* ---- one block a claim ---- */

static size_t text_size(const struct prepare_entry *x)
{
    size_t n = x->uid.n + x->namespace.n + x->name.n + x->trouble.n;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct prepare_use *u = &x->uses[i];
        n += u->identity.n + u->device.n + u->pool.n + u->share_id.n;
    }
    return n;
}

static struct str pack(char **at, struct str s)
{
    char *p = *at;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    *at += s.n;
    return (struct str){p, s.n};
}

static struct prepare_claim *claim_new(const struct prepare_entry *x)
{
    size_t holds = x->n * sizeof(struct prepare_hold);
    struct prepare_claim *c = mem_zalloc(sizeof *c + holds + text_size(x));
    char *at = (char *)c + sizeof *c + holds;
    c->uid = pack(&at, x->uid);
    c->namespace = pack(&at, x->namespace);
    c->name = pack(&at, x->name);
    c->trouble = pack(&at, x->trouble);
    c->hold = x->hold;
    c->since_s = x->since_s;
    c->undo_s = x->undo_s;
    c->n = x->n;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct prepare_use *u = &x->uses[i];
        c->holds[i] = (struct prepare_hold){.identity = pack(&at, u->identity),
                                            .device = pack(&at, u->device),
                                            .pool = pack(&at, u->pool),
                                            .share_id = pack(&at, u->share_id),
                                            .admin = u->admin,
                                            .shared = u->shared};
    }
    return c;
}

void prepare_holds_set(struct prepare_holds *h, const struct prepare_entry *x)
{
    struct prepare_claim *c = claim_new(x), *old = prepare_holds_find(h, x->uid);
    if (old)
        strmap_remove(&h->claims, old->uid);
    strmap_put(&h->claims, c->uid, NULL)->value.ptr = c;
    free(old); /* x may be made of its texts */
}

/* ---- conflicts ---- */

static bool beside(const struct prepare_use *u, const struct prepare_hold *o)
{
    if (u->admin || o->admin || !str_eq(u->identity, o->identity))
        return true;
    if (!u->shared || !o->shared)
        return false;
    return u->share_id.n == 0 || !str_eq(u->share_id, o->share_id);
}

static bool refuse(const struct prepare_use *u, const struct prepare_claim *holder,
                   struct err *e)
{
    static const char *const notes[] = {
        [DRIVER_PREPARING] = ", whose preparation did not end",
        [DRIVER_PREPARED] = "",
        [DRIVER_UNPREPARING] = ", which is being unprepared",
    };
    return err_set(e, ERR_INVALID,
                   "device %.*s%s%.*s is held by claim %.*s/%.*s (UID %.*s)%s",
                   STR_ARG(u->device), u->share_id.n > 0 ? " share " : "",
                   STR_ARG(u->share_id), STR_ARG(holder->namespace),
                   STR_ARG(holder->name), STR_ARG(holder->uid), notes[holder->hold]);
}

static bool use_allowed(const struct prepare_use *u, const struct prepare_claim *c,
                        struct err *e)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (!beside(u, &c->holds[i]))
            return refuse(u, c, e);
    }
    return true;
}

/* Of one claim, a device that is not shared comes once. */
static bool once_each(const struct prepare_entry *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct prepare_use *u = &x->uses[i];
        const struct prepare_hold mine = {.identity = u->identity,
                                          .share_id = u->share_id,
                                          .admin = u->admin,
                                          .shared = u->shared};
        for (uint32_t j = 0; j < i; j++) {
            if (!beside(&x->uses[j], &mine))
                return err_set(e, ERR_INVALID, "device %.*s is allocated to it twice",
                               STR_ARG(u->device));
        }
    }
    return true;
}

bool prepare_holds_allow(const struct prepare_holds *h, const struct prepare_entry *x,
                         struct err *e)
{
    if (!once_each(x, e))
        return false;
    strmap_each(&h->claims, at)
    {
        const struct prepare_claim *c = at->value.ptr;
        if (str_eq(c->uid, x->uid))
            continue;
        for (uint32_t i = 0; i < x->n; i++) {
            if (!use_allowed(&x->uses[i], c, e))
                return false;
        }
    }
    return true;
}

bool prepare_holds_last(const struct prepare_holds *h, struct str uid,
                        struct str identity)
{
    strmap_each(&h->claims, at)
    {
        const struct prepare_claim *c = at->value.ptr;
        for (uint32_t i = 0; i < c->n && !str_eq(c->uid, uid); i++) {
            if (!c->holds[i].admin && str_eq(c->holds[i].identity, identity))
                return false;
        }
    }
    return true;
}
