/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device driver as its kubelet sees it: dray's beside the public example driver, each
 * with a dray API server of its own (tests/peers/clients/drivers asks them). Prepare and
 * unprepare are a driver's own part: the whole call less what the server takes for the
 * claim, which is printed to the standard error with the totals. A run gives all figures;
 * it is made once for all rows.
 *
 * Environment: DRAY_DRIVERS, the program that asks; DRAY_KUBE, where the example driver
 * is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum side { DRAY, EXAMPLE, SIDES };
enum figure {
    PREPARE_50,
    PREPARE_99,
    UNPREPARE_50,
    UNPREPARE_99,
    GET_50,
    GET_99,
    RSS_ANON,
    RSS,
    PSS,
    RECOVERY,
    FIGURES
};
enum { CLAIMS = 1000 };

static struct run {
    bool known;
    double v[FIGURES]; /* infinite: it failed */
} runs[SIDES];

/* One line of them. */
static bool read_figures(FILE *f, struct run *r)
{
    char line[512], *at = line, *end;
    if (!fgets(line, sizeof line, f))
        return false;
    for (int i = 0; i < FIGURES; i++, at = end) {
        r->v[i] = strtod(at, &end);
        if (end == at)
            return false;
    }
    return true;
}

static void say(const char *name, const struct run *r)
{
    fprintf(stderr,
            "# %s: prepare %.0f us (p99 %.0f), unprepare %.0f us (p99 %.0f), of it the "
            "server %.0f us (p99 %.0f); VmRSS %.1f MB, Pss %.1f MB\n",
            name, r->v[PREPARE_50] / 1e3, r->v[PREPARE_99] / 1e3,
            r->v[UNPREPARE_50] / 1e3, r->v[UNPREPARE_99] / 1e3, r->v[GET_50] / 1e3,
            r->v[GET_99] / 1e3, r->v[RSS] / 1e6, r->v[PSS] / 1e6);
}

static void make_run(enum side side, struct run *r)
{
    static const char *const NAMES[] = {"dray", "example"};
    char command[1024];
    snprintf(command, sizeof command,
             "'%s' -dray '%s' -example '%s/dra-example-kubeletplugin' -side %s "
             "-claims %d",
             getenv("DRAY_DRIVERS"), getenv("DRAY"),
             getenv("DRAY_KUBE") ? getenv("DRAY_KUBE") : "", NAMES[side], CLAIMS);
    FILE *f = popen(command, "r");
    r->known = true;
    if (f && read_figures(f, r))
        say(NAMES[side], r);
    else
        for (int i = 0; i < FIGURES; i++)
            r->v[i] = INFINITY;
    if (f)
        pclose(f);
}

static double figure(enum side side, const struct bench *b)
{
    const enum figure *of = b->data;
    struct run *r = &runs[side];
    if (!r->known)
        make_run(side, r);
    switch (*of) {
    case PREPARE_50: /* nothing is read for unprepare */
        return r->v[PREPARE_50] - r->v[GET_50];
    case PREPARE_99:
        return r->v[PREPARE_99] - r->v[GET_99];
    default:
        return r->v[*of];
    }
}

static void setup(struct bench *b, const struct bench_row *row)
{
    b->data = (void *)row->arg;
    if (!getenv("DRAY") || !getenv("DRAY_DRIVERS"))
        b->skip = "DRAY or DRAY_DRIVERS names no program";
}

static double of_dray(struct bench *b)
{
    return figure(DRAY, b);
}

static double of_example(struct bench *b)
{
    return getenv("DRAY_KUBE") ? figure(EXAMPLE, b) : -1;
}

#define ROW(figure_)                                                                     \
    .rounds = 1, .setup = setup, .measure = of_dray, .peer_measure = of_example,         \
    .arg = &(const enum figure)                                                          \
    {                                                                                    \
        figure_                                                                          \
    }

const struct bench_row bench_driver[] = {
    {.id = "driver.prepare",
     .what = "prepare a claim, its own part, p50",
     .goal = 4,
     ROW(PREPARE_50)},
    {.id = "driver.prepare.p99",
     .what = "prepare a claim, its own part, p99",
     .goal = 4,
     ROW(PREPARE_99)},
    {.id = "driver.unprepare",
     .what = "unprepare a claim, p50",
     .goal = 4,
     ROW(UNPREPARE_50)},
    {.id = "driver.unprepare.p99",
     .what = "unprepare a claim, p99",
     .goal = 4,
     ROW(UNPREPARE_99)},
    {.id = "driver.memory",
     .what = "RssAnon with 1,000 claims",
     .unit = "B",
     .limit = 6e6,
     ROW(RSS_ANON)},
    {.id = "driver.recover",
     .what = "from a start after kill -9 with 1,000 claims to an answer",
     .cold = true,
     .goal = 10,
     ROW(RECOVERY)},
    {0}};
