/* SPDX-License-Identifier: Apache-2.0 */
/* Services. */
#include "api/rules_ip.h"
#include "api/rules_text.h"
#include "api/service.h"
#include "base/map.h"

static const char NONE[] = "None", MODE[] = "service.kubernetes.io/topology-mode",
                  HINTS[] = "service.kubernetes.io/topology-aware-hints";

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct str item(const struct doc *list, uint32_t i)
{
    return i < count(list) ? api_text(&list->items[i]) : STR("");
}

static bool is_six(struct str ip)
{
    return str_find_byte(ip, ':', 0) != SIZE_MAX;
}

/* Values that were taken once are taken for good. */
static bool was_listed(const struct doc *old, struct str s)
{
    for (uint32_t i = 0; i < count(old); i++)
        if (str_eq(item(old, i), s))
            return true;
    return false;
}

static struct str annotation(const struct api_at *at, const char *key)
{
    return doc_get_text(doc_path(at->w->object, "metadata.annotations"), key);
}

API_RULE(topology_annotations)
{
    struct str mode = annotation(at, MODE), hints = annotation(at, HINTS);
    if (mode.p && hints.p && !str_eq(mode, hints))
        api_report_path(at->w, arena_printf(at->w->a, "metadata.annotations[%s]", MODE),
                        doc_get(doc_path(at->w->object, "metadata.annotations"), MODE),
                        API_ERROR_INVALID,
                        "must match annotations[%s] when both are specified", HINTS);
    return true;
}

/* ---- addresses ---- */

static void check_first(struct api_at *at, const struct doc *ips)
{
    struct str ip = doc_get_text(at->value, "clusterIP");
    if (ip.n && !count(ips))
        api_report_at(at, ".clusterIPs", ips, API_ERROR_REQUIRED, "%s", "");
    else if (ip.n && !str_eq(ip, item(ips, 0)))
        api_report_at(at, ".clusterIPs", ips, API_ERROR_INVALID,
                      "first value must match `clusterIP`");
    else if (!ip.n && count(ips))
        api_report_at(at, ".clusterIPs", ips, API_ERROR_INVALID,
                      "must be empty when `clusterIP` is not specified");
}

static void check_families(struct api_at *at, const struct doc *families)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < count(families); i++) {
        const char *path = arena_printf(at->w->a, ".ipFamilies[%u]", i).p;
        struct str family = item(families, i);
        unsigned bit = str_is(family, "IPv4") ? 1 : str_is(family, "IPv6") ? 2 : 0;
        bool again = bit ? (seen & bit) != 0 : false;
        if (!bit)
            rules_not_supported(at, path, &families->items[i], "IPv4|IPv6");
        for (uint32_t k = 0; !bit && k < i; k++)
            again = again || str_eq(item(families, k), family);
        if (again)
            api_report_at(at, path, &families->items[i], API_ERROR_DUPLICATE, "%s", "");
        seen |= bit;
    }
}

/* false: others would only mislead. */
static bool check_each(struct api_at *at, const struct doc *ips)
{
    size_t before = at->w->errors->list.n;
    const struct doc *old = api_member(at->old, "clusterIPs");
    bool ok = true;
    for (uint32_t i = 0; i < count(ips); i++) {
        const char *path = arena_printf(at->w->a, ".clusterIPs[%u]", i).p;
        if (i == 0 && str_is(item(ips, 0), NONE)) {
            if (ips->n > 1)
                ok = api_report_at(at, ".clusterIPs", ips, API_ERROR_INVALID,
                                   "'None' must be the first and only value");
        } else if (!was_listed(old, item(ips, i))) {
            rules_ip(at, path, &ips->items[i]);
        }
    }
    ok = ok && at->w->errors->list.n == before;
    if (count(ips) > 2)
        api_report_at(at, ".clusterIPs", ips, API_ERROR_INVALID,
                      "may only hold up to 2 values");
    return ok;
}

static bool are_of_both(const struct doc *ips)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < count(ips); i++)
        seen |= is_six(item(ips, i)) ? 2 : 1;
    return seen == 3 && count(ips) == 2;
}

