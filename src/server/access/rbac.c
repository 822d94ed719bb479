/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/rbac.h"

#include "base/quote.h"

struct role {
    struct arena arena;
    struct str key;
    struct rules own;
    struct doc labels, selectors; /* of what it aggregates: a list, or null */
    struct rules all;             /* as of `seen` */
    struct arena all_arena;
    uint64_t seen;
    bool visiting;
};

struct binding {
    struct arena arena;
    struct str key;
    struct rbac_source source;
    struct rbac_subject *subjects;
    uint32_t nsubjects;
};

struct holding { /* a subject of a binding */
    struct binding *binding;
    uint32_t subject;
};
struct holdings {
    struct str key;
    VEC(struct holding) all;
};

struct rbac {
    struct strmap roles;      /* "c/NAME", "r/NAMESPACE/NAME": struct role */
    struct strmap bindings;   /* "NAMESPACE/NAME": struct binding */
    struct strmap by_subject; /* struct holdings */
    uint64_t version;         /* of the ClusterRoles; from 1 */
    uint32_t aggregating;     /* roles whose rules are being gathered */
    struct arena scratch;     /* keys of look-ups */
};

/* ---- keys ---- */

static struct str role_key(struct arena *a, bool cluster, struct str namespace,
                           struct str name)
{
    if (cluster)
        return arena_printf(a, "c/%.*s", STR_ARG(name));
    return arena_printf(a, "r/%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

static struct str binding_key(struct arena *a, struct str namespace, struct str name)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

/* Namespaces have no line feeds. what: 'u' a user's name, 'g' a group's. */
static struct str subject_key(struct arena *a, struct str namespace, char what,
                              struct str name)
{
    return arena_printf(a, "%.*s\n%c%.*s", STR_ARG(namespace), what, STR_ARG(name));
}

/* STR_NONE: nobody can be this subject. */
static struct str key_of_subject(const struct binding *b, const struct rbac_subject *s,
                                 struct arena *a)
{
    struct str in = b->source.namespace;
    if (str_is(s->kind, "User"))
        return subject_key(a, in, 'u', s->name);
    if (str_is(s->kind, "Group"))
        return subject_key(a, in, 'g', s->name);
    struct str ns = s->namespace.n ? s->namespace : in;
    if (!str_is(s->kind, "ServiceAccount") || ns.n == 0)
        return STR_NONE;
    return subject_key(a, in, 'u',
                       arena_printf(a, "system:serviceaccount:%.*s:%.*s", STR_ARG(ns),
                                    STR_ARG(s->name)));
}

/* ---- roles ---- */

static void role_free(struct role *r)
{
    arena_fini(&r->all_arena);
    arena_fini(&r->arena);
    free(r);
}

static void drop_role(struct rbac *b, struct str key)
{
    struct strmap_entry *e = strmap_find(&b->roles, key);
    if (!e)
        return;
    struct role *r = e->value.ptr;
    strmap_remove(&b->roles, key);
    role_free(r);
}

static struct doc copy_of(struct arena *a, const struct doc *d)
{
    return d ? doc_dup(a, d) : doc_make_null();
}

static void put_role(struct rbac *b, struct str key, const struct doc *d)
{
    struct role *r = mem_zalloc(sizeof *r);
    r->key = arena_str(&r->arena, key);
    r->own = rules_read(doc_get(d, "rules"), &r->arena);
    r->labels = copy_of(&r->arena, doc_path(d, "metadata.labels"));
    r->selectors =
        copy_of(&r->arena, doc_path(d, "aggregationRule.clusterRoleSelectors"));
    strmap_put(&b->roles, r->key, NULL)->value.ptr = r;
}

/* ---- aggregation ---- */

static bool expression_holds(const struct doc *e, const struct doc *labels)
{
    static const struct {
        const char *name;
        enum selector_op op;
    } OPS[] = {{"In", SELECT_IN},
               {"NotIn", SELECT_NOT_IN},
               {"Exists", SELECT_EXISTS},
               {"DoesNotExist", SELECT_ABSENT}};
    struct arena a = {0};
    struct names values = names_read(doc_get(e, "values"), &a);
    struct requirement q = {
        .key = doc_get_text(e, "key"), .values = values.v, .nvalues = values.n};
    const struct doc *label = doc_get_str(labels, q.key);
    bool holds = false;
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
        if (str_is(doc_get_text(e, "operator"), OPS[i].name)) {
            q.op = OPS[i].op;
            holds = requirement_holds(&q, label ? doc_str(label) : STR_NONE);
        }
    arena_fini(&a);
    return holds;
}

static bool selector_holds(const struct doc *selector, const struct doc *labels)
{
    const struct doc *match = doc_get(selector, "matchLabels");
    for (uint32_t i = 0; match && match->type == DOC_MAP && i < match->n; i++) {
        const struct doc *label = doc_get_str(labels, doc_key(&match->members[i]));
        if (!label || !doc_equal(label, &match->members[i].value))
            return false;
    }
    const struct doc *more = doc_get(selector, "matchExpressions");
    for (uint32_t i = 0; more && more->type == DOC_LIST && i < more->n; i++)
        if (!expression_holds(&more->items[i], labels))
            return false;
    return true;
}

static bool selects(const struct role *r, const struct role *other)
{
    for (uint32_t i = 0; i < r->selectors.n; i++)
        if (selector_holds(&r->selectors.items[i], &other->labels))
            return true;
    return false;
}

static struct rules all_rules(struct rbac *b, struct role *r);

static void aggregate(struct rbac *b, struct role *r)
{
    VEC(struct rule) all = {0};
    r->visiting = true;
    b->aggregating++;
    strmap_each(&b->roles, e)
    {
        struct role *other = e->value.ptr;
        if (e->key.p[0] != 'c' || other->visiting || !selects(r, other))
            continue;
        struct rules more = all_rules(b, other);
        for (uint32_t i = 0; i < more.n; i++)
            vec_push(&all, more.v[i]);
    }
    r->visiting = false;
    b->aggregating--;
    arena_reset(&r->all_arena);
    struct rule *v = ARENA_ARRAY(&r->all_arena, struct rule, all.n);
    if (all.n)
        memcpy(v, all.v, all.n * sizeof *v);
    r->all = (struct rules){v, (uint32_t)all.n};
    vec_release(&all);
}

/* Texts are those of the roles that are selected: `version` says when these change. */
static struct rules all_rules(struct rbac *b, struct role *r)
{
    if (r->own.n || r->selectors.type != DOC_LIST || r->selectors.n == 0)
        return r->own;
    if (r->seen != b->version)
        aggregate(b, r);
    /* Below another role the answer may be but a part: they may select each other. */
    r->seen = b->aggregating ? 0 : b->version;
    return r->all;
}

/* ---- bindings ---- */

static struct holdings *holdings_of(struct rbac *b, struct str key)
{
    struct strmap_entry *e = strmap_find(&b->by_subject, key);
    return e ? e->value.ptr : NULL;
}

static void hold(struct rbac *b, struct str key, struct binding *binding, uint32_t i)
{
    struct holdings *h = holdings_of(b, key);
    if (!h) {
        h = mem_zalloc(sizeof *h + key.n);
        memcpy((char *)(h + 1), key.p, key.n);
        h->key = (struct str){(char *)(h + 1), key.n};
        strmap_put(&b->by_subject, h->key, NULL)->value.ptr = h;
    }
    vec_push(&h->all, (struct holding){binding, i});
}

static void holdings_free(struct holdings *h)
{
    vec_release(&h->all);
    free(h);
}

static void release(struct rbac *b, struct str key, const struct binding *binding)
{
    struct holdings *h = holdings_of(b, key);
    size_t kept = 0;
    for (size_t i = 0; h && i < h->all.n; i++)
        if (h->all.v[i].binding != binding)
            h->all.v[kept++] = h->all.v[i];
    if (!h)
        return;
    h->all.n = kept;
    if (kept == 0) {
        strmap_remove(&b->by_subject, h->key);
        holdings_free(h);
    }
}

static void binding_free(struct binding *x)
{
    arena_fini(&x->arena);
    free(x);
}

static void drop_binding(struct rbac *b, struct str key)
{
    struct strmap_entry *e = strmap_find(&b->bindings, key);
    if (!e)
        return;
    struct binding *x = e->value.ptr;
    strmap_remove(&b->bindings, key);
    struct arena a = {0};
    for (uint32_t i = 0; i < x->nsubjects; i++) {
        struct str subject = key_of_subject(x, &x->subjects[i], &a);
        if (subject.p)
            release(b, subject, x);
    }
    arena_fini(&a);
    binding_free(x);
}

static void read_subjects(struct binding *x, const struct doc *list)
{
    x->nsubjects = list && list->type == DOC_LIST ? list->n : 0;
    x->subjects = ARENA_ARRAY(&x->arena, struct rbac_subject, x->nsubjects);
    for (uint32_t i = 0; i < x->nsubjects; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): nsubjects is 0, then */
        const struct doc *d = &list->items[i];
        x->subjects[i] =
            (struct rbac_subject){arena_str(&x->arena, doc_get_text(d, "kind")),
                                  arena_str(&x->arena, doc_get_text(d, "namespace")),
                                  arena_str(&x->arena, doc_get_text(d, "name"))};
    }
}

static void put_binding(struct rbac *b, struct str key, struct str namespace,
                        struct str name, const struct doc *d)
{
    struct binding *x = mem_zalloc(sizeof *x);
    struct arena *a = &x->arena, keys = {0};
    const struct doc *role = doc_get(d, "roleRef");
    x->key = arena_str(a, key);
    x->source.namespace = arena_str(a, namespace);
    x->source.name = arena_str(a, name);
    x->source.role_kind = arena_str(a, doc_get_text(role, "kind"));
    x->source.role = arena_str(a, doc_get_text(role, "name"));
    read_subjects(x, doc_get(d, "subjects"));
    strmap_put(&b->bindings, x->key, NULL)->value.ptr = x;
    for (uint32_t i = 0; i < x->nsubjects; i++) {
        struct str subject = key_of_subject(x, &x->subjects[i], &keys);
        if (subject.p)
            hold(b, subject, x, i);
    }
    arena_fini(&keys);
}

/* ---- objects ---- */

void rbac_remove(struct rbac *b, enum rbac_kind kind, struct str namespace,
                 struct str name)
{
    bool role = kind == RBAC_CLUSTER_ROLE || kind == RBAC_ROLE;
    if (role)
        drop_role(b, role_key(&b->scratch, kind == RBAC_CLUSTER_ROLE, namespace, name));
    else
        drop_binding(b, binding_key(&b->scratch, namespace, name));
    b->version += kind == RBAC_CLUSTER_ROLE;
    arena_reset(&b->scratch);
}

void rbac_put(struct rbac *b, enum rbac_kind kind, struct str namespace, struct str name,
              const struct doc *d)
{
    rbac_remove(b, kind, namespace, name);
    bool role = kind == RBAC_CLUSTER_ROLE || kind == RBAC_ROLE;
    if (role)
        put_role(b, role_key(&b->scratch, kind == RBAC_CLUSTER_ROLE, namespace, name), d);
    else
        put_binding(b, binding_key(&b->scratch, namespace, name), namespace, name, d);
    arena_reset(&b->scratch);
}

struct rbac *rbac_new(void)
{
    struct rbac *b = mem_zalloc(sizeof *b);
    b->version = 1;
    return b;
}

void rbac_free(struct rbac *b)
{
    if (!b)
        return;
    strmap_each(&b->roles, e) role_free(e->value.ptr);
    strmap_each(&b->bindings, e) binding_free(e->value.ptr);
    strmap_each(&b->by_subject, e) holdings_free(e->value.ptr);
    strmap_release(&b->roles);
    strmap_release(&b->bindings);
    strmap_release(&b->by_subject);
    arena_fini(&b->scratch);
    free(b);
}

/* ---- questions ---- */

bool rbac_role(struct rbac *b, struct str kind, struct str namespace, struct str name,
               struct rules *out)
{
    bool cluster = str_is(kind, "ClusterRole");
    struct strmap_entry *e =
        strmap_find(&b->roles, role_key(&b->scratch, cluster, namespace, name));
    arena_reset(&b->scratch);
    if (!e)
        return false;
    *out = all_rules(b, e->value.ptr);
    return true;
}

struct visit {
    struct rbac *b;
    const struct user *u;
    struct arena *a;
    rbac_each *each;
    void *ctx;
    bool stopped;
    VEC(struct str) missing;
};

static bool is_user(const struct visit *v, const struct binding *x, uint32_t i)
{
    const struct rbac_subject *s = &x->subjects[i];
    if (str_is(s->kind, "User"))
        return str_eq(s->name, v->u->name);
    if (str_is(s->kind, "Group"))
        return user_is_in(v->u, s->name);
    struct arena a = {0};
    struct str key = key_of_subject(x, s, &a);
    struct str mine = subject_key(&a, x->source.namespace, 'u', v->u->name);
    bool is = key.p && str_eq(key, mine);
    arena_fini(&a);
    return is;
}

/* A binding that names a user twice counts once, for its first subject. */
static bool is_first(const struct visit *v, const struct holding *h)
{
    for (uint32_t i = 0; i < h->subject; i++)
        if (is_user(v, h->binding, i))
            return false;
    return true;
}

static void note_missing(struct visit *v, const struct rbac_source *from)
{
    const char *what = str_is(from->role_kind, "ClusterRole") ? "clusterrole" : "role";
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%s.rbac.authorization.k8s.io ", what);
    strbuf_add_quoted(&b, from->role);
    strbuf_adds(&b, " not found");
    struct str text = arena_str(v->a, strbuf_str(&b));
    strbuf_release(&b);
    for (size_t i = 0; i < v->missing.n; i++)
        if (str_eq(v->missing.v[i], text))
            return;
    vec_push(&v->missing, text);
}

static void visit_binding(struct visit *v, const struct holding *h)
{
    struct rules rules;
    struct rbac_source from = h->binding->source;
    from.subject = &h->binding->subjects[h->subject];
    if (!rbac_role(v->b, from.role_kind, from.namespace, from.role, &rules)) {
        note_missing(v, &from);
        return;
    }
    for (uint32_t i = 0; i < rules.n && !v->stopped; i++)
        v->stopped = !v->each(v->ctx, &from, &rules.v[i]);
}

static void visit_subject(struct visit *v, struct str namespace, char what,
                          struct str name)
{
    struct rbac *b = v->b;
    struct holdings *h = holdings_of(b, subject_key(&b->scratch, namespace, what, name));
    arena_reset(&b->scratch);
    for (size_t i = 0; h && i < h->all.n && !v->stopped; i++)
        if (is_first(v, &h->all.v[i]))
            visit_binding(v, &h->all.v[i]);
}

static void visit_scope(struct visit *v, struct str namespace)
{
    visit_subject(v, namespace, 'u', v->u->name);
    for (uint32_t i = 0; i < v->u->ngroups && !v->stopped; i++)
        visit_subject(v, namespace, 'g', v->u->groups[i]);
}

/* Go's print of several errors. */
static struct str join_missing(struct visit *v)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < v->missing.n; i++)
        strbuf_addf(&b, "%s%.*s", i ? ", " : "", STR_ARG(v->missing.v[i]));
    struct str text = v->missing.n > 1 ? arena_printf(v->a, "[%s]", strbuf_cstr(&b))
                                       : arena_str(v->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

void rbac_visit(struct rbac *b, const struct user *u, struct str namespace,
                struct arena *a, rbac_each *each, void *ctx, struct str *missing)
{
    struct visit v = {.b = b, .u = u, .a = a, .each = each, .ctx = ctx};
    visit_scope(&v, STR(""));
    if (namespace.n && !v.stopped)
        visit_scope(&v, namespace);
    if (missing)
        *missing = v.missing.n ? join_missing(&v) : STR_NONE;
    vec_release(&v.missing);
}

struct asking {
    const struct attributes *want;
    struct arena *a;
    struct str *why;
    bool allowed;
};

/* "NAME/NAMESPACE", as upstream has it. */
static struct str named(struct arena *a, struct str name, struct str namespace)
{
    return namespace.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(name), STR_ARG(namespace))
                       : name;
}

