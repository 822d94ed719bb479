/* SPDX-License-Identifier: Apache-2.0 */
#include "api/edit.h"
#include "control/node_life_inner.h"
#include "control/pod_brief.h"

static const struct client_kind NODE = {"", "v1", "nodes", false},
                                LEASE = {"coordination.k8s.io", "v1", "leases", true},
                                POD = {"", "v1", "pods", true};

/* What a kubelet posts; NetworkUnavailable is others'. */
static const char *const CONDITIONS[] = {"Ready", "MemoryPressure", "DiskPressure",
                                         "PIDPressure"};

static enum progress judge(struct work *w, enum progress p, const struct client_answer *a)
{
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

static void make_unknown(struct work *w, struct doc *list, const char *type,
                         struct str created)
{
    struct doc c = doc_make_map();
    doc_set_text(w->a, &c, "type", str_from(type));
    doc_set_text(w->a, &c, "status", STR("Unknown"));
    doc_set_text(w->a, &c, "reason", STR("NodeStatusNeverUpdated"));
    doc_set_text(w->a, &c, "message", STR("Kubelet never posted node status."));
    doc_set_text(w->a, &c, "lastHeartbeatTime", created);
    doc_set_text(w->a, &c, "lastTransitionTime", node_life_now(w));
    doc_append(w->a, list, c);
}

static void become_unknown(struct work *w, struct doc *c)
{
    if (doc_is_string(doc_get(c, "status"), "Unknown"))
        return;
    doc_set_text(w->a, c, "status", STR("Unknown"));
    doc_set_text(w->a, c, "reason", STR("NodeStatusUnknown"));
    doc_set_text(w->a, c, "message", STR("Kubelet stopped posting node status."));
    doc_set_text(w->a, c, "lastTransitionTime", node_life_now(w));
}

static void set_conditions(struct work *w, struct doc *node)
{
    struct str created = doc_get_text(doc_get(node, "metadata"), "creationTimestamp");
    struct doc *status = api_edit_get(node, "status");
    if (!status)
        status = doc_set(w->a, node, "status", doc_make_map());
    struct doc *list = api_edit_get(status, "conditions");
    if (!list)
        list = doc_set(w->a, status, "conditions", doc_make_list());
    for (int i = 0; i < 4; i++) {
        struct doc *c = (struct doc *)node_condition(node, CONDITIONS[i]);
        if (c)
            become_unknown(w, c);
        else
            make_unknown(w, list, CONDITIONS[i], created);
    }
}

/* A cache that is behind is no reason to lose a node: its lease is asked for. *alive: it
 * has one that was not known. */
static enum progress ask_lease(struct work *w, const struct object *node, bool *alive)
{
    const struct client_answer *a;
    struct str namespace = STR("kube-node-lease");
    const struct object *known = informer_find(
        reconciler_watched(reconciler_of(w), NODE_LIFE_LEASES), namespace, node->name);
    struct str path = client_path(&LEASE, namespace, node->name, NULL, w->a);
    enum progress p = work_ask_metadata(w, path, false, &a);
    if (p != PROGRESS_DONE || a->status == 404)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(w, a) : NULL;
    if (!d)
        return work_fail(w, "%s", a->message);
    struct str version = doc_get_text(doc_get(d, "metadata"), "resourceVersion");
    *alive = !known || !str_eq(known->version, version);
    return p;
}

enum progress node_life_lose(struct work *w, const struct object *node)
{
    const struct client_answer *a = NULL;
    bool alive = false;
    enum progress p = ask_lease(w, node, &alive);
    if (p != PROGRESS_DONE)
        return p;
    if (alive)
        return PROGRESS_FAILED;
    struct doc d = doc_dup(w->a, node->doc);
    set_conditions(w, &d);
    struct str path = client_path(&NODE, STR_NONE, node->name, "status", w->a);
    p = work_ask(w, "PUT", NULL, path, &d, &a);
    return judge(w, p, a);
}

enum progress node_life_mark_pod(struct work *w, const struct object *pod)
{
    const struct client_answer *a = NULL;
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list(), c = doc_make_map();
    if (!pod_brief(pod)->ready)
        return PROGRESS_DONE;
    doc_set_text(w->a, &c, "type", STR("Ready"));
    doc_set_text(w->a, &c, "status", STR("False"));
    doc_set_text(w->a, &c, "lastTransitionTime", node_life_now(w));
    doc_append(w->a, &list, c);
    doc_set(w->a, &status, "conditions", list);
    doc_set_text(w->a, &meta, "uid", pod->uid);
    doc_set(w->a, &d, "metadata", meta);
    doc_set(w->a, &d, "status", status);
    struct str path = client_path(&POD, pod->namespace, pod->name, "status", w->a);
    enum progress p =
        work_ask(w, "PATCH", "application/strategic-merge-patch+json", path, &d, &a);
    return judge(w, p, a);
}
