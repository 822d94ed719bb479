/* SPDX-License-Identifier: Apache-2.0 */
/* dray doctor: what keeps pods of this node from their devices. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/age.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/node_site.h"
#include "cli/options.h"

static const char USAGE[] = "usage: dray doctor [OPTION]...\n"
                            "\n"
                            "Looks at this node as its driver, its kubelet and its "
                            "container runtime see it, and\n"
                            "says what is wrong: directories, CDI, registration, what is "
                            "published, and who holds\n"
                            "devices. The exit code is 1 when something is.\n"
                            "\n";

struct doctor_opts {
    const char *kubeconfig, *driver, *node, *kubelet_dir, *cdi_dir, *devices, *find,
        *root;
};

#define AT(member) offsetof(struct doctor_opts, member)
static const struct option_row ROWS[] = {
    {"kubeconfig", "FILE", OPTION_TEXT, AT(kubeconfig),
     "of the server that is asked what is published ($KUBECONFIG, or none)"},
    {"driver", "NAME", OPTION_TEXT, AT(driver), "the driver's name (device.dray.dev)"},
    {"node", "NAME", OPTION_TEXT, AT(node),
     "the node's name ($NODE_NAME, else the host's)"},
    {"devices", "FILE", OPTION_TEXT, AT(devices), "as dray driver has it, to compare"},
    {"find", "NAME,...", OPTION_TEXT, AT(find), "as dray driver has it, to compare"},
    {"kubelet-dir", "DIR", OPTION_TEXT, AT(kubelet_dir),
     "of the kubelet (/var/lib/kubelet)"},
    {"cdi-dir", "DIR", OPTION_TEXT, AT(cdi_dir),
     "that the driver writes to (/var/run/cdi)"},
    {"root", "DIR", OPTION_TEXT, AT(root), "what the node's / is here (/)"},
};
#undef AT
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

/* ---- lines ---- */

static void say(const char *how, const char *fmt, va_list ap)
{
    fputs(how, stdout);
    vprintf(fmt, ap);
    putchar('\n');
}

void doctor_ok(struct doctor *d, const char *fmt, ...)
{
    va_list ap;
    (void)d;
    va_start(ap, fmt);
    say("ok     ", fmt, ap);
    va_end(ap);
}

void doctor_wrong(struct doctor *d, const char *fmt, ...)
{
    va_list ap;
    d->wrong++;
    va_start(ap, fmt);
    say("wrong  ", fmt, ap);
    va_end(ap);
}

void doctor_note(struct doctor *d, const char *fmt, ...)
{
    va_list ap;
    (void)d;
    va_start(ap, fmt);
    say("       ", fmt, ap);
    va_end(ap);
}

const char *doctor_path(const struct doctor *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str path = arena_vprintf(d->a, fmt, ap);
    va_end(ap);
    return arena_printf(d->a, "%.*s%.*s", STR_ARG(d->root), STR_ARG(path)).p;
}

struct str doctor_since(const struct doctor *d, int64_t since_s)
{
    int64_t s = d->now_s > since_s ? d->now_s - since_s : 0;
    return age_print(s * 1000000000, d->a);
}

/* ---- the command ---- */

static struct doctor doctor_of(const struct doctor_opts *o, struct arena *a)
{
    struct node_site site =
        node_site_of(o->driver, o->node, o->kubelet_dir, o->cdi_dir, a);
    return (struct doctor){.a = a,
                           .root = str_from(o->root ? o->root : ""),
                           .driver = site.driver,
                           .node = site.node,
                           .kubelet_dir = site.kubelet_dir,
                           .cdi_dir = site.cdi_dir,
                           .devices = o->devices,
                           .find = o->find,
                           .now_s = time(NULL)};
}

static void examine(struct doctor *d)
{
    doctor_directories(d);
    doctor_runtimes(d);
    doctor_sockets(d);
    doctor_slices(d);
    doctor_holders(d);
    if (d->wrong)
        printf("\n%u %s wrong\n", d->wrong, d->wrong == 1 ? "thing is" : "things are");
    else
        printf("\nnothing is wrong\n");
}

static int run(const struct doctor_opts *o, struct arena *a, struct err *e)
{
    struct doctor d = doctor_of(o, a);
    struct session s;
    const struct session_opts session = {.kubeconfig = o->kubeconfig};
    const char *set = getenv("KUBECONFIG");
    if (o->kubeconfig || (set && *set)) {
        if (!session_open(&s, &session, a, e))
            return EXIT_INPUT;
        d.session = &s;
    }
    examine(&d);
    if (d.session)
        session_close(&s);
    return d.wrong ? EXIT_NO : EXIT_OK;
}

int cmd_doctor(int argc, char **argv)
{
    struct arena a = {0};
    struct err e = ERR_INIT;
    struct doctor_opts o = {0};
    bool help = false;
    int code = EXIT_INPUT;
    if (options_read(&TABLE, argc, argv, &a, &o, &help, &e)) {
        if (help) {
            fputs(USAGE, stdout);
            options_print(&TABLE, stdout);
            code = EXIT_OK;
        } else {
            code = run(&o, &a, &e);
        }
    }
    if (e.code != ERR_NONE)
        fprintf(stderr, "dray doctor: %s\n", err_text(&e));
    err_release(&e);
    arena_fini(&a);
    return code;
}
