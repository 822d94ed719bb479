/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "peers/eval.h"

#define M(mode) extern const struct eval_mode eval_##mode;
EVAL_MODES
#undef M
#define M(mode) &eval_##mode,
static const struct eval_mode *const modes[] = {EVAL_MODES NULL};
#undef M

static const char usage[] =
    "usage: dray-eval [options] MODE < questions > answers\n"
    "  --devices FILE  evaluate every expression on the named devices of FILE\n"
    "  --repeat N      put medians of N measurements into the answers (ns)\n"
    "  --list          print the modes of this build\n"
    "modes:";

void eval_set(struct eval *ev, struct doc *map, const char *key, struct doc value)
{
    doc_set(ev->arena, map, key, value);
}

void eval_set_str(struct eval *ev, struct doc *map, const char *key, struct str s)
{
    if (s.p)
        eval_set(ev, map, key, doc_make_string(ev->arena, s));
}

void eval_set_int(struct eval *ev, struct doc *map, const char *key, int64_t v)
{
    eval_set(ev, map, key, doc_make_int(ev->arena, v));
}

void eval_set_bool(struct eval *ev, struct doc *map, const char *key, bool v)
{
    eval_set(ev, map, key, doc_make_bool(v));
}

void eval_set_double(struct eval *ev, struct doc *map, const char *key, double v)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    eval_set_str(ev, map, key, str_from(text));
}

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t timed(uint64_t calls, void (*f)(void *), void *ctx)
{
    uint64_t start = clock_mono_ns();
    for (uint64_t i = 0; i < calls; i++)
        f(ctx);
    return clock_mono_ns() - start;
}

double eval_median(int n, void (*f)(void *), void *ctx)
{
    enum { SHORTEST_BATCH = 200000 };
    uint64_t calls = 1;
    while (timed(calls, f, ctx) < SHORTEST_BATCH)
        calls *= 2;
    double *times = mem_array((size_t)n, sizeof *times);
    for (int i = 0; i < n; i++)
        times[i] = (double)timed(calls, f, ctx) / (double)calls;
    qsort(times, (size_t)n, sizeof *times, cmp_double);
    double middle = times[n / 2];
    free(times);
    return middle;
}

static void answer_line(struct eval *ev, const struct eval_mode *mode, struct str line,
                        unsigned number)
{
    struct err e = ERR_INIT;
    struct doc question, answer = doc_make_map();
    struct doc_source src = {.name = "questions", .text = line};
    if (!doc_read_json(&src, ev->arena, &question, &e)) {
        fprintf(stderr, "dray-eval: line %u: %s\n", number, err_text(&e));
        exit(2);
    }
    const struct doc *id = doc_get(&question, "id");
    eval_set(ev, &answer, "id", id ? *id : doc_make_null());
    mode->answer(ev, &question, &answer);
    struct strbuf out = STRBUF_INIT;
    doc_write_json(&answer, DOC_JSON_COMPACT, &out);
    puts(strbuf_cstr(&out));
    /* A caller may wait for this answer before it asks the next question. */
    fflush(stdout);
    strbuf_release(&out);
    arena_reset(ev->arena);
}

static void serve(struct eval *ev, const struct eval_mode *mode)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    for (unsigned number = 1; (n = getline(&line, &room, stdin)) > 0; number++) {
        struct str text = str_trim((struct str){line, (size_t)n});
        if (text.n)
            answer_line(ev, mode, text, number);
    }
    free(line);
}

static void read_devices(struct eval *ev, const char *path)
{
    FILE *f = fopen(path, "rb");
    struct strbuf b = STRBUF_INIT;
    size_t n = 1;
    while (f && n) {
        strbuf_reserve(&b, 65536);
        n = fread(b.p + b.n, 1, 65536, f);
        b.n += n;
    }
    struct err e = ERR_INIT;
    struct doc_source src = {.name = path, .text = arena_str(ev->keep, strbuf_str(&b))};
    if (!f || !doc_read(&src, ev->keep, &ev->devices, &e)) {
        fprintf(stderr, "dray-eval: %s: %s\n", path, f ? err_text(&e) : "cannot open");
        exit(2);
    }
    fclose(f);
    strbuf_release(&b);
}

static void list_modes(FILE *out)
{
    for (size_t i = 0; modes[i]; i++)
        fprintf(out, " %s", modes[i]->name);
    fputc('\n', out);
}

static const struct eval_mode *find_mode(const char *name)
{
    for (size_t i = 0; name && modes[i]; i++)
        if (strcmp(modes[i]->name, name) == 0)
            return modes[i];
    fputs(usage, stderr);
    list_modes(stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"devices", required_argument, NULL, 'd'},
                                            {"repeat", required_argument, NULL, 'r'},
                                            {"list", no_argument, NULL, 'l'},
                                            {0}};
    struct arena arena, keep;
    arena_init(&arena);
    arena_init(&keep);
    struct eval ev = {.arena = &arena, .keep = &keep};
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'd')
            read_devices(&ev, optarg);
        else if (c == 'r')
            ev.repeat = (int)strtol(optarg, NULL, 10);
        else if (c == 'l')
            return list_modes(stdout), 0;
        else
            find_mode(NULL);
    }
    const struct eval_mode *mode = find_mode(argv[optind]);
    serve(&ev, mode);
    if (mode->end)
        mode->end(&ev);
    arena_fini(&arena);
    arena_fini(&keep);
    return 0;
}
