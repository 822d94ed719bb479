/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes (upstream's VolumeBinding, VolumeZone and VolumeRestrictions): claims that are
 * bound lead to nodes that their volumes allow. Claims that wait for their first consumer
 * are not bound here: a pod with one has no place, and says so. How many volumes may be
 * attached to a node is not counted.
 */
#include "sched/plugins.h"

struct volumes { /* of one pod, in the attempt's arena */
    uint32_t n;  /* volumes that exist */
    bool lost;   /* a claim's volume does not exist */
    struct bound_volume {
        const struct view_node_selector *nodes; /* NULL: all */
        struct labels labels;
    } * v;
};

static struct str reason(struct cycle *c, const char *fmt, struct str name)
{
    return arena_printf(c->a, fmt, STR_ARG(name));
}

static struct sched_status no(struct cycle *c, struct str why)
{
    struct str *own = ARENA_NEW(c->a, struct str);
    *own = why;
    return status_no(SCHED_UNRESOLVABLE, own);
}

/* ---- claims ---- */

static bool is_pods_own(const struct cycle *c, const struct doc *claim)
{
    const struct doc *owners = doc_path(claim, "metadata.ownerReferences");
    bool on;
    for (uint32_t i = 0; owners && owners->type == DOC_LIST && i < owners->n; i++)
        if (doc_get_bool(&owners->items[i], "controller", &on) && on &&
            str_eq(doc_get_text(&owners->items[i], "uid"), c->info->pod->meta.uid))
            return true;
    return false;
}

static bool waits_for_consumer(const struct cycle *c, const struct doc *claim)
{
    struct str class = doc_get_text(doc_get(claim, "spec"), "storageClassName");
    const struct object *o =
        class.n ? world_find(c->world, WORLD_STORAGE_CLASSES, class) : NULL;
    return o &&
           doc_is_string(doc_get(o->doc, "volumeBindingMode"), "WaitForFirstConsumer");
}

/* Why no node takes a pod with this claim; STR_NONE: it is bound. */
static struct str defect(struct cycle *c, const struct pod_volume *v,
                         const struct doc *claim)
{
    const struct doc *meta = doc_get(claim, "metadata"), *spec = doc_get(claim, "spec");
    struct str volume = doc_get_text(spec, "volumeName");
    if (v->ephemeral && !is_pods_own(c, claim))
        return reason(c, "PVC %.*s was not created for the pod (pod is not owner)",
                      v->claim);
    if (doc_get_text(meta, "deletionTimestamp").n)
        return reason(c, "persistentvolumeclaim \"%.*s\" is being deleted", v->claim);
    if (doc_is_string(doc_path(claim, "status.phase"), "Lost"))
        return reason(c, "persistentvolumeclaim \"%.*s\" bound to non-existent volume",
                      v->claim);
    if (volume.n && doc_path(claim, "metadata.annotations") &&
        doc_get(doc_path(claim, "metadata.annotations"),
                "pv.kubernetes.io/bind-completed"))
        return STR_NONE;
    return waits_for_consumer(c, claim)
               ? reason(c,
                        "persistentvolumeclaim \"%.*s\" waits for its first consumer, "
                        "which is not supported",
                        v->claim)
               : STR("pod has unbound immediate PersistentVolumeClaims");
}

/* ---- volumes ---- */

static void add_volume(struct cycle *c, struct str name)
{
    struct view_reader r = {.a = c->a};
    struct volumes *s = c->volumes;
    const struct object *o = world_find(c->world, WORLD_VOLUMES, name);
    if (!o) {
        s->lost = true;
        return;
    }
    struct bound_volume *v = &s->v[s->n++];
    v->nodes = view_read_node_selector(
        &r,
        view_map(&r, view_map(&r, doc_get(o->doc, "spec"), "nodeAffinity"), "required"));
    v->labels.v = view_label_map(&r, view_map(&r, doc_get(o->doc, "metadata"), "labels"),
                                 &v->labels.n);
}

static struct sched_status add_claim(struct cycle *c, const struct pod_volume *v)
{
    const struct object *o = world_find_in(c->world, WORLD_VOLUME_CLAIMS,
                                           c->info->pod->meta.namespace, v->claim, c->a);
    if (!o)
        return no(c, reason(c,
                            v->ephemeral
                                ? "waiting for ephemeral volume controller to create the "
                                  "persistentvolumeclaim \"%.*s\""
                                : "persistentvolumeclaim \"%.*s\" not found",
                            v->claim));
    struct str why = defect(c, v, o->doc);
    if (why.n)
        return no(c, why);
    add_volume(c, doc_get_text(doc_get(o->doc, "spec"), "volumeName"));
    return status_ok();
}

struct sched_status volumes_pre_filter(struct cycle *c)
{
    const struct pod_info *p = c->info;
    bool any = false;
    c->volumes = ARENA_NEW(c->a, struct volumes);
    c->volumes->v = ARENA_ARRAY(c->a, struct bound_volume, p->nvolumes);
    for (uint32_t i = 0; i < p->nvolumes; i++) {
        if (!p->volumes[i].claim.n)
            continue;
        struct sched_status st = add_claim(c, &p->volumes[i]);
        if (!sched_ok(&st))
            return st;
        any = true;
    }
    return any ? status_ok() : status_skip();
}

/* ---- nodes ---- */

/* "a__b": one of them. */
static bool has_zone(struct str zones, struct str zone)
{
    size_t at;
    while ((at = str_find(zones, STR("__"))) != SIZE_MAX) {
        if (str_eq(str_sub(zones, 0, at), zone))
            return true;
        zones = str_sub(zones, at + 2, zones.n);
    }
    return str_eq(zones, zone);
}

/* Labels of the volume say where it is; a node without any such label may be anywhere. */
static bool is_in_zone(const struct bound_volume *v, const struct node_info *n)
{
    static const struct str KEYS[] = {
        STR_INIT("topology.kubernetes.io/zone"),
        STR_INIT("topology.kubernetes.io/region"),
        STR_INIT("failure-domain.beta.kubernetes.io/zone"),
        STR_INIT("failure-domain.beta.kubernetes.io/region")};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        const struct str *zones = view_label_find(v->labels.v, v->labels.n, KEYS[i]),
                         *zone = node_label(n, KEYS[i]);
        if (zones && (node_label(n, KEYS[0]) || node_label(n, KEYS[1])) &&
            !(zone && has_zone(*zones, *zone)))
            return false;
    }
    return true;
}

