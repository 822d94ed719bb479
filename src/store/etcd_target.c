/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd_target.h"

static const char PREFIX[] = "/dray";

static bool add_endpoints(struct etcd_target *t, struct str list, struct err *e)
{
    for (size_t at = 0; at <= list.n;) {
        size_t end = str_find_byte(list, ',', at);
        struct str one = str_sub(list, at, end);
        size_t colon = str_rfind_byte(one, ':');
        if (colon == SIZE_MAX || colon == 0 || colon + 1 == one.n)
            return err_set(e, ERR_INVALID, "etcd: \"%.*s\" is not HOST:PORT",
                           STR_ARG(one));
        vec_push(&t->endpoints, arena_str(&t->arena, one).p);
        at = end == SIZE_MAX ? list.n + 1 : end + 1;
    }
    return true;
}

static void set_prefix(struct etcd_target *t, struct str prefix)
{
    struct arena *a = &t->arena;
    while (prefix.n > 0 && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    t->prefix = arena_str(a, prefix);
    t->first = arena_printf(a, "%.*s/", STR_ARG(prefix));
    t->past = arena_printf(a, "%.*s0", STR_ARG(prefix)); /* '0' comes after '/' */
    t->mark = arena_printf(a, "%.*s/.mark", STR_ARG(prefix));
    t->compacted = arena_printf(a, "%.*s.compacted", STR_ARG(prefix));
}

bool etcd_target_parse(struct etcd_target *t, const char *rest, struct err *e)
{
    struct str s = str_from(rest);
    *t = (struct etcd_target){0};
    if (!str_starts(s, STR("//")))
        return err_set(e, ERR_INVALID, "etcd: \"%s\" does not begin with //HOST:PORT",
                       rest);
    s = str_sub(s, 2, SIZE_MAX);
    size_t slash = str_find_byte(s, '/', 0);
    set_prefix(t, slash == SIZE_MAX ? str_from(PREFIX) : str_sub(s, slash, SIZE_MAX));
    if (add_endpoints(t, str_sub(s, 0, slash), e))
        return true;
    etcd_target_release(t);
    return false;
}

void etcd_target_release(struct etcd_target *t)
{
    vec_release(&t->endpoints);
    arena_fini(&t->arena);
}
