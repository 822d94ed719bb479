/* SPDX-License-Identifier: Apache-2.0 */
#include "client/kubeconfig.h"

#include <stdlib.h>
#include <unistd.h>

#include "unit/unit.h"

static char folder[] = "/tmp/dray-kubeconfig-XXXXXX";

static const char *write_file(struct arena *a, const char *name, const char *text)
{
    const char *path = arena_printf(a, "%s/%s", folder, name).p;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

#define CONFIG(server, user)                                                             \
    "current-context: c\n"                                                               \
    "contexts: [{name: c, context: {cluster: k, user: u, namespace: team}}]\n"           \
    "clusters: [{name: k, cluster: {" server "}}]\n"                                     \
    "users: [{name: u, user: {" user "}}]\n"

static void test_read(void **state)
{
    struct arena a;
    struct kubeconfig k;
    arena_init(&a);
    write_file(&a, "tok", "secret\n");
    write_file(&a, "ca", "PEM");
    const char *path = write_file(
        &a, "config",
        CONFIG("server: 'https://h:1/k8s/c1/', certificate-authority: ca, "
               "tls-server-name: api",
               "tokenFile: tok, client-certificate-data: eA==, client-key-data: eQ=="));
    assert_true(kubeconfig_read(path, &a, &k, NULL));
    assert_string_equal(k.address, "h:1");
    assert_string_equal(k.prefix, "/k8s/c1");
    assert_string_equal(k.name, "api");
    assert_str(k.namespace, "team");
    assert_str(k.tls.ca_pem, "PEM");
    assert_str(k.tls.cert_pem, "x");
    assert_str(k.tls.key_pem, "y");
    assert_string_equal(k.token_file, arena_printf(&a, "%s/tok", folder).p);
    arena_fini(&a);
}

static void test_addresses(void **state)
{
    static const struct {
        const char *server, *address;
    } ROWS[] = {
        {"https://h", "h:443"},
        {"https://h:6443", "h:6443"},
        {"https://[::1]", "[::1]:443"},
        {"https://[::1]:80/", "[::1]:80"},
    };
    struct arena a;
    struct kubeconfig k;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct str text =
            arena_printf(&a,
                         "current-context: c\n"
                         "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                         "clusters: [{name: k, cluster: {server: '%s'}}]\n"
                         "users: [{name: u, user: {token: t}}]\n",
                         ROWS[i].server);
        ROW(ROWS[i].server, kubeconfig_read(write_file(&a, "c", text.p), &a, &k, NULL));
        ROW(ROWS[i].server, strcmp(k.address, ROWS[i].address) == 0);
        ROW(ROWS[i].server, k.prefix[0] == 0 && !k.name && str_is(k.token, "t"));
    }
    arena_fini(&a);
}

static void test_contexts(void **state)
{
    static const char TEXT[] =
        "current-context: c\n"
        "contexts: [{name: c, context: {cluster: k, user: u}},"
        " {name: d, context: {cluster: k, user: v, namespace: other}}]\n"
        "clusters: [{name: k, cluster: {server: 'https://h'}}]\n"
        "users: [{name: u, user: {token: t}}, {name: v, user: {token: s, as: jane,"
        " as-uid: '7', as-groups: [a, b]}}]\n";
    struct arena a;
    struct kubeconfig k;
    struct err e = ERR_INIT;
    (void)state;
    arena_init(&a);
    const char *path = write_file(&a, "config", TEXT);
    assert_true(kubeconfig_read_context(path, NULL, &a, &k, NULL));
    assert_str(k.token, "t");
    assert_int_equal(k.as.user.n, 0);
    assert_true(kubeconfig_read_context(path, "d", &a, &k, NULL));
    assert_str(k.token, "s");
    assert_str(k.namespace, "other");
    assert_str(k.as.user, "jane");
    assert_str(k.as.uid, "7");
    assert_int_equal(k.as.ngroups, 2);
    assert_str(k.as.groups[1], "b");
    assert_false(kubeconfig_read_context(path, "x", &a, &k, &e));
    assert_non_null(strstr(err_text(&e), "there is no context \"x\""));
    err_release(&e);
    arena_fini(&a);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *error;
    } ROWS[] = {
        {"", "this is no kubeconfig"},
        {"current-context: x\n", "there is no context \"x\""},
        {CONFIG("server: 'http://h'", "token: t"),
         "the server \"http://h\" is not https://HOST:PORT"},
        {CONFIG("server: 'https://h'", "exec: {command: x}"),
         "the user authenticates by \"exec\", which is not supported; use a token, "
         "tokenFile or a client certificate"},
        {CONFIG("server: 'https://h'", "token: t, as-user-extra: {x: [y]}"),
         "as-user-extra is not supported"},
        {CONFIG("server: 'https://h', certificate-authority-data: '*'", "token: t"),
         "certificate-authority-data is no base 64"},
    };
    struct arena a;
    struct kubeconfig k;
    struct err e = ERR_INIT;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        const char *path = write_file(&a, "bad", ROWS[i].text);
        ROW(ROWS[i].error, !kubeconfig_read(path, &a, &k, &e));
        struct str want = arena_printf(&a, "%s: %s", path, ROWS[i].error);
        assert_string_equal(err_text(&e), want.p);
    }
    err_release(&e);
    arena_fini(&a);
}

static void test_in_pod(void **state)
{
    struct arena a;
    struct kubeconfig k;
    arena_init(&a);
    write_file(&a, "ca.crt", "PEM");
    write_file(&a, "token", "t");
    write_file(&a, "namespace", "ns");
    assert_true(kubeconfig_in_pod("fd00::1", "443", folder, &a, &k, NULL));
    assert_string_equal(k.address, "[fd00::1]:443");
    assert_str(k.namespace, "ns");
    assert_str(k.tls.ca_pem, "PEM");
    assert_false(kubeconfig_in_pod("h", "1", "/nowhere", &a, &k, NULL));
    arena_fini(&a);
}

static int clean(void **state)
{
    static const char *const NAMES[] = {"tok", "ca",     "config", "c",
                                        "bad", "ca.crt", "token",  "namespace"};
    char path[128];
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),     cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_contexts), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_in_pod),
    };
    if (!mkdtemp(folder))
        return 1;
    return cmocka_run_group_tests(tests, NULL, clean);
}
