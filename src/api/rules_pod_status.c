/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a pod's status. */
#include "api/rules_ip.h"
#include "api/rules_pod.h"
#include "base/map.h"

/* ---- addresses ---- */

static bool was_listed(const struct doc *old, struct str ip)
{
    for (uint32_t i = 0; old && i < old->n; i++)
        if (str_eq(doc_get_text(&old->items[i], "ip"), ip))
            return true;
    return false;
}

/* At most one of each family. */
static bool is_dual(const struct doc *list)
{
    unsigned families = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        struct rules_ip ip;
        if (rules_ip_read(doc_get_text(&list->items[i], "ip"), &ip))
            families |= ip.v6 ? 2 : 1;
    }
    return list->n == 2 && families == 3;
}

static void check_ips(struct api_at *at, const char *list_key, const char *one_key)
{
    const struct doc *list = api_member(at->value, list_key);
    const struct doc *old = api_member(at->old, list_key);
    struct str one = doc_get_text(at->value, one_key);
    struct arena *a = at->w->a;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *ip = api_member(&list->items[i], "ip");
        if (!was_listed(old, api_text(ip)))
            rules_ip(at, arena_printf(a, ".%s[%u]", list_key, i).p, ip);
    }
    if (list && list->n > 1 && !is_dual(list))
        api_report_at(at, arena_printf(a, ".%s", list_key).p, list, API_ERROR_INVALID,
                      "may specify no more than one IP for each IP family");
    const struct doc *first = !api_empty(list) ? api_member(&list->items[0], "ip") : NULL;
    if (!api_empty(list) && !str_eq(one, api_text(first)) &&
        (one.n || strcmp(one_key, "hostIP") == 0))
        api_report_at(at, arena_printf(a, ".%s[0].ip", list_key).p, first,
                      API_ERROR_INVALID, "must be equal to `%s`", one_key);
}

static void check_both_ips(struct api_at *at)
{
    const struct doc *list = api_member(at->value, "podIPs");
    if ((doc_get_text(at->value, "podIP").n > 0) != !api_empty(list))
        api_report_at(at, ".podIPs", list, API_ERROR_INVALID,
                      "podIP and podIPs must either both be set or both be unset");
}

/* ---- containers ---- */

static const struct doc *find_named(const struct doc *list, struct str name)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return &list->items[i];
    return NULL;
}

static const struct doc *terminated(const struct doc *status)
{
    return api_member(api_member(status, "state"), "terminated");
}

static bool rule_applies(const struct doc *rule, int64_t code)
{
    const struct doc *codes = api_member(rule, "exitCodes");
    const struct doc *values = api_member(codes, "values");
    bool in = false;
    for (uint32_t i = 0; values && i < values->n; i++)
        in = in || rules_int(&values->items[i], -1) == code;
    return codes && (doc_is_string(api_member(codes, "operator"), "In") ? in : !in);
}

/* By the container's own rules, its policy, or the pod's. */
static bool restarts(const struct api_walk *w, const struct doc *c, int64_t code)
{
    const struct doc *rules = api_member(c, "restartPolicyRules");
    for (uint32_t i = 0; rules && i < rules->n; i++)
        if (rule_applies(&rules->items[i], code))
            return true;
    struct str policy = doc_get_text(c, "restartPolicy");
    if (policy.n == 0)
        policy = doc_get_text(w->pod_spec, "restartPolicy");
    return str_is(policy, "Always") || (str_is(policy, "OnFailure") && code != 0);
}

static bool all_may_restart(const struct doc *spec)
{
    for (int k = 0; k < 2; k++) {
        const struct doc *list = api_member(spec, rules_container_lists[k]);
        for (uint32_t i = 0; list && i < list->n; i++) {
            const struct doc *rules = api_member(&list->items[i], "restartPolicyRules");
            for (uint32_t r = 0; rules && r < rules->n; r++)
                if (doc_is_string(api_member(&rules->items[r], "action"),
                                  "RestartAllContainers"))
                    return true;
        }
    }
    return false;
}

