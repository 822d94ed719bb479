/* SPDX-License-Identifier: Apache-2.0 */
/* AdmissionConfiguration of apiserver.config.k8s.io, and the configurations in it. */
#include "server/admission/admission_config.h"

#include "server/inner.h"

struct reader {
    struct admission_config *c;
    struct arena *a;
    struct err *e;
    const char *where; /* "ResourceQuota" */
};

/* ---- shapes ---- */

static bool fail_at(struct reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail_at(struct reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    return err_set(r->e, ERR_INVALID, "%s: %.*s", r->where, STR_ARG(text));
}

/* names: "a b c" */
static bool has_word(const char *names, struct str word)
{
    struct str all = str_from(names);
    for (size_t at = 0; at < all.n;) {
        size_t end = str_find_byte(all, ' ', at);
        if (str_eq(str_sub(all, at, end), word))
            return true;
        at = end == SIZE_MAX ? all.n : end + 1;
    }
    return false;
}

static bool check_members(struct reader *r, const struct doc *d, const char *names)
{
    if (d && d->type != DOC_NULL && d->type != DOC_MAP)
        return fail_at(r, "a map is needed");
    for (uint32_t i = 0; d && d->type == DOC_MAP && i < d->n; i++)
        if (!has_word(names, doc_key(&d->members[i])))
            return fail_at(r, "there is no field \"%.*s\"",
                           STR_ARG(doc_key(&d->members[i])));
    return true;
}

static bool check_texts(struct reader *r, const struct doc *d, const char *name)
{
    const struct doc *list = doc_get(d, name);
    if (!list || list->type == DOC_NULL)
        return true;
    if (list->type != DOC_LIST)
        return fail_at(r, "%s: a list is needed", name);
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].type != DOC_STRING || list->items[i].n == 0)
            return fail_at(r, "%s[%u]: a name is needed", name, i);
        for (uint32_t k = 0; k < i; k++)
            if (doc_equal(&list->items[i], &list->items[k]))
                return fail_at(r, "%s[%u]: Duplicate value: \"%.*s\"", name, i,
                               STR_ARG(doc_str(&list->items[i])));
    }
    return true;
}

static const struct doc *keep(struct reader *r, const struct doc *d)
{
    struct doc *copy = ARENA_NEW(r->a, struct doc);
    if (!d || d->type == DOC_NULL)
        return NULL;
    *copy = doc_dup(r->a, d);
    return copy;
}

/* ---- plugins ---- */

static bool read_quota(struct reader *r, const struct doc *d)
{
    const struct doc *list = doc_get(d, "limitedResources");
    if (!check_members(r, d, "apiVersion kind limitedResources"))
        return false;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *one = &list->items[i];
        if (!check_members(r, one, "apiGroup resource matchContains matchScopes"))
            return false;
        if (doc_get_text(one, "resource").n == 0)
            return fail_at(r, "limitedResources[%u].resource: Required value", i);
    }
    r->c->limited = keep(r, list);
    return true;
}

static bool read_standard(struct reader *r, const struct doc *d, const char *name,
                          struct pod_standard *out)
{
    const char *version = arena_printf(r->a, "%s-version", name).p;
    struct str level = doc_get_text(d, name), minor = doc_get_text(d, version);
    const char *wrong = level.n ? pod_level_parse(level, &out->level) : NULL;
    if (wrong)
        return fail_at(r, "defaults.%s: Invalid value: \"%.*s\": %s", name,
                       STR_ARG(level), wrong);
    wrong = minor.n ? pod_minor_parse(minor, &out->minor) : NULL;
    return !wrong || fail_at(r, "defaults.%s: Invalid value: \"%.*s\": %s", version,
                             STR_ARG(minor), wrong);
}

static bool read_pod_security(struct reader *r, const struct doc *d)
{
    static const char *const MODES[] = {"enforce", "audit", "warn"};
    const struct doc *defaults = doc_get(d, "defaults"),
                     *exempt = doc_get(d, "exemptions");
    if (!check_members(r, d, "apiVersion kind defaults exemptions") ||
        !check_members(r, defaults,
                       "enforce enforce-version audit audit-version warn warn-version") ||
        !check_members(r, exempt, "usernames namespaces runtimeClasses") ||
        !check_texts(r, exempt, "usernames") || !check_texts(r, exempt, "namespaces") ||
        !check_texts(r, exempt, "runtimeClasses"))
        return false;
    for (int i = 0; i < POD_MODES; i++)
        if (!read_standard(r, defaults, MODES[i], &r->c->pod_defaults.of[i]))
            return false;
    r->c->exempt = keep(r, exempt);
    return true;
}

static bool check_positive(struct reader *r, const struct doc *d, uint32_t i,
                           const char *name, bool needed)
{
    int64_t n = 0;
    bool there = doc_get_int64(d, name, &n);
    return (there ? n > 0 || (!needed && n == 0) : !needed) ||
           fail_at(r, "limits[%u].%s: Invalid value: %lld: must be positive", i, name,
                   (long long)n);
}

static bool read_event_limits(struct reader *r, const struct doc *d)
{
    const struct doc *list = doc_get(d, "limits");
    if (!check_members(r, d, "apiVersion kind limits"))
        return false;
    if (!list || list->type != DOC_LIST || list->n == 0)
        return fail_at(r, "limits: Invalid value: must not be empty");
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *one = &list->items[i];
        if (!check_members(r, one, "type qps burst cacheSize") ||
            !check_positive(r, one, i, "qps", true) ||
            !check_positive(r, one, i, "burst", true) ||
            !check_positive(r, one, i, "cacheSize", false))
            return false;
        if (!has_word("Server Namespace User SourceAndObject", doc_get_text(one, "type")))
            return fail_at(r,
                           "limits[%u].type: Unsupported value: supported values: "
                           "\"Namespace\", \"Server\", \"SourceAndObject\", \"User\"",
                           i);
    }
    r->c->event_limits = keep(r, list);
    return true;
}

