/* SPDX-License-Identifier: Apache-2.0 */
/* Object metadata (spec 2.1 "Object metadata"). */
#include "api/rules.h"
#include "api/rules_util.h"
#include "base/quote.h"

enum { ANNOTATIONS_MAX = 262144, MANAGER_MAX = 128, SUBRESOURCE_MAX = 256 };

/* A member of the metadata at hand, as a place of its own. */
static struct api_at member_at(struct api_at *meta, const char *key)
{
    struct api_at at = *meta;
    at.parent = meta->value;
    at.value = api_member(meta->value, key);
    at.old_parent = meta->old;
    at.old = api_member(meta->old, key);
    return at;
}

static void report_name(struct api_at *at, const char *suffix, const struct doc *value,
                        enum name_kind kind, struct str text)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = name_check(kind, text, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_at(at, suffix, value, API_ERROR_INVALID, "%.*s", STR_ARG(problems[i]));
}

static enum name_kind kind_of(const char *arg)
{
    if (str_is(str_from(arg), "label"))
        return NAME_DNS1123_LABEL;
    return str_is(str_from(arg), "label1035") ? NAME_DNS1035_LABEL
                                              : NAME_DNS1123_SUBDOMAIN;
}

/* A prefix may end in a dash or a dot: what is generated follows. */
static struct str generated(struct arena *a, struct str prefix)
{
    if (prefix.n > 1 && prefix.p[prefix.n - 1] == '-')
        return arena_printf(a, "%.*sa", (int)prefix.n - 1, prefix.p);
    return prefix;
}

/* The form of the kind's names. */
static void check_form(struct api_at *at, enum name_kind kind, bool check_prefix)
{
    const struct doc *name = api_member(at->value, "name");
    const struct doc *prefix = api_member(at->value, "generateName");
    if (!api_empty(prefix) && check_prefix)
        report_name(at, ".generateName", prefix, kind,
                    generated(at->w->a, api_text(prefix)));
    if (!api_empty(name))
        report_name(at, ".name", name, kind, api_text(name));
}

/* A new object may leave its name to be generated. */
static void require_name(struct api_at *at)
{
    if (api_empty(api_member(at->value, "name")) &&
        (at->w->opts->op != API_CREATE ||
         api_empty(api_member(at->value, "generateName"))))
        api_report_at(at, ".name", api_member(at->value, "name"), API_ERROR_REQUIRED,
                      "name or generateName is required");
}

/* What a part of a URL cannot be, whatever the kind. */
static void check_segment(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct str text = api_text(value);
    if (str_find_byte(text, '/', 0) != SIZE_MAX ||
        str_find_byte(text, '%', 0) != SIZE_MAX)
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "may not contain '/' or '%%'");
}

/* Upstream's generic stage looks at the name again on every update. */
static void check_segments(struct api_at *at)
{
    const struct doc *name = api_member(at->value, "name");
    if (str_is(api_text(name), ".") || str_is(api_text(name), ".."))
        api_report_at(at, ".name", name, API_ERROR_INVALID, "may not be '%s'",
                      api_text(name).p);
    check_segment(at, ".name", name);
    check_segment(at, ".generateName", api_member(at->value, "generateName"));
}

static bool kind_is_namespaced(struct api_at *at)
{
    for (uint32_t i = 0; i < api_nkinds; i++)
        if (api_kinds[i].type == at->type && !strchr(api_kinds[i].resource, '/'))
            return api_kinds[i].namespaced;
    return false;
}

static void check_namespace(struct api_at *at)
{
    const struct doc *namespace = api_member(at->value, "namespace");
    if (!kind_is_namespaced(at)) {
        if (!api_empty(namespace))
            api_report_at(at, ".namespace", namespace, API_ERROR_FORBIDDEN,
                          "not allowed on this type");
        return;
    }
    if (api_empty(namespace))
        api_report_at(at, ".namespace", namespace, API_ERROR_REQUIRED, "%s", "");
    else
        report_name(at, ".namespace", namespace, NAME_DNS1123_LABEL, api_text(namespace));
}

static void check_labels(struct api_at *at)
{
    const struct doc *labels = api_member(at->value, "labels");
    for (uint32_t i = 0; labels && i < labels->n; i++) {
        const struct doc_member *m = &labels->members[i];
        report_name(at, ".labels", &m->value, NAME_LABEL_KEY, doc_key(m));
        report_name(at, ".labels", &m->value, NAME_LABEL_VALUE, api_text(&m->value));
    }
}

static void check_annotations(struct api_at *at)
{
    const struct doc *annotations = api_member(at->value, "annotations");
    size_t total = 0;
    for (uint32_t i = 0; annotations && i < annotations->n; i++) {
        const struct doc_member *m = &annotations->members[i];
        struct str key = arena_str(at->w->a, doc_key(m));
        for (char *p = (char *)key.p; *p; p++)
            if (*p >= 'A' && *p <= 'Z')
                *p = (char)(*p + 'a' - 'A');
        report_name(at, ".annotations", &m->value, NAME_LABEL_KEY, key);
        total += key.n + api_text(&m->value).n;
    }
    if (total > ANNOTATIONS_MAX)
        api_report_at(at, ".annotations", annotations, API_ERROR_TOO_LONG,
                      "may not be more than %d bytes", ANNOTATIONS_MAX);
}

