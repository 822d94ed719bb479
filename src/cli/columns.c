/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns.h"

#include <stdlib.h>

#include "base/mem.h"

enum { PADDING = 3, LEAST = 6 };

void columns_init(struct columns *c)
{
    *c = (struct columns){0};
}

void columns_fini(struct columns *c)
{
    free(c->lines);
    arena_fini(&c->arena);
}

/* Runes; the library counts them so. */
static size_t width(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xc0) != 0x80;
    return n;
}

/* Whoever sizes a cell does not get to move the cursor: of several lines the first, and
 * an escape as its sign. */
static struct str clean(struct str s, struct arena *a)
{
    size_t end = str_find_byte(s, '\n', 0);
    struct str cut = end == SIZE_MAX ? s : arena_printf(a, "%.*s...", (int)end, s.p);
    char *p = (char *)arena_str(a, cut).p;
    for (size_t i = 0; i < cut.n; i++)
        if ((unsigned char)p[i] < ' ' || p[i] == 0x7f)
            p[i] = p[i] == 0x1b ? '^' : ' ';
    return (struct str){p, cut.n};
}

void columns_add(struct columns *c, const struct str *cells, uint32_t n)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 32;
        c->lines = mem_resize(c->lines, (size_t)c->cap * COLUMNS_MAX, sizeof *c->lines);
    }
    struct str *line = c->lines + (size_t)c->n++ * COLUMNS_MAX;
    c->ncells = n < COLUMNS_MAX ? n : COLUMNS_MAX;
    for (uint32_t i = 0; i < c->ncells; i++) {
        line[i] = clean(cells[i], &c->arena);
        size_t want = width(line[i]) + PADDING;
        want = want < LEAST ? LEAST : want;
        c->widths[i] = c->widths[i] < want ? want : c->widths[i];
    }
}

void columns_flush(struct columns *c, FILE *out)
{
    for (uint32_t l = 0; l < c->n; l++) {
        const struct str *line = c->lines + (size_t)l * COLUMNS_MAX;
        for (uint32_t i = 0; i + 1 < c->ncells; i++)
            fprintf(out, "%.*s%*s", STR_ARG(line[i]),
                    (int)(c->widths[i] - width(line[i])), "");
        if (c->ncells)
            fprintf(out, "%.*s\n", STR_ARG(line[c->ncells - 1]));
    }
    c->n = 0;
    arena_reset(&c->arena);
    fflush(out);
}
