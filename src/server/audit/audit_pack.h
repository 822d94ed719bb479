/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files compressed one after another on a thread of their own: FILE becomes FILE.gz, and
 * goes once that is whole. What is not done when the packer ends stays as it was, for
 * the next one.
 */
#ifndef DRAY_SERVER_AUDIT_AUDIT_PACK_H
#define DRAY_SERVER_AUDIT_AUDIT_PACK_H

#include "base/vec.h"

typedef VEC(char *) audit_paths; /* each allocated */
void audit_paths_release(audit_paths *p);

struct audit_pack;
struct audit_pack *audit_pack_new(void);
/* Stops at once. */
void audit_pack_free(struct audit_pack *p);
/* Takes the paths over. While earlier ones are still at work these are left alone: they
 * are to be named again. */
void audit_pack_start(struct audit_pack *p, audit_paths *paths);

#endif
