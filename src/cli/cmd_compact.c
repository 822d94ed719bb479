/* SPDX-License-Identifier: Apache-2.0 */
/* dray compact: makes a running server's store forget its history. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/kubeconfig.h"
#include "cli/options.h"
#include "net/client.h"

enum { TIMEOUT_MS = 30000 };

struct options {
    const char *dir, *kubeconfig;
};

static const struct option_row ROWS[] = {
    {"data", "DIR", OPTION_TEXT, offsetof(struct options, dir),
     "the folder of the server: DIR/admin.kubeconfig says where it is"},
    {"kubeconfig", "FILE", OPTION_TEXT, offsetof(struct options, kubeconfig),
     "says where the server is, and who asks"},
};
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

static const char USAGE[] =
    "usage: dray compact REVISION --data DIR\n"
    "       dray compact REVISION --kubeconfig FILE\n"
    "\n"
    "Makes the store of a running dray apiserver forget its history up to a revision\n"
    "(without one: up to now), and prints what it is forgotten up to. Lists and watches\n"
    "from before are answered with 410 Expired then. A server forgets by itself what is\n"
    "older than five minutes.\n"
    "\n";

/* One call, and its answer. */
struct asking {
    struct net_loop *loop;
    struct net_client *client;
    struct str path;
    struct net_header headers[2];
    uint32_t nheaders;
    unsigned status;
    struct strbuf body;
    struct err err;
};

static void on_head(void *ctx, unsigned status, const struct net_header *headers,
                    uint32_t n, bool last)
{
    struct asking *k = ctx;
    k->status = status;
}

static void on_data(void *ctx, struct str bytes)
{
    struct asking *k = ctx;
    if (k->body.n < 1 << 20)
        strbuf_addstr(&k->body, bytes);
}

static void on_done(void *ctx, const struct net_call_end *end)
{
    struct asking *k = ctx;
    if (end->err && k->err.code == ERR_NONE)
        err_set(&k->err, end->err->code, "%s", err_text(end->err));
    net_loop_stop(k->loop);
}

static void on_closed(void *ctx, const struct err *why)
{
    struct asking *k = ctx;
    if (k->err.code == ERR_NONE && k->status == 0)
        err_set(&k->err, why->code, "%s", err_text(why));
    net_loop_stop(k->loop);
}

static bool ask(struct asking *k, const struct net_client_opts *opts)
{
    static const struct net_client_ops client_ops = {NULL, on_closed};
    static const struct net_call_ops call_ops = {on_head, on_data, on_done};
    struct net_call_opts call = {.method = STR("POST"),
                                 .path = k->path,
                                 .headers = k->headers,
                                 .nheaders = k->nheaders,
                                 .timeout_ms = TIMEOUT_MS};
    k->client = net_client_new(k->loop, opts, &client_ops, k, &k->err);
    if (!k->client)
        return false;
    net_call_start(k->client, &call, &call_ops, k);
    net_loop_run(k->loop);
    net_client_close(k->client);
    return k->err.code == ERR_NONE;
}

/* "https://HOST:PORT" */
static bool address_of(struct str server, struct arena *a, const char **out,
                       struct err *e)
{
    if (!str_starts(server, STR("https://")))
        return err_set(e, ERR_INVALID, "the server \"%.*s\" is not https://HOST:PORT",
                       STR_ARG(server));
    struct str host = str_sub(server, 8, str_find_byte(server, '/', 8));
    bool port = str_rfind_byte(host, ':') != SIZE_MAX && host.p[host.n - 1] != ']';
    *out = arena_printf(a, "%.*s%s", STR_ARG(host), port ? "" : ":443").p;
    return true;
}

static bool run(const char *config, struct str revision, struct arena *a,
                struct asking *k)
{
    struct kubeconfig c;
    struct net_client_opts opts = {.tls = &c.tls};
    if (!kubeconfig_read(config, a, &c, &k->err) ||
        !address_of(c.server, a, &opts.address, &k->err))
        return false;
    k->path = arena_printf(a, "/dray/v1/compact%s%.*s", revision.n ? "?revision=" : "",
                           STR_ARG(revision));
    if (c.token.n)
        k->headers[k->nheaders++] = (struct net_header){
            STR("authorization"), arena_printf(a, "Bearer %.*s", STR_ARG(c.token))};
    k->loop = net_loop_new(&k->err);
    bool ok = k->loop && ask(k, &opts);
    net_loop_free(k->loop);
    if (ok && k->status != 200)
        err_set(&k->err, ERR_INVALID, "the server answers %u: %s", k->status,
                strbuf_cstr(&k->body));
    return ok && k->status == 200;
}

/* The first argument that is a number, taken out. */
static struct str take_revision(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        size_t n = strlen(argv[i]);
        if (n == 0 || strspn(argv[i], "0123456789") != n)
            continue;
        struct str found = {argv[i], n};
        memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
        --*argc;
        return found;
    }
    return STR_NONE;
}

static int compact(int argc, char **argv, struct arena *a, struct asking *k)
{
    struct options o = {0};
    bool help = false;
    struct str revision = take_revision(&argc, argv);
    if (!options_read(&TABLE, argc, argv, a, &o, &help, &k->err))
        return EXIT_INPUT;
    if (help) {
        fputs(USAGE, stdout);
        options_print(&TABLE, stdout);
        return EXIT_OK;
    }
    if (!o.dir == !o.kubeconfig) {
        err_set(&k->err, ERR_INVALID, "one of --data and --kubeconfig says which server");
        return EXIT_INPUT;
    }
    const char *config =
        o.kubeconfig ? o.kubeconfig : arena_printf(a, "%s/admin.kubeconfig", o.dir).p;
    if (!run(config, revision, a, k))
        return EXIT_INPUT;
    fputs(strbuf_cstr(&k->body), stdout);
    return EXIT_OK;
}

int cmd_compact(int argc, char **argv)
{
    struct arena a = {0};
    struct asking k = {0};
    int code = compact(argc, argv, &a, &k);
    if (code != EXIT_OK)
        fprintf(stderr, "dray compact: %s\n", err_text(&k.err));
    err_release(&k.err);
    strbuf_release(&k.body);
    arena_fini(&a);
    return code;
}
