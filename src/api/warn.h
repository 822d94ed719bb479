/* SPDX-License-Identifier: Apache-2.0 */
/* What upstream's registries tell the writer of a valid object beside the answer. */
#ifndef DRAY_API_WARN_H
#define DRAY_API_WARN_H

#include "api/schema.h"
#include "doc/doc.h"

struct api_warn {
    struct arena *a;
    void (*tell)(void *ctx, struct str text); /* the text lives as long as the arena */
    void *ctx;
};

/* kind may be a subresource; old: what is stored, NULL of a new object. */
void api_warn(const struct api_warn *w, const struct api_kind *kind,
              const struct doc *object, const struct doc *old);

#endif
