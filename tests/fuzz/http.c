/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever comes on a plain connection (HTTP/1.1, or HTTP/2 by its preface): every
 * exchange that a handler is given keeps its promises and is ended once, and the
 * connection goes away when the client has. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "net/http.h"

enum { MAX_ROUNDS = 1000, MAX_HEADERS = 64 * 1024, MAX_BODY = 4096 };

static struct net_loop *loop;
static struct net_server *server;
static struct net_shared *shared;
static unsigned open_exchanges, open_tunnels;

/* An exchange or a tunnel that goes on. */
struct job {
    struct net_exchange *x;
    struct net_tunnel *tunnel;
};

static struct job *job_new(struct net_exchange *x)
{
    struct job *j = mem_zalloc(sizeof *j);
    j->x = x;
    return j;
}

static void check_request(const struct net_exchange *x)
{
    size_t n = 0;
    for (uint32_t i = 0; i < x->nheaders; i++) {
        struct str name = x->headers[i].name;
        n += name.n + x->headers[i].value.n;
        for (size_t k = 0; k < name.n; k++)
            FUZZ_CHECK(name.p[k] < 'A' || name.p[k] > 'Z');
    }
    FUZZ_CHECK(n <= MAX_HEADERS && x->body.n <= MAX_BODY);
    FUZZ_CHECK(x->method.n > 0 && x->path.p != NULL);
    FUZZ_CHECK(str_find_byte(x->path, '?', 0) == SIZE_MAX);
    FUZZ_CHECK(x->local && !x->tls && x->client_name.n == 0);
}

static void on_tunnel(void *ctx, struct str bytes)
{
    struct job *j = ctx;
    if (bytes.n > 0) {
        net_tunnel_write(j->tunnel, bytes);
        return;
    }
    net_tunnel_close(j->tunnel);
    open_tunnels--;
    free(j);
}

static bool upgrade(struct net_exchange *x)
{
    static const struct net_header to = {STR("upgrade"), STR("echo")};
    struct job *j = job_new(NULL);
    j->tunnel = net_upgrade(x, &to, 1, on_tunnel, j);
    if (!j->tunnel) {
        free(j);
        return false;
    }
    open_tunnels++;
    return true;
}

static void write_some(struct net_exchange *x)
{
    net_begin(x, 200, x->headers, x->nheaders < 3 ? x->nheaders : 3);
    net_write(x, x->body);
    net_write_shared(x, shared);
    net_write(x, x->path);
}

static void end_later(void *ctx)
{
    struct job *j = ctx;
    net_write(j->x, STR("later"));
    net_done(j->x);
    open_exchanges--;
    free(j);
}

static void on_gone(void *ctx)
{
    struct job *j = ctx;
    FUZZ_CHECK(!net_write(j->x, STR("gone")));
    net_done(j->x);
    open_exchanges--;
    free(j);
}

static void handle(void *ctx, struct net_exchange *x)
{
    struct job *j;
    check_request(x);
    if (net_wants_upgrade(x) && x->path.n % 2 == 0 && upgrade(x))
        return;
    switch (x->path.n % 4) {
    case 0:
        net_respond(x, 200, NULL, 0, x->body);
        break;
    case 1:
        write_some(x);
        net_done(x);
        break;
    case 2:
        write_some(x);
        open_exchanges++;
        net_post(loop, end_later, job_new(x));
        break;
    default:
        write_some(x);
        open_exchanges++;
        j = job_new(x);
        net_on_gone(x, on_gone, j);
    }
}

static void set_up(void)
{
    struct net_server_opts opts = {.max_body = MAX_BODY, .max_streams = 20};
    loop = net_loop_new(NULL);
    server = net_server_new(loop, &opts, handle, NULL, NULL);
    shared = net_shared_new(STR("shared bytes"));
    FUZZ_CHECK(server);
}

static void read_over(int fd)
{
    char buf[65536];
    while (recv(fd, buf, sizeof buf, MSG_DONTWAIT) > 0)
        ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fds[2];
    if (!loop)
        set_up();
    if (size > 65536)
        size = 65536;
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    FUZZ_CHECK(net_server_adopt(server, fds[0]));
    /* In two pieces: what comes apart is put together. */
    size_t half = size / 2;
    FUZZ_CHECK(half == 0 || send(fds[1], data, half, MSG_NOSIGNAL) == (ssize_t)half);
    for (int i = 0; i < 3; i++)
        net_loop_run_once(loop, false);
    if (size > half)
        send(fds[1], data + half, size - half, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int i = 0; i < 3; i++)
        net_loop_run_once(loop, false);
    read_over(fds[1]);
    shutdown(fds[1], SHUT_WR);
    int rounds = 0;
    while (net_server_connections(server) > 0 || open_exchanges > 0 || open_tunnels > 0) {
        FUZZ_CHECK(rounds++ < MAX_ROUNDS);
        net_loop_run_once(loop, true);
        read_over(fds[1]);
    }
    close(fds[1]);
    net_loop_run_once(loop, false);
    return 0;
}
