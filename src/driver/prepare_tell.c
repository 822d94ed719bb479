/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds what, told to others. */
#include <stdlib.h>

#include "driver/prepare_inner.h"

static struct str name_of(const struct driver_prepare *p, const struct prepare_hold *h)
{
    const struct driver_device *d = p->inventory ? prepare_device(p, h->identity) : NULL;
    return d ? d->name : p->inventory ? STR("") : h->device;
}

static struct driver_holder holder_of(const struct driver_prepare *p,
                                      const struct prepare_claim *c, uint32_t i,
                                      struct arena *a)
{
    const struct prepare_hold *h = &c->holds[i];
    return (struct driver_holder){
        .device = arena_str(a, name_of(p, h)),
        .identity = arena_str(a, h->identity),
        .pool = arena_str(a, h->pool),
        .claim_uid = arena_str(a, c->uid),
        .claim_namespace = arena_str(a, c->namespace),
        .claim_name = arena_str(a, c->name),
        .share_id = arena_str(a, h->share_id),
        .admin = h->admin,
        .hold = c->hold,
        .since_s = c->since_s,
        .undo_since_s = c->undo_s,
        .trouble = arena_str(a, c->trouble),
    };
}

uint32_t driver_prepare_holders(const struct driver_prepare *p, struct arena *a,
                                struct driver_holder **out)
{
    uint32_t n = 0;
    strmap_each(&p->holds.claims, at) n += ((struct prepare_claim *)at->value.ptr)->n;
    struct driver_holder *v = ARENA_ARRAY(a, struct driver_holder, n);
    n = 0;
    strmap_each(&p->holds.claims, at)
    {
        const struct prepare_claim *c = at->value.ptr;
        for (uint32_t i = 0; i < c->n; i++)
            v[n++] = holder_of(p, c, i, a);
    }
    *out = v;
    return n;
}

/* ---- from outside ---- */

static void complain(void *ctx, const char *text)
{
    (void)ctx;
    (void)text; /* the process that writes the journal says it */
}

bool driver_prepare_peek(struct str data_dir, struct arena *a, struct driver_holder **out,
                         uint32_t *n, struct err *e)
{
    struct driver_prepare p = {0};
    const struct journal_user user = {&p, prepare_found, complain};
    p.journal = journal_peek(arena_str(a, data_dir).p, PREPARE_JOURNAL, &user, e);
    if (p.journal)
        *n = driver_prepare_holders(&p, a, out);
    bool ok = p.journal != NULL;
    journal_close(p.journal);
    prepare_holds_fini(&p.holds);
    for (size_t i = 0; i < p.complaints.n; i++)
        free(p.complaints.v[i]);
    vec_release(&p.complaints);
    return ok;
}
