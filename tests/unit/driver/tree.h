/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system of a test's own: a directory in the place of /, that is removed at the
 * end. Failures end the test.
 */
#ifndef DRAY_TESTS_DRIVER_TREE_H
#define DRAY_TESTS_DRIVER_TREE_H

#include "driver/device.h"

struct tree {
    char root[64];
};

void tree_open(struct tree *t);
void tree_close(struct tree *t);
/* Directories above are made. */
void tree_file(struct tree *t, const char *path, const char *text);
void tree_link(struct tree *t, const char *path, const char *target);
void tree_remove(struct tree *t, const char *path);
/* Many at once, a line each: "PATH = TEXT", "PATH -> TARGET", "PATH/".
 * "\\n" in a text is a line's end. */
void tree_fill(struct tree *t, const char *lines);

/* What is offered, as a text of a few lines a device. */
struct str tree_show(const struct driver_inventory *v, struct arena *a);

#endif
