/* SPDX-License-Identifier: Apache-2.0 */
/* Which driver of which node, and where its folders are: what `dray driver` and `dray
 * doctor` are told, or take when they are not. */
#ifndef DRAY_CLI_NODE_SITE_H
#define DRAY_CLI_NODE_SITE_H

#include "base/arena.h"
#include "base/str.h"

struct node_site {
    struct str driver;      /* device.dray.dev */
    struct str node;        /* $NODE_NAME, else the host's name as a kubelet has it */
    struct str kubelet_dir; /* /var/lib/kubelet */
    struct str cdi_dir;     /* /var/run/cdi */
};

/* Each NULL or empty: what the comment above says. Texts are those given, the
 * environment's, or in a. */
struct node_site node_site_of(const char *driver, const char *node,
                              const char *kubelet_dir, const char *cdi_dir,
                              struct arena *a);

#endif
