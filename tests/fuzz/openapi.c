/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of others as OpenAPI publishes them: whatever was stored as one makes a
 * definition in both forms and messages that can be read, and stays as it is. */
#include "api/openapi.h"
#include "api/wire.h"
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

static bool is_message(struct str bytes)
{
    struct wire_field f;
    bool bad = false;
    while (wire_next(&bytes, &f, &bad))
        ;
    return !bad;
}

static void check_proto(enum openapi_form form, enum openapi_part part,
                        const struct doc *d)
{
    struct strbuf message = STRBUF_INIT;
    openapi_proto(form, part, STR("name"), d, &message);
    FUZZ_CHECK(is_message(strbuf_str(&message)));
    strbuf_release(&message);
}

/* What is made may be some levels deeper. */
static void check_form(const struct doc *schema, enum openapi_form form, struct arena *a)
{
    struct strbuf text = STRBUF_INIT;
    struct doc d = openapi_custom(schema, form, a), again;
    doc_write_json(&d, DOC_JSON_COMPACT, &text);
    struct doc_source src = {.name = "-", .text = strbuf_str(&text)};
    if (depth_of(schema) < DOC_MAX_DEPTH - 10) {
        FUZZ_CHECK(doc_read_json(&src, a, &again, NULL));
        FUZZ_CHECK(doc_equal(&d, &again));
    }
    FUZZ_CHECK(doc_get(&d, "type") || doc_path(&d, "properties.metadata"));
    strbuf_release(&text);
    check_proto(form, OPENAPI_PART_DEFINITION, &d);
    for (int part = OPENAPI_PART_HEAD; part <= OPENAPI_PART_DEFINITION; part++)
        check_proto(form, part, schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct doc_source src = {.name = "-", .text = {(const char *)data, size}};
    struct doc schema;
    if (doc_read_json(&src, &a, &schema, NULL)) {
        struct doc before = doc_dup(&a, &schema);
        check_form(&schema, OPENAPI_V2, &a);
        check_form(&schema, OPENAPI_V3, &a);
        check_proto(OPENAPI_V2, OPENAPI_PART_PARAMETER, &schema);
        FUZZ_CHECK(doc_equal(&before, &schema));
    }
    arena_fini(&a);
    return 0;
}
