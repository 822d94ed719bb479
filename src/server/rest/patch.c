/* SPDX-License-Identifier: Apache-2.0 */
/* Patches: of JSON, by merging, strategic, and applied. */
#include <stdlib.h>
#include <strings.h>

#include "api/apply.h"
#include "api/canonical.h"
#include "api/decode.h"
#include "api/strategic.h"
#include "base/quote.h"
#include "server/custom/custom.h"
#include "server/rest/scale.h"

enum patch_kind { PATCH_IS_JSON, PATCH_IS_MERGE, PATCH_IS_STRATEGIC, PATCH_IS_APPLY };

static const struct {
    const char *type;
    enum patch_kind kind;
} TYPES[] = {
    {"application/json-patch+json", PATCH_IS_JSON},
    {"application/merge-patch+json", PATCH_IS_MERGE},
    {"application/strategic-merge-patch+json", PATCH_IS_STRATEGIC},
    {"application/apply-patch+yaml", PATCH_IS_APPLY},
};
enum { NTYPES = sizeof TYPES / sizeof *TYPES };

struct patching {
    struct write w; /* first */
    enum patch_kind kind;
    bool force;
};

/* What has no types of Go cannot be merged by them. */
static bool fail_custom_type(struct request *r)
{
    return fail(r, 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types "
                "include: application/json-patch+json, application/merge-patch+json, "
                "application/apply-patch+yaml");
}

