/* SPDX-License-Identifier: Apache-2.0 */
#include "device/internal.h"

/* ---- Compilation ---- */

static bool fail(struct device_expr_error *error, enum device_fault fault,
                 struct str text)
{
    error->fault = fault;
    error->text = text;
    return false;
}

static bool fail_issues(struct device_expr_error *error, struct str text, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "compilation failed: ");
    cel_issues_print(&error->issues, text, &b);
    fail(error, DEVICE_FAULT_INVALID, arena_str(a, strbuf_str(&b)));
    strbuf_release(&b);
    return false;
}

static bool is_scalar(const struct cel_type *t)
{
    switch (t->kind) {
    case CEL_T_BOOL:
    case CEL_T_INT:
    case CEL_T_STRING:
    case CEL_T_ANY:
    case CEL_T_DYN:
        return true;
    default:
        return cel_type_equal(t, &cel_type_semver);
    }
}

static bool output_fits(const struct device_expr *x, const struct cel_type *t)
{
    switch (x->mode) {
    case DEVICE_SELECTOR:
        return t->kind == CEL_T_BOOL || t->kind == x->env->attr_type->kind;
    case DEVICE_DERIVED:
        return is_scalar(t) ||
               (x->env->lists && t->kind == CEL_T_LIST && is_scalar(t->params[0]));
    default:
        return true;
    }
}

static const char *output_wanted(const struct device_expr *x)
{
    if (x->mode == DEVICE_SELECTOR)
        return "bool or the unknown type";
    return x->env->lists ? "a primitive scalar (string, integer, boolean, semver) or a "
                           "list of these scalars"
                         : "a primitive scalar (string, integer, boolean, semver)";
}

static bool check_output(const struct device_expr *x, struct arena *a,
                         struct device_expr_error *error)
{
    if (output_fits(x, x->expr->type))
        return true;
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "must evaluate to %s, not ", output_wanted(x));
    cel_type_print(x->expr->type, &b);
    fail(error, DEVICE_FAULT_INVALID, arena_str(a, strbuf_str(&b)));
    strbuf_release(&b);
    return false;
}

static bool plan(struct device_expr *x, struct arena *a, struct device_expr_error *error)
{
    struct err e = ERR_INIT;
    const struct cel_program_opts opts = {.track_cost = true, .arena = x->mem};
    x->program = cel_program_new(x->env->cel, x->expr, &opts, &e);
    if (!x->program)
        fail(error, DEVICE_FAULT_INTERNAL, arena_str(a, str_from(err_text(&e))));
    err_release(&e);
    return x->program;
}

static struct device_slot slot_describe(const struct device_env *env, int slot)
{
    struct device_slot s = {.slot = slot};
    if (slot_id(slot) == 0)
        return s;
    struct str text = intern_str(&env->names->texts, slot_id(slot));
    if (slot_kind(slot) == SLOT_ATTR || slot_kind(slot) == SLOT_CAPACITY)
        s.id = device_name_split(STR_NONE, text).id;
    else
        s.domain = text;
    return s;
}

/* The texts of the slots live in the table of names, whose bytes do not move. */
static void list_slots(struct device_expr *x)
{
    int few[16], *slots = few;
    uint32_t n = cel_program_slots(x->program, 0, few, 16, &x->whole);
    if (n > 16) {
        slots = mem_array(n, sizeof *slots);
        cel_program_slots(x->program, 0, slots, n, &x->whole);
    }
    x->slots = ARENA_ARRAY(x->mem, struct device_slot, n);
    for (uint32_t i = 0; i < n; i++)
        x->slots[i] = slot_describe(x->env, slots[i]);
    x->nslots = n;
    if (slots != few)
        free(slots);
}

static bool compile(struct device_expr *x, struct str text, struct arena *a,
                    struct device_expr_error *error)
{
    x->expr = cel_compile(x->env->cel, arena_str(x->mem, text), x->mem, &error->issues);
    if (!x->expr) {
        struct cel_issue *copy = ARENA_ARRAY(a, struct cel_issue, error->issues.n);
        for (uint32_t i = 0; i < error->issues.n; i++) {
            copy[i] = error->issues.v[i];
            copy[i].msg = arena_str(a, copy[i].msg);
        }
        error->issues.v = copy;
        return fail_issues(error, text, a);
    }
    return check_output(x, a, error) && plan(x, a, error);
}

static struct device_expr *make(struct device_expr *x, struct str text, struct arena *a,
                                struct device_expr_error *error)
{
    *error = (struct device_expr_error){0};
    if (!compile(x, text, a, error)) {
        device_expr_free(x);
        return NULL;
    }
    list_slots(x);
    return x;
}

struct device_expr *device_expr_new(const struct device_env *env, struct str text,
                                    enum device_expr_mode mode, struct arena *a,
                                    struct device_expr_error *error)
{
    struct device_expr *x = mem_zalloc(sizeof *x);
    *x = (struct device_expr){.env = env, .mode = mode, .mem = &x->own};
    return make(x, text, a, error);
}

