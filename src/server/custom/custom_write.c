/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom resources on their way into the store. All is done in the version of the
 * request, whose schema it has to fit; the last step brings it into the one that is
 * stored.
 */
#include <stdlib.h>
#include <string.h>

#include "api/canonical.h"
#include "server/access/escalation.h"
#include "server/access/owners.h"
#include "server/admission/admission.h"
#include "server/custom/custom.h"
#include "server/rest/scale.h"

/* ---- validation ---- */

static void warn(void *ctx, struct str text)
{
    request_warn(ctx, text);
}

static struct api_error *add_error(struct request *r, struct api_errors *errors,
                                   struct str path, const struct doc *value,
                                   struct str bad, struct str detail)
{
    struct api_error e = {.type = API_ERROR_INVALID,
                          .path = path,
                          .bad = bad,
                          .detail = detail,
                          .pos = UINT32_MAX,
                          .value = value};
    vec_push(&errors->list, e);
    return &errors->list.v[errors->list.n - 1];
}

static bool check_kind(struct request *r, const struct doc *d, struct api_errors *errors)
{
    const struct doc *kind = doc_get(d, "kind");
    const char *want = r->res->main->name;
    if (doc_is_string(kind, want))
        return true;
    struct str said = kind && kind->type == DOC_STRING ? doc_str(kind) : STR("");
    add_error(r, errors, STR("kind"), kind, arena_printf(r->a, "\"%.*s\"", STR_ARG(said)),
              arena_printf(r->a, "must be %s", want));
    return false;
}

const char *custom_go_type(const struct doc *d)
{
    int64_t whole;
    switch (d->type) {
    case DOC_BOOL:
        return "bool";
    case DOC_NUMBER:
        return doc_int64(d, &whole) ? "int64" : "float64";
    case DOC_STRING:
        return "string";
    case DOC_LIST:
        return "[]interface {}";
    default:
        return "map[string]interface {}";
    }
}

