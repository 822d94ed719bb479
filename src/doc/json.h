/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of doc: the reader that builds trees from the tokens that simdjson finds. Each
 * value has its place in the source, and each error names one.
 */
#ifndef DRAY_DOC_JSON_H
#define DRAY_DOC_JSON_H

#include "doc/build.h"
#include "doc/json_shim.h"

/* Length of the JSON number that s starts with, 0 if none. */
size_t json_number_len(struct str s);

enum { JSON_KEYS = 256 }; /* places by hash; of keys one less */

/* A key seen before in this read; keys repeat, so one copy serves them all. */
struct json_key {
    const char *p;
    uint32_t n;
    uint64_t first, last; /* its bytes at both ends */
    /* The key that came next in its map, and the first one of the maps in its value, when
     * they were last read: good guesses. */
    struct json_key *then, *inside;
};

/* Reads values one after another into the arena of build. */
struct json_reader {
    const struct doc_source *src;
    struct json_index index;
    /* OK as long as there may be more tokens: then the next one is in the window. */
    enum json_index_state state;
    uint32_t next;       /* token of the window */
    uint32_t last;       /* offset of the token before */
    struct build *build; /* the caller's */
    struct err *err;
    char *bytes, *bytes_end; /* room for strings in the arena */
    struct json_key *key;    /* whose value is read; NULL: it is none of keys */
    uint32_t nkeys;
    uint8_t places[JSON_KEYS];           /* by hash: the number in keys + 1; 0: none */
    struct json_key keys[JSON_KEYS - 1]; /* the first nkeys; what is behind is not set */
};

bool json_reader_init(struct json_reader *r, const struct doc_source *src,
                      struct build *b, struct err *e);
void json_reader_fini(struct json_reader *r);
/* To be called after build_begin: nothing is shared with what the last arena held. */
void json_reader_begin(struct json_reader *r);
bool json_reader_value(struct json_reader *r, struct doc *out);
/* No token is left, and the text is not broken there. */
static inline bool json_reader_done(const struct json_reader *r)
{
    return r->state == JSON_INDEX_EMPTY;
}
/* To the window that starts at from, or the first behind it that has a token. */
void json_reader_move(struct json_reader *r, uint32_t from);
/* Takes a token, which must be there. */
static inline uint32_t json_reader_take(struct json_reader *r)
{
    r->last = r->index.at[r->next++];
    if (r->next == r->index.n)
        json_reader_move(r, r->index.to);
    return r->last;
}

/* A token to come back to. */
struct json_mark {
    uint32_t from, next, last;
};
struct json_mark json_reader_mark(const struct json_reader *r);
void json_reader_back(struct json_reader *r, struct json_mark m);

/* Pieces of a map or list, for those who do not want all of it at once. */
static inline char json_reader_peek(const struct json_reader *r) /* 0 at the end */
{
    return r->state == JSON_INDEX_OK ? r->src->text.p[r->index.at[r->next]] : '\0';
}
bool json_reader_key(struct json_reader *r, struct str *key, uint32_t *pos);
/* After a member or item: *more is false when the closing bracket was taken. */
bool json_reader_more(struct json_reader *r, char closing, bool *more);
void json_reader_skip(struct json_reader *r); /* over one value, unchecked */

#endif
