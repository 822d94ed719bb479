/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden/api, as far as it shows how an object is changed: from the object that an answer
 * showed, and the next request for it, follow the next object and its managedFields, or a
 * conflict. What a server adds of its own (uids, versions, times) is not looked at. A
 * step that shows no such pair is no case.
 */
#include "golden/golden.h"

#include "api/apply.h"
#include "api/canonical.h"
#include "api/decode.h"
#include "api/defaults.h"
#include "api/prepare.h"
#include "api/strategic.h"
#include "base/map.h"
#include "base/vec.h"

/* What stands for a time near now, which the recordings leave out. */
static const char NOW[] = "2026-01-01T00:00:00Z";
static const char MICRO_NOW[] = "2026-01-01T00:00:00.000000Z";

/* One write of a scenario. */
struct step {
    struct golden_case *c;
    struct arena *a;
    const struct api_kind *kind;
    struct apply_write write;
    const struct doc *body;   /* of the request */
    const struct doc *before; /* NULL: there was none */
    const struct doc *after;  /* the body of the answer */
    bool force;
};

/* ---- Requests ---- */

static struct str next_part(struct str *path)
{
    size_t end = str_find_byte(*path, '/', 0);
    struct str part = str_sub(*path, 0, end);
    *path = end == SIZE_MAX ? STR_NONE : str_sub(*path, end + 1, SIZE_MAX);
    return part;
}

/* /api/v1/namespaces/N/pods/P/status and its like; NULL: no object's path. */
static const struct api_kind *kind_of(struct str path, struct arena *a, bool *named)
{
    struct str rest = str_sub(path, 1, SIZE_MAX), group = STR("");
    if (!str_is(next_part(&rest), "api"))
        group = next_part(&rest);
    struct str version = next_part(&rest), resource = next_part(&rest);
    struct str name = next_part(&rest), sub = next_part(&rest);
    if (str_is(resource, "namespaces") && sub.n && !str_is(sub, "status") &&
        !str_is(sub, "finalize")) {
        resource = sub;
        name = next_part(&rest);
        sub = next_part(&rest);
    }
    if (sub.n)
        resource = arena_printf(a, "%.*s/%.*s", STR_ARG(resource), STR_ARG(sub));
    *named = name.n > 0;
    return api_resource_find(group, version, resource);
}

static struct str query_of(struct str url, const char *key)
{
    size_t at = str_find_byte(url, '?', 0);
    struct str rest = at == SIZE_MAX ? STR_NONE : str_sub(url, at + 1, SIZE_MAX);
    while (rest.n) {
        size_t end = str_find_byte(rest, '&', 0), eq = str_find_byte(rest, '=', 0);
        if (eq < end && str_is(str_sub(rest, 0, eq), key))
            return str_sub(rest, eq + 1, end);
        rest = end == SIZE_MAX ? STR_NONE : str_sub(rest, end + 1, SIZE_MAX);
    }
    return STR_NONE;
}

/* ---- Comparing ---- */

/* Members of metadata that a server sets. */
static const char *const SERVERS[] = {
    "creationTimestamp", "generation", "managedFields", "resourceVersion",
    "deletionTimestamp", "uid",        "namespace",     "name",
    "selfLink"};

static struct doc without_servers(const struct doc *object, struct arena *a)
{
    struct doc d = doc_dup(a, object);
    struct doc *meta = (struct doc *)doc_get(&d, "metadata");
    for (size_t i = 0; meta && i < sizeof SERVERS / sizeof *SERVERS; i++)
        doc_remove(meta, str_from(SERVERS[i]));
    return d;
}

static const struct doc *entries_of(const struct doc *object)
{
    return doc_get(doc_get(object, "metadata"), "managedFields");
}

