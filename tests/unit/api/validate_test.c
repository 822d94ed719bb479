/* SPDX-License-Identifier: Apache-2.0 */
/* What a write of an object is told, one row a cause found by comparing with upstream. */
#include "api/validate.h"

#include "objects.h"

#define META "\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"resourceVersion\":\"1\"}"
#define ALONE "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}"
#define REQUEST(rest) "{\"devices\":{\"requests\":[{\"name\":\"r\"," rest "}]}}"
#define EXACTLY "\"exactly\":{\"deviceClassName\":\"c\",\"allocationMode\":\"All\"}"
#define RESULT(driver)                                                                   \
    "{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"" driver \
    "\",\"pool\":\"p\",\"device\":\"d\"}]}}}"
#define RULE(taint) "{" ALONE ",\"spec\":{\"taint\":{" taint "}}}"

static const struct {
    const char *name, *kind;
    enum api_op op;
    const char *old, *object, *errors; /* "REASON path;" each */
} ROWS[] = {
    {"an update that drops the name", "DeviceClass", API_UPDATE,
     "{" ALONE ",\"spec\":{}}", "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{}}",
     "FieldValueRequired metadata.name;FieldValueInvalid metadata.name;"},
    {"a name that is no part of a URL", "DeviceTaintRule", API_UPDATE,
     "{\"metadata\":{\"name\":\"a/b\",\"resourceVersion\":\"1\"},\"spec\":{\"taint\":"
     "{\"key\":\"k\",\"effect\":\"None\"}}}",
     "{\"metadata\":{\"name\":\"a/b\",\"resourceVersion\":\"1\"},\"spec\":{\"taint\":"
     "{\"key\":\"k\",\"effect\":\"None\"}}}",
     "FieldValueInvalid metadata.name;"},
    {"a UID for what a template makes", "ResourceClaimTemplate", API_CREATE, NULL,
     "{" META ",\"spec\":{\"metadata\":{\"uid\":\"u\"},\"spec\":" REQUEST(EXACTLY) "}}",
     "FieldValueForbidden spec.metadata.uID;"},
    {"a bad key beside a bad effect", "DeviceTaintRule", API_CREATE, NULL,
     RULE("\"key\":\"a b\",\"effect\":\"X\""),
     "FieldValueNotSupported spec.taint.effect;FieldValueInvalid spec.taint.key;"},
    {"spec in a write of status", "ResourceClaim", API_UPDATE_STATUS,
     "{" META ",\"spec\":" REQUEST(EXACTLY) ",\"status\":{}}",
     "{" META ",\"spec\":{\"devices\":{}},\"status\":{}}", "FieldValueInvalid spec;"},
    {"an effect in a write of status", "DeviceTaintRule", API_UPDATE_STATUS,
     RULE("\"key\":\"k\",\"effect\":\"None\""), RULE("\"key\":\"a b\",\"effect\":\"X\""),
     "FieldValueNotSupported spec.taint.effect;"},
    {"status in a write of spec", "ResourceClaim", API_CREATE, NULL,
     "{" META ",\"spec\":" REQUEST(EXACTLY) ",\"status\":" RESULT("") "}",
     "FieldValueRequired status.allocation.devices.results[0].driver;"},
    {"status that stays as it was", "ResourceClaim", API_UPDATE,
     "{" META ",\"spec\":" REQUEST(EXACTLY) ",\"status\":" RESULT("") "}",
     "{" META ",\"spec\":" REQUEST(EXACTLY) ",\"status\":" RESULT("") "}", ""},
    {"below a request of two forms", "ResourceClaim", API_CREATE, NULL,
     "{" META ",\"spec\":" REQUEST(EXACTLY ",\"firstAvailable\":[{\"name\":\"A\","
                                           "\"deviceClassName\":\"\","
                                           "\"allocationMode\":\"All\"}]") "}",
     "FieldValueInvalid spec.devices.requests[0];"
     "FieldValueRequired spec.devices.requests[0].firstAvailable[0].deviceClassName;"},
    {"an empty struct equals none", "ResourceClaimTemplate", API_UPDATE,
     "{" META ",\"spec\":{\"metadata\":{},\"spec\":" REQUEST(EXACTLY) "}}",
     "{" META ",\"spec\":{\"spec\":" REQUEST(EXACTLY) "}}", ""},
    {"both reasons against a pool's name", "ResourceSlice", API_UPDATE,
     "{" ALONE ",\"spec\":{\"driver\":\"d\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\","
     "\"resourceSliceCount\":1}}}",
     "{" ALONE ",\"spec\":{\"driver\":\"d\",\"nodeName\":\"n\",\"pool\":{\"name\":\"P\","
     "\"resourceSliceCount\":1}}}",
     "FieldValueInvalid spec.pool.name;FieldValueInvalid spec.pool.name;"},
    {"a condition at Go's zero time", "DeviceTaintRule", API_UPDATE_STATUS,
     RULE("\"key\":\"k\",\"effect\":\"None\""),
     "{" ALONE ",\"spec\":{\"taint\":{\"key\":\"k\",\"effect\":\"None\"}},\"status\":"
     "{\"conditions\":[{\"type\":\"T\",\"status\":\"True\",\"reason\":\"R\","
     "\"lastTransitionTime\":\"0001-01-01T00:00:00Z\"}]}}",
     "FieldValueRequired status.conditions[0].lastTransitionTime;"},
};

static void print_errors(const struct api_errors *errors, struct strbuf *out)
{
    for (size_t i = 0; i < errors->list.n; i++)
        strbuf_addf(out, "%s %.*s;", api_error_reason(errors->list.v[i].type),
                    STR_ARG(errors->list.v[i].path));
}

static void check_row(struct arena *a, size_t i)
{
    const struct api_kind *kind =
        api_kind_find(STR("resource.k8s.io/v1"), str_from(ROWS[i].kind));
    struct doc object = read_object(a, ROWS[i].object);
    struct doc old = read_object(a, ROWS[i].old ? ROWS[i].old : "{}");
    struct api_validate_opts opts = {
        .op = ROWS[i].op, .old = ROWS[i].old ? &old : NULL, .gates = &api_gates_default};
    struct api_errors errors = {0};
    struct strbuf got = STRBUF_INIT;
    api_validate(kind, &object, &opts, a, &errors);
    print_errors(&errors, &got);
    if (strcmp(strbuf_cstr(&got), ROWS[i].errors) != 0)
        fail_msg("row '%s'\ngot  %s\nwant %s", ROWS[i].name, strbuf_cstr(&got),
                 ROWS[i].errors);
    strbuf_release(&got);
    api_errors_release(&errors);
}

static void test_rows(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        check_row(&a, i);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
