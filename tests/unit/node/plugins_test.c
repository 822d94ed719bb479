/* SPDX-License-Identifier: Apache-2.0 */
#include "node/plugins.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scripted.h"
#include "unit/unit.h"

struct site {
    struct place place;
    struct plugins *plugins;
    struct scripted a, b;
    unsigned added, removed, reached, lost;
    char log[600];
};

static void on_added(void *ctx, struct plugin *p)
{
    ((struct site *)ctx)->added++;
}

static void on_removed(void *ctx, struct plugin *p)
{
    ((struct site *)ctx)->removed++;
}

static void on_reached(void *ctx, struct str driver, bool connected)
{
    struct site *s = ctx;
    *(connected ? &s->reached : &s->lost) += 1;
}

static void on_log(void *ctx, const char *text)
{
    struct site *s = ctx;
    snprintf(s->log, sizeof s->log, "%s", text);
}

static void start(struct site *s)
{
    static const struct plugins_ops ops = {on_added, on_removed, on_reached, on_log};
    struct err e = ERR_INIT;
    s->plugins = plugins_new(s->place.loop, s->place.dir, &ops, s, &e);
    if (!s->plugins)
        fail_msg("%s", err_text(&e));
}

static void open_site(struct site *s)
{
    *s = (struct site){.added = 0};
    place_open(&s->place, NULL);
    scripted_init(&s->a, &s->place, "a.example.com");
    scripted_init(&s->b, &s->place, "a.example.com");
    s->b.endpoint = "plugins/b.sock";
    start(s);
}

static void close_site(struct site *s)
{
    plugins_free(s->plugins);
    scripted_fini(&s->a);
    scripted_fini(&s->b);
    net_loop_free(s->place.loop);
    place_close(&s->place);
}

static struct plugin *find(struct site *s)
{
    return plugins_find(s->plugins, STR("a.example.com"));
}

static bool is_connected(void *ctx)
{
    struct plugin *p = find(ctx);
    return p && plugin_connected(p);
}

static bool is_gone(void *ctx)
{
    return find(ctx) == NULL;
}

static bool is_a_welcome(void *ctx)
{
    return ((struct site *)ctx)->a.welcomes > 0;
}

static bool is_b_first(void *ctx)
{
    struct plugin *p = find(ctx);
    return p && str_ends(plugin_endpoint(p), STR("/b.sock")) && plugin_connected(p);
}

static bool is_a_first(void *ctx)
{
    struct plugin *p = find(ctx);
    return p && str_ends(plugin_endpoint(p), STR("/a.example.com.sock")) &&
           plugin_connected(p);
}

/* ---- tests ---- */

static void test_comes_and_goes(void **state)
{
    struct site s;
    open_site(&s);
    assert_null(find(&s));
    scripted_listen(&s.a);
    place_await(&s.place, is_gone, &s, "nobody");
    scripted_register(&s.a, "plugins_registry/a-reg.sock");
    place_await(&s.place, is_connected, &s, "the driver is connected");
    place_await(&s.place, is_a_welcome, &s, "it is told");
    assert_int_equal(plugin_dra(find(&s)), PLUGIN_V1);
    assert_int_equal(plugin_health(find(&s)), PLUGIN_HEALTH_NONE);
    assert_str(plugin_driver(find(&s)), "a.example.com");
    scripted_unregister(&s.a);
    place_await(&s.place, is_gone, &s, "it is gone");
    assert_int_equal(s.added, 1);
    assert_int_equal(s.removed, 1);
    assert_int_equal(s.a.infos, 1);
    assert_int_equal(s.lost, 2); /* before it was connected, and after */
    assert_int_equal(s.reached, 1);
    scripted_register(&s.a, "plugins_registry/a-reg.sock");
    place_await(&s.place, is_connected, &s, "it comes again");
    assert_int_equal(s.a.infos, 2);
    close_site(&s);
}

/* Whoever was there before, and in directories below. */
static void test_found_by_walking(void **state)
{
    static const char *const SOCKETS[] = {"plugins_registry/a.sock",
                                          "plugins_registry/sub/deep/a.sock"};
    char path[100];
    for (size_t i = 0; i < UNIT_COUNT(SOCKETS); i++) {
        struct site s;
        open_site(&s);
        plugins_free(s.plugins);
        snprintf(path, sizeof path, "%s/plugins_registry/sub", s.place.dir);
        assert_int_equal(mkdir(path, 0755), 0);
        snprintf(path, sizeof path, "%s/plugins_registry/sub/deep", s.place.dir);
        assert_int_equal(mkdir(path, 0755), 0);
        scripted_listen(&s.a);
        scripted_register(&s.a, SOCKETS[i]);
        start(&s);
        place_await(&s.place, is_connected, &s, SOCKETS[i]);
        assert_int_equal(s.a.infos, 1);
        close_site(&s);
    }
}

