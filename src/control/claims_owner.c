/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on a pod or a pod group (spec 6.1.7-12, 19): the claims of its templates are made,
 * their names put into its status, and what a pod needs that no scheduler has placed is
 * reserved for it.
 */
#include <stdlib.h>

#include "api/claim_refs.h"
#include "api/edit.h"
#include "control/claims_inner.h"

enum { MAX_BASE = 57 }; /* of a generated name: five characters and the hyphen follow */

struct owner {
    bool is_group;
    const struct doc *doc;
    const struct doc *group; /* of a pod; NULL: it is in none */
    struct str namespace, name, uid;
    const struct doc *entries; /* a list, or NULL */
    struct doc resolved;       /* map: entry -> claim, newly known */
};

/* ---- does the claim exist ---- */

static bool is_ours(const struct work *w, const struct owner *o, enum claim_known known,
                    const struct doc *claim)
{
    bool groups = !o->is_group && claims_of(w)->opts.group_claims;
    return known == CLAIM_NAMED || claim_ref_is_for(claim, o->doc, groups);
}

/* *exists: and it is the right one. What no cache knows is asked for. */
static enum progress check_exists(struct work *w, const struct owner *o,
                                  enum claim_known known, struct str name, bool *exists)
{
    const struct object *have = claims_find(claims_of(w), o->namespace, name);
    const struct client_answer *a;
    *exists = have && is_ours(w, o, known, have->doc);
    if (have)
        return PROGRESS_DONE;
    struct str path = client_path(&claims_kind_claim, o->namespace, name, NULL, w->a);
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &a);
    if (p != PROGRESS_DONE || a->status == 404)
        return p;
    const struct doc *claim = a->ok ? work_answer_doc(w, a) : NULL;
    if (!claim)
        return work_fail(w, "checking claim existence: %s", a->message);
    *exists = is_ours(w, o, known, claim);
    return PROGRESS_DONE;
}

/* ---- making one ---- */

/* A name that is too long loses of both its parts, as much of each as it is long; and its
 * last hyphen, as upstream's. */
static struct str base_name(struct str owner, struct str entry, struct arena *a)
{
    size_t n = owner.n + entry.n + 2;
    if (n <= MAX_BASE)
        return arena_printf(a, "%.*s-%.*s-", STR_ARG(owner), STR_ARG(entry));
    owner.n = owner.n * MAX_BASE / n;
    entry.n = entry.n * MAX_BASE / n;
    return arena_printf(a, "%.*s-%.*s", STR_ARG(owner), STR_ARG(entry));
}

static struct doc make_owner(const struct owner *o, struct arena *a)
{
    struct doc d = doc_make_map(), list = doc_make_list();
    doc_set_text(a, &d, "apiVersion",
                 o->is_group ? STR("scheduling.k8s.io/v1beta1") : STR("v1"));
    doc_set_text(a, &d, "kind", o->is_group ? STR("PodGroup") : STR("Pod"));
    doc_set_text(a, &d, "name", o->name);
    doc_set_text(a, &d, "uid", o->uid);
    doc_set(a, &d, "controller", doc_make_bool(true));
    doc_append(a, &list, d);
    return list;
}

static struct doc make_claim(const struct owner *o, struct str entry,
                             const struct doc *template, struct arena *a)
{
    const struct doc *inner = doc_get(template, "spec"),
                     *given = doc_get(inner, "metadata");
    const struct doc *notes = doc_get(given, "annotations"),
                     *labels = doc_get(given, "labels"), *spec = doc_get(inner, "spec");
    struct doc d = doc_make_map(), meta = doc_make_map();
    struct doc own = notes && notes->type == DOC_MAP ? doc_dup(a, notes) : doc_make_map();
    doc_set_text(a, &own, "resource.kubernetes.io/pod-claim-name", entry);
    doc_set_text(a, &meta, "generateName", base_name(o->name, entry, a));
    doc_set(a, &meta, "annotations", own);
    if (labels && labels->type == DOC_MAP)
        doc_set(a, &meta, "labels", doc_dup(a, labels));
    doc_set(a, &meta, "ownerReferences", make_owner(o, a));
    doc_set_text(a, &d, "apiVersion", STR("resource.k8s.io/v1"));
    doc_set_text(a, &d, "kind", STR("ResourceClaim"));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "spec", spec ? doc_dup(a, spec) : doc_make_map());
    return d;
}

/* What a template may not ask for; NULL: nothing. */
static const char *find_disabled(const struct claims *c, const struct doc *template)
{
    const struct doc *list = doc_path(template, "spec.spec.devices.requests");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        bool admin = false;
        doc_get_bool(doc_get(&list->items[i], "exactly"), "adminAccess", &admin);
        if (admin && c->opts.no_admin_access)
            return "admin access is requested, but the feature is disabled";
        if (doc_get(&list->items[i], "firstAvailable") && c->opts.no_prioritized_list)
            return "template includes a prioritized list of subrequests, but the feature "
                   "is disabled";
    }
    return NULL;
}

