/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: doubles from and to text, exactly: the fewest digits that read back as
 * the same number, and the nearest number to any digits.
 */
#ifndef DRAY_CEL_FLOAT_H
#define DRAY_CEL_FLOAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* d1.d2d3... * 10^exp; n is 1 for zero. */
struct float_digits {
    char digits[20];
    unsigned n;
    int exp;
    bool negative;
};

/* d must be finite. */
void cel_float_shortest(double d, struct float_digits *out);

enum float_read { FLOAT_BAD, FLOAT_OK, FLOAT_OUT_OF_RANGE };
/* Decimal digits with an optional point and exponent; hex: the same in base 16, the
 * exponent after p and of two, as in Go but without its 0x. No sign, no spaces. What is
 * too small reads as zero. */
enum float_read cel_float_parse(const char *p, size_t n, bool hex, double *out);

#ifdef __cplusplus
}
#endif

#endif
