/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: what is written, compact or indented, reads back as an equal tree; every place of
 * a tree lies in its source; an error has a text. */
#include "doc/doc.h"
#include "fuzz/fuzz.h"

static bool read_json(struct str text, struct arena *a, struct doc *out)
{
    struct doc_source src = {.name = "-", .text = text};
    struct err e = ERR_INIT;
    bool ok = doc_read_json(&src, a, out, &e);
    FUZZ_CHECK(ok == (e.code == ERR_NONE));
    FUZZ_CHECK(ok || strncmp(err_text(&e), "-:", 2) == 0);
    for (size_t i = 0; ok && i < src.ndups; i++)
        FUZZ_CHECK(doc_place(&src, src.dups[i].pos).line > 0);
    err_release(&e);
    return ok;
}

static void check_places(const struct doc *d, size_t size)
{
    FUZZ_CHECK(d->pos < size);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        check_places(&d->items[i], size);
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        FUZZ_CHECK(d->members[i].key_pos < size);
        check_places(&d->members[i].value, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct doc d;
    arena_init(&a);
    if (read_json((struct str){(const char *)data, size}, &a, &d)) {
        check_places(&d, size);
        static const unsigned flags[] = {DOC_JSON_COMPACT, DOC_JSON_INDENT,
                                         DOC_JSON_SORT};
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
            struct strbuf b = STRBUF_INIT;
            struct doc back;
            doc_write_json(&d, flags[i], &b);
            FUZZ_CHECK(read_json(strbuf_str(&b), &a, &back));
            FUZZ_CHECK(doc_equal(&d, &back));
            strbuf_release(&b);
        }
    }
    arena_fini(&a);
    return 0;
}
