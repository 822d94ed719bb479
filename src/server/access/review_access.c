/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews of what somebody may do. */
#include "api/canonical.h"
#include "base/names.h"
#include "server/access/auth.h"
#include "server/access/node_authorizer.h"
#include "server/access/reviews.h"
#include "server/rest/write.h"

/* ---- what is wrong with a review ---- */

struct problem {
    const char *reason;
    struct str text, path;
};

struct review {
    struct request *r;
    struct doc d;
    const struct doc *spec, *resource, *path; /* NULL: not there */
    VEC(struct problem) problems;
};

static const char INVALID[] = "FieldValueInvalid", REQUIRED[] = "FieldValueRequired",
                  FORBIDDEN[] = "FieldValueForbidden";

static void problem(struct review *v, const char *reason, struct str path,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void problem(struct review *v, const char *reason, struct str path,
                    const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vec_push(&v->problems,
             (struct problem){reason, arena_vprintf(v->r->a, fmt, ap), path});
    va_end(ap);
}

/* Upstream says the group of the kind, but not its name. */
static bool fail_problems(struct review *v)
{
    struct request *r = v->r;
    bool many = v->problems.n > 1;
    struct strbuf b = STRBUF_INIT;
    fail(r, 422, "Invalid", " ");
    for (size_t i = 0; i < v->problems.n; i++) {
        const struct problem *p = &v->problems.v[i];
        strbuf_addf(&b, "%s%.*s: %.*s", i ? ", " : "", STR_ARG(p->path),
                    STR_ARG(p->text));
        fail_cause(r, p->reason, p->text, p->path);
    }
    struct str group = str_from(r->res->main->group);
    r->failure.message =
        arena_printf(r->a, ".%.*s \"\" is invalid: %s%s%s", STR_ARG(group),
                     many ? "[" : "", strbuf_cstr(&b), many ? "]" : "");
    r->failure.group = group;
    strbuf_release(&b);
    return false;
}

static const struct doc *map_at(const struct doc *d, const char *key)
{
    const struct doc *m = doc_get(d, key);
    return m && m->type == DOC_MAP ? m : NULL;
}

static uint32_t count_of(const struct doc *d, const char *key)
{
    const struct doc *list = doc_get(d, key);
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct str json(struct review *v, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT | DOC_JSON_SORT, &b);
    struct str text = arena_str(v->r->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* The attributes of a path as Go shows them. */
static struct str shown_path(struct review *v)
{
    struct doc shown = doc_make_map();
    if (!v->path)
        return STR("null");
    struct str path = doc_get_text(v->path, "path"), verb = doc_get_text(v->path, "verb");
    doc_set(v->r->a, &shown, "Path", doc_make_string(v->r->a, path));
    doc_set(v->r->a, &shown, "Verb", doc_make_string(v->r->a, verb));
    return json(v, &shown);
}

static void check_one_of(struct review *v)
{
    if (!v->resource == !v->path)
        problem(v, INVALID, STR("spec"),
                "Invalid value: %.*s: exactly one of nonResourceAttributes or "
                "resourceAttributes must be specified",
                STR_ARG(shown_path(v)));
}

static void check_subject(struct review *v)
{
    if (doc_get_text(v->spec, "user").n == 0 && count_of(v->spec, "groups") == 0)
        problem(v, INVALID, STR("spec.user"),
                "Invalid value: \"\": at least one of user or group must be specified");
}

static void check_requirement(struct review *v, const struct doc *q, const char *at,
                              bool label)
{
    struct arena *a = v->r->a;
    struct str key = doc_get_text(q, "key"), op = doc_get_text(q, "operator");
    bool needs = str_is(op, "In") || str_is(op, "NotIn");
    bool none = str_is(op, "Exists") || str_is(op, "DoesNotExist");
    struct str why[NAME_MAX_PROBLEMS];
    if (!label && key.n == 0)
        problem(v, REQUIRED, arena_printf(a, "%s.key", at),
                "Required value: must be specified");
    if (needs && count_of(q, "values") == 0)
        problem(v, REQUIRED, arena_printf(a, "%s.values", at),
                "Required value: must be specified when `operator` is 'In' or 'NotIn'");
    if (none && count_of(q, "values"))
        problem(v, FORBIDDEN, arena_printf(a, "%s.values", at),
                "Forbidden: may not be specified when `operator` is 'Exists' or "
                "'DoesNotExist'");
    unsigned n = label ? name_check(NAME_LABEL_KEY, key, a, why) : 0;
    for (unsigned i = 0; i < n; i++)
        problem(v, INVALID, arena_printf(a, "%s.key", at),
                "Invalid value: \"%.*s\": %.*s", STR_ARG(key), STR_ARG(why[i]));
}

static void check_selector(struct review *v, const char *member)
{
    const struct doc *s = map_at(v->resource, member);
    const char *at = arena_printf(v->r->a, "spec.resourceAttributes.%s", member).p;
    struct str raw = doc_get_text(s, "rawSelector");
    uint32_t n = count_of(s, "requirements");
    if (!s)
        return;
    if (raw.n && n)
        problem(v, INVALID, arena_printf(v->r->a, "%s.rawSelector", at),
                "Invalid value: \"%.*s\": may not specified at the same time as "
                "requirements",
                STR_ARG(raw));
    if (!raw.n && !n)
        problem(v, REQUIRED, arena_printf(v->r->a, "%s.requirements", at),
                "Required value: when %s is specified, requirements or rawSelector is "
                "required",
                at);
    for (uint32_t i = 0; i < n; i++)
        check_requirement(v, &doc_get(s, "requirements")->items[i],
                          arena_printf(v->r->a, "%s.requirements[%u]", at, i).p,
                          strcmp(member, "labelSelector") == 0);
}

static void check_meta(struct review *v, bool local)
{
    const struct doc *meta = map_at(&v->d, "metadata");
    uint32_t n = meta ? meta->n : 0;
    n -= doc_get(meta, "managedFields") != NULL;
    n -= local && doc_get(meta, "namespace");
    if (n)
        problem(v, INVALID, STR("metadata"), "Invalid value: %.*s: must be empty%s",
                STR_ARG(json(v, meta)), local ? " except for namespace" : "");
}

static void check_namespace(struct review *v)
{
    struct str ns = doc_get_text(v->resource, "namespace");
    if (v->resource && !str_eq(ns, v->r->route.namespace))
        problem(v, INVALID, STR("spec.resourceAttributes.namespace"),
                "Invalid value: \"%.*s\": must match metadata.namespace", STR_ARG(ns));
    if (v->path)
        problem(v, INVALID, STR("spec.nonResourceAttributes"),
                "Invalid value: %.*s: disallowed on this kind of request",
                STR_ARG(shown_path(v)));
}

/* ---- what is asked ---- */

struct wanted {
    struct attributes attributes;
    struct selector fields;
    bool bad_fields, bad_labels; /* not all of the selector could be read */
};

/* What cannot be understood is left out: less selected is more wanted. */
static void read_requirements(struct review *v, const struct doc *list, struct wanted *w)
{
    struct requirement *all = ARENA_ARRAY(v->r->a, struct requirement, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *q = &list->items[i];
        struct str op = doc_get_text(q, "operator");
        struct names values = names_read(doc_get(q, "values"), v->r->a);
        if (values.n != 1 || (!str_is(op, "In") && !str_is(op, "NotIn"))) {
            w->bad_fields = true;
            continue;
        }
        all[w->fields.n++] = (struct requirement){
            .key = doc_get_text(q, "key"),
            .op = str_is(op, "In") ? SELECT_IN : SELECT_NOT_IN,
            .values = values.v,
            .nvalues = 1,
        };
    }
    w->fields.all = all;
}

static void read_fields(struct review *v, struct wanted *w)
{
    const struct doc *s = map_at(v->resource, "fieldSelector");
    struct str raw = doc_get_text(s, "rawSelector"), why;
    if (raw.n && !selector_parse_fields(raw, v->r->a, &w->fields, &why)) {
        w->fields = (struct selector){0};
        w->bad_fields = true;
    }
    if (count_of(s, "requirements"))
        read_requirements(v, doc_get(s, "requirements"), w);
    if (w->fields.n)
        w->attributes.fields = &w->fields;
}

/* Nothing here asks for labels, but whoever gives them is told whether they can be
 * read. */
static void read_labels(struct review *v, struct wanted *w)
{
    static const char *const OPS[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    const struct doc *s = map_at(v->resource, "labelSelector");
    struct str raw = doc_get_text(s, "rawSelector"), why;
    struct selector labels;
    w->bad_labels = raw.n && !selector_parse_labels(raw, v->r->a, &labels, &why);
    for (uint32_t i = 0; i < count_of(s, "requirements"); i++) {
        struct str op = doc_get_text(&doc_get(s, "requirements")->items[i], "operator");
        bool known = false;
        for (size_t k = 0; k < sizeof OPS / sizeof *OPS; k++)
            known = known || str_is(op, OPS[k]);
        w->bad_labels = w->bad_labels || !known;
    }
}

static struct str text_or_empty(const struct doc *d, const char *key)
{
    struct str s = doc_get_text(d, key);
    return s.p ? s : STR("");
}

static void read_wanted(struct review *v, struct wanted *w)
{
    const struct doc *d = v->resource ? v->resource : v->path;
    *w = (struct wanted){.attributes = {.verb = text_or_empty(d, "verb")}};
    if (!v->resource) {
        w->attributes.path = text_or_empty(d, "path");
        return;
    }
    w->attributes.group = text_or_empty(d, "group");
    w->attributes.version = text_or_empty(d, "version");
    w->attributes.resource = text_or_empty(d, "resource");
    w->attributes.subresource = text_or_empty(d, "subresource");
    w->attributes.namespace = text_or_empty(d, "namespace");
    w->attributes.name = text_or_empty(d, "name");
    read_fields(v, w);
    read_labels(v, w);
}

static struct user subject(struct review *v)
{
    struct arena *a = v->r->a;
    struct names groups = names_read(doc_get(v->spec, "groups"), a);
    const struct doc *extra = map_at(v->spec, "extra");
    uint32_t n = extra ? extra->n : 0;
    struct user_extra *all = ARENA_ARRAY(a, struct user_extra, n);
    for (uint32_t i = 0; i < n; i++) {
        struct names values = names_read(&extra->members[i].value, a);
        all[i] = (struct user_extra){doc_key(&extra->members[i]), values.v, values.n};
    }
    struct user u = {.name = text_or_empty(v->spec, "user"),
                     .uid = text_or_empty(v->spec, "uid"),
                     .groups = groups.v,
                     .ngroups = groups.n,
                     .extra = all,
                     .nextra = n};
    u.admin = user_in_group(&u, "system:masters");
    return u;
}

/* ---- answers ---- */

static void add_note(struct strbuf *b, const char *selector, bool some)
{
    strbuf_addf(b, "%sspec.resourceAttributes.%s %signored due to parse error",
                b->n ? "; " : "", selector, some ? "partially " : "");
}

static struct doc access_status(struct review *v, const struct user *u)
{
    struct arena *a = v->r->a;
    struct doc status = doc_make_map();
    struct strbuf notes = STRBUF_INIT;
    struct wanted w;
    struct str why;
    read_wanted(v, &w);
    bool ok = authorize(v->r->s, u, &w.attributes, a, &why);
    doc_set(a, &status, "allowed", doc_make_bool(ok));
    if (why.n)
        doc_set(a, &status, "reason", doc_make_string(a, why));
    if (w.bad_fields)
        add_note(&notes, "fieldSelector", w.fields.n > 0);
    if (w.bad_labels)
        add_note(&notes, "labelSelector", false);
    if (notes.n)
        doc_set(a, &status, "evaluationError", doc_make_string(a, strbuf_str(&notes)));
    strbuf_release(&notes);
    return status;
}

static bool begin(struct review *v)
{
    if (!write_read_body(v->r, &v->d))
        return false;
    if (!object_meta(&v->d))
        doc_set(v->r->a, &v->d, "metadata", doc_make_map());
    if (!identity_namespace(v->r, &v->d))
        return false;
    struct doc entries = write_track(v->r, NULL, &v->d);
    if (entries.n)
        doc_set(v->r->a, object_meta(&v->d), "managedFields", entries);
    v->spec = doc_get(&v->d, "spec");
    v->resource = map_at(v->spec, "resourceAttributes");
    v->path = map_at(v->spec, "nonResourceAttributes");
    return true;
}

enum scope { SELF, ANYBODY, LOCAL };

static void review(struct request *r, enum scope scope)
{
    struct review v = {.r = r};
    bool ok = begin(&v);
    if (ok) {
        check_one_of(&v);
        if (scope != SELF)
            check_subject(&v);
        check_selector(&v, "fieldSelector");
        check_selector(&v, "labelSelector");
        check_meta(&v, scope == LOCAL);
        if (scope == LOCAL)
            check_namespace(&v);
        ok = v.problems.n == 0 || fail_problems(&v);
    }
    vec_release(&v.problems);
    if (!ok) {
        request_answer_failure(r);
        return;
    }
    struct user other;
    const struct user *u = r->user;
    if (scope != SELF) {
        other = subject(&v);
        u = &other;
    }
    doc_set(r->a, &v.d, "status", access_status(&v, u));
    api_canonical(r->res->main->type, &v.d, r->a);
    request_answer(r, 201, &v.d);
}

void review_access(struct request *r)
{
    review(r, ANYBODY);
}

void review_local_access(struct request *r)
{
    review(r, LOCAL);
}

void review_self_access(struct request *r)
{
    review(r, SELF);
}

/* ---- all rules ---- */

static struct doc rules_status(struct request *r, struct str namespace)
{
    struct arena *a = r->a;
    struct str missing, node = node_of_user(r->user);
    struct rules rules = rbac_rules(r->s->auth->rbac, r->user, namespace, a, &missing);
    struct doc status = doc_make_map(), resources = doc_make_list(),
               paths = doc_make_list();
    for (uint32_t i = 0; i < rules.n; i++) {
        struct rule resource = rules.v[i], path = rules.v[i];
        resource.urls = (struct names){0};
        path.groups = path.resources = path.resource_names = (struct names){0};
        if (resource.resources.n)
            doc_append(a, &resources, rule_doc(&resource, a));
        if (path.urls.n)
            doc_append(a, &paths, rule_doc(&path, a));
    }
    doc_set(a, &status, "resourceRules", resources);
    doc_set(a, &status, "nonResourceRules", paths);
    doc_set(a, &status, "incomplete", doc_make_bool(node.p != NULL));
    if (node.p)
        missing = STR("node authorizer does not support user rule resolution");
    if (missing.n)
        doc_set(a, &status, "evaluationError", doc_make_string(a, missing));
    return status;
}

void review_self_rules(struct request *r)
{
    struct doc body, d = doc_make_map();
    bool ok = write_read_body(r, &body);
    struct str namespace =
        ok ? doc_get_text(doc_get(&body, "spec"), "namespace") : STR("");
    if (!ok || (namespace.n == 0 && !fail_bad(r, "no namespace on request"))) {
        request_answer_failure(r);
        return;
    }
    doc_set(r->a, &d, "kind", *doc_get(&body, "kind"));
    doc_set(r->a, &d, "apiVersion", *doc_get(&body, "apiVersion"));
    doc_set(r->a, &d, "metadata", doc_make_map());
    doc_set(r->a, &d, "spec", doc_make_map());
    doc_set(r->a, &d, "status", rules_status(r, namespace));
    api_canonical(r->res->main->type, &d, r->a);
    request_answer(r, 201, &d);
}