static struct str go_value(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (d->type == DOC_STRING)
        return doc_str(d);
    doc_write_json(d, DOC_JSON_SORT, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* NULL: nothing there. */
static const struct doc *at_path(const struct doc *d, const char *path)
{
    const struct doc *v = path ? doc_path(d, path) : NULL;
    return v && v->type != DOC_NULL ? v : NULL;
}

static struct str of_wrong_type(struct request *r, const char *path, const struct doc *v,
                                const char *want)
{
    return arena_printf(r->a, ".%s accessor error: %.*s is of the type %s, expected %s",
                        path, STR_ARG(go_value(v, r->a)), custom_go_type(v), want);
}

static void check_replicas(struct request *r, const struct doc *d, const char *path,
                           struct api_errors *errors)
{
    const struct doc *v = at_path(d, path);
    int64_t n = 0;
    if (!path || !v)
        return;
    struct str at = arena_printf(r->a, ".%s", path);
    if (v->type != DOC_NUMBER || !doc_int64(v, &n))
        add_error(r, errors, at, v, STR("0"), of_wrong_type(r, path, v, "int64"));
    else if (n < 0)
        add_error(r, errors, at, v, doc_str(v), STR("should be a non-negative integer"));
    else if (n > INT32_MAX)
        add_error(r, errors, at, v, doc_str(v),
                  STR("should be less than or equal to 2147483647"));
}

/* What the subresource shows must be there to be shown. */
static void check_scale(struct request *r, const struct doc *d, bool status,
                        struct api_errors *errors)
{
    const struct custom_version *v = r->res->custom;
    if (!v->has_scale)
        return;
    if (!status)
        check_replicas(r, d, v->spec_replicas, errors);
    check_replicas(r, d, v->status_replicas, errors);
    const struct doc *selector = at_path(d, v->label_selector);
    if (v->label_selector && selector && selector->type != DOC_STRING)
        add_error(r, errors, arena_printf(r->a, ".%s", v->label_selector), selector,
                  STR("\"\""), of_wrong_type(r, v->label_selector, selector, "string"));
}

static bool is_cancelled(void *ctx)
{
    return false;
}

static bool validate(struct write *w, const struct doc *d, const struct doc *old,
                     enum api_op op)
{
    struct request *r = w->r;
    struct api_errors errors = {0};
    bool status = op == API_UPDATE_STATUS;
    struct api_validate_opts meta = {
        .op = op, .old = old, .gates = &r->s->gates, .part = r->res->sub};
    struct structural_validate_opts opts = {.old = old,
                                            .status = status,
                                            .warn = warn,
                                            .warn_ctx = r,
                                            .cancelled = is_cancelled};
    if (check_kind(r, d, &errors)) {
        api_validate_metadata(doc_get(d, "metadata"), doc_get(old, "metadata"),
                              r->res->main->namespaced, "subdomain", STR("metadata"),
                              &meta, r->a, &errors);
        structural_validate(r->res->custom->schema, d, &opts, r->a, &errors);
        check_scale(r, d, status, &errors);
    }
    bool ok = errors.list.n == 0 || write_fail_invalid(r, w->name, &errors);
    if (!ok && !doc_is_string(doc_get(d, "kind"), r->res->main->name))
        write_name_kind(r, doc_get_text(d, "kind"));
    api_errors_release(&errors);
    return ok;
}

/* ---- finalizers that look as if they could be somebody else's ---- */

static bool lists(const struct doc *list, struct str text)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (list->items[i].type == DOC_STRING && str_eq(doc_str(&list->items[i]), text))
            return true;
    return false;
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static void warn_of_finalizer(struct request *r, struct str name)
{
    static const char *const STANDARD[] = {"orphan", "foregroundDeletion", "kubernetes"};
    if (str_find_byte(name, '/', 0) != SIZE_MAX)
        return;
    for (size_t i = 0; i < sizeof STANDARD / sizeof *STANDARD; i++)
        if (str_is(name, STANDARD[i]))
            return;
    bool domain = str_find_byte(name, '.', 0) != SIZE_MAX;
    request_warn(r,
                 arena_printf(r->a,
                              "metadata.finalizers: \"%.*s\": prefer a domain-qualified "
                              "finalizer name %sto avoid accidental conflicts with other "
                              "finalizer writers",
                              STR_ARG(name), domain ? "including a path (/) " : ""));
}

static void warn_of_finalizers(struct request *r, const struct doc *d,
                               const struct doc *old)
{
    const struct doc *list = doc_path(d, "metadata.finalizers"),
                     *had = doc_path(old, "metadata.finalizers");
    uint32_t n = list && list->type == DOC_LIST ? list->n : 0, added = 0;
    struct str *names = ARENA_ARRAY(r->a, struct str, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (!lists(had, doc_str(&list->items[i])))
            names[added++] = doc_str(&list->items[i]);
    if (added)
        qsort(names, added, sizeof *names, by_text);
    for (uint32_t i = 0; i < added; i++)
        if (i == 0 || !str_eq(names[i], names[i - 1]))
            warn_of_finalizer(r, names[i]);
}

/* ---- generations ---- */

static void set_generation(struct request *r, struct doc *d, int64_t n)
{
    doc_set(r->a, object_meta(d), "generation", doc_make_int(r->a, n));
}

static bool same_but_metadata(struct request *r, const struct doc *x, const struct doc *y)
{
    struct doc a = doc_dup(r->a, x), b = doc_dup(r->a, y);
    doc_remove(&a, STR("metadata"));
    doc_remove(&b, STR("metadata"));
    return doc_equal(&a, &b);
}

static void count_change(struct request *r, struct doc *d, const struct doc *live)
{
    int64_t n = 0;
    doc_get_int64(doc_get(live, "metadata"), "generation", &n);
    n = n ? n : 1;
    set_generation(r, d, same_but_metadata(r, d, live) ? n : n + 1);
}

/* ---- what is written through which side ---- */

static void take_member(struct request *r, struct doc *d, const struct doc *from,
                        const char *key)
{
    const struct doc *v = doc_get(from, key);
    if (v)
        doc_set(r->a, d, key, doc_dup(r->a, v));
    else
        doc_remove(d, str_from(key));
}

/* Of the status alone; who owns it is told in the metadata. */
static void keep_all_but_status(struct request *r, struct doc *d, const struct doc *live)
{
    struct doc whole = doc_dup(r->a, live);
    const struct doc *entries = doc_path(d, "metadata.managedFields");
    take_member(r, &whole, d, "status");
    if (entries)
        doc_set(r->a, object_meta(&whole), "managedFields", *entries);
    else
        write_drop_meta(&whole, "managedFields");
    *d = whole;
}

static void prepare_update(struct request *r, struct doc *d, const struct doc *live)
{
    if (r->res->sub && strcmp(r->res->sub, "status") == 0) {
        keep_all_but_status(r, d, live);
        return;
    }
    if (r->res->custom->has_status)
        take_member(r, d, live, "status");
    count_change(r, d, live);
}

/* ---- all of it ---- */

static bool store_as(struct write *w, struct doc *d)
{
    w->object = *d;
    return custom_to_stored(w->r, w->r->res, &w->object, w->r->a);
}

bool custom_finish_create(struct write *w, struct doc *d, struct str given)
{
    struct request *r = w->r;
    struct admission admission = {r, ADMIT_CREATE, given, d, NULL};
    if (r->res->custom->of->terminating) {
        w->name = given;
        return fail_object(r, 403, "Forbidden", given,
                           "%.*s \"%.*s\" is forbidden: create not allowed while custom "
                           "resource definition is terminating",
                           STR_ARG(qualified(r->a, str_from(r->res->main->resource),
                                             str_from(r->res->main->group))),
                           STR_ARG(given));
    }
    if (!admission_mutate(&admission))
        return false;
    owners_once(r, d, true);
    write_identify(w, d);
    if (!escalation_check(r, d, NULL))
        return false;
    structural_default(r->res->custom->schema, d, r->a);
    if (r->res->custom->has_status)
        doc_remove(d, STR("status"));
    set_generation(r, d, 1);
    w->key = object_key(r->res, r->route.namespace, w->name, r->a);
    admission.name = w->name;
    if (!validate(w, d, NULL, API_CREATE) || !identity_named(w) ||
        !admission_validate(&admission))
        return false;
    warn_of_finalizers(r, d, NULL);
    return store_as(w, d);
}

bool custom_finish_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    struct doc live = doc_dup(r->a, write_live(w));
    if (!custom_convert(r, r->res, &live, r->a))
        return false;
    struct admission admission = {r, ADMIT_UPDATE, w->name, d, &live};
    if (!admission_mutate(&admission))
        return false;
    owners_once(r, d, true);
    if (!escalation_check(r, d, &live))
        return false;
    structural_default(r->res->custom->schema, d, r->a);
    prepare_update(r, d, &live);
    bool status = r->res->sub && strcmp(r->res->sub, "status") == 0;
    if (!validate(w, d, &live, status ? API_UPDATE_STATUS : API_UPDATE) ||
        !admission_validate(&admission))
        return false;
    if (!status)
        warn_of_finalizers(r, d, &live);
    if (!store_as(w, d))
        return false;
    w->drop = w->quiet = write_is_finished(w);
    return true;
}