struct sched_status volumes_filter(struct cycle *c, const struct node *n)
{
    static const struct str LOST = STR_INIT(
                                "node(s) unavailable due to one or more pvc(s) bound "
                                "to non-existent pv(s)"),
                            AFFINITY = STR_INIT(
                                "node(s) didn't match PersistentVolume's node affinity"),
                            ZONE = STR_INIT("node(s) had no available volume zone");
    const struct volumes *s = c->volumes;
    if (s->lost)
        return status_no(SCHED_UNRESOLVABLE, &LOST);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct bound_volume *v = &s->v[i];
        if (v->nodes &&
            view_node_selector_match(v->nodes, n->info->node, NULL) != VIEW_MATCH_YES)
            return status_no(SCHED_UNRESOLVABLE, &AFFINITY);
        if (!is_in_zone(v, n->info))
            return status_no(SCHED_UNRESOLVABLE, &ZONE);
    }
    return status_ok();
}

/* ---- disks ---- */

static bool has_single_use(struct cycle *c, struct str claim)
{
    const struct object *o = world_find_in(c->world, WORLD_VOLUME_CLAIMS,
                                           c->info->pod->meta.namespace, claim, c->a);
    const struct doc *modes = o ? doc_path(o->doc, "spec.accessModes") : NULL;
    for (uint32_t i = 0; modes && modes->type == DOC_LIST && i < modes->n; i++)
        if (doc_is_string(&modes->items[i], "ReadWriteOncePod"))
            return true;
    return false;
}

static bool uses_claim(const struct pod_info *p, struct str namespace, struct str claim)
{
    for (uint32_t i = 0; i < p->nvolumes; i++)
        if (p->volumes[i].claim.n && str_eq(p->volumes[i].claim, claim) &&
            str_eq(p->pod->meta.namespace, namespace))
            return true;
    return false;
}

static bool is_in_use(const struct cycle *c, struct str claim)
{
    const struct cache *cache = &c->world->cache;
    for (size_t i = 0; i < cache->nodes.n; i++)
        for (size_t k = 0; k < cache->nodes.v[i]->pods.n; k++)
            if (uses_claim(cache->nodes.v[i]->pods.v[k]->info,
                           c->info->pod->meta.namespace, claim))
                return true;
    return false;
}

struct sched_status disks_pre_filter(struct cycle *c)
{
    static const struct str WHY =
        STR_INIT("node has pod using PersistentVolumeClaim with the "
                 "same name and ReadWriteOncePod access mode");
    const struct pod_info *p = c->info;
    bool disks = false;
    for (uint32_t i = 0; i < p->nvolumes; i++) {
        struct str claim = p->volumes[i].claim;
        disks = disks || p->volumes[i].device.n;
        if (claim.n && has_single_use(c, claim) && is_in_use(c, claim))
            return status_no(SCHED_UNRESOLVABLE, &WHY);
    }
    return disks ? status_ok() : status_skip();
}

static bool disks_conflict(const struct pod_volume *a, const struct pod_volume *b)
{
    return a->device.n && str_eq(a->device, b->device) &&
           !(a->shareable && a->read_only && b->read_only);
}

struct sched_status disks_filter(struct cycle *c, const struct node *n)
{
    static const struct str WHY = STR_INIT("node(s) had no available disk");
    const struct pod_info *p = c->info;
    for (size_t i = 0; i < n->pods.n; i++) {
        const struct pod_info *there = n->pods.v[i]->info;
        for (uint32_t a = 0; a < p->nvolumes; a++)
            for (uint32_t b = 0; b < there->nvolumes; b++)
                if (disks_conflict(&p->volumes[a], &there->volumes[b]))
                    return status_no(SCHED_UNSCHEDULABLE, &WHY);
    }
    return status_ok();
}
