/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start, after whatever happened before it, and devices that come, go, or are found
 * elsewhere.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/names.h"
#include "driver/prepare_inner.h"
#include "node/disk.h"

enum { MAX_COMPLAINTS = 256 };

static void forget_told(struct driver_prepare *p)
{
    size_t left = p->complaints.n - p->told;
    for (size_t i = 0; i < p->told; i++)
        free(p->complaints.v[i]);
    for (size_t i = 0; i < left; i++)
        p->complaints.v[i] = p->complaints.v[p->told + i];
    p->complaints.n = left;
    p->told = 0;
}

void prepare_complain(struct driver_prepare *p, const char *fmt, ...)
{
    struct strbuf b = STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    strbuf_addv(&b, fmt, ap);
    va_end(ap);
    char *text = strbuf_steal(&b);
    if (p->complaints.n >= MAX_COMPLAINTS)
        forget_told(p);
    bool known = p->complaints.n >= MAX_COMPLAINTS; /* nobody listens */
    for (size_t i = 0; !known && i < p->complaints.n; i++)
        known = strcmp(p->complaints.v[i], text) == 0;
    if (known)
        free(text);
    else
        vec_push(&p->complaints, text);
}

uint32_t driver_prepare_complaints(const struct driver_prepare *p,
                                   const char *const **out)
{
    *out = (const char *const *)p->complaints.v;
    return (uint32_t)p->complaints.n;
}

const char *driver_prepare_complaint(struct driver_prepare *p)
{
    return p->told < p->complaints.n ? p->complaints.v[p->told++] : NULL;
}

/* ---- start and end ---- */

void prepare_found(void *ctx, struct str key, struct str value)
{
    struct driver_prepare *p = ctx;
    struct arena a = {0};
    struct prepare_entry x;
    struct err e = ERR_INIT;
    if (!value.p) {
        prepare_holds_remove(&p->holds, key);
    } else if (prepare_entry_read(value, &a, &x, &e) && str_eq(x.uid, key)) {
        prepare_holds_set(&p->holds, &x);
    } else {
        prepare_complain(p, "claim %.*s: %s", STR_ARG(key), err_text(&e));
        prepare_holds_remove(&p->holds, key);
    }
    err_release(&e);
    arena_fini(&a);
}

static void complain(void *ctx, const char *text)
{
    prepare_complain(ctx, "%s", text);
}

static struct driver_prepare *make(const struct driver_prepare_opts *o,
                                   struct driver_backend *b)
{
    struct driver_prepare *p = mem_zalloc(sizeof *p);
    p->o = *o;
    p->backend = b;
    p->place = (struct metadata_place){.driver = o->driver,
                                       .data_dir = o->data_dir,
                                       .cdi_dir = o->cdi_dir,
                                       .versions = o->metadata_versions,
                                       .nversions = o->nmetadata_versions};
    p->cdi_dir = mem_dup(o->cdi_dir.p, o->cdi_dir.n);
    struct strbuf kind = STRBUF_INIT;
    strbuf_addf(&kind, "k8s.%.*s/claim", STR_ARG(o->driver));
    p->kind.n = kind.n;
    p->kind.p = strbuf_steal(&kind);
    return p;
}

struct driver_prepare *driver_prepare_new(const struct driver_prepare_opts *o,
                                          struct driver_backend *b, struct err *e)
{
    if (!name_valid(NAME_DNS1123_SUBDOMAIN, o->driver)) {
        err_set(e, ERR_INVALID, "\"%.*s\" is no driver's name", STR_ARG(o->driver));
        return NULL;
    }
    if (!metadata_versions_check(o->metadata_versions, o->nmetadata_versions, e))
        return NULL;
    struct driver_prepare *p = make(o, b);
    char *data_dir = mem_dup(o->data_dir.p, o->data_dir.n);
    const struct journal_user user = {p, prepare_found, complain};
    if (disk_make_dirs(data_dir, e) && disk_make_dirs(p->cdi_dir, e))
        p->journal = journal_open(data_dir, PREPARE_JOURNAL, &user, e);
    free(data_dir);
    if (p->journal)
        return p;
    driver_prepare_free(p);
    return NULL;
}

void driver_prepare_free(struct driver_prepare *p)
{
    if (!p)
        return;
    journal_close(p->journal);
    prepare_holds_fini(&p->holds);
    strmap_release(&p->by_name);
    strmap_release(&p->by_identity);
    for (size_t i = 0; i < p->complaints.n; i++)
        free(p->complaints.v[i]);
    vec_release(&p->complaints);
    free(p->looks);
    free(p->cdi_dir);
    free((char *)p->kind.p);
    free(p);
}

/* ---- what a device looks like ---- */

struct str prepare_identity(const struct driver_device *d)
{
    return d->identity.n > 0 ? d->identity : d->name;
}

const struct driver_device *prepare_device(const struct driver_prepare *p,
                                           struct str identity)
{
    struct strmap_entry *at = strmap_find(&p->by_identity, identity);
    return at ? at->value.ptr : NULL;
}

/* Never 0. */
static uint64_t look_at(const struct driver_device *d)
{
    struct arena a = {0};
    struct cdi_device device = {.name = d->name, .edits = d->edits};
    struct cdi_spec spec = {.kind = STR("a/b"), .devices = &device, .ndevices = 1};
    uint64_t look = str_hash(cdi_spec_print(&spec, &a)) | 1;
    arena_fini(&a);
    return look;
}

