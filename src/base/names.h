/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of names in Kubernetes, and what is said about a name that has another form
 * (the texts that API clients see; spec 2.1).
 */
#ifndef DRAY_BASE_NAMES_H
#define DRAY_BASE_NAMES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

enum name_kind {
    NAME_DNS1123_LABEL,     /* my-name, at most 63 bytes */
    NAME_DNS1123_SUBDOMAIN, /* labels joined by dots, at most 253 bytes */
    NAME_DNS1123_SUBDOMAIN_CASELESS,
    NAME_DNS1035_LABEL, /* as a DNS-1123 label, but starts with a letter */
    NAME_LABEL_KEY,     /* [subdomain/]name; also called a qualified name */
    NAME_LABEL_VALUE,
    NAME_C_IDENTIFIER,
};

enum { NAME_MAX_PROBLEMS = 4 };

bool name_valid(enum name_kind kind, struct str s);
/* Fills problems and returns their number, 0 for a valid name. Texts live in a. */
unsigned name_check(enum name_kind kind, struct str s, struct arena *a,
                    struct str problems[NAME_MAX_PROBLEMS]);

#endif
