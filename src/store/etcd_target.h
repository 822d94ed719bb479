/* SPDX-License-Identifier: Apache-2.0 */
/* Where an etcd is, as "//HOST:PORT[,HOST:PORT...][/PREFIX]" says. */
#ifndef DRAY_STORE_ETCD_TARGET_H
#define DRAY_STORE_ETCD_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct etcd_target {
    struct arena arena;
    VEC(const char *) endpoints; /* "HOST:PORT" */
    struct str prefix;           /* "/dray": without a slash at its end, may be empty */
    struct str first, past;      /* the range of our keys: "/dray/", "/dray0" */
    struct str mark;             /* "/dray/.mark", a key in the range that is no object */
    struct str compacted;        /* "/dray.compacted", a key outside of it */
};

/* Without a prefix it is "/dray". On failure it needs no etcd_target_release. */
bool etcd_target_parse(struct etcd_target *t, const char *rest, struct err *e);
void etcd_target_release(struct etcd_target *t);

#endif
