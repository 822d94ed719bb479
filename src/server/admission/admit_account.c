/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ServiceAccount: every pod acts as a service account that is there, gets its pull
 * secrets, and finds a token of it in its containers unless somebody said otherwise.
 */
#include "server/admission/admit.h"

#include "server/rest/write.h"

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_VOLUME "kube-api-access-"

static bool is_mirror(const struct doc *pod)
{
    return doc_get(doc_path(pod, "metadata.annotations"),
                   "kubernetes.io/config.mirror") != NULL;
}

/* ---- the account ---- */

static bool find_account(struct admission *a, struct str name, struct doc *out)
{
    struct request *r = a->r;
    struct str ns = r->route.namespace;
    if (admit_find(a, "", "serviceaccounts", ns, name, out))
        return true;
    admit_forbid(
        a,
        "error looking up service account %.*s/%.*s: serviceaccount \"%.*s\" not "
        "found",
        STR_ARG(ns), STR_ARG(name), STR_ARG(name));
    /* A controller makes the default one soon after its namespace. */
    r->failure.passing = str_is(name, "default");
    return false;
}

/* ---- the token ---- */

/* The pod's word, then the account's. */
static bool wants_token(const struct doc *account, const struct doc *pod)
{
    bool on = true;
    if (!doc_get_bool(doc_get(pod, "spec"), "automountServiceAccountToken", &on))
        doc_get_bool(account, "automountServiceAccountToken", &on);
    return on;
}

static bool mounts_token(const struct doc *container)
{
    const struct doc *mounts = doc_get(container, "volumeMounts");
    for (uint32_t i = 0; mounts && mounts->type == DOC_LIST && i < mounts->n; i++)
        if (doc_is_string(doc_get(&mounts->items[i], "mountPath"), TOKEN_PATH))
            return true;
    return false;
}

static bool mount(struct admission *a, struct doc *spec, const char *list,
                  struct str volume)
{
    const struct doc *all = doc_get(spec, list);
    bool any = false;
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        struct doc *container = &all->items[i], one = doc_make_map();
        if (container->type != DOC_MAP || mounts_token(container))
            continue;
        any = true;
        admit_set_text(a, &one, "name", volume);
        doc_set(a->r->a, &one, "readOnly", doc_make_bool(true));
        admit_set_text(a, &one, "mountPath", STR(TOKEN_PATH));
        doc_append(a->r->a, admit_made(a, container, "volumeMounts", doc_make_list()),
                   one);
    }
    return any;
}

/* A token good for an hour, the authority's certificate, and the namespace. */
static const char SOURCES[] =
    "{\"projected\":{\"sources\":["
    "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
    "{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":\"ca.crt\","
    "\"path\":\"ca.crt\"}]}},"
    "{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":{"
    "\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}"
    "],\"defaultMode\":420}}";

static struct doc token_volume(struct admission *a, struct str name)
{
    struct doc_source src = {.name = "", .text = STR(SOURCES)};
    struct doc sources, volume = doc_make_map();
    doc_read_json(&src, a->r->a, &sources, NULL);
    admit_set_text(a, &volume, "name", name);
    doc_set(a->r->a, &volume, "projected", *doc_get(&sources, "projected"));
    return volume;
}

static struct str has_token_volume(const struct doc *spec)
{
    const struct doc *all = doc_get(spec, "volumes");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        struct str name = doc_get_text(&all->items[i], "name");
        if (str_starts(name, STR(TOKEN_VOLUME)))
            return name;
    }
    return STR_NONE;
}

/* The same however often the pod is made (awaiting.h). */
static struct str volume_name(struct request *r)
{
    if (!r->token_volume.n)
        r->token_volume = write_generate_name(STR(TOKEN_VOLUME), r->a);
    return r->token_volume;
}

static void mount_token(struct admission *a, struct doc *spec)
{
    struct str have = has_token_volume(spec);
    struct str name = have.p ? have : volume_name(a->r);
    bool any = mount(a, spec, "initContainers", name);
    any |= mount(a, spec, "containers", name);
    if (any && !have.p)
        doc_append(a->r->a, admit_made(a, spec, "volumes", doc_make_list()),
                   token_volume(a, name));
}

