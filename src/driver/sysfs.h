/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files below a root: /sys and /proc as the kernel shows them. What is not there,
 * or cannot be read, is empty, and no error: drivers differ in what they show. Paths are
 * printf's, from / on.
 */
#ifndef DRAY_DRIVER_SYSFS_H
#define DRAY_DRIVER_SYSFS_H

#include "base/arena.h"
#include "base/str.h"

enum { SYSFS_MAX_BYTES = 4 << 20 }; /* routes of a large cluster are many */

struct sysfs {
    struct str root; /* "" this machine's */
    struct arena *a; /* of what is read */
};

/* The text without white space at its ends. */
struct str sysfs_text(const struct sysfs *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A number as C writes it (0x10 too); absent: what it is if it is not there. */
int64_t sysfs_int(const struct sysfs *s, int64_t absent, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The text of a link; and its last part. */
struct str sysfs_link(const struct sysfs *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct str sysfs_last(struct str path);
bool sysfs_exists(const struct sysfs *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Names in a directory without those that begin with a dot, "eth2" before "eth10". */
uint32_t sysfs_names(const struct sysfs *s, struct str **out, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The value behind "KEY<separator>" in a text of lines. */
struct str sysfs_field(struct str text, const char *key, char separator);

#endif
