/* SPDX-License-Identifier: Apache-2.0 */
/* How a command prints objects: -o. */
#ifndef DRAY_CLI_OUTPUT_H
#define DRAY_CLI_OUTPUT_H

#include "cli/targets.h"
#include "cli/template.h"

enum output_kind {
    OUTPUT_TABLE, /* or a line, or nothing: the command's own words */
    OUTPUT_WIDE,
    OUTPUT_NAME,
    OUTPUT_JSON,
    OUTPUT_YAML,
    OUTPUT_JSONPATH,
    OUTPUT_COLUMNS, /* custom-columns */
};

struct output_column {
    struct str header;
    struct jsonpath path;
};

struct output {
    enum output_kind kind;
    const struct template_part *template;
    const struct output_column *columns;
    uint32_t ncolumns;
    bool managed; /* metadata.managedFields is shown */
};

/* text: "", "wide", "name", "json", "yaml", "jsonpath=TEMPLATE" or
 * "custom-columns=HEADER:PATH,..."; NULL: "". */
bool output_read(const char *text, struct arena *a, struct output *out, struct err *e);
/* One object, or a List, to standard output; not for tables. */
void output_print(const struct output *o, const struct discovery *d,
                  const struct doc *object, struct arena *a);
/* The objects of several answers as one List; objects are shared. */
struct doc output_list(struct arena *a);
void output_list_add(struct doc *list, const struct doc *answer, struct arena *a);

#endif
