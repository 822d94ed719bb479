/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, prefixes and URLs; results and costs as upstream gives them. */
#include "unit/cel/lib_unit.h"

static const struct lib_row addresses[] = {
    {"ip(\"1.2.3.4\")", "1.2.3.4", 1},
    {"ip(\"2001:DB8:0:0:0:0:0:1\")", "2001:db8::1", 2},
    {"ip(\"::\")", "::", 1},
    {"ip(\"::1\")", "::1", 1},
    {"ip(\"1::\")", "1::", 1},
    {"ip(\"1:0:0:2:0:0:0:3\")", "1:0:0:2::3", 2},
    {"ip(\"::1.2.3.4\")", "::102:304", 1},
    {"ip(\"64:ff9b::1.2.3.4\")", "64:ff9b::102:304", 2},
    {"ip(\"::ffff:1.2.3.4\")",
     "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed", 2},
    {"ip(\"fe80::1%eth0\")",
     "error: IP address \"fe80::1%eth0\" with zone value is not allowed", 2},
    {"ip(\"fe80::1%\")",
     "error: IP Address \"fe80::1%\" parse error during conversion from string: "
     "ParseAddr(\"fe80::1%\"): zone must be a non-empty string",
     1},
    {"ip(\"1.2.3\")",
     "error: IP Address \"1.2.3\" parse error during conversion from string: "
     "ParseAddr(\"1.2.3\"): IPv4 address too short",
     1},
    {"ip(\"1.2.3.4.5\")",
     "error: IP Address \"1.2.3.4.5\" parse error during conversion from string: "
     "ParseAddr(\"1.2.3.4.5\"): IPv4 address too long",
     1},
    {"ip(\"1.2.3.\")",
     "error: IP Address \"1.2.3.\" parse error during conversion from string: "
     "ParseAddr(\"1.2.3.\"): IPv4 field must have at least one digit (at \".\")",
     1},
    {"ip(\".1.2.3\")",
     "error: IP Address \".1.2.3\" parse error during conversion from string: "
     "ParseAddr(\".1.2.3\"): IPv4 field must have at least one digit (at \".1.2.3\")",
     1},
    {"ip(\"1..2.3\")",
     "error: IP Address \"1..2.3\" parse error during conversion from string: "
     "ParseAddr(\"1..2.3\"): IPv4 field must have at least one digit (at \".2.3\")",
     1},
    {"ip(\"1.2.3.256\")",
     "error: IP Address \"1.2.3.256\" parse error during conversion from string: "
     "ParseAddr(\"1.2.3.256\"): IPv4 field has value >255",
     1},
    {"ip(\"01.2.3.4\")",
     "error: IP Address \"01.2.3.4\" parse error during conversion from string: "
     "ParseAddr(\"01.2.3.4\"): IPv4 field has octet with leading zero",
     1},
    {"ip(\"1.2.3.a\")",
     "error: IP Address \"1.2.3.a\" parse error during conversion from string: "
     "ParseAddr(\"1.2.3.a\"): unexpected character (at \"a\")",
     1},
    {"ip(\"abc\")",
     "error: IP Address \"abc\" parse error during conversion from string: "
     "ParseAddr(\"abc\"): unable to parse IP",
     1},
    {"ip(\"\")",
     "error: IP Address \"\" parse error during conversion from string: ParseAddr(\"\"): "
     "unable to parse IP",
     0},
    {"ip(\"%eth0\")",
     "error: IP Address \"%eth0\" parse error during conversion from string: "
     "ParseAddr(\"%eth0\"): missing IPv6 address",
     1},
    {"ip(\"1:2:3:4:5:6:7\")",
     "error: IP Address \"1:2:3:4:5:6:7\" parse error during conversion from string: "
     "ParseAddr(\"1:2:3:4:5:6:7\"): address string too short",
     2},
    {"ip(\"1:2:3:4:5:6:7:8:9\")",
     "error: IP Address \"1:2:3:4:5:6:7:8:9\" parse error during conversion from string: "
     "ParseAddr(\"1:2:3:4:5:6:7:8:9\"): trailing garbage after address (at \"9\")",
     2},
    {"ip(\"1:2:3:4:5:6:7:8:\")",
     "error: IP Address \"1:2:3:4:5:6:7:8:\" parse error during conversion from string: "
     "ParseAddr(\"1:2:3:4:5:6:7:8:\"): colon must be followed by more characters (at "
     "\":\")",
     2},
    {"ip(\"12345::\")",
     "error: IP Address \"12345::\" parse error during conversion from string: "
     "ParseAddr(\"12345::\"): each group must have 4 or less digits (at \"12345::\")",
     1},
    {"ip(\"1::2::3\")",
     "error: IP Address \"1::2::3\" parse error during conversion from string: "
     "ParseAddr(\"1::2::3\"): multiple :: in address (at \":3\")",
     1},
    {"ip(\"1:2:3:4:5:6:7::8\")",
     "error: IP Address \"1:2:3:4:5:6:7::8\" parse error during conversion from string: "
     "ParseAddr(\"1:2:3:4:5:6:7::8\"): the :: must expand to at least one field of zeros",
     2},
    {"ip(\"1::2:3:4:5:6:7:8\")",
     "error: IP Address \"1::2:3:4:5:6:7:8\" parse error during conversion from string: "
     "ParseAddr(\"1::2:3:4:5:6:7:8\"): the :: must expand to at least one field of zeros",
     2},
    {"ip(\"g::1\")",
     "error: IP Address \"g::1\" parse error during conversion from string: "
     "ParseAddr(\"g::1\"): each colon-separated field must have at least one digit (at "
     "\"g::1\")",
     1},
    {"ip(\":1\")",
     "error: IP Address \":1\" parse error during conversion from string: "
     "ParseAddr(\":1\"): each colon-separated field must have at least one digit (at "
     "\":1\")",
     1},
    {"ip(\"1:\")",
     "error: IP Address \"1:\" parse error during conversion from string: "
     "ParseAddr(\"1:\"): colon must be followed by more characters (at \":\")",
     1},
    {"ip(\"1:2:1.2.3.4\")",
     "error: IP Address \"1:2:1.2.3.4\" parse error during conversion from string: "
     "ParseAddr(\"1:2:1.2.3.4\"): embedded IPv4 address must replace the final 2 fields "
     "of the address (at \"1.2.3.4\")",
     2},
    {"ip(\"::1.2.3.4:5\")",
     "error: IP Address \"::1.2.3.4:5\" parse error during conversion from string: "
     "ParseAddr(\"::1.2.3.4:5\"): unexpected character (at \":5\")",
     2},
    {"ip(\"::1.2.3\")",
     "error: IP Address \"::1.2.3\" parse error during conversion from string: "
     "ParseAddr(\"::1.2.3\"): IPv4 address too short",
     1},
    {"ip(\"1:2:3:4:5:6:7:1.2.3.4\")",
     "error: IP Address \"1:2:3:4:5:6:7:1.2.3.4\" parse error during conversion from "
     "string: ParseAddr(\"1:2:3:4:5:6:7:1.2.3.4\"): embedded IPv4 address must replace "
     "the final 2 fields of the address (at \"1.2.3.4\")",
     3},
    {"ip(\"\\\"q\\u00ad\")",
     "error: IP Address \"\\\"q\\u00ad\" parse error during conversion from string: "
     "ParseAddr(\"\\\"q\\u00ad\"): unable to parse IP",
     1},
    {"isIP(\"1.2.3.4\")", "true", 1},
    {"isIP(\"nope\")", "false", 1},
    {"ip.isCanonical(\"::1\")", "true", 1},
    {"ip.isCanonical(\"0:0:0:0:0:0:0:1\")", "false", 3},
    {"ip.isCanonical(\"bad\")",
     "error: IP Address \"bad\" parse error during conversion from string: "
     "ParseAddr(\"bad\"): unable to parse IP",
     1},
    {"ip(\"1.2.3.4\").family()", "4", 2},
    {"ip(\"::1\").family()", "6", 2},
    {"[ip(\"0.0.0.0\").isUnspecified(), ip(\"::\").isUnspecified(), "
     "ip(\"1.1.1.1\").isUnspecified()]",
     "[true, true, false]", 16},
    {"[ip(\"127.9.9.9\").isLoopback(), ip(\"::1\").isLoopback(), "
     "ip(\"::2\").isLoopback()]",
     "[true, true, false]", 16},
    {"[ip(\"224.0.0.9\").isLinkLocalMulticast(), "
     "ip(\"224.0.1.9\").isLinkLocalMulticast(), ip(\"ff12::1\").isLinkLocalMulticast(), "
     "ip(\"ff05::1\").isLinkLocalMulticast()]",
     "[true, false, true, false]", 18},
    {"[ip(\"169.254.1.1\").isLinkLocalUnicast(), ip(\"febf::1\").isLinkLocalUnicast(), "
     "ip(\"fec0::1\").isLinkLocalUnicast()]",
     "[true, true, false]", 17},
    {"[ip(\"10.0.0.1\").isGlobalUnicast(), ip(\"255.255.255.255\").isGlobalUnicast(), "
     "ip(\"0.0.0.0\").isGlobalUnicast(), ip(\"ff02::1\").isGlobalUnicast(), "
     "ip(\"fd00::1\").isGlobalUnicast(), ip(\"239.1.1.1\").isGlobalUnicast()]",
     "[true, false, false, false, true, false]", 23},
    {"string(ip(\"0:0::1\"))", "\"::1\"", 2},
    {"ip(\"1.2.3.4\") == ip(\"1.2.3.4\")", "true", 3},
    {"ip(\"::1\") == ip(\"0:0:0:0:0:0:0:1\")", "true", 4},
    {"ip(\"1.2.3.4\") == dyn(\"1.2.3.4\")", "error: no such overload", 2},
};

