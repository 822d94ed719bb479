/* SPDX-License-Identifier: Apache-2.0 */
/* Formats, quantities and versions; results and costs as upstream gives them. */
#include "unit/cel/lib_unit.h"

static const struct lib_row formats[] = {
    {"format.dns1123Label().validate(\"my-label\")", "optional.none()", 9},
    {"format.dns1123Label().validate(\"My_Label\")",
     "optional.of([\"a lowercase RFC 1123 label must consist of lower case alphanumeric "
     "characters or '-', and must start and end with an alphanumeric character (e.g. "
     "'my-name',  or '123-abc', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"])",
     9},
    {"format.dns1123Label().validate(\"a.b\")",
     "optional.of([\"must not contain dots\"])", 9},
    {"format.dns1123Label().validate(\"\")",
     "optional.of([\"a lowercase RFC 1123 label must consist of lower case alphanumeric "
     "characters or '-', and must start and end with an alphanumeric character (e.g. "
     "'my-name',  or '123-abc', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"])",
     9},
    {"format.dns1123Label().validate("
     "\"0123456789012345678901234567890123456789012345678901234567890123\")",
     "optional.of([\"must be no more than 63 characters\"])", 57},
    {"format.dns1123Subdomain().validate(\"a.b-c.d\")", "optional.none()", 16},
    {"format.dns1123Subdomain().validate(\"a..b\")",
     "optional.of([\"a lowercase RFC 1123 subdomain must consist of lower case "
     "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
     "character (e.g. 'example.com', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\"])",
     16},
    {"format.dns1123Subdomain().validate(\"-a\")",
     "optional.of([\"a lowercase RFC 1123 subdomain must consist of lower case "
     "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
     "character (e.g. 'example.com', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\"])",
     16},
    {"format.dns1035Label().validate(\"a1\")", "optional.none()", 9},
    {"format.dns1035Label().validate(\"1a\")",
     "optional.of([\"a DNS-1035 label must consist of lower case alphanumeric characters "
     "or '-', start with an alphabetic character, and end with an alphanumeric character "
     "(e.g. 'my-name',  or 'abc-123', regex used for validation is "
     "'[a-z]([-a-z0-9]*[a-z0-9])?')\"])",
     9},
    {"format.dns1123LabelPrefix().validate(\"abc-\")", "optional.none()", 9},
    {"format.dns1123LabelPrefix().validate(\"-\")",
     "optional.of([\"a lowercase RFC 1123 label must consist of lower case alphanumeric "
     "characters or '-', and must start and end with an alphanumeric character (e.g. "
     "'my-name',  or '123-abc', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"])",
     9},
    {"format.dns1123LabelPrefix().validate(\"a--\")", "optional.none()", 9},
    {"format.dns1123SubdomainPrefix().validate(\"a.b-\")", "optional.none()", 16},
    {"format.dns1035LabelPrefix().validate(\"1-\")", "optional.none()", 9},
    {"format.qualifiedName().validate(\"example.com/My.name\")", "optional.none()", 31},
    {"format.qualifiedName().validate(\"a/b/c\")",
     "optional.of([\"a valid label key must consist of alphanumeric characters, '-', '_' "
     "or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
     "'my.name',  or '123-abc', regex used for validation is "
     "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix "
     "and '/' (e.g. 'example.com/MyName')\"])",
     16},
    {"format.qualifiedName().validate(\"/b\")",
     "optional.of([\"prefix part must be non-empty\"])", 16},
    {"format.qualifiedName().validate(\"A/\")",
     "optional.of([\"prefix part a lowercase RFC 1123 subdomain must consist of lower "
     "case alphanumeric characters, '-' or '.', and must start and end with an "
     "alphanumeric character (e.g. 'example.com', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\", \"name "
     "part must be non-empty\", \"name part must consist of alphanumeric characters, "
     "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
     "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
     "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\"])",
     16},
    {"format.qualifiedName().validate(\"a/"
     "0123456789012345678901234567890123456789012345678901234567890123\")",
     "optional.of([\"name part must be no more than 63 bytes\"])", 106},
    {"format.qualifiedName().validate(\"-\")",
     "optional.of([\"name part must consist of alphanumeric characters, '-', '_' or '.', "
     "and must start and end with an alphanumeric character (e.g. 'MyName',  or "
     "'my.name',  or '123-abc', regex used for validation is "
     "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\"])",
     16},
    {"format.labelValue().validate(\"\")", "optional.none()", 11},
    {"format.labelValue().validate(\"a_b.C-d\")", "optional.none()", 11},
    {"format.labelValue().validate(\"_a\")",
     "optional.of([\"a valid label must be an empty string or consist of alphanumeric "
     "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
     "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
     "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')\"])",
     11},
    {"format.labelValue().validate("
     "\"0123456789012345678901234567890123456789012345678901234567890123\")",
     "optional.of([\"must be no more than 63 bytes\"])", 71},
    {"format.uri().validate(\"http://x\")", "optional.none()", 277},
    {"format.uri().validate(\"x\")",
     "optional.of([\"parse \\\"x\\\": invalid URI for request\"])", 277},
    {"format.uri().validate(\"http://x/%zz\")",
     "optional.of([\"parse \\\"http://x/%zz\\\": invalid URL escape \\\"%zz\\\"\"])",
     553},
    {"format.uuid().validate(\"12345678-1234-1234-1234-123456789ABC\")",
     "optional.none()", 73},
    {"format.uuid().validate(\"12345678123412341234123456789abc\")", "optional.none()",
     73},
    {"format.uuid().validate(\"12345678-1234-1234-1234-123456789ab\")",
     "optional.of([\"does not match the UUID format\"])", 73},
    {"format.uuid().validate(\"g2345678-1234-1234-1234-123456789abc\")",
     "optional.of([\"does not match the UUID format\"])", 73},
    {"format.byte().validate(\"aGk=\")", "optional.none()", 22},
    {"format.byte().validate(\"aGk\")", "optional.of([\"invalid base64\"])", 22},
    {"format.byte().validate(\"a===\")", "optional.of([\"invalid base64\"])", 22},
    {"format.byte().validate(\"\")", "optional.of([\"invalid base64\"])", 22},
    {"format.byte().validate(\"aGkh\")", "optional.none()", 22},
    {"format.byte().validate(\"aG=h\")", "optional.of([\"invalid base64\"])", 22},
    {"format.date().validate(\"2024-02-29\")", "optional.none()", 37},
    {"format.date().validate(\"2023-02-29\")", "optional.of([\"invalid date\"])", 37},
    {"format.date().validate(\"1900-02-29\")", "optional.of([\"invalid date\"])", 37},
    {"format.date().validate(\"2000-02-29\")", "optional.none()", 37},
    {"format.date().validate(\"2024-13-01\")", "optional.of([\"invalid date\"])", 37},
    {"format.date().validate(\"2024-1-01\")", "optional.of([\"invalid date\"])", 19},
    {"format.date().validate(\"2024-01-01x\")", "optional.of([\"invalid date\"])", 37},
    {"format.date().validate(\"0000-01-01\")", "optional.none()", 37},
    {"format.datetime().validate(\"2024-01-01T00:00:00Z\")", "optional.none()", 55},
    {"format.datetime().validate(\"2024-01-01t23:59:59.123+05:30\")", "optional.none()",
     55},
    {"format.datetime().validate(\"2024-01-01T24:00:00Z\")",
     "optional.of([\"invalid datetime\"])", 55},
    {"format.datetime().validate(\"2024-01-01T00:00:60Z\")",
     "optional.of([\"invalid datetime\"])", 55},
    {"format.datetime().validate(\"2024-01-01T00:00:00\")",
     "optional.of([\"invalid datetime\"])", 37},
    {"format.datetime().validate(\"2024-01-01T00:00:00é5Z\")", "optional.none()", 55},
    {"format.datetime().validate(\"2024-01-01T00:00:00.Z\")",
     "optional.of([\"invalid datetime\"])", 55},
    {"format.datetime().validate(\"2024-01-01T00:00:00ZTx\")", "optional.none()", 55},
    {"format.datetime().validate(\"2024-02-30T00:00:00Z\")",
     "optional.of([\"invalid datetime\"])", 55},
    {"format.datetime().validate(\"2024-01-01T00:00:00+99:99\")", "optional.none()", 55},
    {"format.named(\"uuid\").value() == format.uuid()", "true", 4},
    {"format.named(\"nope\")", "optional.none()", 1},
    {"format.named(\"dns1123Label\")", "optional.of(DNS1123Label)", 1},
};

