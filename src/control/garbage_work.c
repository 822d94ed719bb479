/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the garbage collector does about one object. The graph says where to look; what
 * happens is decided by what the server says at that moment, so that a graph that is
 * behind deletes nothing. An owner that the graph knows to be there needs no question:
 * when it goes, that is told.
 */
#include "control/garbage_inner.h"

enum { SOON_MS = 1000, PATIENT_TRIES = 3 };

static const char STRATEGIC[] = "application/strategic-merge-patch+json",
                  MERGE[] = "application/merge-patch+json";

static struct garbage *garbage_of(const struct work *w)
{
    return w->ctx;
}

/* Tried again, and nobody is told. */
static enum progress try_again(struct work *w)
{
    (void)w;
    return PROGRESS_FAILED;
}

/* ---- where things are ---- */

/* The path of an object. DONE, or FAILED: of a kind that is not known, which may change,
 * or of one that has namespaces without having one, which never will. */
static enum progress find_path(struct work *w, struct str api_version, struct str kind,
                               struct str namespace, struct str name, struct str *path)
{
    struct resources *known = garbage_of(w)->resources;
    const struct resource *r = resources_find(known, api_version, kind);
    if (!r) {
        resources_look(known);
        return try_again(w);
    }
    w->hopeless = r->kind.namespaced && !namespace.n;
    if (w->hopeless)
        return PROGRESS_FAILED;
    *path = client_path(&r->kind, r->kind.namespaced ? namespace : STR_NONE, name, NULL,
                        w->a);
    return PROGRESS_DONE;
}

/* *out: its metadata as the server has it; NULL: it has none of that uid. */
static enum progress get_live(struct work *w, struct str path, struct str uid,
                              const struct doc **out)
{
    const struct client_answer *a;
    enum progress p = work_ask_metadata(w, path, false, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(w, a) : NULL;
    if (!d && a->status != 404)
        return work_fail(w, "%s", a->message);
    const struct doc *meta = doc_get(d, "metadata");
    *out = str_eq(doc_get_text(meta, "uid"), uid) ? meta : NULL;
    return PROGRESS_DONE;
}

struct item { /* an object that is worked on */
    struct garbage_node *node;
    struct garbage_identity id; /* in the work's arena */
    struct str path;
    const struct doc *meta; /* as the server has it */
};

static struct garbage_identity copy_id(const struct garbage_identity *id, struct arena *a)
{
    return (struct garbage_identity){arena_str(a, id->api_version),
                                     arena_str(a, id->kind), arena_str(a, id->namespace),
                                     arena_str(a, id->name), arena_str(a, id->uid)};
}

/* meta NULL when it is DONE: there is no such object, and the graph knows by now. */
static enum progress find_item(struct work *w, struct garbage_node *n, struct item *out)
{
    *out = (struct item){.node = n, .id = copy_id(&n->id, w->a)};
    const struct garbage_identity *id = &out->id;
    enum progress p =
        find_path(w, id->api_version, id->kind, id->namespace, id->name, &out->path);
    if (p == PROGRESS_DONE)
        p = get_live(w, out->path, id->uid, &out->meta);
    if (p == PROGRESS_DONE && !out->meta)
        garbage_graph_absent(&garbage_of(w)->graph, id);
    return p;
}

/* ---- writing ---- */

static struct doc text(struct work *w, struct str s)
{
    return doc_make_string(w->a, s);
}

static struct doc in_metadata(struct work *w, struct doc meta)
{
    struct doc d = doc_make_map();
    doc_set(w->a, &d, "metadata", meta);
    return d;
}

/* What a write was answered: gone is as good as done, a conflict is tried again. */
static enum progress judge(struct work *w, const struct item *i,
                           const struct client_answer *a)
{
    if (a->status == 404)
        garbage_graph_absent(&garbage_of(w)->graph, &i->id);
    else if (a->status == 409)
        return try_again(w);
    else if (!a->ok)
        return work_fail(w, "%.*s: %s", STR_ARG(i->path), a->message);
    return PROGRESS_DONE;
}

static enum progress patch(struct work *w, const struct item *i, const char *type,
                           struct doc meta)
{
    const struct client_answer *a;
    struct doc body = in_metadata(w, meta);
    enum progress p = work_ask(w, "PATCH", type, i->path, &body, &a);
    return p == PROGRESS_DONE ? judge(w, i, a) : p;
}

/* A patch by lists' keys, which no other write is in the way of; kinds that know of no
 * keys (custom ones) take whole lists, at the version that was seen. */
static enum progress patch_owners(struct work *w, const struct item *i,
                                  struct doc changes, struct doc whole)
{
    const struct client_answer *a;
    struct doc meta = doc_make_map();
    doc_set(w->a, &meta, "uid", text(w, i->id.uid));
    doc_set(w->a, &meta, "ownerReferences", changes);
    struct doc body = in_metadata(w, meta);
    enum progress p = work_ask(w, "PATCH", STRATEGIC, i->path, &body, &a);
    if (p != PROGRESS_DONE || a->status != 415)
        return p == PROGRESS_DONE ? judge(w, i, a) : p;
    meta = doc_make_map();
    doc_set(w->a, &meta, "resourceVersion",
            text(w, doc_get_text(i->meta, "resourceVersion")));
    doc_set(w->a, &meta, "ownerReferences", whole);
    return patch(w, i, MERGE, meta);
}

static const struct doc *owners_of(const struct doc *meta)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *list = doc_get(meta, "ownerReferences");
    return list && list->type == DOC_LIST ? list : &NONE;
}

