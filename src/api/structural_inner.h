/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of structural*.c: a schema as it is read, and what the files ask of each other.
 *
 *   parse    openAPIV3Schema into nodes
 *   check    whether it is structural; openapi: upstream's other checks, and rules;
 *            defaults: whether defaults are valid
 *   prune    unknown members, nulls, defaults; meta: metadata of embedded resources
 *   values   kube-openapi's validation; formats: of strings; lists: sets and keyed lists
 *   old      which part of the stored object a value is compared with
 *   decl     types and sizes for expressions; convert: documents as their values
 *   rules    compiles x-kubernetes-validations; run: evaluates them
 *   type     the rows that api/typed.h walks
 */
#ifndef DRAY_API_STRUCTURAL_INNER_H
#define DRAY_API_STRUCTURAL_INNER_H

#include "api/structural.h"
#include "base/map.h"

/* ---- Nodes ---- */

enum schema_type {
    SCHEMA_UNTYPED,
    SCHEMA_OBJECT,
    SCHEMA_ARRAY,
    SCHEMA_STRING,
    SCHEMA_NUMBER,
    SCHEMA_INTEGER,
    SCHEMA_BOOLEAN,
    SCHEMA_STRANGE, /* any other name: checks refuse it */
};

enum schema_list_type { LIST_NONE, LIST_ATOMIC, LIST_SET, LIST_MAP, LIST_STRANGE };
enum schema_map_type { MAP_NONE, MAP_GRANULAR, MAP_ATOMIC, MAP_STRANGE };
enum schema_additional {
    ADDITIONAL_NONE, /* absent */
    ADDITIONAL_FALSE,
    ADDITIONAL_TRUE,
    ADDITIONAL_SCHEMA,
};

enum schema_bound {
    BOUND_MAX_LENGTH,
    BOUND_MIN_LENGTH,
    BOUND_MAX_ITEMS,
    BOUND_MIN_ITEMS,
    BOUND_MAX_PROPERTIES,
    BOUND_MIN_PROPERTIES,
    BOUNDS, /* these are whole numbers */
    BOUND_MAXIMUM = BOUNDS,
    BOUND_MINIMUM,
    BOUND_MULTIPLE_OF,
    BOUNDS_ALL,
};

struct schema_values { /* ValueValidation without the nested schemas */
    struct str format, pattern;
    int64_t whole[BOUNDS];
    double number[BOUNDS_ALL - BOUNDS];
    uint16_t set; /* 1 << enum schema_bound */
    bool exclusive_maximum, exclusive_minimum, unique_items;
    const struct doc *enums;                /* a list that is not empty, or NULL */
    const struct doc *required;             /* the same */
    struct cel_regex *regex, *format_regex; /* set by schema_patterns_init */
};

struct schema;

struct schema_nested { /* schemas of one keyword */
    struct schema *v;
    uint32_t n;
};

struct schema_logic {
    struct schema_nested all_of, any_of, one_of;
    struct schema *not_; /* NULL: none */
};

struct schema_prop {
    struct str name;
    struct schema *schema;
};

struct schema_rule { /* one of x-kubernetes-validations */
    const struct doc *doc;
    struct str rule, message, message_expression, field_path;
    struct str reason; /* p is NULL: none */
    bool optional_old_self;
    bool has_optional_old_self;
};

struct schema_decl;     /* decl */
struct schema_compiled; /* rules */

struct schema {
    const struct doc *doc; /* JSONSchemaProps; never NULL */
    struct str type_name;
    uint8_t type;       /* enum schema_type */
    uint8_t additional; /* enum schema_additional */
    uint8_t list_type, map_type;
    bool nullable, preserve, embedded, int_or_string;
    bool has_props;               /* properties are not empty */
    bool many_items;              /* items is a list of schemas, which is refused */
    bool has_rules;               /* here or below, as upstream looks for them */
    bool has_embedded;            /* a resource here or below */
    bool has_list_types;          /* a set or keyed list here or below */
    bool has_defaults;            /* here or below */
    const struct doc *def;        /* NULL: none */
    const struct doc *map_keys;   /* a list that is not empty, or NULL */
    struct schema *items, *extra; /* extra: the schema of additionalProperties */
    struct schema_prop *props;    /* by name */
    uint32_t nprops, nrules;
    struct schema_values *values; /* never NULL; shared where nothing is set */
    struct schema_logic *logic;   /* the same */
    struct schema_rule *rules;
    /* Set by schema_declare: what expressions see (NULL: nothing), and the schema with
     * what every resource has. */
    bool declared;
    struct schema_decl *decl;
    struct schema *as_resource;
    struct schema_compiled *compiled;
};

