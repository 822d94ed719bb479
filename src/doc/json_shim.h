/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of doc: the C face of simdjson and of C++'s number conversions. simdjson's first
 * stage finds in one SIMD pass where every token starts; trees are built from these
 * offsets by json_read.c.
 */
#ifndef DRAY_DOC_JSON_SHIM_H
#define DRAY_DOC_JSON_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longest source: offsets are 32 bits wide and UINT32_MAX means "none". */
#define DOC_MAX_SOURCE ((size_t)UINT32_MAX - 64)

enum json_index_state {
    JSON_INDEX_OK,
    JSON_INDEX_EMPTY,
    JSON_INDEX_BAD_STRING, /* unclosed, or holds a control character */
    JSON_INDEX_NO_MEMORY,
};

/*
 * Where tokens start: brackets, colons, commas, opening quotes, first bytes of scalars. A
 * run of other bytes is one token up to white space or a token of these.
 *
 * A long text is looked at in windows, so that its index takes little memory and is read
 * while it is in the processor's cache. They end behind a line's end, which no string of
 * JSON holds; a text of one line is one window.
 */
struct json_index {
    const uint32_t *at; /* n offsets into the text, ascending: those of the window */
    uint32_t n;         /* 0 only when the text has no more */
    uint32_t from, to;  /* the window */
    bool bad_utf8;      /* some byte of the windows so far is not UTF-8 */
    const char *text;
    uint32_t text_n;
    void *parser; /* owned */
};

/* The first window. The text needs no padding. Release with json_index_fini whatever was
 * returned. */
enum json_index_state json_index_init(struct json_index *ix, const char *text, size_t n);
/* The window that starts at from, where another has started or ended. EMPTY: there are no
 * more tokens. */
enum json_index_state json_index_move(struct json_index *ix, uint32_t from);
void json_index_fini(struct json_index *ix);

/* Exact conversions that ask no locale. The text must be a JSON number; false when it is
 * too large. Too small gives zero, as in Go. */
bool json_to_double(const char *text, size_t n, double *out);
enum { JSON_DIGITS_ROOM = 24 };
/* The fewest digits that read back as d, a finite number, without its sign: d is
 * 0.DIGITS times ten to the *point. narrow: that read back as the float nearest to d.
 * Returns how many. */
int json_digits(double d, bool narrow, char out[JSON_DIGITS_ROOM], int *point);

#ifdef __cplusplus
}
#endif

#endif
