/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds a policy's rules name. */
#include <stdlib.h>
#include <strings.h>

#include "base/vec.h"
#include "control/fields.h"
#include "control/policy_status.h"

struct finding {
    struct arena *a;
    const struct resources *resources;
    VEC(struct policy_kind) list;
    uint32_t of_rule; /* so many were found for it, those known already too */
    bool missed;
};

static int by_names(const void *a, const void *b)
{
    const struct policy_kind *x = a, *y = b;
    int c = str_cmp(x->group, y->group);
    if (!c)
        c = str_cmp(x->version, y->version);
    return c ? c : str_cmp(x->kind, y->kind);
}

static void add_kind(struct finding *f, const struct resource *r)
{
    struct policy_kind k = {str_from(r->kind.group), str_from(r->kind.version), r->name};
    f->of_rule++;
    for (size_t i = 0; i < f->list.n; i++)
        if (by_names(&f->list.v[i], &k) == 0)
            return;
    vec_push_in(f->a, &f->list, k);
}

/* ---- what a rule says ---- */

struct texts {
    struct str *v;
    uint32_t n;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Those of a list without the characters that are refused; sorted. */
static struct texts plain_texts(const struct finding *f, const struct doc *list,
                                const char *refused)
{
    struct texts t = {.v = ARENA_ARRAY(f->a, struct str, list->n)};
    for (uint32_t i = 0; i < list->n; i++) {
        struct str s = doc_str(&list->items[i]);
        if (!strpbrk(s.p, refused))
            t.v[t.n++] = s;
    }
    if (t.n > 1)
        qsort(t.v, t.n, sizeof *t.v, by_text);
    return t;
}

/* None at all where one of them is a wildcard. */
static struct texts all_plain(const struct finding *f, const struct doc *list)
{
    struct texts t = plain_texts(f, list, "*");
    if (t.n < list->n)
        t.n = 0;
    return t;
}

/* ---- what is served ---- */

static bool is_like(struct str name, struct str known)
{
    return name.n == known.n && strncasecmp(name.p, known.p, name.n) == 0;
}

/* The name of a resource, in whatever case, or of one object of it. */
static bool is_resource(const struct resource *r, struct str name)
{
    return name.n &&
           (is_like(name, str_from(r->kind.resource)) || is_like(name, r->singular));
}

static bool is_named(const struct resource *r, struct str group, struct str version,
                     struct str name)
{
    return r->served && (!group.n || str_is(group, r->kind.group)) &&
           (!version.n || str_is(version, r->kind.version)) && is_resource(r, name);
}

/* False: the rule has as many as count. */
static bool find(struct finding *f, struct str group, struct str version, struct str name)
{
    bool any = false;
    for (uint32_t i = 0; i < resources_count(f->resources); i++) {
        const struct resource *r = resources_at(f->resources, i);
        if (!is_named(r, group, version, name))
            continue;
        any = true;
        add_kind(f, r);
        if (f->of_rule == POLICY_KINDS)
            return false;
    }
    f->missed |= !any;
    return true;
}

static bool find_all(struct finding *f, const struct doc *rule)
{
    struct texts groups = all_plain(f, field_list(rule, "apiGroups")),
                 versions = all_plain(f, field_list(rule, "apiVersions")),
                 names = plain_texts(f, field_list(rule, "resources"), "*/");
    f->of_rule = 0;
    for (uint32_t g = 0; g < groups.n; g++)
        for (uint32_t v = 0; v < versions.n; v++)
            for (uint32_t n = 0; n < names.n; n++)
                if (!find(f, groups.v[g], versions.v[v], names.v[n]))
                    return false;
    return true;
}

struct policy_kinds policy_kinds_of(const struct doc *policy, const struct resources *r,
                                    struct arena *a)
{
    const struct doc *rules = field_list(policy, "spec.matchConstraints.resourceRules");
    struct finding f = {.a = a, .resources = r};
    for (uint32_t i = 0; i < rules->n && find_all(&f, &rules->items[i]); i++)
        continue;
    if (f.list.n > 1)
        qsort(f.list.v, f.list.n, sizeof *f.list.v, by_names);
    return (struct policy_kinds){f.list.v, (uint32_t)f.list.n, f.missed};
}
