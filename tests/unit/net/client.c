/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/mem.h"

/* ---- connections ---- */

static void connect_to(struct client *c, const struct sockaddr *to, socklen_t n)
{
    struct timeval limit = {.tv_sec = 10};
    int on = 1;
    *c = (struct client){.fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (to->sa_family == AF_INET)
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(c->fd, to, n) < 0)
        bug("client: cannot connect");
}

static void show(SSL_CTX *ctx, const struct pki_pair *pair)
{
    BIO *bio = BIO_new_mem_buf(pair->cert_pem.p, (int)pair->cert_pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    bio = BIO_new_mem_buf(pair->key_pem.p, (int)pair->key_pem.n);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    SSL_CTX_use_certificate(ctx, cert);
    SSL_CTX_use_PrivateKey(ctx, key);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void trust(SSL_CTX *ctx, struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert);
    X509_free(cert);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
}

static void shake_hands(struct client *c, const struct site *s, const char *alpn,
                        const struct pki_pair *pair)
{
    char name[16];
    int n = snprintf(name, sizeof name, "%c%s", (int)strlen(alpn), alpn);
    c->ctx = SSL_CTX_new(TLS_client_method());
    trust(c->ctx, s->ca.cert_pem);
    if (pair)
        show(c->ctx, pair);
    SSL_CTX_set_alpn_protos(c->ctx, (unsigned char *)name, (unsigned)n);
    c->ssl = SSL_new(c->ctx);
    SSL_set1_host(c->ssl, "localhost");
    SSL_set_fd(c->ssl, c->fd);
    if (SSL_connect(c->ssl) != 1)
        bug("client: no handshake");
}

void client_open(struct client *c, const struct site *s, const char *alpn,
                 const struct pki_pair *pair)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(s->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    connect_to(c, (struct sockaddr *)&to, sizeof to);
    if (alpn)
        shake_hands(c, s, alpn, pair);
}

void client_open_unix(struct client *c, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, path, strlen(path) + 1);
    connect_to(c, (struct sockaddr *)&to, sizeof to);
}

void client_close(struct client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    close(c->fd);
    strbuf_release(&c->got);
}

bool client_write(struct client *c, struct str bytes)
{
    size_t n = 0;
    if (bytes.n == 0)
        return true;
    if (c->ssl)
        return SSL_write_ex(c->ssl, bytes.p, bytes.n, &n) == 1;
    return send(c->fd, bytes.p, bytes.n, MSG_NOSIGNAL) == (ssize_t)bytes.n;
}

bool client_say(struct client *c, const char *text)
{
    return client_write(c, str_from(text));
}

bool client_read(struct client *c, size_t max)
{
    ssize_t n;
    strbuf_reserve(&c->got, max);
    char *p = c->got.p + c->got.n;
    errno = 0;
    if (c->ssl)
        n = SSL_read(c->ssl, p, (int)max);
    else
        n = recv(c->fd, p, max, 0);
    if (n <= 0)
        return false;
    c->got.n += (size_t)n;
    return true;
}

bool client_expect(struct client *c, const char *text)
{
    size_t n = strlen(text), from = 0;
    while (str_find(str_sub(strbuf_str(&c->got), from, c->got.n), str_from(text)) ==
           SIZE_MAX) {
        from = c->got.n < n ? 0 : c->got.n - n;
        if (!client_read(c, 65536))
            return false;
    }
    return true;
}

bool client_drain(struct client *c)
{
    while (client_read(c, 65536))
        ;
    return errno != EAGAIN && errno != EWOULDBLOCK;
}

void client_forget(struct client *c)
{
    strbuf_clear(&c->got);
}

/* ---- HTTP/2 ---- */

static struct h2_answer *answer_of(struct h2_client *h, int32_t id)
{
    for (unsigned i = 0; i < h->n; i++)
        if (h->answers[i].id == id)
            return &h->answers[i];
    return NULL;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t nname, const uint8_t *value,
                     size_t nvalue, uint8_t flags, void *ctx)
{
    struct h2_answer *answer = answer_of(ctx, frame->hd.stream_id);
    if (answer && nname == 7 && memcmp(name, ":status", 7) == 0)
        answer->status = (unsigned)strtoul((const char *)value, NULL, 10);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p,
                   size_t n, void *ctx)
{
    struct h2_client *h = ctx;
    struct h2_answer *answer = answer_of(h, id);
    if (!answer)
        return 0;
    answer->bytes += n;
    if (answer->text.n < 4096)
        strbuf_add(&answer->text, p, n);
    if (!h->slow)
        nghttp2_session_consume(session, id, n);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *ctx)
{
    struct h2_client *h = ctx;
    struct h2_answer *answer = answer_of(h, id);
    if (answer) {
        answer->closed = true;
        answer->error = error;
    }
    h->closed++;
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct h2_client *h = ctx;
    h->goaway = h->goaway || frame->hd.type == NGHTTP2_GOAWAY;
    return 0;
}

void h2_open(struct h2_client *h, const struct site *s, const struct pki_pair *pair,
             bool slow)
{
    nghttp2_session_callbacks *cb;
    nghttp2_option *option;
    memset(h, 0, sizeof *h);
    h->slow = slow;
    client_open(&h->c, s, s->ca.cert_pem.n ? "h2" : NULL, pair);
    nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_peer_max_concurrent_streams(option, 250);
    nghttp2_session_client_new2(&h->session, cb, h, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(h->session, 0, NULL, 0);
}

void h2_close(struct h2_client *h)
{
    nghttp2_session_del(h->session);
    for (unsigned i = 0; i < h->n; i++)
        strbuf_release(&h->answers[i].text);
    client_close(&h->c);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *buf, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct str *body = source->ptr;
    size_t n = body->n < size ? body->n : size;
    memcpy(buf, body->p, n);
    *body = str_sub(*body, n, body->n);
    if (body->n == 0)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        0};
}

unsigned h2_ask(struct h2_client *h, const char *path, struct str *body)
{
    nghttp2_nv nv[] = {field(":method", body ? "POST" : "GET"), field(":scheme", "https"),
                       field(":path", path), field(":authority", "localhost")};
    nghttp2_data_provider source = {{.ptr = body}, read_body};
    if (h->n == H2_STREAMS)
        bug("client: too many streams");
    h->answers[h->n].id =
        nghttp2_submit_request(h->session, NULL, nv, 4, body ? &source : NULL, NULL);
    return h->n++;
}

bool h2_flush(struct h2_client *h)
{
    const uint8_t *p;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(h->session, &p)) > 0)
        if (!client_write(&h->c, (struct str){(const char *)p, (size_t)n}))
            return false;
    return n == 0;
}

bool h2_step(struct h2_client *h)
{
    client_forget(&h->c);
    if (!client_read(&h->c, 65536))
        return false;
    return nghttp2_session_mem_recv(h->session, (const uint8_t *)h->c.got.p,
                                    h->c.got.n) >= 0;
}

bool h2_wait(struct h2_client *h, unsigned n)
{
    while (h->closed < n)
        if (!h2_flush(h) || (h->closed < n && !h2_step(h)))
            return false;
    return h2_flush(h);
}
