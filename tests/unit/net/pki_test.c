/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pki.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <time.h>

#include "unit/unit.h"

static struct arena arena;

static X509 *parse(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

/* As a peer would judge it. */
static int judge(X509 *ca, X509 *cert, int purpose)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX_init(ctx, store, cert, NULL);
    X509_STORE_CTX_set_purpose(ctx, purpose);
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(ctx), X509_V_FLAG_X509_STRICT);
    X509_verify_cert(ctx);
    int result = X509_STORE_CTX_get_error(ctx);
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    return result;
}

static void test_certificates(void **state)
{
    static const char *const hosts[] = {"localhost", "kubernetes.default.svc", "10.0.0.1",
                                        "::1"};
    static const char *const groups[] = {"system:masters"};
    struct pki_subject server = {
        .name = "dray", .hosts = hosts, .nhosts = 4, .server = true, .days = 365};
    struct pki_subject client = {
        .name = "admin", .groups = groups, .ngroups = 1, .client = true, .days = 1};
    struct pki_pair ca, s, c;
    int64_t until = 0, now = time(NULL);
    assert_true(pki_new_ca("dray-ca", &arena, &ca, NULL));
    assert_true(pki_issue(&ca, &server, &arena, &s, NULL));
    assert_true(pki_issue(&ca, &client, &arena, &c, NULL));
    X509 *ca_cert = parse(ca.cert_pem), *s_cert = parse(s.cert_pem),
         *c_cert = parse(c.cert_pem);
    assert_int_equal(judge(ca_cert, s_cert, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(judge(ca_cert, c_cert, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    assert_int_not_equal(judge(ca_cert, s_cert, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    assert_int_not_equal(judge(ca_cert, c_cert, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(X509_check_host(s_cert, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(s_cert, "10.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(s_cert, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(s_cert, "10.0.0.2", 0), 0);
    assert_int_equal(X509_check_ca(ca_cert), 1);
    assert_int_equal(X509_check_ca(s_cert), 0);
    assert_true(pki_expiry(c.cert_pem, &until, NULL));
    assert_in_range(until - now, 86400 - 60, 86400 + 60);
    assert_true(pki_expiry(ca.cert_pem, &until, NULL));
    assert_in_range((until - now) / 86400, 3651, 3653);
    X509_free(ca_cert);
    X509_free(s_cert);
    X509_free(c_cert);
}

static void test_bad_ca(void **state)
{
    struct pki_subject subject = {.name = "x", .client = true, .days = 1};
    struct pki_pair ca, other, out = {STR("a"), STR("b")};
    struct err e = ERR_INIT;
    assert_true(pki_new_ca("one", &arena, &ca, NULL));
    assert_true(pki_new_ca("two", &arena, &other, NULL));
    const struct pki_pair rows[] = {
        {STR(""), STR("")},
        {STR("nonsense"), STR("nonsense")},
        {ca.cert_pem, STR("")},
        {ca.cert_pem, other.key_pem}, /* not its key */
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        assert_false(pki_issue(&rows[i], &subject, &arena, &out, &e));
        assert_true(strlen(err_text(&e)) > 0);
        assert_str(out.cert_pem, "a");
    }
    err_release(&e);
}

static void test_hashes(void **state)
{
    assert_str(pki_sha256_hex(STR("abc"), &arena),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_str(pki_sha256_hex(STR_NONE, &arena),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    struct str a = pki_random_hex(16, &arena), b = pki_random_hex(16, &arena);
    assert_int_equal(a.n, 32);
    assert_false(str_eq(a, b));
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
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_bad_ca),
        cmocka_unit_test(test_hashes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
