/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/unenforced.h"

#include "api/pod_security.h"
#include "api/timestamp.h"
#include "server/admission/admit.h"

#include <stdio.h>
#include <time.h>

enum { LEASE_SECONDS = 120 }; /* after which a controller is taken for gone */

/* What is about to be stored has no effect. */
typedef bool idle_fn(struct admission *a);

/* ---- why something has none ---- */

/* One that is elected keeps a lease, by its usual name; one that need not be elected has
 * filled in what is asked of some quota. */
static const char *const MANAGERS[] = {"kube-controller-manager", "dray-controllers"};
enum { NMANAGERS = sizeof MANAGERS / sizeof *MANAGERS };

static bool has_lease(struct admission *a, const char *name)
{
    struct doc lease;
    int64_t seconds = 0;
    int32_t nanos;
    return admit_find(a, "coordination.k8s.io", "leases", STR("kube-system"),
                      str_from(name), &lease) &&
           timestamp_parse(doc_get_text(doc_get(&lease, "spec"), "renewTime"), &seconds,
                           &nanos) &&
           time(NULL) - seconds < LEASE_SECONDS;
}

static bool note_counted(void *ctx, struct cache_object *o)
{
    bool *any = ctx;
    *any = str_find(o->json, STR("\"hard\":{")) != SIZE_MAX &&
           str_find(o->json, STR("\"used\":{")) != SIZE_MAX;
    return !*any;
}

static bool is_quota_idle(struct admission *a)
{
    bool counted = a->r->s->opts.counts_quotas;
    if (!counted)
        admit_each(a, "", "resourcequotas", note_counted, &counted);
    for (int i = 0; !counted && i < NMANAGERS; i++)
        counted = has_lease(a, MANAGERS[i]);
    return !counted;
}

static bool has_labels(struct admission *a)
{
    const struct doc *labels = doc_path(a->object, "metadata.labels");
    for (int i = 0; i < POD_MODES; i++)
        if (doc_get(labels, pod_policy_label((enum pod_mode)i, false)))
            return true;
    return false;
}

static bool is_of_other_server(struct admission *a)
{
    const struct doc *service = doc_path(a->object, "spec.service");
    return service && service->type == DOC_MAP;
}

/* ---- the kinds ---- */

static const struct row {
    const char *group, *resource;
    const char *plugin; /* that gives it effect: idle while it is off; NULL: none does */
    idle_fn *idle;      /* more to ask; NULL: nothing */
    const char *text;
} ROWS[] = {
    {"networking.k8s.io", "networkpolicies", NULL, NULL,
     "this policy restricts nothing unless a network plugin of the nodes enforces it"},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", NULL, NULL,
     "this server does not queue requests by FlowSchemas; it limits how many run at once "
     "(--max-requests-inflight, --max-mutating-requests-inflight)"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", NULL, NULL,
     "this server does not queue requests by priority levels; it limits how many run at "
     "once (--max-requests-inflight, --max-mutating-requests-inflight)"},
    {"apiregistration.k8s.io", "apiservices", NULL, is_of_other_server,
     "this server asks no other API servers: the group and version are not served by way "
     "of it"},
    {"", "resourcequotas", NULL, is_quota_idle,
     "this quota limits nothing until a controller manager fills in its status, and none "
     "seems to run"},
    {"", "resourcequotas", "ResourceQuota", NULL,
     "this quota limits nothing: the admission plugin ResourceQuota is off"},
    {"", "limitranges", "LimitRanger", NULL,
     "these limits are not applied: the admission plugin LimitRanger is off"},
    {"", "namespaces", "PodSecurity", has_labels,
     "the labels pod-security.kubernetes.io/* are not enforced: the admission plugin "
     "PodSecurity is off"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies",
     "ValidatingAdmissionPolicy", NULL,
     "this policy judges nothing: the admission plugin ValidatingAdmissionPolicy is off"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings",
     "ValidatingAdmissionPolicy", NULL,
     "this binding has no effect: the admission plugin ValidatingAdmissionPolicy is off"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies",
     "MutatingAdmissionPolicy", NULL,
     "this policy changes nothing: the admission plugin MutatingAdmissionPolicy is off"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
     "MutatingAdmissionPolicy", NULL,
     "this binding has no effect: the admission plugin MutatingAdmissionPolicy is off"},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations",
     "ValidatingAdmissionWebhook", NULL,
     "these webhooks are not called: the admission plugin ValidatingAdmissionWebhook is "
     "off"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations",
     "MutatingAdmissionWebhook", NULL,
     "these webhooks are not called: the admission plugin MutatingAdmissionWebhook is "
     "off"},
};
enum { NROWS = sizeof ROWS / sizeof *ROWS };

static bool is_named(const char *list, const struct row *row)
{
    struct str all = str_from(list ? list : "");
    for (struct str rest = all, name; str_split_next(&rest, ',', &name);) {
        size_t dot = str_find_byte(name, '.', 0);
        struct str group = dot == SIZE_MAX ? STR("") : str_sub(name, dot + 1, SIZE_MAX);
        if (str_is(str_sub(name, 0, dot), row->resource) && str_is(group, row->group))
            return true;
    }
    return false;
}

bool unenforced_check(const char *list, struct err *e)
{
    struct str all = str_from(list ? list : "");
    for (struct str rest = all, name; str_split_next(&rest, ',', &name);) {
        char text[256];
        bool known = false;
        snprintf(text, sizeof text, "%.*s", STR_ARG(name));
        for (int i = 0; i < NROWS && !known; i++)
            known = is_named(text, &ROWS[i]);
        if (!known)
            return err_set(e, ERR_INVALID,
                           "--enforced-elsewhere: nobody is warned of \"%s\"", text);
    }
    return true;
}

static bool is_idle(struct admission *a, const struct row *row)
{
    if (row->plugin && admission_is_on(a->r->s, row->plugin))
        return false;
    return !row->idle || row->idle(a);
}

/* Only what is asked is protection; a status is none. */
static bool changes(const struct admission *a)
{
    static const char *const PARTS[] = {"spec", "webhooks", "metadata.labels"};
    bool same = a->old != NULL;
    for (int i = 0; same && i < 3; i++) {
        const struct doc *now = doc_path(a->object, PARTS[i]),
                         *before = doc_path(a->old, PARTS[i]);
        same = now && before ? doc_equal(now, before) : now == before;
    }
    return !same;
}

void unenforced_warn(struct admission *a)
{
    bool written = a->verb == ADMIT_CREATE || a->verb == ADMIT_UPDATE;
    if (!written || a->r->res->sub)
        return;
    for (int i = 0; i < NROWS; i++)
        if (admit_of(a, ROWS[i].group, ROWS[i].resource) &&
            !is_named(a->r->s->opts.enforced_elsewhere, &ROWS[i]) && changes(a) &&
            is_idle(a, &ROWS[i]))
            request_warn(a->r, str_from(ROWS[i].text));
}
