/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of calls.c as messages of both versions. */
#ifndef DRAY_DRIVER_CALLS_ANSWER_H
#define DRAY_DRIVER_CALLS_ANSWER_H

#include "driver/fetch.h"
#include "driver/prepare.h"
#include "grpc/serve.h"

enum driver_call_kind {
    DRIVER_CALL_PREPARE,
    DRIVER_CALL_PREPARE_V1BETA1, /* says nothing of shares */
    DRIVER_CALL_UNPREPARE,       /* the same in both versions */
};

/* Answers the request: one entry for each claim, with its devices or what went wrong. */
void driver_calls_answer(struct grpc_request *r, enum driver_call_kind kind,
                         const struct driver_claim *claims, uint32_t n,
                         const struct driver_prepared *prepared, const struct err *errs,
                         struct arena *a);

#endif
