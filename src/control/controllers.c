/* SPDX-License-Identifier: Apache-2.0 */
#include "control/controllers.h"

#include <stdlib.h>

#include "base/mem.h"
#include "control/claims.h"
#include "control/cluster_roles.h"
#include "control/cronjobs.h"
#include "control/csr.h"
#include "control/daemonsets.h"
#include "control/deployments.h"
#include "control/disruption.h"
#include "control/endpoint_mirror.h"
#include "control/endpoint_slices.h"
#include "control/endpoints.h"
#include "control/eviction.h"
#include "control/garbage.h"
#include "control/jobs.h"
#include "control/namespaces.h"
#include "control/node_life.h"
#include "control/pod_garbage.h"
#include "control/policy_status.h"
#include "control/pool_requests.h"
#include "control/protection.h"
#include "control/quota_usage.h"
#include "control/replicasets.h"
#include "control/service_accounts.h"
#include "control/statefulsets.h"
#include "control/taint_eviction.h"
#include "control/ttl.h"

/* ---- one function for each that starts it; NULL: its gate is off ---- */

static void *start_claims(struct client *c, const struct controllers_opts *o)
{
    struct claims_opts opts = {
        .pod_groups = api_gate(o->gates, API_GATE_GenericWorkload),
        .group_claims = api_gate(o->gates, API_GATE_DRAWorkloadResourceClaims),
        .workers = o->claim_workers,
        .log = o->log,
        .log_ctx = o->log_ctx,
    };
    return claims_new(c, &opts);
}

static void *start_eviction(struct client *c, const struct controllers_opts *o)
{
    struct eviction_opts opts = {
        .rules = api_gate(o->gates, API_GATE_DRADeviceTaintRules),
        .group_claims = api_gate(o->gates, API_GATE_DRAWorkloadResourceClaims),
        .workers = o->eviction_workers,
        .log = o->log,
        .log_ctx = o->log_ctx,
    };
    return api_gate(o->gates, API_GATE_DRADeviceTaints) ? eviction_new(c, &opts) : NULL;
}

static void *start_pool_requests(struct client *c, const struct controllers_opts *o)
{
    struct pool_requests_opts opts = {
        .taint_rules = api_gate(o->gates, API_GATE_DRADeviceTaintRules),
        .log = o->log,
        .log_ctx = o->log_ctx,
    };
    return api_gate(o->gates, API_GATE_DRAResourcePoolStatus)
               ? pool_requests_new(c, &opts)
               : NULL;
}

static void *start_garbage(struct client *c, const struct controllers_opts *o)
{
    struct garbage_opts opts = {.log = o->log, .log_ctx = o->log_ctx};
    return garbage_new(c, &opts);
}

static void *start_namespaces(struct client *c, const struct controllers_opts *o)
{
    struct namespaces_opts opts = {.log = o->log, .log_ctx = o->log_ctx};
    return namespaces_new(c, &opts);
}

static struct workload_opts workload(const struct controllers_opts *o)
{
    return (struct workload_opts){.log = o->log, .log_ctx = o->log_ctx};
}

/* Those that share informers differ in nothing but their names. */
#define WORKLOAD(name)                                                                   \
    static void *start_##name(struct client *c, const struct controllers_opts *o)        \
    {                                                                                    \
        struct workload_opts opts = workload(o);                                         \
        (void)c;                                                                         \
        return name##_new(o->shared, &opts);                                             \
    }                                                                                    \
    static void stop_##name(void *controller)                                            \
    {                                                                                    \
        name##_free(controller);                                                         \
    }
WORKLOAD(cronjobs)
WORKLOAD(daemonsets)
WORKLOAD(deployments)
WORKLOAD(endpoint_mirror)
WORKLOAD(endpoint_slices)
WORKLOAD(endpoints)
WORKLOAD(jobs)
WORKLOAD(replicasets)
WORKLOAD(statefulsets)
WORKLOAD(ttl)

static void *start_pod_group_protection(struct client *c,
                                        const struct controllers_opts *o)
{
    struct reconciler_opts opts = {.log = o->log, .log_ctx = o->log_ctx};
    return api_gate(o->gates, API_GATE_GenericWorkload)
               ? reconciler_new(c, &pod_group_protection, &opts)
               : NULL;
}

/* ---- and one that ends it ---- */

static void stop_pod_group_protection(void *c)
{
    reconciler_free(c);
}

static void stop_claims(void *c)
{
    claims_free(c);
}

static void stop_eviction(void *c)
{
    eviction_free(c);
}

static void stop_pool_requests(void *c)
{
    pool_requests_free(c);
}

static void stop_garbage(void *c)
{
    garbage_free(c);
}

static void stop_namespaces(void *c)
{
    namespaces_free(c);
}

