/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: by certificate, bearer token, socket, or nobody in particular. */
#include <strings.h>

#include "server/auth.h"

static bool unauthorized(struct request *r)
{
    return fail(r, 401, "Unauthorized", "Unauthorized");
}

/* Of "Bearer TOKEN"; STR_NONE: there is none. */
static struct str bearer(const struct net_exchange *x)
{
    struct str h = str_trim(net_header_get(x, "authorization"));
    size_t space = str_find_byte(h, ' ', 0);
    if (space != 6 || strncasecmp(h.p, "bearer", 6) != 0)
        return STR_NONE;
    struct str token = str_sub(h, space + 1, str_find_byte(h, ' ', space + 1));
    return token.n ? token : STR_NONE;
}

static void by_certificate(struct request *r, struct user *u)
{
    const struct net_exchange *x = r->x;
    struct user_extra *extra = ARENA_NEW(r->a, struct user_extra);
    struct str *id = ARENA_NEW(r->a, struct str);
    *id = arena_printf(r->a, "X509SHA256=%.*s", STR_ARG(x->client_cert_hash));
    *extra =
        (struct user_extra){STR("authentication.kubernetes.io/credential-id"), id, 1};
    *u = (struct user){.name = x->client_name,
                       .groups = x->client_groups,
                       .ngroups = x->nclient_groups,
                       .extra = extra,
                       .nextra = 1};
}

static bool by_token(struct request *r, struct str token, struct user *u)
{
    struct names meant;
    struct str why;
    return tokens_check(r->s, token, tokens_audiences(r->s->auth->tokens), r->a, u,
                        &meant, &why);
}

/* Whoever may open the socket is its owner. */
static void by_socket(struct user *u)
{
    static const struct str GROUPS[] = {{"system:masters", 14}};
    *u = (struct user){.name = STR("system:admin"), .groups = GROUPS, .ngroups = 1};
}

static bool by_nothing(struct request *r, struct user *u)
{
    static const struct str GROUPS[] = {{"system:unauthenticated", 22}};
    if (!r->s->auth->anonymous)
        return unauthorized(r);
    *u = (struct user){.name = STR("system:anonymous"), .groups = GROUPS, .ngroups = 1};
    return true;
}

bool user_authenticate(struct request *r, struct user *out)
{
    const struct net_exchange *x = r->x;
    struct str token = bearer(x);
    if (x->client_name.n)
        by_certificate(r, out);
    else if (token.p && !by_token(r, token, out))
        return unauthorized(r);
    else if (!token.p && x->client_cert_error.n)
        return unauthorized(r);
    else if (!token.p && x->local && !x->tls)
        by_socket(out);
    else if (!token.p)
        return by_nothing(r, out);
    user_add_group(out, STR("system:authenticated"), r->a);
    out->admin = user_in_group(out, "system:masters");
    return true;
}
