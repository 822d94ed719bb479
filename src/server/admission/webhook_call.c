/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/webhook_call.h"

#include "server/observe/measure.h"
#include "server/rest/awaiting.h"

struct call {
    struct question question; /* first */
    struct webhook_answer answer;
    struct hook_post *post;
};

static struct str key_of(struct request *r, const struct webhook *w, struct str review,
                         unsigned round)
{
    return arena_printf(r->a, "%.*s\n%u\n%.*s", STR_ARG(w->uid), round, STR_ARG(review));
}

struct webhook_answer *webhook_asked(struct request *r, const struct webhook *w,
                                     struct str review, unsigned round)
{
    struct question *q = awaiting_find(r, key_of(r, w, review, round));
    return q ? &((struct call *)q)->answer : NULL;
}

bool webhook_is_open(const struct webhook_answer *answer)
{
    const struct call *c =
        (const struct call *)((const char *)answer - offsetof(struct call, answer));
    return c->question.open;
}

static void cancel(struct question *q)
{
    hook_post_cancel(((struct call *)q)->post);
}

static void answered(void *ctx, const struct hook_answer *said)
{
    struct call *c = ctx;
    c->answer.there = true;
    c->answer.seconds = (double)(measure_now() - c->answer.asked_ns) / 1e9;
    c->answer.said = *said;
    awaiting_answered(&c->question);
}

bool webhook_ask(struct request *r, const struct webhook *w, struct str review,
                 unsigned round, struct str uid, struct str body)
{
    struct call *c = ARENA_NEW(r->a, struct call);
    if (!awaiting_ask(r, &c->question, key_of(r, w, review, round), cancel))
        return false;
    uint64_t left = awaiting_left(r), ms = w->timeout_ms < left ? w->timeout_ms : left;
    c->answer.uid = uid;
    c->answer.asked_ns = measure_now();
    c->post = hook_post_start(r, r->a, &w->peer, body, ms, answered, c);
    return true;
}
