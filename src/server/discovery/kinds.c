/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of the tables are served: resources that can be created, listed and watched,
 * and of their subresources those that are the object again. What is left out is out of
 * discovery too.
 */
#include <stdio.h>
#include <string.h>

#include "api/convert.h"
#include "server/custom/custom.h"
#include "server/discovery/runtime_config.h"

static const char *const PUT_CREATES[] = {
    "/endpoints",
    "/events",
    "/limitranges",
    "/services",
    "coordination.k8s.io/leasecandidates",
    "coordination.k8s.io/leases",
    "events.k8s.io/events",
    "node.k8s.io/runtimeclasses",
    "rbac.authorization.k8s.io/clusterrolebindings",
    "rbac.authorization.k8s.io/clusterroles",
    "rbac.authorization.k8s.io/rolebindings",
    "rbac.authorization.k8s.io/roles",
};

static const char *const DELETE_RETURNS[] = {
    "/namespaces",
    "/persistentvolumeclaims",
    "/persistentvolumes",
    "/pods",
    "/podtemplates",
    "/resourcequotas",
    "/serviceaccounts",
    "/services",
    "resource.k8s.io/deviceclasses",
    "resource.k8s.io/resourceclaims",
    "resource.k8s.io/resourceclaimtemplates",
    "resource.k8s.io/resourcepoolstatusrequests",
    "resource.k8s.io/resourceslices",
    "storage.k8s.io/csidrivers",
    "storage.k8s.io/csinodes",
    "storage.k8s.io/storageclasses",
    "storage.k8s.io/volumeattachments",
    "storage.k8s.io/volumeattributesclasses",
};

static const struct field_labels LABELS[] = {
    {"",
     "pods",
     REFUSE_CORE,
     {{"spec.nodeName", ""},
      {"spec.restartPolicy", ""},
      {"spec.schedulerName", ""},
      {"spec.serviceAccountName", ""},
      {"spec.hostNetwork", "false"},
      {"status.phase", ""},
      {"status.podIP", ""},
      {"status.nominatedNodeName", ""}}},
    {"", "namespaces", REFUSE_CORE, {{"status.phase", ""}, {"name", NULL}}},
    {"", "nodes", REFUSE_CORE, {{"spec.unschedulable", "false"}}},
    {"", "secrets", REFUSE_CORE, {{"type", ""}}},
    {"", "services", REFUSE_CORE, {{"spec.clusterIP", ""}, {"spec.type", ""}}},
    {"", "replicationcontrollers", REFUSE_CORE, {{"status.replicas", "0"}}},
    {"",
     "events",
     REFUSE_CORE,
     {{"involvedObject.kind", ""},
      {"involvedObject.namespace", ""},
      {"involvedObject.name", ""},
      {"involvedObject.uid", ""},
      {"involvedObject.apiVersion", ""},
      {"involvedObject.resourceVersion", ""},
      {"involvedObject.fieldPath", ""},
      {"reason", ""},
      {"reportingComponent", ""},
      {"source", ""},
      {"type", ""}}},
    {"events.k8s.io",
     "events",
     REFUSE_CORE,
     {{"reason", ""},
      {"regarding.kind", "", "involvedObject.kind"},
      {"regarding.namespace", "", "involvedObject.namespace"},
      {"regarding.name", "", "involvedObject.name"},
      {"regarding.uid", "", "involvedObject.uid"},
      {"regarding.apiVersion", "", "involvedObject.apiVersion"},
      {"regarding.resourceVersion", "", "involvedObject.resourceVersion"},
      {"regarding.fieldPath", "", "involvedObject.fieldPath"},
      {"reportingController", "", "reportingComponent"},
      {"type", ""}}},
    {"batch", "jobs", REFUSE_QUOTED, {{"status.successful", "0"}}},
    {"resource.k8s.io",
     "resourceslices",
     REFUSE_KIND,
     {{"spec.driver", ""}, {"spec.nodeName", ""}, {"spec.pool.name", ""}}},
    {"certificates.k8s.io",
     "certificatesigningrequests",
     REFUSE_KIND,
     {{"spec.signerName", ""}}},
    {"certificates.k8s.io",
     "clustertrustbundles",
     REFUSE_KIND,
     {{"spec.signerName", ""}}},
    {"certificates.k8s.io",
     "podcertificaterequests",
     REFUSE_KIND,
     {{"spec.signerName", ""}, {"spec.podName", ""}, {"spec.nodeName", ""}}},
    {NULL, NULL, REFUSE_KNOWN_ONLY, {{NULL, NULL}}}, /* all others */
};

static bool is_listed(const char *const *list, size_t n, const struct api_kind *k)
{
    size_t group = strlen(k->group);
    for (size_t i = 0; i < n; i++)
        if (strncmp(list[i], k->group, group) == 0 && list[i][group] == '/' &&
            strcmp(list[i] + group + 1, k->resource) == 0)
            return true;
    return false;
}
#define IS_LISTED(list, k) is_listed((list), sizeof(list) / sizeof *(list), (k))