static enum progress create(struct work *w, const struct owner *o, struct str entry,
                            struct str template, struct str *name)
{
    const struct object *t =
        informer_find(claims_of(w)->templates, o->namespace, template);
    const char *disabled = t ? find_disabled(claims_of(w), t->doc) : NULL;
    const struct client_answer *a;
    if (!t)
        return work_fail(w,
                         "resource claim template \"%.*s\": "
                         "resourceclaimtemplate.resource.k8s.io \"%.*s\" not found",
                         STR_ARG(template), STR_ARG(template));
    if (disabled)
        return work_fail(w, "%s", disabled);
    struct doc claim = make_claim(o, entry, t->doc, w->a);
    struct str path = client_path(&claims_kind_claim, o->namespace, STR_NONE, NULL, w->a);
    enum progress p = work_ask(w, "POST", NULL, path, &claim, &a);
    if (p != PROGRESS_DONE)
        return p;
    static const struct object_opts PLAIN;
    struct object *made = a->ok ? object_of_json(a->body, &PLAIN, NULL) : NULL;
    if (!made)
        return work_fail(w, "create ResourceClaim : %s", a->message);
    *name = arena_str(w->a, made->name);
    claims_remember(claims_of(w), made);
    return PROGRESS_DONE;
}

/* ---- entries ---- */

/* The claim of an entry that its group makes: it is waited for. */
static enum progress use_groups(struct work *w, const struct owner *o, struct str entry,
                                struct str *name)
{
    if (!claims_of(w)->opts.group_claims) {
        w->hopeless = true;
        return work_fail(w,
                         "claim %.*s is a PodGroup claim but the "
                         "DRAWorkloadResourceClaims feature is disabled",
                         STR_ARG(entry));
    }
    const struct object *made = claims_find_made(claims_of(w), o->group, entry);
    if (made)
        *name = made->name;
    return PROGRESS_DONE;
}

static enum progress unknown_entry(struct work *w, const struct owner *o,
                                   struct str entry)
{
    static const char TEXT[] = "none of the supported fields are set";
    if (o->is_group)
        return work_fail(w,
                         "checking for claim before creating it: PodGroup %.*s/%.*s, "
                         "spec.resourceClaim %.*s: %s",
                         STR_ARG(o->namespace), STR_ARG(o->name), STR_ARG(entry), TEXT);
    return work_fail(w,
                     "checking for claim before creating it: pod \"%.*s/%.*s\", "
                     "spec.resourceClaim \"%.*s\": %s",
                     STR_ARG(o->namespace), STR_ARG(o->name), STR_ARG(entry), TEXT);
}

static enum progress resolve(struct work *w, struct owner *o, const struct doc *entry)
{
    struct str name, entry_name = doc_get_text(entry, "name"),
                     template = doc_get_text(entry, "resourceClaimTemplateName");
    enum claim_known known = claim_ref_name(o->doc, entry, &name);
    enum progress p = PROGRESS_DONE;
    bool exists = known == CLAIM_NOT_NEEDED;
    if (known == CLAIM_UNKNOWN)
        return unknown_entry(w, o, entry_name);
    if (known <= CLAIM_GENERATED && name.n)
        p = check_exists(w, o, known, name, &exists);
    if (p != PROGRESS_DONE || exists || !template.p)
        return p;
    const struct object *made = claims_find_made(claims_of(w), o->doc, entry_name);
    name = made ? made->name : STR_NONE;
    if (o->group && claim_ref_is_groups(entry, o->group)) {
        name = STR_NONE;
        p = use_groups(w, o, entry_name, &name);
    } else if (!made) {
        p = create(w, o, entry_name, template, &name);
    }
    if (p == PROGRESS_DONE && name.n)
        doc_set_str(w->a, &o->resolved, entry_name, doc_make_string(w->a, name));
    return p;
}

static struct event_about about_owner(const struct owner *o)
{
    return (struct event_about){o->is_group ? "scheduling.k8s.io/v1beta1" : "v1",
                                o->is_group ? "PodGroup" : "Pod", o->doc};
}

