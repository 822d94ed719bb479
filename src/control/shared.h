/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Informers that several controllers look at: one for each kind, whoever asks first makes
 * it. All listeners of a kind are told of its changes, in the order in which they came.
 *
 * Every ten minutes listeners are told of everything again, as a change from an object to
 * itself: what somebody has missed is not missed for good.
 */
#ifndef DRAY_CONTROL_SHARED_H
#define DRAY_CONTROL_SHARED_H

#include "client/informer.h"

struct shared;

/* log: what goes wrong; or NULL. */
struct shared *shared_new(struct client *c, void (*log)(void *ctx, const char *text),
                          void *log_ctx);
/* Listeners are gone by now. */
void shared_free(struct shared *s);
struct client *shared_client(const struct shared *s);

/* As informer_ops has it. */
typedef void shared_changed(void *ctx, const struct object *old,
                            const struct object *now);

/* Borrowed. What is known already is told from within, as new. */
struct shared_kind *shared_watch(struct shared *s, const struct client_kind *kind,
                                 shared_changed *changed, void *ctx);
/* Nothing more is told to a listener. */
void shared_unwatch(struct shared *s, void *ctx);

const struct informer *shared_informer(const struct shared_kind *k);
/* Everything there was at the beginning is known. Until then nothing should be concluded
 * from what is missing; when it comes true, all objects of all kinds are told again. */
bool shared_synced(const struct shared_kind *k);
/* The keys of the objects whose controller has a uid, and of those in a namespace that
 * have no controller; *n of them, valid until the next change. */
const struct str *shared_owned(const struct shared_kind *k, struct str uid, uint32_t *n);
const struct str *shared_orphans(const struct shared_kind *k, struct str namespace,
                                 uint32_t *n);

#endif
