/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeRestriction: a node's user (system:node:NAME in the group system:nodes) writes what
 * is its own: its Node, its pods' status, its lease, its slices (spec 6 RBAC).
 */
#include "server/admission/admit.h"

#include <stdlib.h>

#include "server/access/user.h"

/* The name of the node that asks; STR_NONE: no node does. */
static struct str node_of(const struct user *u)
{
    static const struct str PREFIX = STR("system:node:");
    if (!str_starts(u->name, PREFIX) || !user_in_group(u, "system:nodes"))
        return STR_NONE;
    return str_sub(u->name, PREFIX.n, SIZE_MAX);
}

static const char *operation(const struct admission *a)
{
    return a->verb == ADMIT_CREATE   ? "CREATE"
           : a->verb == ADMIT_UPDATE ? "UPDATE"
           : a->verb == ADMIT_DELETE ? "DELETE"
                                     : "CONNECT";
}

static bool unexpected(struct admission *a)
{
    return admit_forbid(a, "unexpected operation \"%s\"", operation(a));
}

static struct str spec_text(const struct doc *d, const char *key)
{
    return doc_get_text(doc_get(d, "spec"), key);
}

/* Lists and maps that are not there are as good as empty ones. */
static bool is_none(const struct doc *d)
{
    return !d || d->type == DOC_NULL ||
           ((d->type == DOC_LIST || d->type == DOC_MAP) && d->n == 0);
}

static bool same_at(const struct doc *x, const struct doc *y, const char *path)
{
    const struct doc *a = doc_path(x, path), *b = doc_path(y, path);
    if (is_none(a) || is_none(b))
        return is_none(a) && is_none(b);
    return doc_equal(a, b);
}

/* ---- pods ---- */

static bool check_owner(struct admission *a, struct str node, const struct doc *owner)
{
    bool controller = false, blocks = false;
    doc_get_bool(owner, "controller", &controller);
    doc_get_bool(owner, "blockOwnerDeletion", &blocks);
    if (!doc_is_string(doc_get(owner, "apiVersion"), "v1") ||
        !doc_is_string(doc_get(owner, "kind"), "Node") ||
        !str_eq(doc_get_text(owner, "name"), node))
        return admit_forbid(a,
                            "node \"%.*s\" can only create pods with an owner reference "
                            "set to itself",
                            STR_ARG(node));
    if (!controller)
        return admit_forbid(a,
                            "node \"%.*s\" can only create pods with a controller owner "
                            "reference set to itself",
                            STR_ARG(node));
    return !blocks || admit_forbid(a,
                                   "node \"%.*s\" must not set blockOwnerDeletion on an "
                                   "owner reference",
                                   STR_ARG(node));
}

static bool check_owner_uid(struct admission *a, struct str node, const struct doc *owner)
{
    struct doc object;
    struct str uid = doc_get_text(owner, "uid");
    if (!admit_find(a, "", "nodes", STR(""), node, &object))
        return admit_missing(a, "nodes", node);
    struct str have = meta_text(&object, "uid");
    return str_eq(uid, have) ||
           admit_forbid(a, "node %.*s UID mismatch: expected %.*s got %.*s",
                        STR_ARG(node), STR_ARG(uid), STR_ARG(have));
}

static bool check_owner_list(struct admission *a, struct str node)
{
    const struct doc *owners = doc_path(a->object, "metadata.ownerReferences");
    uint32_t n = admit_count(a->object, "metadata.ownerReferences");
    if (n != 1)
        return admit_forbid(a,
                            n ? "node \"%.*s\" can only create pods with a single owner "
                                "reference set to itself"
                              : "node \"%.*s\" can only create pods with an owner "
                                "reference set to itself",
                            STR_ARG(node));
    return check_owner(a, node, &owners->items[0]) &&
           check_owner_uid(a, node, &owners->items[0]);
}

static bool create_pod(struct admission *a, struct str node)
{
    const struct doc *annotations = doc_path(a->object, "metadata.annotations");
    if (!doc_get(annotations, "kubernetes.io/config.mirror"))
        return admit_forbid(a,
                            "pod does not have \"kubernetes.io/config.mirror\" "
                            "annotation, node \"%.*s\" can only create mirror pods",
                            STR_ARG(node));
    if (!str_eq(spec_text(a->object, "nodeName"), node))
        return admit_forbid(a,
                            "node \"%.*s\" can only create pods with spec.nodeName set "
                            "to itself",
                            STR_ARG(node));
    if (!check_owner_list(a, node))
        return false;
    const char *what = pod_reference(a->object);
    return !what || admit_forbid(a, "node \"%.*s\" can not create pods that reference %s",
                                 STR_ARG(node), what);
}