/* "version" or "group/version", neither part of it empty. */
static bool is_group_version(struct str s)
{
    size_t slash = str_find_byte(s, '/', 0);
    if (slash == SIZE_MAX)
        return s.n > 0;
    return slash + 1 < s.n && str_find_byte(s, '/', slash + 1) == SIZE_MAX;
}

static void check_owner(struct api_at *at, const struct doc *owner, uint32_t i)
{
    static const char *const REQUIRED[] = {"apiVersion", "kind", "name", "uid"};
    struct arena *a = at->w->a;
    for (size_t k = 0; k < sizeof REQUIRED / sizeof *REQUIRED; k++)
        if (api_empty(api_member(owner, REQUIRED[k])))
            api_report_at(
                at, arena_printf(a, ".ownerReferences[%u].%s", i, REQUIRED[k]).p,
                api_member(owner, REQUIRED[k]), API_ERROR_REQUIRED, "must not be empty");
    struct str version = doc_get_text(owner, "apiVersion");
    if (version.n && !is_group_version(version))
        api_report_at(at, arena_printf(a, ".ownerReferences[%u].apiVersion", i).p,
                      api_member(owner, "apiVersion"), API_ERROR_INVALID,
                      "must be <group>/<version> or <version>");
    if (str_is(version, "v1") && str_is(doc_get_text(owner, "kind"), "Event"))
        api_report_at(at, arena_printf(a, ".ownerReferences[%u]", i).p, owner,
                      API_ERROR_INVALID,
                      "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(struct api_at *at)
{
    const struct doc *owners = api_member(at->value, "ownerReferences");
    unsigned controllers = 0;
    for (uint32_t i = 0; owners && i < owners->n; i++) {
        const struct doc *controller = api_member(&owners->items[i], "controller");
        check_owner(at, &owners->items[i], i);
        controllers += controller && controller->type == DOC_BOOL && controller->b;
    }
    if (controllers > 1)
        api_report_at(at, ".ownerReferences", owners, API_ERROR_INVALID,
                      "only one reference can have controller set to true, found %u",
                      controllers);
}

static void check_finalizers(struct api_at *at)
{
    const struct doc *finalizers = api_member(at->value, "finalizers");
    bool orphan = false, foreground = false;
    for (uint32_t i = 0; finalizers && i < finalizers->n; i++) {
        const struct doc *item = &finalizers->items[i];
        struct str name = api_text(item);
        report_name(at, ".finalizers", item, NAME_LABEL_KEY, name);
        orphan = orphan || str_is(name, "orphan");
        foreground = foreground || str_is(name, "foregroundDeletion");
        if (str_find_byte(name, '/', 0) == SIZE_MAX && !str_is(name, "orphan") &&
            !str_is(name, "foregroundDeletion") && !str_is(name, "kubernetes"))
            api_report_at(at, arena_printf(at->w->a, ".finalizers[%u]", i).p, item,
                          API_ERROR_INVALID,
                          "name is neither a standard finalizer name nor is it fully "
                          "qualified");
    }
    if (orphan && foreground)
        api_report_at(at, ".finalizers", finalizers, API_ERROR_INVALID,
                      "finalizer orphan and foregroundDeletion cannot be both set");
}

static void check_printable(struct api_at *at, const char *path,
                            const struct doc *manager)
{
    struct str s = api_text(manager);
    uint32_t cp;
    for (size_t i = 0, n; i < s.n; i += n) {
        n = utf8_decode(s, i, &cp);
        if (n == 0 || !rune_is_printable(cp))
            api_report_at(at, path, manager, API_ERROR_INVALID,
                          "invalid character (at position %zu)", i);
        n = n ? n : 1;
    }
}

static void check_manager(struct api_at *at, const struct doc *entry, uint32_t i)
{
    struct arena *a = at->w->a;
    const struct doc *operation = api_member(entry, "operation");
    const struct doc *type = api_member(entry, "fieldsType");
    const struct doc *manager = api_member(entry, "manager");
    const struct doc *subresource = api_member(entry, "subresource");
    const char *path = arena_printf(a, ".managedFields[%u].operation", i).p;
    if (api_empty(operation))
        api_report_at(at, path, operation, API_ERROR_REQUIRED, "must not be empty");
    else if (!doc_is_string(operation, "Apply") && !doc_is_string(operation, "Update"))
        rules_not_supported(at, path, operation, "Apply|Update");
    if (!api_empty(type) && !doc_is_string(type, "FieldsV1"))
        api_report_at(at, arena_printf(a, ".managedFields[%u].fieldsType", i).p, type,
                      API_ERROR_INVALID, "must be `FieldsV1`");
    path = arena_printf(a, ".managedFields[%u].manager", i).p;
    if (api_text(manager).n > MANAGER_MAX)
        api_report_at(at, path, manager, API_ERROR_TOO_LONG,
                      "may not be more than %d bytes", MANAGER_MAX);
    check_printable(at, path, manager);
    if (api_text(subresource).n > SUBRESOURCE_MAX)
        api_report_at(at, arena_printf(a, ".managedFields[%u].subresource", i).p,
                      subresource, API_ERROR_TOO_LONG, "may not be more than %d bytes",
                      SUBRESOURCE_MAX);
}

static void check_managers(struct api_at *at)
{
    const struct doc *entries = api_member(at->value, "managedFields");
    for (uint32_t i = 0; entries && i < entries->n; i++)
        check_manager(at, &entries->items[i], i);
}

static int64_t generation_of(const struct doc *meta)
{
    int64_t v = 0;
    doc_get_int64(meta, "generation", &v);
    return v;
}

static void check_generation(struct api_at *at)
{
    const struct doc *value = api_member(at->value, "generation");
    if (generation_of(at->value) < 0)
        api_report_at(at, ".generation", value, API_ERROR_INVALID,
                      "must be greater than or equal to 0");
    if (at->old && generation_of(at->value) < generation_of(at->old))
        api_report_at(at, ".generation", value, API_ERROR_INVALID,
                      "must not be decremented");
}

static bool has_text(const struct doc *list, struct str s)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(api_text(&list->items[i]), s))
            return true;
    return false;
}

