/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/token.h"
#include "server/access/token_used.h"

#include <time.h>

#include "api/timestamp.h"
#include "base/base64.h"
#include "base/quote.h"
#include "server/access/auth.h"
#include "server/access/bootstrap_token.h"
#include "server/rest/write.h"

enum {
    LEEWAY = 60,             /* seconds that clocks may differ */
    BELIEVED_MS = 10 * 1000, /* what was found valid */
    MAX_BELIEVED = 32768,
    MIN_LIMIT_MS = 3600 * 1000, /* of how long new tokens live */
};
#define MAX_LIMIT_MS (UINT64_C(1000) << 32)

static const char DEFAULT_ISSUER[] = "https://kubernetes.default.svc.cluster.local";
/* Of tokens that a controller keeps in Secrets. */
static const char LEGACY_ISSUER[] = "kubernetes/serviceaccount";

struct static_token {
    struct str token;
    struct user user;
};

struct believed { /* a token that was found valid */
    struct arena arena;
    struct str key;
    struct user user;
    struct names meant;
    uint64_t until; /* of the loop's clock */
};

struct tokens {
    struct arena arena;
    VEC(struct jwt_key *) keys;
    const struct jwt_key *signer;
    struct names issuers, audiences;
    VEC(struct static_token) fixed;
    struct strmap believed;
    struct str jwks, discovery;
};

/* ---- start ---- */

/* "A,B" */
static struct names split_list(const char *list, struct arena *a)
{
    struct str s = str_from(list ? list : "");
    struct str *v = ARENA_ARRAY(a, struct str, s.n + 1);
    struct names names = {v, 0};
    for (struct str rest = s, part; str_split_next(&rest, ',', &part);) {
        v[names.n++] = arena_str(a, str_trim(part));
    }
    return names;
}

static void add_key(void *ctx, struct jwt_key *k)
{
    struct tokens *t = ctx;
    vec_push(&t->keys, k);
}

static bool read_keys(struct tokens *t, const char *path, struct err *e)
{
    struct arena a = {0};
    struct str pem;
    struct err why = ERR_INIT;
    bool ok = dir_read_file(&a, path, &pem, e);
    if (ok && !jwt_keys_read(pem, add_key, t, &why)) {
        err_set(e, ERR_INVALID, "%s: %s", path, err_text(&why));
        ok = false;
    }
    err_release(&why);
    arena_fini(&a);
    return ok;
}

/* The key that signs: of the option's file, or the folder's own. It verifies too. */
static bool read_signer(struct tokens *t, const struct dir *d, const char *path,
                        struct err *e)
{
    size_t before = t->keys.n;
    bool ok = path ? read_keys(t, path, e) : jwt_keys_read(d->token_key, add_key, t, e);
    for (size_t i = before; ok && i < t->keys.n && !t->signer; i++)
        if (jwt_key_signs(t->keys.v[i]))
            t->signer = t->keys.v[i];
    if (!ok || t->signer)
        return ok;
    return err_set(e, ERR_INVALID, "%s: there is no private key in it",
                   path ? path : "sa.key");
}

/* A field of a line of comma-separated values; quotes may surround it. */
static struct str next_field(struct str line, size_t *at, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    bool quoted = *at < line.n && line.p[*at] == '"';
    for (*at += quoted; *at < line.n; ++*at) {
        char c = line.p[*at];
        bool twice = quoted && c == '"' && *at + 1 < line.n && line.p[*at + 1] == '"';
        if ((!quoted && c == ',') || (quoted && c == '"' && !twice))
            break;
        *at += twice;
        strbuf_addc(&b, c);
    }
    *at += quoted && *at < line.n;
    *at += *at < line.n && line.p[*at] == ',';
    struct str field = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return field;
}

