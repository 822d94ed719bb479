/* SPDX-License-Identifier: Apache-2.0 */
/* From what a client sent to what is stored: completed, admitted, validated. */
#include "server/rest/scale.h"

#include "api/apply.h"
#include "api/canonical.h"
#include "api/convert.h"
#include "api/defaults.h"
#include "api/definition.h"
#include "api/prepare.h"
#include "api/validate.h"
#include "api/warn.h"
#include "base/quote.h"
#include "server/access/certificates.h"
#include "server/access/escalation.h"
#include "server/access/owners.h"
#include "server/access/user.h"
#include "server/admission/admission.h"
#include "server/custom/custom.h"
#include "server/custom/definition.h"
#include "server/service/claims.h"

void write_set_meta(struct request *r, struct doc *d, const char *key, struct str value)
{
    doc_set(r->a, object_meta(d), key, doc_make_string(r->a, value));
}

void write_drop_meta(struct doc *d, const char *key)
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

bool write_fail_invalid(struct request *r, struct str name,
                        const struct api_errors *errors)
{
    const struct api_kind *k = r->res->hub;
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

void write_name_kind(struct request *r, struct str kind)
{
    struct failure *f = &r->failure;
    size_t end = str_find(f->message, STR(" \""));
    struct str group = str_from(r->res->main->group);
    f->message = arena_printf(r->a, "%.*s%.*s", STR_ARG(qualified(r->a, kind, group)),
                              STR_ARG(str_sub(f->message, end, SIZE_MAX)));
    f->kind = kind;
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

/* The drivers of slices are compared as they are written. */
static void warn_of_driver(struct write *w)
{
    struct request *r = w->r;
    const struct doc *d = doc_path(&w->object, "spec.driver");
    struct strbuf b = STRBUF_INIT;
    bool upper = false;
    for (size_t i = 0; d && d->type == DOC_STRING && i < d->n; i++)
        upper = upper || (d->s[i] >= 'A' && d->s[i] <= 'Z');
    if (upper && strcmp(r->res->main->resource, "resourceslices") == 0) {
        strbuf_addf(&b, "spec.driver: driver names should be lowercase; ");
        strbuf_add_quoted(&b, doc_str(d));
        strbuf_adds(&b, " contains uppercase characters");
        request_warn(r, arena_str(r->a, strbuf_str(&b)));
    }
    strbuf_release(&b);
}

static void warn_one(void *ctx, struct str text)
{
    request_warn(ctx, text);
}

static void warn(struct write *w, const struct doc *old)
{
    struct api_warn all = {w->r->a, warn_one, w->r};
    const struct api_kind *kind = w->r->res->hub;
    if (w->r->res->sub)
        kind = api_resource_find(str_from(kind->group), str_from(kind->version),
                                 str_from(w->r->res->kind->resource));
    warn_of_driver(w);
    if (kind)
        api_warn(&all, kind, &w->object, old);
}

static void warn_of_definition(struct request *r, const struct doc *d,
                               const struct doc *old)
{
    structural_warnings(doc_get(d, "spec"), doc_get(old, "spec"), r->a, warn_one, r);
}

static void validate_definition(struct request *r, const struct doc *d,
                                const struct doc *old, enum api_op op,
                                struct api_errors *errors)
{
    struct api_definition_opts opts = {
        .cel = r->s->cel, .old = old, .status = op == API_UPDATE_STATUS};
    api_definition_validate(d, &opts, r->a, errors);
    if (errors->list.n == 0 && op != API_UPDATE_STATUS)
        warn_of_definition(r, d, old);
}

static bool validate(struct write *w, const struct doc *old, enum api_op op)
{
    struct request *r = w->r;
    struct api_validate_opts opts = {.op = op,
                                     .old = old,
                                     .gates = &r->s->gates,
                                     .admin_namespace = allows_admin(r),
                                     .requested_version = r->res->main->version,
                                     .requested_group = r->res->main->group,
                                     .part = r->res->sub,
                                     .patch = str_is(r->x->method, "PATCH")};
    struct api_errors errors = {0};
    struct doc object = w->object;
    if (r->sent) {
        struct doc sent = doc_dup(r->a, r->sent);
        if (r->res->main != r->res->hub)
            api_convert(r->res->main, r->res->hub, &sent, r->a);
        object = doc_dup(r->a, &w->object);
        api_restore_empty_lists(r->res->hub->type, &object, &sent, r->a);
        api_drop_disabled(r->res->hub, &object, old, &r->s->gates);
    }
    if (op == API_UPDATE_STATUS)
        escalation_check_claim(r, &w->object, old, &errors);
    certificates_check(r, &object, old, &errors);
    api_validate(r->res->hub, &object, &opts, r->a, &errors);
    if (definition_is_one(r->res))
        validate_definition(r, &object, old, op, &errors);
    bool ok = errors.list.n == 0 || write_fail_invalid(r, w->name, &errors);
    api_errors_release(&errors);
    if (ok)
        warn(w, old);
    return ok;
}

/* ---- ownership ---- */

struct doc write_track(struct request *r, const struct doc *live, const struct doc *d)
{
    struct apply_write w = {
        .kind = r->res->kind,
        .now = r->now,
        .convert = custom_asks(r->res) ? custom_convert_owned : NULL,
        .convert_ctx = r,
        .manager = apply_manager_name(query_get(&r->query, "fieldManager"),
                                      net_header_get(r->x, "user-agent"), r->a)};
    return apply_update(&w, live, d, r->a);
}

bool write_stands(const struct request *r)
{
    return !custom_asks(r->res) || (!r->failure.waits && !r->failure.code);
}

static bool track(struct request *r, const struct doc *live, struct doc *d)
{
    struct api_prepare prepare = {.a = r->a, .now = r->now};
    api_prepare_sent(&prepare, r->res->main, d);
    struct doc entries = write_track(r, live, d);
    if (entries.n)
        doc_set(r->a, object_meta(d), "managedFields", entries);
    else
        write_drop_meta(d, "managedFields");
    return write_stands(r);
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

static struct doc *ready_meta(struct request *r, struct doc *d)
{
    if (!object_meta(d))
        doc_set(r->a, d, "metadata", doc_make_map());
    return object_meta(d);
}

/* As the client knows it: what a name that is yet to be made will begin with. */
static struct str name_given(const struct request *r, const struct doc *d)
{
    if (r->route.name.p)
        return r->route.name;
    struct str name = meta_text(d, "name");
    return name.n ? name : meta_text(d, "generateName");
}

/* Admission knows a new object as the client does; from here on it is one. */
void write_identify(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    identity_name(w, d);
    if (!w->uid.n)
        w->uid = write_new_uid(r->a);
    write_set_meta(r, d, "uid", w->uid);
    write_set_meta(r, d, "creationTimestamp", r->now);
}

bool write_finish_create(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    ready_meta(r, d);
    struct str given = name_given(r, d);
    if (!identity_namespace(r, d))
        return false;
    if (meta_text(d, "resourceVersion").n && !r->dry_run)
        return fail(r, 500, NULL,
                    "resourceVersion should not be set on objects to be created");
    write_drop_meta(d, "deletionTimestamp");
    write_drop_meta(d, "deletionGracePeriodSeconds");
    write_drop_meta(d, "selfLink");
    write_drop_meta(d, "generation");
    write_drop_meta(d, "uid");
    write_drop_meta(d, "creationTimestamp");
    if (!w->patch)
        owners_once(r, d, false);
    if (!w->owned)
        track(r, NULL, d);
    if (r->res->custom)
        return custom_finish_create(w, d, given);
    if (definition_is_one(r->res))
        w->then = definition_created;
    to_hub(r, d);
    api_drop_disabled(r->res->hub, d, NULL, &r->s->gates);
    struct admission admission = {r, ADMIT_CREATE, given, d, NULL};
    if (!admission_mutate(&admission))
        return false;
    owners_once(r, d, true);
    write_identify(w, d);
    if (!escalation_check(r, d, NULL))
        return false;
    if (!service_choose(w, d, NULL))
        return false;
    struct doc user = user_doc(r->user, r->a);
    struct api_prepare prepare = {
        .a = r->a, .now = r->now, .user = &user, .shares_labels = r->shares_labels};
    api_prepare_create(&prepare, r->res->hub, d);
    w->object = *d;
    w->key = object_key(r->res, r->route.namespace, w->name, r->a);
    admission.object = &w->object;
    admission.name = w->name;
    return validate(w, NULL, API_CREATE) && identity_named(w) &&
           admission_validate(&admission);
}

/* What clients cannot change. */
static void keep_meta(struct request *r, const struct doc *live, struct doc *d)
{
    static const char *const KEPT[] = {
        "name",       "namespace",      "uid", "creationTimestamp", "deletionTimestamp",
        "generation", "resourceVersion"};
    const struct doc *meta = doc_get(live, "metadata");
    write_drop_meta(d, "selfLink");
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        const struct doc *v = doc_get(meta, KEPT[i]);
        if (v)
            doc_set(r->a, object_meta(d), KEPT[i], *v);
        else
            write_drop_meta(d, KEPT[i]);
    }
    const struct doc *grace = doc_get(meta, "deletionGracePeriodSeconds");
    if (grace && !doc_get(object_meta(d), "deletionGracePeriodSeconds"))
        doc_set(r->a, object_meta(d), "deletionGracePeriodSeconds", *grace);
}

static uint32_t count_at(const struct doc *d, const char *path)
{
    const struct doc *list = doc_path(d, path);
    return list && list->type == DOC_LIST ? list->n : 0;
}

/* An object that waited for its end, and waits for nothing anymore. */
bool write_is_finished(struct write *w)
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

/* Ownership is told in the version of the request. */
static bool track_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    if (r->res->main == r->res->hub)
        return track(r, write_live(w), d);
    struct doc seen = doc_dup(r->a, write_live(w));
    object_convert(NULL, r->res, &seen, r->a);
    return track(r, &seen, d);
}

bool write_finish_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    if (!write_readable(w))
        return false;
    const struct doc *live = write_live(w);
    ready_meta(r, d);
    if (!identity_namespace(r, d) || !identity_same(w, live, d) ||
        !identity_revision(w, live, d))
        return false;
    keep_meta(r, live, d);
    if (!w->patch)
        owners_once(r, d, false);
    if (!w->owned && !track_update(w, d))
        return false;
    if (r->res->custom)
        return custom_finish_update(w, d);
    to_hub(r, d);
    api_drop_disabled(r->res->hub, d, live, &r->s->gates);
    struct admission admission = {r, ADMIT_UPDATE, w->name, d, live};
    if (!admission_mutate(&admission))
        return false;
    owners_once(r, d, true);
    if (!escalation_check(r, d, live))
        return false;
    if (!service_choose(w, d, live))
        return false;
    const struct api_kind *kind = r->res->hub;
    bool side_only = r->res->sub && !is_scale(r->res);
    if (side_only) {
        struct str name = str_from(r->res->kind->resource);
        const struct api_kind *side =
            api_resource_find(str_from(kind->group), str_from(kind->version), name);
        kind = side ? side : r->res->kind;
    }
    struct api_prepare prepare = {.a = r->a, .now = r->now};
    api_prepare_update(&prepare, kind, d, live);
    w->object = *d;
    bool status = side_only && strcmp(r->res->sub, "status") == 0;
    if (!validate(w, live, status ? API_UPDATE_STATUS : API_UPDATE))
        return false;
    w->drop = w->quiet = write_is_finished(w);
    admission.object = &w->object;
    return admission_validate(&admission);
}
