/* SPDX-License-Identifier: Apache-2.0 */
#include "control/garbage_graph.h"

#include <stdlib.h>

/* ---- metadata ---- */

static struct garbage_owner read_owner(const struct doc *d, struct arena *a)
{
    struct garbage_owner o = {
        .api_version = arena_str(a, doc_get_text(d, "apiVersion")),
        .kind = arena_str(a, doc_get_text(d, "kind")),
        .name = arena_str(a, doc_get_text(d, "name")),
        .uid = arena_str(a, doc_get_text(d, "uid")),
    };
    doc_get_bool(d, "blockOwnerDeletion", &o.blocks);
    return o;
}

static void read_finalizers(struct garbage_meta *m, const struct doc *list)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        m->orphans |= doc_is_string(&list->items[i], "orphan");
        m->foreground |= doc_is_string(&list->items[i], "foregroundDeletion");
    }
}

const void *garbage_meta_view(const struct doc *d, struct arena *a, struct err *e)
{
    struct garbage_meta *m = ARENA_NEW(a, struct garbage_meta);
    const struct doc *meta = doc_get(d, "metadata"),
                     *list = doc_get(meta, "ownerReferences");
    (void)e;
    m->deleted = doc_get_text(meta, "deletionTimestamp").n > 0;
    read_finalizers(m, doc_get(meta, "finalizers"));
    if (list && list->type == DOC_LIST && list->n) {
        struct garbage_owner *owners = ARENA_ARRAY(a, struct garbage_owner, list->n);
        for (uint32_t i = 0; i < list->n; i++)
            owners[i] = read_owner(&list->items[i], a);
        m->owners = owners;
        m->nowners = list->n;
    }
    return m;
}

/* ---- identities ---- */

bool garbage_owner_is(const struct garbage_owner *o, const struct garbage_identity *id)
{
    return str_eq(o->uid, id->uid) && str_eq(o->name, id->name) &&
           str_eq(o->kind, id->kind) && str_eq(o->api_version, id->api_version);
}

static bool id_equal(const struct garbage_identity *a, const struct garbage_identity *b)
{
    return str_eq(a->uid, b->uid) && str_eq(a->name, b->name) &&
           str_eq(a->kind, b->kind) && str_eq(a->api_version, b->api_version) &&
           str_eq(a->namespace, b->namespace);
}

/* Kind and version weigh most, so that objects of one kind stand together. */
static int id_cmp(const struct garbage_identity *a, const struct garbage_identity *b)
{
    int c = str_cmp(a->kind, b->kind);
    c = c ? c : str_cmp(a->api_version, b->api_version);
    c = c ? c : str_cmp(a->namespace, b->namespace);
    return c ? c : str_cmp(a->name, b->name);
}

static struct garbage_identity id_of_owner(const struct garbage_owner *o,
                                           struct str namespace)
{
    return (struct garbage_identity){o->api_version, o->kind, namespace, o->name, o->uid};
}

static struct garbage_identity id_of_object(struct str api_version, struct str kind,
                                            const struct object *o)
{
    return (struct garbage_identity){api_version, kind, o->namespace, o->name, o->uid};
}

/* ---- owners that are known to be absent ---- */

static struct str absent_key(const struct garbage_identity *id, struct arena *a)
{
    return arena_printf(a, "%.*s %.*s %.*s %.*s %.*s", STR_ARG(id->api_version),
                        STR_ARG(id->kind), STR_ARG(id->namespace), STR_ARG(id->name),
                        STR_ARG(id->uid));
}

static void remember_absent(struct garbage_graph *g, const struct garbage_identity *id)
{
    struct arena a;
    arena_init(&a);
    struct str key = absent_key(id, &a);
    if (!strmap_find(&g->absent, key)) {
        char **place = &g->ring[g->next++ % GARBAGE_ABSENT];
        if (*place)
            strmap_remove(&g->absent, str_from(*place));
        free(*place);
        *place = mem_dup(key.p, key.n);
        strmap_put(&g->absent, (struct str){*place, key.n}, NULL);
    }
    arena_fini(&a);
}

static bool has_absent(const struct garbage_graph *g, const struct garbage_identity *id)
{
    struct arena a;
    arena_init(&a);
    bool found = strmap_find(&g->absent, absent_key(id, &a)) != NULL;
    arena_fini(&a);
    return found;
}

