/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the defaults of a schema are such as its objects may have. */
#include "api/structural_check.h"

/* The way from the resource around a default down to it. */
struct frame {
    const struct frame *up;
    struct str key; /* p is NULL: an item */
};

struct defaults {
    const struct schema_report *r;
    const struct api_cel *cel;
    struct strbuf *path;
    int64_t budget;
};

/* Where a schema stands. */
struct place {
    struct schema *root;        /* of the resource around it */
    const struct frame *frames; /* NULL: it is the root */
    bool in_meta;
};

/* ---- Rules ---- */

static int64_t run(struct defaults *c, const struct schema *s, const struct doc *d,
                   const struct doc *old)
{
    const struct schema_run_opts opts = {.r = c->r};
    return schema_rules_run(s, d, old, c->path, c->budget, &opts);
}

/* The default both as what was there before and as something new. */
static void check_rules(struct defaults *c, struct schema *s, const struct doc *d,
                        bool root)
{
    size_t before = c->r->errors->list.n;
    if (!s->has_rules)
        return;
    schema_declare(s, root, c->r->a);
    schema_rules_compile_all(s, c->cel, c->r->a);
    int64_t left = run(c, s, d, d);
    if (c->r->errors->list.n == before) {
        int64_t fresh = run(c, s, d, NULL);
        left = fresh < left ? fresh : left;
    }
    c->budget = left;
}

/* ---- Metadata ---- */

/* The default where it will stand, in an object that has nothing else. */
static struct doc surrounded(struct defaults *c, const struct schema *s,
                             const struct frame *f)
{
    struct doc d = doc_dup(c->r->a, s->def);
    for (; f; f = f->up) {
        struct doc outer = f->key.p ? doc_make_map() : doc_make_list();
        if (f->key.p)
            doc_add_str(c->r->a, &outer, f->key, d);
        else
            doc_append(c->r->a, &outer, d);
        d = outer;
    }
    if (d.type == DOC_MAP && !doc_get(&d, "kind"))
        doc_set(c->r->a, &d, "kind", doc_make_string(c->r->a, STR("Validation")));
    if (d.type == DOC_MAP && !doc_get(&d, "apiVersion"))
        doc_set(c->r->a, &d, "apiVersion",
                doc_make_string(c->r->a, STR("validation/v1")));
    return d;
}

static void bad_metadata(struct defaults *c, const struct schema *s,
                         const struct api_errors *errors)
{
    struct strbuf b = STRBUF_INIT;
    bool many = errors->list.n > 1;
    strbuf_adds(&b, many ? "[" : "");
    for (size_t i = 0; i < errors->list.n; i++) {
        strbuf_adds(&b, i ? ", " : "");
        api_error_print(&errors->list.v[i], &b);
    }
    strbuf_adds(&b, many ? "]" : "");
    schema_fail(c->r, c->path, API_ERROR_INVALID, schema_shown(c->r->a, s->def),
                "must result in valid metadata: %s", strbuf_cstr(&b));
    strbuf_release(&b);
}

static bool check_surrounding(struct defaults *c, struct schema *s, const struct place *p)
{
    struct doc d = surrounded(c, s, p->frames);
    struct api_errors errors = {0};
    struct api_error wrong = {0};
    struct strbuf at = STRBUF_INIT;
    const struct schema_report r = {c->r->a, &errors};
    const struct schema_coerce coerce = {.a = c->r->a, .wrong = &wrong};
    if (!schema_coerce(&coerce, p->root, &d, true, &at))
        vec_push(&errors.list, wrong);
    else
        schema_check_meta(p->root, &d, true, &at, &r);
    bool ok = errors.list.n == 0;
    if (!ok)
        bad_metadata(c, s, &errors);
    api_errors_release(&errors);
    strbuf_release(&at);
    return ok;
}

/* ---- Defaults elsewhere ---- */

/* Unknown members are looked for in the default as it stands, and shown in what decoding
 * makes of it. */
static void check_pruned(struct defaults *c, const struct schema *s, bool resource,
                         const struct doc *decoded)
{
    struct doc d = doc_dup(c->r->a, s->def);
    schema_prune(s, &d, resource, c->r->a, NULL);
    if (!schema_same(&d, s->def))
        schema_fail(c->r, c->path, API_ERROR_INVALID, schema_shown(c->r->a, decoded),
                    "must not have unknown fields");
}

/* Decodes d, the default, and validates the resources in it. */
static bool check_resource(struct defaults *c, const struct schema *s, bool root,
                           struct doc *d)
{
    struct api_error wrong = {0};
    const struct schema_coerce coerce = {.a = c->r->a, .wrong = &wrong};
    bool resource = s->embedded || root;
    bool ok = schema_coerce(&coerce, s, d, resource, c->path);
    check_pruned(c, s, resource, d);
    size_t before = c->r->errors->list.n;
    if (!ok)
        vec_push(&c->r->errors->list, wrong);
    else
        schema_check_meta(s, d, resource, c->path, c->r);
    return c->r->errors->list.n == before;
}

/* ---- */

static void check_default(struct defaults *c, struct schema *s, const struct place *p)
{
    size_t here = schema_path_child(c->path, STR("default"));
    struct doc d = doc_dup(c->r->a, s->def);
    bool root = s == p->root;
    bool ok = p->in_meta ? check_surrounding(c, s, p) : check_resource(c, s, root, &d);
    size_t before = c->r->errors->list.n;
    if (ok)
        schema_check_values(s, &d, NULL, true, strbuf_str(c->path), c->r);
    if (ok && c->r->errors->list.n == before)
        check_rules(c, s, &d, root);
    schema_path_back(c->path, here);
}

static bool is_meta(struct str key)
{
    return str_is(key, "metadata") || str_is(key, "apiVersion") || str_is(key, "kind");
}

static void check(struct defaults *c, struct schema *s, struct place p)
{
    if (!s->has_defaults || c->budget < 0)
        return;
    if (s->embedded)
        p = (struct place){.root = s};
    if (s->def)
        check_default(c, s, &p);
    size_t here = schema_path_child(c->path, STR("items"));
    const struct frame item = {p.frames, STR_NONE};
    if (s->items && c->budget >= 0)
        check(c, s->items, (struct place){p.root, &item, p.in_meta});
    schema_path_back(c->path, here);
    schema_path_child(c->path, STR("properties"));
    for (uint32_t i = 0; i < s->nprops && c->budget >= 0; i++) {
        bool resource = s->embedded || s == p.root;
        const struct frame member = {p.frames, s->props[i].name};
        size_t prop = schema_path_key(c->path, s->props[i].name);
        check(c, s->props[i].schema,
              (struct place){p.root, &member,
                             p.in_meta || (resource && is_meta(s->props[i].name))});
        schema_path_back(c->path, prop);
    }
    schema_path_back(c->path, here);
}

bool schema_check_defaults(struct schema *s, const struct api_cel *cel,
                           struct strbuf *path, const struct schema_report *r)
{
    struct defaults c = {.r = r, .cel = cel, .path = path, .budget = API_CEL_BUDGET};
    size_t before = r->errors->list.n;
    check(&c, s, (struct place){.root = s});
    schema_rules_release(s);
    return r->errors->list.n == before;
}
