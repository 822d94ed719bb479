/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/drm.h"

#include <stdlib.h>

static void read_number(struct str name, const char *prefix, int64_t *out)
{
    if (str_starts(name, str_from(prefix)) && *out < 0)
        *out = strtoll(name.p + strlen(prefix), NULL, 10);
}

struct drm drm_find(const struct found *f, struct str device)
{
    struct drm drm = {-1, -1};
    struct str *names;
    uint32_t n = sysfs_names(&f->sysfs, &names, "%.*s/drm", STR_ARG(device));
    for (uint32_t i = 0; i < n; i++) {
        read_number(names[i], "card", &drm.card);
        read_number(names[i], "renderD", &drm.render);
    }
    return drm;
}

void drm_add_nodes(struct found *f, struct found_device *d, struct drm drm)
{
    if (drm.card >= 0)
        found_node(f, d, "/dev/dri/card%lld", (long long)drm.card);
    if (drm.render >= 0)
        found_node(f, d, "/dev/dri/renderD%lld", (long long)drm.render);
}
