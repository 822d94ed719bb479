/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing claims, as a kubelet and the drivers of its node do together. */
#include "node/sim_inner.h"

static const struct client_kind CLAIM = {"resource.k8s.io", "v1", "resourceclaims", true};

static const struct doc *results_of(const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "status.allocation.devices.results");
    return list && list->type == DOC_LIST ? list : NULL;
}

/* For the pod itself, or for the group that it is of: then the scheduler has seen to it.
 */
static bool is_reserved(const struct doc *claim, const struct object *pod)
{
    const struct doc *list = doc_path(claim, "status.reservedFor");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *by = &list->items[i];
        if (str_eq(doc_get_text(by, "uid"), pod->uid) ||
            doc_is_string(doc_get(by, "resource"), "podgroups"))
            return true;
    }
    return false;
}

/* ---- what drivers write: each its own devices ---- */

static struct doc ready_condition(const struct doc *claim, struct arena *a)
{
    struct doc c = doc_make_map();
    struct str since = doc_get_text(doc_get(claim, "metadata"), "creationTimestamp");
    doc_set_text(a, &c, "type", STR("Ready"));
    doc_set_text(a, &c, "status", STR("True"));
    doc_set_text(a, &c, "reason", STR("Prepared"));
    doc_set_text(a, &c, "message", STR("the simulated device is prepared"));
    doc_set_text(a, &c, "lastTransitionTime", since);
    return c;
}

static struct doc device_status(const struct doc *claim, const struct doc *result,
                                struct arena *a)
{
    static const char *const SAME[] = {"driver", "pool", "device", "shareID"};
    struct doc d = doc_make_map(), conditions = doc_make_list();
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        if (doc_get(result, SAME[i]))
            doc_set(a, &d, SAME[i], *doc_get(result, SAME[i]));
    doc_append(a, &conditions, ready_condition(claim, a));
    doc_set(a, &d, "conditions", conditions);
    return d;
}

/* A request for administrators may name a device that another has too. */
static bool is_repeated(const struct doc *results, uint32_t i)
{
    static const char *const KEY[] = {"driver", "pool", "device", "shareID"};
    for (uint32_t k = 0; k < i; k++) {
        size_t same = 0;
        for (size_t m = 0; m < sizeof KEY / sizeof *KEY; m++)
            same += str_eq(doc_get_text(&results->items[i], KEY[m]),
                           doc_get_text(&results->items[k], KEY[m]));
        if (same == sizeof KEY / sizeof *KEY)
            return true;
    }
    return false;
}

static struct doc driver_body(const struct doc *claim, struct str driver, struct arena *a)
{
    const struct doc *results = results_of(claim), *from = doc_get(claim, "metadata");
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list();
    for (uint32_t i = 0; i < results->n; i++)
        if (str_eq(doc_get_text(&results->items[i], "driver"), driver) &&
            !is_repeated(results, i))
            doc_append(a, &list, device_status(claim, &results->items[i], a));
    doc_set_text(a, &d, "apiVersion", STR("resource.k8s.io/v1"));
    doc_set_text(a, &d, "kind", STR("ResourceClaim"));
    doc_set_text(a, &meta, "name", doc_get_text(from, "name"));
    doc_set_text(a, &meta, "namespace", doc_get_text(from, "namespace"));
    doc_set_text(a, &meta, "uid", doc_get_text(from, "uid"));
    doc_set(a, &status, "devices", list);
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "status", status);
    return d;
}

static enum progress write_driver(struct work *w, const struct doc *claim,
                                  struct str driver)
{
    const struct doc *meta = doc_get(claim, "metadata");
    struct doc body = driver_body(claim, driver, w->a);
    const struct client_answer *answer;
    struct str path = client_path(&CLAIM, doc_get_text(meta, "namespace"),
                                  doc_get_text(meta, "name"), "status", w->a);
    path = arena_printf(w->a, "%.*s?fieldManager=%.*s&force=true", STR_ARG(path),
                        STR_ARG(driver));
    enum progress p =
        work_ask(w, "PATCH", "application/apply-patch+yaml", path, &body, &answer);
    if (p == PROGRESS_DONE && !answer->ok)
        return work_fail(w, "%s", answer->message);
    return p;
}

static bool is_first_of(const struct doc *results, uint32_t i)
{
    struct str driver = doc_get_text(&results->items[i], "driver");
    uint32_t k = 0;
    while (k < i && !str_eq(doc_get_text(&results->items[k], "driver"), driver))
        k++;
    return k == i;
}

/* A driver whose part is there already says nothing. */
static bool is_written(const struct doc *claim, struct str driver)
{
    const struct doc *list = doc_path(claim, "status.devices");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "driver"), driver))
            return true;
    return false;
}

static enum progress write_drivers(struct work *w, const struct doc *claim)
{
    const struct doc *results = results_of(claim);
    enum progress p = PROGRESS_DONE;
    for (uint32_t i = 0; results && i < results->n && p == PROGRESS_DONE; i++) {
        struct str driver = doc_get_text(&results->items[i], "driver");
        if (is_first_of(results, i) && !is_written(claim, driver))
            p = write_driver(w, claim, driver);
    }
    return p;
}

/* ---- what a kubelet looks at ---- */

static enum progress prepare_one(struct work *w, const struct object *pod,
                                 struct str name)
{
    const struct sim *s = w->ctx;
    const struct client_answer *answer;
    struct str path = client_path(&CLAIM, pod->namespace, name, NULL, w->a);
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &answer);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *claim = answer->ok ? work_answer_doc(w, answer) : NULL;
    if (!claim)
        return work_fail(w, "%s", answer->message);
    if (!doc_path(claim, "status.allocation"))
        return work_fail(w, "ResourceClaim %.*s is not allocated", STR_ARG(name));
    if (!is_reserved(claim, pod))
        return work_fail(w, "ResourceClaim %.*s is not reserved for Pod %.*s",
                         STR_ARG(name), STR_ARG(pod->key));
    return s->opts.silent_drivers ? PROGRESS_DONE : write_drivers(w, claim);
}

enum progress sim_prepare(struct work *w, const struct object *pod)
{
    const struct sim_pod_view *v = pod->view;
    enum progress p = PROGRESS_DONE;
    if (v->node_claims_missing)
        return work_fail(w, "Pod %.*s has a ResourceClaim that is not made yet",
                         STR_ARG(pod->key));
    for (uint32_t i = 0; i < v->nclaims && p == PROGRESS_DONE; i++)
        p = prepare_one(w, pod, v->claims[i]);
    return p;
}
