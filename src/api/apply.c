/* SPDX-License-Identifier: Apache-2.0 */
#include "api/apply.h"

#include "api/canonical.h"
#include "api/convert.h"
#include "api/typed.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "base/vec.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* ---- Sets of fields from text: "spec metadata.labels" ---- */

static void insert_path(struct fields *s, struct str path, const struct field_step *up,
                        struct arena *a)
{
    size_t end = str_find_byte(path, '.', 0);
    const struct field_step here = {up, field_name(a, str_sub(path, 0, end))};
    if (end == SIZE_MAX)
        fields_insert(s, &here, a);
    else
        insert_path(s, str_sub(path, end + 1, SIZE_MAX), &here, a);
}

static struct fields fields_of_text(const char *text, struct arena *a)
{
    struct fields s = {0};
    struct str rest = str_from(text);
    while (rest.n) {
        size_t end = str_find_byte(rest, ' ', 0);
        insert_path(&s, str_sub(rest, 0, end), NULL, a);
        rest = end == SIZE_MAX ? STR_NONE : str_sub(rest, end + 1, SIZE_MAX);
    }
    return s;
}

/* What every object has and nobody owns. */
static const char STRIPPED[] =
    "apiVersion kind metadata metadata.name metadata.namespace "
    "metadata.creationTimestamp "
    "metadata.selfLink metadata.uid metadata.clusterName metadata.generation "
    "metadata.managedFields metadata.resourceVersion";

/* ---- Fields that a write does not reach ---- */

/* By default a resource resets status where it has a subresource for it, and status
 * resets spec. */
static const struct reset {
    const char *resource;
    const char *fields;
} RESETS[] = {
    {"apiservices/status", "metadata spec"},
    {"certificatesigningrequests", "spec status"},
    {"certificatesigningrequests/approval", "spec status.certificate"},
    {"certificatesigningrequests/status", "spec status.conditions"},
    {"compositepodgroups/status", "metadata spec"},
    {"csinodes/status", "metadata spec"},
    {"deployments/status", "metadata.labels spec"},
    {"devicetaintrules/status", "metadata spec"},
    {"evictionrequests/status", "metadata spec"},
    {"evictions/status", "metadata spec"},
    {"flowschemas/status", "metadata spec"},
    {"namespaces/finalize", "status"},
    {"podcertificaterequests/status", "metadata spec"},
    {"podgroups/status", "metadata spec"},
    {"pods/status", "metadata.deletionTimestamp metadata.ownerReferences spec"},
    {"prioritylevelconfigurations/status", "metadata spec"},
    {"resourceclaims/status", "metadata spec"},
    {"resourcepoolstatusrequests/status", "metadata spec"},
    {"servicecidrs/status", "metadata spec"},
    {"storageversionmigrations/status", "metadata spec"},
    {"storageversions/status", "metadata spec"},
    {"validatingadmissionpolicies/status", "metadata spec"},
    {"volumeattachments/status", "metadata spec"},
};

/* Subresources that reach only some fields; * is any one element. */
static const struct reach {
    const char *resource;
    const char *fields[4];
} REACHES[] = {
    {"pods/ephemeralcontainers", {"spec.ephemeralContainers"}},
    {"pods/resize",
     {"spec.containers.*.resources", "spec.containers.*.resizePolicy",
      "spec.initContainers.*.resources", "spec.initContainers.*.resizePolicy"}},
};

static struct str subresource_of(const struct api_kind *kind)
{
    const char *slash = strchr(kind->resource, '/');
    return slash ? str_from(slash + 1) : STR("");
}

static bool has_status(const struct api_kind *kind, struct arena *a)
{
    if (kind->custom)
        return kind->custom->status;
    struct str name = arena_printf(a, "%s/status", kind->resource);
    return api_resource_find(str_from(kind->group), str_from(kind->version), name);
}

static const char *reset_fields(const struct api_kind *kind, struct arena *a)
{
    if (kind->custom && str_is(subresource_of(kind), "status"))
        return "metadata spec";
    if (kind->custom && subresource_of(kind).n)
        return "";
    for (size_t i = 0; i < sizeof RESETS / sizeof *RESETS; i++)
        if (strcmp(kind->resource, RESETS[i].resource) == 0)
            return RESETS[i].fields;
    if (str_is(subresource_of(kind), "status"))
        return "spec";
    return has_status(kind, a) ? "status" : "";
}

