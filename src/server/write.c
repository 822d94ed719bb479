/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and updating, and the way of every write into the store. */
#include "server/scale.h"

#include "api/apply.h"
#include "api/canonical.h"
#include "api/convert.h"
#include "api/defaults.h"
#include "api/prepare.h"
#include "api/validate.h"
#include "base/names.h"
#include "base/quote.h"

enum {
    MAX_TRIES = 5, /* as upstream retries a patch */
    MAX_NAMES = 8, /* of generateName */
    SUFFIX = 5,
    MAX_NAME = 63,
};

/* ---- identity ---- */

struct str write_new_uid(struct arena *a)
{
    unsigned char b[16];
    pki_random(b, sizeof b);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    return arena_printf(a,
                        "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                        "%02x%02x%02x%02x%02x%02x",
                        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
                        b[11], b[12], b[13], b[14], b[15]);
}

static struct str generate_name(struct str base, struct arena *a)
{
    static const char LETTERS[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char random[SUFFIX];
    char suffix[SUFFIX + 1] = "";
    pki_random(random, sizeof random);
    for (int i = 0; i < SUFFIX; i++)
        suffix[i] = LETTERS[random[i] % (sizeof LETTERS - 1)];
    struct str head = str_sub(base, 0, MAX_NAME - SUFFIX);
    return arena_printf(a, "%.*s%s", STR_ARG(head), suffix);
}

static void set_meta(struct request *r, struct doc *d, const char *key, struct str value)
{
    doc_set(r->a, object_meta(d), key, doc_make_string(r->a, value));
}

static void drop_meta(struct doc *d, const char *key)
{
    doc_remove(object_meta(d), str_from(key));
}

/* ---- validation ---- */

static struct str cause_text(struct request *r, const struct api_error *e)
{
    struct strbuf b = STRBUF_INIT;
    api_error_print(e, &b);
    struct str all = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    return all;
}

static bool fail_invalid(struct request *r, struct str name,
                         const struct api_errors *errors)
{
    const struct api_kind *k = r->res->main;
    struct strbuf b = STRBUF_INIT;
    bool many = errors->list.n > 1;
    fail(r, 422, "Invalid", " ");
    for (size_t i = 0; i < errors->list.n; i++) {
        const struct api_error *e = &errors->list.v[i];
        struct str all = cause_text(r, e);
        strbuf_addf(&b, "%s%.*s", i ? ", " : "", STR_ARG(all));
        struct str message = e->path.n ? str_sub(all, e->path.n + 2, SIZE_MAX) : all;
        fail_cause(r, api_error_reason(e->type), message, e->path);
    }
    struct failure *f = &r->failure;
    f->message =
        arena_printf(r->a, "%.*s \"%.*s\" is invalid: %s%s%s",
                     STR_ARG(qualified(r->a, str_from(k->name), str_from(k->group))),
                     STR_ARG(name), many ? "[" : "", strbuf_cstr(&b), many ? "]" : "");
    f->name = name;
    f->group = str_from(k->group);
    f->kind = str_from(k->name);
    strbuf_release(&b);
    return false;
}

/* The namespace's word on adminAccess (spec 2.3). */
static bool allows_admin(struct request *r)
{
    if (!r->route.namespace.p)
        return false;
    const struct resource *res = kinds_find(r->s, STR(""), STR("v1"), STR("namespaces"));
    struct cache_object *o =
        cache_get(r->s->cache, object_key(res, STR(""), r->route.namespace, r->a));
    return o && str_is(cache_pair_find(o->labels, o->nlabels,
                                       STR("resource.kubernetes.io/admin-access")),
                       "true");
}

static bool validate(struct write *w, const struct doc *old, enum api_op op)
{
    struct request *r = w->r;
    struct api_validate_opts opts = {.op = op,
                                     .old = old,
                                     .gates = &r->s->gates,
                                     .admin_namespace = allows_admin(r),
                                     .requested_version = r->res->main->version};
    struct api_errors errors = {0};
    api_validate(r->res->hub, &w->object, &opts, r->a, &errors);
    bool ok = errors.list.n == 0 || fail_invalid(r, w->name, &errors);
    api_errors_release(&errors);
    return ok;
}

/* ---- ownership ---- */

struct doc write_track(struct request *r, const struct doc *live, const struct doc *d)
{
    struct apply_write w = {
        .kind = r->res->kind,
        .now = r->now,
        .manager = apply_manager_name(query_get(&r->query, "fieldManager"),
                                      net_header_get(r->x, "user-agent"), r->a)};
    return apply_update(&w, live, d, r->a);
}

static void track(struct request *r, const struct doc *live, struct doc *d)
{
    struct doc entries = write_track(r, live, d);
    if (entries.n)
        doc_set(r->a, object_meta(d), "managedFields", entries);
    else
        drop_meta(d, "managedFields");
}

/* ---- completing ---- */

static void to_hub(struct request *r, struct doc *d)
{
    if (r->res->main == r->res->hub)
        return;
    api_convert(r->res->main, r->res->hub, d, r->a);
    struct str group = str_from(r->res->hub->group);
    struct str version = arena_printf(r->a, "%.*s%s%s", STR_ARG(group),
                                      group.n ? "/" : "", r->res->hub->version);
    doc_set(r->a, d, "apiVersion", doc_make_string(r->a, version));
    api_canonical(r->res->hub->type, d, r->a);
}

static bool check_namespace(struct request *r, struct doc *d)
{
    struct str ns = meta_text(d, "namespace");
    if (!r->res->main->namespaced) {
        drop_meta(d, "namespace");
        return true;
    }
    if (ns.n && !str_eq(ns, r->route.namespace))
        return fail_bad(r, "the namespace of the provided object does not match the "
                           "namespace sent on the request");
    set_meta(r, d, "namespace", r->route.namespace);
    return true;
}

static struct doc *ready_meta(struct request *r, struct doc *d)
{
    if (!object_meta(d))
        doc_set(r->a, d, "metadata", doc_make_map());
    return object_meta(d);
}

static bool name_new(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    struct str base = meta_text(d, "generateName");
    w->name = r->route.name.p ? r->route.name : meta_text(d, "name");
    if (w->name.n == 0 && base.n)
        w->name = generate_name(base, r->a);
    if (w->name.n) {
        set_meta(r, d, "name", w->name);
        return true;
    }
    const struct api_kind *k = r->res->main;
    struct str kind = qualified(r->a, str_from(k->name), str_from(k->group));
    struct str text = STR("Required value: name or generateName is required");
    fail(r, 422, "Invalid", "%.*s \"\" is invalid: metadata.name: %.*s", STR_ARG(kind),
         STR_ARG(text));
    fail_cause(r, "FieldValueRequired", text, STR("metadata.name"));
    r->failure.group = str_from(k->group);
    r->failure.kind = str_from(k->name);
    return false;
}

/* Kinds without rules of their own have names like DNS subdomains, but for these. */
static bool has_plain_name(const struct api_kind *k)
{
    static const char *const FREE[] = {"rbac.authorization.k8s.io", "certificates.k8s.io",
                                       "internal.apiserver.k8s.io"};
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
        if (strcmp(k->group, FREE[i]) == 0)
            return false;
    return !api_kind_has_rules(k) && strcmp(k->resource, "ipaddresses") != 0;
}

static void check_plain_name(struct write *w, struct api_errors *errors)
{
    struct arena *a = w->r->a;
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = name_check(NAME_DNS1123_SUBDOMAIN, w->name, a, problems);
    for (unsigned i = 0; i < n; i++)
        vec_push(&errors->list,
                 (struct api_error){.type = API_ERROR_INVALID,
                                    .path = STR("metadata.name"),
                                    .bad = arena_printf(a, "\"%.*s\"", STR_ARG(w->name)),
                                    .detail = problems[i],
                                    .pos = UINT32_MAX});
}

/* Of every kind, whatever its own rules are: a name is one segment of a path. */
static bool check_segment(struct write *w)
{
    static const struct {
        const char *part, *text;
        bool whole;
    } BAD[] = {
        {".", "may not be '.'", true},
        {"..", "may not be '..'", true},
        {"/", "may not contain '/'", false},
        {"%", "may not contain '%'", false},
    };
    struct api_errors errors = {0};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct str part = str_from(BAD[i].part);
        if (BAD[i].whole ? !str_eq(w->name, part) : str_find(w->name, part) == SIZE_MAX)
            continue;
        vec_push(&errors.list, (struct api_error){.type = API_ERROR_INVALID,
                                                  .path = STR("metadata.name"),
                                                  .bad = arena_printf(w->r->a, "\"%.*s\"",
                                                                      STR_ARG(w->name)),
                                                  .detail = str_from(BAD[i].text),
                                                  .pos = UINT32_MAX});
    }
    if (errors.list.n == 0 && has_plain_name(w->r->res->hub))
        check_plain_name(w, &errors);
    bool ok = errors.list.n == 0 || fail_invalid(w->r, w->name, &errors);
    api_errors_release(&errors);
    return ok;
}

