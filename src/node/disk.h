/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are whole or not there, whatever ends the process or the machine. Paths are
 * NUL-terminated; errors say "PATH: reason".
 */
#ifndef DRAY_NODE_DISK_H
#define DRAY_NODE_DISK_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Under a name of its own (PATH.tmp) first, on the disk, then in place. That the new name
 * lasts takes a disk_sync_dir of its directory: one serves many files. */
bool disk_write(const char *path, struct str text, mode_t mode, struct err *e);
/* The same by a temporary file of this name beside it; lasting: it waits for the disk. */
bool disk_write_by(const char *temp, const char *path, struct str text, mode_t mode,
                   bool lasting, struct err *e);
/* The same without waiting for the disk: whole for everybody while the machine runs, and
 * made anew when it starts. Nothing is done when the file holds that already. */
bool disk_place(const char *path, struct str text, mode_t mode, struct err *e);
/* Nothing is done when the file holds that already; *changed is set when it was. */
bool disk_update(const char *path, struct str text, mode_t mode, bool *changed,
                 struct err *e);
bool disk_sync_dir(const char *path, struct err *e);
/* With all that is missing above it, 0755; each new name lasts. */
bool disk_make_dirs(const char *path, struct err *e);

/* Into a, NUL-terminated. ERR_NOT_FOUND, or ERR_LIMIT above so many bytes. */
bool disk_read(const char *path, size_t limit, struct arena *a, struct str *out,
               struct err *e);
/* The same of a file that is open, whose size was looked at. */
bool disk_read_open(int fd, const char *path, size_t size, struct arena *a,
                    struct str *out, struct err *e);
/* The file holds just that. */
bool disk_holds(const char *path, struct str text);

/* Yes to what is not there. */
bool disk_remove(const char *path, struct err *e);
/* Whatever has that name, a directory with what is below it; links are removed, not
 * followed. Yes to what is not there. */
bool disk_remove_tree(const char *path, struct err *e);

/* All of the bytes, however often it takes; -1 with errno set. */
int disk_write_all(int fd, struct str text);

typedef bool disk_each_fn(void *ctx, const char *name);
/* Every name in a directory but . and .., until each says no; a directory that is not
 * there has none. The order is the file system's. */
bool disk_each(const char *path, disk_each_fn *each, void *ctx, struct err *e);

#endif
