/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever comes to the API server, over a connection of its own for each request: every
 * answer is an object of the form that it says it has, failures are Statuses, and what is
 * stored afterwards decodes again, in JSON and in protobuf.
 *
 * An input is requests, separated by lines of "%%":
 *
 *     POST /api/v1/namespaces/default/configmaps?dryRun=All
 *     content-type: application/json
 *
 *     {"metadata":{"name":"a"}}
 *
 * The server keeps its objects in memory and is what it was at the start of each input.
 */
#include <fcntl.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/canonical.h"
#include "api/decode.h"
#include "api/proto.h"
#include "fuzz/fuzz.h"
#include "server/inner.h"

enum {
    MAX_REQUESTS = 24,
    MAX_BODY = 64 * 1024,
    MAX_IDLE = 4, /* rounds of the loop in which nothing comes: the answer goes on */
};

static struct net_loop *loop;
static struct server *server;
static char dir[] = "/tmp/fuzz-api-XXXXXX";

/* ---- the world at the start ---- */

struct base {
    struct strmap values; /* of keys: struct str * */
    struct arena arena;
    unsigned writes; /* under way */
};
static struct base base;

static bool keep(void *ctx, struct str key, struct str value, uint64_t revision)
{
    struct str *copy = ARENA_NEW(&base.arena, struct str);
    *copy = arena_str(&base.arena, value);
    strmap_put(&base.values, arena_str(&base.arena, key), NULL)->value.ptr = copy;
    return true;
}

static void written(void *ctx, enum store_answer answer, uint64_t revision,
                    const struct err *e)
{
    base.writes--;
}

static void put_back(struct str key, struct str value)
{
    base.writes++;
    store_submit(server->store,
                 &(struct store_write){
                     .key = key, .value = value, .expect = STORE_ANY, .done = written});
}

struct differences {
    struct strmap seen;
    struct arena arena;
    VEC(struct str) added, changed;
};

static bool compare(void *ctx, struct str key, struct str value, uint64_t revision)
{
    struct differences *d = ctx;
    struct strmap_entry *was = strmap_find(&base.values, key);
    struct str copy = arena_str(&d->arena, key);
    strmap_put(&d->seen, copy, NULL);
    if (!was)
        vec_push(&d->added, copy);
    else if (!str_eq(*(struct str *)was->value.ptr, value))
        vec_push(&d->changed, copy);
    return true;
}

static void restore(void)
{
    struct differences d = {0};
    uint64_t revision;
    FUZZ_CHECK(store_snapshot(server->store, compare, &d, &revision, NULL));
    for (size_t i = 0; i < d.added.n; i++)
        put_back(d.added.v[i], STR_NONE);
    strmap_each(&base.values, e)
    {
        if (!strmap_find(&d.seen, e->key))
            vec_push(&d.changed, e->key);
    }
    for (size_t i = 0; i < d.changed.n; i++)
        put_back(d.changed.v[i],
                 *(struct str *)strmap_find(&base.values, d.changed.v[i])->value.ptr);
    while (base.writes > 0)
        net_loop_run_once(loop, true);
    cache_compact(server->cache, cache_revision(server->cache));
    vec_release(&d.added);
    vec_release(&d.changed);
    strmap_release(&d.seen);
    arena_fini(&d.arena);
}

