/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/reinvoke.h"

static void require(struct admission *a, struct reinvocation *v)
{
    for (uint32_t i = 0; i < v->called.n; i++)
        doc_append(a->r->a, &v->again, v->called.items[i]);
    v->called = doc_make_list();
}

void reinvoke_begin(struct admission *a, struct reinvocation *v)
{
    if (!v->begun) {
        v->called = doc_make_list();
        v->again = doc_make_list();
    } else if (a->again && a->object && !doc_equal(a->object, &v->last)) {
        require(a, v);
    }
    v->begun = true;
}

void reinvoke_end(struct admission *a, struct reinvocation *v)
{
    if (a->object && !a->again)
        v->last = doc_dup(a->r->a, a->object);
}

bool reinvoke_due(const struct admission *a, const struct reinvocation *v, struct str key)
{
    bool due = !a->again;
    for (uint32_t i = 0; !due && i < v->again.n; i++)
        due = str_eq(doc_str(&v->again.items[i]), key);
    return due;
}

void reinvoke_called(struct admission *a, struct reinvocation *v, struct str key,
                     bool changed, bool wants)
{
    if (changed) {
        a->changed = true;
        require(a, v);
    }
    if (wants)
        doc_append(a->r->a, &v->called, doc_make_string(a->r->a, key));
}
