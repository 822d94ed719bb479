/* SPDX-License-Identifier: Apache-2.0 */
/* Modes podsecurity, limits and quota of dray-eval: plugins of admission. */
#include "api/limits.h"
#include "api/pod_security.h"
#include "api/quota.h"
#include "api/timestamp.h"
#include "peers/eval.h"

#include <stdlib.h>

/* ---- podsecurity ---- */

static void answer_podsecurity(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct pod_standard s;
    const struct doc *pod = doc_get(q, "object");
    pod_level_parse(doc_get_text(q, "level"), &s.level);
    pod_minor_parse(doc_get_text(q, "version"), &s.minor);
    struct str detail = pod_violations(s, pod, true, ev->arena),
               reasons = pod_violations(s, pod, false, ev->arena);
    eval_set_bool(ev, out, "allowed", !detail.p);
    eval_set_str(ev, out, "detail", detail.p ? detail : STR(""));
    eval_set_str(ev, out, "reasons", reasons.p ? reasons : STR(""));
}

const struct eval_mode eval_podsecurity = {.name = "podsecurity",
                                           .answer = answer_podsecurity};

/* ---- limits ---- */

static void add_resources(struct eval *ev, const struct doc *pod, const char *path,
                          struct doc *list)
{
    const struct doc *containers = doc_path(pod, path);
    for (uint32_t i = 0; containers && i < containers->n; i++) {
        const struct doc *r = doc_get(&containers->items[i], "resources");
        doc_append(ev->arena, list, r ? *r : doc_make_map());
    }
}

static void answer_limits(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct str resource = arena_str(ev->arena, doc_get_text(q, "resource"));
    const struct doc *range = doc_get(q, "range");
    struct doc object = doc_dup(ev->arena, doc_get(q, "object"));
    struct doc list = doc_make_list();
    bool pod = str_is(resource, "pods");
    if (pod)
        limits_default(range, &object, ev->arena);
    struct str problems = limits_check(range, resource.p, &object, ev->arena);
    eval_set_str(ev, out, "problems", problems.p ? problems : STR(""));
    if (!pod)
        return;
    add_resources(ev, &object, "spec.containers", &list);
    add_resources(ev, &object, "spec.initContainers", &list);
    eval_set(ev, out, "resources", list);
    struct str note = doc_get_text(doc_path(&object, "metadata.annotations"),
                                   "kubernetes.io/limit-ranger");
    eval_set_str(ev, out, "note", note.p ? note : STR(""));
}

const struct eval_mode eval_limits = {.name = "limits", .answer = answer_limits};

/* ---- quota ---- */

static struct quota_state *read_quotas(struct eval *ev, const struct doc *list)
{
    struct quota_state *all = ARENA_ARRAY(ev->arena, struct quota_state, list->n + 1);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *d = &list->items[i];
        all[i] = (struct quota_state){
            .name = doc_get_text(doc_get(d, "metadata"), "name"),
            .spec = doc_get(d, "spec"),
            .hard = amounts_read(ev->arena, doc_path(d, "status.hard")),
            .used = amounts_read(ev->arena, doc_path(d, "status.used")),
            .paid = {.a = ev->arena}};
    }
    return all;
}

static void answer_quota(struct eval *ev, const struct doc *q, struct doc *out)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *quotas = doc_get(q, "quotas"), *old = doc_get(q, "old");
    quotas = quotas ? quotas : &NONE;
    struct str sub = doc_get_text(q, "sub"), why = STR_NONE;
    int32_t nanos;
    struct quota_world w = {
        .a = ev->arena, .gates = &api_gates_default, .limited = doc_get(q, "limited")};
    struct quota_request r = {.w = &w,
                              .verb = old ? QUOTA_UPDATE : QUOTA_CREATE,
                              .group = "",
                              .resource =
                                  arena_str(ev->arena, doc_get_text(q, "resource")).p,
                              .sub = sub.p ? arena_str(ev->arena, sub).p : "",
                              .namespace = STR("ns"),
                              .object = doc_get(q, "object"),
                              .old = old};
    timestamp_parse(doc_get_text(q, "now"), &w.now, &nanos);
    struct quota_state *states = read_quotas(ev, quotas);
    enum quota_verdict v = quota_check(&r, states, quotas->n, &why);
    if (v != QUOTA_OK) {
        eval_set_str(ev, out, "error",
                     v == QUOTA_FAILED
                         ? why
                         : arena_printf(ev->arena, "%s \"name\" is forbidden: %.*s",
                                        r.resource, STR_ARG(why)));
        return;
    }
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < quotas->n; i++)
        doc_append(ev->arena, &list, amounts_doc(&states[i].used));
    eval_set(ev, out, "used", list);
}

const struct eval_mode eval_quota = {.name = "quota", .answer = answer_quota};
