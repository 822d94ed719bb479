/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses in rules. */
#ifndef DRAY_API_RULES_IP_H
#define DRAY_API_RULES_IP_H

#include "api/rules_util.h"

struct rules_ip {
    char text[46]; /* as Go prints it */
    bool v6;
    bool mapped; /* an IPv4 address written as an IPv6 one */
};
/* Lenient about leading zeros. */
bool rules_ip_read(struct str s, struct rules_ip *out);

struct rules_range {
    struct rules_ip ip; /* as it is written, which need not be the first */
    unsigned bits;
    bool zeros;     /* a number begins with zeros that nobody needs */
    bool host_bits; /* the address is not the range's first */
    char text[56];  /* as Go prints it */
};
/* Lenient about leading zeros; false: it is no range. */
bool rules_range_read(struct str s, struct rules_range *out);

/* Reports what is wrong with it as an address of a field that once was lenient. */
void rules_ip(struct api_at *at, const char *suffix, const struct doc *value);
/* The same of a range of addresses. Returns its family: 1 for IPv4, 2 for IPv6, 0 for
 * what is none. */
unsigned rules_cidr(struct api_at *at, const char *suffix, const struct doc *value);
bool rules_range_contains(const struct rules_range *whole,
                          const struct rules_range *part);
/* Reports what is wrong with a name that is to be an address in the one spelling. */
void rules_ip_name(struct api_at *at, const char *suffix, struct str name);
/* Reports an address that no pod and no machine can be reached at. */
void rules_endpoint_ip(struct api_at *at, const char *suffix, const struct doc *value);

#endif
