/* SPDX-License-Identifier: Apache-2.0 */
/* A client for tests, without the code under test: blocking, with a limit of ten seconds
 * on every wait. HTTP/1.1 by bytes, HTTP/2 by nghttp2's client side. */
#ifndef DRAY_TESTS_NET_CLIENT_H
#define DRAY_TESTS_NET_CLIENT_H

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include "base/str.h"
#include "site.h"

struct client {
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;          /* NULL: plain */
    struct strbuf got; /* all that was read */
};

/* alpn: "h2", "http/1.1" or NULL for plain. pair: a client certificate, or NULL. Aborts
 * when it cannot connect. */
void client_open(struct client *c, const struct site *s, const char *alpn,
                 const struct pki_pair *pair);
void client_open_unix(struct client *c, const char *path);
void client_close(struct client *c);
bool client_write(struct client *c, struct str bytes);
bool client_say(struct client *c, const char *text);
/* Reads some more. False: the end, or nothing came. */
bool client_read(struct client *c, size_t max);
/* Reads until text is there. */
bool client_expect(struct client *c, const char *text);
/* Reads to the end: true when the peer closed. */
bool client_drain(struct client *c);
void client_forget(struct client *c); /* what was read */

/* ---- HTTP/2 ---- */

enum { H2_STREAMS = 600 };

struct h2_answer {
    int32_t id;
    unsigned status;
    size_t bytes;
    bool closed;
    uint32_t error;
    struct strbuf text; /* the first 4 KiB */
};

struct h2_client {
    struct client c;
    nghttp2_session *session;
    struct h2_answer answers[H2_STREAMS];
    unsigned n, closed;
    bool goaway;
    bool slow; /* takes no more than a window: no WINDOW_UPDATE */
};

void h2_open(struct h2_client *h, const struct site *s, const struct pki_pair *pair,
             bool slow);
void h2_close(struct h2_client *h);
/* Index of the answer. body NULL: GET, else POST. */
unsigned h2_ask(struct h2_client *h, const char *path, struct str *body);
/* Sends, and reads until n streams are closed; false when it ends before. */
bool h2_wait(struct h2_client *h, unsigned n);
bool h2_flush(struct h2_client *h);
/* One read. */
bool h2_step(struct h2_client *h);

#endif
