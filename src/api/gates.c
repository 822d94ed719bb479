/* SPDX-License-Identifier: Apache-2.0 */
#include "api/gates.h"

static const struct gate {
    const char *name;
    bool locked;
    enum api_gate_stage stage;
} GATES[] = {
#define X(name, on, locked, stage) [API_GATE_##name] = {#name, locked, API_STAGE_##stage},
    API_GATES(X)
#undef X
};

const struct api_gates api_gates_default = {
#define X(name, on, locked, stage) (uint64_t)(on) << API_GATE_##name |
    API_GATES(X)
#undef X
        0};

enum api_gate api_gate_find(struct str name)
{
    int i = 0;
    while (i < API_GATE_COUNT && !str_is(name, GATES[i].name))
        i++;
    return (enum api_gate)i;
}

bool api_gate_locked(enum api_gate gate)
{
    return GATES[gate].locked;
}

enum api_gate_stage api_gate_stage(enum api_gate gate)
{
    return GATES[gate].stage;
}

void api_gate_set(struct api_gates *g, enum api_gate gate, bool on)
{
    uint64_t bit = (uint64_t)1 << gate;
    g->on = on ? g->on | bit : g->on & ~bit;
}
