/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of doc: errors at places of a source, and paths to values, for all readers. */
#ifndef DRAY_DOC_SOURCE_H
#define DRAY_DOC_SOURCE_H

#include "doc/doc.h"

/* "NAME:LINE:COLUMN: message", as ERR_INVALID. Returns false. */
bool source_fail(const struct doc_source *src, uint32_t pos, struct err *e,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool source_failv(const struct doc_source *src, uint32_t pos, struct err *e,
                  const char *fmt, va_list ap) __attribute__((format(printf, 4, 0)));
/* Offsets have 32 bits: false, with an error, for a longer text. */
bool source_check_size(const struct doc_source *src, struct err *e);

enum { SOURCE_QUOTE_ROOM = 64 };
/* What stands at pos, quoted and cut for a message: "gpu-0", '}', byte 0xff. */
const char *source_quote(const struct doc_source *src, uint32_t pos,
                         char out[SOURCE_QUOTE_ROOM]);

/* A path to a value, piece by piece: "spec", ".devices", "[0]". */
void source_path_key(struct strbuf *path, struct str key);
void source_path_index(struct strbuf *path, uint32_t index);

#endif