bool write_finish_create(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    ready_meta(r, d);
    if (!check_namespace(r, d) || !name_new(w, d) || !namespaces_admit(r, w->name))
        return false;
    if (meta_text(d, "resourceVersion").n)
        return fail(r, 500, NULL,
                    "resourceVersion should not be set on objects to be created");
    drop_meta(d, "deletionTimestamp");
    drop_meta(d, "deletionGracePeriodSeconds");
    drop_meta(d, "selfLink");
    drop_meta(d, "generation");
    set_meta(r, d, "uid", write_new_uid(r->a));
    set_meta(r, d, "creationTimestamp", r->now);
    if (!w->owned)
        track(r, NULL, d);
    to_hub(r, d);
    api_drop_disabled(r->res->hub, d, NULL, &r->s->gates);
    struct api_admit admit;
    if (!priority_find(r, d, w->name, &admit))
        return false;
    api_admit_create(&admit, r->res->hub, d);
    struct api_prepare prepare = {.a = r->a, .now = r->now};
    api_prepare_create(&prepare, r->res->hub, d);
    w->object = *d;
    w->key = object_key(r->res, r->route.namespace, w->name, r->a);
    return validate(w, NULL, API_CREATE) && check_segment(w);
}

static bool check_revision(struct write *w, const struct doc *live, const struct doc *d)
{
    static const char *const CONDITIONAL[] = {"leases", "leasecandidates", "podgroups",
                                              "workloads", "resourcepoolstatusrequests"};
    struct request *r = w->r;
    struct str want = meta_text(d, "resourceVersion");
    struct str have = meta_text(live, "resourceVersion");
    if (want.n && !str_is(want, "0"))
        return str_eq(want, have) ||
               fail_conflict(r, w->name,
                             "the object has been modified; please apply your changes "
                             "to the latest version and try again");
    for (size_t i = 0; i < sizeof CONDITIONAL / sizeof *CONDITIONAL; i++) {
        if (strcmp(CONDITIONAL[i], r->res->main->resource) != 0)
            continue;
        struct str text = STR("Invalid value: 0: must be specified for an update");
        fail_object(r, 422, "Invalid", w->name,
                    "%.*s \"%.*s\" is invalid: metadata.resourceVersion: %.*s",
                    STR_ARG(qualified(r->a, str_from(r->res->main->resource),
                                      str_from(r->res->main->group))),
                    STR_ARG(w->name), STR_ARG(text));
        fail_cause(r, "FieldValueInvalid", text, STR("metadata.resourceVersion"));
        return false;
    }
    return true;
}

