/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a simulated node looks like: one Node and its ResourceSlices, as they were printed
 * by `kubectl get -o yaml` on a real cluster, or written by hand. Wherever the captured
 * node's name stands as a word of its own, in names, labels, pools or attributes, a
 * simulated node puts its own; device attributes called "uuid" differ from node to node.
 */
#ifndef DRAY_NODE_SIM_SHAPE_H
#define DRAY_NODE_SIM_SHAPE_H

#include "doc/doc.h"

struct sim_shape; /* immutable */

enum { SIM_SHAPE_MAX_SLICES = 64, SIM_SHAPE_MAX_BYTES = 8 << 20 };

/* One of those that come with dray, by its name ("h100x8"); STR_NONE: there is none. */
struct str sim_shape_shipped(struct str name);
/* All their names, with ", " between. */
const char *sim_shape_names(void);
/* source: of errors. Errors: text that is no YAML, other kinds than the two, no Node or
 * two, slices of another node, too many. */
struct sim_shape *sim_shape_read(const char *source, struct str yaml, struct err *e);
void sim_shape_free(struct sim_shape *s);

/* The Node of a node of this name: labels, annotations, and status as captured. */
struct doc sim_shape_node(const struct sim_shape *s, struct str name, struct arena *a);
uint32_t sim_shape_nslices(const struct sim_shape *s);
/* Its i-th slice: metadata.name and spec; the generation is the caller's to set. */
struct doc sim_shape_slice(const struct sim_shape *s, uint32_t i, struct str name,
                           struct arena *a);

#endif
