/* SPDX-License-Identifier: Apache-2.0 */
/* From a CustomResourceDefinition to the rows of its kinds. */
#include <stdlib.h>
#include <string.h>

#include "server/custom/conversion.h"
#include "server/custom/custom.h"
#include "server/custom/definition.h"

static const char VERBS[] = "delete,deletecollection,get,list,patch,create,update,watch";
static const char SIDE_VERBS[] = "get,patch,update";

static const char *text_at(const struct doc *d, const char *key, struct arena *a)
{
    return arena_str(a, doc_get_text(d, key)).p;
}

static bool flag_at(const struct doc *d, const char *key)
{
    bool on = false;
    doc_get_bool(d, key, &on);
    return on;
}

/* "a,b" */
static const char *joined(const struct doc *list, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        strbuf_addf(&b, "%s%.*s", i ? "," : "", STR_ARG(doc_str(&list->items[i])));
    const char *text = arena_str(a, strbuf_str(&b)).p;
    strbuf_release(&b);
    return text;
}

/* ---- versions in Kubernetes' order ---- */

struct version_parts {
    int stage; /* 3: v1, 2: v1beta1, 1: v1alpha1, 0: anything else */
    unsigned long major, minor;
};

static struct version_parts parts_of(const char *name)
{
    static const struct {
        const char *name;
        int stage;
    } STAGES[] = {{"alpha", 1}, {"beta", 2}};
    struct version_parts p = {0};
    char *end;
    if (name[0] != 'v' || name[1] < '1' || name[1] > '9')
        return p;
    p.major = strtoul(name + 1, &end, 10);
    if (*end == '\0')
        p.stage = 3;
    for (size_t i = 0; i < sizeof STAGES / sizeof *STAGES; i++) {
        size_t n = strlen(STAGES[i].name);
        if (strncmp(end, STAGES[i].name, n) != 0 || end[n] < '1' || end[n] > '9')
            continue;
        char *last;
        p.minor = strtoul(end + n, &last, 10);
        if (*last == '\0')
            p.stage = STAGES[i].stage;
    }
    return p;
}

int custom_version_order(const char *x, const char *y)
{
    struct version_parts a = parts_of(x), b = parts_of(y);
    if (a.stage != b.stage)
        return a.stage > b.stage ? 1 : -1;
    if (a.stage == 0)
        return strcmp(y, x); /* the first of the alphabet is preferred */
    if (a.major != b.major)
        return a.major > b.major ? 1 : -1;
    return (a.minor > b.minor) - (a.minor < b.minor);
}

/* ---- one version ---- */

static const char *dotted(const struct doc *scale, const char *key, struct arena *a)
{
    struct str path = doc_get_text(scale, key);
    if (path.n && path.p[0] == '.')
        path = str_sub(path, 1, SIZE_MAX);
    return path.n ? arena_str(a, path).p : NULL;
}

static void read_scale(struct custom_version *v, const struct doc *scale, struct arena *a)
{
    v->has_scale = scale && scale->type == DOC_MAP;
    v->spec_replicas = dotted(scale, "specReplicasPath", a);
    v->status_replicas = dotted(scale, "statusReplicasPath", a);
    v->label_selector = dotted(scale, "labelSelectorPath", a);
}

static void read_selectable(struct custom_version *v, const struct doc *list,
                            struct arena *a)
{
    unsigned n = 0;
    v->labels = (struct field_labels){.group = "", .refusal = REFUSE_CORE};
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct str path = arena_str(a, doc_get_text(&list->items[i], "jsonPath"));
        if (n == CUSTOM_MAX_SELECTABLE || !jsonpath_parse(path, a, &v->selectable[n]))
            continue;
        if (path.n && path.p[0] == '.')
            path = str_sub(path, 1, SIZE_MAX);
        v->labels.labels[n++] = (struct field_label){.path = path.p, .absent = ""};
    }
}

