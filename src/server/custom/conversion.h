/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom resources that a webhook converts between the versions of their definition
 * (spec.conversion.strategy Webhook). What it makes of an object is remembered by the
 * object's own text, so that each is asked about once, however often it is read: reads
 * look for what is known, ask for what is not, and are then made anew (awaiting.h).
 *
 * A webhook may change labels and annotations; all other metadata stays as it was.
 * The rules, and the words of what fails, are those of kube-apiserver 1.37.2.
 */
#ifndef DRAY_SERVER_CUSTOM_CONVERSION_H
#define DRAY_SERVER_CUSTOM_CONVERSION_H

#include "server/admission/hook_post.h"

enum {
    CONVERSION_MS = 30000,             /* of a call */
    CONVERSION_MEMORY = 32 << 20,      /* bytes that are remembered, of a definition */
    CONVERSION_AT_ONCE = 256,          /* objects in one review, */
    CONVERSION_AT_ONCE_BYTES = 4 << 20 /* and their bytes, unless it is one alone */
};

struct conversions; /* of one set of rows (custom.h) */

/* NULL: its versions differ in their names alone (strategy None). */
struct conversions *conversions_new(const struct doc *definition);
void conversions_free(struct conversions *c);

/* The text that an object is known by: sorted JSON without a revision, which is what the
 * webhook is sent. */
struct str conversion_source(const struct doc *d, struct arena *a);
bool conversion_known(struct conversions *c, struct str version, struct str source);
/* What the webhook made of it: a document of the caller's own. false: not known. */
bool conversion_find(struct conversions *c, struct str version, struct str source,
                     struct arena *a, struct doc *out);

/* Whether all are known. false: r waits for them, or why says what is wrong. version and
 * sources live as long as the request. */
bool conversion_await(struct request *r, struct conversions *c, struct str version,
                      const struct str *sources, uint32_t n, struct str *why);

struct conversion_call;
/* fail empty: all are known now. */
typedef void conversion_done(void *ctx, struct str fail);
/* Asks, CONVERSION_AT_ONCE at most; all in the arena, which lives until done was called
 * or the call is cancelled. */
struct conversion_call *conversion_start(struct request *r, struct arena *a,
                                         struct conversions *c, struct str version,
                                         const struct str *sources, uint32_t n,
                                         conversion_done *done, void *ctx);
void conversion_cancel(struct conversion_call *call);

/* ---- reviews (conversion_review.c) ---- */

enum conversion_review { CONVERSION_REVIEW_NONE, CONVERSION_V1, CONVERSION_V1BETA1 };

/* The first of conversionReviewVersions that is known. */
enum conversion_review conversion_review_version(const struct doc *versions);
struct str conversion_question(enum conversion_review version, struct str uid,
                               struct str desired, const struct str *sources, uint32_t n,
                               struct arena *a);
/* Reads what was answered into made, n documents in the order of sources, with their
 * metadata restored. Returns what is wrong; empty: nothing. *failure: of which kind it
 * is, as metrics have it ("": none). */
struct str conversion_read(enum conversion_review version, struct str uid,
                           struct str desired, const struct str *sources, uint32_t n,
                           const struct hook_answer *said, struct doc *made,
                           const char **failure, struct arena *a);

#endif
