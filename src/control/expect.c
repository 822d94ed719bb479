/* SPDX-License-Identifier: Apache-2.0 */
#include "control/expect.h"

#include <stdlib.h>

#include "base/mem.h"

enum { TOO_LONG_MS = 300000 };

struct expected {
    char *owner;
    uint32_t made;
    struct strmap gone; /* uids, with memory of their own */
    uint64_t since_ms;
};

void expect_init(struct expect *x)
{
    strmap_init(&x->owners);
}

static void expected_free(struct expected *e)
{
    strmap_each(&e->gone, entry) free((char *)entry->key.p);
    strmap_release(&e->gone);
    free(e->owner);
    free(e);
}

void expect_fini(struct expect *x)
{
    strmap_each(&x->owners, entry) expected_free(entry->value.ptr);
    strmap_release(&x->owners);
}

static struct expected *find(const struct expect *x, struct str owner)
{
    const struct strmap_entry *entry = strmap_find(&x->owners, owner);
    return entry ? entry->value.ptr : NULL;
}

bool expect_is_met(const struct expect *x, struct str owner, uint64_t now_ms)
{
    const struct expected *e = find(x, owner);
    return !e || (!e->made && !e->gone.live) || now_ms - e->since_ms > TOO_LONG_MS;
}

static struct expected *make(struct expect *x, struct str owner, uint64_t now_ms)
{
    struct expected *e = find(x, owner);
    if (!e) {
        e = mem_zalloc(sizeof *e);
        e->owner = mem_dup(owner.p, owner.n);
        strmap_put(&x->owners, (struct str){e->owner, owner.n}, NULL)->value.ptr = e;
    }
    e->since_ms = now_ms;
    return e;
}

void expect_made(struct expect *x, struct str owner, uint32_t n, uint64_t now_ms)
{
    make(x, owner, now_ms)->made += n;
}

void expect_gone(struct expect *x, struct str owner, struct str uid, uint64_t now_ms)
{
    struct expected *e = make(x, owner, now_ms);
    if (!strmap_find(&e->gone, uid))
        strmap_put(&e->gone, (struct str){mem_dup(uid.p, uid.n), uid.n}, NULL);
}

void expect_saw_made(struct expect *x, struct str owner)
{
    struct expected *e = find(x, owner);
    if (e && e->made)
        e->made--;
}

void expect_saw_gone(struct expect *x, struct str owner, struct str uid)
{
    struct expected *e = find(x, owner);
    const struct strmap_entry *entry = e ? strmap_find(&e->gone, uid) : NULL;
    if (!entry)
        return;
    char *memory = (char *)entry->key.p;
    strmap_remove(&e->gone, uid);
    free(memory);
}

bool expect_has_gone(const struct expect *x, struct str owner, struct str uid)
{
    const struct expected *e = find(x, owner);
    return e && strmap_find(&e->gone, uid);
}

void expect_forget(struct expect *x, struct str owner)
{
    struct expected *e = find(x, owner);
    if (!e)
        return;
    strmap_remove(&x->owners, owner);
    expected_free(e);
}
