/* SPDX-License-Identifier: Apache-2.0 */
/* Base 64 as JSON carries bytes: the standard alphabet, padded. */
#ifndef DRAY_BASE_BASE64_H
#define DRAY_BASE_BASE64_H

#include "base/arena.h"

struct str base64_encode(struct str bytes, struct arena *a);
/* Line ends are passed over, padding may be missing. false: a byte of no meaning. */
bool base64_decode(struct str text, struct arena *a, struct str *out);

/* Where Go's encoding/base64 finds the text, which must be padded, wrong; SIZE_MAX:
 * nowhere. Line breaks are passed over. */
size_t base64_fault(struct str text);

#endif
