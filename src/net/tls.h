/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.2 and 1.3 between a run of bytes received and a buffer to send; no I/O. The
 * context is shared by all sessions made from it.
 *
 * No session resumption: every connection shows its certificate anew.
 */
#ifndef DRAY_NET_TLS_H
#define DRAY_NET_TLS_H

#include <openssl/ssl.h>

#include "net/http.h"

/* A context of a server: offers h2 and http/1.1. NULL with an error for unusable PEM. */
SSL_CTX *tls_server_new(const struct net_tls_opts *opts, struct err *e);
/* Of a client: asks for h2 alone, or for http/1.1 alone, for what becomes a tunnel. */
SSL_CTX *tls_client_new(const struct net_tls_client_opts *opts, bool h2, struct err *e);

struct tls_session {
    SSL *ssl;
    struct str in;     /* received, not yet looked at; borrowed during tls_* calls */
    struct strbuf out; /* to be sent */
    bool heard;        /* anything was received */
};

/* name: what the server's certificate must be for (client only). */
void tls_session_init(struct tls_session *t, SSL_CTX *ctx, bool client, const char *name);
void tls_session_fini(struct tls_session *t);

enum tls_status { TLS_OK, TLS_MORE, TLS_END, TLS_BROKEN };

/* TLS_OK: done. TLS_MORE: needs bytes of the peer. */
enum tls_status tls_handshake(struct tls_session *t);
/* TLS_OK: *n bytes were put into buf. */
enum tls_status tls_read(struct tls_session *t, char *buf, size_t size, size_t *n);
bool tls_write(struct tls_session *t, struct str plain);
void tls_close(struct tls_session *t); /* close_notify */
/* Of what is received: the first bytes of a client that does not speak TLS but HTTP. */
bool tls_is_plain_http(struct tls_session *t, struct str bytes);
bool tls_chose_h2(const struct tls_session *t);

/* What a client certificate says; all empty when none was shown. */
struct tls_peer {
    struct str name, hash, error;
    const struct str *groups;
    uint32_t ngroups;
};
void tls_peer_read(const struct tls_session *t, struct arena *a, struct tls_peer *out);

/* Why the handshake failed. Returns false. */
bool tls_failure(const struct tls_session *t, struct err *e);
/* The common name and the organizations of a subject; texts live in a. */
void tls_subject_read(const X509_NAME *subject, struct arena *a, struct str *name,
                      const struct str **groups, uint32_t *ngroups);

/* The newest OpenSSL error as "context: text", and the queue emptied. Returns false. */
bool tls_error(struct err *e, const char *context);

#endif
