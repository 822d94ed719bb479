/* SPDX-License-Identifier: Apache-2.0 */
#include "control/service_accounts.h"

#include "api/edit.h"

enum { NAMESPACES, OWN }; /* of both: the second is what they make */

static const char
    CA_NAME[] = "kube-root-ca.crt",
    NOTE[] = "kubernetes.io/description",
    TEXT[] = "Contains a CA bundle that can be used to verify the kube-apiserver "
             "when using internal endpoints such as the internal service IP or "
             "kubernetes.default.svc. No other usage is guaranteed across "
             "distributions of Kubernetes clusters.";
static const struct client_kind ACCOUNT = {"", "v1", "serviceaccounts", true},
                                MAP = {"", "v1", "configmaps", true};

static void on_own(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    reconciler_add(r, (now ? now : old)->namespace);
}

/* Of a namespace that is there and not about to go. */
static bool is_active(const struct work *w)
{
    const struct object *o =
        informer_get(reconciler_watched(reconciler_of(w), NAMESPACES), w->key);
    return o && doc_is_string(doc_path(o->doc, "status.phase"), "Active");
}

static const struct object *find_own(const struct work *w, const char *name)
{
    return informer_find(reconciler_watched(reconciler_of(w), OWN), w->key,
                         str_from(name));
}

/* A namespace that goes meanwhile refuses: that is as well. So is another's that was
 * faster. */
static enum progress make(struct work *w, const struct client_kind *kind,
                          const struct doc *d)
{
    const struct client_answer *a;
    struct str path = client_path(kind, w->key, STR_NONE, NULL, w->a);
    enum progress p = work_ask(w, "POST", NULL, path, d, &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404 || a->status == 409)
        return p;
    if (a->status == 403 &&
        str_find(str_from(a->message), STR("being terminated")) != SIZE_MAX)
        return p;
    return work_fail(w, "%s", a->message);
}

static enum progress sync_account(struct work *w)
{
    struct doc d = doc_make_map(), meta = doc_make_map();
    if (!is_active(w) || find_own(w, "default"))
        return PROGRESS_DONE;
    doc_set_text(w->a, &meta, "name", STR("default"));
    doc_set(w->a, &d, "metadata", meta);
    return make(w, &ACCOUNT, &d);
}

/* ---- kube-root-ca.crt ---- */

static struct doc ca_data(struct work *w)
{
    struct doc data = doc_make_map();
    doc_set_text(w->a, &data, "ca.crt", reconciler_settings(reconciler_of(w))->root_ca);
    return data;
}

static enum progress make_map(struct work *w)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), notes = doc_make_map();
    doc_set_text(w->a, &notes, NOTE, str_from(TEXT));
    doc_set_text(w->a, &meta, "name", str_from(CA_NAME));
    doc_set(w->a, &meta, "annotations", notes);
    doc_set(w->a, &d, "metadata", meta);
    doc_set(w->a, &d, "data", ca_data(w));
    return make(w, &MAP, &d);
}

static bool is_right(const struct object *o, const struct doc *data)
{
    const struct doc *notes = doc_path(o->doc, "metadata.annotations"),
                     *have = doc_get(o->doc, "data");
    return have && doc_equal(have, data) && doc_get_text(notes, NOTE).n > 0;
}

static enum progress mend_map(struct work *w, const struct object *o)
{
    const struct client_answer *a;
    struct doc d = doc_dup(w->a, o->doc), data = ca_data(w);
    struct doc *meta = api_edit_get(&d, "metadata"),
               *notes = api_edit_get(meta, "annotations");
    if (is_right(o, &data))
        return PROGRESS_DONE;
    doc_set(w->a, &d, "data", data);
    if (!notes)
        notes = doc_set(w->a, meta, "annotations", doc_make_map());
    doc_set_text(w->a, notes, NOTE, str_from(TEXT));
    enum progress p =
        work_ask(w, "PUT", NULL, client_path(&MAP, w->key, o->name, NULL, w->a), &d, &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

static enum progress sync_ca(struct work *w)
{
    const struct object *o = find_own(w, CA_NAME);
    if (!reconciler_settings(reconciler_of(w))->root_ca.n || !is_active(w))
        return PROGRESS_DONE;
    return o ? mend_map(w, o) : make_map(w);
}

const struct reconciler_def service_accounts = {
    .work = sync_account,
    .workers = 5,
    .watches =
        {
            {.kind = {"", "v1", "namespaces", false}},
            {.kind = {"", "v1", "serviceaccounts", true},
             .changed = on_own,
             .fields = "metadata.name=default",
             .metadata = true},
        },
};

const struct reconciler_def root_ca_publisher = {
    .work = sync_ca,
    .workers = 5,
    .watches =
        {
            {.kind = {"", "v1", "namespaces", false}},
            {.kind = {"", "v1", "configmaps", true},
             .changed = on_own,
             .fields = "metadata.name=kube-root-ca.crt"},
        },
};
