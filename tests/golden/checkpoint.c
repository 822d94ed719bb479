/* SPDX-License-Identifier: Apache-2.0 */
/* golden/checkpoint: the kubelet's state files, good and damaged. */
#include "golden/golden.h"

#include "node/checkpoint.h"

/* ---- entries as the recording names them ---- */

static void set_list(struct golden_case *c, struct doc *map, const char *key,
                     const struct str *v, uint32_t n)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < n; i++)
        doc_append(c->arena, &list, doc_make_string(c->arena, v[i]));
    doc_set(c->arena, map, key, list);
}

static struct doc device_doc(struct golden_case *c, const struct checkpoint_device *x)
{
    struct doc d = doc_make_map();
    doc_set_text(c->arena, &d, "PoolName", x->pool);
    doc_set_text(c->arena, &d, "DeviceName", x->device);
    if (x->has_share_id)
        doc_set_text(c->arena, &d, "ShareID", x->share_id);
    set_list(c, &d, "RequestNames", x->requests, x->nrequests);
    set_list(c, &d, "CDIDeviceIDs", x->cdi_ids, x->ncdi_ids);
    return d;
}

static struct doc driver_doc(struct golden_case *c, const struct checkpoint_driver *x)
{
    struct doc d = doc_make_map(), devices = doc_make_list();
    for (uint32_t i = 0; i < x->ndevices; i++)
        doc_append(c->arena, &devices, device_doc(c, &x->devices[i]));
    doc_set(c->arena, &d, "Devices", devices);
    set_list(c, &d, "skipNodeOperations", x->skipped, x->nskipped);
    return d;
}

static struct doc claim_doc(struct golden_case *c, const struct checkpoint_claim *x)
{
    struct doc d = doc_make_map(), pods = doc_make_map(), drivers = doc_make_map();
    for (uint32_t i = 0; i < x->npods; i++)
        doc_set_str(c->arena, &pods, x->pod_uids[i], doc_make_bool(true));
    for (uint32_t i = 0; i < x->ndrivers; i++)
        doc_set_str(c->arena, &drivers, x->drivers[i].name,
                    driver_doc(c, &x->drivers[i]));
    doc_set_text(c->arena, &d, "ClaimUID", x->uid);
    doc_set_text(c->arena, &d, "ClaimName", x->name);
    doc_set_text(c->arena, &d, "Namespace", x->namespace);
    doc_set(c->arena, &d, "PodUIDs", pods);
    doc_set(c->arena, &d, "DriverState", drivers);
    return d;
}

static struct doc entries_doc(struct golden_case *c, const struct checkpoint *x)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < x->n; i++)
        doc_append(c->arena, &list, claim_doc(c, &x->claims[i]));
    return golden_lean(&list, c->arena);
}

/* Pods are a set, {uid: {}}; here {uid: true}, which a lean document keeps. */
static struct doc wanted(struct golden_case *c)
{
    struct doc list = doc_dup(c->arena, doc_get(c->doc, "entries"));
    for (uint32_t i = 0; list.type == DOC_LIST && i < list.n; i++) {
        const struct doc *pods = doc_get(&list.items[i], "PodUIDs");
        for (uint32_t j = 0; pods && j < pods->n; j++)
            pods->members[j].value = doc_make_bool(true);
    }
    return list.type == DOC_LIST ? golden_lean(&list, c->arena) : doc_make_list();
}

/* ---- files ---- */

static void check_again(struct golden_case *c, const struct checkpoint *first,
                        const struct doc *want)
{
    struct checkpoint again;
    struct err e = ERR_INIT;
    if (!checkpoint_read(checkpoint_print(first, c->arena), c->arena, &again, &e)) {
        golden_fail(c, "what is written is not read: %s", err_text(&e));
    } else {
        struct doc got = entries_doc(c, &again);
        golden_check_doc(c, "written", want, &got);
    }
    err_release(&e);
}

static void check_last(struct golden_case *c, const struct checkpoint *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct checkpoint_claim *found =
            checkpoint_find(x, x->claims[i].namespace, x->claims[i].name);
        if (found < &x->claims[i])
            golden_fail(c, "of two entries the first counts");
    }
}

static void run_case(struct golden *g, struct golden_case *c)
{
    struct str file = doc_get_text(c->doc, "file"), text;
    bool want = false;
    if (!golden_read(g, file.p, c->arena, &text))
        return;
    struct checkpoint x;
    struct err e = ERR_INIT;
    doc_get_bool(c->doc, "ok", &want);
    bool ok = checkpoint_read(text, c->arena, &x, &e);
    if (!golden_check_bool(c, "ok", want, ok) && e.msg)
        golden_fail(c, "%s", err_text(&e));
    err_release(&e);
    if (!ok || !want)
        return;
    struct doc entries = wanted(c), got = entries_doc(c, &x);
    golden_check_doc(c, "entries", &entries, &got);
    check_again(c, &x, &entries);
    check_last(c, &x);
}

/* Read and written again it is the same, but for drivers without devices. */
static void run_folder(struct golden *g)
{
    struct golden_case *c = golden_begin(g, "dra_health_state", 0, "health");
    struct str text;
    struct checkpoint_reports r;
    if (!c || !golden_read(g, "dra_health_state", c->arena, &text))
        return;
    struct err e = ERR_INIT;
    if (!checkpoint_health_read(text, c->arena, &r, &e)) {
        golden_fail(c, "%s", err_text(&e));
    } else {
        struct doc_source src = {.name = "health", .text = text};
        struct doc want, got;
        src.text = checkpoint_health_print(&r, c->arena);
        doc_read_json(&src, c->arena, &got, NULL);
        src.text = text;
        doc_read_json(&src, c->arena, &want, NULL);
        want = golden_lean(&want, c->arena);
        got = golden_lean(&got, c->arena);
        golden_check_doc(c, "again", &want, &got);
    }
    err_release(&e);
    golden_end(c);
}

const struct golden_runner golden_checkpoint = {
    .folder = "checkpoint", .run_case = run_case, .run_folder = run_folder};