/* TOKEN,USER,UID[,"GROUP,..."] */
static bool read_token_line(struct tokens *t, struct str line)
{
    struct str fields[4] = {STR("")};
    size_t at = 0;
    int n = 0;
    while (n < 4 && at < line.n)
        fields[n++] = str_trim(next_field(line, &at, &t->arena));
    if (n < 3 || fields[0].n == 0 || fields[1].n == 0)
        return false;
    struct names groups = split_list(n == 4 ? fields[3].p : NULL, &t->arena);
    struct user u = {
        .name = fields[1], .uid = fields[2], .groups = groups.v, .ngroups = groups.n};
    vec_push(&t->fixed, (struct static_token){fields[0], u});
    return true;
}

static bool read_token_file(struct tokens *t, const char *path, struct err *e)
{
    struct str text;
    if (!dir_read_file(&t->arena, path, &text, e))
        return false;
    unsigned number = 0;
    for (size_t at = 0; at < text.n;) {
        size_t end = str_find_byte(text, '\n', at);
        struct str line = str_trim(str_sub(text, at, end));
        number++;
        if (line.n && line.p[0] != '#' && !read_token_line(t, line))
            return err_set(e, ERR_INVALID,
                           "%s:%u: a line is TOKEN,USER,UID or TOKEN,USER,UID,\"GROUPS\"",
                           path, number);
        at = end == SIZE_MAX ? text.n : end + 1;
    }
    return true;
}

static void make_jwks(struct tokens *t)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "{\"keys\":[");
    for (size_t i = 0; i < t->keys.n; i++)
        strbuf_addf(&b, "%s%s", i ? "," : "", jwt_key_jwk(t->keys.v[i], &t->arena).p);
    strbuf_adds(&b, "]}");
    t->jwks = arena_str(&t->arena, strbuf_str(&b));
    strbuf_release(&b);
}

static bool fill(struct tokens *t, struct server *s, const struct server_opts *o,
                 struct err *e)
{
    t->issuers =
        split_list(o->token_issuers ? o->token_issuers : DEFAULT_ISSUER, &t->arena);
    t->audiences = o->audiences ? split_list(o->audiences, &t->arena) : t->issuers;
    if (o->max_token_ms &&
        (o->max_token_ms < MIN_LIMIT_MS || o->max_token_ms > MAX_LIMIT_MS))
        return err_set(e, ERR_INVALID,
                       "--service-account-max-token-expiration: it is between 1h and "
                       "2^32 seconds");
    if (!read_signer(t, &s->dir, o->token_signing_key, e))
        return false;
    struct names files = split_list(o->token_keys, &t->arena);
    for (uint32_t i = 0; i < files.n; i++)
        if (!read_keys(t, files.v[i].p, e))
            return false;
    make_jwks(t);
    return !o->token_file || read_token_file(t, o->token_file, e);
}

struct tokens *tokens_new(struct server *s, const struct server_opts *o, struct err *e)
{
    struct tokens *t = mem_zalloc(sizeof *t);
    if (fill(t, s, o, e))
        return t;
    tokens_free(t);
    return NULL;
}

static void believed_free(struct believed *b)
{
    arena_fini(&b->arena);
    free(b);
}

static void forget(struct tokens *t)
{
    strmap_each(&t->believed, e) believed_free(e->value.ptr);
    strmap_clear(&t->believed);
}

void tokens_free(struct tokens *t)
{
    if (!t)
        return;
    forget(t);
    strmap_release(&t->believed);
    for (size_t i = 0; i < t->keys.n; i++)
        jwt_key_free(t->keys.v[i]);
    vec_release(&t->keys);
    vec_release(&t->fixed);
    arena_fini(&t->arena);
    free(t);
}

const struct names *tokens_audiences(const struct tokens *t)
{
    return &t->audiences;
}

/* ---- checks ---- */

struct checking {
    struct server *s;
    struct tokens *t;
    struct str token;
    const struct names *audiences;
    struct arena *a;
    struct user *out;
    struct names *meant;
    struct str *why;
};

