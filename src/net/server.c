/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/conn.h"

enum {
    SWEEP_MS = 500,
    HANDSHAKE_MS = 10000,
    DROP_MS = 5000,
    BACKLOG = 1024,
    CONN_CHUNK = 512
};

static const struct str preface = {"PRI * HTTP/2.0\r\n", 16};

/* ---- connections ---- */

static void conn_unlist(struct conn *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->server->nconns--;
}

/* Exchanges whose handlers still run live on without it. */
static void leave_exchanges(struct conn *c)
{
    struct exchange *next;
    for (struct exchange *x = c->exchanges; x; x = next) {
        next = x->next;
        c->server->body_bytes -= x->body.n;
        x->conn = NULL;
        x->link = NULL;
    }
    c->exchanges = NULL;
}

/* Handlers that are told may end exchanges, others than their own too. */
static void detach_exchanges(struct conn *c)
{
    struct exchange *x = c->exchanges;
    while (x) {
        if (x->detached) {
            x = x->next;
            continue;
        }
        exchange_detach(x);
        x = c->exchanges;
    }
}

static void stopped_if_empty(struct net_server *s)
{
    if (!s->stopping || s->nconns > 0 || s->listening || !s->stopped)
        return;
    void (*fn)(void *ctx) = s->stopped;
    s->stopped = NULL;
    net_timer_stop(s->deadline);
    s->deadline = NULL;
    fn(s->stopped_ctx);
}

static void unhold(struct net_server *s)
{
    if (--s->handles > 0 || !s->freed)
        return;
    SSL_CTX_free(s->tls);
    free(s->path);
    free(s);
}

struct known *known_new(void)
{
    struct known *k = mem_zalloc(sizeof *k);
    k->refs = 1;
    arena_init(&k->arena);
    k->arena.chunk_size = CONN_CHUNK;
    return k;
}

struct known *known_ref(struct known *k)
{
    k->refs++;
    return k;
}

void known_unref(struct known *k)
{
    if (--k->refs > 0)
        return;
    arena_fini(&k->arena);
    free(k);
}

void conn_free(struct conn *c)
{
    struct net_server *s = c->server;
    if (c->proto)
        c->proto->fini(c);
    leave_exchanges(c);
    strbuf_release(&c->first);
    known_unref(c->known);
    free(c);
    stopped_if_empty(s);
    unhold(s);
}

struct stream *conn_release(struct conn *c)
{
    struct stream *stream = c->stream;
    c->stream = NULL;
    detach_exchanges(c);
    conn_unlist(c);
    return stream;
}

static void use_proto(struct conn *c, const struct proto *proto)
{
    c->proto = proto;
    proto->open(c);
}

static void conn_opened(void *ctx)
{
    struct conn *c = ctx;
    c->idle_ms = loop_now(c->server->loop);
    c->address = stream_peer(c->stream, &c->known->arena);
    if (!c->tls)
        return;
    tls_peer_read(&c->stream->tls, &c->known->arena, &c->peer);
    use_proto(c, tls_chose_h2(&c->stream->tls) ? &h2_proto : &h1_proto);
}

/* Without TLS the first bytes decide; true when they have. */
static bool decide(struct conn *c, struct str bytes)
{
    strbuf_addstr(&c->first, bytes);
    size_t n = c->first.n < preface.n ? c->first.n : preface.n;
    bool is_h2 = memcmp(c->first.p, preface.p, n) == 0;
    if (is_h2 && n < preface.n)
        return false;
    use_proto(c, is_h2 ? &h2_proto : &h1_proto);
    return true;
}

static void conn_data(void *ctx, struct str bytes)
{
    struct conn *c = ctx;
    if (c->proto) {
        c->proto->data(c, bytes);
        return;
    }
    if (!decide(c, bytes))
        return;
    struct strbuf first = c->first;
    strbuf_init(&c->first);
    c->proto->data(c, strbuf_str(&first));
    strbuf_release(&first);
}

static void conn_shut_down(struct conn *c)
{
    if (c->shutting)
        return;
    c->shutting = true;
    if (c->proto)
        c->proto->shut_down(c);
    else
        stream_abort(c->stream);
}

/* A client that wants an answer does not hang up before it begins to get it. */
static void conn_ended(void *ctx)
{
    struct conn *c = ctx;
    for (struct exchange *x = c->exchanges; x; x = x->next)
        if (!exchange_said_all(x) && !x->detached) {
            stream_abort(c->stream);
            return;
        }
    conn_shut_down(c);
}

static void conn_pump(void *ctx)
{
    struct conn *c = ctx;
    if (c->proto)
        c->proto->pump(c);
}

static void conn_closed(void *ctx)
{
    struct conn *c = ctx;
    detach_exchanges(c);
    conn_unlist(c);
    conn_free(c);
}

static const struct stream_ops conn_ops = {conn_opened, conn_data, conn_ended, conn_pump,
                                           conn_closed};

