/* SPDX-License-Identifier: Apache-2.0 */
#include "net/jwt.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "unit/unit.h"

static struct arena arena;

static const struct {
    const char *type, *algorithm;
} KINDS[] = {
    {"P-256", "ES256"}, {"P-384", "ES384"}, {"P-521", "ES512"}, {"RSA", "RS256"}};

static struct str pem_of(EVP_PKEY *key, bool public)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *p;
    if (public)
        PEM_write_bio_PUBKEY(bio, key);
    else
        PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    long n = BIO_get_mem_data(bio, &p);
    struct str s = arena_str(&arena, (struct str){p, (size_t)n});
    BIO_free(bio);
    return s;
}

static void take(void *ctx, struct jwt_key *k)
{
    struct jwt_key **out = ctx;
    jwt_key_free(*out);
    *out = k;
}

static struct jwt_key *read_key(struct str pem)
{
    struct jwt_key *k = NULL;
    assert_true(jwt_keys_read(pem, take, &k, NULL));
    assert_non_null(k);
    return k;
}

static void new_pair(const char *type, struct jwt_key **private, struct jwt_key **public)
{
    EVP_PKEY *key = strcmp(type, "RSA") == 0 ? EVP_RSA_gen(2048) : EVP_EC_gen(type);
    assert_non_null(key);
    *private = read_key(pem_of(key, false));
    *public = read_key(pem_of(key, true));
    EVP_PKEY_free(key);
}

static bool verifies(const struct jwt_key *k, struct str token, struct str *payload)
{
    struct jwt t;
    if (!jwt_parse(token, &arena, &t) ||
        !jwt_verify(k, &t, str_from(jwt_key_algorithm(k))))
        return false;
    *payload = t.payload;
    return true;
}

/* Each kind of key; what the private half signs, the public one knows. */
static void test_kinds(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(KINDS); i++) {
        struct jwt_key *private, *public, *other, *none;
        struct str token, payload = STR_NONE;
        new_pair(KINDS[i].type, &private, &public);
        new_pair(KINDS[i].type, &other, &none);
        assert_string_equal(jwt_key_algorithm(public), KINDS[i].algorithm);
        assert_true(jwt_key_signs(private) && !jwt_key_signs(public));
        assert_true(str_eq(jwt_key_id(private), jwt_key_id(public)));
        assert_false(str_eq(jwt_key_id(private), jwt_key_id(other)));
        assert_true(jwt_sign(private, STR("{\"sub\":\"me\"}"), &arena, &token, NULL));
        assert_true(verifies(public, token, &payload));
        assert_str(payload, "{\"sub\":\"me\"}");
        assert_false(verifies(other, token, &payload));
        assert_false(jwt_sign(public, STR("{}"), &arena, &token, NULL));
        jwt_key_free(private);
        jwt_key_free(public);
        jwt_key_free(other);
        jwt_key_free(none);
    }
}

/* The header's algorithm must be the key's: a public key is no shared secret. */
static void test_algorithms(void **state)
{
    static const char *const OTHERS[] = {"none", "HS256", "RS256", "ES384", "", "es256"};
    struct jwt_key *private, *public;
    struct str token;
    struct jwt t;
    new_pair("P-256", &private, &public);
    assert_true(jwt_sign(private, STR("{}"), &arena, &token, NULL));
    assert_true(jwt_parse(token, &arena, &t));
    for (size_t i = 0; i < UNIT_COUNT(OTHERS); i++)
        ROW(OTHERS[i], !jwt_verify(public, &t, str_from(OTHERS[i])));
    assert_true(jwt_verify(public, &t, STR("ES256")));
    jwt_key_free(private);
    jwt_key_free(public);
}

/* Whatever character of a token is changed, it is refused. */
static void test_forged(void **state)
{
    struct str pem, token, payload = STR_NONE;
    assert_true(jwt_new_key(&arena, &pem, NULL));
    struct jwt_key *key = read_key(pem);
    for (int n = 0; n < 3; n++) { /* every length modulo three */
        struct str text = arena_printf(&arena, "{\"sub\":\"%0*d\"}", n, 0);
        assert_true(jwt_sign(key, text, &arena, &token, NULL));
        for (size_t i = 0; i < token.n; i++) {
            char *copy = arena_strdup(&arena, token.p);
            copy[i] = copy[i] == 'A' ? 'B' : 'A';
            assert_false(verifies(key, (struct str){copy, token.n}, &payload));
            assert_false(verifies(key, str_sub(token, 0, i), &payload));
        }
    }
    static const char *const ROWS[] = {
        "",    ".",     "..",
        "...", "a.b.c", "eyJhbGciOiJub25lIn0.e30.",
        "=",   "a=",    "\x80.\x80.\x80",
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++)
        ROW(ROWS[i], !verifies(key, str_from(ROWS[i]), &payload));
    jwt_key_free(key);
}

static void count(void *ctx, struct jwt_key *k)
{
    ++*(int *)ctx;
    jwt_key_free(k);
}

static void test_files(void **state)
{
    struct str one, two;
    int n = 0;
    struct err e = ERR_INIT;
    assert_true(jwt_new_key(&arena, &one, NULL) && jwt_new_key(&arena, &two, NULL));
    struct str both =
        arena_printf(&arena, "# keys\n%.*s%.*s", STR_ARG(one), STR_ARG(two));
    assert_true(jwt_keys_read(both, count, &n, NULL));
    assert_int_equal(n, 2);
    EVP_PKEY *other = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    assert_false(jwt_keys_read(pem_of(other, false), count, &n, &e));
    EVP_PKEY_free(other);
    assert_false(jwt_keys_read(STR("no key"), count, &n, &e));
    assert_false(jwt_keys_read(STR(""), count, &n, &e));
    assert_int_equal(n, 2);
    err_release(&e);
}

static void test_jwk(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(KINDS); i++) {
        struct jwt_key *private, *public;
        new_pair(KINDS[i].type, &private, &public);
        struct str json = jwt_key_jwk(private, &arena);
        bool ec = KINDS[i].algorithm[0] == 'E';
        assert_true(str_eq(json, jwt_key_jwk(public, &arena)));
        assert_true(str_starts(json, STR("{\"use\":\"sig\",\"kty\":\"")));
        assert_int_not_equal(str_find(json, jwt_key_id(public)), SIZE_MAX);
        assert_int_not_equal(
            str_find(json, ec ? STR(",\"y\":\"") : STR(",\"e\":\"AQAB\"")), SIZE_MAX);
        assert_int_equal(str_find(json, STR("\"d\"")), SIZE_MAX);
        jwt_key_free(private);
        jwt_key_free(public);
    }
}

static int set_up(void **state)
{
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),  cmocka_unit_test(test_algorithms),
        cmocka_unit_test(test_forged), cmocka_unit_test(test_files),
        cmocka_unit_test(test_jwk),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
