/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request that somebody else answers: a kubelet, or what listens in a pod. Its answer
 * is passed on as it comes; after an upgrade bytes are copied both ways, in whatever
 * protocol the two speak (spec 8.5). Whoever reads slowly makes the other side wait.
 */
#ifndef DRAY_SERVER_RELAY_RELAY_H
#define DRAY_SERVER_RELAY_RELAY_H

#include "server/inner.h"

struct relay_target {
    struct str host; /* name or address */
    uint16_t port;
    struct str target; /* path and query, encoded */
    bool tls;
    bool kubelet;    /* shown our certificate, its own is verified when there is a CA */
    bool unverified; /* not that */
    bool elsewhere;  /* addresses of this machine and its links are refused */
};

enum relay_kind {
    RELAY_LOG,    /* a GET of our own; the answer is text, refusals are a Status */
    RELAY_STREAM, /* the client's request, which must be an upgrade */
    RELAY_PROXY,  /* the client's request */
};

/* Ends the request, now or later. */
void relay_start(struct request *r, const struct relay_target *to, enum relay_kind kind);
/* Ends what is being passed on. */
void relay_end_all(struct server *s);

/* ---- where to (target.c); false: failed ---- */

bool kubelet_configure(struct server *s, const struct kubelet_opts *o, struct err *e);

/* The kubelet of a node; target is not set. */
bool target_of_node(struct request *r, struct str node, struct relay_target *out);
/* "NAME", "NAME:PORT" or "SCHEME:NAME:PORT". */
bool target_split(struct request *r, const char *what, struct str id, struct str *scheme,
                  struct str *name, struct str *port);
/* Of the request's own name, in the same forms: a pod that answers for it. */
bool target_of_service(struct request *r, struct relay_target *out);
bool target_port(struct request *r, struct str text, uint16_t *out);
/* Appends a parameter to a path. */
void target_param(struct strbuf *path, const char *name, struct str value);
/* The container that is meant: named, or the only one. STR_NONE: failed. */
struct str target_container(struct request *r, const struct doc *pod, struct str named);
/* The object of a kind in the request's namespace. NULL: there is none, and r->failure
 * says so. */
struct cache_object *target_find(struct request *r, const char *resource,
                                 struct str name);

#endif
