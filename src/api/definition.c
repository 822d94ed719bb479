/* SPDX-License-Identifier: Apache-2.0 */
#include "api/definition_inner.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WARNING = 256 };

/* ---- versions ---- */

/* Whether all versions have the same there: upstream keeps it in one place then. */
static bool is_shared(const struct doc *versions, const char *key)
{
    for (uint32_t i = 1; i < versions->n; i++) {
        const struct doc *x = definition_member(&versions->items[0], key),
                         *y = definition_member(&versions->items[i], key);
        if (!x != !y || (x && !doc_equal(x, y)))
            return false;
    }
    return true;
}

static bool same(const struct doc *x, const struct doc *y)
{
    return (!x && !y) || (x && y && doc_equal(x, y));
}

static void check_deprecation(struct definition_check *c, const struct doc *d,
                              struct str path)
{
    const struct doc *v = definition_member(d, "deprecationWarning");
    if (!v)
        return;
    if (!definition_on(d, "deprecated")) {
        definition_invalid(c, path, v, STR("can only be set for deprecated versions"));
        return;
    }
    if (v->n > MAX_WARNING)
        definition_invalid(c, path, v, STR("must be <= 256 characters long"));
    if (v->n == 0)
        definition_invalid(c, path, v, STR("must not be an empty string"));
    for (uint32_t i = 0; i < v->n; i++)
        if ((unsigned char)v->s[i] < 0x20 || v->s[i] == 0x7f) {
            definition_invalid(
                c, path, v,
                definition_at(
                    c,
                    "must only contain printable UTF-8 characters; non-printable "
                    "character found at index %u",
                    i));
            return;
        }
}

static bool has_status(const struct doc *version)
{
    return definition_member(definition_member(version, "subresources"), "status") !=
           NULL;
}

static void check_schema(struct definition_check *c, const struct doc *version,
                         struct str path, bool status)
{
    const struct doc *schema =
        definition_member(definition_member(version, "schema"), "openAPIV3Schema");
    const struct doc *old =
        definition_version(c->old_spec, definition_text(version, "name"));
    struct structural_check_opts opts = {
        .cel = c->opts->cel,
        .path = path.p,
        .status = status,
        .old_spec = c->old_spec,
        .unchanged = old && same(definition_member(old, "schema"),
                                 definition_member(version, "schema"))};
    if (schema)
        structural_check(schema, &opts, c->a, c->errors);
}

/* What a version has for itself. */
static void check_version(struct definition_check *c, uint32_t i)
{
    const struct doc *d = &c->versions->items[i], *all = c->versions;
    struct str name = definition_text(d, "name");
    struct str wrong = definition_problems(c, NAME_DNS1035_LABEL, name);
    if (wrong.n)
        definition_invalid_text(c, definition_at(c, "spec.versions[%u].name", i), name,
                                wrong);
    check_deprecation(c, d, definition_at(c, "spec.versions[%u].deprecationWarning", i));
    if (!is_shared(all, "schema"))
        check_schema(c, d, definition_at(c, "spec.versions[%u].schema", i),
                     has_status(d));
    if (!is_shared(all, "subresources"))
        definition_check_subresources(
            c, d, definition_at(c, "spec.versions[%u].subresources", i));
    if (!is_shared(all, "additionalPrinterColumns"))
        definition_check_columns(
            c, d, definition_at(c, "spec.versions[%u].additionalPrinterColumns", i));
    if (!is_shared(all, "selectableFields"))
        definition_check_selectable(
            c, d, definition_at(c, "spec.versions[%u].selectableFields", i),
            "may only be set when `version.schema.openAPIV3Schema` is not "
            "included");
}