static bool wrong(struct checking *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static bool wrong(struct checking *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *c->why = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    return false;
}

static struct names common(const struct names *x, const struct names *y, struct arena *a)
{
    struct str *v = ARENA_ARRAY(a, struct str, x->n);
    struct names names = {v, 0};
    for (uint32_t i = 0; i < x->n; i++)
        if (names_have(y, x->v[i]))
            v[names.n++] = x->v[i];
    return names;
}

/* As Go prints a list with %q. */
static const char *quoted_list(const struct names *names, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addc(&b, '[');
    for (uint32_t i = 0; i < names->n; i++) {
        strbuf_adds(&b, i ? " " : "");
        strbuf_add_quoted(&b, names->v[i]);
    }
    strbuf_addc(&b, ']');
    const char *text = arena_str(a, strbuf_str(&b)).p;
    strbuf_release(&b);
    return text;
}

/* The object and its uid and time of deletion (0: none); false: it is not there. */
static bool find_object(struct checking *c, const char *prefix, struct str namespace,
                        struct str name, struct doc *out)
{
    const struct resource *res = kinds_of_key(c->s, str_from(prefix));
    struct cache_object *o =
        res ? cache_get(c->s->cache, object_key(res, namespace, name, c->a)) : NULL;
    if (!o)
        return false;
    *out = object_doc(o, c->a);
    return true;
}

static bool was_deleted(const struct doc *d, int64_t now)
{
    int64_t seconds;
    int32_t nanos;
    struct str text = meta_text(d, "deletionTimestamp");
    return text.n && timestamp_parse(text, &seconds, &nanos) && seconds < now - LEEWAY;
}

/* An object that the token is bound to: it must be the same still. */
static bool check_bound(struct checking *c, const char *prefix, const char *what,
                        struct str namespace, const struct doc *ref, int64_t now)
{
    struct doc d;
    struct str uid = doc_get_text(ref, "uid");
    if (!find_object(c, prefix, namespace, doc_get_text(ref, "name"), &d))
        return wrong(c, "service account token has been invalidated");
    struct str is = meta_text(&d, "uid");
    if (!str_eq(is, uid))
        return wrong(c,
                     "%c%s UID (%.*s) does not match service account %s ref claim "
                     "(%.*s)",
                     what[0] == 'p' ? 'p' : what[0] - 32, what + 1, STR_ARG(is), what,
                     STR_ARG(uid));
    return !was_deleted(&d, now) ||
           wrong(c, "service account token has been invalidated");
}

static const char ACCOUNTS[] = "/registry/core/serviceaccounts/",
                  SECRETS[] = "/registry/core/secrets/", PODS[] = "/registry/core/pods/",
                  NODES[] = "/registry/core/nodes/";

static bool check_account(struct checking *c, struct str namespace, struct str name,
                          struct str uid, int64_t now)
{
    struct doc d;
    if (!find_object(c, ACCOUNTS, namespace, name, &d))
        return wrong(c, "serviceaccounts \"%.*s\" not found", STR_ARG(name));
    struct str is = meta_text(&d, "uid");
    if (!str_eq(is, uid))
        return wrong(c, "service account UID (%.*s) does not match claim (%.*s)",
                     STR_ARG(is), STR_ARG(uid));
    return !was_deleted(&d, now) || wrong(c, "service account %.*s/%.*s has been deleted",
                                          STR_ARG(namespace), STR_ARG(name));
}

static bool check_times(struct checking *c, const struct doc *claims, int64_t now)
{
    double t;
    if (doc_double(doc_get(claims, "nbf"), &t) && (double)(now + LEEWAY) < t)
        return wrong(c, "service account token is not valid yet");
    if (doc_double(doc_get(claims, "exp"), &t) && (double)(now - LEEWAY) > t)
        return wrong(c, "service account token has expired");
    if (doc_double(doc_get(claims, "iat"), &t) && (double)(now + LEEWAY) < t)
        return wrong(c, "service account token is issued in the future");
    return true;
}

/* ---- the user of an account's token ---- */

static void add_extra(struct user *u, struct arena *a, const char *key, struct str value)
{
    struct user_extra *v = ARENA_ARRAY(a, struct user_extra, u->nextra + 1);
    struct str *values = ARENA_ARRAY(a, struct str, 1);
    if (u->nextra)
        memcpy(v, u->extra, u->nextra * sizeof *v);
    values[0] = value;
    v[u->nextra++] = (struct user_extra){str_from(key), values, 1};
    u->extra = v;
}

static struct user account_user(struct arena *a, struct str namespace, struct str name,
                                struct str uid)
{
    struct user u = {.name = arena_printf(a, "system:serviceaccount:%.*s:%.*s",
                                          STR_ARG(namespace), STR_ARG(name)),
                     .uid = uid};
    user_add_group(&u, STR("system:serviceaccounts"), a);
    user_add_group(&u, arena_printf(a, "system:serviceaccounts:%.*s", STR_ARG(namespace)),
                   a);
    return u;
}

/* Sorted by key. */
static void add_extras(struct checking *c, const struct doc *claims,
                       const struct doc *bound)
{
    const struct doc *pod = doc_get(bound, "pod"), *node = doc_get(bound, "node");
    struct str id = doc_get_text(claims, "jti");
    if (id.n)
        add_extra(c->out, c->a, "authentication.kubernetes.io/credential-id",
                  arena_printf(c->a, "JTI=%.*s", STR_ARG(id)));
    const struct {
        const char *key;
        struct str value;
    } ROWS[] = {
        {"authentication.kubernetes.io/node-name", doc_get_text(node, "name")},
        {"authentication.kubernetes.io/node-uid", doc_get_text(node, "uid")},
        {"authentication.kubernetes.io/pod-name", doc_get_text(pod, "name")},
        {"authentication.kubernetes.io/pod-uid", doc_get_text(pod, "uid")},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].value.n)
            add_extra(c->out, c->a, ROWS[i].key, ROWS[i].value);
}

