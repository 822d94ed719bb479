/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One write at a time, on another thread, of what is known when it begins. Whoever waits
 * for a change that it has is told; the others wait for the next one.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "node/claims_inner.h"
#include "node/state_file.h"

struct write { /* shared with the thread */
    pthread_mutex_t lock;
    bool dropped;
    struct node_claims_file *file; /* the loop's; NULL: nobody is there anymore */
    struct arena arena;
    const char *path;
    struct str text;
    uint64_t change;
    struct err err;
};

struct node_claims_file {
    struct node_claims *claims;
    struct arena arena;
    const char *path;
    struct write *write; /* that runs, or NULL */
    struct net_timer *soon;
    uint64_t saved; /* up to this change all is on the disk */
    struct file_wait *waiting;
};

/* ---- one write ---- */

static void write_free(struct write *w)
{
    pthread_mutex_destroy(&w->lock);
    err_release(&w->err);
    arena_fini(&w->arena);
    free(w);
}

static void on_thread(void *ctx)
{
    struct write *w = ctx;
    pthread_mutex_lock(&w->lock);
    if (!w->dropped)
        state_file_write(w->path, w->text, true, &w->err);
    pthread_mutex_unlock(&w->lock);
}

static void start_soon(struct node_claims_file *f);

static void enqueue(struct node_claims_file *f, struct file_wait *w)
{
    w->next = f->waiting;
    w->link = &f->waiting;
    if (w->next)
        w->next->link = &w->next;
    f->waiting = w;
}

void node_claims_file_forget(struct file_wait *w)
{
    if (!w->link)
        return;
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    w->link = NULL;
}

/* Those who are told may wait anew, and others be forgotten meanwhile: the list is taken
 * away first. Who waits for a later change goes back. */
static void tell(struct node_claims_file *f, uint64_t change, const struct err *why)
{
    struct file_wait *due = f->waiting;
    f->waiting = NULL;
    if (due)
        due->link = &due;
    while (due) {
        struct file_wait *w = due;
        node_claims_file_forget(w);
        if (w->change > change)
            enqueue(f, w);
        else
            w->saved(w->ctx, why);
    }
}

static void on_written(void *ctx)
{
    struct write *w = ctx;
    struct node_claims_file *f = w->file;
    if (f) {
        bool ok = w->err.code == ERR_NONE;
        f->write = NULL;
        if (ok)
            f->saved = w->change;
        tell(f, w->change, ok ? NULL : &w->err);
        if (f->waiting)
            start_soon(f);
    }
    write_free(w);
}

static void start_write(void *ctx)
{
    struct node_claims_file *f = ctx;
    f->soon = NULL;
    if (f->saved == f->claims->changes) {
        tell(f, f->saved, NULL);
        return;
    }
    struct write *w = mem_zalloc(sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    w->file = f;
    w->path = arena_strdup(&w->arena, f->path);
    w->change = f->claims->changes;
    w->text = cache_print(f->claims, &w->arena);
    f->write = w;
    net_work(f->claims->loop, on_thread, on_written, w);
}

/* After all that this round of the loop has for the file. */
static void start_soon(struct node_claims_file *f)
{
    if (!f->write && !f->soon)
        f->soon = net_timer_start(f->claims->loop, 0, 0, start_write, f);
}

void node_claims_file_save(struct node_claims *c, struct file_wait *w)
{
    struct node_claims_file *f = c->file;
    w->change = c->changes;
    enqueue(f, w);
    start_soon(f);
}

/* ---- beginning and end ---- */

static bool set_aside(struct node_claims *c, const char *path, const struct err *why,
                      struct err *e)
{
    struct arena a = {0};
    struct str to;
    bool ok = state_file_set_aside(path, &a, &to, e);
    if (ok && c->opts.log)
        c->opts.log(c->opts.ctx,
                    arena_printf(&a,
                                 "%s: %s; nothing of it is used, and it is kept as %.*s",
                                 path, err_text(why), STR_ARG(to))
                        .p);
    arena_fini(&a);
    return ok;
}

static bool read_file(struct node_claims *c, const char *path, struct arena *a,
                      struct err *e)
{
    struct checkpoint all = {0};
    struct str text;
    struct err why = ERR_INIT;
    if (!state_file_read(path, a, &text, &why)) {
        bool none = why.code == ERR_NOT_FOUND;
        if (!none)
            err_set(e, why.code, "%s", err_text(&why));
        err_release(&why);
        return none;
    }
    if (!checkpoint_read(text, a, &all, &why)) {
        bool ok = set_aside(c, path, &why, e);
        err_release(&why);
        return ok;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        const struct checkpoint_claim *x = &all.claims[i];
        if (checkpoint_find(&all, x->namespace, x->name) == x)
            cache_add(c, x);
    }
    return true;
}

bool node_claims_file_open(struct node_claims *c, struct err *e)
{
    struct node_claims_file *f = mem_zalloc(sizeof *f);
    struct arena a = {0};
    c->file = f;
    f->claims = c;
    f->path = arena_printf(&f->arena, "%s/dra_manager_state", c->opts.dir).p;
    bool ok = read_file(c, f->path, &a, e) &&
              state_file_write(f->path, cache_print(c, &a), true, e);
    f->saved = c->changes;
    arena_fini(&a);
    return ok;
}

void node_claims_file_close(struct node_claims *c)
{
    struct node_claims_file *f = c->file;
    if (!f)
        return;
    if (f->soon)
        net_timer_stop(f->soon);
    if (f->write) {
        f->write->file = NULL;
        pthread_mutex_lock(&f->write->lock);
        f->write->dropped = true;
        pthread_mutex_unlock(&f->write->lock);
    }
    arena_fini(&f->arena);
    free(f);
}
