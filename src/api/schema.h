/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object model as data: every built-in kind of Kubernetes 1.37, every field. The
 * tables are made at build time from types/TSV files by gen-types.py (columns explained
 * in types/README.md); nothing about a field is written down twice.
 *
 * All of it is constant and shared by threads.
 */
#ifndef DRAY_API_SCHEMA_H
#define DRAY_API_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum api_form {
    API_STRUCT, /* field.type says which */
    API_STRING,
    API_BYTES, /* base64 text */
    API_BOOL,
    API_INT32,
    API_INT64,
    API_DOUBLE,
    API_TIME,       /* RFC 3339, whole seconds */
    API_MICRO_TIME, /* RFC 3339, microseconds */
    API_DURATION,   /* Go duration text */
    API_QUANTITY,   /* string or number */
    API_INT_OR_STRING,
    API_OBJECT, /* free-form map */
    API_RAW,    /* RawExtension: a JSON object kept as it is */
    API_FIELDS_V1,
    API_ANY,     /* any JSON */
    API_DEDUCED, /* the same, but maps in it are owned member by member */
};

enum api_container { API_ONE, API_LIST, API_MAP, API_MAP_OF_LISTS };
enum api_list_type { API_LIST_ATOMIC, API_LIST_SET, API_LIST_MAP };

enum api_field_flags {
    API_REQUIRED = 1 << 0,      /* by the schema; validation decides */
    API_MAP_ATOMIC = 1 << 1,    /* server-side apply owns map or struct as one */
    API_PATCH_MERGE = 1 << 2,   /* strategic merge: lists are merged by patch_key */
    API_PATCH_RETAIN = 1 << 3,  /* strategic merge: retainKeys */
    API_PATCH_REPLACE = 1 << 4, /* strategic merge: replaced as one */
    API_POINTER = 1 << 5,       /* unset and zero are told apart */
    API_OMIT = 1 << 6,          /* left out of JSON when empty (structs never are) */
    API_OMIT_ZERO = 1 << 7,     /* left out of JSON when zero, a struct too */
    API_LIST_TOLD = 1 << 8,     /* the published schema names the type of the list */
    API_MAP_GRANULAR = 1 << 9,  /* the published schema says so, of map or struct */
};

struct api_type;

struct api_field {
    const char *name;
    const struct api_type *type; /* API_STRUCT, else NULL */
    const char *def;             /* default as JSON text, NULL: none */
    const char *list_keys;       /* "a,b" of a keyed list, NULL otherwise */
    const char *patch_key;       /* strategic merge key, NULL: none */
    const char *proto;           /* "repeated Condition", "map string,bytes" */
    const char *values;          /* "A,B": what its schema allows; NULL: anything */
    uint16_t number;             /* protobuf; 0: none (apiVersion, kind, ...) */
    uint16_t flags;              /* enum api_field_flags */
    uint8_t outer[2];            /* numbers of the messages that embed it, outermost
                                  * first; 0: none */
    uint8_t form;                /* enum api_form: of the value or of the items */
    uint8_t container;           /* enum api_container */
    uint8_t list_type;           /* enum api_list_type */
    uint8_t name_len;
};

struct api_type {
    const char *name;  /* "ResourceClaimSpec" */
    const char *group; /* "resource.k8s.io"; empty: core; "meta" for metav1 */
    const char *version;
    const struct api_field *fields; /* sorted by name */
    const uint16_t *by_number;      /* indexes of those with a number, in its order */
    const char *unions; /* "type:a,b": one of a, b, which "type" (it may be empty) names;
                         * NULL: none */
    uint16_t nfields, nnumbered;
    uint8_t form; /* of a type without fields: API_OBJECT, API_ANY or API_DEDUCED; else
                     API_STRUCT */
    bool atomic; /* server-side apply owns it as one, wherever it is not told otherwise */
    /* Of types that are made at run time (api/structural.h): */
    bool open;                     /* members that are no fields are API_DEDUCED */
    const struct api_field *value; /* the type stands for what this field holds */
};

struct api_custom;

struct api_kind { /* a resource or a subresource */
    const char *group, *version;
    const char *resource; /* "pods", "pods/status" */
    const char *singular;
    const char *name; /* "Pod"; of a subresource with a body of another group
                         "policy/v1/Eviction" */
    const char *short_names, *categories, *verbs; /* comma-separated */
    const struct api_type
        *type; /* of the body; NULL: none of ours (options of connect verbs) */
    bool namespaced;
    const struct api_custom *custom; /* NULL: built in */
};

/* What kinds that are made at run time know of their like: the tables below hold built-in
 * ones alone. */
struct api_custom {
    const struct api_kind *const *versions; /* the resource in all its versions */
    uint32_t nversions;
    const char *list_kind;
    bool status; /* it has the subresource, in this version */
};

extern const struct api_kind api_kinds[];
extern const uint32_t api_nkinds;
extern const struct api_type *const api_types[];
extern const uint32_t api_ntypes;

/* NULL: no such field. */
const struct api_field *api_field_find(const struct api_type *t, struct str name);
/* By kind name; subresources are not looked at. api_version is "v1" or "group/version".
 */
const struct api_kind *api_kind_find(struct str api_version, struct str kind);
const struct api_kind *api_resource_find(struct str group, struct str version,
                                         struct str resource);
const struct api_type *api_type_find(struct str group, struct str version,
                                     struct str name);
/* "v1" or "group/version", in a static buffer of the kind's own table. */
bool api_version_is(const struct api_kind *k, struct str api_version);
/* Is the group one of Kubernetes' own, whatever its version? */
bool api_group_known(struct str group);

#endif
