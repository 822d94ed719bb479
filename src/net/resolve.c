/* SPDX-License-Identifier: Apache-2.0 */
#include "net/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/mem.h"
#include "net/loop.h"

struct net_lookup {
    uv_getaddrinfo_t req;
    net_lookup_done *done; /* NULL: cancelled */
    void *ctx;
};

static void print(const struct addrinfo *i, char *out, size_t size)
{
    *out = 0;
    if (i->ai_family == AF_INET)
        uv_ip4_name((const struct sockaddr_in *)(const void *)i->ai_addr, out, size);
    else if (i->ai_family == AF_INET6)
        uv_ip6_name((const struct sockaddr_in6 *)(const void *)i->ai_addr, out, size);
}

static void tell(struct net_lookup *q, int status, const struct addrinfo *all)
{
    char text[NET_MAX_ADDRESSES][INET6_ADDRSTRLEN];
    const char *ips[NET_MAX_ADDRESSES];
    uint32_t n = 0;
    struct err why = ERR_INIT;
    for (const struct addrinfo *i = all; i && n < NET_MAX_ADDRESSES; i = i->ai_next) {
        print(i, text[n], sizeof text[n]);
        ips[n] = text[n];
        n += *text[n] != 0;
    }
    if (n == 0)
        err_set(&why, ERR_NOT_FOUND, "%s",
                status < 0 ? uv_strerror(status) : "no addresses for hostname");
    q->done(q->ctx, ips, n, &why);
    err_release(&why);
}

static void on_answer(uv_getaddrinfo_t *req, int status, struct addrinfo *all)
{
    struct net_lookup *q = req->data;
    if (q->done)
        tell(q, status, all);
    uv_freeaddrinfo(all);
    free(q);
}

struct net_lookup *net_lookup_start(struct net_loop *l, const char *name,
                                    net_lookup_done *done, void *ctx)
{
    static const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                          .ai_socktype = SOCK_STREAM};
    struct net_lookup *q = mem_zalloc(sizeof *q);
    q->done = done;
    q->ctx = ctx;
    q->req.data = q;
    /* Only a name that is too long is refused at once: an empty one is not found. */
    if (uv_getaddrinfo(&l->uv, &q->req, on_answer, name, NULL, &hints) < 0 &&
        uv_getaddrinfo(&l->uv, &q->req, on_answer, "invalid.", NULL, &hints) < 0)
        bug("net: no thread looks names up");
    return q;
}

void net_lookup_cancel(struct net_lookup *q)
{
    if (!q)
        return;
    q->done = NULL;
    uv_cancel((uv_req_t *)&q->req); /* too late: it ends by itself */
}

static bool is_global4(uint32_t ip)
{
    return ip != 0 && ip != UINT32_MAX && ip >> 24 != 127 && ip >> 28 != 14 &&
           ip >> 16 != 0xa9fe;
}

static bool is_global6(const struct in6_addr *ip)
{
    if (IN6_IS_ADDR_V4MAPPED(ip))
        return is_global4((uint32_t)ip->s6_addr[12] << 24 | ip->s6_addr[13] << 16 |
                          ip->s6_addr[14] << 8 | ip->s6_addr[15]);
    return !IN6_IS_ADDR_UNSPECIFIED(ip) && !IN6_IS_ADDR_LOOPBACK(ip) &&
           !IN6_IS_ADDR_MULTICAST(ip) && !IN6_IS_ADDR_LINKLOCAL(ip);
}

bool net_ip_is_global(const char *ip)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, ip, &four) == 1)
        return is_global4(ntohl(four.s_addr));
    return inet_pton(AF_INET6, ip, &six) == 1 && is_global6(&six);
}
