/* SPDX-License-Identifier: Apache-2.0 */
/* A command that asks a server one thing after another, and waits for each answer. */
#ifndef DRAY_CLI_SESSION_H
#define DRAY_CLI_SESSION_H

#include "base/vec.h"
#include "cli/options.h"
#include "client/client.h"
#include "doc/doc.h"

enum { SESSION_CHUNK = 500 }; /* objects of a list that are asked for at once */

struct session_opts {
    const char *kubeconfig;              /* NULL: $KUBECONFIG, else ~/.kube/config */
    const char *namespace;               /* NULL: the context's, else default */
    const char *context;                 /* NULL: the current one */
    const char *as, *as_groups, *as_uid; /* whom to act as; NULL: as the context says */
    bool all_namespaces;
};

/* Rows of a command's table; its struct has a session_opts called session. */
#define SESSION_ROWS(type)                                                               \
    {"kubeconfig", "FILE", OPTION_TEXT, offsetof(type, session.kubeconfig),              \
     "says where the server is, and who asks ($KUBECONFIG, ~/.kube/config)"},            \
        {"context", "NAME", OPTION_TEXT, offsetof(type, session.context),                \
         "of the kubeconfig (the current one)"},                                         \
        {"as", "USER", OPTION_TEXT, offsetof(type, session.as),                          \
         "whom to act as, where roles allow it (oneself)"},                              \
        {"as-group", "NAME,...", OPTION_LIST, offsetof(type, session.as_groups),         \
         "with these groups"},                                                           \
        {"as-uid", "UID", OPTION_TEXT, offsetof(type, session.as_uid), "and this uid"},  \
    {                                                                                    \
        "namespace", "NAME", OPTION_TEXT, offsetof(type, session.namespace),             \
            "of the objects (the kubeconfig's, or default)", NULL, 'n'                   \
    }
#define SESSION_ALL_ROW(type)                                                            \
    {                                                                                    \
        "all-namespaces", NULL, OPTION_FLAG, offsetof(type, session.all_namespaces),     \
            "of all namespaces", NULL, 'A'                                               \
    }

struct session {
    struct arena *a; /* of all answers */
    const struct session_opts *opts;
    struct kubeconfig config;
    struct net_loop *loop;
    struct client *client;
    struct str namespace;
    VEC(struct str) warned; /* what the server has warned of; in the arena */
};

bool session_open(struct session *s, const struct session_opts *o, struct arena *a,
                  struct err *e);
void session_close(struct session *s);

/* The answer lives in the arena. */
const struct client_answer *session_ask(struct session *s,
                                        const struct client_request *q);
const struct client_answer *session_get(struct session *s, struct str path,
                                        const char *accept);
/* A part of a list: path with a limit on objects (0: none), going on where the part
 * before it ended (its metadata.continue; or STR_NONE). */
struct str session_page(struct session *s, struct str path, uint32_t limit,
                        struct str from);
/* Its body; NULL, and an error as session_refuse says it: it refuses, or has none. */
const struct doc *session_doc(struct session *s, const struct client_answer *a,
                              struct err *e);
/* "Error from server (NotFound): ..."; false. */
bool session_refuse(const struct client_answer *a, struct err *e);

/* An answer line by line, until each says that it is enough, it ends, or time is up (0:
 * never). */
enum session_end { SESSION_ENOUGH, SESSION_ENDED, SESSION_LATE, SESSION_REFUSED };
typedef bool session_line(void *ctx, struct str line); /* false: enough */
enum session_end session_follow(struct session *s, const struct client_request *q,
                                session_line *each, void *ctx, uint64_t ms,
                                struct err *e);

#endif