static bool is_in(const struct doc *uids, struct str uid)
{
    for (uint32_t i = 0; i < uids->n; i++)
        if (str_eq(doc_str(&uids->items[i]), uid))
            return true;
    return false;
}

/* Takes references with these uids out. */
static enum progress drop_owners(struct work *w, const struct item *i,
                                 const struct doc *uids)
{
    const struct doc *list = owners_of(i->meta);
    struct doc changes = doc_make_list(), whole = doc_make_list();
    for (uint32_t n = 0; n < uids->n; n++) {
        struct doc change = doc_make_map();
        doc_set(w->a, &change, "$patch", text(w, STR("delete")));
        doc_set(w->a, &change, "uid", uids->items[n]);
        doc_append(w->a, &changes, change);
    }
    for (uint32_t n = 0; n < list->n; n++)
        if (!is_in(uids, doc_get_text(&list->items[n], "uid")))
            doc_append(w->a, &whole, list->items[n]);
    return patch_owners(w, i, changes, whole);
}

/* Its owners are no longer held up by it. */
static enum progress unblock_owners(struct work *w, const struct item *i)
{
    const struct doc *list = owners_of(i->meta);
    struct doc changes = doc_make_list(), whole = doc_make_list();
    for (uint32_t n = 0; n < list->n; n++) {
        struct doc owner = doc_dup(w->a, &list->items[n]);
        bool blocks = false;
        doc_get_bool(&owner, "blockOwnerDeletion", &blocks);
        doc_set(w->a, &owner, "blockOwnerDeletion", doc_make_bool(false));
        doc_append(w->a, &whole, owner);
        if (blocks)
            doc_append(w->a, &changes, owner);
    }
    return changes.n ? patch_owners(w, i, changes, whole) : PROGRESS_DONE;
}

static bool has_finalizer(const struct doc *meta, const char *name)
{
    const struct doc *list = doc_get(meta, "finalizers");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(&list->items[i], name))
            return true;
    return false;
}

/* Not before the graph is whole: a dependent that is not known yet would be forgotten. */
static enum progress drop_finalizer(struct work *w, const struct item *i,
                                    const char *name)
{
    const struct doc *list = doc_get(i->meta, "finalizers");
    struct doc meta = doc_make_map(), left = doc_make_list();
    if (!has_finalizer(i->meta, name))
        return PROGRESS_DONE;
    if (!garbage_is_complete(garbage_of(w))) {
        w->again_ms = SOON_MS;
        return PROGRESS_DONE;
    }
    for (uint32_t n = 0; n < list->n; n++)
        if (!doc_is_string(&list->items[n], name))
            doc_append(w->a, &left, list->items[n]);
    doc_set(w->a, &meta, "resourceVersion",
            text(w, doc_get_text(i->meta, "resourceVersion")));
    doc_set(w->a, &meta, "finalizers", left);
    return patch(w, i, MERGE, meta);
}

