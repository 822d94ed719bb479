/* SPDX-License-Identifier: Apache-2.0 */
/* Versions: what reads strictly reads the same when normalised, and what is printed reads
 * back as an equal version. */
#include "num/semver.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct arena a;
    arena_init(&a);
    struct semver strict, loose, back;
    bool is_strict = semver_parse(text, false, &a, &strict, NULL);
    bool is_loose = semver_parse(text, true, &a, &loose, NULL);
    FUZZ_CHECK(!is_strict || is_loose);
    if (is_strict)
        FUZZ_CHECK(semver_cmp(&strict, &loose) == 0);
    if (is_loose) {
        struct str printed = semver_print(&loose, &a);
        FUZZ_CHECK(semver_parse(printed, false, &a, &back, NULL));
        FUZZ_CHECK(semver_cmp(&loose, &back) == 0);
        FUZZ_CHECK(str_eq(semver_print(&back, &a), printed));
    }
    arena_fini(&a);
    return 0;
}