static bool write_pod(struct admission *a, struct str node)
{
    if (a->verb == ADMIT_CREATE)
        return create_pod(a, node);
    if (a->verb != ADMIT_DELETE)
        return admit_forbid(a,
                            "unexpected operation \"%s\", node \"%.*s\" can only create "
                            "and delete mirror pods",
                            operation(a), STR_ARG(node));
    return str_eq(spec_text(a->old, "nodeName"), node) ||
           admit_forbid(a,
                        "node \"%.*s\" can only delete pods with spec.nodeName set to "
                        "itself",
                        STR_ARG(node));
}

static bool write_pod_status(struct admission *a, struct str node)
{
    static const struct {
        const char *path, *what;
    } KEPT[] = {
        {"metadata.labels", "labels through pod status"},
        {"status.resourceClaimStatuses", "resource claim statues"}, /* sic */
        {"status.extendedResourceClaimStatus", "extended resource claim status"},
        {"status.nodeAllocatableResourceClaimStatuses",
         "node allocatable resource claim statuses"},
    };
    if (a->verb != ADMIT_UPDATE)
        return unexpected(a);
    if (!str_eq(spec_text(a->old, "nodeName"), node))
        return admit_forbid(a,
                            "node \"%.*s\" can only update pod status for pods with "
                            "spec.nodeName set to itself",
                            STR_ARG(node));
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        if (!same_at(a->object, a->old, KEPT[i].path))
            return admit_forbid(a, "node \"%.*s\" cannot update %s", STR_ARG(node),
                                KEPT[i].what);
    return true;
}

static bool evict_pod(struct admission *a, struct str node)
{
    struct str name = a->name.n ? a->name : meta_text(a->object, "name");
    struct doc pod;
    if (a->verb != ADMIT_CREATE)
        return admit_forbid(a, "unexpected operation %s", operation(a));
    if (name.n == 0)
        return admit_forbid(a, "could not determine pod from request data");
    if (!admit_find(a, "", "pods", a->r->route.namespace, name, &pod))
        return admit_missing(a, "pods", name);
    return str_eq(spec_text(&pod, "nodeName"), node) ||
           admit_forbid(a,
                        "node %.*s can only evict pods with spec.nodeName set to itself",
                        STR_ARG(node));
}

static bool of_pods(struct admission *a, struct str node)
{
    const char *sub = admit_sub(a);
    if (!*sub)
        return write_pod(a, node);
    if (strcmp(sub, "status") == 0)
        return write_pod_status(a, node);
    if (strcmp(sub, "eviction") == 0)
        return evict_pod(a, node);
    return admit_forbid(a,
                        "unexpected pod subresource \"%s\", only 'status' and 'eviction' "
                        "are allowed",
                        sub);
}

/* ---- the node ---- */

static struct str label_domain(struct str key)
{
    size_t slash = str_find_byte(key, '/', 0);
    return slash == SIZE_MAX ? STR("") : str_sub(key, 0, slash);
}

/* "x.kubernetes.io" and "kubernetes.io" are of "kubernetes.io". */
static bool is_of(struct str domain, const char *parent)
{
    struct str p = str_from(parent);
    return str_eq(domain, p) ||
           (domain.n > p.n && str_ends(domain, p) && domain.p[domain.n - p.n - 1] == '.');
}

static bool is_forbidden_label(struct str key)
{
    static const char *const KUBELETS[] = {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    };
    struct str domain = label_domain(key);
    if (is_of(domain, "node-restriction.kubernetes.io"))
        return true;
    if (!is_of(domain, "kubernetes.io") && !is_of(domain, "k8s.io"))
        return false;
    for (size_t i = 0; i < sizeof KUBELETS / sizeof *KUBELETS; i++)
        if (str_is(key, KUBELETS[i]))
            return false;
    return !is_of(domain, "kubelet.kubernetes.io") &&
           !is_of(domain, "node.kubernetes.io");
}

typedef VEC(struct str) names;

