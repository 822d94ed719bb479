/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths the kinds of a document have, and which operations. */
#include "server/discovery/openapi_inner.h"

enum { GIVES_200 = 1, GIVES_201 = 2, GIVES_202 = 4 };

#define P_LISTING                                                                        \
    (P(CONTINUE) | P(FIELD_SELECTOR) | P(LABEL_SELECTOR) | P(LIMIT) |                    \
     P(RESOURCE_VERSION) | P(RESOURCE_VERSION_MATCH) | P(SEND_INITIAL_EVENTS) |          \
     P(SHARD_SELECTOR) | P(TIMEOUT_SECONDS))
#define P_DELETING                                                                       \
    (P(DRY_RUN) | P(GRACE_PERIOD) | P(IGNORE_STORE_ERROR) | P(ORPHAN_DEPENDENTS) |       \
     P(PROPAGATION_POLICY))
#define P_WRITING (P(DRY_RUN) | P(FIELD_MANAGER) | P(FIELD_VALIDATION))

enum answer { ANSWER_OBJECT, ANSWER_LIST, ANSWER_STATUS, ANSWER_DELETED };

/* The verbs of objects, as the tables name them. */
static const struct verb_row {
    const char *verb, *method, *action, *word;
    bool named;
    uint8_t codes, body, answer;
    uint64_t parameters;
} VERBS[] = {
    {"list", "get", "list", "list", false, GIVES_200, BODY_NONE, ANSWER_LIST,
     P_LISTING | P(ALLOW_WATCH_BOOKMARKS) | P(WATCH)},
    {"create", "post", "post", "create", false, GIVES_200 | GIVES_201 | GIVES_202,
     BODY_OBJECT, ANSWER_OBJECT, P_WRITING},
    {"deletecollection", "delete", "deletecollection", "delete", false, GIVES_200,
     BODY_DELETE, ANSWER_STATUS, P_LISTING | P_DELETING},
    {"get", "get", "get", "read", true, GIVES_200, BODY_NONE, ANSWER_OBJECT, 0},
    {"update", "put", "put", "replace", true, GIVES_200 | GIVES_201, BODY_OBJECT,
     ANSWER_OBJECT, P_WRITING},
    {"delete", "delete", "delete", "delete", true, GIVES_200 | GIVES_202, BODY_DELETE,
     ANSWER_DELETED, P_DELETING},
    {"patch", "patch", "patch", "patch", true, GIVES_200 | GIVES_201, BODY_PATCH,
     ANSWER_OBJECT, P_WRITING | P(FORCE)},
};
enum { NVERBS = sizeof VERBS / sizeof *VERBS };

/* What is asked of something else than an object. */
static const struct {
    const char *kind;
    uint64_t parameters;
} OPTIONS[] = {
    {"PodExecOptions",
     P(COMMAND) | P(CONTAINER) | P(STDERR) | P(STDIN) | P(STDOUT) | P(TTY)},
    {"PodAttachOptions", P(CONTAINER) | P(STDERR) | P(STDIN) | P(STDOUT) | P(TTY)},
    {"PodPortForwardOptions", P(PORTS)},
    {"PodProxyOptions", P(PATH_ASKED)},
    {"ServiceProxyOptions", P(PATH_ASKED)},
    {"NodeProxyOptions", P(PATH_ASKED)},
};
#define P_LOG                                                                            \
    (P(CONTAINER) | P(FOLLOW) | P(INSECURE_BACKEND) | P(LIMIT_BYTES) | P(PRETTY) |       \
     P(PREVIOUS) | P(SINCE_SECONDS) | P(STREAM) | P(TAIL_LINES) | P(TIMESTAMPS))

/* A kind and where it is: of the tables, or not. */
struct target {
    struct openapi_writer *w;
    struct str group, version;
    struct str kind; /* of the resource */
    struct str root; /* "/apis/apps/v1" */
    struct str plural;
    bool namespaced, custom;
    struct str words; /* "AppsV1" */
    struct str tag;   /* "apps_v1" */
    struct doc object, list;
    bool delete_returns;
};

