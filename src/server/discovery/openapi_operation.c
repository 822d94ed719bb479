/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and their operations as both versions of OpenAPI write them. */
#include "server/discovery/openapi_inner.h"

/* Which of them stand at each operation in form 2, and which are shared, is upstream's
 * choice. */
static const struct {
    const char *name, *type, *in;
    bool shared;
} PARAMETERS[NPARAMETERS] = {
    [P_ALLOW_WATCH_BOOKMARKS] = {"allowWatchBookmarks", "boolean", "query", true},
    [P_COMMAND] = {"command", "string", "query", true},
    [P_CONTAINER] = {"container", "string", "query", true},
    [P_CONTINUE] = {"continue", "string", "query", true},
    [P_DRY_RUN] = {"dryRun", "string", "query", false},
    [P_FIELD_MANAGER] = {"fieldManager", "string", "query", true},
    [P_FIELD_SELECTOR] = {"fieldSelector", "string", "query", true},
    [P_FIELD_VALIDATION] = {"fieldValidation", "string", "query", false},
    [P_FOLLOW] = {"follow", "boolean", "query", true},
    [P_FORCE] = {"force", "boolean", "query", true},
    [P_GRACE_PERIOD] = {"gracePeriodSeconds", "integer", "query", true},
    [P_IGNORE_STORE_ERROR] = {"ignoreStoreReadErrorWithClusterBreakingPotential",
                              "boolean", "query", true},
    [P_INSECURE_BACKEND] = {"insecureSkipTLSVerifyBackend", "boolean", "query", true},
    [P_LABEL_SELECTOR] = {"labelSelector", "string", "query", true},
    [P_LIMIT] = {"limit", "integer", "query", true},
    [P_LIMIT_BYTES] = {"limitBytes", "integer", "query", true},
    [P_NAME] = {"name", "string", "path", false},
    [P_NAMESPACE] = {"namespace", "string", "path", true},
    [P_ORPHAN_DEPENDENTS] = {"orphanDependents", "boolean", "query", true},
    [P_PATH_ASKED] = {"path", "string", "query", true},
    [P_PATH] = {"path", "string", "path", true},
    [P_PORTS] = {"ports", "integer", "query", true},
    [P_PRETTY] = {"pretty", "string", "query", true},
    [P_PREVIOUS] = {"previous", "boolean", "query", true},
    [P_PROPAGATION_POLICY] = {"propagationPolicy", "string", "query", true},
    [P_RESOURCE_VERSION] = {"resourceVersion", "string", "query", true},
    [P_RESOURCE_VERSION_MATCH] = {"resourceVersionMatch", "string", "query", true},
    [P_SEND_INITIAL_EVENTS] = {"sendInitialEvents", "boolean", "query", true},
    [P_SHARD_SELECTOR] = {"shardSelector", "string", "query", true},
    [P_SINCE_SECONDS] = {"sinceSeconds", "integer", "query", true},
    [P_STDERR] = {"stderr", "boolean", "query", true},
    [P_STDIN] = {"stdin", "boolean", "query", true},
    [P_STDOUT] = {"stdout", "boolean", "query", true},
    [P_STREAM] = {"stream", "string", "query", true},
    [P_TAIL_LINES] = {"tailLines", "integer", "query", true},
    [P_TIMEOUT_SECONDS] = {"timeoutSeconds", "integer", "query", true},
    [P_TIMESTAMPS] = {"timestamps", "boolean", "query", true},
    [P_TTY] = {"tty", "boolean", "query", true},
    [P_WATCH] = {"watch", "boolean", "query", true},
};

#define JSON "application/json"
#define YAML "application/yaml"
#define PROTO "application/vnd.kubernetes.protobuf"
enum { MAX_MEDIA = 6 };
static const char *const MEDIA[][MAX_MEDIA] = {
    [M_NONE] = {NULL},
    [M_ANY] = {"*/*"},
    [M_JSON] = {JSON},
    [M_KEYS] = {"application/jwk-set+json"},
    [M_OBJECT] = {JSON, YAML, PROTO},
    [M_LIST] = {JSON, YAML, PROTO, JSON ";stream=watch", PROTO ";stream=watch"},
    [M_LOG] = {"text/plain", JSON, YAML, PROTO},
    [M_CUSTOM] = {JSON, YAML},
    [M_PATCH] = {"application/json-patch+json", "application/merge-patch+json",
                 "application/strategic-merge-patch+json",
                 "application/apply-patch+yaml"},
    [M_CUSTOM_PATCH] = {"application/json-patch+json", "application/merge-patch+json",
                        "application/apply-patch+yaml"},
};

