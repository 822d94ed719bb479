/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: every file of the folders given, each with a
 * number of mutations that depend on nothing but the file, so that a failure repeats.
 *
 *     fuzz-json [--mutate N] FOLDER-OR-FILE...
 *
 * Speaks TAP, one line a file.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "fuzz/fuzz.h"

enum { LONGEST = 1 << 16 };

static unsigned long count;

static bool slurp(const char *path, struct strbuf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    size_t n;
    do {
        strbuf_reserve(out, 4096);
        n = fread(out->p + out->n, 1, 4096, f);
        out->n += n;
    } while (n > 0);
    bool ok = !ferror(f);
    fclose(f);
    return ok;
}

/* The target sees a copy of exactly this size, so that a sanitizer notices one byte more.
 */
static void run_bytes(const char *p, size_t n)
{
    uint8_t *copy = mem_alloc(n);
    if (n)
        memcpy(copy, p, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

/* Bytes that mean something to one parser or another. */
static char some_byte(struct rng *r)
{
    static const char special[] =
        "\"\\{}[]:,.-+*?()&|!#%/'<>=\n\t 019aeEnx_\0\x7f\x80\xff";
    int64_t i = rng_range(r, 0, 3 * (int64_t)sizeof special);
    return i < (int64_t)sizeof special ? special[i] : (char)rng_next(r);
}

static void replace(struct strbuf *b, size_t at, size_t cut, const char *p, size_t n)
{
    struct strbuf out = STRBUF_INIT;
    strbuf_add(&out, b->p, at);
    strbuf_add(&out, p, n);
    strbuf_add(&out, b->p + at + cut, b->n - at - cut);
    strbuf_release(b);
    *b = out;
}

/* One change: a byte replaced, put in or taken out; a piece doubled, dropped or cut. */
static void mutate(struct rng *r, struct strbuf *b)
{
    size_t at = (size_t)rng_range(r, 0, (int64_t)b->n);
    size_t piece = (size_t)rng_range(r, 0, (int64_t)(b->n - at));
    char c = some_byte(r);
    switch (rng_range(r, 0, 5)) {
    case 0:
        replace(b, at, at < b->n, &c, 1);
        break;
    case 1:
        replace(b, at, 0, &c, 1);
        break;
    case 2:
        replace(b, at, at < b->n, NULL, 0);
        break;
    case 3:
        replace(b, at, piece, NULL, 0);
        break;
    case 4:
        if (b->n + piece <= LONGEST) {
            char *copy = mem_dup(b->p + at, piece);
            replace(b, at, 0, copy, piece);
            free(copy);
        }
        break;
    default:
        replace(b, at, b->n - at, NULL, 0);
    }
}

static void run_file(const char *path, long mutations)
{
    struct strbuf seed = STRBUF_INIT;
    struct rng r;
    printf("# %s\n", path);
    strbuf_reserve(&seed, 1);
    bool ok = slurp(path, &seed);
    run_bytes(seed.p, seed.n);
    rng_init(&r, str_hash(strbuf_str(&seed)));
    for (long i = 0; i < mutations; i++) {
        struct strbuf b = STRBUF_INIT;
        strbuf_add(&b, seed.p, seed.n);
        for (int64_t n = rng_range(&r, 1, 4); n > 0; n--)
            mutate(&r, &b);
        run_bytes(b.p, b.n);
        strbuf_release(&b);
    }
    const char *slash = strrchr(path, '/');
    printf("%s %lu - %s\n", ok ? "ok" : "not ok", ++count, slash ? slash + 1 : path);
    strbuf_release(&seed);
}

static int is_seed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void run_folder(const char *path, long mutations)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_seed, alphasort);
    for (int i = 0; i < n; i++) {
        struct strbuf file = STRBUF_INIT;
        strbuf_addf(&file, "%s/%s", path, entries[i]->d_name);
        run_file(strbuf_cstr(&file), mutations);
        strbuf_release(&file);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    long mutations = 0;
    int i = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--mutate") == 0) {
        mutations = strtol(argv[2], NULL, 10);
        i = 3;
    }
    for (; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            run_folder(argv[i], mutations);
        else
            run_file(argv[i], mutations);
    }
    printf("1..%lu\n", count);
    return 0;
}
