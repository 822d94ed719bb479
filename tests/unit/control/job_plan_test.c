/* SPDX-License-Identifier: Apache-2.0 */
/* What a Job does next, by its spec and its pods; and its pauses. */
#include "control/job_inner.h"
#include "unit/unit.h"

enum { PODS = 4, NOW_MS = 1000000 };

/* A pod as a letter: R runs, Y runs and is ready, S has succeeded, F has failed, D is
 * leaving, I has failed and is ignored, X ends its index, J ends the job; in upper case
 * it is tracked, in lower case no longer. Indexes are the places. */
static const struct row {
    const char *what;
    struct job_view v;
    const char *pods;
    const char *end; /* the reason why it ends; "": it does not */
    uint32_t makes, dooms;
} ROWS[] = {
    {"the first pods", {.completions = 3, .parallelism = 2}, "", "", 2, 0},
    {"not more than are missing", {.completions = 3, .parallelism = 5}, "SSR", "", 0, 0},
    {"in place of one that has failed",
     {.completions = 3, .parallelism = 2, .backoff_limit = 6},
     "FR",
     "",
     1,
     0},
    {"one too many", {.completions = 3, .parallelism = 1}, "RR", "", 0, 1},
    {"none while it waits",
     {.completions = 3, .parallelism = 2, .suspended = true},
     "RY",
     "",
     0,
     2},
    {"any success is enough", {.completions = -1, .parallelism = 3}, "SR", "", 0, 0},
    {"as many as may run", {.completions = -1, .parallelism = 3}, "R", "", 2, 0},
    {"failed once too often",
     {.completions = 3, .parallelism = 2},
     "FR",
     "BackoffLimitExceeded",
     0,
     1},
    {"ignored failures do not count",
     {.completions = 3, .parallelism = 2},
     "IR",
     "",
     1,
     0},
    {"one that ends the job",
     {.completions = 3, .parallelism = 2, .backoff_limit = 6},
     "JR",
     "PodFailurePolicy",
     0,
     1},
    {"one that leaves is replaced",
     {.completions = 2, .parallelism = 1, .backoff_limit = 6},
     "D",
     "",
     1,
     0},
    {"or not before it is gone",
     {.completions = 2, .parallelism = 1, .backoff_limit = 6, .only_failed = true},
     "D",
     "",
     0,
     0},
    {"each index once",
     {.completions = 3, .parallelism = 3, .indexed = true},
     "RSR",
     "",
     0,
     0},
    {"the index that is missing",
     {.completions = 4, .parallelism = 4, .indexed = true},
     "RSR",
     "",
     1,
     0},
    {"an index too high goes",
     {.completions = 2, .parallelism = 2, .indexed = true},
     "RSR",
     "",
     0,
     1},
    {"an index is lost and the rest goes on",
     {.completions = 3,
      .parallelism = 3,
      .indexed = true,
      .per_index = true,
      .backoff_limit = 99,
      .max_failed_indexes = -1},
     "FRR",
     "",
     0,
     0},
    {"until nothing else is left",
     {.completions = 3,
      .parallelism = 3,
      .indexed = true,
      .per_index = true,
      .backoff_limit = 99,
      .max_failed_indexes = -1},
     "FSS",
     "FailedIndexes",
     0,
     0},
    {"or too many are lost",
     {.completions = 3,
      .parallelism = 3,
      .indexed = true,
      .per_index = true,
      .backoff_limit = 99},
     "FRR",
     "MaxFailedIndexesExceeded",
     0,
     2},
    {"a rule gives an index up",
     {.completions = 3,
      .parallelism = 3,
      .indexed = true,
      .per_index = true,
      .limit_per_index = 5,
      .backoff_limit = 99,
      .max_failed_indexes = -1},
     "XSS",
     "FailedIndexes",
     0,
     0},
    {"out of time",
     {.completions = 3, .parallelism = 2, .deadline_s = 10, .started_s = 1},
     "RR",
     "DeadlineExceeded",
     0,
     2},
};

