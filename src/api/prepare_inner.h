/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by prepare*.c alone. */
#ifndef DRAY_API_PREPARE_INNER_H
#define DRAY_API_PREPARE_INNER_H

#include "api/edit.h"
#include "api/prepare.h"

/* old is NULL on create. */
typedef void prepare_fn(const struct api_prepare *p, struct doc *object,
                        const struct doc *old);

prepare_fn prepare_new_pod, prepare_pod_status, prepare_pod_debug, prepare_pod_resize,
    prepare_service, prepare_new_request, prepare_request, prepare_request_status,
    prepare_request_approval;

/* Fills in the resources of a pod that says any (spec of the pod). */
/* Takes away what alpha features would need. */
void prepare_drop_alpha(const struct api_kind *kind, struct doc *object,
                        const struct doc *old);
void prepare_pod_level(const struct api_prepare *p, struct doc *spec);
/* Whether whole pods can have that resource. */
bool prepare_is_pod_level(struct str resource);

/* The map of that name, made where there is none. */
struct doc *prepare_map(const struct api_prepare *p, struct doc *d, const char *key);
void prepare_text(const struct api_prepare *p, struct doc *d, const char *key,
                  struct str text);
/* As old has it, or not at all. */
void prepare_keep(const struct api_prepare *p, struct doc *d, const struct doc *old,
                  const char *key);

#endif
