/* SPDX-License-Identifier: Apache-2.0 */
/* AdmissionReview: what a webhook is sent, and what its answer means. */
#include "base/base64.h"
#include "base/quote.h"
#include "server/admission/admit.h"
#include "server/admission/policy.h"
#include "server/admission/webhook.h"
#include "server/admission/webhook_call.h"
#include "server/audit/audit.h"
#include "server/observe/measure.h"
#include "server/rest/awaiting.h"
#include "server/rest/write.h"

static const char *const VERSIONS[] = {
    [REVIEW_V1] = "admission.k8s.io/v1", [REVIEW_V1BETA1] = "admission.k8s.io/v1beta1"};

static struct str quoted(struct arena *a, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, s);
    struct str q = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return q;
}

/* ---- the question ---- */

static void set_object(struct admission *a, struct doc *request, const char *key,
                       bool there, const struct doc *d)
{
    if (there)
        doc_set(a->r->a, request, key, *d);
}

static struct doc request_doc(struct admission *a, const struct resource *as)
{
    struct doc d = review_request(a, as), object, old;
    bool has_object = review_object(a, as, &object), has_old = review_old(a, as, &old);
    set_object(a, &d, "object", has_object, &object);
    set_object(a, &d, "oldObject", has_old, &old);
    return d;
}

