/* SPDX-License-Identifier: Apache-2.0 */
/* How long a Job waits after failures: 10 s, doubled with each, up to 10 minutes. */
#include <stdlib.h>

#include "control/fields.h"
#include "control/job_inner.h"

enum { FIRST_MS = 10000, LONGEST_MS = 600000 };

/* ---- when a pod has ended ---- */

static bool is_sidecar(const struct doc *pod, struct str name)
{
    const struct doc *list = field_list(pod, "spec.initContainers");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return doc_is_string(doc_get(&list->items[i], "restartPolicy"), "Always");
    return false;
}

/* The latest end of all; *at stays where there is none. false: one has no end yet. */
static bool latest_end(const struct doc *pod, const char *statuses, bool sidecars,
                       int64_t *at)
{
    const struct doc *list = field_list(pod, statuses);
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t end;
        if (sidecars && !is_sidecar(pod, doc_get_text(&list->items[i], "name")))
            continue;
        if (!field_time(&list->items[i], "state.terminated.finishedAt", &end))
            return false;
        *at = end > *at ? end : *at;
    }
    return true;
}

static bool containers_end(const struct doc *pod, int64_t *at)
{
    *at = 0;
    if (!latest_end(pod, "status.containerStatuses", false, at))
        *at = 0;
    return latest_end(pod, "status.initContainerStatuses", true, at) && *at;
}

static bool not_ready_since(const struct doc *pod, int64_t *at)
{
    const struct doc *list = field_list(pod, "status.conditions");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Ready"))
            return doc_is_string(doc_get(&list->items[i], "status"), "False") &&
                   field_time(&list->items[i], "lastTransitionTime", at);
    return false;
}

static bool deleted_at(const struct doc *pod, int64_t *at)
{
    if (!field_time(pod, "metadata.deletionTimestamp", at))
        return false;
    *at -= field_int(pod, "metadata.deletionGracePeriodSeconds", 0);
    return true;
}

int64_t job_finished_ms(const struct doc *pod)
{
    int64_t at;
    bool found =
        containers_end(pod, &at) || not_ready_since(pod, &at) || deleted_at(pod, &at);
    return (found ? at : field_created(pod)) * 1000;
}

/* ---- pauses ---- */

static int by_end(const void *a, const void *b)
{
    const struct job_pod *const *x = a, *const *y = b;
    int64_t xe = (*x)->finished_ms, ye = (*y)->finished_ms;
    return xe < ye ? -1 : xe > ye;
}

static void sort(const struct job_pod **pods, uint32_t n)
{
    if (n)
        qsort(pods, n, sizeof *pods, by_end);
}

struct job_backoff job_backoff_after(struct job_backoff old,
                                     const struct job_pod **succeeded,
                                     uint32_t nsucceeded, const struct job_pod **failed,
                                     uint32_t nfailed)
{
    struct job_backoff b = old;
    sort(succeeded, nsucceeded);
    sort(failed, nfailed);
    if (nsucceeded)
        b = (struct job_backoff){0};
    for (uint32_t i = nfailed; i-- > 0;) {
        if (nsucceeded &&
            failed[i]->finished_ms <= succeeded[nsucceeded - 1]->finished_ms)
            break;
        b.failures++;
    }
    if (b.failures > (nsucceeded ? 0 : old.failures))
        b.last_ms = failed[nfailed - 1]->finished_ms;
    return b;
}

int64_t job_backoff_left_ms(const struct job_backoff *b, int64_t now_ms)
{
    int64_t pause = FIRST_MS;
    if (!b->failures)
        return 0;
    for (int64_t i = 1; i < b->failures && pause < LONGEST_MS; i++)
        pause *= 2;
    pause = pause < LONGEST_MS ? pause : LONGEST_MS;
    int64_t left = pause - (now_ms - b->last_ms);
    return left > 0 ? left : 0;
}
