/* SPDX-License-Identifier: Apache-2.0 */
/* Which version of CDI brought what (spec 5.13 rule 2). */
#include "driver/cdi_inner.h"

typedef bool edits_need(const struct cdi_edits *x);

static bool has_net_devices(const struct cdi_edits *x)
{
    return x->nnet_devices > 0;
}

static bool has_schemata(const struct cdi_edits *x)
{
    return x->rdt.present && (x->rdt.has_schemata || x->rdt.enable_monitoring);
}

static bool has_rdt(const struct cdi_edits *x)
{
    return x->rdt.present;
}

static bool has_gids(const struct cdi_edits *x)
{
    return x->ngids > 0;
}

static bool has_host_path(const struct cdi_edits *x)
{
    for (uint32_t i = 0; i < x->nnodes; i++) {
        if (x->nodes[i].host_path.n > 0)
            return true;
    }
    return false;
}

static bool has_mount_type(const struct cdi_edits *x)
{
    for (uint32_t i = 0; i < x->nmounts; i++) {
        if (x->mounts[i].type.n > 0)
            return true;
    }
    return false;
}

/* The index of a version is its rank. */
static const char *const VERSIONS[] = {"0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0",
                                       "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
enum { V0_3 = 2, V0_4, V0_5, V0_6, V0_7, V0_8, V1_0, V1_1, NVERSIONS };

static const struct {
    edits_need *need;
    uint32_t since;
} EDITS[] = {
    {has_net_devices, V1_1}, {has_schemata, V1_1},  {has_rdt, V0_7},
    {has_gids, V0_7},        {has_host_path, V0_5}, {has_mount_type, V0_4},
};

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t rank_of_edits(const struct cdi_edits *x)
{
    uint32_t rank = V0_3;
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        if (EDITS[i].need(x))
            rank = max_u32(rank, EDITS[i].since);
    }
    return rank;
}

static uint32_t rank_of_device(const struct cdi_device *d)
{
    bool digit = d->name.n > 0 && d->name.p[0] >= '0' && d->name.p[0] <= '9';
    uint32_t rank = max_u32(rank_of_edits(&d->edits), digit ? V0_5 : V0_3);
    return max_u32(rank, d->nannotations > 0 ? V0_6 : V0_3);
}

const char *cdi_spec_version(const struct cdi_spec *s)
{
    size_t slash = str_find_byte(s->kind, '/', 0);
    bool dot = slash != SIZE_MAX && str_find_byte(s->kind, '.', slash) != SIZE_MAX;
    uint32_t rank =
        max_u32(rank_of_edits(&s->edits), s->nannotations > 0 || dot ? V0_6 : V0_3);
    for (uint32_t i = 0; i < s->ndevices; i++)
        rank = max_u32(rank, rank_of_device(&s->devices[i]));
    return VERSIONS[rank];
}

static uint32_t rank_of(struct str version)
{
    struct str bare =
        str_starts(version, STR("v")) ? str_sub(version, 1, version.n) : version;
    uint32_t i = 0;
    while (i < NVERSIONS && !str_is(bare, VERSIONS[i]))
        i++;
    return i;
}

bool cdi_version_known(struct str version)
{
    return rank_of(version) < NVERSIONS;
}

bool cdi_version_reaches(struct str version, const char *least)
{
    return rank_of(version) >= rank_of(str_from(least));
}
