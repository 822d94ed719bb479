/* SPDX-License-Identifier: Apache-2.0 */
#include "control/eviction_work.h"

#include "api/claim_refs.h"
#include "api/timestamp.h"

static const struct client_kind POD = {"", "v1", "pods", true},
                                RULE = {"resource.k8s.io", "v1", "devicetaintrules",
                                        false};

static struct eviction_work *of(const struct work *w)
{
    return w->ctx;
}

static int64_t now_ms(const struct work *w)
{
    const struct taints *t = &of(w)->taints;
    return t->ops->now_ms(t->ctx);
}

static struct str now_text(const struct work *w)
{
    return timestamp_print(now_ms(w) / 1000, 0, false, w->a);
}

void eviction_work_init(struct eviction_work *e, const struct taints_ops *ops, void *ctx)
{
    *e = (struct eviction_work){0};
    taints_init(&e->taints, ops, ctx);
}

void eviction_work_fini(struct eviction_work *e)
{
    taints_fini(&e->taints);
    objects_release(&e->rules);
}

void eviction_keep_rule(struct eviction_work *e, const struct object *old,
                        const struct object *now)
{
    if (old)
        objects_drop(&e->rules, old->key);
    if (now)
        objects_keep(&e->rules, now);
}

/* ---- pods ---- */

static const char CONDITION[] = "DisruptionTarget",
                  REASON[] = "DeletionByDeviceTaintManager",
                  MESSAGE[] = "Device Taint manager: deleting due to NoExecute taint";

static bool has_condition(const struct doc *pod)
{
    const struct doc *list = doc_path(pod, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *c = &list->items[i];
        if (doc_is_string(doc_get(c, "type"), CONDITION))
            return doc_is_string(doc_get(c, "status"), "True") &&
                   doc_is_string(doc_get(c, "reason"), REASON) &&
                   doc_is_string(doc_get(c, "message"), MESSAGE);
    }
    return false;
}

static enum progress get_pod(struct work *w, const struct object *pod,
                             const struct doc **out, bool *missing)
{
    const struct client_answer *a;
    struct str path = client_path(&POD, pod->namespace, pod->name, NULL, w->a);
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &a);
    *missing = false;
    if (p != PROGRESS_DONE)
        return p;
    *out = a->ok ? work_answer_doc(w, a) : NULL;
    if (!*out && a->status != 404)
        return work_fail(w, "%s", a->message);
    *missing = !*out || !str_eq(doc_get_text(doc_get(*out, "metadata"), "uid"), pod->uid);
    return PROGRESS_DONE;
}

/* Whom it is about and why, as it was when the time had come: the pod may be forgotten
 * before its deletion is answered. */
struct kept_pod {
    struct object *pod;
    struct due *due;
    bool told;
};

static void release_pod(void *kept)
{
    struct kept_pod *k = kept;
    object_unref(k->pod);
    due_free(k->due);
}

/* Once, however often the work is done anew. */
static void tell_once(struct work *w, struct kept_pod *k)
{
    struct taints *t = &of(w)->taints;
    if (!k->told)
        t->ops->tell(t->ctx, k->pod, "Marking for deletion");
    k->told = true;
}

static enum progress mark(struct work *w, const struct object *pod)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list(), c = doc_make_map();
    const struct client_answer *answer;
    struct arena *a = w->a;
    doc_set_text(a, &meta, "uid", pod->uid);
    doc_set_text(a, &c, "type", str_from(CONDITION));
    doc_set_text(a, &c, "status", STR("True"));
    doc_set_text(a, &c, "reason", str_from(REASON));
    doc_set_text(a, &c, "message", str_from(MESSAGE));
    doc_set_text(a, &c, "lastTransitionTime", now_text(w));
    doc_append(a, &list, c);
    doc_set(a, &status, "conditions", list);
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "status", status);
    struct str path = client_path(&POD, pod->namespace, pod->name, "status", a);
    enum progress p =
        work_ask(w, "PATCH", "application/strategic-merge-patch+json", path, &d, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404)
        return work_fail(w, "%s", answer->message);
    return p;
}

static enum progress remove_pod(struct work *w, const struct object *pod, bool *missing)
{
    struct doc options = doc_make_map(), want = doc_make_map();
    const struct client_answer *a;
    doc_set_text(w->a, &want, "uid", pod->uid);
    doc_set(w->a, &options, "preconditions", want);
    struct str path = client_path(&POD, pod->namespace, pod->name, NULL, w->a);
    enum progress p = work_ask(w, "DELETE", NULL, path, &options, &a);
    if (p != PROGRESS_DONE)
        return p;
    *missing = a->status == 404;
    return a->ok || *missing ? p : work_fail(w, "%s", a->message);
}

static enum progress evict(struct work *w, struct kept_pod *k, bool *missing)
{
    const struct doc *live;
    enum progress p = get_pod(w, k->pod, &live, missing);
    if (p != PROGRESS_DONE || *missing || claim_ref_is_deleted(live))
        return p;
    tell_once(w, k);
    if (!has_condition(live))
        p = mark(w, k->pod);
    return p == PROGRESS_DONE ? remove_pod(w, k->pod, missing) : p;
}

