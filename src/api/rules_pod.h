/* SPDX-License-Identifier: Apache-2.0 */
/* What rules of pods share. */
#ifndef DRAY_API_RULES_POD_H
#define DRAY_API_RULES_POD_H

#include "api/rules_text.h"

/* Is the object itself a pod, and not what makes some? */
bool rules_is_pod(const struct api_walk *w);
bool rules_is_true(const struct doc *parent, const char *key);
struct str rules_below(struct api_walk *w, struct str path, const char *suffix);
struct str rules_pod_os(const struct api_walk *w); /* "" unless it says */

typedef void rules_container_fn(struct api_walk *w, const struct doc *container,
                                struct str path, void *ctx);
/* Of all three lists of the pod at hand, in upstream's order. */
void rules_each_container(struct api_at *at, const struct doc *spec,
                          rules_container_fn *fn, void *ctx);
extern const char *const rules_container_lists[3];

/* The volume of that name if nothing was found wrong with it; also the claim templates of
 * a StatefulSet. *is_claim: containers may use it as a block device. */
const struct doc *rules_volume(const struct api_walk *w, struct str name, bool *is_claim);

/* Whether a name of a resource is one of the system's own. */
bool rules_native_resource(struct str name);
bool rules_quota_resource(struct str name);

/* Of pods/resize: the spec against the stored one. */
void rules_pod_resize(struct api_at *at);

#endif