static void set_up(void)
{
    char path[64];
    uint64_t revision;
    struct err e = ERR_INIT;
    struct server_opts opts = SERVER_OPTS_INIT;
    FUZZ_CHECK(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/socket", dir);
    opts.dir = dir;
    opts.listen = "127.0.0.1:0";
    opts.store = "memory:";
    opts.socket = path;
    loop = net_loop_new(NULL);
    server = server_new(loop, &opts, &e);
    if (!server)
        fprintf(stderr, "%s\n", err_text(&e));
    FUZZ_CHECK(server);
    for (int i = 0; i < 10; i++)
        net_loop_run_once(loop, false);
    FUZZ_CHECK(store_snapshot(server->store, keep, NULL, &revision, NULL));
}

/* ---- requests ---- */

/* Cuts off the text before a mark; what follows it stays. */
static struct str cut(struct str *s, struct str mark)
{
    size_t at = str_find(*s, mark);
    struct str head = str_sub(*s, 0, at);
    *s = at == SIZE_MAX ? STR("") : str_sub(*s, at + mark.n, SIZE_MAX);
    return head;
}

/* What leaves the machine. */
static bool is_relayed(struct str target)
{
    static const char *const PARTS[] = {"proxy", "log", "exec", "attach", "portforward"};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (str_find(target, str_from(PARTS[i])) != SIZE_MAX)
            return true;
    return str_find_byte(target, '%', 0) != SIZE_MAX &&
           str_find(target, STR("/%")) != SIZE_MAX;
}

static bool is_of_connection(struct str line)
{
    static const char *const NAMES[] = {
        "content-length", "transfer-encoding", "connection", "upgrade", "expect", "host"};
    struct str name = str_trim(str_sub(line, 0, str_find_byte(line, ':', 0)));
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (name.n == strlen(NAMES[i]) && strncasecmp(name.p, NAMES[i], name.n) == 0)
            return true;
    return str_find_byte(line, ':', 0) == SIZE_MAX || name.n == 0;
}

/* false: nothing that can be sent. */
static bool print_request(struct str text, struct strbuf *out)
{
    struct str line = cut(&text, STR("\n")), method = cut(&line, STR(" "));
    if (method.n == 0 || line.n == 0 || is_relayed(line))
        return false;
    strbuf_addf(out, "%.*s %.*s HTTP/1.1\r\nhost: x\r\n", STR_ARG(method), STR_ARG(line));
    while (text.n > 0 && (line = cut(&text, STR("\n"))).n > 0)
        if (!is_of_connection(line))
            strbuf_addf(out, "%.*s\r\n", STR_ARG(line));
    if (text.n > MAX_BODY)
        text.n = MAX_BODY;
    strbuf_addf(out, "content-length: %zu\r\n\r\n", text.n);
    strbuf_addstr(out, text);
    return true;
}

/* ---- answers ---- */

struct answer {
    unsigned status;
    struct str type, body;
    bool whole;
};

static struct str header(struct str head, const char *name)
{
    while (head.n > 0) {
        struct str line = cut(&head, STR("\r\n")), key = cut(&line, STR(":"));
        if (str_is(key, name))
            return str_trim(line);
    }
    return STR_NONE;
}

/* Puts the chunks together, in place; whole: the last one is there. */
static struct str join_chunks(struct str s, bool *whole)
{
    char *out = (char *)s.p;
    size_t n = 0;
    while (s.n > 0) {
        struct str size = cut(&s, STR("\r\n"));
        size_t left = strtoul(size.p, NULL, 16);
        *whole = left == 0 && size.n > 0;
        if (*whole || left + 2 > s.n)
            break;
        memmove(out + n, s.p, left);
        n += left;
        s = str_sub(s, left + 2, SIZE_MAX);
    }
    return (struct str){out, n};
}

static bool split_answer(struct strbuf *b, struct answer *a)
{
    struct str rest = strbuf_str(b), head = cut(&rest, STR("\r\n\r\n"));
    if (rest.p == NULL || str_find(strbuf_str(b), STR("\r\n\r\n")) == SIZE_MAX)
        return false;
    struct str first = cut(&head, STR("\r\n"));
    cut(&first, STR(" "));
    a->status = (unsigned)strtoul(first.p, NULL, 10);
    a->type = header(head, "content-type");
    struct str length = header(head, "content-length");
    if (length.n) {
        a->whole = strtoul(length.p, NULL, 10) == rest.n;
        a->body = rest;
    } else if (a->status == 204 || a->status == 304) {
        a->whole = true;
    } else {
        a->body = rest;
    }
    return true;
}

static void check_failure(const struct answer *a, const struct doc *d)
{
    int64_t code = 0;
    FUZZ_CHECK(str_is(doc_get_text(d, "kind"), "Status"));
    FUZZ_CHECK(str_is(doc_get_text(d, "apiVersion"), "v1"));
    FUZZ_CHECK(str_is(doc_get_text(d, "status"), "Failure"));
    FUZZ_CHECK(doc_get_int64(d, "code", &code) && code == a->status);
    FUZZ_CHECK(doc_get_text(d, "message").p != NULL);
}

static bool read_body(const struct answer *a, struct arena *arena, struct doc *out)
{
    struct doc_source src = {.name = "answer", .text = a->body};
    struct doc_list docs = {0};
    if (str_starts(a->type, STR("application/json")))
        return doc_read_json(&src, arena, out, NULL);
    if (str_starts(a->type, STR("application/yaml"))) {
        bool ok = doc_read_yaml(&src, arena, &docs, NULL) && docs.n == 1;
        *out = ok ? docs.v[0] : doc_make_null();
        return ok;
    }
    return api_proto_is(a->body) && api_proto_decode(a->body, arena, out, NULL);
}

static void check_answer(const struct answer *a, bool head)
{
    struct arena arena = {0};
    struct doc d;
    FUZZ_CHECK(a->status >= 200 && a->status < 600);
    FUZZ_CHECK(a->type.n > 0 || a->body.n == 0);
    if (!head && a->whole && a->body.n > 0 && !str_starts(a->type, STR("text/"))) {
        FUZZ_CHECK(read_body(a, &arena, &d));
        FUZZ_CHECK(d.type == DOC_MAP || d.type == DOC_LIST);
        if (a->status >= 400)
            check_failure(a, &d);
    }
    arena_fini(&arena);
}

/* Events of a watch in JSON, the last of which may not be complete. */
static void check_events(struct str body)
{
    while (str_find_byte(body, '\n', 0) != SIZE_MAX) {
        struct arena arena = {0};
        struct doc d;
        struct doc_source src = {.name = "event", .text = cut(&body, STR("\n"))};
        FUZZ_CHECK(doc_read_json(&src, &arena, &d, NULL));
        FUZZ_CHECK(doc_get_text(&d, "type").n > 0 && doc_get(&d, "object"));
        arena_fini(&arena);
    }
}

/* ---- one request ---- */

struct client {
    int fd;
    bool head;
    struct strbuf got;
};

static size_t receive(struct client *c)
{
    char buf[65536];
    size_t sum = 0;
    for (ssize_t n; (n = recv(c->fd, buf, sizeof buf, MSG_DONTWAIT)) > 0;) {
        strbuf_add(&c->got, buf, (size_t)n);
        sum += (size_t)n;
    }
    return sum;
}

static void client_send(struct client *c, struct str bytes)
{
    int fds[2], idle = 0;
    struct answer a = {0};
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    FUZZ_CHECK(net_server_adopt(server->local, fds[0]));
    *c = (struct client){.fd = fds[1], .head = str_starts(bytes, STR("HEAD "))};
    while (bytes.n > 0 || idle < MAX_IDLE) {
        ssize_t n = send(c->fd, bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        bytes = str_sub(bytes, n > 0 ? (size_t)n : 0, SIZE_MAX);
        net_loop_run_once(loop, false);
        idle = receive(c) > 0 || n > 0 ? 0 : idle + 1;
        if (n < 0 && idle >= MAX_IDLE)
            break;
        if (bytes.n == 0 && split_answer(&c->got, &a) && a.whole)
            break;
    }
}

static void client_end(struct client *c)
{
    struct answer a = {0};
    bool whole = false;
    receive(c);
    shutdown(c->fd, SHUT_WR);
    for (int i = 0; i < MAX_IDLE; i++)
        net_loop_run_once(loop, false);
    receive(c);
    close(c->fd);
    if (split_answer(&c->got, &a)) {
        struct str body = a.whole ? a.body : join_chunks(a.body, &whole);
        bool json = str_starts(a.type, STR("application/json"));
        if (a.whole || whole || !json)
            check_answer(&a, c->head);
        else if (!c->head)
            check_events(body);
    }
    strbuf_release(&c->got);
}

/* ---- what is stored ---- */

static void print_both(const struct doc *x, const struct doc *y)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(x, DOC_JSON_COMPACT, &b);
    strbuf_addc(&b, '\n');
    doc_write_json(y, DOC_JSON_COMPACT, &b);
    fprintf(stderr, "%s\n", strbuf_cstr(&b));
    strbuf_release(&b);
}

static bool encodes_again(const struct resource *res, const struct doc *d,
                          struct arena *a)
{
    struct strbuf bytes = STRBUF_INIT;
    struct doc back;
    bool ok = api_proto_encode(d, a, &bytes, NULL) &&
              api_proto_decode(strbuf_str(&bytes), a, &back, NULL);
    if (ok) {
        back = doc_dup(a, &back);
        api_canonical(res->hub->type, &back, a);
        ok = doc_equal(d, &back);
        if (!ok)
            print_both(d, &back);
    }
    strbuf_release(&bytes);
    return ok;
}

static bool check_object(void *ctx, struct cache_object *o)
{
    const struct resource *res = ctx;
    struct arena a = {0};
    struct doc_source src = {.name = "store", .text = o->json};
    struct api_issues issues = {0};
    struct doc d, copy;
    FUZZ_CHECK(doc_read_json(&src, &a, &d, NULL));
    copy = doc_dup(&a, &d);
    FUZZ_CHECK(str_eq(meta_text(&d, "name"), o->name) && o->name.n > 0);
    FUZZ_CHECK(meta_text(&d, "uid").n > 0);
    FUZZ_CHECK(str_ends(o->key, o->name));
    bool ok = api_check_object(res->hub, &copy, NULL, &a, &issues);
    if (!ok || issues.list.n > 0)
        fprintf(stderr, "%.*s\n", STR_ARG(o->json));
    FUZZ_CHECK(ok && issues.list.n == 0);
    api_issues_release(&issues);
    FUZZ_CHECK(encodes_again(res, &copy, &a));
    arena_fini(&a);
    return true;
}

static void check_store(void)
{
    FUZZ_CHECK(cache_refused(server->cache) == 0);
    for (uint32_t i = 0; i < server->nresources; i++) {
        const struct resource *res = &server->resources[i];
        if (!res->sub && res->main == res->hub)
            cache_each(server->cache, res->prefix, STR_NONE, check_object, (void *)res);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client clients[MAX_REQUESTS];
    struct str all = {(const char *)data, size};
    int n = 0;
    if (!server)
        set_up();
    while (all.n > 0 && n < MAX_REQUESTS) {
        struct strbuf b = STRBUF_INIT;
        if (print_request(cut(&all, STR("\n%%\n")), &b))
            client_send(&clients[n++], strbuf_str(&b));
        strbuf_release(&b);
    }
    for (int i = 0; i < n; i++)
        client_end(&clients[i]);
    for (int i = 0; net_server_connections(server->local) > 0; i++) {
        FUZZ_CHECK(i < 1000);
        net_loop_run_once(loop, true);
    }
    check_store();
    restore();
    return 0;
}