static const struct lib_row prefixes[] = {
    {"cidr(\"10.1.2.3/8\")", "10.1.2.3/8", 1},
    {"cidr(\"10.1.2.3/8\").masked()", "10.0.0.0/8", 2},
    {"cidr(\"2001:db8:ffff::1/33\").masked()", "2001:db8:8000::/33", 3},
    {"cidr(\"::1/0\").masked()", "::/0", 2},
    {"cidr(\"10.1.2.3/8\").ip()", "10.1.2.3", 2},
    {"cidr(\"10.1.2.3/8\").prefixLength()", "8", 2},
    {"string(cidr(\"::1/64\"))", "\"::1/64\"", 2},
    {"cidr(\"10.0.0.0/8\") == cidr(\"10.0.0.0/8\")", "true", 3},
    {"cidr(\"10.0.0.0/8\") == cidr(\"10.0.0.1/8\")", "false", 3},
    {"cidr(\"10.0.0.0\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0\"): no '/'",
     1},
    {"cidr(\"10.0.0.0/33\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0/33\"): "
     "prefix length out of range",
     2},
    {"cidr(\"::/129\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"::/129\"): prefix "
     "length out of range",
     1},
    {"cidr(\"10.0.0.0/08\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0/08\"): bad "
     "bits after slash: \"08\"",
     2},
    {"cidr(\"10.0.0.0/+8\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0/+8\"): bad "
     "bits after slash: \"+8\"",
     2},
    {"cidr(\"10.0.0.0/\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0/\"): bad "
     "bits after slash: \"\"",
     1},
    {"cidr(\"10.0.0.0/a\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0/a\"): bad "
     "bits after slash: \"a\"",
     1},
    {"cidr(\"10.0.0.0/99999999999999999999\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: "
     "netip.ParsePrefix(\"10.0.0.0/99999999999999999999\"): bad bits after slash: "
     "\"99999999999999999999\"",
     3},
    {"cidr(\"10.0.0.0/9223372036854775807\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: "
     "netip.ParsePrefix(\"10.0.0.0/9223372036854775807\"): prefix length out of range",
     3},
    {"cidr(\"10.0.0/8\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"10.0.0/8\"): "
     "ParseAddr(\"10.0.0\"): IPv4 address too short",
     1},
    {"cidr(\"fe80::1%eth0/64\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"fe80::1%eth0/64\"): "
     "IPv6 zones cannot be present in a prefix",
     2},
    {"cidr(\"::ffff:1.2.3.4/120\")",
     "error: network address parse error during conversion from string: IPv4-mapped IPv6 "
     "address \"::ffff:1.2.3.4/120\" is not allowed",
     2},
    {"isCIDR(\"10.0.0.0/8\")", "true", 1},
    {"isCIDR(\"10.0.0.0/80\")", "false", 2},
    {"cidr(\"10.0.0.0/8\").containsIP(\"10.200.0.1\")", "true", 3},
    {"cidr(\"10.0.0.0/8\").containsIP(ip(\"11.0.0.1\"))", "false", 3},
    {"cidr(\"10.0.0.0/8\").containsIP(\"::1\")", "false", 3},
    {"cidr(\"10.0.0.0/8\").containsIP(\"bad\")", "error: no such overload", 3},
    {"cidr(\"10.0.0.0/8\").containsCIDR(\"10.1.0.0/16\")", "true", 6},
    {"cidr(\"10.0.0.0/8\").containsCIDR(\"10.0.0.0/7\")", "false", 5},
    {"cidr(\"10.0.0.0/8\").containsCIDR(cidr(\"11.0.0.0/16\"))", "false", 6},
    {"cidr(\"0.0.0.0/0\").containsCIDR(\"::/0\")", "false", 3},
    {"cidr(\"10.0.0.0/8\").containsCIDR(\"bad\")",
     "error: network address parse error during conversion from string: network address "
     "parse error during conversion from string: netip.ParsePrefix(\"bad\"): no '/'",
     5},
};

