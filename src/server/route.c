/* SPDX-License-Identifier: Apache-2.0 */
#include "server/route.h"

#include <strings.h>

enum { MAX_SEGMENTS = 8 };

static bool decode(struct str s, bool plus, struct arena *a, struct str *out)
{
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        p[n] = plus && s.p[i] == '+' ? ' ' : s.p[i];
        if (s.p[i] == '%') {
            int hi = i + 2 < s.n ? str_hex_digit(s.p[i + 1]) : -1;
            int lo = i + 2 < s.n ? str_hex_digit(s.p[i + 2]) : -1;
            if (hi < 0 || lo < 0)
                return false;
            p[n] = (char)(hi << 4 | lo);
            i += 2;
        }
        n++;
    }
    p[n] = '\0';
    *out = (struct str){p, n};
    return true;
}

/* Up to MAX_SEGMENTS of them; more are counted only. false: one is empty or broken. */
static bool split(struct str path, struct arena *a, struct str *segments, uint32_t *n)
{
    *n = 0;
    for (size_t at = 0; at < path.n && path.p[at] == '/'; (*n)++) {
        size_t end = str_find_byte(path, '/', at + 1);
        struct str raw = str_sub(path, at + 1, end);
        bool last = end == SIZE_MAX;
        if (last && raw.n == 0)
            break;
        struct str text;
        if (!decode(raw, false, a, &text))
            return false;
        if (*n < MAX_SEGMENTS)
            segments[*n] = text;
        at = last ? path.n : end;
    }
    return true;
}

/* What follows the n-th segment of the path, with its slash. */
static struct str rest_after(struct str path, uint32_t n)
{
    size_t at = 0;
    for (; n > 0 && at != SIZE_MAX; n--)
        at = str_find_byte(path, '/', at + 1);
    return at == SIZE_MAX ? STR("") : str_sub(path, at, SIZE_MAX);
}

/* What follows the version: the segments behind the first `head`. */
static void parse_resource(struct str path, const struct str *s, uint32_t head,
                           uint32_t n, struct route *r)
{
    s += head;
    n -= head;
    bool namespaced = n >= 3 && str_is(s[0], "namespaces");
    bool own =
        n == 3 && namespaced && (str_is(s[2], "status") || str_is(s[2], "finalize"));
    if (namespaced && !own) {
        r->namespace = s[1];
        s += 2;
        n -= 2;
        head += 2;
    }
    bool proxy = n >= 3 && str_is(s[2], "proxy");
    r->form = n <= 3 || proxy ? ROUTE_RESOURCE : ROUTE_OTHER;
    r->rest = proxy ? rest_after(path, head + 3) : STR("");
    r->resource = s[0];
    r->name = n > 1 ? s[1] : STR_NONE;
    r->subresource = n > 2 ? s[2] : STR_NONE;
}

bool route_parse(struct str path, struct arena *a, struct route *out)
{
    struct str s[MAX_SEGMENTS];
    uint32_t n;
    *out = (struct route){ROUTE_OTHER};
    if (!split(path, a, s, &n))
        return false;
    bool core = n > 0 && str_is(s[0], "api");
    if (!core && !(n > 0 && str_is(s[0], "apis")))
        return true;
    uint32_t head = core ? 2 : 3; /* segments before the resource */
    if (n < head) {
        out->form = core ? ROUTE_CORE : n == 1 ? ROUTE_GROUPS : ROUTE_GROUP;
        out->group = n == 2 ? s[1] : STR_NONE;
        return true;
    }
    out->form = ROUTE_VERSION;
    out->group = core ? STR("") : s[1];
    out->version = s[head - 1];
    if (n > head)
        parse_resource(path, s, head, n, out);
    return true;
}

static uint32_t count_params(struct str text)
{
    uint32_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '&';
    return n;
}

void query_parse(struct str text, struct arena *a, struct query *out)
{
    struct query_param *params = ARENA_ARRAY(a, struct query_param, count_params(text));
    *out = (struct query){params, 0};
    for (size_t at = 0; at < text.n;) {
        size_t end = str_find_byte(text, '&', at);
        struct str pair = str_sub(text, at, end);
        size_t eq = str_find_byte(pair, '=', 0);
        struct str value = eq == SIZE_MAX ? STR("") : str_sub(pair, eq + 1, SIZE_MAX);
        struct query_param *p = &params[out->n];
        if (pair.n && decode(str_sub(pair, 0, eq), true, a, &p->name) &&
            decode(value, true, a, &p->value))
            out->n++;
        at = end == SIZE_MAX ? text.n : end + 1;
    }
}

struct str query_get(const struct query *q, const char *name)
{
    for (uint32_t i = 0; i < q->n; i++)
        if (str_is(q->params[i].name, name))
            return q->params[i].value;
    return STR_NONE;
}

bool query_bool(const struct query *q, const char *name)
{
    struct str v = query_get(q, name);
    return v.p && !str_is(v, "0") && !(v.n == 5 && strncasecmp(v.p, "false", 5) == 0);
}
