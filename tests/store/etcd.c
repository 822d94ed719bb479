/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only a store at the end of a network has to bear: several programs on one etcd,
 * one that dies, connections that break anywhere, history that others forget, a full
 * disk. Each against every etcd that is found.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "grpc/grpc.h"
#include "net/pki.h"
#include "store/etcd.pb-c.h"
#include "store/fixture.h"
#include "store/proxy.h"

static struct etcd_binary binaries[4];

static void begin(struct fixture *f, void **state)
{
    const struct etcd_binary *b = *state;
    static char backend[300];
    snprintf(backend, sizeof backend, "etcd:%.255s", b->path);
    fixture_init(f, backend);
}

static void open_it(struct fixture *f)
{
    struct err e = ERR_INIT;
    if (!fixture_open(f, &e))
        fail_msg("%s", err_text(&e));
}

/* Another handle on the same etcd, by way of a port. */
static void open_beside(struct fixture *f, uint16_t port)
{
    fixture_init(f, "memory:");
    snprintf(f->url, sizeof f->url, "etcd://127.0.0.1:%u", port);
    open_it(f);
}

/* Until the log of one has as many changes as that of another. */
static void catch_up(struct fixture *f, const struct fixture *other)
{
    for (int i = 0; i < 10000 && f->changes.n < other->changes.n; i++) {
        store_poll(f->store);
        usleep(1000);
    }
    assert_true(f->changes.n >= other->changes.n);
}

static void catch_up_to(struct fixture *f, uint64_t revision)
{
    for (int i = 0; i < 20000 && store_revision(f->store) < revision; i++) {
        store_poll(f->store);
        usleep(1000);
    }
    assert_true(store_revision(f->store) >= revision);
}

/* ---- two ---- */

static void test_two(void **state)
{
    enum { WRITES = 200 };
    struct fixture a, b;
    begin(&a, state);
    open_it(&a);
    open_beside(&b, a.server.port);
    assert_int_equal(fixture_write(&a, "/r/a", "1", 0).revision, 2);
    assert_int_equal(fixture_write(&b, "/r/a", "2", 0).answer, STORE_EXISTS);
    assert_int_equal(fixture_write(&b, "/r/a", "2", 2).revision, 3);
    assert_int_equal(fixture_write(&a, "/r/a", "3", 2).answer, STORE_CONFLICT);
    assert_int_equal(fixture_write(&a, "/r/a", NULL, 3).revision, 4);
    assert_int_equal(fixture_write(&b, "/r/a", NULL, STORE_ANY).answer, STORE_MISSING);
    struct answer answers[2][WRITES] = {0};
    for (int i = 0; i < WRITES; i++) {
        struct fixture *of[] = {&a, &b};
        char key[16];
        snprintf(key, sizeof key, "/r/%d", i % 10);
        for (int k = 0; k < 2; k++)
            store_submit(of[k]->store, &(struct store_write){.key = str_from(key),
                                                             .value = STR("x"),
                                                             .expect = STORE_ANY,
                                                             .done = fixture_answered,
                                                             .ctx = &answers[k][i]});
    }
    fixture_await(&a, answers[0], WRITES);
    fixture_await(&b, answers[1], WRITES);
    catch_up_to(&a, 4 + 2 * WRITES);
    catch_up_to(&b, 4 + 2 * WRITES);
    assert_int_equal(a.changes.n, 3 + 2 * WRITES);
    assert_int_equal(b.changes.n, 3 + 2 * WRITES);
    for (size_t i = 0; i < a.changes.n; i++)
        assert_true(change_eq(&a.changes.v[i], &b.changes.v[i]));
    fixture_check_history(&b, 1);
    fixture_fini(&b);
    fixture_fini(&a);
}

/* ---- what one has, and what there is ---- */

static void on_synced(void *ctx, bool current)
{
    int *got = ctx;
    assert_int_equal(*got, -1);
    *got = current;
}

static int sync_now(struct fixture *f)
{
    int got = -1;
    store_sync(f->store, on_synced, &got);
    while (got < 0)
        fixture_wait(f);
    return got;
}

