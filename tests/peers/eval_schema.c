/* SPDX-License-Identifier: Apache-2.0 */
/* Mode schema of dray-eval: a schema of custom resources, and objects of it. */
#include <stdlib.h>

#include "base/mem.h"
#include "peers/eval.h"
#include "schema_case.h"

static struct api_cel *environments(struct eval *ev)
{
    if (!ev->state) {
        ev->state = mem_zalloc(sizeof(struct api_cel));
        api_cel_init(ev->state);
    }
    return ev->state;
}

static void end(struct eval *ev)
{
    if (ev->state)
        api_cel_fini(ev->state);
    free(ev->state);
}

static void answer_schema(struct eval *ev, const struct doc *q, struct doc *out)
{
    schema_case_answer(environments(ev), q, ev->arena, out);
}

const struct eval_mode eval_schema = {
    .name = "schema", .answer = answer_schema, .end = end};
