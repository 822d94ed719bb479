/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target is one file, tests/fuzz/<target>.c, with LLVMFuzzerTestOneInput, a folder
 * of seeds corpus/<target>/ and a row in meson.build. The ordinary build links it with
 * driver.c, which replays the seeds and simple mutations of them as a test; `make fuzz`
 * links it with libFuzzer. Every crash that is found becomes a seed.
 *
 * A target checks more than that nothing crashes: FUZZ_CHECK states what must hold for
 * every input.
 */
#ifndef DRAY_TESTS_FUZZ_H
#define DRAY_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                                 \
    do {                                                                                 \
        if (!(cond)) {                                                                   \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);    \
            abort();                                                                     \
        }                                                                                \
    } while (0)

#endif
