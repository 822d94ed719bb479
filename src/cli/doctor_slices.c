/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "base/query.h"
#include "cli/doctor.h"

static const struct client_kind SLICES = {"resource.k8s.io", "v1", "resourceslices",
                                          false};

static const struct doc *ask(struct doctor *d)
{
    struct strbuf query = STRBUF_INIT;
    struct err e = ERR_INIT;
    struct str fields = arena_printf(d->a, "spec.driver=%.*s,spec.nodeName=%.*s",
                                     STR_ARG(d->driver), STR_ARG(d->node));
    query_escape(fields, &query);
    struct str path = client_path(&SLICES, STR_NONE, STR_NONE, NULL, d->a);
    path =
        arena_printf(d->a, "%.*s?fieldSelector=%s", STR_ARG(path), strbuf_cstr(&query));
    strbuf_release(&query);
    const struct doc *list =
        session_doc(d->session, session_get(d->session, path, NULL), &e);
    if (!list)
        doctor_wrong(d, "slices: %s", err_text(&e));
    err_release(&e);
    return doc_get(list, "items");
}

/* The most likely reason why there is none at all. */
static bool has_node(struct doctor *d)
{
    static const struct client_kind NODE = {"", "v1", "nodes", false};
    struct str path = client_path(&NODE, STR_NONE, d->node, NULL, d->a);
    return session_get(d->session, path, NULL)->status != 404;
}

/* Slices of an older generation do not count. */
static int64_t newest(const struct doc *items)
{
    int64_t most = -1, n;
    for (uint32_t i = 0; i < items->n; i++)
        if (doc_get_int64(doc_path(&items->items[i], "spec.pool"), "generation", &n) &&
            n > most)
            most = n;
    return most;
}

static void check_pool(struct doctor *d, const struct doc *items, struct strmap *devices)
{
    int64_t generation = newest(items), wanted = 0, n = 0, its = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        const struct doc *spec = doc_get(&items->items[i], "spec"),
                         *list = doc_get(spec, "devices");
        if (!doc_get_int64(doc_get(spec, "pool"), "generation", &its) ||
            its != generation)
            continue;
        n++;
        doc_get_int64(doc_get(spec, "pool"), "resourceSliceCount", &wanted);
        for (uint32_t k = 0; list && list->type == DOC_LIST && k < list->n; k++)
            strmap_put(devices, doc_get_text(&list->items[k], "name"), NULL);
    }
    if (!items->n && !has_node(d))
        doctor_wrong(d, "the server has no node %.*s: --node NAME says which one this is",
                     STR_ARG(d->node));
    else if (!items->n)
        doctor_wrong(d, "nothing is published for driver %.*s on node %.*s",
                     STR_ARG(d->driver), STR_ARG(d->node));
    else if (n != wanted)
        doctor_wrong(d, "the pool is not whole: %lld of %lld slices of generation %lld",
                     (long long)n, (long long)wanted, (long long)generation);
    else
        doctor_ok(d, "published: %u device%s in %lld slice%s", devices->live,
                  devices->live == 1 ? "" : "s", (long long)n, n == 1 ? "" : "s");
}

static void compare(struct doctor *d, const struct driver_inventory *v,
                    struct strmap *published)
{
    for (uint32_t i = 0; i < v->ndevices; i++) {
        const struct driver_device *x = &v->devices[i];
        if (!strmap_remove(published, x->name))
            doctor_wrong(d, "%.*s is there, and not published", STR_ARG(x->name));
        else if (x->health == DRIVER_UNHEALTHY)
            doctor_wrong(d, "%.*s is unhealthy: %.*s", STR_ARG(x->name),
                         STR_ARG(x->health_message));
        else
            doctor_ok(d, "%.*s is there and published", STR_ARG(x->name));
    }
    strmap_each(published, e)
        doctor_wrong(d, "%.*s is published, and not there", STR_ARG(e->key));
}

static void check_devices(struct doctor *d, struct strmap *published)
{
    struct driver_discover_opts o = {.driver = d->driver, .root = d->root};
    struct driver_inventory v;
    struct err e = ERR_INIT;
    struct driver_backend *b = driver_backend_new(d->find, d->devices, &o, &e);
    if (!b || !b->ops->discover(b, d->a, &v, &e))
        doctor_wrong(d, "looking for devices: %s", err_text(&e));
    else
        compare(d, &v, published);
    err_release(&e);
    driver_backend_free(b);
}

void doctor_slices(struct doctor *d)
{
    struct strmap published = STRMAP_INIT;
    if (!d->session) {
        doctor_note(d, "no server is asked what is published: no --kubeconfig");
        return;
    }
    const struct doc *items = ask(d);
    if (items && items->type == DOC_LIST) {
        check_pool(d, items, &published);
        if (d->devices || d->find)
            check_devices(d, &published);
        else
            doctor_note(d, "devices are not compared: no --devices, no --find");
    }
    strmap_release(&published);
}
