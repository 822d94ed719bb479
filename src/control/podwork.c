/* SPDX-License-Identifier: Apache-2.0 */
#include "control/podwork.h"

#include "control/fields.h"

struct job {
    struct sync *sync;
    struct podwork how;
    const struct batch_request *first;
};

static void tell(const struct job *j, const char *type, const char *reason,
                 struct str message)
{
    struct event_about about = {j->how.owners->api_version, j->how.owners->name,
                                j->sync->owner->doc};
    events_tell(j->how.events, &about, type, reason, message);
}

/* The sync goes on, and may end with it. */
static void on_done(void *ctx)
{
    const struct job *j = ctx;
    j->sync->work->steps.again(j->sync->work->steps.ctx);
}

static void note_fine(const struct job *j, const struct batch_request *q, bool fine)
{
    if (j->how.fine)
        j->how.fine[q - j->first] = fine;
}

static struct job *make_job(struct sync *s, const struct podwork *how,
                            const struct batch_request *first)
{
    struct job *j = ARENA_NEW(s->a, struct job);
    *j = (struct job){s, *how, first};
    return j;
}

static enum progress result(const struct batch *b, const char **failure)
{
    if (!batch_is_done(b))
        return PROGRESS_WAIT;
    *failure = batch_failure(b);
    return PROGRESS_DONE;
}

static uint64_t now_ms(const struct sync *s)
{
    return net_now_ms(client_loop(s->work->steps.client));
}

/* ---- making ---- */

bool podwork_is_terminating(const struct client_answer *answer)
{
    struct arena a;
    struct doc status;
    struct doc_source src = {.name = "status", .text = answer->body};
    bool found = false;
    if (answer->ok || !answer->body.n)
        return false;
    arena_init(&a);
    if (doc_read_json(&src, &a, &status, NULL)) {
        const struct doc *causes = field_list(&status, "details.causes");
        for (uint32_t i = 0; i < causes->n && !found; i++)
            found = doc_is_string(doc_get(&causes->items[i], "reason"),
                                  "NamespaceTerminating");
    }
    arena_fini(&a);
    return found;
}

static void tell_made(const struct job *j, const struct client_answer *answer)
{
    struct doc_source src = {.name = "pod", .text = answer->body};
    struct doc pod;
    if (doc_read_json(&src, j->sync->a, &pod, NULL))
        tell(j, "Normal", "SuccessfulCreate",
             arena_printf(j->sync->a, "Created pod: %.*s",
                          STR_ARG(field_meta(&pod, "name"))));
}

static bool is_made(const struct client_answer *answer)
{
    return answer->ok || podwork_is_terminating(answer);
}

static void on_made(void *ctx, const struct batch_request *q,
                    const struct client_answer *answer)
{
    const struct job *j = ctx;
    note_fine(j, q, is_made(answer));
    if (answer->ok) {
        tell_made(j, answer);
        return;
    }
    if (j->how.expect)
        expect_saw_made(j->how.expect, j->sync->owner->key);
    if (!podwork_is_terminating(answer))
        tell(j, "Warning", "FailedCreate",
             arena_printf(j->sync->a, "Error creating: %s", answer->message));
}

static void on_not_made(void *ctx, const struct batch_request *q)
{
    const struct job *j = ctx;
    (void)q;
    if (j->how.expect)
        expect_saw_made(j->how.expect, j->sync->owner->key);
}

static struct batch *start_making(struct sync *s, const struct podwork *how,
                                  const struct doc *pods, uint32_t n, uint32_t step,
                                  uint32_t first)
{
    static const struct batch_ops OPS = {on_made, on_not_made, is_made, on_done};
    struct batch_request *all = ARENA_ARRAY(s->a, struct batch_request, n);
    struct str path = client_path(&pods_kind, s->owner->namespace, STR_NONE, NULL, s->a);
    for (uint32_t i = 0; i < n; i++) {
        struct doc *body = ARENA_NEW(s->a, struct doc);
        *body = pods[i * step];
        all[i] = (struct batch_request){.method = "POST", .path = path, .body = body};
    }
    if (how->expect)
        expect_made(how->expect, s->owner->key, n, now_ms(s));
    return batch_new(s->work->steps.client, all, n, first, &OPS, make_job(s, how, all));
}

enum progress podwork_make(struct sync *s, const struct podwork *how, uint32_t slot,
                           const struct doc *pods, uint32_t n, uint32_t first,
                           const char **failure)
{
    if (!s->batches[slot])
        s->batches[slot] = start_making(s, how, pods, n, 1, first);
    return result(s->batches[slot], failure);
}

enum progress podwork_make_alike(struct sync *s, const struct podwork *how, uint32_t slot,
                                 const struct doc *pod, uint32_t n, uint32_t first,
                                 const char **failure)
{
    if (!s->batches[slot])
        s->batches[slot] = start_making(s, how, pod, n, 0, first);
    return result(s->batches[slot], failure);
}

/* ---- deleting ---- */

static bool is_deleted(const struct client_answer *answer)
{
    return answer->ok || answer->status == 404;
}

static void on_deleted(void *ctx, const struct batch_request *q,
                       const struct client_answer *answer)
{
    const struct job *j = ctx;
    const struct object *pod = q->ctx;
    note_fine(j, q, is_deleted(answer));
    if (answer->ok) {
        tell(j, "Normal", "SuccessfulDelete",
             arena_printf(j->sync->a, "Deleted pod: %.*s", STR_ARG(pod->name)));
        return;
    }
    if (j->how.expect)
        expect_saw_gone(j->how.expect, j->sync->owner->key, pod->uid);
    if (answer->status != 404)
        tell(j, "Warning", "FailedDelete",
             arena_printf(j->sync->a, "Error deleting: %s", answer->message));
}

static void on_not_deleted(void *ctx, const struct batch_request *q)
{
    const struct job *j = ctx;
    const struct object *pod = q->ctx;
    if (j->how.expect)
        expect_saw_gone(j->how.expect, j->sync->owner->key, pod->uid);
}

static struct batch *start_deleting(struct sync *s, const struct podwork *how,
                                    const struct object *const *pods, uint32_t n)
{
    static const struct batch_ops OPS = {on_deleted, on_not_deleted, is_deleted, on_done};
    struct batch_request *all = ARENA_ARRAY(s->a, struct batch_request, n);
    for (uint32_t i = 0; i < n; i++) {
        all[i] =
            (struct batch_request){.method = "DELETE",
                                   .path = client_path(&pods_kind, pods[i]->namespace,
                                                       pods[i]->name, NULL, s->a),
                                   .ctx = (void *)pods[i]};
        if (how->expect)
            expect_gone(how->expect, s->owner->key, pods[i]->uid, now_ms(s));
    }
    return batch_new(s->work->steps.client, all, n, 0, &OPS, make_job(s, how, all));
}

enum progress podwork_delete(struct sync *s, const struct podwork *how, uint32_t slot,
                             const struct object *const *pods, uint32_t n,
                             const char **failure)
{
    if (!s->batches[slot])
        s->batches[slot] = start_deleting(s, how, pods, n);
    return result(s->batches[slot], failure);
}
