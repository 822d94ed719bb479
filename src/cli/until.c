/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/until.h"

struct waiting {
    until_fn *met;
    void *ctx;
    bool is_met, again; /* again: the watch has told that it cannot go on */
};

static bool on_event(void *ctx, struct str line)
{
    struct waiting *w = ctx;
    struct doc_source src = {.name = "event", .text = line};
    struct arena a = {0};
    struct doc event;
    w->again = !doc_read_json(&src, &a, &event, NULL) ||
               doc_is_string(doc_get(&event, "type"), "ERROR");
    if (!w->again && !doc_is_string(doc_get(&event, "type"), "BOOKMARK")) {
        bool gone = doc_is_string(doc_get(&event, "type"), "DELETED");
        w->is_met = w->met(w->ctx, gone ? NULL : doc_get(&event, "object"));
    }
    arena_fini(&a);
    return !w->again && !w->is_met;
}

/* All objects of this name from this version on: one at most. */
static struct str watch_path(struct session *s, const struct target *t,
                             struct str version)
{
    return arena_printf(
        s->a, "%.*s?watch=true&fieldSelector=metadata.name%%3D%.*s&resourceVersion=%.*s",
        STR_ARG(resource_path(t->resource, t->namespace, STR_NONE, NULL, s->a)),
        STR_ARG(t->name), STR_ARG(version));
}

/* Once over what there is; *version: of it. */
static bool look(struct session *s, const struct target *t, struct waiting *w,
                 struct str *version, struct err *e)
{
    const struct client_answer *a =
        session_get(s,
                    arena_printf(s->a, "%.*s?fieldSelector=metadata.name%%3D%.*s",
                                 STR_ARG(resource_path(t->resource, t->namespace,
                                                       STR_NONE, NULL, s->a)),
                                 STR_ARG(t->name)),
                    NULL);
    const struct doc *list = session_doc(s, a, e), *items = doc_get(list, "items");
    if (!list)
        return false;
    bool there = items && items->type == DOC_LIST && items->n;
    *version = doc_get_text(doc_get(list, "metadata"), "resourceVersion");
    w->is_met = w->met(w->ctx, there ? &items->items[0] : NULL);
    return true;
}

enum until_end until_wait(struct session *s, const struct target *t, until_fn *met,
                          void *ctx, uint64_t ms, struct err *e)
{
    struct waiting w = {.met = met, .ctx = ctx};
    uint64_t begun = net_now_ms(s->loop);
    for (;;) {
        struct str version;
        if (!look(s, t, &w, &version, e))
            return UNTIL_FAILED;
        uint64_t spent = net_now_ms(s->loop) - begun;
        if (w.is_met || spent >= ms)
            return w.is_met ? UNTIL_MET : UNTIL_LATE;
        struct client_request q = {.method = "GET", .path = watch_path(s, t, version)};
        enum session_end end =
            session_follow(s, &q, on_event, &w, ms == UINT64_MAX ? 0 : ms - spent, e);
        if (w.is_met || end == SESSION_LATE)
            return w.is_met ? UNTIL_MET : UNTIL_LATE;
        if (end == SESSION_REFUSED)
            return UNTIL_FAILED;
    }
}