static struct conn *conn_new(struct net_server *s)
{
    struct conn *c = mem_zalloc(sizeof *c);
    c->known = known_new();
    c->server = s;
    c->tls = s->tls != NULL;
    c->local = s->local;
    c->idle_ms = loop_now(s->loop);
    c->next = s->conns;
    c->link = &s->conns;
    if (c->next)
        c->next->link = &c->next;
    s->conns = c;
    s->nconns++;
    s->handles++;
    return c;
}

/* ---- limits of time ---- */

/* All is said, and the client still sends. */
static bool waits_for_request(const struct exchange *x)
{
    return exchange_said_all(x) && x->unsent == 0 && stream_room(x->conn->stream) > 0;
}

static void check_exchange(struct exchange *x, uint64_t now)
{
    const struct net_server_opts *o = &x->conn->server->opts;
    uint64_t age = now - x->since_ms;
    if (x->detached || x->cut)
        return;
    if (!x->asked) {
        if (age >= (x->have_headers ? o->request_ms : o->headers_ms))
            exchange_refuse(x, 408);
    } else if ((x->unsent > 0 && age >= o->stall_ms) ||
               (age >= DROP_MS && waits_for_request(x))) {
        exchange_cut(x);
    }
}

static void check_conn(struct conn *c, uint64_t now)
{
    const struct net_server_opts *o = &c->server->opts;
    uint64_t idle = now - c->idle_ms;
    struct exchange *next;
    for (struct exchange *x = c->exchanges; x; x = next) {
        next = x->next; /* handlers end only their own: no request is answered inside */
        check_exchange(x, now);
    }
    if (stream_stalled(c->stream, o->stall_ms) ||
        (!c->stream->open && idle >= HANDSHAKE_MS) ||
        (c->nexchanges == 0 && idle >= o->idle_ms + HANDSHAKE_MS))
        stream_abort(c->stream);
    else if (c->nexchanges == 0 && idle >= o->idle_ms)
        conn_shut_down(c);
}

static void sweep(void *ctx)
{
    struct net_server *s = ctx;
    uint64_t now = loop_now(s->loop);
    struct conn *next;
    for (struct conn *c = s->conns; c; c = next) {
        next = c->next;
        check_conn(c, now);
    }
}

/* ---- listening ---- */

/* At the limit whoever has been idle longest makes room. */
static void make_room(struct net_server *s)
{
    struct conn *oldest = NULL;
    for (struct conn *c = s->conns; c; c = c->next)
        if (c->nexchanges == 0 && (!oldest || c->idle_ms < oldest->idle_ms))
            oldest = c;
    if (oldest)
        stream_abort(oldest->stream);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct net_server *s = listener->data;
    if (status < 0)
        return;
    struct conn *c = conn_new(s);
    c->stream = stream_accept(s->loop, listener, s->local, s->tls, &conn_ops, c);
    if (s->nconns <= s->opts.max_connections)
        return;
    c->idle_ms = UINT64_MAX; /* itself the last to go */
    make_room(s);
    c->idle_ms = loop_now(s->loop);
    if (s->nconns > s->opts.max_connections + BACKLOG)
        stream_abort(c->stream);
}

bool net_server_adopt(struct net_server *s, int fd)
{
    if (s->stopping || s->tls)
        return false;
    struct conn *c = conn_new(s);
    c->local = true;
    c->stream = stream_adopt(s->loop, fd, &conn_ops, c);
    return true;
}

static bool failed(struct err *e, const char *what, int status)
{
    return err_set(e, ERR_IO, "%s: %s", what, uv_strerror(status));
}

static bool parse_address(const char *text, struct sockaddr_storage *out, struct err *e)
{
    const char *colon = strrchr(text, ':');
    char host[64];
    char *end = NULL;
    bool bracket = text[0] == '[' && colon && colon > text + 1 && colon[-1] == ']';
    size_t n = colon ? (size_t)(colon - text) - (bracket ? 2 : 0) : 0;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end || port > 65535 || n >= sizeof host)
        return err_set(e, ERR_INVALID, "'%s' is not ADDRESS:PORT", text);
    memcpy(host, text + bracket, n);
    host[n] = 0;
    if (uv_ip4_addr(host, (int)port, (struct sockaddr_in *)out) == 0 ||
        uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)out) == 0)
        return true;
    return err_set(e, ERR_INVALID, "'%s' is no IP address", host);
}

static bool listen_tcp(struct net_server *s, const char *address, struct err *e)
{
    struct sockaddr_storage to, own;
    int n = sizeof own;
    if (!parse_address(address, &to, e))
        return false;
    int status = uv_tcp_bind(&s->listener.tcp, (const struct sockaddr *)&to, 0);
    if (status == 0)
        status = uv_listen(&s->listener.stream, BACKLOG, on_connection);
    if (status < 0)
        return failed(e, address, status);
    uv_tcp_getsockname(&s->listener.tcp, (struct sockaddr *)&own, &n);
    s->port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                              : ((struct sockaddr_in *)&own)->sin_port);
    return true;
}