/* Labels of x that y has not, or with another value. */
static void add_changed(names *out, const struct doc *x, const struct doc *y,
                        bool only_missing)
{
    for (uint32_t i = 0; x && x->type == DOC_MAP && i < x->n; i++) {
        struct str key = doc_key(&x->members[i]);
        const struct doc *other = doc_get_str(y, key);
        if ((!other || (!only_missing && !doc_equal(other, &x->members[i].value))) &&
            is_forbidden_label(key))
            vec_push(out, key);
    }
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Those that change and must not, as "a, b"; empty: none. */
static struct str forbidden_labels(struct admission *a)
{
    static const char PATH[] = "metadata.labels";
    const struct doc *now = doc_path(a->object, PATH);
    const struct doc *old = a->old ? doc_path(a->old, PATH) : NULL;
    names found = {0};
    struct strbuf b = STRBUF_INIT;
    add_changed(&found, now, old, false);
    add_changed(&found, old, now, true);
    if (found.n)
        qsort(found.v, found.n, sizeof *found.v, by_text);
    for (size_t i = 0; i < found.n; i++)
        strbuf_addf(&b, "%s%.*s", i ? ", " : "", STR_ARG(found.v[i]));
    struct str text = arena_str(a->r->a, strbuf_str(&b));
    strbuf_release(&b);
    vec_release(&found);
    return text;
}

static bool create_node(struct admission *a, struct str node)
{
    if (!is_none(doc_path(a->object, "spec.configSource")))
        return admit_forbid(a,
                            "node \"%.*s\" is not allowed to create pods with a non-nil "
                            "configSource",
                            STR_ARG(node));
    struct str labels = forbidden_labels(a);
    return labels.n == 0 ||
           admit_forbid(a,
                        "node \"%.*s\" is not allowed to set the following labels: %.*s",
                        STR_ARG(node), STR_ARG(labels));
}

static bool update_node(struct admission *a, struct str node)
{
    if (!is_none(doc_path(a->object, "spec.configSource")) &&
        !same_at(a->object, a->old, "spec.configSource"))
        return admit_forbid(a,
                            "node \"%.*s\" is not allowed to update configSource to a "
                            "new non-nil configSource",
                            STR_ARG(node));
    if (!same_at(a->object, a->old, "spec.taints"))
        return admit_forbid(a, "node \"%.*s\" is not allowed to modify taints",
                            STR_ARG(node));
    if (!same_at(a->object, a->old, "metadata.ownerReferences"))
        return admit_forbid(a, "node \"%.*s\" is not allowed to modify ownerReferences",
                            STR_ARG(node));
    struct str labels = forbidden_labels(a);
    return labels.n == 0 ||
           admit_forbid(a, "is not allowed to modify labels: %.*s", STR_ARG(labels));
}

static bool of_nodes(struct admission *a, struct str node)
{
    if (!str_eq(a->name, node))
        return admit_forbid(a, "node \"%.*s\" is not allowed to modify node \"%.*s\"",
                            STR_ARG(node), STR_ARG(a->name));
    if (a->verb == ADMIT_CREATE)
        return create_node(a, node);
    return a->verb != ADMIT_UPDATE || update_node(a, node);
}

/* ---- volumes ---- */

static void drop_claim_progress(struct doc *d)
{
    static const char *const DROPPED[] = {
        "capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"};
    struct doc *status = (struct doc *)doc_get(d, "status");
    for (size_t i = 0; i < sizeof DROPPED / sizeof *DROPPED; i++)
        if (status && status->type == DOC_MAP)
            doc_remove(status, str_from(DROPPED[i]));
    doc_remove(object_meta(d), STR("managedFields"));
    doc_remove(object_meta(d), STR("resourceVersion"));
}

static bool of_claims(struct admission *a, struct str node)
{
    struct arena *arena = a->r->a;
    if (strcmp(admit_sub(a), "status") != 0)
        return admit_forbid(a, "may only update PVC status");
    if (a->verb != ADMIT_UPDATE)
        return unexpected(a);
    struct doc now = doc_dup(arena, a->object), old = doc_dup(arena, a->old);
    drop_claim_progress(&now);
    drop_claim_progress(&old);
    return doc_equal(&now, &old) ||
           admit_forbid(a,
                        "node \"%.*s\" is not allowed to update fields other than "
                        "status.quantity and status.conditions",
                        STR_ARG(node));
}

static bool of_csi_nodes(struct admission *a, struct str node)
{
    if (!str_eq(a->name, node))
        return admit_forbid(a, "can only access CSINode with the same name as the "
                               "requesting node");
    return !*admit_sub(a) || admit_forbid(a, "CSIVolumeHealth feature gate is disabled");
}

/* ---- tokens ---- */

static bool projects_audience(const struct doc *volume, struct str audience)
{
    const struct doc *sources = doc_path(volume, "projected.sources");
    for (uint32_t i = 0; sources && sources->type == DOC_LIST && i < sources->n; i++) {
        const struct doc *token = doc_get(&sources->items[i], "serviceAccountToken");
        if (token && str_eq(doc_get_text(token, "audience"), audience))
            return true;
    }
    return false;
}

/* The CSI driver behind a volume; empty: none. */
static struct str driver_of(struct admission *a, const struct doc *pod,
                            const struct doc *volume)
{
    struct str ns = a->r->route.namespace, claim;
    struct doc pvc, pv;
    if (doc_path(volume, "ephemeral.volumeClaimTemplate"))
        claim = arena_printf(a->r->a, "%.*s-%.*s", STR_ARG(meta_text(pod, "name")),
                             STR_ARG(doc_get_text(volume, "name")));
    else if (doc_get(volume, "persistentVolumeClaim"))
        claim = doc_get_text(doc_get(volume, "persistentVolumeClaim"), "claimName");
    else
        return doc_get_text(doc_get(volume, "csi"), "driver");
    if (!admit_find(a, "", "persistentvolumeclaims", ns, claim, &pvc) ||
        !admit_find(a, "", "persistentvolumes", STR(""), spec_text(&pvc, "volumeName"),
                    &pv))
        return STR_NONE;
    return doc_get_text(doc_path(&pv, "spec.csi"), "driver");
}

static bool driver_has_audience(struct admission *a, struct str driver,
                                struct str audience)
{
    struct doc d;
    if (!driver.n || !admit_find(a, "storage.k8s.io", "csidrivers", STR(""), driver, &d))
        return false;
    const struct doc *all = doc_path(&d, "spec.tokenRequests");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (str_eq(doc_get_text(&all->items[i], "audience"), audience))
            return true;
    return false;
}

static bool pod_has_audience(struct admission *a, const struct doc *pod,
                             struct str audience)
{
    const struct doc *all = doc_path(pod, "spec.volumes");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (projects_audience(&all->items[i], audience) ||
            driver_has_audience(a, driver_of(a, pod, &all->items[i]), audience))
            return true;
    return false;
}

static bool check_audience(struct admission *a, const struct doc *pod)
{
    const struct user *u = a->r->user;
    const struct doc *all = doc_path(a->object, "spec.audiences");
    uint32_t n = admit_count(a->object, "spec.audiences");
    if (!api_gate(&a->r->s->gates, API_GATE_ServiceAccountNodeAudienceRestriction))
        return true;
    if (n > 1)
        return admit_forbid(a, "node may only request 0 or 1 audiences");
    struct str audience = n ? doc_str(&all->items[0]) : STR("");
    struct attributes wants = {
        .verb = STR("request-serviceaccounts-token-audience"),
        .group = str_from(a->r->res->main->group),
        .version = str_from(a->r->res->main->version),
        .resource = audience,
        .namespace = a->r->route.namespace,
        .name = a->name,
    };
    return pod_has_audience(a, pod, audience) || authorize_check(a->r->s, u, &wants) ||
           admit_forbid(a,
                        "%.*s is not authorized to request tokens for audience \"%.*s\"",
                        STR_ARG(u->name), STR_ARG(audience));
}

static bool of_accounts(struct admission *a, struct str node)
{
    if (a->verb != ADMIT_CREATE || strcmp(admit_sub(a), "token") != 0)
        return true;
    const struct doc *ref = doc_path(a->object, "spec.boundObjectRef");
    struct str name = doc_get_text(ref, "name"), uid = doc_get_text(ref, "uid");
    struct doc pod;
    if (!doc_is_string(doc_get(ref, "apiVersion"), "v1") ||
        !doc_is_string(doc_get(ref, "kind"), "Pod") || name.n == 0)
        return admit_forbid(a, "node requested token not bound to a pod");
    if (uid.n == 0)
        return admit_forbid(a, "node requested token with a pod binding without a uid");
    if (!admit_find(a, "", "pods", a->r->route.namespace, name, &pod))
        return admit_missing(a, "pods", name);
    if (!str_eq(meta_text(&pod, "uid"), uid))
        return admit_forbid(a,
                            "the UID in the bound object reference (%.*s) does not match "
                            "the UID in record. The object might have been deleted and "
                            "then recreated",
                            STR_ARG(uid));
    if (!str_eq(spec_text(&pod, "nodeName"), node))
        return admit_forbid(a, "node requested token bound to a pod scheduled on a "
                               "different node");
    return check_audience(a, &pod);
}

/* ---- certificates ---- */

static bool mounts_certificate(const struct doc *pod, struct str signer)
{
    const struct doc *all = doc_path(pod, "spec.volumes");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        const struct doc *sources = doc_path(&all->items[i], "projected.sources");
        for (uint32_t k = 0; sources && sources->type == DOC_LIST && k < sources->n; k++)
            if (str_eq(doc_get_text(doc_get(&sources->items[k], "podCertificate"),
                                    "signerName"),
                       signer))
                return true;
    }
    return false;
}

