/* SPDX-License-Identifier: Apache-2.0 */
/* An object in words and indented lines, as kubectl describes what it knows nothing of.
 */
#ifndef DRAY_CLI_DESCRIBE_H
#define DRAY_CLI_DESCRIBE_H

#include "doc/doc.h"

/* events: the list of those about it, or NULL: none; with_events: they are told of. now:
 * nanoseconds since 1970. */
void describe_object(const struct doc *object, struct doc *events, bool with_events,
                     int64_t now, struct arena *a, struct strbuf *out);
/* "deviceClassName" -> "Device Class Name", "uid" -> "UID". */
struct str describe_label(struct str field, struct arena *a);

#endif
