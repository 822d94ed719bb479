/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in the queries of URLs. */
#ifndef DRAY_BASE_QUERY_H
#define DRAY_BASE_QUERY_H

#include "base/str.h"

/* As Go's url.QueryEscape: a space is "+". */
void query_escape(struct str value, struct strbuf *out);

#endif
