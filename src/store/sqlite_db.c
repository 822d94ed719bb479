/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_db.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum { VERSION = 1, ROW_OVERHEAD = 32 };

static const char SETTINGS[] = "PRAGMA synchronous = FULL;"
                               "PRAGMA wal_autocheckpoint = 4096;"
                               "PRAGMA journal_size_limit = 67108864;"
                               "PRAGMA cache_size = -8192;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA trusted_schema = OFF;";

/* object has a rowid, so that an update finds its row again without the key, and values
 * stay out of the index. */
static const char SCHEMA[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE state (revision INTEGER NOT NULL, compacted INTEGER NOT NULL,"
    " history_bytes INTEGER NOT NULL, healed INTEGER NOT NULL);"
    "INSERT INTO state VALUES (1, 1, 0, 0);"
    "CREATE TABLE object (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,"
    " revision INTEGER NOT NULL, value BLOB NOT NULL);"
    "CREATE TABLE history (revision INTEGER PRIMARY KEY, made INTEGER NOT NULL,"
    " deleted INTEGER NOT NULL, key BLOB NOT NULL,"
    " previous_revision INTEGER NOT NULL, previous BLOB);"
    "PRAGMA user_version = 1;"
    "COMMIT;";

/* NOLINTBEGIN(bugprone-suspicious-missing-comma): two are written in two pieces */
static const char *const STATEMENTS[DB_NSTATEMENTS] = {
    [DB_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [DB_BEGIN_READ] = "BEGIN",
    [DB_COMMIT] = "COMMIT",
    [DB_ROLLBACK] = "ROLLBACK",
    [DB_GET_STATE] = "SELECT revision, compacted, history_bytes FROM state",
    [DB_SET_STATE] = "UPDATE state SET revision = ?1, compacted = ?2, history_bytes = ?3",
    [DB_HEAL] = "UPDATE state SET healed = healed + 1",
    [DB_FIND] = "SELECT id, revision, value FROM object WHERE key = ?1",
    [DB_INSERT] = "INSERT INTO object (key, revision, value) VALUES (?1, ?2, ?3)",
    [DB_UPDATE] = "UPDATE object SET revision = ?2, value = ?3 WHERE id = ?1",
    [DB_DELETE] = "DELETE FROM object WHERE id = ?1",
    [DB_REMEMBER] = "INSERT INTO history VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [DB_OLDEST] = "SELECT revision, made, length(key) + ifnull(length(previous), 0)"
                  " FROM history ORDER BY revision LIMIT ?1",
    [DB_FORGET] = "DELETE FROM history WHERE revision <= ?1",
    [DB_ALL] = "SELECT key, value, revision FROM object", /* page by page */
    [DB_SINCE] = "SELECT revision, deleted, key, previous_revision, previous"
                 " FROM history WHERE revision > ?1 ORDER BY revision DESC",
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */

/* ---- statements ---- */

static bool fail(struct db *db, const char *doing, struct err *e)
{
    int number = sqlite3_system_errno(db->sql), code = sqlite3_errcode(db->sql) & 0xff;
    bool io = code == SQLITE_IOERR && number != 0;
    db->full = db->full || code == SQLITE_FULL;
    return err_set(e, ERR_IO, "store: %s: %s%s%s", doing, sqlite3_errmsg(db->sql),
                   io ? ": " : "", io ? strerror(number) : "");
}

static void bind(sqlite3_stmt *st, int at, uint64_t n)
{
    sqlite3_bind_int64(st, at, (sqlite3_int64)n);
}

/* The bytes stay where they are until the statement is done; p NULL: an SQL NULL. */
static void bind_str(sqlite3_stmt *st, int at, struct str s)
{
    sqlite3_bind_blob64(st, at, s.p, s.n, SQLITE_STATIC);
}

static uint64_t column(sqlite3_stmt *st, int at)
{
    return (uint64_t)sqlite3_column_int64(st, at);
}

/* SQLite has no pointer for an empty blob; here one has. */
static struct str column_str(sqlite3_stmt *st, int at)
{
    const char *p = sqlite3_column_blob(st, at);
    return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(st, at)};
}

/* Runs a statement that gives no rows. */
static bool run(struct db *db, enum db_statement which, struct err *e)
{
    sqlite3_stmt *st = db->statements[which];
    bool ok = sqlite3_step(st) == SQLITE_DONE || fail(db, STATEMENTS[which], e);
    sqlite3_reset(st);
    return ok;
}

/* ---- opening ---- */

static bool execute(struct db *db, const char *sql, struct err *e)
{
    return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK ||
           fail(db, "opening", e);
}

/* The one value that a pragma answers, as text in buffer. */
static bool ask(struct db *db, const char *sql, char *buffer, size_t n, struct err *e)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &st, NULL) != SQLITE_OK)
        return fail(db, "opening", e);
    bool ok = sqlite3_step(st) == SQLITE_ROW || fail(db, "opening", e);
    if (ok)
        snprintf(buffer, n, "%s", (const char *)sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
    return ok;
}

static bool set_up(struct db *db, struct err *e)
{
    char answer[32];
    sqlite3_busy_timeout(db->sql, 5000); /* somebody may look in with another tool */
    if (!ask(db, "PRAGMA journal_mode = WAL", answer, sizeof answer, e))
        return false;
    if (strcmp(answer, "wal") != 0)
        return err_set(e, ERR_UNSUPPORTED,
                       "store: no write-ahead log on this file system");
    if (!execute(db, SETTINGS, e) ||
        !ask(db, "PRAGMA user_version", answer, sizeof answer, e))
        return false;
    if (strcmp(answer, "0") == 0)
        return execute(db, SCHEMA, e);
    if (strcmp(answer, "1") != 0)
        return err_set(e, ERR_UNSUPPORTED,
                       "store: made by a newer version (format %s, known is %d)", answer,
                       VERSION);
    return true;
}

static bool read_state(struct db *db, struct err *e)
{
    sqlite3_stmt *st = db->statements[DB_GET_STATE];
    bool ok = sqlite3_step(st) == SQLITE_ROW || fail(db, "reading its state", e);
    if (ok)
        db->state = (struct db_state){column(st, 0), column(st, 1), column(st, 2)};
    sqlite3_reset(st);
    return ok;
}

static bool prepare(struct db *db, struct err *e)
{
    for (int i = 0; i < DB_NSTATEMENTS; i++)
        if (sqlite3_prepare_v3(db->sql, STATEMENTS[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &db->statements[i], NULL) != SQLITE_OK)
            return fail(db, STATEMENTS[i], e);
    return true;
}

bool db_init(struct db *db, const char *path, struct err *e)
{
    *db = (struct db){0};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    bool ok = sqlite3_open_v2(path, &db->sql, flags, NULL) == SQLITE_OK;
    if (!db->sql)
        mem_exhausted();
    if (!ok)
        fail(db, path, e);
    if (ok && set_up(db, e) && prepare(db, e) && read_state(db, e)) {
        db->committed = db->state;
        return true;
    }
    db_fini(db);
    return false;
}

void db_fini(struct db *db)
{
    for (int i = 0; i < DB_NSTATEMENTS; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_close(db->sql);
    *db = (struct db){0};
}

/* ---- transactions ---- */

bool db_begin(struct db *db, struct err *e)
{
    db->state = db->committed;
    return run(db, DB_BEGIN_WRITE, e);
}

bool db_commit(struct db *db, struct err *e)
{
    sqlite3_stmt *st = db->statements[DB_SET_STATE];
    bind(st, 1, db->state.revision);
    bind(st, 2, db->state.compacted);
    bind(st, 3, db->state.history_bytes);
    if (!run(db, DB_SET_STATE, e) || !run(db, DB_COMMIT, e))
        return false;
    db->committed = db->state;
    return true;
}

void db_rollback(struct db *db)
{
    /* Some errors have rolled back already. */
    if (!sqlite3_get_autocommit(db->sql))
        run(db, DB_ROLLBACK, NULL);
    if (db->full)
        sqlite3_wal_checkpoint_v2(db->sql, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    db->full = false;
    db->state = db->committed;
}

bool db_heal(struct db *db, struct err *e)
{
    /* Bytes that stay the same would not be written. */
    if (run(db, DB_BEGIN_WRITE, e) && run(db, DB_HEAL, e) && run(db, DB_COMMIT, e))
        return true;
    db_rollback(db);
    return false;
}

/* What is under the key: its row, and into r its revision and, when the write may be,
 * its bytes. */
static bool look_up(struct db *db, struct request *r, uint64_t *id, struct err *e)
{
    sqlite3_stmt *st = db->statements[DB_FIND];
    bind_str(st, 1, r->write.key);
    int rc = sqlite3_step(st);
    bool ok = rc == SQLITE_ROW || rc == SQLITE_DONE;
    if (rc == SQLITE_ROW) {
        *id = column(st, 0);
        r->revision = column(st, 1);
    }
    r->answer = request_check(&r->write, r->revision);
    if (rc == SQLITE_ROW && r->answer == STORE_OK) {
        struct str value = column_str(st, 2);
        ok = sqlite3_errcode(db->sql) != SQLITE_NOMEM;
        r->previous_revision = r->revision;
        r->previous = mem_dup(value.p, value.n);
        r->previous_size = value.n;
    }
    if (!ok)
        fail(db, "looking a key up", e);
    sqlite3_reset(st);
    return ok;
}

static bool write_object(struct db *db, struct request *r, uint64_t id, struct err *e)
{
    bool there = r->previous_revision != 0;
    enum db_statement which = !r->write.value.p ? DB_DELETE
                              : there           ? DB_UPDATE
                                                : DB_INSERT;
    sqlite3_stmt *st = db->statements[which];
    if (there)
        bind(st, 1, id);
    else
        bind_str(st, 1, r->write.key);
    if (r->write.value.p) {
        bind(st, 2, r->revision);
        bind_str(st, 3, r->write.value);
    }
    return run(db, which, e);
}

static bool remember(struct db *db, struct request *r, int64_t now, struct err *e)
{
    sqlite3_stmt *st = db->statements[DB_REMEMBER];
    struct str previous = {r->previous, r->previous_size};
    bind(st, 1, r->revision);
    bind(st, 2, (uint64_t)now);
    bind(st, 3, !r->write.value.p);
    bind_str(st, 4, r->write.key);
    bind(st, 5, r->previous_revision);
    bind_str(st, 6, previous);
    db->state.history_bytes += ROW_OVERHEAD + r->write.key.n + previous.n;
    return run(db, DB_REMEMBER, e);
}

bool db_apply(struct db *db, struct request *r, int64_t now, struct err *e)
{
    uint64_t id = 0;
    if (r->answer == STORE_FAILED) /* refused at the door */
        return true;
    if (!look_up(db, r, &id, e))
        return false;
    if (r->answer != STORE_OK)
        return true;
    r->revision = ++db->state.revision;
    return write_object(db, r, id, e) && remember(db, r, now, e);
}

/* ---- forgetting ---- */

bool db_forget(struct db *db, const struct db_limits *limits, uint32_t most,
               int64_t *oldest, bool *more, struct err *e)
{
    sqlite3_stmt *st = db->statements[DB_OLDEST];
    uint64_t last = 0, bytes = db->state.history_bytes;
    int rc;
    *oldest = INT64_MAX;
    *more = false;
    bind(st, 1, (uint64_t)most + 1);
    for (uint32_t n = 0; (rc = sqlite3_step(st)) == SQLITE_ROW; n++) {
        uint64_t revision = column(st, 0);
        int64_t made = sqlite3_column_int64(st, 1);
        bool over = revision <= limits->revision || made < limits->before ||
                    bytes > limits->bytes;
        if (!over || n == most) {
            *more = over;
            *oldest = made;
            break;
        }
        last = revision;
        bytes -= ROW_OVERHEAD + column(st, 2);
    }
    bool ok = rc == SQLITE_ROW || rc == SQLITE_DONE || fail(db, "reading history", e);
    sqlite3_reset(st);
    if (!ok || last == 0)
        return ok;
    bind(db->statements[DB_FORGET], 1, last);
    db->state.compacted = last;
    db->state.history_bytes = bytes;
    return run(db, DB_FORGET, e);
}

/* ---- reading ---- */

/* What was read is not soon read again: its pages need not stay in memory. */
static bool end_read(struct db *db, bool ok)
{
    if (!sqlite3_get_autocommit(db->sql))
        run(db, DB_ROLLBACK, NULL);
    sqlite3_db_release_memory(db->sql);
    return ok;
}

bool db_snapshot(struct db *db, store_each_object *each, void *ctx, uint64_t *revision,
                 struct err *e)
{
    sqlite3_stmt *st = db->statements[DB_ALL];
    if (!run(db, DB_BEGIN_READ, e))
        return false;
    if (!read_state(db, e))
        return end_read(db, false);
    int rc;
    bool wanted = true;
    *revision = db->state.revision;
    while (wanted && (rc = sqlite3_step(st)) == SQLITE_ROW)
        wanted = each(ctx, column_str(st, 0), column_str(st, 1), column(st, 2));
    bool ok = wanted && (rc == SQLITE_DONE || fail(db, "reading objects", e));
    sqlite3_reset(st);
    return end_read(db, ok);
}

/* Changes read newest first, while the undo log is walked back from what is there now. */
struct past {
    struct db *db;
    struct arena arena;
    struct strmap later; /* key -> struct str *: its value before the change behind */
    VEC(struct store_change) changes;
};

/* The value that the key has now, for its newest change. */
static bool current_value(struct past *past, struct str key, struct str *value,
                          struct err *e)
{
    sqlite3_stmt *st = past->db->statements[DB_FIND];
    bind_str(st, 1, key);
    bool ok = sqlite3_step(st) == SQLITE_ROW || fail(past->db, "reading history", e);
    if (ok)
        *value = arena_str(&past->arena, column_str(st, 2));
    sqlite3_reset(st);
    return ok;
}

static bool past_add(struct past *past, sqlite3_stmt *st, struct err *e)
{
    struct store_change c = {
        .kind = column(st, 1) ? STORE_DELETE : STORE_PUT,
        .revision = column(st, 0),
        .key = arena_str(&past->arena, column_str(st, 2)),
        .previous_revision = column(st, 3),
    };
    c.created = c.previous_revision == 0;
    if (!c.created)
        c.previous = arena_str(&past->arena, column_str(st, 4));
    struct strmap_entry *later = strmap_find(&past->later, c.key);
    if (c.kind == STORE_DELETE)
        c.value = c.previous;
    else if (later)
        c.value = *(struct str *)later->value.ptr;
    else if (!current_value(past, c.key, &c.value, e))
        return false;
    struct str *before = ARENA_NEW(&past->arena, struct str);
    *before = c.previous;
    strmap_put(&past->later, c.key, NULL)->value.ptr = before;
    vec_push(&past->changes, c);
    return true;
}

static bool past_read(struct past *past, uint64_t after, struct err *e)
{
    struct db *db = past->db;
    if (!read_state(db, e))
        return false;
    if (after < db->state.compacted)
        return err_set(e, ERR_NOT_FOUND,
                       "changes after revision %" PRIu64 " are forgotten up to %" PRIu64,
                       after, db->state.compacted);
    sqlite3_stmt *st = db->statements[DB_SINCE];
    int rc;
    bool ok = true;
    bind(st, 1, after);
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW)
        ok = past_add(past, st, e);
    ok = ok && (rc == SQLITE_DONE || fail(db, "reading history", e));
    sqlite3_reset(st);
    return ok;
}

bool db_history(struct db *db, uint64_t after, store_each_change *each, void *ctx,
                struct err *e)
{
    struct past past = {.db = db};
    bool ok = run(db, DB_BEGIN_READ, e) && end_read(db, past_read(&past, after, e));
    for (size_t i = past.changes.n; ok && i-- > 0;)
        ok = each(ctx, &past.changes.v[i]);
    vec_release(&past.changes);
    strmap_release(&past.later);
    arena_fini(&past.arena);
    return ok;
}
