/* SPDX-License-Identifier: Apache-2.0 */
#include "api/schema.h"

const struct api_field *api_field_find(const struct api_type *t, struct str name)
{
    uint32_t lo = 0, hi = t->nfields;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const struct api_field *f = &t->fields[mid];
        int c = str_cmp((struct str){f->name, f->name_len}, name);
        if (c == 0)
            return f;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

bool api_version_is(const struct api_kind *k, struct str api_version)
{
    if (k->group[0] == '\0')
        return str_is(api_version, k->version);
    struct str group = str_from(k->group);
    return str_starts(api_version, group) && api_version.n > group.n &&
           api_version.p[group.n] == '/' &&
           str_is(str_sub(api_version, group.n + 1, SIZE_MAX), k->version);
}

const struct api_kind *api_kind_find(struct str api_version, struct str kind)
{
    for (uint32_t i = 0; i < api_nkinds; i++) {
        const struct api_kind *k = &api_kinds[i];
        if (str_is(kind, k->name) && api_version_is(k, api_version) &&
            !strchr(k->resource, '/'))
            return k;
    }
    return NULL;
}

const struct api_kind *api_resource_find(struct str group, struct str version,
                                         struct str resource)
{
    for (uint32_t i = 0; i < api_nkinds; i++) {
        const struct api_kind *k = &api_kinds[i];
        if (str_is(resource, k->resource) && str_is(group, k->group) &&
            str_is(version, k->version))
            return k;
    }
    return NULL;
}

const struct api_type *api_type_find(struct str group, struct str version,
                                     struct str name)
{
    for (uint32_t i = 0; i < api_ntypes; i++) {
        const struct api_type *t = api_types[i];
        if (str_is(name, t->name) && str_is(group, t->group) &&
            str_is(version, t->version))
            return t;
    }
    return NULL;
}

bool api_group_known(struct str group)
{
    for (uint32_t i = 0; i < api_nkinds; i++)
        if (str_is(group, api_kinds[i].group))
            return true;
    return false;
}
