/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/review.h"
#include "server/custom/custom.h"

#include "api/canonical.h"
#include "api/convert.h"
#include "api/decode.h"
#include "api/defaults.h"
#include "server/admission/admit.h"
#include "server/rest/scale.h"

/* ---- names ---- */

/* "policy/v1/Eviction" of a body that is none of its resource. */
struct review_kind review_kind_of(const struct resource *res)
{
    struct str name = str_from(res->kind->name);
    size_t last = str_rfind_byte(name, '/');
    if (last == SIZE_MAX)
        return (struct review_kind){str_from(res->main->group),
                                    str_from(res->main->version), name};
    struct str version = str_sub(name, 0, last);
    size_t slash = str_find_byte(version, '/', 0);
    return (struct review_kind){str_sub(version, 0, slash),
                                str_sub(version, slash + 1, SIZE_MAX),
                                str_sub(name, last + 1, SIZE_MAX)};
}

static void set_text(struct arena *a, struct doc *d, const char *key, struct str s)
{
    doc_add_str(a, d, str_from(key), doc_make_string(a, s));
}

static void set_some(struct arena *a, struct doc *d, const char *key, struct str s)
{
    if (s.n)
        set_text(a, d, key, s);
}

static struct doc kind_doc(const struct resource *res, struct arena *a)
{
    struct review_kind k = review_kind_of(res);
    struct doc d = doc_make_map();
    set_text(a, &d, "group", k.group);
    set_text(a, &d, "version", k.version);
    set_text(a, &d, "kind", k.kind);
    return d;
}

static struct doc resource_doc(const struct resource *res, struct arena *a)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "group", str_from(res->main->group));
    set_text(a, &d, "version", str_from(res->main->version));
    set_text(a, &d, "resource", str_from(res->main->resource));
    return d;
}

/* ---- options ---- */

static void set_dry_run(struct request *r, struct doc *d)
{
    struct doc list = doc_make_list();
    if (!r->dry_run)
        return;
    doc_append(r->a, &list, doc_make_string(r->a, STR("All")));
    doc_set(r->a, d, "dryRun", list);
}

static void set_kind(struct request *r, struct doc *d, const char *kind)
{
    doc_set(r->a, d, "kind", doc_make_string(r->a, str_from(kind)));
    doc_set(r->a, d, "apiVersion", doc_make_string(r->a, STR("meta.k8s.io/v1")));
}

static struct doc write_options(struct request *r, const char *kind)
{
    struct doc d = doc_make_map();
    set_kind(r, &d, kind);
    set_dry_run(r, &d);
    set_some(r->a, &d, "fieldManager", query_get(&r->query, "fieldManager"));
    set_some(r->a, &d, "fieldValidation", query_get(&r->query, "fieldValidation"));
    return d;
}

static struct doc delete_options(struct request *r)
{
    struct doc d = doc_make_map();
    struct doc_source src;
    struct str grace = query_get(&r->query, "gracePeriodSeconds");
    int64_t seconds;
    if (!r->x->body.n || !write_read_document(r, &src, &d))
        d = doc_make_map();
    struct doc number = doc_make_string(r->a, grace);
    number.type = DOC_NUMBER;
    set_kind(r, &d, "DeleteOptions");
    if (grace.n && doc_int64(&number, &seconds))
        doc_set(r->a, &d, "gracePeriodSeconds", number);
    struct str policy = query_get(&r->query, "propagationPolicy");
    if (policy.n)
        doc_set(r->a, &d, "propagationPolicy", doc_make_string(r->a, policy));
    set_dry_run(r, &d);
    return d;
}

static struct doc options_doc(struct admission *a)
{
    switch (a->verb) {
    case ADMIT_CREATE:
        return write_options(a->r, "CreateOptions");
    case ADMIT_UPDATE:
        return write_options(a->r, "UpdateOptions");
    case ADMIT_DELETE:
        return delete_options(a->r);
    default:
        return doc_make_null();
    }
}

/* ---- the request ---- */

