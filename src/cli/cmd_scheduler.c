/* SPDX-License-Identifier: Apache-2.0 */
/* dray scheduler: a scheduler beside an API server, dray's or the real one. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/duty.h"
#include "cli/gates.h"
#include "sched/scheduler.h"

static const char USAGE[] =
    "usage: dray scheduler --kubeconfig FILE [OPTION]...\n"
    "\n"
    "Finds nodes, and devices, for pods that have none, in the place of kube-scheduler.\n"
    "A configuration file is one of kube-scheduler's (kubescheduler.config.k8s.io/v1);\n"
    "what in it is not supported is an error.\n"
    "\n"
    "In a pod the kubeconfig may be left out: it acts as its service account then.\n"
    "\n";

struct options {
    const char *kubeconfig, *config_file;
    struct duty_lease lease;
    struct api_gates gates;
    struct sched_config config;
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
    {"config", "FILE", OPTION_TEXT, AT(config_file),
     "profiles and more, as kube-scheduler reads them"},
    {"feature-gates", "NAME=BOOL,...", OPTION_CALL, 0, "gates of Kubernetes", set_gates},
    DUTY_ROWS(AT(lease), "kube-scheduler"),
};
#undef AT
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

static char name[] = "scheduler";

static void *start(void *ctx, struct client *c)
{
    const struct options *o = ctx;
    struct scheduler_opts opts = {
        .config = &o->config, .gates = o->gates, .log = duty_say, .log_ctx = name};
    return scheduler_new(c, &opts);
}

static void stop(void *work)
{
    scheduler_free(work);
}

/* The file comes before options, which are read again over what it says. */
static bool read_config(struct options *o, struct arena *a, struct err *e)
{
    struct str text;
    o->config = sched_config_default(a);
    if (!o->config_file)
        return true;
    return kubeconfig_read_file(o->config_file, a, &text, e) &&
           sched_config_read(text, o->config_file, a, &o->config, e);
}

static void set_lease(struct duty_lease *l, const struct sched_config *c, struct arena *a)
{
    if (c->has_elect)
        l->elect = c->elect;
    if (c->lease_name.n)
        l->name = arena_str(a, c->lease_name).p;
    if (c->lease_namespace.n)
        l->namespace = arena_str(a, c->lease_namespace).p;
    if (c->lease_ms)
        l->lease_ms = c->lease_ms;
    if (c->renew_ms)
        l->renew_ms = c->renew_ms;
    if (c->retry_ms)
        l->retry_ms = c->retry_ms;
}

/* What a file of profiles of one's own easily leaves out. */
static void say_left(const struct sched_config *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (str_is(c->profiles[i].name, "default-scheduler"))
            return;
    duty_say(name, "no profile is default-scheduler: pods that name no scheduler are "
                   "left to another one");
}

static int read_and_run(int argc, char **argv, struct arena *a, struct err *e)
{
    struct options o = {
        .gates = api_gates_default,
        .lease = {.elect = true, .namespace = "kube-system", .name = "kube-scheduler"}};
    const struct duty duty = {name, &o.lease, start, stop, &o};
    struct kubeconfig k;
    bool help = false;
    if (!options_read(&TABLE, argc, argv, a, &o, &help, e))
        return EXIT_INPUT;
    if (help) {
        fputs(USAGE, stdout);
        options_print(&TABLE, stdout);
        return EXIT_OK;
    }
    if (!read_config(&o, a, e))
        return EXIT_INPUT;
    set_lease(&o.lease, &o.config, a);
    o.gates = api_gates_default;
    if (!options_read(&TABLE, argc, argv, a, &o, &help, e) ||
        !duty_server(name, o.kubeconfig, a, &k, e))
        return EXIT_INPUT;
    say_left(&o.config);
    return duty_run(&duty, &k, e);
}

int cmd_scheduler(int argc, char **argv)
{
    return duty_command(name, read_and_run, argc, argv);
}
