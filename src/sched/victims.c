/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption is done: victims are marked and deleted, one after another, for a pod that
 * is nominated to their node meanwhile. When that fails the pod is tried again.
 */
#include <time.h>

#include "api/timestamp.h"
#include "sched/inner.h"

static const struct client_kind PODS = {"", "v1", "pods", true};

static void next_victim(struct attempt *a);

static void ask(struct attempt *a, const char *method, const char *type, const char *sub,
                const struct doc *body, client_done *done)
{
    const struct object *victim = a->victims[0];
    struct strbuf json = STRBUF_INIT;
    doc_write_json(body, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = method,
        .type = type,
        .path = client_path(&PODS, victim->namespace, victim->name, sub, &a->a),
        .body = strbuf_str(&json)};
    a->call = client_start(a->sched->client, &q, done, a);
    strbuf_release(&json);
}

static void fail(struct attempt *a, const struct client_answer *answer)
{
    struct str why = arena_printf(&a->a, "preempting pod %.*s: %s",
                                  STR_ARG(a->victims[0]->key), answer->message);
    a->nominate = STR_NONE;
    if (a->victims_failed)
        a->victims_failed(a, why);
    else
        attempt_error(a, why);
}

static void pop_victim(struct attempt *a)
{
    object_unref(*a->victims++);
    a->nvictims--;
}

/* Where victims are looked for: a node, or everywhere. */
static struct str domain_of(const struct attempt *a)
{
    return a->group ? STR("cluster") : a->nominate;
}

static void on_deleted(void *ctx, const struct client_answer *answer)
{
    struct attempt *a = ctx;
    struct event_about about = {"v1", "Pod", a->victims[0]->doc};
    a->call = NULL;
    if (!answer->ok && answer->status != 404) {
        fail(a, answer);
        return;
    }
    a->sched->counts.preemptions++;
    if (answer->ok)
        events_tell(a->sched->events, &about, "Normal", "Preempted",
                    arena_printf(&a->a, "Preempted by %s %.*s on node %.*s", a->preemptor,
                                 STR_ARG(a->preemptor_uid), STR_ARG(domain_of(a))));
    pop_victim(a);
    next_victim(a);
}

static void delete_victim(struct attempt *a)
{
    struct doc d = doc_make_map(), only = doc_make_map();
    doc_set_text(&a->a, &only, "uid", a->victims[0]->uid);
    doc_set_text(&a->a, &d, "apiVersion", STR("v1"));
    doc_set_text(&a->a, &d, "kind", STR("DeleteOptions"));
    doc_set(&a->a, &d, "preconditions", only);
    ask(a, "DELETE", NULL, NULL, &d, on_deleted);
}

static void on_marked(void *ctx, const struct client_answer *answer)
{
    struct attempt *a = ctx;
    a->call = NULL;
    if (answer->ok) {
        delete_victim(a);
        return;
    }
    if (answer->status != 404) {
        fail(a, answer);
        return;
    }
    pop_victim(a);
    next_victim(a);
}

static struct doc mark_of(struct attempt *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list(), mark = doc_make_map();
    struct arena *m = &a->a;
    doc_set_text(m, &mark, "type", STR("DisruptionTarget"));
    doc_set_text(m, &mark, "status", STR("True"));
    doc_set_text(m, &mark, "reason", STR("PreemptionByScheduler"));
    doc_set_text(m, &mark, "message",
                 arena_printf(m, "%.*s: preempting to accommodate a higher priority %s",
                              STR_ARG(a->profile->name), a->preemptor));
    doc_set_text(m, &mark, "lastTransitionTime",
                 timestamp_print(time(NULL), 0, false, m));
    doc_append(m, &list, mark);
    doc_set(m, &status, "conditions", list);
    doc_set_text(m, &meta, "uid", a->victims[0]->uid);
    doc_set(m, &d, "metadata", meta);
    doc_set(m, &d, "status", status);
    return d;
}

/* One that is going already is waited for, and left alone. */
static void next_victim(struct attempt *a)
{
    while (a->nvictims && pod_info_of(a->victims[0])->pod->meta.deleting)
        pop_victim(a);
    if (!a->nvictims) {
        if (a->after_victims)
            a->after_victims(a);
        else
            attempt_free_devices(a);
        return;
    }
    struct doc d = mark_of(a);
    ask(a, "PATCH", "application/strategic-merge-patch+json", "status", &d, on_marked);
}

/* Pods of lower priority that the node was promised to must look for another one. */
static void withdraw(struct attempt *a, struct str node)
{
    struct nominated *all = &a->sched->world.nominated;
    for (size_t i = all->all.n; i-- > 0;) {
        struct object *pod = all->all.v[i].pod;
        if (str_is(node, all->all.v[i].node) &&
            pod_info_of(pod)->priority < pod_info_of(a->pod)->priority) {
            struct queued *q = queue_find(&a->sched->queue, pod_id(pod));
            nominated_remove(all, pod_id(pod));
            if (q)
                queue_activate(&a->sched->queue, q, sched_now(a->sched));
        }
    }
}

void victims_start_all(struct attempt *a, struct node_pod *const *v, uint32_t n,
                       const char *what, struct str uid)
{
    a->preemptor = what;
    a->preemptor_uid = uid;
    a->victims = ARENA_ARRAY(&a->a, struct object *, n);
    for (uint32_t i = 0; i < n; i++) {
        a->victims[a->nvictims++] = object_ref(v[i]->object);
        if (i == 0 || v[i]->node != v[i - 1]->node)
            withdraw(a, v[i]->node->name);
    }
    next_victim(a);
}

void victims_start(struct attempt *a, const struct preemption *p)
{
    a->nominate = arena_str(&a->a, p->node->name);
    nominated_set(&a->sched->world.nominated, a->pod, a->nominate);
    victims_start_all(a, p->victims, p->nvictims, "pod", a->pod->uid);
}
