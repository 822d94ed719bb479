/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a group, as its condition PodGroupInitiallyScheduled: once True, it
 * stays so (spec 7.12). */
#include <time.h>

#include "api/timestamp.h"
#include "sched/inner.h"

#define CONDITION "PodGroupInitiallyScheduled"

static const struct doc *condition_of(const struct doc *group)
{
    const struct doc *list = doc_path(group, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), CONDITION))
            return &list->items[i];
    return NULL;
}

static const char *reason_of(enum sched_code code)
{
    return code == SCHED_SUCCESS ? "Scheduled"
           : code == SCHED_ERROR ? "SchedulerError"
                                 : "Unschedulable";
}

struct word {
    const struct object *group;
    const struct doc *old; /* condition, or NULL */
    const char *status, *reason;
    struct str message;
};

static bool is_said(const struct word *w)
{
    if (!w->old)
        return false;
    if (doc_is_string(doc_get(w->old, "status"), "True") &&
        !str_is(STR("True"), w->status))
        return true;
    return doc_is_string(doc_get(w->old, "status"), w->status) &&
           doc_is_string(doc_get(w->old, "reason"), w->reason) &&
           str_eq(doc_get_text(w->old, "message"), w->message);
}

static struct doc make_condition(const struct word *w, struct arena *a)
{
    struct doc d = doc_make_map();
    int64_t generation = 0;
    struct str since = doc_get_text(w->old, "lastTransitionTime");
    if (!since.n || !doc_is_string(doc_get(w->old, "status"), w->status))
        since = timestamp_print(time(NULL), 0, false, a);
    doc_get_int64(doc_get(w->group->doc, "metadata"), "generation", &generation);
    doc_set_text(a, &d, "type", STR(CONDITION));
    doc_set_text(a, &d, "status", str_from(w->status));
    doc_set_text(a, &d, "reason", str_from(w->reason));
    doc_set_text(a, &d, "message", w->message);
    doc_set_text(a, &d, "lastTransitionTime", since);
    if (generation)
        doc_set(a, &d, "observedGeneration", doc_make_int(a, generation));
    return d;
}

static struct doc make_patch(const struct word *w, struct arena *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), status = doc_make_map(),
               list = doc_make_list();
    doc_append(a, &list, make_condition(w, a));
    doc_set(a, &status, "conditions", list);
    doc_set_text(a, &meta, "uid", w->group->uid);
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "status", status);
    return d;
}

/* Nobody waits for it: the next attempt says it again if it is lost. */
static void on_written(void *ctx, const struct client_answer *answer)
{
    (void)ctx, (void)answer;
}

static void send(struct scheduler *s, const struct word *w, struct arena *a)
{
    struct strbuf json = STRBUF_INIT;
    struct doc d = make_patch(w, a);
    doc_write_json(&d, DOC_JSON_COMPACT, &json);
    struct client_request q = {.method = "PATCH",
                               .type = "application/strategic-merge-patch+json",
                               .path = client_path(&sched_group_kind, w->group->namespace,
                                                   w->group->name, "status", a),
                               .body = strbuf_str(&json)};
    client_start(s->client, &q, on_written, NULL);
    strbuf_release(&json);
}

void group_status_write(struct scheduler *s, const struct object *group,
                        enum sched_code code, struct str message)
{
    struct word w = {.group = group,
                     .old = condition_of(group->doc),
                     .status = code == SCHED_SUCCESS ? "True" : "False",
                     .reason = reason_of(code),
                     .message = message};
    struct arena a;
    if (is_said(&w))
        return;
    arena_init(&a);
    send(s, &w, &a);
    arena_fini(&a);
}