static bool check_name(struct write *w, const struct doc *d)
{
    struct str name = meta_text(d, "name");
    if (name.n == 0 || str_eq(name, w->name))
        return true;
    return fail_bad(w->r,
                    "the name of the object (%.*s) does not match the name on the URL "
                    "(%.*s)",
                    STR_ARG(name), STR_ARG(w->name));
}

static bool fail_immutable_uid(struct write *w, struct str uid)
{
    struct request *r = w->r;
    const struct api_kind *k = r->res->main;
    struct str text =
        arena_printf(r->a, "Invalid value: \"%.*s\": field is immutable", STR_ARG(uid));
    fail(r, 422, "Invalid", "%.*s \"%.*s\" is invalid: metadata.uid: %.*s",
         STR_ARG(qualified(r->a, str_from(k->name), str_from(k->group))),
         STR_ARG(w->name), STR_ARG(text));
    fail_cause(r, "FieldValueInvalid", text, STR("metadata.uid"));
    r->failure.name = w->name;
    r->failure.group = str_from(k->group);
    r->failure.kind = str_from(k->name);
    return false;
}

bool write_check_identity(struct write *w, const struct doc *live, const struct doc *d)
{
    struct request *r = w->r;
    struct str uid = meta_text(d, "uid");
    if (!check_name(w, d))
        return false;
    struct str have = meta_text(live, "uid");
    if (uid.n == 0 || str_eq(uid, have))
        return true;
    if (w->patch)
        return fail_immutable_uid(w, uid);
    /* Upstream shows its own key, in which nodes are minions and groups are missing. */
    const char *resource = r->res->main->resource;
    struct str ns = r->route.namespace;
    struct str key = arena_printf(r->a, "/registry/%s/%.*s%s%.*s",
                                  strcmp(resource, "nodes") ? resource : "minions",
                                  STR_ARG(ns), ns.p ? "/" : "", STR_ARG(w->name));
    return fail_conflict(r, w->name,
                         "StorageError: invalid object, Code: 4, Key: %.*s, "
                         "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
                         "UID in precondition: %.*s, UID in object meta: %.*s",
                         STR_ARG(key), STR_ARG(uid), STR_ARG(have));
}

