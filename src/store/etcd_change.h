/* SPDX-License-Identifier: Apache-2.0 */
/* Changes on their way from etcd: owned, in lists. */
#ifndef DRAY_STORE_ETCD_CHANGE_H
#define DRAY_STORE_ETCD_CHANGE_H

#include "store/etcd.pb-c.h"
#include "store/etcd_target.h"
#include "store/store.h"

struct etcd_change {
    struct etcd_change *next;
    struct store_change change; /* its bytes follow */
};

struct etcd_changes {
    struct etcd_change *first, **last;
};

void etcd_changes_init(struct etcd_changes *l);
void etcd_changes_release(struct etcd_changes *l);
void etcd_changes_push(struct etcd_changes *l, struct etcd_change *c);
struct etcd_change *etcd_changes_pop(struct etcd_changes *l); /* or NULL; to be freed */
void etcd_changes_join(struct etcd_changes *l, struct etcd_changes *from);
/* By revision; those of one revision stay as they are. */
void etcd_changes_sort(struct etcd_changes *l);

/* Copies the bytes. */
struct etcd_change *etcd_change_new(const struct store_change *c);
/* NULL: the event is not of an object. */
struct etcd_change *etcd_change_of(const struct etcd_target *t, const Etcd__Event *event);

static inline struct str etcd_str(ProtobufCBinaryData b)
{
    return (struct str){b.data ? (const char *)b.data : "", b.len};
}
static inline ProtobufCBinaryData etcd_bytes(struct str s)
{
    return (ProtobufCBinaryData){s.n, (uint8_t *)s.p};
}
/* The store's key of one of etcd's; p NULL: it is not an object's. */
struct str etcd_key(const struct etcd_target *t, ProtobufCBinaryData key);

#endif