static void match_families(struct api_at *at, const struct doc *ips,
                           const struct doc *families)
{
    for (uint32_t i = 0; i < count(ips) && i < count(families); i++) {
        bool six = is_six(item(ips, i)), wants = str_is(item(families, i), "IPv6");
        if (six != wants && (wants || str_is(item(families, i), "IPv4")))
            api_report_at(at, arena_printf(at->w->a, ".clusterIPs[%u]", i).p,
                          &ips->items[i], API_ERROR_INVALID,
                          "expected an %s value as indicated by `ipFamilies[%u]`",
                          wants ? "IPv6" : "IPv4", i);
    }
}

void rules_service_addresses(struct api_at *at)
{
    const struct doc *ips = api_member(at->value, "clusterIPs");
    const struct doc *families = api_member(at->value, "ipFamilies");
    const struct doc *policy = api_member(at->value, "ipFamilyPolicy");
    static const char POLICIES[] = "PreferDualStack|RequireDualStack|SingleStack";
    if (service_is(at->value, "ExternalName"))
        return;
    check_first(at, ips);
    check_families(at, families);
    if (policy && !rules_among(api_text(policy), POLICIES))
        rules_not_supported(at, ".ipFamilyPolicy", policy, POLICIES);
    if (!check_each(at, ips))
        return;
    if (count(ips) > 1 && !are_of_both(ips))
        api_report_at(at, ".clusterIPs", ips, API_ERROR_INVALID,
                      "may specify no more than one IP for each IP family");
    if (!service_is_headless(at->value))
        match_families(at, ips, families);
}

API_RULE(service_addresses)
{
    rules_service_addresses(at);
    return true;
}

/* ---- addresses and families that change ---- */

static void refuse_first(struct api_at *at, const char *path, const struct doc *shown,
                         const char *text)
{
    api_report_at(at, path, shown, API_ERROR_INVALID, "%s", text);
}

static void check_release(struct api_at *at, uint32_t left, const char *what)
{
    const struct doc *policy = api_member(at->value, "ipFamilyPolicy");
    if (left == 1 && !doc_is_string(policy, "SingleStack"))
        api_report_at(at, ".ipFamilyPolicy", policy, API_ERROR_INVALID,
                      "must be set to 'SingleStack' when releasing the secondary %s",
                      what);
}

static void check_changed_ips(struct api_at *at)
{
    const struct doc *ips = api_member(at->value, "clusterIPs"),
                     *old = api_member(at->old, "clusterIPs");
    bool same_size = count(ips) == count(old);
    for (uint32_t i = 0; same_size && i < count(ips); i++)
        if (!str_eq(item(ips, i), item(old, i)))
            refuse_first(at, arena_printf(at->w->a, ".clusterIPs[%u]", i).p, ips,
                         "may not change once set");
    if (same_size)
        return;
    if (count(ips) == 0)
        refuse_first(at, ".clusterIPs[0]", ips, "primary clusterIP can not be unset");
    else if (count(old) && !str_eq(item(ips, 0), item(old, 0)))
        refuse_first(at, ".clusterIPs[0]", ips, "may not change once set");
    if (count(ips) < count(old))
        check_release(at, count(ips), "clusterIP");
}

static void check_changed_families(struct api_at *at)
{
    const struct doc *new = api_member(at->value, "ipFamilies"),
                     *old = api_member(at->old, "ipFamilies"),
                     *ips = api_member(at->value, "clusterIPs");
    bool same_size = count(new) == count(old);
    for (uint32_t i = 0; same_size && i < count(new); i++)
        if (!str_eq(item(new, i), item(old, i)))
            refuse_first(at, ".ipFamilies[0]", new, "may not change once set");
    if (same_size)
        return;
    bool fewer = count(new) < count(old);
    if (fewer && count(ips) == 0)
        refuse_first(at, ".ipFamilies[0]", new, "primary ipFamily can not be unset");
    if (count(new) && count(old) && !str_eq(item(new, 0), item(old, 0)))
        refuse_first(at, ".ipFamilies[0]", ips, "may not change once set");
    if (fewer)
        check_release(at, count(new), "ipFamily");
}

/* The first of each stays, except on the way from and to names of elsewhere. */
API_RULE(service_addresses_stay)
{
    bool headless = service_is_headless(at->value), was = service_is_headless(at->old);
    if (!at->old || service_is(at->value, "ExternalName") ||
        service_is(at->old, "ExternalName") || (headless && was))
        return true;
    check_changed_ips(at);
    if (!headless && !was)
        check_changed_families(at);
    return true;
}

/* ---- types ---- */

