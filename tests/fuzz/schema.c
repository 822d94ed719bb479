/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any JSON as a schema of custom resources with objects of it ({schema, oldSchema,
 * objects: [{object, old}]}): what is refused is told, what is accepted serves any
 * object; decoding an object twice is decoding it once; an object that is valid and has
 * not changed stays valid for the schema; and what is valid has the shape that
 * server-side apply sees.
 */
#include "api/structural.h"
#include "api/typed.h"
#include "fuzz/fuzz.h"

enum { MAX_TEXT = 1 << 16 };

static struct api_cel *cel;

static void count(void *ctx, struct str path)
{
    ++*(unsigned *)ctx;
}

/* false: it cannot be decoded. */
static bool decode(const struct structural *s, struct doc *d, bool stored,
                   struct arena *a, unsigned *unknown)
{
    struct str why;
    *unknown = 0;
    if (!structural_prune(s, d, stored, count, unknown, a, &why)) {
        FUZZ_CHECK(!stored && why.n);
        return false;
    }
    structural_default(s, d, a);
    return true;
}

static size_t validate(const struct structural *s, const struct doc *d,
                       const struct doc *old, struct arena *a)
{
    const struct structural_validate_opts opts = {.old = old};
    struct api_errors errors = {0};
    structural_validate(s, d, &opts, a, &errors);
    for (size_t i = 0; i < errors.list.n; i++) {
        struct strbuf b = STRBUF_INIT;
        api_error_print(&errors.list.v[i], &b);
        FUZZ_CHECK(errors.list.v[i].path.n && b.n);
        strbuf_release(&b);
    }
    size_t n = errors.list.n;
    api_errors_release(&errors);
    return n;
}

static void check_object(const struct structural *s, const struct doc *question,
                         struct arena *a)
{
    const struct doc *given = doc_get(question, "object"),
                     *old = doc_get(question, "old");
    unsigned unknown;
    if (!given || given->type != DOC_MAP)
        return;
    struct doc d = doc_dup(a, given), again;
    if (!decode(s, &d, false, a, &unknown))
        return;
    again = doc_dup(a, &d);
    FUZZ_CHECK(decode(s, &again, true, a, &unknown));
    FUZZ_CHECK(unknown == 0 && doc_equal(&d, &again));
    size_t wrong = validate(s, &d, NULL, a);
    struct fields owned = typed_fields(structural_type(s), &d, a);
    if (wrong == 0)
        fields_encode(&owned, a);
    validate(s, &d, &d, a);
    struct doc stored = old && old->type == DOC_MAP ? doc_dup(a, old) : d;
    if (decode(s, &stored, true, a, &unknown))
        validate(s, &d, &stored, a);
}

static void check_question(const struct doc *q, struct arena *a)
{
    const struct doc *schema = doc_get(q, "schema"), *old = doc_get(q, "oldSchema"),
                     *objects = doc_get(q, "objects");
    const struct structural_check_opts opts = {
        .cel = cel, .path = "spec.validation", .old_spec = old, .status = old};
    const struct structural_opts made = {.cel = cel, .kind = "Thing"};
    struct api_errors errors = {0};
    if (!schema)
        return;
    structural_check(schema, &opts, a, &errors);
    bool ok = errors.list.n == 0;
    api_errors_release(&errors);
    if (!ok)
        return;
    struct structural *s = structural_new(schema, &made);
    for (uint32_t i = 0; objects && objects->type == DOC_LIST && i < objects->n; i++)
        check_object(s, &objects->items[i], a);
    structural_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct doc q;
    struct doc_source src = {.name = "input", .text = {(const char *)data, size}};
    if (size > MAX_TEXT)
        return 0;
    if (!cel) {
        static struct api_cel environments;
        api_cel_init(&environments);
        cel = &environments;
    }
    arena_init(&a);
    if (doc_read_json(&src, &a, &q, NULL))
        check_question(&q, &a);
    arena_fini(&a);
    return 0;
}
