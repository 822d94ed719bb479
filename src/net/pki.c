/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pki.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/bug.h"

enum { CA_DAYS = 3653, BACKDATE_S = 300, DAY_S = 86400 };

/* The newest OpenSSL error. Returns false. */
static bool fail(struct err *e, const char *what)
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

static struct str print_cert(X509 *cert, struct arena *a)
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

static X509 *parse_cert(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return cert;
}

static EVP_PKEY *parse_key(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return key;
}

/* ---- certificates ---- */

static bool add_extension(X509 *cert, X509V3_CTX *ctx, int nid, const char *value)
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

/* 128 random bits, positive. */
static bool set_serial(X509 *cert)
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
    if (cert && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
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
           add_extension(cert, &ctx, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(cert, &ctx, NID_key_usage,
                         "critical,digitalSignature,keyEncipherment,keyCertSign") &&
           add_extension(cert, &ctx, NID_subject_key_identifier, "hash") &&
           X509_sign(cert, key, EVP_sha256()) > 0;
}

bool pki_new_ca(const char *name, struct arena *a, struct pki_pair *out, struct err *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = key ? cert_new(key, CA_DAYS) : NULL;
    bool ok = cert && sign_ca(cert, key, name);
    if (ok)
        *out = (struct pki_pair){print_cert(cert, a), print_key(key, a)};
    X509_free(cert);
    EVP_PKEY_free(key);
    return ok || fail(e, "new CA");
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
           add_extension(cert, &ctx, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, &ctx, NID_key_usage, "critical,digitalSignature") &&
           add_extension(cert, &ctx, NID_ext_key_usage, usage) &&
           add_extension(cert, &ctx, NID_authority_key_identifier, "keyid") &&
           add_hosts(cert, subject) && X509_sign(cert, ca_key, EVP_sha256()) > 0;
}

bool pki_issue(const struct pki_pair *ca, const struct pki_subject *subject,
               struct arena *a, struct pki_pair *out, struct err *e)
{
    X509 *ca_cert = parse_cert(ca->cert_pem);
    EVP_PKEY *ca_key = parse_key(ca->key_pem);
    EVP_PKEY *key = ca_cert && ca_key ? EVP_EC_gen("P-256") : NULL;
    X509 *cert = key ? cert_new(key, subject->days) : NULL;
    bool ok = cert && X509_check_private_key(ca_cert, ca_key) &&
              sign_leaf(cert, subject, ca_cert, ca_key);
    if (ok)
        *out = (struct pki_pair){print_cert(cert, a), print_key(key, a)};
    X509_free(cert);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    X509_free(ca_cert);
    return ok || fail(e, "certificate");
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
    X509 *cert = parse_cert(cert_pem);
    if (!cert)
        return fail(e, "certificate");
    print_time(X509_get0_notAfter(cert), not_after);
    X509_free(cert);
    return true;
}

/* ---- base64url (RFC 4648, 5), without padding ---- */

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void add_base64(struct strbuf *b, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i < 3 ? n - i : 3;
        uint32_t bits = (uint32_t)p[i] << 16;
        bits |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        bits |= left > 2 ? p[i + 2] : 0;
        for (size_t k = 0; k <= left; k++)
            strbuf_addc(b, alphabet[bits >> (18 - 6 * k) & 63]);
    }
}

static int digit_of(char c)
{
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

/* Strict: no padding, no other characters, no bits left over. */
static bool decode_base64(struct str s, struct arena *a, struct str *out)
{
    unsigned char *p = arena_alloc(a, s.n + 1);
    uint32_t bits = 0;
    unsigned have = 0;
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int digit = digit_of(s.p[i]);
        if (digit < 0)
            return false;
        bits = (bits << 6 | (uint32_t)digit) & 0xffff;
        have += 6;
        if (have >= 8) {
            have -= 8;
            p[n++] = (unsigned char)(bits >> have);
        }
    }
    if (have >= 6 || (bits & ((1u << have) - 1)) != 0)
        return false;
    p[n] = 0;
    *out = (struct str){(const char *)p, n};
    return true;
}

/* ---- tokens ---- */

enum { COORDINATE = 32, SIGNATURE = 2 * COORDINATE, MAX_TOKEN = 64 * 1024 };

bool pki_new_key(struct arena *a, struct str *key_pem, struct err *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (!key)
        return fail(e, "new key");
    *key_pem = print_key(key, a);
    EVP_PKEY_free(key);
    return true;
}

static bool coordinate(const EVP_PKEY *key, const char *name, unsigned char *out)
{
    BIGNUM *n = NULL;
    bool ok = EVP_PKEY_get_bn_param(key, name, &n) == 1 &&
              BN_bn2binpad(n, out, COORDINATE) == COORDINATE;
    BN_free(n);
    return ok;
}

