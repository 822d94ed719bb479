/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: how the parser, the checker and the validators report what they find. */
#ifndef DRAY_CEL_ISSUES_H
#define DRAY_CEL_ISSUES_H

#include <stdarg.h>

#include "cel/cel.h"

enum {
    CEL_MAX_ISSUES = 100, /* kept; more are only counted */
};

/* A position of its own: printed as -1:0, without the source line. */
#define CEL_NO_POS UINT32_MAX

struct cel_reporter {
    struct cel_issues *out;
    struct arena *a; /* of the texts and of the list */
    struct str text; /* the source */
};

void cel_report(struct cel_reporter *r, uint32_t pos, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void cel_reportv(struct cel_reporter *r, uint32_t pos, const char *fmt, va_list ap);
/* Puts what was reported into the order of the source. */
void cel_issues_sort(struct cel_issues *is);

#endif
