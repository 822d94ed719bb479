/* SPDX-License-Identifier: Apache-2.0 */
/* dray apiserver: the Kubernetes API from a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/server_flags.h"
#include "server/server.h"

static const char USAGE[] =
    "usage: dray apiserver --data DIR [OPTION]...\n"
    "\n"
    "Serves the Kubernetes API over TLS from DIR, which is made when it is not there.\n"
    "DIR/admin.kubeconfig is all that kubectl needs:\n"
    "\n"
    "  dray apiserver --data /var/lib/dray --listen 127.0.0.1:6443 &\n"
    "  kubectl --kubeconfig /var/lib/dray/admin.kubeconfig get namespaces\n"
    "\n"
    "Options that kube-apiserver has too mean here what they mean there.\n"
    "\n";

static const char AFTER[] =
    "\nIt prints one line when it is ready, and ends on SIGTERM.\n";

static void print_help(const struct option_table *t, FILE *out)
{
    fputs(USAGE, out);
    options_print(t, out);
    fputs(AFTER, out);
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
    server_free(r.server);
    net_loop_free(r.loop);
    return EXIT_OK;
}

static int read_and_run(int argc, char **argv, struct arena *a)
{
    const struct option_table table = {server_rows, server_nrows};
    struct server_flags f = SERVER_FLAGS_INIT;
    struct err e = ERR_INIT;
    bool help = false;
    if (!options_read(&table, argc, argv, a, &f, &help, &e) ||
        !server_flags_finish(&f, a, &e))
        return fail(&e);
    if (help) {
        print_help(&table, stdout);
        return EXIT_OK;
    }
    if (f.server.dir)
        return run(&f.server);
    fputs("dray apiserver: --data DIR is missing; \"dray apiserver --help\" has all "
          "options\n",
          stderr);
    return EXIT_INPUT;
}

int cmd_apiserver(int argc, char **argv)
{
    struct arena a = {0};
    int code = read_and_run(argc, argv, &a);
    arena_fini(&a);
    return code;
}
