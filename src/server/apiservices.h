/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An APIService for each version that is served, as a cluster's aggregator keeps them:
 * all of them Local. They are made at the start and cannot be written.
 */
#ifndef DRAY_SERVER_APISERVICES_H
#define DRAY_SERVER_APISERVICES_H

#include "server/inner.h"

/* Makes what is missing and removes what is not served anymore; waits until it is done.
 */
bool apiservices_make(struct server *s, struct str now, struct err *e);

#endif
