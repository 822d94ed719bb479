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

enum { CRC_DIGITS = 8 };

/* What one pass over lines finds. */
struct pass {
    struct journal *j;
    struct strbuf bad; /* whole lines */
    uint32_t nbad;
};

static bool failed(const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %m", path);
}

/* ---- one line ---- */

/* The words behind the checksum, if it is theirs. */
static bool check_line(struct str line, struct str *words)
{
    uLong crc = 0;
    if (line.n <= CRC_DIGITS || line.p[CRC_DIGITS] != ' ')
        return false;
    for (size_t i = 0; i < CRC_DIGITS; i++) {
        int digit = str_hex_digit(line.p[i]);
        if (digit < 0)
            return false;
        crc = crc << 4 | (uLong)digit;
    }
    *words = str_sub(line, CRC_DIGITS + 1, line.n);
    return crc == crc32(0, (const Bytef *)words->p, (uInt)words->n);
}

static struct str next_word(struct str *rest)
{
    size_t blank = str_find_byte(*rest, ' ', 0);
    struct str word = str_sub(*rest, 0, blank);
    *rest = str_sub(*rest, blank == SIZE_MAX ? rest->n : blank + 1, rest->n);
    return word;
}

static void set_found(struct journal *j, struct str key, struct str value)
{
    journal_set(j, key, value);
    j->user.found(j->user.ctx, key, journal_get(j, key));
}

static void take_words(struct journal *j, struct str line, struct str words)
{
    struct str rest = words, op = next_word(&rest);
    if (str_is(op, JOURNAL_KIND))
        return; /* its version was looked at before */
    struct str key = next_word(&rest);
    if (str_is(op, "put") && key.n > 0) {
        set_found(j, key, rest);
    } else if (str_is(op, "del")) {
        set_found(j, key, STR_NONE);
    } else {
        strbuf_addstr(&j->kept, line);
        strbuf_addc(&j->kept, '\n');
    }
}

static bool has_zero(struct str line)
{
    return str_find_byte(line, '\0', 0) != SIZE_MAX;
}

/* A line that fails its checksum: with zeros in it, the disk may have taken a part of the
 * last write alone; then no good line is behind it. */
struct doubt {
    size_t from, bad; /* offsets in the text and in the bad lines: where it begins */
    uint32_t lines;
    bool open;
};

static void take_bad(struct pass *p, struct doubt *d, size_t at, struct str line)
{
    if (!d->open && has_zero(line))
        *d = (struct doubt){at, p->bad.n, p->nbad, true};
    strbuf_addstr(&p->bad, line);
    strbuf_addc(&p->bad, '\n');
    p->nbad++;
}

/* Every whole line of text; the number of their bytes. */
static size_t take_lines(struct pass *p, struct str text)
{
    struct doubt d = {0};
    size_t at = 0;
    for (size_t end; (end = str_find_byte(text, '\n', at)) != SIZE_MAX; at = end + 1) {
        struct str line = str_sub(text, at, end), words;
        if (check_line(line, &words)) {
            take_words(p->j, line, words);
            d.open = false;
        } else {
            take_bad(p, &d, at, line);
        }
    }
    if (!d.open)
        return at;
    p->bad.n = d.bad;
    p->nbad = d.lines;
    return d.from;
}

/* ---- the version ---- */

/* A newer version may mean something else by the same words: nothing is touched. */
static bool check_version(const struct journal *j, struct str text, struct err *e)
{
    struct str words, line = str_sub(text, 0, str_find_byte(text, '\n', 0));
    if (!check_line(line, &words) || !str_is(next_word(&words), JOURNAL_KIND))
        return true; /* damaged: the lines behind it speak for themselves */
    struct str version = next_word(&words);
    if (version.n == 1 && version.p[0] >= '0' && version.p[0] <= '0' + JOURNAL_VERSION)
        return true;
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: version %.*s was written by a newer driver, this one reads up to "
                   "%d",
                   j->path, STR_ARG(version), JOURNAL_VERSION);
}

/* ---- damage ---- */

