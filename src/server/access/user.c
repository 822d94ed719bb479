/* SPDX-License-Identifier: Apache-2.0 */
/* What a user is, whoever found it. */
#include "server/access/user.h"

bool names_have(const struct names *names, struct str name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (str_eq(names->v[i], name))
            return true;
    return false;
}

struct names names_read(const struct doc *list, struct arena *a)
{
    struct names names = {0};
    if (!list || list->type != DOC_LIST || list->n == 0)
        return names;
    struct str *v = ARENA_ARRAY(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i].type == DOC_STRING)
            v[names.n++] = arena_str(a, doc_str(&list->items[i]));
    names.v = v;
    return names;
}

struct doc names_doc(struct names names, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < names.n; i++)
        doc_append(a, &list, doc_make_string(a, names.v[i]));
    return list;
}

bool user_is_in(const struct user *u, struct str group)
{
    for (uint32_t i = 0; i < u->ngroups; i++)
        if (str_eq(u->groups[i], group))
            return true;
    return false;
}

bool user_in_group(const struct user *u, const char *group)
{
    return user_is_in(u, str_from(group));
}

struct str user_extra_find(const struct user *u, const char *key)
{
    for (uint32_t i = 0; i < u->nextra; i++)
        if (str_is(u->extra[i].key, key) && u->extra[i].nvalues == 1)
            return u->extra[i].values[0];
    return STR_NONE;
}

void user_add_group(struct user *u, struct str group, struct arena *a)
{
    if (user_is_in(u, group))
        return;
    struct str *groups = ARENA_ARRAY(a, struct str, u->ngroups + 1);
    if (u->ngroups)
        memcpy(groups, u->groups, u->ngroups * sizeof *groups);
    groups[u->ngroups++] = group;
    u->groups = groups;
}

struct doc user_doc(const struct user *u, struct arena *a)
{
    struct doc d = doc_make_map(), extra = doc_make_map();
    if (u->name.n)
        doc_set(a, &d, "username", doc_make_string(a, u->name));
    if (u->uid.n)
        doc_set(a, &d, "uid", doc_make_string(a, u->uid));
    if (u->ngroups)
        doc_set(a, &d, "groups", names_doc((struct names){u->groups, u->ngroups}, a));
    for (uint32_t i = 0; i < u->nextra; i++) {
        struct names values = {u->extra[i].values, u->extra[i].nvalues};
        doc_set_str(a, &extra, u->extra[i].key, names_doc(values, a));
    }
    if (extra.n)
        doc_set(a, &d, "extra", extra);
    return d;
}

/* Upstream's own rule: two parts, each a name that an object could have. */
static bool could_be_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter && c != '-' && c != '.')
            return false;
    }
    return s.n > 0;
}

bool user_split_account(struct str username, struct str *namespace, struct str *name)
{
    static const struct str PREFIX = {"system:serviceaccount:", 22};
    size_t colon =
        str_starts(username, PREFIX) ? str_find_byte(username, ':', PREFIX.n) : SIZE_MAX;
    if (colon == SIZE_MAX)
        return false;
    *namespace = str_sub(username, PREFIX.n, colon);
    *name = str_sub(username, colon + 1, SIZE_MAX);
    return could_be_name(*namespace) && could_be_name(*name);
}