/* What the other has been answered is here, each time. */
static void test_sync(void **state)
{
    struct fixture a, b, elsewhere;
    int last = -1;
    begin(&a, state);
    open_it(&a);
    open_beside(&b, a.server.port);
    for (int i = 0; i < 200; i++) {
        uint64_t revision = fixture_write(&a, "/r/a", "1", STORE_ANY).revision;
        assert_true(sync_now(&b));
        assert_true(store_revision(b.store) >= revision);
    }
    /* Revisions that are others' bring no change. */
    fixture_init(&elsewhere, "memory:");
    snprintf(elsewhere.url, sizeof elsewhere.url, "etcd://127.0.0.1:%u/else",
             a.server.port);
    open_it(&elsewhere);
    fixture_write(&elsewhere, "/r/a", "1", STORE_ANY);
    assert_true(sync_now(&b));
    assert_true(sync_now(&a));
    fixture_fini(&elsewhere);
    etcd_server_kill(&a.server);
    assert_false(sync_now(&b));
    store_sync(b.store, on_synced, &last);
    fixture_fini(&b);
    assert_int_equal(last, 0); /* closing answers it */
    fixture_fini(&a);
}

/* ---- writes that may be lost ---- */

enum { KEYS = 8 };

struct attempt {
    int key;
    char value[24];
    struct answer answer;
};

struct load {
    struct fixture *f;
    VEC(struct attempt *) attempts;
    uint64_t at[KEYS]; /* what the key's revision is thought to be */
    unsigned ok, unknown, refused;
};

static void key_of(int i, char key[16])
{
    snprintf(key, 16, "/r/k%d", i);
}

static void load_submit(struct load *l, int key)
{
    struct attempt *a = mem_zalloc(sizeof *a);
    char text[16];
    key_of(key, text);
    a->key = key;
    snprintf(a->value, sizeof a->value, "v%zu", l->attempts.n);
    vec_push(&l->attempts, a);
    store_submit(l->f->store, &(struct store_write){.key = str_from(text),
                                                    .value = str_from(a->value),
                                                    .expect = l->at[key],
                                                    .done = fixture_answered,
                                                    .ctx = &a->answer});
}

static bool is_unknown(const struct answer *a)
{
    return a->answer == STORE_FAILED && strstr(err_text(&a->err), "not known");
}

static void load_take(struct load *l, const struct attempt *a)
{
    switch (a->answer.answer) {
    case STORE_OK:
        l->ok++;
        l->at[a->key] = a->answer.revision;
        break;
    case STORE_CONFLICT:
    case STORE_EXISTS:
        l->refused++;
        l->at[a->key] = a->answer.revision;
        break;
    default:
        l->unknown += is_unknown(&a->answer);
    }
}

/* One write of each key, all at once. */
static void load_round(struct load *l)
{
    size_t first = l->attempts.n;
    for (int k = 0; k < KEYS; k++)
        load_submit(l, k);
    for (size_t i = first; i < l->attempts.n; i++) {
        fixture_await(l->f, &l->attempts.v[i]->answer, 1);
        load_take(l, l->attempts.v[i]);
    }
}

static const struct store_change *find_value(const struct fixture *f, const char *value)
{
    for (size_t i = 0; i < f->changes.n; i++)
        if (str_is(f->changes.v[i].value, value))
            return &f->changes.v[i];
    return NULL;
}

/* What was answered, against what somebody saw who was never cut off: OK means written,
 * at that revision; another answer means not, unless it says that this is not known. */
static void load_check(struct load *l, const struct fixture *truth)
{
    for (size_t i = 0; i < l->attempts.n; i++) {
        const struct attempt *a = l->attempts.v[i];
        const struct store_change *c = find_value(truth, a->value);
        if (a->answer.answer == STORE_OK)
            ROW(a->value, c && c->revision == a->answer.revision);
        else if (!is_unknown(&a->answer))
            ROW(a->value, !c);
    }
    assert_int_equal(l->f->changes.n, truth->changes.n);
    for (size_t i = 0; i < truth->changes.n; i++)
        assert_true(change_eq(&l->f->changes.v[i], &truth->changes.v[i]));
}