static const struct lib_row urls[] = {
    {"url(\"https://user:p%40ss@example.com:8080/a%20b/c?k=1&k=2&q=x+y%21#frag\")",
     "https://user:p%40ss@example.com:8080/a%20b/c?k=1&k=2&q=x+y%21#frag", 7},
    {"url(\"https://user:p%40ss@example.com:8080/a%20b/"
     "c?k=1&k=2&q=x+y%21#frag\").getQuery()",
     "{\"k\": [\"1\", \"2\"], \"q\": [\"x y!\"]}", 8},
    {"url(\"https://example.com:80/path with spaces/\")",
     "https://example.com:80/path%20with%20spaces/", 4},
    {"url(\"https://example.com:80/path with spaces/\").getEscapedPath()",
     "\"/path%20with%20spaces/\"", 5},
    {"url(\"HTTP://Example.COM\").getScheme()", "\"http\"", 3},
    {"url(\"HTTP://Example.COM\").getHost()", "\"Example.COM\"", 3},
    {"url(\"https://[::1]:80/\").getHostname()", "\"::1\"", 3},
    {"url(\"https://[::1]:80/\").getHost()", "\"[::1]:80\"", 3},
    {"url(\"https://[::1]:80/\").getPort()", "\"80\"", 3},
    {"url(\"https://example.com/\").getPort()", "\"\"", 3},
    {"url(\"https://[fe80::1%25en0]/\").getHostname()", "\"fe80::1%en0\"", 4},
    {"url(\"https://[fe80::1%25en0]/\")", "https://[fe80::1%25en0]/", 3},
    {"url(\"/a/b?x=1\")", "/a/b?x=1", 1},
    {"url(\"/a/b?x=1\").getEscapedPath()", "\"/a/b\"", 2},
    {"url(\"mailto:a@b.c\")", "mailto:a@b.c", 2},
    {"url(\"mailto:a@b.c\").getEscapedPath()", "\"\"", 3},
    {"url(\"http://a?\")", "http://a?", 1},
    {"url(\"http://a?\?x\")", "http://a?\?x", 2},
    {"url(\"*\")", "*", 1},
    {"url(\"a/b\")",
     "error: URL parse error during conversion from string: parse \"a/b\": invalid URI "
     "for request",
     1},
    {"url(\"\")",
     "error: URL parse error during conversion from string: parse \"\": empty url", 0},
    {"url(\":80\")",
     "error: URL parse error during conversion from string: parse \":80\": missing "
     "protocol scheme",
     1},
    {"url(\"1http://a\")",
     "error: URL parse error during conversion from string: parse \"1http://a\": invalid "
     "URI for request",
     1},
    {"url(\"http://a b.com/\")",
     "error: URL parse error during conversion from string: parse \"http://a b.com/\": "
     "invalid character \" \" in host name",
     2},
    {"url(\"http://a\\u007f/\")",
     "error: URL parse error during conversion from string: parse \"http://a\\x7f/\": "
     "net/url: invalid control character in URL",
     1},
    {"url(\"http://[::1\")",
     "error: URL parse error during conversion from string: parse \"http://[::1\": "
     "missing ']' in host",
     2},
    {"url(\"http://[1.2.3.4]/\")",
     "error: URL parse error during conversion from string: parse \"http://[1.2.3.4]/\": "
     "invalid IP-literal",
     2},
    {"url(\"http://[zz]/\")",
     "error: URL parse error during conversion from string: parse \"http://[zz]/\": "
     "invalid host: ParseAddr(\"zz\"): unable to parse IP",
     2},
    {"url(\"http://a[::1]/\")",
     "error: URL parse error during conversion from string: parse \"http://a[::1]/\": "
     "invalid IP-literal",
     2},
    {"url(\"http://a:b/\")",
     "error: URL parse error during conversion from string: parse \"http://a:b/\": "
     "invalid port \":b\" after host",
     2},
    {"url(\"http://a:1:2/\")",
     "error: URL parse error during conversion from string: parse \"http://a:1:2/\": "
     "invalid port \":1:2\" after host",
     2},
    {"url(\"tcp://a:1:2/\")", "tcp://a:1:2/", 2},
    {"url(\"http://us er@a/\")",
     "error: URL parse error during conversion from string: parse \"http://us er@a/\": "
     "net/url: invalid userinfo",
     2},
    {"url(\"http://%zz/\")",
     "error: URL parse error during conversion from string: parse \"http://%zz/\": "
     "invalid URL escape \"%zz\"",
     2},
    {"url(\"http://%41/\")",
     "error: URL parse error during conversion from string: parse \"http://%41/\": "
     "invalid URL escape \"%41\"",
     2},
    {"url(\"http://%ff/\")", "http://%FF/", 2},
    {"url(\"http://a/%zz\")",
     "error: URL parse error during conversion from string: parse \"http://a/%zz\": "
     "invalid URL escape \"%zz\"",
     2},
    {"url(\"http://a/?x#%zz\")",
     "error: URL parse error during conversion from string: parse \"http://a/?x#%zz\": "
     "invalid URL escape \"%zz\"",
     2},
    {"url(\"http://a/%2f%41\")", "http://a/%2f%41", 2},
    {"url(\"http://a/[x]'\\\"<>\").getEscapedPath()", "\"/%5Bx%5D%27%22%3C%3E\"", 3},
    {"url(\"http://é.com/é\").getEscapedPath()", "\"/%C3%A9\"", 3},
    {"url(\"http://é.com/é\")", "http://%C3%A9.com/%C3%A9", 2},
    {"url(\"http://user@a/\")", "http://user@a/", 2},
    {"url(\"http://:@a/\")", "http://:@a/", 2},
    {"url(\"//a/b\")", "//a/b", 1},
    {"url(\"///a/b\")", "///a/b", 1},
    {"url(\"//a:b/b\")",
     "error: URL parse error during conversion from string: parse \"//a:b/b\": invalid "
     "port \":b\" after host",
     1},
    {"url(\"file:///etc/passwd\")", "file:///etc/passwd", 2},
    {"url(\"file:/etc/passwd\")", "file:/etc/passwd", 2},
    {"url(\"http://a/#\")", "http://a/", 1},
    {"url(\"http://a/#x y\")", "http://a/#x%20y", 2},
    {"url(\"http://a/?a;b=1&c=%zz&=d&e&&f=%41\").getQuery()",
     "{\"\": [\"d\"], \"e\": [\"\"], \"f\": [\"A\"]}", 5},
    {"isURL(\"https://a\")", "true", 1},
    {"isURL(\"a\")", "false", 1},
    {"url(\"http://a/b\") == url(\"http://a/b\")", "true", 3},
    {"url(\"http://a/b\") == url(\"http://a/c\")", "false", 3},
};

