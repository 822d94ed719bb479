/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: what requests ask of a device, interned, so that equal ones share columns. */
#include "alloc/shape.h"

enum { MAX_PROFILES = 4096, MAX_TEXTS = 8192 };

static void add_number(struct strbuf *b, uint32_t n)
{
    strbuf_add(b, &n, sizeof n);
}

static void add_text(struct strbuf *b, struct str s)
{
    add_number(b, (uint32_t)s.n);
    strbuf_addstr(b, s);
}

static void add_selectors(struct alloc_inventory *inv, const struct view_selector *v,
                          uint32_t n)
{
    add_number(&inv->key, n);
    for (uint32_t i = 0; i < n; i++)
        add_number(&inv->key, selector_id(inv, v[i].expression));
}

static void add_amount(struct strbuf *b, const struct view_amount *v)
{
    struct arena a;
    arena_init(&a);
    add_text(b, v->name);
    add_text(b, quantity_print(&v->value, &a));
    add_number(b, v->value.format);
    arena_fini(&a);
}

static void add_toleration(struct strbuf *b, const struct view_toleration *t)
{
    add_text(b, t->key);
    add_text(b, t->op);
    add_text(b, t->value);
    add_text(b, t->effect);
}

/* inv->key is the profile's identity afterwards; it begins with the selectors of the
 * class and of the request, each a count and the numbers of the expressions. */
static void write_key(struct alloc_inventory *inv, const struct view_class *class,
                      const struct view_alternative *alt)
{
    strbuf_clear(&inv->key);
    add_selectors(inv, class->selectors, class->nselectors);
    add_selectors(inv, alt->selectors, alt->nselectors);
    for (uint32_t i = 0; i < alt->ncapacity; i++)
        add_amount(&inv->key, &alt->capacity[i]);
    for (uint32_t i = 0; i < alt->ntolerations; i++)
        add_toleration(&inv->key, &alt->tolerations[i]);
}

static const struct view_amount *keep_amounts(struct arena *a,
                                              const struct view_amount *v, uint32_t n)
{
    struct view_amount *out = ARENA_ARRAY(a, struct view_amount, n);
    for (uint32_t i = 0; i < n; i++)
        out[i] =
            (struct view_amount){arena_str(a, v[i].name), quantity_dup(&v[i].value, a)};
    return out;
}

static const struct view_toleration *
keep_tolerations(struct arena *a, const struct view_toleration *v, uint32_t n)
{
    struct view_toleration *out = ARENA_ARRAY(a, struct view_toleration, n);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = v[i];
        out[i].key = arena_str(a, v[i].key);
        out[i].op = arena_str(a, v[i].op);
        out[i].value = arena_str(a, v[i].value);
        out[i].effect = arena_str(a, v[i].effect);
    }
    return out;
}

static uint32_t take_number(struct str *key)
{
    uint32_t n;
    memcpy(&n, key->p, sizeof n);
    *key = str_sub(*key, sizeof n, key->n);
    return n;
}

static void add_test(struct profile *p, struct profile_test *tests,
                     struct profile_test test)
{
    for (uint32_t i = 0; i < p->ntests; i++)
        if (tests[i].expr == test.expr)
            return;
    tests[p->ntests++] = test;
}

static struct profile *profile_new(struct alloc_inventory *inv, struct str key,
                                   const struct view_alternative *alt)
{
    struct arena *a = &inv->profile_mem;
    struct profile *p = ARENA_NEW(a, struct profile);
    struct profile_test *tests = ARENA_ARRAY(a, struct profile_test, key.n / 4);
    p->nclass = take_number(&key);
    for (uint32_t i = 0; i < p->nclass; i++)
        add_test(p, tests, (struct profile_test){take_number(&key), i});
    for (uint32_t i = 0, n = take_number(&key); i < n; i++)
        add_test(p, tests, (struct profile_test){take_number(&key), p->nclass + i});
    p->tests = tests;
    p->capacity = keep_amounts(a, alt->capacity, alt->ncapacity);
    p->ncapacity = alt->ncapacity;
    p->tolerations = keep_tolerations(a, alt->tolerations, alt->ntolerations);
    p->ntolerations = alt->ntolerations;
    return p;
}

void profiles_trim(struct alloc_inventory *inv)
{
    size_t texts = inv->exprs.n + inv->derived_exprs.n + inv->attribute_names.n;
    if (inv->profiles.n >= MAX_PROFILES || texts >= MAX_TEXTS)
        profiles_drop(inv);
}

/* Columns go with the profiles: pools are compiled anew. */
void profiles_drop(struct alloc_inventory *inv)
{
    expressions_free(inv);
    strmap_clear(&inv->attributes);
    vec_clear(&inv->attribute_names);
    strmap_clear(&inv->profile_ids);
    vec_clear(&inv->profiles);
    arena_reset(&inv->profile_mem);
    shapes_drop(inv);
    inv->shapes_epoch++;
    inv->profiles_epoch++;
    inventory_stale(inv);
}

const struct profile *profile_get(struct alloc_inventory *inv,
                                  const struct view_class *class,
                                  const struct view_alternative *alt)
{
    write_key(inv, class, alt);
    struct strmap_entry *e = strmap_find(&inv->profile_ids, strbuf_str(&inv->key));
    if (e)
        return e->value.ptr;
    struct str key = arena_str(&inv->profile_mem, strbuf_str(&inv->key));
    struct profile *p = profile_new(inv, key, alt);
    p->id = (uint32_t)inv->profiles.n;
    vec_push(&inv->profiles, p);
    strmap_put(&inv->profile_ids, key, NULL)->value.ptr = p;
    return p;
}
