/* SPDX-License-Identifier: Apache-2.0 */
/* The status of pods as kubelets write it. */
#include "node/sim_inner.h"

struct writing {
    struct arena *a;
    const struct object *pod;
    const struct sim_pod_view *view;
    struct str now;
};

static void set_text(const struct writing *w, struct doc *d, const char *key,
                     const char *text)
{
    doc_set_text(w->a, d, key, str_from(text));
}

static void add_condition(const struct writing *w, struct doc *list, const char *type,
                          bool on, const char *reason)
{
    struct doc c = doc_make_map();
    set_text(w, &c, "type", type);
    set_text(w, &c, "status", on ? "True" : "False");
    if (reason)
        set_text(w, &c, "reason", reason);
    doc_set_text(w->a, &c, "lastTransitionTime", w->now);
    doc_append(w->a, list, c);
}

static struct doc conditions(const struct writing *w, bool running, bool completed)
{
    const char *reason = completed ? "PodCompleted" : running ? NULL : "PodFailed";
    struct doc list = doc_make_list();
    add_condition(w, &list, "PodReadyToStartContainers", running, NULL);
    add_condition(w, &list, "Initialized", true, completed ? reason : NULL);
    add_condition(w, &list, "Ready", running, reason);
    add_condition(w, &list, "ContainersReady", running, reason);
    return list;
}

/* ---- containers ---- */

static struct str container_id(const struct writing *w, const struct sim_container *c,
                               int64_t restarts)
{
    uint64_t h = str_hash(w->pod->uid) ^ str_hash(c->name) * 31 ^ (uint64_t)restarts;
    return arena_printf(w->a, "sim://%016llx", (unsigned long long)h);
}

static struct doc running_state(const struct writing *w)
{
    struct doc state = doc_make_map(), run = doc_make_map();
    doc_set_text(w->a, &run, "startedAt", w->now);
    doc_set(w->a, &state, "running", run);
    return state;
}

static struct doc ended_state(const struct writing *w, struct str id, int64_t code)
{
    struct doc state = doc_make_map(), end = doc_make_map();
    doc_set(w->a, &end, "exitCode", doc_make_int(w->a, code));
    set_text(w, &end, "reason", code ? "Error" : "Completed");
    doc_set_text(w->a, &end, "finishedAt", w->now);
    doc_set_text(w->a, &end, "containerID", id);
    doc_set(w->a, &state, "terminated", end);
    return state;
}

/* code below zero: it runs. */
static struct doc container(const struct writing *w, const struct sim_container *c,
                            int64_t code, int64_t restarts)
{
    struct doc d = doc_make_map();
    struct str id = container_id(w, c, restarts);
    bool runs = code < 0;
    doc_set_text(w->a, &d, "name", c->name);
    doc_set_text(w->a, &d, "image", c->image);
    doc_set_text(w->a, &d, "imageID",
                 arena_printf(w->a, "sim://%.*s", STR_ARG(c->image)));
    doc_set_text(w->a, &d, "containerID", id);
    doc_set(w->a, &d, "ready", doc_make_bool(runs));
    doc_set(w->a, &d, "started", doc_make_bool(runs));
    doc_set(w->a, &d, "restartCount", doc_make_int(w->a, restarts));
    doc_set(w->a, &d, "state", runs ? running_state(w) : ended_state(w, id, code));
    return d;
}

static struct doc containers(const struct writing *w, int64_t code, int64_t restarts)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < w->view->ncontainers; i++)
        doc_append(w->a, &list, container(w, &w->view->containers[i], code, restarts));
    return list;
}

/* Those before the others have ended well, but for sidecars, which share their fate. */
static struct doc init_containers(const struct writing *w, int64_t code)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < w->view->ninit; i++) {
        const struct sim_container *c = &w->view->init[i];
        struct doc d = container(w, c, c->sidecar ? code : 0, 0);
        doc_set(w->a, &d, "ready", doc_make_bool(!c->sidecar || code < 0));
        doc_append(w->a, &list, d);
    }
    return list;
}

static void set_containers(const struct writing *w, struct doc *status, int64_t code,
                           int64_t restarts)
{
    doc_set(w->a, status, "containerStatuses", containers(w, code, restarts));
    if (w->view->ninit)
        doc_set(w->a, status, "initContainerStatuses", init_containers(w, code));
}

/* ---- the whole ---- */

/* The server refuses it when another pod has this name by now. */
static struct doc patch(const struct writing *w, struct doc status)
{
    struct doc d = doc_make_map(), meta = doc_make_map();
    doc_set_text(w->a, &meta, "uid", w->pod->uid);
    doc_set(w->a, &d, "metadata", meta);
    doc_set(w->a, &d, "status", status);
    return d;
}

/* 10.128.0.0/9, a last byte for each pod of a node: 256 of them on 32,768 nodes. */
static struct str pod_ip(const struct sim_node *n, uint8_t end, struct arena *a)
{
    return arena_printf(a, "10.%u.%u.%u", 128 + n->number / 256 % 128, n->number % 256,
                        end);
}

static void set_addresses(const struct writing *w, struct doc *status, const char *one,
                          const char *all, struct str ip)
{
    struct doc list = doc_make_list(), d = doc_make_map();
    doc_set_text(w->a, &d, "ip", ip);
    doc_append(w->a, &list, d);
    doc_set_text(w->a, status, one, ip);
    doc_set(w->a, status, all, list);
}

struct doc sim_status_running(const struct object *pod, const struct sim_node *n,
                              uint8_t ip_end, int64_t restarts, struct arena *a)
{
    struct writing w = {a, pod, pod->view, sim_time(false, a)};
    struct doc status = doc_make_map();
    set_text(&w, &status, "phase", "Running");
    doc_set(a, &status, "conditions", conditions(&w, true, false));
    set_addresses(&w, &status, "hostIP", "hostIPs", sim_node_ip(n, a));
    set_addresses(&w, &status, "podIP", "podIPs", pod_ip(n, ip_end, a));
    if (restarts == 0)
        doc_set_text(a, &status, "startTime", w.now);
    set_containers(&w, &status, -1, restarts);
    return patch(&w, status);
}

struct doc sim_status_over(const struct object *pod, int64_t code, struct arena *a)
{
    struct writing w = {a, pod, pod->view, sim_time(false, a)};
    struct doc status = doc_make_map();
    set_text(&w, &status, "phase", code ? "Failed" : "Succeeded");
    doc_set(a, &status, "conditions", conditions(&w, false, code == 0));
    set_containers(&w, &status, code, w.view->restarts);
    return patch(&w, status);
}
