/* SPDX-License-Identifier: Apache-2.0 */
#include "server/user.h"

static const char ADMINS[] = "system:masters";

static bool cert_is_admin(const struct net_exchange *x)
{
    for (uint32_t i = 0; i < x->nclient_groups; i++)
        if (str_is(x->client_groups[i], ADMINS))
            return true;
    return false;
}

static bool unauthorized(struct request *r)
{
    return fail(r, 401, "Unauthorized", "Unauthorized");
}

static bool acts_in_group(const struct net_exchange *x, const char *group)
{
    for (uint32_t i = 0; i < x->nheaders; i++)
        if (str_is(x->headers[i].name, "impersonate-group") &&
            str_is(x->headers[i].value, group))
            return true;
    return false;
}

static bool impersonates(const struct net_exchange *x)
{
    for (uint32_t i = 0; i < x->nheaders; i++)
        if (str_starts(x->headers[i].name, STR("impersonate-")))
            return true;
    return false;
}

/* An administrator's request in the name of another. */
static bool impersonate(struct request *r, struct user *u)
{
    struct str name = net_header_get(r->x, "impersonate-user");
    if (!u->admin)
        return fail(r, 403, "Forbidden",
                    "users \"%.*s\" is forbidden: User \"%.*s\" cannot impersonate "
                    "resource \"users\" in API group \"\" at the cluster scope",
                    STR_ARG(name), STR_ARG(u->name));
    if (name.n == 0)
        return fail_bad(r,
                        "requested groups or extras without impersonating a user name");
    u->name = name;
    u->admin = acts_in_group(r->x, ADMINS);
    return true;
}

bool user_authenticate(struct request *r, struct user *out)
{
    const struct net_exchange *x = r->x;
    *out = (struct user){.name = STR("system:anonymous")};
    if (x->client_cert_error.n || net_header_get(x, "authorization").p)
        return unauthorized(r);
    if (x->client_name.n)
        *out = (struct user){.name = x->client_name,
                             .groups = x->client_groups,
                             .ngroups = x->nclient_groups,
                             .admin = cert_is_admin(x)};
    return !impersonates(x) || impersonate(r, out);
}

bool user_in_group(const struct user *u, const char *group)
{
    for (uint32_t i = 0; i < u->ngroups; i++)
        if (str_is(u->groups[i], group))
            return true;
    return false;
}

bool authorize_check(struct server *s, const struct user *u, const struct attributes *a)
{
    return u->admin;
}

static bool is_public(struct str path)
{
    static const char *const PATHS[] = {"/healthz", "/livez", "/readyz", "/version",
                                        "/version/"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        if (str_is(path, PATHS[i]))
            return true;
    return false;
}

static bool forbid_resource(struct request *r, const struct user *u, const char *verb)
{
    const struct route *t = &r->route;
    struct str name =
        t->name.n ? arena_printf(r->a, " \"%.*s\"", STR_ARG(t->name)) : STR("");
    struct str what = t->subresource.n
                          ? arena_printf(r->a, "%.*s/%.*s", STR_ARG(t->resource),
                                         STR_ARG(t->subresource))
                          : t->resource;
    struct str where = t->namespace.p ? arena_printf(r->a, "in the namespace \"%.*s\"",
                                                     STR_ARG(t->namespace))
                                      : STR("at the cluster scope");
    fail(r, 403, "Forbidden",
         "%.*s%.*s is forbidden: User \"%.*s\" cannot %s resource \"%.*s\" in API group "
         "\"%.*s\" %.*s",
         STR_ARG(qualified(r->a, t->resource, t->group)), STR_ARG(name), STR_ARG(u->name),
         verb, STR_ARG(what), STR_ARG(t->group), STR_ARG(where));
    r->failure.has_details = true;
    r->failure.name = t->name;
    r->failure.group = t->group;
    r->failure.kind = t->resource;
    return false;
}

bool user_authorize(struct request *r, const struct user *u, const char *verb)
{
    if (u->admin || is_public(r->x->path))
        return true;
    if (r->route.form == ROUTE_RESOURCE)
        return forbid_resource(r, u, verb);
    fail(r, 403, "Forbidden", "forbidden: User \"%.*s\" cannot %s path \"%.*s\"",
         STR_ARG(u->name), verb, STR_ARG(r->x->path));
    r->failure.has_details = true;
    return false;
}
