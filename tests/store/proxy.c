/* SPDX-License-Identifier: Apache-2.0 */
#include "store/proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"

#define GET(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)

static void drop(struct proxy *p, int i)
{
    if (!p->pairs[i].client)
        return;
    close(p->pairs[i].client);
    close(p->pairs[i].server);
    p->pairs[i].client = p->pairs[i].server = 0;
}

static void drop_all(struct proxy *p)
{
    for (int i = 0; i < PROXY_PAIRS; i++)
        drop(p, i);
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static void take(struct proxy *p)
{
    int client = accept(p->listener, NULL, NULL);
    int server = client >= 0 && !GET(p->closed) ? connect_to(p->to) : -1;
    for (int i = 0; i < PROXY_PAIRS && server >= 0; i++)
        if (!p->pairs[i].client) {
            p->pairs[i].client = client;
            p->pairs[i].server = server;
            return;
        }
    if (server >= 0)
        close(server);
    if (client >= 0)
        close(client);
}

/* How much of n may pass; cut: and then no more. */
static size_t allow(struct proxy *p, size_t n, bool *cut)
{
    size_t left = GET(p->left);
    *cut = left > 0 && n >= left;
    if (left > 0)
        SET(p->left, *cut ? 0 : left - n);
    return *cut ? left : n;
}

/* False: the pair is over. */
static bool pass(struct proxy *p, int from, int to)
{
    char buffer[16384];
    bool cut;
    ssize_t n = recv(from, buffer, sizeof buffer, 0);
    if (n <= 0)
        return false;
    size_t size = allow(p, (size_t)n, &cut);
    bool ok = send(to, buffer, size, MSG_NOSIGNAL) == (ssize_t)size;
    if (!cut)
        return ok;
    drop_all(p);
    __atomic_add_fetch(&p->cuts, 1, __ATOMIC_SEQ_CST);
    return true;
}

static void *run(void *arg)
{
    struct proxy *p = arg;
    while (!GET(p->stop)) {
        struct pollfd fds[1 + 2 * PROXY_PAIRS] = {{p->listener, POLLIN, 0}};
        for (int i = 0; i < PROXY_PAIRS; i++) {
            int client = p->pairs[i].client, server = p->pairs[i].server;
            fds[1 + 2 * i] = (struct pollfd){client ? client : -1, POLLIN, 0};
            fds[2 + 2 * i] = (struct pollfd){client ? server : -1, POLLIN, 0};
        }
        poll(fds, 1 + 2 * PROXY_PAIRS, 10);
        if (GET(p->closed))
            drop_all(p);
        for (int i = 0; i < PROXY_PAIRS; i++) {
            int client = p->pairs[i].client, server = p->pairs[i].server;
            bool up = client && fds[1 + 2 * i].fd == client && fds[1 + 2 * i].revents;
            bool down = client && fds[2 + 2 * i].fd == server && fds[2 + 2 * i].revents;
            if ((up && !pass(p, client, server)) ||
                (down && p->pairs[i].client && !pass(p, server, client)))
                drop(p, i);
        }
        if (fds[0].revents)
            take(p);
    }
    drop_all(p);
    return NULL;
}

void proxy_start(struct proxy *p, uint16_t to)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    *p = (struct proxy){.to = to};
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(p->listener, (struct sockaddr *)&at, size) < 0 ||
        listen(p->listener, 16) < 0 ||
        getsockname(p->listener, (struct sockaddr *)&at, &size) < 0)
        bug("proxy: cannot listen");
    p->port = ntohs(at.sin_port);
    if (pthread_create(&p->thread, NULL, run, p) != 0)
        bug("proxy: no thread");
}

void proxy_stop(struct proxy *p)
{
    SET(p->stop, true);
    pthread_join(p->thread, NULL);
    close(p->listener);
}

void proxy_cut_after(struct proxy *p, size_t bytes)
{
    SET(p->left, bytes);
}

void proxy_close(struct proxy *p, bool closed)
{
    SET(p->closed, closed);
}

unsigned proxy_cuts(struct proxy *p)
{
    return GET(p->cuts);
}