struct doc review_request(struct admission *a, const struct resource *as)
{
    struct request *r = a->r;
    struct doc d = doc_make_map();
    struct str sub = str_from(admit_sub(a));
    set_text(r->a, &d, "uid", STR(""));
    doc_set(r->a, &d, "kind", kind_doc(as, r->a));
    doc_set(r->a, &d, "resource", resource_doc(as, r->a));
    set_some(r->a, &d, "subResource", sub);
    doc_set(r->a, &d, "requestKind", kind_doc(r->res, r->a));
    doc_set(r->a, &d, "requestResource", resource_doc(r->res, r->a));
    set_some(r->a, &d, "requestSubResource", sub);
    set_some(r->a, &d, "name", match_name(a));
    set_some(r->a, &d, "namespace", match_namespace(a));
    set_text(r->a, &d, "operation", str_from(match_operation(a)));
    doc_set(r->a, &d, "userInfo", user_doc(r->user, r->a));
    doc_set(r->a, &d, "object", doc_make_null());
    doc_set(r->a, &d, "oldObject", doc_make_null());
    doc_set(r->a, &d, "dryRun", doc_make_bool(r->dry_run));
    doc_set(r->a, &d, "options", options_doc(a));
    return d;
}

/* ---- objects ---- */

/* A body that is none of its resource: Binding, Eviction, TokenRequest. */
static bool is_own(const struct resource *res)
{
    return strchr(res->kind->name, '/') || strcmp(res->kind->name, res->main->name) != 0;
}

static struct doc in_version(struct admission *a, const struct resource *as,
                             const struct doc *d)
{
    struct request *r = a->r;
    struct doc copy = doc_dup(r->a, d);
    if (is_scale(r->res)) {
        object_convert(NULL, r->res, &copy, r->a);
        return scale_of(r, &copy);
    }
    if (!is_own(r->res))
        object_convert(NULL, as, &copy, r->a);
    return copy;
}

static bool is_ready(struct admission *a, const struct resource *as, const struct doc *d)
{
    if (!d)
        return true;
    struct doc copy = doc_dup(a->r->a, d);
    return object_convert(a->r, as, &copy, a->r->a);
}

bool review_ready(struct admission *a, const struct resource *as)
{
    if (!custom_asks(as) || as->main == a->r->res->main)
        return true;
    return is_ready(a, as, a->object) && is_ready(a, as, a->old);
}

/* What a connection asks for, which is its query. */
static const struct {
    const char *kind;
    const char *bools[5], *texts[2], *lists[2];
} CONNECTS[] = {
    {"PodExecOptions", {"stdin", "stdout", "stderr", "tty"}, {"container"}, {"command"}},
    {"PodAttachOptions", {"stdin", "stdout", "stderr", "tty"}, {"container"}, {0}},
    {"PodPortForwardOptions", {0}, {0}, {"ports"}},
    {"PodProxyOptions", {0}, {"path"}, {0}},
    {"NodeProxyOptions", {0}, {"path"}, {0}},
    {"ServiceProxyOptions", {0}, {"path"}, {0}},
};

static void set_list(struct request *r, struct doc *d, const char *name)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < r->query.n; i++)
        if (str_is(r->query.params[i].name, name)) {
            struct doc item = doc_make_string(r->a, r->query.params[i].value);
            item.type = strcmp(name, "ports") == 0 ? DOC_NUMBER : DOC_STRING;
            doc_append(r->a, &list, item);
        }
    if (list.n)
        doc_set(r->a, d, name, list);
}

static bool connect_options(struct request *r, struct doc *out)
{
    size_t at = 0, n = sizeof CONNECTS / sizeof *CONNECTS;
    while (at < n && strcmp(CONNECTS[at].kind, r->res->kind->name) != 0)
        at++;
    if (at == n)
        return false;
    *out = doc_make_map();
    set_text(r->a, out, "kind", str_from(r->res->kind->name));
    set_text(r->a, out, "apiVersion", STR("v1"));
    for (size_t i = 0; CONNECTS[at].bools[i]; i++)
        if (query_bool(&r->query, CONNECTS[at].bools[i]))
            doc_set(r->a, out, CONNECTS[at].bools[i], doc_make_bool(true));
    for (size_t i = 0; i < 2 && CONNECTS[at].texts[i]; i++) {
        struct str value = query_get(&r->query, CONNECTS[at].texts[i]);
        if (strcmp(CONNECTS[at].texts[i], "path") == 0)
            value = r->route.rest;
        set_some(r->a, out, CONNECTS[at].texts[i], value);
    }
    for (size_t i = 0; i < 2 && CONNECTS[at].lists[i]; i++)
        set_list(r, out, CONNECTS[at].lists[i]);
    return true;
}

