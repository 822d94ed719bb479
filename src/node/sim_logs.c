/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What API servers ask kubelets for: logs of containers, over HTTPS on the loopback
 * address, one port for all nodes. A simulated container has printed where it runs, and
 * with which devices; those of its claims are asked for anew each time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "net/pki.h"
#include "node/sim_inner.h"

static const struct client_kind CLAIM = {"resource.k8s.io", "v1", "resourceclaims", true};

enum { CERTIFICATE_DAYS = 3650, MOST_LINES = 256 };

/* One question: its answer is written when all claims are there. */
struct sim_log {
    struct sim *sim;
    struct sim_log *next, **link;
    struct net_exchange *x;
    struct str key, container; /* "NAMESPACE/NAME" */
    struct client_call *call;
    uint32_t claim; /* that is asked for */
    struct str lines[MOST_LINES];
    uint32_t nlines;
};

static void add_line(struct sim_log *l, struct str line)
{
    if (l->nlines < MOST_LINES)
        l->lines[l->nlines++] = line;
}

/* ---- parameters ---- */

/* Of the query; STR_NONE: it is not there. */
static struct str parameter(const struct sim_log *l, const char *name)
{
    for (struct str rest = l->x->query, part; str_split_next(&rest, '&', &part);) {
        size_t at = str_find_byte(part, '=', 0);
        if (at != SIZE_MAX && str_is(str_sub(part, 0, at), name))
            return str_sub(part, at + 1, part.n);
    }
    return STR_NONE;
}

/* limit when it is not there, or no number. */
static size_t number(const struct sim_log *l, const char *name, size_t limit)
{
    struct str text = parameter(l, name);
    size_t n = 0;
    if (!text.n)
        return limit;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return limit;
        n = n * 10 + (size_t)(text.p[i] - '0');
        if (n >= limit)
            return limit;
    }
    return n;
}

static bool is_true(const struct sim_log *l, const char *name)
{
    return str_is(parameter(l, name), "true");
}

/* ---- the answer ---- */

static void close_log(struct sim_log *l)
{
    *l->link = l->next;
    if (l->next)
        l->next->link = l->link;
    if (l->call)
        client_cancel(l->call);
    free(l);
}

static void refuse(struct sim_log *l, unsigned status, struct str text)
{
    const struct net_header type = {STR("content-type"), STR("text/plain")};
    net_respond(l->x, status, &type, 1, text);
    close_log(l);
}

/* The last lines, as many and as long as is wanted. */
static void answer(struct sim_log *l, const struct sim_pod_view *v)
{
    const struct net_header type = {STR("content-type"), STR("text/plain")};
    size_t tail = number(l, "tailLines", l->nlines),
           most = number(l, "limitBytes", SIZE_MAX / 16);
    struct strbuf b = STRBUF_INIT;
    struct str at = timestamp_print(v->started_s, 0, false, l->x->arena);
    for (size_t i = l->nlines - tail; i < l->nlines; i++) {
        if (is_true(l, "timestamps"))
            strbuf_addf(&b, "%.*s ", STR_ARG(at));
        strbuf_addstr(&b, l->lines[i]);
        strbuf_addc(&b, '\n');
    }
    struct str text = strbuf_str(&b);
    net_respond(l->x, 200, &type, 1, str_sub(text, 0, text.n < most ? text.n : most));
    strbuf_release(&b);
    close_log(l);
}

static void add_devices(struct sim_log *l, struct str claim, const struct doc *d)
{
    const struct doc *list = doc_path(d, "status.allocation.devices.results");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *r = &list->items[i];
        add_line(l, arena_printf(l->x->arena,
                                 "simulated: device %.*s/%.*s/%.*s for request %.*s of "
                                 "ResourceClaim %.*s",
                                 STR_ARG(doc_get_text(r, "driver")),
                                 STR_ARG(doc_get_text(r, "pool")),
                                 STR_ARG(doc_get_text(r, "device")),
                                 STR_ARG(doc_get_text(r, "request")), STR_ARG(claim)));
    }
}

/* ---- asking for claims, one after the other ---- */

static const struct sim_pod_view *view_of(const struct sim_log *l)
{
    const struct object *pod = informer_get(l->sim->pods, l->key);
    return pod ? pod->view : NULL;
}

static void go_on(struct sim_log *l);

static void on_claim(void *ctx, const struct client_answer *a)
{
    struct sim_log *l = ctx;
    const struct sim_pod_view *v = view_of(l);
    struct doc_source src = {.name = "claim", .text = a->body};
    struct doc d;
    l->call = NULL;
    if (a->ok && v && l->claim < v->nclaims && doc_read_json(&src, l->x->arena, &d, NULL))
        add_devices(l, v->claims[l->claim], &d);
    l->claim++;
    go_on(l);
}

