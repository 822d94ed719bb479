/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/pod_refs.h"

#include "base/map.h"
#include "base/vec.h"

/* ---- what a pod refers to ---- */

static const struct volume_ref { /* of a volume: the text at a path below it */
    const char *path;
    enum ref_kind kind;
} VOLUME_REFS[] = {
    {"azureFile.secretName", REF_SECRET},
    {"cephfs.secretRef.name", REF_SECRET},
    {"cinder.secretRef.name", REF_SECRET},
    {"flexVolume.secretRef.name", REF_SECRET},
    {"rbd.secretRef.name", REF_SECRET},
    {"secret.secretName", REF_SECRET},
    {"scaleIO.secretRef.name", REF_SECRET},
    {"iscsi.secretRef.name", REF_SECRET},
    {"storageos.secretRef.name", REF_SECRET},
    {"csi.nodePublishSecretRef.name", REF_SECRET},
    {"configMap.name", REF_CONFIGMAP},
    {"persistentVolumeClaim.claimName", REF_VOLUME_CLAIM},
};
static const struct volume_ref SOURCE_REFS[] = {
    /* of a projected volume's source */
    {"secret.name", REF_SECRET},
    {"configMap.name", REF_CONFIGMAP},
};
static const struct volume_ref ENV_FROM_REFS[] = {
    {"secretRef.name", REF_SECRET},
    {"configMapRef.name", REF_CONFIGMAP},
};
static const struct volume_ref ENV_REFS[] = {
    {"valueFrom.secretKeyRef.name", REF_SECRET},
    {"valueFrom.configMapKeyRef.name", REF_CONFIGMAP},
};

struct finding {
    ref_each *each;
    void *ctx;
};

static void found(const struct finding *f, enum ref_kind kind, struct str name)
{
    if (name.n)
        f->each(f->ctx, kind, name);
}

static struct str text_at(const struct doc *d, const char *path)
{
    const struct doc *v = doc_path(d, path);
    return v && v->type == DOC_STRING ? doc_str(v) : STR_NONE;
}

static const struct doc *list_at(const struct doc *d, const char *path, uint32_t *n)
{
    const struct doc *list = doc_path(d, path);
    *n = list && list->type == DOC_LIST ? list->n : 0;
    return *n ? list->items : NULL;
}

static void find_in(const struct finding *f, const struct doc *d,
                    const struct volume_ref *refs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        found(f, refs[i].kind, text_at(d, refs[i].path));
}

static void find_in_list(const struct finding *f, const struct doc *d, const char *path,
                         const struct volume_ref *refs, size_t nrefs)
{
    uint32_t n;
    const struct doc *items = list_at(d, path, &n);
    for (uint32_t i = 0; i < n; i++)
        find_in(f, &items[i], refs, nrefs);
}
#define FIND_IN_LIST(f, d, path, refs)                                                   \
    find_in_list(f, d, path, refs, sizeof(refs) / sizeof *(refs))

static void find_in_containers(const struct finding *f, const struct doc *pod)
{
    static const char *const LISTS[] = {"spec.initContainers", "spec.containers",
                                        "spec.ephemeralContainers"};
    for (size_t k = 0; k < sizeof LISTS / sizeof *LISTS; k++) {
        uint32_t n;
        const struct doc *items = list_at(pod, LISTS[k], &n);
        for (uint32_t i = 0; i < n; i++) {
            FIND_IN_LIST(f, &items[i], "envFrom", ENV_FROM_REFS);
            FIND_IN_LIST(f, &items[i], "env", ENV_REFS);
        }
    }
}

/* The claim of an ephemeral volume is named after pod and volume. */
static void find_ephemeral(const struct finding *f, const struct doc *pod,
                           const struct doc *volume)
{
    const struct doc *ephemeral = doc_get(volume, "ephemeral");
    if (!ephemeral || ephemeral->type != DOC_MAP)
        return;
    struct arena a = {0};
    found(f, REF_VOLUME_CLAIM,
          arena_printf(&a, "%.*s-%.*s", STR_ARG(text_at(pod, "metadata.name")),
                       STR_ARG(doc_get_text(volume, "name"))));
    arena_fini(&a);
}

static void find_in_volumes(const struct finding *f, const struct doc *pod)
{
    uint32_t n;
    const struct doc *volumes = list_at(pod, "spec.volumes", &n);
    for (uint32_t i = 0; i < n; i++) {
        find_in(f, &volumes[i], VOLUME_REFS, sizeof VOLUME_REFS / sizeof *VOLUME_REFS);
        FIND_IN_LIST(f, &volumes[i], "projected.sources", SOURCE_REFS);
        find_ephemeral(f, pod, &volumes[i]);
    }
}

