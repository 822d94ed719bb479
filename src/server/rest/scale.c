/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/scale.h"

#include <stdlib.h>

#include "api/apply.h"
#include "server/custom/custom.h"

/* Where an object has what its Scale shows. */
static const char *replicas_path(const struct request *r)
{
    return r->res->custom ? r->res->custom->spec_replicas : "spec.replicas";
}

static const char *current_path(const struct request *r)
{
    return r->res->custom ? r->res->custom->status_replicas : "status.replicas";
}

/* ---- selectors as text ---- */

struct term {
    struct str key, text;
};

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct term *)x)->key, ((const struct term *)y)->key);
}

static struct str joined(struct arena *a, const struct doc *values)
{
    struct str all = STR("");
    for (uint32_t i = 0; values && values->type == DOC_LIST && i < values->n; i++)
        all = arena_printf(a, "%.*s%s%.*s", STR_ARG(all), i ? "," : "",
                           STR_ARG(doc_str(&values->items[i])));
    return all;
}

static struct term of_expression(struct arena *a, const struct doc *e)
{
    struct str key = doc_get_text(e, "key"), op = doc_get_text(e, "operator");
    struct str values = joined(a, doc_get(e, "values"));
    if (str_is(op, "Exists"))
        return (struct term){key, key};
    if (str_is(op, "DoesNotExist"))
        return (struct term){key, arena_printf(a, "!%.*s", STR_ARG(key))};
    const char *word = str_is(op, "NotIn") ? "notin" : "in";
    return (struct term){
        key, arena_printf(a, "%.*s %s (%.*s)", STR_ARG(key), word, STR_ARG(values))};
}

static struct str selector_text(struct arena *a, const struct doc *selector)
{
    const struct doc *labels = doc_get(selector, "matchLabels");
    const struct doc *expressions = doc_get(selector, "matchExpressions");
    /* Of a ReplicationController the labels are the selector. */
    if (selector && selector->type == DOC_MAP && !labels && !expressions)
        labels = selector;
    VEC(struct term) terms = {0};
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        const struct doc_member *m = &labels->members[i];
        vec_push(&terms, (struct term){doc_key(m),
                                       arena_printf(a, "%.*s=%.*s", STR_ARG(doc_key(m)),
                                                    STR_ARG(doc_str(&m->value)))});
    }
    for (uint32_t i = 0;
         expressions && expressions->type == DOC_LIST && i < expressions->n; i++)
        vec_push(&terms, of_expression(a, &expressions->items[i]));
    if (terms.n)
        qsort(terms.v, terms.n, sizeof *terms.v, by_key);
    struct str all = STR("");
    for (size_t i = 0; i < terms.n; i++)
        all = arena_printf(a, "%.*s%s%.*s", STR_ARG(all), i ? "," : "",
                           STR_ARG(terms.v[i].text));
    vec_release(&terms);
    return all;
}

/* ---- out ---- */

static int64_t number_at(const struct doc *d, const char *path)
{
    const struct doc *v = path ? doc_path(d, path) : NULL;
    int64_t n = 0;
    if (v && v->type == DOC_NUMBER)
        doc_int64(v, &n);
    return n;
}

static struct str selector_of(struct request *r, const struct doc *object)
{
    if (!r->res->custom)
        return selector_text(r->a, doc_path(object, "spec.selector"));
    const char *path = r->res->custom->label_selector;
    const struct doc *v = path ? doc_path(object, path) : NULL;
    return v && v->type == DOC_STRING ? doc_str(v) : STR("");
}

static struct doc scale_meta(struct request *r, const struct doc *object)
{
    static const char *const KEPT[] = {"name", "namespace", "uid", "resourceVersion",
                                       "creationTimestamp"};
    const struct doc *meta = doc_get(object, "metadata");
    struct doc m = doc_make_map();
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        const struct doc *v = doc_get(meta, KEPT[i]);
        if (v)
            doc_set(r->a, &m, KEPT[i], *v);
    }
    return m;
}

