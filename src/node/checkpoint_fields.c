/* SPDX-License-Identifier: Apache-2.0 */
#include "node/checkpoint_fields.h"

#include <strings.h>

const struct doc *go_field_find(const struct doc *map, const char *name)
{
    if (!map || map->type != DOC_MAP)
        return NULL;
    for (uint32_t i = map->n; i-- > 0;) {
        const struct doc_member *m = &map->members[i];
        if (m->key_len == strlen(name) && strncasecmp(m->key, name, m->key_len) == 0 &&
            m->value.type != DOC_NULL)
            return &m->value;
    }
    return NULL;
}

bool go_field_is(const struct doc *d, enum doc_type type, struct err *e)
{
    const struct doc wanted = {.type = (uint8_t)type};
    return d->type == type || err_set(e, ERR_INVALID, "is a %s, must be a %s",
                                      doc_type_name(d), doc_type_name(&wanted));
}

bool go_field_of_type(const struct doc *map, const char *name, enum doc_type type,
                      const struct doc **out, struct err *e)
{
    *out = go_field_find(map, name);
    return !*out || go_field_is(*out, type, e) || err_wrap(e, "%s", name);
}

bool go_field_text(const struct doc *map, const char *name, struct str *out,
                   struct err *e)
{
    const struct doc *d;
    if (!go_field_of_type(map, name, DOC_STRING, &d, e))
        return false;
    *out = d ? doc_str(d) : STR("");
    return true;
}

bool go_field_texts(const struct doc *map, const char *name, struct arena *a,
                    const struct str **out, uint32_t *n, struct err *e)
{
    const struct doc *d;
    if (!go_field_of_type(map, name, DOC_LIST, &d, e))
        return false;
    *n = d ? d->n : 0;
    struct str *v = ARENA_ARRAY(a, struct str, *n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *item = &d->items[i];
        if (item->type != DOC_NULL && !go_field_is(item, DOC_STRING, e))
            return err_wrap(e, "%s[%u]", name, i);
        v[i] = item->type == DOC_STRING ? doc_str(item) : STR("");
    }
    *out = v;
    return true;
}

bool go_field_int64(const struct doc *map, const char *name, int64_t *out, struct err *e)
{
    const struct doc *d;
    *out = 0;
    if (!go_field_of_type(map, name, DOC_NUMBER, &d, e))
        return false;
    return !d || doc_int64(d, out) ||
           err_set(e, ERR_INVALID, "%s is no whole number", name);
}

bool go_field_parse(struct str text, const char *what, struct arena *a, struct doc *out,
                    struct err *e)
{
    struct doc_source src = {.name = what, .text = text};
    return doc_read_json(&src, a, out, e);
}

struct str go_field_print(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT | DOC_JSON_HTML, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

struct doc go_field_list(const struct str *v, uint32_t n, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < n; i++)
        doc_append(a, &list, doc_make_string(a, v[i]));
    return list;
}
