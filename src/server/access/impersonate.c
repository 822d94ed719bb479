/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acting as somebody else (headers Impersonate-*). Two ways lead there: modes that allow
 * one verb at a time for one kind of user (KEP-5284), and the older right to be somebody
 * for everything. They are tried in this order; a refusal is the first one's.
 */
#include "base/names.h"
#include "base/quote.h"
#include "server/access/user.h"

static const struct str EXTRA = {"impersonate-extra-", 18};

/* ---- what the headers say ---- */

static uint32_t count_headers(const struct net_exchange *x, struct str start, bool whole)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->nheaders; i++)
        n += whole ? str_eq(x->headers[i].name, start)
                   : str_starts(x->headers[i].name, start);
    return n;
}

static struct names values_of(struct request *r, struct str header)
{
    struct names names = {0};
    struct str *v = ARENA_ARRAY(r->a, struct str, r->x->nheaders);
    for (uint32_t i = 0; i < r->x->nheaders; i++)
        if (str_eq(r->x->headers[i].name, header))
            v[names.n++] = r->x->headers[i].value;
    names.v = v;
    return names;
}

/* Percent-encoded; what is not is taken as it stands. */
static struct str decode_key(struct str s, struct arena *a)
{
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '%') {
            p[n++] = s.p[i];
            continue;
        }
        int high = i + 2 < s.n ? str_hex_digit(s.p[i + 1]) : -1;
        int low = i + 2 < s.n ? str_hex_digit(s.p[i + 2]) : -1;
        if (high < 0 || low < 0)
            return s;
        p[n++] = (char)(high << 4 | low);
        i += 2;
    }
    p[n] = '\0';
    return (struct str){p, n};
}

static struct user_extra *find_extra(struct user_extra *v, uint32_t n, struct str key)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].key, key))
            return &v[i];
    return NULL;
}

static void read_extra(struct request *r, struct user *u)
{
    const struct net_exchange *x = r->x;
    uint32_t n = count_headers(x, EXTRA, false);
    struct user_extra *v = ARENA_ARRAY(r->a, struct user_extra, n);
    for (uint32_t i = 0; i < x->nheaders; i++) {
        if (!str_starts(x->headers[i].name, EXTRA))
            continue;
        struct str key = decode_key(str_sub(x->headers[i].name, EXTRA.n, SIZE_MAX), r->a);
        struct user_extra *e = find_extra(v, u->nextra, key);
        if (!e) {
            e = &v[u->nextra++];
            *e = (struct user_extra){key, ARENA_ARRAY(r->a, struct str, n), 0};
        }
        ((struct str *)e->values)[e->nvalues++] = x->headers[i].value;
    }
    u->extra = v;
}

static struct user wanted_user(struct request *r)
{
    struct names groups = values_of(r, STR("impersonate-group"));
    struct user u = {.name = net_header_get(r->x, "impersonate-user"),
                     .uid = net_header_get(r->x, "impersonate-uid"),
                     .groups = groups.v,
                     .ngroups = groups.n};
    read_extra(r, &u);
    return u;
}

/* ---- one right ---- */

struct wish {
    struct request *r;
    const struct user *u;          /* who asks */
    const struct user *wanted;     /* to be whom */
    const struct attributes *asks; /* what the request itself wants */
    const struct mode *mode;
    const char *verb;
};

static bool refuse(struct wish *w, const struct attributes *want, const char *why)
{
    return fail_forbidden(w->r, w->u, want, str_from(why));
}

static bool check(struct wish *w, const struct attributes *want)
{
    struct str why;
    return authorize(w->r->s, w->u, want, w->r->a, &why) ||
           fail_forbidden(w->r, w->u, want, why);
}

static const struct str AUTHENTICATION = {"authentication.k8s.io", 21};

static struct attributes right(struct wish *w, bool identity, const char *resource,
                               struct str name)
{
    /* Users and groups are asked for in the core group the older way. */
    return (struct attributes){
        .verb = str_from(w->verb),
        .group = identity && !w->mode ? STR("") : AUTHENTICATION,
        .version = STR("v1"),
        .resource = str_from(resource),
        .subresource = STR(""),
        .namespace = STR(""),
        .name = name,
    };
}

/* ---- kinds of users ---- */

static bool node_name(struct str username, struct str *out)
{
    static const struct str PREFIX = {"system:node:", 12};
    if (!str_starts(username, PREFIX))
        return false;
    *out = str_sub(username, PREFIX.n, SIZE_MAX);
    return name_valid(NAME_DNS1123_SUBDOMAIN, *out);
}

static bool only_name(const struct user *u)
{
    return !u->uid.n && !u->ngroups && !u->nextra;
}