/* ---- Words ---- */

static struct str title(struct str s, struct arena *a)
{
    char *p = arena_strdup(a, arena_str(a, s).p);
    if (s.n && p[0] >= 'a' && p[0] <= 'z')
        p[0] = (char)(p[0] - 'a' + 'A');
    return (struct str){p, s.n};
}

/* "RbacAuthorization" of "rbac.authorization.k8s.io" */
static struct str group_words(struct str group, struct arena *a)
{
    struct str out = STR("");
    if (group.n == 0)
        return STR("Core");
    if (str_ends(group, STR(".k8s.io")))
        group.n -= sizeof ".k8s.io" - 1;
    for (size_t at = 0; at < group.n;) {
        size_t end = at;
        while (end < group.n && group.p[end] != '.' && group.p[end] != '-')
            end++;
        struct str word = title(str_sub(group, at, end), a);
        out = arena_printf(a, "%.*s%.*s", STR_ARG(out), STR_ARG(word));
        at = end + 1;
    }
    return out;
}

static struct str group_tag(struct str group, struct arena *a)
{
    struct str words = group_words(group, a);
    char *p = arena_strdup(a, arena_str(a, words).p);
    if (p[0] >= 'A' && p[0] <= 'Z')
        p[0] = (char)(p[0] - 'A' + 'a');
    return (struct str){p, words.n};
}

static struct str version_words(const struct openapi_doc *doc, struct arena *a)
{
    struct str group = group_words(doc->group, a), version = title(doc->version, a);
    return arena_printf(a, "%.*s%.*s", STR_ARG(group), STR_ARG(version));
}

static struct str version_tag(const struct openapi_doc *doc, struct arena *a)
{
    struct str tag = group_tag(doc->group, a);
    return arena_printf(a, "%.*s_%.*s", STR_ARG(tag), STR_ARG(doc->version));
}

/* ---- Schemas ---- */

static struct doc of_meta(struct openapi_writer *w, const char *name)
{
    const struct api_type *t = api_type_find(STR("meta"), STR("v1"), str_from(name));
    return openapi_refer(w, openapi_of_type(t));
}

static struct doc of_type(struct openapi_writer *w, const struct api_type *t)
{
    return t ? openapi_refer(w, openapi_of_type(t)) : doc_make_map();
}

static struct doc text_schema(struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set(a, &d, "type", doc_make_string(a, STR("string")));
    return d;
}

static struct doc answer_of(const struct target *t, uint8_t answer)
{
    if (answer == ANSWER_LIST)
        return t->list;
    if (answer == ANSWER_STATUS || (answer == ANSWER_DELETED && !t->delete_returns))
        return of_meta(t->w, "Status");
    return t->object;
}

/* ---- Operations ---- */

static struct openapi_operation *add_operation(struct openapi_path *p,
                                               const struct target *t)
{
    struct openapi_operation *o = &p->operations[p->n++];
    *o = (struct openapi_operation){.tag = t->tag,
                                    .group = t->group,
                                    .version = t->version,
                                    .kind = t->kind,
                                    .parameters = P(PRETTY)};
    return o;
}

static void fill_verb(const struct target *t, const struct verb_row *v,
                      struct openapi_operation *o)
{
    bool list = v->answer == ANSWER_LIST;
    o->method = v->method;
    o->action = v->action;
    o->parameters |= v->parameters;
    o->codes = v->codes;
    o->body = v->body;
    o->takes = t->custom ? M_CUSTOM : M_ANY;
    o->gives = t->custom ? M_CUSTOM : list ? M_LIST : M_OBJECT;
    if (v->body == BODY_PATCH)
        o->takes = t->custom ? M_CUSTOM_PATCH : M_PATCH;
    o->object = t->object;
    o->answer = answer_of(t, v->answer);
}

