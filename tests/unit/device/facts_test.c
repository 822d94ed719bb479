/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "device/internal.h"

struct fixture {
    struct arena arena;
    struct device_names names;
};

static void setup(struct fixture *f)
{
    arena_init(&f->arena);
    device_names_init(&f->names);
}

static void teardown(struct fixture *f)
{
    device_names_fini(&f->names);
    arena_fini(&f->arena);
}

static struct device_attr attr(const char *name, struct device_attr_value v)
{
    return (struct device_attr){.name = str_from(name), .value = v};
}

static struct device_attr_value text(uint8_t kind, const char *s)
{
    return (struct device_attr_value){.kind = kind, .s = str_from(s)};
}

static struct device_attr_value number(int64_t i)
{
    return (struct device_attr_value){.kind = DEVICE_ATTR_INT, .i = i};
}

static const struct cel_value *value_of(struct fixture *f, const struct device_facts *d,
                                        const char *name)
{
    const struct device_shape *s = d->shape;
    uint32_t id = device_name_id(&f->names, s->driver, str_from(name));
    uint32_t i = device_id_find(s->ids, s->nattrs, id);
    return i < s->nattrs ? &device_value_at(s->columns[i], d->codes[i])->cel : NULL;
}

static void test_find(void **state)
{
    static const uint32_t ids[] = {2, 3, 5, 7, 11, 13, 17};
    for (uint32_t n = 0; n <= UNIT_COUNT(ids); n++)
        for (uint32_t id = 0; id < 20; id++) {
            uint32_t want = 0;
            while (want < n && ids[want] != id)
                want++;
            assert_int_equal(device_id_find(ids, n, id), want);
        }
}

/* The spelling with the domain counts, whatever the order. */
static void test_both_spellings(void **state)
{
    struct fixture f;
    setup(&f);
    for (int swap = 0; swap < 2; swap++) {
        struct device_attr attrs[3];
        attrs[swap ? 2 : 0] = attr("model", number(1));
        attrs[1] = attr("zone", number(2));
        attrs[swap ? 0 : 2] = attr("gpu/model", number(3));
        struct device_facts d;
        device_facts_make(&d, &f.names, STR("gpu"), attrs, 3, NULL, 0, false, &f.arena);
        assert_int_equal(d.shape->nattrs, 2);
        assert_int_equal(value_of(&f, &d, "model")->i, 3);
        assert_int_equal(value_of(&f, &d, "zone")->i, 2);
        assert_null(value_of(&f, &d, "other"));
        assert_true(d.shape->ids[0] < d.shape->ids[1]);
    }
    teardown(&f);
}

static void test_values(void **state)
{
    static const int64_t ints[] = {3, 1};
    static const bool bools[] = {true};
    static const struct str versions[] = {{"1.0.0", 5}, {"2.0.0-rc", 8}};
    struct device_attr attrs[] = {
        attr("ints",
             (struct device_attr_value){.kind = DEVICE_ATTR_INTS, .n = 2, .ints = ints}),
        attr("bools", (struct device_attr_value){.kind = DEVICE_ATTR_BOOLS,
                                                 .n = 1,
                                                 .bools = bools}),
        attr("versions", (struct device_attr_value){.kind = DEVICE_ATTR_VERSIONS,
                                                    .n = 2,
                                                    .strings = versions}),
        attr("version", text(DEVICE_ATTR_VERSION, "1.2.3")),
        attr("none", (struct device_attr_value){.kind = DEVICE_ATTR_STRINGS, .n = 0}),
    };
    struct fixture f;
    setup(&f);
    struct device_facts d;
    device_facts_make(&d, &f.names, STR("d"), attrs, UNIT_COUNT(attrs), NULL, 0, false,
                      &f.arena);
    assert_null(d.bad);
    assert_int_equal(value_of(&f, &d, "ints")->items[1].i, 1);
    assert_true(value_of(&f, &d, "bools")->items[0].b);
    assert_str(value_of(&f, &d, "versions")->items[1].semver->pre, "rc");
    assert_int_equal(value_of(&f, &d, "version")->semver->patch, 3);
    assert_int_equal(value_of(&f, &d, "none")->len, 0);
    teardown(&f);
}

/* The first bad attribute by name is the one that is reported. */
static void test_bad(void **state)
{
    struct device_attr attrs[] = {
        attr("b", (struct device_attr_value){.kind = DEVICE_ATTR_NONE}),
        attr("good", number(1)),
        attr("a", text(DEVICE_ATTR_VERSION, "v1.2")),
    };
    struct fixture f;
    setup(&f);
    struct device_facts d;
    device_facts_make(&d, &f.names, STR("d"), attrs, 3, NULL, 0, false, &f.arena);
    assert_str(
        *d.bad,
        "attribute a: parse semantic version: No Major.Minor.Patch elements found");
    attrs[0] = attr("b", (struct device_attr_value){.kind = DEVICE_ATTR_NONE});
    device_facts_make(&d, &f.names, STR("d"), attrs, 1, NULL, 0, false, &f.arena);
    assert_str(*d.bad, "attribute b: unsupported attribute value");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_both_spellings),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
