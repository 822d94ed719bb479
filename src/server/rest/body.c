/* SPDX-License-Identifier: Apache-2.0 */
/* What a client sent, as an object of the request's kind: defaulted and canonical. */
#include "api/canonical.h"
#include "api/decode.h"
#include "api/defaults.h"
#include "api/hints.h"
#include "api/proto.h"
#include "doc/json_syntax.h"
#include "server/custom/custom.h"

/* ---- bytes to a document ---- */

static bool fail_unrecognized(struct request *r, const char *why)
{
    struct str b = r->x->body;
    bool text = b.n == 0 || b.p[0] == '{';
    struct strbuf shown = STRBUF_INIT;
    if (b.n == 0)
        strbuf_adds(&shown, "<empty>");
    for (size_t i = 0; i < b.n && i < 30 && !text; i++)
        strbuf_addf(&shown, "%02x", (unsigned char)b.p[i]);
    if (text && b.n)
        strbuf_addstr(&shown, str_sub(b, 0, 30));
    fail_bad(r, "the object provided is unrecognized (must be of type %s): %s (%s%s)",
             r->res->main->name, why, strbuf_cstr(&shown), b.n > 30 ? " ..." : "");
    strbuf_release(&shown);
    return false;
}

static bool read_json(struct request *r, struct doc_source *src, struct doc *out)
{
    struct err e = ERR_INIT;
    struct str why;
    if (doc_read_json(src, r->a, out, &e) && out->type <= DOC_MAP) {
        if (out->type == DOC_NULL)
            *out = doc_make_map();
        if (out->type == DOC_MAP)
            return true;
        err_set(&e, ERR_INVALID, "json: cannot unmarshal %s into Go value",
                doc_type_name(out));
    }
    if (json_syntax_check(src->text, r->a, &why))
        why = str_from(err_text(&e)); /* JSON, but no object of ours */
    why = arena_printf(r->a, "couldn't get version/kind; json parse error: %.*s",
                       STR_ARG(why));
    err_release(&e);
    return fail_unrecognized(r, why.p);
}

static bool read_yaml(struct request *r, struct doc_source *src, struct doc *out)
{
    struct err e = ERR_INIT;
    struct doc_list docs;
    if (doc_read_yaml(src, r->a, &docs, &e)) {
        *out = docs.n ? docs.v[0] : doc_make_map();
        if (out->type == DOC_MAP)
            return true;
        err_set(&e, ERR_INVALID, "not a map");
    }
    struct str why = arena_printf(r->a, "couldn't get version/kind; %s", err_text(&e));
    err_release(&e);
    return fail_unrecognized(r, why.p);
}

static bool read_proto(struct request *r, struct doc *out)
{
    struct err e = ERR_INIT;
    if (!api_proto_is(r->x->body))
        return fail_unrecognized(r, "provided data does not appear to be a protobuf "
                                    "message, expected prefix [107 56 115 0]");
    if (api_proto_decode(r->x->body, r->a, out, &e))
        return true;
    struct str why = arena_printf(r->a, "%s", err_text(&e));
    err_release(&e);
    return fail_unrecognized(r, why.p);
}

bool write_read_document(struct request *r, struct doc_source *src, struct doc *out)
{
    enum media m;
    *src = (struct doc_source){.name = "body", .text = r->x->body};
    if (!media_content_type(r, net_header_get(r->x, "content-type"), &m))
        return false;
    bool ok = m == MEDIA_JSON   ? read_json(r, src, out)
              : m == MEDIA_YAML ? read_yaml(r, src, out)
                                : read_proto(r, out);
    if (ok)
        *out = doc_dup(r->a, out);
    return ok;
}

/* ---- version and kind ---- */

static struct str version_part(struct str api_version)
{
    size_t slash = str_find_byte(api_version, '/', 0);
    return slash == SIZE_MAX ? api_version : str_sub(api_version, slash + 1, SIZE_MAX);
}

static bool fail_kind(struct request *r, struct str version, struct str kind)
{
    const char *want = r->res->main->name;
    const struct api_kind *known = api_kind_find(version, kind);
    if (known && str_is(kind, want))
        return fail_bad(r,
                        "the API version in the data (%.*s) does not match the expected "
                        "API version (%.*s)",
                        STR_ARG(version), STR_ARG(r->res->api_version));
    struct str v = version_part(version);
    if (!known)
        return fail_bad(r,
                        "%.*s in version \"%.*s\" cannot be handled as a %s: no kind "
                        "\"%.*s\" is registered for version \"%.*s\" in scheme "
                        "\"pkg/runtime/scheme.go:111\"",
                        STR_ARG(kind), STR_ARG(v), want, STR_ARG(kind), STR_ARG(version));
    const char *group = r->res->main->group[0] ? r->res->main->group : "core";
    return fail_bad(r,
                    "%.*s in version \"%.*s\" cannot be handled as a %s: converting "
                    "(%.*s.%.*s) to (%.*s.%s): unknown conversion",
                    STR_ARG(kind), STR_ARG(v), want, STR_ARG(v), STR_ARG(kind),
                    (int)strcspn(group, "."), group, want);
}