struct device_expr *device_expr_new_in(struct arena *mem, const struct device_env *env,
                                       struct str text, enum device_expr_mode mode,
                                       struct device_expr_error *error)
{
    struct device_expr *x = ARENA_NEW(mem, struct device_expr);
    *x = (struct device_expr){.env = env, .mode = mode, .mem = mem};
    return make(x, text, mem, error);
}

void device_expr_free(struct device_expr *x)
{
    if (!x)
        return;
    cel_program_free(x->program);
    if (x->mem != &x->own)
        return;
    arena_fini(&x->own);
    free(x);
}

struct cel_range device_expr_estimate(const struct device_expr *x)
{
    return cel_estimate(x->env->cel, x->expr);
}

const struct cel_type *device_expr_type(const struct device_expr *x)
{
    return x->expr->type;
}

/* ---- Evaluation ---- */

static struct cel_value eval(const struct device_expr *x, const struct device_facts *d,
                             struct cel_run *run)
{
    const struct device_binding binding = {d, x, NULL};
    const void *activations[] = {&binding};
    if (run->cost_limit == 0)
        run->cost_limit = DEVICE_COST_LIMIT;
    return cel_eval(x->program, activations, run);
}

static struct cel_value fail_bad(const struct device_facts *d, struct cel_run *run)
{
    run->cost = 0;
    return cel_errorf(run, "%.*s", STR_ARG(*d->bad));
}

struct cel_value device_expr_value(const struct device_expr *x,
                                   const struct device_facts *d, struct cel_run *run)
{
    return d->bad ? fail_bad(d, run) : eval(x, d, run);
}

/* Upstream's texts for a result that is no bool, by kind. */
static const char *const no_bool[CEL_KINDS] = {
    [CEL_NULL] = "type conversion error from 'null_type' to 'bool'",
    [CEL_INT] = "unsupported type conversion from 'int' to bool",
    [CEL_UINT] = "unsupported type conversion from 'uint' to bool",
    [CEL_DOUBLE] = "type conversion error from Double to 'bool'",
    [CEL_STRING] = "unsupported native conversion from string to 'bool'",
    [CEL_BYTES] = "type conversion error from Bytes to 'bool'",
    [CEL_DURATION] = "type conversion error from 'Duration' to 'bool'",
    [CEL_TIMESTAMP] = "type conversion error from 'Timestamp' to 'bool'",
    [CEL_LIST] = "type conversion error from list to 'bool'",
    [CEL_MAP] = "type conversion error from map to 'bool'",
    [CEL_TYPE] = "type conversion not supported for 'type'",
    [CEL_OPTIONAL] = "optional.none() dereference",
    [CEL_OBJECT] = "type conversion error from object to 'bool'",
    [CEL_QUANTITY] = "type conversion error from 'Quantity' to 'bool'",
    [CEL_SEMVER] = "type conversion error from 'Semver' to 'bool'",
    [CEL_IP] = "type conversion error from 'IP' to 'bool'",
    [CEL_CIDR] = "type conversion error from 'CIDR' to 'bool'",
    [CEL_URL] = "type conversion error from 'URL' to 'bool'",
    [CEL_FORMAT] = "type conversion error from 'Format' to 'bool'",
};

static struct str with_hint(struct str text, struct cel_run *run)
{
    if (str_find(text, STR("no such key:")) == SIZE_MAX)
        return text;
    return arena_printf(&run->arena,
                        "%.*s. consider using CEL optional chaining (.? followed by "
                        "orValue()) or guarding the check with has() for optional fields",
                        STR_ARG(text));
}

/* A result that is no bool at first sight. An optional stands for its value. */
static enum device_verdict convert(struct cel_value v, struct cel_run *run,
                                   struct str *why)
{
    if (v.kind == CEL_ERROR) {
        *why = with_hint(v.error->text, run);
        return DEVICE_ERROR;
    }
    struct cel_value inner = v;
    while (inner.kind == CEL_OPTIONAL && inner.optional)
        inner = *inner.optional;
    if (inner.kind == CEL_BOOL)
        return inner.b ? DEVICE_YES : DEVICE_NO;
    *why = arena_printf(&run->arena,
                        "CEL result of type %s could not be converted to bool: %s",
                        cel_type_name(cel_type_of_value(v)), no_bool[inner.kind]);
    return DEVICE_ERROR;
}

enum device_verdict device_bad_verdict(const struct device_facts *d, struct cel_run *run,
                                       struct str *why)
{
    run->cost = 0;
    *why = *d->bad;
    return DEVICE_ERROR;
}

enum device_verdict device_verdict_of(struct cel_value v, struct cel_run *run,
                                      struct str *why)
{
    if (v.kind == CEL_BOOL)
        return v.b ? DEVICE_YES : DEVICE_NO;
    return convert(v, run, why);
}

enum device_verdict device_expr_match(const struct device_expr *x,
                                      const struct device_facts *d, struct cel_run *run,
                                      struct str *why)
{
    if (d->bad)
        return device_bad_verdict(d, run, why);
    return device_verdict_of(eval(x, d, run), run, why);
}
