/* SPDX-License-Identifier: Apache-2.0 */
/* dray-golden: runs the recorded cases of every folder through its runner. */
#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/frame.h"

#define R(folder) extern const struct golden_runner golden_##folder;
GOLDEN_RUNNERS
#undef R
#define R(folder) &golden_##folder,
static const struct golden_runner *const runners[] = {GOLDEN_RUNNERS NULL};
#undef R

static const char usage[] =
    "usage: dray-golden [options]\n"
    "  --dir DIR      the folder of case folders ($DRAY_SHARED/golden, "
    "../shared/golden)\n"
    "  --folder NAME  this folder alone\n"
    "  --id PATTERN   these cases alone (* and ?), with every check shown\n"
    "  --all          list every failing case, not the first 20 of a folder\n"
    "  --lists DIR    the folder of known-failures and differences (tests/golden)\n"
    "  --accept       rewrite known-failures to what fails now\n"
    "  --tap          one line a case, for the test suite\n";

/* ---- Crashes: say which case it was ---- */

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

static void on_crash(int sig)
{
    say("dray-golden: died in case ");
    say(golden_running);
    say("\n");
    signal(sig, SIG_DFL);
    raise(sig);
}

/* ---- The lists after a whole run ---- */

static bool is_todo(const struct known_failure *k)
{
    return strncmp(k->reason, "TODO", 4) == 0;
}

static const char *known_problem(const struct known_failure *k, bool whole)
{
    if (is_todo(k))
        return "its reason is still to be written";
    if (whole && !k->seen)
        return "no such case: remove it";
    return NULL;
}

static const char *difference_problem(const struct difference *d, bool whole)
{
    if (!d->matched)
        return whole ? "matches no case" : NULL;
    if (!d->asked)
        return "no case it matches compares this field";
    if (!d->differed)
        return "wants what upstream answers";
    return NULL;
}

static void list_problem(struct golden_frame *f, const char *list, const char *folder,
                         const char *name, const char *problem)
{
    struct arena a;
    arena_init(&a);
    const char *text = arena_printf(&a, "%s: %s %s: %s", list, folder, name, problem).p;
    golden_outcome(f, false, text, NULL);
    if (!f->options->tap)
        printf("FAIL %s\n", text);
    arena_fini(&a);
}

/* Entries of the lists that a run of this folder showed to be wrong. */
static void check_lists(struct golden_frame *f, const char *folder)
{
    struct golden_lists *l = f->lists;
    bool whole = f->options->id == NULL;
    for (size_t i = 0; i < l->known.n; i++) {
        struct known_failure *k = &l->known.v[i];
        const char *problem =
            strcmp(k->folder, folder) == 0 ? known_problem(k, whole) : NULL;
        if (f->options->accept)
            k->drop |= problem && !k->seen;
        else if (problem)
            list_problem(f, "known-failures", folder, k->name, problem);
    }
    for (size_t i = 0; i < l->differences.n; i++) {
        const struct difference *d = &l->differences.v[i];
        const char *problem =
            strcmp(d->folder, folder) == 0 ? difference_problem(d, whole) : NULL;
        if (problem)
            list_problem(f, "differences", folder, d->pattern, problem);
    }
}

/* ---- The run ---- */

static const struct golden_runner *runner_for(const char *folder)
{
    for (size_t i = 0; runners[i]; i++)
        if (strcmp(runners[i]->folder, folder) == 0)
            return runners[i];
    return NULL;
}

static void run_folder(struct golden_frame *f, const char *folder)
{
    const struct golden_options *o = f->options;
    const struct golden_runner *r = runner_for(folder);
    f->count = (struct golden_count){0};
    if (r) {
        golden_run(f, r);
        check_lists(f, folder);
    } else {
        golden_outcome(f, true, folder, "no runner for this folder");
    }
    if (o->tap ||
        (o->verbose && f->count.passed + f->count.failed + f->count.skipped == 0))
        return;
    printf("%s: %lu passed, %lu failed, %lu skipped", folder, f->count.passed,
           f->count.failed, f->count.skipped);
    if (!r)
        printf(" (no runner)");
    if (f->count.known)
        printf(" (%lu known failures)", f->count.known);
    printf("\n");
}

