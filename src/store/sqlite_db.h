/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the SQLite back end and what is done to them, over one connection, used
 * by one thread at a time.
 *
 * history is an undo log: a row a change, with what the key was before. Together with the
 * current rows it gives every change whole, an object's bytes are stored once per
 * version, a create writes them once, and forgetting removes a range of rows.
 */
#ifndef DRAY_STORE_SQLITE_DB_H
#define DRAY_STORE_SQLITE_DB_H

#include <sqlite3.h>

#include "store/queue.h"

enum db_statement {
    DB_BEGIN_WRITE,
    DB_BEGIN_READ,
    DB_COMMIT,
    DB_ROLLBACK,
    DB_GET_STATE,
    DB_SET_STATE,
    DB_HEAL,
    DB_FIND,
    DB_INSERT,
    DB_UPDATE,
    DB_DELETE,
    DB_REMEMBER,
    DB_OLDEST,
    DB_FORGET,
    DB_ALL,
    DB_SINCE,
    DB_NSTATEMENTS
};

/* The one row of the table state. */
struct db_state {
    uint64_t revision;      /* of the last change */
    uint64_t compacted;     /* history is known after this */
    uint64_t history_bytes; /* what its rows are charged for */
};

struct db {
    sqlite3 *sql;
    sqlite3_stmt *statements[DB_NSTATEMENTS];
    struct db_state state;     /* of this transaction */
    struct db_state committed; /* of the last that succeeded */
    bool full;                 /* the disk was, since the last db_rollback */
};

/* Opens, or makes, the file. On failure db needs no db_fini. */
bool db_init(struct db *db, const char *path, struct err *e);
void db_fini(struct db *db);

/* A transaction: begin, apply and forget, commit. After any failure db_rollback brings
 * back what was before db_begin. */
bool db_begin(struct db *db, struct err *e);
bool db_apply(struct db *db, struct request *r, int64_t now, struct err *e);
bool db_commit(struct db *db, struct err *e);
/* On a full disk it also moves the log into the database, as far as that has room, so
 * that the log's own is free again: for deletes, and for forgetting. */
void db_rollback(struct db *db);
/* After a commit that failed and was rolled back: its pages may lie complete in the log,
 * where a restart would find them. Writes over them. */
bool db_heal(struct db *db, struct err *e);

/* What history need not keep: up to a revision, made before a time, above a size. */
struct db_limits {
    uint64_t revision;
    int64_t before;
    uint64_t bytes;
};
/* Forgets at most so many rows. *oldest: when the oldest that is kept was made;
 * INT64_MAX: there is none; *more: there are others to forget. */
bool db_forget(struct db *db, const struct db_limits *limits, uint32_t most,
               int64_t *oldest, bool *more, struct err *e);

/* As store_snapshot and store_history, of what is committed. */
bool db_snapshot(struct db *db, store_each_object *each, void *ctx, uint64_t *revision,
                 struct err *e);
bool db_history(struct db *db, uint64_t after, store_each_change *each, void *ctx,
                struct err *e);

#endif
