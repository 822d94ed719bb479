/* SPDX-License-Identifier: Apache-2.0 */
/* The table of plugins, in the order in which they run. */
#include "server/admission.h"

#include "server/write.h"

static bool is_pod(const struct admission *a)
{
    const struct resource *res = a->r->res;
    return !res->sub && str_is(res->prefix, "/registry/core/pods/");
}

/* What is added to new objects without looking at others; pods get the tolerations that
 * they lack on updates too. */
static bool complete(struct admission *a)
{
    struct request *r = a->r;
    struct api_admit admit = {
        .a = r->a, .priority = 0, .preemption = "PreemptLowerPriority"};
    if (a->verb == ADMIT_CREATE && !priority_find(r, a->object, a->name, &admit))
        return false;
    if (a->verb == ADMIT_CREATE || is_pod(a))
        api_admit_create(&admit, r->res->hub, a->object);
    return true;
}

static bool guard_namespaces(struct admission *a)
{
    return a->verb == ADMIT_CREATE ? namespaces_admit(a->r, a->name)
                                   : namespaces_admit_delete(a->r, a->name);
}

static const struct admission_plugin PLUGINS[] = {
    {"NamespaceLifecycle", true, ADMIT_CREATE | ADMIT_DELETE, guard_namespaces, NULL},
    {"Priority", true, ADMIT_CREATE | ADMIT_UPDATE, complete, NULL},
};
enum { NPLUGINS = sizeof PLUGINS / sizeof *PLUGINS };

static unsigned find(struct str name)
{
    unsigned i = 0;
    while (i < NPLUGINS && !str_is(name, PLUGINS[i].name))
        i++;
    return i;
}

/* The bits of a list's plugins. */
static bool read_names(const char *list, const char *flag, uint64_t *bits, struct err *e)
{
    struct str s = str_from(list ? list : "");
    for (size_t at = 0; at < s.n;) {
        size_t end = str_find_byte(s, ',', at);
        struct str name = str_sub(s, at, end == SIZE_MAX ? SIZE_MAX : end - at);
        unsigned i = find(name);
        if (i == NPLUGINS)
            return err_set(e, ERR_INVALID, "--%s: there is no admission plugin \"%.*s\"",
                           flag, STR_ARG(name));
        *bits |= UINT64_C(1) << i;
        at = end == SIZE_MAX ? s.n : end + 1;
    }
    return true;
}

bool admission_configure(struct server *s, const char *enable, const char *disable,
                         struct err *e)
{
    uint64_t on = 0, off = 0;
    if (!read_names(enable, "enable-admission-plugins", &on, e) ||
        !read_names(disable, "disable-admission-plugins", &off, e))
        return false;
    for (unsigned i = 0; i < NPLUGINS; i++)
        if (on & off & UINT64_C(1) << i)
            return err_set(e, ERR_INVALID, "%s is both enabled and disabled",
                           PLUGINS[i].name);
    for (unsigned i = 0; i < NPLUGINS; i++)
        if (PLUGINS[i].by_default)
            on |= UINT64_C(1) << i;
    s->admission = on & ~off;
    return true;
}

static bool runs(const struct admission *a, unsigned i)
{
    return (a->r->s->admission >> i & 1) && (PLUGINS[i].verbs & a->verb);
}

bool admission_mutate(struct admission *a)
{
    for (unsigned i = 0; i < NPLUGINS; i++)
        if (PLUGINS[i].mutate && runs(a, i) && !PLUGINS[i].mutate(a))
            return false;
    return true;
}

bool admission_validate(struct admission *a)
{
    for (unsigned i = 0; i < NPLUGINS; i++)
        if (PLUGINS[i].validate && runs(a, i) && !PLUGINS[i].validate(a))
            return false;
    return true;
}
