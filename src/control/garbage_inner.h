/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the garbage collector: garbage.c watches, garbage_work.c asks and deletes. */
#ifndef DRAY_CONTROL_GARBAGE_INNER_H
#define DRAY_CONTROL_GARBAGE_INNER_H

#include "client/events.h"
#include "client/informer.h"
#include "client/resources.h"
#include "control/garbage.h"
#include "control/garbage_graph.h"

struct garbage_monitor { /* of one kind */
    struct garbage *garbage;
    const struct resource *resource;
    struct informer *informer;
    bool namespaced; /* when it began */
    uint64_t begun_ms;
};

struct garbage {
    struct client *client;
    struct garbage_opts opts;
    struct resources *resources;
    struct garbage_graph graph;
    VEC(struct garbage_monitor *) monitors;
    struct worker *worker; /* "c:UID", "r:UID", "l:UID": enum garbage_task */
    struct events *events;
    struct net_timer *compare, *patience;
    bool ready; /* tasks are work: before, the graph is not whole */
};

/* Whether all kinds have told what there is, or have had their time to. */
bool garbage_is_complete(const struct garbage *g);
work_fn garbage_work;

#endif
