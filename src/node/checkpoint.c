/* SPDX-License-Identifier: Apache-2.0 */
/* dra_manager_state: a text with its checksum around a text that holds the claims. */
#include "node/checkpoint.h"

#include <zlib.h>

#include "node/checkpoint_fields.h"

#define KIND "DRACheckpoint"
#define API_VERSION "checkpoint.dra.kubelet.k8s.io/v1"

/* ---- reading ---- */

static bool read_device(const struct doc *d, struct arena *a,
                        struct checkpoint_device *out, struct err *e)
{
    out->has_share_id = go_field_find(d, "ShareID") != NULL;
    return go_field_is(d, DOC_MAP, e) && go_field_text(d, "PoolName", &out->pool, e) &&
           go_field_text(d, "DeviceName", &out->device, e) &&
           go_field_text(d, "ShareID", &out->share_id, e) &&
           go_field_texts(d, "RequestNames", a, &out->requests, &out->nrequests, e) &&
           go_field_texts(d, "CDIDeviceIDs", a, &out->cdi_ids, &out->ncdi_ids, e);
}

static bool read_driver(const struct doc_member *m, struct arena *a,
                        struct checkpoint_driver *out, struct err *e)
{
    const struct doc *list;
    out->name = doc_key(m);
    if (!go_field_is(&m->value, DOC_MAP, e) ||
        !go_field_of_type(&m->value, "Devices", DOC_LIST, &list, e) ||
        !go_field_texts(&m->value, "skipNodeOperations", a, &out->skipped, &out->nskipped,
                        e))
        return false;
    out->ndevices = list ? list->n : 0;
    struct checkpoint_device *v = ARENA_ARRAY(a, struct checkpoint_device, out->ndevices);
    out->devices = v;
    for (uint32_t i = 0; i < out->ndevices; i++) {
        if (!read_device(&list->items[i], a, &v[i], e))
            return err_wrap(e, "Devices[%u]", i);
    }
    return true;
}

static bool read_drivers(const struct doc *claim, struct arena *a,
                         struct checkpoint_claim *out, struct err *e)
{
    const struct doc *map;
    if (!go_field_of_type(claim, "DriverState", DOC_MAP, &map, e))
        return false;
    out->ndrivers = map ? map->n : 0;
    struct checkpoint_driver *v = ARENA_ARRAY(a, struct checkpoint_driver, out->ndrivers);
    out->drivers = v;
    for (uint32_t i = 0; i < out->ndrivers; i++) {
        if (!read_driver(&map->members[i], a, &v[i], e))
            return err_wrap(e, "DriverState[%s]", map->members[i].key);
    }
    return true;
}

/* A set: UID -> {}. */
static bool read_pods(const struct doc *claim, struct arena *a,
                      struct checkpoint_claim *out, struct err *e)
{
    const struct doc *map;
    if (!go_field_of_type(claim, "PodUIDs", DOC_MAP, &map, e))
        return false;
    out->npods = map ? map->n : 0;
    struct str *v = ARENA_ARRAY(a, struct str, out->npods);
    out->pod_uids = v;
    for (uint32_t i = 0; i < out->npods; i++) {
        v[i] = doc_key(&map->members[i]);
        const struct doc *value = &map->members[i].value;
        if (value->type != DOC_NULL && !go_field_is(value, DOC_MAP, e))
            return err_wrap(e, "PodUIDs[%s]", map->members[i].key);
    }
    return true;
}

static bool read_claim(const struct doc *d, struct arena *a, struct checkpoint_claim *out,
                       struct err *e)
{
    return go_field_is(d, DOC_MAP, e) && go_field_text(d, "ClaimUID", &out->uid, e) &&
           go_field_text(d, "ClaimName", &out->name, e) &&
           go_field_text(d, "Namespace", &out->namespace, e) && read_pods(d, a, out, e) &&
           read_drivers(d, a, out, e);
}

/* Neither kind nor apiVersion is looked at. */
static bool read_data(struct str text, struct arena *a, struct checkpoint *out,
                      struct err *e)
{
    const struct doc *list;
    struct doc *d = ARENA_NEW(a, struct doc);
    if (!go_field_parse(text, "Data", a, d, e) ||
        (d->type != DOC_NULL && !go_field_is(d, DOC_MAP, e)) ||
        !go_field_of_type(d, "ClaimInfoStateList", DOC_LIST, &list, e))
        return false;
    uint32_t n = list ? list->n : 0;
    struct checkpoint_claim *v = ARENA_ARRAY(a, struct checkpoint_claim, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!read_claim(&list->items[i], a, &v[i], e))
            return err_wrap(e, "ClaimInfoStateList[%u]", i);
    }
    *out = (struct checkpoint){v, n};
    return true;
}