static bool check_signer(struct admission *a, const struct doc *pod)
{
    struct str signer = spec_text(a->object, "signerName"),
               munged = arena_str(a->r->a, signer);
    for (size_t i = 0; i < munged.n; i++)
        if (munged.p[i] == '/')
            ((char *)munged.p)[i] = ':';
    struct attributes wants = {
        .verb = STR("request-serviceaccounts-podcertificate-signer"),
        .group = str_from(a->r->res->main->group),
        .version = str_from(a->r->res->main->version),
        .resource = munged,
        .namespace = a->r->route.namespace,
        .name = spec_text(a->object, "serviceAccountName"),
    };
    return mounts_certificate(pod, signer) ||
           authorize_check(a->r->s, a->r->user, &wants) ||
           admit_forbid(a,
                        "pod \"%.*s/%.*s\" does not mount a podCertificate projected "
                        "volume for signer \"%.*s\"",
                        STR_ARG(a->r->route.namespace),
                        STR_ARG(spec_text(a->object, "podName")), STR_ARG(signer));
}

static bool fail_lookup(struct admission *a, const char *what, struct str shown,
                        const char *resource, struct str name)
{
    return fail(a->r, 404, "NotFound",
                "while retrieving %s \"%.*s\" named in the PodCertificateRequest: %s "
                "\"%.*s\" not found",
                what, STR_ARG(shown), resource, STR_ARG(name));
}

