/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster and the user that a kubeconfig file's current context names. */
#ifndef DRAY_CLI_KUBECONFIG_H
#define DRAY_CLI_KUBECONFIG_H

#include "net/http.h"

struct kubeconfig {
    struct str server; /* "https://127.0.0.1:6443" */
    struct net_tls_client_opts tls;
    struct str token; /* or STR_NONE */
};

/* Files that it names are read too, relative to its own folder. Everything is in the
 * arena. */
bool kubeconfig_read(const char *path, struct arena *a, struct kubeconfig *out,
                     struct err *e);

#endif
