/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature gates that kube-apiserver 1.37.2 knows and nothing here depends on: whoever
 * sets them for all of a cluster may name them here as well. What is locked stays locked.
 */
#ifndef DRAY_API_GATES_OTHER_H
#define DRAY_API_GATES_OTHER_H

#include "base/str.h"

enum api_other_gate {
    API_OTHER_NONE, /* no gate of that name */
    API_OTHER_FREE,
    API_OTHER_ON, /* locked to that */
    API_OTHER_OFF,
};
enum api_other_gate api_other_gate(struct str name);

#endif
