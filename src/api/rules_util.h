/* SPDX-License-Identifier: Apache-2.0 */
/* What several files of rules use. */
#ifndef DRAY_API_RULES_UTIL_H
#define DRAY_API_RULES_UTIL_H

#include "api/rules.h"
#include "base/names.h"
#include "base/utf8.h"

/* Reports every problem of the text as a name of that kind; true if there is none. */
bool rules_name(struct api_at *at, enum name_kind kind);
bool rules_name_at(struct api_at *at, const char *suffix, const struct doc *value,
                   enum name_kind kind);
/* As name_check; the declarative stage counts bytes where the other one counts
 * characters.
 */
unsigned rules_problems(struct api_walk *w, enum name_kind kind, struct str s,
                        struct str problems[NAME_MAX_PROBLEMS]);
const char *rules_index(struct api_at *at, uint32_t i); /* "[i]" */
/* Reports a map's key at the path of the map (spec 2.0 rule 7). Returns false. */
bool rules_bad_key(struct api_at *at, const struct doc_member *m,
                   enum api_error_type type, struct str text);
/* choices "A|B". Returns false. */
bool rules_not_supported(struct api_at *at, const char *suffix, const struct doc *value,
                         const char *choices);
bool rules_full_name_valid(struct api_walk *w, struct str s);
/* Strict SemVer 2.0.0 by shape, numbers of any length (spec 2.1). */
bool rules_semver_shape(struct str s);
/* A quantity member; false when absent. The document was decoded, so it can be parsed. */
bool rules_quantity(struct api_at *at, const struct doc *parent, const char *key,
                    struct quantity *out);

struct str rules_lowered(struct arena *a, struct str s);
/* Of metadata, and of what looks like it. */
void rules_labels(struct api_at *at, const char *suffix, const struct doc *labels);
void rules_annotations(struct api_at *at, const char *suffix,
                       const struct doc *annotations);
void rules_finalizer(struct api_at *at, const char *suffix, struct str name);
void rules_segment(struct api_at *at, const char *suffix, struct str text, bool prefix);
void rules_segments(struct api_at *meta); /* name and prefix as parts of a URL */

struct choice {
    const char *name; /* as it is shown */
    bool set;
};
/* How many are set; shown is "{a, b}" in quotes, or "" in quotes for none. */
unsigned rules_chosen(struct arena *a, const struct choice *choices, size_t n,
                      struct str *shown);

/* NULL too. */
void api_policy_walk_free(struct api_policy_walk *p);

/* Rules that others call. */
API_RULE(field_ref);
API_RULE(resource_ref);
API_RULE(immutable);
API_RULE(one_of);
API_RULE(alone);
API_RULE(required);
API_RULE(at_least);
API_RULE(port_number);
API_RULE(label_value_joined);
API_RULE(max);
API_RULE(meta);
API_RULE(pod_annotations);
API_RULE(max_bytes);
API_RULE(unique);
API_RULE(dns_label);
API_RULE(dns_subdomain);
API_RULE(label_key);
API_RULE(label_value);
API_RULE(semver);
API_RULE(pool_path);
API_RULE(request_ref);
API_RULE(signer_name);

#endif
