/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP proxy on a thread of its own that cuts its connections when it is told to. */
#ifndef DRAY_TESTS_STORE_PROXY_H
#define DRAY_TESTS_STORE_PROXY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROXY_PAIRS = 8 };

struct proxy {
    uint16_t port, to;
    int listener;
    pthread_t thread;
    struct {
        int client, server; /* 0: free */
    } pairs[PROXY_PAIRS];
    bool stop; /* atomic, as what follows */
    bool closed;
    size_t left;   /* bytes that pass before all is cut; 0: no end */
    unsigned cuts; /* so far */
};

void proxy_start(struct proxy *p, uint16_t to);
void proxy_stop(struct proxy *p);
/* After so many bytes more, in both directions together. */
void proxy_cut_after(struct proxy *p, size_t bytes);
/* Closed: connections are cut, and new ones too. */
void proxy_close(struct proxy *p, bool closed);
unsigned proxy_cuts(struct proxy *p);

#endif
