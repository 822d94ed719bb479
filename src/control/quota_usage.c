/* SPDX-License-Identifier: Apache-2.0 */
#include "control/quota_usage.h"

#include <stdlib.h>
#include <time.h>

#include "api/quota.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/index.h"
#include "client/resources.h"

enum { QUOTAS, CLASSES };
/* A request is charged before its object is there. What is charged is not counted until
 * nothing was for QUIET_MS, so that such an object is not missed, or for LONG_MS at most.
 */
enum { SOON_MS = 1000, OTHERS_MS = 10000, QUIET_MS = 500, LONG_MS = 10000 };

/* Kinds whose objects must be looked into; all others are only counted. */
static const struct client_kind LOOKED_AT[] = {
    {"", "v1", "pods", true},
    {"resource.k8s.io", "v1", "resourceclaims", true},
    {"", "v1", "services", true},
    {"", "v1", "persistentvolumeclaims", true},
};
enum { PODS, CLAIMS, SERVICES, VOLUME_CLAIMS, NLOOKED_AT };

/* Names that count objects of the core group, as they were called first. */
static const char *const OLD_NAMES[] = {"configmaps", "secrets", "replicationcontrollers",
                                        "resourcequotas"};

struct seen { /* of a quota */
    char *key;
    uint64_t changed_ms; /* when it last was */
    uint64_t asked_ms;   /* since when it is to be counted; 0: it is not */
};

struct state {
    struct index by_namespace; /* quotas */
    struct strmap seen;        /* key -> struct seen */
    struct resources *resources;
};

static struct state *state_of(const struct work *w)
{
    return reconciler_state(reconciler_of(w));
}

struct usage { /* of one quota, in the work's arena */
    struct work *w;
    const struct object *quota;
    const struct doc *spec;
    struct quota_world world;
    const struct doc *items[NLOOKED_AT]; /* lists; NULL: not needed */
    struct amounts hard, used;
    bool others; /* kinds whose changes are not told of are counted too */
};

/* ---- what the rules ask ---- */

struct search {
    struct str name; /* of a class, or of an extended resource */
    struct str found;
    bool any;
};

static void match_class(void *ctx, const struct object *o)
{
    struct search *s = ctx;
    if (str_eq(o->name, s->name))
        s->found = doc_get_text(doc_get(o->doc, "spec"), "extendedResourceName");
}

static struct str extended_of(void *ctx, struct str class)
{
    const struct usage *u = ctx;
    struct search s = {.name = class};
    informer_each(reconciler_watched(reconciler_of(u->w), CLASSES), match_class, &s);
    return s.found;
}

static void match_resource(void *ctx, const struct object *o)
{
    static const struct str IMPLICIT = {"deviceclass.resource.kubernetes.io/", 35};
    struct search *s = ctx;
    struct str name = doc_get_text(doc_get(o->doc, "spec"), "extendedResourceName");
    s->any |= (name.n && str_eq(name, s->name)) ||
              (str_starts(s->name, IMPLICIT) &&
               str_eq(str_sub(s->name, IMPLICIT.n, s->name.n), o->name));
}

static bool is_served(void *ctx, struct str resource)
{
    const struct usage *u = ctx;
    struct search s = {.name = resource};
    informer_each(reconciler_watched(reconciler_of(u->w), CLASSES), match_resource, &s);
    return s.any;
}

static const struct doc *find_pod(void *ctx, struct str namespace, struct str name)
{
    const struct usage *u = ctx;
    const struct doc *pods = u->items[PODS];
    (void)namespace; /* it is the quota's */
    for (uint32_t i = 0; pods && i < pods->n; i++)
        if (str_eq(doc_get_text(doc_get(&pods->items[i], "metadata"), "name"), name))
            return &pods->items[i];
    return NULL;
}

static bool belongs_to(const struct doc *claim, struct str uid)
{
    const struct doc *list = doc_path(claim, "metadata.ownerReferences"),
                     *notes = doc_path(claim, "metadata.annotations");
    if (!doc_get(notes, "resource.kubernetes.io/extended-resource-claim"))
        return false;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "uid"), uid))
            return true;
    return false;
}

static void claims_of(void *ctx, struct str namespace, struct str uid,
                      void (*each)(void *arg, const struct doc *claim), void *arg)
{
    const struct usage *u = ctx;
    const struct doc *claims = u->items[CLAIMS];
    (void)namespace;
    for (uint32_t i = 0; claims && i < claims->n; i++)
        if (belongs_to(&claims->items[i], uid))
            each(arg, &claims->items[i]);
}

/* ---- objects that are looked into ---- */

