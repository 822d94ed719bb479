/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include "unit/unit.h"

static void forget(struct script *s, unsigned at)
{
    s->nasked--;
    memmove(s->asked + at, s->asked + at + 1, (s->nasked - at) * sizeof *s->asked);
}

static void handle(void *ctx, struct net_exchange *x)
{
    struct script *s = ctx;
    assert_true(s->nasked < UNIT_COUNT(s->asked));
    s->asked[s->nasked++] = x;
}

void script_open(struct script *s)
{
    static const struct net_server_opts opts;
    static const struct net_inner_opts who = {STR("ann"), NULL, 0};
    *s = (struct script){.loop = net_loop_new(NULL)};
    s->server = net_server_new(s->loop, &opts, handle, s, NULL);
    s->client = client_new_inner(s->loop, net_inner_new(s->server, &who));
}

void script_close(struct script *s)
{
    while (s->nasked) {
        struct net_exchange *x = s->asked[0];
        forget(s, 0);
        net_done(x);
    }
    client_free(s->client);
    script_settle(s);
    net_server_free(s->server);
    net_loop_free(s->loop);
}

static void too_late(void *ctx)
{
    *(bool *)ctx = true;
}

void script_await(struct script *s, const bool *thing)
{
    bool late = false;
    struct net_timer *t = net_timer_start(s->loop, 10000, 0, too_late, &late);
    while (!*thing && !late)
        net_loop_run_once(s->loop, true);
    assert_false(late);
    net_timer_stop(t);
}

void script_settle(struct script *s)
{
    for (int i = 0; i < 10; i++)
        net_loop_run_once(s->loop, false);
}

struct net_exchange *script_take(struct script *s, const char *want)
{
    char got[1024];
    bool late = false;
    struct net_timer *t = net_timer_start(s->loop, 10000, 0, too_late, &late);
    while (!s->nasked && !late)
        net_loop_run_once(s->loop, true);
    assert_false(late);
    net_timer_stop(t);
    struct net_exchange *x = s->asked[0];
    forget(s, 0);
    snprintf(got, sizeof got, "%.*s %.*s?%.*s", STR_ARG(x->method), STR_ARG(x->path),
             STR_ARG(x->query));
    if (strncmp(got, want, strlen(want)) != 0)
        fail_msg("got %s, wanted %s", got, want);
    return x;
}

void script_answer(struct script *s, const char *want, unsigned status, const char *body)
{
    net_respond(script_take(s, want), status, NULL, 0, str_from(body));
    script_settle(s);
}

void script_say(struct net_exchange *x, const char *text)
{
    net_begin(x, 200, NULL, 0);
    assert_true(net_write(x, str_from(text)));
}
