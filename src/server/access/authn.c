/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: by certificate, bearer token, socket, or nobody in particular. */
#include <strings.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "server/access/auth.h"

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

/* Text in the base64 of URLs, without padding. */
static bool decode_url(struct str text, struct arena *a, struct str *out)
{
    char *plain = arena_alloc(a, text.n + 1);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '+' || c == '/' || c == '=' || c == '\r' || c == '\n')
            return false;
        plain[i] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    return text.n % 4 != 1 && base64_decode((struct str){plain, text.n}, a, out) &&
           utf8_valid(*out);
}

/* What a browser can say where it may set no headers: one of the protocols that it offers
 * for a WebSocket is a token in disguise. */
struct offered {
    bool bad;         /* more than one, or none that can be read */
    unsigned others;  /* protocols */
    struct str token; /* STR_NONE: there is none */
};

static void look_at_protocol(struct str one, struct arena *a, struct offered *o)
{
    if (!str_starts(one, STR(AUTH_PROTOCOL))) {
        o->others++;
        return;
    }
    struct str text = str_sub(one, strlen(AUTH_PROTOCOL), SIZE_MAX);
    o->bad |= o->token.p || !decode_url(text, a, &o->token);
}

static struct offered protocols(const struct net_exchange *x, struct arena *a)
{
    struct offered o = {.token = STR_NONE};
    struct str upgrade = net_header_get(x, "upgrade");
    if (!net_wants_upgrade(x) || upgrade.n != 9 ||
        strncasecmp(upgrade.p, "websocket", 9) != 0)
        return o;
    for (uint32_t i = 0; i < x->nheaders; i++) {
        struct str all = x->headers[i].value;
        if (!str_is(x->headers[i].name, "sec-websocket-protocol"))
            continue;
        for (size_t at = 0; at <= all.n && !o.bad;) {
            size_t end = str_find_byte(all, ',', at);
            look_at_protocol(str_trim(str_sub(all, at, end)), a, &o);
            at = end == SIZE_MAX ? all.n + 1 : end + 1;
        }
    }
    /* One is left to be answered with. */
    o.bad |= o.token.n && o.others == 0;
    if (o.token.n == 0)
        o.token = STR_NONE;
    return o;
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
    bool ok = tokens_check(r->s, token, tokens_audiences(r->s->auth->tokens), r->a, u,
                           &meant, &why);
    if (ok && u->warning.n)
        request_warn(r, u->warning);
    return ok;
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
    if (!token.p && !x->client_name.n) {
        struct offered o = protocols(x, r->a);
        if (o.bad)
            return unauthorized(r);
        token = o.token;
    }
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