/* The paths of s that are, or lie below, one of the patterns. */
static struct fields reached(const struct fields *s, const struct str *patterns,
                             size_t npatterns, struct arena *a)
{
    struct fields out = {.v = ARENA_ARRAY(a, struct field_node, s->n)};
    for (uint32_t i = 0; i < s->n; i++) {
        struct str below[4];
        size_t nbelow = 0;
        bool whole = false;
        for (size_t j = 0; j < npatterns; j++) {
            size_t end = str_find_byte(patterns[j], '.', 0);
            struct str name = str_sub(patterns[j], 0, end);
            if (!str_is(name, "*") && !str_eq(s->v[i].name, field_name(a, name)))
                continue;
            whole |= end == SIZE_MAX;
            if (end != SIZE_MAX)
                below[nbelow++] = str_sub(patterns[j], end + 1, SIZE_MAX);
        }
        struct field_node node = s->v[i];
        if (!whole)
            node.below = reached(&s->v[i].below, below, nbelow, a);
        if (whole || nbelow)
            out.v[out.n++] = node;
    }
    return out;
}

struct filter {
    struct fields resets;
    struct str reaches[4];
    size_t nreaches;
};

static struct filter filter_of(const struct api_kind *kind, struct arena *a)
{
    struct filter f = {.resets = fields_of_text(reset_fields(kind, a), a)};
    for (size_t i = 0; i < sizeof REACHES / sizeof *REACHES; i++)
        for (size_t j = 0; strcmp(kind->resource, REACHES[i].resource) == 0 && j < 4; j++)
            if (REACHES[i].fields[j])
                f.reaches[f.nreaches++] = str_from(REACHES[i].fields[j]);
    return f;
}

static struct fields filtered(const struct filter *f, const struct fields *s,
                              struct arena *a)
{
    return f->nreaches ? reached(s, f->reaches, f->nreaches, a)
                       : fields_without(s, &f->resets, a);
}

/* ---- One write ---- */

struct write {
    const struct apply_write *w;
    struct arena *a;
    struct str version, kind; /* of the object that is written: of a Scale its own */
    struct filter filter;
    struct managers managers;
    struct view *views; /* by version, the request's own last */
};

/* Both objects in one version, and what lies between them. */
struct view {
    struct view *next;
    struct str version;
    const struct api_type *type; /* NULL: no such version */
    struct typed_change change;
};

/* The object without managedFields; shares everything. */
static struct doc bare(const struct doc *object, struct arena *a)
{
    struct doc out = *object, meta;
    const struct doc *old = doc_get(object, "metadata");
    if (!old || old->type != DOC_MAP || !doc_get(old, "managedFields"))
        return out;
    meta = *old;
    meta.cap = meta.n;
    meta.members = ARENA_ARRAY(a, struct doc_member, meta.n);
    memcpy(meta.members, old->members, meta.n * sizeof *meta.members);
    doc_remove(&meta, STR("managedFields"));
    out.cap = out.n;
    out.members = ARENA_ARRAY(a, struct doc_member, out.n);
    memcpy(out.members, object->members, out.n * sizeof *out.members);
    doc_set(a, &out, "metadata", meta);
    return out;
}

static struct doc empty_object(const struct write *c)
{
    struct doc d = doc_make_map();
    doc_set(c->a, &d, "apiVersion", doc_make_string(c->a, c->version));
    doc_set(c->a, &d, "kind", doc_make_string(c->a, c->kind));
    if (!c->w->kind->custom)
        api_canonical(c->w->kind->type, &d, c->a);
    return d;
}

static const struct doc *entries_of(const struct doc *object)
{
    return doc_get(doc_get(object, "metadata"), "managedFields");
}

