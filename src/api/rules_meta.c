/* SPDX-License-Identifier: Apache-2.0 */
/* Object metadata (spec 2.1 "Object metadata"). */
#include <stdlib.h>

#include "api/rules.h"
#include "api/rules_ip.h"
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

/* Problems of a text, said of what is shown. */
static void report_name(struct api_at *at, const char *suffix, struct str shown,
                        enum name_kind kind, struct str text)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = rules_problems(at->w, kind, text, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, suffix, api_shown_text(at->w->a, shown), API_ERROR_INVALID,
                         "%.*s", STR_ARG(problems[i]));
}

/* ---- names ---- */

/* What a part of a URL cannot be. */
void rules_segment(struct api_at *at, const char *suffix, struct str text, bool prefix)
{
    static const char *const PARTS[] = {"/", "%"};
    struct str shown = api_shown_text(at->w->a, text);
    if (!prefix && (str_is(text, ".") || str_is(text, ".."))) {
        api_report_shown(at, suffix, shown, API_ERROR_INVALID, "may not be '%.*s'",
                         STR_ARG(text));
        return;
    }
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (str_find(text, str_from(PARTS[i])) != SIZE_MAX)
            api_report_shown(at, suffix, shown, API_ERROR_INVALID, "may not contain '%s'",
                             PARTS[i]);
}

/* A prefix may end in a dash: what is generated follows. */
static struct str generated(struct arena *a, struct str prefix)
{
    if (prefix.n > 1 && prefix.p[prefix.n - 1] == '-')
        return arena_printf(a, "%.*sa", (int)prefix.n - 2, prefix.p);
    return prefix;
}

static void check_name(struct api_at *at, const char *suffix, struct str text,
                       const char *form, bool prefix)
{
    struct str checked = prefix ? generated(at->w->a, text) : text;
    enum name_kind kind = NAME_DNS1123_SUBDOMAIN;
    if (strncmp(form, "segment", 7) == 0) {
        rules_segment(at, suffix, text, prefix);
        return;
    }
    if (strncmp(form, "none", 4) == 0)
        return;
    if (strncmp(form, "address", 7) == 0) {
        rules_ip_name(at, suffix, text);
        return;
    }
    if (strncmp(form, "label1035", 9) == 0)
        kind = NAME_DNS1035_LABEL;
    else if (strncmp(form, "label", 5) == 0)
        kind = NAME_DNS1123_LABEL;
    report_name(at, suffix, text, kind, checked);
}

