/* SPDX-License-Identifier: Apache-2.0 */
/* dray apiserver as a process of its own, started, killed and stopped by a test. */
#ifndef DRAY_TESTS_SERVER_DAEMON_H
#define DRAY_TESTS_SERVER_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct daemon {
    pid_t pid; /* 0: not running */
    uint16_t port;
};

/* Waits until it is ready. args: more options, ends with NULL; NULL: none. */
bool daemon_start(struct daemon *d, const char *program, const char *dir,
                  const char *const *args);
/* As a power cut for the process: SIGKILL, then its remains. */
void daemon_kill(struct daemon *d);
/* SIGTERM; true: it ended in order. */
bool daemon_stop(struct daemon *d);
uint64_t daemon_memory(const struct daemon *d); /* resident, in bytes */

/* With all that is in it. */
void remove_tree(const char *path);

#endif
