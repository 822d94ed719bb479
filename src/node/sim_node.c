/* SPDX-License-Identifier: Apache-2.0 */
/* A node comes up as with a kubelet: its object, its lease, its slices, Ready. */
#include "node/sim_inner.h"

static const struct client_kind NODE = {"", "v1", "nodes", false},
                                LEASE = {"coordination.k8s.io", "v1", "leases", true};

static void set_text(struct arena *a, struct doc *d, const char *key, const char *text)
{
    doc_set_text(a, d, key, str_from(text));
}

/* ---- what is written ---- */

static struct doc condition(const char *type, const char *status, const char *reason,
                            const char *message, struct arena *a)
{
    struct doc c = doc_make_map();
    struct str now = sim_time(false, a);
    set_text(a, &c, "type", type);
    set_text(a, &c, "status", status);
    set_text(a, &c, "reason", reason);
    set_text(a, &c, "message", message);
    doc_set_text(a, &c, "lastHeartbeatTime", now);
    doc_set_text(a, &c, "lastTransitionTime", now);
    return c;
}

static struct doc conditions(struct arena *a)
{
    static const struct {
        const char *type, *status, *reason, *message;
    } ALL[] = {
        {"MemoryPressure", "False", "KubeletHasSufficientMemory",
         "kubelet has sufficient memory available"},
        {"DiskPressure", "False", "KubeletHasNoDiskPressure",
         "kubelet has no disk pressure"},
        {"PIDPressure", "False", "KubeletHasSufficientPID",
         "kubelet has sufficient PID available"},
        {"Ready", "True", "KubeletReady", "simulated node is ready"},
    };
    struct doc list = doc_make_list();
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        doc_append(
            a, &list,
            condition(ALL[i].type, ALL[i].status, ALL[i].reason, ALL[i].message, a));
    return list;
}

static struct doc address(const char *type, struct str value, struct arena *a)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "type", type);
    doc_set_text(a, &d, "address", value);
    return d;
}

static struct doc node_info(const struct sim_node *n, struct arena *a)
{
    static const char *const TEXTS[][2] = {
        {"architecture", "amd64"},
        {"operatingSystem", "linux"},
        {"osImage", "simulated"},
        {"kernelVersion", "simulated"},
        {"containerRuntimeVersion", "sim://1"},
        {"kubeletVersion", "v1.37.2"},
        {"kubeProxyVersion", ""},
    };
    struct doc d = doc_make_map();
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        set_text(a, &d, TEXTS[i][0], TEXTS[i][1]);
    doc_set_text(a, &d, "machineID", n->name);
    doc_set_text(a, &d, "systemUUID", n->name);
    doc_set_text(a, &d, "bootID", n->name);
    return d;
}

/* Where API servers of the same machine find its kubelet: all nodes share one. */
static struct doc daemon_endpoints(const struct sim_node *n, struct arena *a)
{
    struct doc d = doc_make_map(), kubelet = doc_make_map();
    doc_set(a, &kubelet, "Port", doc_make_int(a, n->sim->kubelet_port));
    doc_set(a, &d, "kubeletEndpoint", kubelet);
    return d;
}

/* What the shape says of capacity stays. */
static void complete_status(const struct sim_node *n, struct doc *status, struct arena *a)
{
    struct doc list = doc_make_list();
    doc_append(a, &list, address("InternalIP", sim_node_ip(n, a), a));
    doc_append(a, &list,
               address("Hostname", n->sim->kubelet ? STR("localhost") : n->name, a));
    doc_set(a, status, "addresses", list);
    doc_set(a, status, "conditions", conditions(a));
    doc_set(a, status, "daemonEndpoints", daemon_endpoints(n, a));
    doc_set(a, status, "nodeInfo", node_info(n, a));
}

static struct doc status_of(const struct doc *node)
{
    const struct doc *status = doc_get(node, "status");
    return status ? *status : doc_make_map();
}

