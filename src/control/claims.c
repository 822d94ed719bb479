/* SPDX-License-Identifier: Apache-2.0 */
/* The claim controller's caches, and which event is work on what (spec 6.1.1-6). */
#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"
#include "control/claims_inner.h"

enum { WORKERS = 50 };

const struct client_kind claims_kind_claim = {"resource.k8s.io", "v1", "resourceclaims",
                                              true},
                         claims_kind_template = {"resource.k8s.io", "v1",
                                                 "resourceclaimtemplates", true},
                         claims_kind_pod = {"", "v1", "pods", true},
                         claims_kind_group = {"scheduling.k8s.io", "v1beta1", "podgroups",
                                              true};

static struct str join(struct arena *a, struct str namespace, struct str name)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

static const struct doc *entries_of(const struct doc *owner)
{
    const struct doc *list = doc_path(owner, "spec.resourceClaims");
    return list && list->type == DOC_LIST ? list : NULL;
}

/* ---- indexes ---- */

static void emit(struct index *x, const struct object *o, struct str name)
{
    struct arena a;
    arena_init(&a);
    index_emit(x, join(&a, o->namespace, name));
    arena_fini(&a);
}

static void by_claim(struct index *x, const struct object *o)
{
    const struct doc *list = entries_of(o->doc);
    struct str name;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (claim_ref_name(o->doc, &list->items[i], &name) <= CLAIM_GENERATED)
            emit(x, o, name);
}

static void by_template(struct index *x, const struct object *o)
{
    const struct doc *list = entries_of(o->doc);
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct str name = doc_get_text(&list->items[i], "resourceClaimTemplateName");
        if (name.p)
            emit(x, o, name);
    }
}

static void by_group(struct index *x, const struct object *o)
{
    struct str group = claim_ref_group(o->doc);
    if (group.n)
        emit(x, o, group);
}

static void by_owner(struct index *x, const struct object *o)
{
    const struct doc *controller = claim_ref_controller(o->doc);
    if (controller)
        emit(x, o, doc_get_text(controller, "uid"));
}

/* ---- claims that the informer does not know yet ---- */

static void forget_made(struct claims *c, struct claims_made **at)
{
    struct claims_made *m = *at;
    *at = m->next;
    c->nmade--;
    object_unref(m->object);
    free(m);
}

static void forget_key(struct claims *c, struct str key)
{
    for (struct claims_made **at = &c->made; *at;)
        if (str_eq((*at)->object->key, key))
            forget_made(c, at);
        else
            at = &(*at)->next;
}

void claims_remember(struct claims *c, struct object *made)
{
    uint64_t now = net_now_ms(client_loop(c->client));
    if (informer_get(c->claims, made->key)) {
        object_unref(made);
        return;
    }
    forget_key(c, made->key);
    while (c->made &&
           (c->nmade >= CLAIMS_MADE || now - c->made->made_ms > CLAIMS_MADE_MS))
        forget_made(c, &c->made);
    struct claims_made **end = &c->made;
    while (*end)
        end = &(*end)->next;
    *end = mem_zalloc(sizeof **end);
    **end = (struct claims_made){.object = made, .made_ms = now};
    c->nmade++;
}

const struct object *claims_find(const struct claims *c, struct str namespace,
                                 struct str name)
{
    const struct object *o = informer_find(c->claims, namespace, name);
    for (const struct claims_made *m = c->made; m && !o; m = m->next)
        if (str_eq(m->object->namespace, namespace) && str_eq(m->object->name, name))
            o = m->object;
    return o;
}

static bool is_made_for(const struct object *o, struct str uid, struct str entry)
{
    const struct doc *controller = claim_ref_controller(o->doc);
    const struct doc *notes = doc_path(o->doc, "metadata.annotations");
    struct str made_for = doc_get_text(notes, "resource.kubernetes.io/pod-claim-name");
    return controller && str_eq(doc_get_text(controller, "uid"), uid) && made_for.p &&
           str_eq(made_for, entry);
}

