/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that does what a test says, request by request, in the test's own thread: a
 * request waits until the test answers it.
 */
#ifndef DRAY_TESTS_CLIENT_SCRIPT_H
#define DRAY_TESTS_CLIENT_SCRIPT_H

#include "client/client.h"

struct script {
    struct net_loop *loop;
    struct net_server *server;
    struct client *client;
    struct net_exchange *asked[16]; /* not answered yet, oldest first */
    unsigned nasked, gone;
};

void script_open(struct script *s);
/* Whoever uses the client is freed before. */
void script_close(struct script *s);
/* Runs the loop until a thing is so; fails after ten seconds. */
void script_await(struct script *s, const bool *thing);
/* A few rounds, so that what is ready happens. */
void script_settle(struct script *s);
/* The next request: fails unless it is "METHOD PATH?QUERY" by its beginning. It stays the
 * script's, to be said something to. */
struct net_exchange *script_take(struct script *s, const char *want);
/* The whole answer. */
void script_answer(struct script *s, const char *want, unsigned status, const char *body);
/* A response in pieces: the first call begins it. */
void script_say(struct net_exchange *x, const char *text);

#endif
