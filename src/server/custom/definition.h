/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions as objects: what becomes of their status, and of those that
 * are deleted. What upstream's controllers do is done here by the server itself: names
 * are accepted one definition after another, an accepted one is established with the same
 * write, and whoever creates one is answered when that is through. A definition that goes
 * takes its objects with it first; whatever interrupts that, it goes on at the next
 * start.
 */
#ifndef DRAY_SERVER_CUSTOM_DEFINITION_H
#define DRAY_SERVER_CUSTOM_DEFINITION_H

#include "server/rest/write.h"

const struct resource *definitions_resource(const struct server *s);
bool definition_is_one(const struct resource *res);
/* Whether a condition is True. */
bool definition_is(const struct doc *definition, const char *condition);
void definition_set_condition(struct doc *definition, const char *type,
                              const char *status, const char *reason, struct str message,
                              struct str now, struct arena *a);

/* Brings names and conditions up to date. false: they were. */
bool definition_settle(const struct server *s, struct doc *definition, struct str now,
                       struct arena *a);
/* The first request to delete it. */
void definition_mark_deleted(struct doc *definition, struct str now, struct arena *a);
bool definition_waits_cleanup(const struct doc *definition);
void definition_drop_finalizer(struct doc *definition, struct arena *a);

/* The answer to a create, w->then: when the names are settled. */
void definition_created(struct write *w, bool ok);
/* Nothing is settled or cleaned up anymore; who waits is answered. */
void definitions_end(struct server *s);

/* ---- deletion of its objects (definition_cleanup.c) ---- */

void cleanup_begin(struct server *s, struct str name, const struct doc *definition);
void cleanup_end_all(struct server *s);

#endif
