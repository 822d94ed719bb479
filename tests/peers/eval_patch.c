/* SPDX-License-Identifier: Apache-2.0 */
/* Mode patch of dray-eval: a patch of one of three kinds on an object; a strategic one
 * takes the object for a Pod. */
#include "api/strategic.h"
#include "peers/eval.h"

static bool apply(struct eval *ev, struct str kind, const struct doc *object,
                  const struct doc *patch, struct doc *out, struct patch_error *e)
{
    if (str_is(kind, "json"))
        return patch_json_check(patch, NULL, ev->arena, e) &&
               patch_json(object, patch, ev->arena, out, e);
    if (str_is(kind, "merge"))
        return patch_merge(object, patch, ev->arena, out, e);
    const struct api_kind *pod = api_kind_find(STR("v1"), STR("Pod"));
    return strategic_patch(pod->type, object, patch, ev->arena, out, e);
}

static void answer_patch(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct doc result;
    struct patch_error e = {0};
    const struct doc *object = doc_get(q, "object"), *patch = doc_get(q, "patch");
    bool ok =
        object && patch && apply(ev, doc_get_text(q, "kind"), object, patch, &result, &e);
    eval_set_bool(ev, out, "ok", ok);
    if (ok)
        eval_set(ev, out, "result", result);
    else
        eval_set_str(ev, out, "error", e.text);
}

const struct eval_mode eval_patch = {.name = "patch", .answer = answer_patch};
