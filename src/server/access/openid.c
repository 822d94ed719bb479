/* SPDX-License-Identifier: Apache-2.0 */
/* With what others check tokens of service accounts without asking. */
#include "server/access/auth.h"

static void answer(struct request *r, const char *type, struct str body)
{
    struct net_header headers[MAX_HEADERS];
    uint32_t n = request_headers(r, type, headers);
    for (uint32_t i = 0; i < n; i++)
        if (str_is(headers[i].name, "cache-control"))
            headers[i].value = STR("public, max-age=3600");
    net_respond(r->x, 200, headers, n, body);
}

bool openid_serve(struct request *r)
{
    struct tokens *t = r->s->auth->tokens;
    if (!str_is(r->x->method, "GET"))
        return false;
    if (str_is(r->x->path, "/openid/v1/jwks"))
        answer(r, "application/jwk-set+json", tokens_jwks(t));
    else if (str_is(r->x->path, "/.well-known/openid-configuration"))
        answer(r, "application/json", tokens_discovery(t, r->s->url));
    else
        return false;
    return true;
}
