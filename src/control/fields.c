/* SPDX-License-Identifier: Apache-2.0 */
#include "control/fields.h"

#include <stdlib.h>

#include "api/edit.h"
#include "api/timestamp.h"

struct str field_text(const struct doc *d, const char *path)
{
    const struct doc *found = doc_path(d, path);
    return found && found->type == DOC_STRING ? doc_str(found) : STR_NONE;
}

int64_t field_int(const struct doc *d, const char *path, int64_t otherwise)
{
    const struct doc *found = doc_path(d, path);
    int64_t n = otherwise;
    if (found && found->type == DOC_NUMBER && !doc_int64(found, &n))
        n = otherwise;
    return n;
}

bool field_bool(const struct doc *d, const char *path)
{
    const struct doc *found = doc_path(d, path);
    return found && found->type == DOC_BOOL && found->b;
}

static const struct doc EMPTY = {.type = DOC_LIST};

const struct doc *field_list(const struct doc *d, const char *path)
{
    const struct doc *found = doc_path(d, path);
    return found && found->type == DOC_LIST ? found : &EMPTY;
}

uint32_t field_count(const struct doc *d, const char *path)
{
    const struct doc *found = doc_path(d, path);
    return found && (found->type == DOC_LIST || found->type == DOC_MAP) ? found->n : 0;
}

bool field_time(const struct doc *d, const char *path, int64_t *seconds)
{
    struct str text = field_text(d, path);
    int32_t nanos;
    return text.n && timestamp_parse(text, seconds, &nanos);
}

/* ---- metadata ---- */

struct str field_meta(const struct doc *object, const char *name)
{
    return doc_get_text(doc_get(object, "metadata"), name);
}

struct str field_label(const struct doc *object, const char *key)
{
    return doc_get_text(doc_path(object, "metadata.labels"), key);
}

struct str field_note(const struct doc *object, const char *key)
{
    return doc_get_text(doc_path(object, "metadata.annotations"), key);
}

bool field_deleted(const struct doc *object)
{
    return field_meta(object, "deletionTimestamp").n > 0;
}

int64_t field_created(const struct doc *object)
{
    int64_t seconds = 0;
    field_time(object, "metadata.creationTimestamp", &seconds);
    return seconds;
}

/* ---- copies ---- */

struct doc *field_make(struct arena *a, struct doc *map, const char *key)
{
    struct doc *found = api_edit_get(map, key);
    return found ? found : doc_set(a, map, key, doc_make_map());
}

void field_set_meta(struct arena *a, struct doc *object, const char *map, const char *key,
                    struct str value)
{
    doc_set_text(a, field_make(a, field_make(a, object, "metadata"), map), key, value);
}

void field_set_int(struct arena *a, struct doc *map, const char *key, int64_t value)
{
    doc_remove(map, str_from(key));
    if (value)
        doc_set(a, map, key, doc_make_int(a, value));
}

int64_t field_scaled(const struct doc *v, int64_t total, bool up)
{
    int64_t n = 0;
    if (v && v->type == DOC_NUMBER && doc_int64(v, &n))
        return n;
    if (!v || v->type != DOC_STRING)
        return 0;
    int64_t share = strtoll(v->s, NULL, 10) * total;
    return up ? (share + 99) / 100 : share / 100;
}
