/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the namespace controller: namespaces.c decides what comes next,
 * namespaces_content.c deletes, namespaces_status.c says how far it is.
 */
#ifndef DRAY_CONTROL_NAMESPACES_INNER_H
#define DRAY_CONTROL_NAMESPACES_INNER_H

#include "base/vec.h"
#include "client/informer.h"
#include "client/resources.h"
#include "control/namespaces.h"

struct namespaces {
    struct client *client;
    struct namespaces_opts opts;
    struct informer *informer;
    struct resources *resources;
    struct worker *worker; /* by name */
    struct net_timer *compare;
};

struct left { /* of a resource, or by a finalizer */
    struct str what;
    uint32_t n;
};

/* What is left in a namespace; all of it in the work's arena. */
struct namespace_rest {
    int64_t seconds; /* that it may take until that is gone; 0: nobody can say */
    struct {
        struct left *v;
        size_t n, cap;
    } resources, finalizers;
    struct {
        struct str *v;
        size_t n, cap;
    } errors;          /* of deletions */
    const char *stale; /* kinds that could not be asked about; "": none */
};

/* Deletes whatever the namespace has. now_s: the same for all of the work. */
enum progress namespaces_delete_content(struct work *w, const struct doc *namespace,
                                        int64_t now_s, struct namespace_rest *rest);
/* Whether the conditions in a namespace's status had to be changed. */
bool namespaces_set_conditions(struct doc *namespace, const struct namespace_rest *rest,
                               int64_t now_s, struct arena *a);

#endif
