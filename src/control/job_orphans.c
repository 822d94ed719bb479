/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods with the finalizer of Jobs that no job will count: theirs is over or gone, or they
 * are nobody's. Nobody else takes it off, and they could never go.
 */
#include "api/claim_refs.h"
#include "control/fields.h"
#include "control/job_inner.h"

/* The job that counts it; NULL: none does. */
static const struct object *job_of(const struct jobs *j, const struct doc *controller,
                                   struct str namespace)
{
    const struct object *job = informer_find(shared_informer(j->jobs), namespace,
                                             doc_get_text(controller, "name"));
    return job && str_eq(job->uid, doc_get_text(controller, "uid")) ? job : NULL;
}

static bool is_of_job(const struct doc *controller)
{
    return doc_is_string(doc_get(controller, "kind"), job_kind.name) &&
           doc_is_string(doc_get(controller, "apiVersion"), job_kind.api_version);
}

bool job_pod_is_orphan(const struct jobs *j, const struct object *pod)
{
    const struct doc *controller = claim_ref_controller(pod->doc);
    if (!job_pod_is_tracked(pod->doc) || (controller && !is_of_job(controller)))
        return false;
    const struct object *job = controller ? job_of(j, controller, pod->namespace) : NULL;
    return !job || (job_is_finished(job->doc) && !job_is_foreign(job->doc));
}

void job_orphans_add(struct jobs *j, const struct object *job)
{
    uint32_t n = 0;
    const struct str *keys = j->pods ? shared_owned(j->pods, job->uid, &n) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct object *pod = informer_get(shared_informer(j->pods), keys[i]);
        if (pod && job_pod_is_tracked(pod->doc))
            worker_add(j->orphans, pod->key);
    }
}

static struct doc make_patch(struct arena *a, struct str uid)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), names = doc_make_list();
    doc_append(a, &names, doc_make_string(a, STR(JOB_FINALIZER)));
    doc_set_text(a, &meta, "uid", uid);
    doc_set(a, &meta, "$deleteFromPrimitiveList/finalizers", names);
    doc_set(a, &d, "metadata", meta);
    return d;
}

/* A refusal for its uid: it is another pod by now, and was told of then. */
enum progress job_orphan_work(struct work *w)
{
    struct jobs *j = w->ctx;
    const struct object *pod = informer_get(shared_informer(j->pods), w->key);
    const struct client_answer *answer;
    if (!pod || !shared_synced(j->jobs) || !job_pod_is_orphan(j, pod))
        return PROGRESS_DONE;
    struct doc patch = make_patch(w->a, pod->uid);
    enum progress p = work_ask(
        w, "PATCH", "application/strategic-merge-patch+json",
        client_path(&pods_kind, pod->namespace, pod->name, NULL, w->a), &patch, &answer);
    bool gone = p == PROGRESS_DONE && (answer->status == 404 || answer->status == 409);
    if (p == PROGRESS_DONE && !answer->ok && !gone)
        return work_fail(w, "finalizer of pod %.*s: %s", STR_ARG(w->key),
                         answer->message);
    return p;
}
