/* SPDX-License-Identifier: Apache-2.0 */
/* Ingresses, network policies, endpoints, and ranges of addresses. */
#include "api/rules_ip.h"
#include "api/rules_text.h"
#include "base/map.h"

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct str item(const struct doc *list, uint32_t i)
{
    return i < count(list) ? api_text(&list->items[i]) : STR("");
}

static bool has(struct str s, const char *part)
{
    return str_find(s, str_from(part)) != SIZE_MAX;
}

static void quote_nothing(struct api_at *at, const char *text)
{
    api_report_shown(at, "", STR("\"\""), API_ERROR_INVALID, "%s", text);
}

/* ---- ingresses ---- */

API_RULE(ingress_class_twice)
{
    static const char KEY[] = "kubernetes.io/ingress.class";
    const struct doc *name = api_member(at->value, "ingressClassName");
    const struct doc *value =
        doc_get(doc_path(at->w->object, "metadata.annotations"), KEY);
    if (at->w->opts->op == API_CREATE && value && name &&
        !str_eq(api_text(value), api_text(name)))
        api_report_path(at->w, arena_printf(at->w->a, "annotations.%s", KEY), value,
                        API_ERROR_INVALID,
                        "must match `ingressClassName` when both are specified");
    return true;
}

API_RULE(some_backend)
{
    if (!count(api_member(at->value, "rules")) &&
        !api_member(at->value, "defaultBackend"))
        api_report_shown(at, "", STR("null"), API_ERROR_INVALID,
                         "either `defaultBackend` or `rules` must be specified");
    return true;
}

