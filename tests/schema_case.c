/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_case.h"

#include <stdlib.h>

#include "api/decode.h"

static int by_text(const void *a, const void *b)
{
    return str_cmp(doc_str(a), doc_str(b));
}

static struct doc texts_of(struct arena *a, const struct api_errors *errors)
{
    struct doc list = doc_make_list();
    for (size_t i = 0; i < errors->list.n; i++) {
        struct strbuf b = STRBUF_INIT;
        api_error_print(&errors->list.v[i], &b);
        doc_append(a, &list, doc_make_string(a, strbuf_str(&b)));
        strbuf_release(&b);
    }
    if (list.n > 1)
        qsort(list.items, list.n, sizeof *list.items, by_text);
    return list;
}

struct unknown {
    struct arena *a;
    struct doc list;
};

static void note(void *ctx, struct str path)
{
    struct unknown *u = ctx;
    doc_append(u->a, &u->list, doc_make_string(u->a, path));
}

static struct doc answer_object(struct arena *a, const struct structural *s,
                                const struct doc *question)
{
    const struct doc *given = doc_get(question, "object"),
                     *old = doc_get(question, "old");
    struct doc out = doc_make_map(), stored;
    struct unknown u = {a, doc_make_list()};
    struct api_errors errors = {0};
    struct str why;
    struct doc d = doc_dup(a, given);
    bool ok = structural_prune(s, &d, false, note, &u, a, &why);
    if (ok)
        structural_default(s, &d, a);
    if (ok && old && old->type == DOC_MAP) {
        stored = doc_dup(a, old);
        ok = structural_prune(s, &stored, false, NULL, NULL, a, &why);
        structural_default(s, &stored, a);
    }
    if (!ok) {
        doc_set(a, &out, "bad",
                doc_make_string(a, str_sub(why, 0, str_find_byte(why, ':', 0))));
        return out;
    }
    const struct structural_validate_opts opts = {
        .old = old && old->type == DOC_MAP ? &stored : NULL};
    structural_validate(s, &d, &opts, a, &errors);
    doc_set(a, &out, "unknown", u.list);
    doc_set(a, &out, "object", d);
    doc_set(a, &out, "errors", texts_of(a, &errors));
    api_errors_release(&errors);
    return out;
}

static bool is_decodable(struct arena *a, const struct doc *schema)
{
    const struct api_type *type =
        api_type_find(STR("apiextensions.k8s.io"), STR("v1"), STR("JSONSchemaProps"));
    struct api_issues issues = {0};
    bool ok = api_check_shape(type, schema, STR(""), a, &issues);
    api_issues_release(&issues);
    return ok;
}

/* {versions: [{schema: {openAPIV3Schema: ...}}]} */
static struct doc spec_of(struct arena *a, const struct doc *schema)
{
    struct doc props = doc_make_map(), version = doc_make_map(), spec = doc_make_map(),
               versions = doc_make_list();
    doc_set(a, &props, "openAPIV3Schema", *schema);
    doc_set(a, &version, "schema", props);
    doc_append(a, &versions, version);
    doc_set(a, &spec, "versions", versions);
    return spec;
}

void schema_case_answer(const struct api_cel *cel, const struct doc *q, struct arena *a,
                        struct doc *out)
{
    const struct doc *schema = doc_get(q, "schema"), *old = doc_get(q, "oldSchema"),
                     *objects = doc_get(q, "objects");
    struct doc spec, answers = doc_make_list();
    struct structural_check_opts opts = {.cel = cel, .path = "spec.validation"};
    struct api_errors errors = {0};
    if (!is_decodable(a, schema)) {
        doc_set(a, out, "undecodable", doc_make_bool(true));
        return;
    }
    doc_get_bool(q, "status", &opts.status);
    if (old && old->type == DOC_MAP) {
        spec = spec_of(a, old);
        opts.old_spec = &spec;
        opts.unchanged = doc_equal(schema, old);
    }
    structural_check(schema, &opts, a, &errors);
    struct doc texts = texts_of(a, &errors);
    doc_set(a, out, "definition", texts);
    api_errors_release(&errors);
    if (texts.n)
        return;
    const struct structural_opts made = {.cel = opts.cel, .kind = "Thing"};
    struct structural *s = structural_new(schema, &made);
    for (uint32_t i = 0; objects && i < objects->n; i++)
        doc_append(a, &answers, answer_object(a, s, &objects->items[i]));
    doc_set(a, out, "objects", answers);
    structural_free(s);
}
