/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of a namespace that is being deleted. */
#include <stdlib.h>

#include "api/edit.h"
#include "api/timestamp.h"
#include "control/namespaces_inner.h"

static const struct condition {
    const char *type, *good_reason, *good_message, *bad_reason;
} CONDITIONS[] = {
    {"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
     "All resources successfully discovered", "DiscoveryFailed"},
    {"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
     "All legacy kube types successfully parsed", "GroupVersionParsingFailed"},
    {"NamespaceDeletionContentFailure", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization",
     "ContentDeletionFailed"},
    {"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
     "SomeResourcesRemain"},
    {"NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
     "All content-preserving finalizers finished", "SomeFinalizersRemain"},
};
enum { DISCOVERY, PARSING, CONTENT, RESOURCES, FINALIZERS, NCONDITIONS };

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* "BEGINNING a, b, c", sorted, so that the same things are the same text. */
static struct str join(const char *beginning, struct str *list, size_t n, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    qsort(list, n, sizeof *list, by_text);
    strbuf_adds(&b, beginning);
    for (size_t i = 0; i < n; i++)
        strbuf_addf(&b, "%s%.*s", i ? ", " : "", STR_ARG(list[i]));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static struct str join_left(const char *beginning, const char *verb,
                            const struct left *list, size_t n, struct arena *a)
{
    struct str *texts = ARENA_ARRAY(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        texts[i] = arena_printf(a, "%.*s %s %u resource instances", STR_ARG(list[i].what),
                                verb, list[i].n);
    return join(beginning, texts, n, a);
}

/* Empty: that is as it should be. */
static struct str bad_message(int which, const struct namespace_rest *r, struct arena *a)
{
    struct str text = STR_NONE;
    if (which == DISCOVERY && r->stale[0])
        text = arena_printf(a,
                            "Discovery failed for some groups: unable to retrieve the "
                            "complete list of server APIs: %s",
                            r->stale);
    if (which == CONTENT && r->errors.n)
        text =
            join(arena_printf(a, "Failed to delete all resource types, %zu remaining: ",
                              r->errors.n)
                     .p,
                 r->errors.v, r->errors.n, a);
    if (which == RESOURCES && r->resources.n)
        text = join_left("Some resources are remaining: ", "has", r->resources.v,
                         r->resources.n, a);
    if (which == FINALIZERS && r->finalizers.n)
        text = join_left("Some content in the namespace has finalizers remaining: ", "in",
                         r->finalizers.v, r->finalizers.n, a);
    return text;
}

static struct doc *find(struct doc *list, const char *type)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), type))
            return &list->items[i];
    return NULL;
}

static bool set_condition(struct doc *list, const struct condition *c, struct str bad,
                          int64_t now_s, struct arena *a)
{
    struct str status = bad.n ? STR("True") : STR("False"),
               reason = str_from(bad.n ? c->bad_reason : c->good_reason),
               message = bad.n ? bad : str_from(c->good_message);
    struct doc *d = find(list, c->type);
    if (d && str_eq(doc_get_text(d, "status"), status) &&
        str_eq(doc_get_text(d, "reason"), reason) &&
        str_eq(doc_get_text(d, "message"), message))
        return false;
    bool turned = !d || !str_eq(doc_get_text(d, "status"), status);
    if (!d)
        d = doc_append(a, list, doc_make_map());
    doc_set_text(a, d, "type", str_from(c->type));
    doc_set_text(a, d, "status", status);
    doc_set_text(a, d, "reason", reason);
    doc_set_text(a, d, "message", message);
    if (turned)
        doc_set_text(a, d, "lastTransitionTime", timestamp_print(now_s, 0, false, a));
    return true;
}

bool namespaces_set_conditions(struct doc *namespace, const struct namespace_rest *rest,
                               int64_t now_s, struct arena *a)
{
    struct doc *status = api_edit_get(namespace, "status");
    if (!status)
        status = doc_set(a, namespace, "status", doc_make_map());
    struct doc *list = api_edit_get(status, "conditions");
    if (!list)
        list = doc_set(a, status, "conditions", doc_make_list());
    bool changed = false;
    for (int i = 0; i < NCONDITIONS; i++)
        changed |= set_condition(list, &CONDITIONS[i], bad_message(i, rest, a), now_s, a);
    return changed;
}
