/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of structural*.c: the parts of structural_check. */
#ifndef DRAY_API_STRUCTURAL_CHECK_H
#define DRAY_API_STRUCTURAL_CHECK_H

#include "api/structural_inner.h"

/* The first keyword that no structure has, as upstream says it; NULL: none. */
const char *schema_unsupported(const struct schema *s);
/* Reports, in the order of the texts, what keeps s from being structural. */
bool schema_is_structural(const struct schema *s, struct strbuf *path,
                          const struct schema_report *r);

/* As bad values: Go's structs for a schema, what items may be, and a rule. */
struct str schema_shown_schema(struct arena *a, const struct doc *d);
struct str schema_shown_items(struct arena *a, const struct doc *d);
struct str schema_shown_rule(struct arena *a, const struct doc *d);

/* Whether the defaults below s, which is structural, are valid and pruned. s is of nobody
 * else: its rules are compiled as stored ones. */
bool schema_check_defaults(struct schema *s, const struct api_cel *cel,
                           struct strbuf *path, const struct schema_report *r);

struct schema_openapi_opts {
    const struct api_cel *cel; /* NULL: rules are not compiled */
    const struct schema_known *known;
    bool unlimited; /* single rules may cost what they like */
};
/* The checks of every schema, structural or not, and the rules. path is that of s. */
void schema_check_openapi(struct schema *s, const struct schema_openapi_opts *opts,
                          struct strbuf *path, const struct schema_report *r);

#endif