static void load_release(struct load *l)
{
    for (size_t i = 0; i < l->attempts.n; i++) {
        answers_release(&l->attempts.v[i]->answer, 1);
        free(l->attempts.v[i]);
    }
    vec_release(&l->attempts);
}

/* Connections that end after any number of bytes. */
static void test_cut(void **state)
{
    enum { ROUNDS = 120 };
    struct fixture truth, f;
    struct proxy proxy;
    struct load l = {.f = &f};
    struct rng r;
    rng_init(&r, 7);
    begin(&truth, state);
    open_it(&truth);
    proxy_start(&proxy, truth.server.port);
    open_beside(&f, proxy.port);
    for (int i = 0; i < ROUNDS; i++) {
        proxy_cut_after(&proxy, (size_t)rng_range(&r, 1, 6000));
        load_round(&l);
    }
    proxy_cut_after(&proxy, 0);
    load_round(&l);
    catch_up(&truth, &f);
    catch_up(&f, &truth);
    load_check(&l, &truth);
    assert_true(proxy_cuts(&proxy) >= 20);
    assert_in_range(l.ok, ROUNDS * KEYS / 2, (ROUNDS + 1) * KEYS);
    print_message("# %u cuts, %u written, %u refused, %u not known\n", proxy_cuts(&proxy),
                  l.ok, l.refused, l.unknown);
    load_release(&l);
    fixture_fini(&f);
    proxy_stop(&proxy);
    fixture_fini(&truth);
}

struct killer {
    struct etcd_server *server;
    unsigned step; /* atomic: 1: it is done; 2: so is the test */
    pthread_t thread;
};

/* The server ends with the thread that has started it. */
static void *kill_and_start(void *arg)
{
    struct killer *k = arg;
    for (int i = 0; i < 4; i++) {
        usleep(150 * 1000);
        etcd_server_kill(k->server);
        usleep(100 * 1000);
        etcd_server_start(k->server);
    }
    __atomic_store_n(&k->step, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&k->step, __ATOMIC_SEQ_CST) < 2)
        usleep(1000);
    return NULL;
}

static void test_restart(void **state)
{
    struct fixture truth, f;
    struct load l = {.f = &f};
    begin(&truth, state);
    open_it(&truth);
    open_beside(&f, truth.server.port);
    struct killer k = {.server = &truth.server};
    assert_int_equal(pthread_create(&k.thread, NULL, kill_and_start, &k), 0);
    while (!__atomic_load_n(&k.step, __ATOMIC_SEQ_CST))
        load_round(&l);
    load_round(&l);
    catch_up(&truth, &f);
    catch_up(&f, &truth);
    load_check(&l, &truth);
    assert_true(l.ok >= KEYS);
    print_message("# %u written, %u refused, %u not known\n", l.ok, l.refused, l.unknown);
    load_release(&l);
    fixture_fini(&f);
    fixture_fini(&truth);
    __atomic_store_n(&k.step, 2, __ATOMIC_SEQ_CST);
    pthread_join(k.thread, NULL);
}

/* ---- what others do ---- */

static void on_done(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    bool *done = ctx;
    assert_int_equal(end->status, GRPC_OK);
    protobuf_c_message_free_unpacked(answer, NULL);
    *done = true;
}

static void on_closed(void *ctx, const struct err *why)
{
    fail_msg("%s", err_text(why));
}

/* Puts keys in one transaction, by a client of its own. */
static void put_both(uint16_t port, const char *const keys[2])
{
    static const struct net_client_ops ops = {NULL, on_closed};
    char address[32];
    bool done = false;
    struct net_loop *loop = net_loop_new(NULL);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    struct net_client *c = net_client_new(
        loop, &(struct net_client_opts){.address = address}, &ops, NULL, NULL);
    assert_non_null(c);
    Etcd__PutRequest puts[2] = {ETCD__PUT_REQUEST__INIT, ETCD__PUT_REQUEST__INIT};
    Etcd__RequestOp all[2] = {ETCD__REQUEST_OP__INIT, ETCD__REQUEST_OP__INIT};
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    for (int i = 0; i < 2; i++) {
        puts[i].key = (ProtobufCBinaryData){strlen(keys[i]), (uint8_t *)keys[i]};
        puts[i].value = (ProtobufCBinaryData){1, (uint8_t *)"x"};
        all[i].request_case = ETCD__REQUEST_OP__REQUEST_PUT;
        all[i].put = &puts[i];
    }
    txn.success = (Etcd__RequestOp *[]){&all[0], &all[1]};
    txn.n_success = 2;
    grpc_ask(c, &(struct grpc_opts){.method = "/etcdserverpb.KV/Txn"}, &txn.base,
             &etcd__txn_response__descriptor, on_done, &done);
    while (!done)
        net_loop_run_once(loop, true);
    net_client_close(c);
    net_loop_free(loop);
}

