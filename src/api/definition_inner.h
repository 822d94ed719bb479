/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about definitions share; for definition*.c alone. */
#ifndef DRAY_API_DEFINITION_INNER_H
#define DRAY_API_DEFINITION_INNER_H

#include "api/definition.h"
#include "base/names.h"

struct definition_check {
    const struct api_definition_opts *opts;
    struct arena *a;
    struct api_errors *errors;
    const struct doc *spec, *old_spec;
    const struct doc *versions; /* never NULL */
};

/* ---- reporting ---- */

struct str definition_at(struct definition_check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A value as it is printed in an error; NULL: null. */
struct str definition_shown(struct definition_check *c, const struct doc *d);
void definition_report(struct definition_check *c, enum api_error_type type,
                       struct str path, struct str bad, struct str detail);
void definition_required(struct definition_check *c, struct str path, const char *detail);
void definition_invalid(struct definition_check *c, struct str path, const struct doc *d,
                        struct str detail);
void definition_invalid_text(struct definition_check *c, struct str path, struct str bad,
                             struct str detail);
/* What is wrong with a name; empty: nothing. */
struct str definition_problems(struct definition_check *c, enum name_kind kind,
                               struct str name);

/* ---- reading ---- */

const struct doc *definition_member(const struct doc *d,
                                    const char *key);                     /* null: NULL */
const struct doc *definition_items(const struct doc *d, const char *key); /* never NULL */
struct str definition_text(const struct doc *d, const char *key); /* "" unless a string */
bool definition_on(const struct doc *d, const char *key);
const struct doc *definition_version(const struct doc *spec, struct str name);

/* ---- parts ---- */

/* versions[].additionalPrinterColumns, subresources and selectableFields, told by a path;
 * spec.conversion. */
void definition_check_columns(struct definition_check *c, const struct doc *version,
                              struct str path);
void definition_check_subresources(struct definition_check *c, const struct doc *version,
                                   struct str path);
/* without: what is said where there is no schema. */
void definition_check_selectable(struct definition_check *c, const struct doc *version,
                                 struct str path, const char *without);
void definition_check_conversion(struct definition_check *c);

#endif
