/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Informers as client-go has them: they list and watch, or watch with the state first,
 * resume after the last revision they saw, and begin anew on 410. What they saw is noted
 * down, to be held against the store's history when the server is dead.
 */
#ifndef DRAY_TESTS_SERVER_INFORMER_H
#define DRAY_TESTS_SERVER_INFORMER_H

#include "server/load.h"

enum note_kind {
    NOTE_BEGIN, /* the state as of a revision follows, NOTE_ITEMs */
    NOTE_ITEM,
    NOTE_EVENT,
    NOTE_BOOKMARK,
    NOTE_GONE, /* 410 to a watch after a revision */
};
struct note {
    enum note_kind kind;
    enum event_type type;
    uint32_t object;
    uint64_t revision;
    uint64_t floor; /* BEGIN: no older than this; GONE: the newest then */
    struct content content;
};

struct informer_kind {
    struct view view;
    bool stream;      /* the state comes as a watch's first events */
    bool lazy;        /* waits with resuming until much has happened */
    unsigned seconds; /* of a watch; 0: as long as it may */
};
extern const struct informer_kind INFORMERS[];
extern const uint32_t NINFORMERS;

struct informer {
    const struct informer_kind *kind;
    struct load *load;
    struct https_conn *conn;
    struct https_call *call; /* NULL: none */
    bool watching;           /* the call is a watch, else a list */
    bool synced;             /* `last` is a place in history */
    bool gone;
    uint64_t last, floor;
    struct strbuf line; /* of a watch, not complete yet */
    VEC(struct note) notes;
    VEC(struct note) first; /* of a watch that begins with the state */
    /* Judging goes on from here. */
    bool begun;
    uint64_t at; /* revision */
    uint64_t born_ns;
    uint64_t events, resumed, relisted;
};

void informer_init(struct informer *i, const struct informer_kind *kind, struct load *l);
void informer_fini(struct informer *i);
/* On a connection of the load's present server: lists, or goes on. */
void informer_start(struct informer *i, struct https_conn *c);
/* To be called now and then: watches that have ended go on. */
void informer_tend(struct informer *i);
/* The notes are what the history says; complete: nothing is missing at its end. Forgets
 * them. */
void informer_check(struct informer *i, const struct history *h, bool complete);
/* What NINFORMERS of them have all seen: history before it is of no use any more. */
uint64_t informers_oldest(const struct informer *all, const struct history *h);

#endif