static void set_entries(struct doc *object, const struct managers *m, struct arena *a)
{
    struct doc *meta = (struct doc *)doc_get(object, "metadata");
    if (!meta || meta->type != DOC_MAP)
        meta = doc_set(a, object, "metadata", doc_make_map());
    if (m->n)
        doc_set(a, meta, "managedFields", managers_encode(m, a));
}

/* NULL: unknown. */
static const struct api_kind *kind_in(const struct write *c, struct str version)
{
    const struct api_custom *custom = c->w->kind->custom;
    if (!custom)
        return api_kind_find(version, c->kind);
    for (uint32_t i = 0; i < custom->nversions; i++)
        if (api_version_is(custom->versions[i], version))
            return custom->versions[i];
    return NULL;
}

static void convert_object(const struct write *c, const struct api_kind *from,
                           const struct api_kind *to, struct str version, struct doc *d)
{
    if (to->custom) {
        if (c->w->convert)
            c->w->convert(c->w->convert_ctx, version, d, c->a);
        return;
    }
    api_convert(from, to, d, c->a);
    api_canonical(to->type, d, c->a);
}

/* false: the version is unknown. */
static bool convert(const struct write *c, const struct doc *object, struct str version,
                    const struct api_type **type, struct doc *out)
{
    struct str said = doc_get_text(object, "apiVersion");
    struct str have = said.n ? said : c->version;
    const struct api_kind *from = kind_in(c, have), *to = kind_in(c, version);
    *out = *object;
    *type = c->w->kind->type;
    if (str_eq(have, version) && str_eq(version, c->version))
        return true;
    if (!from || !to || !from->type || !to->type || strcmp(from->group, to->group) != 0)
        return false;
    *type = to->type;
    if (str_eq(have, version))
        return true;
    *out = doc_dup(c->a, object);
    convert_object(c, from, to, version, out);
    doc_set(c->a, out, "apiVersion", doc_make_string(c->a, version));
    return true;
}

static struct view *add_view(struct write *c, struct str version, const struct doc *live,
                             const struct doc *object)
{
    struct view *v = ARENA_NEW(c->a, struct view);
    const struct api_type *type;
    struct doc x, y;
    *v = (struct view){.next = c->views, .version = version};
    c->views = v;
    if (!convert(c, live, version, &type, &x) || !convert(c, object, version, &type, &y))
        return v;
    v->type = type;
    v->change = typed_compare(type, &x, &y, c->a);
    v->change.added = filtered(&c->filter, &v->change.added, c->a);
    v->change.removed = filtered(&c->filter, &v->change.removed, c->a);
    v->change.modified = filtered(&c->filter, &v->change.modified, c->a);
    return v;
}

static struct view *view_of(struct write *c, struct str version, const struct doc *live,
                            const struct doc *object)
{
    for (struct view *v = c->views; v; v = v->next)
        if (str_eq(v->version, version))
            return v;
    return add_view(c, version, live, object);
}

static struct fields touched(const struct typed_change *change, struct arena *a)
{
    return fields_union(&change->modified, &change->added, a);
}

/* Managers of versions that are gone go too; others' fields get the shape they have
 * today. */
static void reconcile(struct write *c, const struct doc *live)
{
    for (size_t i = 0; i < c->managers.n; i++) {
        struct manager *m = &c->managers.v[i];
        const struct api_type *type;
        struct doc d;
        if (convert(c, live, m->version, &type, &d))
            m->fields = typed_reconcile(type, &m->fields, c->a);
        else
            m->fields = (struct fields){0};
    }
    managers_drop_empty(&c->managers);
}

/* What all but self (NULL: everyone) lose by the change. */
static void take_over(struct write *c, const struct manager *self, const struct doc *live,
                      const struct doc *object)
{
    for (size_t i = 0; i < c->managers.n; i++) {
        struct manager *m = &c->managers.v[i];
        struct view *v = view_of(c, m->version, live, object);
        if (self && manager_same(m, self))
            continue;
        struct fields lost = touched(&v->change, c->a);
        m->fields = fields_difference(&m->fields, &lost, c->a);
        m->fields = fields_difference(&m->fields, &v->change.removed, c->a);
        if (!v->type)
            m->fields = (struct fields){0};
    }
    managers_drop_empty(&c->managers);
}

