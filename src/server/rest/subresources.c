/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for like an object of the store and is none: who serves it. */
#include <string.h>

#include "server/access/reviews.h"

static const struct subresource SERVED[] = {
    {"", "bindings", binding_create, false},
    {"", "nodes/proxy", node_proxy_connect, true},
    {"", "pods/attach", attach_connect, true},
    {"", "pods/binding", binding_create, false},
    {"", "pods/eviction", eviction_create, false},
    {"", "pods/exec", exec_connect, true},
    {"", "pods/log", log_get, true},
    {"", "pods/portforward", portforward_connect, true},
    {"", "pods/proxy", pod_proxy_connect, true},
    {"", "services/proxy", service_proxy_connect, true},
    {"", "serviceaccounts/token", token_request_create, false},
    {"authentication.k8s.io", "selfsubjectreviews", review_self, false},
    {"authentication.k8s.io", "tokenreviews", review_token, false},
    {"authorization.k8s.io", "localsubjectaccessreviews", review_local_access, false},
    {"authorization.k8s.io", "selfsubjectaccessreviews", review_self_access, false},
    {"authorization.k8s.io", "selfsubjectrulesreviews", review_self_rules, false},
    {"authorization.k8s.io", "subjectaccessreviews", review_access, false},
};

const struct subresource *subresource_find(const struct api_kind *k)
{
    for (size_t i = 0; i < sizeof SERVED / sizeof *SERVED; i++)
        if (strcmp(SERVED[i].group, k->group) == 0 &&
            strcmp(SERVED[i].resource, k->resource) == 0)
            return &SERVED[i];
    return NULL;
}
