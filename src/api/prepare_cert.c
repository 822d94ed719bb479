/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for certificates: who asks is the server's word, not his own; nobody changes
 * what he asked for; a request is approved by way of one subresource and answered by
 * way of another.
 */
#include "api/prepare_inner.h"

void prepare_new_request(const struct api_prepare *p, struct doc *object,
                         const struct doc *old)
{
    static const char *const WHO[] = {"username", "uid", "groups", "extra"};
    struct doc *spec = prepare_map(p, object, "spec");
    (void)old;
    for (size_t i = 0; i < sizeof WHO / sizeof *WHO; i++)
        prepare_keep(p, spec, p->user, WHO[i]);
}

void prepare_request(const struct api_prepare *p, struct doc *object,
                     const struct doc *old)
{
    prepare_keep(p, object, old, "spec");
}

/* ---- conditions ---- */

static struct doc *conditions_of(struct doc *object)
{
    struct doc *status = api_edit_get(object, "status");
    struct doc *list = status ? api_edit_get(status, "conditions") : NULL;
    return list && list->type == DOC_LIST ? list : NULL;
}

static bool same_text(const struct doc *a, const struct doc *b, const char *key)
{
    return str_eq(doc_get_text(a, key), doc_get_text(b, key));
}

static const struct doc *find_like(const struct doc *list, const struct doc *c)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (same_text(&list->items[i], c, "type") &&
            same_text(&list->items[i], c, "status") &&
            doc_get_text(&list->items[i], "lastTransitionTime").n)
            return &list->items[i];
    return NULL;
}

static void set_times(const struct api_prepare *p, struct doc *object,
                      const struct doc *old)
{
    struct doc *list = conditions_of(object);
    const struct doc *was = doc_path(old, "status.conditions");
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct doc *c = &list->items[i];
        const struct doc *like = find_like(was, c);
        if (!doc_get_text(c, "lastUpdateTime").n)
            prepare_text(p, c, "lastUpdateTime", p->now);
        if (!doc_get_text(c, "lastTransitionTime").n)
            prepare_text(p, c, "lastTransitionTime",
                         like ? doc_get_text(like, "lastTransitionTime") : p->now);
    }
}

static uint32_t count_type(const struct doc *list, const char *type)
{
    uint32_t n = 0;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        n += doc_is_string(doc_get(&list->items[i], "type"), type);
    return n;
}

/* Who answers a request cannot approve or deny it. Where he adds or removes such a
 * condition all the same, validation refuses. */
static void keep_verdict(const struct api_prepare *p, struct doc *object,
                         const struct doc *old, const char *type)
{
    struct doc *list = conditions_of(object);
    const struct doc *was = doc_path(old, "status.conditions");
    if (!list || count_type(list, type) != count_type(was, type))
        return;
    for (uint32_t i = 0, k = 0; i < list->n; i++) {
        if (!doc_is_string(doc_get(&list->items[i], "type"), type))
            continue;
        while (!doc_is_string(doc_get(&was->items[k], "type"), type))
            k++;
        list->items[i] = doc_dup(p->a, &was->items[k++]);
    }
}

void prepare_request_status(const struct api_prepare *p, struct doc *object,
                            const struct doc *old)
{
    keep_verdict(p, object, old, "Approved");
    keep_verdict(p, object, old, "Denied");
    set_times(p, object, old);
}

void prepare_request_approval(const struct api_prepare *p, struct doc *object,
                              const struct doc *old)
{
    prepare_keep(p, object, old, "spec");
    set_times(p, object, old);
    const struct doc *list = conditions_of(object);
    struct doc verdict = list ? doc_dup(p->a, list) : doc_make_list();
    prepare_keep(p, object, old, "status");
    struct doc *status = prepare_map(p, object, "status");
    if (verdict.n)
        doc_set(p->a, status, "conditions", verdict);
    else
        doc_remove(status, STR("conditions"));
}
