/* SPDX-License-Identifier: Apache-2.0 */
#include "server/custom/definition.h"

#include <string.h>

#include "base/quote.h"
#include "server/custom/custom.h"

static const char FINALIZER[] = "customresourcecleanup.apiextensions.k8s.io";
static const char APPROVAL[] = "api-approved.kubernetes.io";

const struct resource *definitions_resource(const struct server *s)
{
    return kinds_stored(s, "apiextensions.k8s.io", "customresourcedefinitions");
}

bool definition_is_one(const struct resource *res)
{
    return !res->custom && strcmp(res->main->group, "apiextensions.k8s.io") == 0;
}

/* ---- conditions ---- */

static const struct doc *condition_of(const struct doc *definition, const char *type)
{
    const struct doc *list = doc_path(definition, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), type))
            return &list->items[i];
    return NULL;
}

bool definition_is(const struct doc *definition, const char *condition)
{
    const struct doc *c = condition_of(definition, condition);
    return doc_is_string(doc_get(c, "status"), "True");
}

/* The member as a map, or list, of the definition's own. */
static struct doc *own(struct doc *map, const char *key, enum doc_type type,
                       struct arena *a)
{
    const struct doc *have = doc_get(map, key);
    struct doc made = type == DOC_MAP ? doc_make_map() : doc_make_list();
    return doc_set(a, map, key, have && have->type == type ? doc_dup(a, have) : made);
}

static void fill_condition(struct doc *c, const char *const texts[4], struct str time,
                           struct arena *a)
{
    static const char *const KEYS[] = {"type", "status", "reason", "message"};
    for (int i = 0; i < 4; i++)
        doc_set(a, c, KEYS[i], doc_make_string(a, str_from(texts[i])));
    doc_set(a, c, "lastTransitionTime", doc_make_string(a, time));
}

void definition_set_condition(struct doc *definition, const char *type,
                              const char *status, const char *reason, struct str message,
                              struct str now, struct arena *a)
{
    struct doc *state = own(definition, "status", DOC_MAP, a);
    struct doc *list = own(state, "conditions", DOC_LIST, a), *c = NULL;
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), type))
            c = &list->items[i];
    if (!c)
        c = doc_append(a, list, doc_make_map());
    struct str since = doc_get_text(c, "lastTransitionTime");
    bool same = since.n && doc_is_string(doc_get(c, "status"), status);
    const char *texts[] = {type, status, reason, arena_str(a, message).p};
    fill_condition(c, texts, same ? since : now, a);
}

/* ---- names ---- */

struct naming {
    const struct server *s;
    struct arena *a;
    const struct doc *wanted; /* spec.names */
    struct doc *accepted;     /* status.acceptedNames */
    struct str group, definition;
    const char *reason; /* of the last conflict; NULL: there is none */
    struct str message;
};

static void take_member(struct naming *n, const char *key)
{
    const struct doc *value = doc_get(n->wanted, key);
    if (value && value->type != DOC_NULL)
        doc_set(n->a, n->accepted, key, *value);
    else
        doc_remove(n->accepted, str_from(key));
}

static struct str in_use(struct naming *n, struct str name)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, name);
    struct str text = arena_printf(n->a, "%s is already in use", strbuf_cstr(&b));
    strbuf_release(&b);
    return text;
}

static bool is_taken(struct naming *n, bool of_kind, struct str name)
{
    return customs_name_taken(n->s, n->group, n->definition, of_kind, name);
}

static void name_one(struct naming *n, const char *key, bool of_kind, const char *reason)
{
    struct str want = doc_get_text(n->wanted, key), have = doc_get_text(n->accepted, key);
    if (!str_eq(want, have) && is_taken(n, of_kind, want)) {
        n->reason = reason;
        n->message = in_use(n, want);
    } else {
        take_member(n, key);
    }
}

static bool lists(const struct doc *list, const struct doc *item)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_equal(&list->items[i], item))
            return true;
    return false;
}

static void name_short(struct naming *n)
{
    const struct doc *want = doc_get(n->wanted, "shortNames"),
                     *have = doc_get(n->accepted, "shortNames");
    struct str all = STR("");
    unsigned taken = 0;
    for (uint32_t i = 0; want && want->type == DOC_LIST && i < want->n; i++) {
        const struct doc *one = &want->items[i];
        if (lists(have, one) || !is_taken(n, false, doc_str(one)))
            continue;
        all = arena_printf(n->a, "%.*s%s%.*s", STR_ARG(all), taken ? ", " : "",
                           STR_ARG(in_use(n, doc_str(one))));
        taken++;
    }
    if (taken == 0) {
        take_member(n, "shortNames");
        return;
    }
    n->reason = "ShortNamesConflict";
    n->message = taken > 1 ? arena_printf(n->a, "[%.*s]", STR_ARG(all)) : all;
}

