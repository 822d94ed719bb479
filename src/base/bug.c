/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bug(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("dray: bug: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    abort();
}
