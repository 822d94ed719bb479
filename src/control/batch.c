/* SPDX-License-Identifier: Apache-2.0 */
#include "control/batch.h"

#include <stdlib.h>

#include "base/mem.h"

struct batch_call {
    struct batch *batch;
    const struct batch_request *request;
    struct client_call *call; /* NULL: it was not asked, or was answered */
};

struct batch {
    struct client *client;
    const struct batch_ops *ops;
    void *ctx;
    struct batch_call *calls;
    uint32_t n, asked, open, round;
    char *failure;
    bool done;
};

static void on_answer(void *ctx, const struct client_answer *answer);

static void start(struct batch_call *c)
{
    struct strbuf body = STRBUF_INIT;
    if (c->request->body)
        doc_write_json(c->request->body, DOC_JSON_COMPACT, &body);
    struct client_request q = {.method = c->request->method,
                               .path = c->request->path,
                               .type = c->request->type,
                               .body = strbuf_str(&body)};
    c->call = client_start(c->batch->client, &q, on_answer, c);
    strbuf_release(&body);
}

static void start_round(struct batch *b)
{
    uint32_t end = b->n - b->asked < b->round ? b->n : b->asked + b->round;
    b->open = end - b->asked;
    while (b->asked < end)
        start(&b->calls[b->asked++]);
    b->round *= 2;
}

static void finish(struct batch *b)
{
    b->done = true;
    for (uint32_t i = b->asked; i < b->n; i++)
        b->ops->skipped(b->ctx, b->calls[i].request);
    b->ops->done(b->ctx);
}

static void note_failure(struct batch *b, const struct client_answer *answer)
{
    bool fine = b->ops->is_fine ? b->ops->is_fine(answer) : answer->ok;
    if (!fine && !b->failure)
        b->failure = mem_dup(answer->message, strlen(answer->message));
}

static void on_answer(void *ctx, const struct client_answer *answer)
{
    struct batch_call *c = ctx;
    struct batch *b = c->batch;
    c->call = NULL;
    note_failure(b, answer);
    b->ops->answered(b->ctx, c->request, answer);
    if (--b->open)
        return;
    if (b->failure || b->asked == b->n)
        finish(b);
    else
        start_round(b);
}

struct batch *batch_new(struct client *c, const struct batch_request *requests,
                        uint32_t n, uint32_t first, const struct batch_ops *ops,
                        void *ctx)
{
    struct batch *b = mem_zalloc(sizeof *b);
    *b = (struct batch){.client = c, .ops = ops, .ctx = ctx, .n = n, .done = !n};
    b->round = first ? first : n;
    b->calls = mem_zalloc((n + 1) * sizeof *b->calls);
    for (uint32_t i = 0; i < n; i++)
        b->calls[i] = (struct batch_call){.batch = b, .request = &requests[i]};
    if (n)
        start_round(b);
    return b;
}

void batch_free(struct batch *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->calls[i].call)
            client_cancel(b->calls[i].call);
    free(b->calls);
    free(b->failure);
    free(b);
}

bool batch_is_done(const struct batch *b)
{
    return b->done;
}

const char *batch_failure(const struct batch *b)
{
    return b->failure;
}