static void set_text(struct openapi_writer *w, struct doc *d, const char *key,
                     const char *text)
{
    doc_set(&w->a, d, key, doc_make_string(&w->a, str_from(text)));
}

static struct doc one_text(struct openapi_writer *w, struct str text)
{
    struct doc list = doc_make_list();
    doc_append(&w->a, &list, doc_make_string(&w->a, text));
    return list;
}

/* ---- Parameters ---- */

static struct doc parameter(struct openapi_writer *w, uint32_t i)
{
    struct doc d = doc_make_map(), schema = doc_make_map();
    bool v2 = w->form == OPENAPI_V2;
    struct doc *typed = v2 ? &d : &schema;
    set_text(w, typed, "type", PARAMETERS[i].type);
    doc_set(&w->a, typed, "uniqueItems", doc_make_bool(true));
    set_text(w, &d, "name", PARAMETERS[i].name);
    set_text(w, &d, "in", PARAMETERS[i].in);
    if (strcmp(PARAMETERS[i].in, "path") == 0)
        doc_set(&w->a, &d, "required", doc_make_bool(true));
    if (!v2)
        doc_set(&w->a, &d, "schema", schema);
    return d;
}

static struct doc shared_ref(struct openapi_writer *w, const char *name, const char *of)
{
    struct doc d = doc_make_map();
    struct str ref = arena_printf(&w->a, "#/parameters/%s-%s", name, of);
    doc_set(&w->a, &d, "$ref", doc_make_string(&w->a, ref));
    return d;
}

static void append_parameters(struct openapi_writer *w, struct doc *list, uint64_t set)
{
    for (uint32_t i = 0; i < NPARAMETERS; i++) {
        if (!(set >> i & 1))
            continue;
        bool shared = w->form == OPENAPI_V2 && PARAMETERS[i].shared;
        doc_append(&w->a, list,
                   shared ? shared_ref(w, PARAMETERS[i].name, PARAMETERS[i].in)
                          : parameter(w, i));
    }
}

static struct doc body_parameter(struct openapi_writer *w, struct doc schema,
                                 bool required)
{
    struct doc d = doc_make_map();
    set_text(w, &d, "name", "body");
    set_text(w, &d, "in", "body");
    if (required)
        doc_set(&w->a, &d, "required", doc_make_bool(true));
    doc_set(&w->a, &d, "schema", schema);
    return d;
}

static struct doc delete_options(struct openapi_writer *w)
{
    const struct api_type *t =
        api_type_find(STR("meta"), STR("v1"), STR("DeleteOptions"));
    return openapi_refer(w, openapi_of_type(t));
}

static struct doc patch(struct openapi_writer *w)
{
    return openapi_refer(w, openapi_of_form("Patch"));
}

void openapi_add_parameters(struct openapi_writer *w)
{
    for (uint32_t i = 0; i < NPARAMETERS; i++) {
        if (!PARAMETERS[i].shared)
            continue;
        struct doc d = parameter(w, i);
        struct str name =
            arena_printf(&w->a, "%s-%s", PARAMETERS[i].name, PARAMETERS[i].in);
        openapi_add(w, OPENAPI_PART_PARAMETER, name, &d);
    }
    struct doc options = body_parameter(w, delete_options(w), false);
    openapi_add(w, OPENAPI_PART_PARAMETER, STR("body-delete"), &options);
    struct doc body = body_parameter(w, patch(w), true);
    openapi_add(w, OPENAPI_PART_PARAMETER, STR("body-patch"), &body);
}

/* ---- Bodies and answers ---- */

static struct doc content(struct openapi_writer *w, enum openapi_media media,
                          struct doc schema)
{
    struct doc d = doc_make_map();
    for (int i = 0; i < MAX_MEDIA && MEDIA[media][i]; i++) {
        struct doc of = doc_make_map();
        doc_set(&w->a, &of, "schema", schema);
        doc_set(&w->a, &d, MEDIA[media][i], of);
    }
    return d;
}

