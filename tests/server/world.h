/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loaded server is judged by: a fixed set of objects, contents that tell whole
 * writes from parts of them, and the history that the server's store has in the end.
 */
#ifndef DRAY_TESTS_SERVER_WORLD_H
#define DRAY_TESTS_SERVER_WORLD_H

#include "base/vec.h"
#include "doc/doc.h"

enum { WRITERS = 64, OWN = 4, SHARED = 6, OBJECTS = WRITERS * OWN + SHARED };
enum { KINDS = 3, PHASES = 3 };

struct kind {
    const char *plural, *name, *version, *root; /* "/api/v1" */
    const char *registry;                       /* "/registry/core/configmaps/" */
    bool namespaced;
};
extern const struct kind KIND[KINDS];

/* Objects are numbers below OBJECTS. */
const struct kind *object_kind(uint32_t object);
const char *object_namespace(uint32_t object); /* NULL: of none */
/* "o-17"; false: not one of ours. */
bool object_of_name(struct str name, uint32_t *object);
/* "/api/v1/namespaces/default/configmaps[/o-17]" */
int object_path(uint32_t object, bool named, char *out, size_t size);

struct content {
    uint64_t n;     /* of the write, unlike all others */
    uint32_t phase; /* a label, below PHASES */
    bool cordoned;  /* spec.unschedulable of a node */
};
/* The object, or what is patched of it. */
void content_print(uint32_t object, const struct content *c, uint64_t revision,
                   struct strbuf *out);
/* An object of ours with its revision. false: somebody else's. Aborts the test when it
 * is not one whole write. */
bool content_read(const struct doc *d, uint32_t *object, uint64_t *revision,
                  struct content *out);

enum event_type { ADDED, MODIFIED, DELETED };
struct change {
    enum event_type type;
    uint32_t object;
    uint64_t revision, previous_revision;
    struct content now, before; /* now: of DELETED the last one */
};

struct history {
    VEC(struct change) all;
    uint64_t after; /* everything behind this revision */
    uint64_t revision;
    struct {
        bool there;
        uint64_t revision;
        struct content content;
    } base[OBJECTS]; /* as of `after` */
};
/* Adds what the store in a server's folder has behind h->revision; the server is dead. */
void history_read(struct history *h, const char *dir);
/* Forgets what was up to a revision. */
void history_settle(struct history *h, uint64_t revision);
void history_release(struct history *h);
/* The first change after a revision. */
size_t history_seek(const struct history *h, uint64_t revision);

/* A part of a kind that somebody watches. */
struct view {
    uint32_t kind;
    const char *namespace; /* NULL: all */
    const char *query;     /* "&labelSelector=...", or "" */
    bool (*selects)(uint32_t object, const struct content *c);
};
bool view_has(const struct view *v, uint32_t object, const struct content *c);
/* What a change is to the view's watcher; false: nothing. */
bool view_event(const struct view *v, const struct change *c, enum event_type *out);

#endif
