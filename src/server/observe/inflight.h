/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many requests may run at once (--max-requests-inflight and
 * --max-mutating-requests-inflight). Whoever comes when all places are taken is told to
 * come again in a second, but for administrators, for requests that last (watches,
 * streams), and for what keeps a cluster alive: leases, the status of nodes, health.
 */
#ifndef DRAY_SERVER_OBSERVE_INFLIGHT_H
#define DRAY_SERVER_OBSERVE_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct request;

struct inflight {
    uint32_t max_reading, max_writing; /* 0: any number */
    uint32_t reading, writing;
};

enum inflight_place { INFLIGHT_FREE, INFLIGHT_READING, INFLIGHT_WRITING };

/* The request's user is known. false: refused (429); else it has r->place until
 * inflight_leave. Finds out whether it lasts (r->lasts). */
bool inflight_enter(struct request *r);
void inflight_leave(struct request *r);

#endif
