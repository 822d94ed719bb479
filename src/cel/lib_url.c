/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' URLs. */
#include "cel/lib.h"
#include "cel/url.h"

bool cel_url_equal(const struct cel_url *a, const struct cel_url *b)
{
    return str_eq(a->text, b->text);
}

void cel_url_print(const struct cel_url *u, struct strbuf *out)
{
    strbuf_addstr(out, u->text);
}

const struct cel_url *cel_url_dup(const struct cel_url *u, struct arena *a)
{
    struct cel_url *copy = arena_alloc(a, sizeof *copy);
    copy->scheme = arena_str(a, u->scheme);
    copy->host = arena_str(a, u->host);
    copy->path = arena_str(a, u->path);
    copy->query = arena_str(a, u->query);
    copy->text = arena_str(a, u->text);
    return copy;
}

static struct cel_value url(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct cel_url u;
    struct err e = ERR_INIT;
    if (!url_parse(cel_str(a[0]), &run->arena, &u, &e))
        return cel_lib_failed(run, "URL parse error during conversion from string: ", &e);
    return (struct cel_value){.kind = CEL_URL, .url = CEL_LIB_NEW(run, u)};
}

static struct cel_value is_url(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    return cel_bool(url_check(cel_str(a[0]), NULL));
}

static struct cel_value get_scheme(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    return cel_string(a[0].url->scheme);
}

static struct cel_value get_host(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_string(a[0].url->host);
}

static struct cel_value get_hostname(struct cel_run *run, const struct cel_value *a,
                                     unsigned n)
{
    return cel_string(url_hostname(a[0].url));
}

static struct cel_value get_port(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_string(url_port(a[0].url));
}

static struct cel_value get_escaped_path(struct cel_run *run, const struct cel_value *a,
                                         unsigned n)
{
    return cel_string(a[0].url->path);
}

/* ---- getQuery ---- */

static bool too_many(struct str query)
{
    unsigned n = 1;
    for (size_t i = 0; i < query.n; i++)
        n += query.p[i] == '&';
    return n > URL_PARAMETERS_MAX;
}

/* Values of a key in their order, keys in the order of their first value. */
static struct cel_value get_query(struct cel_run *run, const struct cel_value *a,
                                  unsigned n)
{
    struct cel_map_builder map = {0};
    struct cel_list_builder *lists = NULL;
    uint32_t nlists = 0;
    struct str rest = a[0].url->query, key, value;
    if (too_many(rest))
        return cel_map_done(run, &map);
    lists = ARENA_ARRAY(&run->arena, struct cel_list_builder, rest.n + 1);
    while (url_next_parameter(&rest, &run->arena, &key, &value)) {
        struct cel_value k = cel_string(key);
        const struct cel_value *at = cel_map_has(&map, k);
        uint32_t i = at ? (uint32_t)at->u : nlists++;
        if (!at)
            cel_map_put(run, &map, k, cel_uint(i));
        cel_list_push(run, &lists[i], cel_string(value));
    }
    for (uint32_t i = 0; i < map.map.n; i++)
        map.map.entries[i].value = cel_list_done(&lists[map.map.entries[i].value.u]);
    return cel_map_done(run, &map);
}

#define U "kubernetes.URL"

static const struct cel_overload rows[] = {
    CEL_GLOBAL("string_to_url", "url", "(string) -> " U, 0, url),
    CEL_GLOBAL("is_url_string", "isURL", "(string) -> bool", 0, is_url),
    CEL_MEMBER("url_get_scheme", "getScheme", "(" U ") -> string", 0, get_scheme),
    CEL_MEMBER("url_get_host", "getHost", "(" U ") -> string", 0, get_host),
    CEL_MEMBER("url_get_hostname", "getHostname", "(" U ") -> string", 0, get_hostname),
    CEL_MEMBER("url_get_port", "getPort", "(" U ") -> string", 0, get_port),
    CEL_MEMBER("url_get_escaped_path", "getEscapedPath", "(" U ") -> string", 0,
               get_escaped_path),
    CEL_MEMBER("url_get_query", "getQuery", "(" U ") -> map(string, list(string))", 0,
               get_query),
};

static const struct cel_cost_row costs[] = {{NULL, "url", cel_cost_scan}};

const struct cel_lib cel_lib_url = {
    .name = "kubernetes.urls",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
