/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: URLs with the grammar and the error texts of Go's net/url, as far as
 * Kubernetes' functions show it. A URL must be absolute, or a path from the root.
 */
#ifndef DRAY_CEL_URL_H
#define DRAY_CEL_URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct cel_url {
    struct str scheme;
    struct str host; /* with port */
    struct str path; /* as EscapedPath() has it */
    struct str query;
    struct str text; /* the URL as it prints; equality goes by this */
};

/* Go's ParseRequestURI, for its verdict alone: `parse "x": invalid URI for request`. */
bool url_check(struct str text, struct err *e);
/* url_check, then Go's Parse, which also knows fragments. Parts are in the arena. */
bool url_parse(struct str text, struct arena *a, struct cel_url *out, struct err *e);

struct str url_hostname(const struct cel_url *u); /* without port and brackets */
struct str url_port(const struct cel_url *u);

/* One parameter of a query; *rest is what remains. False: none is left. Malformed ones
 * are left out. */
bool url_next_parameter(struct str *rest, struct arena *a, struct str *key,
                        struct str *value);
/* More parameters than this and Go takes none of them. */
enum { URL_PARAMETERS_MAX = 10000 };

#endif
