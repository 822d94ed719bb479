/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: what is written, compact or indented, reads back as an equal tree; every place of
 * a tree lies in its source; an error has a text. */
#include "doc/doc.h"
#include "doc/json_scan.h"
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

static void check_places(const struct doc_source *src, const struct doc *d)
{
    FUZZ_CHECK(d->pos < src->text.n);
    for (uint32_t i = 0; d->type == DOC_STRING && i <= d->n && i < 64; i++)
        FUZZ_CHECK(doc_place_in(src, d, i).line > 0);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        check_places(src, &d->items[i]);
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        FUZZ_CHECK(d->members[i].key_pos < src->text.n);
        check_places(src, &d->members[i].value);
    }
}

/* The objects of a stream are whole trees with places. */
static bool see(void *ctx, const struct doc_source *src, const struct doc *object,
                struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(object, DOC_JSON_SORT, &b);
    FUZZ_CHECK(b.n > 0);
    strbuf_release(&b);
    return true;
}

static void check_stream(struct str text)
{
    struct doc_source src = {.name = "-", .text = text};
    struct err e = ERR_INIT;
    bool ok = doc_stream(&src, see, NULL, &e);
    FUZZ_CHECK(ok == (e.code == ERR_NONE));
    err_release(&e);
}

/* What is written can be scanned, and the first members are found as they are. */
static void check_scanned(const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    struct json_want want = {.path = STR_NONE};
    if (d->type == DOC_MAP && d->n > 0)
        want.path = doc_key(&d->members[0]);
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    FUZZ_CHECK(json_scan(strbuf_str(&b), &want, 1));
    struct str at = strbuf_str(&b), key, value;
    uint32_t n = 0;
    while (d->type == DOC_MAP && json_raw_member(&at, &key, &value)) {
        if (n++ == 0 && want.raw.p)
            FUZZ_CHECK(str_eq(want.raw, value));
    }
    FUZZ_CHECK(d->type != DOC_MAP || n == d->n);
    strbuf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct doc d;
    struct doc_source src = {.name = "-", .text = {(const char *)data, size}};
    arena_init(&a);
    check_stream(src.text);
    bool scanned = json_scan(src.text, NULL, 0);
    if (read_json(src.text, &a, &d)) {
        check_places(&src, &d);
        check_scanned(&d);
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
    } else
        FUZZ_CHECK(!scanned);
    arena_fini(&a);
    return 0;
}
