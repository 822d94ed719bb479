/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/hooks.h"

struct hooks {
    struct api_cel cel;
    struct policy_cel policy_cel;
    bool compiles; /* cel is there */
    struct hook *all[HOOK_KINDS];
    struct follow {
        struct hooks *hooks;
        enum hook_kind kind;
    } follows[HOOK_KINDS];
    struct cache *cache;
    struct cache_watch *watches[HOOK_KINDS];
};

#define GROUP "/registry/admissionregistration.k8s.io/"
static const char *const PREFIXES[] = {
    [HOOK_MUTATING_WEBHOOKS] = GROUP "mutatingwebhookconfigurations/",
    [HOOK_VALIDATING_WEBHOOKS] = GROUP "validatingwebhookconfigurations/",
    [HOOK_MUTATING_POLICIES] = GROUP "mutatingadmissionpolicies/",
    [HOOK_VALIDATING_POLICIES] = GROUP "validatingadmissionpolicies/",
    [HOOK_MUTATING_BINDINGS] = GROUP "mutatingadmissionpolicybindings/",
    [HOOK_VALIDATING_BINDINGS] = GROUP "validatingadmissionpolicybindings/",
};

/* ---- reading ---- */

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct conditions read_conditions(const struct doc *list, const char *name,
                                         const char *text, struct arena *a)
{
    struct conditions c = {ARENA_ARRAY(a, struct condition, count(list)), count(list)};
    for (uint32_t i = 0; i < c.n; i++)
        c.v[i] = (struct condition){.name = doc_get_text(&list->items[i], name),
                                    .text = doc_get_text(&list->items[i], text)};
    return c;
}

static enum review_version read_version(const struct doc *list)
{
    for (uint32_t i = 0; i < count(list); i++) {
        if (doc_is_string(&list->items[i], "v1"))
            return REVIEW_V1;
        if (doc_is_string(&list->items[i], "v1beta1"))
            return REVIEW_V1BETA1;
    }
    return REVIEW_NONE;
}

static void read_webhook(struct webhook *w, const struct doc *d, struct arena *a)
{
    int64_t seconds = 10;
    struct str effects = doc_get_text(d, "sideEffects");
    w->name = doc_get_text(d, "name");
    w->conditions =
        read_conditions(doc_get(d, "matchConditions"), "name", "expression", a);
    w->ignore = str_is(doc_get_text(d, "failurePolicy"), "Ignore");
    w->again = str_is(doc_get_text(d, "reinvocationPolicy"), "IfNeeded");
    w->dry_run = str_is(effects, "None") || str_is(effects, "NoneOnDryRun");
    doc_get_int64(d, "timeoutSeconds", &seconds);
    w->timeout_ms = (uint32_t)seconds * 1000;
    w->version = read_version(doc_get(d, "admissionReviewVersions"));
    hook_peer_read(&w->peer, doc_get(d, "clientConfig"), a);
    match_read(d, "rules", "", a, &w->match);
    w->match.all = false; /* without rules it is about nothing */
}

static void read_webhooks(struct hook *h, const struct doc *d)
{
    const struct doc *list = doc_get(d, "webhooks");
    h->nwebhooks = count(list);
    h->webhooks = ARENA_ARRAY(&h->arena, struct webhook, h->nwebhooks);
    for (uint32_t i = 0; i < h->nwebhooks; i++) {
        struct webhook *w = &h->webhooks[i];
        w->configuration = h->name;
        read_webhook(w, &list->items[i], &h->arena);
        w->uid = arena_printf(&h->arena, "%.*s/%.*s/%u", STR_ARG(h->name),
                              STR_ARG(w->name), i);
    }
}

static void read_validations(struct policy *p, const struct doc *list, struct arena *a)
{
    p->nvalidations = count(list);
    p->validations = ARENA_ARRAY(a, struct validation, p->nvalidations);
    for (uint32_t i = 0; i < p->nvalidations; i++) {
        const struct doc *d = &list->items[i];
        p->validations[i] = (struct validation){
            .check = {.text = doc_get_text(d, "expression")},
            .message_check = {.text = doc_get_text(d, "messageExpression")},
            .message = doc_get_text(d, "message"),
            .reason = doc_get_text(d, "reason")};
    }
}

