/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of resource.k8s.io (spec 2.9): v1, v1beta2 and v1alpha3 share one shape;
 * v1beta1 has requests without "exactly" and devices with "basic". Events have other
 * names for their fields in events.k8s.io than in the core group, where they are kept.
 * Every other kind of Kubernetes has one shape in all versions that dray serves.
 */
#ifndef DRAY_API_CONVERT_H
#define DRAY_API_CONVERT_H

#include "api/schema.h"
#include "doc/doc.h"

/* The kind of the same name in another version of its group; NULL if it has none. */
const struct api_kind *api_kind_in(const struct api_kind *kind, const char *version);
/* The version whose shape rules and views are written for: v1 where the kind has it, but
 * for two. */
const struct api_kind *api_kind_hub(const struct api_kind *kind);

/* Turns the object, which must be mutable and decodable as from, into one of to. Strings
 * that are made live in a. The object should have been defaulted in its own version
 * first. */
void api_convert(const struct api_kind *from, const struct api_kind *to,
                 struct doc *object, struct arena *a);

#endif
