/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses and CIDR prefixes, in two dialects that differ in error texts and a
 * function: Kubernetes' two libraries, and cel-go's network extension after them.
 */
#include "base/quote.h"
#include "cel/lib.h"
#include "cel/netaddr.h"

/* ---- Texts to addresses ---- */

static bool fail_quoted(struct err *e, const char *before, struct str text,
                        const char *after)
{
    struct strbuf q = STRBUF_INIT;
    strbuf_add_quoted(&q, text);
    err_set(e, ERR_INVALID, "%s%s%s", before, strbuf_cstr(&q), after);
    strbuf_release(&q);
    return false;
}

/* Puts "what "TEXT" parse error during conversion from string: " in front. */
static bool wrap_parse_error(struct err *e, const char *what, struct str text)
{
    struct strbuf q = STRBUF_INIT;
    strbuf_add_quoted(&q, text);
    err_wrap(e, "%s %s parse error during conversion from string", what, strbuf_cstr(&q));
    strbuf_release(&q);
    return false;
}

static bool not_mapped(const struct cel_ip *ip, struct str text, struct err *e)
{
    return !netaddr_is_4in6(ip) ||
           fail_quoted(e, "IPv4-mapped IPv6 address ", text, " is not allowed");
}

static bool parse_ip(struct str text, struct cel_ip *ip, struct err *e)
{
    bool zoned;
    if (!netaddr_parse(text, ip, &zoned, e))
        return wrap_parse_error(e, "IP Address", text);
    if (zoned)
        return fail_quoted(e, "IP address ", text, " with zone value is not allowed");
    return not_mapped(ip, text, e);
}

/* The public suite takes a mapped address written in hexadecimal for the IPv4 address. */
static bool parse_ip_network(struct str text, struct cel_ip *ip, struct err *e)
{
    struct cel_ip mapped;
    bool zoned;
    if (str_find_byte(text, '.', 0) != SIZE_MAX ||
        !netaddr_parse(text, &mapped, &zoned, NULL) || zoned || !netaddr_is_4in6(&mapped))
        return parse_ip(text, ip, e);
    *ip = netaddr_unmapped(&mapped);
    return true;
}

typedef bool parse_cidr_fn(struct str text, struct cel_cidr *c, struct err *e);

#define IN_ADDRESS "network address parse error during conversion from string"

static bool parse_cidr_k8s(struct str text, struct cel_cidr *c, struct err *e)
{
    if (!netaddr_parse_prefix(text, c, e))
        return err_wrap(e, IN_ADDRESS);
    return not_mapped(&c->ip, text, e);
}

static bool parse_cidr_network(struct str text, struct cel_cidr *c, struct err *e)
{
    if (!netaddr_parse_prefix(text, c, e))
        return wrap_parse_error(e, "CIDR", text);
    return not_mapped(&c->ip, text, e);
}

/* ---- Addresses ---- */

static struct cel_value ip_value(struct cel_run *run, const struct cel_ip *ip)
{
    return (struct cel_value){.kind = CEL_IP, .ip = cel_ip_dup(ip, &run->arena)};
}

typedef bool parse_ip_fn(struct str text, struct cel_ip *ip, struct err *e);

static struct cel_value make_ip(struct cel_run *run, struct cel_value text,
                                parse_ip_fn *parse)
{
    struct cel_ip ip;
    struct err e = ERR_INIT;
    if (!parse(cel_str(text), &ip, &e))
        return cel_lib_failed(run, "", &e);
    return ip_value(run, &ip);
}

static struct cel_value string_to_ip(struct cel_run *run, const struct cel_value *a,
                                     unsigned n)
{
    return make_ip(run, a[0], parse_ip);
}

static struct cel_value string_to_ip_network(struct cel_run *run,
                                             const struct cel_value *a, unsigned n)
{
    return make_ip(run, a[0], parse_ip_network);
}

static struct cel_value is_ip(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct cel_ip ip;
    return cel_bool(parse_ip(cel_str(a[0]), &ip, NULL));
}

static struct cel_value is_ip_network(struct cel_run *run, const struct cel_value *a,
                                      unsigned n)
{
    struct cel_ip ip;
    return cel_bool(parse_ip_network(cel_str(a[0]), &ip, NULL));
}

