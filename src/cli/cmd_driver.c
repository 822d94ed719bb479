/* SPDX-License-Identifier: Apache-2.0 */
/* dray driver: offers the devices of this node to pods, under any kubelet. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/duty.h"
#include "cli/node_site.h"
#include "driver/discover.h"
#include "driver/driver.h"

static const char USAGE[] =
    "usage: dray driver --kubeconfig FILE (--devices FILE | --find NAME,...) "
    "[OPTION]...\n"
    "\n"
    "Offers devices of this node to the pods of a cluster: publishes them as\n"
    "ResourceSlices, and prepares them for containers when the kubelet asks. A file "
    "says\n"
    "which devices there are; dray-devices(5) describes it.\n"
    "\n"
    "In a pod the kubeconfig may be left out: it acts as its service account then.\n"
    "\n";

struct options {
    const char *kubeconfig, *devices, *find, *driver, *node, *kubelet_dir, *cdi_dir,
        *pod_uid, *metadata;
    uint64_t discover_ms;
    bool lists;
};

#define AT(member) offsetof(struct options, member)
static const struct option_row ROWS[] = {
    {"kubeconfig", "FILE", OPTION_TEXT, AT(kubeconfig),
     "says where the server is, and who asks"},
    {"devices", "FILE", OPTION_TEXT, AT(devices), "devices that are offered"},
    {"find", "NAME,...", OPTION_TEXT, AT(find),
     "devices that are looked for and offered: nvml, net, amd, intel, tpu"},
    {"driver", "NAME", OPTION_TEXT, AT(driver), "the driver's name (device.dray.dev)"},
    {"node", "NAME", OPTION_TEXT, AT(node),
     "the node's name ($NODE_NAME, else the host's)"},
    {"kubelet-dir", "DIR", OPTION_TEXT, AT(kubelet_dir),
     "of the kubelet (/var/lib/kubelet)"},
    {"cdi-dir", "DIR", OPTION_TEXT, AT(cdi_dir),
     "where the container runtime looks for devices (/var/run/cdi)"},
    {"pod-uid", "UID", OPTION_TEXT, AT(pod_uid),
     "of the pod it runs in: the next instance may start before this one ends"},
    {"metadata-versions", "VERSION,...", OPTION_TEXT, AT(metadata),
     "of files about its devices in each container, newest first (none)"},
    {"discover-interval", "TIME", OPTION_DURATION, AT(discover_ms),
     "between looks for devices, beside those on changes (10s)"},
    {"list-attributes", "BOOL", OPTION_FLAG, AT(lists),
     "the server has the gate DRAListTypeAttributes: lists are published (false)"},
};
#undef AT
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

static char name[] = "driver";

struct setting {
    struct options options;
    struct driver_opts opts;
    struct driver_discover_opts discover;
    struct err err;
};

static void *start(void *ctx, struct client *c)
{
    struct setting *s = ctx;
    struct driver_backend *b =
        driver_backend_new(s->options.find, s->options.devices, &s->discover, &s->err);
    return b ? driver_new(c, b, &s->opts, &s->err) : NULL;
}

static void stop(void *work)
{
    driver_free(work);
}

/* Whoever started it starts it again. */
static void on_failed(void *ctx)
{
    exit(EXIT_NO);
}

/* "a,b" */
static void read_versions(struct driver_opts *o, const char *list, struct arena *a)
{
    struct str rest = str_from(list);
    struct str *v = ARENA_ARRAY(a, struct str, rest.n + 1);
    uint32_t n = 0;
    while (rest.n > 0) {
        size_t end = 0;
        while (end < rest.n && rest.p[end] != ',')
            end++;
        v[n++] = arena_str(a, str_sub(rest, 0, end));
        rest = str_sub(rest, end + 1, SIZE_MAX);
    }
    o->metadata_versions = v;
    o->nmetadata_versions = n;
}

static void set_up(struct setting *s, struct arena *a)
{
    const struct options *o = &s->options;
    struct driver_opts *to = &s->opts;
    struct node_site site =
        node_site_of(o->driver, o->node, o->kubelet_dir, o->cdi_dir, a);
    *to = (struct driver_opts){
        .driver = site.driver,
        .node = site.node,
        .kubelet_dir = site.kubelet_dir,
        .cdi_dir = site.cdi_dir,
        .instance = str_from(o->pod_uid ? o->pod_uid : ""),
        .discover_ms = o->discover_ms,
        .log = duty_say,
        .log_ctx = name,
        .failed = on_failed,
    };
    if (o->metadata)
        read_versions(to, o->metadata, a);
    s->discover = (struct driver_discover_opts){.driver = to->driver, .lists = o->lists};
}

static int read_and_run(int argc, char **argv, struct arena *a, struct err *e)
{
    struct setting s = {.err = ERR_INIT};
    const struct duty_lease alone = {.elect = false};
    const struct duty duty = {name, &alone, start, stop, &s};
    struct kubeconfig k;
    bool help = false;
    if (!options_read(&TABLE, argc, argv, a, &s.options, &help, e))
        return EXIT_INPUT;
    if (help) {
        fputs(USAGE, stdout);
        options_print(&TABLE, stdout);
        return EXIT_OK;
    }
    if (!s.options.devices && !s.options.find) {
        err_set(e, ERR_INVALID,
                "--devices FILE (dray-devices(5) describes it) or --find is missing");
        return EXIT_INPUT;
    }
    set_up(&s, a);
    if (!duty_server(name, s.options.kubeconfig, a, &k, e))
        return EXIT_INPUT;
    int code = duty_run(&duty, &k, e);
    if (s.err.code != ERR_NONE) {
        *e = s.err;
        code = EXIT_INPUT;
    }
    return code;
}

int cmd_driver(int argc, char **argv)
{
    return duty_command(name, read_and_run, argc, argv);
}
