/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log: events of audit.k8s.io/v1, a line of JSON each, for what the policy
 * asks for. An event is written before the answer of its request has left, all at once;
 * one that cannot be written (the disk is full) is counted and lost.
 */
#ifndef DRAY_SERVER_AUDIT_AUDIT_H
#define DRAY_SERVER_AUDIT_AUDIT_H

#include "server/audit/audit_file.h"
#include "server/inner.h"

struct audit;
/* policy: a file. Errors: one of the two cannot be used. */
struct audit *audit_new(const struct audit_file_opts *log, const char *policy,
                        struct err *e);
void audit_free(struct audit *a);
uint64_t audit_lost(const struct audit *a);

/* The request's user is known, or that there is none (failed). Sets r->audit where the
 * policy wants something of it. */
void audit_begin(struct request *r, bool failed);
/* It acts as another user from here on. */
void audit_impersonated(struct request *r);
/* Something that admission has found, for the event; the first word of a key counts.
 * Texts live as long as the request. */
void audit_annotate(struct request *r, struct str key, struct str value);
void audit_decided(struct request *r, bool allowed);
void audit_started(struct request *r, unsigned status);
/* What is answered, in as many runs of bytes. */
void audit_answer(struct request *r, const struct str *parts, uint32_t n);
/* body: of an answer that audit_answer was not told of. */
void audit_ended(struct request *r, unsigned status, struct str body);

#endif
