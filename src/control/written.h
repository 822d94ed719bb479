/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The versions in which a controller has written its objects: until the cache shows one
 * at least as new, what it says is old, and nothing is concluded from it.
 */
#ifndef DRAY_CONTROL_WRITTEN_H
#define DRAY_CONTROL_WRITTEN_H

#include "base/map.h"
#include "client/object.h"

struct written {
    struct strmap versions; /* uid -> version, with memory of their own */
};

void written_init(struct written *w);
void written_fini(struct written *w);
/* What a server made of a write. */
void written_note(struct written *w, const struct doc *object);
/* An object as the cache has it is no older than what was written. */
bool written_is_seen(struct written *w, const struct object *o);
void written_forget(struct written *w, struct str uid);

#endif
