/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pods are bound to a node, and what they refer to: what a node has to see follows
 * from it. The index follows the cache; what a pod refers to is looked up when somebody
 * asks for the first time.
 */
#ifndef DRAY_SERVER_REST_POD_REFS_H
#define DRAY_SERVER_REST_POD_REFS_H

#include "doc/doc.h"
#include "store/cache.h"

/* All but REF_CLAIM are in the core group. */
enum ref_kind { REF_SECRET, REF_CONFIGMAP, REF_ACCOUNT, REF_VOLUME_CLAIM, REF_CLAIM };

/* Pure: each reference of a pod; that its node may follow: none of a mirror pod. */
typedef void ref_each(void *ctx, enum ref_kind kind, struct str name);
void pod_refs_all(const struct doc *pod, ref_each *each, void *ctx);
void pod_refs_each(const struct doc *pod, ref_each *each, void *ctx);
/* Secrets of a PersistentVolume that a kubelet reads. */
typedef void secret_each(void *ctx, struct str namespace, struct str name);
void volume_secrets_each(const struct doc *volume, secret_each *each, void *ctx);

struct pod_index;
struct pod_index *pod_index_new(void);
void pod_index_free(struct pod_index *x);
/* A cache_on_event of the pods; ctx is the index. */
void pod_index_event(void *index, const struct cache_event *e);
/* Whether a pod of this namespace that is bound to the node refers to it. */
bool pod_index_refers(struct pod_index *x, struct str node, enum ref_kind kind,
                      struct str namespace, struct str name);
/* The names that the node's pods refer to, with their namespaces; each false: stop. */
typedef bool pod_index_each_ref(void *ctx, struct str namespace, struct str name);
void pod_index_each(struct pod_index *x, struct str node, enum ref_kind kind,
                    pod_index_each_ref *each, void *ctx);

#endif