static void require_name(struct api_at *at)
{
    const struct doc *name = api_member(at->value, "name");
    if (api_empty(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED,
                      "name or generateName is required");
}

/* The form of the kind's names. */
static void check_form(struct api_at *at, const char *form)
{
    struct str name = api_text(api_member(at->value, "name"));
    struct str prefix = api_text(api_member(at->value, "generateName"));
    at->w->declared = strstr(form, "|declared") != NULL;
    if (prefix.n && !strstr(form, "|unchecked-prefix"))
        check_name(at, ".generateName", prefix, form, true);
    if (name.n)
        check_name(at, ".name", name, form, false);
    else if (at->w->opts->op != API_CREATE || prefix.n == 0)
        require_name(at);
    at->w->declared = false;
}

static bool kind_is_namespaced(struct api_at *at)
{
    if (at->w->scope != API_SCOPE_OF_TYPE)
        return at->w->scope == API_SCOPE_NAMESPACED;
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
        report_name(at, ".namespace", api_text(namespace), NAME_DNS1123_LABEL,
                    api_text(namespace));
}

void rules_labels(struct api_at *at, const char *suffix, const struct doc *labels)
{
    for (uint32_t i = 0; labels && i < labels->n; i++) {
        const struct doc_member *m = &labels->members[i];
        report_name(at, suffix, doc_key(m), NAME_LABEL_KEY, doc_key(m));
        report_name(at, suffix, api_text(&m->value), NAME_LABEL_VALUE,
                    api_text(&m->value));
    }
}

void rules_annotations(struct api_at *at, const char *suffix,
                       const struct doc *annotations)
{
    size_t total = 0;
    for (uint32_t i = 0; annotations && i < annotations->n; i++) {
        const struct doc_member *m = &annotations->members[i];
        struct str key = rules_lowered(at->w->a, doc_key(m));
        report_name(at, suffix, doc_key(m), NAME_LABEL_KEY, key);
        total += key.n + api_text(&m->value).n;
    }
    if (total > ANNOTATIONS_MAX)
        api_report_at(at, suffix, annotations, API_ERROR_TOO_LONG,
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

static struct str owner_name(struct api_at *at, const struct doc *owner)
{
    return arena_printf(at->w->a, "%.*s/%.*s", STR_ARG(doc_get_text(owner, "kind")),
                        STR_ARG(doc_get_text(owner, "name")));
}

static void check_owners(struct api_at *at)
{
    const struct doc *owners = api_member(at->value, "ownerReferences");
    struct str first = STR_NONE;
    for (uint32_t i = 0; owners && i < owners->n; i++) {
        const struct doc *owner = &owners->items[i];
        const struct doc *controller = api_member(owner, "controller");
        check_owner(at, owner, i);
        if (!controller || controller->type != DOC_BOOL || !controller->b)
            continue;
        if (first.p)
            api_report_at(at, ".ownerReferences", owners, API_ERROR_INVALID,
                          "Only one reference can have Controller set to true. Found "
                          "\"true\" in references for %.*s and %.*s",
                          STR_ARG(first), STR_ARG(owner_name(at, owner)));
        else
            first = owner_name(at, owner);
    }
}

void rules_finalizer(struct api_at *at, const char *suffix, struct str name)
{
    if (str_find_byte(name, '/', 0) == SIZE_MAX && !str_is(name, "orphan") &&
        !str_is(name, "foregroundDeletion") && !str_is(name, "kubernetes"))
        api_report_shown(at, suffix, api_shown_text(at->w->a, name), API_ERROR_INVALID,
                         "name is neither a standard finalizer name nor is it fully "
                         "qualified");
}

/* free: a name need not be qualified. */
static void check_finalizers(struct api_at *at, bool free)
{
    const struct doc *finalizers = api_member(at->value, "finalizers");
    bool orphan = false, foreground = false;
    for (uint32_t i = 0; finalizers && i < finalizers->n; i++) {
        struct str name = api_text(&finalizers->items[i]);
        report_name(at, ".finalizers", name, NAME_LABEL_KEY, name);
        orphan = orphan || str_is(name, "orphan");
        foreground = foreground || str_is(name, "foregroundDeletion");
        /* Of custom resources it is a warning. */
        if (!free && at->w->scope == API_SCOPE_OF_TYPE)
            rules_finalizer(at, arena_printf(at->w->a, ".finalizers[%u]", i).p, name);
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
                          "invalid character U+%04X (at position %zu)", cp, i);
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

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* An object that is going away waits for nothing new. */
static void check_new_finalizers(struct api_at *at)
{
    struct api_at f = member_at(at, "finalizers");
    struct strbuf b = STRBUF_INIT;
    uint32_t n = 0;
    if (!api_member(at->old, "deletionTimestamp") || api_empty(f.value))
        return;
    struct str *added = ARENA_ARRAY(at->w->a, struct str, f.value->n);
    for (uint32_t i = 0; i < f.value->n; i++)
        if (!has_text(f.old, api_text(&f.value->items[i])))
            added[n++] = api_text(&f.value->items[i]);
    qsort(added, n, sizeof *added, by_text);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_adds(&b, i ? ", " : "");
        strbuf_add_quoted(&b, added[i]);
    }
    if (n)
        api_report_at(at, ".finalizers", f.value, API_ERROR_FORBIDDEN,
                      "no new finalizers can be added if the object is being deleted, "
                      "found new finalizers []string{%s}",
                      strbuf_cstr(&b));
    strbuf_release(&b);
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

static void check_common(struct api_at *at, const char *arg)
{
    check_namespace(at);
    check_generation(at);
    rules_labels(at, ".labels", api_member(at->value, "labels"));
    rules_annotations(at, ".annotations", api_member(at->value, "annotations"));
    check_owners(at);
    check_finalizers(at, strstr(arg, "|free-finalizers") != NULL);
    check_managers(at);
}

/* The whole of metadata; arg is the form of the kind's names: subdomain, label, label1035
 * or segment. Further marks of it: "unchecked-prefix" for kinds whose generateName is not
 * looked at, "declared" where the declarative stage words what is wrong, "again" where
 * updates look at the name too, "free-finalizers" where theirs need not be qualified. */
API_RULE(meta)
{
    static const struct doc empty = {.type = DOC_MAP, .pos = UINT32_MAX};
    const enum api_op op = at->w->opts->op;
    struct api_at meta = *at;
    if (op == API_CREATE && at->w->opts->requested_group &&
        strcmp(at->w->opts->requested_group, "events.k8s.io") == 0)
        arg = "subdomain"; /* the same kind in the core group is free to do as it did */
    if (!meta.value)
        meta.value = &empty;
    if (op != API_CREATE && !meta.old)
        meta.old = &empty;
    if (op != API_CREATE) {
        require_name(&meta);
        rules_segments(&meta);
        check_update(&meta);
    }
    if (op == API_CREATE || (op == API_UPDATE && strstr(arg, "|again")))
        check_form(&meta, arg);
    check_common(&meta, arg);
    return false;
}

void rules_segments(struct api_at *at)
{
    rules_segment(at, ".name", api_text(api_member(at->value, "name")), false);
    rules_segment(at, ".generateName", api_text(api_member(at->value, "generateName")),
                  true);
}

/* Metadata that generated objects take over: labels and annotations alone (spec 2.4). */
API_RULE(template_meta)
{
    for (uint32_t i = 0; i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        bool allowed = str_is(doc_key(m), "labels") || str_is(doc_key(m), "annotations");
        bool empty = m->value.type == DOC_NULL ||
                     ((m->value.type == DOC_STRING || m->value.type == DOC_MAP) &&
                      m->value.n == 0);
        /* Upstream derives the path from the name of its Go field. */
        const char *shown = str_is(doc_key(m), "uid") ? "uID" : m->key;
        if (!allowed && !empty)
            api_report_at(at, arena_printf(at->w->a, ".%s", shown).p, &m->value,
                          API_ERROR_FORBIDDEN, "cannot be set");
    }
    rules_labels(at, ".labels", api_member(at->value, "labels"));
    rules_annotations(at, ".annotations", api_member(at->value, "annotations"));
    return false;
}