static uint32_t checksum_of(struct str data)
{
    return (uint32_t)crc32(0, (const Bytef *)data.p, (uInt)data.n);
}

bool checkpoint_read(struct str file, struct arena *a, struct checkpoint *out,
                     struct err *e)
{
    struct doc *d = ARENA_NEW(a, struct doc);
    struct str data;
    int64_t checksum;
    if (!go_field_parse(file, "checkpoint", a, d, e) ||
        (d->type != DOC_NULL && !go_field_is(d, DOC_MAP, e)) ||
        !go_field_text(d, "Data", &data, e) ||
        !go_field_int64(d, "Checksum", &checksum, e))
        return false;
    if (checksum != checksum_of(data))
        return err_set(e, ERR_INVALID, "checkpoint is corrupted: its checksum is %u",
                       checksum_of(data));
    if (!go_field_find(d, "Data")) {
        *out = (struct checkpoint){0};
        return true;
    }
    return read_data(data, a, out, e);
}

const struct checkpoint_claim *checkpoint_find(const struct checkpoint *c,
                                               struct str namespace, struct str name)
{
    for (uint32_t i = c->n; i-- > 0;) {
        if (str_eq(c->claims[i].namespace, namespace) && str_eq(c->claims[i].name, name))
            return &c->claims[i];
    }
    return NULL;
}

/* ---- writing ---- */

static struct doc list_or_null(const struct str *v, uint32_t n, struct arena *a)
{
    return n > 0 ? go_field_list(v, n, a) : doc_make_null();
}

static struct doc print_device(const struct checkpoint_device *x, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set_text(a, &d, "PoolName", x->pool);
    doc_set_text(a, &d, "DeviceName", x->device);
    doc_set(a, &d, "ShareID",
            x->has_share_id ? doc_make_string(a, x->share_id) : doc_make_null());
    doc_set(a, &d, "RequestNames", list_or_null(x->requests, x->nrequests, a));
    doc_set(a, &d, "CDIDeviceIDs", list_or_null(x->cdi_ids, x->ncdi_ids, a));
    return d;
}

static struct doc print_driver(const struct checkpoint_driver *x, struct arena *a)
{
    struct doc d = doc_make_map(), devices = doc_make_list();
    for (uint32_t i = 0; i < x->ndevices; i++)
        doc_append(a, &devices, print_device(&x->devices[i], a));
    doc_set(a, &d, "Devices", x->ndevices > 0 ? devices : doc_make_null());
    if (x->nskipped > 0)
        doc_set(a, &d, "skipNodeOperations", go_field_list(x->skipped, x->nskipped, a));
    return d;
}

static struct doc print_claim(const struct checkpoint_claim *x, struct arena *a)
{
    struct doc d = doc_make_map(), pods = doc_make_map(), drivers = doc_make_map();
    for (uint32_t i = 0; i < x->npods; i++)
        doc_set_str(a, &pods, x->pod_uids[i], doc_make_map());
    for (uint32_t i = 0; i < x->ndrivers; i++)
        doc_set_str(a, &drivers, x->drivers[i].name, print_driver(&x->drivers[i], a));
    doc_set_text(a, &d, "ClaimUID", x->uid);
    doc_set_text(a, &d, "ClaimName", x->name);
    doc_set_text(a, &d, "Namespace", x->namespace);
    doc_set(a, &d, "PodUIDs", pods);
    doc_set(a, &d, "DriverState", drivers);
    return d;
}

struct str checkpoint_print(const struct checkpoint *c, struct arena *a)
{
    struct doc data = doc_make_map(), claims = doc_make_list(), file = doc_make_map();
    for (uint32_t i = 0; i < c->n; i++)
        doc_append(a, &claims, print_claim(&c->claims[i], a));
    doc_set_text(a, &data, "kind", STR(KIND));
    doc_set_text(a, &data, "apiVersion", STR(API_VERSION));
    doc_set(a, &data, "ClaimInfoStateList", c->n > 0 ? claims : doc_make_null());
    struct str text = go_field_print(&data, a);
    doc_set_text(a, &file, "Data", text);
    doc_set(a, &file, "Checksum", doc_make_int(a, checksum_of(text)));
    return go_field_print(&file, a);
}
