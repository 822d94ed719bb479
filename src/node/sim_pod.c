/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod on a simulated node: Pending until its claims are prepared, Running until its
 * containers end or somebody deletes it; then its status says how it ended, and the
 * object goes, as with kubelets.
 */
#include "node/sim_inner.h"

static const struct client_kind POD = {"", "v1", "pods", true};

/* What is written is made once, at its time. */
static enum progress patch_status(struct work *w, const struct object *pod)
{
    const struct client_answer *answer;
    struct str path = client_path(&POD, pod->namespace, pod->name, "status", w->a);
    enum progress p = work_ask(w, "PATCH", "application/strategic-merge-patch+json", path,
                               w->kept, &answer);
    bool gone = p == PROGRESS_DONE && (answer->status == 404 || answer->status == 409);
    if (p == PROGRESS_DONE && !answer->ok && !gone)
        return work_fail(w, "%s", answer->message);
    return p;
}

static enum progress write_status(struct work *w, const struct object *pod,
                                  struct doc status)
{
    struct doc *kept = ARENA_NEW(w->a, struct doc);
    *kept = status;
    w->kept = kept;
    return patch_status(w, pod);
}

/* Comes again when it is time; at once when it is. */
static bool is_due(struct work *w, int64_t since, int64_t span)
{
    int64_t left = since + span - sim_now();
    if (left <= 0)
        return true;
    w->again_ms = (uint64_t)left * 1000;
    return false;
}

/* ---- starting ---- */

/* 0: all are in use. The last byte 0 and 255 are nobody's. */
static uint8_t free_ip(const struct sim_node *n)
{
    for (unsigned i = 1; i < 255; i++)
        if (!(n->ips[i / 64] >> (i % 64) & 1))
            return (uint8_t)i;
    return 0;
}

static uint8_t take_ip(struct sim_node *n, const struct sim_pod_view *v)
{
    uint8_t ip = v->ip_end ? v->ip_end : free_ip(n);
    n->ips[ip / 64] |= ip ? 1ull << (ip % 64) : 0;
    return ip;
}

static enum progress start(struct work *w, struct sim_node *n, const struct object *pod)
{
    const struct sim_pod_view *v = pod->view;
    enum progress p = sim_prepare(w, pod);
    if (p != PROGRESS_DONE)
        return p;
    uint8_t ip = take_ip(n, v);
    if (!ip)
        return work_fail(w, "node %.*s has no more addresses", STR_ARG(n->name));
    return write_status(w, pod, sim_status_running(pod, n, ip, 0, w->a));
}

/* Starting takes as long as the pod says, from when it was bound. */
static enum progress pend(struct work *w, struct sim_node *n, const struct object *pod)
{
    const struct sim_pod_view *v = pod->view;
    return is_due(w, v->bound_s, v->start_s) ? start(w, n, pod) : PROGRESS_DONE;
}

/* ---- running ---- */

static bool restarts(const struct sim_pod_view *v)
{
    return v->restart == SIM_ALWAYS || (v->restart == SIM_ON_FAILURE && v->exit_code);
}

static enum progress run(struct work *w, struct sim_node *n, const struct object *pod)
{
    const struct sim_pod_view *v = pod->view;
    if (v->run_s < 0 || !is_due(w, v->started_s, v->run_s))
        return PROGRESS_DONE;
    if (restarts(v))
        return write_status(w, pod,
                            sim_status_running(pod, n, v->ip_end, v->restarts + 1, w->a));
    return write_status(w, pod, sim_status_over(pod, v->exit_code, w->a));
}

/* ---- going ---- */

static enum progress remove_pod(struct work *w, const struct object *pod)
{
    struct doc options = doc_make_map(), want = doc_make_map();
    const struct client_answer *answer;
    struct str path = client_path(&POD, pod->namespace, pod->name, NULL, w->a);
    doc_set_text(w->a, &want, "uid", pod->uid);
    doc_set(w->a, &options, "preconditions", want);
    doc_set(w->a, &options, "gracePeriodSeconds", doc_make_int(w->a, 0));
    enum progress p = work_ask(w, "DELETE", NULL, path, &options, &answer);
    bool gone = p == PROGRESS_DONE && (answer->status == 404 || answer->status == 409);
    if (p == PROGRESS_DONE && !answer->ok && !gone)
        return work_fail(w, "%s", answer->message);
    return p;
}

/* The time of deletion is when its grace period ends. */
static bool has_stopped(struct work *w, const struct sim_pod_view *v)
{
    int64_t stop = v->stop_s < v->grace_s ? v->stop_s : v->grace_s;
    return is_due(w, v->deletion_s - v->grace_s, stop);
}

static enum progress end(struct work *w, const struct object *pod)
{
    const struct sim_pod_view *v = pod->view;
    if (v->phase == SIM_RUNNING && !has_stopped(w, v))
        return PROGRESS_DONE;
    if (v->phase != SIM_OVER)
        return write_status(w, pod, sim_status_over(pod, v->exit_code, w->a));
    return remove_pod(w, pod);
}

/* ---- all of it ---- */

enum progress sim_pod_work(struct work *w)
{
    struct sim *s = w->ctx;
    const struct object *pod = informer_get(s->pods, w->key);
    const struct sim_pod_view *v = pod ? pod->view : NULL;
    struct sim_node *n = v ? sim_find(s, v->node) : NULL;
    const struct object *node = n ? informer_get(s->objects, n->name) : NULL;
    if (!node || ((const struct sim_node_view *)node->view)->lost)
        return PROGRESS_DONE;
    if (w->kept)
        return patch_status(w, pod);
    if (v->deleted)
        return end(w, pod);
    if (v->phase == SIM_OVER)
        return PROGRESS_DONE;
    return v->phase == SIM_RUNNING ? run(w, n, pod) : pend(w, n, pod);
}
