/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes, and claims to them. */
#include <inttypes.h>

#include "api/edit.h"
#include "api/rules_text.h"
#include "base/map.h"
#include "num/quantity.h"

static bool is_update(const struct api_at *at)
{
    return at->w->opts->op == API_UPDATE;
}

/* ---- volumes ---- */

static int sign(struct api_at *at, const struct doc *d)
{
    struct quantity q;
    return d && quantity_parse(doc_str(d), at->w->a, &q, NULL) ? quantity_sign(&q) : 0;
}

static void check_amount(struct api_at *at, const char *path, const struct doc_member *m)
{
    struct quantity q;
    int64_t whole;
    if (quantity_parse(doc_str(&m->value), at->w->a, &q, NULL) &&
        quantity_scaled(&q, 0, &whole) && whole < 0)
        api_report_shown(at, path, arena_printf(at->w->a, "%" PRIi64, whole),
                         API_ERROR_INVALID, "must be a valid resource quantity");
}

API_RULE(volume_capacity)
{
    if (api_empty(at->value))
        api_fail(at, API_ERROR_REQUIRED, "");
    if (!doc_get(at->value, "storage") || at->value->n > 1)
        rules_not_supported(at, "", at->value, "storage");
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        const char *path = arena_printf(at->w->a, "[%.*s]", STR_ARG(doc_key(m))).p;
        check_amount(at, path, m);
        if (sign(at, &m->value) <= 0)
            api_report_at(at, path, &m->value, API_ERROR_INVALID,
                          "must be greater than zero");
    }
    return true;
}

/* In the order in which upstream looks at them. */
static const char *const SOURCES[] = {"hostPath",
                                      "gcePersistentDisk",
                                      "awsElasticBlockStore",
                                      "glusterfs",
                                      "flocker",
                                      "nfs",
                                      "rbd",
                                      "quobyte",
                                      "cephfs",
                                      "iscsi",
                                      "cinder",
                                      "fc",
                                      "flexVolume",
                                      "azureFile",
                                      "vsphereVolume",
                                      "photonPersistentDisk",
                                      "portworxVolume",
                                      "azureDisk",
                                      "scaleIO",
                                      "local",
                                      "storageos",
                                      "csi"};
enum { NSOURCES = sizeof SOURCES / sizeof *SOURCES };

static bool is_root(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] != '/' && path.p[i] != '.')
            return false;
    return path.n > 0 && path.p[0] == '/';
}

/* Whether one that upstream looks at earlier is there; NULL: any. */
static bool has_source(const struct doc *spec, const char *before)
{
    for (unsigned i = 0; i < NSOURCES; i++) {
        if (before && strcmp(SOURCES[i], before) == 0)
            return false;
        if (api_member(spec, SOURCES[i]))
            return true;
    }
    return false;
}

/* Only the first is looked into; path: what upstream calls the others. */
static bool is_first(struct api_at *at, const char *path)
{
    if (!has_source(at->parent, at->field->name))
        return true;
    api_report_path(at->w, arena_printf(at->w->a, "spec.%s", path), NULL,
                    API_ERROR_FORBIDDEN, "may not specify more than 1 volume type");
    return false;
}

API_RULE(one_source)
{
    return is_first(at, *arg ? arg : at->field->name);
}

API_RULE(local_source)
{
    if (!is_first(at, "local"))
        return false;
    if (!api_member(at->parent, "nodeAffinity"))
        api_report_path(at->w, STR("spec.nodeAffinity"), NULL, API_ERROR_REQUIRED,
                        "Local volume requires node affinity");
    return true;
}

API_RULE(volume_source_of)
{
    const struct doc *host = api_member(at->value, "hostPath");
    if (!has_source(at->value, NULL))
        api_fail(at, API_ERROR_REQUIRED, "must specify a volume type");
    if (host && is_root(doc_get_text(host, "path")) &&
        doc_is_string(api_member(at->value, "persistentVolumeReclaimPolicy"), "Recycle"))
        api_report_at(at, ".persistentVolumeReclaimPolicy", NULL, API_ERROR_FORBIDDEN,
                      "may not be 'recycle' for a hostPath mount of '/'");
    return true;
}

static const struct doc EMPTY = {.type = DOC_MAP};