/* Entries by manager, without times. */
static struct doc comparable(const struct doc *entries, struct arena *a)
{
    struct doc out = doc_make_map();
    for (uint32_t i = 0; entries && i < entries->n; i++) {
        const struct doc *e = &entries->items[i];
        struct doc fields = doc_dup(a, doc_get(e, "fieldsV1"));
        struct str key = arena_printf(
            a, "%.*s %.*s %.*s %.*s", STR_ARG(doc_get_text(e, "manager")),
            STR_ARG(doc_get_text(e, "operation")), STR_ARG(doc_get_text(e, "apiVersion")),
            STR_ARG(doc_get_text(e, "subresource")));
        doc_set_str(a, &out, key, fields);
    }
    return out;
}

static void check_managers(struct step *s, const struct doc *got)
{
    struct doc x = comparable(entries_of(s->after), s->a), y = comparable(got, s->a);
    golden_check_doc(s->c, "managedFields", &x, &y);
}

static void settle(struct step *s, struct doc *d)
{
    struct api_issues issues = {0};
    if (api_check_shape(s->kind->type, d, STR_NONE, s->a, &issues)) {
        api_canonical(s->kind->type, d, s->a);
        api_default(s->kind, d, STR(NOW), s->a);
    } else {
        golden_fail(s->c, "the result cannot be decoded");
    }
    api_issues_release(&issues);
}

/* What a write may change: through status the status alone, else all but it. */
static void check_object(struct step *s, struct doc *object)
{
    const struct api_prepare p = {.a = s->a, .now = STR(NOW)};
    if (s->before)
        api_prepare_update(&p, s->kind, object, s->before);
    struct doc got = without_servers(object, s->a),
               want = without_servers(s->after, s->a);
    if (strstr(s->kind->resource, "/status")) {
        golden_check_doc(s->c, "status", doc_get(&want, "status"),
                         doc_get(&got, "status"));
        return;
    }
    doc_remove(&got, STR("status"));
    doc_remove(&want, STR("status"));
    golden_check_doc(s->c, "object", &want, &got);
}

/* ---- Writes ---- */

static void check_error(struct step *s, int64_t status, const struct patch_error *e)
{
    golden_check_int(s->c, "status", status, e->status);
    if (e->status == PATCH_CONFLICT || e->status == PATCH_FAILED)
        golden_check_str(s->c, "message", doc_get_text(s->after, "message"), e->text);
}

static struct doc causes_of(struct step *s, const struct apply_result *r)
{
    struct doc list = doc_make_list();
    for (size_t i = 0; i < r->nconflicts; i++) {
        struct doc one = doc_make_map();
        struct str text =
            arena_printf(s->a, "conflict with %.*s", STR_ARG(r->conflicts[i].manager));
        doc_set(s->a, &one, "field", doc_make_string(s->a, r->conflicts[i].field));
        doc_set(s->a, &one, "message", doc_make_string(s->a, text));
        doc_set(s->a, &one, "reason", doc_make_string(s->a, STR("FieldManagerConflict")));
        doc_append(s->a, &list, one);
    }
    return list;
}

static void run_apply(struct step *s, int64_t status)
{
    struct apply_result r;
    struct patch_error e = {0};
    if (apply_config(&s->write, s->before, s->body, s->force, s->a, &r, &e)) {
        if (status >= 300) {
            golden_fail(s->c, "was not refused");
            return;
        }
        check_managers(s, entries_of(&r.object));
        settle(s, &r.object);
        check_object(s, &r.object);
        return;
    }
    check_error(s, status, &e);
    if (e.status == PATCH_CONFLICT) {
        struct doc got = causes_of(s, &r);
        golden_check_doc(s->c, "causes", doc_path(s->after, "details.causes"), &got);
    }
}

typedef bool patch_fn(struct step *s, struct doc *out, struct patch_error *e);

static bool by_json(struct step *s, struct doc *out, struct patch_error *e)
{
    return patch_json_check(s->body, NULL, s->a, e) &&
           patch_json(s->before, s->body, s->a, out, e);
}

static bool by_merge(struct step *s, struct doc *out, struct patch_error *e)
{
    return patch_merge(s->before, s->body, s->a, out, e);
}

static bool by_strategy(struct step *s, struct doc *out, struct patch_error *e)
{
    return strategic_patch(s->kind->type, s->before, s->body, s->a, out, e);
}

