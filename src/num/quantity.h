/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities, exactly (spec 4.8, golden/num). A quantity is a decimal number,
 * a format (the family of suffixes it prints with) and, where upstream keeps it, the text
 * it was written as.
 *
 * Small form: value = i * 10^scale, int64 and -9 <= scale; upstream's "int64Amount".
 * Anything else is a big form, a GMP integer in place of i (scale -9, but 0 for a capped
 * binary value and as written for a zero). Which form a value has is visible to users:
 * quantity_as_int64 and CEL's asInteger answer for the small form alone, as upstream
 * does.
 *
 * Ownership: a quantity is immutable and refers only to memory of the arena it was made
 * in. Copying the struct is fine as long as that arena lives.
 */
#ifndef DRAY_NUM_QUANTITY_H
#define DRAY_NUM_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum quantity_format {
    QUANTITY_DECIMAL_SI,
    QUANTITY_BINARY_SI,
    QUANTITY_DECIMAL_EXPONENT
};

struct quantity_big; /* private: GMP limbs in the arena */

struct quantity {
    int64_t i;                      /* small form: unscaled value */
    const struct quantity_big *big; /* NULL: small form */
    const char *text;               /* canonical text kept from parsing, or NULL */
    uint32_t text_len;
    int16_t scale; /* power of ten of i or big */
    uint8_t format;
};

#define QUANTITY_ZERO ((struct quantity){0})

/* Upstream's grammar and error texts. Exponents beyond +-1000 are refused (a named
 * difference: upstream hangs on them). */
bool quantity_parse(struct str text, struct arena *a, struct quantity *out,
                    struct err *e);
struct quantity quantity_from_int64(int64_t v, enum quantity_format format);

/* Canonical text; kept text first, as upstream prints it. */
struct str quantity_print(const struct quantity *q, struct arena *a);

int quantity_cmp(const struct quantity *a,
                 const struct quantity *b); /* -1, 0, 1; exact */
int quantity_sign(const struct quantity *q);
/* Sums take b's format when a is zero. */
struct quantity quantity_add(const struct quantity *a, const struct quantity *b,
                             struct arena *m);
struct quantity quantity_sub(const struct quantity *a, const struct quantity *b,
                             struct arena *m);
struct quantity quantity_neg(const struct quantity *q, struct arena *m);
/* a * b, rounded away from zero to whole nanos as texts are, in a's format. Of two big
 * forms b counts as the largest int64. */
struct quantity quantity_mul(const struct quantity *a, const struct quantity *b,
                             struct arena *m);
/* q * n exactly. */
struct quantity quantity_mul_int64(const struct quantity *q, int64_t n, struct arena *m);

/* Upstream's AsInt64: small form, scale >= 0, fits. */
bool quantity_as_int64(const struct quantity *q, int64_t *out);
/* value * 10^digits, rounded away from zero; false when int64 cannot hold it. digits 0 is
 * upstream's Value(), 3 MilliValue(), 9 ScaledValue(Nano), but never wrapped. */
bool quantity_scaled(const struct quantity *q, int digits, int64_t *out);
/* As quantity_scaled, but false unless no rounding was needed. */
bool quantity_scaled_exact(const struct quantity *q, int digits, int64_t *out);
double quantity_as_double(const struct quantity *q); /* the nearest double */
/* Upstream's AsApproximateFloat64, digit for digit (CEL's asApproximateFloat); but zero
 * is 0 with any exponent, where upstream may give NaN. */
double quantity_approx_double(const struct quantity *q);
/* Plain decimal digits, no exponent, no suffix. */
struct str quantity_exact(const struct quantity *q, struct arena *a);
/* The 64-bit words of a big form's magnitude, the lowest first; NULL: it is small. */
const uint64_t *quantity_words(const struct quantity *q, uint32_t *n);
/* Equal for equal values, whatever the format or text. */
uint64_t quantity_hash(const struct quantity *q);
/* Copies into another arena. */
struct quantity quantity_dup(const struct quantity *q, struct arena *a);

#endif