bool review_object(struct admission *a, const struct resource *as, struct doc *out)
{
    if (a->verb == ADMIT_CONNECT)
        return connect_options(a->r, out);
    if (a->object)
        *out = in_version(a, as, a->object);
    return a->object != NULL;
}

bool review_old(struct admission *a, const struct resource *as, struct doc *out)
{
    if (a->old)
        *out = in_version(a, as, a->old);
    return a->old != NULL;
}

/* ---- back ---- */

static void take_scale(struct admission *a, const struct doc *d)
{
    const struct doc *replicas = doc_path(d, "spec.replicas");
    const struct doc *spec = doc_get(a->object, "spec");
    if (replicas && a->r->res->custom)
        custom_set_path(a->object, a->r->res->custom->spec_replicas, *replicas, a->r->a);
    if (!replicas || !spec || a->r->res->custom)
        return;
    struct doc copy = doc_dup(a->r->a, spec);
    doc_set(a->r->a, &copy, "replicas", *replicas);
    doc_set(a->r->a, a->object, "spec", copy);
}

bool review_fail(struct request *r, struct str why)
{
    fail(r, 500, "InternalError", "Internal error occurred: %.*s", STR_ARG(why));
    r->failure.has_details = true;
    fail_cause(r, NULL, why, STR_NONE);
    return false;
}

static bool fail_shape(struct admission *a, const struct api_issues *issues)
{
    struct str why = STR("the patched object is no object");
    for (size_t i = issues->list.n; i-- > 0;) {
        const struct api_issue *issue = &issues->list.v[i];
        why = issue->kind == API_WRONG_TYPE
                  ? arena_printf(a->r->a, "%.*s: %.*s", STR_ARG(issue->path),
                                 STR_ARG(issue->text))
                  : arena_printf(a->r->a, "strict decoding error: unknown field \"%.*s\"",
                                 STR_ARG(issue->path));
    }
    return review_fail(a->r, why);
}

/* What is of a wrong type is an error; unknown fields go, unless strict is set. */
static bool check_shape(struct admission *a, const struct api_kind *k, bool strict,
                        struct doc *d)
{
    struct api_issues issues = {0};
    bool ok = d->type == DOC_MAP &&
              (!k->type || api_check_object(k, d, NULL, a->r->a, &issues));
    ok = ok && !(strict && issues.list.n);
    if (!ok)
        fail_shape(a, &issues);
    api_issues_release(&issues);
    return ok;
}

static void to_hub(struct request *r, const struct resource *as, struct doc *d)
{
    const struct api_kind *hub = as->hub;
    struct str version =
        arena_printf(r->a, "%s%s%s", hub->group, hub->group[0] ? "/" : "", hub->version);
    api_convert(as->main, hub, d, r->a);
    doc_set(r->a, d, "apiVersion", doc_make_string(r->a, version));
}

/* Back into the version of the request, in which it goes on its way. */
static bool take_custom(struct admission *a, const struct resource *as, bool strict,
                        struct doc *d)
{
    struct api_issues issues = {0};
    struct str why = STR_NONE;
    bool fits =
        d->type == DOC_MAP && custom_complete(as, d, NULL, a->r->a, &issues, &why);
    bool ok = fits && !(strict && issues.list.n);
    if (!ok && why.p)
        review_fail(a->r, why);
    else if (!ok)
        fail_shape(a, &issues);
    api_issues_release(&issues);
    if (!ok)
        return false;
    if (as->main != a->r->res->main && !custom_convert(a->r, a->r->res, d, a->r->a))
        return false;
    *a->object = *d;
    return true;
}

bool review_take(struct admission *a, const struct resource *as, bool strict,
                 struct doc *d)
{
    struct request *r = a->r;
    bool own = is_own(r->res);
    if (as->custom && !is_scale(r->res))
        return take_custom(a, as, strict, d);
    const struct api_kind *k = own ? r->res->kind : as->main;
    if (!check_shape(a, k, strict, d))
        return false;
    if (is_scale(r->res)) {
        take_scale(a, d);
        return true;
    }
    if (k->type) {
        api_default(k, d, r->now, r->a);
        api_canonical(k->type, d, r->a);
    }
    if (!own && as->main != as->hub) {
        to_hub(r, as, d);
        api_canonical(as->hub->type, d, r->a);
    }
    *a->object = *d;
    return true;
}