/* "*.a.b" */
static void check_wildcard(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct str s = api_text(value);
    bool ok = str_starts(s, STR("*.")) &&
              name_valid(NAME_DNS1123_SUBDOMAIN, str_sub(s, 2, SIZE_MAX));
    if (s.n > 253)
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "must be no more than 253 characters");
    if (!ok)
        api_report_at(
            at, suffix, value, API_ERROR_INVALID,
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a "
            "valid DNS subdomain, which must consist of lower case alphanumeric "
            "characters, '-' or '.' and end with an alphanumeric character (e.g. "
            "'*.example.com', regex used for validation is '\\*\\."
            "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

static void check_host(struct api_at *at, const char *suffix, const struct doc *value)
{
    if (has(api_text(value), "*"))
        check_wildcard(at, suffix, value);
    else
        rules_name_at(at, suffix, value, NAME_DNS1123_SUBDOMAIN);
}

API_RULE(ingress_hosts)
{
    for (uint32_t i = 0; i < count(at->value); i++)
        check_host(at, rules_index(at, i), &at->value->items[i]);
    return true;
}

API_RULE(ingress_host)
{
    struct rules_ip ip;
    if (rules_ip_read(api_text(at->value), &ip))
        api_fail(at, API_ERROR_INVALID, "must be a DNS name, not an IP address");
    check_host(at, "", at->value);
    return true;
}

/* Where one that is stored has a bad name, all may. */
API_RULE(tls_secret)
{
    const struct doc *stored = at->w->opts->op == API_CREATE ? NULL : at->w->opts->old;
    const struct doc *tls = doc_path(stored, "spec.tls");
    for (uint32_t i = 0; i < count(tls); i++) {
        struct str s = doc_get_text(&tls->items[i], "secretName");
        if (s.n && !name_valid(NAME_DNS1123_SUBDOMAIN, s))
            return true;
    }
    rules_name(at, NAME_DNS1123_SUBDOMAIN);
    return true;
}

API_RULE(path_type)
{
    if (!at->value)
        api_fail(at, API_ERROR_REQUIRED, "pathType must be specified");
    else if (!rules_among(api_text(at->value), "Exact|ImplementationSpecific|Prefix"))
        rules_not_supported(at, "", at->value, "Exact|ImplementationSpecific|Prefix");
    return true;
}

API_RULE(with_path_type)
{
    return api_member(at->parent, "pathType") != NULL;
}

API_RULE(ingress_path)
{
    static const char *const PARTS[] = {"//", "/./", "/../", "%2f", "%2F"},
                             *const ENDS[] = {"/..", "/."};
    struct str type = doc_get_text(at->parent, "pathType"), s = api_text(at->value);
    bool strict = str_is(type, "Exact") || str_is(type, "Prefix");
    bool loose = str_is(type, "ImplementationSpecific") && s.n;
    if ((strict || loose) && !str_starts(s, STR("/")))
        api_fail(at, API_ERROR_INVALID, "must be an absolute path");
    for (size_t i = 0; strict && i < sizeof PARTS / sizeof *PARTS; i++)
        if (has(s, PARTS[i]))
            api_report(at, API_ERROR_INVALID, "must not contain '%s'", PARTS[i]);
    for (size_t i = 0; strict && i < sizeof ENDS / sizeof *ENDS; i++)
        if (str_ends(s, str_from(ENDS[i])))
            api_report(at, API_ERROR_INVALID, "cannot end with '%s'", ENDS[i]);
    return true;
}

static void check_service(struct api_at *at, const struct doc *service)
{
    const struct doc *name = api_member(service, "name"),
                     *port = api_member(service, "port"),
                     *port_name = api_member(port, "name"),
                     *number = api_member(port, "number");
    int64_t n = rules_int(number, 0);
    if (api_empty(name))
        api_report_at(at, ".service.name", name, API_ERROR_REQUIRED, "%s", "");
    else
        rules_name_at(at, ".service.name", name, NAME_DNS1123_LABEL);
    if (!api_empty(port_name) && n)
        quote_nothing(at, "cannot set both port name & port number");
    else if (!api_empty(port_name))
        rules_port_name(at, ".service.port.name", port_name);
    else if (!n)
        api_fail(at, API_ERROR_REQUIRED, "port name or number is required");
    else if (n < 1 || n > 65535)
        api_report_at(at, ".service.port.number", number, API_ERROR_INVALID,
                      "must be between 1 and 65535, inclusive");
}

static void check_part(struct api_at *at, const struct doc *d, const char *key)
{
    const struct doc *part = api_member(d, key);
    const char *suffix = arena_printf(at->w->a, ".resource.%s", key).p;
    if (api_empty(part))
        api_report_at(at, suffix, part, API_ERROR_REQUIRED, "%s", "");
    else
        rules_segment(at, suffix, api_text(part), false);
}

API_RULE(ingress_backend)
{
    const struct doc *resource = api_member(at->value, "resource"),
                     *service = api_member(at->value, "service");
    if (resource && service)
        quote_nothing(at, "cannot set both resource and service backends");
    else if (!resource && !service)
        quote_nothing(at, "resource or service backend is required");
    else if (service)
        check_service(at, service);
    else if (api_member(resource, "apiGroup"))
        rules_name_at(at, ".resource.apiGroup", api_member(resource, "apiGroup"),
                      NAME_DNS1123_SUBDOMAIN);
    if (resource && !service) {
        check_part(at, resource, "kind");
        check_part(at, resource, "name");
    }
    return true;
}

API_RULE(ingress_points)
{
    struct rules_ip read;
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *ip = api_member(&at->value->items[i], "ip"),
                         *host = api_member(&at->value->items[i], "hostname");
        const char *path = arena_printf(at->w->a, "[%u].hostname", i).p;
        bool was = false;
        for (uint32_t k = 0; k < count(at->old); k++)
            was = was || str_eq(doc_get_text(&at->old->items[k], "ip"), api_text(ip));
        if (!api_empty(ip) && !was)
            rules_ip(at, arena_printf(at->w->a, "[%u].ip", i).p, ip);
        if (!api_empty(host))
            rules_name_at(at, path, host, NAME_DNS1123_SUBDOMAIN);
        if (rules_ip_read(api_text(host), &read))
            api_report_at(at, path, host, API_ERROR_INVALID,
                          "must be a DNS name, not an IP address");
    }
    return true;
}

