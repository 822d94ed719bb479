/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cdi: the rules one by one. Each says no with an error that names what is
 * wrong.
 */
#ifndef DRAY_DRIVER_CDI_INNER_H
#define DRAY_DRIVER_CDI_INNER_H

#include "driver/cdi.h"

bool cdi_kind_check(struct str kind, struct err *e);
bool cdi_device_name_check(struct str name, struct err *e);

/* Both known. */
bool cdi_version_reaches(struct str version, const char *least);

/* Two things that readers let pass are no writer's to use. */
enum cdi_strictness { CDI_AS_READ, CDI_AS_WRITTEN };
bool cdi_spec_check_as(const struct cdi_spec *s, enum cdi_strictness how, struct err *e);

#endif
