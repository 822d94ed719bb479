/* SPDX-License-Identifier: Apache-2.0 */
/* Views of ResourceClaim, its spec in templates, and DeviceClass. */
#include "api/view_read.h"

static const struct view_selector *read_selectors(struct view_reader *r,
                                                  const struct doc *list, uint32_t *n)
{
    struct view_selector *v = VIEW_ITEMS(r, list, struct view_selector, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *cel = view_map(r, &list->items[i], "cel");
        const struct doc *text = doc_get(cel, "expression");
        v[i].has_cel = cel != NULL;
        v[i].expression = view_text(r, cel, "expression");
        v[i].pos = text ? text->pos : UINT32_MAX;
    }
    return v;
}

static struct view_config read_config(struct view_reader *r, const struct doc *d)
{
    struct view_config c = {.requests = view_strs(r, d, "requests")};
    const struct doc *opaque = view_map(r, d, "opaque");
    if (opaque) {
        struct doc *copy = ARENA_NEW(r->a, struct doc);
        *copy = doc_dup(r->a, opaque);
        c.opaque = copy;
    }
    return c;
}

static const struct view_config *read_configs(struct view_reader *r,
                                              const struct doc *list, uint32_t *n)
{
    struct view_config *v = VIEW_ITEMS(r, list, struct view_config, n);
    for (uint32_t i = 0; i < *n; i++)
        v[i] = read_config(r, &list->items[i]);
    return v;
}

static void read_derived(struct view_reader *r, const struct doc *list,
                         struct view_alternative *out)
{
    struct view_derived *v = VIEW_ITEMS(r, list, struct view_derived, &out->nderived);
    for (uint32_t i = 0; i < out->nderived; i++) {
        v[i].name = view_text(r, &list->items[i], "name");
        v[i].expression = view_text(r, &list->items[i], "expression");
    }
    out->derived = v;
}

static void read_alternative(struct view_reader *r, const struct doc *d,
                             struct view_alternative *out)
{
    out->name = view_text(r, d, "name");
    out->class_name = view_text(r, d, "deviceClassName");
    out->selectors = read_selectors(r, view_list(r, d, "selectors"), &out->nselectors);
    out->mode = view_text(r, d, "allocationMode");
    out->count = view_int(r, d, "count");
    out->admin = view_bool(r, d, "adminAccess", &out->has_admin);
    out->tolerations =
        view_read_tolerations(r, view_list(r, d, "tolerations"), &out->ntolerations);
    const struct doc *capacity = view_map(r, d, "capacity");
    out->has_capacity = capacity != NULL;
    out->capacity =
        view_amount_map(r, view_map(r, capacity, "requests"), NULL, &out->ncapacity);
    read_derived(r, view_list(r, d, "derivedAttributes"), out);
}

static void read_request(struct view_reader *r, const struct doc *d,
                         struct view_request *out)
{
    const struct doc *exactly = view_map(r, d, "exactly");
    const struct doc *alternatives = view_list(r, d, "firstAvailable");
    out->name = view_text(r, d, "name");
    if (exactly) {
        struct view_alternative *one = ARENA_NEW(r->a, struct view_alternative);
        read_alternative(r, exactly, one);
        out->alternatives = one;
        out->nalternatives = 1;
        return;
    }
    out->first_available = alternatives != NULL && alternatives->n > 0;
    struct view_alternative *v =
        VIEW_ITEMS(r, alternatives, struct view_alternative, &out->nalternatives);
    for (uint32_t i = 0; i < out->nalternatives; i++)
        read_alternative(r, &alternatives->items[i], &v[i]);
    out->alternatives = v;
}

static void read_constraints(struct view_reader *r, const struct doc *list,
                             struct view_claim *out)
{
    struct view_constraint *v =
        VIEW_ITEMS(r, list, struct view_constraint, &out->nconstraints);
    for (uint32_t i = 0; i < out->nconstraints; i++) {
        const struct doc *d = &list->items[i];
        v[i].requests = view_strs(r, d, "requests");
        v[i].match = view_text(r, d, "matchAttribute");
        v[i].distinct = view_text(r, d, "distinctAttribute");
    }
    out->constraints = v;
}

static void read_spec(struct view_reader *r, const struct doc *spec,
                      struct view_claim *out)
{
    const struct doc *devices = view_map(r, spec, "devices");
    const struct doc *requests = view_list(r, devices, "requests");
    struct view_request *v =
        VIEW_ITEMS(r, requests, struct view_request, &out->nrequests);
    for (uint32_t i = 0; i < out->nrequests; i++)
        read_request(r, &requests->items[i], &v[i]);
    out->requests = v;
    read_constraints(r, view_list(r, devices, "constraints"), out);
    out->configs = read_configs(r, view_list(r, devices, "config"), &out->nconfigs);
}

