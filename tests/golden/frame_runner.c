/* SPDX-License-Identifier: Apache-2.0 */
/* A runner for the frame's own test: each line says what was wanted and what came. */
#include "golden/golden.h"

static void run_case(struct golden *g, struct golden_case *c)
{
    struct str skip = doc_get_text(c->doc, "skip");
    if (skip.n)
        golden_skip(c, skip.p);
    golden_check_doc(c, "value", doc_get(c->doc, "want"), doc_get(c->doc, "got"));
}

const struct golden_runner golden_frame_test = {
    .folder = "echo", .run_case = run_case, .support = "devices.jsonl"};