/* NULL: it need not go, not yet, or is gone already. */
static struct kept_pod *begin_pod(struct work *w)
{
    const struct taints *t = &of(w)->taints;
    const struct pending *p = taints_pending(t, w->key);
    if (!p || taints_was_evicted(t, p->pod->uid))
        return NULL;
    int64_t ms = p->due->when * 1000 - now_ms(w);
    w->again_ms = ms > 0 ? (uint64_t)ms : 0;
    if (ms > 0)
        return NULL;
    struct kept_pod *k = ARENA_NEW(w->a, struct kept_pod);
    *k = (struct kept_pod){object_ref(p->pod), due_dup(p->due)};
    w->kept = k;
    w->release = release_pod;
    return k;
}

static enum progress sync_pod(struct work *w)
{
    struct kept_pod *k = w->kept ? w->kept : begin_pod(w);
    bool missing = false;
    if (!k)
        return PROGRESS_DONE;
    enum progress p = evict(w, k, &missing);
    if (p == PROGRESS_DONE)
        taints_note_evicted(&of(w)->taints, k->pod, k->due, !missing);
    return p;
}

/* ---- rules ---- */

static const struct doc *condition_of(const struct object *rule)
{
    const struct doc *list = doc_path(rule->doc, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "EvictionInProgress"))
            return &list->items[i];
    return NULL;
}

/* Milliseconds until the status may change again; 0: now. One of an older generation may
 * at once. */
static uint64_t too_early(const struct work *w, const struct object *rule,
                          const struct doc *old)
{
    int64_t since, seen = 0, generation = 0;
    int32_t nanos;
    doc_get_int64(old, "observedGeneration", &seen);
    doc_get_int64(doc_get(rule->doc, "metadata"), "generation", &generation);
    if (!old || seen != generation ||
        !timestamp_parse(doc_get_text(old, "lastTransitionTime"), &since, &nanos))
        return 0;
    int64_t age = now_ms(w) - since * 1000;
    return age < TAINTS_STATUS_MS ? (uint64_t)(TAINTS_STATUS_MS - age) : 0;
}

static bool is_same(const struct doc *old, const struct doc *want)
{
    static const char *const TEXTS[] = {"type", "status", "reason", "message"};
    int64_t a = 0, b = 0;
    doc_get_int64(old, "observedGeneration", &a);
    doc_get_int64(want, "observedGeneration", &b);
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        if (!str_eq(doc_get_text(old, TEXTS[i]), doc_get_text(want, TEXTS[i])))
            return false;
    return old && a == b;
}

static enum progress write_status(struct work *w, const struct object *rule,
                                  struct doc *condition)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list();
    const struct client_answer *answer;
    struct arena *a = w->a;
    doc_set_text(a, condition, "lastTransitionTime", now_text(w));
    doc_append(a, &list, *condition);
    doc_set(a, &status, "conditions", list);
    doc_set_text(a, &meta, "name", rule->name);
    doc_set_text(a, &meta, "uid", rule->uid);
    doc_set_text(a, &d, "apiVersion", STR("resource.k8s.io/v1"));
    doc_set_text(a, &d, "kind", STR("DeviceTaintRule"));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "status", status);
    struct str path =
        arena_printf(a, "%.*s?fieldManager=device-taint-eviction-controller&force=true",
                     STR_ARG(client_path(&RULE, STR_NONE, rule->name, "status", a)));
    enum progress p =
        work_ask(w, "PATCH", "application/apply-patch+yaml", path, &d, &answer);
    if (p == PROGRESS_DONE && !answer->ok)
        return work_fail(w, "add condition to DeviceTaintRule status: %s",
                         answer->message);
    return p;
}

/* The status is made once: what it says is of when it was first asked for. */
struct kept_status {
    struct object *rule;
    struct doc condition; /* in the work's arena */
};

static void release_status(void *kept)
{
    object_unref(((struct kept_status *)kept)->rule);
}

static const struct object *rule_of(const struct work *w)
{
    struct str rest = str_sub(w->key, 5, w->key.n);
    size_t colon = str_find_byte(rest, ':', 0);
    const struct strmap_entry *e = strmap_find(&of(w)->rules, str_sub(rest, 0, colon));
    const struct object *rule = e ? e->value.ptr : NULL;
    return rule && str_eq(rule->uid, str_sub(rest, colon + 1, rest.n)) ? rule : NULL;
}

static enum progress sync_rule(struct work *w)
{
    struct kept_status *k = w->kept;
    if (k)
        return write_status(w, k->rule, &k->condition);
    const struct object *rule = rule_of(w);
    if (!rule)
        return PROGRESS_DONE;
    const struct doc *old = condition_of(rule);
    if ((w->again_ms = too_early(w, rule, old)))
        return PROGRESS_DONE;
    struct doc want = taints_condition(&of(w)->taints, rule, w->a);
    if (is_same(old, &want))
        return PROGRESS_DONE;
    k = ARENA_NEW(w->a, struct kept_status);
    *k = (struct kept_status){object_ref((struct object *)rule), want};
    w->kept = k;
    w->release = release_status;
    return write_status(w, rule, &k->condition);
}

enum progress eviction_sync(struct work *w)
{
    return str_starts(w->key, STR("pod:")) ? sync_pod(w) : sync_rule(w);
}
