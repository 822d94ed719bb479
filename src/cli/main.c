/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} COMMANDS[] = {
    {"allocate", cmd_allocate, "say which node and which devices every pending pod gets"},
    {"apply", cmd_apply, "make objects of a server as files have them"},
    {"delete", cmd_delete, "delete objects of a server"},
    {"describe", cmd_describe, "print all of an object, and its events"},
    {"events", cmd_events, "print what happened to objects of a server"},
    {"get", cmd_get, "print objects of a server"},
    {"logs", cmd_logs, "print what a pod has said"},
    {"scale", cmd_scale, "set how many pods something has"},
    {"wait", cmd_wait, "wait until objects are as one wants them"},
    {"doctor", cmd_doctor, "say what keeps pods of this node from their devices"},
    {"apiserver", cmd_apiserver, "serve the Kubernetes API from a folder"},
    {"compact", cmd_compact, "make a server forget its history"},
    {"controllers", cmd_controllers, "make claims from templates, and take them back"},
    {"scheduler", cmd_scheduler, "find nodes and devices for pods"},
    {"sim", cmd_sim, "simulated nodes beside a server"},
    {"driver", cmd_driver, "offer the devices of this node to pods"},
    {"up", cmd_up, "run a whole cluster, with simulated nodes"},
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static void usage(FILE *out)
{
    fputs("dray: Kubernetes Dynamic Resource Allocation\n"
          "\n"
          "usage: dray COMMAND [OPTION]...\n"
          "\n",
          out);
    for (int i = 0; i < NCOMMANDS; i++)
        fprintf(out, "  %-11s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    fputs("\n"
          "\"dray COMMAND --help\" explains a command, with examples.\n",
          out);
}

static const struct command *find(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (strcmp(COMMANDS[i].name, name) == 0)
            return &COMMANDS[i];
    return NULL;
}

static int no_command(const char *name)
{
    fprintf(stderr, "dray: there is no command \"%s\"; \"dray help\" lists them\n", name);
    return EXIT_INPUT;
}

/* "dray help allocate" is "dray allocate --help". */
static int help(const char *name)
{
    char *argv[] = {(char *)name, (char *)"--help", NULL};
    const struct command *c = name ? find(name) : NULL;
    if (c)
        return c->run(2, argv);
    if (name)
        return no_command(name);
    usage(stdout);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_INPUT;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(argv[1], "--version") == 0) {
        puts("dray " DRAY_VERSION " (Kubernetes 1.37)");
        return EXIT_OK;
    }
    const struct command *c = find(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : no_command(argv[1]);
}