static struct cel_value ip_to_string(struct cel_run *run, const struct cel_value *a,
                                     unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    cel_ip_print(a[0].ip, &b);
    return cel_lib_text(run, &b);
}

static struct cel_value is_canonical(struct cel_run *run, const struct cel_value *a,
                                     unsigned n)
{
    struct cel_ip ip;
    struct err e = ERR_INIT;
    if (!parse_ip(cel_str(a[0]), &ip, &e))
        return cel_lib_failed(run, "", &e);
    struct strbuf b = STRBUF_INIT;
    cel_ip_print(&ip, &b);
    bool same = str_eq(strbuf_str(&b), cel_str(a[0]));
    strbuf_release(&b);
    return cel_bool(same);
}

static struct cel_value family(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    return cel_int(a[0].ip->size == IP4_SIZE ? 4 : 6);
}

static struct cel_value is_unspecified(struct cel_run *run, const struct cel_value *a,
                                       unsigned n)
{
    return cel_bool(netaddr_is_unspecified(a[0].ip));
}

static struct cel_value is_loopback(struct cel_run *run, const struct cel_value *a,
                                    unsigned n)
{
    return cel_bool(netaddr_is_loopback(a[0].ip));
}

static struct cel_value is_link_local_multicast(struct cel_run *run,
                                                const struct cel_value *a, unsigned n)
{
    return cel_bool(netaddr_is_link_local_multicast(a[0].ip));
}

static struct cel_value is_link_local_unicast(struct cel_run *run,
                                              const struct cel_value *a, unsigned n)
{
    return cel_bool(netaddr_is_link_local_unicast(a[0].ip));
}

static struct cel_value is_global_unicast(struct cel_run *run, const struct cel_value *a,
                                          unsigned n)
{
    return cel_bool(netaddr_is_global_unicast(a[0].ip));
}

/* ---- Prefixes ---- */

static struct cel_value cidr_value(struct cel_run *run, const struct cel_cidr *c)
{
    return (struct cel_value){.kind = CEL_CIDR, .cidr = cel_cidr_dup(c, &run->arena)};
}

static struct cel_value make_cidr(struct cel_run *run, struct cel_value text,
                                  parse_cidr_fn *parse, const char *prefix)
{
    struct cel_cidr c;
    struct err e = ERR_INIT;
    if (!parse(cel_str(text), &c, &e))
        return cel_lib_failed(run, prefix, &e);
    return cidr_value(run, &c);
}

/* Upstream says it twice. */
static struct cel_value string_to_cidr(struct cel_run *run, const struct cel_value *a,
                                       unsigned n)
{
    return make_cidr(run, a[0], parse_cidr_k8s, IN_ADDRESS ": ");
}

static struct cel_value string_to_cidr_network(struct cel_run *run,
                                               const struct cel_value *a, unsigned n)
{
    return make_cidr(run, a[0], parse_cidr_network, "");
}

static struct cel_value is_cidr(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    struct cel_cidr c;
    return cel_bool(parse_cidr_k8s(cel_str(a[0]), &c, NULL));
}

static struct cel_value cidr_to_string(struct cel_run *run, const struct cel_value *a,
                                       unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    cel_cidr_print(a[0].cidr, &b);
    return cel_lib_text(run, &b);
}

static struct cel_value contains_ip(struct cel_run *run, const struct cel_value *a,
                                    unsigned n)
{
    return cel_bool(netaddr_contains(a[0].cidr, a[1].ip));
}

/* Kubernetes drops the reason. */
static struct cel_value contains_ip_text(struct cel_run *run, const struct cel_value *a,
                                         unsigned n)
{
    struct cel_ip ip;
    if (!parse_ip(cel_str(a[1]), &ip, NULL))
        return cel_no_overload(run);
    return cel_bool(netaddr_contains(a[0].cidr, &ip));
}

static struct cel_value contains_ip_text_network(struct cel_run *run,
                                                 const struct cel_value *a, unsigned n)
{
    struct cel_value ip = string_to_ip_network(run, a + 1, 1);
    return cel_is_error(ip) ? ip : cel_bool(netaddr_contains(a[0].cidr, ip.ip));
}