/* RFC 7638: the SHA-256 of the members that make the key, in order. */
static bool thumbprint(const EVP_PKEY *key, struct arena *a, struct str *out)
{
    unsigned char x[COORDINATE], y[COORDINATE], md[32];
    struct strbuf b = STRBUF_INIT;
    if (!coordinate(key, OSSL_PKEY_PARAM_EC_PUB_X, x) ||
        !coordinate(key, OSSL_PKEY_PARAM_EC_PUB_Y, y))
        return false;
    strbuf_adds(&b, "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"");
    add_base64(&b, x, sizeof x);
    strbuf_adds(&b, "\",\"y\":\"");
    add_base64(&b, y, sizeof y);
    strbuf_adds(&b, "\"}");
    EVP_Digest(b.p, b.n, md, NULL, EVP_sha256(), NULL);
    strbuf_clear(&b);
    add_base64(&b, md, sizeof md);
    *out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return true;
}

struct str pki_key_id(struct str key_pem, struct arena *a)
{
    EVP_PKEY *key = parse_key(key_pem);
    struct str id = STR_NONE;
    if (!key || !thumbprint(key, a, &id))
        ERR_clear_error();
    EVP_PKEY_free(key);
    return id;
}

bool pki_jwk(struct str key_pem, struct arena *a, struct str *json, struct err *e)
{
    unsigned char x[COORDINATE], y[COORDINATE];
    struct str id;
    EVP_PKEY *key = parse_key(key_pem);
    bool ok = key && coordinate(key, OSSL_PKEY_PARAM_EC_PUB_X, x) &&
              coordinate(key, OSSL_PKEY_PARAM_EC_PUB_Y, y) && thumbprint(key, a, &id);
    EVP_PKEY_free(key);
    if (!ok)
        return fail(e, "key");
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "{\"use\":\"sig\",\"kty\":\"EC\",\"kid\":\"%.*s\",\"crv\":\"P-256\","
                "\"alg\":\"ES256\",\"x\":\"",
                STR_ARG(id));
    add_base64(&b, x, sizeof x);
    strbuf_adds(&b, "\",\"y\":\"");
    add_base64(&b, y, sizeof y);
    strbuf_adds(&b, "\"}");
    *json = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return true;
}

/* ECDSA as JWS has it (RFC 7518, 3.4): both numbers, 32 bytes each. */
static bool sign_raw(EVP_PKEY *key, struct str text, unsigned char *out)
{
    unsigned char der[128];
    size_t n = sizeof der;
    const unsigned char *p = der;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
              EVP_DigestSign(ctx, der, &n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    ECDSA_SIG *sig = ok ? d2i_ECDSA_SIG(NULL, &p, (long)n) : NULL;
    ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, COORDINATE) == COORDINATE &&
         BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + COORDINATE, COORDINATE) == COORDINATE;
    ECDSA_SIG_free(sig);
    return ok;
}

static bool verify_raw(EVP_PKEY *key, struct str text, const unsigned char *raw)
{
    unsigned char *der = NULL;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    ECDSA_SIG_set0(sig, BN_bin2bn(raw, COORDINATE, NULL),
                   BN_bin2bn(raw + COORDINATE, COORDINATE, NULL));
    int n = i2d_ECDSA_SIG(sig, &der);
    ECDSA_SIG_free(sig);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok =
        n > 0 && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
        EVP_DigestVerify(ctx, der, (size_t)n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    OPENSSL_free(der);
    return ok;
}

static bool sign_token(EVP_PKEY *key, struct str payload, struct arena *a,
                       struct str *token)
{
    unsigned char raw[SIGNATURE];
    struct strbuf b = STRBUF_INIT;
    struct str id;
    if (!thumbprint(key, a, &id))
        return false;
    struct str header =
        arena_printf(a, "{\"alg\":\"ES256\",\"kid\":\"%.*s\"}", STR_ARG(id));
    add_base64(&b, header.p, header.n);
    strbuf_addc(&b, '.');
    add_base64(&b, payload.p, payload.n);
    bool ok = sign_raw(key, strbuf_str(&b), raw);
    strbuf_addc(&b, '.');
    add_base64(&b, raw, sizeof raw);
    if (ok)
        *token = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return ok;
}

bool pki_jwt_sign(struct str key_pem, struct str payload_json, struct arena *a,
                  struct str *token, struct err *e)
{
    EVP_PKEY *key = parse_key(key_pem);
    bool ok = key && sign_token(key, payload_json, a, token);
    EVP_PKEY_free(key);
    return ok || fail(e, "token");
}

/* The header is ours or it is none of ours: what else it could say (another algorithm,
 * another key) is not looked at. */
static bool is_our_header(struct str part, EVP_PKEY *key, struct arena *a)
{
    struct str id, header;
    if (!thumbprint(key, a, &id) || !decode_base64(part, a, &header))
        return false;
    return str_eq(header,
                  arena_printf(a, "{\"alg\":\"ES256\",\"kid\":\"%.*s\"}", STR_ARG(id)));
}

bool pki_jwt_verify(struct str key_pem, struct str token, struct arena *a,
                    struct str *payload)
{
    size_t first = str_find_byte(token, '.', 0);
    size_t second = first < token.n ? str_find_byte(token, '.', first + 1) : SIZE_MAX;
    struct str raw, body;
    if (token.n > MAX_TOKEN || second >= token.n)
        return false;
    EVP_PKEY *key = parse_key(key_pem);
    bool ok = key && is_our_header(str_sub(token, 0, first), key, a) &&
              decode_base64(str_sub(token, second + 1, token.n), a, &raw) &&
              raw.n == SIGNATURE &&
              verify_raw(key, str_sub(token, 0, second), (const void *)raw.p) &&
              decode_base64(str_sub(token, first + 1, second), a, &body);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (ok)
        *payload = body;
    return ok;
}

/* ---- random bytes, hashes ---- */

void pki_random(void *out, size_t n)
{
    if (RAND_bytes(out, (int)n) != 1)
        bug("pki: no random numbers");
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

struct str pki_sha256_hex(struct str s, struct arena *a)
{
    unsigned char md[32];
    EVP_Digest(s.p ? s.p : "", s.n, md, NULL, EVP_sha256(), NULL);
    return hex_of(md, sizeof md, a);
}
