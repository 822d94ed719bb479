/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of structural*.c: formats of strings (kube-openapi strfmt). */
#ifndef DRAY_API_STRUCTURAL_FORMATS_H
#define DRAY_API_STRUCTURAL_FORMATS_H

#include "api/structural_inner.h"

struct cel_regex;

struct schema_format {
    const char *name; /* without dashes */
    bool (*check)(struct str text);
    const char *pattern; /* that has to match before check is asked; NULL: none */
};

/* By the name as a schema has it, dashes or not. NULL: none that strings have. */
const struct schema_format *schema_format_find(struct str name);
/* re: of the pattern, if it was compiled already; else NULL. */
bool schema_format_valid(const struct schema_format *f, const struct cel_regex *re,
                         struct str text);

bool schema_email(struct str text);
/* Go's syntax, and "3 days 2 hours". */
bool schema_duration(struct str text, int64_t *ns);
bool schema_date(struct str text, int64_t *seconds);
/* What expressions take for one, which is not what is valid: an empty text is 1970, and
 * no zone is UTC. */
bool schema_date_time(struct str text, struct cel_value *out);

#endif
