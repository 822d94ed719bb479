/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pki.h"
#include "net/pki_inner.h"
#include "net/tls.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/bug.h"

enum { CA_DAYS = 3653, BACKDATE_S = 300, DAY_S = 86400 };

bool pki_fail(struct err *e, const char *what)
{
    char text[256] = "unusable";
    unsigned long code = ERR_peek_last_error();
    if (code)
        ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    return err_set(e, code ? ERR_INTERNAL : ERR_INVALID, "%s: %s", what, text);
}

/* ---- PEM ---- */

static struct str take_bio(BIO *bio, struct arena *a)
{
    char *p = NULL;
    long n = BIO_get_mem_data(bio, &p);
    struct str s = arena_str(a, (struct str){p, (size_t)n});
    BIO_free(bio);
    return s;
}

struct str pki_print_cert(X509 *cert, struct arena *a)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    return take_bio(bio, a);
}

static struct str print_key(EVP_PKEY *key, struct arena *a)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return take_bio(bio, a);
}

X509 *pki_parse_cert(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return cert;
}

EVP_PKEY *pki_parse_key(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return key;
}

/* ---- certificates ---- */

bool pki_add_extension(X509 *cert, X509V3_CTX *ctx, int nid, const char *value)
{
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, ctx, nid, value);
    bool ok = ext && X509_add_ext(cert, ext, -1);
    X509_EXTENSION_free(ext);
    return ok;
}

static bool add_name(X509_NAME *name, const char *field, const char *value)
{
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                      (const unsigned char *)value, -1, -1, 0) == 1;
}

bool pki_set_serial(X509 *cert)
{
    unsigned char bytes[16];
    pki_random(bytes, sizeof bytes);
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return ok;
}

/* Valid from a little ago, for clocks that are behind. */
static X509 *cert_new(EVP_PKEY *key, uint32_t days)
{
    X509 *cert = X509_new();
    if (cert && X509_set_version(cert, X509_VERSION_3) && pki_set_serial(cert) &&
        X509_gmtime_adj(X509_getm_notBefore(cert), -BACKDATE_S) &&
        X509_time_adj_ex(X509_getm_notAfter(cert), (int)days, 0, NULL) &&
        X509_set_pubkey(cert, key))
        return cert;
    X509_free(cert);
    return NULL;
}

static bool sign_ca(X509 *cert, EVP_PKEY *key, const char *name)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
    return add_name(X509_get_subject_name(cert), "CN", name) &&
           X509_set_issuer_name(cert, X509_get_subject_name(cert)) &&
           pki_add_extension(cert, &ctx, NID_basic_constraints, "critical,CA:TRUE") &&
           pki_add_extension(cert, &ctx, NID_key_usage,
                             "critical,digitalSignature,keyEncipherment,keyCertSign") &&
           pki_add_extension(cert, &ctx, NID_subject_key_identifier, "hash") &&
           X509_sign(cert, key, EVP_sha256()) > 0;
}

bool pki_new_ca(const char *name, struct arena *a, struct pki_pair *out, struct err *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = key ? cert_new(key, CA_DAYS) : NULL;
    bool ok = cert && sign_ca(cert, key, name);
    if (ok)
        *out = (struct pki_pair){pki_print_cert(cert, a), print_key(key, a)};
    X509_free(cert);
    EVP_PKEY_free(key);
    return ok || pki_fail(e, "new CA");
}

static bool add_host(GENERAL_NAMES *names, const char *host)
{
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(host);
    GENERAL_NAME *name = GENERAL_NAME_new();
    ERR_clear_error();
    if (ip) {
        GENERAL_NAME_set0_value(name, GEN_IPADD, ip);
    } else {
        ASN1_IA5STRING *dns = ASN1_IA5STRING_new();
        ASN1_STRING_set(dns, host, -1);
        GENERAL_NAME_set0_value(name, GEN_DNS, dns);
    }
    return sk_GENERAL_NAME_push(names, name) > 0;
}

static bool add_hosts(X509 *cert, const struct pki_subject *subject)
{
    if (subject->nhosts == 0)
        return true;
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    bool ok = names != NULL;
    for (uint32_t i = 0; ok && i < subject->nhosts; i++)
        ok = add_host(names, subject->hosts[i]);
    ok = ok && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    return ok;
}

static bool name_subject(X509 *cert, const struct pki_subject *subject)
{
    X509_NAME *name = X509_get_subject_name(cert);
    for (uint32_t i = 0; i < subject->ngroups; i++)
        if (!add_name(name, "O", subject->groups[i]))
            return false;
    return add_name(name, "CN", subject->name);
}

static bool sign_leaf(X509 *cert, const struct pki_subject *subject, X509 *ca,
                      EVP_PKEY *ca_key)
{
    const char *usage = subject->server && subject->client ? "serverAuth,clientAuth"
                        : subject->server                  ? "serverAuth"
                                                           : "clientAuth";
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, ca, cert, NULL, NULL, 0);
    return name_subject(cert, subject) &&
           X509_set_issuer_name(cert, X509_get_subject_name(ca)) &&
           pki_add_extension(cert, &ctx, NID_basic_constraints, "critical,CA:FALSE") &&
           pki_add_extension(cert, &ctx, NID_key_usage, "critical,digitalSignature") &&
           pki_add_extension(cert, &ctx, NID_ext_key_usage, usage) &&
           pki_add_extension(cert, &ctx, NID_authority_key_identifier, "keyid") &&
           add_hosts(cert, subject) && X509_sign(cert, ca_key, EVP_sha256()) > 0;
}

