/* SPDX-License-Identifier: Apache-2.0 */
/* Cells; for printers*.c alone. */
#ifndef DRAY_API_PRINTERS_INNER_H
#define DRAY_API_PRINTERS_INNER_H

#include "api/printers.h"

struct printing {
    struct arena *a;
    int64_t now;
    struct str default_class; /* the StorageClass that counts as the default */
};

/* The value of a cell. argument: most take "path|text where it is unset". */
typedef struct doc cell_fn(const struct printing *p, const struct doc *object,
                           const char *argument);

/* Of any kind. */
cell_fn cell_text, cell_int, cell_bool, cell_age, cell_count, cell_join, cell_ratio,
    cell_containers, cell_images, cell_selector, cell_labels, cell_pair, cell_either,
    cell_yes_no;
/* Of one kind. */
cell_fn cell_pod_ip, cell_pod_ready, cell_pod_status, cell_pod_restarts, cell_pod_gates;
cell_fn cell_node_status, cell_node_roles, cell_node_address, cell_node_kernel;
cell_fn cell_event_last, cell_event_first, cell_event_object, cell_event_source,
    cell_event_message, cell_event_count;
cell_fn cell_config_data, cell_cluster_ip, cell_service_ip, cell_service_ports,
    cell_quota, cell_phase, cell_claim_capacity, cell_claim_modes, cell_modes, cell_class,
    cell_endpoints;
cell_fn cell_deployment_selector, cell_job_status, cell_job_completions,
    cell_job_duration, cell_controller;
cell_fn cell_resource_claim, cell_pool_sum, cell_pool_errors, cell_pool_status,
    cell_pool_completed;
cell_fn cell_group_policy, cell_group_status, cell_subjects;
cell_fn cell_default_name, cell_ingress_class, cell_hosts, cell_addresses, cell_tls_ports,
    cell_slice_ports, cell_slice_endpoints, cell_audiences, cell_parent;
cell_fn cell_request_status, cell_certificate_state, cell_requested_duration, cell_health,
    cell_condition_status, cell_metrics, cell_claim_ref, cell_param_ref,
    cell_server_versions, cell_migration_resource, cell_migration_status;

/* ---- helpers ---- */

struct doc cell_of(const struct printing *p, struct str text);
/* For lists: items of the list at the path; 0 and NULL where there is none. */
uint32_t cell_list(const struct doc *object, const char *path, const struct doc **items);
struct str cell_path_text(const struct doc *object, const char *path);
int64_t cell_path_int(const struct doc *object, const char *path);
bool cell_path_is_map(const struct doc *object, const char *path);
/* "a,b,c", or the most first and "a,b + 2 more...". */
struct cell_texts {
    struct str *v;
    size_t n, cap;
};
void cell_add(const struct printing *p, struct cell_texts *texts, struct str text);
struct str cell_joined(const struct printing *p, const struct cell_texts *texts,
                       const char *between);
/* In byte order, each once. */
void cell_sort(struct cell_texts *texts);
/* The first condition of that type in the list at the path; NULL: none. */
const struct doc *cell_condition(const struct doc *object, const char *path,
                                 const char *type);
bool cell_is_true(const struct doc *condition);

#endif
