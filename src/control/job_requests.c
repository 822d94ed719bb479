/* SPDX-License-Identifier: Apache-2.0 */
/* A Job's pods: made, deleted, and let go of their finalizers. */
#include "control/fields.h"
#include "control/job_inner.h"

enum { BATCH_UNTRACK, BATCH_DELETE, BATCH_MAKE, BATCH_RELEASE };

static const char PATCH[] =
    "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"" JOB_FINALIZER "\"]}}";

static struct podwork podwork(struct jobs *j, bool *fine)
{
    return (struct podwork){&j->expect, j->events, &job_kind, fine};
}

/* ---- finalizers ---- */

struct release {
    struct jobs *jobs;
    struct sync *sync;
    const struct batch_request *first;
    bool *ok;
};

static bool is_released(const struct client_answer *answer)
{
    return answer->ok || answer->status == 404;
}

static void on_released(void *ctx, const struct batch_request *q,
                        const struct client_answer *answer)
{
    const struct release *r = ctx;
    const struct object *pod = q->ctx;
    r->ok[q - r->first] = is_released(answer);
    if (!answer->ok)
        expect_saw_gone(&r->jobs->released, r->sync->owner->key, pod->uid);
}

static void on_skipped(void *ctx, const struct batch_request *q)
{
    (void)ctx;
    (void)q;
}

static void on_done(void *ctx)
{
    const struct release *r = ctx;
    r->sync->work->steps.again(r->sync->work->steps.ctx);
}

static struct batch *start(struct jobs *j, struct sync *s, const struct job_list *list,
                           bool *ok)
{
    static const struct batch_ops OPS = {on_released, on_skipped, is_released, on_done};
    struct batch_request *all = ARENA_ARRAY(s->a, struct batch_request, list->n + 1);
    struct release *r = ARENA_NEW(s->a, struct release);
    struct client *c = s->work->steps.client;
    struct doc_source src = {.name = "patch", .text = STR(PATCH)};
    struct doc *patch = ARENA_NEW(s->a, struct doc);
    doc_read_json(&src, s->a, patch, NULL);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct object *pod = list->v[i]->o;
        all[i] = (struct batch_request){
            .method = "PATCH",
            .type = "application/strategic-merge-patch+json",
            .path = client_path(&pods_kind, pod->namespace, pod->name, NULL, s->a),
            .body = patch,
            .ctx = (void *)pod};
        expect_gone(&j->released, s->owner->key, pod->uid, net_now_ms(client_loop(c)));
    }
    *r = (struct release){j, s, all, ok};
    return batch_new(c, all, list->n, 0, &OPS, r);
}

static enum progress release(struct jobs *j, struct sync *s, uint32_t slot,
                             const struct job_list *list, bool *ok, const char **failure)
{
    if (!s->batches[slot])
        s->batches[slot] = start(j, s, list, ok);
    if (!batch_is_done(s->batches[slot]))
        return PROGRESS_WAIT;
    *failure = batch_failure(s->batches[slot]);
    return PROGRESS_DONE;
}

enum progress job_release(struct jobs *j, struct sync *s, const struct job_list *list,
                          bool *ok, const char **failure)
{
    return release(j, s, BATCH_RELEASE, list, ok, failure);
}

/* ---- deleting ---- */

/* What is deleted because it is too much counts as nothing: it is let go before. */
static enum progress untrack(struct jobs *j, struct sync *s, const struct job_plan *p,
                             bool *ok, const char **failure)
{
    struct job_list tracked = {ARENA_ARRAY(s->a, const struct job_pod *, p->doomed.n + 1),
                               0, p->doomed.n};
    *failure = NULL;
    for (uint32_t i = 0; i < p->doomed.n; i++)
        if (p->doomed.v[i]->finalizer)
            tracked.v[tracked.n++] = p->doomed.v[i];
    return p->keep_finalizers ? PROGRESS_DONE
                              : release(j, s, BATCH_UNTRACK, &tracked, ok, failure);
}

static enum progress delete_pods(struct jobs *j, struct sync *s, const struct job_plan *p,
                                 bool *fine, const char **failure)
{
    struct podwork how = podwork(j, fine);
    const struct object **pods =
        ARENA_ARRAY(s->a, const struct object *, p->doomed.n + 1);
    for (uint32_t i = 0; i < p->doomed.n; i++)
        pods[i] = p->doomed.v[i]->o;
    return podwork_delete(s, &how, BATCH_DELETE, pods, p->doomed.n, failure);
}

/* ---- making ---- */

static void add_index_variables(struct doc *spec, const char *list, struct arena *a)
{
    static const char VARIABLE[] =
        "{\"name\":\"JOB_COMPLETION_INDEX\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
        "\"metadata.labels['" JOB_INDEX "']\"}}}";
    const struct doc *containers = field_list(spec, list);
    for (uint32_t i = 0; i < containers->n; i++) {
        struct doc *c = &containers->items[i], variable;
        const struct doc *known = field_list(c, "env");
        struct doc_source src = {.name = "variable", .text = STR(VARIABLE)};
        bool there = false;
        for (uint32_t k = 0; k < known->n; k++)
            there |=
                doc_is_string(doc_get(&known->items[k], "name"), "JOB_COMPLETION_INDEX");
        if (there || !doc_read_json(&src, a, &variable, NULL))
            continue;
        struct doc *env =
            known->n ? (struct doc *)known : doc_set(a, c, "env", doc_make_list());
        doc_append(a, env, variable);
    }
}