/* Tells the owner's users, and whoever reads the log. */
static void tell_failure(struct work *w, const struct owner *o, const struct doc *entry)
{
    struct event_about about = about_owner(o);
    const char *what = o->is_group ? "PodGroupResourceClaim" : "PodResourceClaim";
    struct str name = doc_get_text(entry, "name");
    struct str text =
        arena_printf(w->a, "%s %.*s: %s", what, STR_ARG(name), err_text(&w->err));
    events_tell(claims_of(w)->events, &about, "Warning", "FailedResourceClaimCreation",
                text);
    work_fail(w, "%s %.*s/%.*s, %.*s", o->is_group ? "PodGroup" : "pod",
              STR_ARG(o->namespace), STR_ARG(o->name), STR_ARG(text));
}

static enum progress resolve_all(struct work *w, struct owner *o)
{
    for (uint32_t i = 0; o->entries && i < o->entries->n; i++) {
        enum progress p = resolve(w, o, &o->entries->items[i]);
        if (p == PROGRESS_FAILED)
            tell_failure(w, o, &o->entries->items[i]);
        if (p != PROGRESS_DONE)
            return p;
    }
    return PROGRESS_DONE;
}

/* ---- the status ---- */

/* Of a pod all entries that have a claim, so that none is lost when others write too; of
 * a group those that are new. */
static void add_known(struct work *w, const struct owner *o, struct doc *names)
{
    const struct doc *list = doc_path(o->doc, "status.resourceClaimStatuses");
    for (uint32_t i = 0; !o->is_group && list && list->type == DOC_LIST && i < list->n;
         i++) {
        struct str entry = doc_get_text(&list->items[i], "name"),
                   claim = doc_get_text(&list->items[i], "resourceClaimName");
        if (claim.p && !doc_get_str(names, entry))
            doc_set_str(w->a, names, entry, doc_make_string(w->a, claim));
    }
}

static int by_key(const void *a, const void *b)
{
    return str_cmp(doc_key(a), doc_key(b));
}

static struct doc make_statuses(struct work *w, struct doc *names)
{
    struct doc list = doc_make_list();
    qsort(names->members, names->n, sizeof *names->members, by_key);
    for (uint32_t i = 0; i < names->n; i++) {
        struct doc status = doc_make_map();
        doc_set_text(w->a, &status, "name", doc_key(&names->members[i]));
        doc_set_text(w->a, &status, "resourceClaimName",
                     doc_str(&names->members[i].value));
        doc_append(w->a, &list, status);
    }
    return list;
}

static enum progress write_status(struct work *w, struct owner *o)
{
    const struct client_kind *kind = o->is_group ? &claims_kind_group : &claims_kind_pod;
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map();
    struct arena *a = w->a;
    const struct client_answer *answer;
    add_known(w, o, &o->resolved);
    doc_set_text(a, &meta, "name", o->name);
    doc_set_text(a, &meta, "namespace", o->namespace);
    doc_set(a, &status, "resourceClaimStatuses", make_statuses(w, &o->resolved));
    doc_set_text(a, &d, "apiVersion", str_from(about_owner(o).api_version));
    doc_set_text(a, &d, "kind", str_from(about_owner(o).kind));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "status", status);
    struct str path =
        arena_printf(a, "%.*s?fieldManager=ResourceClaimController&force=true",
                     STR_ARG(client_path(kind, o->namespace, o->name, "status", a)));
    enum progress p =
        work_ask(w, "PATCH", "application/apply-patch+yaml", path, &d, &answer);
    if (p == PROGRESS_DONE && !answer->ok)
        return work_fail(w, "update %s %.*s/%.*s ResourceClaimStatuses: %s",
                         o->is_group ? "PodGroup" : "pod", STR_ARG(o->namespace),
                         STR_ARG(o->name), answer->message);
    return p;
}

/* ---- reservations of pods that no scheduler has placed ---- */

static struct doc make_consumer(const struct owner *o, const struct doc *entry,
                                struct arena *a)
{
    bool group = o->group && claim_ref_is_groups(entry, o->group);
    const struct doc *meta = doc_get(group ? o->group : o->doc, "metadata");
    struct doc d = doc_make_map();
    if (group)
        doc_set_text(a, &d, "apiGroup", STR("scheduling.k8s.io"));
    doc_set_text(a, &d, "resource", group ? STR("podgroups") : STR("pods"));
    doc_set_text(a, &d, "name", doc_get_text(meta, "name"));
    doc_set_text(a, &d, "uid", doc_get_text(meta, "uid"));
    return d;
}

static enum progress reserve(struct work *w, const struct owner *o,
                             const struct doc *entry, const struct object *claim)
{
    struct arena *a = w->a;
    struct doc d = doc_dup(a, claim->doc);
    struct doc *status = api_edit_get(&d, "status");
    const struct doc *old = doc_get(status, "reservedFor");
    struct doc list = old && old->type == DOC_LIST ? doc_dup(a, old) : doc_make_list();
    const struct client_answer *answer;
    doc_append(a, &list, make_consumer(o, entry, a));
    doc_set(a, status, "reservedFor", list);
    struct str path =
        client_path(&claims_kind_claim, o->namespace, claim->name, "status", a);
    enum progress p = work_ask(w, "PUT", NULL, path, &d, &answer);
    if (p == PROGRESS_DONE && !answer->ok)
        return work_fail(w, "reserve claim %.*s: %s", STR_ARG(claim->key),
                         answer->message);
    return p;
}

