/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"

bool tls_error(struct err *e, const char *context)
{
    char text[256];
    unsigned long code = ERR_peek_last_error();
    ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    return err_set(e, ERR_INVALID, "%s: %s", context, code ? text : "unusable");
}

bool tls_failure(const struct tls_session *t, struct err *e)
{
    long result = SSL_get_verify_result(t->ssl);
    if (result == X509_V_OK || SSL_is_server(t->ssl))
        return tls_error(e, "TLS");
    ERR_clear_error();
    return err_set(e, ERR_INVALID, "the server's certificate: %s",
                   X509_verify_cert_error_string(result));
}

/* ---- contexts ---- */

static BIO *bio_of(struct str s)
{
    return BIO_new_mem_buf(s.p ? s.p : "", (int)s.n);
}

/* The certificate first, then those that lead to the CA. */
static bool use_chain(SSL_CTX *ctx, struct str pem, struct err *e)
{
    BIO *bio = bio_of(pem);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    bool ok = cert && SSL_CTX_use_certificate(ctx, cert) == 1;
    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
        if (!SSL_CTX_add0_chain_cert(ctx, cert)) {
            X509_free(cert);
            ok = false;
        }
    BIO_free(bio);
    if (!ok)
        return tls_error(e, "certificate");
    ERR_clear_error(); /* the end of the PEM text */
    return true;
}

static bool use_key(SSL_CTX *ctx, struct str pem, struct err *e)
{
    BIO *bio = bio_of(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    bool ok = key && SSL_CTX_use_PrivateKey(ctx, key) == 1 &&
              SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    BIO_free(bio);
    return ok || tls_error(e, "private key");
}

/* names: also told to clients, who choose their certificate by them. */
static bool trust(SSL_CTX *ctx, struct str pem, bool names, struct err *e)
{
    BIO *bio = bio_of(pem);
    X509 *cert;
    unsigned n = 0;
    bool ok = true;
    while (ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        ok = X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert) == 1 &&
             (!names || SSL_CTX_add_client_CA(ctx, cert) == 1);
        X509_free(cert);
        n++;
    }
    BIO_free(bio);
    if (!ok || n == 0)
        return tls_error(e, "CA certificate");
    ERR_clear_error();
    return true;
}

/* RFC 9113, 9.2: h2 over TLS 1.2 only with ephemeral keys and AEAD. */
static SSL_CTX *context_new(const SSL_METHOD *method)
{
    SSL_CTX *ctx = SSL_CTX_new(method);
    if (!ctx)
        bug("net: no TLS context");
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                  "TLS_CHACHA20_POLY1305_SHA256");
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                 SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    return ctx;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *outlen,
                           const unsigned char *in, unsigned inlen, void *ctx)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    if (SSL_select_next_proto((unsigned char **)out, outlen, ours, sizeof ours - 1, in,
                              inlen) == OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_OK;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* A certificate that is not good is no reason to hang up: who shows it is told why by the
 * server's answer, as upstream does. */
static int accept_any(int ok, X509_STORE_CTX *ctx)
{
    return 1;
}

SSL_CTX *tls_server_new(const struct net_tls_opts *opts, struct err *e)
{
    SSL_CTX *ctx = context_new(TLS_server_method());
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    bool ok = use_chain(ctx, opts->cert_pem, e) && use_key(ctx, opts->key_pem, e);
    if (ok && opts->client_ca_pem.n > 0) {
        ok = trust(ctx, opts->client_ca_pem, true, e);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, accept_any);
    }
    if (ok)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

SSL_CTX *tls_client_new(const struct net_tls_client_opts *opts, bool h2, struct err *e)
{
    const char *protocols = h2 ? "\x02h2" : "\x08http/1.1";
    SSL_CTX *ctx = context_new(TLS_client_method());
    bool ok = opts->cert_pem.n == 0 ||
              (use_chain(ctx, opts->cert_pem, e) && use_key(ctx, opts->key_pem, e));
    SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)protocols,
                            (unsigned)strlen(protocols));
    if (ok && !opts->insecure) {
        ok = opts->ca_pem.n ? trust(ctx, opts->ca_pem, false, e)
                            : SSL_CTX_set_default_verify_paths(ctx) == 1;
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    }
    if (ok)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

/* ---- between the session and its buffers ---- */

static int bio_read(BIO *bio, char *buf, size_t size, size_t *n)
{
    struct tls_session *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (t->in.n == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    *n = size < t->in.n ? size : t->in.n;
    memcpy(buf, t->in.p, *n);
    t->in = str_sub(t->in, *n, t->in.n);
    return 1;
}

static int bio_write(BIO *bio, const char *p, size_t size, size_t *n)
{
    struct tls_session *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    strbuf_add(&t->out, p, size);
    *n = size;
    return 1;
}

static long bio_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
    return cmd == BIO_CTRL_FLUSH;
}

