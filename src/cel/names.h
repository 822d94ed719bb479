/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: what Kubernetes takes for a name, a label and a few other texts. The
 * messages are upstream's and constant.
 */
#ifndef DRAY_CEL_NAMES_H
#define DRAY_CEL_NAMES_H

#include "base/str.h"

enum { NAME_MESSAGES_MAX = 4 };

/* What is wrong with a text; n is 0 if nothing is. */
struct name_check {
    const char *messages[NAME_MESSAGES_MAX];
    unsigned n;
};

/* Labels and subdomains of DNS (RFC 1123, RFC 1035). */
void name_dns_label(struct str s, struct name_check *out);
void name_dns_subdomain(struct str s, struct name_check *out);
void name_dns1035_label(struct str s, struct name_check *out);
/* "name" or "example.com/name". */
void name_label_key(struct str s, struct name_check *out);
void name_label_value(struct str s, struct name_check *out);

bool name_is_uuid(struct str s); /* dashes may be left out */
bool name_is_base64(struct str s);
bool name_is_date(struct str s); /* "2024-02-29" */
bool name_is_datetime(struct str s);

#endif