static void test_directories_come(void **state)
{
    struct site s;
    char path[100];
    open_site(&s);
    scripted_listen(&s.a);
    snprintf(path, sizeof path, "%s/plugins_registry/later", s.place.dir);
    assert_int_equal(mkdir(path, 0755), 0);
    scripted_register(&s.a, "plugins_registry/later/a.sock");
    place_await(&s.place, is_connected, &s, "a socket in a new directory");
    assert_int_equal(s.added, 1);
    close_site(&s);
}

/* Dots, files and what is renamed into place. */
static void test_names(void **state)
{
    struct site s;
    char from[100], to[100];
    open_site(&s);
    scripted_listen(&s.a);
    scripted_listen(&s.b);
    snprintf(from, sizeof from, "%s/plugins_registry/file.sock", s.place.dir);
    FILE *f = fopen(from, "w");
    assert_non_null(f);
    fclose(f);
    scripted_register(&s.a, "plugins_registry/.a.sock");
    scripted_register(&s.b, "plugins_registry/b.sock");
    place_await(&s.place, is_b_first, &s, "the one without a dot");
    assert_int_equal(s.a.infos, 0);
    snprintf(from, sizeof from, "%s/plugins_registry/.a.sock", s.place.dir);
    snprintf(to, sizeof to, "%s/plugins_registry/a.sock", s.place.dir);
    assert_int_equal(rename(from, to), 0);
    place_await(&s.place, is_a_first, &s, "the one that was renamed");
    assert_int_equal(s.added, 2);
    close_site(&s);
}

/* Two instances: the last one that can be reached is called. */
static void test_instances(void **state)
{
    struct site s;
    open_site(&s);
    scripted_listen(&s.a);
    scripted_register(&s.a, "plugins_registry/a.sock");
    place_await(&s.place, is_a_first, &s, "the first one");
    scripted_listen(&s.b);
    scripted_register(&s.b, "plugins_registry/b.sock");
    place_await(&s.place, is_b_first, &s, "the new one");
    scripted_hang_up(&s.b);
    place_await(&s.place, is_a_first, &s, "the old one while the new one is away");
    scripted_listen(&s.b);
    place_await(&s.place, is_b_first, &s, "the new one is back");
    scripted_unregister(&s.b);
    place_await(&s.place, is_a_first, &s, "the new one has left");
    assert_int_equal(s.lost, 1); /* when it was registered, and never after */
    close_site(&s);
}

static bool is_refused(void *ctx)
{
    return ((struct site *)ctx)->a.refusals > 0;
}

static void test_refusals(void **state)
{
    static const struct {
        const char *type, *versions[4], *says;
    } ROWS[] = {
        {"CSIPlugin",
         {"v1.DRAPlugin"},
         "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at "
         "socket %s/plugins_registry/a.sock"},
        {"DRAPlugin",
         {NULL},
         "RegisterPlugin error -- plugin validation failed with err: invalid supported "
         "gRPC versions of DRA driver plugin a.example.com at endpoint "
         "%s/plugins/a.example.com.sock: empty list of supported gRPC services (aka "
         "supported versions)"},
        {"DRAPlugin",
         {"1.0.0", "v1.DRAResourceHealth"},
         "RegisterPlugin error -- plugin validation failed with err: invalid supported "
         "gRPC versions of DRA driver plugin a.example.com at endpoint "
         "%s/plugins/a.example.com.sock: none of services supported by the plugin "
         "([\"1.0.0\" \"v1.DRAResourceHealth\"]) are supported by the kubelet "
         "([\"v1.DRAPlugin\" \"v1beta1.DRAPlugin\"])"},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct site s;
        char says[500];
        open_site(&s);
        s.a.type = ROWS[i].type;
        memcpy(s.a.versions, ROWS[i].versions, sizeof s.a.versions);
        scripted_register(&s.a, "plugins_registry/a.sock");
        place_await(&s.place, is_refused, &s, "a refusal");
        snprintf(says, sizeof says, ROWS[i].says, s.place.dir);
        assert_string_equal(s.a.told, says);
        assert_null(find(&s));
        assert_int_equal(s.added, 0);
        close_site(&s);
    }
}