/* "readAppsV1NamespacedDeploymentScale" */
static struct str operation_id(const struct target *t, const char *word,
                               const char *before, const char *after)
{
    return arena_printf(&t->w->a, "%s%.*s%s%s%.*s%s", word, STR_ARG(t->words), before,
                        t->namespaced ? "Namespaced" : "", STR_ARG(t->kind), after);
}

static struct openapi_path start_path(const struct target *t, bool named, const char *sub)
{
    return (struct openapi_path){
        .path = arena_printf(&t->w->a, "%.*s%s/%.*s%s%s", STR_ARG(t->root),
                             t->namespaced ? "/namespaces/{namespace}" : "",
                             STR_ARG(t->plural), named ? "/{name}" : "", sub),
        .parameters = (t->namespaced ? P(NAMESPACE) : 0) | (named ? P(NAME) : 0)};
}

static bool has_verb(const char *verbs, const char *verb)
{
    return kinds_has_verb(&(struct resource){.verbs = verbs}, verb);
}

static void add_objects(const struct target *t, const char *verbs, bool named)
{
    struct openapi_path p = start_path(t, named, "");
    for (int i = 0; i < NVERBS; i++) {
        const struct verb_row *v = &VERBS[i];
        if (v->named != named || !has_verb(verbs, v->verb))
            continue;
        struct openapi_operation *o = add_operation(&p, t);
        bool collection = strcmp(v->verb, "deletecollection") == 0;
        fill_verb(t, v, o);
        o->id = operation_id(t, v->word, collection ? "Collection" : "", "");
    }
    openapi_add_path(t->w, &p);
}

static void add_everywhere(const struct target *t, const char *verbs)
{
    if (!t->namespaced || !has_verb(verbs, "list"))
        return;
    struct openapi_path p = {.path = arena_printf(&t->w->a, "%.*s/%.*s", STR_ARG(t->root),
                                                  STR_ARG(t->plural))};
    struct openapi_operation *o = add_operation(&p, t);
    fill_verb(t, &VERBS[0], o);
    o->id = arena_printf(&t->w->a, "list%.*s%.*sForAllNamespaces", STR_ARG(t->words),
                         STR_ARG(t->kind));
    openapi_add_path(t->w, &p);
}

/* ---- Subresources ---- */

/* Its body is another object, whose kind the operations tell. */
static void add_side(const struct target *main, const struct target *body,
                     const char *verbs, const char *sub)
{
    struct arena *a = &main->w->a;
    struct openapi_path p = start_path(main, true, arena_printf(a, "/%s", sub).p);
    struct str word = title(str_from(sub), a);
    for (int i = 0; i < NVERBS; i++) {
        const struct verb_row *v = &VERBS[i];
        bool create = strcmp(v->verb, "create") == 0;
        if (!has_verb(verbs, v->verb) || (!v->named && !create))
            continue;
        struct openapi_operation *o = add_operation(&p, body);
        fill_verb(body, v, o);
        o->tag = main->tag;
        o->id = operation_id(main, v->word, "", word.p);
    }
    openapi_add_path(main->w, &p);
}

static const char *const PROXIED[] = {"get",     "put",  "post", "delete",
                                      "options", "head", "patch"};

static void add_connect_path(const struct target *t, const struct api_kind *k,
                             const char *sub, bool proxy, bool with_path)
{
    struct arena *a = &t->w->a;
    const char *after = with_path ? "/{path}" : "";
    struct openapi_path p = start_path(t, true, arena_printf(a, "/%s%s", sub, after).p);
    struct str word = title(str_from(sub), a);
    p.parameters |= with_path ? P(PATH) : 0;
    for (size_t i = 0; i < sizeof PROXIED / sizeof *PROXIED; i++) {
        bool plain = i == 0 || i == 2;
        if (!proxy && !plain)
            continue;
        struct openapi_operation *o = add_operation(&p, t);
        struct str before = title(str_from(PROXIED[i]), a);
        o->method = PROXIED[i];
        o->action = "connect";
        o->kind = str_from(k->name);
        o->codes = GIVES_200;
        o->takes = o->gives = M_ANY;
        o->answer = text_schema(a);
        o->id =
            operation_id(t, "connect", before.p,
                         arena_printf(a, "%s%s", word.p, with_path ? "WithPath" : "").p);
        o->parameters = 0;
        for (size_t n = 0; n < sizeof OPTIONS / sizeof *OPTIONS; n++)
            if (strcmp(OPTIONS[n].kind, k->name) == 0)
                o->parameters = OPTIONS[n].parameters;
    }
    openapi_add_path(t->w, &p);
}

