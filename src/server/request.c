/* SPDX-License-Identifier: Apache-2.0 */
/* Answering: documents into the form that was asked for. */
#include "api/order.h"
#include "api/printers.h"
#include "api/proto.h"
#include "server/audit/audit.h"
#include "server/custom/custom.h"
#include "server/rest/scale.h"

#include <time.h>

void request_warn(struct request *r, struct str text)
{
    for (size_t i = 0; i < r->warnings.n; i++)
        if (str_eq(r->warnings.v[i], text))
            return;
    vec_push(&r->warnings, text);
}

/* "299 - \"TEXT\"", with quotes and backslashes escaped. */
static struct str warning_value(struct request *r, struct str text)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "299 - \"");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            strbuf_addc(&b, '\\');
        strbuf_addc(&b, text.p[i]);
    }
    strbuf_addc(&b, '"');
    struct str value = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    return value;
}

uint32_t request_headers(struct request *r, const char *type, struct net_header *headers)
{
    uint32_t n = 0;
    headers[n++] = (struct net_header){STR("content-type"), str_from(type)};
    headers[n++] = (struct net_header){STR("cache-control"), STR("no-cache, private")};
    if (r->audit_id.n)
        headers[n++] = (struct net_header){STR("audit-id"), r->audit_id};
    if (r->failure.retry_seconds)
        headers[n++] = (struct net_header){
            STR("retry-after"), arena_printf(r->a, "%u", r->failure.retry_seconds)};
    for (size_t i = 0; i < r->warnings.n && n < MAX_HEADERS; i++)
        headers[n++] =
            (struct net_header){STR("warning"), warning_value(r, r->warnings.v[i])};
    vec_release(&r->warnings);
    return n;
}

void request_answer_bytes(struct request *r, unsigned code, const char *type,
                          struct strbuf *body)
{
    struct net_header headers[MAX_HEADERS];
    uint32_t n = request_headers(r, type, headers);
    struct str all = strbuf_str(body);
    audit_answer(r, &all, 1);
    r->sent_bytes = body->n;
    if (gzip_wanted(r, body->n))
        gzip_respond_buf(r, code, headers, n, body);
    else
        net_respond_buf(r->x, code, headers, n, body);
}

/* As Go prints it for people: no line feed at its end. */
static void print_pretty(struct request *r, const struct doc *d, struct strbuf *out)
{
    struct doc copy = doc_dup(r->a, d);
    api_order_object(&copy, r->a);
    doc_write_json(&copy, DOC_JSON_INDENT | DOC_JSON_NARROW, out);
}

void request_answer_parts(struct request *r, unsigned code, const char *type,
                          const struct net_parts *body)
{
    struct net_header headers[MAX_HEADERS];
    uint32_t n = request_headers(r, type, headers);
    size_t size = 0;
    for (uint32_t i = 0; i < body->n; i++)
        size += body->parts[i].n;
    audit_answer(r, body->parts, body->n);
    r->sent_bytes = size;
    if (gzip_wanted(r, size))
        gzip_respond(r, code, headers, n, body);
    else
        net_respond_parts(r->x, code, headers, n, body);
}

static void answer_doc(struct request *r, unsigned code, const struct doc *d)
{
    struct strbuf body = STRBUF_INIT;
    enum media m = r->accept.media;
    if (m == MEDIA_PROTO && !api_proto_encode(d, r->a, &body, NULL))
        m = MEDIA_JSON;
    if (m == MEDIA_YAML)
        doc_write_yaml(d, &body);
    if (m == MEDIA_JSON && r->pretty) {
        print_pretty(r, d, &body);
    } else if (m == MEDIA_JSON) {
        doc_write_json(d, DOC_JSON_COMPACT, &body);
        strbuf_addc(&body, '\n');
    }
    request_answer_bytes(r, code, media_type(m), &body);
    strbuf_release(&body);
}

void request_answer_failure(struct request *r)
{
    struct doc d = failure_doc(r->a, &r->failure);
    answer_doc(r, r->failure.code, &d);
}

/* ---- forms of meta.k8s.io ---- */

static struct str meta_version(struct request *r)
{
    return arena_printf(r->a, "meta.k8s.io/%s", r->accept.as_version);
}

static struct doc metadata_only(struct request *r, const struct doc *d)
{
    struct doc m = doc_make_map();
    doc_set(r->a, &m, "kind", doc_make_string(r->a, STR("PartialObjectMetadata")));
    doc_set(r->a, &m, "apiVersion", doc_make_string(r->a, meta_version(r)));
    doc_set(r->a, &m, "metadata", api_metadata_of(d, r->a));
    return m;
}