static bool find_type(struct request *r, enum patch_kind *out)
{
    struct str type = net_header_get(r->x, "content-type");
    struct str head = str_trim(str_sub(type, 0, str_find_byte(type, ';', 0)));
    for (int i = 0; i < NTYPES; i++)
        if (head.n == strlen(TYPES[i].type) &&
            strncasecmp(head.p, TYPES[i].type, head.n) == 0) {
            *out = TYPES[i].kind;
            return *out != PATCH_IS_STRATEGIC || !r->res->custom || is_scale(r->res) ||
                   fail_custom_type(r);
        }
    if (r->res->custom && !is_scale(r->res))
        return fail_custom_type(r);
    fail(r, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
    r->failure.has_details = true;
    return false;
}

static bool read_patch(struct patching *p)
{
    struct request *r = p->w.r;
    struct doc_source src = {.name = "patch", .text = r->x->body};
    struct doc_list docs = {0};
    struct err e = ERR_INIT;
    bool ok = p->kind == PATCH_IS_APPLY ? doc_read_yaml(&src, r->a, &docs, &e)
                                        : doc_read_json(&src, r->a, &p->w.body, &e);
    if (ok && p->kind == PATCH_IS_APPLY)
        p->w.body = docs.n ? docs.v[0] : doc_make_map();
    if (ok && p->kind != PATCH_IS_JSON && p->w.body.type != DOC_MAP)
        ok = err_set(&e, ERR_INVALID, "the patch is not a map");
    if (!ok && p->kind == PATCH_IS_JSON)
        fail_bad(r, "invalid JSON patch");
    else if (!ok)
        fail_bad(r, "error decoding patch: %s", err_text(&e));
    err_release(&e);
    return ok;
}

static bool fail_patch(struct request *r, const struct patch_error *e)
{
    struct str text = e->text;
    switch (e->status) {
    case PATCH_BAD:
        return fail_bad(r, "%.*s", STR_ARG(text));
    case PATCH_CONFLICT:
        return fail(r, 409, "Conflict", "%.*s", STR_ARG(text));
    case PATCH_TOO_LARGE:
        return fail(r, 413, "RequestEntityTooLarge", "Request entity too large: %.*s",
                    STR_ARG(text));
    case PATCH_NO_FIT:
        fail(r, 422, "Invalid", "%.*s", STR_ARG(text));
        r->failure.has_details = true;
        return false;
    case PATCH_FAILED:
        break;
    }
    return fail(r, 500, NULL, "%.*s", STR_ARG(text));
}

static bool fail_apply(struct request *r, const struct patch_error *e,
                       const struct apply_result *result)
{
    fail_patch(r, e);
    for (size_t i = 0; i < result->nconflicts; i++) {
        const struct apply_conflict *c = &result->conflicts[i];
        fail_cause(r, "FieldManagerConflict",
                   arena_printf(r->a, "conflict with %.*s", STR_ARG(c->manager)),
                   c->field);
    }
    return false;
}

static bool apply(struct patching *p, const struct doc *live, struct doc *out)
{
    struct request *r = p->w.r;
    struct str manager = query_get(&r->query, "fieldManager");
    struct apply_write w = {.kind = r->res->kind,
                            .manager = manager,
                            .now = r->now,
                            .convert = custom_asks(r->res) ? custom_convert_owned : NULL,
                            .convert_ctx = r};
    struct apply_result result = {0};
    struct patch_error e = {0};
    bool ok = apply_config(&w, live, &p->w.body, p->force, r->a, &result, &e);
    if (!write_stands(r))
        return false;
    if (!ok && e.status == PATCH_FAILED && !is_scale(r->res))
        write_advise(r, &p->w.body);
    if (!ok)
        return fail_apply(r, &e, &result);
    *out = result.object;
    return true;
}

static bool patch(struct patching *p, const struct doc *live, struct doc *out)
{
    struct request *r = p->w.r;
    struct patch_error e = {0};
    bool ok = false;
    switch (p->kind) {
    case PATCH_IS_JSON:
        ok = patch_json(live, &p->w.body, r->a, out, &e);
        break;
    case PATCH_IS_MERGE:
        ok = patch_merge(live, &p->w.body, r->a, out, &e);
        break;
    case PATCH_IS_STRATEGIC:
        ok = strategic_patch(is_scale(r->res) ? r->res->kind->type : r->res->main->type,
                             live, &p->w.body, r->a, out, &e);
        break;
    case PATCH_IS_APPLY:
        return apply(p, live, out);
    }
    return ok || fail_patch(r, &e);
}

/* The Scale of an object, with those who own its fields. */
static struct doc live_scale(struct request *r, const struct doc *object)
{
    struct doc scale = scale_of(r, object);
    const char *path = r->res->custom ? r->res->custom->spec_replicas : "spec.replicas";
    struct doc entries = apply_to_scale(doc_path(object, "metadata.managedFields"),
                                        r->res->api_version, path, r->a);
    if (entries.n)
        doc_set(r->a, object_meta(&scale), "managedFields", entries);
    return scale;
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(doc_key(x), doc_key(y));
}

/* As upstream's library leaves it: what it has looked into is a map of Go. */
static void print_patched(struct request *r, const struct doc *d, struct strbuf *out)
{
    struct doc sorted = doc_dup(r->a, d);
    if (sorted.type == DOC_MAP && sorted.n)
        qsort(sorted.members, sorted.n, sizeof *sorted.members, by_key);
    doc_write_json(&sorted, DOC_JSON_COMPACT, out);
}

static const struct str HANDLED = STR(" cannot be handled as a ");

/* What is wrong with a patched object as one of the kind that it says it is, which is not
 * that of the request; STR_NONE: nothing, or it is none. */
static struct str wrong_as_itself(struct request *r, const struct doc *d)
{
    struct str version = doc_get_text(d, "apiVersion"), kind = doc_get_text(d, "kind");
    const struct api_kind *k = api_kind_find(version, kind);
    struct api_issues issues = {0};
    struct str why = STR_NONE;
    if (!k || str_is(kind, r->res->main->name))
        return why;
    if (!api_check_object(k, d, NULL, r->a, &issues))
        for (size_t i = 0; i < issues.list.n && !why.p; i++)
            if (issues.list.v[i].kind == API_WRONG_TYPE)
                why = issues.list.v[i].text;
    api_issues_release(&issues);
    return why;
}

/* The patch can be read, and what it makes cannot: the patch is what is wrong. */
static bool fail_patched(struct request *r, const struct doc *d)
{
    bool strict = str_find(r->failure.message, STR("strict")) != SIZE_MAX;
    if (r->failure.code != 400 || (strict && !r->res->custom))
        return false;
    struct strbuf json = STRBUF_INIT, shown = STRBUF_INIT;
    print_patched(r, d, &json);
    strbuf_add_quoted(&shown, strbuf_str(&json));
    struct str why = r->failure.message;
    size_t at = str_find(why, HANDLED);
    if (at != SIZE_MAX) /* what was to be made is no news to the patch's author */
        why = str_sub(why, str_find(str_sub(why, at, SIZE_MAX), STR(": ")) + at + 2,
                      SIZE_MAX);
    struct str itself = wrong_as_itself(r, d);
    if (itself.p)
        why = itself;
    struct str text =
        arena_printf(r->a, "Invalid value: %s: %.*s", strbuf_cstr(&shown), STR_ARG(why));
    strbuf_release(&json);
    strbuf_release(&shown);
    fail(r, 422, "Invalid", " \"\" is invalid: patch: %.*s", STR_ARG(text));
    fail_cause(r, "FieldValueInvalid", text, STR("patch"));
    return false;
}

/* What is there, as the client of the request sees it. */
static struct doc seen_by(struct request *r, const struct doc *live)
{
    if (r->res->main == r->res->hub && !is_scale(r->res))
        return *live; /* patches do not change it */
    struct doc d = doc_dup(r->a, live);
    object_convert(NULL, r->res, &d, r->a);
    return is_scale(r->res) ? live_scale(r, &d) : d;
}

/* It is an object of the request's kind, whatever a strategic patch says. */
static void keep_kind(struct request *r, const struct doc *live, struct doc *d)
{
    static const char *const MEMBERS[] = {"kind", "apiVersion"};
    for (int i = 0; i < 2; i++)
        if (doc_get(live, MEMBERS[i]))
            doc_set(r->a, d, MEMBERS[i], *doc_get(live, MEMBERS[i]));
}

/* What an applied object owns is in it already; other patches are tracked later. */
static bool make(struct patching *p)
{
    struct write *w = &p->w;
    struct request *r = w->r;
    bool there = write_load(w);
    if (!there && (p->kind != PATCH_IS_APPLY || r->res->sub))
        return fail_missing(r, w->name);
    struct doc live, d;
    if (there && !write_readable(w))
        return false;
    if (there)
        live = seen_by(r, write_live(w));
    if (!patch(p, there ? &live : NULL, &d))
        return false;
    d = doc_dup(r->a, &d);
    if (p->kind == PATCH_IS_STRATEGIC)
        keep_kind(r, &live, &d);
    w->code = there ? 200 : 201;
    w->owned = p->kind == PATCH_IS_APPLY;
    bool scale = is_scale(r->res);
    if (!(scale ? scale_check(r, &d) : write_check(r, &d, NULL)))
        return p->kind != PATCH_IS_APPLY && fail_patched(r, &d);
    if (scale)
        return scale_finish_update(w, &d);
    return there ? write_finish_update(w, &d) : write_finish_create(w, &d);
}

static void again(struct write *w)
{
    if (make((struct patching *)w))
        write_commit(w);
    else
        write_fail(w);
}

static bool check_options(struct patching *p)
{
    struct request *r = p->w.r;
    p->force = query_bool(&r->query, "force");
    struct str manager = query_get(&r->query, "fieldManager"), text, field;
    if (p->kind == PATCH_IS_APPLY && manager.n == 0) {
        text = STR("Required value: is required for apply patch");
        field = STR("fieldManager");
    } else if (p->kind != PATCH_IS_APPLY && query_get(&r->query, "force").p) {
        text = STR("Forbidden: may not be specified for non-apply patch");
        field = STR("force");
    } else {
        return true;
    }
    fail(r, 422, "Invalid", "PatchOptions.meta.k8s.io \"\" is invalid: %.*s: %.*s",
         STR_ARG(field), STR_ARG(text));
    fail_cause(r, str_is(field, "force") ? "FieldValueForbidden" : "FieldValueRequired",
               text, field);
    r->failure.group = STR("meta.k8s.io");
    r->failure.kind = STR("PatchOptions");
    return false;
}

void write_patch(struct request *r)
{
    struct patching *p = ARENA_NEW(r->a, struct patching);
    p->w = (struct write){.r = r, .again = again, .patch = true};
    if (find_type(r, &p->kind) && check_options(p) && read_patch(p))
        again(&p->w);
    else
        write_fail(&p->w);
}
