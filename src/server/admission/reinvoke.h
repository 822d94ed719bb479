/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins that call hooks, webhooks or policies, run twice where one of them changed the
 * object: the second time only for those hooks that asked for it (reinvocationPolicy
 * IfNeeded) and were called before the change. In the request's arena.
 */
#ifndef DRAY_SERVER_ADMISSION_REINVOKE_H
#define DRAY_SERVER_ADMISSION_REINVOKE_H

#include "server/admission/admission.h"

struct reinvocation {
    bool begun;
    struct doc last;          /* the object when the plugin had ended */
    struct doc called, again; /* lists of keys: may be needed again, are */
};

/* Around a run of the plugin. */
void reinvoke_begin(struct admission *a, struct reinvocation *v);
void reinvoke_end(struct admission *a, struct reinvocation *v);
/* Whether a hook is to be called in this run. */
bool reinvoke_due(const struct admission *a, const struct reinvocation *v,
                  struct str key);
/* It was; wants: to be again if need be. */
void reinvoke_called(struct admission *a, struct reinvocation *v, struct str key,
                     bool changed, bool wants);

#endif
