/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /healthz, /livez and /readyz, as kube-apiserver has them: each a list of checks, told
 * one by one with ?verbose, left out by ?exclude=NAME, and asked alone at /readyz/NAME.
 */
#ifndef DRAY_SERVER_OBSERVE_HEALTH_H
#define DRAY_SERVER_OBSERVE_HEALTH_H

#include "server/inner.h"

/* false: the path is another. */
bool health_serve(struct request *r);

#endif