/* Several changes of one revision, and keys that are no objects. */
static void test_others(void **state)
{
    struct fixture f;
    begin(&f, state);
    open_it(&f);
    fixture_write(&f, "/r/b", "1", 0);                                          /* 2 */
    put_both(f.server.port, (const char *const[]){"/dray/r/a", "/dray/r/b"});   /* 3 */
    put_both(f.server.port, (const char *const[]){"/dray", "/dray2/r/c"});      /* 4 */
    put_both(f.server.port, (const char *const[]){"/draw/r/c", "/dray.other"}); /* 5 */
    assert_int_equal(fixture_write(&f, "/r/a", "2", 3).revision, 6);
    static const struct store_change want[] = {
        {STORE_PUT, 2, STR("/r/b"), STR("1"), true, STR_NONE, 0},
        {STORE_PUT, 3, STR("/r/a"), STR("x"), true, STR_NONE, 0},
        {STORE_PUT, 3, STR("/r/b"), STR("x"), false, STR("1"), 2},
        {STORE_PUT, 6, STR("/r/a"), STR("2"), false, STR("x"), 3},
    };
    assert_int_equal(f.changes.n, UNIT_COUNT(want));
    for (size_t i = 0; i < UNIT_COUNT(want); i++)
        assert_true(change_eq(&f.changes.v[i], &want[i]));
    char *now = fixture_print(&f, NULL);
    assert_string_equal(now, "/r/a=2@6 /r/b=x@3");
    free(now);
    fixture_check_history(&f, 1);
    fixture_fini(&f);
}

/* ---- a cluster ---- */

enum { MEMBERS = 3 };

struct cluster {
    struct etcd_server members[MEMBERS];
    char dirs[MEMBERS][80], names[MEMBERS][8], peers[MEMBERS][40], all[200], url[96];
    unsigned step; /* atomic: as a killer's */
    pthread_t thread;
};

static void cluster_start(struct cluster *k, const char *binary, const char *dir)
{
    *k = (struct cluster){0};
    snprintf(k->url, sizeof k->url, "etcd://");
    for (int i = 0; i < MEMBERS; i++) {
        size_t n = strlen(k->all);
        snprintf(k->names[i], sizeof k->names[i], "n%d", i);
        snprintf(k->dirs[i], sizeof k->dirs[i], "%s/%s", dir, k->names[i]);
        snprintf(k->peers[i], sizeof k->peers[i], "http://127.0.0.1:%u",
                 etcd_free_port());
        snprintf(k->all + n, sizeof k->all - n, "%s%s=%s", i ? "," : "", k->names[i],
                 k->peers[i]);
    }
    for (int i = 0; i < MEMBERS; i++) {
        size_t n = strlen(k->url);
        const char *extra[] = {"--name",
                               k->names[i],
                               "--listen-peer-urls",
                               k->peers[i],
                               "--initial-advertise-peer-urls",
                               k->peers[i],
                               "--initial-cluster",
                               k->all,
                               "--heartbeat-interval",
                               "50",
                               "--election-timeout",
                               "500"};
        k->members[i] = (struct etcd_server){.binary = binary, .dir = k->dirs[i]};
        memcpy(k->members[i].extra, extra, sizeof extra);
        etcd_server_start(&k->members[i]);
        snprintf(k->url + n, sizeof k->url - n, "%s127.0.0.1:%u", i ? "," : "",
                 k->members[i].port);
    }
}

