/* SPDX-License-Identifier: Apache-2.0 */
#include "api/validate.h"

#include "api/canonical.h"
#include "api/rules.h"
#include "api/rules_util.h"
#include "base/map.h"

static const struct doc EMPTY = {.type = DOC_MAP, .pos = UINT32_MAX};

static void walk_struct(struct api_walk *w, const struct api_type *t, const struct doc *d,
                        const struct doc *old);

/* ---- reading ---- */

struct str api_text(const struct doc *d)
{
    return d && d->type == DOC_STRING ? doc_str(d) : STR("");
}

const struct doc *api_member(const struct doc *d, const char *key)
{
    const struct doc *m = doc_get(d, key);
    return m && m->type != DOC_NULL ? m : NULL;
}

struct str api_key_path(struct arena *a, struct str key, size_t max)
{
    if (key.n <= max)
        return arena_printf(a, "[%.*s]", STR_ARG(key));
    size_t room = max - 3;
    return arena_printf(a, "[%.*s...%.*s]", (int)((room + 1) / 2), key.p, (int)(room / 2),
                        key.p + key.n - room / 2);
}

static void cut(struct api_walk *w, size_t mark)
{
    w->path.n = mark;
    if (w->path.p)
        w->path.p[mark] = '\0';
}

void api_each(struct api_at *at, api_rule_fn *fn, const char *arg)
{
    const struct doc *d = at->value;
    struct api_walk *w = at->w;
    size_t mark = w->path.n;
    for (uint32_t i = 0; d && i < d->n; i++) {
        struct api_at item = *at;
        item.old = NULL;
        if (d->type == DOC_LIST) {
            item.value = &d->items[i];
            strbuf_addf(&w->path, "[%u]", i);
        } else {
            item.value = &d->members[i].value;
            strbuf_addf(&w->path, "[%.*s]", STR_ARG(doc_key(&d->members[i])));
        }
        fn(&item, arg);
        cut(w, mark);
    }
}

/* ---- the walk ---- */

/* Of a schema's keys ("a,b") or a rule's ("a|b"). */
static size_t separator(struct str keys)
{
    size_t comma = str_find_byte(keys, ',', 0);
    return comma == SIZE_MAX ? str_find_byte(keys, '|', 0) : comma;
}

static bool same_keys(const struct doc *a, const struct doc *b, const char *keys)
{
    struct str left = str_from(keys);
    while (left.n) {
        size_t comma = separator(left);
        struct str key = str_sub(left, 0, comma);
        const struct doc *x = doc_get_str(a, key), *y = doc_get_str(b, key);
        if ((x == NULL) != (y == NULL) || (x && !doc_equal(x, y)))
            return false;
        left = comma == SIZE_MAX ? STR_NONE : str_sub(left, comma + 1, SIZE_MAX);
    }
    return true;
}

/* What identifies the items of a list; NULL: nothing but their place. */
static const char *item_keys(const struct api_field *f, const struct api_row *row)
{
    for (uint8_t i = 0; row && i < row->nrules; i++)
        if (row->rules[i].check == rule_unique && row->rules[i].stage != API_HANDWRITTEN)
            return row->rules[i].arg;
    return f->list_keys;
}

/* The stored item that a list item is compared with: same keys, else same position. */
static const struct doc *old_item(const char *keys, const struct doc *old,
                                  const struct doc *item, uint32_t i)
{
    if (!old || old->type != DOC_LIST)
        return NULL;
    if (!keys)
        return i < old->n ? &old->items[i] : NULL;
    for (uint32_t k = 0; k < old->n; k++)
        if (same_keys(item, &old->items[k], keys))
            return &old->items[k];
    return NULL;
}

static void descend_list(struct api_walk *w, const struct api_field *f,
                         const struct api_row *row, const struct doc *d,
                         const struct doc *old)
{
    size_t mark = w->path.n;
    const char *keys = item_keys(f, row);
    bool apart = w->apart;
    w->apart = apart || !keys;
    for (uint32_t i = 0; i < d->n; i++) {
        strbuf_addf(&w->path, "[%u]", i);
        walk_struct(w, f->type, &d->items[i], old_item(keys, old, &d->items[i], i));
        cut(w, mark);
    }
    w->apart = apart;
}