/* As it was seen; one that is written to all the time is deleted, after some tries,
 * whatever its version. */
static enum progress delete (struct work *w, const struct item *i, const char *policy) {
    const struct client_answer *a;
    struct doc options = doc_make_map(), as = doc_make_map();
    doc_set(w->a, &as, "uid", text(w, i->id.uid));
    if (worker_failures(w->worker, w->key) < PATIENT_TRIES)
        doc_set(w->a, &as, "resourceVersion",
                text(w, doc_get_text(i->meta, "resourceVersion")));
    doc_set(w->a, &options, "preconditions", as);
    doc_set(w->a, &options, "propagationPolicy", text(w, str_from(policy)));
    enum progress p = work_ask(w, "DELETE", NULL, i->path, &options, &a);
    return p == PROGRESS_DONE ? judge(w, i, a) : p;
}

/* ---- owners ---- */

enum owner_state { OWNER_SOLID, OWNER_DANGLING, OWNER_WAITING };

static struct garbage_owner read_owner(const struct doc *d)
{
    return (struct garbage_owner){doc_get_text(d, "apiVersion"), doc_get_text(d, "kind"),
                                  doc_get_text(d, "name"), doc_get_text(d, "uid"), false};
}

static bool is_known_solid(const struct garbage *g, const struct item *i,
                           const struct garbage_owner *o)
{
    const struct garbage_node *n = garbage_graph_find(&g->graph, o->uid);
    return n && !n->virtual && !garbage_meta(n)->deleted &&
           garbage_is_sound(i->node, o, n);
}

static enum progress ask_owner(struct work *w, const struct item *i,
                               const struct garbage_owner *o, enum owner_state *out)
{
    struct str path;
    const struct doc *meta;
    enum progress p =
        find_path(w, o->api_version, o->kind, i->id.namespace, o->name, &path);
    if (p == PROGRESS_DONE)
        p = get_live(w, path, o->uid, &meta);
    if (p != PROGRESS_DONE)
        return p;
    if (!meta) {
        garbage_graph_note_absent(&garbage_of(w)->graph, o, i->id.namespace);
        *out = OWNER_DANGLING;
    } else {
        bool waits = doc_get_text(meta, "deletionTimestamp").n &&
                     has_finalizer(meta, "foregroundDeletion");
        *out = waits ? OWNER_WAITING : OWNER_SOLID;
    }
    return PROGRESS_DONE;
}

static enum progress classify(struct work *w, const struct item *i,
                              const struct garbage_owner *o, enum owner_state *out)
{
    const struct garbage *g = garbage_of(w);
    if (garbage_graph_is_absent(&g->graph, o, i->id.namespace))
        *out = OWNER_DANGLING;
    else if (is_known_solid(g, i, o))
        *out = OWNER_SOLID;
    else
        return ask_owner(w, i, o, out);
    return PROGRESS_DONE;
}

struct owners { /* how many there are of which state */
    uint32_t solid, waiting;
    struct doc others; /* uids of those that are not solid */
};

/* All of them are asked for before the first answer is waited for. */
static enum progress classify_all(struct work *w, const struct item *i,
                                  struct owners *out)
{
    const struct doc *list = owners_of(i->meta);
    enum progress all = PROGRESS_DONE;
    *out = (struct owners){.others = doc_make_list()};
    for (uint32_t n = 0; n < list->n; n++) {
        struct garbage_owner o = read_owner(&list->items[n]);
        enum owner_state state = OWNER_SOLID;
        enum progress p = classify(w, i, &o, &state);
        if (p == PROGRESS_FAILED)
            return p;
        if (p == PROGRESS_WAIT)
            all = p;
        out->solid += state == OWNER_SOLID;
        out->waiting += state == OWNER_WAITING;
        if (state != OWNER_SOLID)
            doc_append(w->a, &out->others, text(w, o.uid));
    }
    return all;
}

/* ---- checks ---- */

static bool holds_up(const struct garbage_node *dependent, struct str uid)
{
    const struct garbage_meta *m = garbage_meta(dependent);
    for (uint32_t i = 0; m && i < m->nowners; i++)
        if (m->owners[i].blocks && str_eq(m->owners[i].uid, uid))
            return true;
    return false;
}

