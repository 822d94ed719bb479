/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit/audit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/proto.h"
#include "api/timestamp.h"
#include "server/audit/audit_policy.h"
#include "server/observe/metrics.h"

struct audit {
    struct arena arena; /* of the policy */
    const struct audit_policy *policy;
    struct audit_file *file;
    uint64_t lost;
};

struct audit_event { /* of one request */
    struct audit_verdict verdict;
    struct user user;                /* who was authenticated */
    const struct user *impersonated; /* NULL: nobody else */
    struct attributes want;
    struct str received;
    struct str decision, why; /* empty: nobody was asked */
    struct doc notes;         /* of admission */
    bool failed;              /* nobody was authenticated */
    struct str answer;        /* where it is logged; STR_NONE: not known yet */
};

/* ---- life ---- */

static bool read_policy(struct audit *a, const char *path, struct err *e)
{
    struct str text;
    if (!dir_read_file(&a->arena, path, &text, e))
        return false;
    a->policy = audit_policy_read(text, &a->arena, e);
    return a->policy || err_wrap(e, "--audit-policy-file %s", path);
}

struct audit *audit_new(const struct audit_file_opts *log, const char *policy,
                        struct err *e)
{
    struct audit *a = mem_zalloc(sizeof *a);
    if (read_policy(a, policy, e)) {
        a->file = audit_file_new(log, e);
        if (a->file)
            return a;
        err_wrap(e, "--audit-log-path");
    }
    audit_free(a);
    return NULL;
}

void audit_free(struct audit *a)
{
    if (!a)
        return;
    audit_file_free(a->file);
    arena_fini(&a->arena);
    free(a);
}

uint64_t audit_lost(const struct audit *a)
{
    return a->lost;
}

/* ---- parts of an event ---- */

static struct str now_micro(struct arena *a)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return timestamp_print(t.tv_sec, (int32_t)t.tv_nsec, true, a);
}

static void set_text(struct arena *a, struct doc *d, const char *key, struct str s)
{
    if (s.n)
        doc_set(a, d, key, doc_make_string(a, s));
}

static struct doc source_ips(struct request *r)
{
    struct doc list = doc_make_list();
    struct str peer = r->x->peer;
    size_t colon = str_rfind_byte(peer, ':');
    struct str ip = colon == SIZE_MAX ? peer : str_sub(peer, 0, colon);
    if (str_starts(ip, STR("[")) && str_ends(ip, STR("]")))
        ip = str_sub(ip, 1, ip.n - 1);
    if (ip.n)
        doc_append(r->a, &list, doc_make_string(r->a, ip));
    return list;
}

/* What the body is, as a document; false: nothing that can be read. */
static bool read_body(struct request *r, struct str body, struct doc *out)
{
    struct doc_source src = {.name = "", .text = body};
    struct doc_list docs;
    if (body.n == 0)
        return false;
    if (api_proto_is(body))
        return api_proto_decode(body, r->a, out, NULL);
    if (body.p[0] == '{' || body.p[0] == '[')
        return doc_read_json(&src, r->a, out, NULL);
    if (!doc_read_yaml(&src, r->a, &docs, NULL) || docs.n != 1)
        return false;
    *out = docs.v[0];
    return out->type == DOC_MAP || out->type == DOC_LIST;
}

static void drop_managed(struct doc *d)
{
    struct doc *meta = d->type == DOC_MAP ? object_meta(d) : NULL;
    if (meta)
        doc_remove(meta, STR("managedFields"));
}

static void set_body(struct request *r, struct doc *event, const char *key,
                     const struct doc *body)
{
    struct doc d = doc_dup(r->a, body);
    const struct doc *items = doc_get(&d, "items");
    if (r->audit->verdict.omit_managed_fields) {
        drop_managed(&d);
        for (uint32_t i = 0; items && items->type == DOC_LIST && i < items->n; i++)
            drop_managed(&items->items[i]);
    }
    doc_set(r->a, event, key, d);
}

/* body: of the request, NULL for none; it knows what the path does not. */
static struct doc object_ref(struct request *r, const struct doc *body)
{
    const struct attributes *w = &r->audit->want;
    struct doc ref = doc_make_map();
    bool object = body && !str_is(w->verb, "patch") && body->type == DOC_MAP;
    set_text(r->a, &ref, "resource", w->resource);
    set_text(r->a, &ref, "namespace", w->namespace);
    set_text(r->a, &ref, "name",
             w->name.n || !object ? w->name : meta_text(body, "name"));
    set_text(r->a, &ref, "uid", object ? meta_text(body, "uid") : STR_NONE);
    set_text(r->a, &ref, "apiGroup", w->group);
    set_text(r->a, &ref, "apiVersion", w->version);
    set_text(r->a, &ref, "resourceVersion",
             object ? meta_text(body, "resourceVersion") : STR_NONE);
    set_text(r->a, &ref, "subresource", w->subresource);
    return ref;
}

/* Of a Status as the client got it, else the code alone. */
static struct doc response_status(struct request *r, unsigned status)
{
    struct doc d = doc_make_map();
    bool told = r->failure.code == status;
    if (told)
        d = failure_doc(r->a, &r->failure);
    doc_remove(&d, STR("kind"));
    doc_remove(&d, STR("apiVersion"));
    doc_set(r->a, &d, "metadata", doc_make_map());
    doc_set(r->a, &d, "code", doc_make_int(r->a, status));
    return d;
}