bool kinds_put_creates(const struct api_kind *k)
{
    return IS_LISTED(PUT_CREATES, k);
}

bool kinds_delete_returns(const struct api_kind *k)
{
    /* Which upstream changed with v1, for that version alone. */
    bool rule = strcmp(k->resource, "devicetaintrules") == 0;
    return rule ? strcmp(k->version, "v1") != 0 : IS_LISTED(DELETE_RETURNS, k);
}

/* As the kinds' own life cycle says. "*": all of that version. */
static const struct deprecation {
    const char *group, *version, *kind;
    unsigned since, until; /* minor versions of Kubernetes 1 */
    bool replaced;         /* by v1, which upstream says only of some */
} DEPRECATED[] = {
    {"admissionregistration.k8s.io", "v1alpha1", "*", 35, 38, false},
    {"admissionregistration.k8s.io", "v1beta1", "*", 37, 40, true},
    {"certificates.k8s.io", "v1beta1", "*", 37, 40, true},
    {"coordination.k8s.io", "v1alpha2", "LeaseCandidate", 35, 38, false},
    {"coordination.k8s.io", "v1beta1", "LeaseCandidate", 36, 39, false},
    {"resource.k8s.io", "v1alpha3", "DeviceTaintRule", 36, 39, false},
    {"resource.k8s.io", "v1beta1", "*", 35, 38, false},
    {"resource.k8s.io", "v1beta2", "DeviceClass", 36, 39, false},
    {"resource.k8s.io", "v1beta2", "ResourceClaim", 36, 39, false},
    {"resource.k8s.io", "v1beta2", "ResourceClaimTemplate", 36, 39, false},
    {"resource.k8s.io", "v1beta2", "ResourceSlice", 36, 39, false},
    {"storagemigration.k8s.io", "v1beta1", "*", 37, 40, true},
};

struct str kinds_deprecation(const struct resource *res, struct arena *a)
{
    const struct api_kind *k = res->main;
    if (res->custom)
        return res->custom->deprecation;
    if (*k->group == '\0' && strcmp(k->resource, "endpoints") == 0)
        return STR("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
                   "EndpointSlice");
    if (*k->group == '\0' && strcmp(k->resource, "componentstatuses") == 0)
        return STR("v1 ComponentStatus is deprecated in v1.19+");
    for (size_t i = 0; i < sizeof DEPRECATED / sizeof *DEPRECATED; i++) {
        const struct deprecation *d = &DEPRECATED[i];
        if (strcmp(d->group, k->group) != 0 || strcmp(d->version, k->version) != 0 ||
            (strcmp(d->kind, "*") != 0 && strcmp(d->kind, k->name) != 0))
            continue;
        struct str use = STR("");
        if (d->replaced)
            use = arena_printf(a, "; use %s/v1 %s", k->group, k->name);
        return arena_printf(
            a, "%s/%s %s is deprecated in v1.%u+, unavailable in v1.%u+%.*s", k->group,
            k->version, k->name, d->since, d->until, STR_ARG(use));
    }
    return STR_NONE;
}

