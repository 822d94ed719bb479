/* SPDX-License-Identifier: Apache-2.0 */
/* New tokens of service accounts: POST serviceaccounts/NAME/token. */
#include <time.h>

#include "api/canonical.h"
#include "api/timestamp.h"
#include "server/access/auth.h"
#include "server/access/reviews.h"
#include "server/admission/admission.h"
#include "server/rest/awaiting.h"
#include "server/rest/write.h"

enum {
    MIN_SECONDS = 600,
    /* What pods ask for as long as their programs may not read a token again: it lives a
     * year, and is warned of after the time that was asked for. */
    EXTENDED_ASKS = 3607,
    EXTENDED_SECONDS = 365 * 24 * 3600,
};

struct token_request {
    struct request *r;
    struct doc d;
    struct str name; /* of the account */
    struct str uid;
    struct token_claims claims;
};

/* ---- reading ---- */

static bool read_body(struct token_request *t)
{
    return write_read_as(t->r, "authentication.k8s.io", "v1", "TokenRequest", &t->d);
}

static bool fail_field(struct token_request *t, struct str name, const char *reason,
                       const char *path, struct str text)
{
    struct request *r = t->r;
    fail(r, 422, "Invalid",
         "TokenRequest.authentication.k8s.io \"%.*s\" is invalid: %s: "
         "%.*s",
         STR_ARG(name), path, STR_ARG(text));
    fail_cause(r, reason, text, str_from(path));
    r->failure.name = name;
    r->failure.group = STR("authentication.k8s.io");
    r->failure.kind = STR("TokenRequest");
    return false;
}

static bool fail_mismatch(struct token_request *t, const char *member)
{
    struct str value = meta_text(&t->d, member);
    const char *path = arena_printf(t->r->a, "metadata.%s", member).p;
    return fail_field(t, t->name, "FieldValueInvalid", path,
                      arena_printf(t->r->a,
                                   "Invalid value: \"%.*s\": must match the service "
                                   "account %s if specified",
                                   STR_ARG(value), member));
}

static bool names_account(struct token_request *t)
{
    struct str name = meta_text(&t->d, "name"), ns = meta_text(&t->d, "namespace");
    if (name.n && !str_eq(name, t->name))
        return fail_mismatch(t, "name");
    return !ns.n || str_eq(ns, t->r->route.namespace) || fail_mismatch(t, "namespace");
}

/* 409 as upstream has it: the kind in the place of the resource. */
static bool fail_uid(struct token_request *t, struct str kind, struct str group,
                     struct str name, struct str why)
{
    struct request *r = t->r;
    fail(r, 409, "Conflict", "Operation cannot be fulfilled on %.*s \"%.*s\": %.*s",
         STR_ARG(qualified(r->a, kind, group)), STR_ARG(name), STR_ARG(why));
    r->failure.has_details = true;
    r->failure.name = name;
    r->failure.group = group;
    r->failure.kind = kind;
    return false;
}

static bool fail_not_found(struct request *r, const char *resource, struct str name)
{
    fail(r, 404, "NotFound", "%s \"%.*s\" not found", resource, STR_ARG(name));
    r->failure.has_details = true;
    r->failure.name = name;
    r->failure.kind = str_from(resource);
    return false;
}

static bool find(struct request *r, const char *resource, struct str namespace,
                 struct str name, struct doc *out)
{
    const struct resource *res = kinds_stored(r->s, "", resource);
    struct cache_object *o =
        cache_get(r->s->cache, object_key(res, namespace, name, r->a));
    if (o)
        *out = object_doc(o, r->a);
    return o != NULL;
}

static bool find_account(struct token_request *t)
{
    struct doc account;
    struct str given = meta_text(&t->d, "uid");
    if (!find(t->r, "serviceaccounts", t->r->route.namespace, t->name, &account))
        return fail_not_found(t->r, "serviceaccounts", t->name);
    t->uid = meta_text(&account, "uid");
    if (!given.n || str_eq(given, t->uid))
        return true;
    return fail_uid(t, STR("TokenRequest"), STR("authentication.k8s.io"), t->name,
                    arena_printf(t->r->a,
                                 "the UID in the token request (%.*s) does not match the "
                                 "UID of the service account (%.*s)",
                                 STR_ARG(given), STR_ARG(t->uid)));
}

/* ---- completing ---- */

