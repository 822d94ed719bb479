/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole clusters: `dray up` beside etcd, kube-apiserver, the controller manager and the
 * scheduler, each with bare nodes of 8 devices and a burst of pods that want one each
 * (bench/burst). A run gives a rate and a figure of memory; it is made once for all rows.
 *
 * Environment: DRAY_BURST, the script, and what it wants; DRAY_LOAD unset: no Go.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum side { DRAY, KUBE, SIDES };

struct burst {
    unsigned nodes, pods;
    struct result {
        bool known;
        double ns, bytes; /* for a pod; of all processes. Infinite: it failed */
    } results[SIDES];
};

static struct burst small = {100, 800}, middle = {500, 2500}, large = {5000, 5000};

static void make_result(const struct burst *b, enum side side, struct result *r)
{
    static const char *const NAMES[] = {"dray", "kube"};
    char command[512], line[128] = "", *rest = line;
    snprintf(command, sizeof command, "'%s' %s %u %u", getenv("DRAY_BURST"), NAMES[side],
             b->nodes, b->pods);
    FILE *f = popen(command, "r");
    bool said = f && fgets(line, sizeof line, f);
    double rate = strtod(line, &rest), bytes = strtod(rest, NULL);
    if (f)
        pclose(f);
    *r = said && rate > 0 && bytes > 0 ? (struct result){true, 1e9 / rate, bytes}
                                       : (struct result){true, INFINITY, INFINITY};
}

static const struct result *result_of(struct burst *b, enum side side)
{
    struct result *r = &b->results[side];
    if (!r->known)
        make_result(b, side, r);
    return r;
}

/* ---- rows ---- */

static void setup(struct bench *b, const struct bench_row *row)
{
    b->data = (void *)row->arg;
    if (!getenv("DRAY") || !getenv("DRAY_BURST"))
        b->skip = "DRAY or DRAY_BURST names no program";
    else if (!getenv("DRAY_LOAD"))
        b->skip = "the load generator cannot be built here";
}

static bool have_kube(void)
{
    return getenv("DRAY_KUBE_UP") && getenv("DRAY_KUBE");
}

static double dray_pod(struct bench *b)
{
    return result_of(b->data, DRAY)->ns;
}

static double kube_pod(struct bench *b)
{
    return have_kube() ? result_of(b->data, KUBE)->ns : -1;
}

static double dray_memory(struct bench *b)
{
    return result_of(b->data, DRAY)->bytes;
}

static double kube_memory(struct bench *b)
{
    return have_kube() ? result_of(b->data, KUBE)->bytes : -1;
}

/* What ten times the nodes cost. */
static double dray_middle(struct bench *b)
{
    return result_of(&middle, DRAY)->ns;
}

#define RATE                                                                             \
    .cold = true, .rounds = 1, .setup = setup, .measure = dray_pod,                      \
    .peer_measure = kube_pod
#define MEMORY                                                                           \
    .unit = "B", .rounds = 1, .setup = setup, .measure = dray_memory,                    \
    .peer_measure = kube_memory
#define MB 1e6

const struct bench_row bench_up[] = {
    {.id = "up.100", .what = "100 nodes, a pod of 800", .goal = 20, .arg = &small, RATE},
    {.id = "up.100.memory",
     .what = "resident, after 100 nodes and 800 pods",
     .limit = 60 * MB,
     .arg = &small,
     MEMORY},
    {.id = "up.500",
     .what = "500 nodes, a pod of 2,500",
     .goal = 40,
     .arg = &middle,
     RATE},
    {.id = "up.500.memory",
     .what = "resident, after 500 nodes and 2,500 pods",
     .limit = 60 * MB,
     .arg = &middle,
     MEMORY},
    {.id = "up.5000",
     .what = "5,000 nodes, a pod of 5,000; the peer is dray at 500",
     .cold = true,
     .goal = 0.5,
     .rounds = 1,
     .setup = setup,
     .measure = dray_pod,
     .peer_measure = dray_middle,
     .arg = &large},
    {0}};