/* Custom resources say what they are; which kind exactly, validation looks at. */
static bool check_custom_kind(struct request *r, struct doc *d)
{
    struct str version = doc_get_text(d, "apiVersion"), kind = doc_get_text(d, "kind");
    if (kind.n == 0)
        return fail_unrecognized(
            r,
            arena_printf(r->a, "Object 'Kind' is missing in '%.*s'", STR_ARG(r->x->body))
                .p);
    return str_eq(version, r->res->api_version) ||
           fail_bad(r,
                    "the API version in the data (%.*s) does not match the expected API "
                    "version (%.*s)",
                    STR_ARG(version), STR_ARG(r->res->api_version));
}

static bool check_kind(struct request *r, struct doc *d)
{
    if (r->res->custom)
        return check_custom_kind(r, d);
    struct str version = doc_get_text(d, "apiVersion"), kind = doc_get_text(d, "kind");
    if (version.n == 0)
        version = r->res->api_version;
    if (kind.n == 0)
        kind = str_from(r->res->main->name);
    if (!str_eq(version, r->res->api_version) || !str_is(kind, r->res->main->name))
        return fail_kind(r, version, kind);
    doc_set(r->a, d, "apiVersion", doc_make_string(r->a, version));
    doc_set(r->a, d, "kind", doc_make_string(r->a, kind));
    return true;
}

/* ---- shape ---- */

enum strictness { IGNORE, WARN, STRICT };

static bool read_strictness(struct request *r, enum strictness *out)
{
    struct str s = query_get(&r->query, "fieldValidation");
    *out = str_is(s, "Ignore") ? IGNORE : str_is(s, "Strict") ? STRICT : WARN;
    if (s.n == 0 || *out != WARN || str_is(s, "Warn"))
        return true;
    struct str options = arena_printf(r->a, "%s", "CreateOptions");
    if (str_is(r->x->method, "PUT"))
        options = STR("UpdateOptions");
    if (str_is(r->x->method, "PATCH"))
        options = STR("PatchOptions");
    struct str text = arena_printf(
        r->a,
        "Unsupported value: \"%.*s\": supported values: \"\", \"Ignore\", \"Strict\", "
        "\"Warn\"",
        STR_ARG(s));
    fail(r, 422, "Invalid", "%.*s.meta.k8s.io \"\" is invalid: fieldValidation: %.*s",
         STR_ARG(options), STR_ARG(text));
    fail_cause(r, "FieldValueNotSupported", text, STR("fieldValidation"));
    r->failure.group = STR("meta.k8s.io");
    r->failure.kind = options;
    return false;
}

/* What was written as YAML is read by a library of its own, with words of its own. */
static bool is_yaml(struct request *r)
{
    enum media m;
    return media_content_type(r, net_header_get(r->x, "content-type"), &m) &&
           m == MEDIA_YAML;
}

static struct str key_text(struct request *r, const struct api_issue *i,
                           const struct doc_source *src)
{
    size_t dot = i->path.n;
    while (dot > 0 && i->path.p[dot - 1] != '.')
        dot--;
    return arena_printf(r->a, "line %u: key \"%.*s\" already set in map",
                        doc_place(src, i->pos).line,
                        STR_ARG(str_sub(i->path, dot, SIZE_MAX)));
}

static struct str issue_text(struct request *r, const struct api_issue *i,
                             const struct doc_source *src)
{
    if (i->kind == API_DUPLICATE_FIELD && src && is_yaml(r))
        return key_text(r, i, src);
    return arena_printf(r->a, "%s field \"%.*s\"",
                        i->kind == API_UNKNOWN_FIELD ? "unknown" : "duplicate",
                        STR_ARG(i->path));
}

static bool fail_type(struct request *r, const struct api_issue *i)
{
    const struct api_kind *k = r->res->main;
    return fail_bad(r, "%s in version \"%s\" cannot be handled as a %s: %.*s: %.*s",
                    k->name, k->version, k->name, STR_ARG(i->path), STR_ARG(i->text));
}

/* Keys that are there twice; of YAML as one error of its library, ahead of all others. */
static void list_duplicates(struct request *r, const struct api_issues *issues,
                            const struct doc_source *src, struct strbuf *out)
{
    for (size_t i = 0; i < issues->list.n; i++) {
        const struct api_issue *issue = &issues->list.v[i];
        if (issue->kind == API_DUPLICATE_FIELD)
            strbuf_addf(out, "%s\n  %.*s", out->n ? "" : "yaml: unmarshal errors:",
                        STR_ARG(issue_text(r, issue, src)));
    }
}

static bool fail_strict(struct request *r, const struct api_issues *issues,
                        const struct doc_source *src)
{
    const struct api_kind *k = r->res->main;
    struct strbuf b = STRBUF_INIT;
    bool yaml = src && is_yaml(r);
    if (yaml)
        list_duplicates(r, issues, src, &b);
    for (size_t i = 0; i < issues->list.n; i++) {
        const struct api_issue *issue = &issues->list.v[i];
        if (!yaml || issue->kind != API_DUPLICATE_FIELD)
            strbuf_addf(&b, "%s%.*s", b.n ? ", " : "",
                        STR_ARG(issue_text(r, issue, src)));
    }
    fail_bad(r,
             "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
             k->name, k->version, k->name, strbuf_cstr(&b));
    strbuf_release(&b);
    return false;
}

