/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of writing: what an object says of its owners, and who owns its fields. */
#ifndef DRAY_SERVER_ACCESS_OWNERS_H
#define DRAY_SERVER_ACCESS_OWNERS_H

#include "server/inner.h"

/* Of owners that are named twice one stays, and the client is warned. admitted: after
 * admission, which may have added some. */
void owners_once(struct request *r, struct doc *d, bool admitted);

#endif
