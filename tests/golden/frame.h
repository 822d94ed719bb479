/* SPDX-License-Identifier: Apache-2.0 */
/* What main.c asks of the frame; runners see golden.h alone. */
#ifndef DRAY_TESTS_GOLDEN_FRAME_H
#define DRAY_TESTS_GOLDEN_FRAME_H

#include "golden/golden.h"
#include "golden/lists.h"

struct golden_options {
    const char *dir;    /* the folder of folders */
    const char *lists;  /* folder of known-failures and differences */
    const char *folder; /* NULL: all */
    const char *id;     /* pattern; NULL: all */
    bool all;           /* list every failing case, not the first 20 */
    bool verbose;       /* show every check of every case */
    bool tap;
    bool accept;
};

struct golden_count {
    unsigned long passed, failed, skipped;
    unsigned long known; /* of the skipped: in known-failures */
};

struct golden_frame {
    const struct golden_options *options;
    struct golden_lists *lists;
    struct arena case_arena;
    struct golden_case current;
    struct golden_count count; /* of this folder */
    unsigned long tap_number;  /* of the last TAP line, over all folders */
};

/* Runs one folder and prints its failures; its counts are in f->count afterwards. */
void golden_run(struct golden_frame *f, const struct golden_runner *r);
/* One outcome outside any case: in TAP mode a line of its own. */
void golden_outcome(struct golden_frame *f, bool ok, const char *name, const char *skip);
/* The case that is running, for the report of a crash; "" between cases. */
extern const char *volatile golden_running;

#endif
