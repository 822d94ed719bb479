/* SPDX-License-Identifier: Apache-2.0 */
/* May they: from what a request wants to yes or 403. */
#include "base/quote.h"
#include "server/access/auth.h"
#include "server/access/node_authorizer.h"

/* Who does not say yes may say why, with his name before it. */
static struct str refusals(struct str node, struct str roles, struct arena *a)
{
    return arena_printf(a, "%s%.*s%s%s%.*s", node.n ? "node: " : "", STR_ARG(node),
                        node.n && roles.n ? "\n" : "", roles.n ? "rbac: " : "",
                        STR_ARG(roles));
}

bool authorize(struct server *s, const struct user *u, const struct attributes *want,
               struct arena *a, struct str *why)
{
    struct str node, roles;
    *why = STR("");
    if (u->admin || node_authorize(s, u, want, a, &node))
        return true;
    bool ok = rbac_allows(s->auth->rbac, u, want, a, &roles);
    *why = ok ? roles : refusals(node, roles, a);
    return ok;
}

bool authorize_check(struct server *s, const struct user *u, const struct attributes *a)
{
    struct arena scratch = {0};
    struct str why;
    bool ok = u->admin || node_authorize(s, u, a, &scratch, &why) ||
              rbac_allows(s->auth->rbac, u, a, &scratch, NULL);
    arena_fini(&scratch);
    return ok;
}

/* ---- what a request wants ---- */

static const struct {
    const char *method, *verb;
} VERBS[] = {{"GET", "get"},    {"HEAD", "get"},    {"POST", "create"},
             {"PUT", "update"}, {"PATCH", "patch"}, {"DELETE", "delete"}};

static struct str verb_of(struct request *r)
{
    for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; i++)
        if (str_is(r->x->method, VERBS[i].method))
            return str_from(VERBS[i].verb);
    return STR("");
}

static struct str lower(struct request *r)
{
    struct str m = arena_str(r->a, r->x->method);
    for (size_t i = 0; i < m.n; i++)
        ((char *)m.p)[i] |= m.p[i] >= 'A' && m.p[i] <= 'Z' ? 0x20 : 0;
    return m;
}

static bool is_segment(struct str name)
{
    return !str_is(name, ".") && !str_is(name, "..") &&
           str_find_byte(name, '/', 0) == SIZE_MAX &&
           str_find_byte(name, '%', 0) == SIZE_MAX;
}

/* A list of one name asks for this object. */
static struct str selected_name(const struct selector *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (str_is(s->all[i].key, "metadata.name") && s->all[i].op == SELECT_IN &&
            s->all[i].nvalues == 1 && is_segment(s->all[i].values[0]))
            return s->all[i].values[0];
    return STR("");
}

static void add_selection(struct request *r, struct attributes *w)
{
    struct selector *s = ARENA_NEW(r->a, struct selector);
    struct str why, text = query_get(&r->query, "fieldSelector");
    if (!text.n || !selector_parse_fields(text, r->a, s, &why))
        return;
    w->fields = s;
    if (!str_is(w->verb, "deletecollection"))
        w->name = selected_name(s);
}

static struct str or_empty(struct str s)
{
    return s.p ? s : STR("");
}

struct attributes authorize_attributes(struct request *r)
{
    const struct route *t = &r->route;
    if (t->form != ROUTE_RESOURCE)
        return (struct attributes){.verb = lower(r), .path = r->x->path};
    struct attributes w = {.verb = verb_of(r),
                           .group = or_empty(t->group),
                           .version = t->version,
                           .resource = t->resource,
                           .subresource = or_empty(t->subresource),
                           .namespace = or_empty(t->namespace),
                           .name = or_empty(t->name)};
    if (w.namespace.n == 0 && str_is(w.resource, "namespaces"))
        w.namespace = w.name;
    bool many = w.name.n == 0;
    if (many && str_is(w.verb, "get"))
        w.verb = query_bool(&r->query, "watch") ? STR("watch") : STR("list");
    else if (many && str_is(w.verb, "delete"))
        w.verb = STR("deletecollection");
    else
        return w;
    add_selection(r, &w);
    return w;
}

/* ---- refusals ---- */

static void add_escaped(struct strbuf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '&')
            strbuf_adds(b, "&amp;");
        else if (s.p[i] == '<')
            strbuf_adds(b, "&lt;");
        else if (s.p[i] == '>')
            strbuf_adds(b, "&gt;");
        else
            strbuf_addc(b, s.p[i]);
}

static void add_pair(struct strbuf *b, const char *label, struct str s)
{
    strbuf_adds(b, label);
    strbuf_add_quoted(b, s);
}

/* User "u" cannot get resource "pods" in API group "" in the namespace "n" */
static void add_what(struct strbuf *b, const struct user *u, const struct attributes *w,
                     struct arena *a)
{
    add_pair(b, "User ", u->name);
    strbuf_addf(b, " cannot %.*s ", STR_ARG(w->verb));
    if (w->path.p) {
        add_pair(b, "path ", w->path);
        return;
    }
    struct str what =
        w->subresource.n
            ? arena_printf(a, "%.*s/%.*s", STR_ARG(w->resource), STR_ARG(w->subresource))
            : w->resource;
    add_pair(b, "resource ", what);
    add_pair(b, " in API group ", w->group);
    if (w->namespace.n)
        add_pair(b, " in the namespace ", w->namespace);
    else
        strbuf_adds(b, " at the cluster scope");
}

struct str forbidden_text(const struct user *u, const struct attributes *w,
                          struct str why, struct arena *a)
{
    struct strbuf b = STRBUF_INIT, what = STRBUF_INIT;
    if (w->resource.n) {
        strbuf_addstr(&b, qualified(a, w->resource, w->group));
        if (w->name.n)
            add_pair(&b, " ", w->name);
        strbuf_adds(&b, " is ");
    }
    strbuf_adds(&b, "forbidden: ");
    add_what(&what, u, w, a);
    add_escaped(&b, strbuf_str(&what));
    if (why.n)
        strbuf_addf(&b, ": %.*s", STR_ARG(why));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&what);
    strbuf_release(&b);
    return text;
}

bool fail_forbidden(struct request *r, const struct user *u, const struct attributes *w,
                    struct str why)
{
    struct str text = forbidden_text(u, w, why, r->a);
    fail(r, 403, "Forbidden", "%.*s", STR_ARG(text));
    r->failure.has_details = true;
    r->failure.name = w->name;
    r->failure.group = w->group;
    r->failure.kind = w->resource;
    return false;
}

bool user_authorize(struct request *r, const struct user *u)
{
    struct str why;
    if (u->admin)
        return true;
    struct attributes want = authorize_attributes(r);
    return authorize(r->s, u, &want, r->a, &why) || fail_forbidden(r, u, &want, why);
}