static struct str deprecation(const struct custom *c, const struct doc *d,
                              const struct custom_version *v, const char *kind)
{
    struct arena *a = (struct arena *)&c->arena;
    struct str said = doc_get_text(d, "deprecationWarning");
    const char *better = NULL;
    if (!v->deprecated)
        return STR_NONE;
    if (said.p)
        return arena_str(a, said);
    for (uint32_t i = 0; i < c->nversions; i++) {
        const struct custom_version *o = &c->versions[i];
        if (o->served && !o->deprecated && custom_version_order(v->name, o->name) < 0 &&
            (!better || custom_version_order(o->name, better) > 0))
            better = o->name;
    }
    struct str text = arena_printf(a, "%s/%s %s is deprecated", c->group, v->name, kind);
    if (better)
        text =
            arena_printf(a, "%.*s; use %s/%s %s", STR_ARG(text), c->group, better, kind);
    return text;
}

/* What is said of the names of all versions. */
struct names {
    const char *singular, *kind, *short_names, *categories;
    bool namespaced;
};

static struct names names_of(const struct doc *definition, struct arena *a)
{
    const struct doc *names = doc_path(definition, "status.acceptedNames");
    return (struct names){
        .singular = text_at(names, "singular", a),
        .kind = text_at(names, "kind", a),
        .short_names = joined(doc_get(names, "shortNames"), a),
        .categories = joined(doc_get(names, "categories"), a),
        .namespaced = doc_is_string(doc_path(definition, "spec.scope"), "Namespaced")};
}

static void read_version(struct custom *c, struct custom_version *v, const struct doc *d)
{
    struct arena *a = &c->arena;
    const struct doc *subs = doc_get(d, "subresources"),
                     *status = doc_get(subs, "status");
    v->of = c;
    v->name = text_at(d, "name", a);
    v->served = flag_at(d, "served");
    v->storage = flag_at(d, "storage");
    v->deprecated = flag_at(d, "deprecated");
    v->has_status = status && status->type == DOC_MAP;
    v->api_version = arena_printf(a, "%s/%s", c->group, v->name);
    v->columns = api_columns_read(doc_get(d, "additionalPrinterColumns"), a);
    v->columns.list_kind = c->list_kind;
    read_scale(v, doc_get(subs, "scale"), a);
    read_selectable(v, doc_get(d, "selectableFields"), a);
}

static void make_schema(struct custom *c, struct custom_version *v, const struct doc *d,
                        const char *kind, bool preserve)
{
    struct structural_opts opts = {
        .cel = c->s->cel, .kind = kind, .preserve_unknown = preserve};
    v->schema = structural_new(doc_path(d, "schema.openAPIV3Schema"), &opts);
}

static void make_kinds(struct custom *c, struct custom_version *v, const struct names *n,
                       const struct api_kind *const *all)
{
    struct arena *a = &c->arena;
    v->like = (struct api_custom){.versions = all,
                                  .nversions = c->nversions,
                                  .list_kind = c->list_kind,
                                  .status = v->has_status};
    v->kind = (struct api_kind){.group = c->group,
                                .version = v->name,
                                .resource = c->plural,
                                .singular = n->singular,
                                .name = n->kind,
                                .short_names = n->short_names,
                                .categories = n->categories,
                                .verbs = VERBS,
                                .type = structural_type(v->schema),
                                .namespaced = n->namespaced,
                                .custom = &v->like};
    v->status = v->scale = v->kind;
    v->status.resource = arena_printf(a, "%s/status", c->plural).p;
    v->scale.resource = arena_printf(a, "%s/scale", c->plural).p;
    v->status.verbs = v->scale.verbs = SIDE_VERBS;
    v->status.singular = v->scale.singular = "";
    v->status.short_names = v->scale.short_names = "";
    v->status.categories = v->scale.categories = "";
    v->scale.name = "autoscaling/v1/Scale";
    v->scale.type = api_type_find(STR("autoscaling"), STR("v1"), STR("Scale"));
}

