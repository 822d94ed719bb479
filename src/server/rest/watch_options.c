/* SPDX-License-Identifier: Apache-2.0 */
/* Options of watches that go together, or do not. */
#include "server/inner.h"

static void add_cause(struct request *r, bool unsupported, const char *text)
{
    fail_cause(r, unsupported ? "FieldValueNotSupported" : "FieldValueForbidden",
               str_from(text), STR("resourceVersionMatch"));
}

/* Messages of all causes, as upstream joins them. */
static bool finish_causes(struct request *r)
{
    struct failure *f = &r->failure;
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < f->causes.n; i++)
        strbuf_addf(&b, "%sresourceVersionMatch: %.*s", i ? ", " : "",
                    STR_ARG(doc_get_text(&f->causes.items[i], "message")));
    bool many = f->causes.n > 1;
    f->message = arena_printf(r->a, "ListOptions.meta.k8s.io \"\" is invalid: %s%s%s",
                              many ? "[" : "", strbuf_cstr(&b), many ? "]" : "");
    strbuf_release(&b);
    f->group = STR("meta.k8s.io");
    f->kind = STR("ListOptions");
    return f->causes.n == 0;
}

bool watch_check_options(struct request *r, bool has_initial)
{
    struct str match = query_get(&r->query, "resourceVersionMatch");
    fail(r, 422, "Invalid", " ");
    if (has_initial && !str_is(match, "NotOlderThan"))
        add_cause(r, false,
                  "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                  "NotOlderThan");
    if (!has_initial && match.n)
        add_cause(r, false,
                  "Forbidden: resourceVersionMatch is forbidden for watch unless "
                  "sendInitialEvents is provided");
    if (match.n && !str_is(match, "NotOlderThan") && has_initial)
        add_cause(r, true,
                  arena_printf(r->a,
                               "Unsupported value: \"%.*s\": supported values: "
                               "\"NotOlderThan\"",
                               STR_ARG(match))
                      .p);
    return finish_causes(r);
}