static const struct lib_row quantities[] = {
    {"quantity(\"1.5Gi\").isInteger()", "false", 2},
    {"quantity(\"50k\").asInteger()", "50000", 2},
    {"quantity(\"1.5\").asInteger()", "error: cannot convert value to integer", 2},
    {"quantity(\"1Mi\").asApproximateFloat()", "1.048576e+06", 2},
    {"quantity(\"1\").add(quantity(\"1Ki\"))", "1025", 3},
    {"quantity(\"1\").add(1)", "2", 2},
    {"quantity(\"1\").sub(quantity(\"2\"))", "-1", 3},
    {"quantity(\"1\").sub(3)", "-2", 2},
    {"quantity(\"1Gi\").compareTo(quantity(\"1G\"))", "1", 3},
    {"quantity(\"1Gi\").isGreaterThan(quantity(\"1G\"))", "true", 3},
    {"quantity(\"1Gi\").isLessThan(quantity(\"1G\"))", "false", 3},
    {"sign(quantity(\"-1\"))", "-1", 2},
    {"sign(quantity(\"0\"))", "0", 2},
    {"quantity(\"x\")",
     "error: quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
     1},
    {"quantity(\"\")",
     "error: quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
     0},
    {"isQuantity(\"1Gi\")", "true", 1},
    {"isQuantity(\"1X\")", "false", 1},
};

static const struct lib_row versions[] = {
    {"semver(\"1.2.3-rc.1+b\")", "1.2.3-rc.1+b", 2},
    {"semver(\"v1.2\", true)", "1.2.0", 1},
    {"semver(\"v1.2\")", "error: No Major.Minor.Patch elements found", 1},
    {"semver(\"1.2.3\").compareTo(semver(\"1.2.4\"))", "-1", 3},
    {"semver(\"1.2.3\").isLessThan(semver(\"1.2.4\"))", "true", 3},
    {"semver(\"1.2.3\").isGreaterThan(semver(\"1.2.4\"))", "false", 3},
    {"semver(\"18446744073709551615.0.0\").major()", "-1", 4},
    {"semver(\"1.2.3\").minor()", "2", 2},
    {"semver(\"1.2.3\").patch()", "3", 2},
    {"isSemver(\"1.2.3\")", "true", 1},
    {"isSemver(\"1.2\")", "false", 1},
    {"isSemver(\"1.2\", true)", "true", 1},
    {"isSemver(\"1.2-x\", true)", "false", 1},
};

static void test_formats(void **state)
{
    lib_unit_rows(false, formats, UNIT_COUNT(formats));
}

static void test_quantities(void **state)
{
    lib_unit_rows(false, quantities, UNIT_COUNT(quantities));
}

static void test_versions(void **state)
{
    lib_unit_rows(false, versions, UNIT_COUNT(versions));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