static bool is_there(const struct doc *d)
{
    return d && d->type == DOC_MAP;
}

static bool check_claims(struct checking *c, const struct doc *claims)
{
    int64_t now = time(NULL);
    const struct doc *k = doc_get(claims, "kubernetes.io");
    const struct doc *account = doc_get(k, "serviceaccount"), *pod = doc_get(k, "pod"),
                     *secret = doc_get(k, "secret"), *node = doc_get(k, "node");
    struct str namespace = doc_get_text(k, "namespace");
    struct str name = doc_get_text(account, "name"), uid = doc_get_text(account, "uid");
    static const char *const WEBHOOKS[] = {"validatingwebhookconfiguration",
                                           "mutatingwebhookconfiguration"};
    if (!check_times(c, claims, now) || !check_account(c, namespace, name, uid, now))
        return false;
    if (is_there(secret) && !check_bound(c, SECRETS, "secret", namespace, secret, now))
        return false;
    if (is_there(pod) && !check_bound(c, PODS, "pod", namespace, pod, now))
        return false;
    if (is_there(node) && !is_there(pod) &&
        !check_bound(c, NODES, "node", STR(""), node, now))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (is_there(doc_get(k, WEBHOOKS[i])))
            return wrong(c, "feature gate \"APIServerWebhookAuthenticationToken\" is "
                            "disabled, but token is webhook bound");
    *c->out = account_user(c->a, namespace, name, uid);
    add_extras(c, claims, k);
    return true;
}

/* Whether the account's own list names the Secret: then it was not made by hand. */
static bool is_generated(struct checking *c, struct str namespace, struct str account,
                         struct str secret)
{
    struct doc d;
    const struct doc *list =
        find_object(c, ACCOUNTS, namespace, account, &d) ? doc_get(&d, "secrets") : NULL;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), secret))
            return true;
    return false;
}