/* What has ended for good stays so. */
static void check_endings(struct api_at *at, const char *key, const char *specs)
{
    const struct doc *now = api_member(at->value, key), *was = api_member(at->old, key);
    const struct doc *list = specs ? api_member(at->w->pod_spec, specs) : NULL;
    if (specs && all_may_restart(at->w->pod_spec))
        return;
    for (uint32_t i = 0; was && i < was->n; i++) {
        struct str name = doc_get_text(&was->items[i], "name");
        const struct doc *end = terminated(&was->items[i]), *s = find_named(now, name);
        const struct doc *c = find_named(list, name);
        if (!end || !s || terminated(s))
            continue;
        if (c && restarts(at->w, c, rules_int(api_member(end, "exitCode"), 0)))
            continue;
        api_report_at(at, arena_printf(at->w->a, ".%s[%u].state", key, i).p, NULL,
                      API_ERROR_FORBIDDEN,
                      "may not be transitioned to non-terminated state");
    }
}

static void check_id(struct api_at *at, const char *path, const struct doc *id,
                     int64_t most)
{
    int64_t v = rules_int(id, 0);
    if (v < 0 || v > most)
        api_report_at(at, path, id, API_ERROR_INVALID,
                      "must be between 0 and %lld, inclusive", (long long)most);
}

static void check_users(struct api_at *at, const char *key)
{
    const struct doc *list = api_member(at->value, key);
    bool windows = str_is(rules_pod_os(at->w), "windows");
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *user = api_member(api_member(&list->items[i], "user"), "linux");
        struct str path = arena_printf(at->w->a, ".%s[%u].user.linux", key, i);
        const struct doc *groups = api_member(user, "supplementalGroups");
        if (!user)
            continue;
        if (windows) {
            api_report_at(at, path.p, NULL, API_ERROR_FORBIDDEN,
                          "cannot be set for a windows pod");
            continue;
        }
        check_id(at, rules_below(at->w, path, ".uid").p, api_member(user, "uid"),
                 UINT32_MAX);
        check_id(at, rules_below(at->w, path, ".gid").p, api_member(user, "gid"),
                 INT32_MAX);
        for (uint32_t g = 0; groups && g < groups->n; g++)
            check_id(
                at,
                arena_printf(at->w->a, "%.*s.supplementalGroups[%u]", STR_ARG(path), g).p,
                &groups->items[g], INT32_MAX);
    }
}

/* ---- health of resources ---- */

static bool has_claim(const struct doc *c, struct str claim)
{
    const struct doc *claims = api_member(api_member(c, "resources"), "claims");
    for (uint32_t i = 0; claims && i < claims->n; i++) {
        struct str name = doc_get_text(&claims->items[i], "name");
        struct str request = doc_get_text(&claims->items[i], "request");
        size_t n = name.n + (request.n ? 1 + request.n : 0);
        if (claim.n == n && str_starts(claim, name) &&
            (request.n == 0 || (claim.p[name.n] == '/' && str_ends(claim, request))))
            return true;
    }
    return false;
}

static bool has_extended(struct api_at *at, const struct doc *c, struct str claim)
{
    const struct doc *status = api_member(at->value, "extendedResourceClaimStatus");
    const struct doc *maps = api_member(status, "requestMappings");
    const struct doc *requests = api_member(api_member(c, "resources"), "requests");
    size_t slash = str_find_byte(claim, '/', 0);
    if (slash == SIZE_MAX || slash + 1 == claim.n ||
        !str_eq(str_sub(claim, 0, slash), doc_get_text(status, "resourceClaimName")))
        return false;
    for (uint32_t i = 0; maps && i < maps->n; i++) {
        const struct doc *m = &maps->items[i];
        struct quantity q;
        struct str resource = arena_str(at->w->a, doc_get_text(m, "resourceName"));
        if (str_eq(doc_get_text(m, "containerName"), doc_get_text(c, "name")) &&
            str_eq(doc_get_text(m, "requestName"), str_sub(claim, slash + 1, SIZE_MAX)) &&
            rules_quantity(at, requests, resource.p, &q) && quantity_sign(&q) != 0)
            return true;
    }
    return false;
}

static void check_resource_name(struct api_at *at, struct str path,
                                const struct doc *name, const struct doc *c)
{
    struct str s = api_text(name), claim = str_sub(s, strlen("claim:"), SIZE_MAX);
    const char *place = rules_below(at->w, path, ".name").p;
    if (str_starts(s, STR("claim:"))) {
        if (!has_claim(c, claim) && !has_extended(at, c, claim))
            api_report_at(at, place, name, API_ERROR_INVALID,
                          "must match one of the container's resource claims as "
                          "'claim:<claimName>/<requestName>' when "
                          "container.resources.claims[*].request is set or "
                          "'claim:<claimName>' when it is empty");
    } else if (!doc_get_str(api_member(api_member(c, "resources"), "requests"), s)) {
        api_report_at(at, place, name, API_ERROR_INVALID,
                      "must match one of the container's resource requests");
    }
}