static struct doc *spec_of(struct token_request *t)
{
    const struct doc *spec = doc_get(&t->d, "spec");
    if (!spec || spec->type != DOC_MAP)
        return doc_set(t->r->a, &t->d, "spec", doc_make_map());
    return (struct doc *)spec;
}

static void set_meta(struct token_request *t, const char *key, struct str value)
{
    doc_set(t->r->a, object_meta(&t->d), key, doc_make_string(t->r->a, value));
}

static void complete(struct token_request *t)
{
    struct arena *a = t->r->a;
    const struct names *mine = tokens_audiences(t->r->s->auth->tokens);
    t->claims.audiences = names_read(doc_get(spec_of(t), "audiences"), a);
    if (t->claims.audiences.n == 0) {
        struct doc list = doc_make_list();
        for (uint32_t i = 0; i < mine->n; i++)
            doc_append(a, &list, doc_make_string(a, mine->v[i]));
        doc_set(a, spec_of(t), "audiences", list);
        t->claims.audiences = *mine;
    }
    set_meta(t, "name", t->name);
    set_meta(t, "namespace", t->r->route.namespace);
    set_meta(t, "uid", t->uid);
    set_meta(t, "creationTimestamp", t->r->now);
    doc_remove(&t->d, STR("status"));
}

static bool validate(struct token_request *t)
{
    int64_t seconds = 0;
    const char *path = "spec.expirationSeconds", *why = NULL;
    doc_get_int64(spec_of(t), "expirationSeconds", &seconds);
    if (seconds < MIN_SECONDS)
        why = "may not specify a duration less than 10 minutes";
    else if (seconds > INT64_C(1) << 32)
        why = "may not specify a duration larger than 2^32 seconds";
    t->claims.seconds = seconds;
    return !why || fail_field(t, STR(""), "FieldValueInvalid", path,
                              arena_printf(t->r->a, "Invalid value: %lld: %s",
                                           (long long)seconds, why));
}

/* ---- what it is bound to ---- */

static struct token_object object_of(const struct doc *d)
{
    return (struct token_object){meta_text(d, "name"), meta_text(d, "uid")};
}

static bool bind_pod(struct token_request *t, struct str name)
{
    struct request *r = t->r;
    struct doc pod, node;
    if (!find(r, "pods", r->route.namespace, name, &pod))
        return fail_not_found(r, "pods", name);
    const struct doc *spec = doc_get(&pod, "spec");
    if (!str_eq(doc_get_text(spec, "serviceAccountName"), t->name))
        return fail_bad(r,
                        "cannot bind token for serviceaccount \"%.*s\" to pod running "
                        "with different serviceaccount name.",
                        STR_ARG(t->name));
    struct str host = doc_get_text(spec, "nodeName");
    t->claims.pod = object_of(&pod);
    if (host.n)
        t->claims.node = find(r, "nodes", STR(""), host, &node)
                             ? object_of(&node)
                             : (struct token_object){host, STR("")};
    return true;
}

static bool bind_secret(struct token_request *t, struct str name)
{
    struct doc secret;
    if (!find(t->r, "secrets", t->r->route.namespace, name, &secret))
        return fail_not_found(t->r, "secrets", name);
    t->claims.secret = object_of(&secret);
    return true;
}

static bool bind_node(struct token_request *t, struct str name)
{
    struct doc node;
    if (!find(t->r, "nodes", STR(""), name, &node))
        return fail_not_found(t->r, "nodes", name);
    t->claims.node = object_of(&node);
    return true;
}

static const struct binding_kind {
    const char *kind;
    bool (*bind)(struct token_request *t, struct str name);
    size_t at; /* of what is bound, in the claims */
} KINDS[] = {
    {"Pod", bind_pod, offsetof(struct token_claims, pod)},
    {"Secret", bind_secret, offsetof(struct token_claims, secret)},
    {"Node", bind_node, offsetof(struct token_claims, node)},
};

static bool fail_type(struct token_request *t, struct str version, struct str kind)
{
    bool core = str_find_byte(version, '/', 0) == SIZE_MAX;
    bool webhook = str_is(version, "admissionregistration.k8s.io/v1") &&
                   (str_is(kind, "ValidatingWebhookConfiguration") ||
                    str_is(kind, "MutatingWebhookConfiguration"));
    return fail_bad(t->r, "cannot bind token to object of type %s%.*s, Kind=%.*s%s",
                    core ? "/" : "", STR_ARG(version), STR_ARG(kind),
                    webhook ? " (feature gate APIServerWebhookAuthenticationToken is "
                              "disabled)"
                            : "");
}