static struct manager self_of(const struct write *c, struct str name, bool applied)
{
    return (struct manager){.name = name.n ? name : STR("unknown"),
                            .version = c->version,
                            .subresource = subresource_of(c->w->kind),
                            .time = c->w->now,
                            .applied = applied};
}

/* "ConfigMap", or "autoscaling/v1/Scale" for a body of another group. */
static void write_init(struct write *c, const struct apply_write *w, struct arena *a)
{
    const char *slash = strrchr(w->kind->name, '/');
    *c = (struct write){.w = w, .a = a, .filter = filter_of(w->kind, a)};
    c->kind = str_from(slash ? slash + 1 : w->kind->name);
    if (slash)
        c->version = (struct str){w->kind->name, (size_t)(slash - w->kind->name)};
    else if (w->kind->group[0])
        c->version = arena_printf(a, "%s/%s", w->kind->group, w->kind->version);
    else
        c->version = str_from(w->kind->version);
}

/* ---- Updates ---- */

/* One entry, and nothing in it. */
static bool is_reset(const struct doc *entries)
{
    if (!entries || entries->type != DOC_LIST)
        return false;
    const struct doc *one = entries->n == 1 ? entries->items : NULL;
    bool empty = one && (one->type == DOC_MAP || one->type == DOC_NULL);
    for (uint32_t i = 0; empty && one->type == DOC_MAP && i < one->n; i++) {
        const struct doc *value = &one->members[i].value;
        empty = value->type == DOC_NULL || doc_is_string(value, "");
    }
    return entries->n == 0 || empty;
}

static void decode_or_none(const struct doc *entries, struct arena *a,
                           struct managers *out)
{
    struct str why;
    if (!managers_decode(entries, a, out, &why))
        *out = (struct managers){0};
}

/* What the request says stands, if it can be read; a subresource has no say. */
static struct managers managers_of(const struct write *c, const struct doc *live,
                                   const struct doc *object)
{
    struct managers m = {0};
    bool sub = subresource_of(c->w->kind).n > 0;
    if (!sub && is_reset(entries_of(object)))
        return m;
    if (!sub)
        decode_or_none(entries_of(object), c->a, &m);
    if (m.n == 0)
        decode_or_none(entries_of(live), c->a, &m);
    return m;
}

static void update(struct write *c, const struct doc *live, const struct doc *object,
                   struct str name)
{
    struct fields stripped = fields_of_text(STRIPPED, c->a);
    struct manager self = self_of(c, name, false);
    c->views = NULL;
    reconcile(c, live);
    take_over(c, NULL, live, object);
    const struct view *v = view_of(c, c->version, live, object);
    self.fields = touched(&v->change, c->a);
    self.fields = fields_difference(&self.fields, &stripped, c->a);
    if (!fields_empty(&self.fields)) {
        struct manager *old = managers_find(&c->managers, &self);
        if (old) {
            self.fields = fields_union(&self.fields, &old->fields, c->a);
            *old = self;
        } else {
            managers_add(&c->managers, self, c->a);
        }
    }
    managers_cap(&c->managers, c->a);
}

struct doc apply_update(const struct apply_write *w, const struct doc *live,
                        const struct doc *object, struct arena *a)
{
    struct write c;
    write_init(&c, w, a);
    struct doc none = empty_object(&c), to = bare(object, a);
    struct doc from = live ? bare(live, a) : none;
    c.managers = managers_of(&c, live ? live : &none, object);
    if (!live || c.managers.n)
        update(&c, &from, &to, w->manager);
    return managers_encode(&c.managers, a);
}

/* ---- Apply ---- */

struct apply {
    struct write c;
    struct manager self;
    const struct doc *config;
    struct doc live;     /* without managedFields */
    struct doc object;   /* what comes out of live and config */
    struct manager last; /* of self, as it was; without fields: none */
    VEC(struct apply_conflict) conflicts;
    VEC(const struct manager *) owners; /* of the conflicts */
    struct fields conflict_set;
};

