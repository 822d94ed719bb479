/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pods.h"

#include <math.h>
#include <stdlib.h>

#include "base/names.h"
#include "control/fields.h"

const struct client_kind pods_kind = {"", "v1", "pods", true};

bool pod_is_finished(const struct doc *pod)
{
    const struct doc *phase = doc_path(pod, "status.phase");
    return doc_is_string(phase, "Succeeded") || doc_is_string(phase, "Failed");
}

bool pod_is_active(const struct doc *pod)
{
    return !pod_is_finished(pod) && !field_deleted(pod);
}

bool pod_is_leaving(const struct doc *pod)
{
    return !pod_is_finished(pod) && field_deleted(pod);
}

bool pod_is_ready(const struct doc *pod, int64_t *since)
{
    const struct doc *list = field_list(pod, "status.conditions");
    int64_t ignored = 0;
    since = since ? since : &ignored;
    *since = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Ready")) {
            field_time(&list->items[i], "lastTransitionTime", since);
            return doc_is_string(doc_get(&list->items[i], "status"), "True");
        }
    return false;
}

bool pod_is_available(const struct doc *pod, int64_t min_ready_s, int64_t now,
                      int64_t *wait_s)
{
    int64_t since, ignored = 0;
    wait_s = wait_s ? wait_s : &ignored;
    *wait_s = 0;
    if (!pod_is_ready(pod, &since))
        return false;
    if (min_ready_s == 0)
        return true;
    if (since && since + min_ready_s > now)
        *wait_s = since + min_ready_s - now;
    return since && since + min_ready_s <= now;
}

/* ---- making ---- */

static void copy(struct arena *a, struct doc *to, const struct doc *from, const char *key)
{
    const struct doc *found = doc_get(from, key);
    if (found && found->type != DOC_NULL)
        doc_set(a, to, key, doc_dup(a, found));
}

struct doc pod_make(const struct doc *template, const struct owner_kind *kind,
                    const struct object *owner, struct arena *a)
{
    const struct doc *meta = doc_get(template, "metadata");
    struct doc pod = doc_make_map(), out = doc_make_map(), refs = doc_make_list();
    struct str prefix = arena_printf(a, "%.*s-", STR_ARG(owner->name));
    /* A generated name's prefix may be as long as a name, and end in a dash. */
    bool fits =
        name_valid(NAME_DNS1123_SUBDOMAIN, arena_printf(a, "%.*sa", STR_ARG(prefix)));
    doc_append(a, &refs, adopt_reference(a, kind, owner));
    doc_set_text(a, &out, "generateName", fits ? prefix : owner->name);
    copy(a, &out, meta, "labels");
    copy(a, &out, meta, "annotations");
    copy(a, &out, meta, "finalizers");
    doc_set(a, &out, "ownerReferences", refs);
    doc_set_text(a, &pod, "apiVersion", STR("v1"));
    doc_set_text(a, &pod, "kind", STR("Pod"));
    doc_set(a, &pod, "metadata", out);
    copy(a, &pod, template, "spec");
    return pod;
}

/* ---- deleting ---- */

struct ranked {
    const struct object *pod;
    struct str node;
    int phase;
    bool ready;
    int64_t cost, rank, since, restarts, sidecar_restarts, created;
    int64_t now_ns; /* 0: ages count to the second */
};

static int order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Ages count as equal when they have as many binary digits. */
static int age_digits(int64_t since, int64_t now_ns)
{
    double age = (double)now_ns - (double)since * 1e9;
    return age > 0 ? (int)log2(age) : -1;
}

/* The younger one first; one without a time is younger than all. */
static int by_age(const struct ranked *x, const struct ranked *y, int64_t a, int64_t b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    if (!x->now_ns)
        return order(b, a);
    int by_digits = order(age_digits(a, x->now_ns), age_digits(b, x->now_ns));
    return by_digits ? by_digits : str_cmp(x->pod->uid, y->pod->uid);
}

