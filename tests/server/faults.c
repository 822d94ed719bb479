/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server whose files fail: the n-th operation of the folder, and the n-th of the
 * database, for every n. A start fails with a reason, and succeeds when the disk does; a
 * write that cannot be kept is answered as a failure and leaves nothing behind; what is
 * there is read all the while.
 *
 * The folder's own operations are wrapped by the linker (meson.build has their names).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/daemon.h"
#include "server/inner.h"
#include "store/shim.h"
#include "unit/unit.h"

/* ---- the folder's operations ---- */

static struct {
    uint64_t count, at; /* at 0: none fails */
    int error;
    bool forever, hit;
} plan;

static void fail_files_at(uint64_t n, int error, bool forever)
{
    plan.count = 0;
    plan.at = n;
    plan.error = error;
    plan.forever = forever;
    plan.hit = false;
}

static bool files_disarm(void)
{
    plan.at = 0;
    return plan.hit;
}

static bool fails(void)
{
    plan.count += plan.at != 0;
    bool now = plan.at && plan.count == plan.at;
    bool yes = now || (plan.at && plan.forever && plan.hit);
    plan.hit |= now;
    errno = yes ? plan.error : errno;
    return yes;
}

#define WRAP(type, name, params, args)                                                   \
    type __real_##name params;                                                           \
    type __wrap_##name params;                                                           \
    type __wrap_##name params                                                            \
    {                                                                                    \
        return fails() ? (type)-1 : __real_##name args;                                  \
    }
WRAP(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, flock, (int fd, int op), (fd, op))
WRAP(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
WRAP(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))

/* ---- a server in this process ---- */

struct site {
    struct net_loop *loop;
    struct server *server;
    char dir[64], socket[80];
};

static void site_init(struct site *s)
{
    *s = (struct site){.loop = net_loop_new(NULL)};
    snprintf(s->dir, sizeof s->dir, "faults-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->socket, sizeof s->socket, "%s/socket", s->dir);
}

/* false: it does not start, and says why. */
static bool site_start(struct site *s)
{
    struct err e = ERR_INIT;
    struct server_opts opts = SERVER_OPTS_INIT;
    opts.dir = s->dir;
    opts.listen = "127.0.0.1:0";
    opts.socket = s->socket;
    s->server = server_new(s->loop, &opts, &e);
    if (!s->server) {
        assert_int_not_equal(e.code, ERR_NONE);
        assert_true(err_text(&e)[0] != '\0');
    }
    err_release(&e);
    return s->server != NULL;
}

static void site_stop(struct site *s)
{
    if (s->server)
        server_free(s->server);
    s->server = NULL;
    net_loop_run_once(s->loop, false);
}

static void site_fini(struct site *s)
{
    site_stop(s);
    net_loop_free(s->loop);
    remove_tree(s->dir);
}

/* ---- requests ---- */

static bool is_whole(const struct strbuf *b)
{
    const char *end = b->n ? strstr(b->p, "\r\n\r\n") : NULL;
    const char *length = end ? strstr(b->p, "content-length: ") : NULL;
    return length && b->n - (size_t)(end + 4 - b->p) == strtoul(length + 16, NULL, 10);
}

/*
 * The descriptor at a number that no file gets. libuv closes by a system call of its own,
 * which the thread sanitizer does not see: a file that then had the number on another
 * thread would look like a race.
 */
static int moved(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
    assert_true(high >= 512);
    close(fd);
    return high;
}

/* The status; the answer's bytes are the caller's. */
static unsigned ask(struct site *s, const char *method, const char *path,
                    const char *body, struct strbuf *answer)
{
    struct strbuf b = STRBUF_INIT;
    char buf[8192];
    int fds[2];
    strbuf_addf(&b, "%s %s HTTP/1.1\r\nhost: x\r\ncontent-length: %zu\r\n\r\n%s", method,
                path, strlen(body), body);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_true(net_server_adopt(s->server->local, moved(fds[0])));
    assert_int_equal(send(fds[1], b.p, b.n, MSG_NOSIGNAL), (ssize_t)b.n);
    strbuf_release(&b);
    while (!is_whole(answer)) {
        struct pollfd p = {.fd = fds[1], .events = POLLIN};
        net_loop_run_once(s->loop, false);
        poll(&p, 1, 1);
        ssize_t n = recv(fds[1], buf, sizeof buf, MSG_DONTWAIT);
        assert_true(n != 0);
        strbuf_add(answer, buf, n > 0 ? (size_t)n : 0);
    }
    close(fds[1]);
    for (int i = 0; i < 3; i++)
        net_loop_run_once(s->loop, false);
    return (unsigned)strtoul(answer->p + sizeof "HTTP/1.1", NULL, 10);
}

#define PATH "/api/v1/namespaces/default/configmaps"

static unsigned get(struct site *s, const char *name, char value[16])
{
    char path[100];
    struct strbuf b = STRBUF_INIT;
    snprintf(path, sizeof path, PATH "/%s", name);
    unsigned status = ask(s, "GET", path, "", &b);
    const char *at = strstr(strbuf_cstr(&b), "\"v\":\"");
    snprintf(value, 16, "%s", "");
    if (at)
        snprintf(value, 16, "%.*s", (int)strcspn(at + 5, "\""), at + 5);
    strbuf_release(&b);
    return status;
}

/* What a write made, or left: a value, or "" for nothing. */
struct expected {
    char a[16], b[16];
};

static void check_reads(struct site *s, const struct expected *want)
{
    char value[16];
    assert_int_equal(get(s, "a", value), want->a[0] ? 200 : 404);
    assert_string_equal(value, want->a);
    assert_int_equal(get(s, "b", value), want->b[0] ? 200 : 404);
    assert_string_equal(value, want->b);
}

/* true: it was done. Whatever is no success is a Status that says so. */
static bool write_to(struct site *s, const char *method, const char *path,
                     const char *body)
{
    struct strbuf b = STRBUF_INIT;
    unsigned status = ask(s, method, path, body, &b);
    if (status >= 300) {
        assert_int_equal(status, 500);
        assert_non_null(strstr(b.p, "\"kind\":\"Status\""));
        assert_non_null(strstr(b.p, "\"status\":\"Failure\""));
    }
    strbuf_release(&b);
    return status < 300;
}

/* Makes, changes and deletes; after each, what is there is what was answered. */
static void work(struct site *s, struct expected *e, int n)
{
    char body[128], path[100], *of[] = {e->a, e->b};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "b" : "a";
        snprintf(path, sizeof path, PATH "/%s", name);
        snprintf(body, sizeof body,
                 "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"v\":\"%d\"}}", name, n);
        bool there = of[i][0] != '\0';
        if (write_to(s, there ? "PUT" : "POST", there ? path : PATH, body))
            snprintf(of[i], 16, "%d", n);
        check_reads(s, e);
    }
    if (n % 3 == 0 && e->a[0] && write_to(s, "DELETE", PATH "/a", ""))
        e->a[0] = '\0';
    check_reads(s, e);
}

