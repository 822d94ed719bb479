/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pod Security Standards: levels, each as of a minor version, and what of a pod they
 * forbid, in upstream's words; and the labels of a namespace that say which apply.
 */
#ifndef DRAY_API_POD_SECURITY_H
#define DRAY_API_POD_SECURITY_H

#include "doc/doc.h"

enum pod_level { POD_PRIVILEGED, POD_BASELINE, POD_RESTRICTED };
enum { POD_LATEST = -1, POD_NEWEST = 37 }; /* the last version with rules of its own */

struct pod_standard {
    enum pod_level level;
    int minor; /* of version 1; POD_LATEST */
};

enum pod_mode { POD_ENFORCE, POD_AUDIT, POD_WARN, POD_MODES };
struct pod_policy {
    struct pod_standard of[POD_MODES];
};

bool pod_standard_equal(struct pod_standard x, struct pod_standard y);
/* Nothing is asked of a pod. */
bool pod_policy_is_privileged(const struct pod_policy *p);
/* The same is asked. */
bool pod_policy_equal(const struct pod_policy *x, const struct pod_policy *y);
/* "baseline:latest", "restricted:v1.30" */
struct str pod_standard_print(struct pod_standard s, struct arena *a);
/* What is wrong with a text; NULL: nothing. */
const char *pod_level_parse(struct str text, enum pod_level *out);
const char *pod_minor_parse(struct str text, int *out);

/* "pod-security.kubernetes.io/enforce", or -version. */
const char *pod_policy_label(enum pod_mode mode, bool version);
struct pod_policy_problem {
    const char *label;
    struct str value;
    const char *text;
};
enum { POD_POLICY_PROBLEMS = 2 * POD_MODES };
/* What labels say over the defaults; of what is wrong, the strictest is enforced. Returns
 * the number of problems. */
unsigned pod_policy_read(const struct doc *labels, const struct pod_policy *defaults,
                         struct pod_policy *out,
                         struct pod_policy_problem problems[POD_POLICY_PROBLEMS]);

/* Whether objects of a kind are pods, or have a template of some. */
bool pod_kind(const char *group, const char *resource);
/* Where an object of a kind has a pod's metadata and spec: a Pod, or a template; NULL:
 * nowhere, or it has none. */
const struct doc *pod_of(const char *group, const char *resource,
                         const struct doc *object);
/* "reason (detail), ..." of a pod or template; reasons alone: "reason, ...". STR_NONE: it
 * is allowed. */
struct str pod_violations(struct pod_standard s, const struct doc *pod, bool details,
                          struct arena *a);

#endif
