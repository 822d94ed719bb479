/* SPDX-License-Identifier: Apache-2.0 */
/* dray sim: simulated nodes beside an API server, dray's or the real one. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/duty.h"
#include "cli/simulated.h"

static const char USAGE[] =
    "usage: dray sim --kubeconfig FILE [OPTION]...\n"
    "\n"
    "Simulated nodes with devices beside an API server that runs already: for trying,\n"
    "testing and loading whatever works there.\n"
    "\n"
    "  dray sim --kubeconfig FILE --shape h100x8=100,cpu=10\n"
    "\n"
    "In a pod the kubeconfig may be left out: it acts as its service account then.\n"
    "\n";

static const char AFTER[] = "\nIt prints a line when all nodes stand, and ends on "
                            "SIGTERM; the nodes stay, and are\n"
                            "silent. man dray-up says what they can be told.\n";

struct options {
    const char *kubeconfig, *shapes;
    uint32_t count;
    uint64_t renew_ms;
    bool silent_drivers;
    struct duty_lease lease; /* nobody else has nodes of these names */
    struct simulated nodes;
};

#define AT(member) offsetof(struct options, member)
static const struct option_row ROWS[] = {
    {"kubeconfig", "FILE", OPTION_TEXT, AT(kubeconfig),
     "says where the server is, and who asks"},
    {"nodes", "N", OPTION_COUNT, AT(count), "how many nodes (1 of each shape)"},
    {"shape", "NAME[=N],...", OPTION_LIST, AT(shapes),
     "what they look like (h100x8): one that comes with dray, or a file with a Node and "
     "its ResourceSlices, and how many of it"},
    {"silent-drivers", NULL, OPTION_FLAG, AT(silent_drivers),
     "whether drivers leave the status of devices alone (false)"},
    {"node-status-update-frequency", "TIME", OPTION_DURATION, AT(renew_ms),
     "between two renewals of a node's lease (10s)"},
};
#undef AT
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

static char name[] = "sim";

static void on_ready(void *ctx)
{
    const struct options *o = ctx;
    uint32_t n = simulated_count(&o->nodes);
    printf("dray sim: %u node%s ready\n", n, n == 1 ? "" : "s");
    fflush(stdout);
}

static void say(void *ctx, const char *text)
{
    (void)ctx;
    duty_say(name, text);
}

static void *start(void *ctx, struct client *c)
{
    const struct options *o = ctx;
    struct err e = ERR_INIT;
    struct sim_opts opts = {.groups = o->nodes.groups,
                            .ngroups = o->nodes.n,
                            .renew_ms = o->renew_ms,
                            .silent_drivers = o->silent_drivers,
                            .ready = on_ready,
                            .log = say,
                            .ctx = ctx};
    struct sim *s = sim_new(c, &opts, &e);
    if (!s)
        say(NULL, err_text(&e));
    err_release(&e);
    return s;
}

static void stop(void *work)
{
    sim_free(work);
}

static int run(struct options *o, struct arena *a, struct err *e)
{
    const struct duty duty = {name, &o->lease, start, stop, o};
    struct kubeconfig k;
    const char *shapes = o->shapes ? o->shapes : "h100x8";
    if (!duty_server(name, o->kubeconfig, a, &k, e) ||
        !simulated_read(shapes, o->count, a, &o->nodes, e))
        return EXIT_INPUT;
    int code = duty_run(&duty, &k, e);
    simulated_release(&o->nodes);
    return code;
}

static int read_and_run(int argc, char **argv, struct arena *a, struct err *e)
{
    struct options o = {.count = SIMULATED_DEFAULT};
    bool help = false;
    if (!options_read(&TABLE, argc, argv, a, &o, &help, e))
        return EXIT_INPUT;
    if (!help)
        return run(&o, a, e);
    fputs(USAGE, stdout);
    options_print(&TABLE, stdout);
    fputs(AFTER, stdout);
    return EXIT_OK;
}

int cmd_sim(int argc, char **argv)
{
    return duty_command(name, read_and_run, argc, argv);
}
