/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of dray: one file each, cmd_NAME.c. */
#ifndef DRAY_CLI_COMMANDS_H
#define DRAY_CLI_COMMANDS_H

/* Exit codes of every command. */
enum {
    EXIT_OK = 0,
    EXIT_NO = 1,    /* the answer is no: a pod does not fit */
    EXIT_INPUT = 2, /* wrong usage or wrong input */
};

int cmd_allocate(int argc, char **argv);
int cmd_apiserver(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_compact(int argc, char **argv);
int cmd_controllers(int argc, char **argv);
int cmd_delete(int argc, char **argv);
int cmd_driver(int argc, char **argv);
int cmd_describe(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_logs(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_scale(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_scheduler(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_up(int argc, char **argv);

#endif
