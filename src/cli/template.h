/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates of kubectl's -o jsonpath: text with paths in braces, {range PATH}...{end},
 * and quoted text ({"\n"}).
 */
#ifndef DRAY_CLI_TEMPLATE_H
#define DRAY_CLI_TEMPLATE_H

#include "api/jsonpath.h"
#include "base/err.h"

struct template_part;

/* Everything lives in the arena. NULL: braces that do not close, no path, range without
 * end. */
const struct template_part *template_parse(struct str text, struct arena *a,
                                           struct err *e);
/* What a path does not lead to is empty. */
void template_print(const struct template_part *t, const struct doc *d, struct arena *a,
                    struct strbuf *out);
/* A value as it stands in such output: a string as it is, all else as JSON. */
void template_value(const struct doc *d, struct strbuf *out);
/* ".a.b", "{.a.b}" and "a.b" alike, as options of kubectl take it. */
bool template_path(struct str text, struct arena *a, struct jsonpath *out, struct err *e);

#endif
