/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of admission: what plugins share, and the functions of each plugin, which
 * admission.c names and orders. A plugin says for itself which resources it looks at.
 */
#ifndef DRAY_SERVER_ADMISSION_ADMIT_H
#define DRAY_SERVER_ADMISSION_ADMIT_H

#include "server/admission/admission.h"

/* Whether the request is for a resource or one of its subresources. */
bool admit_of(const struct admission *a, const char *group, const char *resource);
/* Whether it is for the resource itself. */
bool admit_on(const struct admission *a, const char *group, const char *resource);
/* "" for the resource itself. */
const char *admit_sub(const struct admission *a);

/* 403: RESOURCE "NAME" is forbidden: ...; false. */
bool admit_forbid(struct admission *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* 404 of another object than the one that is written; false. */
bool admit_missing(struct admission *a, const char *resource, struct str name);

/* A stored object in the version that is stored, in the request's arena; false: it is
 * not there. */
bool admit_find(struct admission *a, const char *group, const char *resource,
                struct str namespace, struct str name, struct doc *out);
typedef bool admit_each_fn(void *ctx, struct cache_object *o);
/* All objects of a kind; each false: stop. */
void admit_each(struct admission *a, const char *group, const char *resource,
                admit_each_fn *each, void *ctx);
/* All in a namespace. */
void admit_each_in(struct admission *a, const char *group, const char *resource,
                   struct str namespace, admit_each_fn *each, void *ctx);

/* A mutable member, made if it is absent or null. */
struct doc *admit_made(struct admission *a, struct doc *d, const char *key,
                       struct doc fresh);
void admit_set_text(struct admission *a, struct doc *d, const char *key, struct str text);
/* Items of the list at a path; 0 if there is none. */
uint32_t admit_count(const struct doc *d, const char *path);
/* The rows that api/admit.c has for a plugin. */
void admit_rows(struct admission *a, const char *plugin);
/* Whom the certificate request that is written is for; false: it is none. */
bool admit_request_subject(struct admission *a, struct pki_request *out);

/* ---- plugins; the file of each beside it ---- */

admission_fn admit_deny_all;                           /* admit.c */
admission_fn admit_namespace;                          /* admit_namespace.c */
admission_fn admit_namespace_exists;                   /* ... */
admission_fn admit_antiaffinity;                       /* admit_pod.c */
admission_fn admit_pull_images, check_pull_images;     /* ... */
admission_fn admit_tolerate_outages;                   /* ... */
admission_fn admit_tolerate_resources;                 /* ... */
admission_fn admit_topology_labels;                    /* ... */
admission_fn admit_account, check_account;             /* admit_account.c */
admission_fn admit_node;                               /* admit_node.c */
admission_fn admit_taint_node;                         /* admit.c */
admission_fn admit_priority, check_priority;           /* admit_priority.c */
admission_fn admit_storage_class;                      /* admit_class.c */
admission_fn admit_ingress_class;                      /* ... */
admission_fn admit_protect_storage;                    /* admit.c */
admission_fn admit_protect_group;                      /* admit.c */
admission_fn check_resize;                             /* admit_class.c */
admission_fn check_owners;                             /* admit_owner.c */
admission_fn admit_runtime, check_runtime;             /* admit_runtime.c */
admission_fn check_approval, check_signing;            /* admit_cert.c */
admission_fn check_attest, check_subject;              /* ... */
admission_fn check_external_ips;                       /* admit.c */
admission_fn admit_webhooks, check_webhooks;           /* webhook.c */
admission_fn admit_policies;                           /* policy_mutate.c */
admission_fn check_policies;                           /* policy_validate.c */
admission_fn check_features, check_resize_fits;        /* admit_features.c */
admission_fn admit_limits, check_limits;               /* admit_limits.c */
admission_fn check_pod_security;                       /* admit_pod_security.c */
admission_fn admit_node_selector, check_node_selector; /* admit_placement.c */
admission_fn admit_tolerations, check_tolerations;     /* ... */
admission_fn check_event_rate;                         /* admit_events.c */
admission_fn check_quota;                              /* admit_quota.c */

/* What a pod refers to that only the API knows: "secrets", "resourceclaims"; NULL:
 * nothing (admit_refs.c). */
const char *pod_reference(const struct doc *pod);
bool pod_has_secrets(const struct doc *pod);

/* NULL: there are none. */
void event_buckets_free(struct event_buckets *b);

#endif
