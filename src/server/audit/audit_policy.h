/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a request is logged: a Policy of audit.k8s.io/v1, the first rule that matches.
 * Pure; immutable once read.
 */
#ifndef DRAY_SERVER_AUDIT_AUDIT_POLICY_H
#define DRAY_SERVER_AUDIT_AUDIT_POLICY_H

#include "server/access/user.h"

enum audit_level { AUDIT_NONE, AUDIT_METADATA, AUDIT_REQUEST, AUDIT_RESPONSE };
enum audit_stage {
    AUDIT_RECEIVED = 1,
    AUDIT_STARTED = 2,
    AUDIT_COMPLETE = 4,
    AUDIT_PANIC = 8 /* never: nothing here panics */
};

struct audit_verdict {
    enum audit_level level;
    unsigned omitted; /* audit_stage */
    bool omit_managed_fields;
};

struct audit_policy;
/* From the text of a file, YAML or JSON. Errors: no Policy, unknown fields or words. */
const struct audit_policy *audit_policy_read(struct str text, struct arena *a,
                                             struct err *e);
struct audit_verdict audit_policy_judge(const struct audit_policy *p,
                                        const struct user *u,
                                        const struct attributes *want);

const char *audit_level_name(enum audit_level level);
const char *audit_stage_name(enum audit_stage stage);

#endif
