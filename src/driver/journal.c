/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/journal_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/mem.h"
#include "node/disk.h"

/* A file that is mostly past is written anew, but not so often that it would be felt, and
 * with all the room that it takes until the next time. */
enum { PAST_MIN = 1 << 20, ROOM = PAST_MIN + (64 << 10) };

static bool failed(const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %m", path);
}

/* ---- the map ---- */

static struct journal_entry *entry_of(const struct journal *j, struct str key)
{
    struct strmap_entry *at = strmap_find(&j->entries, key);
    return at ? at->value.ptr : NULL;
}

static size_t line_size(struct str key, struct str value)
{
    return sizeof "01234567 put  \n" - 1 + key.n + value.n;
}

static void entry_drop(struct journal *j, struct journal_entry *old)
{
    j->live -= line_size(old->key, old->value);
    strmap_remove(&j->entries, old->key);
    free(old);
}

/* One block: the keys of the map are the entries' own. */
static struct journal_entry *entry_new(struct str key, struct str value)
{
    struct journal_entry *x = mem_alloc(sizeof *x + key.n + value.n + 1);
    char *text = (char *)(x + 1);
    memcpy(text, key.p, key.n);
    memcpy(text + key.n, value.p, value.n);
    text[key.n + value.n] = '\0';
    x->key = (struct str){text, key.n};
    x->value = (struct str){text + key.n, value.n};
    return x;
}

void journal_set(struct journal *j, struct str key, struct str value)
{
    struct journal_entry *old = entry_of(j, key);
    struct journal_entry *x = value.p ? entry_new(key, value) : NULL;
    if (old)
        entry_drop(j, old);
    if (!x)
        return;
    strmap_put(&j->entries, x->key, NULL)->value.ptr = x;
    j->live += line_size(key, value);
}

struct str journal_get(const struct journal *j, struct str key)
{
    const struct journal_entry *x = entry_of(j, key);
    return x ? x->value : STR_NONE;
}

/* ---- lines ---- */

void journal_add_line(struct strbuf *out, struct str words)
{
    uLong crc = crc32(0, (const Bytef *)words.p, (uInt)words.n);
    strbuf_addf(out, "%08lx ", crc);
    strbuf_addstr(out, words);
    strbuf_addc(out, '\n');
}

static void add_put(struct journal *j, struct strbuf *out, struct str key,
                    struct str value)
{
    struct strbuf *b = &j->words;
    strbuf_clear(b);
    strbuf_adds(b, "put ");
    strbuf_addstr(b, key);
    strbuf_addc(b, ' ');
    strbuf_addstr(b, value);
    journal_add_line(out, strbuf_str(b));
}

void journal_put(struct journal *j, struct str key, struct str value)
{
    add_put(j, &j->pending, key, value);
    journal_set(j, key, value);
    j->dirty = true;
}

void journal_del(struct journal *j, struct str key)
{
    if (!entry_of(j, key))
        return;
    strbuf_clear(&j->words);
    strbuf_addf(&j->words, "del %.*s", STR_ARG(key));
    journal_add_line(&j->pending, strbuf_str(&j->words));
    journal_set(j, key, STR_NONE);
    j->dirty = true;
}

bool journal_dirty(const struct journal *j)
{
    return j->dirty;
}

/* ---- the file, anew ---- */

static void print_whole(struct journal *j, struct strbuf *out)
{
    strbuf_reserve(out, j->live + j->kept.n + 64);
    journal_add_line(out, STR(JOURNAL_HEADER));
    strbuf_addstr(out, strbuf_str(&j->kept));
    strmap_each(&j->entries, at)
    {
        const struct journal_entry *x = at->value.ptr;
        add_put(j, out, x->key, x->value);
    }
}

static void add_zeros(struct strbuf *b, size_t n)
{
    strbuf_reserve(b, n);
    memset(b->p + b->n, 0, n);
    b->n += n;
}

static void use_new(struct journal *j, int fd, uint64_t good, uint64_t size)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = fd;
    j->good = good;
    j->size = size;
    j->broken = j->dirty = false;
    strbuf_clear(&j->pending);
}