/* Each device is looked at once an inventory. */
static uint64_t look_of(struct driver_prepare *p, const struct driver_device *d)
{
    size_t i = (size_t)(d - p->inventory->devices);
    if (p->looks[i] == 0)
        p->looks[i] = look_at(d);
    return p->looks[i];
}

void prepare_mark(struct driver_prepare *p, struct str uid, const struct prepare_entry *x)
{
    struct prepare_claim *c = prepare_holds_find(&p->holds, uid);
    for (uint32_t i = 0; c && i < c->n; i++)
        c->holds[i].look = x ? look_of(p, x->uses[i].found) : 0;
}

/* ---- one claim, again ---- */

/* Its files are those of the devices as they are now. When that cannot be, there is no
 * file: a container must not start with what may be another's device by now. */
static bool remake(struct driver_prepare *p, struct prepare_entry *x, struct arena *a,
                   struct err *e)
{
    struct str before = journal_get(p->journal, x->uid);
    if (!prepare_find_devices(p, x, e) || !prepare_make(p, x, a, e)) {
        prepare_cdi_remove(p, x->uid, NULL);
        prepare_mark(p, x->uid, NULL);
        return false;
    }
    if (!str_eq(prepare_entry_print(x, a), before))
        prepare_remember(p, x, a);
    prepare_mark(p, x->uid, x);
    return true;
}

/* What was begun and not done is taken back; but where an entry was damaged, it may have
 * said that this was done, and a pod may run: then the kubelet's next word decides. */
static bool finish_undone(struct driver_prepare *p, struct prepare_entry *x,
                          struct arena *a, struct err *e)
{
    if (x->hold == DRIVER_PREPARING && journal_has_damage(p->journal))
        return err_set(e, ERR_INVALID,
                       "its preparation did not end, or the entry is lost that says so");
    return prepare_undo(p, x, a, e);
}

static void recover_one(struct driver_prepare *p, struct str uid, struct arena *a)
{
    struct prepare_entry x = {0};
    struct err e = ERR_INIT;
    bool ok =
        prepare_entry_read(arena_str(a, journal_get(p->journal, uid)), a, &x, &e) &&
        (x.hold == DRIVER_PREPARED ? remake(p, &x, a, &e) : finish_undone(p, &x, a, &e));
    if (!ok)
        prepare_complain(p, "claim %.*s/%.*s: %s", STR_ARG(x.namespace), STR_ARG(x.name),
                         err_text(&e));
    err_release(&e);
}

/* Of all claims now; they may go while one works through them. */
static struct str *claim_uids(const struct driver_prepare *p, struct arena *a,
                              uint32_t *n)
{
    struct str *v = ARENA_ARRAY(a, struct str, p->holds.claims.live);
    *n = 0;
    strmap_each(&p->holds.claims, at) v[(*n)++] = arena_str(a, at->key);
    return v;
}

/* A damaged entry may be of any claim: files stay until somebody has looked. */
static bool sweep(struct driver_prepare *p, struct err *e)
{
    if (!journal_has_damage(p->journal))
        return prepare_sweep(p, e);
    prepare_complain(p,
                     "%.*s/" PREPARE_JOURNAL
                     ".damaged is there: files of claims that are "
                     "not known stay until it is removed",
                     STR_ARG(p->o.data_dir));
    return true;
}

bool driver_prepare_recover(struct driver_prepare *p, struct err *e)
{
    if (!journal_follow(p->journal, e))
        return false;
    struct arena a = {0}, each = {0};
    uint32_t n;
    struct str *uids = claim_uids(p, &a, &n);
    for (uint32_t i = 0; i < n; i++) {
        recover_one(p, uids[i], &each);
        arena_reset(&each);
    }
    arena_fini(&each);
    arena_fini(&a);
    p->recovered = true;
    return sweep(p, e) && journal_sync(p->journal, e);
}

/* ---- devices as they are found ---- */

static void index_devices(struct driver_prepare *p, const struct driver_inventory *v)
{
    strmap_clear(&p->by_name);
    strmap_clear(&p->by_identity);
    for (uint32_t i = 0; i < v->ndevices; i++) {
        struct driver_device *d = (struct driver_device *)&v->devices[i];
        strmap_put(&p->by_name, d->name, NULL)->value.ptr = d;
        strmap_put(&p->by_identity, prepare_identity(d), NULL)->value.ptr = d;
    }
    free(p->looks);
    p->looks = mem_zalloc((v->ndevices + 1) * sizeof *p->looks);
    p->inventory = v;
}

/* Some device of the claim is there and does not look as it did. */
static bool is_changed(struct driver_prepare *p, const struct prepare_claim *c)
{
    bool changed = false;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct driver_device *d = prepare_device(p, c->holds[i].identity);
        changed |= !d ? c->holds[i].look != 0 : c->holds[i].look != look_of(p, d);
    }
    return changed && c->hold == DRIVER_PREPARED;
}

void driver_prepare_inventory(struct driver_prepare *p, const struct driver_inventory *v)
{
    index_devices(p, v);
    if (!p->recovered)
        return;
    struct err e = ERR_INIT;
    bool ok = journal_follow(p->journal, &e);
    struct arena a = {0}, each = {0};
    uint32_t n;
    struct str *uids = claim_uids(p, &a, &n);
    for (uint32_t i = 0; ok && i < n; i++) {
        if (is_changed(p, prepare_holds_find(&p->holds, uids[i])))
            recover_one(p, uids[i], &each);
        arena_reset(&each);
    }
    ok = ok && journal_sync(p->journal, &e);
    if (!ok)
        prepare_complain(p, "devices were found anew: %s", err_text(&e));
    err_release(&e);
    arena_fini(&each);
    arena_fini(&a);
}