static struct str review_text(struct admission *a, const struct webhook *w,
                              const struct doc *request)
{
    struct arena *ar = a->r->a;
    struct doc d = doc_make_map();
    struct strbuf b = STRBUF_INIT;
    doc_set(ar, &d, "kind", doc_make_string(ar, STR("AdmissionReview")));
    doc_set(ar, &d, "apiVersion", doc_make_string(ar, str_from(VERSIONS[w->version])));
    doc_set(ar, &d, "request", *request);
    doc_write_json(&d, DOC_JSON_COMPACT, &b);
    struct str text = arena_str(ar, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* ---- the answer ---- */

static struct webhook_said failed(struct str why)
{
    return (struct webhook_said){.end = WEBHOOK_FAILED, .why = why};
}

static struct str invalid(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static struct str invalid(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return arena_printf(a, "received invalid webhook response: %.*s", STR_ARG(why));
}

/* "admission.k8s.io/v1, Kind=AdmissionReview" */
static struct str kind_text(struct arena *a, struct str version, struct str kind)
{
    bool core = str_find_byte(version, '/', 0) == SIZE_MAX;
    return arena_printf(a, "%s%.*s, Kind=%.*s", core ? "/" : "", STR_ARG(version),
                        STR_ARG(kind));
}

/* What v1 demands of an answer; empty: it is one. */
static struct str verify(struct arena *a, const struct webhook *w, const struct doc *d,
                         struct str uid, bool mutating)
{
    const struct doc *response = doc_get(d, "response");
    struct str version = doc_get_text(d, "apiVersion"), kind = doc_get_text(d, "kind"),
               type = doc_get_text(response, "patchType");
    bool patch = doc_get_text(response, "patch").n > 0;
    if (!response || response->type != DOC_MAP)
        return invalid(a, "webhook response was absent");
    if (w->version != REVIEW_V1)
        return STR("");
    if (!str_eq(doc_get_text(response, "uid"), uid))
        return invalid(a, "expected response.uid=%.*s, got %.*s", STR_ARG(quoted(a, uid)),
                       STR_ARG(quoted(a, doc_get_text(response, "uid"))));
    if (!str_is(version, VERSIONS[REVIEW_V1]) || !str_is(kind, "AdmissionReview"))
        return invalid(a,
                       "expected webhook response of %s, Kind=AdmissionReview, got %.*s",
                       VERSIONS[REVIEW_V1], STR_ARG(kind_text(a, version, kind)));
    if (!mutating && patch)
        return invalid(a, "validating webhook may not return response.patch");
    if (!mutating && type.p)
        return invalid(a, "validating webhook may not return response.patchType");
    if (patch && !type.p)
        return invalid(a, "webhook returned response.patch but not response.patchType");
    if (!patch && type.p)
        return invalid(a, "webhook returned response.patchType but not response.patch");
    if (type.p && !type.n)
        return invalid(a, "webhook returned invalid response.patchType of \"\"");
    return STR("");
}

/* Its Status, made one of a refusal. */
static void refuse(struct request *r, const struct webhook *w, const struct doc *status)
{
    const struct doc *details = doc_get(status, "details"),
                     *causes = doc_get(details, "causes");
    struct str message = doc_get_text(status, "message"),
               reason = doc_get_text(status, "reason");
    struct str name = quoted(r->a, w->name);
    int64_t code = 0, seconds = 0;
    doc_get_int64(status, "code", &code);
    struct str said = message.n ? message : reason;
    fail(r, code < 400 || code > 999 ? 400 : (unsigned)code,
         reason.n ? arena_str(r->a, reason).p : NULL,
         "admission webhook %.*s denied the request%s%.*s", STR_ARG(name),
         said.n ? ": " : " without explanation", STR_ARG(said));
    struct failure *f = &r->failure;
    if (!details || details->type != DOC_MAP)
        return;
    f->has_details = true;
    f->name = doc_get_text(details, "name");
    f->group = doc_get_text(details, "group");
    f->kind = doc_get_text(details, "kind");
    f->uid = doc_get_text(details, "uid");
    if (causes && causes->type == DOC_LIST)
        f->causes = *causes;
    if (doc_get_int64(details, "retryAfterSeconds", &seconds) && seconds > 0)
        f->retry_seconds = (unsigned)seconds;
}

static void pass_on(struct request *r, const struct webhook *w, const struct doc *said)
{
    const struct doc *warnings = doc_get(said, "warnings"),
                     *notes = doc_get(said, "auditAnnotations");
    for (uint32_t i = 0; warnings && warnings->type == DOC_LIST && i < warnings->n; i++)
        if (warnings->items[i].type == DOC_STRING)
            request_warn(r, doc_str(&warnings->items[i]));
    for (uint32_t i = 0; notes && notes->type == DOC_MAP && i < notes->n; i++)
        if (notes->members[i].value.type == DOC_STRING)
            audit_annotate(r,
                           arena_printf(r->a, "%.*s/%.*s", STR_ARG(w->name),
                                        STR_ARG(doc_key(&notes->members[i]))),
                           doc_str(&notes->members[i].value));
}

static struct webhook_said read_patch(struct request *r, const struct webhook *w,
                                      const struct doc *response)
{
    struct webhook_said out = {.end = WEBHOOK_ALLOWED};
    struct str text, type = doc_get_text(response, "patchType");
    struct err e = ERR_INIT;
    if (!doc_get_text(response, "patch").n)
        return out;
    struct doc_source src = {.name = "patch"};
    bool ok = base64_decode(doc_get_text(response, "patch"), r->a, &text);
    src.text = ok ? text : STR("");
    if (!ok || !doc_read_json(&src, r->a, &out.patch, &e) || out.patch.type != DOC_LIST) {
        out = failed(arena_printf(r->a,
                                  "received undecodable patch in webhook response: %s",
                                  e.msg ? e.msg : "not a list of operations"));
        err_release(&e);
        return out;
    }
    if (w->version == REVIEW_V1 && !str_is(type, "JSONPatch")) {
        out = failed(arena_printf(r->a, "unsupported patch type %.*s",
                                  STR_ARG(quoted(r->a, type))));
        out.code = 400;
        return out;
    }
    out.patched = out.patch.n > 0;
    return out;
}

static struct webhook_said understand(struct admission *a, const struct webhook *w,
                                      const struct webhook_answer *said, bool mutating)
{
    struct request *r = a->r;
    struct doc_source src = {.name = "response", .text = said->said.body};
    struct doc d;
    struct err e = ERR_INIT;
    bool allowed = false;
    struct str status = hook_status_text(&said->said, r->a);
    if (status.n)
        return failed(
            arena_printf(r->a, "failed to call webhook: %.*s", STR_ARG(status)));
    if (!doc_read_json(&src, r->a, &d, &e)) {
        struct str why =
            arena_printf(r->a,
                         "failed to call webhook: couldn't get version/kind; json parse "
                         "error: %s",
                         err_text(&e));
        err_release(&e);
        return failed(why);
    }
    struct str wrong = verify(r->a, w, &d, said->uid, mutating);
    if (wrong.n)
        return failed(wrong);
    const struct doc *response = doc_get(&d, "response");
    pass_on(r, w, response);
    doc_get_bool(response, "allowed", &allowed);
    if (!allowed) {
        refuse(r, w, doc_get(response, "status"));
        return (struct webhook_said){.end = WEBHOOK_REFUSED};
    }
    return mutating ? read_patch(r, w, response)
                    : (struct webhook_said){.end = WEBHOOK_ALLOWED};
}

/* ---- a call ---- */

/* An answer that is none is as good as a service that is not there. */
static unsigned code_of(const struct admission *a, const struct webhook_said *said)
{
    const struct hook_answer *answer = &said->answer->said;
    bool bad = !answer->fail.n && (answer->status < 200 || answer->status > 299);
    if (said->end == WEBHOOK_REFUSED)
        return a->r->failure.code;
    if (said->code)
        return said->code;
    return said->end == WEBHOOK_ALLOWED ? 200 : bad ? answer->status : 503;
}

void webhook_count(struct admission *a, const struct webhook *w,
                   const struct webhook_said *said, bool mutating, bool broken)
{
    bool failed = said->end == WEBHOOK_FAILED;
    if (!said->answer || said->answer->counted)
        return;
    const struct measured_webhook m = {
        .name = w->name,
        .mutating = mutating,
        .failed = failed,
        .ignored = failed && w->ignore,
        .broken = broken,
        .refused = broken || said->end != WEBHOOK_ALLOWED,
        .code = broken ? 0 : code_of(a, said),
        .seconds = said->answer->seconds,
    };
    measure_webhook(a, &m);
    said->answer->counted = true;
}

static struct webhook_said answered(struct admission *a, const struct webhook *w,
                                    struct webhook_answer *answer, bool mutating)
{
    struct webhook_said said =
        answer->said.fail.n ? failed(arena_printf(a->r->a, "failed to call webhook: %.*s",
                                                  STR_ARG(answer->said.fail)))
                            : understand(a, w, answer, mutating);
    said.answer = answer;
    return said;
}

static struct webhook_said waits(struct request *r, bool ok)
{
    if (ok)
        r->failure.waits = true;
    return (struct webhook_said){.end = WEBHOOK_WAITS};
}

static struct webhook_said refuse_dry_run(struct request *r, const struct webhook *w)
{
    fail_bad(r, "admission webhook %.*s does not support dry run",
             STR_ARG(quoted(r->a, w->name)));
    return (struct webhook_said){.end = WEBHOOK_REFUSED};
}

struct webhook_said webhook_call(struct admission *a, struct webhook *w,
                                 const struct resource *as, unsigned round, bool mutating)
{
    struct request *r = a->r;
    if (r->dry_run && !w->dry_run)
        return refuse_dry_run(r, w);
    if (w->version == REVIEW_NONE)
        return failed(STR("could not create admission objects: webhook does not accept "
                          "known AdmissionReview versions (v1, v1beta1)"));
    struct doc request = request_doc(a, as);
    struct str review = review_text(a, w, &request);
    struct webhook_answer *said = webhook_asked(r, w, review, round);
    if (said && said->there)
        return answered(a, w, said, mutating);
    if (said)
        return waits(r, webhook_is_open(said) || awaiting_fail(r));
    struct str uid = write_new_uid(r->a);
    doc_set(r->a, &request, "uid", doc_make_string(r->a, uid));
    return waits(r, webhook_ask(r, w, review, round, uid, review_text(a, w, &request)));
}

/* ---- whether at all ---- */

static bool is_met(struct admission *a, struct webhook *w, const struct resource *as,
                   bool mutating, bool *ok)
{
    struct policy_view view = {0};
    struct policy_asking asking;
    struct str why;
    if (!w->conditions.n)
        return true;
    hooks_ready_webhook(a->r->s, w);
    view.request = review_request(a, as);
    view.has_object = review_object(a, as, &view.object);
    view.has_old = review_old(a, as, &view.old);
    policy_asking_init(&asking, a);
    struct policy_subject s = policy_subject_of(&view, &asking, NULL, false);
    struct policy_eval *e = policy_eval_new(w->exprs, &s);
    enum conditions_answer answer =
        policy_conditions(e, &w->conditions, w->ignore, a->r->a, &why);
    if (answer == CONDITIONS_FAILED)
        *ok = admit_forbid(a, "%.*s", STR_ARG(why));
    else if (answer == CONDITIONS_UNMET)
        measure_exclusion(a, w->name, mutating);
    policy_eval_free(e);
    return answer == CONDITIONS_MET;
}

bool webhook_wanted(struct admission *a, struct webhook *w, bool mutating,
                    const struct resource **as, bool *ok)
{
    enum match_answer matches = match_ask(&w->match, a, as);
    *ok = matches == MATCH_NO || (matches == MATCH_YES && review_ready(a, *as));
    return matches == MATCH_YES && *ok && is_met(a, w, *as, mutating, ok);
}

bool webhook_fail(struct admission *a, const struct webhook *w, struct str why)
{
    return review_fail(a->r,
                       arena_printf(a->r->a, "failed calling webhook %.*s: %.*s",
                                    STR_ARG(quoted(a->r->a, w->name)), STR_ARG(why)));
}