static const struct lib_row network_latest[] = {
    {"ip(\"::ffff:c0a8:1\") == ip(\"192.168.0.1\")", "true", COST_NONE},
    {"isIP(\"::ffff:1.2.3.4\")", "false", COST_NONE},
    {"cidr(\"10.0.0.1/8\").isMask()", "false", COST_NONE},
    {"cidr(\"10.0.0.0/8\").isMask()", "true", COST_NONE},
    {"cidr(dyn(\"bad\"))",
     "error: CIDR \"bad\" parse error during conversion from string: "
     "netip.ParsePrefix(\"bad\"): no '/'",
     COST_NONE},
    {"ip(dyn(\"bad\"))",
     "error: IP Address \"bad\" parse error during conversion from string: "
     "ParseAddr(\"bad\"): unable to parse IP",
     COST_NONE},
    {"cidr(\"10.0.0.0/8\").containsIP(\"bad\")",
     "error: IP Address \"bad\" parse error during conversion from string: "
     "ParseAddr(\"bad\"): unable to parse IP",
     COST_NONE},
    {"cidr(\"10.0.0.0/8\").containsCIDR(\"bad\")",
     "error: CIDR \"bad\" parse error during conversion from string: "
     "netip.ParsePrefix(\"bad\"): no '/'",
     COST_NONE},
    {"cidr(dyn(\"::ffff:1.2.3.4/120\"))",
     "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4/120\" is not allowed", COST_NONE},
};

static void test_addresses(void **state)
{
    lib_unit_rows(false, addresses, UNIT_COUNT(addresses));
}

static void test_prefixes(void **state)
{
    lib_unit_rows(false, prefixes, UNIT_COUNT(prefixes));
}

static void test_urls(void **state)
{
    lib_unit_rows(false, urls, UNIT_COUNT(urls));
}

static void test_network_latest(void **state)
{
    lib_unit_rows(true, network_latest, UNIT_COUNT(network_latest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_network_latest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