static int is_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool exists(const char *dir, const char *name)
{
    struct strbuf path = STRBUF_INIT;
    struct stat st;
    strbuf_addf(&path, "%s/%s", dir, name);
    bool yes = stat(strbuf_cstr(&path), &st) == 0 && S_ISDIR(st.st_mode);
    strbuf_release(&path);
    return yes;
}

static void add_counts(struct golden_count *total, const struct golden_count *n)
{
    total->passed += n->passed;
    total->failed += n->failed;
    total->skipped += n->skipped;
}

/* False: the folder asked for is not there. */
static bool run_all(struct golden_frame *f, struct golden_count *total)
{
    struct dirent **entries;
    int n = scandir(f->options->dir, &entries, is_folder, alphasort);
    bool found = f->options->folder == NULL;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *only = f->options->folder;
        if (exists(f->options->dir, name) && (!only || strcmp(only, name) == 0)) {
            run_folder(f, name);
            add_counts(total, &f->count);
            found = true;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}

/* Without the cases nothing is wrong, but nothing was shown either: each runner counts
 * as skipped. */
static void skip_all(struct golden_frame *f, struct golden_count *total)
{
    printf("%sno cases at %s\n", f->options->tap ? "# " : "", f->options->dir);
    for (size_t i = 0; runners[i]; i++)
        golden_outcome(f, true, runners[i]->folder, "no shared cases");
    add_counts(total, &f->count);
}

static void finish(struct golden_frame *f, const struct golden_count *total)
{
    if (f->options->tap)
        printf("1..%lu\n", f->tap_number);
    else if (total->skipped)
        printf("%lu passed, %lu failed, %lu skipped\n", total->passed, total->failed,
               total->skipped);
    else
        printf("%lu passed, %lu failed\n", total->passed, total->failed);
}

/* False with an error: nothing could be run. *failed counts cases. */
static bool run(const struct golden_options *o, struct golden_lists *lists,
                const char *known_path, unsigned long *failed, struct err *e)
{
    struct golden_frame f = {.options = o, .lists = lists};
    struct golden_count total = {0};
    if (!exists(o->dir, "."))
        skip_all(&f, &total);
    else if (!run_all(&f, &total))
        return err_set(e, ERR_NOT_FOUND, "no folder %s in %s", o->folder, o->dir);
    finish(&f, &total);
    *failed = o->accept ? 0 : total.failed;
    return !o->accept || golden_known_save(lists, known_path, e);
}

static int run_with_lists(const struct golden_options *o, struct arena *a)
{
    struct golden_lists lists;
    struct err e = ERR_INIT;
    unsigned long failed = 0;
    const char *known = arena_printf(a, "%s/known-failures", o->lists).p;
    const char *differences = arena_printf(a, "%s/differences", o->lists).p;
    bool ok = golden_lists_load(&lists, known, differences, &e) &&
              run(o, &lists, known, &failed, &e);
    if (!ok)
        fprintf(stderr, "dray-golden: %s\n", err_text(&e));
    err_release(&e);
    golden_lists_fini(&lists);
    return !ok ? 2 : failed ? 1 : 0;
}

static const char *default_dir(struct arena *a)
{
    const char *shared = getenv("DRAY_SHARED");
    if (!shared || !*shared)
        shared = DRAY_SOURCE_ROOT "/../shared";
    return arena_printf(a, "%s/golden", shared).p;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"dir", 1, NULL, 'd'}, {"lists", 1, NULL, 'l'}, {"folder", 1, NULL, 'f'},
        {"id", 1, NULL, 'i'},  {"all", 0, NULL, 'a'},   {"accept", 0, NULL, 'A'},
        {"tap", 0, NULL, 't'}, {"help", 0, NULL, 'h'},  {0}};
    struct golden_options o = {.lists = DRAY_SOURCE_ROOT "/tests/golden"};
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (c) {
        case 'd':
            o.dir = optarg;
            break;
        case 'l':
            o.lists = optarg;
            break;
        case 'f':
            o.folder = optarg;
            break;
        case 'i':
            o.id = optarg;
            o.verbose = true;
            break;
        case 'a':
            o.all = true;
            break;
        case 'A':
            o.accept = true;
            break;
        case 't':
            o.tap = true;
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    struct arena a;
    arena_init(&a);
    if (!o.dir)
        o.dir = default_dir(&a);
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    int status = run_with_lists(&o, &a);
    arena_fini(&a);
    return status;
}
