/* SPDX-License-Identifier: Apache-2.0 */
#include "control/sync.h"

#include <time.h>

#include "api/timestamp.h"
#include "base/vec.h"
#include "control/fields.h"

static void sync_end(void *kept)
{
    struct sync *s = kept;
    for (int i = 0; i < SYNC_BATCHES; i++)
        batch_free(s->batches[i]);
    for (int i = 0; i < SYNC_LISTS; i++)
        for (uint32_t k = 0; k < s->lists[i].n; k++)
            object_unref(s->lists[i].v[k]);
    object_unref(s->owner);
}

static struct sync *make(struct work *w, const struct object *owner)
{
    struct sync *s = ARENA_NEW(w->a, struct sync);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *s = (struct sync){.work = w,
                       .a = w->a,
                       .owner = object_ref((struct object *)owner),
                       .now = t.tv_sec,
                       .now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec};
    w->kept = s;
    w->release = sync_end;
    return s;
}

struct sync *sync_begin(struct work *w, const struct informer *owners)
{
    struct sync *s = w->kept;
    const struct object *owner = s ? s->owner : informer_get(owners, w->key);
    if (!owner)
        return NULL;
    bool fresh = !s;
    if (!s)
        s = make(w, owner);
    s->fresh = fresh;
    s->tell = 0;
    return s;
}

void sync_hold(struct sync *s, uint32_t list, const struct object *o)
{
    struct object_list *l = &s->lists[list];
    vec_push_in(s->a, l, object_ref((struct object *)o));
}

bool sync_once(struct sync *s)
{
    bool now = s->tell++ == s->told;
    s->told += now;
    return now;
}

struct str sync_now_text(const struct sync *s)
{
    return timestamp_print(s->now, 0, false, s->a);
}

/* ---- requests ---- */

static enum progress send(struct sync *s, const char *method, struct str path,
                          const struct doc *body, const struct doc **out,
                          const struct client_answer **answer)
{
    enum progress p = work_ask(s->work, method, NULL, path, body, answer);
    if (p == PROGRESS_DONE)
        *out = (*answer)->ok ? work_answer_doc(s->work, *answer) : NULL;
    return p;
}

enum progress sync_put(struct sync *s, const struct client_kind *kind, const char *sub,
                       const struct doc *object, const struct doc **out,
                       const struct client_answer **answer)
{
    struct str path = client_path(kind, field_meta(object, "namespace"),
                                  field_meta(object, "name"), sub, s->a);
    return send(s, "PUT", path, object, out, answer);
}

enum progress sync_post(struct sync *s, const struct client_kind *kind,
                        const struct doc *object, const struct doc **out,
                        const struct client_answer **answer)
{
    struct str path = client_path(kind, s->owner->namespace, STR_NONE, NULL, s->a);
    return send(s, "POST", path, object, out, answer);
}

enum progress sync_delete(struct sync *s, const struct client_kind *kind,
                          const struct doc *object)
{
    const struct client_answer *answer;
    struct str path = client_path(kind, field_meta(object, "namespace"),
                                  field_meta(object, "name"), NULL, s->a);
    enum progress p = work_ask(s->work, "DELETE", NULL, path, NULL, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404)
        return work_fail(s->work, "delete %.*s: %s", STR_ARG(field_meta(object, "name")),
                         answer->message);
    return p;
}

enum progress sync_put_status(struct sync *s, const struct client_kind *kind,
                              const struct doc *object)
{
    const struct client_answer *answer;
    const struct doc *made;
    enum progress p = sync_put(s, kind, "status", object, &made, &answer);
    if (p == PROGRESS_DONE && !answer->ok)
        return work_fail(s->work, "status of %.*s: %s", STR_ARG(s->owner->key),
                         answer->message);
    return p;
}
