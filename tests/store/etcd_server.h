/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real etcd for tests: started on a free port with its data in a directory, killed, and
 * started again. It dies with the test program.
 */
#ifndef DRAY_TESTS_STORE_ETCD_SERVER_H
#define DRAY_TESTS_STORE_ETCD_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct etcd_binary {
    char path[256];
    char name[32]; /* "etcd 3.4.23" */
};
/* Those of DRAY_ETCD (paths with ':' between), or of PATH and the cache of the tests'
 * peers. Different versions, at most n. */
size_t etcd_binaries(struct etcd_binary *out, size_t n);

enum { ETCD_EXTRA = 16 };
struct etcd_server {
    const char *binary;
    const char *dir;               /* of its data; made by etcd */
    const char *extra[ETCD_EXTRA]; /* more of its options, ends with NULL; they win */
    bool tls;                      /* listens with https; extra says how */
    uint16_t port;                 /* 0: any, put in */
    pid_t pid;                     /* 0: it does not run */
};
/* Returns when it can be connected to; aborts when that takes too long. */
void etcd_server_start(struct etcd_server *e);
/* Waits until one that stands alone and speaks no TLS is healthy: one that only listens,
 * and is killed then, may have written so little that it never comes back. */
void etcd_server_settle(const struct etcd_server *e);
void etcd_server_kill(struct etcd_server *e);
uint16_t etcd_free_port(void);

#endif
