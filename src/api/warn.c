/* SPDX-License-Identifier: Apache-2.0 */
#include "api/warn.h"

#include <string.h>

#include "api/rules_ip.h"
#include "api/service.h"
#include "base/quote.h"

typedef void warn_fn(const struct api_warn *w, const struct doc *object,
                     const struct doc *old);

static void tell(const struct api_warn *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(const struct api_warn *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    w->tell(w->ctx, arena_vprintf(w->a, fmt, ap));
    va_end(ap);
}

static const char *quoted(const struct api_warn *w, struct str s)
{
    return api_shown_text(w->a, s).p;
}

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

/* ---- addresses ---- */

static void warn_address(const struct api_warn *w, const char *path, struct str text)
{
    struct rules_ip ip;
    if (!rules_ip_read(text, &ip))
        return;
    if (ip.mapped || (!ip.v6 && !str_is(text, ip.text)))
        tell(w, "%s: non-standard IP address %s is invalid: use \"%s\"", path,
             quoted(w, text), ip.text);
    else if (!str_is(text, ip.text))
        tell(w, "%s: IPv6 address %s should be in RFC 5952 canonical format (\"%s\")",
             path, quoted(w, text), ip.text);
}

static const char *at_index(const struct api_warn *w, const char *path, uint32_t i)
{
    return arena_printf(w->a, "%s[%u]", path, i).p;
}

static void warn_addresses(const struct api_warn *w, const char *path,
                           const struct doc *list)
{
    for (uint32_t i = 0; i < count(list); i++)
        warn_address(w, at_index(w, path, i), api_text(&list->items[i]));
}

static void warn_range(const struct api_warn *w, const char *path, struct str text)
{
    struct rules_range r;
    if (!rules_range_read(text, &r))
        return;
    bool odd = r.zeros || r.ip.mapped;
    if (r.host_bits)
        tell(w,
             "%s: CIDR value %s is ambiguous in this context (should be \"%s\" or "
             "\"%s/%u\"?)",
             path, quoted(w, text), r.text, r.ip.text, r.ip.v6 ? 128 : 32);
    if (odd)
        tell(w, "%s: non-standard CIDR value %s is invalid: use \"%s\"", path,
             quoted(w, text), r.text);
    else if (!r.host_bits && r.ip.v6 && !str_is(text, r.text))
        tell(w, "%s: IPv6 CIDR value %s should be in RFC 5952 canonical format (\"%s\")",
             path, quoted(w, text), r.text);
}

static void warn_ranges(const struct api_warn *w, const char *path,
                        const struct doc *list)
{
    for (uint32_t i = 0; i < count(list); i++)
        warn_range(w, at_index(w, path, i), api_text(&list->items[i]));
}

/* ---- services ---- */

static void warn_headless(const struct api_warn *w, const struct doc *spec)
{
    if (doc_get_text(spec, "loadBalancerIP").n)
        tell(w, "spec.loadBalancerIP is ignored for headless services");
    if (count(doc_get(spec, "externalIPs")))
        tell(w, "spec.externalIPs is ignored for headless services");
    if (!doc_is_string(doc_get(spec, "sessionAffinity"), "None"))
        tell(w, "spec.SessionAffinity is ignored for headless services");
}

static void warn_of_service(const struct api_warn *w, const struct doc *object,
                            const struct doc *old)
{
    static const char HINTS[] = "service.kubernetes.io/topology-aware-hints";
    const struct doc *spec = doc_get(object, "spec"), *ips = doc_get(spec, "externalIPs");
    bool named = service_is(spec, "ExternalName"),
         headless = service_is(spec, "ClusterIP") &&
                    doc_is_string(doc_get(spec, "clusterIP"), "None");
    struct str balancer = doc_get_text(spec, "loadBalancerIP");
    if (doc_get(doc_path(object, "metadata.annotations"), HINTS))
        tell(
            w,
            "annotation %s is deprecated, please use service.kubernetes.io/topology-mode "
            "instead",
            HINTS);
    warn_addresses(w, "spec.clusterIPs", doc_get(spec, "clusterIPs"));
    if (headless)
        warn_headless(w, spec);
    warn_addresses(w, "spec.externalIPs", ips);
    if (count(ips) && !headless && !named)
        tell(w, "spec.externalIPs is deprecated and may no longer be implemented in some "
                "clusters");
    if (balancer.n)
        warn_address(w, "spec.loadBalancerIP", balancer);
    warn_ranges(w, "spec.loadBalancerSourceRanges",
                doc_get(spec, "loadBalancerSourceRanges"));
    if (named && count(ips))
        tell(w, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!named && doc_get_text(spec, "externalName").n)
        tell(w, "spec.externalName is ignored when spec.type is not \"ExternalName\"");
    if (doc_is_string(doc_get(spec, "trafficDistribution"), "PreferClose"))
        tell(w, "spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                "\"PreferSameZone\"");
}

static void warn_of_balancer(const struct api_warn *w, const struct doc *object,
                             const struct doc *old)
{
    const struct doc *list = doc_path(object, "status.loadBalancer.ingress");
    for (uint32_t i = 0; i < count(list); i++)
        warn_address(w, at_index(w, "status.loadBalancer.ingress", i),
                     doc_get_text(&list->items[i], "ip"));
}

/* ---- kinds ---- */

static const struct {
    const char *group, *resource;
    warn_fn *warn;
} KINDS[] = {
    {"", "services", warn_of_service},
    {"", "services/status", warn_of_balancer},
};

void api_warn(const struct api_warn *w, const struct api_kind *kind,
              const struct doc *object, const struct doc *old)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i].group, kind->group) == 0 &&
            strcmp(KINDS[i].resource, kind->resource) == 0)
            KINDS[i].warn(w, object, old);
}
