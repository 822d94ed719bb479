/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claims for volumes of a set's pods. They outlive pods, so that the next of a name
 * finds its data; who owns them says with whom they go in the end.
 */
#include "base/vec.h"
#include "control/fields.h"
#include "control/statefulset_inner.h"

const struct client_kind stateful_claims = {"", "v1", "persistentvolumeclaims", true};

/* ---- finding ---- */

static const struct object *find_claim(const struct stateful *t, struct str name)
{
    const struct object_list *list = &t->s->lists[STATEFUL_CLAIMS];
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i]->name, name))
            return list->v[i];
    return NULL;
}

static struct str name_of(const struct stateful *t, const struct doc *template,
                          const struct place *p)
{
    return arena_printf(t->s->a, "%.*s-%.*s-%lld", STR_ARG(field_meta(template, "name")),
                        STR_ARG(t->s->owner->name), (long long)p->ordinal);
}

static struct str pod_name(const struct stateful *t, const struct place *p)
{
    return arena_printf(t->s->a, "%.*s-%lld", STR_ARG(t->s->owner->name),
                        (long long)p->ordinal);
}

/* ---- owners ---- */

struct owner {
    const char *api_version, *kind;
    struct str name, uid; /* uid empty: it is yet to be made */
};

struct owners {
    struct owner set, pod;
    bool with_set, with_pod; /* the claim goes with them */
    bool retains;            /* whatever happens */
    bool when_scaled;        /* deleted then */
};

static bool deletes(const struct stateful *t, const char *when)
{
    const struct doc *policy =
        doc_path(t->set, "spec.persistentVolumeClaimRetentionPolicy");
    return doc_is_string(doc_get(policy, when), "Delete");
}

static struct owners owners_of(const struct stateful *t, const struct place *p)
{
    const struct object *set = t->s->owner;
    bool scaled = deletes(t, "whenScaled"), deleted = deletes(t, "whenDeleted"),
         beyond = p->ordinal < t->start || p->ordinal >= t->start + t->replicas;
    return (struct owners){
        .set = {"apps/v1", "StatefulSet", set->name, set->uid},
        .pod = {"v1", "Pod", pod_name(t, p), p->o ? p->o->uid : STR_NONE},
        .with_set = deleted && !(scaled && beyond),
        .with_pod = scaled && beyond,
        .retains = !scaled && !deleted,
        .when_scaled = scaled,
    };
}

static bool is_named(const struct doc *ref, const struct owner *o)
{
    return doc_is_string(doc_get(ref, "apiVersion"), o->api_version) &&
           doc_is_string(doc_get(ref, "kind"), o->kind) &&
           str_eq(doc_get_text(ref, "name"), o->name);
}

static bool has_uid(const struct doc *ref, const struct owner *o)
{
    return o->uid.n && str_eq(doc_get_text(ref, "uid"), o->uid);
}

/* One of the same name that was there before: the claim goes with that. */
static bool is_stale(const struct doc *refs, const struct owner *o)
{
    for (uint32_t i = 0; i < refs->n; i++)
        if (is_named(&refs->items[i], o))
            return !has_uid(&refs->items[i], o);
    return false;
}

static bool has_owner(const struct doc *refs, const struct owner *o)
{
    for (uint32_t i = 0; i < refs->n; i++)
        if (has_uid(&refs->items[i], o))
            return true;
    return false;
}

static bool is_foreign(const struct doc *refs, const struct owners *o)
{
    for (uint32_t i = 0; i < refs->n && !o->retains; i++) {
        const struct doc *ref = &refs->items[i];
        if (is_named(ref, &o->set)   ? !has_uid(ref, &o->set)
            : is_named(ref, &o->pod) ? !has_uid(ref, &o->pod)
                                     : field_bool(ref, "controller"))
            return true;
    }
    return false;
}

static bool is_owned_without_control(const struct doc *refs, const struct owners *o)
{
    for (uint32_t i = 0; i < refs->n; i++)
        if ((has_uid(&refs->items[i], &o->set) || has_uid(&refs->items[i], &o->pod)) &&
            !field_bool(&refs->items[i], "controller"))
            return true;
    return false;
}

static bool is_up_to_date(const struct doc *refs, const struct owners *o)
{
    if (is_stale(refs, &o->set) || is_stale(refs, &o->pod))
        return true;
    if (is_foreign(refs, o))
        return !has_owner(refs, &o->set) && !has_owner(refs, &o->pod);
    return !is_owned_without_control(refs, o) &&
           has_owner(refs, &o->set) == o->with_set &&
           has_owner(refs, &o->pod) == o->with_pod;
}

static void add_owner(struct arena *a, struct doc *refs, const struct owner *o)
{
    struct doc ref = doc_make_map();
    doc_set_text(a, &ref, "apiVersion", str_from(o->api_version));
    doc_set_text(a, &ref, "kind", str_from(o->kind));
    doc_set_text(a, &ref, "name", o->name);
    doc_set_text(a, &ref, "uid", o->uid);
    doc_set(a, &ref, "controller", doc_make_bool(true));
    doc_set(a, &ref, "blockOwnerDeletion", doc_make_bool(true));
    doc_append(a, refs, ref);
}

static struct doc right_owners(struct arena *a, const struct doc *old,
                               const struct owners *o)
{
    struct doc refs = doc_make_list();
    for (uint32_t i = 0; i < old->n; i++)
        if (!is_named(&old->items[i], &o->set) && !is_named(&old->items[i], &o->pod))
            doc_append(a, &refs, old->items[i]);
    if (is_foreign(old, o))
        return refs;
    if (o->with_pod && o->pod.uid.n)
        add_owner(a, &refs, &o->pod);
    if (o->with_set)
        add_owner(a, &refs, &o->set);
    return refs;
}