static struct cel_value contains_cidr(struct cel_run *run, const struct cel_value *a,
                                      unsigned n)
{
    return cel_bool(netaddr_contains_prefix(a[0].cidr, a[1].cidr));
}

static struct cel_value contains_cidr_text(struct cel_run *run, const struct cel_value *a,
                                           unsigned n)
{
    struct cel_value c = string_to_cidr(run, a + 1, 1);
    return cel_is_error(c) ? c : cel_bool(netaddr_contains_prefix(a[0].cidr, c.cidr));
}

static struct cel_value contains_cidr_text_network(struct cel_run *run,
                                                   const struct cel_value *a, unsigned n)
{
    struct cel_value c = string_to_cidr_network(run, a + 1, 1);
    return cel_is_error(c) ? c : cel_bool(netaddr_contains_prefix(a[0].cidr, c.cidr));
}

static struct cel_value address(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    return ip_value(run, &a[0].cidr->ip);
}

static struct cel_value prefix_length(struct cel_run *run, const struct cel_value *a,
                                      unsigned n)
{
    return cel_int(a[0].cidr->bits);
}

static struct cel_value masked(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct cel_cidr c = netaddr_masked(a[0].cidr);
    return cidr_value(run, &c);
}

static struct cel_value is_mask(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    struct cel_cidr c = netaddr_masked(a[0].cidr);
    return cel_bool(cel_cidr_equal(&c, a[0].cidr));
}

/* ---- The tables ---- */

#define IP_ROWS                                                                          \
    CEL_GLOBAL("ip_to_string", "string", "(net.IP) -> string", 30, ip_to_string),        \
        CEL_GLOBAL("ip_is_canonical", "ip.isCanonical", "(string) -> bool", 30,          \
                   is_canonical),                                                        \
        CEL_MEMBER("ip_family", "family", "(net.IP) -> int", 30, family),                \
        CEL_MEMBER("ip_is_unspecified", "isUnspecified", "(net.IP) -> bool", 30,         \
                   is_unspecified),                                                      \
        CEL_MEMBER("ip_is_loopback", "isLoopback", "(net.IP) -> bool", 30, is_loopback), \
        CEL_MEMBER("ip_is_link_local_multicast", "isLinkLocalMulticast",                 \
                   "(net.IP) -> bool", 30, is_link_local_multicast),                     \
        CEL_MEMBER("ip_is_link_local_unicast", "isLinkLocalUnicast", "(net.IP) -> bool", \
                   30, is_link_local_unicast),                                           \
        CEL_MEMBER("ip_is_global_unicast", "isGlobalUnicast", "(net.IP) -> bool", 30,    \
                   is_global_unicast)

#define CIDR_ROWS                                                                        \
    CEL_GLOBAL("is_cidr", "isCIDR", "(string) -> bool", 30, is_cidr),                    \
        CEL_GLOBAL("cidr_to_string", "string", "(net.CIDR) -> string", 30,               \
                   cidr_to_string),                                                      \
        CEL_MEMBER("cidr_contains_ip_ip", "containsIP", "(net.CIDR, net.IP) -> bool",    \
                   30, contains_ip),                                                     \
        CEL_MEMBER("cidr_contains_cidr", "containsCIDR", "(net.CIDR, net.CIDR) -> bool", \
                   30, contains_cidr),                                                   \
        CEL_MEMBER("cidr_ip", "ip", "(net.CIDR) -> net.IP", 30, address),                \
        CEL_MEMBER("cidr_prefix_length", "prefixLength", "(net.CIDR) -> int", 30,        \
                   prefix_length),                                                       \
        CEL_MEMBER("cidr_masked", "masked", "(net.CIDR) -> net.CIDR", 30, masked)

static const struct cel_overload ip_rows[] = {
    CEL_GLOBAL("string_to_ip", "ip", "(string) -> net.IP", 30, string_to_ip),
    CEL_GLOBAL("is_ip", "isIP", "(string) -> bool", 30, is_ip),
    IP_ROWS,
};