/* As upstream has them in mind: what all have in common is elsewhere. */
static struct str shown_versions(struct definition_check *c)
{
    static const struct {
        const char *name, *key;
        bool shared;
    } PARTS[] = {{"Name", "name"},
                 {"Served", "served"},
                 {"Storage", "storage"},
                 {"Deprecated", "deprecated"},
                 {"DeprecationWarning", "deprecationWarning"},
                 {"Schema", "schema", true},
                 {"Subresources", "subresources", true},
                 {"AdditionalPrinterColumns", "additionalPrinterColumns", true},
                 {"SelectableFields", "selectableFields", true}};
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < c->versions->n; i++) {
        struct doc d = doc_make_map();
        for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++) {
            const struct doc *v = definition_member(&c->versions->items[i], PARTS[k].key);
            bool none = !v || (PARTS[k].shared && is_shared(c->versions, PARTS[k].key));
            doc_set(c->a, &d, PARTS[k].name,
                    !none                                     ? *v
                    : strcmp(PARTS[k].key, "deprecated") == 0 ? doc_make_bool(false)
                                                              : doc_make_null());
        }
        doc_append(c->a, &list, d);
    }
    return definition_shown(c, &list);
}

static bool repeats(const struct doc *versions)
{
    for (uint32_t i = 0; i < versions->n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(definition_text(&versions->items[i], "name"),
                       definition_text(&versions->items[j], "name")))
                return true;
    return false;
}

static void check_versions(struct definition_check *c)
{
    uint32_t stored = 0;
    for (uint32_t i = 0; i < c->versions->n; i++) {
        stored += definition_on(&c->versions->items[i], "storage");
        check_version(c, i);
    }
    if (repeats(c->versions))
        definition_report(c, API_ERROR_INVALID, STR("spec.versions"), shown_versions(c),
                          STR("must contain unique version names"));
    if (stored != 1)
        definition_report(c, API_ERROR_INVALID, STR("spec.versions"), shown_versions(c),
                          STR("must have exactly one version marked as storage version"));
}

static bool any_status(const struct doc *versions)
{
    for (uint32_t i = 0; i < versions->n; i++)
        if (has_status(&versions->items[i]))
            return true;
    return false;
}

/* What all versions have in common, once. */
static void check_shared(struct definition_check *c)
{
    const struct doc *all = c->versions, *first = all->items;
    if (all->n == 0)
        return;
    if (is_shared(all, "schema"))
        check_schema(c, first, STR("spec.validation"), any_status(all));
    if (is_shared(all, "subresources"))
        definition_check_subresources(c, first, STR("spec.subresources"));
    if (is_shared(all, "additionalPrinterColumns"))
        definition_check_columns(c, first, STR("spec.additionalPrinterColumns"));
    if (is_shared(all, "selectableFields"))
        definition_check_selectable(
            c, first, STR("spec.selectableFields"),
            "may only be set when validations.schema is included");
}

static void check_schemas_there(struct definition_check *c)
{
    const struct doc *had = definition_items(c->old_spec, "versions");
    for (uint32_t i = 0; i < had->n; i++)
        if (!definition_member(definition_member(&had->items[i], "schema"),
                               "openAPIV3Schema"))
            return; /* it was so when nobody asked for them yet */
    for (uint32_t i = 0; i < c->versions->n; i++)
        if (!definition_member(definition_member(&c->versions->items[i], "schema"),
                               "openAPIV3Schema"))
            definition_required(
                c, definition_at(c, "spec.versions[%u].schema.openAPIV3Schema", i), "");
}

/* ---- names ---- */

static struct str lowered(struct definition_check *c, struct str s)
{
    char *p = (char *)arena_str(c->a, s).p;
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] |= 32;
    return (struct str){p, s.n};
}

static void check_name(struct definition_check *c, struct str path, struct str name,
                       bool mixed)
{
    struct str plain = mixed ? lowered(c, name) : name;
    struct str wrong = definition_problems(c, NAME_DNS1035_LABEL, plain);
    if (wrong.n)
        definition_invalid_text(
            c, path, name,
            definition_at(c, "%s%.*s",
                          mixed ? "may have mixed case, but should otherwise match: "
                                : "",
                          STR_ARG(wrong)));
}

static void check_name_list(struct definition_check *c, const struct doc *names,
                            const char *above, const char *key)
{
    const struct doc *list = definition_items(names, key);
    for (uint32_t i = 0; i < list->n; i++)
        check_name(c, definition_at(c, "%s.%s[%u]", above, key, i),
                   doc_str(&list->items[i]), false);
}

