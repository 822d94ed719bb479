/* SPDX-License-Identifier: Apache-2.0 */
/* A node's kubelet directory, and drivers in it that do as a test tells them; all on one
 * loop. Failures end the test. */
#ifndef DRAY_TESTS_NODE_SCRIPTED_H
#define DRAY_TESTS_NODE_SCRIPTED_H

#include "grpc/serve.h"

struct place {
    struct net_loop *loop;
    char dir[40]; /* of the kubelet */
};
/* loop NULL: one of its own. */
void place_open(struct place *p, struct net_loop *loop);
void place_close(struct place *p);
/* Runs the loop until a thing is so. */
void place_await(struct place *p, bool (*so)(void *ctx), void *ctx, const char *what);

enum { SCRIPTED_LOG = 4096 };

struct scripted {
    struct place *place;
    struct grpc_server *registration, *dra; /* NULL: it does not listen there */
    /* ---- what it says of itself ---- */
    const char *name, *type;
    const char *endpoint; /* path below the directory; NULL: "plugins/NAME.sock" */
    const char *versions[4];
    const char *refuses; /* to be registered, with this; NULL: it does not */
    /* ---- what it answers ---- */
    const char *error; /* of each claim, where it is called; NULL: none */
    const char *fails; /* the whole call, with this; NULL: none */
    const char *other; /* it answers for this UID too */
    unsigned skips;    /* claims it does not answer for, from the end */
    bool silent;       /* it answers nothing, until scripted_speak */
    struct grpc_request *held[8];
    const void *held_messages[8];
    unsigned nheld;
    struct grpc_request *watch; /* of health, or NULL */
    /* ---- what it was told ---- */
    unsigned infos, welcomes, refusals, watches;
    char told[500];         /* with the last refusal */
    char log[SCRIPTED_LOG]; /* "prepare default/a;unprepare default/a,default/b;" */
};

/* A driver of v1 with nothing else to say; not listening. */
void scripted_init(struct scripted *s, struct place *p, const char *name);
/* reg: below the directory, "plugins_registry/a.sock". */
void scripted_register(struct scripted *s, const char *reg);
void scripted_unregister(struct scripted *s); /* the socket goes */
void scripted_listen(struct scripted *s);
void scripted_hang_up(struct scripted *s);
void scripted_speak(struct scripted *s); /* answers what it holds, and goes on */
void scripted_fini(struct scripted *s);

#endif