static void read_mutations(struct policy *p, const struct doc *list, struct arena *a)
{
    p->nmutations = count(list);
    p->mutations = ARENA_ARRAY(a, struct mutation, p->nmutations);
    for (uint32_t i = 0; i < p->nmutations; i++) {
        const struct doc *d = &list->items[i];
        bool apply = str_is(doc_get_text(d, "patchType"), "ApplyConfiguration");
        const struct doc *patch = doc_get(d, apply ? "applyConfiguration" : "jsonPatch");
        p->mutations[i] = (struct mutation){
            .apply = apply, .patch = {.text = doc_get_text(patch, "expression")}};
    }
}

static void read_policy(struct hook *h, const struct doc *d)
{
    struct policy *p = &h->policy;
    const struct doc *spec = doc_get(d, "spec"), *variables = doc_get(spec, "variables");
    p->name = h->name;
    match_read(doc_get(spec, "matchConstraints"), "resourceRules", "excludeResourceRules",
               &h->arena, &p->match);
    p->ignore = str_is(doc_get_text(spec, "failurePolicy"), "Ignore");
    p->again = str_is(doc_get_text(spec, "reinvocationPolicy"), "IfNeeded");
    p->param_version = doc_get_text(doc_get(spec, "paramKind"), "apiVersion");
    p->param_kind = doc_get_text(doc_get(spec, "paramKind"), "kind");
    p->conditions = read_conditions(doc_get(spec, "matchConditions"), "name",
                                    "expression", &h->arena);
    p->audits = read_conditions(doc_get(spec, "auditAnnotations"), "key",
                                "valueExpression", &h->arena);
    p->variables = variables ? *variables : doc_make_list();
    read_validations(p, doc_get(spec, "validations"), &h->arena);
    read_mutations(p, doc_get(spec, "mutations"), &h->arena);
}

static void read_binding(struct hook *h, const struct doc *d)
{
    struct policy_binding *b = &h->binding;
    const struct doc *spec = doc_get(d, "spec"), *match = doc_get(spec, "matchResources"),
                     *param = doc_get(spec, "paramRef");
    h->policy_name = doc_get_text(spec, "policyName");
    b->name = h->name;
    b->matches_all = !match || match->type == DOC_NULL;
    match_read(match, "resourceRules", "excludeResourceRules", &h->arena, &b->match);
    b->param = param ? *param : doc_make_null();
    b->actions = names_read(doc_get(spec, "validationActions"), &h->arena);
}

static struct hook *read_hook(enum hook_kind kind, struct cache_object *o)
{
    struct hook *h = mem_zalloc(sizeof *h);
    arena_init(&h->arena);
    h->name = arena_str(&h->arena, o->name);
    /* Its texts stay where they are read from. */
    struct doc_source src = {.name = "", .text = arena_str(&h->arena, o->json)};
    struct doc d = doc_make_map();
    doc_read_json(&src, &h->arena, &d, NULL);
    if (kind <= HOOK_VALIDATING_WEBHOOKS)
        read_webhooks(h, &d);
    else if (kind <= HOOK_VALIDATING_POLICIES)
        read_policy(h, &d);
    else
        read_binding(h, &d);
    return h;
}

/* ---- the lists ---- */

static void hook_free(struct hook *h)
{
    for (uint32_t i = 0; i < h->nwebhooks; i++)
        policy_exprs_free(h->webhooks[i].exprs);
    policy_exprs_free(h->policy.exprs);
    arena_fini(&h->arena);
    free(h);
}

static struct hook **place_of(struct hooks *all, enum hook_kind kind, struct str name)
{
    struct hook **at = &all->all[kind];
    while (*at && str_cmp((*at)->name, name) < 0)
        at = &(*at)->next;
    return at;
}

static void remove_hook(struct hooks *all, enum hook_kind kind, struct str name)
{
    struct hook **at = place_of(all, kind, name), *h = *at;
    if (!h || !str_eq(h->name, name))
        return;
    *at = h->next;
    hook_free(h);
}

static bool put_hook(void *ctx, struct cache_object *o)
{
    struct follow *f = ctx;
    remove_hook(f->hooks, f->kind, o->name);
    struct hook **at = place_of(f->hooks, f->kind, o->name);
    struct hook *h = read_hook(f->kind, o);
    h->next = *at;
    *at = h;
    return true;
}

