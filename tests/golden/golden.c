/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/golden.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/frame.h"

enum { SHOWN_FAILURES = 20 };

/* One comparison as it is printed: "field: wanted X, got Y". */
struct golden_check {
    struct golden_check *next;
    bool ok;
    const char *text;
};

const char *volatile golden_running = "";

/* ---- Checks ---- */

static void add_check(struct golden_case *c, bool ok, const char *text)
{
    struct golden_check *k = ARENA_NEW(c->arena, struct golden_check);
    *k = (struct golden_check){.ok = ok, .text = text};
    *c->last_check = k;
    c->last_check = &k->next;
    c->failures += !ok;
}

static const char *doc_text(struct arena *a, const struct doc *d)
{
    if (!d)
        return "null";
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_SORT, &b);
    const char *text = arena_str(a, strbuf_str(&b)).p;
    strbuf_release(&b);
    return text;
}

static bool same(const struct doc *a, const struct doc *b)
{
    bool a_null = !a || a->type == DOC_NULL, b_null = !b || b->type == DOC_NULL;
    return a_null || b_null ? a_null && b_null : doc_equal(a, b);
}

static struct difference *find_difference(struct golden_case *c, const char *field)
{
    struct golden_lists *l = c->g->frame->lists;
    for (size_t i = 0; i < l->differences.n; i++) {
        struct difference *d = &l->differences.v[i];
        if (strcmp(d->folder, c->g->folder) == 0 && strcmp(d->field, field) == 0 &&
            (fnmatch(d->pattern, c->name, 0) == 0 || fnmatch(d->pattern, c->id, 0) == 0))
            return d;
    }
    return NULL;
}

const struct doc *golden_want(struct golden_case *c, const char *field,
                              const struct doc *upstream)
{
    struct difference *d = find_difference(c, field);
    if (!d)
        return upstream;
    d->asked = true;
    d->differed |= !same(&d->want, upstream);
    return &d->want;
}

bool golden_check_doc(struct golden_case *c, const char *field, const struct doc *want,
                      const struct doc *got)
{
    want = golden_want(c, field, want);
    bool ok = same(want, got);
    if (ok && !c->g->frame->options->verbose)
        return true;
    const char *got_text = doc_text(c->arena, got);
    struct str text = ok ? arena_printf(c->arena, "%s: %s", field, got_text)
                         : arena_printf(c->arena, "%s: wanted %s, got %s", field,
                                        doc_text(c->arena, want), got_text);
    add_check(c, ok, text.p);
    return ok;
}

bool golden_check_str(struct golden_case *c, const char *field, struct str want,
                      struct str got)
{
    struct doc w = doc_make_string(c->arena, want), g = doc_make_string(c->arena, got);
    return golden_check_doc(c, field, &w, &g);
}

bool golden_check_int(struct golden_case *c, const char *field, int64_t want, int64_t got)
{
    struct doc w = doc_make_int(c->arena, want), g = doc_make_int(c->arena, got);
    return golden_check_doc(c, field, &w, &g);
}

bool golden_check_bool(struct golden_case *c, const char *field, bool want, bool got)
{
    struct doc w = doc_make_bool(want), g = doc_make_bool(got);
    return golden_check_doc(c, field, &w, &g);
}

static bool is_empty(const struct doc *d)
{
    return d->type == DOC_NULL || ((d->type == DOC_MAP || d->type == DOC_LIST) && !d->n);
}

struct doc golden_lean(const struct doc *d, struct arena *a)
{
    struct doc out = *d;
    if (d->type == DOC_MAP) {
        out = doc_make_map();
        for (uint32_t i = 0; i < d->n; i++) {
            struct doc v = golden_lean(&d->members[i].value, a);
            if (!is_empty(&v))
                doc_add_str(a, &out, doc_key(&d->members[i]), v);
        }
    } else if (d->type == DOC_LIST) {
        out = doc_make_list();
        for (uint32_t i = 0; i < d->n; i++)
            doc_append(a, &out, golden_lean(&d->items[i], a));
    }
    return out;
}

void golden_fail(struct golden_case *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_check(c, false, arena_vprintf(c->arena, fmt, ap).p);
    va_end(ap);
}

void golden_skip(struct golden_case *c, const char *why)
{
    c->skip = arena_strdup(c->arena, why);
}

/* ---- Outcomes ---- */

