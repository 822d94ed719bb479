/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: a base and the steps below it. Once a step is optional (or the base is), all
 * later ones are, and a step that finds nothing ends the path without a charge; the
 * result is wrapped again.
 */
#include "cel/eval.h"

/* An error about a key, which Go's %v prints between two texts. */
static struct cel_value key_error(struct cel_run *run, const char *before,
                                  struct cel_value key, const char *behind)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_go(key, &b);
    struct cel_value e =
        cel_errorf(run, "%s%.*s%s", before, STR_ARG(strbuf_str(&b)), behind);
    strbuf_release(&b);
    return e;
}

/* The item number that a key stands for, or an error. */
static struct cel_value list_index(struct cel_run *run, struct cel_value key)
{
    switch (key.kind) {
    case CEL_INT:
        return key;
    case CEL_UINT:
        if (key.u <= INT64_MAX)
            return cel_int(key.i);
        break;
    case CEL_DOUBLE:
        if (key.d > -0x1p63 && key.d < 0x1p63 && (double)(int64_t)key.d == key.d)
            return cel_int((int64_t)key.d);
        break;
    default:
        return cel_errorf(run, "unsupported index type '%s' in list", cel_kind_name(key));
    }
    return key_error(run, "unsupported index value ", key, " in list");
}

static struct cel_value qualify_list(struct cel_run *run, struct cel_value list,
                                     struct cel_value key, enum cel_lookup how,
                                     bool *present)
{
    struct cel_value i = list_index(run, key);
    if (i.kind == CEL_ERROR)
        return i;
    *present = i.i >= 0 && i.i < list.len;
    if (*present)
        return list.items[i.i];
    return how ? cel_null() : key_error(run, "index out of bounds: ", key, "");
}

static struct cel_value qualify_object(struct cel_run *run, const struct cel_object *o,
                                       struct cel_value key, bool *present)
{
    *present = false;
    if (key.kind != CEL_STRING)
        return cel_no_overload(run);
    return o->ops->get(o, cel_str(key), run, present);
}

/* obj.key or obj[key]. */
static struct cel_value cel_qualify(struct cel_run *run, struct cel_value obj,
                                    struct cel_value key, enum cel_lookup how,
                                    bool *present)
{
    *present = false;
    switch (obj.kind) {
    case CEL_MAP: {
        const struct cel_value *v = cel_map_find(obj.map, key);
        if (v == NULL)
            v = obj.map->missing;
        *present = v != NULL;
        if (v != NULL)
            return *v;
        how = how ? CEL_LOOKUP_TEST : CEL_LOOKUP_REQUIRED;
        break;
    }
    case CEL_LIST:
        return qualify_list(run, obj, key, how, present);
    case CEL_OBJECT:
        return qualify_object(run, obj.object, key, present);
    case CEL_ERROR:
        return obj;
    case CEL_OPTIONAL:
        if (how != CEL_LOOKUP_STRICT)
            break;
        return obj.optional ? cel_qualify(run, *obj.optional, key, how, present)
                            : cel_null();
    default:
        break;
    }
    return how == CEL_LOOKUP_TEST ? cel_null() : cel_no_key(run, key);
}

/* The key of a step: computed, and of a kind that can be a key. */
static struct cel_value step_key(const struct cel_path_step *s, struct cel_frame *f)
{
    if (s->node == NULL)
        return s->key;
    struct cel_value k = cel_exec(s->node, f);
    if (k.kind >= CEL_BOOL && k.kind <= CEL_STRING)
        return k;
    if (k.kind == CEL_ERROR)
        return k;
    return cel_errorf(f->run, "invalid qualifier type: %s", cel_kind_go_name(k));
}

/* How a step came out. */
enum step_end { STEP_ON, STEP_FAILED, STEP_NOTHING };

/* Takes one step from *v. */
static enum step_end take_step(const struct cel_path *p, const struct cel_path_step *s,
                               struct cel_frame *f, bool optional, struct cel_value *v)
{
    enum cel_lookup how = !optional && !s->test ? CEL_LOOKUP_REQUIRED
                          : p->strict           ? CEL_LOOKUP_STRICT
                                                : CEL_LOOKUP_TEST;
    struct cel_value key = step_key(s, f);
    bool present = false;
    if (key.kind != CEL_ERROR)
        *v = cel_qualify(f->run, *v, key, how, &present);
    else
        *v = key;
    if (cel_is_fatal(key))
        return STEP_FAILED;
    if (v->kind == CEL_ERROR) {
        if (!optional)
            *v = cel_charge(f, 1, *v);
        return STEP_FAILED;
    }
    if (optional && !present)
        return STEP_NOTHING;
    if (s->test)
        *v = cel_bool(present);
    *v = cel_charge(f, 1, *v);
    return v->kind == CEL_ERROR ? STEP_FAILED : STEP_ON;
}

