/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log: events of audit.k8s.io/v1, a line of JSON each, for what the policy
 * asks for. An event is written before the answer of its request has left, all at once;
 * one that cannot be written (the disk is full) is counted and lost.
 */
#ifndef DRAY_SERVER_AUDIT_H
#define DRAY_SERVER_AUDIT_H

#include "server/inner.h"

struct audit;
/* path "-": standard output; policy: a file. Errors: one of them cannot be used. */
struct audit *audit_new(const char *path, const char *policy, struct err *e);
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
void audit_ended(struct request *r, unsigned status, struct str body);

#endif
