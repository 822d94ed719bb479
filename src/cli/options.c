/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

enum { HELP_COLUMN = 30, WIDTH = 88, FIRST = 256 /* above characters */ };

/* ---- values ---- */

static bool read_count(const char *text, uint32_t *out)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    if (*end || end == text || text[0] == '-' || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool read_flag(const char *text, bool *out)
{
    static const struct {
        const char *text;
        bool on;
    } WORDS[] = {{"true", true}, {"false", false}, {"1", true}, {"0", false}};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(text, WORDS[i].text) == 0) {
            *out = WORDS[i].on;
            return true;
        }
    return false;
}

static const char *joined(struct arena *a, const char *have, const char *more)
{
    return have && *have ? arena_printf(a, "%s,%s", have, more).p : more;
}

static bool set(const struct option_row *row, const char *value, struct arena *a,
                void *into, struct err *e)
{
    char *at = (char *)into + row->at;
    switch (row->kind) {
    case OPTION_TEXT:
        *(const char **)at = value;
        return true;
    case OPTION_LIST:
        *(const char **)at = joined(a, *(const char **)at, value);
        return true;
    case OPTION_FLAG:
        return read_flag(value, (bool *)at) ||
               err_set(e, ERR_INVALID, "write true or false");
    case OPTION_COUNT:
        return read_count(value, (uint32_t *)at) ||
               err_set(e, ERR_INVALID, "write a number");
    case OPTION_DURATION:
        return duration_parse(str_from(value), (uint64_t *)at) ||
               err_set(e, ERR_INVALID, "write a duration, such as 30s or 1m30s");
    case OPTION_CALL:
        return row->set(into, value, e);
    }
    return false;
}

/* ---- the command line ---- */

static struct option *long_options(const struct option_table *t, struct arena *a)
{
    struct option *all = ARENA_ARRAY(a, struct option, t->n + 2), *o = all;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->rows[i].name)
            *o++ = (struct option){t->rows[i].name,
                                   t->rows[i].kind == OPTION_FLAG ? optional_argument
                                                                  : required_argument,
                                   NULL, FIRST + (int)i};
    *o = (struct option){"help", no_argument, NULL, 'h'};
    return all;
}

/* ":hn:A", and "+" before it when there are no arguments between options. */
static const char *letters_of(const struct option_table *t, bool mixed, struct arena *a)
{
    char *letters = arena_zalloc(a, 4 + 2 * (size_t)t->n), *p = letters;
    if (!mixed)
        *p++ = '+';
    *p++ = ':';
    *p++ = 'h';
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->rows[i].name || !t->rows[i].letter)
            continue;
        *p++ = t->rows[i].letter;
        if (t->rows[i].kind != OPTION_FLAG)
            *p++ = ':';
    }
    return letters;
}

/* NULL: there is none. */
static const struct option_row *find_row(const struct option_table *t, int c)
{
    if (c >= FIRST)
        return &t->rows[c - FIRST];
    for (uint32_t i = 0; i < t->n; i++)
        if (t->rows[i].name && t->rows[i].letter == c)
            return &t->rows[i];
    return NULL;
}

/* -o=json says what -o json does. */
static const char *value_of(int c)
{
    if (!optarg)
        return "true";
    return c < FIRST && optarg[0] == '=' ? optarg + 1 : optarg;
}

static bool read_options(const struct option_table *t, int argc, char **argv, bool mixed,
                         struct arena *a, void *into, bool *help, struct err *e)
{
    const struct option *all = long_options(t, a);
    const char *letters = letters_of(t, mixed, a);
    int c;
    optind = 0; /* commands may be read one after another */
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, all, NULL)) != -1) {
        if (c == ':')
            return err_set(e, ERR_INVALID, "%s: a value is missing", argv[optind - 1]);
        const struct option_row *row = find_row(t, c);
        if (c == 'h' && !row) {
            *help = true;
            continue;
        }
        if (!row)
            return err_set(e, ERR_INVALID, "there is no option %s; --help lists them",
                           argv[optind - 1]);
        if (!set(row, value_of(c), a, into, e))
            return err_wrap(e, "--%s %s", row->name, value_of(c));
    }
    return true;
}

bool options_read(const struct option_table *t, int argc, char **argv, struct arena *a,
                  void *into, bool *help, struct err *e)
{
    if (!read_options(t, argc, argv, false, a, into, help, e))
        return false;
    return optind == argc || err_set(e, ERR_INVALID, "\"%s\" is no option", argv[optind]);
}

bool options_read_args(const struct option_table *t, int argc, char **argv,
                       struct arena *a, void *into, struct option_args *args, bool *help,
                       struct err *e)
{
    if (!read_options(t, argc, argv, true, a, into, help, e))
        return false;
    *args = (struct option_args){argv + optind, (uint32_t)(argc - optind)};
    return true;
}

/* ---- help ---- */

/* Words of text from the column on, broken before the page's edge. */
static void print_words(FILE *out, const char *text, size_t column)
{
    size_t at = column;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (at > HELP_COLUMN && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (at > HELP_COLUMN) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", (int)n, text);
        at += n;
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct option_row *row)
{
    bool flag = row->kind == OPTION_FLAG;
    char letter[] = {'-', row->letter, ',', ' ', '\0'};
    int n = fprintf(out, "  %s--%s%s%s", row->letter ? letter : "", row->name,
                    flag ? "" : " ", flag ? "" : row->argument);
    if (n + 2 > HELP_COLUMN) {
        fputc('\n', out);
        n = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - n, "");
    print_words(out, row->help, HELP_COLUMN);
}

void options_print(const struct option_table *t, FILE *out)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->rows[i].name)
            print_row(out, &t->rows[i]);
        else
            fprintf(out, "%s%s:\n", i ? "\n" : "", t->rows[i].help);
}
