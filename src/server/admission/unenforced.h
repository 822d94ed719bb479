/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is stored and looks like protection, but is given effect to by nothing here: its
 * writes are answered with a Warning that says who would have to. Whoever runs something
 * beside the server that does (a network plugin) names the kinds in --enforced-elsewhere.
 */
#ifndef DRAY_SERVER_ADMISSION_UNENFORCED_H
#define DRAY_SERVER_ADMISSION_UNENFORCED_H

#include "server/admission/admission.h"

/* The object is about to be stored. */
void unenforced_warn(struct admission *a);
/* "networkpolicies.networking.k8s.io,..."; false: one of them is never warned of. */
bool unenforced_check(const char *list, struct err *e);

#endif
