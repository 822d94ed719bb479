/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for certificates as such, and what they have to be. */
#include "control/csr.h"

#include "base/base64.h"
#include "control/fields.h"

/* ---- reading ---- */

static bool has_condition(const struct doc *object, const char *type, bool any)
{
    const struct doc *list = field_list(object, "status.conditions");
    for (uint32_t i = 0; i < list->n; i++) {
        struct str status = doc_get_text(&list->items[i], "status");
        if (doc_is_string(doc_get(&list->items[i], "type"), type) &&
            (any || !status.n || str_is(status, "True")))
            return true;
    }
    return false;
}

static const struct str *read_usages(const struct doc *object, struct arena *a,
                                     uint32_t *n)
{
    const struct doc *list = field_list(object, "spec.usages");
    struct str *usages = ARENA_ARRAY(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        usages[i] = doc_str(&list->items[i]);
    *n = list->n;
    return usages;
}

struct csr csr_read(const struct doc *object, struct arena *a)
{
    struct csr c = {.signer = field_text(object, "spec.signerName"),
                    .username = field_text(object, "spec.username"),
                    .approved = has_condition(object, "Approved", true),
                    .denied = has_condition(object, "Denied", true),
                    .failed = has_condition(object, "Failed", false),
                    .issued = field_text(object, "status.certificate").n > 0};
    c.usages = read_usages(object, a, &c.nusages);
    c.readable = base64_decode(field_text(object, "spec.request"), a, &c.pem) &&
                 pki_is_request(c.pem) && pki_read_request(c.pem, a, &c.request);
    return c;
}

struct doc csr_with_condition(const struct doc *object, const char *type,
                              const char *reason, const char *message, struct arena *a)
{
    struct doc d = doc_dup(a, object), c = doc_make_map();
    struct doc *status = field_make(a, &d, "status"),
               *list = (struct doc *)doc_get(status, "conditions");
    doc_set_text(a, &c, "type", str_from(type));
    doc_set_text(a, &c, "status", STR("True"));
    doc_set_text(a, &c, "reason", str_from(reason));
    doc_set_text(a, &c, "message", str_from(message));
    if (!list || list->type != DOC_LIST)
        list = doc_set(a, status, "conditions", doc_make_list());
    doc_append(a, list, c);
    return d;
}

/* ---- what signers ask for ---- */

static bool has_usage(const struct csr *c, const char *usage)
{
    for (uint32_t i = 0; i < c->nusages; i++)
        if (str_is(c->usages[i], usage))
            return true;
    return false;
}

/* Digital signature and the one named, key encipherment if it likes, nothing else. */
static bool are_usages(const struct csr *c, const char *usage)
{
    for (uint32_t i = 0; i < c->nusages; i++)
        if (!str_is(c->usages[i], "digital signature") &&
            !str_is(c->usages[i], "key encipherment") && !str_is(c->usages[i], usage))
            return false;
    return has_usage(c, "digital signature") && has_usage(c, usage);
}

static bool is_node(const struct pki_request *r)
{
    return r->ngroups == 1 && str_is(r->groups[0], "system:nodes");
}

static const char *name_fault(const struct csr *c)
{
    return str_starts(c->request.name, STR("system:node:"))
               ? NULL
               : "subject common name does not begin with system:node:";
}

static const char *kubelet_client_fault(const struct csr *c)
{
    const struct pki_request *r = &c->request;
    if (!is_node(r))
        return "subject organization is not system:nodes";
    if (r->dns_names)
        return "DNS subjectAltNames are not allowed";
    if (r->emails)
        return "Email subjectAltNames are not allowed";
    if (r->addresses)
        return "IP subjectAltNames are not allowed";
    if (r->uris)
        return "URI subjectAltNames are not allowed";
    if (name_fault(c))
        return name_fault(c);
    return are_usages(c, "client auth")
               ? NULL
               : "usages did not match [client auth digital signature key encipherment]";
}

static const char *kubelet_serving_fault(const struct csr *c)
{
    const struct pki_request *r = &c->request;
    if (!is_node(r))
        return "subject organization is not system:nodes";
    if (!r->dns_names && !r->addresses)
        return "DNS or IP subjectAltName is required";
    if (r->emails)
        return "Email subjectAltNames are not allowed";
    if (r->uris)
        return "URI subjectAltNames are not allowed";
    if (!are_usages(c, "server auth"))
        return "usages did not match [digital signature key encipherment server auth]";
    return name_fault(c);
}

static const char *client_fault(const struct csr *c, struct arena *a)
{
    for (uint32_t i = 0; i < c->nusages; i++)
        if (!str_is(c->usages[i], "digital signature") &&
            !str_is(c->usages[i], "key encipherment") &&
            !str_is(c->usages[i], "client auth"))
            return arena_printf(a, "invalid usage for client certificate: %.*s",
                                STR_ARG(c->usages[i]))
                .p;
    return has_usage(c, "client auth")
               ? NULL
               : "missing required usage for client certificate: client auth";
}

const char *csr_fault(const struct csr *c, struct arena *a)
{
    if (str_is(c->signer, CSR_KUBELET_CLIENT))
        return kubelet_client_fault(c);
    if (str_is(c->signer, CSR_KUBELET_SERVING))
        return kubelet_serving_fault(c);
    if (str_is(c->signer, CSR_CLIENT))
        return client_fault(c, a);
    return str_is(c->signer, CSR_LEGACY) ? NULL : "";
}
