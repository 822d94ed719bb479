/* SPDX-License-Identifier: Apache-2.0 */
/* dray controllers: controllers beside an API server, dray's or the real one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/gates.h"
#include "cli/identity.h"
#include "cli/options.h"
#include "client/leader.h"
#include "control/controllers.h"

static const char USAGE[] =
    "usage: dray controllers --kubeconfig FILE [OPTION]...\n"
    "\n"
    "Runs controllers beside an API server, in the place of Kubernetes' own:\n"
    "\n"
    "  kube-controller-manager --controllers=*,-resourceclaim-controller ... &\n"
    "  dray controllers --kubeconfig FILE --only resourceclaim\n"
    "\n"
    "resourceclaim              claims are made from the templates of pods, and\n"
    "                           reservations, allocations and claims that nobody needs\n"
    "                           anymore are taken back\n"
    "device-taint-eviction      pods go from devices with a NoExecute taint, and rules "
    "say\n"
    "                           how far that is\n"
    "resourcepoolstatusrequest  what pools have and what of it is free, for whoever "
    "asks\n"
    "                           (with the gate DRAResourcePoolStatus)\n"
    "\n"
    "In a pod the kubeconfig may be left out: it acts as its service account then.\n"
    "\n";

static const char IN_POD[] = "/var/run/secrets/kubernetes.io/serviceaccount";

struct options {
    const char *kubeconfig, *only, *lease_namespace, *lease_name;
    bool elect;
    struct api_gates gates;
    uint64_t lease_ms, renew_ms, retry_ms;
    uint32_t workers, eviction_workers;
};

static bool set_gates(void *into, const char *list, struct err *e)
{
    struct options *o = into;
    return gates_read(&o->gates, list, e);
}

#define AT(member) offsetof(struct options, member)
static const struct option_row ROWS[] = {
    {"kubeconfig", "FILE", OPTION_TEXT, AT(kubeconfig),
     "says where the server is, and who asks"},
    {"only", "NAME,...", OPTION_LIST, AT(only), "these controllers (all)"},
    {"feature-gates", "NAME=BOOL,...", OPTION_CALL, 0, "gates of Kubernetes", set_gates},
    {"concurrent-resourceclaim-syncs", "N", OPTION_COUNT, AT(workers),
     "claims and pods that are worked on at once (50)"},
    {"concurrent-device-taint-eviction-syncs", "N", OPTION_COUNT, AT(eviction_workers),
     "pods that are evicted at once (8)"},
    {"leader-elect", "BOOL", OPTION_FLAG, AT(elect),
     "whether only the holder of a lease works (true)"},
    {"leader-elect-lease-duration", "TIME", OPTION_DURATION, AT(lease_ms),
     "after which a lease that nobody renews is taken (15s)"},
    {"leader-elect-renew-deadline", "TIME", OPTION_DURATION, AT(renew_ms),
     "within which it must be renewed (10s)"},
    {"leader-elect-retry-period", "TIME", OPTION_DURATION, AT(retry_ms),
     "between tries (2s)"},
    {"leader-elect-resource-namespace", "NAME", OPTION_TEXT, AT(lease_namespace),
     "where the lease is (kube-system)"},
    {"leader-elect-resource-name", "NAME", OPTION_TEXT, AT(lease_name),
     "and its name (dray-controllers)"},
};
#undef AT
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

struct running {
    const struct options *options;
    struct net_loop *loop;
    struct client *client;
    struct leader *leader; /* NULL: everybody works */
    struct controllers *controllers;
    char identity[IDENTITY_SIZE];
    int code;
};

/* ---- working ---- */

static void say(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "dray controllers: %s\n", text);
}

static void work(struct running *r)
{
    const struct options *o = r->options;
    struct controllers_opts opts = {.only = o->only,
                                    .gates = &o->gates,
                                    .claim_workers = o->workers,
                                    .eviction_workers = o->eviction_workers,
                                    .log = say};
    r->controllers = controllers_new(r->client, &opts);
    printf("dray controllers: working\n");
    fflush(stdout);
}

static void stop(struct running *r)
{
    controllers_free(r->controllers);
    r->controllers = NULL;
}

static void on_gained(void *ctx)
{
    work(ctx);
}

static void on_lost(void *ctx)
{
    struct running *r = ctx;
    say(NULL, "the lease is lost; whoever started this starts it again");
    r->code = EXIT_NO;
    net_loop_stop(r->loop);
}

static void on_resigned(void *ctx)
{
    struct running *r = ctx;
    net_loop_stop(r->loop);
}

static void on_signal(void *ctx)
{
    struct running *r = ctx;
    stop(r);
    if (r->leader)
        leader_resign(r->leader, on_resigned);
    else
        net_loop_stop(r->loop);
}

static void elect(struct running *r)
{
    static const struct leader_ops ops = {on_gained, on_lost, say};
    const struct options *o = r->options;
    struct leader_opts opts = {.namespace = o->lease_namespace,
                               .name = o->lease_name,
                               .identity = r->identity,
                               .lease_ms = o->lease_ms,
                               .renew_ms = o->renew_ms,
                               .retry_ms = o->retry_ms};
    identity_make(r->identity);
    r->leader = leader_new(r->client, &opts, &ops, r);
}

static int run(const struct options *o, const struct kubeconfig *k, struct err *e)
{
    struct running r = {.options = o, .loop = net_loop_new(e)};
    if (!r.loop)
        return EXIT_INPUT;
    r.client = client_new_remote(r.loop, k);
    net_on_stop_signal(r.loop, on_signal, &r);
    if (o->elect)
        elect(&r);
    else
        work(&r);
    net_loop_run(r.loop);
    stop(&r);
    leader_free(r.leader);
    client_free(r.client);
    net_loop_free(r.loop);
    return r.code;
}

/* ---- options ---- */

static bool find_server(const struct options *o, struct arena *a, struct kubeconfig *k,
                        struct err *e)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"),
               *port = getenv("KUBERNETES_SERVICE_PORT");
    bool ok;
    if (o->kubeconfig)
        ok = kubeconfig_read(o->kubeconfig, a, k, e);
    else if (host && port)
        ok = kubeconfig_in_pod(host, port, IN_POD, a, k, e);
    else
        ok = err_set(e, ERR_INVALID,
                     "--kubeconfig FILE is missing; "
                     "\"dray controllers --help\" has all options");
    k->user_agent = STR("dray-controllers");
    return ok;
}

static int read_and_run(int argc, char **argv, struct arena *a, struct err *e)
{
    struct options o = {.elect = true,
                        .gates = api_gates_default,
                        .lease_namespace = "kube-system",
                        .lease_name = "dray-controllers"};
    struct kubeconfig k;
    bool help = false;
    if (!options_read(&TABLE, argc, argv, a, &o, &help, e))
        return EXIT_INPUT;
    if (help) {
        fputs(USAGE, stdout);
        options_print(&TABLE, stdout);
        return EXIT_OK;
    }
    if (!controllers_check(o.only, e) || !find_server(&o, a, &k, e))
        return EXIT_INPUT;
    return run(&o, &k, e);
}

int cmd_controllers(int argc, char **argv)
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