/* *more false: what follows has to wait for a claim that is not there. */
static enum progress reserve_entry(struct work *w, const struct owner *o,
                                   const struct doc *entry, bool *more)
{
    bool groups = claims_of(w)->opts.group_claims;
    struct str name;
    enum claim_known known = claim_ref_name(o->doc, entry, &name);
    if (known == CLAIM_NOT_NEEDED)
        return PROGRESS_DONE;
    if (known == CLAIM_NOT_MADE)
        return work_fail(w, "pod \"%.*s/%.*s\": ResourceClaim not created yet",
                         STR_ARG(o->namespace), STR_ARG(o->name));
    const struct object *claim = informer_find(claims_of(w)->claims, o->namespace, name);
    *more = claim != NULL;
    if (!claim)
        return PROGRESS_DONE;
    if (known == CLAIM_GENERATED && !claim_ref_is_for(claim->doc, o->doc, groups))
        return work_fail(w, "%.*s",
                         STR_ARG(claim_ref_not_for(claim->doc, o->doc, groups, w->a)));
    if (!doc_path(claim->doc, "status.allocation") ||
        claim_ref_is_reserved(claim->doc, o->doc, groups))
        return PROGRESS_DONE;
    if (o->group && claim_ref_is_groups(entry, o->group) && !groups)
        return PROGRESS_DONE;
    return reserve(w, o, entry, claim);
}

static enum progress reserve_all(struct work *w, const struct owner *o)
{
    bool more = true;
    enum progress p = PROGRESS_DONE;
    for (uint32_t i = 0; more && p == PROGRESS_DONE && o->entries && i < o->entries->n;
         i++)
        p = reserve_entry(w, o, &o->entries->items[i], &more);
    return p;
}

/* ---- the whole ---- */

static bool find_owner(const struct informer *in, struct str key, struct owner *o)
{
    const struct object *found = informer_get(in, key);
    if (!found || claim_ref_is_deleted(found->doc))
        return false;
    const struct doc *entries = doc_path(found->doc, "spec.resourceClaims");
    *o = (struct owner){.doc = found->doc,
                        .namespace = found->namespace,
                        .name = found->name,
                        .uid = found->uid,
                        .entries = entries && entries->type == DOC_LIST ? entries : NULL,
                        .resolved = doc_make_map()};
    return true;
}

static enum progress find_group(struct work *w, struct owner *o)
{
    struct str group = claim_ref_group(o->doc);
    if (!group.p)
        return PROGRESS_DONE;
    const struct object *found =
        claims_of(w)->groups ? informer_find(claims_of(w)->groups, o->namespace, group)
                             : NULL;
    if (found) {
        o->group = found->doc;
        return PROGRESS_DONE;
    }
    w->hopeless = !claims_of(w)->groups;
    struct str why =
        claims_of(w)->groups
            ? arena_printf(w->a, "podgroup.scheduling.k8s.io \"%.*s\" not found",
                           STR_ARG(group))
            : arena_printf(w->a,
                           "Pod is a member of PodGroup %.*s but GenericWorkload feature "
                           "is disabled",
                           STR_ARG(group));
    return work_fail(w, "get PodGroup for Pod %.*s/%.*s: %.*s", STR_ARG(o->namespace),
                     STR_ARG(o->name), STR_ARG(why));
}

enum progress claims_sync_pod(struct work *w, struct str key)
{
    struct owner o;
    if (!find_owner(claims_of(w)->pods, key, &o))
        return PROGRESS_DONE;
    enum progress p = find_group(w, &o);
    if (p == PROGRESS_DONE)
        p = resolve_all(w, &o);
    if (p == PROGRESS_DONE && o.resolved.n > 0)
        p = write_status(w, &o);
    if (p == PROGRESS_DONE && doc_get_text(doc_get(o.doc, "spec"), "nodeName").n)
        p = reserve_all(w, &o);
    return p;
}

enum progress claims_sync_group(struct work *w, struct str key)
{
    struct owner o;
    if (!claims_of(w)->groups || !find_owner(claims_of(w)->groups, key, &o))
        return PROGRESS_DONE;
    o.is_group = true;
    enum progress p = resolve_all(w, &o);
    if (p == PROGRESS_DONE && o.resolved.n > 0)
        p = write_status(w, &o);
    return p;
}