static bool is_account(struct str username)
{
    struct str namespace, name;
    return user_split_account(username, &namespace, &name);
}

/* The account of a pod may be its own node. */
static bool for_own_node(const struct wish *w)
{
    struct str node;
    return only_name(w->wanted) && node_name(w->wanted->name, &node) &&
           is_account(w->u->name) &&
           str_eq(user_extra_find(w->u, "authentication.kubernetes.io/node-name"), node);
}

static bool for_any_node(const struct wish *w)
{
    struct str node;
    return only_name(w->wanted) && node_name(w->wanted->name, &node);
}

static bool for_account(const struct wish *w)
{
    return only_name(w->wanted) && is_account(w->wanted->name);
}

static bool for_other(const struct wish *w)
{
    struct str node;
    return !node_name(w->wanted->name, &node) && !is_account(w->wanted->name);
}

static const struct mode {
    bool (*fits)(const struct wish *w);
    const char *verb; /* to be somebody */
    const char *on;   /* to do something as somebody; the verb follows */
    bool any_node;    /* the right must be for all nodes */
} MODES[] = {
    {for_own_node, "impersonate:associated-node",
     "impersonate-on:associated-node:", true},
    {for_any_node, "impersonate:arbitrary-node", "impersonate-on:arbitrary-node:", false},
    {for_account, "impersonate:serviceaccount", "impersonate-on:serviceaccount:", false},
    {for_other, "impersonate:user-info", "impersonate-on:user-info:", false},
};

/* ---- all rights of a mode ---- */

static bool may_be_named(struct wish *w, struct user *as)
{
    struct str node, namespace, name;
    struct attributes want = right(w, true, "users", w->wanted->name);
    if (w->mode && node_name(w->wanted->name, &node)) {
        want.resource = STR("nodes");
        want.name = w->mode->any_node ? STR("*") : node;
        user_add_group(as, STR("system:nodes"), w->r->a);
    }
    if (user_split_account(w->wanted->name, &namespace, &name)) {
        want.resource = STR("serviceaccounts");
        want.namespace = namespace;
        want.name = name;
        if (w->wanted->ngroups == 0) {
            user_add_group(as, STR("system:serviceaccounts"), w->r->a);
            user_add_group(
                as,
                arena_printf(w->r->a, "system:serviceaccounts:%.*s", STR_ARG(namespace)),
                w->r->a);
        }
    }
    return check(w, &want);
}

static bool may_have_uid(struct wish *w)
{
    struct attributes want = right(w, false, "uids", w->wanted->uid);
    return w->wanted->uid.n == 0 || check(w, &want);
}

/* Asked for this many at once, a right to all of them is looked for first. */
enum { MANY = 4 };

/* Without a trace of a refusal. */
static bool may_all(struct wish *w, struct attributes want)
{
    want.name = STR("*");
    return authorize_check(w->r->s, w->u, &want);
}

static bool may_be_in(struct wish *w)
{
    const struct user *to = w->wanted;
    struct attributes want = right(w, true, "groups", STR(""));
    if (w->mode && user_in_group(to, ""))
        return refuse(w, &want, "impersonating the empty string group is not allowed");
    if (w->mode && user_in_group(to, "system:masters")) {
        want.name = STR("system:masters");
        return refuse(w, &want, "impersonating the system:masters group is not allowed");
    }
    if (w->mode && to->ngroups >= MANY && may_all(w, want))
        return true;
    for (uint32_t i = 0; i < to->ngroups; i++) {
        want.name = to->groups[i];
        if (!check(w, &want))
            return false;
    }
    return true;
}

static bool has_upper(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= 'A' && s.p[i] <= 'Z')
            return true;
    return false;
}

static bool is_prefixed_path(struct str key)
{
    size_t slash = str_find_byte(key, '/', 0);
    static const char MARKS[] = "/%-._~!$&'()*+,;=:";
    if (slash == SIZE_MAX || slash + 1 == key.n ||
        !name_valid(NAME_DNS1123_SUBDOMAIN, str_sub(key, 0, slash)))
        return false;
    for (size_t i = slash + 1; i < key.n; i++) {
        char c = key.p[i];
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || !strchr(MARKS, c)))
            return false;
    }
    return true;
}