static bool fail_uid(struct admission *a, const char *what, const char *whose,
                     struct str pod, struct str asked, struct str have)
{
    return fail(a->r, 500, "InternalError",
                "Internal error occurred: PodCertificateRequest for pod \"%.*s/%.*s\" "
                "%s (\"%.*s\"), which differs from %s (\"%.*s\")",
                STR_ARG(a->r->route.namespace), STR_ARG(pod), what, STR_ARG(asked), whose,
                STR_ARG(have));
}

static bool check_request_pod(struct admission *a, const struct doc *pod)
{
    struct str ns = a->r->route.namespace, name = spec_text(a->object, "podName"),
               node = spec_text(a->object, "nodeName"),
               account = spec_text(a->object, "serviceAccountName");
    struct str shown = arena_printf(a->r->a, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
    if (!str_eq(spec_text(pod, "nodeName"), node))
        return admit_forbid(a,
                            "pod \"%.*s\" is not running on node \"%.*s\" named in the "
                            "PodCertificateRequest",
                            STR_ARG(shown), STR_ARG(node));
    if (doc_get(doc_path(pod, "metadata.annotations"), "kubernetes.io/config.mirror"))
        return admit_forbid(a, "pod \"%.*s\" is a mirror pod", STR_ARG(shown));
    return str_eq(spec_text(pod, "serviceAccountName"), account) ||
           admit_forbid(a,
                        "PodCertificateRequest for pod \"%.*s\" contains "
                        "serviceAccountName (\"%.*s\") that differs from running pod "
                        "(\"%.*s\")",
                        STR_ARG(shown), STR_ARG(account),
                        STR_ARG(spec_text(pod, "serviceAccountName")));
}

static bool of_pod_certificates(struct admission *a, struct str node)
{
    struct str ns = a->r->route.namespace, pod = spec_text(a->object, "podName"),
               asked = spec_text(a->object, "nodeName"),
               account = spec_text(a->object, "serviceAccountName");
    struct doc o, p;
    if (a->verb != ADMIT_CREATE)
        return admit_forbid(a, "unexpected operation %s", operation(a));
    if (*admit_sub(a))
        return admit_forbid(a, "unexpected subresource %s", admit_sub(a));
    if (!str_eq(asked, node))
        return admit_forbid(a,
                            "PodCertificateRequest.Spec.NodeName=\"%.*s\", which is not "
                            "the requesting node \"%.*s\"",
                            STR_ARG(asked), STR_ARG(node));
    if (!admit_find(a, "", "nodes", STR(""), node, &o))
        return fail_lookup(a, "node", node, "nodes", node);
    if (!str_eq(meta_text(&o, "uid"), spec_text(a->object, "nodeUID")))
        return fail_uid(a, "names node UID", "the running node", pod,
                        spec_text(a->object, "nodeUID"), meta_text(&o, "uid"));
    if (!admit_find(a, "", "pods", ns, pod, &p))
        return fail_lookup(a, "pod", pod, "pods", pod);
    if (!str_eq(meta_text(&p, "uid"), spec_text(a->object, "podUID")))
        return fail_uid(a, "contains pod UID", "the running pod", pod,
                        spec_text(a->object, "podUID"), meta_text(&p, "uid"));
    if (!check_request_pod(a, &p))
        return false;
    if (!admit_find(a, "", "serviceaccounts", ns, account, &o))
        return fail_lookup(a, "service account", account, "serviceaccounts", account);
    if (!str_eq(meta_text(&o, "uid"), spec_text(a->object, "serviceAccountUID")))
        return fail_uid(a, "names service account UID", "the running service account",
                        pod, spec_text(a->object, "serviceAccountUID"),
                        meta_text(&o, "uid"));
    return check_signer(a, &p);
}

static bool of_signing_requests(struct admission *a, struct str node)
{
    struct str signer = spec_text(a->object, "signerName");
    struct pki_request request;
    if (a->verb != ADMIT_CREATE ||
        (!str_is(signer, "kubernetes.io/kubelet-serving") &&
         !str_is(signer, "kubernetes.io/kube-apiserver-client-kubelet")))
        return true;
    if (!admit_request_subject(a, &request))
        return admit_forbid(a, "unable to parse csr: PEM block type must be CERTIFICATE "
                               "REQUEST");
    struct str want = arena_printf(a->r->a, "system:node:%.*s", STR_ARG(node));
    return str_eq(request.name, want) ||
           admit_forbid(a, "can only create a node CSR with CN=%.*s", STR_ARG(want));
}

/* ---- leases and slices ---- */

static bool of_leases(struct admission *a, struct str node)
{
    if (!str_is(a->r->route.namespace, "kube-node-lease"))
        return admit_forbid(a, "can only access leases in the \"kube-node-lease\" system "
                               "namespace");
    return str_eq(a->name, node) ||
           admit_forbid(a, "can only access node lease with the same name as the "
                           "requesting node");
}

static bool of_slices(struct admission *a, struct str node)
{
    const char *verb = a->verb == ADMIT_CREATE ? "create" : "delete";
    const struct doc *d = a->verb == ADMIT_CREATE ? a->object : a->old;
    return a->verb == ADMIT_UPDATE || str_eq(spec_text(d, "nodeName"), node) ||
           admit_forbid(a,
                        "can only %s ResourceSlice with the same NodeName as the "
                        "requesting node",
                        verb);
}

/* ---- the plugin ---- */

bool admit_node(struct admission *a)
{
    static const struct {
        const char *group, *resource;
        bool (*fn)(struct admission *a, struct str node);
    } ROWS[] = {
        {"", "pods", of_pods},
        {"", "nodes", of_nodes},
        {"", "persistentvolumeclaims", of_claims},
        {"", "serviceaccounts", of_accounts},
        {"certificates.k8s.io", "podcertificaterequests", of_pod_certificates},
        {"coordination.k8s.io", "leases", of_leases},
        {"storage.k8s.io", "csinodes", of_csi_nodes},
        {"resource.k8s.io", "resourceslices", of_slices},
        {"certificates.k8s.io", "certificatesigningrequests", of_signing_requests},
    };
    struct str node = node_of(a->r->user);
    if (!node.p)
        return true;
    if (node.n == 0)
        return admit_forbid(a, "could not determine node from user \"%.*s\"",
                            STR_ARG(a->r->user->name));
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (admit_of(a, ROWS[i].group, ROWS[i].resource))
            return ROWS[i].fn(a, node);
    return true;
}
