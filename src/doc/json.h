/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of doc: the C face of simdjson and of the C++ number conversions, and the
 * reader that builds trees on them. simdjson's first stage finds in one SIMD pass where
 * every token starts; the tree is built from these offsets, so each value has its place
 * in the source and each error names one.
 */
#ifndef DRAY_DOC_JSON_H
#define DRAY_DOC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/doc.h"

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

/* Where tokens start: brackets, colons, commas, opening quotes, first bytes of scalars. A
 * run of other bytes is one token up to white space or a token of these. */
struct json_index {
    const uint32_t *at; /* n offsets, ascending; at[n] is the text's length */
    uint32_t n;
    bool bad_utf8; /* some byte of the text is not UTF-8 */
    void *parser;  /* owned */
};

/* The text needs no padding. Release with json_index_fini whatever was returned. */
enum json_index_state json_index_init(struct json_index *ix, const char *text, size_t n);
void json_index_fini(struct json_index *ix);

/* Exact conversions that ask no locale. The text must be a JSON number; false when it is
 * too large. Too small gives zero, as in Go. */
bool json_to_double(const char *text, size_t n, double *out);
enum { JSON_DOUBLE_ROOM = 32 };
/* Shortest digits that read back the same, laid out as encoding/json does. Returns the
 * length; d is finite. */
size_t json_from_double(double d, char out[JSON_DOUBLE_ROOM]);

#ifdef __cplusplus
}
#else

/* Length of the JSON number that s starts with, 0 if none. */
size_t json_number_len(struct str s);

enum { JSON_KEYS = 512 };

/* A key seen before in this read; keys repeat, so one copy serves them all. */
struct json_key {
    const char *p;
    uint32_t n;
    uint32_t round;
};

/*
 * Reads values one after another. next counts tokens; the caller may move it. Values go
 * into the arena given to json_reader_begin, duplicate keys into dups.
 */
struct json_reader {
    const struct doc_source *src;
    struct json_index index;
    uint32_t next;
    struct arena *arena;
    struct err *err;
    char *bytes, *bytes_end; /* room for strings in the arena */
    struct doc_member *pending;
    size_t npending, pending_cap;
    struct doc_dup_key *dups;
    size_t ndups, dups_cap;
    struct json_key keys[JSON_KEYS];
    uint32_t round; /* of keys: entries of other rounds are void */
};

bool json_reader_init(struct json_reader *r, const struct doc_source *src, struct err *e);
void json_reader_fini(struct json_reader *r);
/* A new tree: its strings and keys share nothing with earlier ones. */
void json_reader_begin(struct json_reader *r, struct arena *a);
bool json_reader_value(struct json_reader *r, struct doc *out);
static inline bool json_reader_done(const struct json_reader *r)
{
    return r->next >= r->index.n;
}
/* The duplicate keys of this tree, copied into its arena. */
void json_reader_dups(struct json_reader *r, struct doc_source *src);

/* Pieces of a map or list, for those who do not want all of it at once. */
char json_reader_peek(const struct json_reader *r); /* 0 at the end */
bool json_reader_key(struct json_reader *r, struct str *key, uint32_t *pos);
/* After a member or item: *more is false when the closing bracket was taken. */
bool json_reader_more(struct json_reader *r, char closing, bool *more);
void json_reader_skip(struct json_reader *r); /* over one value, unchecked */

#endif
#endif