static struct str describe(const struct rbac_source *from, struct arena *a)
{
    const struct rbac_subject *s = from->subject;
    bool account = str_is(s->kind, "ServiceAccount");
    struct str in = s->namespace.n ? s->namespace : from->namespace;
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "RBAC: allowed by %s ",
                from->namespace.n ? "RoleBinding" : "ClusterRoleBinding");
    strbuf_add_quoted(&b, named(a, from->name, from->namespace));
    strbuf_addf(&b, " of %.*s ", STR_ARG(from->role_kind));
    strbuf_add_quoted(&b, from->role);
    strbuf_addf(&b, " to %.*s ", STR_ARG(s->kind));
    strbuf_add_quoted(&b, account ? named(a, s->name, in) : s->name);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static bool ask_rule(void *ctx, const struct rbac_source *from, const struct rule *r)
{
    struct asking *q = ctx;
    q->allowed = rule_allows(r, q->want);
    if (q->allowed && q->why)
        *q->why = describe(from, q->a);
    return !q->allowed;
}

bool rbac_allows(struct rbac *b, const struct user *u, const struct attributes *want,
                 struct arena *a, struct str *why)
{
    struct asking q = {want, a, why, false};
    struct str missing;
    rbac_visit(b, u, want->namespace, a, ask_rule, &q, &missing);
    if (!q.allowed && why)
        *why = missing.n ? arena_printf(a, "RBAC: %.*s", STR_ARG(missing)) : STR("");
    return q.allowed;
}

struct gathering {
    VEC(struct rule) all;
};

static bool gather(void *ctx, const struct rbac_source *from, const struct rule *r)
{
    struct gathering *g = ctx;
    vec_push(&g->all, *r);
    return true;
}

struct rules rbac_rules(struct rbac *b, const struct user *u, struct str namespace,
                        struct arena *a, struct str *missing)
{
    struct gathering g = {0};
    rbac_visit(b, u, namespace, a, gather, &g, missing);
    struct rule *v = ARENA_ARRAY(a, struct rule, g.all.n);
    if (g.all.n)
        memcpy(v, g.all.v, g.all.n * sizeof *v);
    struct rules rules = {v, (uint32_t)g.all.n};
    vec_release(&g.all);
    return rules;
}
