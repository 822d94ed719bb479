/* SPDX-License-Identifier: Apache-2.0 */
/* process_*: what the system says of this process. */
#include "server/observe/measure.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void print(struct strbuf *out, const char *name, const char *type,
                  const char *help, double v)
{
    metrics_print_head(out, name, type, help);
    strbuf_addf(out, "%s ", name);
    metrics_print_number(out, v);
    strbuf_addc(out, '\n');
}

static double cpu_seconds(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0)
        return 0;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    double n = -1; /* of what is counted, one is the folder itself */
    if (!d)
        return 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static bool read_text(const char *path, char *to, size_t n)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t got = fread(to, 1, n - 1, f);
    fclose(f);
    to[got] = '\0';
    return got > 0;
}

/* Pages of memory: all of it, and what is resident. */
static void memory(double *all, double *resident)
{
    char text[128], *end;
    long page = sysconf(_SC_PAGESIZE);
    *all = *resident = 0;
    if (!read_text("/proc/self/statm", text, sizeof text))
        return;
    *all = (double)strtoll(text, &end, 10) * (double)page;
    *resident = (double)strtoll(end, NULL, 10) * (double)page;
}

/* Field 22 of /proc/self/stat counts ticks since the system started; the fields are
 * counted behind the name, which may hold anything. */
static double start_seconds(void)
{
    char text[1024], uptime[64];
    if (!read_text("/proc/self/stat", text, sizeof text) ||
        !read_text("/proc/uptime", uptime, sizeof uptime))
        return 0;
    const char *at = strrchr(text, ')');
    for (int i = 2; at && i < 22; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double ticks = (double)strtoll(at, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - strtod(uptime, NULL) + ticks;
}

void measure_process(struct strbuf *out)
{
    struct rlimit files = {0, 0};
    double all, resident;
    getrlimit(RLIMIT_NOFILE, &files);
    memory(&all, &resident);
    print(out, "process_cpu_seconds_total", "counter",
          "Processor time that was spent, in user mode and in the system.",
          cpu_seconds());
    print(out, "process_max_fds", "gauge", "File descriptors that may be open.",
          (double)files.rlim_cur);
    print(out, "process_open_fds", "gauge", "File descriptors that are open.",
          open_files());
    print(out, "process_resident_memory_bytes", "gauge", "Memory that is resident.",
          resident);
    print(out, "process_virtual_memory_bytes", "gauge", "Memory that is mapped.", all);
    print(out, "process_start_time_seconds", "gauge",
          "When the process began, in seconds of the epoch.", start_seconds());
}
