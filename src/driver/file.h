/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the back end "file": what a file says, before it is looked what of it is
 * there. Texts of an entry may hold "{}", which stands for what the wildcards of its path
 * match, and "{path}" for the whole of it.
 */
#ifndef DRAY_DRIVER_FILE_H
#define DRAY_DRIVER_FILE_H

#include "driver/device.h"

enum {
    FILE_MAX_BYTES = 1 << 20,
    FILE_MAX_ENTRIES = 4096, /* and devices that they become */
};

struct file_entry {
    struct str name, path; /* path empty: nothing to be there */
    struct str missing;    /* effect of the taint while path is not there */
    struct str place;      /* "devices[2]", for messages */
    /* All but identity and health; edits without the node at path. */
    struct driver_device device;
};
struct file_table {
    struct file_entry *entries;
    const struct driver_counter_set *counters;
    uint32_t n, ncounters;
};

/* Texts live in a. Errors are "NAME:LINE:COLUMN: devices[0].path: ...". */
bool file_read(struct str text, const char *name, struct arena *a, struct file_table *out,
               struct err *e);

/* ---- places of a document (file_place.c) ---- */

struct file_reader {
    struct doc_source src;
    struct arena *a;
    struct err *e;
};
struct file_at { /* a value and the way to it */
    struct file_reader *r;
    const struct doc *d; /* NULL: it is not there, or null */
    struct str path;
};

struct file_at file_member(struct file_at at, const char *key);
struct file_at file_value(struct file_at at, const struct doc_member *m);
struct file_at file_item(struct file_at at, uint32_t i);
/* Always false. */
bool file_fail(struct file_at at, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A map with no other keys than these (their NULL ends them; no keys: any). */
bool file_is_map(struct file_at at, const char *const *keys);
bool file_is_list(struct file_at at);
/* A string that is not empty; or, where it is not there, what out was. */
bool file_text(struct file_at at, struct str *out);
bool file_bool(struct file_at at, bool *out);
bool file_int(struct file_at at, int64_t min, int64_t max, int64_t *out);
bool file_quantity(struct file_at at, struct str *out);
/* NULL-ended words, one of which a text must be; not there: what out was. */
bool file_word(struct file_at at, const char *const *words, struct str *out);
/* A list of texts. */
bool file_texts(struct file_at at, struct str **out, uint32_t *n);
/* The key of a member of a map that holds attributes or capacities: "[DOMAIN/]NAME". */
bool file_qualified(struct file_at at, struct str key);

/* ---- edits (file_edits.c) ---- */

bool file_edits(struct file_at at, struct cdi_edits *out);

#endif