static bool has_verb(const char *verbs, const char *verb)
{
    size_t n = strlen(verb);
    for (const char *p = verbs; (p = strstr(p, verb)); p += n)
        if ((p == verbs || p[-1] == ',') && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

bool kinds_has_verb(const struct resource *res, const char *verb)
{
    return has_verb(res->verbs, verb);
}

static const char *sub_of(const struct api_kind *k)
{
    const char *slash = strchr(k->resource, '/');
    return slash ? slash + 1 : NULL;
}

/* Is the subresource the object itself, or a part of it, seen from one side? */
static bool is_side(const char *sub)
{
    return strcmp(sub, "status") == 0 || strcmp(sub, "finalize") == 0 ||
           strcmp(sub, "scale") == 0 || strcmp(sub, "approval") == 0 ||
           strcmp(sub, "ephemeralcontainers") == 0 || strcmp(sub, "resize") == 0;
}

static const struct api_kind *main_of(const struct api_kind *k)
{
    const char *sub = sub_of(k);
    if (!sub)
        return k;
    struct str name = {k->resource, (size_t)(sub - 1 - k->resource)};
    return api_resource_find(str_from(k->group), str_from(k->version), name);
}

static bool is_served(const struct api_kind *k)
{
    const char *sub = sub_of(k);
    const struct api_kind *m = main_of(k);
    if (!m || !m->type)
        return false;
    if (subresource_find(k))
        return true;
    if (sub && !is_side(sub))
        return false;
    return has_verb(m->verbs, "create") && has_verb(m->verbs, "list") &&
           has_verb(m->verbs, "watch");
}

/* v1 where there is one, else the version that upstream prefers: the first. */
static const struct api_kind *hub_of(const struct api_kind *m)
{
    const struct api_kind *hub = api_kind_hub(m);
    if (hub != m || strcmp(m->version, "v1") == 0)
        return hub;
    for (uint32_t i = 0; i < api_nkinds; i++)
        if (strcmp(api_kinds[i].group, m->group) == 0 &&
            strcmp(api_kinds[i].resource, m->resource) == 0)
            return &api_kinds[i];
    return m;
}

static const struct field_labels *labels_of(const struct api_kind *m)
{
    const struct field_labels *l = LABELS;
    while (l->group &&
           (strcmp(l->group, m->group) != 0 || strcmp(l->resource, m->resource) != 0))
        l++;
    return l;
}

static struct str api_version(struct arena *a, const struct api_kind *k)
{
    return arena_printf(a, "%s%s%s", k->group, k->group[0] ? "/" : "", k->version);
}

static void fill(struct server *s, struct resource *r, const struct api_kind *k)
{
    struct arena *a = &s->arena;
    const struct api_kind *m = main_of(k);
    *r = (struct resource){.kind = k, .main = m, .hub = hub_of(m), .sub = sub_of(k)};
    r->verbs = k->verbs;
    const struct api_kind *h = r->hub;
    struct str key =
        arena_printf(a, "%s/%s", h->group[0] ? h->group : "core", h->resource);
    r->prefix = arena_printf(a, "/registry/%s/", key.p);
    r->api_version = api_version(a, k);
    r->head = arena_printf(a, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{",
                           r->hub->name, api_version(a, r->hub).p);
    r->labels = labels_of(m);
    const struct subresource *special = subresource_find(k);
    r->serve = special ? special->serve : NULL;
    r->relayed = special && special->relayed;
    bool made;
    if (k == r->hub)
        strmap_put(&s->by_key, key, &made)->value.ptr = r;
}

static void offer(struct server *s, struct resource *r)
{
    const struct api_kind *k = r->kind;
    struct str name =
        arena_printf(&s->arena, "%s/%s/%s", k->group, k->version, k->resource);
    bool made;
    strmap_put(&s->by_name, name, &made)->value.ptr = r;
}

void kinds_init(struct server *s)
{
    struct resource *stored = ARENA_ARRAY(&s->arena, struct resource, api_nkinds);
    s->resources = ARENA_ARRAY(&s->arena, struct resource, api_nkinds);
    for (uint32_t i = 0; i < api_nkinds; i++) {
        const struct api_kind *k = &api_kinds[i];
        if (!is_served(k))
            continue;
        if (!runtime_config_serves(s->opts.runtime_config, &s->gates, main_of(k))) {
            fill(s, &stored[i], k); /* other versions, or a later start, may need it */
            continue;
        }
        struct resource *r = &s->resources[s->nresources++];
        fill(s, r, k);
        offer(s, r);
    }
}

const struct resource *kinds_find(const struct server *s, struct str group,
                                  struct str version, struct str resource)
{
    char name[400];
    int n = snprintf(name, sizeof name, "%.*s/%.*s/%.*s", STR_ARG(group),
                     STR_ARG(version), STR_ARG(resource));
    if (n < 0 || (size_t)n >= sizeof name)
        return NULL;
    struct strmap_entry *e = strmap_find(&s->by_name, (struct str){name, (size_t)n});
    return e ? e->value.ptr : customs_find(s, (struct str){name, (size_t)n});
}

const struct resource *kinds_of_key(const struct server *s, struct str key)
{
    size_t start = sizeof "/registry/" - 1;
    size_t group = str_find_byte(key, '/', start);
    size_t end = group == SIZE_MAX ? SIZE_MAX : str_find_byte(key, '/', group + 1);
    if (end == SIZE_MAX)
        return NULL;
    struct str name = str_sub(key, start, end);
    struct strmap_entry *e = strmap_find(&s->by_key, name);
    return e ? e->value.ptr : customs_of_key(s, name);
}

const struct resource *kinds_stored(const struct server *s, const char *group,
                                    const char *resource)
{
    char key[200];
    int n = snprintf(key, sizeof key, "%s/%s", *group ? group : "core", resource);
    struct strmap_entry *e = strmap_find(&s->by_key, (struct str){key, (size_t)n});
    return e ? e->value.ptr : NULL;
}

const struct resource *kinds_listed(const struct server *s, uint32_t i)
{
    uint32_t n;
    const struct resource *const *customs = customs_listed(s, &n);
    if (i < s->nresources)
        return &s->resources[i];
    return i - s->nresources < n ? customs[i - s->nresources] : NULL;
}

bool kinds_built_in(const struct server *s, const char *group, const char *resource)
{
    char key[200];
    int n = snprintf(key, sizeof key, "%s/%s", *group ? group : "core", resource);
    return strmap_find(&s->by_key, (struct str){key, (size_t)n}) != NULL;
}

const char *kinds_list_kind(const struct api_kind *k, struct arena *a)
{
    return k->custom ? k->custom->list_kind : arena_printf(a, "%sList", k->name).p;
}

bool kinds_version_served(const struct server *s, struct str group, struct str version)
{
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++)
        if (str_is(group, res->kind->group) &&
            (!version.p || str_is(version, res->kind->version)))
            return true;
    return false;
}

bool kinds_group_served(const struct server *s, struct str group)
{
    return kinds_version_served(s, group, STR_NONE);
}
