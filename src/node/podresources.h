/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pods of a node have been given, told to whoever asks on the kubelet's socket
 * KUBELET/pod-resources/kubelet.sock (monitoring, mostly): services v1 and v1alpha1 of
 * PodResourcesLister. Of claims alone: devices of device plugins, CPUs and memory are not
 * given by this node.
 *
 * Unlike a kubelet's, a device has its own CDI ids here and no other's.
 *
 * Source: spec 5.6 rule 3.
 */
#ifndef DRAY_NODE_PODRESOURCES_H
#define DRAY_NODE_PODRESOURCES_H

#include "node/claims.h"

struct podresources;

struct podresources_opts { /* all of it outlives the server */
    struct net_loop *loop;
    const char *dir; /* "/var/lib/kubelet" */
    const struct node_claims *claims;
    /* Calls each(to, pod) for every pod that is active: an object of v1. */
    void (*pods)(void *ctx, void (*each)(void *to, const struct doc *pod), void *to);
    void *ctx;
};

/* Makes the directory of the socket, 0750. */
struct podresources *podresources_new(const struct podresources_opts *o, struct err *e);
void podresources_free(struct podresources *p);

#endif
