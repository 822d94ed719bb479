/* SPDX-License-Identifier: Apache-2.0 */
/* What a spec must be for runtimes to take it (spec 5.13 rule 3). */
#include "driver/cdi_inner.h"

#include "base/names.h"

static bool check_env(const struct str *env, uint32_t n, struct err *e)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t equals = str_find_byte(env[i], '=', 0);
        if (equals == SIZE_MAX || equals == 0)
            return err_set(e, ERR_INVALID, "env[%u]: \"%.*s\" is no NAME=value", i,
                           STR_ARG(env[i]));
    }
    return true;
}

static bool is_one_of(struct str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(s, words[i]))
            return true;
    }
    return false;
}

static bool good_permissions(struct str s)
{
    if (str_is(s, "none"))
        return true;
    for (size_t i = 0; i < s.n; i++) {
        if (!strchr("rwm", s.p[i]) || s.p[i] == '\0')
            return false;
    }
    return true;
}

static bool check_node(const struct cdi_node *n, enum cdi_strictness how, struct err *e)
{
    static const char *const types[] = {"", "b", "c", "u", "p"};
    if (n->path.n == 0)
        return err_set(e, ERR_INVALID, "path is empty");
    if (how == CDI_AS_WRITTEN && n->path.p[0] != '/')
        return err_set(e, ERR_INVALID, "path \"%.*s\" is not absolute", STR_ARG(n->path));
    if (!is_one_of(n->type, types, sizeof types / sizeof *types))
        return err_set(e, ERR_INVALID, "type \"%.*s\" is none of b, c, u, p",
                       STR_ARG(n->type));
    if (n->major < 0 || n->minor < 0)
        return err_set(e, ERR_INVALID, "device number %lld:%lld is negative",
                       (long long)n->major, (long long)n->minor);
    if (!good_permissions(n->permissions))
        return err_set(e, ERR_INVALID,
                       "permissions \"%.*s\" are neither of r, w and m nor \"none\"",
                       STR_ARG(n->permissions));
    return true;
}

static bool check_nodes(const struct cdi_edits *x, enum cdi_strictness how, struct err *e)
{
    for (uint32_t i = 0; i < x->nnodes; i++) {
        if (!check_node(&x->nodes[i], how, e))
            return err_wrap(e, "deviceNodes[%u]", i);
    }
    return true;
}

static bool check_mounts(const struct cdi_edits *x, struct err *e)
{
    for (uint32_t i = 0; i < x->nmounts; i++) {
        const struct cdi_mount *m = &x->mounts[i];
        if (m->host_path.n == 0 || m->container_path.n == 0)
            return err_set(e, ERR_INVALID, "mounts[%u]: %s is empty", i,
                           m->host_path.n == 0 ? "hostPath" : "containerPath");
    }
    return true;
}

static bool check_hook(const struct cdi_hook *h, struct err *e)
{
    static const char *const names[] = {"prestart",        "createRuntime",
                                        "createContainer", "startContainer",
                                        "poststart",       "poststop"};
    if (!is_one_of(h->name, names, sizeof names / sizeof *names))
        return err_set(e, ERR_INVALID, "hookName \"%.*s\" is not known",
                       STR_ARG(h->name));
    if (h->path.n == 0)
        return err_set(e, ERR_INVALID, "path is empty");
    return check_env(h->env, h->nenv, e);
}

static bool check_hooks(const struct cdi_edits *x, struct err *e)
{
    for (uint32_t i = 0; i < x->nhooks; i++) {
        if (!check_hook(&x->hooks[i], e))
            return err_wrap(e, "hooks[%u]", i);
    }
    return true;
}

static bool check_net_devices(const struct cdi_edits *x, struct err *e)
{
    for (uint32_t i = 0; i < x->nnet_devices; i++) {
        const struct cdi_net_device *d = &x->net_devices[i];
        if (d->host_name.n == 0 || d->name.n == 0)
            return err_set(e, ERR_INVALID, "netDevices[%u]: %s is empty", i,
                           d->host_name.n == 0 ? "hostInterfaceName" : "name");
        for (uint32_t j = 0; j < i; j++) {
            const struct cdi_net_device *o = &x->net_devices[j];
            if (str_eq(o->host_name, d->host_name) || str_eq(o->name, d->name))
                return err_set(e, ERR_INVALID, "netDevices[%u] names what [%u] names", i,
                               j);
        }
    }
    return true;
}