/* All that anyone owns in one version. */
static struct fields owned_in(const struct apply *p, struct str version)
{
    struct fields all = {0};
    for (size_t i = 0; i < p->c.managers.n; i++)
        if (str_eq(p->c.managers.v[i].version, version))
            all = fields_union(&all, &p->c.managers.v[i].fields, p->c.a);
    return all;
}

/* Named fields of an object as a set. */
static struct fields named(const struct api_type *type, const struct doc *d,
                           struct arena *a)
{
    struct fields s = typed_fields(type, d, a);
    return typed_name_fields(type, &s, a);
}

/* Gives back to pruned what others own in one version. */
static void add_back_owned(struct apply *p, struct str version, struct doc *merged,
                           struct doc *pruned)
{
    struct arena *a = p->c.a;
    const struct api_type *type;
    struct fields owned = owned_in(p, version);
    struct doc x, y;
    if (!convert(&p->c, merged, version, &type, &x) ||
        !convert(&p->c, pruned, version, &type, &y))
        return;
    struct fields all = named(type, &x, a), kept = named(type, &y, a);
    owned = typed_name_fields(type, &owned, a);
    kept = fields_union(&kept, &owned, a);
    struct fields gone = fields_difference(&all, &kept, a);
    *merged = x;
    *pruned = typed_remove(type, &x, &gone, a);
}

/* First in the version that self had, then in the others. */
static void add_back_all(struct apply *p, struct doc *merged, struct doc *pruned)
{
    const struct managers *m = &p->c.managers;
    add_back_owned(p, p->last.version, merged, pruned);
    for (size_t i = 0; i < m->n; i++) {
        bool done = str_eq(m->v[i].version, p->last.version);
        for (size_t j = 0; j < i && !done; j++)
            done = str_eq(m->v[i].version, m->v[j].version);
        if (!done)
            add_back_owned(p, m->v[i].version, merged, pruned);
    }
}

/* Takes away what self applied the last time and does not any more, unless it is someone
 * else's too. Only what self owned itself goes. */
static void prune(struct apply *p)
{
    struct arena *a = p->c.a;
    const struct api_type *type;
    struct doc merged, back;
    if (fields_empty(&p->last.fields) ||
        !convert(&p->c, &p->object, p->last.version, &type, &merged))
        return;
    struct fields last = typed_name_fields(type, &p->last.fields, a);
    struct doc pruned = typed_remove(type, &merged, &last, a), walked = merged;
    add_back_all(p, &walked, &pruned);
    if (!convert(&p->c, &pruned, p->last.version, &type, &back))
        return;
    struct fields all = named(type, &merged, a), kept = named(type, &back, a);
    struct fields gone = fields_difference(&all, &kept, a);
    gone = fields_intersection(&gone, &last, a);
    pruned = typed_remove(type, &merged, &gone, a);
    convert(&p->c, &pruned, p->c.version, &type, &p->object);
}

struct collect {
    struct apply *p;
    const struct manager *owner;
};

static void collect_conflict(void *ctx, struct str path)
{
    struct collect *k = ctx;
    vec_push(&k->p->conflicts,
             (struct apply_conflict){.manager = manager_describe(k->owner, k->p->c.a),
                                     .field = path});
    vec_push(&k->p->owners, k->owner);
}

/* Others' fields that get another value, but for those in allowed. */
static void find_conflicts(struct apply *p, const struct fields *allowed)
{
    for (size_t i = 0; i < p->c.managers.n; i++) {
        struct manager *m = &p->c.managers.v[i];
        if (manager_same(m, &p->self))
            continue;
        struct view *v = view_of(&p->c, m->version, &p->live, &p->object);
        struct fields lost = touched(&v->change, p->c.a);
        lost = fields_intersection(&m->fields, &lost, p->c.a);
        lost = fields_difference(&lost, allowed, p->c.a);
        struct collect k = {p, m};
        fields_each(&lost, p->c.a, collect_conflict, &k);
    }
}

