/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a large cluster: `kubectl get resourceslices -o json` of 5,000 nodes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "doc/doc.h"

enum { SLICES = 5000, DEVICES = 8, ATTRIBUTES = 8 };

struct load {
    char *path;
    struct doc_source src; /* text: the file, mapped */
    uint64_t objects;
};

static void add_device(struct strbuf *b, int slice, int device)
{
    strbuf_addf(b, "%s{\"name\":\"gpu-%d\",\"attributes\":{", device ? "," : "", device);
    strbuf_addf(b,
                "\"type\":{\"string\":\"gpu\"},"
                "\"uuid\":{\"string\":\"GPU-%08x-%04x-4e5f-8a9b-0123456789ab\"},"
                "\"index\":{\"int\":%d},"
                "\"productName\":{\"string\":\"NVIDIA H100 80GB HBM3\"},"
                "\"driverVersion\":{\"version\":\"570.86.15\"},"
                "\"cudaComputeCapability\":{\"version\":\"9.0.0\"},"
                "\"resource.kubernetes.io/pcieRoot\":{\"string\":\"pci0000:%02x\"},"
                "\"healthy\":{\"bool\":true}},",
                slice * 2654435761u, device, device, device * 16);
    strbuf_addf(b, "\"capacity\":{\"memory\":{\"value\":\"81559Mi\"},"
                   "\"multiprocessors\":{\"value\":\"132\"}}}");
}

static void add_slice(struct strbuf *b, int slice)
{
    strbuf_addf(b,
                "%s{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\","
                "\"metadata\":{\"name\":\"node-%04d-gpu.example.com-x7k2p\","
                "\"uid\":\"3f2504e0-4f89-11d3-9a0c-%012d\",\"resourceVersion\":\"%d\","
                "\"generation\":1,\"creationTimestamp\":\"2026-01-02T03:04:05Z\"},"
                "\"spec\":{\"driver\":\"gpu.example.com\",\"nodeName\":\"node-%04d\","
                "\"pool\":{\"name\":\"node-%04d\",\"generation\":1,"
                "\"resourceSliceCount\":1},\"devices\":[",
                slice ? "," : "", slice, slice, slice + 1000, slice, slice);
    for (int i = 0; i < DEVICES; i++)
        add_device(b, slice, i);
    strbuf_adds(b, "]}}");
}

static bool write_list(int fd)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "{\"apiVersion\":\"resource.k8s.io/v1\","
                    "\"kind\":\"ResourceSliceList\",\"metadata\":{},\"items\":[");
    for (int i = 0; i < SLICES; i++)
        add_slice(&b, i);
    strbuf_adds(&b, "]}\n");
    bool ok = true;
    for (size_t at = 0; ok && at < b.n;) {
        ssize_t n = write(fd, b.p + at, b.n - at);
        ok = n > 0;
        at += ok ? (size_t)n : 0;
    }
    strbuf_release(&b);
    return ok;
}

static bool map_file(int fd, struct str *text)
{
    off_t size = lseek(fd, 0, SEEK_END);
    void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return false;
    *text = (struct str){p, (size_t)size};
    return true;
}

static void load_setup(struct bench *b, const struct bench_row *row)
{
    struct load *l = ARENA_NEW(b->arena, struct load);
    b->data = l;
    const char *tmp = getenv("TMPDIR");
    l->path = arena_strdup(
        b->arena, arena_printf(b->arena, "%s/dray-bench-XXXXXX", tmp ? tmp : "/tmp").p);
    int fd = mkstemp(l->path);
    if (fd < 0 || !write_list(fd) || !map_file(fd, &l->src.text))
        b->skip = "cannot write a file of slices";
    if (fd >= 0)
        close(fd);
    l->src.name = l->path;
    b->question = arena_printf(b->arena, "{\"id\":\"load\",\"file\":\"%s\"}", l->path);
}

static bool count_devices(void *ctx, const struct doc_source *src,
                          const struct doc *object, struct err *e)
{
    const struct doc *devices = doc_path(object, "spec.devices");
    *(uint64_t *)ctx += devices ? devices->n : 0;
    return true;
}

static void load_run(struct bench *b, uint64_t n)
{
    struct load *l = b->data;
    while (n-- > 0) {
        uint64_t devices = 0;
        if (!doc_stream(&l->src, count_devices, &devices, NULL) ||
            devices != SLICES * DEVICES)
            abort();
        b->sink += devices;
    }
}

/* The peak of a process that does nothing else, in bytes, the mapped text included. */
static double load_memory(struct bench *b)
{
    pid_t pid = fork();
    if (pid == 0) {
        load_run(b, 1);
        _exit(0);
    }
    struct rusage usage;
    int status;
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return -1;
    return (double)usage.ru_maxrss * 1024;
}

static void load_teardown(struct bench *b)
{
    struct load *l = b->data;
    if (l->src.text.p)
        munmap((void *)l->src.text.p, l->src.text.n);
    unlink(l->path);
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

const struct bench_row bench_doc[] = {
    {.id = "doc.load",
     .what = "40,000 devices of 5,000 nodes from JSON to trees",
     .cold = true,
     .goal = 10,
     .setup = load_setup,
     .run = load_run,
     .teardown = load_teardown,
     .peer = "load",
     .peer_read = read_ms},
    {.id = "doc.load.memory",
     .what = "peak of a process that does that",
     .cold = true,
     .unit = "B",
     .goal = 10,
     .limit = 200e6,
     .setup = load_setup,
     .measure = load_memory,
     .teardown = load_teardown,
     .peer = "load",
     .peer_read = read_rss},
    {0}};
