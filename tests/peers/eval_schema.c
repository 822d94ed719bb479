/* SPDX-License-Identifier: Apache-2.0 */
/* Mode schema of dray-eval: a schema of custom resources, and objects of it. */
#include <stdlib.h>

#include "api/decode.h"
#include "api/structural.h"
#include "base/mem.h"
#include "peers/eval.h"

static struct api_cel *environments(struct eval *ev)
{
    if (!ev->state) {
        ev->state = mem_zalloc(sizeof(struct api_cel));
        api_cel_init(ev->state);
    }
    return ev->state;
}

static void end(struct eval *ev)
{
    if (ev->state)
        api_cel_fini(ev->state);
    free(ev->state);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(doc_str(a), doc_str(b));
}

static struct doc texts_of(struct eval *ev, const struct api_errors *errors)
{
    struct doc list = doc_make_list();
    for (size_t i = 0; i < errors->list.n; i++) {
        struct strbuf b = STRBUF_INIT;
        api_error_print(&errors->list.v[i], &b);
        doc_append(ev->arena, &list, doc_make_string(ev->arena, strbuf_str(&b)));
        strbuf_release(&b);
    }
    if (list.n > 1)
        qsort(list.items, list.n, sizeof *list.items, by_text);
    return list;
}

struct unknown {
    struct eval *ev;
    struct doc list;
};

static void note(void *ctx, struct str path)
{
    struct unknown *u = ctx;
    doc_append(u->ev->arena, &u->list, doc_make_string(u->ev->arena, path));
}

static struct doc answer_object(struct eval *ev, const struct structural *s,
                                const struct doc *question)
{
    const struct doc *given = doc_get(question, "object"),
                     *old = doc_get(question, "old");
    struct doc out = doc_make_map(), stored;
    struct unknown u = {ev, doc_make_list()};
    struct api_errors errors = {0};
    struct str why;
    struct doc d = doc_dup(ev->arena, given);
    bool ok = structural_prune(s, &d, false, note, &u, ev->arena, &why);
    if (ok)
        structural_default(s, &d, ev->arena);
    if (ok && old && old->type == DOC_MAP) {
        stored = doc_dup(ev->arena, old);
        ok = structural_prune(s, &stored, false, NULL, NULL, ev->arena, &why);
        structural_default(s, &stored, ev->arena);
    }
    if (!ok) {
        eval_set_str(ev, &out, "bad", str_sub(why, 0, str_find_byte(why, ':', 0)));
        return out;
    }
    const struct structural_validate_opts opts = {
        .old = old && old->type == DOC_MAP ? &stored : NULL};
    structural_validate(s, &d, &opts, ev->arena, &errors);
    eval_set(ev, &out, "unknown", u.list);
    eval_set(ev, &out, "object", d);
    eval_set(ev, &out, "errors", texts_of(ev, &errors));
    api_errors_release(&errors);
    return out;
}

static bool is_decodable(struct eval *ev, const struct doc *schema)
{
    const struct api_type *type =
        api_type_find(STR("apiextensions.k8s.io"), STR("v1"), STR("JSONSchemaProps"));
    struct api_issues issues = {0};
    bool ok = api_check_shape(type, schema, STR(""), ev->arena, &issues);
    api_issues_release(&issues);
    return ok;
}

/* {versions: [{schema: {openAPIV3Schema: ...}}]} */
static struct doc spec_of(struct eval *ev, const struct doc *schema)
{
    struct doc props = doc_make_map(), version = doc_make_map(), spec = doc_make_map(),
               versions = doc_make_list();
    doc_set(ev->arena, &props, "openAPIV3Schema", *schema);
    doc_set(ev->arena, &version, "schema", props);
    doc_append(ev->arena, &versions, version);
    doc_set(ev->arena, &spec, "versions", versions);
    return spec;
}

static void answer_schema(struct eval *ev, const struct doc *q, struct doc *out)
{
    const struct doc *schema = doc_get(q, "schema"), *old = doc_get(q, "oldSchema"),
                     *objects = doc_get(q, "objects");
    struct doc spec, answers = doc_make_list();
    struct structural_check_opts opts = {.cel = environments(ev),
                                         .path = "spec.validation"};
    struct api_errors errors = {0};
    if (!is_decodable(ev, schema)) {
        eval_set_bool(ev, out, "undecodable", true);
        return;
    }
    doc_get_bool(q, "status", &opts.status);
    if (old && old->type == DOC_MAP) {
        spec = spec_of(ev, old);
        opts.old_spec = &spec;
        opts.unchanged = doc_equal(schema, old);
    }
    structural_check(schema, &opts, ev->arena, &errors);
    struct doc texts = texts_of(ev, &errors);
    eval_set(ev, out, "definition", texts);
    api_errors_release(&errors);
    if (texts.n)
        return;
    const struct structural_opts made = {.cel = opts.cel, .kind = "Thing"};
    struct structural *s = structural_new(schema, &made);
    for (uint32_t i = 0; objects && i < objects->n; i++)
        doc_append(ev->arena, &answers, answer_object(ev, s, &objects->items[i]));
    eval_set(ev, out, "objects", answers);
    structural_free(s);
}

const struct eval_mode eval_schema = {
    .name = "schema", .answer = answer_schema, .end = end};
