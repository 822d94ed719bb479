/* SPDX-License-Identifier: Apache-2.0 */
/* YAML: a document that reads is written as YAML that reads back as an equal tree, and as
 * JSON that reads back as JSON; an error has a text. */
#include "doc/doc.h"
#include "fuzz/fuzz.h"

static bool read_yaml(struct str text, struct arena *a, struct doc_list *out)
{
    struct doc_source src = {.name = "-", .text = text};
    struct err e = ERR_INIT;
    bool ok = doc_read_yaml(&src, a, out, &e);
    FUZZ_CHECK(ok == (e.code == ERR_NONE));
    FUZZ_CHECK(ok || strncmp(err_text(&e), "-:", 2) == 0);
    err_release(&e);
    return ok;
}

static bool read_json(struct str text, struct arena *a, struct doc *out)
{
    struct doc_source src = {.name = "-", .text = text};
    return doc_read_json(&src, a, out, NULL);
}

static void check_yaml(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    struct doc_list back;
    doc_write_yaml(d, &b);
    FUZZ_CHECK(read_yaml(strbuf_str(&b), a, &back));
    /* A null document is an empty one, and those are passed over. */
    if (d->type != DOC_NULL)
        FUZZ_CHECK(back.n == 1 && doc_equal(d, &back.v[0]));
    strbuf_release(&b);
}

static void check_json(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    struct doc back;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    FUZZ_CHECK(read_json(strbuf_str(&b), a, &back));
    FUZZ_CHECK(doc_equal(d, &back));
    strbuf_release(&b);
}

static void check_places(const struct doc_source *src, const struct doc *d, int depth)
{
    FUZZ_CHECK(d->pos <= src->text.n && depth <= DOC_MAX_DEPTH);
    for (uint32_t i = 0; d->type == DOC_STRING && i <= d->n && i < 16; i++)
        FUZZ_CHECK(doc_place_in(src, d, i).line > 0);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        check_places(src, &d->items[i], depth + 1);
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        check_places(src, &d->members[i].value, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct doc_list docs;
    struct doc_source src = {.name = "-", .text = {(const char *)data, size}};
    arena_init(&a);
    if (read_yaml(src.text, &a, &docs))
        for (size_t i = 0; i < docs.n; i++) {
            check_places(&src, &docs.v[i], 0);
            check_yaml(&docs.v[i], &a);
            check_json(&docs.v[i], &a);
        }
    arena_fini(&a);
    return 0;
}
