/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dray allocate` on a large cluster: 40,000 devices on 5,000 nodes as `kubectl get -o
 * json` prints them, read into what placing needs; then 5,000 pods of one device each
 * placed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "cli/manifests.h"
#include "cli/place.h"

struct files {
    char *folder;
    const char *slices, *nodes, *pods;
};

static void setup(struct bench *b, const struct bench_row *row)
{
    struct files *f = ARENA_NEW(b->arena, struct files);
    struct arena *a = b->arena;
    const char *tmp = getenv("TMPDIR");
    b->data = f;
    f->folder =
        arena_strdup(a, arena_printf(a, "%s/dray-bench-XXXXXX", tmp ? tmp : "/tmp").p);
    if (!mkdtemp(f->folder) ||
        system(arena_printf(a, "python3 bench/cluster.py 5000 8 5000 %s", f->folder).p) !=
            0)
        b->skip = "python3 is needed to make the input";
    f->slices = arena_printf(a, "%s/slices.json", f->folder).p;
    f->nodes = arena_printf(a, "%s/nodes.json", f->folder).p;
    f->pods = arena_printf(a, "%s/pods.json", f->folder).p;
    b->question = arena_printf(a, "{\"id\":\"load\",\"file\":\"%s\"}", f->slices);
}

static void teardown(struct bench *b)
{
    const struct files *f = b->data;
    unlink(f->slices);
    unlink(f->nodes);
    unlink(f->pods);
    rmdir(f->folder);
}

static void load(struct cluster *c, const char *path, struct diags *diags)
{
    const struct manifests_opts opts = {.gates = &api_gates_default,
                                        .now = STR("2026-01-01T00:00:00Z")};
    if (!manifests_read(c, path, &opts, diags) || diags->errors)
        abort();
}

static void run_load(struct bench *b, uint64_t n)
{
    const struct files *f = b->data;
    while (n-- > 0) {
        struct cluster c;
        struct diags diags;
        cluster_init(&c);
        diags_init(&diags);
        load(&c, f->slices, &diags);
        b->sink += c.ndevices;
        diags_fini(&diags);
        cluster_fini(&c);
    }
}

/* The peak of a process that does nothing else, in bytes, the mapped text included. */
static double measure_memory(struct bench *b)
{
    struct rusage usage;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        run_load(b, 1);
        _exit(0);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return -1;
    return (double)usage.ru_maxrss * 1024;
}

/* The time of placing all pods as a part of the time of loading the slices. */
static double measure_place(struct bench *b)
{
    const struct files *f = b->data;
    const struct place_opts opts = {.features = &alloc_features_default};
    struct cluster c;
    struct diags diags;
    struct waiting_pods waiting = {0};
    struct placement placement;
    cluster_init(&c);
    diags_init(&diags);
    uint64_t start = clock_mono_ns();
    load(&c, f->slices, &diags);
    uint64_t loaded = clock_mono_ns() - start;
    load(&c, f->nodes, &diags);
    load(&c, f->pods, &diags);
    start = clock_mono_ns();
    expand_pods(&c, &waiting, &diags);
    place_pods(&c, &waiting, &opts, &placement);
    uint64_t placed = clock_mono_ns() - start;
    if (placement.unplaced || placement.pods.n != 5000)
        abort();
    placement_fini(&placement);
    waiting_pods_release(&waiting);
    diags_fini(&diags);
    cluster_fini(&c);
    return (double)placed / (double)loaded;
}

static bool read_ms(const struct doc *answer, double *figure, bool *at_least)
{
    if (!doc_double(doc_get(answer, "ms"), figure))
        return false;
    *figure *= 1e6;
    return true;
}

static bool read_rss(const struct doc *answer, double *figure, bool *at_least)
{
    if (!doc_double(doc_get(answer, "maxRssKiB"), figure))
        return false;
    *figure *= 1024;
    return true;
}

const struct bench_row bench_allocate[] = {
    {.id = "allocate.load",
     .what = "40,000 devices of 5,000 nodes from JSON, ready for placing",
     .cold = true,
     .goal = 10,
     .setup = setup,
     .run = run_load,
     .teardown = teardown,
     .peer = "load",
     .peer_read = read_ms},
    {.id = "allocate.load.memory",
     .what = "peak of a process that does that",
     .cold = true,
     .unit = "B",
     .goal = 10,
     .limit = 200e6,
     .setup = setup,
     .measure = measure_memory,
     .teardown = teardown,
     .peer = "load",
     .peer_read = read_rss},
    {.id = "allocate.place",
     .what = "5,000 pods on them, as a part of that load's time",
     .cold = true,
     .unit = "loads",
     .limit = 1,
     .setup = setup,
     .measure = measure_place,
     .teardown = teardown},
    {0}};
