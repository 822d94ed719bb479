/* SPDX-License-Identifier: Apache-2.0 */
/* A ReplicaSet on a server whose watches tell late of what was made and deleted. */
#include "control/replicasets.h"

#include "fake_api.h"
#include "unit/unit.h"

static const char SET[] =
    "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\",\"uid\":\"set\",\"generation\":1,"
    "\"resourceVersion\":\"%d\"},\"spec\":{\"replicas\":%d,\"selector\":{\"matchLabels\":"
    "{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{}}}}";

struct site {
    struct arena a;
    struct fake_api api;
    struct shared *shared;
    struct replicasets *sets;
    int version;
};

static void settle(struct site *s)
{
    for (int i = 0; i < 10; i++)
        fake_api_settle(&s->api);
}

static void tell_set(struct site *s, int replicas)
{
    struct str text = arena_printf(&s->a, SET, ++s->version, replicas);
    struct doc_source src = {.name = "set", .text = text};
    struct doc d;
    assert_true(doc_read_json(&src, &s->a, &d, NULL));
    if (s->version == 1)
        fake_api_put(&s->api, "replicasets", &d, true);
    else
        fake_api_tell(&s->api, "MODIFIED", "replicasets", &d);
    settle(s);
}

static void open_site(struct site *s, int replicas, bool refuses)
{
    struct workload_opts opts = {0};
    *s = (struct site){.version = 0};
    fake_api_open(&s->api, &s->a);
    s->api.create_fails = refuses;
    tell_set(s, replicas);
    s->shared = shared_new(s->api.client, NULL, NULL);
    s->sets = replicasets_new(s->shared, &opts);
    settle(s);
}

static void close_site(struct site *s)
{
    replicasets_free(s->sets);
    shared_free(s->shared);
    fake_api_close(&s->api);
    arena_fini(&s->a);
}

static unsigned count(const struct site *s, const char *verb)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->api.actions.n; i++)
        n += doc_is_string(doc_get(&s->api.actions.items[i], "verb"), verb) &&
             doc_is_string(doc_get(&s->api.actions.items[i], "resource"), "pods");
    return n;
}

/* What was made, with what the server would have given it. */
static void tell_pods(struct site *s, const char *type, const char *deleted)
{
    const struct doc *pods = fake_api_list(&s->api, "pods");
    struct doc all = doc_dup(&s->a, pods);
    for (uint32_t i = 0; i < all.n; i++) {
        struct doc *meta = (struct doc *)doc_get(&all.items[i], "metadata");
        doc_set_text(&s->a, meta, "uid", doc_get_text(meta, "name"));
        doc_set_text(&s->a, meta, "resourceVersion",
                     arena_printf(&s->a, "%d", ++s->version));
        if (deleted)
            doc_set_text(&s->a, meta, "deletionTimestamp", str_from(deleted));
        fake_api_tell(&s->api, type, "pods", &all.items[i]);
    }
    settle(s);
}

static void test_made_late(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, 3, false);
    assert_int_equal(count(&s, "create"), 3);
    tell_set(&s, 3);
    tell_set(&s, 4);
    assert_int_equal(count(&s, "create"), 3); /* those are yet to be seen */
    tell_pods(&s, "ADDED", NULL);
    assert_int_equal(count(&s, "create"), 4);
    assert_int_equal(count(&s, "delete"), 0);
    close_site(&s);
}

static void test_deleted_late(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, 4, false);
    tell_pods(&s, "ADDED", NULL);
    tell_set(&s, 1);
    assert_int_equal(count(&s, "delete"), 3);
    tell_set(&s, 1);
    tell_set(&s, 0);
    assert_int_equal(count(&s, "delete"), 3); /* those are not seen to go yet */
    assert_int_equal(count(&s, "create"), 4);
    close_site(&s);
}

/* One is tried, not all of them; the status says why there is none. */
static void test_refused(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, 50, true);
    unsigned tried = count(&s, "create");
    assert_true(tried >= 1 && tried < 50);
    const struct doc *set = &fake_api_list(&s.api, "replicasets")->items[0],
                     *list = doc_path(set, "status.conditions");
    assert_non_null(list);
    assert_true(doc_is_string(doc_get(&list->items[0], "reason"), "FailedCreate"));
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_late),
        cmocka_unit_test(test_deleted_late),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
