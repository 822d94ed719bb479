/* SPDX-License-Identifier: Apache-2.0 */
/* The table of plugins, in the order in which they run. */
#include "server/admission/admit.h"
#include "server/admission/unenforced.h"
#include "server/observe/measure.h"

enum {
    C = ADMIT_CREATE,
    CU = ADMIT_CREATE | ADMIT_UPDATE,
    CUD = ADMIT_CREATE | ADMIT_UPDATE | ADMIT_DELETE,
    U = ADMIT_UPDATE,
    ALL = ADMIT_CREATE | ADMIT_UPDATE | ADMIT_DELETE | ADMIT_CONNECT,
};

/* on by default; here or not: no verbs */
static const struct admission_plugin PLUGINS[] = {
    {"AlwaysAdmit", false, ALL, NULL, NULL},
    {"NamespaceAutoProvision", false, 0, NULL, NULL},
    {"NamespaceLifecycle", true, CUD, admit_namespace, NULL},
    {"NamespaceExists", false, CUD, NULL, admit_namespace_exists},
    {"LimitPodHardAntiAffinityTopology", false, CU, NULL, admit_antiaffinity},
    {"LimitRanger", true, CU, admit_limits, check_limits},
    {"ServiceAccount", true, CU, admit_account, check_account},
    {"NodeRestriction", false, CUD, admit_node, NULL},
    {"TaintNodesByCondition", true, C, admit_taint_node, NULL},
    {"AlwaysPullImages", false, CU, admit_pull_images, check_pull_images},
    {"ImagePolicyWebhook", false, 0, NULL, NULL},
    {"PodSecurity", true, CU, NULL, check_pod_security},
    {"PodNodeSelector", false, C, admit_node_selector, check_node_selector},
    {"Priority", true, CU, admit_priority, check_priority},
    {"DefaultTolerationSeconds", true, CU, admit_tolerate_outages, NULL},
    {"PodTolerationRestriction", false, CU, admit_tolerations, check_tolerations},
    {"EventRateLimit", false, CU, NULL, check_event_rate},
    {"ExtendedResourceToleration", false, CU, admit_tolerate_resources, NULL},
    {"DefaultStorageClass", true, C, admit_storage_class, NULL},
    {"StorageObjectInUseProtection", true, C, admit_protect_storage, NULL},
    {"PodGroupProtection", true, C, admit_protect_group, NULL},
    {"OwnerReferencesPermissionEnforcement", false, CU, NULL, check_owners},
    {"PersistentVolumeClaimResize", true, U, NULL, check_resize},
    {"RuntimeClass", true, C, admit_runtime, check_runtime},
    {"CertificateApproval", true, U, NULL, check_approval},
    {"CertificateSigning", true, U, NULL, check_signing},
    {"ClusterTrustBundleAttest", true, CU, NULL, check_attest},
    {"CertificateSubjectRestriction", true, C, NULL, check_subject},
    {"DefaultIngressClass", true, C, admit_ingress_class, NULL},
    {"DenyServiceExternalIPs", false, CU, NULL, check_external_ips},
    {"PodTopologyLabels", true, C, admit_topology_labels, NULL},
    {"NodeDeclaredFeatureValidator", true, CU, NULL, check_features},
    {"PodResizeValidator", true, U, NULL, check_resize_fits},
    {"MutatingAdmissionPolicy", true, CU | ADMIT_CONNECT, admit_policies, NULL},
    {"MutatingAdmissionWebhook", true, ALL, admit_webhooks, NULL},
    {"ValidatingAdmissionPolicy", true, ALL, NULL, check_policies},
    {"ValidatingAdmissionWebhook", true, ALL, NULL, check_webhooks},
    {"ResourceQuota", true, CU, NULL, check_quota},
    {"AlwaysDeny", false, ALL, admit_deny_all, admit_deny_all},
};
enum { NPLUGINS = sizeof PLUGINS / sizeof *PLUGINS };

static unsigned find(struct str name)
{
    unsigned i = 0;
    while (i < NPLUGINS && !str_is(name, PLUGINS[i].name))
        i++;
    return i;
}

/* The bits of a list's plugins. */
static bool read_names(const char *list, const char *flag, uint64_t *bits, struct err *e)
{
    struct str s = str_from(list ? list : "");
    for (struct str rest = s, name; str_split_next(&rest, ',', &name);) {
        unsigned i = find(name);
        if (i == NPLUGINS)
            return err_set(e, ERR_INVALID, "--%s: there is no admission plugin \"%.*s\"",
                           flag, STR_ARG(name));
        *bits |= UINT64_C(1) << i;
    }
    return true;
}

/* What upstream has and is not here: nothing is done in its name. */
static bool check_there(uint64_t on, struct err *e)
{
    for (unsigned i = 0; i < NPLUGINS; i++)
        if ((on >> i & 1) && !PLUGINS[i].verbs)
            return err_set(e, ERR_UNSUPPORTED,
                           "--enable-admission-plugins: %s is a plugin of "
                           "kube-apiserver that is not here",
                           PLUGINS[i].name);
    return true;
}

bool admission_configure(struct server *s, const char *enable, const char *disable,
                         struct err *e)
{
    uint64_t on = 0, off = 0;
    if (!read_names(enable, "enable-admission-plugins", &on, e) ||
        !read_names(disable, "disable-admission-plugins", &off, e) || !check_there(on, e))
        return false;
    for (unsigned i = 0; i < NPLUGINS; i++)
        if (on & off & UINT64_C(1) << i)
            return err_set(e, ERR_INVALID, "%s is both enabled and disabled",
                           PLUGINS[i].name);
    for (unsigned i = 0; i < NPLUGINS; i++)
        if (PLUGINS[i].by_default)
            on |= UINT64_C(1) << i;
    s->admission = on & ~off;
    return true;
}

bool admission_is_on(const struct server *s, const char *plugin)
{
    return s->admission >> find(str_from(plugin)) & 1;
}

static bool runs(const struct admission *a, unsigned i)
{
    return (a->r->s->admission >> i & 1) && (PLUGINS[i].verbs & a->verb);
}

/* One after another, as long as they let it pass. */
static bool run(struct admission *a, const char *type, bool mutating)
{
    uint64_t begun = measure_now(), since = begun;
    bool ok = true;
    for (unsigned i = 0; i < NPLUGINS && ok; i++) {
        admission_fn *fn = mutating ? PLUGINS[i].mutate : PLUGINS[i].validate;
        if (!fn || !runs(a, i))
            continue;
        ok = fn(a);
        if (!ok && a->r->failure.waits)
            return false; /* it is asked once more, and measured then */
        since = measure_admission(a, PLUGINS[i].name, type, ok, since);
    }
    measure_admission(a, NULL, type, ok, begun);
    return ok;
}

static bool mutate(struct admission *a)
{
    return run(a, "admit", true);
}

bool admission_mutate(struct admission *a)
{
    if (!mutate(a))
        return false;
    a->again = a->changed;
    return !a->again || mutate(a);
}

bool admission_validate(struct admission *a)
{
    if (!run(a, "validate", false))
        return false;
    unenforced_warn(a);
    return true;
}
