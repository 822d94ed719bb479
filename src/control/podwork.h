/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and deleting an owner's pods, many at once (batch.h), with what is to be
 * expected (expect.h) and with the events that users read.
 */
#ifndef DRAY_CONTROL_PODWORK_H
#define DRAY_CONTROL_PODWORK_H

#include "control/pods.h"

struct podwork {
    struct expect *expect; /* or NULL */
    struct events *events;
    const struct owner_kind *owners;
    bool *fine; /* or NULL: of each request, set when it went well */
};

/* Each function begins in the round that first comes to it, with the batch of the sync
 * that slot says, and is DONE when all is answered: *failure is NULL then, or what the
 * first refusal said. A namespace that is being deleted refuses without a failure. */

/* first: how many at the beginning (batch.h). */
enum progress podwork_make(struct sync *s, const struct podwork *how, uint32_t slot,
                           const struct doc *pods, uint32_t n, uint32_t first,
                           const char **failure);
/* n pods of one document. */
enum progress podwork_make_alike(struct sync *s, const struct podwork *how, uint32_t slot,
                                 const struct doc *pod, uint32_t n, uint32_t first,
                                 const char **failure);
enum progress podwork_delete(struct sync *s, const struct podwork *how, uint32_t slot,
                             const struct object *const *pods, uint32_t n,
                             const char **failure);
/* Whether a server refuses since the namespace is being deleted. */
bool podwork_is_terminating(const struct client_answer *answer);

#endif
