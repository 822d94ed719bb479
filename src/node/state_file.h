/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a node's state: whole, as they were or as they are to be, whatever ends the
 * process or the machine. Errors say "PATH: reason".
 */
#ifndef DRAY_NODE_STATE_FILE_H
#define DRAY_NODE_STATE_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { STATE_FILE_MAX = 64 << 20 };

/* Into a, NUL-terminated. ERR_NOT_FOUND: there is none. */
bool state_file_read(const char *path, struct arena *a, struct str *out, struct err *e);
/* By a temporary file ".NAME.tmp" beside it, mode 0600; lasting: it is on the disk before
 * it returns, its name too. */
bool state_file_write(const char *path, struct str text, bool lasting, struct err *e);
/* To PATH.damaged, or with a number behind that, whichever is free; its name in a. */
bool state_file_set_aside(const char *path, struct arena *a, struct str *to,
                          struct err *e);

#endif