static void add_log(const struct target *t)
{
    struct openapi_path p = start_path(t, true, "/log");
    struct openapi_operation *o = add_operation(&p, t);
    o->method = o->action = "get";
    o->parameters = P_LOG;
    o->codes = GIVES_200;
    o->takes = M_ANY;
    o->gives = M_LOG;
    o->answer = text_schema(&t->w->a);
    o->id = operation_id(t, "read", "", "Log");
    openapi_add_path(t->w, &p);
}

/* The kinds of bodies are "Scale" or "autoscaling/v1/Scale". */
static struct target body_target(const struct target *main, const struct api_kind *k)
{
    struct target body = *main;
    struct str name = str_from(k->name);
    size_t one = str_find_byte(name, '/', 0);
    size_t two = one == SIZE_MAX ? SIZE_MAX : str_find_byte(name, '/', one + 1);
    body.kind = name;
    body.object = of_type(main->w, k->type);
    if (two == SIZE_MAX)
        return body;
    body.group = str_sub(name, 0, one);
    body.version = str_sub(name, one + 1, two);
    body.kind = str_sub(name, two + 1, SIZE_MAX);
    return body;
}

static void add_sub(const struct target *t, const struct resource *r)
{
    const struct api_kind *k = r->kind;
    bool options = str_ends(str_from(k->name), STR("Options"));
    bool proxy = strcmp(r->sub, "proxy") == 0;
    if (strcmp(r->sub, "log") == 0) {
        add_log(t);
    } else if (options) {
        add_connect_path(t, k, r->sub, proxy, false);
        if (proxy)
            add_connect_path(t, k, r->sub, proxy, true);
    } else {
        struct target body = body_target(t, k);
        add_side(t, &body, r->verbs, r->sub);
    }
}

/* ---- Kinds ---- */

static struct target target_of(struct openapi_writer *w, const struct openapi_doc *doc)
{
    bool core = doc->group.n == 0;
    return (struct target){
        .w = w,
        .group = doc->group,
        .version = doc->version,
        .root = arena_printf(&w->a, "/%s%.*s%s%.*s", core ? "api" : "apis/",
                             STR_ARG(doc->group), "/", STR_ARG(doc->version)),
        .words = version_words(doc, &w->a),
        .tag = version_tag(doc, &w->a),
    };
}

static void add_resource(struct openapi_writer *w, const struct openapi_doc *doc,
                         const struct resource *r)
{
    struct target t = target_of(w, doc);
    const struct api_kind *m = r->main;
    struct str list = arena_printf(&w->a, "%sList", m->name);
    t.kind = str_from(m->name);
    t.plural = str_from(m->resource);
    t.namespaced = m->namespaced;
    t.object = of_type(w, m->type);
    /* Of namespaces upstream's documents say otherwise than it does. */
    t.delete_returns = kinds_delete_returns(m) && strcmp(m->resource, "namespaces") != 0;
    if (r->sub) {
        add_sub(&t, r);
        return;
    }
    if (has_verb(r->verbs, "list"))
        t.list = of_type(w, api_type_find(doc->group, doc->version, list));
    add_everywhere(&t, r->verbs);
    add_objects(&t, r->verbs, false);
    add_objects(&t, r->verbs, true);
}

