/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of programs: an expression as its value's text and its cost. */
#ifndef DRAY_TESTS_CEL_RUN_UNIT_H
#define DRAY_TESTS_CEL_RUN_UNIT_H

#include "base/err.h"
#include "cel_unit.h"

/* text -> "value" or "error: ..."; what upstream answers, unless the test says why not.
 */
struct run_row {
    const char *expr, *text;
    uint64_t cost;
};

struct run_unit {
    struct cel_env *env;
    struct cel_run run;
    struct arena arena;
    struct strbuf text;
    bool unchecked;
};

static inline void run_unit_init(struct run_unit *u, const struct cel_env_opts *opts)
{
    *u = (struct run_unit){.env = cel_env_new(opts)};
    cel_run_init(&u->run);
    arena_init(&u->arena);
}

static inline void run_unit_fini(struct run_unit *u)
{
    strbuf_release(&u->text);
    arena_fini(&u->arena);
    cel_run_fini(&u->run);
    cel_env_free(u->env);
}

/* NULL with the message in u->text if the expression does not compile. */
static inline struct cel_program *run_unit_plan(struct run_unit *u, const char *expr)
{
    struct cel_issues issues = {0};
    struct err e = ERR_INIT;
    const struct cel_program_opts opts = {.track_cost = true};
    struct str text = str_from(expr);
    strbuf_clear(&u->text);
    struct cel_expr *x = u->unchecked ? cel_parse(u->env, text, &u->arena, &issues)
                                      : cel_compile(u->env, text, &u->arena, &issues);
    if (x == NULL) {
        cel_issues_print(&issues, text, &u->text);
        return NULL;
    }
    struct cel_program *p = cel_program_new(u->env, x, &opts, &e);
    if (p == NULL)
        strbuf_adds(&u->text, err_text(&e));
    err_release(&e);
    return p;
}

/* The result's text; the cost is in u->run. */
static inline const char *run_unit_text(struct run_unit *u, const char *expr,
                                        const void *const *activations)
{
    struct cel_program *p = run_unit_plan(u, expr);
    if (p == NULL)
        return strbuf_cstr(&u->text);
    struct cel_value v = cel_eval(p, activations, &u->run);
    if (v.kind == CEL_ERROR)
        strbuf_adds(&u->text, "error: ");
    cel_print(v, &u->text);
    cel_program_free(p);
    cel_run_reset(&u->run);
    return strbuf_cstr(&u->text);
}

static inline void run_unit_rows(struct run_unit *u, const struct run_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = run_unit_text(u, rows[i].expr, NULL);
        if (strcmp(text, rows[i].text) != 0)
            fail_msg("%s\ngot  %s\nwant %s", rows[i].expr, text, rows[i].text);
        if (u->run.cost != rows[i].cost)
            fail_msg("%s: cost %llu, want %llu", rows[i].expr,
                     (unsigned long long)u->run.cost, (unsigned long long)rows[i].cost);
    }
}

#endif
