/* SPDX-License-Identifier: Apache-2.0 */
/* Binding a pod to a node: what a scheduler writes instead of the pod. */
#include "server/admission/admission.h"
#include "server/rest/awaiting.h"
#include "server/rest/write.h"

struct binding {
    struct write w; /* first; of the pod */
    struct doc body;
};

static bool fail_plain(struct request *r, const char *text)
{
    return fail(r, 500, NULL, "%s", text);
}

static bool check_target(struct request *r, const struct doc *body)
{
    const struct doc *target = doc_get(body, "target");
    struct str kind = doc_get_text(target, "kind");
    if (kind.n && !str_is(kind, "Node"))
        return fail_plain(r, arena_printf(r->a,
                                          "target.kind: Unsupported value: \"%.*s\": "
                                          "supported values: \"Node\", \"<empty>\"",
                                          STR_ARG(kind))
                                 .p);
    return doc_get_text(target, "name").n > 0 ||
           fail_plain(r, "target.name: Required value");
}

static bool fail_bound(struct request *r, struct str name, struct str why)
{
    fail_object(r, 409, "Conflict", name,
                "Operation cannot be fulfilled on pods/binding \"%.*s\": %.*s",
                STR_ARG(name), STR_ARG(why));
    r->failure.kind = STR("pods/binding");
    return false;
}

static bool check_pod(struct binding *b, const struct doc *pod)
{
    struct request *r = b->w.r;
    struct str name = b->w.name;
    const struct doc *spec = doc_get(pod, "spec");
    struct str node = doc_get_text(spec, "nodeName");
    const struct doc *gates = doc_get(spec, "schedulingGates");
    if (meta_text(pod, "deletionTimestamp").n)
        return fail_bound(r, name,
                          arena_printf(r->a,
                                       "pod %.*s is being deleted, cannot be assigned "
                                       "to a host",
                                       STR_ARG(name)));
    if (node.n)
        return fail_bound(r, name,
                          arena_printf(r->a,
                                       "pod %.*s is already assigned to node \"%.*s\"",
                                       STR_ARG(name), STR_ARG(node)));
    if (gates && gates->type == DOC_LIST && gates->n)
        return fail_bound(r, name,
                          arena_printf(r->a,
                                       "pod %.*s has non-empty .spec.schedulingGates",
                                       STR_ARG(name)));
    return identity_same(&b->w, pod, &b->body);
}

/* Labels and annotations of the binding are the pod's too. */
static void copy_meta(struct request *r, const struct doc *body, struct doc *pod,
                      const char *key)
{
    const struct doc *from = doc_get(doc_get(body, "metadata"), key);
    const struct doc *have = doc_get(doc_get(pod, "metadata"), key);
    if (!from || from->type != DOC_MAP || from->n == 0)
        return;
    struct doc map = have && have->type == DOC_MAP ? doc_dup(r->a, have) : doc_make_map();
    for (uint32_t i = 0; i < from->n; i++)
        doc_set_str(r->a, &map, doc_key(&from->members[i]), from->members[i].value);
    doc_set(r->a, object_meta(pod), key, map);
}

static struct doc condition(struct request *r, const char *type, const char *reason,
                            const char *message, struct str since)
{
    struct doc c = doc_make_map();
    doc_set(r->a, &c, "lastProbeTime", doc_make_null());
    doc_set(r->a, &c, "lastTransitionTime", doc_make_string(r->a, since));
    if (message)
        doc_set(r->a, &c, "message", doc_make_string(r->a, str_from(message)));
    if (reason)
        doc_set(r->a, &c, "reason", doc_make_string(r->a, str_from(reason)));
    doc_set(r->a, &c, "status", doc_make_string(r->a, STR("True")));
    doc_set(r->a, &c, "type", doc_make_string(r->a, str_from(type)));
    return c;
}