static void check_external_name(struct api_at *at)
{
    static const char *const UNSET[] = {"clusterIPs", "ipFamilies"};
    const struct doc *name = api_member(at->value, "externalName");
    struct str cname = api_text(name);
    for (size_t i = 0; i < 2; i++)
        if (count(api_member(at->value, UNSET[i])))
            api_report_at(at, arena_printf(at->w->a, ".%s", UNSET[i]).p, NULL,
                          API_ERROR_FORBIDDEN,
                          "may not be set for ExternalName services");
    if (api_member(at->value, "ipFamilyPolicy"))
        api_report_at(at, ".ipFamilyPolicy", NULL, API_ERROR_FORBIDDEN,
                      "may not be set for ExternalName services");
    if (cname.n && cname.p[cname.n - 1] == '.')
        cname.n--;
    struct doc checked = doc_make_string(at->w->a, cname);
    if (cname.n)
        rules_name_at(at, ".externalName", &checked, NAME_DNS1123_SUBDOMAIN);
    else
        api_report_at(at, ".externalName", name, API_ERROR_REQUIRED, "%s", "");
}

API_RULE(service_type)
{
    const struct doc *ips = api_member(at->value, "clusterIPs");
    bool headless = service_is_headless(at->value);
    struct str type = doc_get_text(at->value, "type");
    if (!count(api_member(at->value, "ports")) && !headless &&
        !str_is(type, "ExternalName"))
        api_report_at(at, ".ports", NULL, API_ERROR_REQUIRED, "%s", "");
    if (headless && service_has_ports(at->value))
        api_report_at(at, ".clusterIPs[0]", &ips->items[0], API_ERROR_INVALID,
                      "may not be set to 'None' for %.*s services", STR_ARG(type));
    if (str_is(type, "ExternalName"))
        check_external_name(at);
    return true;
}

/* ---- ports ---- */

API_RULE(service_port_names)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        const char *path = arena_printf(at->w->a, "[%u].name", i).p;
        bool made = true;
        if (api_empty(name) && at->value->n > 1)
            api_report_at(at, path, name, API_ERROR_REQUIRED, "%s", "");
        if (api_empty(name))
            continue;
        rules_name_at(at, path, name, NAME_DNS1123_LABEL);
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, path, name, API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
    return true;
}

static bool same_pair(const struct doc *a, const struct doc *b, const char *port)
{
    return str_eq(doc_get_text(a, "protocol"), doc_get_text(b, "protocol")) &&
           rules_int(api_member(a, port), 0) == rules_int(api_member(b, port), 0);
}

static bool repeats(const struct doc *ports, uint32_t i, const char *port)
{
    for (uint32_t k = 0; k < i; k++)
        if (same_pair(&ports->items[k], &ports->items[i], port))
            return true;
    return false;
}

/* Of a port that is there twice upstream shows no more than what makes it one. */
static struct str shown_pair(struct api_at *at, const struct doc *port)
{
    struct str protocol = doc_get_text(port, "protocol");
    return arena_printf(at->w->a,
                        "{\"Name\":\"\",\"Protocol\":\"%.*s\",\"AppProtocol\":null,"
                        "\"Port\":%lld,\"TargetPort\":0,\"NodePort\":0}",
                        STR_ARG(protocol),
                        (long long)rules_int(api_member(port, "port"), 0));
}

API_RULE(service_ports_apart)
{
    const struct doc *ports = api_member(at->value, "ports");
    bool inside = service_is(at->value, "ClusterIP");
    for (uint32_t i = 0; i < count(ports); i++) {
        const struct doc *node = api_member(&ports->items[i], "nodePort");
        const char *path = arena_printf(at->w->a, ".ports[%u].nodePort", i).p;
        bool has = rules_int(node, 0) != 0;
        if (has && inside)
            api_report_at(at, path, NULL, API_ERROR_FORBIDDEN,
                          "may not be used when `type` is 'ClusterIP'");
        if (has && repeats(ports, i, "nodePort"))
            api_report_at(at, path, node, API_ERROR_DUPLICATE, "%s", "");
        if (repeats(ports, i, "port"))
            api_report_shown(at, arena_printf(at->w->a, ".ports[%u]", i).p,
                             shown_pair(at, &ports->items[i]), API_ERROR_DUPLICATE, "%s",
                             "");
    }
    return true;
}

/* ---- affinity ---- */

