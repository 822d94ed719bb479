/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a driver's sockets; hashes as sha256sum and base64 give them. */
#include "driver/sockets.h"

#include "unit/unit.h"

#define UID "3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a0b7d"
#define LONG_DIR "/var/lib/kubelet-with-a-long-name"

static const struct {
    const char *label, *driver, *dir, *instance, *dra, *registration;
} NAMES[] = {
    {"plain", "gpu.example.com", "/var/lib/kubelet", "",
     "/var/lib/kubelet/plugins/gpu.example.com/dra.sock",
     "/var/lib/kubelet/plugins_registry/gpu.example.com-reg.sock"},
    {"rolling", "gpu.example.com", "/var/lib/kubelet", UID,
     "/var/lib/kubelet/plugins/gpu.example.com/dra-" UID ".sock",
     "/var/lib/kubelet/plugins_registry/gpu.example.com-" UID "-reg.sock"},
    {"a hash of the instance", "a-driver-with-long-name.example.com", "/var/lib/kubelet",
     UID, "/var/lib/kubelet/plugins/a-driver-with-long-name.example.com/dra-" UID ".sock",
     "/var/lib/kubelet/plugins_registry/"
     "a-driver-with-long-name.example.com-vjj288RXIMg-reg.sock"},
};

static void test_names(void **state)
{
    struct arena a = {0};
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        struct driver_sockets s;
        struct err e = ERR_INIT;
        bool ok = driver_sockets_name(str_from(NAMES[i].driver), str_from(NAMES[i].dir),
                                      str_from(NAMES[i].instance), &a, &s, &e);
        if (!ok)
            fail_msg("%s: %s", NAMES[i].label, err_text(&e));
        assert_string_equal(s.dra.p, NAMES[i].dra);
        assert_string_equal(s.registration.p, NAMES[i].registration);
    }
    arena_fini(&a);
}

/* Of a name that cannot be had the length is told. */
static void test_too_long(void **state)
{
    static const char DRIVER[] =
        "a-very-very-very-long-driver-name-of-sixty-three-bytes.example.c";
    struct arena a = {0};
    struct driver_sockets s;
    struct err e = ERR_INIT;
    assert_false(
        driver_sockets_name(str_from(DRIVER), STR(LONG_DIR), STR(UID), &a, &s, &e));
    assert_non_null(strstr(err_text(&e), "107"));
    assert_non_null(strstr(err_text(&e), DRIVER));
    err_release(&e);
    arena_fini(&a);
}

/* The shortest form fits where the others do not. */
static void test_both_hashed(void **state)
{
    struct arena a = {0};
    struct driver_sockets s;
    struct str driver = STR("a-very-very-long-driver-name-of-many-bytes.example.com");
    assert_true(driver_sockets_name(driver, STR("/var/lib/k"), STR("u"), &a, &s, NULL));
    assert_non_null(strstr(s.registration.p, "example.com-u-reg.sock"));
    struct str dir = STR("/var/lib/kubelet/of/a/node");
    assert_true(driver_sockets_name(driver, dir, STR("u"), &a, &s, NULL));
    assert_in_range(s.registration.n, 1, DRIVER_SOCKET_PATH);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_both_hashed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
