/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery, from the table of what is served: groups, versions and resources, one
 * document each, or all of them in one (apidiscovery.k8s.io/v2) with an ETag.
 */
#include <stdio.h>

#include "server/custom/custom.h"

static void set_text(struct arena *a, struct doc *d, const char *key, const char *text)
{
    doc_set(a, d, key, doc_make_string(a, str_from(text)));
}

static struct doc text_list(struct arena *a, const char *commas)
{
    struct doc list = doc_make_list();
    struct str s = str_from(commas);
    for (struct str rest = s, part; str_split_next(&rest, ',', &part);) {
        doc_append(a, &list, doc_make_string(a, part));
    }
    return list;
}

static struct doc of_kind(struct arena *a, const char *kind, const char *version)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "kind", kind);
    if (version)
        set_text(a, &d, "apiVersion", version);
    return d;
}

/* Of what is about to go, with its definition, nothing more is made. */
static const char *verbs_of(const struct resource *res)
{
    bool ends = res->custom && res->custom->of->terminating && !res->sub;
    return ends ? "delete,deletecollection,get,list,watch" : res->verbs;
}

/* ---- /api and /apis ---- */

static struct doc version_doc(struct arena *a, const struct resource *res)
{
    struct doc v = doc_make_map();
    doc_set(a, &v, "groupVersion", doc_make_string(a, res->api_version));
    set_text(a, &v, "version", res->kind->version);
    return v;
}

/* Whether no row before has the same group, and version when it is asked for. */
static bool is_first(const struct server *s, uint32_t i, bool version)
{
    const struct api_kind *k = kinds_listed(s, i)->kind;
    for (uint32_t j = 0; j < i; j++) {
        const struct api_kind *before = kinds_listed(s, j)->kind;
        if (strcmp(before->group, k->group) == 0 &&
            (!version || strcmp(before->version, k->version) == 0))
            return false;
    }
    return true;
}

static struct doc group_doc(struct request *r, const char *group, bool whole)
{
    struct server *s = r->s;
    struct doc d = whole ? of_kind(r->a, "APIGroup", "v1") : doc_make_map();
    struct doc versions = doc_make_list();
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++)
        if (strcmp(res->kind->group, group) == 0 && is_first(s, i, true))
            doc_append(r->a, &versions, version_doc(r->a, res));
    set_text(r->a, &d, "name", group);
    doc_set(r->a, &d, "versions", versions);
    doc_set(r->a, &d, "preferredVersion", versions.items[0]);
    return d;
}

static void serve_core(struct request *r)
{
    struct doc d = of_kind(r->a, "APIVersions", NULL), address = doc_make_map(),
               addresses = doc_make_list();
    doc_set(r->a, &d, "versions", text_list(r->a, "v1"));
    set_text(r->a, &address, "clientCIDR", "0.0.0.0/0");
    const char *url = server_url(r->s);
    set_text(r->a, &address, "serverAddress", url + sizeof "https://" - 1);
    doc_append(r->a, &addresses, address);
    doc_set(r->a, &d, "serverAddressByClientCIDRs", addresses);
    request_answer(r, 200, &d);
}

static void serve_groups(struct request *r)
{
    struct server *s = r->s;
    struct doc d = of_kind(r->a, "APIGroupList", "v1"), groups = doc_make_list();
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++) {
        const char *group = res->kind->group;
        if (group[0] && is_first(s, i, false))
            doc_append(r->a, &groups, group_doc(r, group, false));
    }
    doc_set(r->a, &d, "groups", groups);
    request_answer(r, 200, &d);
}

static void serve_group(struct request *r)
{
    if (!kinds_group_served(r->s, r->route.group) || r->route.group.n == 0) {
        request_answer_nowhere(r);
        return;
    }
    struct doc d = group_doc(r, arena_str(r->a, r->route.group).p, true);
    request_answer(r, 200, &d);
}

/* ---- /api/v1, /apis/GROUP/VERSION ---- */

/* The kind of the body, without the group and version that the tables may have before
 * it. */
static const char *body_kind(const struct api_kind *k)
{
    const char *slash = strrchr(k->name, '/');
    return slash ? slash + 1 : k->name;
}