API_RULE(affinity_config)
{
    enum { DAY = 86400 };
    static const char WHEN[] = "when session affinity type is ClientIP";
    const struct doc *client = api_member(at->value, "clientIP");
    const struct doc *seconds = api_member(client, "timeoutSeconds");
    int64_t n = rules_int(seconds, 0);
    const struct doc *affinity = api_member(at->parent, "sessionAffinity");
    if (doc_is_string(affinity, NONE) && at->value)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "must not be set when session affinity is None");
    if (!doc_is_string(affinity, "ClientIP"))
        return true;
    if (!at->value)
        api_fail(at, API_ERROR_REQUIRED, WHEN);
    else if (!client || !seconds)
        api_report_at(at, client ? ".clientIP.timeoutSeconds" : ".clientIP", NULL,
                      API_ERROR_REQUIRED, "%s", WHEN);
    else if (n <= 0 || n > DAY)
        api_report_at(at, ".clientIP.timeoutSeconds", seconds, API_ERROR_INVALID,
                      "must be greater than 0 and less than %d", DAY);
    return true;
}

/* ---- the outside ---- */

API_RULE(external_ips)
{
    for (uint32_t i = 0; i < count(at->value); i++) {
        size_t before = at->w->errors->list.n;
        if (!was_listed(at->old, item(at->value, i)))
            rules_ip(at, rules_index(at, i), &at->value->items[i]);
        if (at->w->errors->list.n == before)
            rules_endpoint_ip(at, rules_index(at, i), &at->value->items[i]);
    }
    return true;
}

static const char BALANCER[] = "LoadBalancer",
                  ONLY_BALANCER[] = "may only be used when `type` is 'LoadBalancer'",
                  RANGES_KEY[] = "service.beta.kubernetes.io/load-balancer-source-ranges";

static bool was_range(const struct doc *old, struct str s)
{
    for (uint32_t i = 0; i < count(old); i++)
        if (str_eq(str_trim(item(old, i)), s))
            return true;
    return false;
}

static void check_range(struct api_at *at, const char *suffix, struct str range)
{
    struct doc d = doc_make_string(at->w->a, range);
    rules_cidr(at, suffix, &d);
}

static void check_listed_ranges(struct api_at *at, const struct doc *ranges)
{
    const struct doc *old = api_member(at->old, "loadBalancerSourceRanges");
    if (!service_is(at->value, BALANCER))
        api_report_at(at, ".LoadBalancerSourceRanges", NULL, API_ERROR_FORBIDDEN, "%s",
                      ONLY_BALANCER);
    for (uint32_t i = 0; i < count(ranges); i++) {
        struct str range = str_trim(item(ranges, i));
        if (!was_range(old, range))
            check_range(at, arena_printf(at->w->a, ".LoadBalancerSourceRanges[%u]", i).p,
                        range);
    }
}

/* What once was said by an annotation. */
static void check_annotated_ranges(struct api_at *at, struct str all)
{
    struct api_at here = *at;
    struct strbuf kept = at->w->path;
    struct str before =
        doc_get_text(doc_path(at->w->opts->op == API_CREATE ? NULL : at->w->opts->old,
                              "metadata.annotations"),
                     RANGES_KEY);
    at->w->path = (struct strbuf)STRBUF_INIT;
    strbuf_addf(&at->w->path, "metadata.annotations[%s]", RANGES_KEY);
    if (!service_is(at->value, BALANCER))
        api_report_at(&here, "", NULL, API_ERROR_FORBIDDEN, "%s", ONLY_BALANCER);
    bool new = !before.p || !str_eq(before, all);
    all = str_trim(all);
    for (size_t from = 0; new &&all.n;) {
        size_t comma = str_find_byte(all, ',', from);
        check_range(&here, "", str_trim(str_sub(all, from, comma)));
        if (comma == SIZE_MAX)
            break;
        from = comma + 1;
    }
    strbuf_release(&at->w->path);
    at->w->path = kept;
}

API_RULE(source_ranges)
{
    const struct doc *ranges = api_member(at->value, "loadBalancerSourceRanges");
    struct str annotated = annotation(at, RANGES_KEY);
    if (count(ranges))
        check_listed_ranges(at, ranges);
    else if (annotated.p)
        check_annotated_ranges(at, annotated);
    return true;
}

