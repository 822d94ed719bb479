/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: "...".format([...]) with both texts in sight is checked when an
 * expression is compiled (spec 4.5).
 */
#ifndef DRAY_CEL_LIB_FORMAT_CHECK_H
#define DRAY_CEL_LIB_FORMAT_CHECK_H

#include "base/str.h"
#include "cel/ast.h"

/* True if node is no such call or a good one. Otherwise error gets the message and *at
 * the node it is about. x must be checked. */
bool cel_format_check(const struct cel_expr *x, const struct cel_ast *node,
                      const struct cel_ast **at, struct strbuf *error);

#endif
