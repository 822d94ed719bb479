/* SPDX-License-Identifier: Apache-2.0 */
#include "control/policy_status.h"

#include "api/openapi_type.h"
#include "api/policy_check.h"
#include "control/fields.h"

static const struct client_kind POLICY = {"admissionregistration.k8s.io", "v1",
                                          "validatingadmissionpolicies", false};

struct state {
    struct api_cel cel;
    struct resources *resources;
};

/* ---- documents of types ---- */

static struct str document_path(struct work *w, const struct policy_kind *k)
{
    return arena_printf(w->a, "/openapi/v3/%s%.*s/%.*s", k->group.n ? "apis/" : "api",
                        STR_ARG(k->group), STR_ARG(k->version));
}

/* A type that cannot be had is none: that is no reason to fail. */
static bool read_type(struct work *w, const struct policy_kind *k,
                      const struct client_answer *a, const struct cel_type **out)
{
    const struct doc *d = a->ok ? work_answer_doc(w, a) : NULL;
    return d && openapi_type(d, k->group, k->version, k->kind, w->a, out);
}

/* Asks for the documents of all kinds before the first is read. */
static enum progress ask_all(struct work *w, const struct policy_kind *kinds, uint32_t n,
                             const struct client_answer **answers)
{
    enum progress all = PROGRESS_DONE;
    for (uint32_t i = 0; i < n; i++) {
        enum progress p =
            work_ask(w, "GET", NULL, document_path(w, &kinds[i]), NULL, &answers[i]);
        if (p == PROGRESS_FAILED)
            return p;
        if (p == PROGRESS_WAIT)
            all = p;
    }
    return all;
}

/* ---- checks ---- */

struct check { /* against one kind */
    struct policy_kind kind;
    struct policy_check *check;
};

struct checks {
    struct check *v;
    uint32_t n;
};

static void free_checks(struct checks *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        policy_check_free(c->v[i].check);
}

static struct policy_check *new_check(struct work *w, const struct doc *policy,
                                      const struct policy_subject_types *types)
{
    struct state *s = reconciler_state(reconciler_of(w));
    struct policy_check *c = policy_check_new(&s->cel, types);
    const struct doc *variables = field_list(policy, "spec.variables");
    for (uint32_t i = 0; i < variables->n; i++)
        policy_check_variable(c, doc_get_text(&variables->items[i], "name"),
                              doc_get_text(&variables->items[i], "expression"));
    return c;
}

/* What is wrong with an expression, a paragraph for each kind; empty: nothing. */
static struct str find_faults(struct work *w, const struct checks *c, struct str text)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct policy_kind *k = &c->v[i].kind;
        struct str issues;
        if (!policy_check_expr(c->v[i].check, text, w->a, &issues))
            strbuf_addf(&b, "%s%.*s/%.*s, Kind=%.*s: %.*s\n", b.n ? "\n" : "",
                        STR_ARG(k->group), STR_ARG(k->version), STR_ARG(k->kind),
                        STR_ARG(issues));
    }
    struct str found = arena_str(w->a, strbuf_str(&b));
    strbuf_release(&b);
    return found;
}

static void check_field(struct work *w, const struct checks *c, const struct doc *of,
                        uint32_t i, const char *field, struct doc *warnings)
{
    struct str text = doc_get_text(of, field);
    struct str faults = text.n ? find_faults(w, c, text) : STR_NONE;
    struct doc d = doc_make_map();
    if (!faults.n)
        return;
    doc_set_text(w->a, &d, "fieldRef",
                 arena_printf(w->a, "spec.validations[%u].%s", i, field));
    doc_set_text(w->a, &d, "warning", faults);
    doc_append(w->a, warnings, d);
}

static struct doc find_warnings(struct work *w, const struct doc *policy,
                                const struct checks *c)
{
    const struct doc *list = field_list(policy, "spec.validations");
    struct doc warnings = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++) {
        check_field(w, c, &list->items[i], i, "expression", &warnings);
        check_field(w, c, &list->items[i], i, "messageExpression", &warnings);
    }
    return warnings;
}

/* ---- a policy ---- */

static struct policy_kind params_kind(const struct doc *policy)
{
    struct str version = field_text(policy, "spec.paramKind.apiVersion");
    struct policy_kind k = {.kind = field_text(policy, "spec.paramKind.kind")};
    size_t slash = str_find_byte(version, '/', 0);
    k.group = slash == SIZE_MAX ? STR_NONE : str_sub(version, 0, slash);
    k.version = slash == SIZE_MAX ? version : str_sub(version, slash + 1, version.n);
    return k;
}