static void check_names(struct definition_check *c, const struct doc *names,
                        const char *above)
{
    static const struct {
        const char *key;
        bool mixed;
    } NAMES[] = {
        {"plural", false}, {"singular", false}, {"kind", true}, {"listKind", true}};
    struct str kind = definition_text(names, "kind"),
               list_kind = definition_text(names, "listKind");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct str name = definition_text(names, NAMES[i].key);
        if (name.n)
            check_name(c, definition_at(c, "%s.%s", above, NAMES[i].key), name,
                       NAMES[i].mixed);
    }
    check_name_list(c, names, above, "shortNames");
    if (kind.n && str_eq(kind, list_kind))
        definition_invalid_text(c, definition_at(c, "%s.listKind", above), list_kind,
                                STR("kind and listKind may not be the same"));
    check_name_list(c, names, above, "categories");
}

static void check_names_there(struct definition_check *c, const struct doc *names)
{
    static const char *const KEYS[] = {"plural", "singular", "kind", "listKind"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (!definition_text(names, KEYS[i]).n)
            definition_required(c, definition_at(c, "spec.names.%s", KEYS[i]), "");
}

/* ---- spec ---- */

static void check_group(struct definition_check *c)
{
    struct str group = definition_text(c->spec, "group");
    struct str wrong = definition_problems(c, NAME_DNS1123_SUBDOMAIN, group);
    if (group.n == 0)
        definition_required(c, STR("spec.group"), "");
    else if (wrong.n)
        definition_invalid_text(c, STR("spec.group"), group, wrong);
    else if (str_find_byte(group, '.', 0) == SIZE_MAX)
        definition_invalid_text(c, STR("spec.group"), group,
                                STR("should be a domain with at least one dot"));
}

static void check_scope(struct definition_check *c)
{
    struct str scope = definition_text(c->spec, "scope");
    if (scope.n == 0)
        definition_required(c, STR("spec.scope"), "");
    else if (!str_is(scope, "Cluster") && !str_is(scope, "Namespaced"))
        definition_report(c, API_ERROR_NOT_SUPPORTED, STR("spec.scope"),
                          definition_shown(c, definition_member(c->spec, "scope")),
                          STR("supported values: \"Cluster\", \"Namespaced\""));
}

static void check_spec(struct definition_check *c)
{
    const struct doc *names = definition_member(c->spec, "names");
    check_group(c);
    check_scope(c);
    check_schemas_there(c);
    check_versions(c);
    check_names_there(c, names);
    check_names(c, names, "spec.names");
    check_shared(c);
    definition_check_conversion(c);
}

static bool is_established(const struct doc *d)
{
    const struct doc *list =
        definition_items(definition_member(d, "status"), "conditions");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Established"))
            return doc_is_string(doc_get(&list->items[i], "status"), "True");
    return false;
}

static void check_unchanged(struct definition_check *c, const char *path)
{
    const struct doc *now = doc_path(c->spec, path), *then = doc_path(c->old_spec, path);
    struct str x = now && now->type == DOC_STRING ? doc_str(now) : STR("");
    struct str y = then && then->type == DOC_STRING ? doc_str(then) : STR("");
    if (!str_eq(x, y))
        definition_invalid_text(c, definition_at(c, "spec.%s", path), x,
                                STR("field is immutable"));
}

/* ---- status and the rest ---- */

static bool has_text(const struct doc *list, struct str s)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), s))
            return true;
    return false;
}

static void check_stored(struct definition_check *c, const struct doc *d)
{
    const struct doc *list =
        definition_items(definition_member(d, "status"), "storedVersions");
    struct str path = STR("status.storedVersions");
    if (list->n == 0) {
        definition_invalid(c, path, NULL, STR("must have at least one stored version"));
        return;
    }
    for (uint32_t i = 0; i < c->versions->n; i++) {
        struct str name = definition_text(&c->versions->items[i], "name");
        if (definition_on(&c->versions->items[i], "storage") && !has_text(list, name))
            definition_invalid(
                c, path, list,
                definition_at(c, "must have the storage version %.*s", STR_ARG(name)));
    }
    for (uint32_t i = 0; i < list->n; i++) {
        struct str v = doc_str(&list->items[i]);
        if (!definition_version(c->spec, v))
            definition_invalid_text(
                c, definition_at(c, "%.*s[%u]", STR_ARG(path), i), v,
                definition_at(c,
                              "missing from spec.versions; %.*s was previously a storage "
                              "version, and must remain in spec.versions until a storage "
                              "migration ensures no data remains persisted in %.*s and "
                              "removes %.*s from status.storedVersions",
                              STR_ARG(v), STR_ARG(v), STR_ARG(v)));
    }
}

