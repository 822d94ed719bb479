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

static bool is_before(const struct diag *a, const struct diag *b)
{
    if (a->place.line != b->place.line)
        return a->place.line - 1 < b->place.line - 1; /* 0 is last */
    return a->place.column < b->place.column;
}

/* They are few, and nearly in order. */
void diags_sort(struct diags *d, size_t from)
{
    for (size_t i = from + 1; i < d->list.n; i++) {
        struct diag one = d->list.v[i];
        size_t at = i;
        for (; at > from && is_before(&one, &d->list.v[at - 1]); at--)
            d->list.v[at] = d->list.v[at - 1];
        d->list.v[at] = one;
    }
}

void diags_skip(struct diags *d, enum diag_level level)
{
    *(level == DIAG_ERROR ? &d->errors : &d->notes) += 1;
}

/* Lines after the first are set in like advice. */
static void print_text(struct str s, FILE *out)
{
    s = str_trim(s);
    for (size_t from = 0, end; from <= s.n; from = end + 1) {
        end = str_find_byte(s, '\n', from);
        end = end == SIZE_MAX ? s.n : end;
        struct str line = str_sub(s, from, end);
        fprintf(out, "%s%.*s\n", from ? "    " : "", STR_ARG(line));
    }
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
    print_text(d->text, out);
    if (d->advice.n) {
        fputs("    ", out);
        print_text(d->advice, out);
    }
}

static bool same(const struct diag *a, const struct diag *b)
{
    return a->level == b->level && a->place.line == b->place.line &&
           a->place.column == b->place.column && str_eq(a->text, b->text) &&
           str_eq(a->object, b->object) &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

/* Equal ones come close together: from one object. */
static bool was_said(const struct diags *d, size_t i)
{
    enum { NEAR = 64 };
    for (size_t k = i > NEAR ? i - NEAR : 0; k < i; k++)
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
