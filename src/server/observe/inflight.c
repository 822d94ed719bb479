/* SPDX-License-Identifier: Apache-2.0 */
#include "server/observe/inflight.h"

#include "server/access/user.h"

static bool is_one_of(struct str s, const char *const *all)
{
    while (*all && !str_is(s, *all))
        all++;
    return *all != NULL;
}

/* Requests that end when somebody wants it, not when their work is done. */
static bool lasts(const struct attributes *w)
{
    static const char *const SUBS[] = {"attach", "exec",        "log",
                                       "proxy",  "portforward", NULL};
    return str_is(w->verb, "watch") || is_one_of(w->subresource, SUBS);
}

/* Without these, nodes are taken for dead and leaders for gone. */
static bool keeps_alive(const struct attributes *w)
{
    static const char *const HEALTH[] = {"/healthz", "/livez", "/readyz", NULL};
    if (w->path.p)
        return is_one_of(w->path, HEALTH);
    if (str_is(w->group, "coordination.k8s.io"))
        return str_is(w->resource, "leases");
    return w->group.n == 0 && str_is(w->resource, "nodes") &&
           str_is(w->subresource, "status");
}

static bool is_reading(const struct attributes *w)
{
    static const char *const VERBS[] = {"get", "list", "watch", "head", NULL};
    return is_one_of(w->verb, VERBS);
}

bool inflight_enter(struct request *r)
{
    struct inflight *f = &r->s->inflight;
    struct attributes w = authorize_attributes(r);
    bool reading = is_reading(&w);
    uint32_t *now = reading ? &f->reading : &f->writing;
    uint32_t max = reading ? f->max_reading : f->max_writing;
    r->place = INFLIGHT_FREE;
    r->lasts = lasts(&w);
    if (r->lasts)
        return true;
    if (max && *now >= max && !r->user->admin && !keeps_alive(&w)) {
        fail(r, 429, "TooManyRequests", "Too many requests, please try again later.");
        r->failure.retry_seconds = 1;
        r->failure.has_details = true;
        return false;
    }
    (*now)++;
    r->place = reading ? INFLIGHT_READING : INFLIGHT_WRITING;
    return true;
}

void inflight_leave(struct request *r)
{
    struct inflight *f = &r->s->inflight;
    if (r->place == INFLIGHT_READING)
        f->reading--;
    else if (r->place == INFLIGHT_WRITING)
        f->writing--;
    r->place = INFLIGHT_FREE;
}
