/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit/audit_policy.h"

#include <string.h>

struct resources { /* of one group */
    struct str group;
    struct names resources, names;
};

struct rule {
    struct audit_verdict verdict;
    struct names users, groups, verbs, namespaces, urls;
    const struct resources *resources;
    uint32_t nresources;
};

struct audit_policy {
    const struct rule *rules;
    uint32_t n;
};

/* ---- words ---- */

static const char *const LEVELS[] = {"None", "Metadata", "Request", "RequestResponse"};
enum { NLEVELS = sizeof LEVELS / sizeof *LEVELS };

static const struct {
    const char *name;
    enum audit_stage stage;
} STAGES[] = {{"RequestReceived", AUDIT_RECEIVED},
              {"ResponseStarted", AUDIT_STARTED},
              {"ResponseComplete", AUDIT_COMPLETE},
              {"Panic", AUDIT_PANIC}};
enum { NSTAGES = sizeof STAGES / sizeof *STAGES };

const char *audit_level_name(enum audit_level level)
{
    return LEVELS[level];
}

const char *audit_stage_name(enum audit_stage stage)
{
    int i = 0;
    while (STAGES[i].stage != stage)
        i++;
    return STAGES[i].name;
}

/* ---- reading ---- */

/* All members of d are among the names, which end with NULL. */
static bool check_members(const struct doc *d, const char *where,
                          const char *const *names, struct err *e)
{
    if (d->type != DOC_MAP)
        return err_set(e, ERR_INVALID, "%s: a map is needed", where);
    for (uint32_t i = 0; i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        const char *const *n = names;
        while (*n && !str_is(key, *n))
            n++;
        if (!*n)
            return err_set(e, ERR_INVALID, "%s: there is no field \"%.*s\"", where,
                           STR_ARG(key));
    }
    return true;
}

static bool read_level(const struct doc *d, enum audit_level *out, struct err *e)
{
    struct str s = doc_get_text(d, "level");
    for (int i = 0; i < NLEVELS; i++)
        if (str_is(s, LEVELS[i])) {
            *out = (enum audit_level)i;
            return true;
        }
    return err_set(e, ERR_INVALID,
                   "a rule's level is None, Metadata, Request or RequestResponse, not "
                   "\"%.*s\"",
                   STR_ARG(s));
}

static bool read_stages(const struct doc *d, unsigned *out, struct err *e)
{
    const struct doc *all = doc_get(d, "omitStages");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        int k = 0;
        while (k < NSTAGES && !doc_is_string(&all->items[i], STAGES[k].name))
            k++;
        if (k == NSTAGES)
            return err_set(e, ERR_INVALID, "omitStages: there is no such stage");
        *out |= STAGES[k].stage;
    }
    return true;
}

static bool read_resources(const struct doc *d, struct arena *a, struct rule *r,
                           struct err *e)
{
    static const char *const MEMBERS[] = {"group", "resources", "resourceNames", NULL};
    const struct doc *all = doc_get(d, "resources");
    uint32_t n = all && all->type == DOC_LIST ? all->n : 0;
    struct resources *out = ARENA_ARRAY(a, struct resources, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *one = &all->items[i];
        if (!check_members(one, "resources", MEMBERS, e))
            return false;
        out[i].group = arena_str(a, doc_get_text(one, "group"));
        out[i].resources = names_read(doc_get(one, "resources"), a);
        out[i].names = names_read(doc_get(one, "resourceNames"), a);
        if (out[i].names.n && !out[i].resources.n)
            return err_set(e, ERR_INVALID,
                           "using resourceNames requires at least one resource");
    }
    r->resources = out;
    r->nresources = n;
    return true;
}

static bool read_rule(const struct doc *d, struct arena *a, struct rule *r, struct err *e)
{
    static const char *const MEMBERS[] = {
        "level",      "users",           "userGroups",
        "verbs",      "resources",       "namespaces",
        "omitStages", "nonResourceURLs", "omitManagedFields",
        NULL};
    if (!check_members(d, "a rule", MEMBERS, e) || !read_level(d, &r->verdict.level, e) ||
        !read_stages(d, &r->verdict.omitted, e) || !read_resources(d, a, r, e))
        return false;
    doc_get_bool(d, "omitManagedFields", &r->verdict.omit_managed_fields);
    r->users = names_read(doc_get(d, "users"), a);
    r->groups = names_read(doc_get(d, "userGroups"), a);
    r->verbs = names_read(doc_get(d, "verbs"), a);
    r->namespaces = names_read(doc_get(d, "namespaces"), a);
    r->urls = names_read(doc_get(d, "nonResourceURLs"), a);
    return !(r->urls.n && (r->nresources || r->namespaces.n)) ||
           err_set(e, ERR_INVALID,
                   "a rule cannot apply to both regular resources and non-resource URLs");
}

