/* SPDX-License-Identifier: Apache-2.0 */
/* dray controllers: controllers beside an API server, dray's or the real one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/duty.h"
#include "cli/gates.h"
#include "control/controllers.h"

static const char USAGE[] =
    "usage: dray controllers --kubeconfig FILE [OPTION]...\n"
    "\n"
    "Runs controllers beside an API server, in the place of Kubernetes' own:\n"
    "\n"
    "  kube-controller-manager --controllers=*,-resourceclaim-controller ... &\n"
    "  dray controllers --kubeconfig FILE --only resourceclaim\n"
    "\n"
    "resourceclaim              claims are made from the templates of pods, and\n"
    "                           reservations, allocations and claims that nobody needs\n"
    "                           anymore are taken back\n"
    "device-taint-eviction      pods go from devices with a NoExecute taint, and rules "
    "say\n"
    "                           how far that is\n"
    "resourcepoolstatusrequest  what pools have and what of it is free, for whoever "
    "asks\n"
    "                           (with the gate DRAResourcePoolStatus)\n"
    "replicaset                 as many pods of a template as are wanted\n"
    "deployment                 templates are rolled out, a ReplicaSet for each\n"
    "daemonset                  a pod on each node that fits\n"
    "job, cronjob               pods until enough have succeeded, and at their times\n"
    "ttl-after-finished         jobs go a while after they have ended\n"
    "statefulset                pods with names and volumes of their own\n"
    "endpoints, endpointslice, endpointslice-mirroring\n"
    "                           where the pods of services are\n"
    "garbage-collector          objects go when their owners have gone\n"
    "namespace                  a namespace that is deleted is emptied\n"
    "node-lifecycle             nodes that fall silent are lost, and tainted\n"
    "taint-eviction             pods go from nodes with a NoExecute taint\n"
    "pod-garbage-collector      pods that nobody ends are ended\n"
    "resourcequota              what namespaces use of their quotas is counted\n"
    "disruption                 disruption budgets are counted\n"
    "clusterrole-aggregation    roles get the rules of those that they select\n"
    "serviceaccount             an account \"default\" in each namespace\n"
    "root-ca-certificate-publisher\n"
    "                           and kube-root-ca.crt\n"
    "persistentvolume-protection, persistentvolumeclaim-protection,\n"
    "podgroup-protection, volumeattributesclass-protection\n"
    "                           what is deleted stays as long as it is used\n"
    "certificatesigningrequest-approving, -signing, -cleaner\n"
    "                           kubelets get certificates, by "
    "--cluster-signing-cert-file\n"
    "validatingadmissionpolicy-status\n"
    "                           what is wrong with the types in policies\n"
    "\n"
    "In a pod the kubeconfig may be left out: it acts as its service account then.\n"
    "\n";

struct options {
    const char *kubeconfig, *only;
    struct duty_lease lease;
    struct api_gates gates;
    uint32_t workers, eviction_workers, kept_pods;
    const char *root_ca_file, *signing_cert_file, *signing_key_file;
    struct control_settings settings;
};

static bool set_gates(void *into, const char *list, struct err *e)
{
    struct options *o = into;
    return gates_read(&o->gates, list, e);
}

#define AT(member) offsetof(struct options, member)
static const struct option_row ROWS[] = {
    {"kubeconfig", "FILE", OPTION_TEXT, AT(kubeconfig),
     "says where the server is, and who asks"},
    {"only", "NAME,...", OPTION_LIST, AT(only), "these controllers (all)"},
    {"feature-gates", "NAME=BOOL,...", OPTION_CALL, 0, "gates of Kubernetes", set_gates},
    {"concurrent-resourceclaim-syncs", "N", OPTION_COUNT, AT(workers),
     "claims and pods that are worked on at once (50)"},
    {"concurrent-device-taint-eviction-syncs", "N", OPTION_COUNT, AT(eviction_workers),
     "pods that are evicted at once (8)"},
    {"root-ca-file", "FILE", OPTION_TEXT, AT(root_ca_file),
     "the authority that pods find in kube-root-ca.crt (the kubeconfig's)"},
    {"cluster-signing-cert-file", "FILE", OPTION_TEXT, AT(signing_cert_file),
     "the authority that signs certificates, PEM (none are signed)"},
    {"cluster-signing-key-file", "FILE", OPTION_TEXT, AT(signing_key_file),
     "and its key"},
    {"cluster-signing-duration", "TIME", OPTION_DURATION, AT(settings.signing_ms),
     "for which certificates are valid at most (8760h)"},
    {"terminated-pod-gc-threshold", "N", OPTION_COUNT, AT(kept_pods),
     "pods that are kept after their end (12500)"},
    {"node-monitor-grace-period", "TIME", OPTION_DURATION, AT(settings.grace_ms),
     "for which a node may be silent (50s)"},
    {"node-startup-grace-period", "TIME", OPTION_DURATION, AT(settings.startup_ms),
     "and one that never posted a status (60s)"},
    DUTY_ROWS(AT(lease), "dray-controllers"),
};
#undef AT
static const struct option_table TABLE = {ROWS, sizeof ROWS / sizeof *ROWS};

static char name[] = "controllers";

static void *start(void *ctx, struct client *c)
{
    const struct options *o = ctx;
    struct controllers_opts opts = {.only = o->only,
                                    .gates = &o->gates,
                                    .settings = o->settings,
                                    .claim_workers = o->workers,
                                    .eviction_workers = o->eviction_workers,
                                    .log = duty_say,
                                    .log_ctx = name};
    return controllers_new(c, &opts);
}

static void stop(void *work)
{
    controllers_free(work);
}

static bool read_if(const char *file, struct arena *a, struct str *out, struct err *e)
{
    return !file || kubeconfig_read_file(file, a, out, e);
}

static bool read_settings(struct options *o, const struct kubeconfig *k, struct arena *a,
                          struct err *e)
{
    o->settings.terminated_pods = o->kept_pods;
    o->settings.root_ca = k->tls.ca_pem;
    if (!o->signing_cert_file != !o->signing_key_file)
        return err_set(e, ERR_INVALID,
                       "--cluster-signing-cert-file and --cluster-signing-key-file "
                       "belong together");
    return read_if(o->root_ca_file, a, &o->settings.root_ca, e) &&
           read_if(o->signing_cert_file, a, &o->settings.authority.cert_pem, e) &&
           read_if(o->signing_key_file, a, &o->settings.authority.key_pem, e);
}

static int read_and_run(int argc, char **argv, struct arena *a, struct err *e)
{
    struct options o = {
        .gates = api_gates_default,
        .lease = {.elect = true, .namespace = "kube-system", .name = "dray-controllers"}};
    const struct duty duty = {name, &o.lease, start, stop, &o};
    struct kubeconfig k;
    bool help = false;
    if (!options_read(&TABLE, argc, argv, a, &o, &help, e))
        return EXIT_INPUT;
    if (help) {
        fputs(USAGE, stdout);
        options_print(&TABLE, stdout);
        return EXIT_OK;
    }
    if (!controllers_check(o.only, e) || !duty_server(name, o.kubeconfig, a, &k, e) ||
        !read_settings(&o, &k, a, e))
        return EXIT_INPUT;
    return duty_run(&duty, &k, e);
}

int cmd_controllers(int argc, char **argv)
{
    return duty_command(name, read_and_run, argc, argv);
}