/* What to write instead, where that can be told: a line of its own for whoever reads
 * warnings, as kubectl's users do. */
static void advise(struct request *r, const struct api_issues *issues,
                   const struct doc *object)
{
    for (size_t i = 0; i < issues->list.n; i++) {
        struct str hint = hint_for_issue(&issues->list.v[i], object, r->a);
        if (hint.n && issues->list.v[i].kind != API_DUPLICATE_FIELD)
            request_warn(r, hint);
    }
}

void write_advise(struct request *r, const struct doc *d)
{
    struct api_issues issues = {0};
    if (r->res->custom)
        return;
    api_check_object(r->res->main, d, NULL, r->a, &issues);
    advise(r, &issues, d);
    api_issues_release(&issues);
}

static bool judge(struct request *r, const struct api_issues *issues,
                  const struct doc_source *src, bool decodable,
                  enum strictness strictness)
{
    for (size_t i = 0; !decodable && i < issues->list.n; i++)
        if (issues->list.v[i].kind == API_WRONG_TYPE)
            return fail_type(r, &issues->list.v[i]);
    if (strictness == STRICT && issues->list.n)
        return fail_strict(r, issues, src);
    for (size_t i = 0; strictness == WARN && i < issues->list.n; i++)
        request_warn(r, issue_text(r, &issues->list.v[i], src));
    return true;
}

static bool fail_custom(struct request *r, struct str why)
{
    const struct api_kind *k = r->res->main;
    return fail_bad(r, "%s in version \"%s\" cannot be handled as a %s: %.*s", k->name,
                    k->version, k->name, STR_ARG(why));
}

static bool check_custom(struct request *r, struct doc *d, const struct doc_source *src,
                         enum strictness strictness)
{
    struct api_issues issues = {0};
    struct str why;
    bool fits = custom_complete(r->res, d, src, r->a, &issues, &why);
    bool ok = (fits || !why.p || fail_custom(r, why)) &&
              judge(r, &issues, src, fits, strictness);
    api_issues_release(&issues);
    return ok;
}

bool write_check(struct request *r, struct doc *d, const struct doc_source *src)
{
    enum strictness strictness;
    if (d->type != DOC_MAP)
        return fail_bad(r, "%s in version \"%s\" cannot be handled as a %s: it is no map",
                        r->res->main->name, r->res->main->version, r->res->main->name);
    if (!read_strictness(r, &strictness) || !check_kind(r, d))
        return false;
    if (r->res->custom)
        return check_custom(r, d, src, strictness);
    struct api_issues issues = {0};
    bool decodable = api_check_object(r->res->main, d, src, r->a, &issues);
    bool ok = judge(r, &issues, src, decodable, strictness);
    if (strictness != IGNORE)
        advise(r, &issues, d);
    api_issues_release(&issues);
    if (!ok)
        return false;
    const struct doc *labels = doc_path(d, "metadata.labels");
    r->shares_labels = !labels || labels->type != DOC_MAP || labels->n == 0;
    api_default(r->res->main, d, r->now, r->a);
    r->sent = NULL;
    if (api_has_empty_list(d)) {
        struct doc *sent = ARENA_NEW(r->a, struct doc);
        *sent = doc_dup(r->a, d);
        r->sent = sent;
    }
    api_canonical(r->res->main->type, d, r->a);
    return true;
}

bool write_read_body(struct request *r, struct doc *out)
{
    struct doc_source src;
    return write_read_document(r, &src, out) && write_check(r, out, &src);
}

/* A request as one for another kind of body. */
struct guise {
    struct request r;
    struct resource res;
    struct api_kind kind;
};

static void put_on(struct guise *g, struct request *r, const char *group,
                   const char *version, const char *kind)
{
    g->kind = *r->res->kind;
    g->res = *r->res;
    g->r = *r;
    g->kind.group = group;
    g->kind.version = version;
    g->kind.name = kind;
    g->kind.custom = NULL;
    g->res.custom = NULL;
    g->res.kind = g->res.main = g->res.hub = &g->kind;
    g->res.api_version = arena_printf(r->a, "%s/%s", group, version);
    g->r.res = &g->res;
}

static bool take_off(struct guise *g, struct request *r, bool ok)
{
    r->failure = g->r.failure;
    r->warnings.v = g->r.warnings.v;
    r->warnings.n = g->r.warnings.n;
    r->warnings.cap = g->r.warnings.cap;
    return ok;
}

bool write_read_as(struct request *r, const char *group, const char *version,
                   const char *kind, struct doc *out)
{
    struct guise g;
    put_on(&g, r, group, version, kind);
    return take_off(&g, r, write_read_body(&g.r, out));
}

bool write_check_as(struct request *r, const char *group, const char *version,
                    const char *kind, struct doc *d)
{
    struct guise g;
    put_on(&g, r, group, version, kind);
    return take_off(&g, r, write_check(&g.r, d, NULL));
}