/* It becomes a directory's name. */
static bool check_rdt(const struct cdi_rdt *r, struct err *e)
{
    struct str id = r->clos_id;
    bool bad = id.n > 4095 || str_is(id, ".") || str_is(id, "..") ||
               str_find_byte(id, '/', 0) != SIZE_MAX ||
               str_find_byte(id, '\n', 0) != SIZE_MAX;
    return !bad || err_set(e, ERR_INVALID, "intelRdt.closID \"%.*s\" is no file name",
                           STR_ARG(id));
}

static bool check_edits(const struct cdi_edits *x, enum cdi_strictness how, struct err *e)
{
    return (check_env(x->env, x->nenv, e) && check_nodes(x, how, e) &&
            check_mounts(x, e) && check_hooks(x, e) && check_net_devices(x, e) &&
            check_rdt(&x->rdt, e)) ||
           err_wrap(e, "containerEdits");
}

static bool check_annotations(const struct cdi_pair *v, uint32_t n,
                              enum cdi_strictness how, struct err *e)
{
    for (uint32_t i = 0; how == CDI_AS_WRITTEN && i < n; i++) {
        if (!name_valid(NAME_LABEL_KEY, v[i].key))
            return err_set(e, ERR_INVALID, "annotations: \"%.*s\" is no qualified name",
                           STR_ARG(v[i].key));
    }
    return true;
}

bool cdi_edits_empty(const struct cdi_edits *x)
{
    return x->nenv + x->nnodes + x->nmounts + x->nhooks + x->nnet_devices + x->ngids ==
               0 &&
           !x->rdt.present;
}

static bool check_device(const struct cdi_spec *s, uint32_t i, enum cdi_strictness how,
                         struct err *e)
{
    const struct cdi_device *d = &s->devices[i];
    if (!cdi_device_name_check(d->name, e))
        return false;
    for (uint32_t j = 0; j < i; j++) {
        if (str_eq(d->name, s->devices[j].name))
            return err_set(e, ERR_INVALID, "\"%.*s\" is also devices[%u]",
                           STR_ARG(d->name), j);
    }
    if (cdi_edits_empty(&d->edits))
        return err_set(e, ERR_INVALID, "\"%.*s\" has no containerEdits",
                       STR_ARG(d->name));
    return check_annotations(d->annotations, d->nannotations, how, e) &&
           check_edits(&d->edits, how, e);
}

static bool check_devices(const struct cdi_spec *s, enum cdi_strictness how,
                          struct err *e)
{
    if (s->ndevices == 0)
        return err_set(e, ERR_INVALID, "devices: there is none");
    for (uint32_t i = 0; i < s->ndevices; i++) {
        if (!check_device(s, i, how, e))
            return err_wrap(e, "devices[%u]", i);
    }
    return true;
}

static bool check_version(const struct cdi_spec *s, enum cdi_strictness how,
                          struct err *e)
{
    if (how == CDI_AS_WRITTEN && s->version.n == 0)
        return true;
    const char *least = cdi_spec_version(s);
    if (!cdi_version_known(s->version))
        return err_set(e, ERR_INVALID, "cdiVersion \"%.*s\" is not known",
                       STR_ARG(s->version));
    return cdi_version_reaches(s->version, least) ||
           err_set(e, ERR_INVALID, "cdiVersion is %.*s, its fields need %s",
                   STR_ARG(s->version), least);
}

bool cdi_spec_check_as(const struct cdi_spec *s, enum cdi_strictness how, struct err *e)
{
    if (!cdi_kind_check(s->kind, e))
        return err_wrap(e, "kind");
    return check_version(s, how, e) &&
           check_annotations(s->annotations, s->nannotations, how, e) &&
           check_edits(&s->edits, how, e) && check_devices(s, how, e);
}

bool cdi_spec_check(const struct cdi_spec *s, struct err *e)
{
    return cdi_spec_check_as(s, CDI_AS_WRITTEN, e);
}
