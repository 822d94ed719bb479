/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/nvml_health.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

enum { WAIT_MS = 500 };

struct sick {
    char uuid[NVML_TEXT];
    unsigned instance;
    unsigned long long xid;
};

struct nvml_health {
    const struct nvml_api *api;
    nvml_events events;
    int fd;
    bool running;
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    bool stop;
    VEC(struct sick) sick;
};

/* Faults of programs: graphics and memory exceptions, a preempted or reset channel, a GPU
 * that was taken from a program, video. NVIDIA's documentation of XIDs. */
static bool is_of_a_program(unsigned long long xid)
{
    static const unsigned short XIDS[] = {13, 31, 43, 45, 68, 109};
    for (size_t i = 0; i < sizeof XIDS / sizeof *XIDS; i++)
        if (XIDS[i] == xid)
            return true;
    return false;
}

static void forget(struct nvml_health *h, const struct sick *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->sick.n; i++) {
        const struct sick *x = &h->sick.v[i];
        if (x->instance != s->instance || strcmp(x->uuid, s->uuid) != 0)
            h->sick.v[kept++] = *x;
    }
    h->sick.n = kept;
}

/* The last word of each: one that is broken may say it again and again. */
static void remember(struct nvml_health *h, const struct nvml_event *e)
{
    struct sick s = {.instance = e->gpu_instance, .xid = e->data};
    uint64_t one = 1;
    if (h->api->uuid(e->device, s.uuid, sizeof s.uuid - 1) != NVML_OK)
        return;
    pthread_mutex_lock(&h->lock);
    forget(h, &s);
    vec_push(&h->sick, s);
    pthread_mutex_unlock(&h->lock);
    if (write(h->fd, &one, sizeof one) < 0)
        return; /* it is readable already */
}

static bool is_stopped(struct nvml_health *h)
{
    pthread_mutex_lock(&h->lock);
    bool stop = h->stop;
    pthread_mutex_unlock(&h->lock);
    return stop;
}

static void *listen_on(void *ctx)
{
    struct nvml_health *h = ctx;
    int rc = NVML_OK;
    while (!is_stopped(h) && (rc == NVML_OK || rc == NVML_TIMEOUT)) {
        struct nvml_event e = {.gpu_instance = NVML_WHOLE_GPU};
        rc = h->api->events_wait(h->events, &e, WAIT_MS);
        if (rc == NVML_OK && e.type == NVML_EVENT_XID && !is_of_a_program(e.data))
            remember(h, &e);
    }
    return NULL;
}

/* How many GPUs will tell. */
static unsigned register_all(struct nvml_health *h)
{
    unsigned n = 0, told = 0;
    nvml_device d;
    if (h->api->count(&n) != NVML_OK)
        return 0;
    for (unsigned i = 0; i < n; i++)
        told += h->api->by_index(i, &d) == NVML_OK &&
                h->api->events_register(d, NVML_EVENT_XID, h->events) == NVML_OK;
    return told;
}

struct nvml_health *nvml_health_new(const struct nvml_api *api)
{
    struct nvml_health *h = mem_zalloc(sizeof *h);
    *h = (struct nvml_health){.api = api, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&h->lock, NULL);
    if (h->fd >= 0 && api->events_new(&h->events) == NVML_OK) {
        h->running =
            register_all(h) > 0 && pthread_create(&h->thread, NULL, listen_on, h) == 0;
        if (!h->running)
            api->events_free(h->events);
    }
    return h;
}

void nvml_health_free(struct nvml_health *h)
{
    if (h->running) {
        pthread_mutex_lock(&h->lock);
        h->stop = true;
        pthread_mutex_unlock(&h->lock);
        pthread_join(h->thread, NULL);
        h->api->events_free(h->events);
    }
    if (h->fd >= 0)
        close(h->fd);
    pthread_mutex_destroy(&h->lock);
    vec_release(&h->sick);
    free(h);
}

int nvml_health_fd(const struct nvml_health *h)
{
    return h->running ? h->fd : -1;
}

void nvml_health_drain(struct nvml_health *h)
{
    uint64_t n;
    while (h->fd >= 0 && read(h->fd, &n, sizeof n) > 0)
        continue;
}

unsigned long long nvml_health_xid(struct nvml_health *h, struct str uuid,
                                   unsigned gpu_instance)
{
    unsigned long long xid = 0;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->sick.n; i++) {
        const struct sick *s = &h->sick.v[i];
        if (str_is(uuid, s->uuid) &&
            (s->instance == NVML_WHOLE_GPU || s->instance == gpu_instance ||
             gpu_instance == NVML_WHOLE_GPU))
            xid = s->xid;
    }
    pthread_mutex_unlock(&h->lock);
    return xid;
}
