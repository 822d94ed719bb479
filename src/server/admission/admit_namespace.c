/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NamespaceLifecycle: nothing is created in a namespace that is not there or on its way
 * out, and three namespaces stay. NamespaceExists: the first half of it, for all verbs.
 */
#include "server/admission/admit.h"

static bool is_immortal(struct str name)
{
    return str_is(name, "default") || str_is(name, "kube-system") ||
           str_is(name, "kube-public");
}

/* Whoever may ask about a namespace's rights learns nothing about the namespace. */
static bool is_review(const struct admission *a)
{
    return admit_of(a, "authorization.k8s.io", "localsubjectaccessreviews");
}

static bool fail_terminating(struct admission *a, struct str namespace)
{
    struct request *r = a->r;
    admit_forbid(a,
                 "unable to create new content in namespace %.*s because it is being "
                 "terminated",
                 STR_ARG(namespace));
    fail_cause(
        r, "NamespaceTerminating",
        arena_printf(r->a, "namespace %.*s is being terminated", STR_ARG(namespace)),
        STR("metadata.namespace"));
    return false;
}

bool admit_namespace(struct admission *a)
{
    struct str namespace = a->r->route.namespace;
    struct doc d;
    if (admit_of(a, "", "namespaces"))
        return a->verb != ADMIT_DELETE || !is_immortal(a->name) ||
               admit_forbid(a, "this namespace may not be deleted");
    if (!namespace.n || a->verb != ADMIT_CREATE || is_review(a))
        return true;
    if (!admit_find(a, "", "namespaces", STR(""), namespace, &d))
        return admit_missing(a, "namespaces", namespace);
    struct str phase = doc_get_text(doc_get(&d, "status"), "phase");
    return !str_is(phase, "Terminating") || fail_terminating(a, namespace);
}

bool admit_namespace_exists(struct admission *a)
{
    struct str namespace = a->r->route.namespace;
    struct doc d;
    return !namespace.n || admit_of(a, "", "namespaces") ||
           admit_find(a, "", "namespaces", STR(""), namespace, &d) ||
           admit_missing(a, "namespaces", namespace);
}