static void add_custom(struct openapi_writer *w, const struct openapi_doc *doc,
                       const struct openapi_kind *k)
{
    static const char ALL[] = "create,delete,deletecollection,get,list,patch,update";
    static const char SIDE[] = "get,patch,update";
    struct target t = target_of(w, doc);
    struct arena *a = &w->a;
    t.kind = k->kind;
    t.plural = k->plural;
    t.namespaced = k->namespaced;
    t.custom = true;
    t.object =
        openapi_ref(openapi_custom_name(k->group, k->version, k->kind, a), w->form, a);
    t.list = openapi_ref(openapi_custom_name(k->group, k->version, k->list_kind, a),
                         w->form, a);
    add_everywhere(&t, ALL);
    add_objects(&t, ALL, false);
    add_objects(&t, ALL, true);
    if (k->status)
        add_side(&t, &t, SIDE, "status");
    if (k->scale) {
        struct target body = t;
        body.object =
            of_type(w, api_type_find(STR("autoscaling"), STR("v1"), STR("Scale")));
        add_side(&t, &body, SIDE, "scale");
    }
}

/* ---- What is no kind ---- */

static void add_plain(struct openapi_writer *w, struct str path, struct str id,
                      struct str tag, enum openapi_media gives, struct doc answer)
{
    struct openapi_path p = {.path = path, .n = 1};
    p.operations[0] = (struct openapi_operation){
        .method = "get",
        .id = id,
        .tag = tag,
        .codes = GIVES_200,
        .takes = str_is(tag, "version") || gives == M_OBJECT ? gives : M_NONE,
        .gives = gives,
        .answer = answer,
    };
    openapi_add_path(w, &p);
}

static void add_index(struct openapi_writer *w, const struct openapi_doc *doc,
                      const char *answer, const char *what)
{
    struct arena *a = &w->a;
    struct str words = group_words(doc->group, a), tag = group_tag(doc->group, a);
    if (doc->sort == OPENAPI_VERSION) {
        words = version_words(doc, a);
        tag = version_tag(doc, a);
    }
    bool all = str_is(doc->name, "apis");
    struct str id = arena_printf(a, "get%.*s%s", all ? 0 : (int)words.n, words.p, what);
    add_plain(w, arena_printf(a, "/%.*s/", STR_ARG(doc->name)), id,
              all ? STR("apis") : tag, M_OBJECT, of_meta(w, answer));
}

static void add_own(struct openapi_writer *w, const struct openapi_doc *doc)
{
    static const struct {
        const char *name, *id, *tag;
        enum openapi_media gives;
    } OWN[] = {
        {".well-known/openid-configuration", "getServiceAccountIssuerOpenIDConfiguration",
         "WellKnown", M_JSON},
        {"openid/v1/jwks", "getServiceAccountIssuerOpenIDKeyset", "openid", M_KEYS},
        {"version", "getCodeVersion", "version", M_JSON},
    };
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++) {
        if (!str_is(doc->name, OWN[i].name))
            continue;
        bool version = strcmp(OWN[i].name, "version") == 0;
        add_plain(w, arena_printf(&w->a, "/%s/", OWN[i].name), str_from(OWN[i].id),
                  str_from(OWN[i].tag), OWN[i].gives,
                  version ? of_meta(w, "Info") : text_schema(&w->a));
    }
}

void openapi_add_paths(struct openapi_writer *w, const struct openapi_doc *doc)
{
    if (doc->sort == OPENAPI_SERVER)
        add_own(w, doc);
    else if (doc->sort == OPENAPI_GROUP)
        add_index(w, doc, "APIGroup", "APIGroup");
    else if (doc->sort == OPENAPI_ROOT && str_is(doc->name, "api"))
        add_index(w, doc, "APIVersions", "APIVersions");
    else if (doc->sort == OPENAPI_ROOT)
        add_index(w, doc, "APIGroupList", "APIVersions");
    else if (doc->nresources)
        add_index(w, doc, "APIResourceList", "APIResources");
    for (uint32_t i = 0; i < doc->nresources; i++) {
        add_resource(w, doc, &doc->resources[i]);
        arena_reset(&w->a);
    }
    for (uint32_t i = 0; i < doc->nkinds; i++) {
        add_custom(w, doc, &doc->kinds[i]);
        arena_reset(&w->a);
    }
}
