/* SPDX-License-Identifier: Apache-2.0 */
/* Mode cel of dray-eval: a device expression compiled, estimated and run on devices. */
#include <inttypes.h>

#include "device_doc.h"
#include "peers/eval.h"

/* What lives as long as the program: names, and the environments asked for so far. */
struct session {
    struct device_names names;
    struct device_env *envs[2][2][2]; /* stored, consumable capacity, list attributes */
};

static struct session *session_of(struct eval *ev)
{
    if (!ev->state) {
        struct session *s = ARENA_NEW(ev->keep, struct session);
        device_names_init(&s->names);
        ev->state = s;
    }
    return ev->state;
}

static void end_cel(struct eval *ev)
{
    struct session *s = session_of(ev);
    for (unsigned i = 0; i < 8; i++)
        device_env_free(s->envs[i >> 2 & 1][i >> 1 & 1][i & 1]);
    device_names_fini(&s->names);
}

static bool flag_or(const struct doc *d, const char *key, bool otherwise)
{
    doc_get_bool(d, key, &otherwise);
    return otherwise;
}

static const struct device_env *env_for(struct session *s, const struct doc *q)
{
    const struct device_env_opts opts = {
        .kind =
            doc_is_string(doc_get(q, "env"), "new") ? DEVICE_ENV_NEW : DEVICE_ENV_STORED,
        .consumable_capacity = flag_or(q, "consumableCapacity", true),
        .list_attributes = flag_or(q, "listAttributes", true)};
    struct device_env **env = &s->envs[opts.kind == DEVICE_ENV_STORED]
                                      [opts.consumable_capacity][opts.list_attributes];
    if (!*env)
        *env = device_env_new(&opts, &s->names);
    return *env;
}

static enum device_expr_mode mode_of(const struct doc *q)
{
    if (doc_is_string(doc_get(q, "mode"), "value"))
        return DEVICE_VALUE;
    return doc_is_string(doc_get(q, "mode"), "derived") ? DEVICE_DERIVED
                                                        : DEVICE_SELECTOR;
}

/* Beyond int64 a text, so that every reader can take it. */
static void set_cost(struct eval *ev, struct doc *out, const char *key, uint64_t cost)
{
    if (cost == UINT64_MAX)
        eval_set_str(ev, out, key, STR("max"));
    else if (cost > INT64_MAX)
        eval_set_str(ev, out, key, arena_printf(ev->arena, "%" PRIu64, cost));
    else
        eval_set_int(ev, out, key, (int64_t)cost);
}

static struct doc value_doc(struct eval *ev, struct cel_value v)
{
    struct doc d = doc_make_map();
    struct strbuf text = STRBUF_INIT;
    cel_print(v, &text);
    eval_set_str(ev, &d, "type", str_from(cel_type_name(cel_type_of_value(v))));
    eval_set_str(ev, &d, "text", strbuf_str(&text));
    strbuf_release(&text);
    return d;
}

/* One device's answer without its cost; false on an error, which is *why. */
static bool run_on(struct eval *ev, const struct device_expr *x,
                   enum device_expr_mode mode, const struct device_facts *facts,
                   struct cel_run *run, struct doc *out, struct str *why)
{
    if (mode == DEVICE_SELECTOR) {
        enum device_verdict v = device_expr_match(x, facts, run, why);
        if (v != DEVICE_ERROR)
            eval_set_bool(ev, out, "match", v == DEVICE_YES);
        return v != DEVICE_ERROR;
    }
    if (mode == DEVICE_DERIVED) {
        struct device_attr_value v;
        if (!device_expr_derive(x, facts, run, &v, why))
            return false;
        eval_set(ev, out, "attribute", device_doc_attr(&v, ev->arena));
        return true;
    }
    struct cel_value v = device_expr_value(x, facts, run);
    if (v.kind == CEL_ERROR)
        *why = v.error->text;
    else
        eval_set(ev, out, "value", value_doc(ev, v));
    return v.kind != CEL_ERROR;
}

static struct doc evaluate(struct eval *ev, struct session *s,
                           const struct device_expr *x, enum device_expr_mode mode,
                           const struct doc *device)
{
    struct doc out = doc_make_map();
    struct device_facts facts;
    struct cel_run run;
    struct str why = STR_NONE;
    device_doc_read(&s->names, device, ev->arena, &facts);
    cel_run_init(&run);
    if (!run_on(ev, x, mode, &facts, &run, &out, &why))
        eval_set_str(ev, &out, "error", why);
    set_cost(ev, &out, "cost", run.cost);
    cel_run_fini(&run);
    return out;
}

static void evaluate_all(struct eval *ev, struct session *s, const struct device_expr *x,
                         const struct doc *q, struct doc *out)
{
    const struct doc *one = doc_get(q, "device"), *many = doc_get(q, "devices");
    struct doc results = doc_make_map();
    if (one)
        eval_set(ev, out, "result", evaluate(ev, s, x, mode_of(q), one));
    for (uint32_t i = 0; many && i < many->n; i++)
        doc_set_str(ev->arena, &results, doc_key(&many->members[i]),
                    evaluate(ev, s, x, mode_of(q), &many->members[i].value));
    for (size_t i = 0; !one && !many && i < ev->devices.n; i++)
        doc_set_str(ev->arena, &results, doc_get_text(&ev->devices.v[i], "name"),
                    evaluate(ev, s, x, mode_of(q), &ev->devices.v[i]));
    if (results.n)
        eval_set(ev, out, "results", results);
}

static void answer_cel(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct session *s = session_of(ev);
    struct device_expr_error error;
    struct device_expr *x = device_expr_new(env_for(s, q), doc_get_text(q, "expression"),
                                            mode_of(q), ev->arena, &error);
    eval_set_bool(ev, out, "compiles", x != NULL);
    if (!x) {
        eval_set_str(ev, out, "compileError", error.text);
        eval_set_str(ev, out, "compileErrorType",
                     error.fault == DEVICE_FAULT_INVALID ? STR("RuleInvalid")
                                                         : STR("InternalError"));
        return;
    }
    struct strbuf type = STRBUF_INIT;
    cel_type_print(device_expr_type(x), &type);
    eval_set_str(ev, out, "outputType", strbuf_str(&type));
    strbuf_release(&type);
    struct cel_range estimate = device_expr_estimate(x);
    set_cost(ev, out, "estimateMin", estimate.min);
    set_cost(ev, out, "estimate", estimate.max);
    evaluate_all(ev, s, x, q, out);
    device_expr_free(x);
}

const struct eval_mode eval_cel = {.name = "cel", .answer = answer_cel, .end = end_cel};