/* One after another, so that the leader is among them. */
static void *kill_members(void *arg)
{
    struct cluster *k = arg;
    for (int i = 0; i < MEMBERS; i++) {
        usleep(300 * 1000);
        etcd_server_kill(&k->members[i]);
        usleep(500 * 1000);
        etcd_server_start(&k->members[i]);
        usleep(1500 * 1000); /* it has to follow before the next goes */
    }
    __atomic_store_n(&k->step, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&k->step, __ATOMIC_SEQ_CST) < 2)
        usleep(1000);
    return NULL;
}

static void open_cluster(struct fixture *f, const struct cluster *k)
{
    fixture_init(f, "memory:");
    snprintf(f->url, sizeof f->url, "%s", k->url);
    open_it(f);
}

static void test_cluster(void **state)
{
    struct fixture home, truth, f;
    struct cluster k;
    struct load l = {.f = &f};
    begin(&home, state);
    etcd_server_kill(&home.server);
    cluster_start(&k, home.server.binary, home.dir);
    open_cluster(&truth, &k);
    open_cluster(&f, &k);
    assert_int_equal(pthread_create(&k.thread, NULL, kill_members, &k), 0);
    while (!__atomic_load_n(&k.step, __ATOMIC_SEQ_CST))
        load_round(&l);
    load_round(&l);
    catch_up(&truth, &f);
    catch_up(&f, &truth);
    load_check(&l, &truth);
    assert_true(l.ok >= KEYS);
    print_message("# %u written, %u refused, %u not known\n", l.ok, l.refused, l.unknown);
    load_release(&l);
    fixture_fini(&f);
    fixture_fini(&truth);
    __atomic_store_n(&k.step, 2, __ATOMIC_SEQ_CST);
    pthread_join(k.thread, NULL);
    for (int i = 0; i < MEMBERS; i++)
        etcd_server_kill(&k.members[i]);
    fixture_fini(&home);
}

/* Nothing hangs when it does not come back. */
static void test_gone(void **state)
{
    struct fixture f;
    begin(&f, state);
    open_it(&f);
    fixture_write(&f, "/r/a", "1", 0);
    etcd_server_kill(&f.server);
    struct answer a = {0};
    store_submit(f.store, &(struct store_write){.key = STR("/r/a"),
                                                .value = STR("2"),
                                                .expect = 2,
                                                .done = fixture_answered,
                                                .ctx = &a});
    fixture_close(&f); /* answers it, soon */
    assert_true(a.done);
    assert_int_equal(a.answer, STORE_FAILED);
    answers_release(&a, 1);
    fixture_fini(&f);
}

/* ---- a gap ---- */

/* One is cut off, others write and forget: it is told what is different. */
static void test_gap(void **state)
{
    struct fixture other, f;
    struct proxy proxy;
    begin(&other, state);
    open_it(&other);
    proxy_start(&proxy, other.server.port);
    open_beside(&f, proxy.port);
    fixture_write(&other, "/r/kept", "1", 0);    /* 2 */
    fixture_write(&other, "/r/changed", "1", 0); /* 3 */
    fixture_write(&other, "/r/deleted", "1", 0); /* 4 */
    fixture_write(&other, "/r/again", "1", 0);   /* 5 */
    catch_up_to(&f, 5);
    proxy_close(&proxy, true);
    fixture_write(&other, "/r/changed", "2", 3);   /* 6 */
    fixture_write(&other, "/r/deleted", NULL, 4);  /* 7 */
    fixture_write(&other, "/r/again", NULL, 5);    /* 8 */
    fixture_write(&other, "/r/again", "2", 0);     /* 9 */
    fixture_write(&other, "/r/passing", "1", 0);   /* 10 */
    fixture_write(&other, "/r/passing", NULL, 10); /* 11 */
    fixture_write(&other, "/r/changed", "3", 6);   /* 12 */
    fixture_write(&other, "/r/new", "1", 0);       /* 13 */
    store_compact(other.store, 12);
    for (int i = 0; i < 5000 && store_compacted(other.store) < 12; i++)
        usleep(1000);
    usleep(100 * 1000);
    proxy_close(&proxy, false);
    catch_up_to(&f, 13);
    char *now = fixture_print(&f, NULL), *there = fixture_print(&other, NULL);
    assert_string_equal(now, there);
    uint64_t last = 0;
    for (size_t i = 0; i < f.changes.n; i++) {
        assert_true(f.changes.v[i].revision >= last);
        last = f.changes.v[i].revision;
    }
    static const struct {
        enum store_change_kind kind;
        uint64_t revision;
        const char *key;
        bool created;
    } rows[] = {
        {STORE_DELETE, 8, "/r/again", false},    {STORE_PUT, 9, "/r/again", true},
        {STORE_PUT, 12, "/r/changed", false},    {STORE_PUT, 13, "/r/new", true},
        {STORE_DELETE, 13, "/r/deleted", false},
    };
    assert_int_equal(f.changes.n, 4 + UNIT_COUNT(rows));
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const struct store_change *c = &f.changes.v[4 + i];
        ROW(rows[i].key, c->kind == rows[i].kind && c->revision == rows[i].revision);
        ROW(rows[i].key, str_is(c->key, rows[i].key) && c->created == rows[i].created);
    }
    assert_int_equal(fixture_write(&f, "/r/kept", "2", 2).answer, STORE_OK);
    free(now);
    free(there);
    fixture_fini(&f);
    proxy_stop(&proxy);
    fixture_fini(&other);
}

