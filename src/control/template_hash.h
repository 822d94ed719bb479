/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a pod template that names ReplicaSets and revisions of DaemonSets, equal to
 * kube-controller-manager's, so that either may go on where the other stopped. Upstream
 * hashes what Go prints of the struct in memory (FNV-1a, 32 bits), so the hash depends on
 * the names, types and order of Go's fields: template_shape.inc, made by
 * tests/peers/cmd/templateshape.
 */
#ifndef DRAY_CONTROL_TEMPLATE_HASH_H
#define DRAY_CONTROL_TEMPLATE_HASH_H

#include "base/arena.h"
#include "doc/doc.h"

/* Of a PodTemplateSpec as the API server gives it, defaults and canonical quantities
 * included. collisions: status.collisionCount; below 0: there is none. At most ten
 * letters and digits, in the arena. */
struct str template_hash(const struct doc *template, int64_t collisions, struct arena *a);
/* A number as upstream spells it in names: no vowels, so no words. */
struct str template_hash_spell(uint32_t hash, struct arena *a);
/* FNV-1a, 32 bits; start with FNV_START. */
#define FNV_START 2166136261u
uint32_t template_hash_add(uint32_t hash, const void *p, size_t n);
/* FNV-1, of which StatefulSets' revisions are named; the same start. */
uint32_t template_hash_add_plain(uint32_t hash, const void *p, size_t n);

#endif
