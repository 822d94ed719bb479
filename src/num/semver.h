/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SemVer 2.0.0 with upstream's normalisation (spec 4.5 "Semver", golden/num). Numbers are
 * uint64 (upstream's limit); identifiers point into the text given to semver_parse unless
 * it had to be normalised, then into the arena.
 */
#ifndef DRAY_NUM_SEMVER_H
#define DRAY_NUM_SEMVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct semver {
    uint64_t major, minor, patch;
    struct str pre;   /* "rc.1", without the dash; empty if none */
    struct str build; /* without the plus */
};

/* normalize: one leading v off, short forms filled, leading zeros dropped. Error texts
 * are upstream's. */
bool semver_parse(struct str text, bool normalize, struct arena *a, struct semver *out,
                  struct err *e);
int semver_cmp(const struct semver *a, const struct semver *b); /* build ignored */
struct str semver_print(const struct semver *v, struct arena *a);

#endif
