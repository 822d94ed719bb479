/* SPDX-License-Identifier: Apache-2.0 */
/* dray-bench: measures the rows of all tables, or those whose ids match. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "peer.h"

#define B(name) extern const struct bench_row bench_##name[];
BENCH_TABLES
#undef B
#define B(name) bench_##name,
static const struct bench_row *const tables[] = {BENCH_TABLES NULL};
#undef B

enum { MOST_ROUNDS = 9 };
static const double SHORTEST_BATCH = 5e6; /* ns */
static const double LONGEST_ROW = 8e9;    /* after which no further round starts */

struct figure {
    double v[MOST_ROUNDS];
    int n;
    bool at_least; /* the peer gave up: no more than a lower bound */
};

struct counts {
    int ok, missed, none;
};

/* ---- Measuring ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct figure *f)
{
    if (f->n == 0)
        return -1;
    qsort(f->v, (size_t)f->n, sizeof *f->v, by_value);
    return f->n % 2 ? f->v[f->n / 2] : (f->v[f->n / 2 - 1] + f->v[f->n / 2]) / 2;
}

static double time_runs(struct bench *b, const struct bench_row *row, uint64_t n)
{
    uint64_t start = clock_mono_ns();
    row->run(b, n);
    return (double)(clock_mono_ns() - start);
}

/* How many runs make a batch that is long against the clock. Warms up on the way. */
static uint64_t batch_size(struct bench *b, const struct bench_row *row)
{
    uint64_t n = 1;
    for (;;) {
        double ns = time_runs(b, row, n);
        if (ns >= SHORTEST_BATCH || n >= 1u << 30)
            return n;
        double more = ns > 0 ? SHORTEST_BATCH * 1.2 / ns : 100;
        n *= more > 100 ? 100 : more < 2 ? 2 : (uint64_t)more + 1;
    }
}

static void measure_dray(struct bench *b, const struct bench_row *row, uint64_t n,
                         struct figure *f)
{
    double per = row->per ? row->per : 1;
    f->v[f->n++] = row->run ? time_runs(b, row, n) / (double)n / per : row->measure(b);
}

static bool read_answer(const struct bench_row *row, const struct doc *answer,
                        double *figure, bool *at_least)
{
    if (row->peer_read)
        return row->peer_read(answer, figure, at_least);
    const struct doc *d = doc_path(answer, row->peer_field ? row->peer_field : "ns");
    return d && doc_double(d, figure);
}

static bool measure_peer(struct peer *p, struct bench *b, const struct bench_row *row,
                         struct figure *f)
{
    struct arena a;
    struct doc answer;
    double figure;
    bool at_least = false;
    arena_init(&a);
    bool ok = peer_ask(p, b->question, &a, &answer) &&
              read_answer(row, &answer, &figure, &at_least);
    arena_fini(&a);
    if (ok) {
        f->v[f->n++] = figure;
        f->at_least = at_least;
    }
    return ok;
}

/* A peer that a row measures by itself. */
static bool measure_own_peer(struct bench *b, const struct bench_row *row,
                             struct figure *f)
{
    double figure = row->peer_measure(b);
    bool ok = isfinite(figure) && figure > 0;
    if (ok)
        f->v[f->n++] = figure;
    return ok;
}

/* Peer and dray take turns, so that a slow spell of the machine meets both. */
static void measure_row(struct bench *b, const struct bench_row *row, struct peer *p,
                        struct figure *peer, struct figure *dray)
{
    uint64_t start = clock_mono_ns();
    bool ask = (p->pid != 0 && b->question.n > 0) || row->peer_measure;
    uint64_t n = row->run ? batch_size(b, row) : 1;
    int rounds = row->rounds ? (int)row->rounds : MOST_ROUNDS;
    for (int round = 0; round < rounds; round++) {
        if (ask && row->peer_measure)
            ask = measure_own_peer(b, row, peer);
        else if (ask)
            ask = measure_peer(p, b, row, peer) && !peer->at_least;
        measure_dray(b, row, n, dray);
        if (round >= 2 && (double)(clock_mono_ns() - start) > LONGEST_ROW)
            break;
    }
}

/* ---- Printing ---- */