static const BIO_METHOD *bio_method(void)
{
    static BIO_METHOD *method;
    if (!method) {
        method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffers");
        BIO_meth_set_read_ex(method, bio_read);
        BIO_meth_set_write_ex(method, bio_write);
        BIO_meth_set_ctrl(method, bio_ctrl);
    }
    return method;
}

static bool is_address(const char *name)
{
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(name);
    ASN1_OCTET_STRING_free(ip);
    ERR_clear_error();
    return ip != NULL;
}

static void expect_name(SSL *ssl, const char *name)
{
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name);
        return;
    }
    SSL_set_tlsext_host_name(ssl, name);
    SSL_set1_host(ssl, name);
}

void tls_session_init(struct tls_session *t, SSL_CTX *ctx, bool client, const char *name)
{
    *t = (struct tls_session){.ssl = SSL_new(ctx)};
    BIO *bio = BIO_new(bio_method());
    if (!t->ssl || !bio)
        bug("net: no TLS session");
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    if (client)
        SSL_set_connect_state(t->ssl);
    else
        SSL_set_accept_state(t->ssl);
    if (client && name && *name)
        expect_name(t->ssl, name);
}

void tls_session_fini(struct tls_session *t)
{
    SSL_free(t->ssl);
    strbuf_release(&t->out);
    *t = (struct tls_session){0};
}

/* ---- sessions ---- */

static enum tls_status status_of(struct tls_session *t, int result)
{
    switch (SSL_get_error(t->ssl, result)) {
    case SSL_ERROR_NONE:
        return TLS_OK;
    case SSL_ERROR_WANT_READ:
        return TLS_MORE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_END;
    default:
        return TLS_BROKEN;
    }
}

enum tls_status tls_handshake(struct tls_session *t)
{
    ERR_clear_error();
    return status_of(t, SSL_do_handshake(t->ssl));
}

enum tls_status tls_read(struct tls_session *t, char *buf, size_t size, size_t *n)
{
    ERR_clear_error();
    return status_of(t, SSL_read_ex(t->ssl, buf, size, n));
}

bool tls_write(struct tls_session *t, struct str plain)
{
    size_t n;
    ERR_clear_error();
    return plain.n == 0 || SSL_write_ex(t->ssl, plain.p, plain.n, &n) == 1;
}

void tls_close(struct tls_session *t)
{
    ERR_clear_error();
    SSL_shutdown(t->ssl);
    ERR_clear_error();
}

bool tls_is_plain_http(struct tls_session *t, struct str bytes)
{
    bool first = !t->heard;
    t->heard = true;
    return first && SSL_is_server(t->ssl) && bytes.p[0] >= 'A' && bytes.p[0] <= 'Z';
}

bool tls_chose_h2(const struct tls_session *t)
{
    const unsigned char *name = NULL;
    unsigned n = 0;
    SSL_get0_alpn_selected(t->ssl, &name, &n);
    return n == 2 && memcmp(name, "h2", 2) == 0;
}

/* ---- client certificates ---- */

static struct str entry_text(const X509_NAME_ENTRY *entry, struct arena *a)
{
    unsigned char *utf8 = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
    struct str s = STR_NONE;
    if (n >= 0)
        s = arena_str(a, (struct str){(const char *)utf8, (size_t)n});
    OPENSSL_free(utf8);
    return s;
}

void tls_subject_read(const X509_NAME *subject, struct arena *a, struct str *name,
                      const struct str **groups, uint32_t *ngroups)
{
    int n = X509_NAME_entry_count(subject);
    struct str *found = ARENA_ARRAY(a, struct str, (size_t)n + 1);
    *name = STR_NONE;
    *ngroups = 0;
    for (int i = 0; i < n; i++) {
        const X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
        int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        if (nid == NID_commonName)
            *name = entry_text(entry, a);
        else if (nid == NID_organizationName)
            found[(*ngroups)++] = entry_text(entry, a);
    }
    *groups = found;
}

static struct str hash_of(X509 *cert, struct arena *a)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    X509_digest(cert, EVP_sha256(), md, &n);
    char *hex = arena_alloc(a, 2 * (size_t)n + 1);
    for (unsigned i = 0; i < n; i++) {
        hex[2 * i] = "0123456789abcdef"[md[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[md[i] & 15];
    }
    hex[2 * n] = 0;
    return (struct str){hex, 2 * (size_t)n};
}

void tls_peer_read(const struct tls_session *t, struct arena *a, struct tls_peer *out)
{
    *out = (struct tls_peer){0};
    X509 *cert = SSL_get0_peer_certificate(t->ssl);
    if (!cert)
        return;
    out->hash = hash_of(cert, a);
    long result = SSL_get_verify_result(t->ssl);
    if (result == X509_V_OK)
        tls_subject_read(X509_get_subject_name(cert), a, &out->name, &out->groups,
                         &out->ngroups);
    else
        out->error = arena_str(a, str_from(X509_verify_cert_error_string(result)));
}
