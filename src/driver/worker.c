/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/worker.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/mem.h"

struct task {
    struct task *next;
    void (*work)(void *job);
    void (*done)(void *job);
    void *job;
};

struct tasks {
    struct task *first, **end;
};

struct driver_worker {
    struct net_loop *loop;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct tasks waiting, over; /* under the mutex, as the next */
    bool ending;
};

static void push(struct tasks *q, struct task *t)
{
    t->next = NULL;
    *q->end = t;
    q->end = &t->next;
}

static struct task *pop(struct tasks *q)
{
    struct task *t = q->first;
    if (!t)
        return NULL;
    q->first = t->next;
    if (!q->first)
        q->end = &q->first;
    return t;
}

static struct task *pop_over(struct driver_worker *w)
{
    pthread_mutex_lock(&w->mutex);
    struct task *t = pop(&w->over);
    pthread_mutex_unlock(&w->mutex);
    return t;
}

static void finish_over(void *ctx)
{
    struct driver_worker *w = ctx;
    for (struct task *t; (t = pop_over(w));) {
        t->done(t->job);
        free(t);
    }
}

/* The next to do; NULL: there will be none. */
static struct task *next_task(struct driver_worker *w)
{
    struct task *t = NULL;
    pthread_mutex_lock(&w->mutex);
    while (!w->ending && !(t = pop(&w->waiting)))
        pthread_cond_wait(&w->more, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    return t;
}

static void *run(void *ctx)
{
    struct driver_worker *w = ctx;
    for (struct task *t; (t = next_task(w));) {
        t->work(t->job);
        pthread_mutex_lock(&w->mutex);
        push(&w->over, t);
        pthread_mutex_unlock(&w->mutex);
        net_post(w->loop, finish_over, w);
    }
    return NULL;
}

struct driver_worker *driver_worker_new(struct net_loop *l)
{
    struct driver_worker *w = mem_zalloc(sizeof *w);
    w->loop = l;
    w->waiting.end = &w->waiting.first;
    w->over.end = &w->over.first;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->more, NULL);
    if (pthread_create(&w->thread, NULL, run, w) != 0)
        bug("driver: no thread");
    return w;
}

void driver_worker_do(struct driver_worker *w, void (*work)(void *job),
                      void (*done)(void *job), void *job)
{
    struct task *t = mem_alloc(sizeof *t);
    *t = (struct task){.work = work, .done = done, .job = job};
    pthread_mutex_lock(&w->mutex);
    push(&w->waiting, t);
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->mutex);
}

static void end_thread(struct driver_worker *w)
{
    pthread_mutex_lock(&w->mutex);
    w->ending = true;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
}

void driver_worker_free(struct driver_worker *w)
{
    if (!w)
        return;
    end_thread(w);
    for (struct task *t; (t = pop(&w->waiting));)
        push(&w->over, t);
    finish_over(w);
    net_unpost(w->loop, w);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}
