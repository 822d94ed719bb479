/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for like an object of the store and is none: who serves it. */
#include <string.h>

#include "server/inner.h"

static const struct {
    const char *group, *resource;
    verb_fn *serve;
} SERVED[] = {
    {"", "bindings", binding_create},
    {"", "pods/binding", binding_create},
};

verb_fn *subresource_serve(const struct api_kind *k)
{
    for (size_t i = 0; i < sizeof SERVED / sizeof *SERVED; i++)
        if (strcmp(SERVED[i].group, k->group) == 0 &&
            strcmp(SERVED[i].resource, k->resource) == 0)
            return SERVED[i].serve;
    return NULL;
}
