/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What controllers read from documents, and how they change copies of them. A document
 * that lacks what is asked for gives what the API's zero value is.
 */
#ifndef DRAY_CONTROL_FIELDS_H
#define DRAY_CONTROL_FIELDS_H

#include "base/arena.h"
#include "doc/doc.h"

struct str field_text(const struct doc *d, const char *path); /* empty: none */
int64_t field_int(const struct doc *d, const char *path, int64_t otherwise);
bool field_bool(const struct doc *d, const char *path);
/* The length of a list or map; 0: none. */
uint32_t field_count(const struct doc *d, const char *path);
/* Seconds since 1970; false: there is no such time. */
bool field_time(const struct doc *d, const char *path, int64_t *seconds);
/* The list at a path, for loops; an empty one: there is none. */
const struct doc *field_list(const struct doc *d, const char *path);

struct str field_meta(const struct doc *object, const char *name); /* metadata.NAME */
struct str field_label(const struct doc *object, const char *key); /* p NULL: none */
struct str field_note(const struct doc *object, const char *key);  /* an annotation */
bool field_deleted(const struct doc *object);
int64_t field_created(const struct doc *object); /* 0: no time */

/* Entries of the map that a copy of an object has under metadata, which is made. */
void field_set_meta(struct arena *a, struct doc *object, const char *map, const char *key,
                    struct str value);
/* The member of a map, made as an empty map where there is none. */
struct doc *field_make(struct arena *a, struct doc *map, const char *key);
/* Zero is left out. */
void field_set_int(struct arena *a, struct doc *map, const char *key, int64_t value);

/* An int or a percentage of total, rounded up or down; absent: zero. */
int64_t field_scaled(const struct doc *int_or_percent, int64_t total, bool up);

#endif
