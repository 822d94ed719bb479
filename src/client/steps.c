/* SPDX-License-Identifier: Apache-2.0 */
#include "client/steps.h"

struct step { /* in the arena */
    struct step *next;
    struct steps *steps;
    const char *method;
    struct str path, body;
    struct client_call *call; /* NULL: it is answered */
    struct client_answer answer;
};

void steps_init(struct steps *s, struct client *c, void (*again)(void *ctx), void *ctx)
{
    *s = (struct steps){.client = c, .again = again, .ctx = ctx};
    arena_init(&s->arena);
}

void steps_fini(struct steps *s)
{
    for (struct step *step = s->asked; step; step = step->next)
        if (step->call)
            client_cancel(step->call);
    arena_fini(&s->arena);
}

static void on_answer(void *ctx, const struct client_answer *a)
{
    struct step *step = ctx;
    struct arena *arena = &step->steps->arena;
    step->call = NULL;
    step->answer = *a;
    step->answer.reason = arena_strdup(arena, a->reason);
    step->answer.message = arena_strdup(arena, a->message);
    step->answer.body = arena_str(arena, a->body);
    step->steps->again(step->steps->ctx);
}

static struct step *find(const struct steps *s, const struct client_request *q)
{
    struct step *step = s->asked;
    while (step && !(str_is(str_from(step->method), q->method) &&
                     str_eq(step->path, q->path) && str_eq(step->body, q->body)))
        step = step->next;
    return step;
}

const struct client_answer *steps_ask(struct steps *s, const struct client_request *q)
{
    struct step *step = find(s, q);
    if (step)
        return step->call ? NULL : &step->answer;
    step = ARENA_NEW(&s->arena, struct step);
    *step = (struct step){.next = s->asked,
                          .steps = s,
                          .method = q->method,
                          .path = arena_str(&s->arena, q->path),
                          .body = arena_str(&s->arena, q->body)};
    s->asked = step;
    step->call = client_start(s->client, q, on_answer, step);
    return NULL;
}
