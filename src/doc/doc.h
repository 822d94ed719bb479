/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One document tree for everything that is read: JSON and YAML, with the place in the
 * source that each value came from. A tree and all its strings live in one arena and are
 * immutable once built (builders below fill new trees).
 *
 * Maps keep source order and may hold a key twice: the reader reports duplicates through
 * doc_source.dups, doc_get answers with the last one, as encoding/json does.
 */
#ifndef DRAY_DOC_DOC_H
#define DRAY_DOC_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum doc_type {
    DOC_NULL,
    DOC_BOOL,
    DOC_NUMBER, /* its JSON text is kept: quantities and big numbers lose nothing */
    DOC_STRING,
    DOC_LIST,
    DOC_MAP,
};

/* How a YAML scalar was written; where a column inside it can be computed from. */
enum doc_style { DOC_PLAIN, DOC_QUOTED, DOC_DOUBLE_QUOTED, DOC_LITERAL, DOC_FOLDED };

struct doc_member;

struct doc {
    uint8_t type;  /* enum doc_type */
    uint8_t style; /* enum doc_style */
    uint16_t spare;
    uint32_t n;   /* bytes of a string or number, items of a list, members of a map */
    uint32_t pos; /* byte offset in the source, UINT32_MAX if made by hand */
    uint32_t cap; /* builders: room for items or members; below n: no more than n */
    union {
        bool b;
        const char *s; /* string, or the number's JSON text; NUL-terminated */
        struct doc *items;
        struct doc_member *members;
    };
};

struct doc_member {
    const char *key; /* NUL-terminated; equal keys of a source often share a pointer */
    uint32_t key_len;
    uint32_t key_pos;
    struct doc value;
};

static inline struct str doc_str(const struct doc *d)
{
    return (struct str){d->s, d->n};
}
static inline struct str doc_key(const struct doc_member *m)
{
    return (struct str){m->key, m->key_len};
}
static inline bool doc_is_string(const struct doc *d, const char *cstr)
{
    return d && d->type == DOC_STRING && str_is(doc_str(d), cstr);
}

/* Member of a map; NULL when d is NULL, no map, or has no such key. The value may be
 * null. */
const struct doc *doc_get(const struct doc *d, const char *key);
const struct doc *doc_get_str(const struct doc *d, struct str key);
/* "spec.devices.requests" from map to map. */
const struct doc *doc_path(const struct doc *d, const char *dotted);
/* Typed reads: false when absent, null or of another type. */
bool doc_get_bool(const struct doc *d, const char *key, bool *out);
bool doc_get_int64(const struct doc *d, const char *key, int64_t *out);
struct str doc_get_text(const struct doc *d, const char *key); /* STR_NONE if no string */
bool doc_int64(const struct doc *d,
               int64_t *out); /* false: fraction, exponent, too big */
bool doc_uint64(const struct doc *d, uint64_t *out);
bool doc_double(const struct doc *d, double *out);
const char *
doc_type_name(const struct doc *d); /* "string", "list", ... as users say it */
/* Semantic equality: numbers by value, maps without order. */
bool doc_equal(const struct doc *a, const struct doc *b);

/* Building. Values are copied into the arena where they are strings. */
struct doc doc_make_null(void);
struct doc doc_make_bool(bool b);
struct doc doc_make_int(struct arena *a, int64_t v);
struct doc doc_make_string(struct arena *a, struct str s);
struct doc doc_make_list(void);
struct doc doc_make_map(void);
struct doc *doc_append(struct arena *a, struct doc *list, struct doc item);
/* Sets or replaces. */
struct doc *doc_set(struct arena *a, struct doc *map, const char *key, struct doc value);
/* Sets or replaces with a string. */
void doc_set_text(struct arena *a, struct doc *map, const char *key, struct str text);
struct doc *doc_set_str(struct arena *a, struct doc *map, struct str key,
                        struct doc value);
/* For a key that is not there: takes the same time whatever the map's size. */
struct doc *doc_add_str(struct arena *a, struct doc *map, struct str key,
                        struct doc value);
