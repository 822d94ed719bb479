/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map that outlives the process and the machine: key to one line of text, changes
 * appended to a file as they are made. A line of the file is
 *
 *     CRC-32 in hex, blank, "put" KEY VALUE or "del" KEY, line feed
 *
 * behind a first line that says what the file is, and its version. Behind the last line
 * there are zeros, room for more: a file that does not grow takes the disk half the time.
 * An end without a line feed, or with zeros in it, was being written when the machine
 * went down, and was never answered for: it is cut off. A line that is damaged otherwise
 * goes into NAME.damaged and into the complaints; the others stand. What a later version
 * may add (another word than put and del) is kept as it is.
 *
 * When most of the file is past it is written anew beside itself and renamed. Another
 * process may write to it as well, as long as both do so under one lock: journal_follow
 * picks up what it wrote.
 */
#ifndef DRAY_DRIVER_JOURNAL_H
#define DRAY_DRIVER_JOURNAL_H

#include "base/err.h"
#include "base/str.h"

enum {
    JOURNAL_KEY_MAX = 128,        /* bytes; no blank, no control character */
    JOURNAL_VALUE_MAX = 32 << 20, /* bytes; neither line feed nor zero */
    JOURNAL_FILE_MAX = 1 << 30,
};

struct journal;
struct journal_user {
    void *ctx;
    /* What was found in the file; value.p NULL: the key is gone. Texts are valid until
     * the key's next change. */
    void (*found)(void *ctx, struct str key, struct str value);
    void (*complain)(void *ctx, const char *text);
};

/* Makes the file when there is none. NULL: it cannot be used, or a newer version wrote
 * it (ERR_UNSUPPORTED). dir stays the caller's. */
struct journal *journal_open(const char *dir, const char *name,
                             const struct journal_user *user, struct err *e);
/* To look at while another writes: nothing is changed, and nothing may be put. A journal
 * that is not there is empty. */
struct journal *journal_peek(const char *dir, const char *name,
                             const struct journal_user *user, struct err *e);
void journal_close(struct journal *j); /* what was not written is lost; NULL is fine */

bool journal_follow(struct journal *j, struct err *e);
/* value.p NULL: not there. */
struct str journal_get(const struct journal *j, struct str key);
/* In memory; the file learns of it with the next write. */
void journal_put(struct journal *j, struct str key, struct str value);
void journal_del(struct journal *j, struct str key);

/* What was put survives the end of the process. */
bool journal_write(struct journal *j, struct err *e);
/* ... and of the machine. False: nobody knows what would be found then; the map stays as
 * it is in memory, and the next write or sync makes the file right from it. */
bool journal_sync(struct journal *j, struct err *e);
/* Something was put that a sync has not confirmed. */
bool journal_dirty(const struct journal *j);
/* NAME.damaged is there: what it holds may concern any key. */
bool journal_has_damage(const struct journal *j);

#endif
