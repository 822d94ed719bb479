/* SPDX-License-Identifier: Apache-2.0 */
#include "api/gates_other.h"

#include "unit/unit.h"

static const struct {
    const char *name;
    enum api_other_gate want;
} GATES[] = {
    {"APIResponseCompression", API_OTHER_FREE},    /* the first, */
    {"MatchLabelKeysInPodAffinity", API_OTHER_ON}, /* one in the middle */
    {"WorkloadWithJob", API_OTHER_FREE},           /* and the last */
    {"JobManagedBy", API_OTHER_ON},
    {"AllowOverwriteTerminationGracePeriodSeconds", API_OTHER_OFF},
    {"DRAAdminAccess", API_OTHER_NONE}, /* it has an effect: gates.h */
    {"AllAlpha", API_OTHER_NONE},
    {"jobManagedBy", API_OTHER_NONE},
    {"", API_OTHER_NONE},
};

static void test_gates(void **state)
{
    for (size_t i = 0; i < sizeof GATES / sizeof *GATES; i++)
        assert_int_equal(api_other_gate(str_from(GATES[i].name)), GATES[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
