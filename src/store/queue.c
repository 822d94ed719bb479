/* SPDX-License-Identifier: Apache-2.0 */
#include "store/queue.h"

#include <stdlib.h>

#include "base/mem.h"

void request_list_init(struct request_list *l)
{
    *l = (struct request_list){.last = &l->first};
}

void request_list_push(struct request_list *l, struct request *r)
{
    r->next = NULL;
    *l->last = r;
    l->last = &r->next;
    l->n++;
}

struct request *request_list_pop(struct request_list *l)
{
    struct request *r = l->first;
    if (!r)
        return NULL;
    l->first = r->next;
    if (!l->first)
        l->last = &l->first;
    l->n--;
    return r;
}

void request_list_join(struct request_list *l, struct request_list *from)
{
    if (!from->first)
        return;
    *l->last = from->first;
    l->last = from->last;
    l->n += from->n;
    request_list_init(from);
}

static struct str copy_to(char **at, struct str s)
{
    struct str copy = {*at, s.n};
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

struct request *request_new(const struct store_write *w)
{
    struct request *r = mem_alloc(sizeof *r + w->key.n + w->value.n);
    char *at = (char *)(r + 1);
    *r = (struct request){.write = *w};
    r->write.key = copy_to(&at, w->key);
    if (w->value.p)
        r->write.value = copy_to(&at, w->value);
    if (w->key.n == 0 || w->key.n > STORE_KEY_MAX || w->key.p[0] != '/' ||
        w->value.n > STORE_VALUE_MAX) {
        r->answer = STORE_FAILED;
        err_set(&r->err, ERR_LIMIT,
                "a key begins with / and may have %d bytes, not %zu, a value %d, not %zu",
                STORE_KEY_MAX, w->key.n, STORE_VALUE_MAX, w->value.n);
    }
    return r;
}

void request_free(struct request *r)
{
    err_release(&r->err);
    free(r->previous);
    free(r);
}

enum store_answer request_check(const struct store_write *w, uint64_t current)
{
    bool there = current != 0;
    if (w->expect == 0)
        return there ? STORE_EXISTS : w->value.p ? STORE_OK : STORE_MISSING;
    if (w->expect == STORE_ANY)
        return there || w->value.p ? STORE_OK : STORE_MISSING;
    if (!there)
        return STORE_MISSING;
    return current == w->expect ? STORE_OK : STORE_CONFLICT;
}

void request_fail(struct request *r, const char *why)
{
    r->answer = STORE_FAILED;
    r->revision = 0;
    err_set(&r->err, ERR_IO, "%s", why);
}

static void report_change(struct request *r, const struct store_opts *opts)
{
    struct str previous = STR_NONE;
    if (r->previous_revision)
        previous = (struct str){r->previous, r->previous_size};
    bool put = r->write.value.p != NULL;
    struct store_change c = {
        .kind = put ? STORE_PUT : STORE_DELETE,
        .revision = r->revision,
        .key = r->write.key,
        .value = put ? r->write.value : previous,
        .created = r->previous_revision == 0,
        .previous = previous,
        .previous_revision = r->previous_revision,
    };
    opts->changed(opts->changed_ctx, &c);
}

void request_deliver(struct request *r, const struct store_opts *opts)
{
    if (r->answer == STORE_OK && opts->changed)
        report_change(r, opts);
    if (r->write.done)
        r->write.done(r->write.ctx, r->answer, r->revision,
                      r->answer == STORE_FAILED ? &r->err : NULL);
    request_free(r);
}