/* A socket that a process left behind when it was killed: nobody answers. */
static void remove_stale(const struct sockaddr_un *to)
{
    struct stat st;
    if (lstat(to->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)to, sizeof *to) < 0 && errno == ECONNREFUSED)
        unlink(to->sun_path);
    close(fd);
}

/* Bound by hand, so that it never is open to more than its owner. */
static int bind_unix(const struct sockaddr_un *to)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)to, sizeof *to) < 0) {
        int status = -errno;
        close(fd);
        return status;
    }
    return fd;
}

static bool listen_unix(struct net_server *s, const char *path, struct err *e)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path)
        return err_set(e, ERR_LIMIT, "%s: longer than a socket's path may be", path);
    memcpy(to.sun_path, path, strlen(path) + 1);
    remove_stale(&to);
    int fd = bind_unix(&to);
    if (fd < 0)
        return failed(e, path, fd);
    s->path = mem_dup(path, strlen(path));
    int status = uv_pipe_open(&s->listener.pipe, fd);
    if (status == 0)
        status = uv_listen(&s->listener.stream, BACKLOG, on_connection);
    return status == 0 || failed(e, path, status);
}

static bool start_listening(struct net_server *s, struct err *e)
{
    const char *address = s->opts.address;
    if (!address)
        return true;
    s->local = strncmp(address, "unix:", 5) == 0;
    s->listening = true;
    s->handles++;
    s->listener.handle.data = s;
    if (!s->local) {
        uv_tcp_init(&s->loop->uv, &s->listener.tcp);
        s->listener.handle.data = s;
        return listen_tcp(s, address, e);
    }
    uv_pipe_init(&s->loop->uv, &s->listener.pipe, 0);
    s->listener.handle.data = s;
    return listen_unix(s, address + 5, e);
}

static void put_defaults(struct net_server_opts *o)
{
    if (!o->max_body)
        o->max_body = 3 << 20;
    if (!o->max_bodies)
        o->max_bodies = 512 << 20;
    if (!o->max_unsent)
        o->max_unsent = 64 << 20;
    if (!o->max_connections)
        o->max_connections = 10000;
    if (!o->max_streams)
        o->max_streams = 250;
    if (!o->idle_ms)
        o->idle_ms = 180000;
    if (!o->headers_ms)
        o->headers_ms = 30000;
    if (!o->request_ms)
        o->request_ms = 60000;
    if (!o->stall_ms)
        o->stall_ms = 60000;
}

struct net_server *net_server_new(struct net_loop *l, const struct net_server_opts *opts,
                                  net_handler *handler, void *ctx, struct err *e)
{
    SSL_CTX *tls = opts->tls ? tls_server_new(opts->tls, e) : NULL;
    if (opts->tls && !tls)
        return NULL;
    struct net_server *s = mem_zalloc(sizeof *s);
    s->loop = l;
    s->opts = *opts;
    put_defaults(&s->opts);
    s->handler = handler;
    s->ctx = ctx;
    s->tls = tls;
    s->handles = 1; /* until net_server_free */
    if (!start_listening(s, e)) {
        net_server_free(s);
        return NULL;
    }
    s->sweep = net_timer_start(l, SWEEP_MS, SWEEP_MS, sweep, s);
    return s;
}

uint16_t net_server_port(const struct net_server *s)
{
    return s->port;
}

uint32_t net_server_connections(const struct net_server *s)
{
    return s->nconns;
}

/* ---- stopping ---- */

static void on_listener_closed(uv_handle_t *handle)
{
    struct net_server *s = handle->data;
    s->listening = false;
    stopped_if_empty(s);
    unhold(s);
}

static void stop_listening(struct net_server *s)
{
    if (!s->listening || uv_is_closing(&s->listener.handle))
        return;
    if (s->path)
        unlink(s->path);
    uv_close(&s->listener.handle, on_listener_closed);
}

static void abort_all(struct net_server *s)
{
    for (struct conn *c = s->conns; c; c = c->next)
        stream_abort(c->stream);
}

static void on_deadline(void *ctx)
{
    struct net_server *s = ctx;
    s->deadline = NULL;
    abort_all(s);
}

static void check_stopped(void *ctx)
{
    struct net_server *s = ctx;
    s->check = NULL;
    stopped_if_empty(s);
}

void net_server_stop(struct net_server *s, uint64_t ms, void (*done)(void *ctx),
                     void *ctx)
{
    if (s->stopping)
        return;
    s->stopping = true;
    s->stopped = done;
    s->stopped_ctx = ctx;
    stop_listening(s);
    for (struct conn *c = s->conns; c; c = c->next)
        conn_shut_down(c);
    s->deadline = net_timer_start(s->loop, ms, 0, on_deadline, s);
    s->check = net_timer_start(s->loop, 0, 0, check_stopped, s);
}

void net_server_free(struct net_server *s)
{
    if (!s || s->freed)
        return;
    s->freed = s->stopping = true;
    s->stopped = NULL;
    net_timer_stop(s->sweep);
    net_timer_stop(s->deadline);
    net_timer_stop(s->check);
    stop_listening(s);
    abort_all(s);
    unhold(s);
}
