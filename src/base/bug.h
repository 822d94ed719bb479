/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For what only a mistake in dray itself can bring about (a table that contradicts
 * itself, a case that cannot be): says so on stderr and aborts. Never for anything that
 * an input can cause; those are errors (base/err.h).
 */
#ifndef DRAY_BASE_BUG_H
#define DRAY_BASE_BUG_H

void bug(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