/* Of "GROUP/VERSION/KIND" group and version are told too, where it is another group. */
static void set_elsewhere(struct arena *a, struct doc *d, const struct api_kind *k)
{
    struct str name = str_from(k->name);
    size_t one = str_find_byte(name, '/', 0);
    if (one == SIZE_MAX)
        return;
    size_t two = str_find_byte(name, '/', one + 1);
    if (str_is(str_sub(name, 0, one), k->group))
        return;
    doc_set(a, d, "group", doc_make_string(a, str_sub(name, 0, one)));
    doc_set(a, d, "version", doc_make_string(a, str_sub(name, one + 1, two)));
}

static struct doc resource_doc(struct arena *a, const struct resource *res)
{
    const struct api_kind *k = res->kind;
    struct doc d = doc_make_map();
    set_text(a, &d, "name", k->resource);
    set_text(a, &d, "singularName", k->singular);
    doc_set(a, &d, "namespaced", doc_make_bool(k->namespaced));
    set_elsewhere(a, &d, k);
    set_text(a, &d, "kind", body_kind(k));
    doc_set(a, &d, "verbs", text_list(a, verbs_of(res)));
    if (k->short_names[0])
        doc_set(a, &d, "shortNames", text_list(a, k->short_names));
    if (k->categories[0])
        doc_set(a, &d, "categories", text_list(a, k->categories));
    return d;
}

static bool of_version(const struct resource *res, const struct route *t)
{
    return str_is(t->group, res->kind->group) && str_is(t->version, res->kind->version);
}

static void serve_version(struct request *r)
{
    struct server *s = r->s;
    struct doc d = of_kind(r->a, "APIResourceList", "v1"), list = doc_make_list();
    if (r->route.group.n == 0)
        doc_remove(&d, STR("apiVersion"));
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++) {
        if (!of_version(res, &r->route))
            continue;
        if (list.n == 0)
            doc_set(r->a, &d, "groupVersion", doc_make_string(r->a, res->api_version));
        doc_append(r->a, &list, resource_doc(r->a, res));
    }
    if (list.n == 0 &&
        !(kinds_group_served(s, r->route.group) && api_group_known(r->route.group))) {
        request_answer_nowhere(r);
        return;
    }
    if (list.n == 0) {
        fail_no_resource(r);
        request_answer_failure(r);
        return;
    }
    doc_set(r->a, &d, "resources", list);
    request_answer(r, 200, &d);
}

/* ---- all in one ---- */

static struct doc response_kind(struct arena *a, const struct resource *res)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "group", "");
    set_text(a, &d, "version", "");
    set_elsewhere(a, &d, res->kind);
    set_text(a, &d, "kind", body_kind(res->kind));
    return d;
}

static struct doc subresource_entry(struct arena *a, const struct resource *res)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "subresource", res->sub);
    doc_set(a, &d, "responseKind", response_kind(a, res));
    doc_set(a, &d, "verbs", text_list(a, verbs_of(res)));
    return d;
}

static struct doc resource_entry(struct request *r, const struct resource *res)
{
    struct arena *a = r->a;
    const struct api_kind *k = res->kind;
    struct doc d = doc_make_map(), subs = doc_make_list();
    set_text(a, &d, "resource", k->resource);
    doc_set(a, &d, "responseKind", response_kind(a, res));
    set_text(a, &d, "scope", k->namespaced ? "Namespaced" : "Cluster");
    set_text(a, &d, "singularResource", k->singular);
    doc_set(a, &d, "verbs", text_list(a, verbs_of(res)));
    if (k->short_names[0])
        doc_set(a, &d, "shortNames", text_list(a, k->short_names));
    if (k->categories[0])
        doc_set(a, &d, "categories", text_list(a, k->categories));
    const struct resource *sub;
    for (uint32_t i = 0; (sub = kinds_listed(r->s, i)); i++) {
        if (sub->sub && sub->main == k)
            doc_append(a, &subs, subresource_entry(a, sub));
    }
    if (subs.n)
        doc_set(a, &d, "subresources", subs);
    return d;
}

