/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about a schema of custom resources and objects of it, with dray's answers in
 * the form of the oracle's mode schema (tests/peers): asked by tests/peers/dray-eval and,
 * with recorded answers, by a unit test.
 */
#ifndef DRAY_TESTS_SCHEMA_CASE_H
#define DRAY_TESTS_SCHEMA_CASE_H

#include "api/structural.h"

/* Adds definition, objects, or undecodable to the answer. */
void schema_case_answer(const struct api_cel *cel, const struct doc *question,
                        struct arena *a, struct doc *answer);

#endif