static int by_harm(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const int by[] = {
        order(x->node.n > 0, y->node.n > 0),
        order(x->phase, y->phase),
        order(x->ready, y->ready),
        order(x->cost, y->cost),
        order(y->rank, x->rank),
        x->ready && y->ready ? by_age(x, y, x->since, y->since) : 0,
        order(y->restarts, x->restarts),
        order(y->sidecar_restarts, x->sidecar_restarts),
        by_age(x, y, x->created, y->created),
    };
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        if (by[i])
            return by[i];
    return 0;
}

/* Init containers that stay. */
static bool is_sidecar(const struct doc *pod, struct str name)
{
    const struct doc *list = field_list(pod, "spec.initContainers");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return doc_is_string(doc_get(&list->items[i], "restartPolicy"), "Always");
    return false;
}

static int64_t max_restarts(const struct doc *pod, bool sidecars)
{
    const struct doc *list = field_list(pod, sidecars ? "status.initContainerStatuses"
                                                      : "status.containerStatuses");
    int64_t most = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t n = field_int(&list->items[i], "restartCount", 0);
        if (n > most &&
            (!sidecars || is_sidecar(pod, doc_get_text(&list->items[i], "name"))))
            most = n;
    }
    return most;
}

/* "-100", "7": no sign but a minus, no leading zero. */
static int64_t deletion_cost(const struct doc *pod)
{
    struct str text = field_note(pod, "controller.kubernetes.io/pod-deletion-cost");
    char *end = NULL;
    if (!text.n || text.p[0] == '+' || (text.n > 1 && text.p[0] == '0'))
        return 0;
    long long n = strtoll(text.p, &end, 10);
    return *end || n < INT32_MIN || n > INT32_MAX ? 0 : n;
}

static int phase_rank(const struct doc *pod)
{
    const struct doc *phase = doc_path(pod, "status.phase");
    return doc_is_string(phase, "Running") ? 2 : doc_is_string(phase, "Unknown") ? 1 : 0;
}

static struct ranked rank(const struct object *o, int64_t now_ns)
{
    struct ranked r = {.pod = o,
                       .node = field_text(o->doc, "spec.nodeName"),
                       .phase = phase_rank(o->doc),
                       .cost = deletion_cost(o->doc),
                       .restarts = max_restarts(o->doc, false),
                       .sidecar_restarts = max_restarts(o->doc, true),
                       .created = field_created(o->doc),
                       .now_ns = now_ns};
    r.ready = pod_is_ready(o->doc, &r.since);
    return r;
}

/* How many related pods each node has. */
static void count_related(struct strmap *nodes, const struct objects *related)
{
    strmap_init(nodes);
    for (uint32_t i = 0; i < related->n; i++)
        if (pod_is_active(related->v[i]->doc)) {
            struct str node = field_text(related->v[i]->doc, "spec.nodeName");
            strmap_put(nodes, node.p ? node : STR(""), NULL)->value.i++;
        }
}

void pods_sort_for_deletion(struct objects *pods, const struct objects *related,
                            int64_t now_ns, struct arena *a)
{
    struct ranked *all = ARENA_ARRAY(a, struct ranked, pods->n);
    struct strmap nodes;
    count_related(&nodes, related);
    for (uint32_t i = 0; i < pods->n; i++) {
        all[i] = rank(pods->v[i], now_ns);
        const struct strmap_entry *e =
            strmap_find(&nodes, all[i].node.p ? all[i].node : STR(""));
        all[i].rank = e ? e->value.i : 0;
    }
    strmap_release(&nodes);
    qsort(all, pods->n, sizeof *all, by_harm);
    for (uint32_t i = 0; i < pods->n; i++)
        pods->v[i] = all[i].pod;
}

void pods_sort_active(struct objects *pods, struct arena *a)
{
    struct ranked *all = ARENA_ARRAY(a, struct ranked, pods->n + 1);
    for (uint32_t i = 0; i < pods->n; i++) {
        all[i] = rank(pods->v[i], 0);
        all[i].cost = 0;
    }
    qsort(all, pods->n, sizeof *all, by_harm);
    for (uint32_t i = 0; i < pods->n; i++)
        pods->v[i] = all[i].pod;
}