/* Its status becomes "True". */
void pod_set_condition(struct request *r, struct doc *pod, const char *type,
                       const char *reason, const char *message)
{
    const struct doc *status = doc_get(pod, "status"), *old;
    struct doc copy =
        status && status->type == DOC_MAP ? doc_dup(r->a, status) : doc_make_map();
    struct doc conditions = doc_make_list();
    bool found = false;
    old = doc_get(&copy, "conditions");
    for (uint32_t i = 0; old && old->type == DOC_LIST && i < old->n; i++) {
        const struct doc *c = &old->items[i];
        if (!doc_is_string(doc_get(c, "type"), type)) {
            doc_append(r->a, &conditions, *c);
            continue;
        }
        bool stays = doc_is_string(doc_get(c, "status"), "True");
        struct str since = stays ? doc_get_text(c, "lastTransitionTime") : r->now;
        doc_append(r->a, &conditions, condition(r, type, reason, message, since));
        found = true;
    }
    if (!found)
        doc_append(r->a, &conditions, condition(r, type, reason, message, r->now));
    doc_set(r->a, &copy, "conditions", conditions);
    doc_set(r->a, pod, "status", copy);
}

/* Where it was to go is told no more once it is bound; its status is a copy by now. */
static void drop_nomination(struct doc *pod)
{
    for (uint32_t i = 0; i < pod->n; i++)
        if (str_is(doc_key(&pod->members[i]), "status"))
            doc_remove(&pod->members[i].value, STR("nominatedNodeName"));
}

static void bind(struct binding *b, struct doc *pod)
{
    struct request *r = b->w.r;
    struct doc spec = doc_dup(r->a, doc_get(pod, "spec"));
    doc_set(r->a, &spec, "nodeName",
            doc_make_string(r->a, doc_get_text(doc_get(&b->body, "target"), "name")));
    doc_set(r->a, pod, "spec", spec);
    copy_meta(r, &b->body, pod, "annotations");
    copy_meta(r, &b->body, pod, "labels");
    pod_set_condition(r, pod, "PodScheduled", NULL, NULL);
    drop_nomination(pod);
    b->w.object = *pod;
}

static void again(struct write *w)
{
    struct binding *b = (struct binding *)w;
    if (!write_load(w)) {
        fail_missing(w->r, w->name);
        write_fail(w);
        return;
    }
    struct doc pod = object_doc(w->old, w->r->a);
    if (!check_pod(b, &pod)) {
        write_fail(w);
        return;
    }
    bind(b, &pod);
    write_commit(w);
}

static void bound(struct write *w, bool ok)
{
    struct request *r = w->r;
    if (!ok) {
        request_answer_failure(r);
        return;
    }
    struct failure success = {.code = 201};
    struct doc d = failure_doc(r->a, &success);
    doc_set(r->a, &d, "code", doc_make_int(r->a, 201));
    r->accept.as = AS_OBJECT;
    request_answer(r, 201, &d);
}

/* A binding counts as one of the pod, whichever way it comes. */
static bool admit(struct binding *b, struct request *pod)
{
    struct admission a = {pod, ADMIT_CREATE, pod->route.name, &b->body, NULL};
    pod->res = kinds_find(pod->s, STR(""), STR("v1"), STR("pods/binding"));
    return admission_mutate(&a) && admission_validate(&a);
}

static void begin(void *ctx)
{
    struct binding *b = ctx;
    struct request *pod = b->w.r;
    if (!admit(b, pod) || !check_target(pod, &b->body)) {
        if (!awaiting_begin(pod, begin, b))
            request_answer_failure(pod);
        return;
    }
    pod->res = kinds_find(pod->s, STR(""), STR("v1"), STR("pods"));
    again(&b->w);
}

/* POST pods/NAME/binding, or bindings. */
void binding_create(struct request *r)
{
    struct binding *b = ARENA_NEW(r->a, struct binding);
    struct request *pod = ARENA_NEW(r->a, struct request);
    struct str given = r->route.name;
    r->res = kinds_find(r->s, STR(""), STR("v1"), STR("bindings"));
    bool ok = write_read_body(r, &b->body);
    struct str name = meta_text(&b->body, "name");
    if (ok && given.p && !str_eq(given, name))
        ok = fail_bad(r, "name in URL does not match name in Binding object");
    *pod = *r;
    pod->route.name = name;
    b->w = (struct write){.r = pod, .again = again, .then = bound};
    if (ok)
        begin(b);
    else
        request_answer_failure(pod);
}
