/* SPDX-License-Identifier: Apache-2.0 */
/* golden/validation: objects of resource.k8s.io, the (type, field) pairs of their errors.
 */
#include "golden/golden.h"

#include <stdlib.h>

#include "api/validate.h"
#include "base/map.h"

static bool read_gates(struct golden_case *c, struct api_gates *gates)
{
    const struct doc *set = doc_get(c->doc, "gates");
    *gates = api_gates_default;
    for (uint32_t i = 0; set && set->type == DOC_MAP && i < set->n; i++) {
        enum api_gate gate = api_gate_find(doc_key(&set->members[i]));
        if (gate == API_GATE_COUNT)
            golden_fail(c, "unknown gate %s", set->members[i].key);
        else
            api_gate_set(gates, gate, set->members[i].value.b);
    }
    return true;
}

static enum api_op read_op(const struct doc *d)
{
    const struct doc *op = doc_get(d, "op");
    if (doc_is_string(op, "update"))
        return API_UPDATE;
    return doc_is_string(op, "status-update") ? API_UPDATE_STATUS : API_CREATE;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(doc_str(a), doc_str(b));
}

/* A sorted list of distinct "type field" texts. */
static void add_pair(struct golden_case *c, struct doc *set, struct str type,
                     struct str field)
{
    struct str text = arena_printf(c->arena, "%.*s %.*s", STR_ARG(type), STR_ARG(field));
    for (uint32_t i = 0; i < set->n; i++)
        if (str_eq(doc_str(&set->items[i]), text))
            return;
    doc_append(c->arena, set, doc_make_string(c->arena, text));
}

static void sort_pairs(struct doc *set)
{
    if (set->n > 1)
        qsort(set->items, set->n, sizeof *set->items, by_text);
}

static struct doc wanted(struct golden_case *c)
{
    struct doc set = doc_make_list();
    const struct doc *errors = doc_get(c->doc, "errors");
    for (uint32_t i = 0; errors && i < errors->n; i++)
        add_pair(c, &set, doc_get_text(&errors->items[i], "type"),
                 doc_get_text(&errors->items[i], "field"));
    sort_pairs(&set);
    return set;
}

static struct doc found(struct golden_case *c, const struct api_errors *errors)
{
    struct doc set = doc_make_list();
    for (size_t i = 0; i < errors->list.n; i++)
        add_pair(c, &set, str_from(api_error_reason(errors->list.v[i].type)),
                 errors->list.v[i].path);
    sort_pairs(&set);
    return set;
}

static void run_case(struct golden *g, struct golden_case *c)
{
    struct api_gates gates;
    struct api_errors errors = {0};
    const struct api_kind *kind =
        api_kind_find(doc_get_text(c->doc, "apiVersion"), doc_get_text(c->doc, "kind"));
    if (!kind || !read_gates(c, &gates)) {
        golden_fail(c, "unknown kind");
        return;
    }
    struct api_validate_opts opts = {.op = read_op(c->doc),
                                     .old = doc_get(c->doc, "oldObject"),
                                     .gates = &gates,
                                     .admin_namespace = true};
    api_validate(kind, doc_get(c->doc, "object"), &opts, c->arena, &errors);
    struct doc want = wanted(c), got = found(c, &errors);
    golden_check_doc(c, "errors", &want, &got);
    api_errors_release(&errors);
}

const struct golden_runner golden_validation = {.folder = "validation",
                                                .run_case = run_case};
