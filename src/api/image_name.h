/* SPDX-License-Identifier: Apache-2.0 */
/* Names of container images, as far as their tag goes. */
#ifndef DRAY_API_IMAGE_NAME_H
#define DRAY_API_IMAGE_NAME_H

#include <stdbool.h>

#include "base/str.h"

/* "[domain/]path[:tag][@digest]". Whether what is pulled may change: the tag is "latest",
 * or neither tag nor digest is written. A name that is none is not. */
bool image_name_is_latest(struct str name);

#endif
