/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finalizers that keep what is in use: admission puts them on
 * (StorageObjectInUseProtection, PodGroupProtection), and when an object that has been
 * deleted is used no longer, its controller takes them off.
 *
 * Source: k8s.io/kubernetes pkg/controller/volume/{pvc,pv,vac}protection,
 * pkg/controller/scheduling/podgroupprotection.
 */
#ifndef DRAY_CONTROL_PROTECTION_H
#define DRAY_CONTROL_PROTECTION_H

#include "control/reconciler.h"

extern const struct reconciler_def volume_claim_protection, volume_protection,
    volume_class_protection, pod_group_protection;

/* Whether an object is deleted and held back by a finalizer, and whether it is not
 * deleted and has to get it. */
bool protection_holds(const struct doc *object, const char *finalizer);
bool protection_lacks(const struct doc *object, const char *finalizer);
/* Writes the object with the finalizer, or without. One that has gone, or changed since,
 * will be looked at again. */
enum progress protection_add(struct work *w, const struct client_kind *kind,
                             const struct object *o, const char *finalizer);
enum progress protection_remove(struct work *w, const struct client_kind *kind,
                                const struct object *o, const char *finalizer);

#endif
