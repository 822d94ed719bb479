/* SPDX-License-Identifier: Apache-2.0 */
/* What serves the objects of a definition: decoding, defaults, validation. */
#include "api/structural.h"

#include <stdlib.h>

#include "api/structural_inner.h"
#include "base/mem.h"

struct structural {
    struct arena arena;
    struct schema *schema; /* of the objects */
    const struct api_type *type;
    bool preserve_unknown;
};

/* Metadata in defaults gets the form that decoding gives it. */
static void settle_default(void *ctx, struct schema *s)
{
    struct arena *a = ctx;
    struct api_error ignored;
    struct strbuf at = STRBUF_INIT;
    const struct schema_coerce c = {.a = a, .drop = true, .wrong = &ignored};
    if (!s->def || !s->has_embedded)
        return;
    struct doc *d = ARENA_NEW(a, struct doc);
    *d = doc_dup(a, s->def);
    schema_coerce(&c, s, d, s->embedded, &at);
    s->def = d;
    strbuf_release(&at);
}

struct structural *structural_new(const struct doc *schema,
                                  const struct structural_opts *opts)
{
    struct structural *s = mem_zalloc(sizeof *s);
    struct str why = STR_NONE;
    arena_init(&s->arena);
    s->preserve_unknown = opts->preserve_unknown;
    struct doc *own = ARENA_NEW(&s->arena, struct doc);
    *own = schema ? doc_dup(&s->arena, schema) : doc_make_map();
    s->schema = schema_parse(own, &s->arena, &why);
    if (!s->schema) { /* no definition is accepted that comes here */
        s->schema = ARENA_NEW(&s->arena, struct schema);
        *s->schema = schema_empty;
    }
    schema_each(s->schema, settle_default, &s->arena);
    schema_patterns_init(s->schema);
    if (s->schema->has_rules)
        schema_declare(s->schema, true, &s->arena);
    schema_rules_compile_all(s->schema, opts->cel, &s->arena);
    s->type = schema_type_new(s->schema, opts->kind ? opts->kind : "",
                              opts->preserve_unknown || !schema, &s->arena);
    return s;
}

void structural_free(struct structural *s)
{
    if (!s)
        return;
    schema_patterns_fini(s->schema);
    schema_rules_release(s->schema);
    arena_fini(&s->arena);
    free(s);
}

const struct api_type *structural_type(const struct structural *s)
{
    return s->type;
}

/* ---- Decoding ---- */

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void tell(const struct schema_paths *p, structural_path_fn *unknown, void *ctx)
{
    if (p->n > 1)
        qsort(p->v, p->n, sizeof *p->v, by_text);
    for (uint32_t i = 0; unknown && i < p->n; i++)
        unknown(ctx, p->v[i]);
}

/* Whether a key of the map comes again; found with little work in most maps. */
static bool has_repeats(const struct doc *d)
{
    struct strmap seen = STRMAP_INIT;
    bool once = true;
    if (d->n <= 16) {
        for (uint32_t i = 1; once && i < d->n; i++)
            for (uint32_t k = 0; once && k < i; k++)
                once = !str_eq(doc_key(&d->members[i]), doc_key(&d->members[k]));
        return !once;
    }
    for (uint32_t i = 0; once && i < d->n; i++)
        strmap_put(&seen, doc_key(&d->members[i]), &once);
    strmap_release(&seen);
    return !once;
}

/* Of equal members the last is left, as Go has it. */
static void drop_repeats(struct doc *d)
{
    struct strmap seen = STRMAP_INIT;
    uint32_t at = d->n;
    if (d->type == DOC_MAP && has_repeats(d)) {
        for (uint32_t i = d->n; i-- > 0;) {
            bool made;
            strmap_put(&seen, doc_key(&d->members[i]), &made);
            if (made)
                d->members[--at] = d->members[i];
        }
        memmove(d->members, d->members + at, (d->n - at) * sizeof *d->members);
        d->n -= at;
        strmap_release(&seen);
    }
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        drop_repeats(&d->members[i].value);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        drop_repeats(&d->items[i]);
}

