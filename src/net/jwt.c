/* SPDX-License-Identifier: Apache-2.0 */
#include "net/jwt.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/mem.h"

enum { MAX_COORDINATE = 66, MAX_TOKEN = 64 * 1024, MIN_RSA_BITS = 1024, ID = 43 };

struct jwt_key {
    EVP_PKEY *key;
    bool signs;
    const struct algorithm *algorithm;
    char id[ID + 1];
};

static const struct algorithm {
    const char *name, *curve, *group; /* of JWK, of OpenSSL; NULL: RSA */
    size_t coordinate;                /* bytes of a number of the curve */
    const EVP_MD *(*digest)(void);
} ALGORITHMS[] = {
    {"RS256", NULL, NULL, 0, EVP_sha256},
    {"ES256", "P-256", "prime256v1", 32, EVP_sha256},
    {"ES384", "P-384", "secp384r1", 48, EVP_sha384},
    {"ES512", "P-521", "secp521r1", 66, EVP_sha512},
};

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

/* ---- base64url (RFC 4648, 5), without padding ---- */

static const char ALPHABET[] =
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
            strbuf_addc(b, ALPHABET[bits >> (18 - 6 * k) & 63]);
    }
}

static int digit_of(char c)
{
    const char *at = c ? strchr(ALPHABET, c) : NULL;
    return at ? (int)(at - ALPHABET) : -1;
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

/* ---- keys ---- */

bool jwt_new_key(struct arena *a, struct str *pem, struct err *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio = key ? BIO_new(BIO_s_mem()) : NULL;
    bool ok = bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1;
    char *p = NULL;
    long n = ok ? BIO_get_mem_data(bio, &p) : 0;
    if (ok)
        *pem = arena_str(a, (struct str){p, (size_t)n});
    BIO_free(bio);
    EVP_PKEY_free(key);
    return ok || fail(e, "new key");
}

static const struct algorithm *find_algorithm(const EVP_PKEY *key)
{
    char group[64] = "";
    if (EVP_PKEY_is_a(key, "RSA"))
        return EVP_PKEY_get_bits(key) >= MIN_RSA_BITS ? &ALGORITHMS[0] : NULL;
    if (!EVP_PKEY_is_a(key, "EC") ||
        EVP_PKEY_get_group_name(key, group, sizeof group, NULL) != 1)
        return NULL;
    for (size_t i = 1; i < sizeof ALGORITHMS / sizeof *ALGORITHMS; i++)
        if (strcmp(group, ALGORITHMS[i].group) == 0)
            return &ALGORITHMS[i];
    return NULL;
}

static bool set_id(struct jwt_key *k)
{
    unsigned char *der = NULL, md[32];
    int n = i2d_PUBKEY(k->key, &der);
    bool ok = n > 0 && EVP_Digest(der, (size_t)n, md, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_free(der);
    if (!ok)
        return false;
    struct strbuf b = STRBUF_INIT;
    add_base64(&b, md, sizeof md);
    memcpy(k->id, strbuf_cstr(&b), ID);
    strbuf_release(&b);
    return true;
}

/* Takes the key over. */
static struct jwt_key *key_new(EVP_PKEY *key, bool signs)
{
    struct jwt_key *k = mem_zalloc(sizeof *k);
    k->key = key;
    k->signs = signs;
    k->algorithm = key ? find_algorithm(key) : NULL;
    if (k->algorithm && set_id(k))
        return k;
    jwt_key_free(k);
    return NULL;
}

void jwt_key_free(struct jwt_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->key);
    free(k);
}

static EVP_PKEY *key_of_certificate(const unsigned char *der, long n)
{
    X509 *cert = d2i_X509(NULL, &der, n);
    EVP_PKEY *key = cert ? X509_get_pubkey(cert) : NULL;
    X509_free(cert);
    return key;
}

/* *skip: a block that is no key. */
static struct jwt_key *read_block(const char *label, const unsigned char *der, long n,
                                  bool *skip)
{
    *skip = false;
    if (strcmp(label, "PRIVATE KEY") == 0 || strcmp(label, "EC PRIVATE KEY") == 0 ||
        strcmp(label, "RSA PRIVATE KEY") == 0)
        return key_new(d2i_AutoPrivateKey(NULL, &der, n), true);
    if (strcmp(label, "PUBLIC KEY") == 0)
        return key_new(d2i_PUBKEY(NULL, &der, n), false);
    if (strcmp(label, "RSA PUBLIC KEY") == 0)
        return key_new(d2i_PublicKey(EVP_PKEY_RSA, NULL, &der, n), false);
    if (strcmp(label, "CERTIFICATE") == 0)
        return key_new(key_of_certificate(der, n), false);
    *skip = true;
    return NULL;
}

/* 1: a key, 0: something else, -1: nothing more, -2: a key of no use. */
static int next_key(BIO *bio, struct jwt_key **out)
{
    char *label = NULL, *header = NULL;
    unsigned char *der = NULL;
    long n = 0;
    bool skip = false;
    if (PEM_read_bio(bio, &label, &header, &der, &n) != 1)
        return -1;
    *out = read_block(label, der, n, &skip);
    OPENSSL_free(label);
    OPENSSL_free(header);
    OPENSSL_clear_free(der, (size_t)n);
    return *out ? 1 : skip ? 0 : -2;
}

bool jwt_keys_read(struct str pem, void (*each)(void *ctx, struct jwt_key *k), void *ctx,
                   struct err *e)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    struct jwt_key *k = NULL;
    uint32_t found = 0;
    int next = 0;
    while (bio && (next = next_key(bio, &k)) >= 0)
        if (next == 1) {
            found++;
            each(ctx, k);
        }
    BIO_free(bio);
    if (next == -2)
        return fail(e, "key");
    ERR_clear_error(); /* of the end of the text */
    return found || err_set(e, ERR_INVALID, "there is no key in it");
}