void garbage_graph_note_absent(struct garbage_graph *g, const struct garbage_owner *owner,
                               struct str namespace)
{
    struct garbage_identity id = id_of_owner(owner, namespace);
    remember_absent(g, &id);
}

bool garbage_graph_is_absent(const struct garbage_graph *g,
                             const struct garbage_owner *owner, struct str namespace)
{
    struct garbage_identity everywhere = id_of_owner(owner, STR_NONE),
                            here = id_of_owner(owner, namespace);
    return has_absent(g, &everywhere) || has_absent(g, &here);
}

/* ---- nodes and edges ---- */

struct garbage_node *garbage_graph_find(const struct garbage_graph *g, struct str uid)
{
    const struct strmap_entry *e = strmap_find(&g->nodes, uid);
    return e ? e->value.ptr : NULL;
}

bool garbage_is_waiting(const struct garbage_node *n)
{
    const struct garbage_meta *m = garbage_meta(n);
    return m && m->deleted && m->foreground;
}

bool garbage_is_orphaning(const struct garbage_node *n)
{
    const struct garbage_meta *m = garbage_meta(n);
    return m && m->deleted && m->orphans;
}

static void task(struct garbage_graph *g, enum garbage_task what,
                 const struct garbage_node *n)
{
    g->ops->task(g->ctx, what, n);
}

/* The key of the map is the identity's uid, so that goes with it. */
static void put_node(struct garbage_graph *g, struct garbage_node *n)
{
    strmap_put(&g->nodes, n->id.uid, NULL)->value.ptr = n;
}

static struct str keep_text(char **at, struct str s)
{
    struct str kept = {*at, s.n};
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return kept;
}

/* Gives a node an identity with texts of its own, in the place of what it had. */
static void set_virtual(struct garbage_graph *g, struct garbage_node *n,
                        const struct garbage_identity *id)
{
    char *had = n->texts, *at;
    if (n->id.uid.n)
        strmap_remove(&g->nodes, n->id.uid);
    n->texts = at = mem_alloc(id->api_version.n + id->kind.n + id->namespace.n +
                              id->name.n + id->uid.n + 1);
    n->id = (struct garbage_identity){
        keep_text(&at, id->api_version), keep_text(&at, id->kind),
        keep_text(&at, id->namespace), keep_text(&at, id->name), keep_text(&at, id->uid)};
    n->virtual = true;
    put_node(g, n);
    free(had);
}

/* Gives a node the object that its informer knows now. */
static void set_object(struct garbage_graph *g, struct garbage_node *n,
                       const struct garbage_identity *id, const struct object *o)
{
    struct object *had = n->object;
    if (n->id.uid.n)
        strmap_remove(&g->nodes, n->id.uid);
    n->object = object_ref((struct object *)o);
    n->id = *id;
    n->virtual = false;
    put_node(g, n);
    object_unref(had);
    free(n->texts);
    n->texts = NULL;
}

static void unlink_edge(struct garbage_edge *e)
{
    if (!e->owner)
        return;
    *e->link = e->next;
    if (e->next)
        e->next->link = e->link;
    e->owner = NULL;
}

static void link_edge(struct garbage_edge *e, struct garbage_node *dependent,
                      struct garbage_node *owner)
{
    *e = (struct garbage_edge){.next = owner->dependents,
                               .link = &owner->dependents,
                               .owner = owner,
                               .dependent = dependent};
    if (e->next)
        e->next->link = &e->next;
    owner->dependents = e;
}

static void drop_edges(struct garbage_edge *edges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        unlink_edge(&edges[i]);
    free(edges);
}

static uint32_t count_owners(const struct garbage_node *n)
{
    return n->object ? garbage_meta(n)->nowners : 0;
}

static const struct garbage_owner *owner_at(const struct garbage_node *n, uint32_t i)
{
    return &garbage_meta(n)->owners[i];
}

static void node_free(struct garbage_node *n)
{
    drop_edges(n->edges, count_owners(n));
    while (n->dependents)
        unlink_edge(n->dependents);
    object_unref(n->object);
    free(n->texts);
    free(n);
}

static void check_dependents(struct garbage_graph *g, const struct garbage_node *n)
{
    for (const struct garbage_edge *e = n->dependents; e; e = e->next)
        task(g, GARBAGE_CHECK, e->dependent);
}