/* What clients cannot change. */
static void keep_meta(struct request *r, const struct doc *live, struct doc *d)
{
    static const char *const KEPT[] = {"name",
                                       "namespace",
                                       "uid",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "generation",
                                       "resourceVersion"};
    const struct doc *meta = doc_get(live, "metadata");
    drop_meta(d, "selfLink");
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        const struct doc *v = doc_get(meta, KEPT[i]);
        if (v)
            doc_set(r->a, object_meta(d), KEPT[i], *v);
        else
            drop_meta(d, KEPT[i]);
    }
}

/* Admission filled these in once; whoever leaves them out means them. */
static void keep_priority(struct request *r, const struct doc *live, struct doc *d)
{
    static const char *const KEPT[] = {"priority", "preemptionPolicy"};
    const struct doc *from = doc_get(live, "spec"), *to = doc_get(d, "spec");
    if (strcmp(r->res->main->resource, "pods") != 0 || !to || to->type != DOC_MAP)
        return;
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        if (!doc_get(to, KEPT[i]) && doc_get(from, KEPT[i]))
            doc_set(r->a, (struct doc *)to, KEPT[i], *doc_get(from, KEPT[i]));
}

/* Plugins that look at updates too: a pod gets the tolerations that it lacks. */
static void admit_again(struct request *r, struct doc *d)
{
    struct api_admit admit = {
        .a = r->a, .priority = 0, .preemption = "PreemptLowerPriority"};
    if (!r->res->sub && strcmp(r->res->main->resource, "pods") == 0)
        api_admit_create(&admit, r->res->hub, d);
}

static bool has_text(const struct doc *list, const struct doc *text)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_equal(&list->items[i], text))
            return true;
    return false;
}

/* What is on its way out takes no new finalizers. */
static bool check_finalizers(struct write *w, const struct doc *live, const struct doc *d)
{
    const struct doc *have = doc_path(live, "metadata.finalizers");
    const struct doc *want = doc_path(d, "metadata.finalizers");
    struct request *r = w->r;
    struct strbuf added = STRBUF_INIT;
    if (!meta_text(live, "deletionTimestamp").n)
        return true;
    for (uint32_t i = 0; want && want->type == DOC_LIST && i < want->n; i++)
        if (!has_text(have, &want->items[i])) {
            strbuf_adds(&added, added.n ? ", " : "");
            strbuf_add_quoted(&added, doc_str(&want->items[i]));
        }
    if (added.n == 0)
        return true;
    const struct api_kind *k = r->res->main;
    struct str text = arena_printf(r->a,
                                   "Forbidden: no new finalizers can be added if the "
                                   "object is being deleted, found new finalizers "
                                   "[]string{%s}",
                                   strbuf_cstr(&added));
    strbuf_release(&added);
    fail(r, 422, "Invalid", "%.*s \"%.*s\" is invalid: metadata.finalizers: %.*s",
         STR_ARG(qualified(r->a, str_from(k->name), str_from(k->group))),
         STR_ARG(w->name), STR_ARG(text));
    fail_cause(r, "FieldValueForbidden", text, STR("metadata.finalizers"));
    r->failure.name = w->name;
    r->failure.group = str_from(k->group);
    r->failure.kind = str_from(k->name);
    return false;
}