static void set_media(struct openapi_writer *w, struct doc *d, const char *key,
                      enum openapi_media media)
{
    struct doc list = doc_make_list();
    for (int i = 0; i < MAX_MEDIA && MEDIA[media][i]; i++)
        doc_append(&w->a, &list, doc_make_string(&w->a, str_from(MEDIA[media][i])));
    if (list.n)
        doc_set(&w->a, d, key, list);
}

static void set_body_v3(struct openapi_writer *w, struct doc *d,
                        const struct openapi_operation *o)
{
    struct doc body = doc_make_map(), schema = o->object;
    if (o->body == BODY_NONE)
        return;
    if (o->body == BODY_DELETE)
        schema = delete_options(w);
    else if (o->body == BODY_PATCH)
        schema = patch(w);
    doc_set(&w->a, &body, "content", content(w, o->takes, schema));
    if (o->body != BODY_DELETE)
        doc_set(&w->a, &body, "required", doc_make_bool(true));
    doc_set(&w->a, d, "requestBody", body);
}

static void append_body_v2(struct openapi_writer *w, struct doc *list,
                           const struct openapi_operation *o)
{
    if (o->body == BODY_OBJECT)
        doc_append(&w->a, list, body_parameter(w, o->object, true));
    else if (o->body == BODY_DELETE)
        doc_append(&w->a, list, shared_ref(w, "body", "delete"));
    else if (o->body == BODY_PATCH)
        doc_append(&w->a, list, shared_ref(w, "body", "patch"));
}

static struct doc responses(struct openapi_writer *w, const struct openapi_operation *o)
{
    static const struct {
        const char *code, *text;
    } CODES[] = {{"200", "OK"}, {"201", "Created"}, {"202", "Accepted"}};
    struct doc d = doc_make_map(), refused = doc_make_map();
    for (int i = 0; i < 3; i++) {
        struct doc one = doc_make_map();
        if (!(o->codes >> i & 1))
            continue;
        set_text(w, &one, "description", CODES[i].text);
        if (w->form == OPENAPI_V2)
            doc_set(&w->a, &one, "schema", o->answer);
        else
            doc_set(&w->a, &one, "content", content(w, o->gives, o->answer));
        doc_set(&w->a, &d, CODES[i].code, one);
    }
    set_text(w, &refused, "description", "Unauthorized");
    doc_set(&w->a, &d, "401", refused);
    return d;
}

/* ---- Operations and paths ---- */

static struct doc operation(struct openapi_writer *w, const struct openapi_operation *o,
                            uint64_t common)
{
    struct arena *a = &w->a;
    struct doc d = doc_make_map(), parameters = doc_make_list();
    if (w->form == OPENAPI_V2) {
        set_media(w, &d, "consumes", o->takes);
        set_media(w, &d, "produces", o->gives);
        doc_set(a, &d, "schemes", one_text(w, STR("https")));
        append_body_v2(w, &parameters, o);
    }
    doc_set(a, &d, "tags", one_text(w, o->tag));
    doc_set(a, &d, "operationId", doc_make_string(a, o->id));
    append_parameters(w, &parameters, o->parameters & ~common);
    if (parameters.n)
        doc_set(a, &d, "parameters", parameters);
    if (w->form == OPENAPI_V3)
        set_body_v3(w, &d, o);
    doc_set(a, &d, "responses", responses(w, o));
    if (o->action)
        set_text(w, &d, "x-kubernetes-action", o->action);
    if (o->kind.p)
        doc_set(a, &d, "x-kubernetes-group-version-kind",
                openapi_gvk(o->group, o->version, o->kind, a).items[0]);
    return d;
}

void openapi_add_path(struct openapi_writer *w, const struct openapi_path *p)
{
    struct doc d = doc_make_map(), parameters = doc_make_list();
    uint64_t common = UINT64_MAX;
    if (p->n == 0)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        common &= p->operations[i].parameters;
    for (uint32_t i = 0; i < p->n; i++)
        doc_set(&w->a, &d, p->operations[i].method,
                operation(w, &p->operations[i], common));
    append_parameters(w, &parameters, common | p->parameters);
    if (parameters.n)
        doc_set(&w->a, &d, "parameters", parameters);
    openapi_add(w, OPENAPI_PART_PATH, p->path, &d);
}
