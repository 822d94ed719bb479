/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files about devices on a node. The first byte says which: a CDI spec (s) or the name of
 * a CDI device (n), metadata (m), the kubelet's checkpoint (c; its checksum is made
 * right) or health file (h). What is read is written and read again: it stays the same.
 */
#include <zlib.h>

#include "driver/cdi.h"
#include "driver/metadata.h"
#include "fuzz/fuzz.h"
#include "node/checkpoint.h"

static void check_spec(struct str text, struct arena *a)
{
    struct cdi_spec s, again;
    if (!cdi_spec_read(text, a, &s, NULL))
        return;
    FUZZ_CHECK(cdi_version_known(s.version));
    struct str once = cdi_spec_print(&s, a);
    FUZZ_CHECK(cdi_spec_read(once, a, &again, NULL));
    FUZZ_CHECK(str_eq(cdi_spec_print(&again, a), once));
    FUZZ_CHECK(str_is(str_from(cdi_spec_version(&s)), cdi_spec_version(&again)));
    s.version = STR_NONE; /* the least that is needed is enough */
    FUZZ_CHECK(cdi_spec_read(cdi_spec_print(&s, a), a, &again, NULL));
}

static void check_name(struct str text, struct arena *a)
{
    struct str vendor, class, device;
    if (cdi_name_parse(text, &vendor, &class, &device, NULL))
        FUZZ_CHECK(str_eq(arena_printf(a, "%.*s/%.*s=%.*s", STR_ARG(vendor),
                                       STR_ARG(class), STR_ARG(device)),
                          text));
}

static void check_metadata(struct str text, struct arena *a)
{
    struct metadata m;
    if (!metadata_read(text, a, &m, NULL))
        return;
    for (uint32_t i = 0; i < m.n; i++) {
        for (uint32_t j = 0; j < m.requests[i].n; j++) {
            const struct doc *attributes = m.requests[i].devices[j].attributes;
            FUZZ_CHECK(!attributes || attributes->type == DOC_MAP);
        }
    }
}

/* The input is the text inside. */
static void check_checkpoint(struct str text, struct arena *a)
{
    struct doc file = doc_make_map();
    struct strbuf b = STRBUF_INIT;
    doc_set_text(a, &file, "Data", text);
    doc_set(a, &file, "Checksum",
            doc_make_int(a, crc32(0, (const Bytef *)text.p, (uInt)text.n)));
    doc_write_json(&file, DOC_JSON_COMPACT, &b);
    struct checkpoint c, again;
    if (checkpoint_read(strbuf_str(&b), a, &c, NULL)) {
        struct str once = checkpoint_print(&c, a);
        FUZZ_CHECK(checkpoint_read(once, a, &again, NULL));
        FUZZ_CHECK(str_eq(checkpoint_print(&again, a), once));
    }
    strbuf_release(&b);
}

static void check_health(struct str text, struct arena *a)
{
    struct checkpoint_reports r, again;
    if (!checkpoint_health_read(text, a, &r, NULL))
        return;
    struct str once = checkpoint_health_print(&r, a);
    FUZZ_CHECK(checkpoint_health_read(once, a, &again, NULL));
    FUZZ_CHECK(again.n <= r.n);
    FUZZ_CHECK(str_eq(checkpoint_health_print(&again, a), once));
}

static const struct {
    char first;
    void (*check)(struct str text, struct arena *a);
} READERS[] = {
    {'s', check_spec},       {'n', check_name},   {'m', check_metadata},
    {'c', check_checkpoint}, {'h', check_health},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    for (size_t i = 0; size > 0 && i < sizeof READERS / sizeof *READERS; i++) {
        if (READERS[i].first == (char)data[0])
            READERS[i].check((struct str){(const char *)data + 1, size - 1}, &a);
    }
    arena_fini(&a);
    return 0;
}
