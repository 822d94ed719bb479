/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/bootstrap_token.h"

#include <time.h>

#include "api/timestamp.h"
#include "base/base64.h"

enum { ID = 6, SECRET = 16, GROUPS_MAX = 64, GROUP_TAIL_MAX = 256 };

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9')))
            return false;
    return true;
}

static bool split(struct str token, struct str *id, struct str *secret)
{
    *id = str_sub(token, 0, ID);
    *secret = str_sub(token, ID + 1, SIZE_MAX);
    return token.n == ID + 1 + SECRET && token.p[ID] == '.' && is_plain(*id) &&
           is_plain(*secret);
}

/* Bytes of the Secret's data; STR_NONE: there are none. */
static struct str data(const struct doc *secret, const char *key, struct arena *a)
{
    struct str bytes, text = doc_get_text(doc_get(secret, "data"), key);
    return text.p && base64_decode(text, a, &bytes) ? bytes : STR_NONE;
}

/* What cannot be read as a time is over. */
static bool is_over(struct str until)
{
    int64_t seconds;
    int32_t nanos;
    return until.n &&
           (!timestamp_parse(until, &seconds, &nanos) || seconds <= time(NULL));
}

static bool is_group(struct str s)
{
    static const struct str PREFIX = STR("system:bootstrappers:");
    struct str tail = str_sub(s, PREFIX.n, SIZE_MAX);
    if (!str_starts(s, PREFIX) || tail.n == 0 || tail.n > GROUP_TAIL_MAX ||
        !is_plain(str_sub(tail, tail.n - 1, SIZE_MAX)))
        return false;
    for (size_t i = 0; i < tail.n; i++)
        if (!is_plain((struct str){tail.p + i, 1}) && tail.p[i] != ':' &&
            tail.p[i] != '-')
            return false;
    return true;
}

/* false: one of them is no group that a token may give. */
static bool read_groups(struct str list, struct arena *a, struct user *u)
{
    user_add_group(u, STR("system:bootstrappers"), a);
    for (size_t from = 0; list.n && from <= list.n;) {
        size_t comma = str_find_byte(list, ',', from);
        struct str group = str_sub(list, from, comma);
        if (!is_group(group) || u->ngroups == GROUPS_MAX)
            return false;
        user_add_group(u, arena_str(a, group), a);
        from = comma == SIZE_MAX ? list.n + 1 : comma + 1;
    }
    return true;
}

static bool is_token(const struct doc *secret, struct str id, struct str password,
                     struct arena *a)
{
    return !meta_text(secret, "deletionTimestamp").n &&
           doc_is_string(doc_get(secret, "type"), "bootstrap.kubernetes.io/token") &&
           pki_equal(data(secret, "token-secret", a), password) &&
           str_eq(data(secret, "token-id", a), id) &&
           !is_over(data(secret, "expiration", a)) &&
           str_is(data(secret, "usage-bootstrap-authentication", a), "true");
}

bool bootstrap_token_check(struct server *s, struct str token, struct arena *a,
                           struct user *out)
{
    struct str id, password;
    if (!split(token, &id, &password))
        return false;
    struct str name = arena_printf(a, "bootstrap-token-%.*s", STR_ARG(id));
    struct cache_object *o =
        cache_get(s->cache, object_key(kinds_stored(s, "", "secrets"), STR("kube-system"),
                                       name, a));
    if (!o)
        return false;
    struct doc secret = object_doc(o, a);
    struct user u = {.name = arena_printf(a, "system:bootstrap:%.*s", STR_ARG(id))};
    if (!is_token(&secret, id, password, a) ||
        !read_groups(data(&secret, "auth-extra-groups", a), a, &u))
        return false;
    *out = u;
    return true;
}
