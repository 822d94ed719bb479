/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cel_doc.h"

#include "api/cel_env.h"

void api_doc_paths_release(struct api_doc_paths *p)
{
    vec_release(&p->all);
}

/* ---- Paths ---- */

static bool same_path(const struct api_doc_path *p, const struct cel_step *steps,
                      unsigned n)
{
    bool same = p->n == n && p->optional == steps[n - 1].optional;
    for (unsigned i = 0; same && i < n; i++)
        same = str_eq(p->keys[i], steps[i].key);
    return same;
}

static int slot(void *decl, const struct cel_step *steps, unsigned n, unsigned *used)
{
    struct api_doc_paths *p = decl;
    *used = n;
    if (n == 0)
        return -1;
    for (size_t i = 0; i < p->all.n; i++)
        if (same_path(&p->all.v[i], steps, n))
            return (int)i;
    struct str *keys = ARENA_ARRAY(p->arena, struct str, n);
    for (unsigned i = 0; i < n; i++)
        keys[i] = arena_str(p->arena, steps[i].key);
    vec_push(&p->all, (struct api_doc_path){keys, n, steps[n - 1].optional});
    return (int)p->all.n - 1;
}

/* ---- Values ---- */

void api_doc_bind(struct api_doc_binding *b, const struct api_doc_paths *paths,
                  const struct doc *doc, struct cel_run *values)
{
    size_t n = paths->all.n + 1;
    *b = (struct api_doc_binding){.paths = paths, .doc = doc, .values = values};
    b->made = ARENA_ARRAY(&values->arena, struct cel_value, n);
    for (size_t i = 0; i < n; i++)
        b->made[i].kind = CEL_KINDS;
}

/* What a step says that finds nothing, with `left` steps behind it. */
static struct cel_value lost(const struct doc *d, struct str key, uint32_t left,
                             struct cel_run *run)
{
    struct cel_value e = d && d->type == DOC_LIST
                             ? cel_errorf(run, "unsupported index type 'string' in list")
                             : cel_no_key(run, cel_string(key));
    e.len = left;
    return e;
}

static struct cel_value find(const struct api_doc_binding *b,
                             const struct api_doc_path *p, struct cel_run *run)
{
    const struct doc *d = b->doc;
    for (uint32_t i = 0; i < p->n; i++) {
        bool last = i + 1 == p->n;
        const struct doc *next =
            d && d->type == DOC_MAP ? doc_get_str(d, p->keys[i]) : NULL;
        if (!next && last && p->optional && !(d && d->type == DOC_LIST))
            return cel_optional_none();
        if (!next)
            return lost(d, p->keys[i], p->n - 1 - i, run);
        d = next;
    }
    struct cel_value v = api_cel_value(d, b->values);
    return p->optional ? cel_optional_of(b->values, v) : v;
}

static struct cel_value load(const void *activation, int at, struct cel_run *run)
{
    const struct api_doc_binding *b = activation;
    struct cel_value *made = &b->made[at];
    if (made->kind != CEL_KINDS)
        return *made;
    struct cel_value v = find(b, &b->paths->all.v[at], run);
    if (v.kind != CEL_ERROR)
        *made = v;
    return v;
}

static struct cel_value whole(const void *activation, struct cel_run *run)
{
    const struct api_doc_binding *b = activation;
    struct cel_value *made = &b->made[b->paths->all.n];
    if (made->kind == CEL_KINDS)
        *made = api_cel_value(b->doc, b->values);
    return *made;
}

const struct cel_var_ops api_doc_ops = {.slot = slot, .load = load, .value = whole};
