/* SPDX-License-Identifier: Apache-2.0 */
/* An API server in earnest, in the test's own process and thread, with nothing on disk
 * but its certificates. Failures end the test. */
#ifndef DRAY_TESTS_DRIVER_CLUSTER_H
#define DRAY_TESTS_DRIVER_CLUSTER_H

#include "api/gates.h"
#include "client/client.h"
#include "doc/doc.h"
#include "tree.h"

struct server;

struct cluster {
    struct tree t;
    struct arena a;
    struct net_loop *loop;
    struct server *server;
    struct client *client; /* of who is tested */
    struct client *other;  /* of everybody else */
};

/* runtime_config: what it serves, as kube-apiserver's flag; NULL: everything. */
void cluster_open(struct cluster *c, const char *runtime_config,
                  const struct api_gates *gates);
/* Whoever uses client is freed before. */
void cluster_close(struct cluster *c);
/* Asks and waits; the body of the answer. *status NULL: anything but 2xx ends the test.
 */
struct doc cluster_ask(struct cluster *c, const char *method, const char *path,
                       const char *type, const char *body, unsigned *status);
/* Runs the loop until a thing is so; half a minute is too long. */
void cluster_await(struct cluster *c, bool (*so)(void *ctx), void *ctx, const char *what);

#endif