const struct object *claims_find_made(const struct claims *c, const struct doc *owner,
                                      struct str entry)
{
    const struct doc *meta = doc_get(owner, "metadata");
    struct str uid = doc_get_text(meta, "uid");
    const struct object *found = NULL;
    uint32_t n;
    struct arena a;
    arena_init(&a);
    const struct str *keys = index_find(
        &c->claims_by_owner, join(&a, doc_get_text(meta, "namespace"), uid), &n);
    for (uint32_t i = 0; i < n && !found; i++) {
        const struct object *o = informer_get(c->claims, keys[i]);
        found = o && is_made_for(o, uid, entry) ? o : NULL;
    }
    for (const struct claims_made *m = c->made; m && !found; m = m->next)
        found = is_made_for(m->object, uid, entry) ? m->object : NULL;
    arena_fini(&a);
    return found;
}

/* ---- the deleted ---- */

static void remember_deleted(struct claims *c, struct str uid)
{
    char **place = &c->deleted[c->ndeleted++ % CLAIMS_DELETED];
    free(*place);
    *place = mem_dup(uid.p, uid.n);
}

bool claims_was_deleted(const struct claims *c, struct str uid)
{
    for (int i = 0; i < CLAIMS_DELETED; i++)
        if (c->deleted[i] && str_is(uid, c->deleted[i]))
            return true;
    return false;
}

/* ---- keys of work ---- */

static void add_key(struct claims *c, const char *what, struct str namespace,
                    struct str name)
{
    struct arena a;
    arena_init(&a);
    worker_add(c->worker,
               arena_printf(&a, "%s:%.*s/%.*s", what, STR_ARG(namespace), STR_ARG(name)));
    arena_fini(&a);
}

/* The claims that an owner has, so far as their names are known. */
static void add_claims_of(struct claims *c, const struct object *o)
{
    const struct doc *list = entries_of(o->doc);
    struct str name;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (claim_ref_name(o->doc, &list->items[i], &name) <= CLAIM_GENERATED)
            add_key(c, "claim", o->namespace, name);
    struct str extended = doc_get_text(
        doc_path(o->doc, "status.extendedResourceClaimStatus"), "resourceClaimName");
    if (extended.n)
        add_key(c, "claim", o->namespace, extended);
}

static const struct doc *group_of(const struct claims *c, const struct object *pod)
{
    const struct object *g =
        c->groups ? informer_find(c->groups, pod->namespace, claim_ref_group(pod->doc))
                  : NULL;
    return g ? g->doc : NULL;
}

/* A claim of a template that is not there: the pod makes it, or else its group. */
static bool must_make(const struct claims *c, const struct object *pod,
                      const struct doc *entry)
{
    const struct doc *group = NULL;
    if (!doc_get_text(entry, "resourceClaimTemplateName").p)
        return false; /* the user's to make */
    if (claim_ref_group(pod->doc).n && !(group = group_of(c, pod)))
        return true;
    return !group || !claim_ref_is_groups(entry, group);
}

static bool entry_needs_work(const struct claims *c, const struct object *pod,
                             const struct doc *entry)
{
    bool groups = c->opts.group_claims;
    struct str name;
    enum claim_known known = claim_ref_name(pod->doc, entry, &name);
    if (known == CLAIM_NOT_MADE || known == CLAIM_UNKNOWN)
        return true;
    if (known == CLAIM_NOT_NEEDED)
        return false;
    const struct object *claim = informer_find(c->claims, pod->namespace, name);
    if (!claim)
        return must_make(c, pod, entry);
    if (known == CLAIM_GENERATED && !claim_ref_is_for(claim->doc, pod->doc, groups))
        return false;
    return doc_get_text(doc_get(pod->doc, "spec"), "nodeName").n &&
           doc_path(claim->doc, "status.allocation") &&
           !claim_ref_is_reserved(claim->doc, pod->doc, groups);
}

static bool pod_needs_work(const struct claims *c, const struct object *pod)
{
    const struct doc *list = entries_of(pod->doc);
    if (claim_ref_is_deleted(pod->doc))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (entry_needs_work(c, pod, &list->items[i]))
            return true;
    return false;
}

