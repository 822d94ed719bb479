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

bool options_read(const struct option_table *t, int argc, char **argv, struct arena *a,
                  void *into, bool *help, struct err *e)
{
    const struct option *all = long_options(t, a);
    int c;
    optind = 0; /* commands may be read one after another */
    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:h", all, NULL)) != -1) {
        if (c == 'h') {
            *help = true;
            continue;
        }
        if (c == ':')
            return err_set(e, ERR_INVALID, "%s: a value is missing", argv[optind - 1]);
        if (c < FIRST)
            return err_set(e, ERR_INVALID, "there is no option %s", argv[optind - 1]);
        const struct option_row *row = &t->rows[c - FIRST];
        const char *value = optarg ? optarg : "true";
        if (!set(row, value, a, into, e))
            return err_wrap(e, "--%s %s", row->name, value);
    }
    return optind == argc || err_set(e, ERR_INVALID, "\"%s\" is no option", argv[optind]);
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
    int n =
        fprintf(out, "  --%s%s%s", row->name, flag ? "" : " ", flag ? "" : row->argument);
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
