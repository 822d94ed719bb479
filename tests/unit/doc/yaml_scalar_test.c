/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "doc/json_shim.h"
#include "doc/yaml_doc.h"
#include "unit/doc/docs.h"

static void test_kinds(void **state)
{
    static const struct {
        const char *s;
        enum yaml_kind kind;
    } rows[] = {
        {"", YAML_NULL},
        {"~", YAML_NULL},
        {"nuLL", YAML_STRING},
        {"yes", YAML_BOOL},
        {"yEs", YAML_STRING},
        {"<<", YAML_STRING},
        {"=", YAML_STRING},
        {"0", YAML_INT},
        {"0x", YAML_STRING},
        {"0xFFFFFFFFFFFFFFFF", YAML_INT},
        {"0x10000000000000000", YAML_STRING},
        {"-0x8000000000000000", YAML_INT},
        {"-0x8000000000000001", YAML_STRING},
        {"+18446744073709551615", YAML_FLOAT},
        {"0b-1", YAML_INT},
        {"0B1", YAML_INT},
        {"1.", YAML_FLOAT},
        {".1", YAML_FLOAT},
        {"._1", YAML_STRING},
        {".1_0", YAML_STRING},
        {"1_0.1", YAML_FLOAT},
        {"-.inf", YAML_FLOAT},
        {"-.nan", YAML_STRING},
        {"1e5", YAML_FLOAT},
        {"1e500", YAML_STRING},
        {"09", YAML_FLOAT},
        {"2001-01-01", YAML_TIME},
        {"2001-1-1", YAML_TIME},
        {"2001-13-01", YAML_STRING},
        {"2001-00-01", YAML_STRING},
        {"2001-02-29", YAML_STRING},
        {"2000-02-29", YAML_TIME},
        {"1900-02-29", YAML_STRING},
        {"2004-2-30", YAML_STRING},
        {"2001-01-001", YAML_STRING},
        {"2001-01-01T1:2:3Z", YAML_TIME},
        {"2001-01-01t1:2:3+01:30", YAML_TIME},
        {"2001-01-01T1:2:3", YAML_STRING},
        {"2001-01-01T1:2:3z", YAML_STRING},
        {"2001-01-01T1:2:3.123456789123Z", YAML_TIME},
        {"2001-01-01T1:2:3,5Z", YAML_TIME},
        {"2001-01-01T1:2:3.Z", YAML_STRING},
        {"2001-01-01T24:2:3Z", YAML_STRING},
        {"2001-01-01T1:60:3Z", YAML_STRING},
        {"2001-01-01T1:2:60Z", YAML_STRING},
        {"2001-01-01T1:2:3+1:30", YAML_STRING},
        {"2001-01-01 1:2:3", YAML_TIME},
        {"2001-01-01   1:2:3.5", YAML_TIME},
        {"2001-01-01 1:2:3Z", YAML_STRING},
        {"2001-01-01 1:2", YAML_STRING},
        {"20010-01-01", YAML_STRING},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].s, yaml_resolve(str_from(rows[i].s)).kind == rows[i].kind);
}

static void test_values(void **state)
{
    static const struct {
        const char *s;
        bool minus;
        uint64_t u;
    } rows[] = {
        {"-0", false, 0},
        {"-5", true, 5},
        {"+5", false, 5},
        {"0x_fF", false, 255},
        {"-0b101", true, 5},
        {"0b-101", true, 5},
        {"0777", false, 511},
        {"0o777", false, 511},
        {"-9223372036854775808", true, (uint64_t)INT64_MAX + 1},
        {"18446744073709551615", false, UINT64_MAX},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct yaml_value v = yaml_resolve(str_from(rows[i].s));
        ROW(rows[i].s, v.kind == YAML_INT);
        ROW(rows[i].s, v.minus == rows[i].minus && v.u == rows[i].u);
    }
    assert_true(yaml_resolve(STR("-.inf")).d == -INFINITY);
    assert_true(yaml_resolve(STR("+.INF")).d == INFINITY);
    assert_true(isnan(yaml_resolve(STR(".NaN")).d));
    assert_true(yaml_resolve(STR("+1_0.5e1")).d == 105);
}

static void test_print(void **state)
{
    static const struct {
        double d;
        const char *json, *yaml, *narrow;
    } rows[] = {
        {0, "0", "0", "0"},
        {-0.0, "-0", "-0", "-0"},
        {1, "1", "1", "1"},
        {-1.5, "-1.5", "-1.5", "-1.5"},
        {0.1, "0.1", "0.1", "0.1"},
        {100000, "100000", "100000", "100000"},
        {999999.5, "999999.5", "999999.5", "999999.5"},
        {1e6, "1000000", "1e+06", "1e+06"},
        {1234567, "1234567", "1.234567e+06", "1.234567e+06"},
        {16777217, "16777217", "1.6777217e+07", "1.6777216e+07"},
        {0.0001, "0.0001", "0.0001", "0.0001"},
        {0.00001, "0.00001", "1e-05", "1e-05"},
        {1e-6, "0.000001", "1e-06", "1e-06"},
        {9.99e-7, "9.99e-7", "9.99e-07", "9.99e-07"},
        {1e-10, "1e-10", "1e-10", "1e-10"},
        {1e-100, "1e-100", "1e-100", "0"},
        {1e20, "100000000000000000000", "1e+20", "1e+20"},
        {123456789012345680000.0, "123456789012345680000", "1.2345678901234568e+20",
         "1.2345679e+20"},
        {1e21, "1e+21", "1e+21", "1e+21"},
        {1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157e+308",
         ".inf"},
        {5e-324, "5e-324", "5e-324", "0"},
    };
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        strbuf_clear(&b);
        json_print_double(rows[i].d, &b);
        assert_str(strbuf_str(&b), rows[i].json);
        strbuf_clear(&b);
        yaml_print_double(rows[i].d, false, &b);
        assert_str(strbuf_str(&b), rows[i].yaml);
        strbuf_clear(&b);
        yaml_print_double(rows[i].d, true, &b);
        assert_str(strbuf_str(&b), rows[i].narrow);
    }
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