static bool same_member(struct api_at *at, const char *key, const struct doc *a,
                        const struct doc *b)
{
    const struct api_type *t = at->field ? at->field->type : at->type;
    return api_same(at->w, api_field_find(t, str_from(key)), api_member(a, key),
                    api_member(b, key));
}

/* A driver may be told a secret for growing volumes later on. */
static bool same_source(struct api_at *at, const char *key)
{
    static const char SECRET[] = "controllerExpandSecretRef";
    const struct doc *now = api_member(at->value, key), *was = api_member(at->old, key);
    if (strcmp(key, "csi") != 0 || !now || !was || api_member(was, SECRET))
        return same_member(at, key, at->value, at->old);
    struct doc copy = doc_dup(at->w->a, now);
    doc_remove(&copy, str_from(SECRET));
    return doc_equal(&copy, was);
}

/* Labels of nodes may take the names that they have had since. */
static bool is_renamed(struct str was, struct str is)
{
    static const char *const NAMES[][2] = {
        {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
        {"beta.kubernetes.io/os", "kubernetes.io/os"},
        {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
        {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_is(was, NAMES[i][0]))
            return str_is(is, NAMES[i][1]);
    return false;
}

static void rename_labels(struct arena *a, struct doc *was, const struct doc *is)
{
    for (uint32_t i = 0; i < was->n && is && i < is->n; i++) {
        struct str key = doc_get_text(&is->items[i], "key");
        if (is_renamed(doc_get_text(&was->items[i], "key"), key))
            doc_set(a, &was->items[i], "key", doc_make_string(a, key));
    }
}

static bool same_affinity(struct api_at *at, const struct doc *old)
{
    struct doc was = doc_dup(at->w->a, old);
    struct doc *affinity = api_edit_get(&was, "nodeAffinity"),
               *required = affinity ? api_edit_get(affinity, "required") : NULL,
               *terms = required ? api_edit_get(required, "nodeSelectorTerms") : NULL;
    const struct doc *now =
        doc_path(at->value, "nodeAffinity.required.nodeSelectorTerms");
    for (uint32_t i = 0; terms && now && i < terms->n && i < now->n; i++) {
        struct doc *keys = api_edit_get(&terms->items[i], "matchExpressions");
        if (keys)
            rename_labels(at->w->a, keys, doc_get(&now->items[i], "matchExpressions"));
    }
    return same_member(at, "nodeAffinity", at->value, &was);
}

API_RULE(volume_update)
{
    bool same = true;
    if (!is_update(at))
        return true;
    const struct doc *old = at->old ? at->old : &EMPTY,
                     *affinity = api_member(old, "nodeAffinity"),
                     *class = api_member(old, "volumeAttributesClassName");
    for (unsigned i = 0; i < NSOURCES; i++)
        same = same_source(at, SOURCES[i]) && same;
    if (!same)
        api_report_path(at->w, STR("spec.persistentvolumesource"), NULL,
                        API_ERROR_FORBIDDEN,
                        "spec.persistentvolumesource is immutable after creation");
    if (!same_member(at, "volumeMode", at->value, old))
        api_report_path(at->w, STR("volumeMode"), api_member(at->value, "volumeMode"),
                        API_ERROR_INVALID, "field is immutable");
    if (affinity && !same_affinity(at, old))
        api_report_path(at->w, STR("nodeAffinity"), api_member(at->value, "nodeAffinity"),
                        API_ERROR_INVALID,
                        "field is immutable, except for updating from beta label to GA");
    if (class && !api_member(at->value, "volumeAttributesClassName"))
        api_report_at(at, ".volumeAttributesClassName", NULL, API_ERROR_FORBIDDEN,
                      "update from non-nil value to nil is forbidden");
    return true;
}

API_RULE(attributes_class)
{
    const struct doc *csi = api_member(at->parent, "csi");
    if (api_empty(at->value))
        api_fail(at, API_ERROR_REQUIRED, "an empty string is disallowed");
    else
        rules_name(at, NAME_DNS1123_SUBDOMAIN);
    if (!csi)
        api_report_path(at->w, STR("spec.csi"), NULL, API_ERROR_REQUIRED,
                        "has to be specified when using volumeAttributesClassName");
    return true;
}

API_RULE(required_pointer_text)
{
    return at->value || api_fail(at, API_ERROR_REQUIRED, arg);
}

API_RULE(secret_parts)
{
    static const char *const PARTS[] = {"name", "namespace"};
    for (size_t i = 0; i < 2; i++)
        if (api_empty(api_member(at->value, PARTS[i])))
            api_report_at(at, arena_printf(at->w->a, ".%s", PARTS[i]).p, NULL,
                          API_ERROR_REQUIRED, "%s", "");
    return true;
}

API_RULE(secret_of_volume)
{
    const struct doc *name = api_member(at->value, "name"),
                     *namespace = api_member(at->value, "namespace");
    if (api_empty(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED, "%s", "");
    else
        rules_name_at(at, ".name", name, NAME_DNS1123_SUBDOMAIN);
    if (api_empty(namespace))
        api_report_at(at, ".namespace", namespace, API_ERROR_REQUIRED, "%s", "");
    else
        rules_name_at(at, ".namespace", namespace, NAME_DNS1123_LABEL);
    return true;
}

/* ---- claims ---- */

/* Two fields for one thing. */
API_RULE(sources_agree)
{
    static const char *const PARTS[] = {"apiGroup", "kind", "name"};
    const struct doc *source = api_member(at->value, "dataSource"),
                     *ref = api_member(at->value, "dataSourceRef");
    bool same = true;
    if (!source || !ref)
        return true;
    for (size_t i = 0; i < 3; i++) {
        const struct doc *x = api_member(source, PARTS[i]),
                         *y = api_member(ref, PARTS[i]);
        same = same && (i ? str_eq(api_text(x), api_text(y))
                          : (x && y ? doc_equal(x, y) : x == y));
    }
    if (doc_get_text(ref, "namespace").n)
        api_report_shown(
            at, "", STR("{}"), API_ERROR_INVALID,
            "may not be specified when dataSourceRef.namespace is specified");
    else if (!same)
        api_report_shown(at, "", STR("{}"), API_ERROR_INVALID,
                         "must match dataSourceRef");
    return true;
}

static const char *const BETA_CLASS = "volume.beta.kubernetes.io/storage-class";

static const struct doc *class_note(const struct doc *object)
{
    return doc_get(doc_path(object, "metadata.annotations"), BETA_CLASS);
}

/* A claim that names no class may be given one: that of the old annotation, if it has
 * one. */
static bool may_name_class(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "storageClassName"),
                     *note = class_note(at->w->opts->old);
    return now && !api_member(at->old, "storageClassName") &&
           (!note || doc_equal(now, note));
}

static void take_over(struct api_at *at, struct doc *d, const char *key)
{
    const struct doc *was = api_member(at->old, key);
    if (was)
        doc_set(at->w->a, d, key, doc_dup(at->w->a, was));
    else
        doc_remove(d, str_from(key));
}

static const struct doc *size_of(const struct doc *spec)
{
    return doc_get(doc_path(spec, "resources.requests"), "storage");
}

/* The spec as it is compared with what is stored. */
static struct doc compared(struct api_at *at, bool bound)
{
    struct arena *a = at->w->a;
    struct doc d = doc_dup(a, at->value);
    struct doc *resources = api_edit_get(&d, "resources");
    struct doc *requests = resources ? api_edit_get(resources, "requests") : NULL;
    const struct doc *size = size_of(at->old);
    if (!doc_get_text(at->old, "volumeName").n)
        doc_remove(&d, STR("volumeName"));
    if (may_name_class(at))
        take_over(at, &d, "storageClassName");
    if (bound && requests && size)
        doc_set(a, requests, "storage", doc_dup(a, size));
    if (bound)
        take_over(at, &d, "volumeAttributesClassName");
    return d;
}

static int compare_sizes(struct api_at *at, const struct doc *x, const struct doc *y)
{
    struct quantity a = QUANTITY_ZERO, b = QUANTITY_ZERO;
    if (x)
        quantity_parse(doc_str(x), at->w->a, &a, NULL);
    if (y)
        quantity_parse(doc_str(y), at->w->a, &b, NULL);
    return quantity_cmp(&a, &b);
}

/* What was asked for may shrink again, but not to what there is already. */
static void check_size(struct api_at *at)
{
    const struct doc *now = size_of(at->value),
                     *have = doc_get(doc_path(at->w->opts->old, "status.capacity"),
                                     "storage");
    if (compare_sizes(at, now, size_of(at->old)) < 0 && compare_sizes(at, now, have) <= 0)
        api_report_at(at, ".resources.requests.storage", NULL, API_ERROR_FORBIDDEN,
                      "field can not be less than status.capacity");
}

static void check_class(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "volumeAttributesClassName"),
                     *was = api_member(at->old, "volumeAttributesClassName");
    bool same = now && was ? doc_equal(now, was) : now == was;
    if (same || !doc_path(at->w->opts->old, "status.currentVolumeAttributesClassName") ||
        (now && now->n))
        return;
    api_report_at(
        at, ".volumeAttributesClassName", NULL, API_ERROR_FORBIDDEN,
        "update to %s is forbidden when status.currentVolumeAttributesClassName "
        "is not nil",
        now ? "empty string" : "nil");
}

API_RULE(claim_update)
{
    if (!is_update(at) || !at->value || !at->old)
        return true;
    bool bound = doc_is_string(doc_path(at->w->object, "status.phase"), "Bound");
    struct doc now = compared(at, bound), was = doc_dup(at->w->a, at->old);
    if (!doc_get_text(at->old, "volumeName").n)
        doc_remove(&was, STR("volumeName"));
    if (!api_same(at->w, at->field, &now, &was))
        api_report(at, API_ERROR_FORBIDDEN,
                   "spec is immutable after creation except resources.requests and "
                   "volumeAttributesClassName for bound claims");
    const struct doc *note = class_note(at->w->object),
                     *old_note = class_note(at->w->opts->old);
    if (!may_name_class(at) &&
        !(note && old_note ? doc_equal(note, old_note) : note == old_note))
        api_report_path(at->w,
                        arena_printf(at->w->a, "metadata.annotations[%s]", BETA_CLASS),
                        note, API_ERROR_INVALID, "field is immutable");
    check_size(at);
    const struct doc *mode = api_member(at->value, "volumeMode"),
                     *old_mode = api_member(at->old, "volumeMode");
    if (!(mode && old_mode ? doc_equal(mode, old_mode) : mode == old_mode))
        api_report_path(at->w, STR("volumeMode"), mode, API_ERROR_INVALID,
                        "field is immutable");
    check_class(at);
    return true;
}

/* ---- their status ---- */

static bool check_resource(struct api_at *at, const char *path, struct str name)
{
    struct str problems[NAME_MAX_PROBLEMS], shown = api_shown_text(at->w->a, name);
    unsigned n = name_check(NAME_LABEL_KEY, name, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, path, shown, API_ERROR_INVALID, "%.*s",
                         STR_ARG(problems[i]));
    bool native = str_find_byte(name, '/', 0) == SIZE_MAX ||
                  str_find(name, STR("kubernetes.io/")) != SIZE_MAX;
    if (!n && native && !str_is(name, "storage"))
        api_report_shown(at, path, shown, API_ERROR_NOT_SUPPORTED,
                         "supported values: \"storage\"");
    return !n && (!native || str_is(name, "storage"));
}

static void check_amount_in(struct api_at *at, const char *map,
                            const struct doc_member *m)
{
    check_amount(at, arena_printf(at->w->a, ".%s[%.*s]", map, STR_ARG(doc_key(m))).p, m);
}

API_RULE(claim_status)
{
    static const char STATES[] =
        "ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|"
        "NodeResizeInfeasible|NodeResizePending";
    const struct doc *capacity = api_member(at->value, "capacity"),
                     *states = api_member(at->value, "allocatedResourceStatuses"),
                     *amounts = api_member(at->value, "allocatedResources");
    for (uint32_t i = 0; capacity && i < capacity->n; i++)
        check_amount_in(at, "capacity", &capacity->members[i]);
    for (uint32_t i = 0; states && i < states->n; i++) {
        struct str name = doc_key(&states->members[i]);
        check_resource(at, ".allocatedResourceStatuses", name);
        if (!rules_among(api_text(&states->members[i].value), STATES)) {
            struct doc *shown = ARENA_NEW(at->w->a, struct doc);
            *shown = doc_make_string(at->w->a, name);
            rules_not_supported(at, ".allocatedResourceStatuses", shown, STATES);
        }
    }
    for (uint32_t i = 0; amounts && i < amounts->n; i++)
        if (check_resource(at, ".allocatedResources", doc_key(&amounts->members[i])))
            check_amount_in(at, "allocatedResources", &amounts->members[i]);
    return true;
}
