/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection as two streams of bytes, over TCP or a Unix socket, with TLS or without.
 *
 * Whoever sends is asked to: stream_wake marks the stream, and before the loop sleeps
 * pump() is called, which writes while there is room. So many small writes leave as one,
 * and what waits for a slow peer waits with its owner, who knows what to drop.
 *
 * A stream frees itself after closed(), the last call. Until then every function may be
 * called from every callback; after stream_abort no callback but closed() comes.
 */
#ifndef DRAY_NET_STREAM_H
#define DRAY_NET_STREAM_H

#include "net/loop.h"
#include "net/tls.h"

struct stream_ops {
    void (*opened)(void *ctx); /* connected, and the handshake is over */
    void (*data)(void *ctx, struct str bytes);
    void (*ended)(void *ctx); /* the peer sends no more */
    void (*pump)(void *ctx);
    void (*closed)(void *ctx);
};

struct stream {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    struct net_loop *loop;
    const struct stream_ops *ops;
    void *ctx;
    struct tls_session tls;
    bool has_tls;
    bool connected; /* and not yet started */
    bool started;
    bool open;  /* for the owner's bytes */
    bool ended; /* by the peer */
    bool finishing, shut, closing;
    bool paused, reading, dirty;
    struct stream *dirty_next, **dirty_link;
    struct strbuf plain;      /* written, not yet encrypted or handed to the socket */
    struct strbuf held;       /* received while paused */
    size_t in_flight;         /* handed to the socket */
    size_t queue_seen;        /* of the socket at the last progress */
    uint64_t progress_ms;     /* when bytes last left, or there were none to send */
    size_t discarded;         /* since stream_finish */
    struct net_timer *linger; /* aborts: of a connect, of a finish */
    struct err why;           /* for closed(): what went wrong; empty: nothing */
};

/* Takes the next connection of a listener; tls NULL: plain. */
struct stream *stream_accept(struct net_loop *l, uv_stream_t *listener, bool local,
                             SSL_CTX *tls, const struct stream_ops *ops, void *ctx);
/* Takes a connected Unix socket. */
struct stream *stream_adopt(struct net_loop *l, int fd, const struct stream_ops *ops,
                            void *ctx);
/* opened() follows, or closed() alone when the peer cannot be reached. */
struct stream *stream_connect(struct net_loop *l, const struct sockaddr *to, SSL_CTX *tls,
                              const char *name, const struct stream_ops *ops, void *ctx);
struct stream *stream_connect_local(struct net_loop *l, const char *path,
                                    const struct stream_ops *ops, void *ctx);

/* For another owner from now on. */
void stream_hand_over(struct stream *s, const struct stream_ops *ops, void *ctx);

/* Bytes that should still be written at once: zero when enough is on its way. */
size_t stream_room(const struct stream *s);
void stream_write(struct stream *s, struct str bytes);
/* Written and not yet taken by the system. */
size_t stream_unsent(const struct stream *s);
/* pump() soon. */
void stream_wake(struct stream *s);
void stream_flush(struct stream *s); /* the loop's: pump and send now */

void stream_pause(struct stream *s, bool paused);
/* Sends what was written, then closes in order: what the peer still sends is dropped for
 * a little while, so that it reads the end of ours before a reset. */
void stream_finish(struct stream *s);
void stream_abort(struct stream *s);
/* True when bytes wait and none has left for ms. */
bool stream_stalled(struct stream *s, uint64_t ms);
/* "address:port", empty for Unix sockets. */
struct str stream_peer(const struct stream *s, struct arena *a);

#endif