static struct doc version_entry(struct request *r, const struct api_kind *k)
{
    struct doc d = doc_make_map(), list = doc_make_list();
    set_text(r->a, &d, "version", k->version);
    set_text(r->a, &d, "freshness", "Current");
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(r->s, i)); i++) {
        if (!res->sub && strcmp(res->kind->group, k->group) == 0 &&
            strcmp(res->kind->version, k->version) == 0)
            doc_append(r->a, &list, resource_entry(r, res));
    }
    doc_set(r->a, &d, "resources", list);
    return d;
}

static struct doc group_entry(struct request *r, const char *group)
{
    struct server *s = r->s;
    struct doc d = doc_make_map(), meta = doc_make_map(), versions = doc_make_list();
    if (group[0])
        set_text(r->a, &meta, "name", group);
    doc_set(r->a, &meta, "creationTimestamp", doc_make_null());
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++)
        if (strcmp(res->kind->group, group) == 0 && is_first(s, i, true))
            doc_append(r->a, &versions, version_entry(r, res->kind));
    if (group[0])
        doc_remove(&meta, STR("creationTimestamp"));
    doc_set(r->a, &d, "metadata", group[0] ? meta : doc_make_map());
    doc_set(r->a, &d, "versions", versions);
    return d;
}

static void serve_all(struct request *r, const char *version, bool core)
{
    struct server *s = r->s;
    struct doc list = doc_make_list();
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++) {
        const char *group = res->kind->group;
        if (core == !group[0] && is_first(s, i, false))
            doc_append(r->a, &list, group_entry(r, group));
    }
    struct doc d = of_kind(r->a, "APIGroupDiscoveryList",
                           arena_printf(r->a, "apidiscovery.k8s.io/%s", version).p);
    doc_set(r->a, &d, "metadata", doc_make_map());
    doc_set(r->a, &d, "items", list);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_COMPACT, &b);
    struct str tag =
        arena_printf(r->a, "\"%.*s\"", STR_ARG(pki_sha256_hex(strbuf_str(&b), r->a)));
    struct str type = arena_printf(
        r->a, "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList",
        version);
    struct net_header headers[] = {
        {STR("content-type"), type},    {STR("etag"), tag},
        {STR("vary"), STR("Accept")},   {STR("cache-control"), STR("public")},
        {STR("audit-id"), r->audit_id},
    };
    bool same = str_eq(net_header_get(r->x, "if-none-match"), tag);
    if (same)
        strbuf_clear(&b);
    net_respond_buf(r->x, same ? 304 : 200, headers, sizeof headers / sizeof *headers,
                    &b);
    strbuf_release(&b);
}

/* The version of the first alternative that asks for all in one; NULL: another form is
 * asked for first. */
static const char *asks_for_all(struct request *r)
{
    struct str accept = net_header_get(r->x, "accept");
    for (struct str rest = accept, clause; str_split_next(&rest, ',', &clause);) {
        bool all = str_find(clause, STR("as=APIGroupDiscoveryList")) != SIZE_MAX &&
                   str_find(clause, STR("g=apidiscovery.k8s.io")) != SIZE_MAX;
        if (all && str_ends(clause, STR("v=v2")))
            return "v2";
        if (all && str_find(clause, STR("v=v2;")) != SIZE_MAX)
            return "v2";
        if (!all)
            return NULL;
    }
    return NULL;
}

void discovery_serve(struct request *r)
{
    bool get = str_is(r->x->method, "GET") || str_is(r->x->method, "HEAD");
    bool root = r->route.form == ROUTE_CORE || r->route.form == ROUTE_GROUPS;
    const char *all = root && get ? asks_for_all(r) : NULL;
    /* Upstream looks at the method in the documents of versions alone. */
    if (!get && (r->route.form == ROUTE_VERSION || r->route.form == ROUTE_CORE))
        get = fail_method(r);
    else
        get = true;
    if (!get || (!all && !media_negotiate(r))) {
        request_answer_failure(r);
        return;
    }
    r->accept.as = AS_OBJECT;
    if (all)
        serve_all(r, all, r->route.form == ROUTE_CORE);
    else if (r->route.form == ROUTE_CORE)
        serve_core(r);
    else if (r->route.form == ROUTE_GROUPS)
        serve_groups(r);
    else if (r->route.form == ROUTE_GROUP)
        serve_group(r);
    else
        serve_version(r);
}
