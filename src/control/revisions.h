/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ControllerRevisions: what a template was, as a patch that brings it back. DaemonSets
 * and StatefulSets keep their history in them, and kubectl rollout undo reads it.
 */
#ifndef DRAY_CONTROL_REVISIONS_H
#define DRAY_CONTROL_REVISIONS_H

#include "control/adopt.h"

extern const struct client_kind revisions_kind;

/* The patch, of the owner's spec.template. */
struct doc revision_data(const struct doc *owner, struct arena *a);
/* A new one, "OWNER-HASH"; the hash is its label's value too. data is copied. */
struct doc revision_make(struct sync *s, const struct owner_kind *kind,
                         const struct doc *data, const char *label, struct str hash,
                         int64_t number);
int64_t revision_number(const struct object *o);
/* *made: as the server has it now. */
enum progress revision_renumber(struct sync *s, const struct object *o, int64_t number,
                                const struct doc **made);
/* Ascending by number, age and name. */
void revisions_sort(struct objects *all);

#endif
