/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod without a place says of itself: PodScheduled=False with the reason, and the
 * node that is being made free for it. */
#include <time.h>

#include "api/timestamp.h"
#include "sched/inner.h"

static const struct doc *scheduled_condition(const struct doc *pod)
{
    const struct doc *list = doc_path(pod, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "PodScheduled"))
            return &list->items[i];
    return NULL;
}

static bool says_so(const struct doc *condition, const struct attempt *a)
{
    return condition && doc_is_string(doc_get(condition, "status"), "False") &&
           doc_is_string(doc_get(condition, "reason"), a->reason) &&
           str_eq(doc_get_text(condition, "message"), a->message);
}

/* Its time changes with its status alone. */
static struct doc make_condition(struct attempt *a, const struct doc *old)
{
    struct doc d = doc_make_map();
    struct str since = doc_get_text(old, "lastTransitionTime");
    if (!since.n || !doc_is_string(doc_get(old, "status"), "False"))
        since = timestamp_print(time(NULL), 0, false, &a->a);
    doc_set_text(&a->a, &d, "type", STR("PodScheduled"));
    doc_set_text(&a->a, &d, "status", STR("False"));
    doc_set_text(&a->a, &d, "reason", str_from(a->reason));
    doc_set_text(&a->a, &d, "message", a->message);
    doc_set_text(&a->a, &d, "lastTransitionTime", since);
    return d;
}

static struct doc make_patch(struct attempt *a, const struct doc *old,
                             struct str nominated)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list();
    doc_append(&a->a, &list, make_condition(a, old));
    doc_set(&a->a, &status, "conditions", list);
    if (a->nominate.n)
        doc_set_text(&a->a, &status, "nominatedNodeName", a->nominate);
    else if (nominated.n)
        doc_set(&a->a, &status, "nominatedNodeName", doc_make_null());
    doc_set_text(&a->a, &meta, "uid", a->pod->uid);
    doc_set(&a->a, &d, "metadata", meta);
    doc_set(&a->a, &d, "status", status);
    return d;
}

/* Nobody waits for it: the next attempt says it again if it is lost. */
static void on_written(void *ctx, const struct client_answer *answer)
{
    (void)ctx, (void)answer;
}

void status_write(struct attempt *a)
{
    static const struct client_kind PODS = {"", "v1", "pods", true};
    const struct object *pod = a->queued->object;
    const struct doc *old = scheduled_condition(pod->doc);
    struct str nominated = pod_info_of(pod)->nominated;
    if (says_so(old, a) && str_eq(nominated, a->nominate))
        return;
    struct strbuf json = STRBUF_INIT;
    struct doc d = make_patch(a, old, nominated);
    doc_write_json(&d, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = "PATCH",
        .type = "application/strategic-merge-patch+json",
        .path = client_path(&PODS, pod->namespace, pod->name, "status", &a->a),
        .body = strbuf_str(&json)};
    client_start(a->sched->client, &q, on_written, NULL);
    strbuf_release(&json);
}
