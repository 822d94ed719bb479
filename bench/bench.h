/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmarks: what dray takes beside what the real upstream code takes for the same input
 * in the same run. A file bench/<name>.c defines a table that ends with an empty row,
 *
 *     const struct bench_row bench_num[] = {
 *         {.id = "num.parse", .what = "parse 12 quantities", .goal = 5, .per = 12,
 *          .setup = parse_setup, .run = parse_run, .peer = "quantity"},
 *         {0}};
 *
 * and has a row in bench/meson.build. The program measures in rounds that alternate peer
 * and dray, takes the medians and prints one line a row:
 *
 *     id  peer  dray  ratio  goal  ok|short  cold|warm
 *
 * The peer is tests/peers' oracle: a Go program that is kept running, is sent the row's
 * question as one JSON line and answers with the time it took (DRAY_ORACLE names the
 * program; without it the row shows dray alone).
 */
#ifndef DRAY_BENCH_BENCH_H
#define DRAY_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/doc.h"

struct bench {
    struct arena *arena; /* lives from setup to teardown */
    struct str question; /* for the peer, one line; set by setup, empty: no peer */
    void *data;          /* the row's own */
    uint64_t sink;       /* add results here, so that the work is not optimised away */
    const char *skip;    /* set by setup: why the row cannot run here */
};

struct bench_row {
    const char *id;   /* "num.quantity.parse"; NULL ends the table */
    const char *what; /* the input, for a person */
    bool cold;        /* each run starts from nothing: no caches of earlier runs */
    double goal;      /* the peer's figure over dray's, at least; 0: none */
    double limit;     /* dray's own figure at most, in the row's unit; 0: none */
    unsigned per;     /* items handled in one run, figures are per item; 0: 1 */
    const char *unit; /* NULL: ns. "B": bytes. "": a number of what the row says */

    void (*setup)(struct bench *b, const struct bench_row *row);
    /* Does the work n times: what is measured. */
    void (*run)(struct bench *b, uint64_t n);
    /* Instead of run: measures once by itself and returns the figure, per item. */
    double (*measure)(struct bench *b);
    unsigned rounds; /* 0: as many as time allows, up to nine */
    void (*teardown)(struct bench *b);

    const char *peer; /* mode of the oracle; NULL: no peer */
    /* The answer's field that holds the figure, per item and in the row's unit, "a.b"
     * from map to map; NULL: "ns". */
    const char *peer_field;
    /* Instead of the field: reads the figure from the answer; *at_least when the peer
     * gave up at a limit. False: no figure. */
    bool (*peer_read)(const struct doc *answer, double *figure, bool *at_least);
    /* Instead of the oracle: measures the peer as measure does. Negative: there is none.
     */
    double (*peer_measure)(struct bench *b);
    const void *arg; /* for rows that share functions */
};

#endif
