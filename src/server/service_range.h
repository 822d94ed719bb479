/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of Services: a range, whose first is the server's own. */
#ifndef DRAY_SERVER_SERVICE_RANGE_H
#define DRAY_SERVER_SERVICE_RANGE_H

#include <stdbool.h>

#include "base/err.h"

struct service_range {
    char cidr[64], first[48]; /* "10.0.0.0/24", "10.0.0.1" */
    bool six;                 /* IPv6 */
};

/* "10.0.0.0/24", at most 2^20 addresses and at least 4. Errors: no such range; more than
 * one. */
bool service_range_parse(const char *text, struct service_range *out, struct err *e);

#endif