/* An owner has one dependent less, or one that holds it up less. NULL is fine. */
static void look_at_owner(struct garbage_graph *g, struct garbage_node *owner)
{
    if (!owner)
        return;
    if (garbage_is_waiting(owner))
        task(g, GARBAGE_CHECK, owner);
    if (garbage_is_orphaning(owner))
        task(g, GARBAGE_LET_GO, owner);
    if (owner->virtual && !owner->dependents) {
        strmap_remove(&g->nodes, owner->id.uid);
        node_free(owner);
    }
}

/* ---- references ---- */

/* Whether it is worth asking if a reference to a node that is known is right. */
static bool is_doubtful(struct garbage_graph *g, const struct garbage_node *n,
                        const struct garbage_owner *o, const struct garbage_node *owner)
{
    bool elsewhere = !str_eq(owner->id.namespace, n->id.namespace);
    if (owner->id.namespace.n && elsewhere) {
        if (!owner->virtual)
            g->ops->misplaced(g->ctx, n, o);
        return true;
    }
    if (!garbage_owner_is(o, &owner->id))
        return true;
    /* A virtual owner without a namespace may be of a kind that has one. */
    return !owner->id.namespace.n && elsewhere && owner->virtual;
}

/* The node that a reference leads to; *doubtful: it may be wrong. */
static struct garbage_node *resolve(struct garbage_graph *g, struct garbage_node *n,
                                    const struct garbage_owner *o, bool *doubtful)
{
    struct garbage_node *owner = garbage_graph_find(g, o->uid);
    if (owner) {
        *doubtful |= is_doubtful(g, n, o, owner);
        return owner;
    }
    struct garbage_identity id = id_of_owner(o, n->id.namespace);
    owner = mem_zalloc(sizeof *owner);
    set_virtual(g, owner, &id);
    task(g, GARBAGE_CHECK, owner);
    return owner;
}

/* A dependent that comes late finds its owner leaving. */
static void join_leaving(struct garbage_graph *g, const struct garbage_node *n,
                         const struct garbage_node *owner)
{
    if (garbage_is_orphaning(owner))
        task(g, GARBAGE_RELEASE, n);
    else if (garbage_is_waiting(owner))
        task(g, GARBAGE_CHECK, n);
}

static bool has_owner(const struct garbage_meta *m, const struct garbage_owner *o)
{
    for (uint32_t i = 0; m && i < m->nowners; i++) {
        const struct garbage_owner *x = &m->owners[i];
        if (str_eq(x->uid, o->uid) && str_eq(x->name, o->name) &&
            str_eq(x->kind, o->kind) && str_eq(x->api_version, o->api_version))
            return true;
    }
    return false;
}

static bool owners_equal(const struct garbage_meta *a, const struct garbage_meta *b)
{
    bool same = a && b && a->nowners == b->nowners;
    for (uint32_t i = 0; same && i < a->nowners; i++)
        same = str_eq(a->owners[i].uid, b->owners[i].uid) &&
               str_eq(a->owners[i].name, b->owners[i].name) &&
               str_eq(a->owners[i].kind, b->owners[i].kind) &&
               str_eq(a->owners[i].api_version, b->owners[i].api_version) &&
               a->owners[i].blocks == b->owners[i].blocks;
    return same;
}

/* Edges as the object's owners are by now; was: what the edges are of. */
static void set_edges(struct garbage_graph *g, struct garbage_node *n,
                      const struct garbage_meta *was)
{
    const struct garbage_meta *m = garbage_meta(n);
    struct garbage_edge *had = n->edges;
    uint32_t nhad = was ? was->nowners : 0;
    bool doubtful = false;
    n->edges = m->nowners ? mem_array(m->nowners, sizeof *n->edges) : NULL;
    for (uint32_t i = 0; i < m->nowners; i++) {
        bool wrong = false, known = has_owner(was, &m->owners[i]);
        link_edge(&n->edges[i], n, resolve(g, n, &m->owners[i], &wrong));
        doubtful |= wrong && !known;
        if (!known)
            join_leaving(g, n, n->edges[i].owner);
    }
    for (uint32_t i = 0; i < nhad; i++) {
        struct garbage_node *owner = had[i].owner;
        unlink_edge(&had[i]);
        look_at_owner(g, owner);
    }
    free(had);
    if (doubtful)
        task(g, GARBAGE_CHECK, n);
}

bool garbage_is_sound(const struct garbage_node *n, const struct garbage_owner *o,
                      const struct garbage_node *owner)
{
    return garbage_owner_is(o, &owner->id) &&
           (!owner->id.namespace.n || str_eq(owner->id.namespace, n->id.namespace));
}

/* ---- what informers tell ---- */

