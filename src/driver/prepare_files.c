/* SPDX-License-Identifier: Apache-2.0 */
/* The CDI file of a claim, the nodes that it names, and files that nobody wants. */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "driver/prepare_inner.h"
#include "node/disk.h"

/* ---- one file a claim: VENDOR-CLASS_UID.json (spec 5.13 rule 5) ----
 *
 * Nobody waits for the disk here: the folder is mostly no disk at all, and at the start
 * of the machine the files are made anew from the journal, whatever is left of them. */

static struct str file_start(const struct driver_prepare *p, struct arena *a)
{
    return arena_printf(a, "k8s.%.*s-claim_", STR_ARG(p->o.driver));
}

static const char *file_path(const struct driver_prepare *p, struct str uid,
                             struct arena *a)
{
    return arena_printf(a, "%s/%.*s%.*s.json", p->cdi_dir, STR_ARG(file_start(p, a)),
                        STR_ARG(uid))
        .p;
}

bool prepare_cdi_remove(struct driver_prepare *p, struct str uid, struct err *e)
{
    struct arena a = {0};
    bool ok = disk_remove(file_path(p, uid, &a), e);
    arena_fini(&a);
    return ok;
}

bool prepare_cdi_write(struct driver_prepare *p, struct str uid,
                       const struct cdi_spec *spec, struct arena *a, struct err *e)
{
    if (spec->ndevices == 0)
        return prepare_cdi_remove(p, uid, e);
    return cdi_spec_check(spec, e) &&
           disk_place(file_path(p, uid, a), cdi_spec_print(spec, a), 0644, e);
}

/* ---- what it names ---- */

static bool is_type(mode_t mode, struct str type)
{
    if (str_is(type, "b"))
        return S_ISBLK(mode);
    if (str_is(type, "p"))
        return S_ISFIFO(mode);
    return S_ISCHR(mode) || (type.n == 0 && (S_ISBLK(mode) || S_ISFIFO(mode)));
}

static const char *type_name(struct str type)
{
    return str_is(type, "b")   ? "block device"
           : str_is(type, "p") ? "FIFO"
           : type.n > 0        ? "character device"
                               : "device";
}

static bool look(const struct driver_prepare *p, struct str path, struct stat *st,
                 struct err *e)
{
    struct strbuf there = STRBUF_INIT;
    strbuf_addf(&there, "%.*s%.*s", STR_ARG(p->o.root), STR_ARG(path));
    bool ok = stat(strbuf_cstr(&there), st) == 0 ||
              err_set(e, ERR_NOT_FOUND, "%.*s: %m", STR_ARG(path));
    strbuf_release(&there);
    return ok;
}

/* Numbers that were given must be those of the node: a runtime would not look again. */
static bool check_node(const struct driver_prepare *p, const struct cdi_node *n,
                       struct err *e)
{
    struct str path = n->host_path.n > 0 ? n->host_path : n->path;
    struct stat st;
    if (!look(p, path, &st, e))
        return false;
    if (!is_type(st.st_mode, n->type))
        return err_set(e, ERR_INVALID, "%.*s is no %s", STR_ARG(path),
                       type_name(n->type));
    if (n->major > 0 && st.st_rdev != makedev((unsigned)n->major, (unsigned)n->minor))
        return err_set(e, ERR_INVALID,
                       "%.*s is device %u:%u, not %lld:%lld as it was found",
                       STR_ARG(path), major(st.st_rdev), minor(st.st_rdev),
                       (long long)n->major, (long long)n->minor);
    return true;
}

static bool is_bind(const struct cdi_mount *m)
{
    for (uint32_t i = 0; i < m->noptions; i++) {
        if (str_is(m->options[i], "bind") || str_is(m->options[i], "rbind"))
            return true;
    }
    return str_is(m->type, "bind");
}

bool prepare_check_nodes(const struct driver_prepare *p, const struct cdi_edits *x,
                         struct err *e)
{
    for (uint32_t i = 0; i < x->nnodes; i++) {
        if (!check_node(p, &x->nodes[i], e))
            return false;
    }
    struct stat st;
    for (uint32_t i = 0; i < x->nmounts; i++) {
        if (is_bind(&x->mounts[i]) && !look(p, x->mounts[i].host_path, &st, e))
            return false;
    }
    return true;
}

/* ---- what nobody wants ---- */

struct sweep {
    struct driver_prepare *p;
    struct arena a;
    struct str dir, start;
    struct err *e;
    /* The claim's UID, or its directory's name, if name is one of ours. */
    bool (*claim)(struct sweep *s, struct str name, struct str *out);
    struct strmap wanted;
};

/* START UID [.json] [.tmp], or START UID _REQUEST .json */
static bool claim_of_file(struct sweep *s, struct str name, struct str *out)
{
    if (!str_starts(name, s->start))
        return false;
    struct str rest = str_sub(name, s->start.n, name.n);
    size_t end = str_find_byte(rest, '_', 0), dot = str_find(rest, STR(".json"));
    bool temp = str_ends(name, STR(".tmp"));
    *out = temp ? STR_NONE : str_sub(rest, 0, end < dot ? end : dot);
    return dot != SIZE_MAX;
}

static bool claim_of_dir(struct sweep *s, struct str name, struct str *out)
{
    (void)s;
    *out = name;
    return true;
}

static bool sweep_one(void *ctx, const char *name)
{
    struct sweep *s = ctx;
    struct str claim;
    if (!s->claim(s, str_from(name), &claim) || strmap_find(&s->wanted, claim))
        return true;
    const char *path = arena_printf(&s->a, "%.*s/%s", STR_ARG(s->dir), name).p;
    return s->claim == claim_of_dir ? disk_remove_tree(path, s->e)
                                    : disk_remove(path, s->e);
}

static void want_all(struct sweep *s)
{
    strmap_each(&s->p->holds.claims, at)
    {
        const struct prepare_claim *c = at->value.ptr;
        strmap_put(&s->wanted, c->uid, NULL);
        strmap_put(
            &s->wanted,
            arena_printf(&s->a, "%.*s_%.*s", STR_ARG(c->namespace), STR_ARG(c->name)),
            NULL);
    }
}

bool prepare_sweep(struct driver_prepare *p, struct err *e)
{
    struct sweep s = {.p = p, .e = e, .claim = claim_of_file, .wanted = STRMAP_INIT};
    want_all(&s);
    s.dir = str_from(p->cdi_dir);
    s.start = file_start(p, &s.a);
    bool ok = disk_each(p->cdi_dir, sweep_one, &s, e);
    s.start = arena_printf(&s.a, "%.*s_metadata_", STR_ARG(p->o.driver));
    ok = ok && disk_each(p->cdi_dir, sweep_one, &s, e);
    s.claim = claim_of_dir;
    s.dir = arena_printf(&s.a, "%.*s/dra-device-metadata", STR_ARG(p->o.data_dir));
    ok = ok && disk_each(s.dir.p, sweep_one, &s, e);
    strmap_release(&s.wanted);
    arena_fini(&s.a);
    return ok;
}