struct doc scale_of(struct request *r, const struct doc *object)
{
    struct arena *a = r->a;
    struct doc d = doc_make_map(), spec = doc_make_map(), status = doc_make_map();
    int64_t wanted = number_at(object, replicas_path(r));
    if (wanted)
        doc_set(a, &spec, "replicas", doc_make_int(a, wanted));
    int64_t current = number_at(object, current_path(r));
    doc_set(a, &status, "replicas", doc_make_int(a, current));
    struct str selector = selector_of(r, object);
    if (selector.n)
        doc_set(a, &status, "selector", doc_make_string(a, selector));
    doc_set(a, &d, "kind", doc_make_string(a, STR("Scale")));
    doc_set(a, &d, "apiVersion", doc_make_string(a, STR("autoscaling/v1")));
    doc_set(a, &d, "metadata", scale_meta(r, object));
    doc_set(a, &d, "spec", spec);
    doc_set(a, &d, "status", status);
    return d;
}

bool scale_shows(struct request *r, const struct doc *object)
{
    const char *path = replicas_path(r);
    const struct doc *v = doc_path(object, path);
    return !r->res->custom || (v && v->type == DOC_NUMBER) ||
           fail(r, 500, "InternalError",
                "Internal error occurred: the spec replicas field \".%s\" does not exist",
                path);
}

/* ---- in ---- */

bool scale_read_body(struct request *r, struct doc *out)
{
    return write_read_as(r, "autoscaling", "v1", "Scale", out);
}

bool scale_check(struct request *r, struct doc *d)
{
    return write_check_as(r, "autoscaling", "v1", "Scale", d);
}

static bool fail_negative(struct write *w, int64_t replicas)
{
    struct request *r = w->r;
    struct str text =
        arena_printf(r->a, "Invalid value: %lld: must be greater than or equal to 0",
                     (long long)replicas);
    fail(r, 422, "Invalid", "Scale.autoscaling \"%.*s\" is invalid: %s: %.*s",
         STR_ARG(w->name), "spec.replicas", STR_ARG(text));
    fail_cause(r, "FieldValueInvalid", text, STR("spec.replicas"));
    r->failure.name = w->name;
    r->failure.group = STR("autoscaling");
    r->failure.kind = STR("Scale");
    return false;
}

static void answer(struct write *w, bool ok)
{
    struct request *r = w->r;
    if (!ok) {
        request_answer_failure(r);
        return;
    }
    object_convert(NULL, r->res, &w->object, r->a);
    struct doc d = scale_of(r, &w->object);
    request_answer(r, w->code, &d);
}

/* Who owns the number of replicas from now on. */
static struct doc owners(struct write *w, const struct doc *object, struct doc *scale)
{
    struct request *r = w->r;
    const struct doc *entries = doc_path(object, "metadata.managedFields");
    const char *path = replicas_path(r);
    struct doc mine;
    if (w->owned) {
        const struct doc *made = doc_path(scale, "metadata.managedFields");
        mine = made ? *made : doc_make_list();
    } else {
        struct doc live = scale_of(r, object);
        struct doc before = apply_to_scale(entries, r->res->api_version, path, r->a);
        doc_set(r->a, object_meta(&live), "managedFields", before);
        doc_set(r->a, object_meta(scale), "managedFields", before);
        mine = write_track(r, &live, scale);
    }
    return apply_from_scale(entries, &mine, r->res->api_version, path, r->a);
}

bool scale_finish_update(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    struct doc object = object_doc(w->old, r->a);
    if (!write_readable(w) || !object_convert(r, r->res, &object, r->a))
        return false;
    if (!object_meta(d))
        doc_set(r->a, d, "metadata", doc_make_map());
    if (!identity_same(w, &object, d))
        return false;
    int64_t replicas = number_at(d, "spec.replicas");
    if (replicas < 0 && !r->res->custom)
        return fail_negative(w, replicas);
    struct doc entries = owners(w, &object, d);
    struct str revision = meta_text(d, "resourceVersion");
    struct doc *meta = object_meta(&object);
    doc_set(r->a, meta, "resourceVersion", doc_make_string(r->a, revision));
    doc_set(r->a, meta, "managedFields", entries);
    custom_set_path(&object, replicas_path(r), doc_make_int(r->a, replicas), r->a);
    w->owned = true;
    w->then = answer;
    return write_finish_update(w, &object);
}