bool structural_prune(const struct structural *s, struct doc *d, bool stored,
                      structural_path_fn *unknown, void *ctx, struct arena *a,
                      struct str *why)
{
    struct schema_paths pruned = {0}, meta = {0};
    struct api_error wrong;
    struct strbuf at = STRBUF_INIT, text = STRBUF_INIT;
    const struct schema_coerce coerce = {
        .a = a, .drop = stored, .found = unknown ? &meta : NULL, .wrong = &wrong};
    if (!stored)
        drop_repeats(d);
    if (!s->preserve_unknown) {
        schema_prune(s->schema, d, true, a, unknown ? &pruned : NULL);
        schema_prune_nulls(s->schema, d);
    }
    bool ok = schema_coerce(&coerce, s->schema, d, false, &at);
    strbuf_release(&at);
    if (ok) {
        tell(&pruned, unknown, ctx);
        tell(&meta, unknown, ctx);
        return true;
    }
    api_error_print(&wrong, &text);
    *why = arena_str(a, strbuf_str(&text));
    strbuf_release(&text);
    return false;
}

void structural_default(const struct structural *s, struct doc *d, struct arena *a)
{
    schema_apply_defaults(s->schema, d, a);
}

/* ---- Validation ---- */

/* Against the schema: of the whole object, or of its status alone. */
static void check_values(const struct structural *s, const struct doc *d,
                         const struct structural_validate_opts *o,
                         struct schema_pair *pair, const struct schema_report *r)
{
    struct schema_pair status;
    const struct schema *p = schema_prop(s->schema, STR("status"));
    const struct doc *value = doc_get(d, "status");
    if (!o->status) {
        schema_check_values(s->schema, d, o->old ? pair : NULL, false, STR(""), r);
    } else if (p && value) {
        status =
            (struct schema_pair){.s = p, .now = value, .old = doc_get(o->old, "status")};
        schema_check_values(p, value, &status, false, STR("status"), r);
    }
}

/* Repeated items are only told of where there were none before. */
static void check_lists(const struct structural *s, const struct doc *d,
                        const struct structural_validate_opts *o,
                        const struct schema_report *r)
{
    struct strbuf at = STRBUF_INIT;
    struct api_errors before = {0};
    const struct schema_report old = {r->a, &before};
    size_t first = r->errors->list.n;
    schema_check_lists(s->schema, d, &at, r);
    if (o->old && r->errors->list.n > first) {
        schema_check_lists(s->schema, o->old, &at, &old);
        if (before.list.n)
            r->errors->list.n = first;
    }
    api_errors_release(&before);
    strbuf_release(&at);
}

/* Errors after which rules may find what is not there. */
static bool is_blocking(const struct api_errors *errors)
{
    for (size_t i = 0; i < errors->list.n; i++)
        switch (errors->list.v[i].type) {
        case API_ERROR_NOT_SUPPORTED:
        case API_ERROR_REQUIRED:
        case API_ERROR_TOO_LONG:
        case API_ERROR_TOO_MANY:
        case API_ERROR_TYPE:
            return true;
        default:
            break;
        }
    return false;
}

static void run_rules(const struct structural *s, const struct doc *d,
                      const struct structural_validate_opts *o, struct schema_pair *pair,
                      const struct schema_report *r)
{
    struct strbuf at = STRBUF_INIT;
    const struct schema_run_opts opts = {.r = r,
                                         .pair = o->old ? pair : NULL,
                                         .warn = o->warn,
                                         .warn_ctx = o->warn_ctx,
                                         .cancelled = o->cancelled,
                                         .cancel_ctx = o->cancel_ctx};
    if (!s->schema->has_rules)
        return;
    if (is_blocking(r->errors))
        schema_fail(r, &at, API_ERROR_INVALID, STR("null"),
                    "some validation rules were not checked because the object was "
                    "invalid; correct the existing errors to complete validation");
    else
        schema_rules_run(s->schema, d, o->old, &at, API_CEL_BUDGET, &opts);
    strbuf_release(&at);
}

void structural_validate(const struct structural *s, const struct doc *d,
                         const struct structural_validate_opts *opts, struct arena *a,
                         struct api_errors *errors)
{
    const struct schema_report r = {a, errors};
    struct strbuf at = STRBUF_INIT;
    struct schema_pair pair = {.s = s->schema, .now = d, .old = opts->old};
    check_values(s, d, opts, &pair, &r);
    if (!opts->status)
        schema_check_meta(s->schema, d, false, &at, &r);
    check_lists(s, d, opts, &r);
    run_rules(s, d, opts, &pair, &r);
    strbuf_release(&at);
}
