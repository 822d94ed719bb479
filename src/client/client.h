/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking an API server: one interface, two ways. A remote server is asked over HTTPS, as
 * a kubeconfig says; the server of this very process is called (net/inner.h). Who asks
 * does not know which.
 *
 * All of it on one loop. Callbacks come from the loop, never from within a function of
 * this header, and may start and cancel calls; client_free not.
 */
#ifndef DRAY_CLIENT_CLIENT_H
#define DRAY_CLIENT_CLIENT_H

#include "client/kubeconfig.h"
#include "client/object_pool.h"
#include "net/inner.h"

struct client;
struct client_call;

/* k and all of its texts outlive the client. Connects when it is asked something, and
 * again whenever the connection was lost. */
struct client *client_new_remote(struct net_loop *l, const struct kubeconfig *k);
/* n is the client's from here on. */
struct client *client_new_inner(struct net_loop *l, struct net_inner *n);
/* No callback follows. */
void client_free(struct client *c);
struct net_loop *client_loop(const struct client *c);
/* What informers of this client and of others read is to be shared with all users of the
 * pool; without this call, among its own. Before the first informer. */
void client_use_pool(struct client *c, struct object_pool *p);
struct object_pool *client_pool(struct client *c);

/* Told of what servers say beside an answer, for people, before it is done; as often as
 * they say it. It must not touch the client. */
typedef void client_warned(void *ctx, struct str text);
void client_on_warning(struct client *c, client_warned *warned, void *ctx);

/* ---- what is asked for ---- */

struct client_kind {
    const char *group, *version, *resource; /* group "": core */
    bool namespaced;
};
/* "/apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUB". namespace empty: of all, or not
 * namespaced; name empty: the collection; sub NULL: the object itself. */
struct str client_path(const struct client_kind *k, struct str namespace, struct str name,
                       const char *sub, struct arena *a);

/* For accept: objects without anything but their metadata. */
#define CLIENT_METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define CLIENT_METADATA_LIST                                                             \
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

struct client_request { /* copied */
    const char *method; /* "GET"; an API's verb is method and path */
    struct str path;    /* with its query, encoded */
    const char *type;   /* of the body; NULL: application/json */
    struct str body;
    uint64_t timeout_ms; /* for each try; 0: 34,000, a little more than a server's */
    const char *accept;  /* NULL: application/json; as type, it outlives the call */
};

/* Texts live during the callback. */
struct client_answer {
    unsigned status;     /* of HTTP; 0: the server has not answered */
    bool ok;             /* 2xx; else message says why not, for people */
    const char *reason;  /* as a Status has it: "NotFound", "Conflict"; "" */
    const char *message; /* "" when ok; when status is 0 it names the server, too */
    struct str body;
};
typedef void client_done(void *ctx, const struct client_answer *a);

/* Asked again up to ten times when the server says when (Retry-After), and when it has
 * certainly not seen the call. */
struct client_call *client_start(struct client *c, const struct client_request *q,
                                 client_done *done, void *ctx);
/* No callback follows; the call is gone, as it is after done. */
void client_cancel(struct client_call *call);

/* An answer that comes line by line (a watch, a log) and has no end of its own. done: it
 * has ended; ok as the head of the answer said, and message why it broke. */
typedef void client_line(void *ctx, struct str line);
struct client_call *client_stream(struct client *c, const struct client_request *q,
                                  client_line *line, client_done *done, void *ctx);

#endif