static const char APPROVAL[] = "api-approved.kubernetes.io";

enum approval { APPROVAL_INVALID, APPROVED, BYPASSED, APPROVAL_MISSING };

static enum approval approval_of(const struct doc *d)
{
    struct str note = definition_text(doc_path(d, "metadata.annotations"), APPROVAL);
    size_t scheme = str_find(note, STR("://"));
    if (note.n == 0)
        return APPROVAL_MISSING;
    if (str_starts(note, STR("unapproved")))
        return BYPASSED;
    bool host = scheme != SIZE_MAX && scheme > 0 && scheme + 3 < note.n &&
                note.p[scheme + 3] != '/';
    return host ? APPROVED : APPROVAL_INVALID;
}

static bool is_of(struct str group, const char *domain)
{
    struct str end = str_from(domain);
    return str_eq(group, str_sub(end, 1, SIZE_MAX)) || str_ends(group, end);
}

static void check_approval(struct definition_check *c, const struct doc *d)
{
    struct str group = definition_text(c->spec, "group");
    enum approval now = approval_of(d);
    struct str path = definition_at(c, "metadata.annotations[%s]", APPROVAL);
    static const char SEE[] = "see https://github.com/kubernetes/enhancements/pull/1111";
    if (!is_of(group, ".k8s.io") && !is_of(group, ".kubernetes.io"))
        return;
    if (c->opts->old && approval_of(c->opts->old) == now)
        return;
    if (now == APPROVAL_MISSING)
        definition_required(
            c, path,
            definition_at(c, "protected groups must have approval annotation \"%s\", %s",
                          APPROVAL, SEE)
                .p);
    if (now == APPROVAL_INVALID)
        definition_invalid(
            c, path, doc_get(doc_path(d, "metadata.annotations"), APPROVAL),
            definition_at(
                c,
                "protected groups must have approval annotation \"%s\" with either a "
                "URL or a reason starting with \"unapproved\", %s",
                APPROVAL, SEE));
}

static void check_preserve(struct definition_check *c)
{
    if (definition_on(c->spec, "preserveUnknownFields") &&
        !definition_on(c->old_spec, "preserveUnknownFields"))
        definition_invalid(
            c, STR("spec.preserveUnknownFields"),
            definition_member(c->spec, "preserveUnknownFields"),
            STR("cannot set to true, set x-kubernetes-preserve-unknown-fields to true "
                "in spec.versions[*].schema instead"));
}

/* Plural and group are the name. */
static void check_own_name(struct definition_check *c, const struct doc *d)
{
    struct str name = definition_text(definition_member(d, "metadata"), "name"),
               group = definition_text(c->spec, "group"),
               plural = definition_text(definition_member(c->spec, "names"), "plural");
    if (!str_eq(name, definition_at(c, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group))))
        definition_invalid_text(c, STR("metadata.name"), name,
                                STR("must be spec.names.plural+\".\"+spec.group"));
}

void api_definition_validate(const struct doc *d, const struct api_definition_opts *opts,
                             struct arena *a, struct api_errors *errors)
{
    struct definition_check c = {.opts = opts,
                                 .a = a,
                                 .errors = errors,
                                 .spec = definition_member(d, "spec"),
                                 .old_spec = definition_member(opts->old, "spec")};
    c.versions = definition_items(c.spec, "versions");
    const struct doc *accepted =
        definition_member(definition_member(d, "status"), "acceptedNames");
    if (opts->status) {
        check_names(&c, accepted, "status.acceptedNames");
        return;
    }
    if (!opts->old)
        check_own_name(&c, d);
    check_spec(&c);
    if (is_established(opts->old)) {
        check_unchanged(&c, "scope");
        check_unchanged(&c, "names.kind");
    }
    if (opts->old) {
        check_unchanged(&c, "group");
        check_unchanged(&c, "names.plural");
    }
    check_names(&c, accepted, "status.acceptedNames");
    check_stored(&c, d);
    check_approval(&c, d);
    check_preserve(&c);
}
