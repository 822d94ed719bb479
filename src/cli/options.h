/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a command as one table of rows: it is parsed by, and its help is printed
 * from. Options are written --name VALUE or --name=VALUE, flags --name or --name=BOOL.
 * A later one wins, but lists grow.
 */
#ifndef DRAY_CLI_OPTIONS_H
#define DRAY_CLI_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"

enum option_kind {
    OPTION_TEXT,     /* const char * */
    OPTION_LIST,     /* const char *, "A,B"; given again, more of it */
    OPTION_FLAG,     /* bool */
    OPTION_COUNT,    /* uint32_t */
    OPTION_DURATION, /* uint64_t, milliseconds, as Go writes them: 1m30s, 500ms */
    OPTION_CALL,     /* set() */
};

/* into: the command's struct. Errors: without the option's name. */
typedef bool option_fn(void *into, const char *value, struct err *e);

struct option_row {
    const char *name;     /* NULL: a heading, which is `help` */
    const char *argument; /* as the help shows it: "DIR" */
    enum option_kind kind;
    size_t at; /* where its value is, in the command's struct */
    const char *help;
    option_fn *set;
    char letter; /* -n VALUE, or -nVALUE; of a flag -n alone; 0: none */
};

struct option_table {
    const struct option_row *rows;
    uint32_t n;
};

/* Sets what is given; texts live as long as argv and a. *help: --help or -h was there.
 * Errors: "--name VALUE: what is wrong"; arguments that are no options. */
bool options_read(const struct option_table *t, int argc, char **argv, struct arena *a,
                  void *into, bool *help, struct err *e);
struct option_args {
    char **v;
    uint32_t n;
};
/* The same of a command that has arguments too, before, between and behind options. */
bool options_read_args(const struct option_table *t, int argc, char **argv,
                       struct arena *a, void *into, struct option_args *args, bool *help,
                       struct err *e);
/* One block a heading. */
void options_print(const struct option_table *t, FILE *out);

#endif
