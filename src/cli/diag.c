/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diag.h"

#include <stdlib.h>

void diags_init(struct diags *d)
{
    *d = (struct diags){0};
    arena_init(&d->arena);
}

void diags_fini(struct diags *d)
{
    vec_release(&d->list);
    arena_fini(&d->arena);
}

struct diag *diags_add(struct diags *d, enum diag_level level, const struct diag *what)
{
    struct diag copy = *what;
    copy.level = level;
    copy.file = what->file ? arena_strdup(&d->arena, what->file) : NULL;
    copy.object = arena_str(&d->arena, what->object);
    copy.text = arena_str(&d->arena, what->text);
    copy.advice = arena_str(&d->arena, what->advice);
    copy.expression = arena_str(&d->arena, what->expression);
    vec_push(&d->list, copy);
    *(level == DIAG_ERROR ? &d->errors : &d->notes) += 1;
    return &d->list.v[d->list.n - 1];
}

static void print_one(const struct diag *d, FILE *out)
{
    if (d->file && d->place.line)
        fprintf(out, "%s:%u:%u: ", d->file, d->place.line, d->place.column);
    else if (d->file)
        fprintf(out, "%s: ", d->file);
    if (d->level == DIAG_NOTE)
        fputs("note: ", out);
    if (d->object.n)
        fprintf(out, "%.*s: ", STR_ARG(d->object));
    fprintf(out, "%.*s\n", STR_ARG(d->text));
    if (d->advice.n)
        fprintf(out, "    %.*s\n", STR_ARG(d->advice));
}

static bool same(const struct diag *a, const struct diag *b)
{
    return a->level == b->level && a->place.line == b->place.line &&
           a->place.column == b->place.column && str_eq(a->text, b->text) &&
           str_eq(a->object, b->object) &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

static bool was_said(const struct diags *d, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same(&d->list.v[k], &d->list.v[i]))
            return true;
    return false;
}

void diags_print(const struct diags *d, FILE *out, bool notes)
{
    for (size_t i = 0; i < d->list.n; i++) {
        const struct diag *one = &d->list.v[i];
        if ((one->level == DIAG_ERROR || notes) && !was_said(d, i))
            print_one(one, out);
    }
}