/* Claims made of a template have their names in the status. */
static void find_claims(const struct finding *f, const struct doc *pod)
{
    static const struct volume_ref CLAIM[] = {{"resourceClaimName", REF_CLAIM}};
    uint32_t n, nstatuses;
    const struct doc *claims = list_at(pod, "spec.resourceClaims", &n);
    const struct doc *statuses = list_at(pod, "status.resourceClaimStatuses", &nstatuses);
    for (uint32_t i = 0; i < n; i++) {
        if (doc_get_text(&claims[i], "resourceClaimName").p) {
            find_in(f, &claims[i], CLAIM, 1);
            continue;
        }
        struct str name = doc_get_text(&claims[i], "name");
        for (uint32_t k = 0; k < nstatuses; k++)
            if (str_eq(doc_get_text(&statuses[k], "name"), name))
                find_in(f, &statuses[k], CLAIM, 1);
    }
    found(f, REF_CLAIM,
          text_at(pod, "status.extendedResourceClaimStatus.resourceClaimName"));
}

void pod_refs_all(const struct doc *pod, ref_each *each, void *ctx)
{
    static const struct volume_ref PULL[] = {{"name", REF_SECRET}};
    struct finding f = {each, ctx};
    found(&f, REF_ACCOUNT, text_at(pod, "spec.serviceAccountName"));
    FIND_IN_LIST(&f, pod, "spec.imagePullSecrets", PULL);
    find_in_containers(&f, pod);
    find_in_volumes(&f, pod);
    find_claims(&f, pod);
}

void pod_refs_each(const struct doc *pod, ref_each *each, void *ctx)
{
    /* What a node makes up itself must not widen what it sees. */
    if (!doc_get(doc_path(pod, "metadata.annotations"), "kubernetes.io/config.mirror"))
        pod_refs_all(pod, each, ctx);
}

/* ---- what a volume refers to ---- */

enum secret_namespace { IN_REF, IN_REF_OR_CLAIM };
static const struct volume_secret {
    const char *path; /* below spec */
    enum secret_namespace where;
} VOLUME_SECRETS[] = {
    {"cephfs.secretRef", IN_REF_OR_CLAIM}, {"flexVolume.secretRef", IN_REF_OR_CLAIM},
    {"rbd.secretRef", IN_REF_OR_CLAIM},    {"scaleIO.secretRef", IN_REF_OR_CLAIM},
    {"iscsi.secretRef", IN_REF_OR_CLAIM},  {"cinder.secretRef", IN_REF},
    {"storageos.secretRef", IN_REF},       {"csi.nodePublishSecretRef", IN_REF},
    {"csi.nodeStageSecretRef", IN_REF},    {"csi.nodeExpandSecretRef", IN_REF},
};

void volume_secrets_each(const struct doc *volume, secret_each *each, void *ctx)
{
    const struct doc *spec = doc_get(volume, "spec");
    struct str claim = text_at(spec, "claimRef.namespace");
    struct str azure = text_at(spec, "azureFile.secretName");
    if (azure.n) {
        struct str in = text_at(spec, "azureFile.secretNamespace");
        each(ctx, in.n ? in : claim, azure);
    }
    for (size_t i = 0; i < sizeof VOLUME_SECRETS / sizeof *VOLUME_SECRETS; i++) {
        const struct doc *ref = doc_path(spec, VOLUME_SECRETS[i].path);
        struct str name = doc_get_text(ref, "name"), in = doc_get_text(ref, "namespace");
        if (in.n == 0 && VOLUME_SECRETS[i].where == IN_REF_OR_CLAIM)
            in = claim;
        if (name.n)
            each(ctx, in, name);
    }
}

/* ---- the index ---- */

struct node;
struct pod {
    struct cache_object *o; /* a reference */
    struct node *node;
    uint32_t at;        /* in the node's list */
    bool known;         /* refs are there */
    struct strbuf refs; /* of each: its kind as a byte, its name, a NUL */
};
struct node {
    struct str name; /* behind the struct */
    VEC(struct pod *) pods;
};
struct pod_index {
    struct strmap pods;  /* by key of the object */
    struct strmap nodes; /* by name */
};

struct pod_index *pod_index_new(void)
{
    return mem_zalloc(sizeof(struct pod_index));
}

