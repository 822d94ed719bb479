/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server: the kinds of api/ over HTTPS from a store. One folder holds all of its
 * state: store, certificate authority, own certificate, and the kubeconfig of its
 * administrator. All of it runs on one event loop.
 *
 * Users: whoever shows a client certificate that the folder's authority has signed, or a
 * token; who shows nothing is system:anonymous. The group system:masters may do
 * everything, kubelets what their pods need, others what roles say.
 */
#ifndef DRAY_SERVER_SERVER_H
#define DRAY_SERVER_SERVER_H

#include "api/gates.h"
#include "base/err.h"
#include "net/inner.h"

struct server;

/* How kubelets are asked; as the flags of kube-apiserver. */
struct kubelet_opts {
    const char *client_certificate, *client_key; /* files; NULL: made in the folder */
    const char *certificate_authority; /* file; NULL: certificates are not verified */
    const char *address_types; /* "A,B", the first that a node has; NULL: upstream's */
};

/* Options of kube-apiserver keep its names (docs/man/dray-apiserver.1). */
struct server_opts {
    const char *dir;    /* made when it is not there; its parent must be */
    const char *listen; /* "127.0.0.1:6443"; port 0: any */
    struct api_gates gates;
    const char *store; /* store.h; NULL: DIR/store */
    const char *etcd_prefix, *etcd_cafile, *etcd_certfile, *etcd_keyfile; /* or NULL */
    const char *runtime_config; /* runtime_config.h; NULL: nothing */
    struct kubelet_opts kubelet;
    /* Names of plugins, "A,B"; NULL: none (admission.h). */
    const char *enable_admission, *disable_admission;
    const char *enforced_elsewhere; /* unenforced.h; NULL: nothing */
    bool counts_quotas;             /* as controllers of this process do (unenforced.h) */
    const char *admission_config;   /* a file (admission_config.h); NULL: none */
    /* Who is let in (token.h, authn.c). Lists are "A,B"; NULL: the default. */
    const char *token_issuers, *audiences;
    const char *token_signing_key; /* a file; NULL: the folder's own key */
    const char *token_keys;        /* files of more keys that tokens are signed with */
    uint64_t max_token_ms;         /* that new ones may live; 0: what is asked for */
    bool extend_tokens;            /* a year, and warn, of those that pods mount */
    const char *token_file;        /* of fixed tokens; NULL: none */
    bool bootstrap_tokens;         /* whether they let anybody in (bootstrap_token.h) */
    bool anonymous;     /* who shows nothing is a user too; else he is refused */
    const char *socket; /* path of one more, a Unix socket; NULL: none (authn.c) */
    uint32_t not_ready_seconds, unreachable_seconds; /* DefaultTolerationSeconds */
    /* Where what happens is logged, and what of it (audit.h); both or none. */
    const char *audit_log, *audit_policy;
    uint32_t audit_megabytes, audit_kept, audit_days; /* audit_file.h */
    bool audit_compress;
    uint32_t max_reading, max_writing; /* requests at once; 0: any number (inflight.h) */
    uint64_t request_ms;               /* how long one may take that does not last */
    /* Files, PEM: what is shown to clients instead of the folder's certificate, and who
     * signs those of clients beside the folder's authority. NULL: nothing. */
    const char *tls_cert, *tls_key, *client_ca;
    const char *service_range, *port_range; /* service_range.h */
};
#define SERVER_OPTS_INIT                                                                 \
    {                                                                                    \
        .listen = "127.0.0.1:6443", .gates = api_gates_default, .anonymous = true,       \
        .extend_tokens = true, .not_ready_seconds = 300, .unreachable_seconds = 300,     \
        .max_reading = 400, .max_writing = 200, .request_ms = 60000,                     \
        .audit_megabytes = 100, .audit_kept = 100, .audit_days = 366,                    \
        .service_range = "10.0.0.0/24", .port_range = "30000-32767"                      \
    }

/* Opens the folder and listens. Errors: the folder is another server's, unusable, or the
 * address is taken. */
struct server *server_new(struct net_loop *loop, const struct server_opts *opts,
                          struct err *e);
/* "https://127.0.0.1:6443"; lives as long as the server. */
const char *server_url(const struct server *s);
/* Somebody in this process who asks it; net_inner_free is before server_free. */
struct net_inner *server_inner(struct server *s, const struct net_inner_opts *who);
/* GET /metrics ends with what print says, of parts that run beside the server. */
void server_add_metrics(struct server *s, void (*print)(void *ctx, struct strbuf *out),
                        void *ctx);
/* Takes no more requests, lets running ones end for a while, then calls done. */
void server_stop(struct server *s, void (*done)(void *ctx), void *ctx);
/* Everything acknowledged is on disk afterwards. Before net_loop_free. */
void server_free(struct server *s);

#endif