/* By manager, each with its fields. */
static struct str conflict_message(const struct apply *p)
{
    struct strbuf b = STRBUF_INIT;
    size_t n = p->conflicts.n;
    strbuf_addf(&b, "Apply failed with %zu conflict%s:", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        const struct apply_conflict *k = &p->conflicts.v[i];
        if (n == 1)
            strbuf_addf(&b, " conflict with %.*s: %.*s", STR_ARG(k->manager),
                        STR_ARG(k->field));
        else if (i == 0 || p->owners.v[i] != p->owners.v[i - 1])
            strbuf_addf(&b, "%sconflicts with %.*s:", i ? "\n" : " ",
                        STR_ARG(k->manager));
        if (n > 1)
            strbuf_addf(&b, "\n- %.*s", STR_ARG(k->field));
    }
    struct str s = arena_str(p->c.a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static bool refuse_conflicts(struct apply *p, struct apply_result *out,
                             struct patch_error *e)
{
    struct apply_conflict *v = ARENA_ARRAY(p->c.a, struct apply_conflict, p->conflicts.n);
    memcpy(v, p->conflicts.v, p->conflicts.n * sizeof *v);
    *out = (struct apply_result){.conflicts = v, .nconflicts = p->conflicts.n};
    *e = (struct patch_error){PATCH_CONFLICT, conflict_message(p)};
    return false;
}

/* ---- kubectl's annotation, until all clients apply on the server ---- */

static const struct doc *last_applied(const struct doc *object)
{
    const struct doc *notes = doc_get(doc_get(object, "metadata"), "annotations");
    const struct doc *note = doc_get(notes, LAST_APPLIED);
    return note && note->type == DOC_STRING && note->n ? note : NULL;
}

/* Fields that are as kubectl left them: they are its own, whoever they are noted for. */
static struct fields allowed_by_annotation(struct apply *p)
{
    struct arena *a = p->c.a;
    const struct api_type *type = p->c.w->kind->type;
    const struct doc *note = last_applied(&p->live);
    struct doc_source src = {.name = "annotation"};
    struct fields none = {0};
    struct doc d;
    struct str why = STR_NONE;
    if (!str_is(p->self.name, "kubectl") || !note)
        return none;
    src.text = doc_str(note);
    if (!doc_read_json(&src, a, &d, NULL) || d.type != DOC_MAP ||
        !str_eq(doc_get_text(&d, "apiVersion"), p->c.version) ||
        !typed_check(type, &d, false, a, &why) ||
        !typed_check(type, &p->live, false, a, &why))
        return none;
    struct typed_change change = typed_compare(type, &d, &p->live, a);
    struct fields mine = typed_fields(type, &d, a), other = touched(&change, a);
    mine = fields_difference(&mine, &other, a);
    return fields_difference(&mine, &change.removed, a);
}

enum { MAX_ANNOTATIONS = 256 << 10 };

static size_t size_of_annotations(const struct doc *notes)
{
    size_t n = 0;
    for (uint32_t i = 0; i < notes->n; i++)
        n += notes->members[i].key_len + notes->members[i].value.n;
    return n;
}

/* Where kubectl noted what it applied, it still reads that. */
static void note_applied(struct apply *p, struct doc *object)
{
    struct arena *a = p->c.a;
    struct strbuf b = STRBUF_INIT;
    if (!str_is(p->self.name, "kubectl") || !last_applied(object))
        return;
    struct doc config = doc_dup(a, p->config);
    struct doc *said = (struct doc *)doc_get(doc_get(&config, "metadata"), "annotations");
    if (said && said->type == DOC_MAP)
        doc_remove(said, STR(LAST_APPLIED));
    doc_write_json(&config, DOC_JSON_SORT | DOC_JSON_HTML, &b);
    strbuf_addc(&b, '\n');
    *object = doc_dup(a, object);
    struct doc *notes = (struct doc *)doc_get(doc_get(object, "metadata"), "annotations");
    doc_set(a, notes, LAST_APPLIED, doc_make_string(a, strbuf_str(&b)));
    if (size_of_annotations(notes) > MAX_ANNOTATIONS)
        doc_remove(notes, STR(LAST_APPLIED));
    strbuf_release(&b);
}

/* ---- The whole of it ---- */

/* "/v1, Kind=ConfigMap" */
static struct str print_kind(const struct doc *d, struct arena *a)
{
    struct str version = doc_get_text(d, "apiVersion");
    bool core = str_find_byte(version, '/', 0) == SIZE_MAX;
    return arena_printf(a, "%s%.*s, Kind=%.*s", core ? "/" : "", STR_ARG(version),
                        STR_ARG(doc_get_text(d, "kind")));
}

static bool check_config(const struct write *c, const struct doc *config,
                         struct patch_error *e)
{
    struct arena *a = c->a;
    struct str why;
    const struct doc *meta = doc_get(config, "metadata");
    const struct doc *entries = entries_of(config);
    struct str kind = print_kind(config, a);
    if (!str_eq(doc_get_text(config, "kind"), c->kind) ||
        !str_eq(doc_get_text(config, "apiVersion"), c->version))
        return patch_refuse(e, PATCH_BAD, a, "invalid object type: %.*s", STR_ARG(kind));
    if (entries && entries->type != DOC_NULL)
        return patch_refuse(e, PATCH_BAD, a, "metadata.managedFields must be nil");
    if (!typed_check(c->w->kind->type, config, false, a, &why))
        return patch_refuse(e, PATCH_FAILED, a,
                            "failed to create typed patch object (%.*s/%.*s; %.*s): %.*s",
                            STR_ARG(doc_get_text(meta, "namespace")),
                            STR_ARG(doc_get_text(meta, "name")), STR_ARG(kind),
                            STR_ARG(why));
    return true;
}

/* An object that nobody owns yet: what it has is noted first. */
static void adopt(struct apply *p)
{
    struct doc none = empty_object(&p->c);
    if (p->c.managers.n == 0)
        update(&p->c, &none, &p->live, STR("before-first-apply"));
}

/* Merges, and makes self the owner of what config has. */
static void merge(struct apply *p)
{
    struct arena *a = p->c.a;
    const struct api_type *type = p->c.w->kind->type;
    struct fields set = typed_fields(type, p->config, a);
    p->object = typed_merge(type, &p->live, p->config, a);
    p->self.fields = filtered(&p->c.filter, &set, a);
    struct manager *old = managers_find(&p->c.managers, &p->self);
    if (old) {
        p->last = *old;
        struct str time = old->time;
        *old = p->self;
        old->time = time;
    } else {
        struct manager self = p->self;
        self.time = STR_NONE; /* until something changes */
        managers_add(&p->c.managers, self, a);
    }
    prune(p);
}

static void finish(struct apply *p, struct apply_result *out)
{
    struct arena *a = p->c.a;
    struct fields stripped = fields_of_text(STRIPPED, a);
    struct manager *self = managers_find(&p->c.managers, &p->self);
    *out = (struct apply_result){.unchanged = doc_equal(&p->live, &p->object)};
    out->object = doc_dup(a, out->unchanged ? &p->live : &p->object);
    if (self) {
        self->fields = fields_difference(&self->fields, &stripped, a);
        if (!out->unchanged)
            self->time = p->c.w->now;
    }
    managers_drop_empty(&p->c.managers);
    note_applied(p, &out->object);
    set_entries(&out->object, &p->c.managers, a);
}

static bool merge_and_settle(struct apply *p, bool force, struct apply_result *out,
                             struct patch_error *e)
{
    p->c.views = NULL;
    reconcile(&p->c, &p->live);
    merge(p);
    p->c.views = NULL;
    if (!force) {
        struct fields allowed = {0};
        find_conflicts(p, &allowed);
        allowed = allowed_by_annotation(p);
        if (p->conflicts.n && !fields_empty(&allowed)) {
            vec_clear(&p->conflicts);
            vec_clear(&p->owners);
            find_conflicts(p, &allowed);
        }
        if (p->conflicts.n)
            return refuse_conflicts(p, out, e);
    }
    take_over(&p->c, &p->self, &p->live, &p->object);
    finish(p, out);
    return true;
}

bool apply_config(const struct apply_write *w, const struct doc *live,
                  const struct doc *config, bool force, struct arena *a,
                  struct apply_result *out, struct patch_error *e)
{
    struct apply p = {.config = config};
    struct str why;
    write_init(&p.c, w, a);
    if (!check_config(&p.c, config, e))
        return false;
    p.self = self_of(&p.c, w->manager, true);
    struct doc none = empty_object(&p.c);
    p.live = live ? bare(live, a) : none;
    if (!managers_decode(entries_of(live), a, &p.c.managers, &why))
        return patch_refuse(e, PATCH_FAILED, a, "failed to decode managed fields: %.*s",
                            STR_ARG(why));
    adopt(&p);
    bool ok = merge_and_settle(&p, force, out, e);
    vec_release(&p.conflicts);
    vec_release(&p.owners);
    return ok;
}

/* ---- Names ---- */

struct str apply_manager_name(struct str manager, struct str user_agent, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    struct str agent = str_sub(user_agent, 0, str_find_byte(user_agent, '/', 0));
    uint32_t cp;
    if (manager.n)
        return manager;
    for (size_t i = 0; i < agent.n;) {
        unsigned n = utf8_decode(agent, i, &cp);
        char replacement[4];
        struct str bytes = str_sub(agent, i, i + n);
        if (!n)
            bytes = (struct str){replacement, utf8_encode(0xfffd, replacement)};
        i += n ? n : 1;
        if (n && !rune_is_printable(cp))
            continue;
        if (b.n + bytes.n > APPLY_MAX_MANAGER)
            break;
        strbuf_addstr(&b, bytes);
    }
    struct str name = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return name;
}

/* ---- Writes that change nothing ---- */

static struct doc without_times(const struct doc *object, struct arena *a)
{
    struct doc out = doc_dup(a, object);
    struct doc *entries = (struct doc *)entries_of(&out);
    for (uint32_t i = 0; entries && entries->type == DOC_LIST && i < entries->n; i++)
        if (entries->items[i].type == DOC_MAP)
            doc_remove(&entries->items[i], STR("time"));
    return out;
}

bool apply_same_but_times(const struct doc *x, const struct doc *y, struct arena *a)
{
    struct doc p = without_times(x, a), q = without_times(y, a);
    return doc_equal(&p, &q);
}

/* ---- Scale ---- */

#define SCALE_VERSION "autoscaling/v1"
#define SCALE_REPLICAS "spec.replicas"

static bool owns(const struct manager *m, const struct fields *path, struct arena *a)
{
    struct fields both = fields_intersection(&m->fields, path, a);
    return !fields_empty(&both);
}

struct doc apply_to_scale(const struct doc *entries, struct str version,
                          const char *replicas, struct arena *a)
{
    struct managers m, out = {0};
    struct fields path = fields_of_text(replicas, a);
    decode_or_none(entries, a, &m);
    for (size_t i = 0; i < m.n; i++) {
        struct manager one = m.v[i];
        if (!str_eq(one.version, version) || !owns(&one, &path, a))
            continue;
        one.version = STR(SCALE_VERSION);
        one.fields = fields_of_text(SCALE_REPLICAS, a);
        managers_add(&out, one, a);
    }
    return managers_encode(&out, a);
}

struct doc apply_from_scale(const struct doc *entries, const struct doc *scale,
                            struct str version, const char *replicas, struct arena *a)
{
    struct managers m, s;
    struct fields path = fields_of_text(replicas, a);
    struct fields in_scale = fields_of_text(SCALE_REPLICAS, a);
    decode_or_none(entries, a, &m);
    decode_or_none(scale, a, &s);
    for (size_t i = 0; i < s.n; i++)
        s.v[i].version = owns(&s.v[i], &in_scale, a) ? version : STR_NONE;
    for (size_t i = 0; i < m.n; i++) {
        struct fields *fields = &m.v[i].fields;
        struct manager *mine = managers_find(&s, &m.v[i]);
        *fields =
            mine ? fields_union(fields, &path, a) : fields_difference(fields, &path, a);
        if (mine)
            mine->version = STR_NONE; /* done */
    }
    for (size_t i = 0; i < s.n; i++) {
        s.v[i].fields = path;
        s.v[i].time = STR_NONE; /* as upstream has it */
        if (s.v[i].version.n)
            managers_add(&m, s.v[i], a);
    }
    managers_drop_empty(&m);
    return managers_encode(&m, a);
}