static void check_health(struct api_at *at, struct str path, const struct doc *list)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *r = &list->items[i];
        const struct doc *health = api_member(r, "health");
        const struct doc *message = api_member(r, "message");
        struct str base = arena_printf(at->w->a, "%.*s.resources[%u]", STR_ARG(path), i);
        bool made;
        if (!doc_is_string(health, "Healthy") && !doc_is_string(health, "Unhealthy") &&
            !doc_is_string(health, "Unknown"))
            rules_not_supported(at, rules_below(at->w, base, ".health").p, health,
                                "Healthy|Unhealthy|Unknown");
        if (message && api_empty(message))
            api_report_at(at, rules_below(at->w, base, ".message").p, message,
                          API_ERROR_REQUIRED, "must be non-empty if specified");
        if (api_text(message).n > 1024)
            api_report_at(at, rules_below(at->w, base, ".message").p, message,
                          API_ERROR_TOO_LONG, "may not be more than 1024 bytes");
        strmap_put(&seen, doc_get_text(r, "resourceID"), &made);
        if (!made)
            api_report_at(at, rules_below(at->w, base, ".resourceID").p,
                          api_member(r, "resourceID"), API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
}

static void check_allocated(struct api_at *at, const char *key, const char *specs)
{
    const struct doc *list = api_member(at->value, key);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *all = api_member(&list->items[i], "allocatedResourcesStatus");
        const struct doc *c = specs ? find_named(api_member(at->w->pod_spec, specs),
                                                 doc_get_text(&list->items[i], "name"))
                                    : NULL;
        if (!specs && !api_empty(all))
            api_report_at(
                at, arena_printf(at->w->a, ".%s[%u].allocatedResourcesStatus", key, i).p,
                all, API_ERROR_FORBIDDEN, "must not be specified in container status");
        for (uint32_t k = 0; specs && all && k < all->n; k++) {
            struct str path =
                arena_printf(at->w->a, ".%s[%u].allocatedResourcesStatus[%u]", key, i, k);
            if (c)
                check_resource_name(at, path, api_member(&all->items[k], "name"), c);
            check_health(at, path, api_member(&all->items[k], "resources"));
        }
    }
}

/* ---- claims ---- */

static void check_claims(struct api_at *at)
{
    const struct doc *list = api_member(at->value, "resourceClaimStatuses");
    const struct doc *claims = api_member(at->w->pod_spec, "resourceClaims");
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *name = api_member(&list->items[i], "name");
        const struct doc *claim = api_member(&list->items[i], "resourceClaimName");
        struct str base = arena_printf(at->w->a, ".resourceClaimStatuses[%u]", i);
        const char *place = rules_below(at->w, base, ".name").p;
        bool made;
        if (!find_named(claims, api_text(name)))
            api_report_at(at, place, name, API_ERROR_INVALID,
                          "must match the name of an entry in `spec.resourceClaims`");
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, place, name, API_ERROR_DUPLICATE, "%s", "");
        if (claim)
            rules_name_at(at, rules_below(at->w, base, ".resourceClaimName").p, claim,
                          NAME_DNS1123_SUBDOMAIN);
    }
    strmap_release(&seen);
}

static void check_mapping(struct api_at *at, const struct doc *m, struct str base)
{
    const struct doc *name = api_member(m, "containerName");
    const struct doc *resource = api_member(m, "resourceName");
    const struct doc *c =
        find_named(api_member(at->w->pod_spec, "containers"), api_text(name));
    if (!c)
        c = find_named(api_member(at->w->pod_spec, "initContainers"), api_text(name));
    if (!c)
        api_report_at(at, rules_below(at->w, base, ".containerName").p, name,
                      API_ERROR_INVALID,
                      "must match the name of an entry in spec.initContainers.name or "
                      "spec.containers.name");
    else if (!doc_get_str(api_member(api_member(c, "resources"), "requests"),
                          api_text(resource)))
        api_report_at(at, rules_below(at->w, base, ".resourceName").p, resource,
                      API_ERROR_INVALID,
                      "must match the extended resource name of an entry in "
                      "spec.initContainers.resources.requests or "
                      "spec.containers.resources.requests");
    rules_name_at(at, ".extendedResourceClaimStatus.requestName",
                  api_member(m, "requestName"), NAME_DNS1123_LABEL);
}

