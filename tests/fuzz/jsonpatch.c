/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patch and merge patch, from {"object": ..., "patch": ...}: inputs stay as they
 * are, results are no deeper than a reader takes, an error has a status and a text; the
 * difference of an object and what a merge patch made of it makes the same of it. */
#include "doc/patch.h"
#include "fuzz/fuzz.h"

static uint32_t depth_of(const struct doc *d)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < d->n && d->type >= DOC_LIST; i++) {
        uint32_t below =
            depth_of(d->type == DOC_LIST ? &d->items[i] : &d->members[i].value);
        deepest = below > deepest ? below : deepest;
    }
    return deepest + 1;
}

static bool has_null(const struct doc *d)
{
    bool found = d->type == DOC_NULL;
    for (uint32_t i = 0; !found && d->type == DOC_MAP && i < d->n; i++)
        found = has_null(&d->members[i].value);
    return found;
}

static void check_json(const struct doc *object, const struct doc *patch, struct arena *a)
{
    struct patch_error e = {0};
    struct doc out;
    if (patch_json(object, patch, a, &out, &e))
        FUZZ_CHECK(depth_of(&out) <= DOC_MAX_DEPTH);
    else
        FUZZ_CHECK(e.status >= PATCH_BAD && e.text.n > 0);
}

static void check_merge(const struct doc *object, const struct doc *patch,
                        struct arena *a)
{
    struct patch_error e = {0};
    struct doc out, again;
    if (!patch_merge(object, patch, a, &out, &e)) {
        FUZZ_CHECK(e.status == PATCH_BAD && e.text.n > 0);
        return;
    }
    FUZZ_CHECK(out.type == DOC_MAP);
    if (object->type != DOC_MAP || has_null(&out) || has_null(object))
        return;
    struct doc diff = patch_merge_diff(object, &out, a);
    FUZZ_CHECK(patch_merge(object, &diff, a, &again, &e));
    FUZZ_CHECK(doc_equal(&out, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct doc d;
    struct doc_source src = {.name = "-", .text = {(const char *)data, size}};
    arena_init(&a);
    if (doc_read_json(&src, &a, &d, NULL)) {
        const struct doc *object = doc_get(&d, "object"), *patch = doc_get(&d, "patch");
        struct doc before = doc_dup(&a, &d);
        if (object && patch) {
            check_json(object, patch, &a);
            check_merge(object, patch, &a);
        }
        FUZZ_CHECK(doc_equal(&before, &d));
    }
    arena_fini(&a);
    return 0;
}