API_RULE(parameters_scope)
{
    const struct doc *namespace = api_member(at->parent, "namespace");
    const char *path =
        arena_printf(at->w->a, "%.*snamespace", (int)(at->w->path.n - strlen("scope")),
                     strbuf_cstr(&at->w->path))
            .p;
    if (!at->value)
        return api_fail(at, API_ERROR_REQUIRED, "");
    if (!rules_among(api_text(at->value), "Cluster|Namespace"))
        return rules_not_supported(at, "", at->value, "Cluster|Namespace");
    if (doc_is_string(at->value, "Cluster") && namespace)
        api_report_path(at->w, str_from(path), NULL, API_ERROR_FORBIDDEN,
                        "`parameters.scope` is set to 'Cluster'");
    if (doc_is_string(at->value, "Namespace") && !namespace)
        api_report_path(at->w, str_from(path), NULL, API_ERROR_REQUIRED,
                        "`parameters.scope` is set to 'Namespace'");
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = 0;
    if (doc_is_string(at->value, "Namespace") && namespace)
        n = name_check(NAME_DNS1123_LABEL, api_text(namespace), at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_path(at->w, str_from(path), namespace, API_ERROR_INVALID, "%.*s",
                        STR_ARG(problems[i]));
    return true;
}

/* ---- network policies ---- */

API_RULE(policy_types)
{
    if (count(at->value) > 2)
        return api_fail(at, API_ERROR_INVALID,
                        "may not specify more than two policyTypes");
    for (uint32_t i = 0; i < count(at->value); i++)
        if (!rules_among(item(at->value, i), "Ingress|Egress"))
            rules_not_supported(at, rules_index(at, i), &at->value->items[i],
                                "Ingress|Egress");
    return true;
}

API_RULE(last_port)
{
    const struct doc *port = api_member(at->parent, "port");
    int64_t last = rules_int(at->value, 0);
    if (!port)
        return api_fail(at, API_ERROR_INVALID,
                        "may not be specified when `port` is not specified");
    if (port->type == DOC_STRING)
        return api_fail(at, API_ERROR_INVALID,
                        "may not be specified when `port` is non-numeric");
    if (last < rules_int(port, 0))
        api_fail(at, API_ERROR_INVALID, "must be greater than or equal to `port`");
    return rule_port_number(at, "");
}

API_RULE(network_peer)
{
    bool block = api_member(at->value, "ipBlock"),
         others = api_member(at->value, "podSelector") ||
                  api_member(at->value, "namespaceSelector");
    if (!block && !others)
        api_fail(at, API_ERROR_REQUIRED, "must specify a peer");
    else if (block && others)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "may not specify both ipBlock and another peer");
    return true;
}

static bool block_has(const struct doc *block, struct str range)
{
    const struct doc *except = doc_get(block, "except");
    if (!block || block->type != DOC_MAP)
        return false;
    if (str_eq(doc_get_text(block, "cidr"), range))
        return true;
    for (uint32_t i = 0; i < count(except); i++)
        if (str_eq(item(except, i), range))
            return true;
    return false;
}

static bool rules_have(const struct doc *rules, const char *peers, struct str range)
{
    for (uint32_t i = 0; i < count(rules); i++) {
        const struct doc *list = doc_get(&rules->items[i], peers);
        for (uint32_t k = 0; k < count(list); k++)
            if (block_has(doc_get(&list->items[k], "ipBlock"), range))
                return true;
    }
    return false;
}

/* What the stored policy names anywhere is not looked at again. */
static void check_range(struct api_at *at, const char *suffix, const struct doc *value)
{
    const struct doc *old = at->w->opts->op == API_CREATE ? NULL : at->w->opts->old;
    if (!rules_have(doc_path(old, "spec.ingress"), "from", api_text(value)) &&
        !rules_have(doc_path(old, "spec.egress"), "to", api_text(value)))
        rules_cidr(at, suffix, value);
}

