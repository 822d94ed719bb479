/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor that becomes readable when names come, go or change owner or mode in some
 * directories. A directory that is not there is waited for in the nearest one above it.
 */
#ifndef DRAY_DRIVER_DIR_WATCH_H
#define DRAY_DRIVER_DIR_WATCH_H

#include "base/str.h"

/* -1: the system has no more of them; what it is for goes by the clock then. */
int dir_watch_new(void);
/* The directory that a path (of a file, which may be a pattern) is in; again is fine. */
void dir_watch_add(int fd, struct str path);
/* What has been told is forgotten. */
void dir_watch_drain(int fd);

#endif
