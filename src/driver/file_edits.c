/* SPDX-License-Identifier: Apache-2.0 */
/* What a container gets besides the node of a device: the part of a CDI spec that makes
 * sense in a file of devices. */
#include "driver/file.h"

static bool is_path(struct file_at at, struct str path)
{
    return (path.n && path.p[0] == '/') || str_starts(path, STR("{path}")) ||
           file_fail(at, "a path from / on is wanted here");
}

static bool read_path(struct file_at at, struct str *out, bool needed)
{
    if (!at.d)
        return !needed || file_fail(at, "a path is missing here");
    return file_text(at, out) && is_path(at, *out);
}

static bool read_mode(struct file_at at, struct cdi_node *n)
{
    struct file_at mode = file_member(at, "mode"), uid = file_member(at, "uid"),
                   gid = file_member(at, "gid");
    int64_t m = 0, u = 0, g = 0;
    if (!file_int(mode, 0, 07777, &m) || !file_int(uid, 0, UINT32_MAX, &u) ||
        !file_int(gid, 0, UINT32_MAX, &g))
        return false;
    n->has_mode = mode.d != NULL;
    n->has_uid = uid.d != NULL;
    n->has_gid = gid.d != NULL;
    n->mode = (uint32_t)m;
    n->uid = (uint32_t)u;
    n->gid = (uint32_t)g;
    return true;
}

static bool read_permissions(struct file_at at, struct str *out)
{
    if (!file_text(at, out) || !at.d)
        return !at.d;
    for (size_t i = 0; i < out->n; i++)
        if (str_find_byte(STR("rwm"), out->p[i], 0) == SIZE_MAX)
            return file_fail(at, "letters of rwm are wanted here");
    return true;
}

static bool read_node(struct file_at at, struct cdi_node *n)
{
    static const char *const KEYS[] = {"path", "hostPath", "permissions", "mode",
                                       "uid",  "gid",      NULL};
    if (at.d && at.d->type == DOC_STRING)
        return read_path(at, &n->path, true);
    return file_is_map(at, KEYS) && read_path(file_member(at, "path"), &n->path, true) &&
           read_path(file_member(at, "hostPath"), &n->host_path, false) &&
           read_permissions(file_member(at, "permissions"), &n->permissions) &&
           read_mode(at, n);
}

static bool read_nodes(struct file_at at, struct cdi_edits *out)
{
    if (!at.d)
        return true;
    if (!file_is_list(at))
        return false;
    out->nodes = ARENA_ARRAY(at.r->a, struct cdi_node, at.d->n);
    out->nnodes = at.d->n;
    for (uint32_t i = 0; i < at.d->n; i++)
        if (!read_node(file_item(at, i), &out->nodes[i]))
            return false;
    return true;
}

static bool read_mount(struct file_at at, struct cdi_mount *m)
{
    static const char *const KEYS[] = {"hostPath", "containerPath", "type", "options",
                                       NULL};
    if (!file_is_map(at, KEYS) ||
        !read_path(file_member(at, "hostPath"), &m->host_path, true) ||
        !read_path(file_member(at, "containerPath"), &m->container_path, false) ||
        !file_text(file_member(at, "type"), &m->type) ||
        !file_texts(file_member(at, "options"), &m->options, &m->noptions))
        return false;
    if (!m->container_path.n)
        m->container_path = m->host_path;
    return true;
}

static bool read_mounts(struct file_at at, struct cdi_edits *out)
{
    if (!at.d)
        return true;
    if (!file_is_list(at))
        return false;
    out->mounts = ARENA_ARRAY(at.r->a, struct cdi_mount, at.d->n);
    out->nmounts = at.d->n;
    for (uint32_t i = 0; i < at.d->n; i++)
        if (!read_mount(file_item(at, i), &out->mounts[i]))
            return false;
    return true;
}

/* Numbers and booleans as they are written. */
static bool read_variable(struct file_at at, const struct doc_member *m, struct str *out)
{
    struct str value = STR("");
    if (m->key_len == 0 || str_find_byte(doc_key(m), '=', 0) != SIZE_MAX)
        return file_fail(at, "this is no name of a variable");
    if (at.d && (at.d->type == DOC_STRING || at.d->type == DOC_NUMBER))
        value = doc_str(at.d);
    else if (at.d && at.d->type == DOC_BOOL)
        value = str_from(at.d->b ? "true" : "false");
    else if (at.d)
        return file_fail(at, "a text is wanted here, not %s", doc_type_name(at.d));
    *out = arena_printf(at.r->a, "%.*s=%.*s", STR_ARG(doc_key(m)), STR_ARG(value));
    return true;
}

static bool read_env(struct file_at at, struct cdi_edits *out)
{
    if (!at.d)
        return true;
    if (!file_is_map(at, NULL))
        return false;
    out->env = ARENA_ARRAY(at.r->a, struct str, at.d->n);
    out->nenv = at.d->n;
    for (uint32_t i = 0; i < at.d->n; i++) {
        const struct doc_member *m = &at.d->members[i];
        if (!read_variable(file_value(at, m), m, &out->env[i]))
            return false;
    }
    return true;
}

bool file_edits(struct file_at at, struct cdi_edits *out)
{
    return read_nodes(file_member(at, "nodes"), out) &&
           read_mounts(file_member(at, "mounts"), out) &&
           read_env(file_member(at, "env"), out);
}