void golden_outcome(struct golden_frame *f, bool ok, const char *name, const char *skip)
{
    if (skip)
        f->count.skipped++;
    else if (ok)
        f->count.passed++;
    else
        f->count.failed++;
    if (f->options->tap)
        printf("%s %lu - %s%s%s\n", ok || skip ? "ok" : "not ok", ++f->tap_number, name,
               skip ? " # SKIP " : "", skip ? skip : "");
}

static void print_checks(const struct golden_case *c)
{
    const struct golden_options *o = c->g->frame->options;
    for (const struct golden_check *k = c->checks; k; k = k->next)
        if (!k->ok || o->verbose)
            printf("%s    %s%s\n", o->tap ? "# " : "", k->ok ? "ok " : "", k->text);
}

/* The first failures of a folder are shown; a run that names its cases shows all. */
static bool is_shown(const struct golden_case *c)
{
    const struct golden_options *o = c->g->frame->options;
    bool first = !c->skip && c->g->frame->count.failed <= SHOWN_FAILURES;
    return o->verbose || (c->failures && (o->all || first));
}

/* Turns what was checked into passed, failed or skipped, in the light of known-failures.
 */
static void judge(struct golden_case *c)
{
    struct golden_frame *f = c->g->frame;
    struct known_failure *k = golden_known_find(f->lists, c->g->folder, c->name, c->id);
    bool accept = f->options->accept;
    if (k) {
        k->seen = true;
        k->drop = !c->failures && !c->skip;
    }
    if (c->failures && k) {
        c->skip = arena_printf(c->arena, "known failure: %s", k->reason).p;
        f->count.known++;
    } else if (c->failures && accept) {
        golden_known_add(f->lists, c->g->folder, c->name);
    } else if (c->failures) {
        c->skip = NULL;
    } else if (k && k->drop && !accept) {
        golden_fail(c, "passes: remove it from tests/golden/known-failures");
    }
}

void golden_end(struct golden_case *c)
{
    struct golden_frame *f = c->g->frame;
    judge(c);
    const char *name = arena_printf(c->arena, "%s %s", c->g->folder, c->name).p;
    golden_outcome(f, c->failures == 0, name, c->skip);
    if (is_shown(c)) {
        if (!f->options->tap)
            printf("%s %s%s%s\n",
                   c->skip       ? "SKIP"
                   : c->failures ? "FAIL"
                                 : "PASS",
                   name, c->skip ? ": " : "", c->skip ? c->skip : "");
        print_checks(c);
    }
    golden_running = "";
    arena_reset(&f->case_arena);
}

void golden_broken(struct golden *g, const char *fmt, ...)
{
    struct arena a;
    arena_init(&a);
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(&a, fmt, ap);
    va_end(ap);
    golden_outcome(g->frame, false, arena_printf(&a, "%s: %s", g->folder, why.p).p, NULL);
    printf("%s%s: %s\n", g->frame->options->tap ? "# " : "", g->folder, why.p);
    arena_fini(&a);
}

static void mark_differences(struct golden_case *c)
{
    struct golden_lists *l = c->g->frame->lists;
    for (size_t i = 0; i < l->differences.n; i++) {
        struct difference *d = &l->differences.v[i];
        if (!d->matched && strcmp(d->folder, c->g->folder) == 0)
            d->matched = fnmatch(d->pattern, c->name, 0) == 0 ||
                         fnmatch(d->pattern, c->id, 0) == 0;
    }
}

/* "cases.jsonl" and "id" make "cases:id". */
static const char *case_name(struct arena *a, const char *file, const char *id)
{
    const char *dot = strrchr(file, '.');
    int stem = dot ? (int)(dot - file) : (int)strlen(file);
    return arena_printf(a, "%.*s:%s", stem, file, id).p;
}

struct golden_case *golden_begin(struct golden *g, const char *file, unsigned line,
                                 const char *id)
{
    struct golden_frame *f = g->frame;
    struct golden_case *c = &f->current;
    const char *pattern = f->options->id, *name = case_name(&f->case_arena, file, id);
    if (pattern && fnmatch(pattern, name, 0) != 0 && fnmatch(pattern, id, 0) != 0)
        return NULL;
    *c = (struct golden_case){.id = id,
                              .file = file,
                              .line = line,
                              .arena = &f->case_arena,
                              .g = g,
                              .name = name};
    c->last_check = &c->checks;
    golden_running = name;
    mark_differences(c);
    return c;
}