/* A token that a Secret holds: it is valid as long as the Secret is there. */
static bool check_legacy(struct checking *c, const struct doc *claims)
{
    static const char PREFIX[] = "kubernetes.io/serviceaccount/";
    static const char *const NAMES[] = {"namespace", "secret.name",
                                        "service-account.name", "service-account.uid"};
    struct str v[4], held = STR_NONE, sub_ns, sub_name;
    for (size_t i = 0; i < 4; i++) {
        v[i] = doc_get_text(claims, arena_printf(c->a, "%s%s", PREFIX, NAMES[i]).p);
        if (v[i].n == 0)
            return wrong(c, "%s claim is missing", NAMES[i]);
    }
    if (!user_split_account(doc_get_text(claims, "sub"), &sub_ns, &sub_name) ||
        !str_eq(sub_ns, v[0]) || !str_eq(sub_name, v[2]))
        return wrong(c, "sub claim is invalid");
    struct doc secret;
    if (!find_object(c, SECRETS, v[0], v[1], &secret) ||
        meta_text(&secret, "deletionTimestamp").n)
        return wrong(c, "Token has been invalidated");
    struct str data = doc_get_text(doc_get(&secret, "data"), "token");
    if (!base64_decode(data, c->a, &held) || !pki_equal(held, c->token))
        return wrong(c, "Token does not match server's copy");
    if (!check_account(c, v[0], v[2], v[3], time(NULL) + LEEWAY))
        return false;
    token_used(c->s, v[0], v[1]);
    const char *label = "kubernetes.io/legacy-token-invalid-since";
    if (doc_get_text(doc_path(&secret, "metadata.labels"), label).n)
        return wrong(c,
                     "the token in secret %.*s/%.*s for service account %.*s/%.*s has "
                     "been marked invalid. Use tokens from the TokenRequest API or "
                     "manually created secret-based tokens, or remove the '%s' label "
                     "from the secret to temporarily allow use of this token",
                     STR_ARG(v[0]), STR_ARG(v[1]), STR_ARG(v[0]), STR_ARG(v[2]), label);
    *c->out = account_user(c->a, v[0], v[2], v[3]);
    if (is_generated(c, v[0], v[2], v[1]))
        c->out->warning = STR("Use tokens from the TokenRequest API or manually created "
                              "secret-based tokens instead of auto-generated "
                              "secret-based tokens.");
    return true;
}

/* ---- signed tokens ---- */

static bool read_json(struct str text, struct arena *a, struct doc *out)
{
    struct doc_source src = {.name = "token", .text = text};
    return doc_read_json(&src, a, out, NULL) && out->type == DOC_MAP;
}

static struct names audience_of(const struct doc *claims, struct arena *a)
{
    const struct doc *aud = doc_get(claims, "aud");
    struct doc list = doc_make_list();
    if (!aud || aud->type != DOC_STRING)
        return names_read(aud, a);
    doc_append(a, &list, *aud);
    return names_read(&list, a);
}

static bool check_signature(struct checking *c, const struct jwt *t)
{
    struct doc header;
    if (!read_json(t->header, c->a, &header) || doc_get(&header, "crit"))
        return false;
    struct str id = doc_get_text(&header, "kid"), alg = doc_get_text(&header, "alg");
    bool any = false;
    for (size_t i = 0; i < c->t->keys.n; i++) {
        const struct jwt_key *k = c->t->keys.v[i];
        if (id.n && !str_eq(id, jwt_key_id(k)))
            continue;
        any = true;
        if (jwt_verify(k, t, alg))
            return true;
    }
    return wrong(c, any ? "invalid signature" : "invalid signature, no keys found");
}

static bool check_signed(struct checking *c)
{
    struct jwt t;
    struct doc claims;
    if (!jwt_parse(c->token, c->a, &t) || !read_json(t.payload, c->a, &claims))
        return false;
    struct str issuer = doc_get_text(&claims, "iss");
    bool legacy = str_is(issuer, LEGACY_ISSUER);
    if ((!legacy && !names_have(&c->t->issuers, issuer)) || !check_signature(c, &t))
        return false;
    struct names aud = audience_of(&claims, c->a);
    if (aud.n == 0)
        aud = c->t->audiences;
    *c->meant = common(&aud, c->audiences, c->a);
    if (c->meant->n == 0)
        return wrong(c, "token audiences %s is invalid for the target audiences %s",
                     quoted_list(&aud, c->a), quoted_list(c->audiences, c->a));
    return legacy ? check_legacy(c, &claims) : check_claims(c, &claims);
}

