/* SPDX-License-Identifier: Apache-2.0 */
/* golden/bootstrap: what a new cluster holds. A server is started on an empty folder, and
 * again on the same: then nothing may have changed. */
#include "golden/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/inner.h"

struct cluster {
    char folder[32];
    struct net_loop *loop;
    struct server *server;
};

static bool start(struct golden *g, struct cluster *c)
{
    struct server_opts opts = SERVER_OPTS_INIT;
    struct err e = ERR_INIT;
    opts.dir = c->folder;
    opts.listen = "127.0.0.1:0";
    opts.gates.on = UINT64_MAX; /* as the recorded server had them */
    c->loop = net_loop_new(&e);
    c->server = c->loop ? server_new(c->loop, &opts, &e) : NULL;
    if (!c->server)
        golden_broken(g, "the server does not start: %s", err_text(&e));
    err_release(&e);
    return c->server != NULL;
}

static void stop(struct cluster *c)
{
    if (c->server)
        server_free(c->server);
    if (c->loop)
        net_loop_free(c->loop);
    c->server = NULL;
    c->loop = NULL;
}

static bool begin(struct golden *g)
{
    struct cluster *c = ARENA_NEW(g->arena, struct cluster);
    snprintf(c->folder, sizeof c->folder, "/tmp/dray-golden-XXXXXX");
    g->data = c;
    if (!mkdtemp(c->folder)) {
        golden_broken(g, "no folder");
        return false;
    }
    if (!start(g, c))
        return false;
    uint64_t revision = cache_revision(c->server->cache);
    stop(c);
    if (!start(g, c))
        return false;
    if (cache_revision(c->server->cache) != revision)
        golden_broken(g, "a second start writes");
    return true;
}

static void end(struct golden *g)
{
    struct cluster *c = g->data;
    stop(c);
    const char *remove = arena_printf(g->arena, "rm -rf '%s'", c->folder).p;
    if (system(remove) != 0)
        golden_broken(g, "%s stays", c->folder);
}

static struct cache_object *find(struct golden *g, const struct doc *want)
{
    struct cluster *c = g->data;
    struct server *s = c->server;
    struct str version = doc_get_text(want, "apiVersion");
    struct str kind = doc_get_text(want, "kind");
    for (uint32_t i = 0; i < s->nresources; i++) {
        const struct resource *res = &s->resources[i];
        if (!res->sub && str_is(kind, res->kind->name) &&
            str_eq(version, res->api_version))
            return cache_get(s->cache, object_key(res, meta_text(want, "namespace"),
                                                  meta_text(want, "name"), g->arena));
    }
    return NULL;
}

static void run_case(struct golden *g, struct golden_case *c)
{
    static const char *const OWN[] = {"uid", "resourceVersion", "creationTimestamp",
                                      "generation", "managedFields"};
    struct cache_object *o = find(g, c->doc);
    if (!o) {
        golden_fail(c, "it is not there");
        return;
    }
    struct doc got = object_doc(o, c->arena);
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        doc_remove(object_meta(&got), str_from(OWN[i]));
    doc_remove(&got, STR("status"));
    golden_check_doc(c, "object", c->doc, &got);
}

const struct golden_runner golden_bootstrap = {
    .folder = "bootstrap", .begin = begin, .run_case = run_case, .end = end};
