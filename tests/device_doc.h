/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices as the golden cases and the oracle's questions write them: the fields of the
 * API's Device ({"attributes": {"a": {"int": 1}}, "capacity": {"m": {"value": "1Gi"}}})
 * and the driver beside them.
 */
#ifndef DRAY_TESTS_DEVICE_DOC_H
#define DRAY_TESTS_DEVICE_DOC_H

#include "device/device.h"
#include "doc/doc.h"

/* The texts of d and the arena must outlive the facts. d may be NULL: an empty device. */
void device_doc_read(struct device_names *names, const struct doc *d, struct arena *a,
                     struct device_facts *out);
/* {"ints": [1, 2]} */
struct doc device_doc_attr(const struct device_attr_value *v, struct arena *a);

#endif