/* An endpoint is its first owner's. */
static void test_endpoint_taken(void **state)
{
    struct site s;
    char says[400];
    open_site(&s);
    scripted_listen(&s.a);
    scripted_register(&s.a, "plugins_registry/a.sock");
    place_await(&s.place, is_connected, &s, "the owner");
    struct scripted thief;
    scripted_init(&thief, &s.place, "a.example.com");
    scripted_register(&thief, "plugins_registry/b.sock");
    while (thief.refusals == 0)
        net_loop_run_once(s.place.loop, true);
    snprintf(says, sizeof says,
             "RegisterPlugin error -- plugin registration failed with err: endpoint "
             "%s/plugins/a.example.com.sock already registered for DRA driver plugin "
             "a.example.com",
             s.place.dir);
    assert_string_equal(thief.told, says);
    assert_int_equal(s.added, 1);
    scripted_fini(&thief);
    close_site(&s);
}

static bool is_asked_twice(void *ctx)
{
    return ((struct site *)ctx)->a.infos >= 2;
}

/* Who does not take a yes is not registered, and asked again. */
static void test_driver_refuses(void **state)
{
    struct site s;
    open_site(&s);
    scripted_listen(&s.a);
    s.a.refuses = "not by you";
    scripted_register(&s.a, "plugins_registry/a.sock");
    place_await(&s.place, is_asked_twice, &s, "a second attempt");
    assert_non_null(strstr(s.log, "failed to send registration status"));
    assert_non_null(strstr(s.log, "not by you"));
    assert_true(s.removed >= 1);
    s.a.refuses = NULL;
    unsigned before = s.a.welcomes;
    while (s.a.welcomes == before || !is_connected(&s))
        net_loop_run_once(s.place.loop, true);
    assert_int_equal(s.added, s.removed + 1);
    close_site(&s);
}

static void test_services(void **state)
{
    static const struct {
        const char *names[4];
        enum plugin_dra dra;
        enum plugin_health health;
    } ROWS[] = {
        {{"v1.DRAPlugin", "v1beta1.DRAPlugin"}, PLUGIN_V1, PLUGIN_HEALTH_NONE},
        {{"v1beta1.DRAPlugin", "v1.DRAPlugin"}, PLUGIN_V1BETA1, PLUGIN_HEALTH_NONE},
        {{"v9.DRAPlugin", "v1.DRAPlugin", "v1alpha1.DRAResourceHealth"},
         PLUGIN_V1,
         PLUGIN_HEALTH_V1ALPHA1},
        {{"v1.DRAPlugin", "v1alpha1.DRAResourceHealth", "v1.DRAResourceHealth"},
         PLUGIN_V1,
         PLUGIN_HEALTH_V1},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        enum plugin_dra dra;
        enum plugin_health health;
        size_t n = 0;
        while (n < 4 && ROWS[i].names[n])
            n++;
        assert_true(plugin_services_choose(ROWS[i].names, n, &dra, &health, NULL));
        assert_int_equal(dra, ROWS[i].dra);
        assert_int_equal(health, ROWS[i].health);
    }
}

/* A directory that somebody removes is made again. */
static void test_directory_is_lost(void **state)
{
    struct site s;
    char path[100];
    open_site(&s);
    scripted_listen(&s.a);
    scripted_register(&s.a, "plugins_registry/a.sock");
    place_await(&s.place, is_connected, &s, "a driver");
    scripted_unregister(&s.a);
    snprintf(path, sizeof path, "%s/plugins_registry", s.place.dir);
    assert_int_equal(rmdir(path), 0);
    place_await(&s.place, is_gone, &s, "it is gone");
    struct stat st;
    while (stat(path, &st) != 0)
        net_loop_run_once(s.place.loop, true);
    scripted_register(&s.a, "plugins_registry/a.sock");
    place_await(&s.place, is_connected, &s, "a driver again");
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_services),
        cmocka_unit_test(test_comes_and_goes),
        cmocka_unit_test(test_found_by_walking),
        cmocka_unit_test(test_directories_come),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_endpoint_taken),
        cmocka_unit_test(test_driver_refuses),
        cmocka_unit_test(test_directory_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
