/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading manifests into a cluster: files, folders and standard input; YAML and JSON,
 * Lists and streams of documents. Every object is decoded strictly, defaulted, converted
 * to v1 and validated; everything wrong is reported with its place. Objects that a server
 * has stored (they carry metadata.resourceVersion) were validated there and are taken as
 * they are.
 */
#ifndef DRAY_CLI_MANIFESTS_H
#define DRAY_CLI_MANIFESTS_H

#include "api/gates.h"
#include "cli/cluster.h"
#include "cli/diag.h"

struct manifests_opts {
    const struct api_gates *gates;
    struct str now; /* RFC 3339, for times that default to the present */
};

/* Reads one path: a file, a folder (its *.yaml, *.yml and *.json, sorted, not its
 * subfolders), or "-". What is wrong goes to diags; false if the path cannot be read. */
bool manifests_read(struct cluster *c, const char *path,
                    const struct manifests_opts *opts, struct diags *diags);
/* What only the whole input shows: adminAccess in namespaces that do not allow it. */
void manifests_finish(struct cluster *c, struct diags *diags);

#endif
