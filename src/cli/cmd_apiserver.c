/* SPDX-License-Identifier: Apache-2.0 */
/* dray apiserver: the Kubernetes API from a folder. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "server/server.h"

static const char USAGE[] =
    "usage: dray apiserver --data DIR [--listen ADDRESS:PORT]\n"
    "                      [--feature-gates NAME=BOOL,...]\n"
    "\n"
    "Serves the Kubernetes API over TLS from DIR, which is made when it is not there.\n"
    "DIR/admin.kubeconfig is all that kubectl needs:\n"
    "\n"
    "  dray apiserver --data /var/lib/dray --listen 127.0.0.1:6443 &\n"
    "  kubectl --kubeconfig /var/lib/dray/admin.kubeconfig get namespaces\n"
    "\n"
    "  --data DIR              objects, certificates, kubeconfig\n"
    "  --listen ADDRESS:PORT   127.0.0.1:6443 when not given; port 0: any that is free\n"
    "  --feature-gates LIST    gates of dynamic resource allocation\n"
    "\n"
    "It prints one line when it is ready, and ends on SIGTERM. Only certificates of the\n"
    "group system:masters that DIR/ca.crt has signed are let in.\n";

enum { OPT_DATA = 1, OPT_LISTEN, OPT_GATES, OPT_HELP };
static const struct option OPTIONS[] = {
    {"data", required_argument, NULL, OPT_DATA},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"feature-gates", required_argument, NULL, OPT_GATES},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool refuse(const char *what, struct str s)
{
    fprintf(stderr, "dray apiserver: %s \"%.*s\"\n", what, STR_ARG(s));
    return false;
}

/* "NAME=true" */
static bool set_gate(struct str pair, struct api_gates *g)
{
    size_t eq = str_find_byte(pair, '=', 0);
    struct str name = str_sub(pair, 0, eq), value = str_sub(pair, eq + 1, SIZE_MAX);
    bool on = str_is(value, "true");
    if (eq == SIZE_MAX || (!on && !str_is(value, "false")))
        return refuse("a gate is NAME=true or NAME=false, not", pair);
    enum api_gate gate = api_gate_find(name);
    if (gate == API_GATE_COUNT)
        return refuse("there is no gate", name);
    if (api_gate_locked(gate) && on != api_gate(g, gate))
        return refuse("this gate is locked:", name);
    api_gate_set(g, gate, on);
    return true;
}

static bool set_gates(const char *list, struct api_gates *g)
{
    struct str s = str_from(list);
    for (size_t at = 0; at < s.n;) {
        size_t end = str_find_byte(s, ',', at);
        if (!set_gate(str_sub(s, at, end), g))
            return false;
        at = end == SIZE_MAX ? s.n : end + 1;
    }
    return true;
}

/* EXIT_OK: go on; *help: nothing more to do. */
static int read_args(int argc, char **argv, struct server_opts *o, bool *help)
{
    int opt;
    while ((opt = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        if (opt == OPT_DATA)
            o->dir = optarg;
        else if (opt == OPT_LISTEN)
            o->listen = optarg;
        else if (opt == OPT_HELP)
            *help = true;
        else if (opt != OPT_GATES || !set_gates(optarg, &o->gates))
            return EXIT_INPUT;
    }
    if (*help || (o->dir && optind == argc))
        return EXIT_OK;
    fputs(USAGE, stderr);
    return EXIT_INPUT;
}

/* ---- running ---- */

struct running {
    struct net_loop *loop;
    struct server *server;
    bool stopping;
};

static void stopped(void *ctx)
{
    struct running *r = ctx;
    net_loop_stop(r->loop);
}

static void on_signal(void *ctx)
{
    struct running *r = ctx;
    if (r->stopping)
        return;
    r->stopping = true;
    server_stop(r->server, stopped, r);
}

static int fail(struct err *e)
{
    fprintf(stderr, "dray apiserver: %s\n", err_text(e));
    err_release(e);
    return EXIT_INPUT;
}

static int run(const struct server_opts *o)
{
    struct err e = ERR_INIT;
    struct running r = {.loop = net_loop_new(&e)};
    if (!r.loop)
        return fail(&e);
    r.server = server_new(r.loop, o, &e);
    if (!r.server) {
        net_loop_free(r.loop);
        return fail(&e);
    }
    net_on_stop_signal(r.loop, on_signal, &r);
    printf("dray apiserver: ready on %s\n", server_url(r.server));
    fflush(stdout);
    net_loop_run(r.loop);
    net_loop_run_once(r.loop, false); /* what the stop has left to do */
    server_free(r.server);
    net_loop_free(r.loop);
    return EXIT_OK;
}

int cmd_apiserver(int argc, char **argv)
{
    struct server_opts o = {.listen = "127.0.0.1:6443", .gates = api_gates_default};
    bool help = false;
    int code = read_args(argc, argv, &o, &help);
    if (code != EXIT_OK)
        return code;
    if (help) {
        fputs(USAGE, stdout);
        return EXIT_OK;
    }
    return run(&o);
}