static void descend_map(struct api_walk *w, const struct api_field *f,
                        const struct doc *d, const struct doc *old)
{
    enum { KEY_SHOWN = 96 };
    size_t mark = w->path.n;
    for (uint32_t i = 0; i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        strbuf_addstr(&w->path, api_key_path(w->a, key, KEY_SHOWN));
        walk_struct(w, f->type, &d->members[i].value, doc_get_str(old, key));
        cut(w, mark);
    }
}

static void descend(struct api_walk *w, const struct api_field *f,
                    const struct api_row *row, const struct doc *d, const struct doc *old)
{
    if (f->form != API_STRUCT || !api_rules_below(f->type))
        return;
    if (f->container == API_ONE)
        walk_struct(w, f->type, d, old);
    else if (f->container == API_LIST && d->type == DOC_LIST)
        descend_list(w, f, row, d, old);
    else if (d->type == DOC_MAP)
        descend_map(w, f, d, old);
}

static bool holds_structs(const struct api_field *f, enum api_container container)
{
    return f && f->container == container && f->form == API_STRUCT &&
           f->type->form == API_STRUCT;
}

static bool same_structs(struct api_walk *w, const struct api_field *f,
                         const struct doc *a, const struct doc *b)
{
    struct doc x = a ? *a : EMPTY, y = b ? *b : EMPTY;
    api_canonical(f->type, &x, w->a);
    api_canonical(f->type, &y, w->a);
    return doc_equal(&x, &y);
}

static bool same_lists(struct api_walk *w, const struct api_field *f, const struct doc *a,
                       const struct doc *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = same_structs(w, f, &a->items[i], &b->items[i]);
    return same;
}

/* What Go has where nothing was written; a pointer to a zero is something. */
static bool is_nothing(const struct api_field *f, const struct doc *d)
{
    bool scalar = d && (d->type == DOC_BOOL || d->type == DOC_STRING);
    if (scalar && f && f->container == API_ONE && f->flags & API_POINTER)
        return false;
    return d && d->type == DOC_BOOL ? !d->b : api_empty(d);
}

bool api_same(struct api_walk *w, const struct api_field *f, const struct doc *a,
              const struct doc *b)
{
    if ((!a && !b) || (a && b && doc_equal(a, b)))
        return true;
    if (holds_structs(f, API_ONE))
        return ((a && b) || !(f->flags & API_POINTER)) && same_structs(w, f, a, b);
    if (holds_structs(f, API_LIST) && !api_empty(a) && !api_empty(b))
        return same_lists(w, f, a, b);
    return is_nothing(f, a) && is_nothing(f, b);
}

/* "spec.devices[0].basic.name" for what stands in v1 as "spec.devices[0].name"
 * (spec 2.9). */
static void use_requested_paths(struct api_walk *w, size_t first)
{
    const char *version = w->opts->requested_version;
    if (!version || strcmp(version, "v1beta1") != 0)
        return;
    static const struct {
        const char *after, *drop, *add;
    } MOVES[] = {{"devices.requests[", ".exactly", ""}, {"spec.devices[", "", ".basic"}};
    for (size_t i = first; i < w->errors->list.n; i++) {
        struct str p = w->errors->list.v[i].path;
        for (size_t m = 0; m < sizeof MOVES / sizeof *MOVES; m++) {
            size_t at = str_find(p, str_from(MOVES[m].after));
            size_t close = at == SIZE_MAX ? at : str_find_byte(p, ']', at);
            struct str rest = str_sub(p, close == SIZE_MAX ? p.n : close + 1, SIZE_MAX);
            if (rest.n == 0 || !str_starts(rest, str_from(MOVES[m].drop)) ||
                str_is(rest, ".name"))
                continue;
            rest = str_sub(rest, strlen(MOVES[m].drop), SIZE_MAX);
            w->errors->list.v[i].path = arena_printf(w->a, "%.*s%s%.*s", (int)(close + 1),
                                                     p.p, MOVES[m].add, STR_ARG(rest));
        }
    }
}

static bool is_due(const struct api_walk *w, enum api_stage stage)
{
    if (w->declared_only)
        return stage != API_HANDWRITTEN && !w->kept;
    return stage != API_DECLARED || !w->kept;
}

