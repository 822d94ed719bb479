/* SPDX-License-Identifier: Apache-2.0 */
#include "control/selecting.h"

#include "control/fields.h"
#include "control/labels.h"
#include "control/pods.h"

const struct client_kind services_kind = {"", "v1", "services", true};

/* ---- the two of them ---- */

static void by_namespace(struct index *x, const struct object *o)
{
    index_emit(x, o->namespace);
}

void selecting_init(struct selecting *s)
{
    index_init(&s->services_by_namespace, by_namespace);
    index_init(&s->pods_by_namespace, by_namespace);
}

void selecting_fini(struct selecting *s)
{
    index_fini(&s->services_by_namespace);
    index_fini(&s->pods_by_namespace);
}

void selecting_service(struct selecting *s, const struct object *old,
                       const struct object *now)
{
    if (!old || !now)
        index_change(&s->services_by_namespace, old, now);
}

static bool selects(const struct doc *service, const struct doc *pod)
{
    return service_selects(service) && labels_have(doc_path(pod, "metadata.labels"),
                                                   doc_path(service, "spec.selector"));
}

static bool differs(const struct doc *a, const struct doc *b, const char *path)
{
    const struct doc *x = doc_path(a, path), *y = doc_path(b, path);
    return (x || y) && !(x && y && doc_equal(x, y));
}

static bool is_news(const struct doc *old, const struct doc *now)
{
    static const char *const PATHS[] = {
        "metadata.labels", "metadata.deletionTimestamp",
        "spec.hostname",   "spec.subdomain",
        "spec.nodeName",   "status.phase",
        "status.podIP",    "status.podIPs",
    };
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        if (differs(old, now, PATHS[i]))
            return true;
    return pod_is_ready(old, NULL) != pod_is_ready(now, NULL);
}

void selecting_pod(struct selecting *s, const struct object *old,
                   const struct object *now,
                   void (*wake)(void *ctx, const struct object *service), void *ctx)
{
    const struct object *any = now ? now : old;
    uint32_t n = 0;
    if (!old || !now)
        index_change(&s->pods_by_namespace, old, now);
    if (!any || (old && now && old != now && !is_news(old->doc, now->doc)))
        return;
    const struct str *keys = index_find(&s->services_by_namespace, any->namespace, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *service =
            informer_get(shared_informer(s->services), keys[i]);
        if (service && ((now && selects(service->doc, now->doc)) ||
                        (old && selects(service->doc, old->doc))))
            wake(ctx, service);
    }
}

void selecting_gather(const struct selecting *s, struct sync *sync, uint32_t list)
{
    uint32_t n = 0;
    const struct str *keys =
        index_find(&s->pods_by_namespace, sync->owner->namespace, &n);
    for (uint32_t i = 0; sync->fresh && i < n; i++) {
        const struct object *pod = informer_get(shared_informer(s->pods), keys[i]);
        if (pod && selects(sync->owner->doc, pod->doc))
            sync_hold(sync, list, pod);
    }
}

/* ---- services and pods ---- */

bool service_selects(const struct doc *service)
{
    const struct doc *selector = doc_path(service, "spec.selector");
    return selector && selector->type == DOC_MAP &&
           !str_is(field_text(service, "spec.type"), "ExternalName");
}

bool service_has_no_address(const struct doc *service)
{
    struct str ip = field_text(service, "spec.clusterIP");
    return !ip.n || str_is(ip, "None");
}

bool service_takes_pod(const struct doc *pod, bool leaving_too)
{
    bool has_address =
        field_text(pod, "status.podIP").n > 0 || field_count(pod, "status.podIPs") > 0;
    return !pod_is_finished(pod) && has_address && (leaving_too || !field_deleted(pod));
}

bool service_names_pod(const struct doc *service, const struct doc *pod)
{
    return field_text(pod, "spec.hostname").n > 0 &&
           str_eq(field_text(pod, "spec.subdomain"), field_meta(service, "name"));
}

static bool find_named(const struct doc *pod, const char *containers, bool sidecars,
                       struct str name, struct str protocol, int64_t *number)
{
    const struct doc *list = field_list(pod, containers);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *c = &list->items[i], *ports = field_list(c, "ports");
        if (sidecars && !doc_is_string(doc_get(c, "restartPolicy"), "Always"))
            continue;
        for (uint32_t k = 0; k < ports->n; k++)
            if (str_eq(doc_get_text(&ports->items[k], "name"), name) &&
                str_eq(doc_get_text(&ports->items[k], "protocol"), protocol))
                return doc_get_int64(&ports->items[k], "containerPort", number);
    }
    return false;
}

bool service_find_port(const struct doc *port, const struct doc *pod, int64_t *number)
{
    const struct doc *target = doc_get(port, "targetPort");
    struct str protocol = doc_get_text(port, "protocol");
    if (target && target->type == DOC_NUMBER)
        return doc_int64(target, number);
    if (!target || target->type != DOC_STRING)
        return false;
    return find_named(pod, "spec.containers", false, doc_str(target), protocol, number) ||
           find_named(pod, "spec.initContainers", true, doc_str(target), protocol,
                      number);
}

bool service_has_family(const struct doc *service, const char *family)
{
    const struct doc *list = field_list(service, "spec.ipFamilies");
    bool wanted = !list->n && service_has_no_address(service);
    if (!list->n && !wanted)
        wanted = service_is_ipv6(field_text(service, "spec.clusterIP")) ==
                 (strcmp(family, "IPv6") == 0);
    for (uint32_t i = 0; i < list->n; i++)
        wanted |= doc_is_string(&list->items[i], family);
    return wanted;
}

struct doc service_pod_ref(const struct doc *pod, struct arena *a)
{
    struct doc ref = doc_make_map();
    doc_set_text(a, &ref, "kind", STR("Pod"));
    doc_set_text(a, &ref, "namespace", field_meta(pod, "namespace"));
    doc_set_text(a, &ref, "name", field_meta(pod, "name"));
    doc_set_text(a, &ref, "uid", field_meta(pod, "uid"));
    return ref;
}
