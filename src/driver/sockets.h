/* SPDX-License-Identifier: Apache-2.0 */
/* Where a driver's sockets are (spec 5.1). */
#ifndef DRAY_DRIVER_SOCKETS_H
#define DRAY_DRIVER_SOCKETS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { DRIVER_SOCKET_PATH = 107 }; /* bytes that a socket's path has at most */

struct driver_sockets { /* whole paths */
    struct str dra, registration;
};

/* kubelet_dir: "/var/lib/kubelet". instance: the UID of the pod that the driver runs in,
 * so that the next one may start before this one ends; empty: there is one at a time. */
bool driver_sockets_name(struct str driver, struct str kubelet_dir, struct str instance,
                         struct arena *a, struct driver_sockets *out, struct err *e);
/* Nobody answers there; e names who is in the way. */
bool driver_sockets_unused(const struct driver_sockets *s, struct err *e);
/* KUBELET-DIR/plugins/DRIVER */
struct str driver_data_dir(struct str driver, struct str kubelet_dir, struct arena *a);

#endif
