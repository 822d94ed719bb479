/* SPDX-License-Identifier: Apache-2.0 */
/* golden/validation: objects of resource.k8s.io, the (type, field) pairs of their errors.
 */
#include "golden/golden.h"

#include <stdlib.h>

#include "api/canonical.h"
#include "api/defaults.h"
#include "api/prepare.h"
#include "api/validate.h"

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

static struct doc pairs(struct golden_case *c, const struct doc *errors, const char *type)
{
    struct doc set = doc_make_list();
    for (uint32_t i = 0; errors && i < errors->n; i++)
        add_pair(c, &set, doc_get_text(&errors->items[i], type),
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

static struct doc validate(struct golden_case *c, const struct api_kind *kind,
                           const struct doc *object, const struct api_validate_opts *opts)
{
    struct api_errors errors = {0};
    api_validate(kind, object, opts, c->arena, &errors);
    struct doc got = found(c, &errors);
    api_errors_release(&errors);
    return got;
}

/* Metadata that belongs to the server, whatever a client sends. */
static void own_metadata(struct golden_case *c, const struct api_kind *kind,
                         struct doc *object, const struct doc *old)
{
    struct doc *meta = (struct doc *)doc_get(object, "metadata");
    const struct doc *created = doc_path(old, "metadata.creationTimestamp");
    if (!meta)
        return;
    if (old)
        doc_remove(meta, STR("creationTimestamp"));
    if (created)
        doc_set(c->arena, meta, "creationTimestamp", *created);
    if (!kind->namespaced)
        doc_remove(meta, STR("namespace"));
    else if (doc_get_text(meta, "namespace").n == 0)
        doc_set(c->arena, meta, "namespace", doc_make_string(c->arena, STR("default")));
}

/* What a client's object becomes before it is validated (spec 2.0, 2.10, 2.12). */
static struct doc as_stored(struct golden_case *c, const struct api_kind *kind,
                            const struct api_validate_opts *opts)
{
    const struct api_prepare p = {.a = c->arena, .now = STR("2026-01-01T00:00:00Z")};
    const struct doc *sent = doc_get(c->doc, "object");
    struct doc object = doc_dup(c->arena, sent);
    struct api_kind part = *kind;
    api_default(kind, &object, p.now, c->arena);
    api_canonical(kind->type, &object, c->arena);
    own_metadata(c, kind, &object, opts->old);
    api_drop_disabled(kind, &object, opts->old, opts->gates);
    if (opts->op == API_UPDATE_STATUS)
        part.resource = arena_printf(c->arena, "%s/status", kind->resource).p;
    if (opts->op == API_CREATE)
        api_prepare_create(&p, kind, &object);
    else
        api_prepare_update(&p, &part, &object, opts->old);
    api_restore_empty_lists(kind->type, &object, sent, c->arena);
    api_drop_disabled(kind, &object, opts->old, opts->gates);
    return object;
}

static void check_api(struct golden_case *c, const struct api_kind *kind,
                      const struct api_validate_opts *opts, const struct doc *errors)
{
    const struct doc *api = doc_get(c->doc, "api");
    if (!api || api->type == DOC_NULL)
        return;
    struct doc object = as_stored(c, kind, opts);
    struct doc want = doc_is_string(api, "same") ? *errors : doc_make_list();
    if (api->type == DOC_MAP)
        want = pairs(c, doc_get(api, "causes"), "reason");
    struct doc got = validate(c, kind, &object, opts);
    golden_check_doc(c, "api", &want, &got);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    struct api_gates gates;
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
    struct doc want = pairs(c, doc_get(c->doc, "errors"), "type");
    struct doc got = validate(c, kind, doc_get(c->doc, "object"), &opts);
    golden_check_doc(c, "errors", &want, &got);
    check_api(c, kind, &opts, &want);
}

const struct golden_runner golden_validation = {.folder = "validation",
                                                .run_case = run_case};