static void check_new_finalizers(struct api_at *at)
{
    struct api_at f = member_at(at, "finalizers");
    if (!api_member(at->old, "deletionTimestamp"))
        return;
    for (uint32_t i = 0; f.value && i < f.value->n; i++) {
        struct str name = api_text(&f.value->items[i]);
        if (has_text(f.old, name))
            continue;
        api_report_at(
            at, ".finalizers", f.value, API_ERROR_FORBIDDEN,
            "no new finalizers can be added if the object is being deleted, found "
            "new finalizer %.*s",
            STR_ARG(name));
        return;
    }
}

static bool differs(const struct doc *a, const struct doc *b)
{
    if (api_empty(a) && api_empty(b) && (!a || a->type == DOC_STRING) &&
        (!b || b->type == DOC_STRING))
        return false;
    return !a || !b || !doc_equal(a, b);
}

static void check_update(struct api_at *at)
{
    static const char *const FROZEN[] = {"name",
                                         "namespace",
                                         "uid",
                                         "creationTimestamp",
                                         "deletionTimestamp",
                                         "deletionGracePeriodSeconds"};
    if (api_empty(api_member(at->value, "resourceVersion")))
        api_report_at(at, ".resourceVersion", NULL, API_ERROR_INVALID,
                      "must be specified for an update");
    check_new_finalizers(at);
    for (size_t k = 0; k < sizeof FROZEN / sizeof *FROZEN; k++) {
        struct api_at m = member_at(at, FROZEN[k]);
        if (differs(m.value, m.old))
            api_report_at(at, arena_printf(at->w->a, ".%s", FROZEN[k]).p, m.value,
                          API_ERROR_INVALID, "field is immutable");
    }
}

/* The whole of metadata; arg is the form of the kind's names, with "unchecked-prefix" for
 * kinds whose generateName is not looked at and "again" where updates check it too. */
API_RULE(meta)
{
    static const struct doc empty = {.type = DOC_MAP, .pos = UINT32_MAX};
    const enum api_op op = at->w->opts->op;
    struct api_at meta = *at;
    if (!meta.value)
        meta.value = &empty;
    if (op != API_CREATE && !meta.old)
        meta.old = &empty;
    require_name(&meta);
    if (op == API_CREATE || (op == API_UPDATE && strstr(arg, "|again")))
        check_form(&meta, kind_of(arg), !strstr(arg, "|unchecked-prefix"));
    check_namespace(&meta);
    if (op != API_CREATE) {
        check_segments(&meta);
        check_update(&meta);
    }
    check_generation(&meta);
    check_labels(&meta);
    check_annotations(&meta);
    check_owners(&meta);
    check_finalizers(&meta);
    check_managers(&meta);
    return false;
}

/* Metadata that generated objects take over: labels and annotations alone (spec 2.4). */
API_RULE(template_meta)
{
    for (uint32_t i = 0; i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        bool allowed = str_is(doc_key(m), "labels") || str_is(doc_key(m), "annotations");
        bool empty =
            m->value.type == DOC_NULL ||
            (m->value.type != DOC_BOOL && m->value.type != DOC_NUMBER && m->value.n == 0);
        /* Upstream derives the path from the name of its Go field. */
        const char *shown = str_is(doc_key(m), "uid") ? "uID" : m->key;
        if (!allowed && !empty)
            api_report_at(at, arena_printf(at->w->a, ".%s", shown).p, &m->value,
                          API_ERROR_FORBIDDEN, "cannot be set");
    }
    check_labels(at);
    check_annotations(at);
    return false;
}
