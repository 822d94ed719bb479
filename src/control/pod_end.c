/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pod_end.h"

#include <time.h>

#include "api/timestamp.h"

static const struct client_kind POD = {"", "v1", "pods", true};

struct kept {      /* in the work's arena */
    int64_t now_s; /* when it began, so that it always writes the same */
};

static struct str now_text(struct work *w)
{
    struct kept *k = w->kept;
    if (!k) {
        w->kept = k = ARENA_NEW(w->a, struct kept);
        k->now_s = time(NULL);
    }
    return timestamp_print(k->now_s, 0, false, w->a);
}

static const struct doc *find_condition(const struct doc *pod)
{
    const struct doc *list = doc_path(pod, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "DisruptionTarget"))
            return &list->items[i];
    return NULL;
}

static bool is_marked(const struct doc *pod, const struct pod_end *how)
{
    const struct doc *c = find_condition(pod);
    return c && doc_is_string(doc_get(c, "status"), "True") &&
           doc_is_string(doc_get(c, "reason"), how->reason) &&
           doc_is_string(doc_get(c, "message"), how->message);
}

static struct doc make_condition(struct work *w, const struct doc *pod,
                                 const struct pod_end *how)
{
    const struct doc *had = find_condition(pod),
                     *generation = doc_path(pod, "metadata.generation");
    struct doc c = doc_make_map();
    bool held = had && doc_is_string(doc_get(had, "status"), "True");
    doc_set_text(w->a, &c, "type", STR("DisruptionTarget"));
    doc_set_text(w->a, &c, "status", STR("True"));
    doc_set_text(w->a, &c, "reason", str_from(how->reason));
    doc_set_text(w->a, &c, "message", str_from(how->message));
    doc_set_text(w->a, &c, "lastTransitionTime",
                 held ? doc_get_text(had, "lastTransitionTime") : now_text(w));
    if (generation)
        doc_set(w->a, &c, "observedGeneration", *generation);
    return c;
}

static bool has_ended(const struct doc *pod)
{
    const struct doc *phase = doc_path(pod, "status.phase");
    return doc_is_string(phase, "Succeeded") || doc_is_string(phase, "Failed");
}

/* The status to be patched; empty: none. */
static struct doc make_status(struct work *w, const struct doc *pod,
                              const struct pod_end *how)
{
    const struct doc *generation = doc_path(pod, "metadata.generation");
    struct doc status = doc_make_map();
    bool fail = how->fail && !has_ended(pod);
    if (fail)
        doc_set_text(w->a, &status, "phase", STR("Failed"));
    if (fail && generation)
        doc_set(w->a, &status, "observedGeneration", *generation);
    if (how->reason && (fail || !how->fail) && !is_marked(pod, how)) {
        struct doc list = doc_make_list();
        doc_append(w->a, &list, make_condition(w, pod, how));
        doc_set(w->a, &status, "conditions", list);
    }
    return status;
}

static enum progress judge(struct work *w, enum progress p, const struct client_answer *a)
{
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

static enum progress mark(struct work *w, struct str path, struct str uid,
                          const struct doc *status)
{
    const struct client_answer *a = NULL;
    struct doc d = doc_make_map(), meta = doc_make_map();
    doc_set_text(w->a, &meta, "uid", uid);
    doc_set(w->a, &d, "metadata", meta);
    doc_set(w->a, &d, "status", *status);
    path = arena_printf(w->a, "%.*s/status", STR_ARG(path));
    enum progress p =
        work_ask(w, "PATCH", "application/strategic-merge-patch+json", path, &d, &a);
    return judge(w, p, a);
}

static enum progress delete (struct work *w, struct str path, struct str uid, bool now) {
    const struct client_answer *a = NULL;
    struct doc d = doc_make_map(), as = doc_make_map();
    doc_set_text(w->a, &as, "uid", uid);
    doc_set(w->a, &d, "preconditions", as);
    if (now) doc_set(w->a, &d, "gracePeriodSeconds", doc_make_int(w->a, 0));
    enum progress p = work_ask(w, "DELETE", NULL, path, &d, &a);
    return judge(w, p, a);
}

enum progress pod_end(struct work *w, struct str namespace, struct str name,
                      struct str uid, const struct pod_end *how)
{
    const struct client_answer *a;
    struct str path = client_path(&POD, namespace, name, NULL, w->a);
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *pod = a->ok ? work_answer_doc(w, a) : NULL;
    if (!pod && a->status != 404)
        return work_fail(w, "%s", a->message);
    if (!str_eq(doc_get_text(doc_get(pod, "metadata"), "uid"), uid))
        return PROGRESS_DONE;
    struct doc status = make_status(w, pod, how);
    if (status.n)
        p = mark(w, path, uid, &status);
    return p == PROGRESS_DONE ? delete (w, path, uid, how->now) : p;
}
