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

const char *api_gate_name(enum api_gate gate)
{
    return GATES[gate].name;
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

bool api_gates_check(const struct api_gates *g, struct err *e)
{
    static const struct {
        enum api_gate gate, needs;
    } NEEDS[] = {
#define X(gate, needs) {API_GATE_##gate, API_GATE_##needs},
        API_GATE_NEEDS(X)
#undef X
    };
    struct strbuf missing = STRBUF_INIT;
    enum api_gate gate = API_GATE_COUNT;
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++) {
        bool lacks = api_gate(g, NEEDS[i].gate) && !api_gate(g, NEEDS[i].needs);
        if (!lacks || (gate != API_GATE_COUNT && gate != NEEDS[i].gate))
            continue;
        gate = NEEDS[i].gate;
        strbuf_addf(&missing, "%s%s", missing.n ? " " : "", GATES[NEEDS[i].needs].name);
    }
    if (gate != API_GATE_COUNT)
        err_set(e, ERR_INVALID,
                "%s is enabled, but depends on features that are disabled: [%s]",
                GATES[gate].name, strbuf_cstr(&missing));
    strbuf_release(&missing);
    return gate == API_GATE_COUNT;
}
