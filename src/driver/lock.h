/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that instances of one driver on a node share: while a new one takes over, and
 * where somebody has started a second one that will find its sockets taken. A write lock
 * of the open file description on all of "serialize.lock" in the driver's data directory,
 * as upstream's helper takes it (spec 5.1.4). Blocks; not on the loop's thread.
 */
#ifndef DRAY_DRIVER_LOCK_H
#define DRAY_DRIVER_LOCK_H

#include "base/err.h"
#include "base/str.h"

/* A descriptor; -1: e says why. */
int driver_lock_take(struct str data_dir, struct err *e);
void driver_lock_give(int fd);

#endif
