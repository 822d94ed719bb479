/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of doc: what a scalar event of YAML stands for: its tag decides, else its text
 * if it is plain. */
#ifndef DRAY_DOC_YAML_TEXT_H
#define DRAY_DOC_YAML_TEXT_H

#include "doc/yaml_events.h"

struct yaml_text {
    struct yaml_events *events;
    struct arena *arena; /* of the texts */
    bool in_flow;        /* between [] or {} */
};

bool yaml_text_value(struct yaml_text *t, struct doc *out);
/* As the key of a map: keys of other types become strings. */
bool yaml_text_key(struct yaml_text *t, struct str *key);

#endif
