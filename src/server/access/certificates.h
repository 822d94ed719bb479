/* SPDX-License-Identifier: Apache-2.0 */
/* What only who knows of certificates can say of the kinds of certificates.k8s.io. */
#ifndef DRAY_SERVER_ACCESS_CERTIFICATES_H
#define DRAY_SERVER_ACCESS_CERTIFICATES_H

#include "api/validate.h"
#include "server/inner.h"

/* Appends what is wrong; other kinds are left alone. old: what is stored, or NULL. */
void certificates_check(struct request *r, const struct doc *object,
                        const struct doc *old, struct api_errors *errors);

#endif