/* What is wrong with the extras; NULL: nothing. */
static const char *bad_extra(struct wish *w)
{
    for (uint32_t i = 0; i < w->wanted->nextra; i++) {
        const struct user_extra *e = &w->wanted->extra[i];
        struct names values = {e->values, e->nvalues};
        if (e->key.n == 0)
            return "impersonating the empty string key in extra is not allowed";
        if (!is_prefixed_path(e->key))
            return arena_printf(w->r->a,
                                "impersonating an invalid key in extra is not allowed: "
                                "extra.key: Invalid value: \"%.*s\": must be a "
                                "domain-prefixed path (such as \"acme.io/foo\")",
                                STR_ARG(e->key))
                .p;
        if (has_upper(e->key))
            return arena_printf(w->r->a,
                                "impersonating a non-lowercase key in extra is not "
                                "allowed: \"%.*s\"",
                                STR_ARG(e->key))
                .p;
        if (names_have(&values, STR("")))
            return "impersonating the empty string value in extra is not allowed";
    }
    return NULL;
}

static uint32_t count_extra(const struct user *u)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->nextra; i++)
        n += u->extra[i].nvalues;
    return n;
}

static bool may_have_extra(struct wish *w)
{
    const struct user *to = w->wanted;
    struct attributes want = right(w, false, "userextras", STR(""));
    const char *bad = w->mode ? bad_extra(w) : NULL;
    if (bad)
        return refuse(w, &want, bad);
    want.subresource = STR("*");
    if (w->mode && count_extra(to) >= MANY && may_all(w, want))
        return true;
    for (uint32_t i = 0; i < to->nextra; i++)
        for (uint32_t k = 0; k < to->extra[i].nvalues; k++) {
            want.subresource = to->extra[i].key;
            want.name = to->extra[i].values[k];
            if (!check(w, &want))
                return false;
        }
    return true;
}

static bool may_be(struct wish *w, struct user *as)
{
    *as = *w->wanted;
    return may_be_named(w, as) && may_have_uid(w) && may_be_in(w) && may_have_extra(w);
}

static bool may_be_for_this(struct wish *w, struct user *as)
{
    struct attributes asks = *w->asks;
    asks.verb = arena_printf(w->r->a, "%s%.*s", w->mode->on, STR_ARG(w->asks->verb));
    w->verb = w->mode->verb;
    return check(w, &asks) && may_be(w, as);
}

/* ---- all modes ---- */

static bool find_mode(struct wish *w, struct user *as)
{
    struct failure first = {0};
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        w->mode = &MODES[i];
        if (!MODES[i].fits(w))
            continue;
        if (may_be_for_this(w, as))
            return true;
        if (!first.code)
            first = w->r->failure;
    }
    w->mode = NULL;
    w->verb = "impersonate";
    if (may_be(w, as))
        return true;
    if (first.code)
        w->r->failure = first;
    return false;
}

static void add_go_list(struct strbuf *b, const struct str *v, uint32_t n)
{
    strbuf_adds(b, n ? "[]string{" : "[]string(nil)");
    for (uint32_t i = 0; i < n; i++) {
        strbuf_adds(b, i ? ", " : "");
        strbuf_add_quoted(b, v[i]);
    }
    strbuf_adds(b, n ? "}" : "");
}

static bool fail_without_name(struct request *r, const struct user *u)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "UID:");
    strbuf_add_quoted(&b, u->uid);
    strbuf_adds(&b, ", Groups:");
    add_go_list(&b, u->groups, u->ngroups);
    strbuf_adds(&b, u->nextra ? ", Extra:map[string][]string{"
                              : ", Extra:map[string][]string(nil)");
    for (uint32_t i = 0; i < u->nextra; i++) {
        strbuf_adds(&b, i ? ", " : "");
        strbuf_add_quoted(&b, u->extra[i].key);
        strbuf_addc(&b, ':');
        add_go_list(&b, u->extra[i].values, u->extra[i].nvalues);
    }
    strbuf_adds(&b, u->nextra ? "}" : "");
    fail_bad(r,
             "requested &user.DefaultInfo{Name:\"\", %s} without impersonating a user "
             "name",
             strbuf_cstr(&b));
    strbuf_release(&b);
    return false;
}

bool user_impersonate(struct request *r, struct user *u)
{
    if (!count_headers(r->x, STR("impersonate-"), false))
        return true;
    struct user wanted = wanted_user(r), as;
    if (wanted.name.n == 0)
        return only_name(&wanted) || fail_without_name(r, &wanted);
    struct attributes asks = authorize_attributes(r);
    struct wish w = {.r = r, .u = u, .wanted = &wanted, .asks = &asks};
    if (!find_mode(&w, &as))
        return false;
    if (str_is(as.name, "system:anonymous"))
        user_add_group(&as, STR("system:unauthenticated"), r->a);
    else if (!user_in_group(&as, "system:unauthenticated"))
        user_add_group(&as, STR("system:authenticated"), r->a);
    as.admin = user_in_group(&as, "system:masters");
    *u = as;
    return true;
}
