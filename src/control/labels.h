/* SPDX-License-Identifier: Apache-2.0 */
/* LabelSelectors against the labels of objects. */
#ifndef DRAY_CONTROL_LABELS_H
#define DRAY_CONTROL_LABELS_H

#include "doc/doc.h"

/* An absent selector matches nothing, an empty one everything, one with an operator that
 * nobody knows nothing. labels may be NULL. */
bool labels_match(const struct doc *selector, const struct doc *labels);
bool labels_match_object(const struct doc *selector, const struct doc *object);
/* Whether the labels have all of those that are wanted. */
bool labels_have(const struct doc *labels, const struct doc *wanted);
/* A selector without any requirement; absent is not. */
bool labels_select_all(const struct doc *selector);

#endif
