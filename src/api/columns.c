/* SPDX-License-Identifier: Apache-2.0 */
#include "api/columns.h"

#include <string.h>

#include "api/age.h"
#include "api/timestamp.h"

static const struct doc *list_of(const struct doc *definition, struct arena *a)
{
    static const char AGE[] =
        "[{\"name\":\"Age\",\"type\":\"date\",\"jsonPath\":\".metadata."
        "creationTimestamp\","
        "\"description\":\"The object's metadata.creationTimestamp.\"}]";
    if (definition && definition->type == DOC_LIST && definition->n)
        return definition;
    struct doc_source src = {.name = "", .text = STR(AGE)};
    struct doc *d = ARENA_NEW(a, struct doc);
    doc_read_json(&src, a, d, NULL);
    return d;
}

static const char *text_of(const struct doc *d, const char *key, struct arena *a)
{
    return arena_str(a, doc_get_text(d, key)).p;
}

struct api_columns api_columns_read(const struct doc *definition, struct arena *a)
{
    const struct doc *list = list_of(definition, a);
    struct api_column *v = ARENA_ARRAY(a, struct api_column, list->n);
    uint32_t n = 0;
    for (; n < list->n; n++) {
        const struct doc *d = &list->items[n];
        struct str path = arena_str(a, doc_get_text(d, "jsonPath"));
        struct api_column *c = &v[n];
        if (!jsonpath_parse(path, a, &c->path))
            break;
        c->name = text_of(d, "name", a);
        c->type = text_of(d, "type", a);
        c->format = text_of(d, "format", a);
        c->description = text_of(d, "description", a);
        doc_get_int64(d, "priority", &c->priority);
        if (!c->description[0])
            c->description =
                arena_printf(a, "Column of the definition, by JSONPath: %s", path.p).p;
    }
    return (struct api_columns){.v = v, .n = n};
}

static void define(struct doc *list, const struct api_column *c, struct arena *a)
{
    const struct {
        const char *key, *text;
    } TEXTS[] = {{"name", c->name},
                 {"type", c->type},
                 {"format", c->format},
                 {"description", c->description}};
    struct doc d = doc_make_map();
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        doc_set(a, &d, TEXTS[i].key, doc_make_string(a, str_from(TEXTS[i].text)));
    doc_set(a, &d, "priority", doc_make_int(a, c->priority));
    doc_append(a, list, d);
}

struct doc api_columns_definitions(const struct api_columns *c, struct arena *a)
{
    static const struct api_column NAME = {
        "Name", "string", "name", "The object's metadata.name.", 0, {NULL, 0}};
    struct doc list = doc_make_list();
    define(&list, &NAME, a);
    for (uint32_t i = 0; i < c->n; i++)
        define(&list, &c->v[i], a);
    return list;
}

static struct doc text_cell(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (d->type == DOC_STRING)
        return *d;
    doc_write_json(d, DOC_JSON_SORT | DOC_JSON_HTML, &b);
    struct doc cell = doc_make_string(a, strbuf_str(&b));
    strbuf_release(&b);
    return cell;
}

static struct doc date_cell(const struct doc *d, int64_t now, struct arena *a)
{
    int64_t seconds;
    int32_t nanos;
    bool time = timestamp_parse(doc_str(d), &seconds, &nanos);
    struct str text = time ? age_of(doc_str(d), now, a) : STR("<invalid>");
    return doc_make_string(a, text);
}

static struct doc whole_cell(const struct doc *d, struct arena *a)
{
    int64_t whole;
    double x;
    if (doc_int64(d, &whole))
        return *d;
    if (doc_double(d, &x) && x > -9e18 && x < 9e18)
        return doc_make_int(a, (int64_t)x);
    return doc_make_null();
}

static struct doc cell_of(const struct api_column *c, const struct doc *d, int64_t now,
                          struct arena *a)
{
    if (!d || d->type == DOC_NULL)
        return doc_make_null();
    if (strcmp(c->type, "string") == 0)
        return text_cell(d, a);
    if (strcmp(c->type, "date") == 0 && d->type == DOC_STRING)
        return date_cell(d, now, a);
    if (strcmp(c->type, "integer") == 0 && d->type == DOC_NUMBER)
        return whole_cell(d, a);
    if ((strcmp(c->type, "number") == 0 && d->type == DOC_NUMBER) ||
        (strcmp(c->type, "boolean") == 0 && d->type == DOC_BOOL))
        return *d;
    return doc_make_null();
}

struct doc api_columns_cells(const struct api_columns *c, const struct doc *object,
                             int64_t now, struct arena *a)
{
    struct doc cells = doc_make_list();
    struct str name = doc_get_text(doc_get(object, "metadata"), "name");
    doc_append(a, &cells, doc_make_string(a, name));
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t n;
        const struct doc *const *found = jsonpath_find(&c->v[i].path, object, a, &n);
        doc_append(a, &cells, cell_of(&c->v[i], n ? found[0] : NULL, now, a));
    }
    return cells;
}