static const struct cel_overload cidr_rows[] = {
    CEL_GLOBAL("string_to_cidr", "cidr", "(string) -> net.CIDR", 30, string_to_cidr),
    CEL_MEMBER("cidr_contains_ip_string", "containsIP", "(net.CIDR, string) -> bool", 30,
               contains_ip_text),
    CEL_MEMBER("cidr_contains_cidr_string", "containsCIDR", "(net.CIDR, string) -> bool",
               30, contains_cidr_text),
    CIDR_ROWS,
};

static const struct cel_overload network_rows[] = {
    CEL_GLOBAL("string_to_ip", "ip", "(string) -> net.IP", 30, string_to_ip_network),
    CEL_GLOBAL("is_ip", "isIP", "(string) -> bool", 30, is_ip_network),
    IP_ROWS,
    CIDR_ROWS,
    CEL_GLOBAL("string_to_cidr", "cidr", "(string) -> net.CIDR", 30,
               string_to_cidr_network),
    CEL_MEMBER("cidr_contains_ip_string", "containsIP", "(net.CIDR, string) -> bool", 30,
               contains_ip_text_network),
    CEL_MEMBER("cidr_contains_cidr_string", "containsCIDR", "(net.CIDR, string) -> bool",
               30, contains_cidr_text_network),
    CEL_MEMBER("cidr_is_mask", "isMask", "(net.CIDR) -> bool", 30, is_mask),
};

static uint64_t cost_contains_ip(const struct cel_value *args, unsigned n,
                                 struct cel_value result)
{
    return cel_cost_string(2 * cel_cost_size(args[0]));
}

static uint64_t cost_contains_cidr(const struct cel_value *args, unsigned n,
                                   struct cel_value result)
{
    return cost_contains_ip(args, n, result) + cel_cost_string(cel_cost_size(args[0])) +
           1;
}

static uint64_t cost_contains_ip_text(const struct cel_value *args, unsigned n,
                                      struct cel_value result)
{
    return cost_contains_ip(args, n, result) + cel_cost_string(cel_cost_size(args[1]));
}

static uint64_t cost_contains_cidr_text(const struct cel_value *args, unsigned n,
                                        struct cel_value result)
{
    return cost_contains_cidr(args, n, result) + cel_cost_string(cel_cost_size(args[1]));
}

static const struct cel_cost_row ip_costs[] = {
    {NULL, "ip", cel_cost_scan},
    {NULL, "isIP", cel_cost_scan},
    {NULL, "ip.isCanonical", cel_cost_scan_twice},
};

static const struct cel_cost_row cidr_costs[] = {
    {NULL, "cidr", cel_cost_scan},
    {NULL, "isCIDR", cel_cost_scan},
    {NULL, "containsIP", cost_contains_ip},
    {NULL, "containsCIDR", cost_contains_cidr},
    {"cidr_contains_ip_string", NULL, cost_contains_ip_text},
    {"cidr_contains_cidr_string", NULL, cost_contains_cidr_text},
    {"cidr_ip", NULL, cel_cost_one},
};

static const struct cel_type_name ip_types[] = {{"net.IP", &cel_type_ip, 30}};
static const struct cel_type_name cidr_types[] = {{"net.CIDR", &cel_type_cidr, 30}};
static const struct cel_type_name network_types[] = {{"net.IP", &cel_type_ip, 30},
                                                     {"net.CIDR", &cel_type_cidr, 30}};

const struct cel_lib cel_lib_ip = {
    .name = "kubernetes.net.ip",
    .overloads = ip_rows,
    .noverloads = CEL_COUNT(ip_rows),
    .costs = ip_costs,
    .ncosts = CEL_COUNT(ip_costs),
    .types = ip_types,
    .ntypes = CEL_COUNT(ip_types),
};

const struct cel_lib cel_lib_cidr = {
    .name = "kubernetes.net.cidr",
    .overloads = cidr_rows,
    .noverloads = CEL_COUNT(cidr_rows),
    .costs = cidr_costs,
    .ncosts = CEL_COUNT(cidr_costs),
    .types = cidr_types,
    .ntypes = CEL_COUNT(cidr_types),
};

const struct cel_lib cel_lib_network = {
    .name = "network",
    .overloads = network_rows,
    .noverloads = CEL_COUNT(network_rows),
    .types = network_types,
    .ntypes = CEL_COUNT(network_types),
};
