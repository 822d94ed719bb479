/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examination of a node by `dray doctor`: each part prints what it finds, one line
 * each, and counts what is wrong.
 */
#ifndef DRAY_CLI_DOCTOR_H
#define DRAY_CLI_DOCTOR_H

#include "cli/session.h"
#include "driver/discover.h"

struct doctor {
    struct arena *a;
    struct str root; /* in the place of /, for tests; empty */
    struct str driver, node, kubelet_dir, cdi_dir;
    const char *devices, *find; /* as dray driver has them, or NULL */
    struct session *session;    /* NULL: no server is asked */
    int64_t now_s;
    unsigned wrong; /* lines that begin with "wrong" */
};

/* "ok     ..." */
void doctor_ok(struct doctor *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "wrong  ..." */
void doctor_wrong(struct doctor *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "       ...": neither. */
void doctor_note(struct doctor *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A path below the root. */
const char *doctor_path(const struct doctor *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "3h" since then */
struct str doctor_since(const struct doctor *d, int64_t since_s);

/* doctor_runtime.c: whether container runtimes take devices by CDI, and from where. */
void doctor_directories(struct doctor *d);
void doctor_runtimes(struct doctor *d);
/* doctor_driver.c: sockets of drivers, and who holds devices. */
void doctor_sockets(struct doctor *d);
void doctor_holders(struct doctor *d);
/* doctor_slices.c: what is published beside what is there. */
void doctor_slices(struct doctor *d);

#endif