static void check_repeat(struct api_at *at, const struct doc *maps, uint32_t i,
                         struct str base)
{
    static const char *const KEYS[] = {"containerName", "resourceName", "requestName"};
    bool same = false;
    for (uint32_t k = 0; k < i && !same; k++) {
        same = true;
        for (int n = 0; n < 3; n++)
            same = same && str_eq(doc_get_text(&maps->items[k], KEYS[n]),
                                  doc_get_text(&maps->items[i], KEYS[n]));
    }
    for (int n = 0; same && n < 3; n++)
        api_report_at(at, arena_printf(at->w->a, "%.*s.%s", STR_ARG(base), KEYS[n]).p,
                      api_member(&maps->items[i], KEYS[n]), API_ERROR_DUPLICATE, "%s",
                      "");
}

static void check_extended(struct api_at *at)
{
    const struct doc *status = api_member(at->value, "extendedResourceClaimStatus");
    const struct doc *maps = api_member(status, "requestMappings");
    const struct doc *claim = api_member(status, "resourceClaimName");
    if (!status)
        return;
    if (api_empty(maps))
        api_report_at(at, ".extendedResourceClaimStatus.requestMappings", maps,
                      API_ERROR_REQUIRED, "at least one request mapping is required");
    for (uint32_t i = 0; maps && i < maps->n; i++) {
        struct str base =
            arena_printf(at->w->a, ".extendedResourceClaimStatus.requestMappings[%u]", i);
        check_mapping(at, &maps->items[i], base);
        check_repeat(at, maps, i, base);
    }
    const char *place = ".extendedResourceClaimStatus.resourceClaimName";
    if (api_empty(claim))
        api_report_at(at, place, claim, API_ERROR_REQUIRED, "%s", "");
    else
        rules_name_at(at, place, claim, NAME_DNS1123_SUBDOMAIN);
}

/* ---- node allocatable resources ---- */

static bool refers_to(const struct doc *list, struct str claim)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "resourceClaimName"), claim))
            return true;
    return false;
}

static void check_sign(struct api_at *at, struct str base, const struct doc *d,
                       const char *key)
{
    struct quantity q;
    if (rules_quantity(at, d, key, &q) && quantity_sign(&q) < 0)
        api_report_at(at, arena_printf(at->w->a, "%.*s.%s", STR_ARG(base), key).p,
                      api_member(d, key), API_ERROR_INVALID, "must be non-negative");
}

static void check_share(struct api_at *at, struct str base, const struct doc *d,
                        bool overhead)
{
    const struct doc *name = api_member(d, "name");
    struct str s = api_text(name);
    if (!str_is(s, "cpu") && !str_is(s, "memory") && !str_starts(s, STR("hugepages-")))
        api_report_at(at, rules_below(at->w, base, ".name").p, name, API_ERROR_INVALID,
                      "must be a node allocatable resource name");
    if (overhead && !api_member(d, "perPod") && !api_member(d, "perContainer"))
        api_report_shown(at, arena_str(at->w->a, base).p, STR("\"\""), API_ERROR_INVALID,
                         "at least one of perPod or perContainer must be set");
    check_sign(at, base, d, "quantity");
    check_sign(at, base, d, "perPod");
    check_sign(at, base, d, "perContainer");
}

static void require(struct api_at *at, struct str base, const struct doc *d,
                    const char *key)
{
    struct quantity q;
    const struct doc *value = api_member(d, key);
    bool zero = rules_quantity(at, d, key, &q) && quantity_sign(&q) == 0;
    if (api_empty(value) || zero)
        api_report_at(at, arena_printf(at->w->a, "%.*s.%s", STR_ARG(base), key).p, NULL,
                      API_ERROR_REQUIRED, "%s", "");
}

/* What must be there, whether the rest is looked at or not. */
static void check_share_complete(struct api_at *at, struct str base,
                                 const struct doc *status)
{
    const struct doc *mapping = api_member(status, "mapping");
    const struct doc *overhead = api_member(status, "overhead");
    require(at, base, status, "resourceClaimName");
    for (uint32_t k = 0; mapping && k < mapping->n; k++) {
        struct str one = arena_printf(at->w->a, "%.*s.mapping[%u]", STR_ARG(base), k);
        require(at, one, &mapping->items[k], "name");
        require(at, one, &mapping->items[k], "quantity");
    }
    for (uint32_t k = 0; overhead && k < overhead->n; k++)
        require(at, arena_printf(at->w->a, "%.*s.overhead[%u]", STR_ARG(base), k),
                &overhead->items[k], "name");
}