/* ---- members ---- */

/* Of several addresses those are used that answer. */
static void test_members(void **state)
{
    struct fixture f, g;
    struct proxy proxy;
    begin(&f, state);
    proxy_start(&proxy, f.server.port);
    fixture_init(&g, "memory:");
    snprintf(g.url, sizeof g.url, "etcd://127.0.0.1:1,localhost:%u,127.0.0.1:%u/else",
             proxy.port, f.server.port);
    open_it(&g);
    assert_int_equal(fixture_write(&g, "/r/a", "1", 0).answer, STORE_OK);
    proxy_close(&proxy, true);
    assert_int_equal(fixture_write(&g, "/r/b", "2", 0).answer, STORE_OK);
    /* Other prefixes are other stores. */
    open_it(&f);
    char *none = fixture_print(&f, NULL);
    assert_string_equal(none, "");
    free(none);
    assert_int_equal(f.changes.n, 0);
    fixture_fini(&g);
    proxy_stop(&proxy);
    fixture_fini(&f);
}

/* ---- TLS ---- */

static void save(const char *dir, const char *name, struct str text, char path[128])
{
    snprintf(path, 128, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.p, 1, text.n, file), text.n);
    fclose(file);
}

static void test_tls(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    struct fixture f;
    struct arena a = {0};
    struct pki_pair ca, server, client;
    struct err e = ERR_INIT;
    char ca_path[128], cert_path[128], key_path[128];
    begin(&f, state);
    etcd_server_settle(&f.server);
    etcd_server_kill(&f.server);
    /* etcd calls itself, as a client. */
    struct pki_subject serving = {.name = "etcd",
                                  .hosts = hosts,
                                  .nhosts = 2,
                                  .server = true,
                                  .client = true,
                                  .days = 2};
    assert_true(
        pki_new_ca("etcd-ca", &a, &ca, &e) && pki_issue(&ca, &serving, &a, &server, &e) &&
        pki_issue(&ca, &(struct pki_subject){.name = "dray", .client = true, .days = 2},
                  &a, &client, &e));
    save(f.dir, "ca.pem", ca.cert_pem, ca_path);
    save(f.dir, "server.pem", server.cert_pem, cert_path);
    save(f.dir, "server.key", server.key_pem, key_path);
    const char *extra[ETCD_EXTRA] = {"--client-cert-auth",
                                     "--trusted-ca-file",
                                     ca_path,
                                     "--cert-file",
                                     cert_path,
                                     "--key-file",
                                     key_path};
    memcpy(f.server.extra, extra, sizeof extra);
    f.server.tls = true;
    etcd_server_start(&f.server);
    snprintf(f.url, sizeof f.url, "etcds://localhost:%u", f.server.port);
    f.opts.etcd_ca_pem = ca.cert_pem;
    f.opts.etcd_cert_pem = client.cert_pem;
    f.opts.etcd_key_pem = client.key_pem;
    open_it(&f);
    assert_int_equal(fixture_write(&f, "/r/a", "1", 0).answer, STORE_OK);
    fixture_check_history(&f, 1);
    fixture_fini(&f);
    arena_fini(&a);
    err_release(&e);
}

