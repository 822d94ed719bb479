/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of doc: the members of a map in an order of the caller's choice. */
#ifndef DRAY_DOC_TREE_H
#define DRAY_DOC_TREE_H

#include "doc/doc.h"

typedef int tree_key_cmp(struct str a, struct str b);

struct tree_order {
    const struct doc_member **v;
    uint32_t n;
    const struct doc_member *few[16];
};

/* Each key once: of equal ones the last member of the map. */
void tree_order_init(struct tree_order *o, const struct doc *map, tree_key_cmp *cmp);
void tree_order_fini(struct tree_order *o);

#endif