static uint32_t count_at(const struct doc *d, const char *path)
{
    const struct doc *list = doc_path(d, path);
    return list && list->type == DOC_LIST ? list->n : 0;
}

/* An object that waited for its end, and waits for nothing anymore. */
static bool is_finished(struct write *w)
{
    const struct doc *d = &w->object;
    int64_t grace = 0;
    if (!meta_text(d, "deletionTimestamp").n || count_at(d, "metadata.finalizers"))
        return false;
    doc_get_int64(doc_get(d, "metadata"), "deletionGracePeriodSeconds", &grace);
    bool namespace = strcmp(w->r->res->main->resource, "namespaces") == 0 &&
                     w->r->res->main->group[0] == '\0';
    return grace == 0 && !(namespace && count_at(d, "spec.finalizers"));
}

bool write_finish_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    struct doc live = object_doc(w->old, r->a), seen = object_doc(w->old, r->a);
    object_convert(r->res, &seen, r->a);
    ready_meta(r, d);
    if (!check_namespace(r, d) || !write_check_identity(w, &live, d) ||
        !check_revision(w, &live, d) || !check_finalizers(w, &live, d))
        return false;
    keep_meta(r, &live, d);
    keep_priority(r, &live, d);
    if (!w->owned)
        track(r, &seen, d);
    to_hub(r, d);
    api_drop_disabled(r->res->hub, d, &live, &r->s->gates);
    admit_again(r, d);
    const struct api_kind *kind = r->res->hub;
    bool side_only = r->res->sub && !is_scale(r->res);
    if (side_only) {
        struct str name = str_from(r->res->kind->resource);
        const struct api_kind *side =
            api_resource_find(str_from(kind->group), str_from(kind->version), name);
        kind = side ? side : r->res->kind;
    }
    struct api_prepare prepare = {.a = r->a, .now = r->now};
    api_prepare_update(&prepare, kind, d, &live);
    w->object = *d;
    if (!validate(w, &live, side_only ? API_UPDATE_STATUS : API_UPDATE))
        return false;
    w->drop = w->quiet = is_finished(w);
    return true;
}

/* ---- into the store ---- */

static void answer_status(struct write *w)
{
    struct request *r = w->r;
    r->failure = (struct failure){.code = w->code,
                                  .has_details = true,
                                  .name = w->name,
                                  .group = str_from(r->res->main->group),
                                  .kind = str_from(r->res->main->resource),
                                  .uid = meta_text(&w->object, "uid")};
    request_answer_failure(r);
}

static void finish(struct write *w, uint64_t revision)
{
    struct request *r = w->r;
    cache_object_unref(w->old);
    w->old = NULL;
    if (revision && !w->quiet)
        set_meta(r, &w->object, "resourceVersion",
                 arena_printf(r->a, "%llu", (unsigned long long)revision));
    if (w->then) {
        w->then(w, true);
    } else if (w->answer == WRITE_STATUS) {
        answer_status(w);
    } else {
        object_convert(r->res, &w->object, r->a);
        request_answer(r, w->code, &w->object);
    }
}

void write_fail(struct write *w)
{
    cache_object_unref(w->old);
    w->old = NULL;
    if (w->then)
        w->then(w, false);
    else
        request_answer_failure(w->r);
}

static void retry(struct write *w)
{
    cache_object_unref(w->old);
    w->old = NULL;
    w->drop = false;
    w->again(w);
}

static void fail_exists(struct write *w)
{
    struct request *r = w->r;
    struct cache_object *o = cache_get(r->s->cache, w->key);
    struct doc d = o ? object_doc(o, r->a) : doc_make_map();
    fail_object(r, 409, "AlreadyExists", w->name, "%s%.*s \"%.*s\" already exists",
                meta_text(&d, "deletionTimestamp").n ? "object is being deleted: " : "",
                STR_ARG(qualified(r->a, str_from(r->res->main->resource),
                                  str_from(r->res->main->group))),
                STR_ARG(w->name));
}

