/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as JSON text, in and out. */
#ifndef DRAY_TESTS_UNIT_API_OBJECTS_H
#define DRAY_TESTS_UNIT_API_OBJECTS_H

#include "doc/doc.h"
#include "unit/unit.h"

static inline struct doc read_object(struct arena *a, const char *json)
{
    struct doc_source src = {.name = "test", .text = str_from(json)};
    struct err e = ERR_INIT;
    struct doc d;
    if (!doc_read_json(&src, a, &d, &e))
        fail_msg("%s: %s", json, err_text(&e));
    return d;
}

static inline void object_is(struct arena *a, const char *name, const struct doc *got,
                             const char *want)
{
    struct doc wanted = read_object(a, want);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(got, DOC_JSON_SORT, &b);
    if (!doc_equal(got, &wanted))
        fail_msg("row '%s'\ngot  %s\nwant %s", name, strbuf_cstr(&b), want);
    strbuf_release(&b);
}

#endif
