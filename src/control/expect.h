/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a controller has asked for and its caches do not show yet: dependents to come,
 * and dependents to go. Until all of it was seen, or five minutes are over, what the
 * caches say of an owner is old, and nothing is made or deleted for it.
 */
#ifndef DRAY_CONTROL_EXPECT_H
#define DRAY_CONTROL_EXPECT_H

#include "base/map.h"

struct expect {
    struct strmap owners; /* the owner's key -> struct expected */
};

void expect_init(struct expect *x);
void expect_fini(struct expect *x);

/* Nothing is expected of this owner, or has been for too long. */
bool expect_is_met(const struct expect *x, struct str owner, uint64_t now_ms);
/* n more, told before they are asked for. */
void expect_made(struct expect *x, struct str owner, uint32_t n, uint64_t now_ms);
void expect_gone(struct expect *x, struct str owner, struct str uid, uint64_t now_ms);
/* One was seen, or will never be. */
void expect_saw_made(struct expect *x, struct str owner);
void expect_saw_gone(struct expect *x, struct str owner, struct str uid);
/* One that is expected to go. */
bool expect_has_gone(const struct expect *x, struct str owner, struct str uid);
/* The owner is gone. */
void expect_forget(struct expect *x, struct str owner);

#endif