static struct doc annotations(struct request *r)
{
    struct doc d = doc_dup(r->a, &r->audit->notes);
    if (r->audit->decision.n) {
        set_text(r->a, &d, "authorization.k8s.io/decision", r->audit->decision);
        doc_set(r->a, &d, "authorization.k8s.io/reason",
                doc_make_string(r->a, r->audit->why));
    }
    return d;
}

static struct doc head(struct request *r, enum audit_stage stage)
{
    struct audit_event *v = r->audit;
    struct arena *a = r->a;
    struct doc d = doc_make_map();
    struct str uri = arena_printf(a, "%.*s%s%.*s", STR_ARG(r->x->path),
                                  r->x->query.n ? "?" : "", STR_ARG(r->x->query));
    set_text(a, &d, "kind", STR("Event"));
    set_text(a, &d, "apiVersion", STR("audit.k8s.io/v1"));
    set_text(a, &d, "level", str_from(audit_level_name(v->verdict.level)));
    set_text(a, &d, "auditID", r->audit_id);
    set_text(a, &d, "stage", str_from(audit_stage_name(stage)));
    set_text(a, &d, "requestURI", uri);
    set_text(a, &d, "verb", v->want.verb);
    doc_set(a, &d, "user", user_doc(&v->user, a));
    if (v->impersonated)
        doc_set(a, &d, "impersonatedUser", user_doc(v->impersonated, a));
    doc_set(a, &d, "sourceIPs", source_ips(r));
    set_text(a, &d, "userAgent", net_header_get(r->x, "user-agent"));
    return d;
}

/* ---- events ---- */

/* status 0: there is none yet. */
static void emit(struct request *r, enum audit_stage stage, unsigned status,
                 struct str response)
{
    struct audit_event *v = r->audit;
    struct doc d, body;
    if (v->verdict.omitted & stage)
        return;
    d = head(r, stage);
    bool has = stage != AUDIT_RECEIVED && read_body(r, r->x->body, &body);
    if (!v->want.path.p)
        doc_set(r->a, &d, "objectRef", object_ref(r, has ? &body : NULL));
    if (status)
        doc_set(r->a, &d, "responseStatus", response_status(r, status));
    if (has && v->verdict.level >= AUDIT_REQUEST)
        set_body(r, &d, "requestObject", &body);
    if (v->verdict.level == AUDIT_RESPONSE && read_body(r, response, &body))
        set_body(r, &d, "responseObject", &body);
    set_text(r->a, &d, "requestReceivedTimestamp", v->received);
    set_text(r->a, &d, "stageTimestamp", now_micro(r->a));
    struct doc notes = annotations(r);
    if (notes.n)
        doc_set(r->a, &d, "annotations", notes);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_COMPACT, &b);
    strbuf_addc(&b, '\n');
    if (!audit_file_write(r->s->audit->file, strbuf_str(&b)))
        r->s->audit->lost++;
    strbuf_release(&b);
}

void audit_begin(struct request *r, bool failed)
{
    struct audit *a = r->s->audit;
    if (!a)
        return;
    struct attributes want = authorize_attributes(r);
    struct audit_verdict verdict = audit_policy_judge(a->policy, r->user, &want);
    if (verdict.level == AUDIT_NONE)
        return;
    r->audit = ARENA_NEW(r->a, struct audit_event);
    *r->audit = (struct audit_event){.verdict = verdict,
                                     .notes = doc_make_map(),
                                     .user = *r->user,
                                     .want = want,
                                     .received = now_micro(r->a),
                                     .failed = failed};
    if (!failed)
        emit(r, AUDIT_RECEIVED, 0, STR_NONE);
}

void audit_impersonated(struct request *r)
{
    if (r->audit && !str_eq(r->audit->user.name, r->user->name))
        r->audit->impersonated = r->user;
}

void audit_decided(struct request *r, bool allowed)
{
    if (!r->audit)
        return;
    r->audit->decision = allowed ? STR("allow") : STR("forbid");
    authorize(r->s, r->user, &r->audit->want, r->a, &r->audit->why);
}

void audit_annotate(struct request *r, struct str key, struct str value)
{
    if (r->audit && !doc_get_str(&r->audit->notes, key))
        doc_set_str(r->a, &r->audit->notes, key, doc_make_string(r->a, value));
}

void audit_started(struct request *r, unsigned status)
{
    if (r->audit)
        emit(r, AUDIT_STARTED, status, STR_NONE);
}

/* It is kept before it is compressed. */
void audit_answer(struct request *r, const struct str *parts, uint32_t n)
{
    struct strbuf b = STRBUF_INIT;
    if (!r->audit || r->audit->verdict.level != AUDIT_RESPONSE)
        return;
    for (uint32_t i = 0; i < n; i++)
        strbuf_addstr(&b, parts[i]);
    r->audit->answer = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
}

void audit_ended(struct request *r, unsigned status, struct str body)
{
    struct audit_event *v = r->audit;
    if (v)
        emit(r, v->failed ? AUDIT_STARTED : AUDIT_COMPLETE, status,
             v->answer.p ? v->answer : body);
}
