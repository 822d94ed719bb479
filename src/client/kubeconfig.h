/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server is, and who asks: a kubeconfig file's current context, or what a pod
 * finds in its own files. */
#ifndef DRAY_CLIENT_KUBECONFIG_H
#define DRAY_CLIENT_KUBECONFIG_H

#include "net/http.h"

enum { KUBECONFIG_MAX_GROUPS = 32 };

/* Whom to act as, where roles allow it. */
struct kubeconfig_as {
    struct str user, uid; /* user STR_NONE: as oneself */
    const struct str *groups;
    uint32_t ngroups;
};

struct kubeconfig {
    struct str server;     /* "https://127.0.0.1:6443" */
    const char *address;   /* of it: "127.0.0.1:6443" */
    const char *prefix;    /* of every path; empty, or "/k8s/clusters/c1" */
    const char *name;      /* that the certificate must be for; NULL: the address */
    struct str user_agent; /* STR_NONE: "dray" */
    struct str namespace;  /* of the context; or STR_NONE */
    struct net_tls_client_opts tls;
    struct str token;       /* or STR_NONE */
    const char *token_file; /* that has the token, read again as it changes; or NULL */
    struct kubeconfig_as as;
};

/* Files that it names are read too, relative to its own folder. Everything is in the
 * arena. Errors: no file, no such context, a server that is not https, or a way to
 * authenticate that is not supported: exec, auth-provider and passwords. */
bool kubeconfig_read(const char *path, struct arena *a, struct kubeconfig *out,
                     struct err *e);
/* The same of another context than the current one; NULL: of that. */
bool kubeconfig_read_context(const char *path, const char *context, struct arena *a,
                             struct kubeconfig *out, struct err *e);
/* As the service account of the pod that this process runs in. host and port: what
 * KUBERNETES_SERVICE_HOST and _PORT say; folder: of the token and the authority. */
bool kubeconfig_in_pod(const char *host, const char *port, const char *folder,
                       struct arena *a, struct kubeconfig *out, struct err *e);
/* A file of 4 MiB at most. */
bool kubeconfig_read_file(const char *path, struct arena *a, struct str *out,
                          struct err *e);

#endif
