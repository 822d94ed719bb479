/* SPDX-License-Identifier: Apache-2.0 */
#include "api/convert.h"

#include "api/canonical.h"
#include "api/convert_autoscaling.h"
#include "api/edit.h"

const struct api_kind *api_kind_in(const struct api_kind *kind, const char *version)
{
    return api_resource_find(str_from(kind->group), str_from(version),
                             str_from(kind->resource));
}

const struct api_kind *api_kind_hub(const struct api_kind *kind)
{
    static const struct {
        const char *group, *resource, *hub_group, *hub_version;
    } OTHERS[] = {
        {"autoscaling", "horizontalpodautoscalers", "autoscaling", "v2"},
        {"events.k8s.io", "events", "", "v1"},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (strcmp(OTHERS[i].group, kind->group) == 0 &&
            strcmp(OTHERS[i].resource, kind->resource) == 0)
            return api_resource_find(str_from(OTHERS[i].hub_group),
                                     str_from(OTHERS[i].hub_version),
                                     str_from(kind->resource));
    const struct api_kind *v1 = api_kind_in(kind, "v1");
    return v1 ? v1 : kind;
}

/* ---- requests: flat in v1beta1, under "exactly" elsewhere ---- */

static const char *const EXACT_FIELDS[] = {
    "deviceClassName", "selectors",   "allocationMode", "count",
    "adminAccess",     "tolerations", "capacity",       "derivedAttributes"};
enum { NEXACT = sizeof EXACT_FIELDS / sizeof *EXACT_FIELDS };

/* Go's "set": a non-empty string, a non-zero number, anything else that is there. */
static bool is_set(const struct doc *d)
{
    int64_t n;
    if (!d || d->type == DOC_NULL)
        return false;
    if (d->type == DOC_STRING)
        return d->n > 0;
    return d->type != DOC_NUMBER || !doc_int64(d, &n) || n != 0;
}

static void nest_request(void *ctx, struct doc *request)
{
    struct arena *a = ctx;
    struct doc exactly = doc_make_map();
    bool any = false;
    for (int i = 0; i < NEXACT; i++) {
        const struct doc *d = doc_get(request, EXACT_FIELDS[i]);
        any = any || is_set(d);
        if (d)
            doc_set(a, &exactly, EXACT_FIELDS[i], *d);
        doc_remove(request, str_from(EXACT_FIELDS[i]));
    }
    if (any)
        doc_set(a, request, "exactly", exactly);
}

static void flatten_request(void *ctx, struct doc *request)
{
    struct arena *a = ctx;
    const struct doc *exactly = api_edit_get(request, "exactly");
    struct doc copy = exactly ? *exactly : doc_make_map();
    doc_remove(request, STR("exactly"));
    for (int i = 0; i < NEXACT; i++) {
        const struct doc *d = doc_get(&copy, EXACT_FIELDS[i]);
        if (d)
            doc_set(a, request, EXACT_FIELDS[i], *d);
    }
    if (!exactly) /* Go prints it where it is not used, too */
        doc_set(a, request, "deviceClassName", doc_make_string(a, STR("")));
}

/* ---- devices: under "basic" in v1beta1 ---- */

static bool drops_when_empty(struct str key)
{
    return str_is(key, "attributes") || str_is(key, "capacity") ||
           str_is(key, "taints") || str_is(key, "consumesCounters");
}

static void hoist_device(void *ctx, struct doc *device)
{
    struct arena *a = ctx;
    const struct doc *basic = api_edit_get(device, "basic");
    struct doc copy = basic && basic->type == DOC_MAP ? *basic : doc_make_map();
    doc_remove(device, STR("basic"));
    for (uint32_t i = 0; i < copy.n; i++) {
        const struct doc_member *m = &copy.members[i];
        bool empty =
            (m->value.type == DOC_LIST || m->value.type == DOC_MAP) && m->value.n == 0;
        if (!(empty && drops_when_empty(doc_key(m))))
            doc_set_str(a, device, doc_key(m), m->value);
    }
}

static void sink_device(void *ctx, struct doc *device)
{
    struct arena *a = ctx;
    struct doc basic = doc_make_map(), name = doc_make_null();
    bool named = false;
    for (uint32_t i = 0; i < device->n; i++) {
        const struct doc_member *m = &device->members[i];
        if (str_is(doc_key(m), "name")) {
            name = m->value;
            named = true;
        } else {
            doc_set_str(a, &basic, doc_key(m), m->value);
        }
    }
    *device = doc_make_map();
    if (named)
        doc_set(a, device, "name", name);
    doc_set(a, device, "basic", basic);
}

/* "" and false mean "not set" in v1beta1 (spec 2.9 rule 3). */
static void drop_unset(void *ctx, struct doc *spec)
{
    (void)ctx;
    const struct doc *name = doc_get(spec, "nodeName"), *all = doc_get(spec, "allNodes");
    if (name && name->type == DOC_STRING && name->n == 0)
        doc_remove(spec, STR("nodeName"));
    if (all && all->type == DOC_BOOL && !all->b)
        doc_remove(spec, STR("allNodes"));
}

/* ---- events: of events.k8s.io, and of the core group where they are kept ---- */

static const struct {
    const char *core, *other;
} EVENT_NAMES[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

static void rename_event(struct doc *event, bool to_core, struct arena *a)
{
    for (size_t i = 0; i < sizeof EVENT_NAMES / sizeof *EVENT_NAMES; i++) {
        const char *from = to_core ? EVENT_NAMES[i].other : EVENT_NAMES[i].core;
        const char *to = to_core ? EVENT_NAMES[i].core : EVENT_NAMES[i].other;
        const struct doc *d = doc_get(event, from);
        if (d)
            doc_set(a, event, to, *d);
        doc_remove(event, str_from(from));
    }
}

static bool is_core_event(const struct api_kind *kind)
{
    return kind->group[0] == '\0' && strcmp(kind->name, "Event") == 0;
}

struct step {
    const char *kind, *place;
    api_edit_fn *to_hub, *from_hub;
};

static const struct step STEPS[] = {
    {"ResourceClaim", "spec.devices.requests[]", nest_request, flatten_request},
    {"ResourceClaimTemplate", "spec.spec.devices.requests[]", nest_request,
     flatten_request},
    {"ResourceSlice", "spec.devices[]", hoist_device, sink_device},
    {"ResourceSlice", "spec", drop_unset, NULL},
};

static void run_steps(const struct api_kind *kind, struct doc *object, struct arena *a,
                      bool to_hub)
{
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        api_edit_fn *fn = to_hub ? STEPS[i].to_hub : STEPS[i].from_hub;
        if (fn && strcmp(STEPS[i].kind, kind->name) == 0)
            api_edit_each(object, STEPS[i].place, fn, a);
    }
}

static bool is_odd_one(const struct api_kind *kind)
{
    return strcmp(kind->group, "resource.k8s.io") == 0 &&
           strcmp(kind->version, "v1beta1") == 0;
}

/* Only v1 and v2 are there, and both have the kind. */
static void convert_autoscaler(const struct api_kind *from, const struct api_kind *to,
                               struct doc *object, struct arena *a)
{
    if (strcmp(from->name, "HorizontalPodAutoscaler") != 0 ||
        strcmp(from->version, to->version) == 0)
        return;
    if (strcmp(to->version, "v1") == 0)
        convert_autoscaling_to_one(object, a);
    else
        convert_autoscaling_to_two(object, a);
    api_canonical(to->type, object, a); /* their statuses print different zeros */
}

void api_convert(const struct api_kind *from, const struct api_kind *to,
                 struct doc *object, struct arena *a)
{
    if (is_core_event(from) != is_core_event(to)) {
        rename_event(object, is_core_event(to), a);
        api_canonical_fields(to->type, object, a); /* which print different zeros */
    }
    convert_autoscaler(from, to, object, a);
    if (is_odd_one(from) != is_odd_one(to))
        run_steps(from, object, a, is_odd_one(from));
    struct str version = to->group[0] ? arena_printf(a, "%s/%s", to->group, to->version)
                                      : str_from(to->version);
    doc_set(a, object, "apiVersion", doc_make_string(a, version));
}
