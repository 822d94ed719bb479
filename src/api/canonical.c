/* SPDX-License-Identifier: Apache-2.0 */
#include "api/canonical.h"

#include "api/edit.h"
#include "api/timestamp.h"
#include "base/base64.h"
#include "base/map.h"
#include "num/quantity.h"

static void canonical(const struct api_type *t, struct doc *d, struct arena *a,
                      bool deep);

/* ---- single values ---- */

static struct doc spelled_quantity(const struct doc *d, struct arena *a)
{
    struct quantity q;
    if (!quantity_parse(str_trim(doc_str(d)), a, &q, NULL))
        return *d;
    return doc_make_string(a, quantity_print(&q, a));
}

static struct doc spelled_time(const struct doc *d, bool micro, struct arena *a)
{
    int64_t seconds;
    int32_t nanos;
    if (!timestamp_parse(doc_str(d), &seconds, &nanos))
        return *d;
    return doc_make_string(a, timestamp_print(seconds, nanos, micro, a));
}

static struct doc spelled_bytes(const struct doc *d, struct arena *a)
{
    struct str bytes;
    if (!base64_decode(doc_str(d), a, &bytes))
        return *d;
    return doc_make_string(a, base64_encode(bytes, a));
}

/* What Go has where nothing was written. */
static struct doc zero_value(const struct api_field *f, struct arena *a)
{
    struct doc d = doc_make_null();
    switch (f->form) {
    case API_STRUCT:
        if (f->type->form != API_STRUCT)
            return d;
        d = doc_make_map();
        api_canonical_fields(f->type, &d, a);
        return d;
    case API_STRING:
    case API_BYTES:
        return doc_make_string(a, STR(""));
    case API_BOOL:
        return doc_make_bool(false);
    case API_INT32:
    case API_INT64:
    case API_DOUBLE:
    case API_INT_OR_STRING:
        return doc_make_int(a, 0);
    case API_QUANTITY:
        return doc_make_string(a, STR("0"));
    default:
        return d;
    }
}

static struct doc one_value(const struct api_field *f, const struct doc *d,
                            struct arena *a)
{
    struct doc out = *d;
    if (d->type == DOC_NULL)
        return zero_value(f, a);
    bool text = d->type == DOC_STRING;
    if (f->form == API_STRUCT && f->type->form == API_STRUCT)
        canonical(f->type, &out, a, true);
    else if (f->form == API_QUANTITY && (text || d->type == DOC_NUMBER))
        out = spelled_quantity(d, a);
    else if ((f->form == API_TIME || f->form == API_MICRO_TIME) && text)
        out = spelled_time(d, f->form == API_MICRO_TIME, a);
    else if (f->form == API_BYTES && text)
        out = spelled_bytes(d, a);
    return out;
}

/* ---- containers ---- */

static struct doc each_item(const struct api_field *f, const struct doc *d,
                            struct arena *a)
{
    struct doc out = doc_make_list();
    out.pos = d->pos;
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        doc_append(a, &out, one_value(f, &d->items[i], a));
    return out;
}

/* Of a key given twice the last value counts. */
static struct doc each_member(const struct api_field *f, const struct doc *d,
                              struct arena *a)
{
    struct doc out = doc_make_map();
    struct strmap places = STRMAP_INIT;
    out.pos = d->pos;
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        const struct doc *value = &d->members[i].value;
        struct doc kept = f->container == API_MAP_OF_LISTS ? each_item(f, value, a)
                                                           : one_value(f, value, a);
        bool made;
        struct strmap_entry *e = strmap_put(&places, doc_key(&d->members[i]), &made);
        if (made) {
            e->value.u = out.n;
            doc_add_str(a, &out, doc_key(&d->members[i]), kept);
        } else {
            out.members[e->value.u].value = kept;
        }
    }
    strmap_release(&places);
    return out;
}

static struct doc deep_value(const struct api_field *f, const struct doc *d,
                             struct arena *a)
{
    if (f->container == API_LIST)
        return each_item(f, d, a);
    if (f->container == API_MAP || f->container == API_MAP_OF_LISTS)
        return each_member(f, d, a);
    return one_value(f, d, a);
}

/* ---- fields ---- */

static bool is_value(const struct api_field *f)
{
    return f->container == API_ONE && !(f->flags & API_POINTER);
}

