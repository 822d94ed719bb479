/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of doc: what both readers need to grow a tree. Finished values wait on a stack
 * until their list or map ends, and then move into the arena as one array.
 */
#ifndef DRAY_DOC_BUILD_H
#define DRAY_DOC_BUILD_H

#include "doc/doc.h"

/* The way from the root to the value being read; lives on the reader's C stack. */
struct build_frame {
    const struct build_frame *up;
    const struct doc_member *member; /* whose value is read; NULL in a list */
    uint32_t index;                  /* of the item that is read */
    uint32_t depth;                  /* 1: the root's members or items */
};

static inline struct build_frame build_frame(const struct build_frame *up,
                                             const struct doc_member *member)
{
    return (struct build_frame){up, member, 0, up ? up->depth + 1 : 1};
}

struct build {
    struct arena *arena;
    struct doc_member *pending; /* items of lists have no key */
    size_t npending, pending_cap;
    struct doc_dup_key *dups;
    size_t ndups, dups_cap;
};

void build_init(struct build *b);
void build_fini(struct build *b);
/* Forgets the last tree. */
void build_begin(struct build *b, struct arena *a);

void build_push(struct build *b, const struct doc_member *m);
/* What was pushed since npending was from becomes a list or a map; notes the map's keys
 * that came twice. */
struct doc build_list(struct build *b, size_t from, uint32_t pos);
struct doc build_map(struct build *b, size_t from, uint32_t pos,
                     const struct build_frame *up);

/* By key; members of one array that have the same key stay in their order. */
void build_sort_members(const struct doc_member **v, size_t n);

/* Hands out the duplicate keys in source order, copied into the arena. */
void build_dups(struct build *b, struct doc_source *src);

#endif