static bool keep_bad(const struct journal *j, struct str bad, struct err *e)
{
    int fd = open(j->damaged, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool ok = (fd >= 0 && disk_write_all(fd, bad) == 0 && fsync(fd) == 0) ||
              failed(j->damaged, e);
    if (fd >= 0)
        close(fd);
    return ok && disk_sync_dir(j->dir, e);
}

/* Set aside first, and only then out of the file. */
static bool set_aside(struct pass *p, struct err *e)
{
    if (p->nbad == 0)
        return true;
    struct journal *j = p->j;
    if (!keep_bad(j, strbuf_str(&p->bad), e))
        return false;
    struct strbuf text = STRBUF_INIT;
    strbuf_addf(&text, "%s: %u damaged %s set aside in %s", j->path, p->nbad,
                p->nbad == 1 ? "entry was" : "entries were", j->damaged);
    j->user.complain(j->user.ctx, strbuf_cstr(&text));
    strbuf_release(&text);
    return journal_rewrite(j, e);
}

/* ---- the file ---- */

static bool read_from(const struct journal *j, uint64_t from, uint64_t to,
                      struct strbuf *out, struct err *e)
{
    if (to > JOURNAL_FILE_MAX)
        return err_set(e, ERR_LIMIT, "%s: is larger than %d bytes", j->path,
                       JOURNAL_FILE_MAX);
    strbuf_reserve(out, to - from);
    while (from < to) {
        ssize_t n = pread(j->fd, out->p + out->n, to - from, (off_t)from);
        if (n < 0 && errno != EINTR)
            return failed(j->path, e);
        if (n == 0)
            break;
        out->n += n > 0 ? (size_t)n : 0;
        from += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

static bool is_zeros(struct str s)
{
    return s.n == 0 || (s.p[0] == '\0' && memcmp(s.p, s.p + 1, s.n - 1) == 0);
}

/* Nothing but room behind the last good line. */
static bool cut_rest(struct journal *j, struct str rest, struct err *e)
{
    if (is_zeros(rest))
        return true;
    j->size = j->good;
    return ftruncate(j->fd, (off_t)j->good) == 0 || failed(j->path, e);
}

/* Lines from where the last pass ended. */
static bool take_tail(struct journal *j, uint64_t size, struct err *e)
{
    struct pass p = {.j = j, .bad = STRBUF_INIT};
    struct strbuf b = STRBUF_INIT;
    bool ok = read_from(j, j->good, size, &b, e) &&
              (j->good > 0 || check_version(j, strbuf_str(&b), e));
    if (ok) {
        size_t n = take_lines(&p, strbuf_str(&b));
        j->good += n;
        j->size = size;
        ok = cut_rest(j, str_sub(strbuf_str(&b), n, b.n), e) && set_aside(&p, e);
    }
    strbuf_release(&b);
    strbuf_release(&p.bad);
    return ok;
}

static void forget(struct journal *j)
{
    strmap_each(&j->entries, at)
    {
        struct journal_entry *x = at->value.ptr;
        j->user.found(j->user.ctx, x->key, STR_NONE);
        journal_set(j, x->key, STR_NONE);
    }
    strbuf_clear(&j->kept);
    j->good = 0;
}

/* What this process has put and not written is newer than the file. */
static void take_pending(struct journal *j)
{
    struct pass p = {.j = j, .bad = STRBUF_INIT};
    take_lines(&p, strbuf_str(&j->pending));
    strbuf_release(&p.bad);
}

bool journal_load(struct journal *j, struct err *e)
{
    struct stat st;
    if (j->fd >= 0)
        close(j->fd);
    j->fd = open(j->path, O_RDWR | O_CLOEXEC);
    if (j->fd < 0)
        return errno == ENOENT ? journal_rewrite(j, e) : failed(j->path, e);
    if (fstat(j->fd, &st) != 0)
        return failed(j->path, e);
    forget(j);
    if (!take_tail(j, (uint64_t)st.st_size, e))
        return false;
    take_pending(j);
    return j->good > 0 || journal_rewrite(j, e);
}

/* Another process may have added to the file, or put another in its place. */
bool journal_follow(struct journal *j, struct err *e)
{
    struct stat here, there;
    if (j->fd < 0) /* it could not be opened the last time */
        return journal_load(j, e);
    if (fstat(j->fd, &here) != 0)
        return failed(j->path, e);
    bool same = stat(j->path, &there) == 0 && there.st_ino == here.st_ino &&
                there.st_dev == here.st_dev;
    uint64_t size = (uint64_t)here.st_size;
    if (!same || size < j->good)
        return journal_load(j, e);
    char next = '\0';
    if (pread(j->fd, &next, 1, (off_t)j->good) < 0)
        return failed(j->path, e);
    j->size = size;
    return next == '\0' || take_tail(j, size, e);
}

/* ---- beside the one who writes ---- */

bool journal_look(struct journal *j, struct err *e)
{
    struct stat st;
    j->fd = open(j->path, O_RDONLY | O_CLOEXEC);
    if (j->fd < 0)
        return errno == ENOENT || failed(j->path, e);
    if (fstat(j->fd, &st) != 0)
        return failed(j->path, e);
    struct pass p = {.j = j, .bad = STRBUF_INIT};
    struct strbuf text = STRBUF_INIT;
    bool ok = read_from(j, 0, (uint64_t)st.st_size, &text, e) &&
              check_version(j, strbuf_str(&text), e);
    if (ok)
        take_lines(&p, strbuf_str(&text));
    strbuf_release(&text);
    strbuf_release(&p.bad);
    return ok;
}
