/* SPDX-License-Identifier: Apache-2.0 */
#include "control/labels.h"

#include "control/fields.h"

static bool is_one_of(struct str value, const struct doc *values)
{
    for (uint32_t i = 0; i < values->n; i++)
        if (values->items[i].type == DOC_STRING &&
            str_eq(doc_str(&values->items[i]), value))
            return true;
    return false;
}

static bool holds(const struct doc *requirement, const struct doc *labels)
{
    const struct doc *op = doc_get(requirement, "operator"),
                     *values = field_list(requirement, "values"),
                     *label = doc_get_str(labels, doc_get_text(requirement, "key"));
    struct str value = label && label->type == DOC_STRING ? doc_str(label) : STR_NONE;
    if (doc_is_string(op, "In"))
        return label && is_one_of(value, values);
    if (doc_is_string(op, "NotIn"))
        return !label || !is_one_of(value, values);
    if (doc_is_string(op, "Exists"))
        return label != NULL;
    return doc_is_string(op, "DoesNotExist") && !label;
}

bool labels_have(const struct doc *labels, const struct doc *wanted)
{
    for (uint32_t i = 0; wanted && wanted->type == DOC_MAP && i < wanted->n; i++) {
        const struct doc_member *m = &wanted->members[i];
        const struct doc *label = doc_get_str(labels, doc_key(m));
        if (!label || !doc_equal(label, &m->value))
            return false;
    }
    return true;
}

bool labels_match(const struct doc *selector, const struct doc *labels)
{
    const struct doc *more = field_list(selector, "matchExpressions");
    if (!selector || selector->type != DOC_MAP ||
        !labels_have(labels, doc_get(selector, "matchLabels")))
        return false;
    for (uint32_t i = 0; i < more->n; i++)
        if (!holds(&more->items[i], labels))
            return false;
    return true;
}

bool labels_match_object(const struct doc *selector, const struct doc *object)
{
    return labels_match(selector, doc_path(object, "metadata.labels"));
}

bool labels_select_all(const struct doc *selector)
{
    return selector && selector->type == DOC_MAP &&
           !field_count(selector, "matchLabels") &&
           !field_count(selector, "matchExpressions");
}
