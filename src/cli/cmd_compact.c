/* SPDX-License-Identifier: Apache-2.0 */
/* dray compact: makes a running server's store forget its history. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "client/client.h"

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
    struct strbuf body;
    struct err err;
};

static void on_done(void *ctx, const struct client_answer *a)
{
    struct asking *k = ctx;
    if (a->ok)
        strbuf_addstr(&k->body, a->body);
    else
        err_set(&k->err, ERR_IO, "%s", a->message);
    net_loop_stop(k->loop);
}

static bool ask(struct asking *k, const struct kubeconfig *config, struct str path)
{
    struct client_request q = {.method = "POST", .path = path};
    k->loop = net_loop_new(&k->err);
    if (!k->loop)
        return false;
    struct client *c = client_new_remote(k->loop, config);
    client_start(c, &q, on_done, k);
    net_loop_run(k->loop);
    client_free(c);
    net_loop_free(k->loop);
    return k->err.code == ERR_NONE;
}

static bool run(const char *file, struct str revision, struct arena *a, struct asking *k)
{
    struct kubeconfig config;
    struct str path = arena_printf(a, "/dray/v1/compact%s%.*s",
                                   revision.n ? "?revision=" : "", STR_ARG(revision));
    return kubeconfig_read(file, a, &config, &k->err) && ask(k, &config, path);
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
