/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation: the entry, and the code of everything that is not a path, an operator or a
 * comprehension.
 */
#include "cel/eval.h"

#include "cel/construct.h"
#include "cel/record.h"

void cel_run_init(struct cel_run *run)
{
    *run = (struct cel_run){0};
    arena_init(&run->arena);
}

void cel_run_fini(struct cel_run *run)
{
    arena_fini(&run->arena);
}

void cel_run_reset(struct cel_run *run)
{
    arena_reset(&run->arena);
}

static __attribute__((noinline)) struct cel_value
execute(const struct cel_program *p, const struct cel_node *root, struct cel_frame *f)
{
    struct cel_value locals[CEL_LOCALS_ON_STACK];
    f->locals = locals;
    if (p->nlocals > CEL_LOCALS_ON_STACK)
        f->locals = ARENA_ARRAY(&f->run->arena, struct cel_value, p->nlocals);
    return cel_exec(root, f);
}

struct cel_value cel_eval_root(const struct cel_program *p, const struct cel_node *root,
                               const void *const *activations, struct cel_parts *parts,
                               struct cel_run *run)
{
    struct cel_frame f;
    cel_begin(&f, activations, parts, run);
    struct cel_value v = p->nlocals ? execute(p, root, &f) : cel_exec(root, &f);
    run->cost = f.cost;
    if (run->work > 0 && !cel_work(run)) /* a function may have passed over the error */
        return cel_too_much_work();
    return v;
}

struct cel_value cel_eval(const struct cel_program *p, const void *const *activations,
                          struct cel_run *run)
{
    return cel_eval_root(p, p->root, activations, NULL, run);
}

struct cel_value cel_over_budget(struct cel_frame *f)
{
    static const struct cel_error e = {
        .text = {"operation cancelled: actual cost limit exceeded", 47}};
    (void)f;
    return (struct cel_value){.kind = CEL_ERROR, .aux = CEL_ERROR_FATAL, .error = &e};
}

struct cel_value cel_over_memory(void)
{
    static const struct cel_error e = {
        .text = {"operation cancelled: memory limit exceeded", 42}};
    return (struct cel_value){.kind = CEL_ERROR, .aux = CEL_ERROR_FATAL, .error = &e};
}

bool cel_poll(struct cel_frame *f)
{
    if (++f->ticks < 100)
        return true;
    f->ticks = 0;
    struct cel_run *run = f->run;
    if (run->cancelled == NULL || !run->cancelled(run->cancel_ctx))
        return true;
    run->interrupted = true;
    return false;
}

struct cel_value cel_interrupted(void)
{
    static const struct cel_error e = {.text = {"operation interrupted", 21}};
    return (struct cel_value){.kind = CEL_ERROR, .aux = CEL_ERROR_FATAL, .error = &e};
}

/* ---- Logic ---- */

struct cel_value cel_code_const(const struct cel_node *n, struct cel_frame *f)
{
    return n->value;
}

struct cel_value cel_code_priced(const struct cel_node *n, struct cel_frame *f)
{
    return cel_charge(f, n->priced.cost, n->priced.value);
}

/* The error that && and || remember of a term that is no bool. */
static struct cel_value term_error(struct cel_frame *f, struct cel_value v)
{
    return v.kind == CEL_ERROR ? v : cel_no_overload(f->run);
}

/* The first term that is `stop` decides; an error counts only if none does. */
static inline struct cel_value connect(const struct cel_node *n, struct cel_frame *f,
                                       bool stop)
{
    struct cel_value result = cel_bool(!stop);
    for (uint32_t i = 0; i < n->many.n; i++) {
        struct cel_value v = cel_exec(n->many.items[i], f);
        if (__builtin_expect(v.kind == CEL_BOOL, 1)) {
            if (v.b == stop)
                return v;
        } else if (cel_is_fatal(v)) {
            return v;
        } else if (result.kind == CEL_BOOL) {
            result = term_error(f, v);
        }
    }
    return result;
}

struct cel_value cel_code_and(const struct cel_node *n, struct cel_frame *f)
{
    return connect(n, f, false);
}

struct cel_value cel_code_or(const struct cel_node *n, struct cel_frame *f)
{
    return connect(n, f, true);
}

struct cel_value cel_code_choice(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value c = cel_exec(n->choice.cond, f);
    if (c.kind == CEL_BOOL)
        return cel_exec(c.b ? n->choice.yes : n->choice.no, f);
    return c.kind == CEL_ERROR ? c : cel_no_overload(f->run);
}

/* optional.or(optional): the right side is looked at only where the left is empty. */
struct cel_value cel_code_or_optional(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->op2.a, f);
    if (v.kind == CEL_ERROR)
        return v;
    if (v.kind != CEL_OPTIONAL)
        return cel_no_overload(f->run);
    return v.optional ? v : cel_exec(n->op2.b, f);
}

struct cel_value cel_code_or_value(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->op2.a, f);
    if (v.kind == CEL_ERROR)
        return v;
    if (v.kind != CEL_OPTIONAL)
        return cel_no_overload(f->run);
    return v.optional ? *v.optional : cel_exec(n->op2.b, f);
}