static void on_event(void *ctx, const struct cache_event *e)
{
    struct follow *f = ctx;
    if (e->kind == CACHE_DELETED)
        remove_hook(f->hooks, f->kind, e->object->name);
    else if (e->object)
        put_hook(f, e->object);
}

struct hooks *hooks_new(void)
{
    return mem_zalloc(sizeof(struct hooks));
}

void hooks_free(struct hooks *h)
{
    if (!h)
        return;
    for (int i = 0; i < HOOK_KINDS; i++) {
        if (h->watches[i])
            cache_unwatch(h->watches[i]);
        while (h->all[i])
            remove_hook(h, (enum hook_kind)i, h->all[i]->name);
    }
    if (h->compiles) {
        policy_cel_fini(&h->policy_cel);
        api_cel_fini(&h->cel);
    }
    free(h);
}

void hooks_follow(struct server *s)
{
    struct hooks *h = s->hooks;
    uint64_t now = cache_revision(s->cache);
    for (int i = 0; i < HOOK_KINDS; i++) {
        struct str prefix = str_from(PREFIXES[i]);
        h->follows[i] = (struct follow){h, (enum hook_kind)i};
        cache_each(s->cache, prefix, STR_NONE, put_hook, &h->follows[i]);
        h->watches[i] = cache_watch(s->cache, prefix, now, on_event, &h->follows[i]);
    }
}

struct hook *hooks_of(const struct server *s, enum hook_kind kind)
{
    return s->hooks->all[kind];
}

/* ---- compiling ---- */

static const struct policy_cel *cel_of(struct hooks *h)
{
    if (!h->compiles) {
        api_cel_init(&h->cel);
        policy_cel_init(&h->policy_cel, &h->cel);
        h->compiles = true;
    }
    return &h->policy_cel;
}

static void ready(struct policy_exprs *x, struct condition *c, enum policy_result result,
                  unsigned flags, struct arena *scratch)
{
    struct policy_error error;
    if (!c->text.n)
        return;
    c->expr = policy_expr_new(x, c->text, result, flags | POLICY_STORED, scratch, &error);
    if (!c->expr)
        c->why = policy_text_keep(x, error.text);
}

enum { WHOLE = POLICY_AUTHORIZER | POLICY_VARIABLES };

static void ready_all(struct policy_exprs *x, struct conditions *c,
                      enum policy_result result, unsigned flags, struct arena *scratch)
{
    for (uint32_t i = 0; i < c->n; i++)
        ready(x, &c->v[i], result, flags, scratch);
}

void hooks_ready_webhook(struct server *s, struct webhook *w)
{
    struct arena scratch;
    if (w->exprs || !w->conditions.n)
        return;
    arena_init(&scratch);
    w->exprs = policy_exprs_new(cel_of(s->hooks), false);
    ready_all(w->exprs, &w->conditions, POLICY_BOOL, POLICY_AUTHORIZER, &scratch);
    arena_fini(&scratch);
}

static void ready_variables(struct policy *p, struct arena *scratch)
{
    struct policy_error error;
    for (uint32_t i = 0; i < count(&p->variables); i++) {
        const struct doc *d = &p->variables.items[i];
        policy_variable_add(p->exprs, doc_get_text(d, "name"),
                            doc_get_text(d, "expression"),
                            POLICY_AUTHORIZER | POLICY_STORED, scratch, &error);
    }
}

void hooks_ready_policy(struct server *s, struct policy *p)
{
    struct arena scratch;
    if (p->exprs)
        return;
    arena_init(&scratch);
    p->exprs = policy_exprs_new(cel_of(s->hooks), p->param_kind.n > 0);
    ready_variables(p, &scratch);
    ready_all(p->exprs, &p->conditions, POLICY_BOOL, WHOLE, &scratch);
    for (uint32_t i = 0; i < p->nvalidations; i++) {
        ready(p->exprs, &p->validations[i].check, POLICY_BOOL, WHOLE, &scratch);
        ready(p->exprs, &p->validations[i].message_check, POLICY_STRING, POLICY_VARIABLES,
              &scratch);
    }
    ready_all(p->exprs, &p->audits, POLICY_TEXT_OR_NULL, WHOLE, &scratch);
    for (uint32_t i = 0; i < p->nmutations; i++)
        ready(p->exprs, &p->mutations[i].patch,
              p->mutations[i].apply ? POLICY_OBJECT : POLICY_PATCHES, WHOLE, &scratch);
    arena_fini(&scratch);
}
