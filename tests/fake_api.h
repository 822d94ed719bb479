/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server of documents, in the test's own process, for controllers: it answers as
 * client-go's fake one does (what is put is what is there; a generated name is
 * "GENERATENAME-N"), and writes down what it is asked. Objects may be there without the
 * watches knowing them.
 */
#ifndef DRAY_TESTS_FAKE_API_H
#define DRAY_TESTS_FAKE_API_H

#include "client/client.h"
#include "doc/doc.h"

struct fake_stream {
    struct net_exchange *x;
    struct str resource;
};

struct fake_api {
    struct net_loop *loop;
    struct net_server *server;
    struct client *client;
    struct arena *a;
    struct doc objects;             /* resource -> list of objects */
    struct doc known;               /* the same, as watches begin with them */
    struct fake_stream streams[40]; /* x NULL: it has ended */
    uint32_t nstreams, ngenerated;
    bool create_fails;
    /* Like a server in earnest: versions grow and are compared, watches are told of every
     * write, a status is written apart from the rest, finalizers hold objects back, uids
     * are made, names end in the number alone, and a binding gives its pod a node. */
    bool stores;
    bool late;              /* with it: watches are told when the test says so */
    struct doc untold;      /* events that wait for that: type, resource, object */
    const struct doc *lost; /* the failure that takes the place of the next answer */
    uint64_t version;
    /* Calls that fail: verb, resource ("" or "*": any), error, reason, status (500), and
     * after how many of the kind that go well, "skip"; each "times" (none: always).
     * "after": what was asked happens, its answer is lost. */
    struct doc failures;
    struct doc discovery[2]; /* what "/api" and "/apis" answer; null: not found */
    struct doc actions; /* a list: verb, resource, ... as client-go writes them down */
    struct doc events;  /* a list of "Type Reason message" */
};

void fake_api_open(struct fake_api *f, struct arena *a);
void fake_api_close(struct fake_api *f);
/* known: watches tell of it from their beginning, or as ADDED when they have begun. */
void fake_api_put(struct fake_api *f, const char *resource, const struct doc *object,
                  bool known);
/* An event for whoever watches. */
void fake_api_tell(struct fake_api *f, const char *type, const char *resource,
                   const struct doc *object);
/* With `late`: what has happened, in its order, but for events of this type ("" none). */
void fake_api_tell_late(struct fake_api *f, const char *lost);
/* Watches that begin from now on begin with what is there, as after a restart. */
void fake_api_catch_up(struct fake_api *f);
/* Somebody else writes it, or takes it away: like a server in earnest. */
void fake_api_write(struct fake_api *f, const char *resource, const struct doc *object);
void fake_api_remove(struct fake_api *f, const char *resource, const struct doc *like);
/* With `late`: the first n things of what has happened. */
void fake_api_tell_some(struct fake_api *f, uint32_t n);
/* The object there is of the same name; or NULL. */
const struct doc *fake_api_find(struct fake_api *f, const char *resource,
                                const struct doc *like);
/* All objects of a resource, a list. */
const struct doc *fake_api_list(struct fake_api *f, const char *resource);
/* Rounds of the loop, so that what is ready happens. */
void fake_api_settle(struct fake_api *f);

#endif
