/* SPDX-License-Identifier: Apache-2.0 */
#include "api/warn_inner.h"

#include <string.h>

#include "api/rules_ip.h"
#include "api/service.h"
#include "base/quote.h"

void warn_tell(const struct api_warn *w, const char *fmt, ...)
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

void warn_address(const struct api_warn *w, const char *path, struct str text)
{
    struct rules_ip ip;
    if (!rules_ip_read(text, &ip))
        return;
    if (ip.mapped || (!ip.v6 && !str_is(text, ip.text)))
        warn_tell(w, "%s: non-standard IP address %s is invalid: use \"%s\"", path,
                  quoted(w, text), ip.text);
    else if (!str_is(text, ip.text))
        warn_tell(w,
                  "%s: IPv6 address %s should be in RFC 5952 canonical format (\"%s\")",
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
        warn_tell(w,
                  "%s: CIDR value %s is ambiguous in this context (should be \"%s\" or "
                  "\"%s/%u\"?)",
                  path, quoted(w, text), r.text, r.ip.text, r.ip.v6 ? 128 : 32);
    if (odd)
        warn_tell(w, "%s: non-standard CIDR value %s is invalid: use \"%s\"", path,
                  quoted(w, text), r.text);
    else if (!r.host_bits && r.ip.v6 && !str_is(text, r.text))
        warn_tell(
            w, "%s: IPv6 CIDR value %s should be in RFC 5952 canonical format (\"%s\")",
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
        warn_tell(w, "spec.loadBalancerIP is ignored for headless services");
    if (count(doc_get(spec, "externalIPs")))
        warn_tell(w, "spec.externalIPs is ignored for headless services");
    if (!doc_is_string(doc_get(spec, "sessionAffinity"), "None"))
        warn_tell(w, "spec.SessionAffinity is ignored for headless services");
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
        warn_tell(
            w,
            "annotation %s is deprecated, please use service.kubernetes.io/topology-mode "
            "instead",
            HINTS);
    warn_addresses(w, "spec.clusterIPs", doc_get(spec, "clusterIPs"));
    if (headless)
        warn_headless(w, spec);
    warn_addresses(w, "spec.externalIPs", ips);
    if (count(ips) && !headless && !named)
        warn_tell(
            w, "spec.externalIPs is deprecated and may no longer be implemented in some "
               "clusters");
    if (balancer.n)
        warn_address(w, "spec.loadBalancerIP", balancer);
    warn_ranges(w, "spec.loadBalancerSourceRanges",
                doc_get(spec, "loadBalancerSourceRanges"));
    if (named && count(ips))
        warn_tell(w, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!named && doc_get_text(spec, "externalName").n)
        warn_tell(w,
                  "spec.externalName is ignored when spec.type is not \"ExternalName\"");
    if (doc_is_string(doc_get(spec, "trafficDistribution"), "PreferClose"))
        warn_tell(w, "spec.trafficDistribution: \"PreferClose\" is deprecated; use "
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

/* ---- what else has addresses ---- */

/* Controllers know what they do. */
static bool is_managed(const struct doc *object, const char *label, const char *by)
{
    return doc_is_string(doc_get(doc_path(object, "metadata.labels"), label), by);
}

static void warn_of_endpoints(const struct api_warn *w, const struct doc *object,
                              const struct doc *old)
{
    static const char *const LISTS[] = {"addresses", "notReadyAddresses"};
    const struct doc *subsets = doc_get(object, "subsets");
    if (is_managed(object, "endpoints.kubernetes.io/managed-by", "endpoint-controller"))
        return;
    for (uint32_t i = 0; i < count(subsets); i++)
        for (size_t k = 0; k < 2; k++) {
            const struct doc *list = doc_get(&subsets->items[i], LISTS[k]);
            for (uint32_t n = 0; n < count(list); n++)
                warn_address(
                    w, arena_printf(w->a, "subsets[%u].%s[%u].ip", i, LISTS[k], n).p,
                    doc_get_text(&list->items[n], "ip"));
        }
}

static void warn_of_slice(const struct api_warn *w, const struct doc *object,
                          const struct doc *old)
{
    static const char LABEL[] = "endpointslice.kubernetes.io/managed-by";
    const struct doc *list = doc_get(object, "endpoints");
    if (!old && doc_is_string(doc_get(object, "addressType"), "FQDN"))
        warn_tell(w, "spec.addressType: FQDN endpoints are deprecated");
    if (is_managed(object, LABEL, "endpointslice-controller.k8s.io") ||
        is_managed(object, LABEL, "endpointslicemirroring-controller.k8s.io"))
        return;
    for (uint32_t i = 0; i < count(list); i++)
        warn_addresses(w, arena_printf(w->a, "endpoints[%u].addresses", i).p,
                       doc_get(&list->items[i], "addresses"));
}

static void warn_of_ingress(const struct api_warn *w, const struct doc *object,
                            const struct doc *old)
{
    static const char KEY[] = "kubernetes.io/ingress.class";
    if (!old && doc_get(doc_path(object, "metadata.annotations"), KEY) &&
        !doc_path(object, "spec.ingressClassName"))
        warn_tell(w,
                  "annotation \"%s\" is deprecated, please use 'spec.ingressClassName' "
                  "instead",
                  KEY);
}

static void warn_of_peers(const struct api_warn *w, const struct doc *rules,
                          const char *list, const char *peers)
{
    for (uint32_t i = 0; i < count(rules); i++) {
        const struct doc *all = doc_get(&rules->items[i], peers);
        for (uint32_t k = 0; k < count(all); k++) {
            const struct doc *block = doc_get(&all->items[k], "ipBlock");
            const char *path =
                arena_printf(w->a, "spec.%s[%u].%s[%u].ipBlock", list, i, peers, k).p;
            if (!block || block->type != DOC_MAP)
                continue;
            warn_range(w, arena_printf(w->a, "%s.cidr", path).p,
                       doc_get_text(block, "cidr"));
            warn_ranges(w, arena_printf(w->a, "%s.except", path).p,
                        doc_get(block, "except"));
        }
    }
}

static void warn_of_policy(const struct api_warn *w, const struct doc *object,
                           const struct doc *old)
{
    warn_of_peers(w, doc_path(object, "spec.ingress"), "ingress", "from");
    warn_of_peers(w, doc_path(object, "spec.egress"), "egress", "to");
}

/* ---- labels of nodes ---- */

const char *warn_label(struct str label)
{
    static const struct {
        const char *label, *text;
    } OLD[] = {
        {"beta.kubernetes.io/arch",
         "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
        {"beta.kubernetes.io/os",
         "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
        {"failure-domain.beta.kubernetes.io/region",
         "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
        {"failure-domain.beta.kubernetes.io/zone",
         "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
        {"beta.kubernetes.io/instance-type",
         "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
        {"app.kubernetes.io/created-by", "deprecated since v1.9"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods",
         "deprecated since v1.22; use Taints and Tolerations instead"},
        {"node-role.kubernetes.io/master",
         "use \"node-role.kubernetes.io/control-plane\" instead"},
    };
    for (size_t i = 0; i < sizeof OLD / sizeof *OLD; i++)
        if (str_is(label, OLD[i].label))
            return OLD[i].text;
    return NULL;
}

static void warn_of_runtime(const struct api_warn *w, const struct doc *object,
                            const struct doc *old)
{
    const struct doc *labels = doc_path(object, "scheduling.nodeSelector");
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        const char *why = warn_label(doc_key(&labels->members[i]));
        if (why)
            warn_tell(w, "scheduling.nodeSelector: %s", why);
    }
}

/* ---- kinds ---- */

static const struct {
    const char *group, *resource;
    warn_fn *warn;
} KINDS[] = {
    {"", "pods", warn_of_pod},
    {"", "podtemplates", warn_of_template},
    {"", "replicationcontrollers", warn_of_set},
    {"apps", "deployments", warn_of_set},
    {"apps", "replicasets", warn_of_set},
    {"apps", "statefulsets", warn_of_workload},
    {"apps", "daemonsets", warn_of_daemons},
    {"batch", "jobs", warn_of_job},
    {"batch", "cronjobs", warn_of_schedule},
    {"", "services", warn_of_service},
    {"", "services/status", warn_of_balancer},
    {"networking.k8s.io", "ingresses/status", warn_of_balancer},
    {"", "endpoints", warn_of_endpoints},
    {"discovery.k8s.io", "endpointslices", warn_of_slice},
    {"networking.k8s.io", "ingresses", warn_of_ingress},
    {"networking.k8s.io", "networkpolicies", warn_of_policy},
    {"node.k8s.io", "runtimeclasses", warn_of_runtime},
    {"", "persistentvolumes", warn_of_volume},
    {"", "persistentvolumeclaims", warn_of_claim},
    {"storage.k8s.io", "storageclasses", warn_of_class},
    {"storage.k8s.io", "csistoragecapacities", warn_of_capacity},
    {"storage.k8s.io", "csidrivers", warn_of_driver},
};

void api_warn(const struct api_warn *w, const struct api_kind *kind,
              const struct doc *object, const struct doc *old)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i].group, kind->group) == 0 &&
            strcmp(KINDS[i].resource, kind->resource) == 0)
            KINDS[i].warn(w, object, old);
}
