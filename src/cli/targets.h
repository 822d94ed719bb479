/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that arguments name: "TYPE", "TYPE NAME...", "TYPE/NAME...",
 * "TYPE,TYPE", a category ("all"), or files (-f).
 */
#ifndef DRAY_CLI_TARGETS_H
#define DRAY_CLI_TARGETS_H

#include "cli/discovery.h"

struct target {
    const struct resource *resource;
    struct str namespace, name; /* name empty: the collection */
    const struct doc *object;   /* as a file has it; NULL: an argument */
};

struct targets {
    struct target *v;
    uint32_t n;
    bool several_types;  /* asked for, whatever there is of them */
    const char *missing; /* objects of files that are left out, as the server has not
                          * their kinds: for targets_end. NULL: none */
};

/* Errors: kinds that the server has not; an argument that is no TYPE/NAME among those
 * that are; no argument at all. */
bool targets_of_args(struct session *s, const struct discovery *d,
                     const struct option_args *args, struct targets *out, struct err *e);
/* files: "A,B", each a file, a folder (its .yaml, .yml and .json; recursive: in its
 * subfolders too) or "-". Objects without a namespace get the session's; one that says
 * another than --namespace is an error. d is read anew once when a kind is not in it;
 * objects whose kind is not there then are left out, as the file may define it. */
bool targets_of_files(struct session *s, struct discovery *d, const char *files,
                      bool recursive, struct targets *out, struct err *e);
/* Says what was left out. The status to exit with, when the rest came to this code. */
int targets_end(const struct targets *t, int code);
/* "pod/a", "deployment.apps/d". */
struct str target_name(const struct target *t, struct arena *a);

#endif