/* ---- tokens of the file ---- */

static bool check_fixed(struct checking *c)
{
    for (size_t i = 0; i < c->t->fixed.n; i++)
        if (pki_equal(c->t->fixed.v[i].token, c->token)) {
            *c->out = c->t->fixed.v[i].user;
            *c->meant = common(&c->t->audiences, c->audiences, c->a);
            return c->meant->n > 0;
        }
    return false;
}

static bool check_bootstrap(struct checking *c)
{
    if (!c->s->opts.bootstrap_tokens ||
        !bootstrap_token_check(c->s, c->token, c->a, c->out))
        return false;
    *c->meant = common(&c->t->audiences, c->audiences, c->a);
    return c->meant->n > 0;
}

/* ---- what was found before ---- */

static struct names copy_names(struct names n, struct arena *a)
{
    struct str *v = ARENA_ARRAY(a, struct str, n.n);
    for (uint32_t i = 0; i < n.n; i++)
        v[i] = arena_str(a, n.v[i]);
    return (struct names){v, n.n};
}

static struct user copy_user(const struct user *u, struct arena *a)
{
    struct user_extra *extra = ARENA_ARRAY(a, struct user_extra, u->nextra);
    for (uint32_t i = 0; i < u->nextra; i++) {
        struct names v =
            copy_names((struct names){u->extra[i].values, u->extra[i].nvalues}, a);
        extra[i] = (struct user_extra){arena_str(a, u->extra[i].key), v.v, v.n};
    }
    struct user copy = *u;
    copy.name = arena_str(a, u->name);
    copy.uid = arena_str(a, u->uid);
    copy.warning = arena_str(a, u->warning);
    copy.groups = copy_names((struct names){u->groups, u->ngroups}, a).v;
    copy.extra = extra;
    return copy;
}

/* Of the token and who must be meant; the token itself is not kept. */
static struct str believed_key(struct checking *c)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addstr(&b, c->token);
    for (uint32_t i = 0; i < c->audiences->n; i++) {
        strbuf_addc(&b, '\n');
        strbuf_addstr(&b, c->audiences->v[i]);
    }
    struct str key = pki_sha256_hex(strbuf_str(&b), c->a);
    strbuf_release(&b);
    return key;
}

static bool recall(struct checking *c, struct str key)
{
    struct strmap_entry *e = strmap_find(&c->t->believed, key);
    struct believed *b = e ? e->value.ptr : NULL;
    if (!b)
        return false;
    if (net_now_ms(c->s->loop) >= b->until) {
        strmap_remove(&c->t->believed, b->key);
        believed_free(b);
        return false;
    }
    *c->out = copy_user(&b->user, c->a);
    *c->meant = copy_names(b->meant, c->a);
    return true;
}

static void believe(struct checking *c, struct str key)
{
    if (c->t->believed.live >= MAX_BELIEVED)
        forget(c->t);
    struct believed *b = mem_zalloc(sizeof *b);
    b->key = arena_str(&b->arena, key);
    b->user = copy_user(c->out, &b->arena);
    b->meant = copy_names(*c->meant, &b->arena);
    b->until = net_now_ms(c->s->loop) + BELIEVED_MS;
    strmap_put(&c->t->believed, b->key, NULL)->value.ptr = b;
}

bool tokens_check(struct server *s, struct str token, const struct names *audiences,
                  struct arena *a, struct user *out, struct names *meant, struct str *why)
{
    struct checking c = {s, s->auth->tokens, token, audiences, a, out, meant, why};
    *why = STR("");
    if (check_fixed(&c) || check_bootstrap(&c))
        return true;
    struct str key = believed_key(&c);
    if (recall(&c, key))
        return true;
    if (!check_signed(&c))
        return false;
    believe(&c, key);
    return true;
}

