/* SPDX-License-Identifier: Apache-2.0 */
/* dray up: a whole cluster in one process. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster_parts.h"
#include "cli/commands.h"
#include "cli/server_flags.h"
#include "client/kubeconfig.h"

static const char USAGE[] =
    "usage: dray up --data DIR [OPTION]...\n"
    "\n"
    "A whole cluster in one process: API server, controllers, scheduler, and "
    "simulated\nnodes.\n"
    "\n"
    "  dray up --data /tmp/cluster --nodes 100 --shape h100x8 &\n"
    "  export KUBECONFIG=/tmp/cluster/admin.kubeconfig\n"
    "  kubectl get nodes,resourceslices\n"
    "\n"
    "Several of them may share one etcd, each with a folder of its own for its\n"
    "certificates (--store etcd://HOST:2379): all serve, and one works.\n"
    "\n";

static const char AFTER[] =
    "\nIt prints two lines when it is ready, and ends on SIGTERM. \"dray apiserver\n"
    "--help\" explains the server's options, man dray-up what nodes can be told.\n";

struct flags {
    struct server_flags server; /* first */
    const char *shapes, *controllers;
    uint32_t nodes;
    bool silent_drivers;
    uint64_t grace_ms;
    struct cluster_lease lease;
};

#define AT(member) offsetof(struct flags, member)
static const struct option_row OWN[] = {
    {NULL, NULL, 0, 0, "Cluster"},
    {"nodes", "N", OPTION_COUNT, AT(nodes), "how many simulated nodes (1 of each shape)"},
    {"shape", "NAME[=N],...", OPTION_LIST, AT(shapes),
     "what they look like (h100x8): one that comes with dray, or a file with a Node and "
     "its ResourceSlices, and how many of it"},
    {"silent-drivers", NULL, OPTION_FLAG, AT(silent_drivers),
     "whether simulated drivers leave the status of devices alone (false)"},
    {"controllers", "NAME,...", OPTION_LIST, AT(controllers), "these controllers (all)"},
    {"node-monitor-grace-period", "TIME", OPTION_DURATION, AT(grace_ms),
     "for which a node may be silent (50s); leases are renewed five times as often"},
    {"leader-elect-lease-duration", "TIME", OPTION_DURATION, AT(lease.lease_ms),
     "after which another one takes over from one that is not heard of (15s)"},
    {"leader-elect-renew-deadline", "TIME", OPTION_DURATION, AT(lease.renew_ms),
     "within which it must be heard of (10s)"},
    {"leader-elect-retry-period", "TIME", OPTION_DURATION, AT(lease.retry_ms),
     "between tries (2s)"},
};
#undef AT
enum { NOWN = sizeof OWN / sizeof *OWN };

/* ---- running ---- */

struct running {
    const struct flags *flags;
    struct net_loop *loop;
    struct server *server;
    struct cluster_parts *parts;
    uint32_t nodes;
    bool stopping;
    struct arena arena;
};

static void say(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "dray up: %s\n", text);
}

/* For a shell that may go elsewhere. */
static void print_kubeconfig(const char *dir)
{
    char here[PATH_MAX];
    bool absolute = dir[0] == '/' || !getcwd(here, sizeof here);
    printf("export KUBECONFIG=%s%s%s/admin.kubeconfig\n", absolute ? "" : here,
           absolute ? "" : "/", dir);
}

static void on_ready(void *ctx)
{
    const struct running *r = ctx;
    printf("dray up: ready on %s, %u node%s\n", server_url(r->server), r->nodes,
           r->nodes == 1 ? "" : "s");
    print_kubeconfig(r->flags->server.server.dir);
    fflush(stdout);
}

static void on_server_stopped(void *ctx)
{
    struct running *r = ctx;
    net_loop_stop(r->loop);
}

/* While the loop still runs: what the parts have asked ends on it. */
static void end_parts(void *ctx)
{
    struct running *r = ctx;
    cluster_parts_free(r->parts);
    r->parts = NULL;
    server_stop(r->server, on_server_stopped, r);
}

static void on_parts_stopped(void *ctx)
{
    struct running *r = ctx;
    net_post(r->loop, end_parts, r);
}

static void on_signal(void *ctx)
{
    struct running *r = ctx;
    if (r->stopping)
        return;
    r->stopping = true;
    cluster_parts_stop(r->parts, on_parts_stopped, r);
}

