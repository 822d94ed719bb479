/* SPDX-License-Identifier: Apache-2.0 */
/* golden/printers: objects as rows. */
#include "golden/golden.h"

#include "api/edit.h"
#include "api/printers.h"
#include "api/timestamp.h"

/* Descriptions of columns and the objects beside the cells are not recorded. */
static void strip(struct doc *list, const char *key)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        doc_remove(&list->items[i], str_from(key));
}

static void run_case(struct golden *g, struct golden_case *c)
{
    const struct doc *in = doc_get(c->doc, "in"), *out = doc_get(c->doc, "out");
    struct api_print how = {.a = c->arena};
    int64_t seconds = 0;
    int32_t nanos = 0;
    if (!timestamp_parse(doc_get_text(in, "now"), &seconds, &nanos))
        golden_fail(c, "no time");
    /* The clock of the run had a fraction that is not recorded. */
    how.now = seconds * 1000000000 + nanos + 1;
    struct doc table = api_table(&how, doc_get(in, "object"));
    strip(api_edit_get(&table, "columnDefinitions"), "description");
    strip(api_edit_get(&table, "rows"), "object");
    golden_check_doc(c, "columns", doc_get(out, "columns"),
                     doc_get(&table, "columnDefinitions"));
    golden_check_doc(c, "rows", doc_get(out, "rows"), doc_get(&table, "rows"));
}

const struct golden_runner golden_printers = {.folder = "printers", .run_case = run_case};