API_RULE(balancer_ports)
{
    bool balancer = service_is(at->parent, BALANCER);
    if (at->value && !balancer)
        api_fail(at, API_ERROR_FORBIDDEN, ONLY_BALANCER);
    if (!at->value && balancer)
        api_report_path(at->w, STR("allocateLoadBalancerNodePorts"), NULL,
                        API_ERROR_REQUIRED, "%s", "");
    return true;
}

API_RULE(balancer_class)
{
    const struct doc *old = api_member(at->old_parent, "loadBalancerClass");
    bool balancer = service_is(at->parent, BALANCER);
    bool same = (!at->value && !old) || (at->value && old && doc_equal(at->value, old));
    if (balancer && service_is(at->old_parent, BALANCER) && !same)
        api_fail(at, API_ERROR_INVALID, "may not change once set");
    if (balancer && at->value)
        rules_name(at, NAME_LABEL_KEY);
    else if (at->value)
        api_fail(at, API_ERROR_FORBIDDEN, ONLY_BALANCER);
    return true;
}

API_RULE(external_traffic)
{
    static const char POLICIES[] = "Cluster|Local";
    if (!service_is_external(at->parent)) {
        if (!api_empty(at->value))
            api_fail(at, API_ERROR_INVALID,
                     "may only be set for externally-accessible services");
    } else if (rule_required(at, "")) {
        rule_one_of(at, POLICIES);
    }
    return true;
}

API_RULE(health_port)
{
    int64_t port = rules_int(at->value, 0);
    bool needed = service_needs_health(at->parent);
    if (needed && service_needs_health(at->old_parent) && port != rules_int(at->old, 0))
        api_fail(at, API_ERROR_FORBIDDEN, "field is immutable");
    if (!needed && port)
        api_fail(at, API_ERROR_INVALID,
                 "may only be set when `type` is 'LoadBalancer' and "
                 "`externalTrafficPolicy` is 'Local'");
    if (needed && !port)
        api_fail(at, API_ERROR_REQUIRED, "");
    else if (needed)
        rule_port_number(at, "");
    return true;
}

API_RULE(internal_traffic)
{
    bool needed = service_has_ports(at->parent) || service_is(at->parent, "ClusterIP");
    if (!at->value && needed)
        api_fail(at, API_ERROR_REQUIRED, "");
    if (at->value)
        rule_one_of(at, "Cluster|Local");
    return true;
}

/* ---- status ---- */

static void check_ingress(struct api_at *at, uint32_t i, const struct doc *old)
{
    const struct doc *d = &at->value->items[i], *ip = api_member(d, "ip"),
                     *mode = api_member(d, "ipMode"), *host = api_member(d, "hostname");
    const char *mode_path = arena_printf(at->w->a, "[%u].ipMode", i).p;
    const char *host_path = arena_printf(at->w->a, "[%u].hostname", i).p;
    struct rules_ip read;
    bool was = false;
    for (uint32_t k = 0; k < count(old); k++)
        was = was || str_eq(doc_get_text(&old->items[k], "ip"), api_text(ip));
    if (!api_empty(ip) && !was)
        rules_ip(at, arena_printf(at->w->a, "[%u].ip", i).p, ip);
    if (!mode && !api_empty(ip))
        api_report_at(at, mode_path, NULL, API_ERROR_REQUIRED,
                      "must be specified when `ip` is set");
    else if (mode && api_empty(ip))
        api_report_at(at, mode_path, NULL, API_ERROR_FORBIDDEN,
                      "may not be specified when `ip` is not set");
    else if (mode && !rules_among(api_text(mode), "Proxy|VIP"))
        rules_not_supported(at, mode_path, mode, "Proxy|VIP");
    if (api_empty(host))
        return;
    rules_name_at(at, host_path, host, NAME_DNS1123_SUBDOMAIN);
    if (rules_ip_read(api_text(host), &read))
        api_report_at(at, host_path, host, API_ERROR_INVALID,
                      "must be a DNS name, not an IP address");
}

API_RULE(balancer_ingress)
{
    if (!service_is(doc_get(at->w->object, "spec"), BALANCER)) {
        if (count(at->value))
            api_fail(at, API_ERROR_FORBIDDEN,
                     "may only be used when `spec.type` is 'LoadBalancer'");
        return true;
    }
    for (uint32_t i = 0; i < count(at->value); i++)
        check_ingress(at, i, at->old);
    return true;
}