static bool is_meant(const struct garbage_node *dependent,
                     const struct garbage_identity *id, bool *otherwise)
{
    bool meant = false;
    *otherwise = false;
    if (id->namespace.n && !str_eq(id->namespace, dependent->id.namespace)) {
        *otherwise = true;
        return false;
    }
    for (uint32_t i = 0; i < count_owners(dependent); i++) {
        const struct garbage_owner *o = owner_at(dependent, i);
        if (!str_eq(o->uid, id->uid))
            continue;
        bool is = garbage_owner_is(o, id);
        meant |= is;
        *otherwise |= !is;
    }
    return meant;
}

static const struct garbage_owner *find_owner(const struct garbage_node *n,
                                              struct str uid)
{
    for (uint32_t i = 0; i < count_owners(n); i++)
        if (str_eq(owner_at(n, i)->uid, uid))
            return owner_at(n, i);
    return NULL;
}

/* An owner that was known from references alone is seen: those that say something else
 * of it are looked at. */
static void check_mistaken(struct garbage_graph *g, const struct garbage_node *n,
                           const struct garbage_identity *id)
{
    for (const struct garbage_edge *e = n->dependents; e; e = e->next) {
        bool otherwise;
        is_meant(e->dependent, id, &otherwise);
        if (!otherwise)
            continue;
        const struct garbage_owner *o = find_owner(e->dependent, id->uid);
        if (o && id->namespace.n && !str_eq(id->namespace, e->dependent->id.namespace))
            g->ops->misplaced(g->ctx, e->dependent, o);
        task(g, GARBAGE_CHECK, e->dependent);
    }
}

/* What a node has to do as it is by now, whoever told of it. */
static void give_tasks(struct garbage_graph *g, const struct garbage_node *n)
{
    if (garbage_is_orphaning(n)) {
        for (const struct garbage_edge *e = n->dependents; e; e = e->next)
            task(g, GARBAGE_RELEASE, e->dependent);
        if (!n->dependents)
            task(g, GARBAGE_LET_GO, n);
    } else if (garbage_is_waiting(n)) {
        check_dependents(g, n);
        task(g, GARBAGE_CHECK, n);
    }
}

static bool is_ending(const struct garbage_meta *m)
{
    return m && m->deleted && (m->orphans || m->foreground);
}

static void observe(struct garbage_graph *g, const struct garbage_identity *id,
                    const struct object *o)
{
    struct garbage_node *n = garbage_graph_find(g, id->uid);
    struct object *was = n && n->object ? object_ref(n->object) : NULL;
    const struct garbage_meta *before = was ? was->view : NULL, *now = o->view;
    if (!n)
        n = mem_zalloc(sizeof *n);
    else if (n->virtual && !id_equal(&n->id, id))
        check_mistaken(g, n, id);
    set_object(g, n, id, o);
    if (!owners_equal(before, now))
        set_edges(g, n, before);
    if (is_ending(now) && !is_ending(before))
        give_tasks(g, n);
    object_unref(was);
}

static void remove_node(struct garbage_graph *g, struct garbage_node *n)
{
    uint32_t nowners = count_owners(n);
    strmap_remove(&g->nodes, n->id.uid);
    if (n->dependents)
        remember_absent(g, &n->id);
    check_dependents(g, n);
    for (uint32_t i = 0; i < nowners; i++) {
        struct garbage_node *owner = n->edges[i].owner;
        unlink_edge(&n->edges[i]);
        look_at_owner(g, owner);
    }
    node_free(n);
}

void garbage_graph_change(struct garbage_graph *g, struct str api_version,
                          struct str kind, const struct object *old,
                          const struct object *now)
{
    /* One of the same name may have taken the place of what was missed. */
    if (old && (!now || !str_eq(old->uid, now->uid))) {
        struct garbage_node *n = garbage_graph_find(g, old->uid);
        if (n)
            remove_node(g, n);
    }
    if (now) {
        struct garbage_identity id = id_of_object(api_version, kind, now);
        observe(g, &id, now);
    }
}

void garbage_graph_lose(struct garbage_graph *g, const struct object *o)
{
    struct garbage_node *n = garbage_graph_find(g, o->uid);
    if (!n || n->virtual)
        return;
    drop_edges(n->edges, count_owners(n));
    n->edges = NULL;
    if (n->dependents) {
        struct object *had = n->object;
        struct garbage_identity id = n->id;
        n->object = NULL;
        set_virtual(g, n, &id);
        object_unref(had);
        task(g, GARBAGE_CHECK, n);
    } else {
        strmap_remove(&g->nodes, n->id.uid);
        object_unref(n->object);
        n->object = NULL;
        node_free(n);
    }
}

