/* SPDX-License-Identifier: Apache-2.0 */
/* What a path and a query ask for. Pure; strings live in the arena or the inputs. */
#ifndef DRAY_SERVER_ROUTE_H
#define DRAY_SERVER_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum route_form {
    ROUTE_OTHER,    /* nothing of the API: /healthz, /version, / */
    ROUTE_CORE,     /* /api */
    ROUTE_GROUPS,   /* /apis */
    ROUTE_GROUP,    /* /apis/GROUP */
    ROUTE_VERSION,  /* /api/v1, /apis/GROUP/VERSION */
    ROUTE_RESOURCE, /* .../[namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]], or with
                       more behind it where that is "proxy" */
};

struct route {
    enum route_form form;
    /* STR_NONE: not there. group is empty for the core group. */
    struct str group, version, namespace, resource, name, subresource;
    struct str rest; /* what follows "proxy", as it was sent: "/a/b"; else empty */
};

/* path is percent-encoded. false: its encoding is broken. */
bool route_parse(struct str path, struct arena *a, struct route *out);

struct query_param {
    struct str name, value;
};
struct query {
    const struct query_param *params;
    uint32_t n;
};

/* Parameters whose encoding is broken are left out. */
void query_parse(struct str text, struct arena *a, struct query *out);
/* The first of that name, or STR_NONE. */
struct str query_get(const struct query *q, const char *name);
/* As upstream reads booleans: anything but "false" and "0" is true, once it is there. */
bool query_bool(const struct query *q, const char *name);

#endif