static void read_result(struct view_reader *r, const struct doc *d,
                        struct view_result *out)
{
    out->request = view_text(r, d, "request");
    out->driver = view_text(r, d, "driver");
    out->pool = view_text(r, d, "pool");
    out->device = view_text(r, d, "device");
    out->share_id = view_text(r, d, "shareID");
    out->admin = view_bool(r, d, "adminAccess", &out->has_admin);
    out->tolerations =
        view_read_tolerations(r, view_list(r, d, "tolerations"), &out->ntolerations);
    out->binding_conditions = view_strs(r, d, "bindingConditions");
    out->binding_failure_conditions = view_strs(r, d, "bindingFailureConditions");
    out->skip_node_operations = view_strs(r, d, "skipNodeOperations");
    out->consumed =
        view_amount_map(r, view_map(r, d, "consumedCapacity"), NULL, &out->nconsumed);
}

static const struct view_allocation *read_allocation(struct view_reader *r,
                                                     const struct doc *d)
{
    if (!d)
        return NULL;
    struct view_allocation *out = ARENA_NEW(r->a, struct view_allocation);
    const struct doc *devices = view_map(r, d, "devices");
    const struct doc *results = view_list(r, devices, "results");
    struct view_result *v = VIEW_ITEMS(r, results, struct view_result, &out->nresults);
    for (uint32_t i = 0; i < out->nresults; i++)
        read_result(r, &results->items[i], &v[i]);
    out->results = v;
    const struct doc *configs = view_list(r, devices, "config");
    struct view_alloc_config *c =
        VIEW_ITEMS(r, configs, struct view_alloc_config, &out->nconfigs);
    for (uint32_t i = 0; i < out->nconfigs; i++) {
        c[i].source = view_text(r, &configs->items[i], "source");
        c[i].config = read_config(r, &configs->items[i]);
    }
    out->configs = c;
    out->node_selector = view_read_node_selector(r, view_map(r, d, "nodeSelector"));
    return out;
}

static void read_status(struct view_reader *r, const struct doc *status,
                        struct view_claim *out)
{
    out->allocation = read_allocation(r, view_map(r, status, "allocation"));
    const struct doc *list = view_list(r, status, "reservedFor");
    struct view_consumer *v =
        VIEW_ITEMS(r, list, struct view_consumer, &out->nreserved_for);
    for (uint32_t i = 0; i < out->nreserved_for; i++) {
        v[i].api_group = view_text(r, &list->items[i], "apiGroup");
        v[i].resource = view_text(r, &list->items[i], "resource");
        v[i].name = view_text(r, &list->items[i], "name");
        v[i].uid = view_text(r, &list->items[i], "uid");
    }
    out->reserved_for = v;
}

static struct str controller_uid(struct view_reader *r, const struct doc *object)
{
    const struct doc *owners =
        view_list(r, doc_get(object, "metadata"), "ownerReferences");
    for (uint32_t i = 0; owners && i < owners->n; i++)
        if (view_bool(r, &owners->items[i], "controller", NULL))
            return view_text(r, &owners->items[i], "uid");
    return STR_NONE;
}

struct view_claim *view_claim_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_claim *out = ARENA_NEW(a, struct view_claim);
    view_read_meta(&r, d, &out->meta);
    read_spec(&r, view_map(&r, d, "spec"), out);
    read_status(&r, view_map(&r, d, "status"), out);
    out->owner_uid = controller_uid(&r, d);
    if (!r.failed)
        return out;
    err_wrap(e, "ResourceClaim \"%.*s/%.*s\"", STR_ARG(out->meta.namespace),
             STR_ARG(out->meta.name));
    return NULL;
}

bool view_claim_spec(const struct doc *spec, struct view_claim *out, struct arena *a,
                     struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_claim made = *out;
    read_spec(&r, spec, &made);
    if (r.failed)
        return false;
    *out = made;
    return true;
}

struct view_class *view_class_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_class *out = ARENA_NEW(a, struct view_class);
    const struct doc *spec = view_map(&r, d, "spec");
    view_read_meta(&r, d, &out->meta);
    out->selectors =
        read_selectors(&r, view_list(&r, spec, "selectors"), &out->nselectors);
    out->configs = read_configs(&r, view_list(&r, spec, "config"), &out->nconfigs);
    out->extended_resource = view_text(&r, spec, "extendedResourceName");
    out->policy = view_text(&r, view_map(&r, view_map(&r, d, "metadata"), "annotations"),
                            "dray.dev/allocation-policy");
    if (!r.failed)
        return out;
    err_wrap(e, "DeviceClass \"%.*s\"", STR_ARG(out->meta.name));
    return NULL;
}
