/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: the named formats that are no names of Kubernetes. */
#ifndef DRAY_CEL_FORMAT_TEXT_H
#define DRAY_CEL_FORMAT_TEXT_H

#include "base/str.h"

bool format_is_uuid(struct str s); /* dashes may be left out */
bool format_is_base64(struct str s);
bool format_is_date(struct str s);     /* "2024-02-29" */
bool format_is_datetime(struct str s); /* "2024-02-29T10:00:00.5Z", upstream's notion */

#endif
