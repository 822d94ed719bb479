/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Services draw from ranges: addresses, each claimed by an IPAddress, and ports of
 * nodes, each by a key of its own. A claim is made before the Service is stored and given
 * back after it is gone, or was not stored; so two Services never have the same, whoever
 * dies when, and however many servers share the store. What a server that died has left
 * over is found by repair (service_repair.c).
 */
#ifndef DRAY_SERVER_SERVICE_CLAIMS_H
#define DRAY_SERVER_SERVICE_CLAIMS_H

#include "server/rest/write.h"

#define CLAIMS_RANGES "/registry/ranges/"
#define CLAIMS_PORTS CLAIMS_RANGES "servicenodeports/"

/* What a stored Service holds. */
struct claim_list claims_of(struct server *s, const struct doc *service, struct arena *a);
bool claims_have(const struct claim_list *list, struct str key);
struct str claim_key(struct server *s, struct str address, uint32_t port,
                     struct arena *a);
/* The bytes of a claim for a Service. */
void claim_encode(struct server *s, const struct claim *c, const struct doc *service,
                  struct str now, struct arena *a, struct strbuf *out);

/* Takes what w->object needs and w->old has not, then calls taken: at once where there is
 * nothing to take. Not ok: somebody was faster, w->claims.lost names what, and nothing is
 * held; or the store failed (w->claims.broken), and r->failure says so. */
void claims_take(struct write *w, void (*taken)(struct write *w, bool ok));
/* Gives back what is not needed: what the object had, or, when it was not stored, what
 * was taken for it. */
void claims_settle(struct write *w, bool stored, void (*then)(struct write *w));

/* ---- choosing (service.c) ---- */

/* Completes a Service that is to be written, with addresses and ports that are free; old
 * is NULL for a new one. Nothing is done to other kinds. false: failed. */
bool service_choose(struct write *w, struct doc *d, const struct doc *old);

/* ---- repair (service_repair.c) ---- */

/* Makes claims that are missing and gives back what nobody has: now, and every few
 * minutes until the server is freed. */
bool service_repair_begin(struct server *s, struct err *e);
void service_repair_end(struct server *s);

#endif
