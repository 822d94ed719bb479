/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CDI specs (container-device-interface 1.1): names, reading with every rule that the
 * runtimes' library has, the minimal version, and writing. A spec is a value in an arena;
 * texts are not copied.
 *
 * Source: spec 5.13.
 */
#ifndef DRAY_DRIVER_CDI_H
#define DRAY_DRIVER_CDI_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "doc/doc.h"

struct cdi_pair { /* an annotation */
    struct str key, value;
};
struct cdi_node {
    struct str path, host_path; /* host_path empty: path */
    struct str type;            /* "b", "c", "u", "p"; empty: what it is on the host */
    struct str permissions;     /* of rwm, or "none"; empty: rwm */
    bool has_mode, has_uid, has_gid;
    uint32_t mode, uid, gid;
    int64_t major, minor; /* 0: what it is on the host */
};
struct cdi_mount {
    struct str host_path, container_path, type;
    struct str *options;
    uint32_t noptions;
};
struct cdi_hook {
    struct str name, path; /* "prestart", "createRuntime", ... */
    struct str *args, *env;
    uint32_t nargs, nenv;
    bool has_timeout;
    int64_t timeout_s;
};
struct cdi_net_device { /* 1.1.0 */
    struct str host_name, name;
};
struct cdi_rdt { /* intelRdt */
    bool present, enable_monitoring;
    struct str clos_id, l3_schema, mem_bw_schema;
    bool has_schemata;
    struct str *schemata;
    uint32_t nschemata;
};
struct cdi_edits {
    struct str *env; /* "NAME=value" */
    struct cdi_node *nodes;
    struct cdi_mount *mounts;
    struct cdi_hook *hooks;
    struct cdi_net_device *net_devices;
    uint32_t *gids; /* additionalGids */
    uint32_t nenv, nnodes, nmounts, nhooks, nnet_devices, ngids;
    struct cdi_rdt rdt;
};
struct cdi_device {
    struct str name;
    struct cdi_pair *annotations;
    uint32_t nannotations;
    struct cdi_edits edits;
};
struct cdi_spec {
    struct str version; /* empty: the least that its fields need */
    struct str kind;    /* "vendor/class" */
    struct cdi_pair *annotations;
    struct cdi_device *devices;
    uint32_t nannotations, ndevices;
    struct cdi_edits edits; /* for every device */
};

/* "vendor/class=device" in its parts. */
bool cdi_name_parse(struct str name, struct str *vendor, struct str *class,
                    struct str *device, struct err *e);
/* A whole file, JSON or YAML. e names the field and what would be right. */
bool cdi_spec_read(struct str text, struct arena *a, struct cdi_spec *out, struct err *e);
/* Holds a spec to the rules of cdi_spec_read, and to two more that readers let pass:
 * annotations have qualified names, paths of nodes are absolute. A file is never written
 * otherwise. */
bool cdi_spec_check(const struct cdi_spec *s, struct err *e);
/* Nothing at all: a device of a spec must have some. */
bool cdi_edits_empty(const struct cdi_edits *x);
/* The least that its fields need: "0.3.0" ... "1.1.0". */
const char *cdi_spec_version(const struct cdi_spec *s);
bool cdi_version_known(struct str version); /* with or without a leading "v" */
/* As JSON, fields in the order of the CDI document. */
struct str cdi_spec_print(const struct cdi_spec *s, struct arena *a);

#endif
