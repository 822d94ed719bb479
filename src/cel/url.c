/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/url.h"

#include <ctype.h>

#include "base/quote.h"
#include "cel/netaddr.h"

/* ---- Percent encoding ---- */

/* Where a text stands decides which bytes may be written plainly there. */
struct place {
    const char *plain; /* besides ASCII letters and digits */
    enum { PATH, HOST, ZONE, USER, QUERY, FRAGMENT } kind;
};

#define HOST_PLAIN "!\"$&'()*+,-.:;<=>[]_~"

static const struct place in_path = {"$&+,-./:;=@_~", PATH};
static const struct place in_host = {HOST_PLAIN, HOST};
static const struct place in_zone = {HOST_PLAIN, ZONE};
static const struct place in_user = {"$&+,-.;=_~", USER};
static const struct place in_query = {"-._~", QUERY};
static const struct place in_fragment = {"!$&()*+,-./:;=?@_~", FRAGMENT};

static bool is_plain(unsigned char c, const struct place *p)
{
    return (c < 0x80 && isalnum(c)) || (c != 0 && strchr(p->plain, c));
}

/* The byte that "%41" at the front of s stands for; -1: that is no escape. */
static int escaped_byte(struct str s)
{
    int high = s.n >= 3 ? str_hex_digit(s.p[1]) : -1;
    int low = s.n >= 3 ? str_hex_digit(s.p[2]) : -1;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool bad_text(struct err *e, const char *before, struct str text,
                     const char *after)
{
    struct strbuf q = STRBUF_INIT;
    strbuf_add_quoted(&q, text);
    err_set(e, ERR_INVALID, "%s%s%s", before, strbuf_cstr(&q), after);
    strbuf_release(&q);
    return false;
}

/* Hosts escape bytes beyond ASCII only, zones only what a host may hold or a space; both
 * may escape the percent sign. */
static bool may_escape(int byte, const struct place *p)
{
    if (byte == '%')
        return true;
    if (p->kind == HOST)
        return byte >= 0x80;
    return p->kind != ZONE || byte == ' ' || is_plain((unsigned char)byte, p);
}

static bool unescape(struct str s, const struct place *p, struct strbuf *out,
                     struct err *e)
{
    bool strict = p->kind == HOST || p->kind == ZONE;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '%') {
            struct str code = str_sub(s, i, i + 3);
            int byte = escaped_byte(code);
            if (byte < 0 || !may_escape(byte, p))
                return bad_text(e, "invalid URL escape ", code, "");
            strbuf_addc(out, (char)byte);
            i += 2;
        } else if (strict && c < 0x80 && !is_plain(c, p)) {
            return bad_text(e, "invalid character ", str_sub(s, i, i + 1),
                            " in host name");
        } else {
            strbuf_addc(out, c == '+' && p->kind == QUERY ? ' ' : (char)c);
        }
    }
    return true;
}

static void escape(struct str s, const struct place *p, struct strbuf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (is_plain(c, p))
            strbuf_addc(out, (char)c);
        else
            strbuf_addf(out, "%%%02X", c);
    }
}

static bool is_valid_encoding(struct str s, const struct place *p)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (!is_plain(c, p) && (c == 0 || !strchr("!$&'()*+,;=:@[]%", c)))
            return false;
    }
    return true;
}

/* A path or a fragment as it prints: as written where that is a valid encoding. */
static bool normal_encoding(struct str s, const struct place *p, struct strbuf *out,
                            struct err *e)
{
    struct strbuf plain = STRBUF_INIT;
    bool ok = unescape(s, p, &plain, e);
    if (ok && is_valid_encoding(s, p))
        strbuf_addstr(out, s);
    else if (ok)
        escape(strbuf_str(&plain), p, out);
    strbuf_release(&plain);
    return ok;
}

/* ---- The parts ---- */

/* Everything a parse finds; text parts borrow from the input but where noted. */
struct parts {
    struct str scheme; /* as written */
    struct str opaque, query;
    bool has_user, has_password, omit_host, force_query;
    struct strbuf user, password; /* unescaped */
    struct strbuf host;
    struct strbuf path; /* normal encoding */
    struct strbuf fragment;
};