static struct doc make_template(const struct job_look *l)
{
    struct doc t = doc_dup(l->a, doc_path(l->v.doc, "spec.template"));
    struct doc *meta = field_make(l->a, &t, "metadata");
    struct doc names = doc_make_list();
    const struct doc *old = field_list(&t, "metadata.finalizers");
    for (uint32_t i = 0; i < old->n; i++)
        doc_append(l->a, &names, old->items[i]);
    if (!job_pod_is_tracked(&t))
        doc_append(l->a, &names, doc_make_string(l->a, STR(JOB_FINALIZER)));
    doc_set(l->a, meta, "finalizers", names);
    if (l->v.indexed) {
        add_index_variables(field_make(l->a, &t, "spec"), "containers", l->a);
        add_index_variables(field_make(l->a, &t, "spec"), "initContainers", l->a);
    }
    return t;
}

/* "JOB-3-", cut so that the server can make it a name. */
static struct str prefix_of(struct str job, int64_t index, struct arena *a)
{
    enum { PREFIX_MAX = 58 };
    struct str end = arena_printf(a, "-%lld-", (long long)index);
    size_t room = PREFIX_MAX - end.n;
    return arena_printf(a, "%.*s%.*s", (int)(job.n < room ? job.n : room), job.p,
                        STR_ARG(end));
}

/* How often its index has failed before it. */
static void note_failures(const struct job_look *l, struct doc *pod, int64_t index)
{
    const struct job_pod *last = job_awaited(l, index);
    bool ignored = last && last->action == JOB_IGNORE;
    int64_t failures = last ? last->failures + !ignored : 0,
            others = last ? last->ignored + ignored : 0;
    field_set_meta(l->a, pod, "annotations", JOB_INDEX_FAILURES,
                   arena_printf(l->a, "%lld", (long long)failures));
    if (others)
        field_set_meta(l->a, pod, "annotations", JOB_INDEX_IGNORED,
                       arena_printf(l->a, "%lld", (long long)others));
}

static void set_index(const struct job_look *l, struct doc *pod, int64_t index)
{
    struct arena *a = l->a;
    struct str text = arena_printf(a, "%lld", (long long)index);
    field_set_meta(a, pod, "annotations", JOB_INDEX, text);
    field_set_meta(a, pod, "labels", JOB_INDEX, text);
    doc_set_text(a, field_make(a, pod, "metadata"), "generateName",
                 prefix_of(l->v.name, index, a));
    doc_set_text(a, field_make(a, pod, "spec"), "hostname",
                 arena_printf(a, "%.*s-%.*s", STR_ARG(l->v.name), STR_ARG(text)));
    if (l->v.per_index)
        note_failures(l, pod, index);
}

static struct doc *make_indexed(struct sync *s, const struct job_look *l,
                                const struct job_plan *p, const struct doc *template)
{
    struct doc *pods = ARENA_ARRAY(s->a, struct doc, p->nmake + 1);
    for (uint32_t i = 0; i < p->nmake; i++) {
        pods[i] = pod_make(template, &job_kind, s->owner, s->a);
        set_index(l, &pods[i], p->indexes[i]);
    }
    return pods;
}

static enum progress make_pods(struct jobs *j, struct sync *s, const struct job_look *l,
                               const struct job_plan *p, bool *fine, const char **failure)
{
    struct podwork how = podwork(j, fine);
    *failure = NULL;
    if (!p->nmake)
        return PROGRESS_DONE;
    if (s->batches[BATCH_MAKE])
        return podwork_make(s, &how, BATCH_MAKE, NULL, p->nmake, 1, failure);
    struct doc template = make_template(l);
    if (p->indexes)
        return podwork_make(s, &how, BATCH_MAKE, make_indexed(s, l, p, &template),
                            p->nmake, 1, failure);
    struct doc pod = pod_make(&template, &job_kind, s->owner, s->a);
    return podwork_make_alike(s, &how, BATCH_MAKE, &pod, p->nmake, 1, failure);
}

/* ---- the plan ---- */

/* What was asked in the first round is written where later rounds find it. */
static bool *results(struct sync *s, bool **kept, uint32_t n)
{
    if (!*kept)
        *kept = ARENA_ARRAY(s->a, bool, n + 1);
    return *kept;
}

static void sum_up(const struct job_plan *p, struct job_done *d)
{
    *d = (struct job_done){.deleted_fine = d->deleted_fine,
                           .made_fine = d->made_fine,
                           .untracked = d->untracked};
    for (uint32_t i = 0; i < p->doomed.n; i++) {
        d->deleted += d->deleted_fine[i];
        d->deleted_ready += d->deleted_fine[i] && p->doomed.v[i]->ready;
    }
    for (uint32_t i = 0; i < p->nmake; i++)
        d->unmade += !d->made_fine[i];
}

enum progress job_carry_out(struct jobs *j, struct sync *s, const struct job_look *l,
                            const struct job_plan *p, struct job_done *d,
                            const char **failure)
{
    bool *untracked = results(s, &d->untracked, p->doomed.n),
         *deleted = results(s, &d->deleted_fine, p->doomed.n),
         *made = results(s, &d->made_fine, p->nmake);
    enum progress one = untrack(j, s, p, untracked, failure);
    if (one == PROGRESS_DONE && !*failure)
        one = delete_pods(j, s, p, deleted, failure);
    const char *unmade = NULL;
    enum progress two = make_pods(j, s, l, p, made, &unmade);
    if (one != PROGRESS_DONE || two != PROGRESS_DONE)
        return PROGRESS_WAIT;
    *failure = *failure ? *failure : unmade;
    sum_up(p, d);
    return PROGRESS_DONE;
}
