/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread beside the loop, for what blocks: the disk, the devices, a lock. Jobs run
 * one after another in the order in which they were given.
 */
#ifndef DRAY_DRIVER_WORKER_H
#define DRAY_DRIVER_WORKER_H

#include "net/http.h"

struct driver_worker;

struct driver_worker *driver_worker_new(struct net_loop *l);
/* Waits for the job that runs. Jobs that have not begun do not; done is called, now, for
 * every job whose done was not. */
void driver_worker_free(struct driver_worker *w);

/* On the loop's thread: work(job) on the other, then done(job) on this one. */
void driver_worker_do(struct driver_worker *w, void (*work)(void *job),
                      void (*done)(void *job), void *job);

#endif