static void look_at_pod(struct claims *c, const struct object *pod, bool deleted)
{
    const struct doc *list = entries_of(pod->doc);
    if (!(list && list->n) && !doc_path(pod->doc, "status.extendedResourceClaimStatus"))
        return;
    if (deleted)
        remember_deleted(c, pod->uid);
    if (deleted || claim_ref_pod_is_done(pod->doc))
        add_claims_of(c, pod);
    if (!deleted && pod_needs_work(c, pod))
        add_key(c, "pod", pod->namespace, pod->name);
}

static bool group_needs_work(const struct claims *c, const struct object *group)
{
    const struct doc *list = entries_of(group->doc);
    if (claim_ref_is_deleted(group->doc))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *entry = &list->items[i];
        struct str name = STR_NONE;
        enum claim_known known = claim_ref_name(group->doc, entry, &name);
        if (known == CLAIM_NOT_MADE || known == CLAIM_UNKNOWN)
            return true;
        if (known != CLAIM_NOT_NEEDED &&
            !informer_find(c->claims, group->namespace, name) &&
            doc_get_text(entry, "resourceClaimTemplateName").p)
            return true;
    }
    return false;
}

/* Looks at each object under a value of an index; look may not change the index. */
static void look_at_all(struct claims *c, const struct index *x,
                        const struct informer *in, struct str namespace, struct str name,
                        void (*look)(struct claims *c, const struct object *o,
                                     bool deleted))
{
    uint32_t n;
    struct arena a;
    arena_init(&a);
    const struct str *keys = index_find(x, join(&a, namespace, name), &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *o = informer_get(in, keys[i]);
        if (o)
            look(c, o, false);
    }
    arena_fini(&a);
}

static void look_at_group(struct claims *c, const struct object *group, bool deleted)
{
    const struct doc *list = entries_of(group->doc);
    if (!list || !list->n)
        return;
    if (deleted) {
        remember_deleted(c, group->uid);
        add_claims_of(c, group);
    } else if (group_needs_work(c, group)) {
        add_key(c, "podgroup", group->namespace, group->name);
    }
    look_at_all(c, &c->pods_by_group, c->pods, group->namespace, group->name,
                look_at_pod);
}

/* ---- events ---- */

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct claims *c = ctx;
    index_change(&c->pods_by_claim, old, now);
    index_change(&c->pods_by_template, old, now);
    index_change(&c->pods_by_group, old, now);
    look_at_pod(c, now ? now : old, !now);
}

static void on_group(void *ctx, const struct object *old, const struct object *now)
{
    struct claims *c = ctx;
    index_change(&c->groups_by_claim, old, now);
    index_change(&c->groups_by_template, old, now);
    if (c->opts.group_claims)
        look_at_group(c, now ? now : old, !now);
}

static void on_claim(void *ctx, const struct object *old, const struct object *now)
{
    struct claims *c = ctx;
    const struct object *claim = now ? now : old;
    index_change(&c->claims_by_owner, old, now);
    forget_key(c, claim->key);
    if (now)
        add_key(c, "claim", claim->namespace, claim->name);
    look_at_all(c, &c->pods_by_claim, c->pods, claim->namespace, claim->name,
                look_at_pod);
    if (c->opts.group_claims && c->groups)
        look_at_all(c, &c->groups_by_claim, c->groups, claim->namespace, claim->name,
                    look_at_group);
}

static void on_template(void *ctx, const struct object *old, const struct object *now)
{
    struct claims *c = ctx;
    (void)old;
    if (!now)
        return;
    look_at_all(c, &c->pods_by_template, c->pods, now->namespace, now->name, look_at_pod);
    if (c->opts.group_claims && c->groups)
        look_at_all(c, &c->groups_by_template, c->groups, now->namespace, now->name,
                    look_at_group);
}

static void on_trouble(void *ctx, const char *what)
{
    struct claims *c = ctx;
    if (c->opts.log)
        c->opts.log(c->opts.log_ctx, what);
}