/* ---- Files ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t golden_files(struct golden *g, const char *suffix, const char ***names)
{
    VEC(const char *) found = {0};
    DIR *dir = opendir(g->path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (str_ends(str_from(entry->d_name), str_from(suffix)))
            vec_push(&found, arena_strdup(g->arena, entry->d_name));
    if (dir)
        closedir(dir);
    if (found.n)
        qsort(found.v, found.n, sizeof *found.v, by_name);
    size_t n = found.n;
    *names = ARENA_ARRAY(g->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        (*names)[i] = found.v[i];
    vec_release(&found);
    return n;
}

bool golden_read(struct golden *g, const char *file, struct arena *a, struct str *text)
{
    struct err e = ERR_INIT;
    if (golden_slurp(arena_printf(a, "%s/%s", g->path, file).p, a, text, &e))
        return true;
    golden_broken(g, "%s", err_text(&e));
    err_release(&e);
    return false;
}

static bool read_line(struct golden *g, const char *file, unsigned line, struct str text,
                      struct arena *a, struct doc *out)
{
    struct doc_source src = {.name = file, .text = text};
    struct err e = ERR_INIT;
    if (doc_read_json(&src, a, out, &e))
        return true;
    golden_broken(g, "%s:%u: %s", file, line, err_text(&e));
    err_release(&e);
    return false;
}

bool golden_read_lines(struct golden *g, const char *file, struct doc_list *out)
{
    struct str text, line;
    if (!golden_read(g, file, g->arena, &text))
        return false;
    VEC(struct doc) docs = {0};
    bool ok = true;
    for (unsigned number = 1; ok && golden_next_line(&text, &line); number++) {
        struct doc d;
        if (str_trim(line).n == 0)
            continue;
        ok = read_line(g, file, number, line, g->arena, &d);
        if (ok)
            vec_push(&docs, d);
    }
    if (ok) {
        out->n = docs.n;
        out->v = ARENA_ARRAY(g->arena, struct doc, docs.n + 1);
        for (size_t i = 0; i < docs.n; i++)
            out->v[i] = docs.v[i];
    }
    vec_release(&docs);
    return ok;
}

/* ---- A folder ---- */

static void run_line(struct golden *g, const struct golden_runner *r, const char *file,
                     unsigned number, struct str text)
{
    struct golden_frame *f = g->frame;
    struct doc d;
    if (!read_line(g, file, number, text, &f->case_arena, &d))
        return;
    struct str id = doc_get_text(&d, "id");
    const char *name = id.n ? id.p : arena_printf(&f->case_arena, "%u", number).p;
    struct golden_case *c = golden_begin(g, file, number, name);
    if (c) {
        c->doc = &d;
        r->run_case(g, c);
        golden_end(c);
    }
    arena_reset(&f->case_arena);
}

static bool is_support(const struct golden_runner *r, const char *file)
{
    const char *hit = r->support ? strstr(r->support, file) : NULL;
    size_t n = strlen(file);
    return hit && (hit == r->support || hit[-1] == ' ') && (hit[n] == ' ' || !hit[n]);
}

static void run_lines(struct golden *g, const struct golden_runner *r)
{
    const char **files;
    size_t n = golden_files(g, ".jsonl", &files);
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        struct str text, line;
        arena_init(&a);
        if (!is_support(r, files[i]) && golden_read(g, files[i], &a, &text))
            for (unsigned number = 1; golden_next_line(&text, &line); number++)
                if (str_trim(line).n)
                    run_line(g, r, files[i], number, line);
        arena_fini(&a);
    }
}

void golden_run(struct golden_frame *f, const struct golden_runner *r)
{
    struct arena a;
    arena_init(&a);
    arena_init(&f->case_arena);
    f->count = (struct golden_count){0};
    struct golden g = {.folder = r->folder, .arena = &a, .frame = f};
    g.path = arena_printf(&a, "%s/%s", f->options->dir, r->folder).p;
    if (!r->begin || r->begin(&g)) {
        if (r->run_case)
            run_lines(&g, r);
        if (r->run_folder)
            r->run_folder(&g);
        if (r->end)
            r->end(&g);
    }
    arena_fini(&f->case_arena);
    arena_fini(&a);
}