static void check_allocatable(struct api_at *at)
{
    const struct doc *list =
        api_member(at->value, "nodeAllocatableResourceClaimStatuses");
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *claim = api_member(&list->items[i], "resourceClaimName");
        struct str base =
            arena_printf(at->w->a, ".nodeAllocatableResourceClaimStatuses[%u]", i);
        check_share_complete(at, base, &list->items[i]);
        if (api_empty(claim))
            continue;
        if (!refers_to(api_member(at->w->pod_spec, "resourceClaims"), api_text(claim)) &&
            !refers_to(api_member(at->value, "resourceClaimStatuses"), api_text(claim)))
            api_report_at(at, rules_below(at->w, base, ".resourceClaimName").p, claim,
                          API_ERROR_INVALID, "no mapping found in pod reference");
        const struct doc *mapping = api_member(&list->items[i], "mapping");
        const struct doc *overhead = api_member(&list->items[i], "overhead");
        for (uint32_t k = 0; mapping && k < mapping->n; k++)
            check_share(at, arena_printf(at->w->a, "%.*s.mapping[%u]", STR_ARG(base), k),
                        &mapping->items[k], false);
        for (uint32_t k = 0; overhead && k < overhead->n; k++)
            check_share(at, arena_printf(at->w->a, "%.*s.overhead[%u]", STR_ARG(base), k),
                        &overhead->items[k], true);
    }
}

/* ---- the whole ---- */

static void check_conditions(struct api_at *at)
{
    const struct doc *list = api_member(at->value, "conditions");
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *type = api_member(&list->items[i], "type");
        const struct doc *seen = api_member(&list->items[i], "observedGeneration");
        if (rules_int(seen, 0) < 0)
            api_report_at(
                at, arena_printf(at->w->a, ".conditions[%u].observedGeneration", i).p,
                seen, API_ERROR_INVALID, "must be a non-negative integer");
        if (!doc_is_string(type, "PodScheduled") && !doc_is_string(type, "Ready") &&
            !doc_is_string(type, "Initialized"))
            rules_name_at(at, arena_printf(at->w->a, ".conditions[%u].Type", i).p, type,
                          NAME_LABEL_KEY);
    }
}

static void check_nomination(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "nominatedNodeName");
    struct str was = doc_get_text(at->old, "nominatedNodeName");
    if (api_empty(now) || str_eq(api_text(now), was))
        return;
    rules_name_at(at, ".nominatedNodeName", now, NAME_DNS1123_SUBDOMAIN);
    if (doc_get_text(at->w->pod_spec, "nodeName").n)
        api_report_at(at, ".nominatedNodeName", now, API_ERROR_FORBIDDEN,
                      "may not be set on pods that are already bound to a node");
}

API_RULE(pod_status)
{
    static const struct doc none = {.type = DOC_MAP, .pos = UINT32_MAX};
    static const struct {
        const char *status, *spec;
    } LISTS[] = {{"containerStatuses", "containers"},
                 {"initContainerStatuses", "initContainers"},
                 {"ephemeralContainerStatuses", NULL}};
    struct api_at status = *at;
    const struct doc *seen = api_member(at->value, "observedGeneration");
    if (at->w->opts->op != API_UPDATE_STATUS)
        return true;
    at->w->pod_spec = api_member(at->w->object, "spec");
    status.value = at->value ? at->value : &none;
    status.old = at->old ? at->old : &none;
    check_conditions(&status);
    check_nomination(&status);
    if (rules_int(seen, 0) < 0)
        api_report_at(at, ".observedGeneration", seen, API_ERROR_INVALID,
                      "must be a non-negative integer");
    if (!str_eq(doc_get_text(status.value, "qosClass"),
                doc_get_text(status.old, "qosClass")))
        api_report_at(at, ".qosClass", api_member(status.value, "qosClass"),
                      API_ERROR_INVALID, "field is immutable");
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        check_endings(&status, LISTS[i].status, LISTS[i].spec);
        check_users(&status, LISTS[i].status);
        check_allocated(&status, LISTS[i].status, LISTS[i].spec);
    }
    check_claims(&status);
    check_extended(&status);
    check_allocatable(&status);
    check_ips(&status, "podIPs", "podIP");
    check_both_ips(&status);
    check_ips(&status, "hostIPs", "hostIP");
    return true;
}