static void parts_release(struct parts *u)
{
    strbuf_release(&u->user);
    strbuf_release(&u->password);
    strbuf_release(&u->host);
    strbuf_release(&u->path);
    strbuf_release(&u->fragment);
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool take_scheme(struct str *rest, struct parts *u, struct err *e)
{
    for (size_t i = 0; i < rest->n; i++) {
        unsigned char c = (unsigned char)rest->p[i];
        if (c == ':') {
            if (i == 0)
                return err_set(e, ERR_INVALID, "missing protocol scheme");
            u->scheme = str_sub(*rest, 0, i);
            *rest = str_sub(*rest, i + 1, rest->n);
            return true;
        }
        bool letter = c < 0x80 && isalpha(c);
        bool inner = (c < 0x80 && isdigit(c)) || c == '+' || c == '-' || c == '.';
        if (!letter && !(inner && i > 0))
            return true;
    }
    return true;
}

/* A query of nothing but its question mark is printed again. */
static void take_query(struct str *rest, struct parts *u)
{
    size_t mark = str_find_byte(*rest, '?', 0);
    if (mark == SIZE_MAX)
        return;
    u->force_query = mark + 1 == rest->n;
    u->query = str_sub(*rest, mark + 1, rest->n);
    rest->n = mark;
}

/* Empty or ":" and digits. */
static bool is_port(struct str s)
{
    if (s.n > 0 && s.p[0] != ':')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

static bool check_port(struct str s, struct err *e)
{
    return is_port(s) || bad_text(e, "invalid port ", s, " after host");
}

static bool check_literal(struct str address, struct err *e)
{
    struct cel_ip ip;
    bool zoned;
    if (!netaddr_parse(address, &ip, &zoned, e))
        return err_wrap(e, "invalid host");
    return ip.size == IP6_SIZE || err_set(e, ERR_INVALID, "invalid IP-literal");
}

/* "[address]:port", where %25 brings in a zone. */
static bool take_literal(struct str host, struct parts *u, struct err *e)
{
    size_t close = str_rfind_byte(host, ']');
    if (close == SIZE_MAX)
        return err_set(e, ERR_INVALID, "missing ']' in host");
    struct str port = str_sub(host, close + 1, host.n), name = str_sub(host, 1, close);
    if (!check_port(port, e))
        return false;
    size_t zone = str_find(name, STR("%25"));
    struct str address = str_sub(name, 0, zone);
    strbuf_addc(&u->host, '[');
    if (!unescape(address, &in_host, &u->host, e))
        return false;
    if (zone != SIZE_MAX && !unescape(str_sub(name, zone, name.n), &in_zone, &u->host, e))
        return false;
    if (!check_literal(str_sub(strbuf_str(&u->host), 1, u->host.n), e))
        return false;
    strbuf_addc(&u->host, ']');
    strbuf_addstr(&u->host, port);
    return true;
}

static bool is_scheme(struct str scheme, const char *name)
{
    return scheme.n == strlen(name) && strncasecmp(scheme.p, name, scheme.n) == 0;
}

static bool take_host(struct str host, struct parts *u, struct err *e)
{
    size_t bracket = str_rfind_byte(host, '[');
    if (bracket == 0)
        return take_literal(host, u, e);
    if (bracket != SIZE_MAX)
        return err_set(e, ERR_INVALID, "invalid IP-literal");
    bool strict = is_scheme(u->scheme, "http") || is_scheme(u->scheme, "https");
    size_t colon = strict ? str_find_byte(host, ':', 0) : str_rfind_byte(host, ':');
    if (colon != SIZE_MAX && !check_port(str_sub(host, colon, host.n), e))
        return false;
    return unescape(host, &in_host, &u->host, e);
}

static bool is_userinfo(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (!(c < 0x80 && isalnum(c)) && (c == 0 || !strchr("-._:~!$&'()*+,;=%@", c)))
            return false;
    }
    return true;
}

static bool take_user(struct str info, struct parts *u, struct err *e)
{
    if (!is_userinfo(info))
        return err_set(e, ERR_INVALID, "net/url: invalid userinfo");
    size_t colon = str_find_byte(info, ':', 0);
    u->has_user = true;
    u->has_password = colon != SIZE_MAX;
    if (!unescape(str_sub(info, 0, colon), &in_user, &u->user, e))
        return false;
    return !u->has_password ||
           unescape(str_sub(info, colon + 1, info.n), &in_user, &u->password, e);
}

static bool take_authority(struct str *rest, struct parts *u, struct err *e)
{
    struct str authority = str_sub(*rest, 2, rest->n);
    size_t slash = str_find_byte(authority, '/', 0);
    *rest = slash == SIZE_MAX ? STR("") : str_sub(authority, slash, authority.n);
    authority = str_sub(authority, 0, slash);
    size_t at = str_rfind_byte(authority, '@');
    struct str host =
        at == SIZE_MAX ? authority : str_sub(authority, at + 1, authority.n);
    return take_host(host, u, e) &&
           (at == SIZE_MAX || take_user(str_sub(authority, 0, at), u, e));
}

/* request: Go's ParseRequestURI, which wants an absolute URI or path. */
static bool parse_parts(struct str text, bool request, struct parts *u, struct err *e)
{
    struct str rest = text;
    if (has_control(text))
        return err_set(e, ERR_INVALID, "net/url: invalid control character in URL");
    if (text.n == 0 && request)
        return err_set(e, ERR_INVALID, "empty url");
    if (str_is(text, "*")) {
        strbuf_adds(&u->path, "*");
        return true;
    }
    if (!take_scheme(&rest, u, e))
        return false;
    take_query(&rest, u);
    if (!str_starts(rest, STR("/"))) {
        if (u->scheme.n == 0)
            return err_set(e, ERR_INVALID, "invalid URI for request");
        u->opaque = rest;
        return true;
    }
    bool slashes = str_starts(rest, STR("//"));
    bool authority = u->scheme.n > 0 || (!request && !str_starts(rest, STR("///")));
    u->omit_host = u->scheme.n > 0 && !slashes;
    if (slashes && authority && !take_authority(&rest, u, e))
        return false;
    return normal_encoding(rest, &in_path, &u->path, e);
}

/* ---- The URL as it prints ---- */

static void print_authority(const struct parts *u, struct strbuf *out)
{
    if (u->host.n == 0 && u->path.n == 0 && !u->has_user)
        return;
    strbuf_adds(out, "//");
    if (u->has_user) {
        escape(strbuf_str(&u->user), &in_user, out);
        if (u->has_password)
            strbuf_addc(out, ':');
        escape(strbuf_str(&u->password), &in_user, out);
        strbuf_addc(out, '@');
    }
    escape(strbuf_str(&u->host), &in_host, out);
}

static void print_scheme(struct str scheme, struct strbuf *out)
{
    for (size_t i = 0; i < scheme.n; i++)
        strbuf_addc(out, (char)tolower((unsigned char)scheme.p[i]));
}

static void print_parts(const struct parts *u, struct strbuf *out)
{
    if (u->scheme.n) {
        print_scheme(u->scheme, out);
        strbuf_addc(out, ':');
    }
    if (u->opaque.n) {
        strbuf_addstr(out, u->opaque);
    } else {
        if (!u->omit_host && (u->scheme.n || u->host.n || u->has_user))
            print_authority(u, out);
        strbuf_addstr(out, strbuf_str(&u->path));
    }
    if (u->force_query || u->query.n)
        strbuf_addc(out, '?');
    strbuf_addstr(out, u->query);
    if (u->fragment.n)
        strbuf_addc(out, '#');
    strbuf_addstr(out, strbuf_str(&u->fragment));
}

/* ---- Parsing ---- */

static bool in_parse(struct err *e, struct str text)
{
    struct strbuf q = STRBUF_INIT;
    strbuf_add_quoted(&q, text);
    err_wrap(e, "parse %s", strbuf_cstr(&q));
    strbuf_release(&q);
    return false;
}

bool url_check(struct str text, struct err *e)
{
    struct parts u = {0};
    bool ok = parse_parts(text, true, &u, e) || in_parse(e, text);
    parts_release(&u);
    return ok;
}

static bool parse_with_fragment(struct str text, struct parts *u, struct err *e)
{
    size_t hash = str_find_byte(text, '#', 0);
    struct str before = str_sub(text, 0, hash);
    if (!parse_parts(before, false, u, e))
        return in_parse(e, before);
    if (hash == SIZE_MAX)
        return true;
    return normal_encoding(str_sub(text, hash + 1, text.n), &in_fragment, &u->fragment,
                           e) ||
           in_parse(e, text);
}

bool url_parse(struct str text, struct arena *a, struct cel_url *out, struct err *e)
{
    struct parts u = {0};
    if (!url_check(text, e))
        return false;
    bool ok = parse_with_fragment(text, &u, e);
    if (ok) {
        struct strbuf b = STRBUF_INIT;
        print_scheme(u.scheme, &b);
        out->scheme = arena_str(a, strbuf_str(&b));
        out->host = arena_str(a, strbuf_str(&u.host));
        out->path = arena_str(a, strbuf_str(&u.path));
        out->query = arena_str(a, u.query);
        strbuf_clear(&b);
        print_parts(&u, &b);
        out->text = arena_str(a, strbuf_str(&b));
        strbuf_release(&b);
    }
    parts_release(&u);
    return ok;
}

/* ---- Looking at a URL ---- */

/* Start of the port's colon, or the end. */
static size_t port_at(struct str host)
{
    size_t colon = str_rfind_byte(host, ':');
    bool port = colon != SIZE_MAX && is_port(str_sub(host, colon, host.n));
    return port ? colon : host.n;
}

struct str url_hostname(const struct cel_url *u)
{
    struct str name = str_sub(u->host, 0, port_at(u->host));
    bool bracketed = str_starts(name, STR("[")) && str_ends(name, STR("]"));
    return bracketed ? str_sub(name, 1, name.n - 1) : name;
}

struct str url_port(const struct cel_url *u)
{
    return str_sub(u->host, port_at(u->host) + 1, u->host.n);
}

static bool unescape_query(struct str s, struct arena *a, struct str *out)
{
    struct strbuf b = STRBUF_INIT;
    bool ok = unescape(s, &in_query, &b, NULL);
    *out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return ok;
}

bool url_next_parameter(struct str *rest, struct arena *a, struct str *key,
                        struct str *value)
{
    while (rest->n) {
        size_t end = str_find_byte(*rest, '&', 0);
        struct str pair = str_sub(*rest, 0, end);
        *rest = end == SIZE_MAX ? STR("") : str_sub(*rest, end + 1, rest->n);
        if (pair.n == 0 || str_find_byte(pair, ';', 0) != SIZE_MAX)
            continue;
        size_t equals = str_find_byte(pair, '=', 0);
        struct str after =
            equals == SIZE_MAX ? STR("") : str_sub(pair, equals + 1, pair.n);
        if (unescape_query(str_sub(pair, 0, equals), a, key) &&
            unescape_query(after, a, value))
            return true;
    }
    return false;
}