static struct quota_request request_for(const struct usage *u, const char *group,
                                        const char *resource, const struct doc *object)
{
    return (struct quota_request){.w = &u->world,
                                  .verb = QUOTA_CREATE,
                                  .group = group,
                                  .resource = resource,
                                  .sub = "",
                                  .namespace = u->quota->namespace,
                                  .object = object};
}

static bool is_needed(const struct usage *u, const struct client_kind *k)
{
    struct quota_request q = request_for(u, k->group, k->resource, NULL);
    for (uint32_t i = 0; i < u->hard.n; i++)
        if (quota_counts(&q, u->hard.v[i].name))
            return true;
    return false;
}

static enum progress list(struct usage *u, const struct client_kind *k,
                          const struct doc **items)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct client_answer *a;
    struct str path = client_path(k, u->quota->namespace, STR_NONE, NULL, u->w->a);
    enum progress p = work_ask(u->w, "GET", NULL, path, NULL, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(u->w, a) : NULL;
    if (!d && a->status != 404)
        return work_fail(u->w, "%s", a->message);
    const struct doc *found = doc_get(d, "items");
    *items = found && found->type == DOC_LIST ? found : &NONE;
    return p;
}

/* Pods and claims know of one another: of the two none is listed alone. */
static enum progress list_all(struct usage *u)
{
    bool both = is_needed(u, &LOOKED_AT[PODS]) || is_needed(u, &LOOKED_AT[CLAIMS]);
    enum progress all = PROGRESS_DONE;
    for (int i = 0; i < NLOOKED_AT && all != PROGRESS_FAILED; i++) {
        if (!(i <= CLAIMS ? both : is_needed(u, &LOOKED_AT[i])))
            continue;
        enum progress p = list(u, &LOOKED_AT[i], &u->items[i]);
        all = p == PROGRESS_DONE ? all : p;
    }
    return all;
}

static void add_usage(struct usage *u, const struct client_kind *k, const struct doc *d)
{
    struct quota_request q = request_for(u, k->group, k->resource, d);
    if (!quota_is_in_scopes(&q, u->spec))
        return;
    struct amounts used = quota_usage(&q, d);
    amounts_add_all(&u->used, &used);
}

static void add_all(struct usage *u)
{
    for (int i = 0; i < NLOOKED_AT; i++)
        for (uint32_t n = 0; u->items[i] && n < u->items[i]->n; n++)
            add_usage(u, &LOOKED_AT[i], &u->items[i]->items[n]);
}

/* ---- objects that are counted ---- */

/* The kind that a name counts; false: it is none of those, or there is no such kind. */
static bool find_kind(const struct usage *u, struct str name, struct client_kind *out)
{
    const struct state *s = state_of(u->w);
    bool count = str_starts(name, STR("count/")), old = false;
    struct str path = count ? str_sub(name, 6, name.n) : name;
    size_t dot = str_find_byte(path, '.', 0);
    struct str group = dot == SIZE_MAX ? STR("") : str_sub(path, dot + 1, path.n),
               resource = str_sub(path, 0, dot);
    for (int i = 0; i < 4; i++)
        old |= str_is(name, OLD_NAMES[i]);
    for (uint32_t i = 0; (count || old) && i < resources_count(s->resources); i++) {
        const struct resource *r = resources_at(s->resources, i);
        if (r->preferred && r->kind.namespaced && str_is(group, r->kind.group) &&
            str_is(resource, r->kind.resource)) {
            *out = r->kind;
            return true;
        }
    }
    return false;
}

static bool is_looked_at(const struct client_kind *k)
{
    for (int i = 0; i < NLOOKED_AT; i++)
        if (strcmp(k->group, LOOKED_AT[i].group) == 0 &&
            strcmp(k->resource, LOOKED_AT[i].resource) == 0)
            return true;
    return false;
}