/* The checks against all kinds whose types can be had. The last kind is that of the
 * parameters, if there are any. */
static struct checks make_checks(struct work *w, const struct doc *policy,
                                 const struct policy_kind *kinds, uint32_t n,
                                 const struct client_answer *const *answers)
{
    struct policy_subject_types types = {.has_params = kinds[n].kind.n > 0};
    struct checks c = {.v = ARENA_ARRAY(w->a, struct check, n)};
    if (types.has_params)
        read_type(w, &kinds[n], answers[n], &types.params);
    for (uint32_t i = 0; i < n; i++) {
        types.object = NULL;
        if (read_type(w, &kinds[i], answers[i], &types.object))
            c.v[c.n++] = (struct check){kinds[i], new_check(w, policy, &types)};
    }
    return c;
}

static enum progress check(struct work *w, const struct doc *policy,
                           const struct policy_kinds *of, struct doc *warnings)
{
    struct policy_kind *kinds = ARENA_ARRAY(w->a, struct policy_kind, of->n + 1);
    const struct client_answer **answers =
        ARENA_ARRAY(w->a, const struct client_answer *, of->n + 1);
    if (of->n)
        memcpy(kinds, of->v, of->n * sizeof *kinds);
    kinds[of->n] = params_kind(policy);
    enum progress p = ask_all(w, kinds, of->n + (kinds[of->n].kind.n > 0), answers);
    if (p != PROGRESS_DONE)
        return p;
    struct checks c = make_checks(w, policy, kinds, of->n, answers);
    *warnings = find_warnings(w, policy, &c);
    free_checks(&c);
    return p;
}

static enum progress write_status(struct work *w, int64_t generation,
                                  const struct doc *warnings)
{
    const struct client_answer *a;
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               checking = doc_make_map();
    doc_set_text(w->a, &d, "apiVersion", STR("admissionregistration.k8s.io/v1"));
    doc_set_text(w->a, &d, "kind", STR("ValidatingAdmissionPolicy"));
    doc_set_text(w->a, &meta, "name", w->key);
    doc_set(w->a, &d, "metadata", meta);
    if (warnings->n)
        doc_set(w->a, &checking, "expressionWarnings", *warnings);
    field_set_int(w->a, &status, "observedGeneration", generation);
    doc_set(w->a, &status, "typeChecking", checking);
    doc_set(w->a, &d, "status", status);
    struct str path = arena_printf(
        w->a, "%.*s?fieldManager=validatingadmissionpolicy-status&force=true",
        STR_ARG(client_path(&POLICY, STR_NONE, w->key, "status", w->a)));
    enum progress p = work_ask(w, "PATCH", "application/apply-patch+yaml", path, &d, &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return work_fail(w, "%.*s: %s", STR_ARG(w->key), a->message);
}

/* A kind that is not known is looked for once more. */
static enum progress find_kinds(struct work *w, const struct doc *policy,
                                struct policy_kinds *out)
{
    struct state *s = reconciler_state(reconciler_of(w));
    *out = policy_kinds_of(policy, s->resources, w->a);
    if (!out->missed)
        return PROGRESS_DONE;
    enum progress p = resources_renew(s->resources, w);
    if (p == PROGRESS_DONE)
        *out = policy_kinds_of(policy, s->resources, w->a);
    return p;
}

static enum progress sync(struct work *w)
{
    const struct object *o =
        informer_get(reconciler_watched(reconciler_of(w), 0), w->key);
    int64_t generation = o ? field_int(o->doc, "metadata.generation", 0) : 0;
    struct policy_kinds kinds;
    struct doc warnings;
    if (!o || generation <= field_int(o->doc, "status.observedGeneration", 0))
        return PROGRESS_DONE;
    enum progress p = find_kinds(w, o->doc, &kinds);
    if (p == PROGRESS_DONE)
        p = check(w, o->doc, &kinds, &warnings);
    return p == PROGRESS_DONE ? write_status(w, generation, &warnings) : p;
}

static void init(struct reconciler *r)
{
    static const struct resources_ops OPS = {0};
    struct state *s = reconciler_state(r);
    api_cel_init(&s->cel);
    s->resources = resources_new(reconciler_client(r), &OPS, NULL);
}

static void fini(struct reconciler *r)
{
    struct state *s = reconciler_state(r);
    resources_free(s->resources);
    api_cel_fini(&s->cel);
}

const struct reconciler_def policy_status = {
    .work = sync,
    .workers = 5,
    .state = sizeof(struct state),
    .init = init,
    .fini = fini,
    .watches = {{.kind = {"admissionregistration.k8s.io", "v1",
                          "validatingadmissionpolicies", false}}},
};