/* ---- full ---- */

static void test_full(void **state)
{
    enum { SIZE = 1 << 20, MOST = 64 };
    struct fixture f;
    struct answer a = {0};
    int n = 0;
    begin(&f, state);
    etcd_server_settle(&f.server);
    etcd_server_kill(&f.server);
    f.server.extra[0] = "--quota-backend-bytes";
    f.server.extra[1] = "16777216";
    etcd_server_start(&f.server);
    open_it(&f);
    char *value = mem_alloc(SIZE + 1);
    memset(value, 'v', SIZE);
    value[SIZE] = '\0';
    for (; n < MOST; n++) {
        char key[16];
        snprintf(key, sizeof key, "/r/%d", n);
        answers_release(&a, 1);
        a = fixture_write(&f, key, value, 0);
        if (a.answer != STORE_OK)
            break;
    }
    free(value);
    assert_in_range(n, 2, MOST - 1);
    assert_int_equal(a.answer, STORE_FAILED);
    assert_non_null(strstr(err_text(&a.err), "space"));
    assert_null(strstr(err_text(&a.err), "not known"));
    answers_release(&a, 1);
    assert_int_equal(f.changes.n, n);
    a = fixture_write(&f, "/r/small", "1", 0); /* an alarm is on */
    assert_int_equal(a.answer, STORE_FAILED);
    answers_release(&a, 1);
    assert_int_equal(f.changes.n, n);
    a = fixture_write(&f, "/r/1", "1", 3); /* its revision */
    assert_int_equal(a.answer, STORE_FAILED);
    answers_release(&a, 1);
    /* What would not have been written is told so. */
    assert_int_equal(fixture_write(&f, "/r/1", "1", 0).answer, STORE_EXISTS);
    assert_int_equal(fixture_write(&f, "/r/1", "1", 2).answer, STORE_CONFLICT);
    assert_int_equal(fixture_write(&f, "/r/none", "1", 2).answer, STORE_MISSING);
    assert_int_equal(f.changes.n, n);
    assert_int_equal(fixture_write(&f, "/r/0", NULL, STORE_ANY).answer, STORE_OK);
    assert_int_equal(f.changes.n, n + 1);
    fixture_fini(&f);
}

/* ---- all of it ---- */

#define EACH(function)                                                                   \
    {                                                                                    \
#function, function                                                              \
    }
static const struct {
    const char *name;
    CMUnitTestFunction function;
} TESTS[] = {
    EACH(test_two),     EACH(test_others),  EACH(test_sync), EACH(test_cut),
    EACH(test_restart), EACH(test_cluster), EACH(test_gone), EACH(test_gap),
    EACH(test_members), EACH(test_tls),     EACH(test_full),
};

static void test_no_etcd(void **state)
{
    skip();
}

int main(void)
{
    enum { MOST = UNIT_COUNT(TESTS) * UNIT_COUNT(binaries) };
    static char names[MOST][64];
    struct CMUnitTest tests[MOST + 1] = {0};
    size_t n = 0, nbinaries = etcd_binaries(binaries, UNIT_COUNT(binaries));
    for (size_t k = 0; k < nbinaries; k++) {
        for (size_t i = 0; i < UNIT_COUNT(TESTS); i++, n++) {
            snprintf(names[n], sizeof names[n], "%.31s %s", binaries[k].name,
                     TESTS[i].name);
            tests[n] = (struct CMUnitTest){.name = names[n],
                                           .test_func = TESTS[i].function,
                                           .initial_state = &binaries[k]};
        }
    }
    for (size_t i = 0; nbinaries == 0 && i < UNIT_COUNT(TESTS); i++)
        tests[n++] =
            (struct CMUnitTest){.name = TESTS[i].name, .test_func = test_no_etcd};
    return _cmocka_run_group_tests("etcd", tests, n, NULL, NULL);
}