static bool run_rules(struct api_at *at, const struct api_row *row)
{
    for (uint8_t i = 0; i < row->nrules; i++) {
        const struct api_rule *rule = &row->rules[i];
        size_t first = at->w->errors->list.n;
        if (!is_due(at->w, rule->stage))
            continue;
        at->w->declared = rule->stage != API_HANDWRITTEN && !at->w->kept;
        bool go_on = rule->check(at, rule->arg);
        at->w->declared = false;
        if (rule->stage != API_HANDWRITTEN && !at->w->kept)
            use_requested_paths(at->w, first);
        if (!go_on && rule->stage == API_BOTH)
            return false;
        if (!go_on && rule->stage == API_DECLARED)
            at->w->kept = true;
        if (!go_on && rule->stage == API_HANDWRITTEN)
            at->w->declared_only = true;
    }
    return true;
}

/* A write of status leaves the rest as it is, any other write leaves status (spec 2.10).
 */
static bool out_of_reach(const struct api_walk *w, const struct doc *d, const char *field)
{
    bool status = strcmp(field, "status") == 0;
    if (d != w->object || strcmp(field, "metadata") == 0)
        return false;
    return status != (w->opts->op == API_UPDATE_STATUS);
}

/* The declarative stage does not look again at what an update leaves as it is. */
static bool is_kept(const struct api_at *at)
{
    return at->old_parent && !at->w->apart &&
           api_same(at->w, at->field, at->value, at->old);
}

static void walk_row(struct api_walk *w, const struct api_type *t,
                     const struct api_row *row, const struct doc *d,
                     const struct doc *old)
{
    struct api_at at = {
        .w = w, .type = t, .field = row->field, .parent = d, .old_parent = old};
    at.value = api_member(d, row->field->name);
    at.old = api_member(old, row->field->name);
    bool declared_only = w->declared_only || (!(row->flags & API_ROW_EVER) &&
                                              out_of_reach(w, d, row->field->name));
    if ((!at.value && row->flags & API_ROW_OPTIONAL) ||
        (row->flags & API_ROW_NONEMPTY && api_empty(at.value)) ||
        (row->flags & API_ROW_KEEP && is_kept(&at)))
        return;
    size_t mark = w->path.n;
    bool stored = w->stored, outside = w->declared_only, kept = w->kept;
    const char *role = w->role;
    w->declared_only = declared_only;
    w->kept = kept || (old && is_kept(&at));
    const char *name = row->as ? row->as : row->field->name;
    strbuf_addf(&w->path, "%s%s", mark && name[0] ? "." : "", name);
    bool go_on = run_rules(&at, row) && !(w->declared_only && w->kept);
    if (go_on && !at.value && row->flags & API_ROW_ALWAYS)
        at.value = &EMPTY;
    if (old && !at.old && row->flags & API_ROW_ALWAYS)
        at.old = &EMPTY;
    if (go_on && at.value && !(row->flags & API_ROW_LEAF))
        descend(w, row->field, row, at.value, row->flags & API_ROW_FRESH ? NULL : at.old);
    w->stored = stored;
    w->declared_only = outside;
    w->kept = kept;
    w->role = role;
    cut(w, mark);
}

static bool has_row(const struct api_rules *r, const struct api_field *f)
{
    for (uint16_t i = 0; r && i < r->nrows; i++)
        if (r->rows[i].field == f)
            return true;
    return false;
}

/* Fields without a row of their own may contain types with rules. */
static void walk_rest(struct api_walk *w, const struct api_type *t,
                      const struct api_rules *r, const struct doc *d,
                      const struct doc *old)
{
    for (uint16_t i = 0; i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        if (f->form != API_STRUCT || has_row(r, f) || !api_rules_below(f->type))
            continue;
        const struct doc *value = api_member(d, f->name);
        if (!value)
            continue;
        size_t mark = w->path.n;
        strbuf_addf(&w->path, "%s%s", mark ? "." : "", f->name);
        descend(w, f, NULL, value, api_member(old, f->name));
        cut(w, mark);
    }
}

static void walk_struct(struct api_walk *w, const struct api_type *t, const struct doc *d,
                        const struct doc *old)
{
    const struct api_rules *r = api_rules_of(t);
    const struct doc *devices_spec = w->devices_spec, *device = w->device;
    const struct doc *request = w->request, *alternative = w->alternative,
                     *pod = w->pod_spec, *container = w->container;
    struct str pod_path = w->pod_path;
    bool declared_only = w->declared_only, kept = w->kept;
    for (uint16_t i = 0; r && i < r->nrows; i++) {
        if (r->rows[i].field) {
            walk_row(w, t, &r->rows[i], d, old);
            continue;
        }
        struct api_at at = {
            .w = w, .type = t, .parent = d, .old_parent = old, .value = d, .old = old};
        if (!run_rules(&at, &r->rows[i]))
            goto done;
    }
    walk_rest(w, t, r, d, old);
done:
    w->devices_spec = devices_spec;
    w->request = request;
    w->alternative = alternative;
    w->pod_spec = pod;
    w->pod_path = pod_path;
    w->container = container;
    w->device = device;
    w->declared_only = declared_only;
    w->kept = kept;
}

