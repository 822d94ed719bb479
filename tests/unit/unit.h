/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: cmocka with the headers it needs first, and a few
 * assertions. A test program has one group (TAP allows one plan):
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {
 *             cmocka_unit_test(test_parse),
 *         };
 *         return cmocka_run_group_tests(tests, NULL, NULL);
 *     }
 *
 * Tests are tables where they can be: an array of rows and one loop; the row's number
 * or name goes into the message of a failure (ROW).
 */
#ifndef DRAY_TESTS_UNIT_H
#define DRAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

#define UNIT_COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* Fails with the row that went wrong: ROW(name, cond). */
#define ROW(name, cond)                                                                  \
    do {                                                                                 \
        if (!(cond))                                                                     \
            fail_msg("row '%s': %s", (name), #cond);                                     \
    } while (0)

static inline void unit_str_is(struct str got, const char *want, const char *file,
                               int line)
{
    if (str_is(got, want))
        return;
    print_error("got  \"%.*s\"\nwant \"%s\"\n", STR_ARG(got), want);
    _fail(file, line);
}

/* A struct str against a C string. */
#define assert_str(got, want) unit_str_is((got), (want), __FILE__, __LINE__)

#endif
