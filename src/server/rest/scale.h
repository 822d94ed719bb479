/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subresource scale: the number of replicas of an object as an object of its own,
 * autoscaling/v1 Scale.
 */
#ifndef DRAY_SERVER_REST_SCALE_H
#define DRAY_SERVER_REST_SCALE_H

#include "server/rest/write.h"

static inline bool is_scale(const struct resource *res)
{
    return res->sub && strcmp(res->sub, "scale") == 0;
}
/* Of an object in the version of the request. */
struct doc scale_of(struct request *r, const struct doc *object);
/* Whether it has one: of a custom resource the number may be absent. */
bool scale_shows(struct request *r, const struct doc *object);
/* As write_read_body and write_check, of a Scale. */
bool scale_read_body(struct request *r, struct doc *out);
bool scale_check(struct request *r, struct doc *d);
/* As write_finish_update, when d is the new Scale; the answer will be a Scale. */
bool scale_finish_update(struct write *w, struct doc *d);

#endif