static enum progress own_claim(const struct stateful *t, const struct object *claim,
                               const struct owners *o)
{
    const struct client_answer *answer;
    const struct doc *made;
    const struct doc *refs = field_list(claim->doc, "metadata.ownerReferences");
    if (is_up_to_date(refs, o))
        return PROGRESS_DONE;
    struct doc d = doc_dup(t->s->a, claim->doc);
    doc_set(t->s->a, field_make(t->s->a, &d, "metadata"), "ownerReferences",
            right_owners(t->s->a, refs, o));
    enum progress p = sync_put(t->s, &stateful_claims, NULL, &d, &made, &answer);
    if (p == PROGRESS_DONE && !made && answer->status != 404)
        return work_fail(t->s->work,
                         "could not update claim %.*s for delete policy ownerRefs: %s",
                         STR_ARG(claim->name), answer->message);
    return p;
}

enum progress stateful_own_claims(const struct stateful *t, const struct place *p)
{
    const struct doc *list = field_list(t->set, "spec.volumeClaimTemplates");
    struct owners o = owners_of(t, p);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct object *claim = find_claim(t, name_of(t, &list->items[i], p));
        enum progress done = claim ? own_claim(t, claim, &o) : PROGRESS_DONE;
        if (done != PROGRESS_DONE)
            return done;
    }
    return PROGRESS_DONE;
}

bool stateful_claim_is_stale(const struct stateful *t, const struct place *p)
{
    const struct doc *list = field_list(t->set, "spec.volumeClaimTemplates");
    struct owners o = owners_of(t, p);
    for (uint32_t i = 0; i < list->n && o.when_scaled; i++) {
        const struct object *claim = find_claim(t, name_of(t, &list->items[i], p));
        if (claim && is_stale(field_list(claim->doc, "metadata.ownerReferences"), &o.pod))
            return true;
    }
    return false;
}

/* ---- making ---- */

static struct doc make_claim(const struct stateful *t, const struct doc *template,
                             const struct place *p)
{
    struct arena *a = t->s->a;
    const struct doc *labels = doc_path(t->set, "spec.selector.matchLabels");
    struct doc claim = doc_dup(a, template);
    struct doc *meta = field_make(a, &claim, "metadata");
    doc_set_text(a, &claim, "apiVersion", STR("v1"));
    doc_set_text(a, &claim, "kind", STR("PersistentVolumeClaim"));
    doc_remove(&claim, STR("status"));
    doc_set_text(a, meta, "name", name_of(t, template, p));
    doc_set_text(a, meta, "namespace", t->s->owner->namespace);
    for (uint32_t i = 0; labels && i < labels->n; i++)
        field_set_meta(a, &claim, "labels", labels->members[i].key,
                       doc_str(&labels->members[i].value));
    return claim;
}

static void tell_claim(const struct stateful *t, const struct place *p, struct str claim,
                       const struct client_answer *answer)
{
    struct str pod = pod_name(t, p), set = t->s->owner->name;
    if (answer->ok)
        stateful_tell(t, "Normal", "SuccessfulCreate",
                      arena_printf(t->s->a,
                                   "Create Claim %.*s Pod %.*s in StatefulSet %.*s "
                                   "success",
                                   STR_ARG(claim), STR_ARG(pod), STR_ARG(set)));
    else
        stateful_tell(t, "Warning", "FailedCreate",
                      arena_printf(t->s->a,
                                   "Create Claim %.*s for Pod %.*s in StatefulSet %.*s "
                                   "failed error: %s",
                                   STR_ARG(claim), STR_ARG(pod), STR_ARG(set),
                                   answer->message));
}

/* One that is there already is the one. */
static enum progress make_one(const struct stateful *t, const struct doc *template,
                              const struct place *p, bool *news)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct str name = name_of(t, template, p);
    const struct object *known = find_claim(t, name);
    if (known && field_deleted(known->doc))
        return work_fail(t->s->work, "pvc %.*s is being deleted", STR_ARG(name));
    if (known)
        return PROGRESS_DONE;
    struct doc claim = make_claim(t, template, p);
    enum progress done = sync_post(t->s, &stateful_claims, &claim, &made, &answer);
    if (done != PROGRESS_DONE || str_is(str_from(answer->reason), "AlreadyExists"))
        return done;
    if (*news)
        tell_claim(t, p, name, answer);
    if (!made)
        return work_fail(t->s->work, "failed to create PVC %.*s: %s", STR_ARG(name),
                         answer->message);
    return PROGRESS_DONE;
}

/* Waits for all before it says what came of them, so that each is told of once. */
static enum progress ask_for_all(const struct stateful *t, struct place *p)
{
    const struct doc *list = field_list(t->set, "spec.volumeClaimTemplates");
    bool silent = false, waits = false;
    for (uint32_t i = 0; i < list->n; i++)
        waits |= make_one(t, &list->items[i], p, &silent) == PROGRESS_WAIT;
    return waits ? PROGRESS_WAIT : PROGRESS_DONE;
}

enum progress stateful_make_claims(const struct stateful *t, struct place *p)
{
    const struct doc *list = field_list(t->set, "spec.volumeClaimTemplates");
    enum progress result = PROGRESS_DONE;
    bool news = true;
    if (p->claims_done)
        return PROGRESS_DONE;
    if (ask_for_all(t, p) == PROGRESS_WAIT)
        return PROGRESS_WAIT;
    for (uint32_t i = 0; i < list->n; i++)
        if (make_one(t, &list->items[i], p, &news) == PROGRESS_FAILED)
            result = PROGRESS_FAILED;
    p->claims_done = result == PROGRESS_DONE;
    return result;
}
