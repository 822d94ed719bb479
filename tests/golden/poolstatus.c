/* SPDX-License-Identifier: Apache-2.0 */
/* golden/poolstatus: what a ResourcePoolStatusRequest is answered. Times were left out of
 * the recordings, and so were they here. */
#include "control/pool_status.h"
#include "golden/golden.h"

static const struct doc *const *pointers(const struct doc *list, struct arena *a,
                                         uint32_t *n)
{
    *n = list && list->type == DOC_LIST ? list->n : 0;
    const struct doc **v = ARENA_ARRAY(a, const struct doc *, *n);
    for (uint32_t i = 0; i < *n; i++)
        v[i] = &list->items[i];
    return v;
}

static void run_case(struct golden *g, struct golden_case *c)
{
    const struct doc *in = doc_get(c->doc, "in");
    struct pool_status_input all = {0};
    bool incomplete;
    (void)g;
    all.slices = pointers(doc_get(in, "slices"), c->arena, &all.nslices);
    all.claims = pointers(doc_get(in, "claims"), c->arena, &all.nclaims);
    all.rules = pointers(doc_get(in, "taintRules"), c->arena, &all.nrules);
    struct doc got = pool_status_compute(doc_get(in, "request"), &all, STR("-"), c->arena,
                                         &incomplete);
    struct doc want = golden_lean(doc_get(c->doc, "out"), c->arena);
    const struct doc *conditions = doc_get(&got, "conditions");
    doc_remove(&conditions->items[0], STR("lastTransitionTime"));
    got = golden_lean(&got, c->arena);
    golden_check_doc(c, "status", &want, &got);
}

const struct golden_runner golden_poolstatus = {.folder = "poolstatus",
                                                .run_case = run_case};