static bool bind(struct token_request *t)
{
    const struct doc *ref = doc_get(spec_of(t), "boundObjectRef");
    if (!ref || ref->type != DOC_MAP)
        return true;
    struct str kind = doc_get_text(ref, "kind"), name = doc_get_text(ref, "name");
    struct str version = doc_get_text(ref, "apiVersion"), uid = doc_get_text(ref, "uid");
    bool core = str_find_byte(version, '/', 0) == SIZE_MAX;
    for (size_t i = 0; core && i < sizeof KINDS / sizeof *KINDS; i++) {
        if (!str_is(kind, KINDS[i].kind))
            continue;
        if (!KINDS[i].bind(t, name))
            return false;
        struct token_object *o =
            (struct token_object *)((char *)&t->claims + KINDS[i].at);
        return !uid.n || str_eq(uid, o->uid) ||
               fail_uid(t, kind, STR(""), name,
                        arena_printf(t->r->a,
                                     "the UID in the bound object reference (%.*s) does "
                                     "not match the UID in record. The object might have "
                                     "been deleted and then recreated",
                                     STR_ARG(uid)));
    }
    return fail_type(t, version, kind);
}

/* ---- answering ---- */

/* Are all of them the server's own? */
static bool for_server(struct token_request *t)
{
    const struct names *mine = tokens_audiences(t->r->s->auth->tokens);
    for (uint32_t i = 0; i < t->claims.audiences.n; i++)
        if (!names_have(mine, t->claims.audiences.v[i]))
            return false;
    return true;
}

static void shorten(struct token_request *t)
{
    struct request *r = t->r;
    int64_t most = (int64_t)(r->s->opts.max_token_ms / 1000), asked = t->claims.seconds;
    if (!most || asked <= most)
        return;
    request_warn(r, arena_printf(r->a,
                                 "requested expiration of %lld seconds shortened to %lld "
                                 "seconds",
                                 (long long)asked, (long long)most));
    t->claims.seconds = most;
    doc_set(r->a, spec_of(t), "expirationSeconds", doc_make_int(r->a, most));
}

static bool issue(struct token_request *t)
{
    struct request *r = t->r;
    struct str token;
    struct err e = ERR_INIT;
    shorten(t);
    int64_t until = t->claims.now + t->claims.seconds;
    if (r->s->opts.extend_tokens && t->claims.pod.name.n &&
        t->claims.seconds == EXTENDED_ASKS && for_server(t)) {
        t->claims.warn_after = t->claims.seconds;
        t->claims.seconds = EXTENDED_SECONDS;
    }
    if (!tokens_issue(r->s->auth->tokens, &t->claims, r->a, &token, &e)) {
        fail(r, 500, "InternalError",
             "Internal error occurred: failed to generate token: %s", err_text(&e));
        err_release(&e);
        return false;
    }
    struct doc status = doc_make_map();
    doc_set(r->a, &status, "token", doc_make_string(r->a, token));
    doc_set(r->a, &status, "expirationTimestamp",
            doc_make_string(r->a, timestamp_print(until, 0, false, r->a)));
    doc_set(r->a, &t->d, "status", status);
    return true;
}

static void track(struct token_request *t)
{
    struct doc entries = write_track(t->r, NULL, &t->d);
    if (!object_meta(&t->d))
        doc_set(t->r->a, &t->d, "metadata", doc_make_map());
    if (entries.n)
        doc_set(t->r->a, object_meta(&t->d), "managedFields", entries);
}

static bool serve(struct token_request *t)
{
    struct request *r = t->r;
    struct admission admission = {r, ADMIT_CREATE, t->name, &t->d, NULL};
    if (!read_body(t))
        return false;
    track(t);
    if (!admission_mutate(&admission) || !names_account(t) || !find_account(t))
        return false;
    complete(t);
    if (!validate(t) || !admission_validate(&admission) || !bind(t))
        return false;
    t->claims.account = (struct token_object){t->name, t->uid};
    t->claims.namespace = r->route.namespace;
    t->claims.now = time(NULL);
    return issue(t);
}

static void create(void *ctx)
{
    struct request *r = ctx;
    struct token_request t = {.r = r, .name = r->route.name};
    if (!serve(&t)) {
        if (!awaiting_begin(r, create, r))
            request_answer_failure(r);
        return;
    }
    api_canonical(r->res->kind->type, &t.d, r->a);
    request_answer(r, 201, &t.d);
}

void token_request_create(struct request *r)
{
    create(r);
}