static bool is_shared(const struct server_opts *o)
{
    return o->store && strncmp(o->store, "etcd", 4) == 0;
}

static bool read_own(struct running *r, const char *file, struct str *out, struct err *e)
{
    struct str path = arena_printf(&r->arena, "%s/%s", r->flags->server.server.dir, file);
    return kubeconfig_read_file(path.p, &r->arena, out, e);
}

/* The authority that the server has made, or was given, in its folder; one that is given
 * may come without its key, and signs nothing then. */
static bool read_authority(struct running *r, struct cluster_parts_opts *opts,
                           struct err *e)
{
    struct err none = ERR_INIT;
    if (!read_own(r, "ca.crt", &opts->root_ca, e))
        return false;
    if (read_own(r, "ca.key", &opts->authority.key_pem, &none))
        opts->authority.cert_pem = opts->root_ca;
    err_release(&none);
    return true;
}

static bool start(struct running *r, const struct simulated *nodes, struct err *e)
{
    const struct flags *f = r->flags;
    struct cluster_parts_opts opts = {.gates = &f->server.server.gates,
                                      .controllers = f->controllers,
                                      .nodes = nodes,
                                      .silent_drivers = f->silent_drivers,
                                      .grace_ms = f->grace_ms,
                                      .lease = f->lease,
                                      .elect = is_shared(&f->server.server),
                                      .ready = on_ready,
                                      .log = say,
                                      .ctx = r};
    r->server = server_new(r->loop, &f->server.server, e);
    if (!r->server || !read_authority(r, &opts, e))
        return false;
    net_on_stop_signal(r->loop, on_signal, r);
    r->parts = cluster_parts_new(r->loop, r->server, &opts);
    return true;
}

static bool run(const struct flags *f, const struct simulated *nodes, struct err *e)
{
    struct running r = {
        .flags = f, .nodes = simulated_count(nodes), .loop = net_loop_new(e)};
    if (!r.loop)
        return false;
    bool ok = start(&r, nodes, e);
    if (ok)
        net_loop_run(r.loop);
    cluster_parts_free(r.parts);
    if (r.server)
        server_free(r.server);
    net_loop_free(r.loop);
    arena_fini(&r.arena);
    return ok;
}

/* ---- options ---- */

static struct option_table make_table(struct arena *a)
{
    struct option_row *rows = ARENA_ARRAY(a, struct option_row, server_nrows + NOWN);
    memcpy(rows, OWN, sizeof OWN);
    memcpy(rows + NOWN, server_rows, server_nrows * sizeof *rows);
    return (struct option_table){rows, server_nrows + NOWN};
}

static bool check(const struct flags *f, struct err *e)
{
    if (!f->server.server.dir)
        return err_set(e, ERR_INVALID,
                       "--data DIR is missing; \"dray up --help\" has all options");
    return controllers_check(f->controllers, e) || err_wrap(e, "--controllers");
}

static bool runs_controller(const struct flags *f, const char *name)
{
    struct str all = str_from(f->controllers ? f->controllers : name);
    for (struct str rest = all, one; str_split_next(&rest, ',', &one);)
        if (str_is(one, name))
            return true;
    return false;
}

static int read_and_run(int argc, char **argv, struct arena *a, struct err *e)
{
    struct flags f = {.server = SERVER_FLAGS_INIT, .nodes = SIMULATED_DEFAULT};
    struct option_table table = make_table(a);
    struct simulated nodes;
    bool help = false;
    if (!options_read(&table, argc, argv, a, &f, &help, e) ||
        !server_flags_finish(&f.server, a, e))
        return EXIT_INPUT;
    if (help) {
        fputs(USAGE, stdout);
        options_print(&table, stdout);
        fputs(AFTER, stdout);
        return EXIT_OK;
    }
    if (!check(&f, e) ||
        !simulated_read(f.shapes ? f.shapes : "h100x8", f.nodes, a, &nodes, e))
        return EXIT_INPUT;
    f.server.server.counts_quotas = runs_controller(&f, "resourcequota");
    bool ok = run(&f, &nodes, e);
    simulated_release(&nodes);
    return ok ? EXIT_OK : EXIT_INPUT;
}

int cmd_up(int argc, char **argv)
{
    struct arena a = {0};
    struct err e = ERR_INIT;
    int code = read_and_run(argc, argv, &a, &e);
    if (e.code != ERR_NONE)
        say(NULL, err_text(&e));
    err_release(&e);
    arena_fini(&a);
    return code;
}
