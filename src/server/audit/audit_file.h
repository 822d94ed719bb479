/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that is begun anew when it has grown: what was there is kept beside it as
 * NAME-2026-01-31T12-00-00.000.EXT (in UTC), until it is too old or there are too many;
 * compressed, with .gz after its name, if that is wanted.
 * Names and limits are those of kube-apiserver's audit log, so that whatever collects
 * that finds this.
 */
#ifndef DRAY_SERVER_AUDIT_AUDIT_FILE_H
#define DRAY_SERVER_AUDIT_AUDIT_FILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct audit_file_opts {
    const char *path;        /* "-": standard output, without limits */
    uint64_t max_bytes;      /* of the file; 0: any number */
    uint32_t max_kept;       /* files beside it; 0: any number */
    uint32_t max_days;       /* that they are kept; 0: for ever */
    int64_t (*now_ms)(void); /* since the epoch; NULL: the clock's */
    bool compress;           /* what is beside it, on another thread */
};

struct audit_file;
/* Appends to what is there. path is borrowed. */
struct audit_file *audit_file_new(const struct audit_file_opts *opts, struct err *e);
void audit_file_free(struct audit_file *f);
/* All of it or, on an error of the disk, perhaps a part. A line that is longer than
 * max_bytes has a file of its own. A file that cannot be put away grows on. */
bool audit_file_write(struct audit_file *f, struct str line);

#endif