/* ---- tests ---- */

struct mode {
    bool database, forever;
    int fault;     /* errno, or shim_fault */
    uint64_t step; /* of starts, which are slow */
};

static void arm(const struct mode *m, uint64_t n)
{
    if (m->database)
        shim_fail_at(n, (enum shim_fault)m->fault, m->forever);
    else
        fail_files_at(n, m->fault, m->forever);
}

static bool disarm(const struct mode *m)
{
    return m->database ? shim_disarm() : files_disarm();
}

/* The start on an empty folder, and once more on what that left. */
static bool start_fails(const struct mode *m, uint64_t n)
{
    struct site s;
    struct expected e = {"", ""};
    site_init(&s);
    arm(m, n);
    bool up = site_start(&s);
    if (up)
        work(&s, &e, 1);
    bool hit = disarm(m);
    site_stop(&s);
    assert_true(site_start(&s));
    check_reads(&s, &e);
    work(&s, &e, 2);
    assert_string_equal(e.b, "2");
    site_stop(&s);
    assert_true(site_start(&s));
    check_reads(&s, &e);
    site_fini(&s);
    return hit;
}

static void test_starts(void **state)
{
    const struct mode *m = *state;
    uint64_t n = 1;
    while (start_fails(m, n))
        n += m->step;
    print_message("# %d operations\n", (int)n - 1);
}

/* The same server all along: the disk fails for a while, and is well again. */
static void test_writes(void **state)
{
    const struct mode *m = *state;
    struct site s;
    struct expected e = {"", ""};
    site_init(&s);
    assert_true(site_start(&s));
    int round = 1;
    for (uint64_t n = 1;; n++) {
        arm(m, n);
        for (int i = 0; i < 3; i++)
            work(&s, &e, round++);
        bool hit = disarm(m);
        work(&s, &e, round);
        char want[16];
        snprintf(want, sizeof want, "%d", round++);
        assert_string_equal(e.b, want); /* well again */
        if (!hit)
            break;
    }
    site_stop(&s);
    assert_true(site_start(&s));
    check_reads(&s, &e);
    print_message("# %d operations\n", round / 4);
    site_fini(&s);
}

static const struct mode FILES = {false, false, EIO, 1},
                         FILES_FULL = {false, true, ENOSPC, 3},
                         DATABASE = {true, false, SHIM_IO_ERROR, 11},
                         DATABASE_FULL = {true, true, SHIM_DISK_FULL, 13};

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"start, a file fails", test_starts, NULL, NULL, (void *)&FILES},
        {"start, files fail for ever", test_starts, NULL, NULL, (void *)&FILES_FULL},
        {"start, the database fails", test_starts, NULL, NULL, (void *)&DATABASE},
        {"start, the disk is full", test_starts, NULL, NULL, (void *)&DATABASE_FULL},
        {"writes, the database fails", test_writes, NULL, NULL, (void *)&DATABASE},
        {"writes, the disk is full", test_writes, NULL, NULL, (void *)&DATABASE_FULL},
    };
    shim_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
