/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod gets its node: claims first, then the binding. Whatever comes in between, the pod
 * counts on its node until it is known that it is not there: an answer that is lost is
 * asked for again.
 */
#include "sched/inner.h"

static const struct client_kind PODS = {"", "v1", "pods", true};

enum { ASK_AGAIN_MS = 1000 };

static void ask_whether(void *ctx);

/* ---- it was in vain ---- */

static void give_back(struct attempt *a)
{
    struct scheduler *s = a->sched;
    struct node_pod *p = cache_find_pod(&s->world.cache, pod_id(a->pod));
    if (p && p->assumed) {
        cache_remove_pod(&s->world.cache, pod_id(a->pod));
        sched_tell(s, EVENT_POD_REMOVED, a->pod, NULL);
    }
    attempt_error(a, a->message);
}

static void on_unreserved(void *ctx, const struct sched_status *st)
{
    (void)st;
    give_back(ctx);
}

static void undo(struct attempt *a, struct str why)
{
    a->message = arena_str(&a->a, why);
    if (a->dra)
        dra_unreserve(a->dra, on_unreserved, a);
    else
        give_back(a);
}

/* ---- it went well ---- */

static void succeed(struct attempt *a)
{
    struct scheduler *s = a->sched;
    struct event_about about = {"v1", "Pod", a->pod->doc};
    struct str text =
        arena_printf(&a->a, "Successfully assigned %.*s/%.*s to %.*s",
                     STR_ARG(a->pod->namespace), STR_ARG(a->pod->name), STR_ARG(a->node));
    s->counts.scheduled++;
    attempt_measure(a, SCHED_SCHEDULED);
    sched_measure_pod(&s->measure, a->queued->attempts);
    events_tell(s->events, &about, "Normal", "Scheduled", text);
    queue_done(&s->queue, a->queued);
    attempt_free(a);
    sched_kick(s);
}

/* ---- an answer was lost: the pod itself says what became of it ---- */

static void on_whether(void *ctx, const struct client_answer *answer)
{
    struct attempt *a = ctx;
    struct doc_source src = {.name = "pod", .text = answer->body};
    struct doc pod;
    a->call = NULL;
    if (answer->status == 404) {
        undo(a, str_from(answer->message));
        return;
    }
    if (!answer->ok || !doc_read_json(&src, &a->a, &pod, NULL)) { /* it says nothing */
        a->pause = net_timer_start(client_loop(a->sched->client), ASK_AGAIN_MS, 0,
                                   ask_whether, a);
        return;
    }
    struct str uid = doc_get_text(doc_get(&pod, "metadata"), "uid"),
               node = doc_get_text(doc_get(&pod, "spec"), "nodeName");
    if (str_eq(uid, a->pod->uid) && str_eq(node, a->node))
        succeed(a);
    else
        undo(a, STR("the binding was not written"));
}

static void ask_whether(void *ctx)
{
    struct attempt *a = ctx;
    a->pause = NULL;
    struct client_request q = {
        .method = "GET",
        .path = client_path(&PODS, a->pod->namespace, a->pod->name, NULL, &a->a)};
    a->call = client_start(a->sched->client, &q, on_whether, a);
}

/* ---- the binding ---- */

static void on_bound(void *ctx, const struct client_answer *answer)
{
    struct attempt *a = ctx;
    a->call = NULL;
    if (answer->ok)
        succeed(a);
    else if (answer->status == 0 || answer->status >= 500)
        ask_whether(a);
    else
        undo(a, arena_printf(&a->a, "binding rejected: %s", answer->message));
}

static struct doc binding_of(struct attempt *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), target = doc_make_map();
    doc_set_text(&a->a, &meta, "namespace", a->pod->namespace);
    doc_set_text(&a->a, &meta, "name", a->pod->name);
    doc_set_text(&a->a, &meta, "uid", a->pod->uid);
    doc_set_text(&a->a, &target, "kind", STR("Node"));
    doc_set_text(&a->a, &target, "name", a->node);
    doc_set_text(&a->a, &d, "apiVersion", STR("v1"));
    doc_set_text(&a->a, &d, "kind", STR("Binding"));
    doc_set(&a->a, &d, "metadata", meta);
    doc_set(&a->a, &d, "target", target);
    return d;
}

static void send_binding(struct attempt *a)
{
    struct strbuf json = STRBUF_INIT;
    struct doc d = binding_of(a);
    doc_write_json(&d, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = "POST",
        .path = client_path(&PODS, a->pod->namespace, a->pod->name, "binding", &a->a),
        .body = strbuf_str(&json)};
    a->call = client_start(a->sched->client, &q, on_bound, a);
    strbuf_release(&json);
}

static void on_claims(void *ctx, const struct sched_status *st)
{
    struct attempt *a = ctx;
    if (sched_ok(st)) {
        send_binding(a);
        return;
    }
    undo(a, arena_printf(&a->a, "running PreBind plugin \"DynamicResources\": %.*s",
                         STR_ARG(st->reasons.n ? st->reasons.v[0] : STR(""))));
}

void bind_start(struct attempt *a)
{
    if (a->dra && dra_pre_bind_needed(a->dra))
        dra_pre_bind(a->dra, on_claims, a);
    else
        send_binding(a);
}
