/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says beside its answer: the header Warning (RFC 7234 5.5), of which only
 * the code 299 is for people. A value may hold several.
 */
#ifndef DRAY_CLIENT_WARNING_H
#define DRAY_CLIENT_WARNING_H

#include "base/arena.h"
#include "base/str.h"

/* The text of the next one, in the arena. False: there is no more, or the rest is not
 * understood. Those of other codes, or with control characters, are passed over. */
bool warning_next(struct str *rest, struct arena *a, struct str *text);

#endif