static struct doc metadata_list(struct request *r, const struct doc *list)
{
    struct doc m = metadata_only(r, list), items = doc_make_list();
    const struct doc *all = doc_get(list, "items");
    for (uint32_t i = 0; all && i < all->n; i++)
        doc_append(r->a, &items, metadata_only(r, &all->items[i]));
    doc_set(r->a, &m, "kind", doc_make_string(r->a, STR("PartialObjectMetadataList")));
    doc_set(r->a, &m, "items", items.n ? items : doc_make_null()); /* as upstream */
    return m;
}

static bool read_include(struct request *r, enum api_include *out)
{
    static const struct {
        const char *name;
        enum api_include include;
    } NAMES[] = {{"", API_INCLUDE_METADATA},
                 {"Metadata", API_INCLUDE_METADATA},
                 {"None", API_INCLUDE_NONE},
                 {"Object", API_INCLUDE_OBJECT}};
    struct str asked = query_get(&r->query, "includeObject");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_is(asked, NAMES[i].name)) {
            *out = NAMES[i].include;
            return true;
        }
    return fail_bad(r,
                    "Unable to convert to Table as requested: includeObject: Invalid "
                    "value: \"%.*s\": must be 'Metadata', 'Object', 'None', or empty",
                    STR_ARG(asked));
}

static bool table_of(struct request *r, struct doc *d)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    struct api_print p = {.a = r->a,
                          .now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec,
                          .version = r->accept.as_version};
    if (r->res && r->res->custom && !is_scale(r->res))
        p.columns = &r->res->custom->columns;
    if (!read_include(r, &p.include))
        return false;
    *d = api_table(&p, d);
    doc_set(r->a, d, "apiVersion", doc_make_string(r->a, meta_version(r)));
    return true;
}

/* What is asked for as metadata only is not what there is. */
static bool refuse_metadata(struct request *r, const char *asked, const char *is,
                            const char *suffix)
{
    bool named = r->res && r->res->main->group[0];
    return fail(r, 406, "NotAcceptable",
                "you requested %s, but the requested object is %s (*%s.%s%s)", asked, is,
                named ? r->res->main->group : "core", r->res ? r->res->main->name : "",
                suffix);
}

bool request_shape(struct request *r, struct doc *d)
{
    const struct doc *items = doc_get(d, "items");
    bool list = items && items->type == DOC_LIST;
    if (list && r->res && r->res->custom) /* whose own fields may be called so */
        list = doc_is_string(doc_get(d, "kind"), r->res->custom->of->list_kind);
    switch (r->accept.as) {
    case AS_OBJECT:
        return true;
    case AS_TABLE:
        return table_of(r, d);
    case AS_METADATA:
        if (list)
            return refuse_metadata(r, "PartialObjectMetadata", "a list", "List");
        *d = metadata_only(r, d);
        return true;
    case AS_METADATA_LIST:
        if (!list)
            return refuse_metadata(r, "PartialObjectMetadataList", "not a list", "");
        *d = metadata_list(r, d);
        return true;
    }
    return true;
}

void request_answer(struct request *r, unsigned code, struct doc *d)
{
    if (request_shape(r, d))
        answer_doc(r, code, d);
    else
        request_answer_failure(r);
}

bool request_plain(const struct request *r)
{
    return r->accept.media == MEDIA_JSON && r->accept.as == AS_OBJECT && !r->pretty &&
           r->res->main == r->res->hub;
}

static void unref_object(void *o)
{
    cache_object_unref(o);
}

/* What was known a moment ago is not anymore: more was converted than is remembered. */
static void answer_unconverted(struct request *r)
{
    fail(r, 503, "ServiceUnavailable", "the object was converted, and forgotten again");
    r->failure.retry_seconds = 1;
    request_answer_failure(r);
}

void request_answer_object(struct request *r, unsigned code, struct cache_object *o)
{
    if (request_plain(r) && custom_fresh(r->res, o)) {
        struct str line = object_line(o);
        struct net_parts body = {&line, 1, unref_object, cache_object_ref(o)};
        request_answer_parts(r, code, media_type(MEDIA_JSON), &body);
        return;
    }
    struct doc d = object_doc(o, r->a);
    if (object_convert(NULL, r->res, &d, r->a))
        request_answer(r, code, &d);
    else
        answer_unconverted(r);
}
