/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: what is changed or refused between decoding and the store, plugin by plugin,
 * named and switched as kube-apiserver's. mutate runs on the completed object before it
 * is validated, validate on what is about to be stored.
 */
#ifndef DRAY_SERVER_ADMISSION_ADMISSION_H
#define DRAY_SERVER_ADMISSION_ADMISSION_H

#include "server/inner.h"

enum admit_verb {
    ADMIT_CREATE = 1,
    ADMIT_UPDATE = 2,
    ADMIT_DELETE = 4,
    ADMIT_CONNECT = 8
};

struct admission {
    struct request *r; /* r->res, r->route, r->user say what is asked, and by whom */
    enum admit_verb verb;
    struct str name;       /* of the object */
    struct doc *object;    /* in the hub version; NULL for DELETE and CONNECT */
    const struct doc *old; /* as it is stored; NULL for CREATE and CONNECT */
    bool swept;            /* one of a collection that is deleted: it was not named */
    bool changed;          /* by a policy or a webhook: the plugins run once more, */
    bool again;            /* which they do now */
    struct reinvocation *policies, *webhooks; /* reinvoke.h */
};

/* false: refused, and r->failure says why. */
typedef bool admission_fn(struct admission *a);

struct admission_plugin {
    const char *name;
    bool by_default;
    unsigned verbs;         /* admit_verb; 0: upstream has it, it is not here */
    admission_fn *mutate;   /* NULL: does not */
    admission_fn *validate; /* NULL: does not */
};

/* The plugins that are on: those by default, with the lists' changes ("A,B"; NULL:
 * none). Errors: a name that is no plugin's, in both lists, or to be enabled and not
 * here; what is not here may be disabled. */
bool admission_configure(struct server *s, const char *enable, const char *disable,
                         struct err *e);
bool admission_is_on(const struct server *s, const char *plugin);
bool admission_mutate(struct admission *a);
bool admission_validate(struct admission *a);

#endif
