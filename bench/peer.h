/* SPDX-License-Identifier: Apache-2.0 */
/* One running oracle: questions in, answers out, a line each. */
#ifndef DRAY_BENCH_PEER_H
#define DRAY_BENCH_PEER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/str.h"
#include "doc/doc.h"

struct peer {
    pid_t pid; /* 0: not running */
    FILE *in, *out;
};

/* False when the program cannot be started. */
bool peer_start(struct peer *p, const char *program, const char *mode);
void peer_stop(struct peer *p);
/* Sends the question and waits for its answer, which lives in a. */
bool peer_ask(struct peer *p, struct str question, struct arena *a, struct doc *answer);

#endif
