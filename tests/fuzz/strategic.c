/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patch and server-side apply of pods, from {"object": ..., "patch":
 * ...}: inputs stay as they are and an error has a status and a text. What was applied
 * once and is applied again changes nothing, and its fields are the applier's. */
#include "api/strategic.h"
#include "api/apply.h"
#include "api/canonical.h"
#include "api/decode.h"
#include "fuzz/fuzz.h"

static void check_strategic(const struct api_kind *kind, const struct doc *object,
                            const struct doc *patch, struct arena *a)
{
    struct patch_error e = {0};
    struct doc out;
    if (!strategic_patch(kind->type, object, patch, a, &out, &e))
        FUZZ_CHECK(e.status >= PATCH_BAD && e.text.n > 0);
}

static bool is_decodable(const struct api_kind *kind, const struct doc *d,
                         struct arena *a)
{
    struct api_issues issues = {0};
    bool ok = api_check_shape(kind->type, d, STR_NONE, a, &issues) && !issues.list.n;
    api_issues_release(&issues);
    return ok;
}

static void check_apply(const struct api_kind *kind, const struct doc *object,
                        const struct doc *config, struct arena *a)
{
    const struct apply_write w = {kind, STR("fuzz"), STR("2026-01-01T00:00:00Z")};
    struct doc live = doc_dup(a, object), said = doc_dup(a, config);
    struct apply_result r, again;
    struct patch_error e = {0};
    if (!is_decodable(kind, &live, a) || config->type != DOC_MAP)
        return;
    api_canonical(kind->type, &live, a);
    doc_set(a, &said, "apiVersion", doc_make_string(a, STR("v1")));
    doc_set(a, &said, "kind", doc_make_string(a, STR("Pod")));
    if (!apply_config(&w, &live, &said, true, a, &r, &e)) {
        FUZZ_CHECK(e.status >= PATCH_BAD && e.text.n > 0);
        return;
    }
    if (!apply_config(&w, &r.object, &said, false, a, &again, &e))
        FUZZ_CHECK(e.status != PATCH_CONFLICT);
    else
        FUZZ_CHECK(again.unchanged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct api_kind *kind = api_kind_find(STR("v1"), STR("Pod"));
    struct arena a;
    struct doc d;
    struct doc_source src = {.name = "-", .text = {(const char *)data, size}};
    arena_init(&a);
    if (doc_read_json(&src, &a, &d, NULL)) {
        const struct doc *object = doc_get(&d, "object"), *patch = doc_get(&d, "patch");
        struct doc before = doc_dup(&a, &d);
        if (object && object->type == DOC_MAP && patch) {
            check_strategic(kind, object, patch, &a);
            check_apply(kind, object, patch, &a);
        }
        FUZZ_CHECK(doc_equal(&before, &d));
    }
    arena_fini(&a);
    return 0;
}