/* Ownership is settled when an object has been read and has its defaults, before
 * admission and the kind's registry look at it; its managedFields are as the request has
 * them. */
static void check_update(struct step *s, const struct doc *asked)
{
    struct doc object = doc_dup(s->a, asked);
    const struct doc *entries = entries_of(asked);
    doc_set(s->a, &object, "kind", *doc_get(s->after, "kind"));
    settle(s, &object);
    if (entries)
        doc_set(s->a, (struct doc *)doc_get(&object, "metadata"), "managedFields",
                *entries);
    struct doc got = apply_update(&s->write, s->before, &object, s->a);
    check_managers(s, &got);
}

static void run_patch(struct step *s, int64_t status, patch_fn *patch)
{
    struct doc out;
    struct patch_error e = {0};
    if (!patch(s, &out, &e)) {
        check_error(s, status, &e);
        return;
    }
    if (status >= 300) {
        golden_fail(s->c, "was not refused");
        return;
    }
    check_update(s, &out);
    settle(s, &out);
    doc_set(s->a, &out, "kind", *doc_get(s->after, "kind"));
    check_object(s, &out);
}

static void run_write(struct step *s, int64_t status, struct str type)
{
    if (str_starts(type, STR("application/apply-patch+yaml")))
        run_apply(s, status);
    else if (str_is(type, "application/json-patch+json"))
        run_patch(s, status, by_json);
    else if (str_is(type, "application/merge-patch+json"))
        run_patch(s, status, by_merge);
    else if (str_is(type, "application/strategic-merge-patch+json"))
        run_patch(s, status, by_strategy);
    else if (status < 300)
        check_update(s, s->body);
}

/* ---- Scenarios ---- */

struct replay {
    struct golden *g;
    const char *file;
    struct arena arena; /* of the scenario */
    struct strmap objects;
    struct str scenario;
};

static bool is_object(const struct doc *d)
{
    return doc_get(doc_get(d, "metadata"), "uid") && doc_get(d, "kind");
}

/* The path of the object itself: of a POST the collection's, and its name. */
static struct str object_path(struct replay *r, struct str path, bool created,
                              const struct doc *body, const struct api_kind *kind)
{
    struct str name = doc_get_text(doc_get(body, "metadata"), "name");
    const char *slash = strchr(kind->resource, '/');
    if (created)
        return arena_printf(&r->arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(name));
    return str_sub(path, 0, path.n - (slash ? strlen(slash) : 0));
}

static const struct doc *known(struct replay *r, struct str path)
{
    const struct strmap_entry *entry = strmap_find(&r->objects, path);
    return entry ? entry->value.ptr : NULL;
}

static void learn(struct replay *r, struct str path, const struct doc *object)
{
    struct doc *copy = ARENA_NEW(&r->arena, struct doc);
    *copy = doc_dup(&r->arena, object);
    strmap_put(&r->objects, arena_str(&r->arena, path), NULL)->value.ptr = copy;
}

static struct str manager_of(const struct doc *request, struct str url, struct arena *a)
{
    struct str agent = doc_get_text(doc_get(request, "headers"), "User-Agent");
    return apply_manager_name(query_of(url, "fieldManager"),
                              agent.p ? agent : STR("dray-replay"), a);
}

static void run_step(struct replay *r, const struct doc *line, unsigned number,
                     struct step *s)
{
    const struct doc *request = doc_get(line, "request");
    struct str url = doc_get_text(request, "path");
    struct str type = doc_get_text(doc_get(request, "headers"), "Content-Type");
    const char *id = arena_printf(&r->arena, "%.*s/%.*s", STR_ARG(r->scenario),
                                  STR_ARG(doc_get_text(line, "step")))
                         .p;
    int64_t status = 0;
    doc_get_int64(doc_get(line, "response"), "status", &status);
    s->c = golden_begin(r->g, r->file, number, id);
    if (!s->c)
        return;
    s->a = s->c->arena;
    s->body = doc_get(request, "body");
    s->force = str_is(query_of(url, "force"), "true");
    s->write = (struct apply_write){
        .kind = s->kind, .manager = manager_of(request, url, s->a), .now = STR(NOW)};
    run_write(s, status, type);
    golden_end(s->c);
}

