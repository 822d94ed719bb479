/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of pod_security.h: a pod that is looked at, and the checks. */
#ifndef DRAY_API_POD_SECURITY_INNER_H
#define DRAY_API_POD_SECURITY_INNER_H

#include "api/pod_security.h"
#include "base/vec.h"

struct words { /* released by whoever filled them */
    VEC(struct str) v;
};

struct look { /* of one check at a pod */
    struct arena *a;
    const struct doc *meta, *spec, *context; /* spec.securityContext */
    const struct doc *const *containers;     /* of all kinds */
    uint32_t ncontainers;
    const void *data;      /* of the row */
    const char *reason;    /* NULL: it is allowed */
    struct strbuf *detail; /* cleared */
    /* Scratch, cleared. */
    struct words bad, values, more;
};

struct pod_check {
    enum pod_level level;
    int from, until; /* minor versions; until: 0, or the one that has another check */
    /* A check of the restricted level takes the place of this one since then; 0: none,
     * -1: in all versions. */
    int overridden;
    void (*look)(struct look *l);
    const void *data;
};

/* ---- looking (pod_security_words.c) ---- */

const struct doc *seen_at(const struct doc *d, const char *path); /* NULL: null, too */
struct str seen_text(const struct doc *d, const char *path);      /* "": none */
struct str seen_name(const struct doc *d);
bool seen_true(const struct doc *d);
bool seen_false(const struct doc *d);
bool seen_among(struct str s, const char *const *names); /* ends with NULL */
bool seen_windows(const struct look *l);
bool seen_own_users(const struct look *l); /* its root is nobody outside */

/* ---- telling ---- */

void tell_set(struct words *w); /* each once, sorted */
void tell_joined(struct look *l, const struct words *w, bool quoted);
const char *tell_plural(const struct words *w, const char *one, const char *many);
void tell_containers(struct look *l, const struct words *names);
/* "pod and containers ..." */
void tell_setters(struct look *l, bool pod, const struct words *names);

/* ---- checks that have a file of their own ---- */

void look_armor(struct look *l); /* pod_security_profiles.c */
void look_seccomp(struct look *l);
void look_seccomp_annotations(struct look *l);
void look_seccomp_restricted(struct look *l);

extern const struct pod_check pod_checks[];
extern const uint32_t npod_checks;

#endif