/* ---- secrets ---- */

static bool has_name(const struct doc *list, struct str name)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return true;
    return false;
}

static bool is_enforced(const struct doc *account)
{
    static const char *const TRUE[] = {"1", "t", "T", "TRUE", "true", "True"};
    struct str v = doc_get_text(doc_path(account, "metadata.annotations"),
                                "kubernetes.io/enforce-mountable-secrets");
    for (size_t i = 0; i < sizeof TRUE / sizeof *TRUE; i++)
        if (str_is(v, TRUE[i]))
            return true;
    return false;
}

struct limiting {
    struct admission *a;
    const struct doc *account;
};

static bool allows_secret(const struct limiting *l, const struct doc *reference,
                          const char *key, struct str *name)
{
    *name = doc_get_text(reference, key);
    return !reference || has_name(doc_get(l->account, "secrets"), *name);
}

static bool limit_container(const struct limiting *l, const struct doc *c,
                            const char *what)
{
    const struct doc *env = doc_get(c, "env"), *from = doc_get(c, "envFrom");
    struct str account = meta_text(l->account, "name"), secret;
    struct str name = doc_get_text(c, "name");
    for (uint32_t i = 0; env && env->type == DOC_LIST && i < env->n; i++) {
        struct str var = doc_get_text(&env->items[i], "name");
        if (!allows_secret(l, doc_path(&env->items[i], "valueFrom.secretKeyRef"), "name",
                           &secret))
            return admit_forbid(l->a,
                                "%s %.*s with envVar %.*s referencing "
                                "secret.secretName=\"%.*s\" is not allowed because "
                                "service account %.*s does not reference that secret",
                                what, STR_ARG(name), STR_ARG(var), STR_ARG(secret),
                                STR_ARG(account));
    }
    for (uint32_t i = 0; from && from->type == DOC_LIST && i < from->n; i++)
        if (!allows_secret(l, doc_get(&from->items[i], "secretRef"), "name", &secret))
            return admit_forbid(l->a,
                                "%s %.*s with envFrom referencing "
                                "secret.secretName=\"%.*s\" is not allowed because "
                                "service account %.*s does not reference that secret",
                                what, STR_ARG(name), STR_ARG(secret), STR_ARG(account));
    return true;
}

static bool limit_containers(const struct limiting *l, const struct doc *spec,
                             const char *list, const char *what)
{
    const struct doc *all = doc_get(spec, list);
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (!limit_container(l, &all->items[i], what))
            return false;
    return true;
}

static bool limit_volumes(const struct limiting *l, const struct doc *spec)
{
    const struct doc *all = doc_get(spec, "volumes");
    struct str secret;
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (!allows_secret(l, doc_get(&all->items[i], "secret"), "secretName", &secret))
            return admit_forbid(
                l->a,
                "volume with secret.secretName=\"%.*s\" is not allowed because service "
                "account %.*s does not reference that secret",
                STR_ARG(secret), STR_ARG(meta_text(l->account, "name")));
    return true;
}

static bool limit_pull_secrets(const struct limiting *l, const struct doc *spec)
{
    const struct doc *all = doc_get(spec, "imagePullSecrets");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        struct str name = doc_get_text(&all->items[i], "name");
        if (!has_name(doc_get(l->account, "imagePullSecrets"), name))
            return admit_forbid(
                l->a,
                "imagePullSecrets[%u].name=\"%.*s\" is not allowed because service "
                "account %.*s does not reference that imagePullSecret",
                i, STR_ARG(name), STR_ARG(meta_text(l->account, "name")));
    }
    return true;
}

static bool limit_secrets(struct admission *a, const struct doc *account,
                          const struct doc *spec)
{
    struct limiting l = {a, account};
    return limit_volumes(&l, spec) &&
           limit_containers(&l, spec, "initContainers", "init container") &&
           limit_containers(&l, spec, "containers", "container") &&
           limit_pull_secrets(&l, spec);
}

