/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: strict decoding (no surrogates, no overlong forms, at most U+10FFFF). */
#ifndef DRAY_BASE_UTF8_H
#define DRAY_BASE_UTF8_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Decodes the code point at s[i]; returns its length in bytes, 0 if s[i..] is not UTF-8.
 */
unsigned utf8_decode(struct str s, size_t i, uint32_t *cp);
/* Writes cp, returns its length (1-4), 0 if cp is no Unicode scalar value. */
unsigned utf8_encode(uint32_t cp, char out[4]);
bool utf8_valid(struct str s);
bool utf8_is_ascii(struct str s);
/* Code points; each invalid byte counts as one, as in Go. */
size_t utf8_count(struct str s);

#endif