/* An object that waits for dependents to go first. */
static enum progress await_dependents(struct work *w, const struct item *i)
{
    struct garbage *g = garbage_of(w);
    bool blocked = false;
    for (const struct garbage_edge *e = i->node->dependents; e; e = e->next) {
        if (!holds_up(e->dependent, i->id.uid))
            continue;
        blocked = true;
        if (!garbage_is_waiting(e->dependent))
            g->graph.ops->task(g, GARBAGE_CHECK, e->dependent);
    }
    return blocked ? PROGRESS_DONE : drop_finalizer(w, i, "foregroundDeletion");
}

static bool has_waiting_dependent(const struct garbage_node *n)
{
    for (const struct garbage_edge *e = n->dependents; e; e = e->next)
        if (garbage_is_waiting(e->dependent))
            return true;
    return false;
}

/* Its owners wait for it, and it has dependents itself. If one of those waits too there
 * may be a circle, in which nobody would ever go first. */
static enum progress delete_foreground(struct work *w, const struct item *i)
{
    enum progress p = PROGRESS_DONE;
    if (has_waiting_dependent(i->node))
        p = unblock_owners(w, i);
    return p == PROGRESS_DONE ? delete (w, i, "Foreground") : p;
}

static enum progress delete_item(struct work *w, const struct item *i)
{
    if (has_finalizer(i->meta, "orphan"))
        return delete (w, i, "Orphan");
    return delete (
        w, i, has_finalizer(i->meta, "foregroundDeletion") ? "Foreground" : "Background");
}

static enum progress decide(struct work *w, const struct item *i)
{
    struct owners owners;
    if (!owners_of(i->meta)->n)
        return PROGRESS_DONE;
    enum progress p = classify_all(w, i, &owners);
    if (p != PROGRESS_DONE)
        return p;
    if (owners.solid)
        return owners.others.n ? drop_owners(w, i, &owners.others) : PROGRESS_DONE;
    if (owners.waiting && i->node->dependents)
        return delete_foreground(w, i);
    return delete_item(w, i);
}

static enum progress check(struct work *w, struct garbage_node *n)
{
    const struct garbage_meta *m = garbage_meta(n);
    bool virtual = n->virtual;
    struct item i;
    if (m && m->deleted && !m->foreground)
        return PROGRESS_DONE; /* its end will be told */
    enum progress p = find_item(w, n, &i);
    if (p != PROGRESS_DONE || !i.meta)
        return p;
    p = m && garbage_is_waiting(n) ? await_dependents(w, &i) : decide(w, &i);
    /* Until it is told of: it might have come and gone between two watches. */
    return p == PROGRESS_DONE && virtual ? try_again(w) : p;
}

/* ---- orphans ---- */

static enum progress release(struct work *w, struct garbage_node *n)
{
    const struct garbage_meta *m = garbage_meta(n);
    struct doc uids = doc_make_list();
    struct item i;
    for (uint32_t k = 0; m && k < m->nowners; k++) {
        const struct garbage_node *owner =
            garbage_graph_find(&garbage_of(w)->graph, m->owners[k].uid);
        if (owner && garbage_is_orphaning(owner))
            doc_append(w->a, &uids, text(w, m->owners[k].uid));
    }
    if (!uids.n)
        return PROGRESS_DONE;
    enum progress p = find_item(w, n, &i);
    return p == PROGRESS_DONE && i.meta ? drop_owners(w, &i, &uids) : p;
}

static enum progress let_go(struct work *w, struct garbage_node *n)
{
    struct item i;
    if (!garbage_is_orphaning(n) || n->dependents)
        return PROGRESS_DONE;
    enum progress p = find_item(w, n, &i);
    return p == PROGRESS_DONE && i.meta ? drop_finalizer(w, &i, "orphan") : p;
}

enum progress garbage_work(struct work *w)
{
    struct garbage_node *n =
        garbage_graph_find(&garbage_of(w)->graph, str_sub(w->key, 2, w->key.n));
    if (!n)
        return PROGRESS_DONE;
    if (w->key.p[0] == 'r')
        return release(w, n);
    return w->key.p[0] == 'l' ? let_go(w, n) : check(w, n);
}
