/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gates.h"

#include "api/gates_other.h"

static void set_stage(enum api_gate_stage stage, bool on, struct api_gates *g)
{
    for (int i = 0; i < API_GATE_COUNT; i++)
        if (api_gate_stage((enum api_gate)i) == stage &&
            !api_gate_locked((enum api_gate)i))
            api_gate_set(g, (enum api_gate)i, on);
}

static bool fail_locked(struct str name, bool on, struct err *e)
{
    return err_set(e, ERR_INVALID,
                   "cannot set feature gate %.*s to %s: this gate is locked to %s",
                   STR_ARG(name), on ? "true" : "false", on ? "false" : "true");
}

/* One that has no effect here. */
static bool check_other(struct str name, bool on, struct err *e)
{
    enum api_other_gate other = api_other_gate(name);
    if (other == API_OTHER_NONE)
        return err_set(e, ERR_INVALID, "there is no gate \"%.*s\"", STR_ARG(name));
    bool wrong = other == (on ? API_OTHER_OFF : API_OTHER_ON);
    return !wrong || fail_locked(name, on, e);
}

/* "NAME=true". stages: those that stand for all of a stage, which gates that are named
 * overrule wherever they stand; else the others. */
static bool set_gate(struct str pair, bool stages, struct api_gates *g, struct err *e)
{
    size_t eq = str_find_byte(pair, '=', 0);
    struct str name = str_sub(pair, 0, eq), value = str_sub(pair, eq + 1, SIZE_MAX);
    bool on = str_is(value, "true");
    if (eq == SIZE_MAX || (!on && !str_is(value, "false")))
        return err_set(e, ERR_INVALID, "a gate is NAME=true or NAME=false, not \"%.*s\"",
                       STR_ARG(pair));
    enum api_gate gate = api_gate_find(name);
    bool stage = str_is(name, "AllAlpha") || str_is(name, "AllBeta");
    if (stage && stages)
        set_stage(str_is(name, "AllAlpha") ? API_STAGE_ALPHA : API_STAGE_BETA, on, g);
    if (stage || stages)
        return true;
    if (gate == API_GATE_COUNT)
        return check_other(name, on, e);
    if (api_gate_locked(gate) && on != api_gate(g, gate))
        return fail_locked(name, on, e);
    api_gate_set(g, gate, on);
    return true;
}

bool gates_read(struct api_gates *g, const char *list, struct err *e)
{
    struct str s = str_from(list);
    for (int stages = 1; stages >= 0; stages--)
        for (struct str rest = s, part; str_split_next(&rest, ',', &part);)
            if (!set_gate(part, stages, g, e))
                return false;
    return api_gates_check(g, e) && gates_check_others(g, list, e);
}