API_RULE(policy_range)
{
    check_range(at, "", at->value);
    return true;
}

API_RULE(except_ranges)
{
    struct rules_range whole, part;
    if (!rules_range_read(doc_get_text(at->parent, "cidr"), &whole))
        return true;
    for (uint32_t i = 0; i < count(at->value); i++) {
        check_range(at, rules_index(at, i), &at->value->items[i]);
        if (rules_range_read(item(at->value, i), &part) &&
            (!rules_range_contains(&whole, &part) || whole.bits >= part.bits))
            api_report_at(at, rules_index(at, i), &at->value->items[i], API_ERROR_INVALID,
                          "must be a strict subset of `cidr`");
    }
    return true;
}

/* ---- endpoints ---- */

API_RULE(endpoint_subsets)
{
    for (uint32_t i = 0; i < count(at->value); i++)
        if (!count(api_member(&at->value->items[i], "addresses")) &&
            !count(api_member(&at->value->items[i], "notReadyAddresses")))
            api_report_at(at, rules_index(at, i), NULL, API_ERROR_REQUIRED,
                          "must specify `addresses` or `notReadyAddresses`");
    return true;
}

API_RULE(subset_ports)
{
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        const char *path = arena_printf(at->w->a, "[%u].name", i).p;
        if (api_empty(name) && at->value->n > 1)
            api_report_at(at, path, name, API_ERROR_REQUIRED, "%s", "");
        else if (!api_empty(name))
            rules_name_at(at, path, name, NAME_DNS1123_LABEL);
    }
    return true;
}

API_RULE(endpoint_address)
{
    rules_ip(at, "", at->value);
    rules_endpoint_ip(at, "", at->value);
    return true;
}

API_RULE(slice_ports)
{
    enum { PORTS_MAX = 20000 };
    struct strmap seen = STRMAP_INIT;
    if (count(at->value) > PORTS_MAX)
        return api_report(at, API_ERROR_TOO_MANY, "%u: must have at most %d items",
                          at->value->n, PORTS_MAX);
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        const char *path = arena_printf(at->w->a, "[%u].name", i).p;
        bool made;
        if (!api_empty(name))
            rules_name_at(at, path, name, NAME_DNS1123_LABEL);
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_shown(at, path, api_shown_text(at->w->a, api_text(name)),
                             API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
    return true;
}

static struct str joined(struct api_at *at, enum name_kind kind, struct str s)
{
    struct str problems[NAME_MAX_PROBLEMS], all = STR("");
    unsigned n = name_check(kind, s, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        all = arena_printf(at->w->a, "%.*s%s%.*s", STR_ARG(all), i ? "," : "",
                           STR_ARG(problems[i]));
    return all;
}

static void check_domain(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct str s = api_text(value), part, why;
    if (s.n == 0) {
        api_report_at(at, suffix, value, API_ERROR_REQUIRED, "%s", "");
        return;
    }
    if (s.p[s.n - 1] == '.')
        s.n--;
    part = s;
    why = joined(at, NAME_DNS1123_SUBDOMAIN, s);
    if (!why.n && str_find_byte(s, '.', 0) == SIZE_MAX)
        why = STR("should be a domain with at least two segments separated by dots");
    for (size_t from = 0; !why.n && from <= s.n;) {
        size_t dot = str_find_byte(s, '.', from);
        part = str_sub(s, from, dot);
        why = joined(at, NAME_DNS1123_LABEL, part);
        from = dot == SIZE_MAX ? s.n + 1 : dot + 1;
    }
    if (why.n)
        api_report_shown(at, suffix, api_shown_text(at->w->a, part), API_ERROR_INVALID,
                         "%.*s", STR_ARG(why));
}

/* Of IPv6 in the one spelling. */
static void check_address(struct api_at *at, const char *suffix, const struct doc *value,
                          bool six)
{
    size_t before = at->w->errors->list.n;
    struct str s = api_text(value);
    struct rules_ip ip;
    rules_ip(at, suffix, value);
    if (at->w->errors->list.n != before || !rules_ip_read(s, &ip))
        return;
    if (six && !str_is(s, ip.text)) {
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "must be in canonical form (\"%s\")", ip.text);
        return;
    }
    if (ip.v6 != six)
        api_report_shown(at, "", api_shown_text(at->w->a, s), API_ERROR_INVALID,
                         "must be an %s address", six ? "IPv6" : "IPv4");
    rules_endpoint_ip(at, suffix, value);
}

API_RULE(slice_addresses)
{
    struct str type = doc_get_text(at->w->object, "addressType");
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *value = &at->value->items[i];
        if (str_is(type, "FQDN"))
            check_domain(at, rules_index(at, i), value);
        else if (str_is(type, "IPv4") || str_is(type, "IPv6"))
            check_address(at, rules_index(at, i), value, str_is(type, "IPv6"));
    }
    return true;
}

