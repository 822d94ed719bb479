/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests a webhook or a policy is about: rules by operation and resource,
 * selectors by the labels of the object and of its namespace.
 */
#ifndef DRAY_SERVER_ADMISSION_MATCH_H
#define DRAY_SERVER_ADMISSION_MATCH_H

#include "server/access/user.h"
#include "server/admission/admission.h"

struct match_rule {
    struct names operations, groups, versions, resources, objects; /* objects: names */
    struct str scope;
};
struct match_rules {
    const struct match_rule *v;
    uint32_t n;
};

struct match {
    struct match_rules rules, excluded;
    bool all;        /* no rules: everything */
    bool equivalent; /* other versions of a resource count too */
    struct selector namespaces, objects;
    bool valid; /* the selectors are; else it is an error where the rules match */
};

/* Of a webhook, or of matchConstraints and matchResources: the names of the list of rules
 * and of that of exclusions ("": there is none). Texts are borrowed from d, the rest is
 * in a. */
void match_read(const struct doc *d, const char *rules, const char *excluded,
                struct arena *a, struct match *out);

enum match_answer { MATCH_NO, MATCH_YES, MATCH_FAILED };
/* MATCH_YES: *as is the resource as the rules mean it, in another version perhaps.
 * MATCH_FAILED: r->failure says why. */
enum match_answer match_ask(const struct match *m, struct admission *a,
                            const struct resource **as);

/* Of an object; the value that a LabelSelector looks at. */
bool match_labels(const struct selector *s, const struct doc *object);
/* attr.GetNamespace(): of the request, and of a namespace itself its name. Empty: none.
 */
struct str match_namespace(const struct admission *a);
/* Of policies and their bindings, which no policy looks at. */
bool match_is_policy(const struct admission *a);
/* Empty: it is yet to be made. */
struct str match_name(const struct admission *a);
/* "CREATE" */
const char *match_operation(const struct admission *a);

#endif
