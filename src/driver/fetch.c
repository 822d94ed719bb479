/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/fetch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static const char *const VERSIONS[] = {"v1", "v1beta2", "v1beta1"};
enum { NVERSIONS = sizeof VERSIONS / sizeof *VERSIONS };

struct part { /* a claim's */
    struct driver_fetch *fetch;
    const struct driver_claim *claim;
    struct client_call *call; /* NULL: over */
    unsigned version, tries;
    const struct doc *doc;
};

struct driver_fetch {
    struct client *client;
    unsigned *version;
    uint64_t timeout_ms;
    struct arena *arena;
    driver_fetched *fetched;
    void *ctx;
    struct part *parts;
    uint32_t n, running;
    struct str why;
};

static void stop_parts(struct driver_fetch *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->parts[i].call)
            client_cancel(f->parts[i].call);
}

static void fetch_free(struct driver_fetch *f)
{
    free(f->parts);
    free(f);
}

void driver_fetch_cancel(struct driver_fetch *f)
{
    stop_parts(f);
    fetch_free(f);
}

/* The first claim that fails ends all. */
static void end_fetch(struct driver_fetch *f)
{
    const struct doc **docs = ARENA_ARRAY(f->arena, const struct doc *, f->n + 1);
    stop_parts(f);
    for (uint32_t i = 0; i < f->n; i++)
        docs[i] = f->parts[i].doc;
    f->fetched(f->ctx, docs, f->why);
    fetch_free(f);
}

static void fail_part(struct part *p, struct str why)
{
    struct driver_fetch *f = p->fetch;
    f->why = arena_printf(f->arena, "get resource claims: %.*s", STR_ARG(why));
    end_fetch(f);
}

static struct str say_about(const struct part *p, const char *what)
{
    return arena_printf(p->fetch->arena, "claim %.*s/%.*s %s",
                        STR_ARG(p->claim->namespace), STR_ARG(p->claim->name), what);
}

/* STR_NONE: the document is the claim that was asked for. */
static struct str claim_fault(const struct part *p, const struct doc *d)
{
    struct str uid = doc_get_text(doc_get(d, "metadata"), "uid");
    const struct doc *allocation = doc_path(d, "status.allocation");
    if (!str_eq(uid, p->claim->uid))
        return say_about(p, "got replaced");
    if (!allocation || allocation->type != DOC_MAP)
        return say_about(p, "not allocated");
    return STR_NONE;
}

static void take(struct part *p, struct str body)
{
    struct driver_fetch *f = p->fetch;
    struct doc_source src = {.name = "claim", .text = arena_str(f->arena, body)};
    struct doc *d = ARENA_ARRAY(f->arena, struct doc, 1);
    struct err e = ERR_INIT;
    if (!doc_read_json(&src, f->arena, d, &e)) {
        fail_part(p, arena_printf(f->arena, "retrieve claim %.*s/%.*s: %s",
                                  STR_ARG(p->claim->namespace), STR_ARG(p->claim->name),
                                  err_text(&e)));
        err_release(&e);
        return;
    }
    struct str fault = claim_fault(p, d);
    p->doc = d;
    *f->version = p->version;
    if (fault.n > 0)
        fail_part(p, fault);
    else if (--f->running == 0)
        end_fetch(f);
}

static void ask(struct part *p);

/* A path that is not served, and not a claim that is not there. */
static bool is_other_version(const struct part *p, const struct client_answer *a)
{
    char quoted[300];
    snprintf(quoted, sizeof quoted, "\"%.*s\"", STR_ARG(p->claim->name));
    return a->status == 404 && p->tries < NVERSIONS && !strstr(a->message, quoted);
}

static void on_answer(void *ctx, const struct client_answer *a)
{
    struct part *p = ctx;
    struct driver_fetch *f = p->fetch;
    p->call = NULL;
    if (a->ok) {
        take(p, a->body);
    } else if (is_other_version(p, a)) {
        p->version = (p->version + 1) % NVERSIONS;
        ask(p);
    } else {
        fail_part(p, arena_printf(f->arena, "retrieve claim %.*s/%.*s: %s",
                                  STR_ARG(p->claim->namespace), STR_ARG(p->claim->name),
                                  a->message));
    }
}

static void ask(struct part *p)
{
    struct driver_fetch *f = p->fetch;
    struct client_kind kind = {"resource.k8s.io", VERSIONS[p->version], "resourceclaims",
                               true};
    struct client_request q = {
        .method = "GET",
        .path = client_path(&kind, p->claim->namespace, p->claim->name, NULL, f->arena),
        .timeout_ms = f->timeout_ms,
    };
    p->tries++;
    p->call = client_start(f->client, &q, on_answer, p);
}

struct driver_fetch *driver_fetch_start(struct client *c, unsigned *version,
                                        const struct driver_claim *claims, uint32_t n,
                                        uint64_t timeout_ms, struct arena *a,
                                        driver_fetched *fetched, void *ctx)
{
    struct driver_fetch *f = mem_zalloc(sizeof *f);
    *f = (struct driver_fetch){.client = c,
                               .version = version,
                               .timeout_ms = timeout_ms,
                               .arena = a,
                               .fetched = fetched,
                               .ctx = ctx,
                               .parts = mem_zalloc(n * sizeof *f->parts + 1),
                               .n = n,
                               .running = n};
    for (uint32_t i = 0; i < n; i++) {
        f->parts[i] = (struct part){.fetch = f, .claim = &claims[i], .version = *version};
        ask(&f->parts[i]);
    }
    return f;
}
