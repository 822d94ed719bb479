/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of custom resources as Go's reader keeps them: whole ones that fit 64 bits as
 * they are, all others as the nearest double, which is printed as short as can be. */
#include <math.h>

#include "api/structural.h"
#include "api/structural_inner.h"

static bool is_finite(const struct doc *d)
{
    double v = 0;
    return doc_double(d, &v) && isfinite(v);
}

static bool settle(struct doc *d, struct arena *a, struct str *why)
{
    struct strbuf b = STRBUF_INIT;
    if (!is_finite(d)) {
        *why = arena_printf(a,
                            "json: cannot unmarshal number %.*s into Go value of type "
                            "float64",
                            STR_ARG(doc_str(d)));
        return false;
    }
    schema_write_json(d, &b);
    if (!str_eq(strbuf_str(&b), doc_str(d))) {
        struct str text = arena_str(a, strbuf_str(&b));
        d->s = text.p;
        d->n = (uint32_t)text.n;
    }
    strbuf_release(&b);
    return true;
}

bool structural_floats(struct doc *d, struct arena *a, struct str *why)
{
    bool ok = true;
    if (d->type == DOC_NUMBER)
        return settle(d, a, why);
    if (d->type != DOC_MAP && d->type != DOC_LIST)
        return true;
    for (uint32_t i = 0; ok && i < d->n; i++)
        ok = structural_floats(d->type == DOC_MAP ? &d->members[i].value : &d->items[i],
                               a, why);
    return ok;
}
