/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries as lines of JSON. Only what is known is read; what is not is carried along, so
 * that a driver which was set back to this version loses nothing of a later one.
 */
#include "driver/prepare_inner.h"

static const char *const PHASES[] = {
    [DRIVER_PREPARING] = "preparing",
    [DRIVER_PREPARED] = "prepared",
    [DRIVER_UNPREPARING] = "unpreparing",
};
enum { NPHASES = sizeof PHASES / sizeof *PHASES };

/* ---- reading ---- */

static bool get_flag(const struct doc *d, const char *key)
{
    bool v = false;
    doc_get_bool(d, key, &v);
    return v;
}

static void read_configs(const struct doc *list, struct arena *a, struct prepare_use *u)
{
    if (!list || list->type != DOC_LIST)
        return;
    u->configs = ARENA_ARRAY(a, const struct doc *, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        u->configs[u->nconfigs++] = &list->items[i];
}

static void read_consumed(const struct doc *map, struct arena *a, struct prepare_use *u)
{
    if (!map || map->type != DOC_MAP)
        return;
    u->consumed = ARENA_ARRAY(a, struct driver_counter, map->n);
    for (uint32_t i = 0; i < map->n; i++) {
        if (map->members[i].value.type == DOC_STRING)
            u->consumed[u->nconsumed++] = (struct driver_counter){
                doc_key(&map->members[i]), doc_str(&map->members[i].value)};
    }
}

static bool read_use(const struct doc *d, struct arena *a, struct prepare_use *u,
                     struct err *e)
{
    u->raw = d;
    u->request = doc_get_text(d, "request");
    u->pool = doc_get_text(d, "pool");
    u->device = doc_get_text(d, "device");
    u->identity = doc_get_text(d, "identity");
    u->share_id = doc_get_text(d, "share");
    u->state = doc_get_text(d, "state");
    u->cdi_name = doc_get_text(d, "cdi");
    u->admin = get_flag(d, "admin");
    u->shared = get_flag(d, "shared");
    read_configs(doc_get(d, "configs"), a, u);
    read_consumed(doc_get(d, "consumed"), a, u);
    return (u->identity.n > 0 && u->device.n > 0) ||
           err_set(e, ERR_INVALID, "an entry of the journal names no device");
}

static bool read_phase(const struct doc *d, enum driver_hold *out, struct err *e)
{
    struct str s = doc_get_text(d, "phase");
    for (int i = 0; i < NPHASES; i++) {
        if (str_is(s, PHASES[i])) {
            *out = (enum driver_hold)i;
            return true;
        }
    }
    return err_set(e, ERR_INVALID, "phase \"%.*s\" is not known", STR_ARG(s));
}

static bool read_uses(const struct doc *list, struct arena *a, struct prepare_entry *x,
                      struct err *e)
{
    if (!list || list->type != DOC_LIST)
        return err_set(e, ERR_INVALID, "an entry of the journal has no devices");
    x->n = list->n;
    x->uses = ARENA_ARRAY(a, struct prepare_use, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        if (!read_use(&list->items[i], a, &x->uses[i], e))
            return false;
    }
    return true;
}

bool prepare_entry_read(struct str text, struct arena *a, struct prepare_entry *out,
                        struct err *e)
{
    struct doc_source src = {.name = "journal", .text = text};
    struct doc *d = ARENA_NEW(a, struct doc);
    struct prepare_entry x = {.raw = d};
    if (!doc_read_json(&src, a, d, e) || !read_phase(d, &x.hold, e) ||
        !read_uses(doc_get(d, "devices"), a, &x, e))
        return false;
    x.uid = doc_get_text(d, "uid");
    x.namespace = doc_get_text(d, "namespace");
    x.name = doc_get_text(d, "name");
    x.pod_claim = doc_get_text(d, "podClaim");
    x.has_pod_claim = x.pod_claim.p != NULL;
    x.metadata = get_flag(d, "metadata");
    x.trouble = doc_get_text(d, "trouble");
    doc_get_int64(d, "since", &x.since_s);
    doc_get_int64(d, "undoSince", &x.undo_s);
    *out = x;
    return true;
}

/* ---- writing ---- */

/* Set, or taken out when it is empty. */
static void put_text(struct arena *a, struct doc *map, const char *key, struct str s)
{
    if (s.n > 0)
        doc_set_text(a, map, key, s);
    else
        doc_remove(map, str_from(key));
}

static void put_flag(struct arena *a, struct doc *map, const char *key, bool on)
{
    if (on)
        doc_set(a, map, key, doc_make_bool(true));
    else
        doc_remove(map, str_from(key));
}

static void put_configs(struct arena *a, struct doc *map, const struct prepare_use *u)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < u->nconfigs; i++)
        doc_append(a, &list, *u->configs[i]);
    if (list.n > 0)
        doc_set(a, map, "configs", list);
}

static void put_consumed(struct arena *a, struct doc *map, const struct prepare_use *u)
{
    struct doc amounts = doc_make_map();
    for (uint32_t i = 0; i < u->nconsumed; i++)
        doc_set_str(a, &amounts, u->consumed[i].name,
                    doc_make_string(a, u->consumed[i].quantity));
    if (amounts.n > 0)
        doc_set(a, map, "consumed", amounts);
}

static struct doc start(struct arena *a, const struct doc *raw)
{
    return raw ? doc_dup(a, raw) : doc_make_map();
}

static struct doc print_use(const struct prepare_use *u, struct arena *a)
{
    struct doc map = start(a, u->raw);
    put_text(a, &map, "request", u->request);
    put_text(a, &map, "pool", u->pool);
    put_text(a, &map, "device", u->device);
    put_text(a, &map, "identity", u->identity);
    put_text(a, &map, "share", u->share_id);
    put_text(a, &map, "state", u->state);
    put_text(a, &map, "cdi", u->cdi_name);
    put_flag(a, &map, "admin", u->admin);
    put_flag(a, &map, "shared", u->shared);
    put_configs(a, &map, u);
    put_consumed(a, &map, u);
    return map;
}

static struct doc print_uses(const struct prepare_entry *x, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < x->n; i++)
        doc_append(a, &list, print_use(&x->uses[i], a));
    return list;
}

struct str prepare_entry_print(const struct prepare_entry *x, struct arena *a)
{
    struct doc map = start(a, x->raw);
    doc_set_text(a, &map, "uid", x->uid);
    doc_set_text(a, &map, "namespace", x->namespace);
    doc_set_text(a, &map, "name", x->name);
    if (x->has_pod_claim)
        doc_set_text(a, &map, "podClaim", x->pod_claim);
    doc_set_text(a, &map, "phase", str_from(PHASES[x->hold]));
    put_flag(a, &map, "metadata", x->metadata);
    put_text(a, &map, "trouble", x->trouble);
    doc_set(a, &map, "since", doc_make_int(a, x->since_s));
    if (x->undo_s != 0)
        doc_set(a, &map, "undoSince", doc_make_int(a, x->undo_s));
    doc_set(a, &map, "devices", print_uses(x, a));
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&map, DOC_JSON_COMPACT, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}