static bool is_zero(const struct doc *d)
{
    int64_t v;
    switch (d->type) {
    case DOC_NULL:
        return true;
    case DOC_BOOL:
        return !d->b;
    case DOC_NUMBER:
        return doc_int64(d, &v) && v == 0;
    default:
        return d->n == 0;
    }
}

/* Go's omitempty sees nothing in these: they are structs to it. */
static bool never_empty(const struct api_field *f)
{
    return f->form == API_STRUCT ? f->type->form == API_STRUCT
                                 : f->form == API_TIME || f->form == API_MICRO_TIME ||
                                       f->form == API_QUANTITY || f->form == API_RAW ||
                                       f->form == API_INT_OR_STRING;
}

static bool prints(const struct api_field *f, const struct doc *d)
{
    if (!(f->flags & API_OMIT))
        return true;
    if (!is_value(f))
        return d->type != DOC_NULL;
    return (never_empty(f) && !(f->flags & API_OMIT_ZERO)) || !is_zero(d);
}

static struct doc field_value(const struct api_field *f, const struct doc *have,
                              struct arena *a, bool deep)
{
    bool nothing = !have || have->type == DOC_NULL || (f->container && have->n == 0);
    if (!nothing)
        return deep ? deep_value(f, have, a) : *have;
    if (strcmp(f->name, "items") == 0 && !(f->flags & API_OMIT))
        return doc_make_list(); /* lists of objects are never null */
    return is_value(f) ? zero_value(f, a) : doc_make_null();
}

static void canonical(const struct api_type *t, struct doc *d, struct arena *a, bool deep)
{
    struct doc out = doc_make_map();
    out.pos = d->pos;
    if (d->type != DOC_MAP)
        return;
    for (uint16_t i = 0; i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        struct doc value = field_value(f, doc_get(d, f->name), a, deep);
        bool typemeta = !f->number;
        if (typemeta ? !is_zero(&value) : prints(f, &value))
            doc_set(a, &out, f->name, value);
    }
    *d = out;
}

void api_canonical(const struct api_type *t, struct doc *d, struct arena *a)
{
    canonical(t, d, a, true);
}

void api_canonical_fields(const struct api_type *t, struct doc *d, struct arena *a)
{
    canonical(t, d, a, false);
}

/* ---- empty lists ---- */

bool api_has_empty_list(const struct doc *d)
{
    if (d->type == DOC_LIST && d->n == 0)
        return true;
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        if (api_has_empty_list(&d->items[i]))
            return true;
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        if (api_has_empty_list(&d->members[i].value))
            return true;
    return false;
}

static void restore_items(const struct api_field *f, struct doc *d,
                          const struct doc *sent, struct arena *a)
{
    for (uint32_t i = 0; d->type == DOC_LIST && d->n == sent->n && i < d->n; i++)
        api_restore_empty_lists(f->type, &d->items[i], &sent->items[i], a);
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        const struct doc *value = doc_get_str(sent, doc_key(&d->members[i]));
        if (value)
            api_restore_empty_lists(f->type, &d->members[i].value, value, a);
    }
}

/* A request of v1beta1 that has nothing but an empty list is one for exactly that. */
static bool is_only_empty(const struct api_field *f, const struct doc *sent)
{
    bool only = strcmp(f->name, "exactly") == 0 && sent->type == DOC_MAP && sent->n > 0;
    for (uint32_t i = 0; only && i < sent->n; i++)
        only = sent->members[i].value.type == DOC_LIST && !sent->members[i].value.n;
    return only;
}

void api_restore_empty_lists(const struct api_type *t, struct doc *d,
                             const struct doc *sent, struct arena *a)
{
    if (d->type != DOC_MAP || sent->type != DOC_MAP || t->form != API_STRUCT)
        return;
    for (uint16_t i = 0; i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        const struct doc *value = doc_get(sent, f->name);
        struct doc *have = value ? api_edit_get(d, f->name) : NULL;
        if (value && !have && f->container == API_LIST && value->type == DOC_LIST &&
            value->n == 0)
            doc_set(a, d, f->name, *value);
        else if (value && !have && is_only_empty(f, value))
            doc_set(a, d, f->name, doc_dup(a, value));
        else if (!have || have->type != value->type || f->form != API_STRUCT)
            continue;
        else if (f->container == API_ONE)
            api_restore_empty_lists(f->type, have, value, a);
        else if (f->container != API_MAP_OF_LISTS)
            restore_items(f, have, value, a);
    }
}