/* ---- Literals ---- */

enum { MAP_COST = 30, STRUCT_COST = 40 };

static struct cel_value not_optional(struct cel_frame *f, const char *what,
                                     struct cel_value v)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_go(v, &b);
    struct cel_value e = cel_errorf(f->run, "cannot initialize optional %s%.*s", what,
                                    STR_ARG(strbuf_str(&b)));
    strbuf_release(&b);
    return e;
}

static struct cel_value build_list(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value *items = arena_alloc(&f->run->arena, n->many.n * sizeof *items);
    uint32_t len = 0;
    for (uint32_t i = 0; i < n->many.n; i++) {
        struct cel_value v = cel_exec(n->many.items[i], f);
        if (v.kind == CEL_ERROR)
            return v;
        if (n->many.optional != NULL && n->many.optional[i]) {
            if (v.kind != CEL_OPTIONAL)
                return not_optional(f, "list element from non-optional value ", v);
            if (v.optional == NULL)
                continue;
            v = *v.optional;
        }
        items[len++] = v;
    }
    return cel_list(items, len);
}

struct cel_value cel_code_list(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = build_list(n, f);
    return cel_is_fatal(v) ? v : cel_charge(f, CEL_LIST_COST, v);
}

static bool is_plain_key(struct cel_value k)
{
    return k.kind == CEL_BOOL || k.kind == CEL_INT || k.kind == CEL_UINT ||
           k.kind == CEL_STRING;
}

/* The language's definition of map literals (CEL_ENV_STRICT_KEYS). */
static struct cel_value check_key(struct cel_frame *f, const struct cel_map_builder *b,
                                  struct cel_value key)
{
    if (!is_plain_key(key))
        return cel_errorf(f->run, "unsupported key type: %s", cel_kind_name(key));
    if (cel_map_has(b, key) != NULL)
        return CEL_ERROR_CONST("Failed with repeated key");
    return key;
}

/* One entry; an error value, or anything else. */
static struct cel_value add_entry(const struct cel_node *n, struct cel_frame *f,
                                  uint32_t i, struct cel_map_builder *b)
{
    struct cel_value key = cel_exec(n->many.items[2 * i], f);
    if (key.kind == CEL_ERROR)
        return key;
    struct cel_value value = cel_exec(n->many.items[2 * i + 1], f);
    if (value.kind == CEL_ERROR)
        return value;
    if (n->flag) {
        struct cel_value checked = check_key(f, b, key);
        if (checked.kind == CEL_ERROR)
            return checked;
    }
    if (n->many.optional != NULL && n->many.optional[i]) {
        if (value.kind != CEL_OPTIONAL)
            return not_optional(f, "entry from non-optional value ", value);
        if (value.optional == NULL)
            return value;
        value = *value.optional;
    }
    cel_map_put(f->run, b, key, value);
    return value;
}

static struct cel_value build_map(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_map_builder b = {0};
    for (uint32_t i = 0; i < n->many.n; i++) {
        struct cel_value v = add_entry(n, f, i, &b);
        if (v.kind == CEL_ERROR)
            return v;
    }
    return cel_map_done(f->run, &b);
}

struct cel_value cel_code_map(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = build_map(n, f);
    return cel_is_fatal(v) ? v : cel_charge(f, MAP_COST, v);
}

/* The value of a field; CEL_UNSET if an optional one is left out. */
static struct cel_value field_value(const struct cel_node *n, struct cel_frame *f,
                                    uint32_t i)
{
    struct cel_value v = cel_exec(n->many.items[i], f);
    if (n->many.optional == NULL || !n->many.optional[i] || v.kind == CEL_ERROR)
        return v;
    if (v.kind != CEL_OPTIONAL)
        return not_optional(f, "entry from non-optional value ", v);
    return v.optional ? *v.optional : (struct cel_value){.kind = CEL_UNSET};
}

/* Messages of the language are values of it; other types can only be declared. */
static struct cel_value build_struct(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_field_value *fields =
        ARENA_ARRAY(&f->run->arena, struct cel_field_value, n->many.n);
    for (uint32_t i = 0; i < n->many.n; i++) {
        fields[i].name = n->many.fields[i];
        fields[i].value = field_value(n, f, i);
        if (fields[i].value.kind == CEL_ERROR)
            return fields[i].value;
    }
    if (n->many.message != NULL)
        return cel_message_make(f->run, n->many.message, fields, n->many.n);
    if (n->many.record != NULL)
        return cel_record_make(f->run, n->many.record, fields, n->many.n);
    return cel_errorf(f->run, "unknown type '%.*s'", STR_ARG(n->many.type_name));
}

struct cel_value cel_code_struct(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = build_struct(n, f);
    return cel_is_fatal(v) ? v : cel_charge(f, STRUCT_COST, v);
}

/* ---- cel.@block: slots that are evaluated at first use ---- */

struct cel_value cel_code_block(const struct cel_node *n, struct cel_frame *f)
{
    for (uint32_t i = 0; i < n->block.n; i++)
        f->locals[n->block.first + i].kind = CEL_UNSET;
    return cel_exec(n->block.result, f);
}