static const struct audit_policy *read_doc(const struct doc *d, struct arena *a,
                                           struct err *e)
{
    static const char *const MEMBERS[] = {"apiVersion", "kind",  "metadata",
                                          "omitStages", "rules", "omitManagedFields",
                                          NULL};
    struct audit_policy *p = ARENA_NEW(a, struct audit_policy);
    unsigned omitted = 0;
    bool quiet = false;
    const struct doc *rules = doc_get(d, "rules");
    if (!check_members(d, "the policy", MEMBERS, e) || !read_stages(d, &omitted, e))
        return NULL;
    if (!doc_is_string(doc_get(d, "apiVersion"), "audit.k8s.io/v1") ||
        !doc_is_string(doc_get(d, "kind"), "Policy")) {
        err_set(e, ERR_INVALID, "it is no Policy of audit.k8s.io/v1");
        return NULL;
    }
    doc_get_bool(d, "omitManagedFields", &quiet);
    p->n = rules && rules->type == DOC_LIST ? rules->n : 0;
    struct rule *all = ARENA_ARRAY(a, struct rule, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        all[i].verdict.omit_managed_fields = quiet;
        all[i].verdict.omitted = omitted;
        if (!read_rule(&rules->items[i], a, &all[i], e))
            return NULL;
    }
    p->rules = all;
    if (p->n == 0) {
        err_set(e, ERR_INVALID, "it has no rules");
        return NULL;
    }
    return p;
}

const struct audit_policy *audit_policy_read(struct str text, struct arena *a,
                                             struct err *e)
{
    struct doc_source src = {.name = "policy", .text = text};
    struct doc_list docs;
    if (!doc_read(&src, a, &docs, e))
        return NULL;
    if (docs.n == 1)
        return read_doc(&docs.v[0], a, e);
    err_set(e, ERR_INVALID, "one Policy is needed");
    return NULL;
}

/* ---- matching ---- */

static bool allows(const struct names *names, struct str s)
{
    return names->n == 0 || names_have(names, s);
}

/* A name, with a subresource or a star for either; a star alone is all. */
static bool resource_matches(struct str pattern, const struct attributes *want)
{
    struct str sub = want->subresource;
    size_t slash = str_find_byte(pattern, '/', 0);
    if (slash == SIZE_MAX)
        return str_is(pattern, "*") || (!sub.n && str_eq(pattern, want->resource));
    struct str left = str_sub(pattern, 0, slash),
               right = str_sub(pattern, slash + 1, SIZE_MAX);
    if (str_is(left, "*"))
        return sub.n && str_eq(right, sub);
    return str_eq(left, want->resource) &&
           (str_is(right, "*") || (sub.n && str_eq(right, sub)));
}

static bool resources_match(const struct resources *r, const struct attributes *want)
{
    if (!str_eq(r->group, want->group))
        return false;
    for (uint32_t i = 0; i < r->resources.n; i++)
        if (allows(&r->names, want->name) && resource_matches(r->resources.v[i], want))
            return true;
    return r->resources.n == 0;
}

static bool matches_resource(const struct rule *r, const struct attributes *want)
{
    if (want->path.p || !allows(&r->namespaces, want->namespace))
        return false;
    for (uint32_t i = 0; i < r->nresources; i++)
        if (resources_match(&r->resources[i], want))
            return true;
    return r->nresources == 0;
}

static bool matches_url(const struct rule *r, struct str path)
{
    for (uint32_t i = 0; path.p && i < r->urls.n; i++) {
        struct str url = r->urls.v[i];
        bool star = str_ends(url, STR("*"));
        if (str_eq(url, path) || (star && str_starts(path, str_sub(url, 0, url.n - 1))))
            return true;
    }
    return false;
}

static bool matches(const struct rule *r, const struct user *u,
                    const struct attributes *want)
{
    bool in = r->groups.n == 0;
    for (uint32_t i = 0; !in && i < r->groups.n; i++)
        in = user_is_in(u, r->groups.v[i]);
    if (!in || !allows(&r->users, u->name) || !allows(&r->verbs, want->verb))
        return false;
    if (r->namespaces.n || r->nresources)
        return matches_resource(r, want);
    return r->urls.n == 0 || matches_url(r, want->path);
}

struct audit_verdict audit_policy_judge(const struct audit_policy *p,
                                        const struct user *u,
                                        const struct attributes *want)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (matches(&p->rules[i], u, want))
            return p->rules[i].verdict;
    return (struct audit_verdict){.level = AUDIT_NONE};
}