/* Holds what the map holds, on the disk. */
bool journal_rewrite(struct journal *j, struct err *e)
{
    struct strbuf text = STRBUF_INIT;
    print_whole(j, &text);
    size_t good = text.n;
    add_zeros(&text, ROOM + good);
    int fd = -1;
    bool placed = disk_write(j->path, strbuf_str(&text), 0600, e);
    bool ok = placed && disk_sync_dir(j->dir, e) &&
              ((fd = open(j->path, O_RDWR | O_CLOEXEC)) >= 0 || failed(j->path, e));
    if (ok)
        use_new(j, fd, good, text.n);
    else if (placed)
        j->broken = true; /* the open file is no longer the one of that name */
    strbuf_release(&text);
    return ok;
}

/* ---- writing ---- */

static int write_at(int fd, uint64_t at, struct str text)
{
    return lseek(fd, (off_t)at, SEEK_SET) < 0 ? -1 : disk_write_all(fd, text);
}

/* Room for so much more and for much behind it; without, the file grows. */
static void make_room(struct journal *j, uint64_t more)
{
    if (j->good + more <= j->size)
        return;
    struct strbuf zeros = STRBUF_INIT;
    add_zeros(&zeros, j->good + more - j->size + ROOM);
    if (write_at(j->fd, j->size, strbuf_str(&zeros)) == 0)
        j->size += zeros.n;
    strbuf_release(&zeros);
}

/* Behind the last good line and nowhere else: what a failure left there is cut off. */
static bool append(struct journal *j, struct err *e)
{
    make_room(j, j->pending.n);
    if (write_at(j->fd, j->good, strbuf_str(&j->pending)) == 0) {
        j->good += j->pending.n;
        j->size = j->size > j->good ? j->size : j->good;
        strbuf_clear(&j->pending);
        return true;
    }
    failed(j->path, e);
    j->broken = ftruncate(j->fd, (off_t)j->good) != 0;
    j->size = j->good;
    return false;
}

bool journal_write(struct journal *j, struct err *e)
{
    if (j->broken)
        return journal_rewrite(j, e);
    return j->pending.n == 0 || append(j, e);
}

static bool is_mostly_past(const struct journal *j)
{
    return j->good > PAST_MIN + 2 * (j->live + j->kept.n);
}

static bool sync_file(struct journal *j, struct err *e)
{
    if (!journal_write(j, e))
        return false;
    if (j->dirty && fdatasync(j->fd) != 0) {
        /* The system may have thrown the pages away and say yes the next time. */
        j->broken = true;
        return failed(j->path, e);
    }
    j->dirty = false;
    return true;
}

bool journal_sync(struct journal *j, struct err *e)
{
    if (!sync_file(j, e))
        return false;
    if (is_mostly_past(j))
        journal_rewrite(j, NULL); /* the next time, then */
    return true;
}

/* ---- ends ---- */

static struct journal *journal_new(const char *dir, const char *name,
                                   const struct journal_user *user)
{
    struct journal *j = mem_zalloc(sizeof *j);
    j->user = *user;
    j->fd = -1;
    j->dir = mem_dup(dir, strlen(dir));
    strbuf_addf(&j->words, "%s/%s", dir, name);
    j->path = strbuf_steal(&j->words);
    strbuf_addf(&j->words, "%s.damaged", j->path);
    j->damaged = strbuf_steal(&j->words);
    return j;
}

struct journal *journal_open(const char *dir, const char *name,
                             const struct journal_user *user, struct err *e)
{
    struct journal *j = journal_new(dir, name, user);
    if (journal_load(j, e))
        return j;
    journal_close(j);
    return NULL;
}

struct journal *journal_peek(const char *dir, const char *name,
                             const struct journal_user *user, struct err *e)
{
    struct journal *j = journal_new(dir, name, user);
    if (journal_look(j, e))
        return j;
    journal_close(j);
    return NULL;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    strmap_each(&j->entries, at) free(at->value.ptr);
    strmap_release(&j->entries);
    strbuf_release(&j->words);
    strbuf_release(&j->pending);
    strbuf_release(&j->kept);
    free(j->dir);
    free(j->path);
    free(j->damaged);
    free(j);
}

bool journal_has_damage(const struct journal *j)
{
    return access(j->damaged, F_OK) == 0;
}