bool api_kind_has_rules(const struct api_kind *kind)
{
    return kind->type && api_rules_of(kind->type) != NULL;
}

/* Upstream tells no cause twice, however often it finds it. */
static void drop_repeats(struct api_errors *errors, size_t first, struct arena *a)
{
    struct strmap seen = STRMAP_INIT;
    size_t kept = first;
    for (size_t i = first; i < errors->list.n; i++) {
        struct strbuf b = STRBUF_INIT;
        bool made;
        api_error_print(&errors->list.v[i], &b);
        strmap_put(&seen, arena_str(a, strbuf_str(&b)), &made);
        strbuf_release(&b);
        if (made)
            errors->list.v[kept++] = errors->list.v[i];
    }
    errors->list.n = kept;
    strmap_release(&seen);
}

static struct api_at metadata_at(struct api_walk *w, const struct doc *object,
                                 const struct doc *old)
{
    return (struct api_at){.w = w,
                           .type = w->type,
                           .field = api_field_find(w->type, STR("metadata")),
                           .parent = object,
                           .old_parent = old,
                           .value = api_member(object, "metadata"),
                           .old = api_member(old, "metadata")};
}

/* Of a new object this is asked last, when its kind has no objection to the name. */
static void check_segments(struct api_walk *w, const struct doc *object)
{
    struct api_at at = metadata_at(w, object, NULL);
    if (!at.field || !at.value)
        return;
    strbuf_adds(&w->path, "metadata");
    rules_segments(&at);
    cut(w, 0);
}

static void walk_metadata(struct api_walk *w, const struct doc *object,
                          const struct doc *old)
{
    static const char *const SEGMENTS[] = {
        "rbac.authorization.k8s.io", "certificates.k8s.io", "internal.apiserver.k8s.io"};
    const char *form = "subdomain";
    for (size_t i = 0; i < sizeof SEGMENTS / sizeof *SEGMENTS; i++)
        if (strcmp(w->type->group, SEGMENTS[i]) == 0)
            form = "segment";
    struct api_at at = metadata_at(w, object, old);
    if (!at.field)
        return;
    strbuf_adds(&w->path, "metadata");
    rule_meta(&at, form);
    cut(w, 0);
}

void api_validate_metadata(const struct doc *meta, const struct doc *old, bool namespaced,
                           const char *form, struct str path,
                           const struct api_validate_opts *opts, struct arena *a,
                           struct api_errors *errors)
{
    size_t first = errors->list.n;
    struct api_walk w = {.opts = opts,
                         .a = a,
                         .errors = errors,
                         .path = STRBUF_INIT,
                         .object = meta,
                         .scope = namespaced ? API_SCOPE_NAMESPACED : API_SCOPE_CLUSTER,
                         .role = ""};
    struct api_at at = {.w = &w, .parent = meta, .value = meta, .old = old};
    strbuf_addstr(&w.path, path);
    rule_meta(&at, form);
    drop_repeats(errors, first, a);
    strbuf_release(&w.path);
}

void api_validate(const struct api_kind *kind, const struct doc *object,
                  const struct api_validate_opts *opts, struct arena *a,
                  struct api_errors *errors)
{
    const struct doc *old = opts->op == API_CREATE ? NULL : opts->old;
    size_t first = errors->list.n;
    struct api_walk w = {.opts = opts,
                         .a = a,
                         .errors = errors,
                         .path = STRBUF_INIT,
                         .object = object,
                         .type = kind->type,
                         .role = ""};
    if (!kind->type)
        return;
    device_names_init(&w.names);
    if (api_kind_has_rules(kind))
        walk_struct(&w, kind->type, object, old);
    else
        walk_metadata(&w, object, old);
    if (errors->list.n == first && opts->op == API_CREATE)
        check_segments(&w, object);
    drop_repeats(errors, first, a);
    api_policy_walk_free(w.policy);
    device_env_free(w.env);
    device_names_fini(&w.names);
    strbuf_release(&w.path);
}
