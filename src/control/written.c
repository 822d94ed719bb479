/* SPDX-License-Identifier: Apache-2.0 */
#include "control/written.h"

#include <stdlib.h>

#include "base/mem.h"
#include "control/fields.h"

/* Versions of one object can be compared; what is no number counts as old. */
static uint64_t number(struct str version)
{
    uint64_t n = 0;
    for (size_t i = 0; i < version.n; i++) {
        if (version.p[i] < '0' || version.p[i] > '9')
            return 0;
        n = n * 10 + (uint64_t)(version.p[i] - '0');
    }
    return n;
}

void written_init(struct written *w)
{
    strmap_init(&w->versions);
}

void written_fini(struct written *w)
{
    strmap_each(&w->versions, e) free((char *)e->key.p);
    strmap_release(&w->versions);
}

void written_note(struct written *w, const struct doc *object)
{
    struct str uid = field_meta(object, "uid");
    uint64_t version = number(field_meta(object, "resourceVersion"));
    struct strmap_entry *e = strmap_find(&w->versions, uid);
    if (!uid.n || !version)
        return;
    if (!e)
        e = strmap_put(&w->versions, (struct str){mem_dup(uid.p, uid.n), uid.n}, NULL);
    if (version > e->value.u)
        e->value.u = version;
}

bool written_is_seen(struct written *w, const struct object *o)
{
    const struct strmap_entry *e = strmap_find(&w->versions, o->uid);
    if (e && number(o->version) < e->value.u)
        return false;
    written_forget(w, o->uid);
    return true;
}

void written_forget(struct written *w, struct str uid)
{
    const struct strmap_entry *e = strmap_find(&w->versions, uid);
    if (!e)
        return;
    char *memory = (char *)e->key.p;
    strmap_remove(&w->versions, uid);
    free(memory);
}