static const char *show(double v, const char *unit, bool at_least, char out[32])
{
    static const struct {
        const char *unit, *name;
        double from, scale;
    } scales[] = {
        {"ns", "s", 1e9, 1e9},
        {"ns", "ms", 1e6, 1e6},
        {"ns", "us", 1e3, 1e3},
        {"ns", "ns", 0, 1},
        {"B", "GiB", 1 << 30, 1 << 30},
        {"B", "MiB", 1 << 20, 1 << 20},
        {"B", "KiB", 1 << 10, 1 << 10},
        {"B", "B", 0, 1},
        {"", "", 0, 1},
    };
    if (v < 0)
        return "-";
    size_t i = 0, n = sizeof scales / sizeof *scales;
    while (i + 1 < n && (strcmp(scales[i].unit, unit) != 0 || v < scales[i].from))
        i++;
    snprintf(out, 32, "%s%.3g %s", at_least ? ">=" : "", v / scales[i].scale,
             scales[i].name);
    return out;
}

static const char *verdict(const struct bench_row *row, double ratio, double dray)
{
    bool has_ratio = row->goal > 0 && ratio >= 0, has_limit = row->limit > 0;
    if (!has_ratio && !has_limit)
        return "-";
    bool ok = (!has_ratio || ratio >= row->goal) && (!has_limit || dray <= row->limit);
    return ok ? "ok" : "short";
}

static void print_row(const struct bench_row *row, struct figure *peer,
                      struct figure *dray, struct counts *counts)
{
    const char *unit = row->unit ? row->unit : "ns";
    double theirs = median(peer), ours = median(dray);
    double ratio = theirs >= 0 && ours > 0 ? theirs / ours : -1;
    char a[32], b[32], c[32], r[32] = "-", g[80] = "-";
    if (ratio >= 0)
        snprintf(r, sizeof r, "%s%.*fx", peer->at_least ? ">=" : "", ratio < 10, ratio);
    if (row->goal > 0 && row->limit > 0)
        snprintf(g, sizeof g, ">=%gx <=%s", row->goal, show(row->limit, unit, false, c));
    else if (row->goal > 0)
        snprintf(g, sizeof g, ">=%gx", row->goal);
    else if (row->limit > 0)
        snprintf(g, sizeof g, "<=%s", show(row->limit, unit, false, c));
    const char *word = verdict(row, ratio, ours);
    printf("%-28s %10s %10s %10s %14s %-5s %s  %s\n", row->id,
           show(theirs, unit, peer->at_least, a), show(ours, unit, false, b), r, g, word,
           row->cold ? "cold" : "warm", row->what);
    *(word[0] == 'o'   ? &counts->ok
      : word[0] == 's' ? &counts->missed
                       : &counts->none) += 1;
}

static void run_row(const struct bench_row *row, const char *oracle,
                    struct counts *counts)
{
    struct arena a;
    arena_init(&a);
    struct bench b = {.arena = &a};
    struct peer p = {0};
    struct figure peer = {0}, dray = {0};
    if (row->setup)
        row->setup(&b, row);
    if (b.skip) {
        printf("%-28s skipped: %s\n", row->id, b.skip);
        counts->none++;
    } else {
        if (row->peer && oracle && !peer_start(&p, oracle, row->peer))
            fprintf(stderr, "dray-bench: cannot run %s\n", oracle);
        measure_row(&b, row, &p, &peer, &dray);
        print_row(row, &peer, &dray, counts);
        peer_stop(&p);
    }
    if (row->teardown)
        row->teardown(&b);
    arena_fini(&a);
}

/* A pattern stands for itself and for what begins with it: "num" runs "num.parse". */
static bool wanted(const char *id, int argc, char **argv)
{
    bool yes = argc < 2;
    for (int i = 1; i < argc && !yes; i++)
        yes = fnmatch(argv[i], id, 0) == 0 || str_starts(str_from(id), str_from(argv[i]));
    return yes;
}

static const char *find_oracle(void)
{
    const char *path = getenv("DRAY_ORACLE");
    return path && *path && access(path, X_OK) == 0 ? path : NULL;
}

int main(int argc, char **argv)
{
    const char *oracle = find_oracle();
    struct counts counts = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!oracle)
        printf("# no peer: DRAY_ORACLE names no program, dray alone is measured\n");
    printf("%-28s %10s %10s %10s %14s\n", "# id", "peer", "dray", "ratio", "goal");
    for (size_t i = 0; tables[i]; i++)
        for (const struct bench_row *row = tables[i]; row->id; row++)
            if (wanted(row->id, argc, argv))
                run_row(row, oracle, &counts);
    printf("%d ok, %d short, %d without a verdict\n", counts.ok, counts.missed,
           counts.none);
    return 0;
}