/* One of them is fetched, and the server says how many more there are. */
static enum progress count(struct usage *u, struct str name, const struct client_kind *k)
{
    const struct client_answer *a;
    int64_t more = 0;
    struct str path = client_path(k, u->quota->namespace, STR_NONE, NULL, u->w->a);
    path = arena_printf(u->w->a, "%.*s?limit=1", STR_ARG(path));
    enum progress p = work_ask_metadata(u->w, path, true, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(u->w, a) : NULL,
                     *items = doc_get(d, "items");
    if (!d)
        return work_fail(u->w, "%s", a->message);
    doc_get_int64(doc_get(d, "metadata"), "remainingItemCount", &more);
    amounts_set_int(&u->used, name,
                    more + (items && items->type == DOC_LIST ? items->n : 0));
    return p;
}

static enum progress count_all(struct usage *u)
{
    enum progress all = PROGRESS_DONE;
    struct client_kind k;
    for (uint32_t i = 0; i < u->hard.n && all != PROGRESS_FAILED; i++) {
        if (!find_kind(u, u->hard.v[i].name, &k) || is_looked_at(&k))
            continue;
        u->others = true;
        enum progress p = count(u, u->hard.v[i].name, &k);
        all = p == PROGRESS_DONE ? all : p;
    }
    return all;
}

/* ---- the status ---- */

/* What nobody knows how to count stays as it was said to be. */
static struct amounts result(const struct usage *u, const struct amounts *before)
{
    struct amounts out = {.a = u->w->a};
    struct client_kind k;
    for (uint32_t i = 0; i < u->hard.n; i++) {
        struct str name = u->hard.v[i].name;
        const struct quantity *now = amounts_get(&u->used, name),
                              *had = amounts_get(before, name);
        bool known = find_kind(u, name, &k);
        for (int n = 0; n < NLOOKED_AT && !known; n++) {
            struct quota_request q =
                request_for(u, LOOKED_AT[n].group, LOOKED_AT[n].resource, NULL);
            known = quota_counts(&q, name);
        }
        if (now)
            amounts_set(&out, name, *now);
        else if (known)
            amounts_set_int(&out, name, 0);
        else if (had)
            amounts_set(&out, name, *had);
    }
    return out;
}

static enum progress write_status(struct usage *u)
{
    static const struct client_kind QUOTA = {"", "v1", "resourcequotas", true};
    const struct doc *status = doc_get(u->quota->doc, "status");
    struct amounts had_hard = amounts_read(u->w->a, doc_get(status, "hard")),
                   had = amounts_read(u->w->a, doc_get(status, "used")),
                   used = result(u, &had);
    const struct client_answer *a;
    if (doc_get(status, "hard") && doc_get(status, "used") &&
        amounts_equal(&had_hard, &u->hard) && amounts_equal(&had, &used))
        return PROGRESS_DONE;
    struct doc d = doc_dup(u->w->a, u->quota->doc), now = doc_make_map();
    doc_set(u->w->a, &now, "hard", amounts_doc(&u->hard));
    doc_set(u->w->a, &now, "used", amounts_doc(&used));
    doc_set(u->w->a, &d, "status", now);
    enum progress p = work_ask(
        u->w, "PUT", NULL,
        client_path(&QUOTA, u->quota->namespace, u->quota->name, "status", u->w->a), &d,
        &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(u->w, "%s", a->message);
}

static void release_quota(void *kept)
{
    object_unref(kept);
}

/* All rounds of the work are about the quota as it was at first. */
static const struct object *take_quota(struct work *w)
{
    const struct object *o =
        w->kept ? NULL
                : informer_get(reconciler_watched(reconciler_of(w), QUOTAS), w->key);
    if (o) {
        w->kept = object_ref((struct object *)o);
        w->release = release_quota;
    }
    return w->kept;
}

static uint64_t now_ms(const struct reconciler *r)
{
    return net_now_ms(client_loop(reconciler_client(r)));
}

/* Whether it must be waited for quiet; asked when the work begins. */
static bool must_wait(struct work *w, const struct object *quota)
{
    const struct strmap_entry *e = strmap_find(&state_of(w)->seen, w->key);
    struct seen *s = e ? e->value.ptr : NULL;
    uint64_t now = now_ms(reconciler_of(w));
    if (!s || w->steps.asked || !doc_path(quota->doc, "status.used"))
        return false;
    s->asked_ms = s->asked_ms ? s->asked_ms : now;
    if (now - s->changed_ms < QUIET_MS && now - s->asked_ms < LONG_MS) {
        w->again_ms = QUIET_MS - (now - s->changed_ms);
        return true;
    }
    s->asked_ms = 0;
    return false;
}

static enum progress sync(struct work *w)
{
    const struct object *o = take_quota(w);
    if (!o || must_wait(w, o))
        return PROGRESS_DONE;
    struct usage u = {.w = w, .quota = o, .spec = doc_get(o->doc, "spec")};
    u.world = (struct quota_world){.a = w->a,
                                   .gates = reconciler_settings(reconciler_of(w))->gates,
                                   .now = time(NULL),
                                   .ctx = &u,
                                   .extended_of = extended_of,
                                   .is_served = is_served,
                                   .pod = find_pod,
                                   .claims_of = claims_of};
    u.used.a = w->a;
    u.hard = amounts_read(w->a, doc_get(u.spec, "hard"));
    enum progress p = list_all(&u), q = p == PROGRESS_FAILED ? p : count_all(&u);
    if (p != PROGRESS_DONE || q != PROGRESS_DONE)
        return p == PROGRESS_DONE ? q : p;
    add_all(&u);
    p = write_status(&u);
    /* What came before the first status was not charged to anybody. */
    bool first = !doc_path(o->doc, "status.used");
    if (p == PROGRESS_DONE && (first || !resources_known(state_of(w)->resources)))
        w->again_ms = SOON_MS;
    else if (p == PROGRESS_DONE && u.others)
        w->again_ms = OTHERS_MS;
    return p;
}

/* ---- events ---- */

static void by_namespace(struct index *x, const struct object *o)
{
    index_emit(x, o->namespace);
}

static void note_change(struct reconciler *r, struct str key)
{
    struct state *s = reconciler_state(r);
    struct strmap_entry *e = strmap_find(&s->seen, key);
    struct seen *seen = e ? e->value.ptr : mem_zalloc(sizeof *seen);
    seen->changed_ms = now_ms(r);
    if (e)
        return;
    seen->key = mem_dup(key.p, key.n);
    strmap_put(&s->seen, (struct str){seen->key, key.n}, NULL)->value.ptr = seen;
}

static void seen_free(struct seen *s)
{
    free(s->key);
    free(s);
}

static void forget(struct reconciler *r, struct str key)
{
    struct state *s = reconciler_state(r);
    struct strmap_entry *e = strmap_find(&s->seen, key);
    struct seen *seen = e ? e->value.ptr : NULL;
    if (!seen)
        return;
    strmap_remove(&s->seen, key);
    seen_free(seen);
}

/* A charge alone is no reason to count. */
static bool is_asked_anew(const struct object *old, const struct object *now)
{
    const struct doc *was = doc_get(old ? old->doc : NULL, "spec"),
                     *is = doc_get(now->doc, "spec");
    return !was || !is || !doc_equal(was, is);
}

static void on_quota(struct reconciler *r, const struct object *old,
                     const struct object *now)
{
    struct state *s = reconciler_state(r);
    index_change(&s->by_namespace, old, now);
    if (now)
        note_change(r, now->key);
    else
        forget(r, old->key);
    if (now && is_asked_anew(old, now))
        reconciler_add(r, now->key);
}

/* Many changes are one look. What is new was charged when it was made. */
static void on_used(struct reconciler *r, const struct object *old,
                    const struct object *now)
{
    if (!old || (now && *(const uint64_t *)old->view == *(const uint64_t *)now->view))
        return;
    const struct state *s = reconciler_state(r);
    uint32_t n;
    const struct str *keys =
        index_find(&s->by_namespace, (now ? now : old)->namespace, &n);
    for (uint32_t i = 0; i < n; i++)
        reconciler_add_after(r, keys[i], SOON_MS);
}

static void on_class(struct reconciler *r, const struct object *old,
                     const struct object *now)
{
    (void)r;
    (void)old;
    (void)now;
}

/* Of what is used nothing is kept but a number that changes with what it is made of, and
 * when it ends. */
static const void *view_use(const struct doc *d, struct arena *a, struct err *e)
{
    uint64_t *n = ARENA_NEW(a, uint64_t);
    const struct doc *phase = doc_path(d, "status.phase"), *spec = doc_get(d, "spec");
    struct strbuf text = STRBUF_INIT;
    (void)e;
    if (spec)
        doc_write_json(spec, DOC_JSON_COMPACT, &text);
    if (doc_is_string(phase, "Failed") || doc_is_string(phase, "Succeeded"))
        strbuf_adds(&text, "ended");
    *n = str_hash(strbuf_str(&text));
    strbuf_release(&text);
    return n;
}

static void init(struct reconciler *r)
{
    static const struct resources_ops QUIET;
    struct state *s = reconciler_state(r);
    index_init(&s->by_namespace, by_namespace);
    s->resources = resources_new(reconciler_client(r), &QUIET, s);
}

static void fini(struct reconciler *r)
{
    struct state *s = reconciler_state(r);
    index_fini(&s->by_namespace);
    strmap_each(&s->seen, e) seen_free(e->value.ptr);
    strmap_release(&s->seen);
    resources_free(s->resources);
}

#define USED(group, name)                                                                \
    {                                                                                    \
        .kind = {group, "v1", name, true}, .changed = on_used, .objects = {              \
            .view = view_use,                                                            \
            .drop_doc = true                                                             \
        }                                                                                \
    }
const struct reconciler_def quota_usage_table = {
    .work = sync,
    .workers = 5,
    .state = sizeof(struct state),
    .init = init,
    .fini = fini,
    .watches =
        {
            {.kind = {"", "v1", "resourcequotas", true}, .changed = on_quota},
            {.kind = {"resource.k8s.io", "v1", "deviceclasses", false},
             .changed = on_class},
            USED("", "pods"),
            USED("resource.k8s.io", "resourceclaims"),
            USED("", "services"),
            USED("", "persistentvolumeclaims"),
        },
};