bool pki_issue(const struct pki_pair *ca, const struct pki_subject *subject,
               struct arena *a, struct pki_pair *out, struct err *e)
{
    X509 *ca_cert = pki_parse_cert(ca->cert_pem);
    EVP_PKEY *ca_key = pki_parse_key(ca->key_pem);
    EVP_PKEY *key = ca_cert && ca_key ? EVP_EC_gen("P-256") : NULL;
    X509 *cert = key ? cert_new(key, subject->days) : NULL;
    bool ok = cert && X509_check_private_key(ca_cert, ca_key) &&
              sign_leaf(cert, subject, ca_cert, ca_key);
    if (ok)
        *out = (struct pki_pair){pki_print_cert(cert, a), print_key(key, a)};
    X509_free(cert);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    X509_free(ca_cert);
    return ok || pki_fail(e, "certificate");
}

static void count_names(const X509_REQ *request, struct pki_request *out)
{
    GENERAL_NAMES *names = pki_names_of(request);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        out->dns_names += type == GEN_DNS;
        out->addresses += type == GEN_IPADD;
        out->emails += type == GEN_EMAIL;
        out->uris += type == GEN_URI;
    }
    GENERAL_NAMES_free(names);
}

bool pki_read_request(struct str pem, struct arena *a, struct pki_request *out)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    X509_REQ *request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
    BIO_free(bio);
    bool ok = request && X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) == 1;
    *out = (struct pki_request){0};
    if (ok) {
        tls_subject_read(X509_REQ_get_subject_name(request), a, &out->name, &out->groups,
                         &out->ngroups);
        count_names(request, out);
    }
    X509_REQ_free(request);
    ERR_clear_error();
    return ok;
}

bool pki_is_request(struct str pem)
{
    char *name = NULL, *header = NULL;
    unsigned char *data = NULL;
    long n;
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    bool ok = PEM_read_bio(bio, &name, &header, &data, &n) == 1 &&
              strcmp(name, "CERTIFICATE REQUEST") == 0;
    BIO_free(bio);
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    ERR_clear_error();
    return ok;
}

static bool check_block(const char *name, const char *header, const unsigned char *data,
                        long n, struct err *e)
{
    if (strcmp(name, "CERTIFICATE") != 0)
        return err_set(e, ERR_INVALID,
                       "only CERTIFICATE PEM blocks are allowed, found \"%s\"", name);
    if (*header)
        return err_set(e, ERR_INVALID, "no PEM block headers are permitted");
    const unsigned char *at = data;
    X509 *cert = d2i_X509(NULL, &at, n);
    bool whole = cert && at == data + n;
    X509_free(cert);
    return whole || err_set(e, ERR_INVALID, "x509: malformed certificate");
}

bool pki_check_certificates(struct str pem, struct err *e)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    bool ok = true;
    unsigned blocks = 0;
    char *name, *header;
    unsigned char *data;
    long n;
    while (ok && PEM_read_bio(bio, &name, &header, &data, &n) == 1) {
        ok = check_block(name, header, data, n, e);
        blocks++;
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(data);
    }
    BIO_free(bio);
    ERR_clear_error();
    return ok && (blocks || err_set(e, ERR_INVALID,
                                    "must contain at least one CERTIFICATE PEM block"));
}

static void print_time(const ASN1_TIME *t, int64_t *out)
{
    int days = 0, seconds = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    ASN1_TIME_diff(&days, &seconds, epoch, t);
    ASN1_TIME_free(epoch);
    *out = (int64_t)days * DAY_S + seconds;
}

bool pki_expiry(struct str cert_pem, int64_t *not_after, struct err *e)
{
    X509 *cert = pki_parse_cert(cert_pem);
    if (!cert)
        return pki_fail(e, "certificate");
    print_time(X509_get0_notAfter(cert), not_after);
    X509_free(cert);
    return true;
}

/* ---- random bytes, hashes ---- */

void pki_random(void *out, size_t n)
{
    if (RAND_bytes(out, (int)n) != 1)
        bug("pki: no random numbers");
}

bool pki_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || CRYPTO_memcmp(a.p, b.p, a.n) == 0);
}

static struct str hex_of(const unsigned char *p, size_t n, struct arena *a)
{
    char *hex = arena_alloc(a, 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = "0123456789abcdef"[p[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
    }
    hex[2 * n] = 0;
    return (struct str){hex, 2 * n};
}

struct str pki_random_hex(uint32_t bytes, struct arena *a)
{
    unsigned char *p = arena_alloc(a, bytes);
    pki_random(p, bytes);
    return hex_of(p, bytes, a);
}

struct str pki_random_uuid(struct arena *a)
{
    unsigned char b[16];
    pki_random(b, sizeof b);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    return arena_printf(a,
                        "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                        "%02x%02x%02x%02x%02x%02x",
                        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
                        b[11], b[12], b[13], b[14], b[15]);
}

struct str pki_sha256_hex(struct str s, struct arena *a)
{
    unsigned char md[32];
    EVP_Digest(s.p ? s.p : "", s.n, md, NULL, EVP_sha256(), NULL);
    return hex_of(md, sizeof md, a);
}