bool doc_remove(struct doc *map, struct str key);         /* all members of this key */
struct doc doc_dup(struct arena *a, const struct doc *d); /* deep */

/* ---- Sources and positions ---- */

struct doc_dup_key {
    const char *path; /* "spec.devices.requests[0].name" */
    uint32_t pos;
};

struct doc_source {
    const char *name; /* file name, or "-" */
    struct str text;
    const struct doc_dup_key *dups; /* keys given twice in one map, in source order */
    size_t ndups;
    /* May be NULL: called now and then while JSON is read, with the offset before which
     * the text is not looked at for a while (a mapped text need not stay in memory). It
     * can be smaller than the last one. */
    void (*passed)(void *ctx, uint32_t pos);
    void *passed_ctx;
};

struct doc_place {
    uint32_t line, column; /* from 1; columns count characters */
};

/* Reads the text up to there. */
struct doc_place doc_place(const struct doc_source *src, uint32_t pos);
/* Place of byte offset inside the text of string d: exact for plain and quoted scalars of
 * one line and for literal ones; for others the scalar's own place. */
struct doc_place doc_place_in(const struct doc_source *src, const struct doc *d,
                              size_t offset);

/* ---- Readers. Errors are "NAME:LINE:COLUMN: what is wrong". ---- */

enum { DOC_MAX_DEPTH = 200 };

/*
 * One JSON value, nothing but white space after it. src->name and ->text are set by the
 * caller; text must stay alive while positions are asked for. As in encoding/json, half a
 * surrogate pair or a byte that is no UTF-8 becomes U+FFFD.
 */
bool doc_read_json(struct doc_source *src, struct arena *a, struct doc *out,
                   struct err *e);

/*
 * YAML as kubectl reads it (spec 2.14): a stream of documents, anchors, merge keys, the
 * boolean and number rules of its library; numbers get the JSON text that it gives them.
 * Empty documents are skipped. Stricter in two things: what kubectl would pass over in
 * silence behind the end of a document is an error; keys that become equal as strings (1
 * and "1") are duplicates.
 */
struct doc_list {
    struct doc *v;
    size_t n;
};
bool doc_read_yaml(struct doc_source *src, struct arena *a, struct doc_list *out,
                   struct err *e);
/* JSON when the text starts with {, also several values after one another, else YAML;
 * kubectl's own rule. As there, a text that starts like JSON but is none may still be
 * YAML, as a whole or behind its first value. */
bool doc_read(struct doc_source *src, struct arena *a, struct doc_list *out,
              struct err *e);

/*
 * Streaming of large inputs: calls each(ctx, object) for every object of a file; the
 * items of a List (kind ending in "List", member "items") one by one, of JSON never
 * holding more than one in memory. Items of a PodList that say no kind become Pods of the
 * list's apiVersion. The object lives in an arena that is reset after each call, and so
 * do src->dups, whose paths start at the object. Stops when each returns false (and then
 * returns false with the error that each set).
 */
typedef bool doc_each_fn(void *ctx, const struct doc_source *src,
                         const struct doc *object, struct err *e);
bool doc_stream(struct doc_source *src, doc_each_fn *each, void *ctx, struct err *e);

/* ---- Writers ---- */

enum doc_json_flags {
    DOC_JSON_COMPACT = 0,
    DOC_JSON_INDENT = 1, /* four spaces; kubectl -o json is INDENT | SORT | HTML */
    DOC_JSON_SORT = 2,   /* keys in byte order, each once: of equal ones the last */
    DOC_JSON_NARROW = 8, /* with INDENT: two spaces */
    DOC_JSON_HTML = 4,   /* <, > and & as \u003c and so on, as Go does unless told */
};
void doc_write_json(const struct doc *d, unsigned flags, struct strbuf *out);
/* As kubectl -o yaml, byte for byte: keys sorted, strings quoted only where they would
 * read as something else, long lines folded. Ends in a line feed. */
void doc_write_yaml(const struct doc *d, struct strbuf *out);

#endif