/* ---- new tokens ---- */

static void set_object(struct arena *a, struct doc *d, const char *key,
                       const struct token_object *o)
{
    struct doc ref = doc_make_map();
    if (o->name.n == 0)
        return;
    doc_set_text(a, &ref, "name", o->name);
    if (o->uid.n)
        doc_set_text(a, &ref, "uid", o->uid);
    doc_set(a, d, key, ref);
}

static struct doc claims_doc(struct tokens *t, const struct token_claims *c,
                             struct arena *a)
{
    struct doc d = doc_make_map(), k = doc_make_map(), aud = doc_make_list();
    for (uint32_t i = 0; i < c->audiences.n; i++)
        doc_append(a, &aud, doc_make_string(a, c->audiences.v[i]));
    doc_set_text(a, &k, "namespace", c->namespace);
    set_object(a, &k, "serviceaccount", &c->account);
    set_object(a, &k, "pod", &c->pod);
    set_object(a, &k, "secret", &c->secret);
    set_object(a, &k, "node", &c->node);
    if (c->warn_after)
        doc_set(a, &k, "warnafter", doc_make_int(a, c->now + c->warn_after));
    doc_set(a, &d, "aud", aud);
    doc_set(a, &d, "exp", doc_make_int(a, c->now + c->seconds));
    doc_set(a, &d, "iat", doc_make_int(a, c->now));
    doc_set_text(a, &d, "iss", t->issuers.v[0]);
    doc_set_text(a, &d, "jti", write_new_uid(a));
    doc_set(a, &d, "kubernetes.io", k);
    doc_set(a, &d, "nbf", doc_make_int(a, c->now));
    doc_set_text(a, &d, "sub",
                 arena_printf(a, "system:serviceaccount:%.*s:%.*s", STR_ARG(c->namespace),
                              STR_ARG(c->account.name)));
    return d;
}

bool tokens_issue(struct tokens *t, const struct token_claims *c, struct arena *a,
                  struct str *token, struct err *e)
{
    struct doc d = claims_doc(t, c, a);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_COMPACT | DOC_JSON_SORT, &b);
    bool ok = jwt_sign(t->signer, strbuf_str(&b), a, token, e);
    strbuf_release(&b);
    return ok;
}

/* ---- for those who check tokens elsewhere ---- */

struct str tokens_jwks(const struct tokens *t)
{
    return t->jwks;
}

struct str tokens_discovery(struct tokens *t, const char *url)
{
    static const char *const ALGORITHMS[] = {"ES256", "ES384", "ES512", "RS256"};
    if (t->discovery.p)
        return t->discovery;
    struct strbuf b = STRBUF_INIT;
    const char *comma = "";
    for (size_t i = 0; i < sizeof ALGORITHMS / sizeof *ALGORITHMS; i++)
        for (size_t k = 0; k < t->keys.n; k++)
            if (strcmp(jwt_key_algorithm(t->keys.v[k]), ALGORITHMS[i]) == 0) {
                strbuf_addf(&b, "%s\"%s\"", comma, ALGORITHMS[i]);
                comma = ",";
                break;
            }
    struct doc issuer = doc_make_string(&t->arena, t->issuers.v[0]);
    struct strbuf text = STRBUF_INIT;
    doc_write_json(&issuer, DOC_JSON_COMPACT, &text);
    t->discovery = arena_printf(
        &t->arena,
        "{\"issuer\":%s,\"jwks_uri\":\"%s/openid/v1/jwks\","
        "\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":"
        "[\"public\"],\"id_token_signing_alg_values_supported\":[%s]}",
        strbuf_cstr(&text), url, strbuf_cstr(&b));
    strbuf_release(&text);
    strbuf_release(&b);
    return t->discovery;
}