static void make_rows(struct custom *c, struct custom_version *v)
{
    struct arena *a = &c->arena;
    const struct api_kind *kinds[] = {&v->kind, &v->status, &v->scale};
    const char *subs[] = {NULL, "status", "scale"};
    for (int i = 0; i < 3; i++)
        v->rows[i] = (struct resource){
            .kind = kinds[i],
            .main = &v->kind,
            .hub = &c->storage->kind,
            .sub = subs[i],
            .prefix = arena_printf(a, "/registry/%s/%s/", c->group, c->plural),
            .api_version = v->api_version,
            .head =
                arena_printf(a, "{\"kind\":\"%s\",\"apiVersion\":\"%.*s\",\"metadata\":{",
                             v->kind.name, STR_ARG(c->storage->api_version)),
            .labels = &v->labels,
            .verbs = kinds[i]->verbs,
            .custom = v};
}

/* ---- all of them ---- */

/* false: no version is the one to store. */
static bool make_versions(struct custom *c, const struct doc *definition)
{
    const struct doc *list = doc_path(definition, "spec.versions");
    struct names n = names_of(definition, &c->arena);
    if (!list || list->type != DOC_LIST || list->n == 0)
        return false;
    const struct api_kind **all =
        ARENA_ARRAY(&c->arena, const struct api_kind *, list->n);
    c->nversions = list->n;
    c->versions = ARENA_ARRAY(&c->arena, struct custom_version, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        read_version(c, &c->versions[i], &list->items[i]);
        all[i] = &c->versions[i].kind;
        if (c->versions[i].storage)
            c->storage = &c->versions[i];
    }
    if (!c->storage)
        return false;
    bool preserve = flag_at(doc_get(definition, "spec"), "preserveUnknownFields");
    for (uint32_t i = 0; i < list->n; i++) {
        struct custom_version *v = &c->versions[i];
        v->deprecation = deprecation(c, &list->items[i], v, n.kind);
        make_schema(c, v, &list->items[i], n.kind, preserve);
        make_kinds(c, v, &n, all);
    }
    for (uint32_t i = 0; i < list->n; i++)
        make_rows(c, &c->versions[i]);
    return true;
}

static void add_json(struct strbuf *b, const struct doc *d)
{
    static const struct doc null = {.type = DOC_NULL};
    doc_write_json(d ? d : &null, DOC_JSON_SORT, b);
    strbuf_addc(b, '\n');
}

struct str custom_essence(const struct doc *definition, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addstr(&b, meta_text(definition, "uid"));
    add_json(&b, doc_get(definition, "spec"));
    add_json(&b, doc_path(definition, "status.acceptedNames"));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

struct custom *custom_new(struct server *s, const struct doc *definition,
                          uint64_t revision)
{
    const struct doc *spec = doc_get(definition, "spec");
    struct custom *c = mem_zalloc(sizeof *c);
    struct arena *a = &c->arena;
    c->s = s;
    c->refs = 1;
    c->revision = revision;
    c->group = text_at(spec, "group", a);
    c->plural = text_at(doc_get(spec, "names"), "plural", a);
    c->list_kind = text_at(doc_path(definition, "status.acceptedNames"), "listKind", a);
    c->listed = definition_is(definition, "Established");
    c->conversions = conversions_new(definition);
    c->essence = custom_essence(definition, a);
    bool accepted = c->listed || definition_is(definition, "NamesAccepted");
    if (accepted && !kinds_built_in(s, c->group, c->plural) &&
        make_versions(c, definition))
        return c;
    custom_destroy(c);
    return NULL;
}

void custom_destroy(struct custom *c)
{
    for (uint32_t i = 0; i < c->nversions; i++)
        if (c->versions[i].schema)
            structural_free(c->versions[i].schema);
    conversions_free(c->conversions);
    arena_fini(&c->arena);
    free(c);
}
