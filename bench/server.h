/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API servers to be measured: dray's, and upstream's with its etcd, each a process of its
 * own in a folder below the working directory, started when first wanted and killed when
 * the benchmark ends.
 *
 * Environment: DRAY, the program; DRAY_KUBE_UP, the script that starts a real control
 * plane ("up.sh BIN DIR api", "up.sh stop DIR"), and DRAY_KUBE, the folder of its
 * binaries. Without these two there is no peer.
 */
#ifndef DRAY_BENCH_SERVER_H
#define DRAY_BENCH_SERVER_H

#include "server/https.h"

enum { CONNECTIONS = 16, CLIENTS = 32 };

struct target {
    const char *name;
    char dir[64];
    uint16_t port; /* 0: not up */
    struct https *https;
    struct https_conn *conns[CONNECTIONS];
    uint32_t objects; /* made so far */
    uint32_t serial;  /* of writes */
};

extern struct target target_dray, target_kube;

/* NULL: it runs; else why not. */
const char *target_up(struct target *t);
uint64_t target_memory(const struct target *t); /* resident, of all its processes */
/* ns until it is ready, in its folder as it is; it runs afterwards. 0: it does not. */
uint64_t target_restart(struct target *t, bool anew);

#endif