static struct node *find_node(struct pod_index *x, struct str name)
{
    struct strmap_entry *e = strmap_find(&x->nodes, name);
    return e ? e->value.ptr : NULL;
}

static struct node *ready_node(struct pod_index *x, struct str name)
{
    struct node *node = find_node(x, name);
    if (node)
        return node;
    node = mem_zalloc(sizeof *node + name.n);
    memcpy((char *)(node + 1), name.p, name.n);
    node->name = (struct str){(char *)(node + 1), name.n};
    strmap_put(&x->nodes, node->name, NULL)->value.ptr = node;
    return node;
}

static void node_free(struct node *node)
{
    vec_release(&node->pods);
    free(node);
}

static void pod_free(struct pod *p)
{
    strbuf_release(&p->refs);
    cache_object_unref(p->o);
    free(p);
}

static void drop(struct pod_index *x, struct str key)
{
    struct strmap_entry *e = strmap_find(&x->pods, key);
    if (!e)
        return;
    struct pod *p = e->value.ptr;
    struct node *node = p->node;
    struct pod *last = vec_pop(&node->pods);
    if (last != p) {
        node->pods.v[p->at] = last;
        last->at = p->at;
    }
    strmap_remove(&x->pods, key);
    pod_free(p);
    if (node->pods.n == 0) {
        strmap_remove(&x->nodes, node->name);
        node_free(node);
    }
}

static void put(struct pod_index *x, struct cache_object *o)
{
    struct str name = cache_pair_find(o->fields, o->nfields, STR("spec.nodeName"));
    if (name.n == 0)
        return;
    struct pod *p = mem_zalloc(sizeof *p);
    p->o = cache_object_ref(o);
    p->node = ready_node(x, name);
    p->at = (uint32_t)p->node->pods.n;
    vec_push(&p->node->pods, p);
    strmap_put(&x->pods, o->key, NULL)->value.ptr = p;
}

void pod_index_event(void *index, const struct cache_event *e)
{
    if (!e->object)
        return;
    drop(index, e->object->key);
    if (e->kind != CACHE_DELETED)
        put(index, e->object);
}

void pod_index_free(struct pod_index *x)
{
    if (!x)
        return;
    strmap_each(&x->pods, e) pod_free(e->value.ptr);
    strmap_each(&x->nodes, e) node_free(e->value.ptr);
    strmap_release(&x->pods);
    strmap_release(&x->nodes);
    free(x);
}

/* ---- questions ---- */

static void note(void *ctx, enum ref_kind kind, struct str name)
{
    struct pod *p = ctx;
    strbuf_addc(&p->refs, (char)('a' + kind));
    strbuf_addstr(&p->refs, name);
    strbuf_addc(&p->refs, '\0');
}

static void learn(struct pod *p)
{
    if (p->known)
        return;
    struct arena a = {0};
    struct doc_source src = {.name = "store", .text = p->o->json};
    struct doc d;
    p->known = true;
    if (doc_read_json(&src, &a, &d, NULL))
        pod_refs_each(&d, note, p);
    arena_fini(&a);
}

static bool each_of_pod(struct pod *p, enum ref_kind kind, pod_index_each_ref *each,
                        void *ctx)
{
    learn(p);
    for (size_t at = 0; at < p->refs.n;) {
        struct str name = str_from(p->refs.p + at + 1);
        if (p->refs.p[at] == 'a' + (char)kind && !each(ctx, p->o->namespace, name))
            return false;
        at += name.n + 2;
    }
    return true;
}

void pod_index_each(struct pod_index *x, struct str node, enum ref_kind kind,
                    pod_index_each_ref *each, void *ctx)
{
    struct node *n = find_node(x, node);
    for (size_t i = 0; n && i < n->pods.n; i++)
        if (!each_of_pod(n->pods.v[i], kind, each, ctx))
            return;
}

struct looking {
    struct str name;
    bool found;
};

static bool look(void *ctx, struct str namespace, struct str name)
{
    struct looking *l = ctx;
    l->found = str_eq(l->name, name);
    return !l->found;
}

bool pod_index_refers(struct pod_index *x, struct str node, enum ref_kind kind,
                      struct str namespace, struct str name)
{
    struct node *n = find_node(x, node);
    struct looking l = {name, false};
    for (size_t i = 0; n && i < n->pods.n && !l.found; i++)
        if (str_eq(n->pods.v[i]->o->namespace, namespace))
            each_of_pod(n->pods.v[i], kind, look, &l);
    return l.found;
}