/* All steps from v on. */
static struct cel_value walk(const struct cel_path *p, struct cel_frame *f,
                             struct cel_value v)
{
    bool optional = v.kind == CEL_OPTIONAL, test = false;
    if (optional) {
        if (v.optional == NULL)
            return p->steps[p->nsteps - 1].test ? cel_bool(false) : v;
        v = *v.optional;
    }
    for (uint32_t i = 0; i < p->nsteps; i++) {
        const struct cel_path_step *s = &p->steps[i];
        optional = optional || s->optional;
        enum step_end end = take_step(p, s, f, optional, &v);
        if (end == STEP_FAILED)
            return v;
        test = s->test;
        if (end == STEP_NOTHING) {
            test = p->steps[p->nsteps - 1].test;
            return test ? cel_bool(false) : cel_optional_none();
        }
    }
    return optional && !test ? cel_optional_of(f->run, v) : v;
}

/* So many steps of cost 1 at once: the first that is too much stops. */
static struct cel_value charge_units(struct cel_frame *f, uint64_t n, struct cel_value v)
{
    f->cost += n;
    if (__builtin_expect(f->cost <= f->limit, 1))
        return v;
    f->cost = f->limit + 1;
    return cel_over_budget(f);
}

struct cel_value cel_code_slot(const struct cel_node *n, struct cel_frame *f)
{
    const struct cel_path *p = &n->path;
    struct cel_value v = p->ops->load(f->activations[p->var], p->slot, f->run);
    uint64_t cost = p->covered + (uint64_t)p->charged;
    return charge_units(f, v.kind == CEL_ERROR ? cost - v.len : cost, v);
}

static struct cel_value load_slot(const struct cel_path *p, struct cel_frame *f)
{
    struct cel_value v = p->ops->load(f->activations[p->var], p->slot, f->run);
    uint64_t cost = p->covered;
    if (p->covered_optional && (v.kind != CEL_OPTIONAL || v.optional == NULL))
        cost--;
    if (v.kind == CEL_ERROR)
        cost = p->covered - v.len;
    if (p->covered_test && v.kind == CEL_OPTIONAL)
        v = cel_bool(v.optional != NULL);
    return charge_units(f, cost, v);
}

static struct cel_value load_variable(const struct cel_path *p, struct cel_frame *f)
{
    const void *activation = f->activations[p->var];
    return p->ops ? p->ops->value(activation, f->run)
                  : *(const struct cel_value *)activation;
}

/* A local whose initial value is computed when it is first needed. */
static struct cel_value load_local(const struct cel_path *p, struct cel_frame *f)
{
    struct cel_value *v = &f->locals[p->var];
    if (v->kind == CEL_UNSET) {
        struct cel_value init = cel_exec(p->base, f);
        if (!cel_is_fatal(init))
            f->locals[p->var] = init;
        return init;
    }
    return *v;
}

static inline struct cel_value finish(const struct cel_path *p, struct cel_frame *f,
                                      struct cel_value v)
{
    if (cel_is_fatal(v))
        return v;
    if (p->nsteps != 0 && v.kind != CEL_ERROR) {
        v = walk(p, f, v);
        if (cel_is_fatal(v))
            return v;
    }
    return p->charged ? cel_charge(f, 1, v) : v;
}

static struct cel_value code_slot_path(const struct cel_node *n, struct cel_frame *f)
{
    return finish(&n->path, f, load_slot(&n->path, f));
}

static struct cel_value code_variable_path(const struct cel_node *n, struct cel_frame *f)
{
    return finish(&n->path, f, load_variable(&n->path, f));
}

static struct cel_value code_local_path(const struct cel_node *n, struct cel_frame *f)
{
    return finish(&n->path, f, load_local(&n->path, f));
}

/* A local and nothing else: the body of most comprehensions. */
static struct cel_value code_local(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = f->locals[n->path.var];
    if (__builtin_expect(v.kind == CEL_UNSET, 0))
        return code_local_path(n, f);
    return n->path.charged ? cel_charge(f, 1, v) : v;
}

/* Steps below any other expression. */
struct cel_value cel_code_path(const struct cel_node *n, struct cel_frame *f)
{
    return finish(&n->path, f, cel_exec(n->path.base, f));
}

cel_code *cel_path_code(const struct cel_path *p)
{
    switch (p->root) {
    case CEL_PATH_SLOT:
        if (p->nsteps == 0 && !p->covered_optional && !p->covered_test)
            return cel_code_slot;
        return code_slot_path;
    case CEL_PATH_VARIABLE:
        return code_variable_path;
    case CEL_PATH_LOCAL:
        return p->nsteps == 0 ? code_local : code_local_path;
    default:
        return cel_code_path;
    }
}