static bool read_node_selectors(struct reader *r, const struct doc *d)
{
    const struct doc *map = doc_get(d, "podNodeSelectorPluginConfig");
    if (!check_members(r, d, "podNodeSelectorPluginConfig"))
        return false;
    for (uint32_t i = 0; map && map->type == DOC_MAP && i < map->n; i++)
        if (map->members[i].value.type != DOC_STRING)
            return fail_at(r, "%.*s: a selector is needed",
                           STR_ARG(doc_key(&map->members[i])));
    r->c->node_selectors = keep(r, map);
    return true;
}

static bool read_tolerations(struct reader *r, const struct doc *d)
{
    if (!check_members(r, d, "apiVersion kind default whitelist"))
        return false;
    r->c->tolerations = keep(r, d);
    return true;
}

static const struct row {
    const char *plugin, *kinds; /* "VERSION/KIND ..."; NULL: it has none */
    bool (*read)(struct reader *r, const struct doc *d);
} ROWS[] = {
    {"ResourceQuota",
     "apiserver.config.k8s.io/v1/ResourceQuotaConfiguration "
     "resourcequota.admission.k8s.io/v1beta1/Configuration "
     "resourcequota.admission.k8s.io/v1alpha1/Configuration",
     read_quota},
    {"PodSecurity",
     "pod-security.admission.config.k8s.io/v1/PodSecurityConfiguration "
     "pod-security.admission.config.k8s.io/v1beta1/PodSecurityConfiguration "
     "pod-security.admission.config.k8s.io/v1alpha1/PodSecurityConfiguration",
     read_pod_security},
    {"EventRateLimit", "eventratelimit.admission.k8s.io/v1alpha1/Configuration",
     read_event_limits},
    {"PodNodeSelector", NULL, read_node_selectors},
    {"PodTolerationRestriction",
     "podtolerationrestriction.admission.k8s.io/v1alpha1/Configuration",
     read_tolerations},
};

static const struct row *find_row(struct str plugin)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (str_is(plugin, ROWS[i].plugin))
            return &ROWS[i];
    return NULL;
}

static bool read_config(struct reader *r, const struct row *row, const struct doc *d)
{
    struct str kind =
        arena_printf(r->a, "%.*s/%.*s", STR_ARG(doc_get_text(d, "apiVersion")),
                     STR_ARG(doc_get_text(d, "kind")));
    r->where = row->plugin;
    if (row->kinds && !has_word(row->kinds, kind))
        return fail_at(r, "%.*s is no configuration of it", STR_ARG(kind));
    return row->read(r, d);
}

/* ---- the file ---- */

static bool read_file(struct reader *r, const char *path, struct doc *out)
{
    struct str text;
    struct doc_list docs;
    if (!dir_read_file(r->a, path, &text, r->e))
        return false;
    struct doc_source src = {.name = path, .text = text};
    if (!doc_read(&src, r->a, &docs, r->e))
        return false;
    if (docs.n != 1)
        return err_set(r->e, ERR_INVALID, "%s: one object is needed", path);
    *out = docs.v[0];
    return true;
}

/* As it is written, or beside the file that names it. */
static const char *beside(const char *path, struct str name, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    if (name.p[0] == '/' || !slash)
        return arena_str(a, name).p;
    return arena_printf(a, "%.*s/%.*s", (int)(slash - path), path, STR_ARG(name)).p;
}

static bool read_plugin(struct reader *r, const char *path, const struct doc *d)
{
    struct str name = doc_get_text(d, "name"), file = doc_get_text(d, "path");
    const struct doc *own = doc_get(d, "configuration");
    const struct row *row = find_row(name);
    struct doc other;
    r->where = path;
    if (!check_members(r, d, "name path configuration"))
        return false;
    if (!row)
        return fail_at(r, "plugins: \"%.*s\" takes no configuration", STR_ARG(name));
    if (own && own->type != DOC_NULL)
        return read_config(r, row, own);
    return file.n == 0 || (read_file(r, beside(path, file, r->a), &other) &&
                           read_config(r, row, &other));
}

static bool read_all(struct reader *r, const char *path)
{
    struct doc d = doc_make_null();
    r->where = path;
    if (!read_file(r, path, &d) || !check_members(r, &d, "apiVersion kind plugins"))
        return false;
    if (!doc_is_string(doc_get(&d, "kind"), "AdmissionConfiguration") ||
        !has_word("apiserver.config.k8s.io/v1 apiserver.k8s.io/v1alpha1",
                  doc_get_text(&d, "apiVersion")))
        return fail_at(r,
                       "it is no AdmissionConfiguration of apiserver.config.k8s.io/v1");
    const struct doc *list = doc_get(&d, "plugins");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (!read_plugin(r, path, &list->items[i]))
            return false;
    return true;
}

bool admission_config_read(struct admission_config *c, const char *path, struct arena *a,
                           struct err *e)
{
    struct reader r = {c, a, e, ""};
    *c = (struct admission_config){0};
    for (int i = 0; i < POD_MODES; i++)
        c->pod_defaults.of[i] = (struct pod_standard){POD_PRIVILEGED, POD_LATEST};
    return !path || read_all(&r, path) || err_wrap(e, "--admission-control-config-file");
}
