/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews of who somebody is: TokenReview, SelfSubjectReview. */
#include "api/canonical.h"
#include "server/access/auth.h"
#include "server/access/reviews.h"
#include "server/rest/write.h"

static void answer(struct request *r, struct doc *d)
{
    api_canonical(r->res->main->type, d, r->a);
    request_answer(r, 201, d);
}

static struct doc token_status(struct request *r, struct str token,
                               const struct names *audiences)
{
    struct doc status = doc_make_map();
    struct user u;
    struct names meant;
    struct str why;
    if (tokens_check(r->s, token, audiences, r->a, &u, &meant, &why)) {
        user_add_group(&u, STR("system:authenticated"), r->a);
        doc_set(r->a, &status, "authenticated", doc_make_bool(true));
        doc_set(r->a, &status, "user", user_doc(&u, r->a));
        doc_set(r->a, &status, "audiences", names_doc(meant, r->a));
        return status;
    }
    struct str text = STR("invalid bearer token");
    if (why.n)
        text = arena_printf(r->a, "[%.*s, %.*s]", STR_ARG(text), STR_ARG(why));
    doc_set(r->a, &status, "error", doc_make_string(r->a, text));
    return status;
}

static bool has_token(struct request *r, const struct doc *d)
{
    return doc_get_text(doc_get(d, "spec"), "token").n > 0 ||
           fail_bad(r, "token is required for TokenReview in authentication");
}

void review_token(struct request *r)
{
    struct doc d;
    if (!write_read_body(r, &d) || !has_token(r, &d)) {
        request_answer_failure(r);
        return;
    }
    const struct doc *spec = doc_get(&d, "spec");
    struct names asked = names_read(doc_get(spec, "audiences"), r->a);
    struct doc entries = write_track(r, NULL, &d);
    if (!object_meta(&d))
        doc_set(r->a, &d, "metadata", doc_make_map());
    doc_set(r->a, object_meta(&d), "managedFields", entries);
    doc_set(r->a, &d, "status",
            token_status(r, doc_get_text(spec, "token"),
                         asked.n ? &asked : tokens_audiences(r->s->auth->tokens)));
    answer(r, &d);
}

void review_self(struct request *r)
{
    struct doc body, d = doc_make_map(), meta = doc_make_map(), status = doc_make_map();
    if (!write_read_body(r, &body)) {
        request_answer_failure(r);
        return;
    }
    doc_set(r->a, &d, "kind", *doc_get(&body, "kind"));
    doc_set(r->a, &d, "apiVersion", *doc_get(&body, "apiVersion"));
    doc_set(r->a, &meta, "creationTimestamp", doc_make_string(r->a, r->now));
    doc_set(r->a, &d, "metadata", meta);
    doc_set(r->a, &status, "userInfo", user_doc(r->user, r->a));
    doc_set(r->a, &d, "status", status);
    answer(r, &d);
}
