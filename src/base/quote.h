/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quoted texts as Go's %q prints them, for messages that must equal upstream's.
 */
#ifndef DRAY_BASE_QUOTE_H
#define DRAY_BASE_QUOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Printable characters stand for themselves; \a \b \f \n \r \t \v \\ \"; bytes that are
 * no UTF-8 and control characters as \x7f, others as \u00ad and \U0001f8ff. */
void strbuf_add_quoted(struct strbuf *b, struct str s);
/* Letter, mark, number, punctuation, symbol or the ASCII space. */
bool rune_is_printable(uint32_t cp);

#endif
