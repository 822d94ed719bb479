/* SPDX-License-Identifier: Apache-2.0 */
/* The three controllers of requests for certificates. */
#include <stdlib.h>
#include <time.h>

#include "base/base64.h"
#include "base/mem.h"
#include "control/csr.h"
#include "control/fields.h"
#include "net/pki_sign.h"

static const struct client_kind CSR = {"certificates.k8s.io", "v1",
                                       "certificatesigningrequests", false};

static const struct object *find(const struct work *w)
{
    return informer_get(reconciler_watched(reconciler_of(w), 0), w->key);
}

/* One that has changed meanwhile is looked at again. */
static enum progress put(struct work *w, const char *sub, const struct doc *d)
{
    const struct client_answer *a;
    struct str path = client_path(&CSR, STR_NONE, w->key, sub, w->a);
    enum progress p = work_ask(w, "PUT", NULL, path, d, &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED
                            : work_fail(w, "%.*s: %s", STR_ARG(w->key), a->message);
}

/* ---- approving ---- */

/* What who asks must be allowed, and what is said then. */
static const struct recognized {
    bool self; /* a node asks for its own name */
    const char *subresource, *message;
} RECOGNIZED[] = {
    {true, "selfnodeclient",
     "Auto approving self kubelet client certificate after SubjectAccessReview."},
    {false, "nodeclient",
     "Auto approving kubelet client certificate after SubjectAccessReview."},
};

static struct doc review(struct work *w, const struct doc *object,
                         const struct recognized *r)
{
    static const char *const COPIED[][2] = {{"user", "spec.username"},
                                            {"uid", "spec.uid"},
                                            {"groups", "spec.groups"},
                                            {"extra", "spec.extra"}};
    static const char *const WHAT[][2] = {{"group", "certificates.k8s.io"},
                                          {"resource", "certificatesigningrequests"},
                                          {"verb", "create"},
                                          {"version", "*"}};
    struct doc d = doc_make_map(), spec = doc_make_map(), what = doc_make_map();
    for (int i = 0; i < 4; i++) {
        const struct doc *from = doc_path(object, COPIED[i][1]);
        if (from)
            doc_set(w->a, &spec, COPIED[i][0], *from);
        doc_set_text(w->a, &what, WHAT[i][0], str_from(WHAT[i][1]));
    }
    doc_set_text(w->a, &what, "subresource", str_from(r->subresource));
    doc_set(w->a, &spec, "resourceAttributes", what);
    doc_set_text(w->a, &d, "apiVersion", STR("authorization.k8s.io/v1"));
    doc_set_text(w->a, &d, "kind", STR("SubjectAccessReview"));
    doc_set(w->a, &d, "spec", spec);
    return d;
}

static enum progress ask_allowed(struct work *w, const struct doc *object,
                                 const struct recognized *r, bool *allowed)
{
    const struct client_answer *a;
    struct doc d = review(w, object, r);
    enum progress p =
        work_ask(w, "POST", NULL,
                 STR("/apis/authorization.k8s.io/v1/subjectaccessreviews"), &d, &a);
    if (p == PROGRESS_DONE && !a->ok)
        return work_fail(w, "%.*s: %s", STR_ARG(w->key), a->message);
    *allowed = p == PROGRESS_DONE && field_bool(work_answer_doc(w, a), "status.allowed");
    return p;
}

/* Who may not have it now may later: that is tried again, and no error. */
static enum progress approve(struct work *w)
{
    const struct object *o = find(w);
    struct csr c = {0};
    if (o)
        c = csr_read(o->doc, w->a);
    if (!c.readable || c.issued || c.approved || c.denied ||
        !str_is(c.signer, CSR_KUBELET_CLIENT) || csr_fault(&c, w->a))
        return PROGRESS_DONE;
    for (int i = 0; i < 2; i++) {
        bool allowed = false,
             fits = !RECOGNIZED[i].self || str_eq(c.username, c.request.name);
        enum progress p =
            fits ? ask_allowed(w, o->doc, &RECOGNIZED[i], &allowed) : PROGRESS_DONE;
        if (p != PROGRESS_DONE)
            return p;
        if (!allowed)
            continue;
        struct doc d = csr_with_condition(o->doc, "Approved", "AutoApproved",
                                          RECOGNIZED[i].message, w->a);
        return put(w, "approval", &d);
    }
    return PROGRESS_FAILED;
}

/* ---- signing ---- */

enum { YEAR_S = 365 * 86400, LEAST_S = 600 };

/* What is asked for, within what there is. */
static int64_t seconds_of(const struct doc *object, const struct control_settings *s)
{
    int64_t most = s->signing_ms ? (int64_t)(s->signing_ms / 1000) : YEAR_S,
            asked = field_int(object, "spec.expirationSeconds", most);
    if (asked > most)
        return most;
    return asked < LEAST_S && asked != most ? LEAST_S : asked;
}

/* What is written once it is made: each certificate is another one. */
struct issued {
    struct arena arena;
    struct doc object;
};

static void free_issued(void *kept)
{
    struct issued *i = kept;
    arena_fini(&i->arena);
    free(i);
}

static void keep(struct work *w, const struct object *o, struct str cert)
{
    struct issued *i = mem_zalloc(sizeof *i);
    arena_init(&i->arena);
    i->object = doc_dup(&i->arena, o->doc);
    doc_set_text(&i->arena, field_make(&i->arena, &i->object, "status"), "certificate",
                 base64_encode(cert, &i->arena));
    w->kept = i;
    w->release = free_issued;
}

static enum progress issue(struct work *w, const struct object *o, const struct csr *c)
{
    const struct control_settings *s = reconciler_settings(reconciler_of(w));
    struct pki_terms terms = {c->usages, c->nusages, seconds_of(o->doc, s)};
    struct str cert = STR_NONE;
    struct err e = ERR_INIT;
    bool ok = pki_sign(&s->authority, c->pem, &terms, w->a, &cert, &e);
    if (ok)
        keep(w, o, cert);
    else
        work_fail(w, "%.*s: error auto signing csr: %s", STR_ARG(w->key), err_text(&e));
    err_release(&e);
    return ok ? put(w, "status", &((struct issued *)w->kept)->object) : PROGRESS_FAILED;
}

static enum progress refuse(struct work *w, const struct object *o, const char *why)
{
    struct doc d =
        csr_with_condition(o->doc, "Failed", "SignerValidationFailure", why, w->a);
    return put(w, "status", &d);
}

static enum progress sign(struct work *w)
{
    const struct control_settings *s = reconciler_settings(reconciler_of(w));
    const struct object *o = find(w);
    struct csr c = {0};
    if (w->kept)
        return put(w, "status", &((struct issued *)w->kept)->object);
    if (o && s->authority.key_pem.n)
        c = csr_read(o->doc, w->a);
    const char *fault = c.readable ? csr_fault(&c, w->a) : "";
    if (c.issued || c.failed || c.denied || !c.approved || (fault && !*fault))
        return PROGRESS_DONE;
    return fault ? refuse(w, o, fault) : issue(w, o, &c);
}

/* ---- cleaning ---- */

enum { HOUR_S = 3600, DAY_S = 86400 };

static bool is_older(const struct doc *d, const char *field, int64_t seconds)
{
    int64_t t;
    return field_time(d, field, &t) && time(NULL) - t > seconds;
}

static bool is_expired(const struct doc *object, struct arena *a)
{
    struct str pem;
    int64_t until;
    struct err e = ERR_INIT;
    bool known = base64_decode(field_text(object, "status.certificate"), a, &pem) &&
                 pki_expiry(pem, &until, &e);
    err_release(&e);
    return known && time(NULL) > until;
}

/* An hour after it was decided, a day after nothing has come of it. */
static bool is_over(const struct doc *condition, bool issued)
{
    struct str type = doc_get_text(condition, "type");
    if (str_is(type, "Denied") || str_is(type, "Failed"))
        return is_older(condition, "lastUpdateTime", HOUR_S);
    return str_is(type, "Approved") &&
           is_older(condition, "lastUpdateTime", issued ? HOUR_S : DAY_S);
}

static bool is_old(const struct doc *object, struct arena *a)
{
    const struct doc *list = field_list(object, "status.conditions");
    bool issued = field_text(object, "status.certificate").n > 0;
    if (list->n == 0)
        return is_older(object, "metadata.creationTimestamp", DAY_S);
    for (uint32_t i = 0; i < list->n; i++)
        if (is_over(&list->items[i], issued))
            return true;
    return issued && csr_read(object, a).approved && is_expired(object, a);
}

static enum progress clean(struct work *w)
{
    const struct object *o = find(w);
    const struct client_answer *a;
    if (!o || !is_old(o->doc, w->a))
        return PROGRESS_DONE;
    enum progress p = work_ask(w, "DELETE", NULL,
                               client_path(&CSR, STR_NONE, w->key, NULL, w->a), NULL, &a);
    if (p == PROGRESS_DONE && !a->ok && a->status != 404)
        return work_fail(w, "%.*s: %s", STR_ARG(w->key), a->message);
    return p;
}

#define WATCHES                                                                          \
    {                                                                                    \
        {                                                                                \
            .kind = { "certificates.k8s.io", "v1", "certificatesigningrequests", false } \
        }                                                                                \
    }

const struct reconciler_def csr_approving = {
    .work = approve, .workers = 5, .watches = WATCHES};
const struct reconciler_def csr_signing = {
    .work = sign, .workers = 5, .watches = WATCHES};
const struct reconciler_def csr_cleaning = {
    .work = clean, .all_ms = 3600000, .watches = WATCHES};