static void name_all(struct naming *n)
{
    name_one(n, "plural", false, "PluralConflict");
    name_one(n, "singular", false, "SingularConflict");
    name_short(n);
    name_one(n, "kind", true, "KindConflict");
    name_one(n, "listKind", true, "ListKindConflict");
    take_member(n, "categories");
}

/* ---- groups that belong to the community ---- */

static bool is_of(struct str group, const char *domain)
{
    struct str end = str_from(domain);
    return str_eq(group, str_sub(end, 1, SIZE_MAX)) || str_ends(group, end);
}

static void note_approval(struct doc *d, struct str group, struct str now,
                          struct arena *a)
{
    struct str note = doc_get_text(doc_path(d, "metadata.annotations"), APPROVAL);
    struct strbuf b = STRBUF_INIT;
    if ((!is_of(group, ".k8s.io") && !is_of(group, ".kubernetes.io")) || note.n == 0)
        return;
    bool approved = !str_starts(note, STR("unapproved"));
    strbuf_add_quoted(&b, note);
    struct str text = approved ? arena_printf(a, "approved in %.*s", STR_ARG(note))
                               : arena_printf(a, "not approved: %s", strbuf_cstr(&b));
    strbuf_release(&b);
    definition_set_condition(
        d, "KubernetesAPIApprovalPolicyConformant", approved ? "True" : "False",
        approved ? "ApprovedAnnotation" : "UnapprovedAnnotation", text, now, a);
}

/* ---- all of it ---- */

static void establish(struct doc *d, bool accepted, struct str now, struct arena *a)
{
    if (definition_is(d, "Established"))
        return;
    if (accepted)
        definition_set_condition(d, "Established", "True", "InitialNamesAccepted",
                                 STR("the initial names have been accepted"), now, a);
    else
        definition_set_condition(d, "Established", "False", "NotAccepted",
                                 STR("not all names are accepted"), now, a);
}

bool definition_settle(const struct server *s, struct doc *definition, struct str now,
                       struct arena *a)
{
    struct doc before = doc_dup(a, definition);
    struct doc *state = own(definition, "status", DOC_MAP, a);
    struct naming n = {.s = s,
                       .a = a,
                       .wanted = doc_get(doc_get(&before, "spec"), "names"),
                       .accepted = own(state, "acceptedNames", DOC_MAP, a),
                       .definition = meta_text(&before, "name")};
    const struct doc *spec = doc_get(&before, "spec");
    n.group = doc_get_text(spec, "group");
    name_all(&n);
    if (n.reason)
        definition_set_condition(definition, "NamesAccepted", "False", n.reason,
                                 n.message, now, a);
    else
        definition_set_condition(definition, "NamesAccepted", "True", "NoConflicts",
                                 STR("no conflicts found"), now, a);
    establish(definition, !n.reason, now, a);
    note_approval(definition, n.group, now, a);
    return !doc_equal(&before, definition);
}

/* ---- deletion ---- */

bool definition_waits_cleanup(const struct doc *definition)
{
    const struct doc *list = doc_path(definition, "metadata.finalizers");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(&list->items[i], FINALIZER))
            return meta_text(definition, "deletionTimestamp").n > 0;
    return false;
}

void definition_mark_deleted(struct doc *definition, struct str now, struct arena *a)
{
    struct doc *meta = object_meta(definition);
    struct doc name = doc_make_string(a, str_from(FINALIZER));
    struct doc *list = own(meta, "finalizers", DOC_LIST, a);
    if (!lists(list, &name))
        doc_append(a, list, name);
    doc_set(a, meta, "deletionTimestamp", doc_make_string(a, now));
    definition_set_condition(
        definition, "Terminating", "True", "InstanceDeletionPending",
        STR("CustomResourceDefinition marked for deletion; CustomResource deletion will "
            "begin soon"),
        now, a);
}

void definition_drop_finalizer(struct doc *definition, struct arena *a)
{
    struct doc *meta = object_meta(definition), kept = doc_make_list();
    const struct doc *list = doc_get(meta, "finalizers");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (!doc_is_string(&list->items[i], FINALIZER))
            doc_append(a, &kept, list->items[i]);
    if (kept.n)
        doc_set(a, meta, "finalizers", kept);
    else
        doc_remove(meta, STR("finalizers"));
}
