/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MutatingAdmissionWebhook, one after another, and ValidatingAdmissionWebhook, all at
 * once.
 */
#include "server/admission/webhook.h"

#include "doc/patch.h"
#include "server/admission/admit.h"
#include "server/admission/reinvoke.h"
#include "server/audit/audit.h"

static bool is_exempt(const struct admission *a)
{
    return strcmp(a->r->res->main->group, "admissionregistration.k8s.io") == 0;
}

/* ---- one after another ---- */

struct mutating {
    struct admission *a;
    struct reinvocation *reinvocation;
    uint32_t index; /* of the webhook among all */
};

/* "mutation.webhook.admission.k8s.io/round_0_index_2" */
static struct str note_key(struct mutating *m, const char *what)
{
    return arena_printf(m->a->r->a, "%s.webhook.admission.k8s.io/round_%u_index_%u", what,
                        m->a->again ? 1U : 0U, m->index);
}

static void note(struct mutating *m, const char *what, const struct webhook *w,
                 const char *key, struct doc value)
{
    struct arena *a = m->a->r->a;
    struct doc d = doc_make_map();
    struct strbuf b = STRBUF_INIT;
    doc_set_text(a, &d, "configuration", w->configuration);
    doc_set_text(a, &d, "webhook", w->name);
    doc_set(a, &d, key, value);
    if (value.type == DOC_LIST)
        doc_set_text(a, &d, "patchType", STR("JSONPatch"));
    doc_write_json(&d, DOC_JSON_COMPACT, &b);
    audit_annotate(m->a->r, note_key(m, what), arena_str(a, strbuf_str(&b)));
    strbuf_release(&b);
}

static bool fail_patch(struct request *r, const struct patch_error *e)
{
    return review_fail(r, e->text);
}

/* false: the request failed. */
static bool apply(struct mutating *m, const struct webhook *w, const struct resource *as,
                  const struct webhook_said *said, bool *changed)
{
    struct request *r = m->a->r;
    struct doc before, after;
    struct patch_error e = {0};
    if (!review_object(m->a, as, &before) || !m->a->object)
        return review_fail(
            r, arena_printf(r->a,
                            "admission webhook \"%.*s\" attempted to modify the object, "
                            "which is not supported for this operation",
                            STR_ARG(w->name)));
    if (!patch_json_check(&said->patch, NULL, r->a, &e) ||
        !patch_json(&before, &said->patch, r->a, &after, &e))
        return fail_patch(r, &e);
    *changed = !doc_equal(&before, &after);
    after = doc_dup(r->a, &after);
    note(m, "patch", w, "patch", said->patch);
    return !*changed || review_take(m->a, as, false, &after);
}

static bool end_call(struct mutating *m, const struct webhook *w,
                     const struct resource *as, const struct webhook_said *said,
                     bool *changed)
{
    switch (said->end) {
    case WEBHOOK_ALLOWED:
        return !said->patched || apply(m, w, as, said, changed);
    case WEBHOOK_FAILED:
        if (!w->ignore)
            return webhook_fail(m->a, w, said->why);
        audit_annotate(m->a->r, note_key(m, "failed-open.mutation"), w->name);
        return true;
    default:
        return false;
    }
}

static bool call_mutating(struct mutating *m, struct webhook *w)
{
    const struct resource *as;
    bool ok, changed = false;
    if (!webhook_wanted(m->a, w, true, &as, &ok))
        return ok;
    if (!reinvoke_due(m->a, m->reinvocation, w->uid))
        return true;
    struct webhook_said said = webhook_call(m->a, w, as, m->a->again, true);
    ok = end_call(m, w, as, &said, &changed);
    if (said.end == WEBHOOK_WAITS)
        return false;
    webhook_count(m->a, w, &said, true, said.end == WEBHOOK_ALLOWED && !ok);
    note(m, "mutation", w, "mutated", doc_make_bool(changed));
    reinvoke_called(m->a, m->reinvocation, w->uid, changed, w->again);
    return ok;
}

bool admit_webhooks(struct admission *a)
{
    struct hook *h = hooks_of(a->r->s, HOOK_MUTATING_WEBHOOKS);
    if (!h || is_exempt(a))
        return true;
    if (!a->webhooks)
        a->webhooks = ARENA_NEW(a->r->a, struct reinvocation);
    struct mutating m = {.a = a, .reinvocation = a->webhooks};
    reinvoke_begin(a, a->webhooks);
    for (; h; h = h->next)
        for (uint32_t i = 0; i < h->nwebhooks; i++, m.index++)
            if (!call_mutating(&m, &h->webhooks[i]))
                return false;
    reinvoke_end(a, a->webhooks);
    return true;
}

/* ---- all at once ---- */

struct wanted {
    struct webhook *webhook;
    const struct resource *as;
};
struct validating {
    struct admission *a;
    VEC(struct wanted) all;
    bool waits;
    struct failure first; /* of those that refused */
};

/* false: the request failed before anybody was asked. */
static bool want(struct validating *v, struct webhook *w)
{
    struct wanted one = {.webhook = w};
    bool ok;
    if (webhook_wanted(v->a, w, false, &one.as, &ok))
        vec_push(&v->all, one);
    return ok;
}

static bool want_all(struct validating *v, struct hook *h)
{
    for (; h; h = h->next)
        for (uint32_t i = 0; i < h->nwebhooks; i++)
            if (!want(v, &h->webhooks[i]))
                return false;
    return true;
}

static void take_failure(struct validating *v)
{
    struct request *r = v->a->r;
    v->waits = v->waits || r->failure.waits;
    if (r->failure.code && !v->first.code)
        v->first = r->failure;
    r->failure = (struct failure){0};
}

static void call_one(struct validating *v, uint32_t index)
{
    struct request *r = v->a->r;
    struct webhook *w = v->all.v[index].webhook;
    struct webhook_said said = webhook_call(v->a, w, v->all.v[index].as, 0, false);
    if (said.end != WEBHOOK_WAITS)
        webhook_count(v->a, w, &said, false, false);
    if (said.end == WEBHOOK_FAILED && w->ignore)
        audit_annotate(r,
                       arena_printf(r->a,
                                    "failed-open.validating.webhook.admission.k8s.io/"
                                    "round_0_index_%u",
                                    index),
                       w->name);
    else if (said.end == WEBHOOK_FAILED)
        webhook_fail(v->a, w, said.why);
    take_failure(v);
}

bool check_webhooks(struct admission *a)
{
    struct hook *h = hooks_of(a->r->s, HOOK_VALIDATING_WEBHOOKS);
    struct validating v = {.a = a};
    if (!h || is_exempt(a))
        return true;
    bool ok = want_all(&v, h);
    for (uint32_t i = 0; ok && i < v.all.n; i++)
        call_one(&v, i);
    vec_release(&v.all);
    if (!ok || (!v.waits && !v.first.code))
        return ok;
    if (v.waits)
        a->r->failure.waits = true;
    else
        a->r->failure = v.first;
    return false;
}
