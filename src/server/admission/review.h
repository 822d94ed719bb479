/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What admission asks, as documents: an AdmissionRequest of admission.k8s.io, and
 * the objects in the version that whoever is asked wants. All in the request's arena.
 */
#ifndef DRAY_SERVER_ADMISSION_REVIEW_H
#define DRAY_SERVER_ADMISSION_REVIEW_H

#include "server/admission/match.h"

/* kind: as expressions of "paramKind" and reviews name it. */
struct review_kind {
    struct str group, version, kind;
};
struct review_kind review_kind_of(const struct resource *res);

/* 500 with a cause, as upstream tells what should not happen; false. */
bool review_fail(struct request *r, struct str why);

/* Everything but the objects. */
struct doc review_request(struct admission *a, const struct resource *as);
/* Whether both objects can be had in that version; false: the request waits for a webhook
 * that converts them, or has failed. */
bool review_ready(struct admission *a, const struct resource *as);
/* In that version; false: there is none. */
bool review_object(struct admission *a, const struct resource *as, struct doc *out);
bool review_old(struct admission *a, const struct resource *as, struct doc *out);
/* The object as whoever was asked in that version made it: back into the stored one, with
 * the defaults of what was added. false: it is none, or has unknown fields and strict is
 * set, and r->failure says so. */
bool review_take(struct admission *a, const struct resource *as, bool strict,
                 struct doc *d);

#endif
