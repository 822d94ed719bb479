/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that fails, and a process that dies, at any step: the calls of the system that
 * change files are wrapped (-Wl,--wrap) and counted. A program that links this names the
 * wrapped calls in its meson.build.
 */
#ifndef DRAY_TESTS_DRIVER_FAULTS_H
#define DRAY_TESTS_DRIVER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
    FAULT_NONE,
    FAULT_FAIL,  /* that call fails; of a write half is done */
    FAULT_STUCK, /* that call and every one behind it */
    FAULT_DIE,   /* the process ends before that call, with status FAULT_STATUS */
};
enum { FAULT_STATUS = 99 };

/* From here on, at the call of that number (from 1). */
void faults_arm(enum fault what, uint32_t at);
/* Not any more; the calls since. */
uint32_t faults_disarm(void);
bool faults_struck(void); /* since the last faults_arm */

#endif