/* ---- mirror pods ---- */

static bool projects_token(const struct doc *volume)
{
    const struct doc *sources = doc_path(volume, "projected.sources");
    for (uint32_t i = 0; sources && sources->type == DOC_LIST && i < sources->n; i++)
        if (doc_get(&sources->items[i], "serviceAccountToken"))
            return true;
    return false;
}

static bool check_mirror(struct admission *a)
{
    const struct doc *spec = doc_get(a->object, "spec"),
                     *volumes = doc_get(spec, "volumes");
    if (doc_get_text(spec, "serviceAccountName").n)
        return admit_forbid(a, "a mirror pod may not reference service accounts");
    if (pod_has_secrets(a->object))
        return admit_forbid(a, "a mirror pod may not reference secrets");
    for (uint32_t i = 0; volumes && volumes->type == DOC_LIST && i < volumes->n; i++)
        if (projects_token(&volumes->items[i]))
            return admit_forbid(a, "a mirror pod may not use ServiceAccountToken volume "
                                   "projections");
    return true;
}

/* ---- the plugin ---- */

static bool check_create(struct admission *a, struct doc *account)
{
    const struct doc *spec = doc_get(a->object, "spec");
    struct str name = doc_get_text(spec, "serviceAccountName");
    if (name.n == 0)
        return admit_forbid(a, "no service account specified for pod %.*s/%.*s",
                            STR_ARG(a->r->route.namespace),
                            STR_ARG(meta_text(a->object, "name")));
    return find_account(a, name, account) &&
           (!is_enforced(account) || limit_secrets(a, account, spec));
}

/* Containers that come later must not refer to more than others may. */
static bool check_ephemeral(struct admission *a)
{
    const struct doc *spec = doc_get(a->object, "spec");
    struct str name = doc_get_text(spec, "serviceAccountName");
    struct doc account;
    if (name.n == 0)
        return admit_forbid(a, "no service account specified for pod %.*s/%.*s",
                            STR_ARG(a->r->route.namespace),
                            STR_ARG(meta_text(a->object, "name")));
    if (!find_account(a, name, &account))
        return false;
    struct limiting l = {a, &account};
    return !is_enforced(&account) ||
           limit_containers(&l, spec, "ephemeralContainers", "ephemeral container");
}

bool check_account(struct admission *a)
{
    struct doc account;
    if (!admit_of(a, "", "pods"))
        return true;
    if (a->verb == ADMIT_UPDATE)
        return strcmp(admit_sub(a), "ephemeralcontainers") != 0 || check_ephemeral(a);
    if (a->r->res->sub)
        return true;
    return is_mirror(a->object) ? check_mirror(a) : check_create(a, &account);
}

static void take_pull_secrets(struct admission *a, struct doc *spec,
                              const struct doc *account)
{
    const struct doc *from = doc_get(account, "imagePullSecrets");
    if (from && from->type == DOC_LIST && from->n &&
        admit_count(spec, "imagePullSecrets") == 0)
        doc_set(a->r->a, spec, "imagePullSecrets", doc_dup(a->r->a, from));
}

bool admit_account(struct admission *a)
{
    struct doc account;
    if (a->verb != ADMIT_CREATE || !admit_on(a, "", "pods"))
        return true;
    if (is_mirror(a->object))
        return check_mirror(a);
    struct doc *spec = admit_made(a, a->object, "spec", doc_make_map());
    if (doc_get_text(spec, "serviceAccountName").n == 0) {
        admit_set_text(a, spec, "serviceAccountName", STR("default"));
        admit_set_text(a, spec, "serviceAccount", STR("default"));
    }
    struct str name = doc_get_text(spec, "serviceAccountName");
    if (!find_account(a, name, &account))
        return false;
    if (wants_token(&account, a->object))
        mount_token(a, spec);
    take_pull_secrets(a, spec, &account);
    return check_create(a, &account);
}