bool jwt_key_signs(const struct jwt_key *k)
{
    return k->signs;
}

struct str jwt_key_id(const struct jwt_key *k)
{
    return (struct str){k->id, ID};
}

const char *jwt_key_algorithm(const struct jwt_key *k)
{
    return k->algorithm->name;
}

/* ---- public halves ---- */

/* ,"name":"base64url of the number", in `width` bytes; 0: as many as it has. */
static void add_number(struct strbuf *b, const struct jwt_key *k, const char *name,
                       const char *param, size_t width)
{
    BIGNUM *n = NULL;
    if (EVP_PKEY_get_bn_param(k->key, param, &n) != 1)
        return;
    int size = width ? (int)width : BN_num_bytes(n);
    unsigned char *bytes = mem_array((size_t)size + 1, 1);
    BN_bn2binpad(n, bytes, size);
    strbuf_addf(b, ",\"%s\":\"", name);
    add_base64(b, bytes, (size_t)size);
    strbuf_addc(b, '"');
    free(bytes);
    BN_free(n);
}

struct str jwt_key_jwk(const struct jwt_key *k, struct arena *a)
{
    const struct algorithm *g = k->algorithm;
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "{\"use\":\"sig\",\"kty\":\"%s\",\"kid\":\"%s\"",
                g->curve ? "EC" : "RSA", k->id);
    if (g->curve)
        strbuf_addf(&b, ",\"crv\":\"%s\"", g->curve);
    strbuf_addf(&b, ",\"alg\":\"%s\"", g->name);
    if (g->curve) {
        add_number(&b, k, "x", OSSL_PKEY_PARAM_EC_PUB_X, g->coordinate);
        add_number(&b, k, "y", OSSL_PKEY_PARAM_EC_PUB_Y, g->coordinate);
    } else {
        add_number(&b, k, "n", OSSL_PKEY_PARAM_RSA_N, 0);
        add_number(&b, k, "e", OSSL_PKEY_PARAM_RSA_E, 0);
    }
    strbuf_addc(&b, '}');
    struct str json = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return json;
}