static struct job_pod make_pod(const struct job_view *v, char c, int64_t index,
                               struct arena *a)
{
    struct object *o = ARENA_NEW(a, struct object);
    struct doc *d = ARENA_NEW(a, struct doc);
    *d = doc_make_map();
    o->doc = d;
    o->uid = arena_printf(a, "u%lld", (long long)index);
    struct job_pod p = {.o = o, .index = v->indexed ? index : JOB_NO_INDEX};
    p.finalizer = p.tracked = c >= 'A' && c <= 'Z';
    p.fits = !v->indexed || index < v->completions;
    p.active = c == 'R' || c == 'Y';
    p.ready = c == 'Y';
    p.leaving = c == 'D';
    p.succeeded = c == 'S' || c == 's';
    p.failed = strchr("FIXJ", c) || (c == 'D' && !v->only_failed);
    p.action = c == 'I'   ? JOB_IGNORE
               : c == 'X' ? JOB_FAIL_INDEX
               : c == 'J' ? JOB_FAIL_JOB
                          : JOB_NO_ACTION;
    return p;
}

static void check(const struct row *row)
{
    struct arena a;
    struct job_plan p;
    struct doc job = doc_make_map();
    struct job_look l = {.a = &a, .v = row->v, .settled = true, .now_ms = NOW_MS};
    arena_init(&a);
    l.v.doc = &job;
    l.v.deadline_s = row->v.deadline_s ? row->v.deadline_s : -1;
    l.npods = (uint32_t)strlen(row->pods);
    l.pods = ARENA_ARRAY(&a, struct job_pod, PODS);
    for (uint32_t i = 0; i < l.npods; i++)
        l.pods[i] = make_pod(&l.v, row->pods[i], i, &a);
    job_plan(&l, &p);
    if (strcmp(p.finished.type ? p.finished.reason : "", row->end) != 0 ||
        p.nmake != row->makes || p.doomed.n != row->dooms)
        print_error("%s: ends %s, makes %u, dooms %u\n", row->what,
                    p.finished.type ? p.finished.reason : "not", p.nmake, p.doomed.n);
    assert_string_equal(p.finished.type ? p.finished.reason : "", row->end);
    assert_int_equal(p.nmake, row->makes);
    assert_int_equal(p.doomed.n, row->dooms);
    arena_fini(&a);
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        check(&ROWS[i]);
}

static void test_pauses(void **state)
{
    static const struct {
        int64_t failures, since_ms, left_ms;
    } PAUSES[] = {
        {0, 0, 0},       {1, 0, 10000},   {1, 4000, 6000},        {1, 10001, 0},
        {2, 0, 20000},   {3, 0, 40000},   {6, 0, 320000},         {7, 0, 600000},
        {99, 0, 600000}, {99, 700000, 0}, {INT32_MAX, 0, 600000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof PAUSES / sizeof *PAUSES; i++) {
        struct job_backoff b = {PAUSES[i].failures, NOW_MS - PAUSES[i].since_ms};
        assert_int_equal(job_backoff_left_ms(&b, NOW_MS), PAUSES[i].left_ms);
    }
}

/* A success makes failures before it forgotten. */
static void test_failures(void **state)
{
    struct job_pod early = {.finished_ms = 1}, mid = {.finished_ms = 5},
                   late = {.finished_ms = 9};
    const struct job_pod *failed[] = {&late, &early}, *succeeded[] = {&mid};
    struct job_backoff old = {3, 0};
    (void)state;
    struct job_backoff b = job_backoff_after(old, NULL, 0, failed, 2);
    assert_int_equal(b.failures, 5);
    assert_int_equal(b.last_ms, 9);
    b = job_backoff_after(old, succeeded, 1, failed, 2);
    assert_int_equal(b.failures, 1);
    assert_int_equal(b.last_ms, 9);
    b = job_backoff_after(old, succeeded, 1, NULL, 0);
    assert_int_equal(b.failures, 0);
    b = job_backoff_after(old, NULL, 0, NULL, 0);
    assert_int_equal(b.failures, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