/* ---- work ---- */

static enum progress sync_key(struct work *w)
{
    static const struct {
        struct str prefix;
        enum progress (*sync)(struct work *w, struct str key);
    } KINDS[] = {
        {{"claim:", 6}, claims_sync_claim},
        {{"pod:", 4}, claims_sync_pod},
        {{"podgroup:", 9}, claims_sync_group},
    };
    for (int i = 0; i < 3; i++)
        if (str_starts(w->key, KINDS[i].prefix))
            return KINDS[i].sync(w, str_sub(w->key, KINDS[i].prefix.n, w->key.n));
    return PROGRESS_DONE;
}

/* ---- life ---- */

/* ---- everything again: what somebody has missed is not missed for good ---- */

enum { COMPARE_MS = 600000 };

static void compare_claim(void *ctx, const struct object *o)
{
    add_key(ctx, "claim", o->namespace, o->name);
}

static void compare_pod(void *ctx, const struct object *o)
{
    look_at_pod(ctx, o, false);
}

static void compare_group(void *ctx, const struct object *o)
{
    look_at_group(ctx, o, false);
}

static void on_compare(void *ctx)
{
    struct claims *c = ctx;
    if (!claims_synced(c))
        return;
    informer_each(c->claims, compare_claim, c);
    informer_each(c->pods, compare_pod, c);
    if (c->groups)
        informer_each(c->groups, compare_group, c);
}

static struct informer *watch(struct claims *c, const struct client_kind *kind,
                              const struct informer_ops *ops)
{
    struct informer_opts opts = {.kind = *kind};
    return informer_new(c->client, &opts, ops, c);
}

static void init_indexes(struct claims *c)
{
    index_init(&c->pods_by_claim, by_claim);
    index_init(&c->pods_by_template, by_template);
    index_init(&c->pods_by_group, by_group);
    index_init(&c->groups_by_claim, by_claim);
    index_init(&c->groups_by_template, by_template);
    index_init(&c->claims_by_owner, by_owner);
}

struct claims *claims_new(struct client *client, const struct claims_opts *opts)
{
    static const struct informer_ops POD = {on_pod, NULL, on_trouble},
                                     GROUP = {on_group, NULL, on_trouble},
                                     CLAIM = {on_claim, NULL, on_trouble},
                                     TEMPLATE = {on_template, NULL, on_trouble};
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct claims *c = mem_zalloc(sizeof *c);
    c->client = client;
    c->opts = *opts;
    init_indexes(c);
    c->worker = worker_new(client, &worker, sync_key, c);
    c->events = events_new(client, "resource_claim");
    c->pods = watch(c, &claims_kind_pod, &POD);
    c->claims = watch(c, &claims_kind_claim, &CLAIM);
    c->templates = watch(c, &claims_kind_template, &TEMPLATE);
    if (opts->pod_groups)
        c->groups = watch(c, &claims_kind_group, &GROUP);
    c->compare =
        net_timer_start(client_loop(client), COMPARE_MS, COMPARE_MS, on_compare, c);
    return c;
}

bool claims_synced(const struct claims *c)
{
    return informer_synced(c->pods) && informer_synced(c->claims) &&
           informer_synced(c->templates) && (!c->groups || informer_synced(c->groups));
}

void claims_free(struct claims *c)
{
    if (!c)
        return;
    net_timer_stop(c->compare);
    worker_free(c->worker);
    events_free(c->events);
    informer_free(c->pods);
    informer_free(c->groups);
    informer_free(c->claims);
    informer_free(c->templates);
    index_fini(&c->pods_by_claim);
    index_fini(&c->pods_by_template);
    index_fini(&c->pods_by_group);
    index_fini(&c->groups_by_claim);
    index_fini(&c->groups_by_template);
    index_fini(&c->claims_by_owner);
    while (c->made)
        forget_made(c, &c->made);
    for (int i = 0; i < CLAIMS_DELETED; i++)
        free(c->deleted[i]);
    free(c);
}