static void fail_stored(struct write *w, enum store_answer answer, const struct err *e)
{
    struct request *r = w->r;
    if (answer == STORE_EXISTS)
        fail_exists(w);
    else if (answer == STORE_MISSING)
        fail_missing(r, w->name);
    else if (answer == STORE_CONFLICT)
        fail_conflict(r, w->name,
                      "the object has been modified; please apply your changes to the "
                      "latest version and try again");
    else
        fail(r, 500, "InternalError", "Internal error occurred: %s",
             e ? err_text(e) : "store");
    write_fail(w);
}

static void stored(void *ctx, enum store_answer answer, uint64_t revision,
                   const struct err *e)
{
    struct write *w = ctx;
    bool raced = answer == STORE_CONFLICT || (answer == STORE_MISSING && w->old);
    bool named = w->old || meta_text(&w->body, "name").n;
    if (answer == STORE_OK)
        finish(w, revision);
    else if (raced && w->tries < MAX_TRIES)
        retry(w);
    else if (answer == STORE_EXISTS && !named && w->tries < MAX_NAMES)
        retry(w);
    else
        fail_stored(w, answer, e);
}

/* A write that changes nothing makes no revision. */
static bool changes_nothing(struct write *w)
{
    if (!w->old || w->drop)
        return false;
    struct doc live = object_doc(w->old, w->r->a);
    return apply_same_but_times(&live, &w->object, w->r->a);
}

static void commit_dry(struct write *w)
{
    struct str key = w->key;
    if (!w->old && cache_get(w->r->s->cache, key)) {
        fail_stored(w, STORE_EXISTS, NULL);
        return;
    }
    if (!w->old)
        drop_meta(&w->object, "resourceVersion");
    finish(w, 0);
}

void write_commit(struct write *w)
{
    if (w->r->dry_run) {
        commit_dry(w);
        return;
    }
    if (changes_nothing(w)) {
        w->object = object_doc(w->old, w->r->a);
        finish(w, 0);
        return;
    }
    struct strbuf b = STRBUF_INIT;
    struct store_write s = {
        .key = w->key, .expect = w->old ? w->old->revision : 0, .done = stored, .ctx = w};
    if (!w->drop) {
        object_encode(&w->object, &b);
        s.value = strbuf_str(&b);
    }
    w->tries++;
    store_submit(w->r->s->store, &s);
    strbuf_release(&b);
}

bool write_load(struct write *w)
{
    struct request *r = w->r;
    w->name = r->route.name;
    w->key = object_key(r->res, r->route.namespace, w->name, r->a);
    w->old = cache_get(r->s->cache, w->key);
    if (w->old)
        cache_object_ref(w->old);
    return w->old != NULL;
}

/* ---- verbs ---- */

static void create(struct write *w)
{
    struct doc d = doc_dup(w->r->a, &w->body);
    if (write_finish_create(w, &d))
        write_commit(w);
    else
        write_fail(w);
}

void write_create(struct request *r)
{
    if (kinds_is_binding(r->res)) {
        binding_create(r);
        return;
    }
    struct write *w = ARENA_NEW(r->a, struct write);
    *w = (struct write){.r = r, .code = 201, .again = create};
    if (write_read_body(r, &w->body))
        create(w);
    else
        write_fail(w);
}

static bool make_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    if (write_load(w)) {
        w->code = 200;
        return is_scale(w->r->res) ? scale_finish_update(w, d)
                                   : write_finish_update(w, d);
    }
    if (r->res->sub || !kinds_put_creates(r->res->main))
        return fail_missing(r, w->name);
    w->code = 201;
    return write_finish_create(w, d);
}

static void update(struct write *w)
{
    struct doc d = doc_dup(w->r->a, &w->body);
    if (make_update(w, &d))
        write_commit(w);
    else
        write_fail(w);
}

void write_update(struct request *r)
{
    struct write *w = ARENA_NEW(r->a, struct write);
    *w = (struct write){.r = r, .again = update};
    w->name = r->route.name;
    bool ok =
        is_scale(r->res) ? scale_read_body(r, &w->body) : write_read_body(r, &w->body);
    if (ok && check_name(w, &w->body))
        update(w);
    else
        write_fail(w);
}