/* ---- signatures ---- */

static bool sign_bytes(const struct jwt_key *k, struct str text, struct arena *a,
                       struct str *out)
{
    size_t n = (size_t)EVP_PKEY_get_size(k->key);
    unsigned char *p = arena_alloc(a, n);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = EVP_DigestSignInit(ctx, NULL, k->algorithm->digest(), NULL, k->key) == 1 &&
              EVP_DigestSign(ctx, p, &n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    *out = (struct str){(const char *)p, n};
    return ok;
}

static bool check_bytes(const struct jwt_key *k, struct str text, const void *sig,
                        size_t n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok =
        EVP_DigestVerifyInit(ctx, NULL, k->algorithm->digest(), NULL, k->key) == 1 &&
        EVP_DigestVerify(ctx, sig, n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}

/* ECDSA as JWS has it (RFC 7518, 3.4): both numbers one after the other. */
static bool to_raw(struct str der, size_t width, struct arena *a, struct str *out)
{
    const unsigned char *p = (const unsigned char *)der.p;
    unsigned char *raw = arena_alloc(a, 2 * width);
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &p, (long)der.n);
    bool ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, (int)width) == (int)width &&
              BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + width, (int)width) == (int)width;
    ECDSA_SIG_free(sig);
    *out = (struct str){(const char *)raw, 2 * width};
    return ok;
}

static bool check_raw(const struct jwt_key *k, struct str text, struct str raw)
{
    size_t width = k->algorithm->coordinate;
    const unsigned char *p = (const unsigned char *)raw.p;
    unsigned char *der = NULL;
    if (raw.n != 2 * width)
        return false;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    ECDSA_SIG_set0(sig, BN_bin2bn(p, (int)width, NULL),
                   BN_bin2bn(p + width, (int)width, NULL));
    int n = i2d_ECDSA_SIG(sig, &der);
    ECDSA_SIG_free(sig);
    bool ok = n > 0 && check_bytes(k, text, der, (size_t)n);
    OPENSSL_free(der);
    return ok;
}

bool jwt_sign(const struct jwt_key *k, struct str payload_json, struct arena *a,
              struct str *token, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    struct str sig, header = arena_printf(a, "{\"alg\":\"%s\",\"kid\":\"%s\"}",
                                          k->algorithm->name, k->id);
    add_base64(&b, header.p, header.n);
    strbuf_addc(&b, '.');
    add_base64(&b, payload_json.p, payload_json.n);
    bool ok = k->signs && sign_bytes(k, strbuf_str(&b), a, &sig) &&
              (!k->algorithm->curve || to_raw(sig, k->algorithm->coordinate, a, &sig));
    if (ok) {
        strbuf_addc(&b, '.');
        add_base64(&b, sig.p, sig.n);
        *token = arena_str(a, strbuf_str(&b));
    }
    strbuf_release(&b);
    return ok || fail(e, "token");
}

/* ---- reading ---- */

bool jwt_parse(struct str token, struct arena *a, struct jwt *out)
{
    size_t first = str_find_byte(token, '.', 0);
    size_t second = first < token.n ? str_find_byte(token, '.', first + 1) : SIZE_MAX;
    if (token.n > MAX_TOKEN || second >= token.n)
        return false;
    out->text = str_sub(token, 0, second);
    return decode_base64(str_sub(token, 0, first), a, &out->header) &&
           decode_base64(str_sub(token, first + 1, second), a, &out->payload) &&
           decode_base64(str_sub(token, second + 1, token.n), a, &out->signature);
}

bool jwt_verify(const struct jwt_key *k, const struct jwt *t, struct str algorithm)
{
    bool ok =
        str_is(algorithm, k->algorithm->name) &&
        (k->algorithm->curve ? check_raw(k, t->text, t->signature)
                             : check_bytes(k, t->text, t->signature.p, t->signature.n));
    ERR_clear_error();
    return ok;
}
