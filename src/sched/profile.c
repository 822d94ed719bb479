/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/profile.h"

enum { FILTER_MS = 10000 };

static void set_resources(struct profile *p)
{
    static const struct profile_resource TWO[] = {{STR_INIT("cpu"), 1},
                                                  {STR_INIT("memory"), 1}};
    memcpy(p->fit, TWO, sizeof TWO);
    memcpy(p->balance, TWO, sizeof TWO);
    p->nfit = p->nbalance = 2;
}

struct profile profile_default(void)
{
    struct profile p = {.name = STR("default-scheduler"),
                        .filters = PLUGIN_BIT(PLUGINS) - 1,
                        .hard_affinity_weight = 1,
                        .default_spread = true,
                        .min_candidates_percent = 10,
                        .min_candidates = 100,
                        .dra = {.filter_ms = FILTER_MS}};
    for (int i = 0; i < PLUGINS; i++)
        p.weights[i] = plugin_table[i].weight;
    set_resources(&p);
    return p;
}

struct sched_config sched_config_default(struct arena *a)
{
    struct profile *p = ARENA_NEW(a, struct profile);
    *p = profile_default();
    return (struct sched_config){.profiles = p, .n = 1};
}
