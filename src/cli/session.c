/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/query.h"

static const char *find_config(const struct session_opts *o, struct arena *a)
{
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    struct str part;
    if (o->kubeconfig)
        return o->kubeconfig;
    for (struct str rest = str_from(list ? list : "");
         str_split_next(&rest, ':', &part);) {
        const char *path = arena_str(a, part).p;
        if (part.n && access(path, R_OK) == 0)
            return path;
    }
    if (list && *list)
        return list;
    return arena_printf(a, "%s/.kube/config", home ? home : "").p;
}

/* What options say takes the place of what the kubeconfig says. */
static bool set_acts_as(const struct session_opts *o, struct arena *a,
                        struct kubeconfig_as *as, struct err *e)
{
    struct str *groups = ARENA_ARRAY(a, struct str, KUBECONFIG_MAX_GROUPS), group;
    uint32_t n = 0;
    if (o->as)
        *as = (struct kubeconfig_as){.user = str_from(o->as)};
    if (!as->user.n && (o->as_groups || o->as_uid))
        return err_set(e, ERR_INVALID, "--as-group and --as-uid go with --as USER");
    if (o->as_uid)
        as->uid = str_from(o->as_uid);
    for (struct str rest = str_from(o->as_groups ? o->as_groups : "");
         n < KUBECONFIG_MAX_GROUPS && str_split_next(&rest, ',', &group);)
        groups[n++] = group;
    if (o->as_groups) {
        as->groups = groups;
        as->ngroups = n;
    }
    return true;
}

/* Once, however often the server says it. */
static void on_warning(void *ctx, struct str text)
{
    struct session *s = ctx;
    for (size_t i = 0; i < s->warned.n; i++)
        if (str_eq(s->warned.v[i], text))
            return;
    vec_push_in(s->a, &s->warned, arena_str(s->a, text));
    fprintf(stderr, "Warning: %.*s\n", STR_ARG(text));
}

bool session_open(struct session *s, const struct session_opts *o, struct arena *a,
                  struct err *e)
{
    *s = (struct session){.a = a, .opts = o};
    if (!kubeconfig_read_context(find_config(o, a), o->context, a, &s->config, e) ||
        !set_acts_as(o, a, &s->config.as, e))
        return false;
    s->namespace = o->namespace ? str_from(o->namespace) : s->config.namespace;
    if (!s->namespace.n)
        s->namespace = STR("default");
    s->loop = net_loop_new(e);
    if (!s->loop)
        return false;
    s->client = client_new_remote(s->loop, &s->config);
    client_on_warning(s->client, on_warning, s);
    return true;
}

void session_close(struct session *s)
{
    client_free(s->client);
    if (s->loop)
        net_loop_free(s->loop);
    *s = (struct session){0};
}

/* ---- one answer ---- */

struct waiting {
    struct arena *a;
    struct client_answer *answer;
};

static void on_answer(void *ctx, const struct client_answer *a)
{
    struct waiting *w = ctx;
    w->answer = ARENA_NEW(w->a, struct client_answer);
    *w->answer =
        (struct client_answer){a->status, a->ok, arena_strdup(w->a, a->reason),
                               arena_strdup(w->a, a->message), arena_str(w->a, a->body)};
}

const struct client_answer *session_ask(struct session *s, const struct client_request *q)
{
    struct waiting w = {.a = s->a};
    client_start(s->client, q, on_answer, &w);
    while (!w.answer)
        net_loop_run_once(s->loop, true);
    return w.answer;
}

const struct client_answer *session_get(struct session *s, struct str path,
                                        const char *accept)
{
    struct client_request q = {.method = "GET", .path = path, .accept = accept};
    return session_ask(s, &q);
}

struct str session_page(struct session *s, struct str path, uint32_t limit,
                        struct str from)
{
    struct strbuf b = STRBUF_INIT;
    if (!limit)
        return path;
    bool more = str_find_byte(path, '?', 0) != SIZE_MAX;
    strbuf_addf(&b, "%.*s%climit=%u", STR_ARG(path), more ? '&' : '?', limit);
    if (from.n) {
        strbuf_adds(&b, "&continue=");
        query_escape(from, &b);
    }
    struct str out = arena_str(s->a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

bool session_refuse(const struct client_answer *a, struct err *e)
{
    if (a->status == 0)
        return err_set(e, ERR_IO, "Unable to connect to the server: %s", a->message);
    if (!a->reason[0] && a->status == 404) /* a path that is not served */
        return err_set(e, ERR_NOT_FOUND,
                       "Error from server (NotFound): the server could not find the "
                       "requested resource");
    if (!a->reason[0])
        return err_set(e, ERR_INVALID, "Error from server: %s", a->message);
    return err_set(e, ERR_INVALID, "Error from server (%s): %s", a->reason, a->message);
}

const struct doc *session_doc(struct session *s, const struct client_answer *a,
                              struct err *e)
{
    struct doc_source src = {.name = "the server's answer", .text = a->body};
    struct doc *d = ARENA_NEW(s->a, struct doc);
    if (!a->ok)
        session_refuse(a, e);
    else if (doc_read_json(&src, s->a, d, e))
        return d;
    return NULL;
}

/* ---- an answer without an end ---- */

struct following {
    session_line *each;
    void *ctx;
    struct err *e;
    bool over, gone; /* gone: the call is */
    enum session_end end;
};

static void on_line(void *ctx, struct str line)
{
    struct following *f = ctx;
    if (!f->over && !f->each(f->ctx, line)) {
        f->over = true;
        f->end = SESSION_ENOUGH;
    }
}

static void on_end(void *ctx, const struct client_answer *a)
{
    struct following *f = ctx;
    if (!f->over) {
        f->end = a->ok || a->status / 100 == 2 ? SESSION_ENDED : SESSION_REFUSED;
        if (f->end == SESSION_REFUSED)
            session_refuse(a, f->e);
    }
    f->over = f->gone = true;
}

static void on_late(void *ctx)
{
    struct following *f = ctx;
    f->over = true;
    f->end = SESSION_LATE;
}

enum session_end session_follow(struct session *s, const struct client_request *q,
                                session_line *each, void *ctx, uint64_t ms, struct err *e)
{
    struct following f = {.each = each, .ctx = ctx, .e = e};
    struct net_timer *timer = ms ? net_timer_start(s->loop, ms, 0, on_late, &f) : NULL;
    struct client_call *call = client_stream(s->client, q, on_line, on_end, &f);
    while (!f.over)
        net_loop_run_once(s->loop, true);
    if (!f.gone)
        client_cancel(call);
    if (f.end != SESSION_LATE)
        net_timer_stop(timer);
    return f.end;
}