static struct doc make_node(const struct sim_node *n, struct arena *a)
{
    struct doc node = sim_shape_node(n->shape, n->name, a), status = status_of(&node);
    complete_status(n, &status, a);
    doc_set(a, &node, "status", status);
    return node;
}

static struct doc make_lease(const struct sim_node *n, struct arena *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), spec = doc_make_map();
    set_text(a, &d, "apiVersion", "coordination.k8s.io/v1");
    set_text(a, &d, "kind", "Lease");
    doc_set_text(a, &meta, "name", n->name);
    doc_set_text(a, &spec, "holderIdentity", n->name);
    doc_set(a, &spec, "leaseDurationSeconds", doc_make_int(a, 40));
    doc_set_text(a, &spec, "renewTime", sim_time(true, a));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "spec", spec);
    return d;
}

/* ---- asking ---- */

/* What asks for the time of day asks once: the work keeps its bodies. */
struct kept {
    struct doc node, lease, status;
};

static struct kept *kept_of(struct work *w, const struct sim_node *n)
{
    if (!w->kept) {
        struct kept *k = ARENA_NEW(w->a, struct kept);
        struct doc status = doc_make_map(), full = make_node(n, w->a);
        k->node = full;
        k->lease = make_lease(n, w->a);
        doc_set(w->a, &status, "status", status_of(&full));
        k->status = status;
        w->kept = k;
    }
    return w->kept;
}

/* One that is there already is as good. */
static enum progress create(struct work *w, struct str path, const struct doc *body)
{
    const struct client_answer *answer;
    enum progress p = work_ask(w, "POST", NULL, path, body, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 409)
        return work_fail(w, "%s", answer->message);
    return p;
}

static enum progress become_ready(struct work *w, const struct sim_node *n)
{
    const struct client_answer *answer;
    struct str path = client_path(&NODE, STR_NONE, n->name, "status", w->a);
    enum progress p = work_ask(w, "PATCH", "application/merge-patch+json", path,
                               &kept_of(w, n)->status, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404)
        return work_fail(w, "%s", answer->message);
    return p;
}

static void now_stands(struct sim_node *n)
{
    struct sim *s = n->sim;
    if (n->stands)
        return;
    n->stands = true;
    if (++s->nstanding == s->nnodes && s->opts.ready)
        s->opts.ready(s->opts.ctx);
}

/* Of a node that is there and heard of. */
static enum progress keep_up(struct work *w, struct sim_node *n,
                             const struct object *node)
{
    const struct sim_node_view *v = node->view;
    struct str path = client_path(&LEASE, STR("kube-node-lease"), STR_NONE, NULL, w->a);
    enum progress p = create(w, path, &kept_of(w, n)->lease);
    if (p == PROGRESS_DONE)
        p = sim_publish(w, n, node);
    /* Said once: whoever simulates the same node elsewhere does not say it back. */
    bool moved = !n->stands && v->port != n->sim->kubelet_port;
    if (p == PROGRESS_DONE && (!v->ready || moved))
        p = become_ready(w, n);
    if (p == PROGRESS_DONE)
        now_stands(n);
    return p;
}

enum progress sim_node_work(struct work *w)
{
    struct sim *s = w->ctx;
    struct sim_node *n = sim_find(s, w->key);
    const struct object *node = informer_get(s->objects, w->key);
    if (!n)
        return PROGRESS_DONE;
    if (node && ((const struct sim_node_view *)node->view)->lost) {
        now_stands(n);
        return PROGRESS_DONE;
    }
    if (node)
        return keep_up(w, n, node);
    if (n->asked)
        return PROGRESS_DONE; /* deleted, or told in a moment */
    enum progress p = create(w, client_path(&NODE, STR_NONE, STR_NONE, NULL, w->a),
                             &kept_of(w, n)->node);
    n->asked = p == PROGRESS_DONE;
    return p;
}
