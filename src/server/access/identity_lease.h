/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells that this server is there: a Lease in kube-system, as every kube-apiserver
 * has one, by which controllers and people count the servers of a cluster. Its name is
 * that of the machine and the folder, in disguise; it is renewed as long as the server
 * runs, and holds for an hour.
 */
#ifndef DRAY_SERVER_ACCESS_IDENTITY_LEASE_H
#define DRAY_SERVER_ACCESS_IDENTITY_LEASE_H

#include "server/inner.h"

struct identity_lease;
/* Soon, and then every ten seconds; a write that fails is made up for by the next. NULL:
 * Leases are not served. */
struct identity_lease *identity_lease_begin(struct server *s);
/* Before the store goes. NULL does nothing. */
void identity_lease_end(struct identity_lease *l);

#endif
