/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of every command that is a client of a server. */
#ifndef DRAY_CLI_CLIENT_CMD_H
#define DRAY_CLI_CLIENT_CMD_H

#include "cli/discovery.h"

struct client_cmd {
    const char *usage;
    struct option_table table;
    void *into;                         /* what the table fills */
    const struct session_opts *session; /* in it */
    /* The command itself; an exit code, and what is to be said in e. */
    int (*run)(struct session *s, const struct option_args *args, void *into,
               struct err *e);
};

/* Options, help, the session, and what went wrong on standard error. */
int client_cmd_run(const struct client_cmd *c, int argc, char **argv);
/* Says it there and then; the command goes on. */
void client_cmd_say(struct err *e);

#endif