/* Refused as a patch, not by validation or for what is stored. */
static bool is_refusal(const struct doc *answer, int64_t status)
{
    struct str message = doc_get_text(answer, "message");
    const struct doc *causes = doc_path(answer, "details.causes");
    return (status == 409 && causes) || status == 500 || (status == 422 && !causes) ||
           str_starts(message, STR("error decoding patch"));
}

/* Whether the step shows how an object of a known form is changed. */
static bool is_case(const struct doc *line, const struct step *s, bool create)
{
    const struct doc *request = doc_get(line, "request");
    struct str method = doc_get_text(request, "method");
    bool patch = str_is(method, "PATCH"), put = str_is(method, "PUT");
    int64_t status = 0;
    doc_get_int64(doc_get(line, "response"), "status", &status);
    if (!s->before && status != 201)
        return false;
    bool answered =
        status < 300 ? is_object(s->after) : is_refusal(s->after, status) && patch;
    /* The body of a scale subresource is another object, of another group. */
    bool own = s->kind && s->kind->type && !strchr(s->kind->name, '/');
    return own && doc_get(request, "body") && answered && (create || patch || put) &&
           !doc_get(line, "project");
}

static void see_line(struct replay *r, const struct doc *line, unsigned number)
{
    const struct doc *request = doc_get(line, "request");
    struct str url = doc_get_text(request, "path"),
               method = doc_get_text(request, "method");
    struct str path = str_sub(url, 0, str_find_byte(url, '?', 0));
    struct step s = {.after = doc_path(line, "response.body")};
    bool named = false;
    s.kind = path.n ? kind_of(path, &r->arena, &named) : NULL;
    if (!s.kind)
        return;
    bool create = str_is(method, "POST") && !named;
    struct str object = object_path(r, path, create, s.after, s.kind);
    s.before = create ? NULL : known(r, object);
    bool dry = query_of(url, "dryRun").n > 0;
    int64_t status = 0;
    doc_get_int64(doc_get(line, "response"), "status", &status);
    if (is_case(line, &s, create))
        run_step(r, line, number, &s);
    if (dry || status >= 300)
        return;
    if (!str_is(method, "DELETE") && is_object(s.after) &&
        strcmp(s.kind->name, "autoscaling/v1/Scale") != 0)
        learn(r, object, s.after);
    else if (!str_is(method, "GET"))
        strmap_remove(&r->objects, object); /* changed unseen, perhaps */
}

/* Times that are left out become times. */
static void fill_times(struct doc *d, struct arena *a)
{
    if (doc_is_string(d, "<time>"))
        *d = doc_make_string(a, STR(NOW));
    else if (doc_is_string(d, "<microtime>"))
        *d = doc_make_string(a, STR(MICRO_NOW));
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        fill_times(&d->items[i], a);
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        fill_times(&d->members[i].value, a);
}

static void replay_file(struct golden *g, const char *file)
{
    struct replay r = {.g = g, .file = file};
    struct doc_list lines;
    if (!golden_read_lines(g, file, &lines))
        return;
    arena_init(&r.arena);
    strmap_init(&r.objects);
    for (size_t i = 0; i < lines.n; i++) {
        struct str scenario = doc_get_text(&lines.v[i], "scenario");
        if (!str_eq(scenario, r.scenario)) {
            strmap_clear(&r.objects);
            arena_reset(&r.arena);
            r.scenario = scenario;
        }
        fill_times(&lines.v[i], &r.arena);
        see_line(&r, &lines.v[i], (unsigned)i + 1);
    }
    strmap_release(&r.objects);
    arena_fini(&r.arena);
}

static void run_folder(struct golden *g)
{
    const char **files;
    size_t n = golden_files(g, ".jsonl", &files);
    for (size_t i = 0; i < n; i++)
        replay_file(g, files[i]);
}

const struct golden_runner golden_api = {.folder = "api", .run_folder = run_folder};
