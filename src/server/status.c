/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals as Status objects, in upstream's words. */
#include "server/inner.h"

struct str qualified(struct arena *a, struct str resource, struct str group)
{
    if (group.n == 0)
        return resource;
    return arena_printf(a, "%.*s.%.*s", STR_ARG(resource), STR_ARG(group));
}

static void set(struct request *r, unsigned code, const char *reason, const char *fmt,
                va_list ap)
{
    r->failure = (struct failure){.code = code,
                                  .reason = reason,
                                  .message = arena_vprintf(r->a, fmt, ap),
                                  .causes = doc_make_list()};
}

bool fail(struct request *r, unsigned code, const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(r, code, reason, fmt, ap);
    va_end(ap);
    return false;
}

bool fail_bad(struct request *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(r, 400, "BadRequest", fmt, ap);
    va_end(ap);
    return false;
}

static void add_details(struct request *r, struct str name)
{
    struct failure *f = &r->failure;
    f->has_details = true;
    f->name = name;
    f->group = str_from(r->res->main->group);
    f->kind = str_from(r->res->main->resource);
}

bool fail_object(struct request *r, unsigned code, const char *reason, struct str name,
                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(r, code, reason, fmt, ap);
    va_end(ap);
    add_details(r, name);
    return false;
}

static struct str resource_name(struct request *r)
{
    return qualified(r->a, str_from(r->res->main->resource),
                     str_from(r->res->main->group));
}

bool fail_missing(struct request *r, struct str name)
{
    return fail_object(r, 404, "NotFound", name, "%.*s \"%.*s\" not found",
                       STR_ARG(resource_name(r)), STR_ARG(name));
}

bool fail_conflict(struct request *r, struct str name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    return fail_object(r, 409, "Conflict", name,
                       "Operation cannot be fulfilled on %.*s \"%.*s\": %.*s",
                       STR_ARG(resource_name(r)), STR_ARG(name), STR_ARG(why));
}

bool fail_no_resource(struct request *r)
{
    fail(r, 404, "NotFound", "the server could not find the requested resource");
    r->failure.has_details = true;
    return false;
}

bool fail_method(struct request *r)
{
    fail(r, 405, "MethodNotAllowed",
         "the server does not allow this method on the requested resource");
    r->failure.has_details = true;
    return false;
}

void fail_cause(struct request *r, const char *reason, struct str message,
                struct str field)
{
    struct doc c = doc_make_map();
    if (reason)
        doc_set(r->a, &c, "reason", doc_make_string(r->a, str_from(reason)));
    doc_set(r->a, &c, "message", doc_make_string(r->a, message));
    if (field.n)
        doc_set(r->a, &c, "field", doc_make_string(r->a, field));
    doc_append(r->a, &r->failure.causes, c);
    r->failure.has_details = true;
}

bool fail_invalid(struct request *r, struct str group, const char *kind, struct str name)
{
    struct failure *f = &r->failure;
    struct strbuf b = STRBUF_INIT;
    bool many = f->causes.n > 1;
    for (uint32_t i = 0; i < f->causes.n; i++)
        strbuf_addf(&b, "%s%.*s: %.*s", i ? ", " : "",
                    STR_ARG(doc_get_text(&f->causes.items[i], "field")),
                    STR_ARG(doc_get_text(&f->causes.items[i], "message")));
    struct str text = qualified(r->a, str_from(kind), group);
    f->message =
        arena_printf(r->a, "%.*s \"%.*s\" is invalid: %s%s%s", STR_ARG(text),
                     STR_ARG(name), many ? "[" : "", strbuf_cstr(&b), many ? "]" : "");
    strbuf_release(&b);
    f->code = 422;
    f->reason = "Invalid";
    f->name = name;
    f->group = group;
    f->kind = str_from(kind);
    f->has_details = true;
    return false;
}

static void set_text(struct arena *a, struct doc *d, const char *key, struct str s)
{
    if (s.n)
        doc_set(a, d, key, doc_make_string(a, s));
}

static struct doc details_doc(struct arena *a, const struct failure *f)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "name", f->name);
    set_text(a, &d, "group", f->group);
    set_text(a, &d, "kind", f->kind);
    set_text(a, &d, "uid", f->uid);
    if (f->causes.n)
        doc_set(a, &d, "causes", f->causes);
    if (f->retry_seconds)
        doc_set(a, &d, "retryAfterSeconds", doc_make_int(a, f->retry_seconds));
    return d;
}

struct doc failure_doc(struct arena *a, const struct failure *f)
{
    struct doc d = doc_make_map();
    bool success = f->code < 400;
    set_text(a, &d, "kind", STR("Status"));
    set_text(a, &d, "apiVersion", STR("v1"));
    doc_set(a, &d, "metadata", doc_make_map());
    set_text(a, &d, "status", success ? STR("Success") : STR("Failure"));
    set_text(a, &d, "message", f->message);
    if (f->reason)
        set_text(a, &d, "reason", str_from(f->reason));
    if (f->has_details)
        doc_set(a, &d, "details", details_doc(a, f));
    /* Upstream leaves the code out of the answers to deletions. */
    if (!success)
        doc_set(a, &d, "code", doc_make_int(a, f->code));
    return d;
}