static inline bool schema_bounded(const struct schema *s, enum schema_bound b)
{
    return s->values->set & 1 << b;
}

/* NULL and *why when it is too deep or too large. */
struct schema *schema_parse(const struct doc *d, struct arena *a, struct str *why);
struct schema *schema_prop(const struct schema *s, struct str name); /* or NULL */
uint32_t schema_prop_index(const struct schema *s, struct str name); /* nprops: none */
/* s and all schemas within, nested ones too. */
typedef void schema_each_fn(void *ctx, struct schema *s);
void schema_each(struct schema *s, schema_each_fn *fn, void *ctx);
extern struct schema schema_empty; /* not to be changed */

/* ---- Paths and errors ---- */

/* Each returns the length to go back to. */
size_t schema_path_child(struct strbuf *path, struct str name);
size_t schema_path_key(struct strbuf *path, struct str key);
size_t schema_path_index(struct strbuf *path, uint32_t i);
static inline void schema_path_back(struct strbuf *path, size_t n)
{
    path->n = n;
}

struct schema_report {
    struct arena *a;
    struct api_errors *errors;
};
/* bad: STR_NONE shows none. An empty path is "<nil>". */
void schema_fail(const struct schema_report *r, const struct strbuf *path,
                 enum api_error_type type, struct str bad, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same at path.name. */
void schema_fail_at(const struct schema_report *r, struct strbuf *path, const char *name,
                    enum api_error_type type, struct str bad, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* As Go prints a bad value; NULL is null. */
struct str schema_shown(struct arena *a, const struct doc *d);
/* As Go's encoding/json writes it. */
void schema_write_json(const struct doc *d, struct strbuf *out);

/* ---- Numbers as Go decodes them ---- */

struct schema_number {
    bool whole; /* int64; else float64 */
    int64_t i;
    double d; /* also of a whole one */
};
struct schema_number schema_number_of(const struct doc *d);
/* reflect.DeepEqual of what Go decodes: 1 and 1.0 differ. NULL is null. */
bool schema_same(const struct doc *a, const struct doc *b);

/* ---- Pruning and defaults; d is changed ---- */

struct schema_paths { /* of what was taken out; in the arena */
    struct str *v;
    uint32_t n, cap;
};
/* resource: d is a resource whatever the schema says of it. found may be NULL. */
void schema_prune(const struct schema *s, struct doc *d, bool resource, struct arena *a,
                  struct schema_paths *found);
/* Takes out nulls that may not be and that no default replaces. */
void schema_prune_nulls(const struct schema *s, struct doc *d);
void schema_apply_defaults(const struct schema *s, struct doc *d, struct arena *a);
void schema_paths_add(struct schema_paths *p, struct str path, struct arena *a);

/* ---- Metadata within ---- */

/*
 * Decodes metadata, apiVersion and kind of the resources in d as Go does: unknown members
 * go (found), the rest gets its one form. What has a wrong type is dropped, or reported
 * (then *wrong is set and nothing more is done). at is the path of d.
 */
struct schema_coerce {
    struct arena *a;
    bool drop;
    struct schema_paths *found; /* NULL: they need not be told */
    struct api_error *wrong;
};
bool schema_coerce(const struct schema_coerce *c, const struct schema *s, struct doc *d,
                   bool resource, struct strbuf *at);
/* Validates the same. */
void schema_check_meta(const struct schema *s, const struct doc *d, bool resource,
                       struct strbuf *at, const struct schema_report *r);

/* ---- What a value was before ---- */

/* Members of a map by name, however many there are: zero but for the map. */
struct schema_lookup {
    const struct doc *map; /* NULL, or no map: has none */
    const struct doc_member **slots;
    uint32_t mask;
};
const struct doc *schema_lookup(struct schema_lookup *l, struct str key, struct arena *a);

struct schema_index; /* of the items of a keyed list */

/* A value beside the stored one that it is compared with: upstream's CorrelatedObject. */
struct schema_pair {
    const struct schema *s;
    const struct doc *now, *old;
    struct schema_index *index;   /* of old, made when asked */
    struct schema_lookup members; /* the same */
};
/* The pair of a member, whose value is now, or of an item; false: what was there before
 * cannot be told. p may be NULL. */
bool schema_pair_key(struct schema_pair *p, struct str key, const struct doc *now,
                     struct arena *a, struct schema_pair *out);
bool schema_pair_item(struct schema_pair *p, uint32_t i, struct arena *a,
                      struct schema_pair *out);
/* Whether nothing changed; false for NULL. */
bool schema_pair_same(struct schema_pair *p, struct arena *a);

/* The items of a keyed list by their keys; the first of those that share one. NULL when
 * the schema is of no such list, or the list is empty. */
struct schema_index *schema_index_new(const struct schema *s, const struct doc *list,
                                      struct arena *a);
const struct doc *schema_index_find(const struct schema_index *x, const struct doc *item,
                                    struct arena *a);

/* ---- Validation ---- */

/* Against the schema alone. at is the path of d. raw: the schema as it stands, as
 * defaults are validated; else without formats that nobody knows, and int-or-string as a
 * type. pair may be NULL. Ratcheted errors are left out. */
void schema_check_values(const struct schema *s, const struct doc *d,
                         struct schema_pair *pair, bool raw, struct str at,
                         const struct schema_report *r);
/* Unique items of sets and keyed lists. */
void schema_check_lists(const struct schema *s, const struct doc *d, struct strbuf *at,
                        const struct schema_report *r);
/* Compiles patterns for good, here and below; and frees them. */
void schema_patterns_init(struct schema *s);
void schema_patterns_fini(struct schema *s);

/* ---- Expressions: types and values ---- */

struct schema_decl_field {
    struct str name; /* escaped */
    const struct schema_decl *decl;
};

struct schema_decl { /* upstream's DeclType */
    const struct cel_type *type;
    uint64_t max;                           /* size, as estimates take it */
    int64_t min;                            /* bytes that its JSON takes at least */
    const struct schema_decl *elem;         /* of a list or map */
    const struct schema_decl_field *fields; /* of an object, by name */
    uint32_t nfields;
};

/* The types of s and all below it. resource: s is the root of one. The first call for a
 * schema counts; NULL: expressions do not see such values. */
const struct schema_decl *schema_declare(struct schema *s, bool resource,
                                         struct arena *a);
/* For cel_var.size; the declaration is a struct schema_decl. */
bool schema_decl_size(void *decl, const struct cel_step *steps, unsigned n,
                      uint64_t *max);

/* Documents of one validation as values, each made once. */
struct schema_convert {
    struct cel_run run; /* its arena; it evaluates nothing */
    struct strmap seen; /* of documents with rules, by address */
};
void schema_convert_init(struct schema_convert *c);
void schema_convert_fini(struct schema_convert *c);
/* s was declared. The value is kept until fini. */
const struct cel_value *schema_convert(struct schema_convert *c, const struct schema *s,
                                       const struct doc *d);

/* ---- Rules ---- */

/* Which environment an expression is compiled in. NULL sets: those of what is stored. */
struct schema_known {
    struct strmap rules, messages; /* texts that were stored already */
};

struct schema_rule_made {
    struct str error; /* p is NULL: compiled */
    struct cel_program *program;
    uint64_t cost, cardinality;
    bool uses_old;
    struct str message_error;
    struct cel_program *message; /* NULL: none */
    uint64_t message_cost;
    struct str path; /* of fieldPath, "" if none */
};

struct schema_compiled { /* all rules of a schema, in their order */
    struct schema_rule_made *v;
    struct cel_env *envs[4];
};

/* The rules of s alone, which was declared. programs: they are kept; else only checked.
 * known: NULL, everything counts as stored. */
void schema_rules_compile(struct schema *s, const struct api_cel *cel,
                          const struct schema_known *known, struct arena *a);
void schema_rules_release(struct schema *s); /* of s and all below */
/* Everything below that expressions see, too. */
void schema_rules_compile_all(struct schema *s, const struct api_cel *cel,
                              struct arena *a);

/* "path is invalid" texts of upstream's ValidFieldPath, NULL when all is well. *clean is
 * the normal form, *found where it ends; brackets: ['name'] may be used. */
const char *schema_field_path(const struct schema *s, struct str path, bool brackets,
                              struct arena *a, struct str *clean,
                              const struct schema **found);

struct schema_run_opts {
    const struct schema_report *r;
    struct schema_pair *pair; /* NULL: nothing is ratcheted */
    structural_warn_fn *warn;
    void *warn_ctx;
    bool (*cancelled)(void *ctx);
    void *cancel_ctx;
};
/* Runs the rules of s and below on d. Returns what is left of the budget, below 0 when
 * that was too little. */
int64_t schema_rules_run(const struct schema *s, const struct doc *d,
                         const struct doc *old, struct strbuf *at, int64_t budget,
                         const struct schema_run_opts *opts);

/* ---- The tables' view ---- */

/* whole: nothing is known of the objects but their metadata. */
const struct api_type *schema_type_new(const struct schema *s, const char *kind,
                                       bool whole, struct arena *a);

#endif