/* Upstream's names without the "-controller" at their ends. */
static const struct row {
    const char *name;
    void *(*start)(struct client *c, const struct controllers_opts *o);
    void (*stop)(void *controller);
    const struct reconciler_def *table; /* that is all of it; or NULL */
} ROWS[] = {
    {"daemonset", start_daemonsets, stop_daemonsets, NULL},
    {"certificatesigningrequest-approving", NULL, NULL, &csr_approving},
    {"certificatesigningrequest-cleaner", NULL, NULL, &csr_cleaning},
    {"certificatesigningrequest-signing", NULL, NULL, &csr_signing},
    {"clusterrole-aggregation", NULL, NULL, &cluster_roles},
    {"cronjob", start_cronjobs, stop_cronjobs, NULL},
    {"deployment", start_deployments, stop_deployments, NULL},
    {"device-taint-eviction", start_eviction, stop_eviction, NULL},
    {"disruption", NULL, NULL, &disruption_table},
    {"endpoints", start_endpoints, stop_endpoints, NULL},
    {"endpointslice", start_endpoint_slices, stop_endpoint_slices, NULL},
    {"endpointslice-mirroring", start_endpoint_mirror, stop_endpoint_mirror, NULL},
    {"garbage-collector", start_garbage, stop_garbage, NULL},
    {"job", start_jobs, stop_jobs, NULL},
    {"namespace", start_namespaces, stop_namespaces, NULL},
    {"node-lifecycle", NULL, NULL, &node_life},
    {"persistentvolume-protection", NULL, NULL, &volume_protection},
    {"persistentvolumeclaim-protection", NULL, NULL, &volume_claim_protection},
    {"pod-garbage-collector", NULL, NULL, &pod_garbage},
    {"podgroup-protection", start_pod_group_protection, stop_pod_group_protection, NULL},
    {"replicaset", start_replicasets, stop_replicasets, NULL},
    {"resourceclaim", start_claims, stop_claims, NULL},
    {"resourcequota", NULL, NULL, &quota_usage_table},
    {"resourcepoolstatusrequest", start_pool_requests, stop_pool_requests, NULL},
    {"root-ca-certificate-publisher", NULL, NULL, &root_ca_publisher},
    {"serviceaccount", NULL, NULL, &service_accounts},
    {"statefulset", start_statefulsets, stop_statefulsets, NULL},
    {"taint-eviction", NULL, NULL, &taint_eviction},
    {"ttl-after-finished", start_ttl, stop_ttl, NULL},
    {"validatingadmissionpolicy-status", NULL, NULL, &policy_status},
    {"volumeattributesclass-protection", NULL, NULL, &volume_class_protection},
};
enum { NROWS = sizeof ROWS / sizeof *ROWS };

struct controllers {
    void *running[NROWS]; /* NULL: it does not */
    struct shared *shared;
    struct control_settings settings;
};

/* ---- names ---- */

/* NULL: there is none of that name. */
static const struct row *find_row(struct str name)
{
    static const struct str LONG = {"-controller", 11};
    if (str_ends(name, LONG))
        name.n -= LONG.n;
    for (int i = 0; i < NROWS; i++)
        if (str_is(name, ROWS[i].name))
            return &ROWS[i];
    return NULL;
}

static bool is_wanted(const struct row *row, const char *only)
{
    struct str s = str_from(only ? only : "");
    bool found = !only;
    for (struct str rest = s, part; !found && str_split_next(&rest, ',', &part);)
        found = find_row(part) == row;
    return found;
}

bool controllers_check(const char *only, struct err *e)
{
    struct str s = str_from(only ? only : "");
    for (struct str rest = s, name; str_split_next(&rest, ',', &name);)
        if (!find_row(name))
            return err_set(e, ERR_INVALID,
                           "there is no controller \"%.*s\"; "
                           "\"dray controllers --help\" names them",
                           STR_ARG(name));
    return true;
}

/* ---- life ---- */

static void *start(struct controllers *c, struct client *client, const struct row *row,
                   const struct controllers_opts *opts)
{
    struct reconciler_opts table = {&c->settings, opts->log, opts->log_ctx};
    return row->table ? reconciler_new(client, row->table, &table)
                      : row->start(client, opts);
}

static void stop(const struct row *row, void *controller)
{
    if (controller && row->table)
        reconciler_free(controller);
    else if (controller)
        row->stop(controller);
}

struct controllers *controllers_new(struct client *client,
                                    const struct controllers_opts *opts)
{
    struct controllers *c = mem_zalloc(sizeof *c);
    struct controllers_opts with = *opts;
    with.shared = c->shared = shared_new(client, opts->log, opts->log_ctx);
    c->settings = opts->settings;
    c->settings.gates = opts->gates;
    for (int i = 0; i < NROWS; i++)
        if (is_wanted(&ROWS[i], opts->only))
            c->running[i] = start(c, client, &ROWS[i], &with);
    return c;
}

void controllers_free(struct controllers *c)
{
    if (!c)
        return;
    for (int i = 0; i < NROWS; i++)
        stop(&ROWS[i], c->running[i]);
    shared_free(c->shared);
    free(c);
}