/* Of zones or nodes; where there are too many zones nobody looks at nodes. */
API_RULE(hint_names)
{
    enum { HINTS_MAX = 8 };
    bool zones = strcmp(arg, "zone") == 0;
    struct strmap seen = STRMAP_INIT;
    if (!zones && count(api_member(at->parent, "forZones")) > HINTS_MAX)
        return true;
    if (count(at->value) > HINTS_MAX)
        return rule_max(at, "8");
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        const char *path = arena_printf(at->w->a, "[%u].name", i).p;
        bool made;
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, path, name, API_ERROR_DUPLICATE, "%s", "");
        rules_name_at(at, path, name, zones ? NAME_LABEL_VALUE : NAME_DNS1123_SUBDOMAIN);
    }
    strmap_release(&seen);
    return true;
}

/* ---- ranges of services ---- */

static void check_cidrs(struct api_at *at)
{
    struct rules_range r[2] = {0};
    bool known = true;
    for (uint32_t i = 0; i < count(at->value); i++) {
        size_t before = at->w->errors->list.n;
        rules_cidr(at, rules_index(at, i), &at->value->items[i]);
        known = rules_range_read(item(at->value, i), &r[i]) && known;
        if (at->w->errors->list.n == before && !str_is(item(at->value, i), r[i].text))
            api_report_at(at, rules_index(at, i), &at->value->items[i], API_ERROR_INVALID,
                          "must be in canonical form (\"%s\")", r[i].text);
    }
    if (count(at->value) == 2 && known && r[0].ip.v6 == r[1].ip.v6)
        api_fail(at, API_ERROR_INVALID,
                 "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 "
                 "and 2001:db8::/64");
}

static void check_new_cidrs(struct api_at *at)
{
    if (!count(at->value))
        api_fail(at, API_ERROR_REQUIRED, "at least one CIDR required");
    else if (count(at->value) > 2)
        api_report_shown(
            at, "",
            arena_printf(at->w->a, "{\"CIDRs\":%.*s}",
                         STR_ARG(api_shown(at->w, STR("spec.cidrs"), at->value))),
            API_ERROR_INVALID, "may only hold up to 2 values");
    else
        check_cidrs(at);
}

/* One of the other family may be added; nothing else changes. */
API_RULE(service_cidrs)
{
    static const char FIXED[] = "field is immutable";
    uint32_t n = count(at->value), before = count(at->old);
    if (at->w->opts->op == API_CREATE) {
        check_new_cidrs(at);
        return true;
    }
    if (n != before && !(before == 1 && n == 2)) {
        api_fail(at, API_ERROR_INVALID, FIXED);
        return true;
    }
    for (uint32_t i = 0; i < before; i++)
        if (!str_eq(item(at->value, i), item(at->old, i)))
            api_report_at(at, rules_index(at, i), &at->value->items[i], API_ERROR_INVALID,
                          "%s", FIXED);
    if (n != before)
        check_cidrs(at);
    return true;
}