static void go_on(struct sim_log *l)
{
    const struct sim_pod_view *v = view_of(l);
    struct str namespace = str_sub(l->key, 0, str_find_byte(l->key, '/', 0));
    if (!v) {
        refuse(l, 404, STR("the pod has gone\n"));
    } else if (l->claim < v->nclaims) {
        struct client_request q = {
            .method = "GET",
            .path =
                client_path(&CLAIM, namespace, v->claims[l->claim], NULL, l->x->arena)};
        l->call = client_start(l->sim->client, &q, on_claim, l);
    } else {
        if (v->phase == SIM_OVER)
            add_line(l, arena_printf(l->x->arena, "simulated: it has ended with code %d",
                                     (int)v->exit_code));
        answer(l, v);
    }
}

static const struct sim_container *find(const struct sim_container *all, uint32_t n,
                                        struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(all[i].name, name))
            return &all[i];
    return NULL;
}

static const struct sim_container *container_of(const struct sim_log *l,
                                                const struct sim_pod_view *v)
{
    const struct sim_container *c = find(v->containers, v->ncontainers, l->container);
    return c ? c : find(v->init, v->ninit, l->container);
}

/* As kubelets refuse. */
static void begin(struct sim_log *l)
{
    const struct sim_pod_view *v = view_of(l);
    const struct sim_container *c = v ? container_of(l, v) : NULL;
    struct arena *a = l->x->arena;
    struct str name = c ? c->name : l->container;
    if (!v) {
        refuse(l, 404, arena_printf(a, "pod %.*s is not here\n", STR_ARG(l->key)));
    } else if (!c) {
        refuse(l, 400, arena_printf(a, "container %.*s is not valid\n", STR_ARG(name)));
    } else if (v->phase == SIM_PENDING) {
        refuse(l, 400,
               arena_printf(a,
                            "container \"%.*s\" in pod \"%.*s\" is waiting to start: "
                            "ContainerCreating\n",
                            STR_ARG(name), STR_ARG(l->key)));
    } else if (is_true(l, "previous") && !v->restarts) {
        refuse(l, 400,
               arena_printf(a,
                            "previous terminated container \"%.*s\" in pod \"%.*s\" not "
                            "found\n",
                            STR_ARG(name), STR_ARG(l->key)));
    } else {
        add_line(l, arena_printf(a,
                                 "simulated: container %.*s of pod %.*s runs on node "
                                 "%.*s, image %.*s",
                                 STR_ARG(name), STR_ARG(l->key), STR_ARG(v->node),
                                 STR_ARG(c->image)));
        go_on(l);
    }
}

/* ---- serving ---- */

/* "/containerLogs/NAMESPACE/POD/CONTAINER"; such names need no escapes. */
static bool read_path(struct sim_log *l)
{
    static const struct str BEFORE = {"/containerLogs/", 15};
    struct str parts[4], rest = l->x->path;
    uint32_t n = 0;
    if (!str_starts(rest, BEFORE))
        return false;
    rest = str_sub(rest, BEFORE.n, rest.n);
    while (n < 4 && str_split_next(&rest, '/', &parts[n]))
        n++;
    if (n != 3)
        return false;
    l->key = arena_printf(l->x->arena, "%.*s/%.*s", STR_ARG(parts[0]), STR_ARG(parts[1]));
    l->container = parts[2];
    return true;
}

static void handle(void *ctx, struct net_exchange *x)
{
    struct sim *s = ctx;
    struct sim_log *l = mem_zalloc(sizeof *l);
    *l = (struct sim_log){.sim = s, .x = x, .next = s->logs, .link = &s->logs};
    if (s->logs)
        s->logs->link = &l->next;
    s->logs = l;
    if (str_is(x->method, "GET") && read_path(l))
        begin(l);
    else
        refuse(l, 404, STR("simulated nodes have logs alone\n"));
}

static bool make_pair(struct arena *a, struct pki_pair *out, struct err *e)
{
    static const char *const HOSTS[] = {"localhost", "127.0.0.1"};
    const struct pki_subject who = {.name = "simulated nodes",
                                    .hosts = HOSTS,
                                    .nhosts = 2,
                                    .server = true,
                                    .days = CERTIFICATE_DAYS};
    struct pki_pair ca;
    return pki_new_ca("dray-sim", a, &ca, e) && pki_issue(&ca, &who, a, out, e);
}

bool sim_logs_open(struct sim *s, struct err *e)
{
    struct pki_pair pair;
    if (!make_pair(&s->arena, &pair, e))
        return false;
    const struct net_tls_opts tls = {.cert_pem = pair.cert_pem, .key_pem = pair.key_pem};
    const struct net_server_opts opts = {.tls = &tls, .address = "127.0.0.1:0"};
    s->kubelet = net_server_new(client_loop(s->client), &opts, handle, s, e);
    if (s->kubelet)
        s->kubelet_port = net_server_port(s->kubelet);
    return s->kubelet != NULL;
}

void sim_logs_close(struct sim *s)
{
    for (struct sim_log *l = s->logs, *next; l; l = next) {
        next = l->next;
        net_abort(l->x);
        close_log(l);
    }
    net_server_free(s->kubelet);
    s->kubelet = NULL;
}