/* ---- what the server says is not there ---- */

struct search { /* for another identity by which dependents call a node */
    const struct garbage_identity *but; /* this one */
    struct garbage_identity first, following;
    bool any, follows;
};

static void consider(struct search *s, const struct garbage_owner *o,
                     struct str namespace)
{
    struct garbage_identity x = id_of_owner(o, namespace);
    if (!s->but->namespace.n && str_eq(x.api_version, s->but->api_version) &&
        str_eq(x.kind, s->but->kind))
        x.namespace = STR_NONE; /* kinds have namespaces, or have not */
    if (!str_eq(x.uid, s->but->uid) || id_equal(&x, s->but))
        return;
    if (!s->any || id_cmp(&x, &s->first) < 0)
        s->first = x;
    s->any = true;
    if (id_cmp(s->but, &x) < 0 && (!s->follows || id_cmp(&x, &s->following) < 0)) {
        s->following = x;
        s->follows = true;
    }
}

/* The one that follows id in their order, or else the first of all, so that all are tried
 * in turn. False: there is none. */
static bool find_other(const struct garbage_node *n, const struct garbage_identity *id,
                       struct garbage_identity *out)
{
    struct search s = {.but = id};
    for (const struct garbage_edge *e = n->dependents; e; e = e->next)
        for (uint32_t i = 0; i < count_owners(e->dependent); i++)
            consider(&s, owner_at(e->dependent, i), e->dependent->id.namespace);
    if (s.any)
        *out = s.follows ? s.following : s.first;
    return s.any;
}

/* Dependents that mean exactly the absent object are looked at. *others: some do not. */
static void check_meant(struct garbage_graph *g, const struct garbage_node *n,
                        const struct garbage_identity *id, bool *others)
{
    bool any = false;
    *others = false;
    for (const struct garbage_edge *e = n->dependents; e; e = e->next) {
        bool otherwise;
        any |= is_meant(e->dependent, id, &otherwise);
        *others |= otherwise;
    }
    if (!any || (n->virtual && !*others))
        return;
    remember_absent(g, id);
    for (const struct garbage_edge *e = n->dependents; e; e = e->next) {
        bool otherwise;
        if (is_meant(e->dependent, id, &otherwise))
            task(g, GARBAGE_CHECK, e->dependent);
    }
}

void garbage_graph_absent(struct garbage_graph *g, const struct garbage_identity *id)
{
    struct garbage_node *n = garbage_graph_find(g, id->uid);
    struct garbage_identity other;
    bool others, same = n && id_equal(&n->id, id);
    if (!n)
        return;
    if (!n->virtual && same) {
        remove_node(g, n);
        return;
    }
    check_meant(g, n, id, &others);
    if (!n->virtual)
        return;
    if (!others) {
        remove_node(g, n);
    } else if (same && find_other(n, id, &other)) {
        set_virtual(g, n, &other);
        task(g, GARBAGE_CHECK, n);
    }
}

/* ---- the whole ---- */

static bool has_doubtful_owner(const struct garbage_node *n)
{
    for (uint32_t i = 0; i < count_owners(n); i++) {
        const struct garbage_node *owner = n->edges[i].owner;
        if (!owner || garbage_is_waiting(owner) ||
            !garbage_is_sound(n, owner_at(n, i), owner))
            return true;
    }
    return false;
}

void garbage_graph_compare(struct garbage_graph *g)
{
    strmap_each(&g->nodes, e)
    {
        const struct garbage_node *n = e->value.ptr;
        if (n->virtual || has_doubtful_owner(n))
            task(g, GARBAGE_CHECK, n);
        if (is_ending(garbage_meta(n)))
            give_tasks(g, n);
    }
}

void garbage_graph_init(struct garbage_graph *g, const struct garbage_graph_ops *ops,
                        void *ctx)
{
    *g = (struct garbage_graph){.ops = ops, .ctx = ctx};
}

void garbage_graph_fini(struct garbage_graph *g)
{
    strmap_each(&g->nodes, e) node_free(e->value.ptr);
    strmap_release(&g->nodes);
    strmap_release(&g->absent);
    for (int i = 0; i < GARBAGE_ABSENT; i++)
        free(g->ring[i]);
}
