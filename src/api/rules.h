/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule sees, and what rules are made of. A rule is a row in rules/ naming a
 * function of this form: it looks at one value (NULL when absent or null), reports
 * through the helpers below, and answers whether the rules after it and the value's
 * members are still worth looking at.
 */
#ifndef DRAY_API_RULES_H
#define DRAY_API_RULES_H

#include "api/validate.h"

/* Where objects live, if no table says it. */
enum api_scope { API_SCOPE_OF_TYPE, API_SCOPE_NAMESPACED, API_SCOPE_CLUSTER };

struct api_walk {
    const struct api_validate_opts *opts;
    struct arena *a;
    struct api_errors *errors;
    struct strbuf path;
    const struct api_type *type; /* of the object */
    const struct doc *object;
    /* Context that rules on the way down leave for those below; restored on the way up.
     */
    const struct doc
        *devices_spec; /* spec.devices of the claim at hand (names, constraints) */
    const struct doc *pod_spec;  /* PodSpec at hand */
    struct str pod_path;         /* its path */
    const struct doc *container; /* of that pod */
    enum api_scope scope;
    const char *role;              /* what rule `role` said of the list at hand, or "" */
    const struct doc *request;     /* DeviceRequest at hand */
    const struct doc *alternative; /* DeviceSubRequest at hand, NULL inside exactly */
    const struct doc *device;      /* Device at hand */
    bool declared;         /* the rule at hand is one of upstream's declarative stage */
    bool declared_only;    /* only upstream's declarative stage looks at the value */
    bool kept;             /* the declarative stage has ended, or nothing changed */
    bool apart;            /* inside a list whose items have no stored counterparts */
    bool stored;           /* the value is as it was stored: expressions are trusted */
    uint64_t derived_cost; /* sum over the claim */
    struct api_policy_walk *policy; /* expressions of admission (rules_policy.c) */
    struct device_env *env;         /* for new expressions; made at first use */
    struct device_names names;
};

struct api_at { /* one value */
    struct api_walk *w;
    const struct api_type *type;   /* the struct the field stands in */
    const struct api_field *field; /* NULL: a rule of the struct itself */
    const struct doc *parent;      /* that struct; never NULL */
    const struct doc *old_parent;  /* its stored counterpart, or NULL */
    const struct doc *value;       /* NULL: absent */
    const struct doc *old;
};

typedef bool api_rule_fn(struct api_at *at, const char *arg);

/* The stages of upstream that report what a rule finds (spec 2.0). The declarative one
 * looks at the whole object, whatever is written and whatever the other finds, but not at
 * what an update leaves as it is. */
enum api_stage { API_HANDWRITTEN, API_BOTH, API_DECLARED };

struct api_rule {
    api_rule_fn *check;
    const char *arg; /* "" if none */
    /* A rule that fails for good ends what reports it. */
    enum api_stage stage;
};

enum api_row_flags {
    API_ROW_OPTIONAL = 1 << 0, /* nothing is checked when the field is absent */
    API_ROW_ALWAYS = 1 << 1,   /* members are checked even when the struct is absent */
    API_ROW_KEEP = 1 << 2,     /* not checked again while it equals what is stored */
    API_ROW_NONEMPTY = 1 << 3, /* nothing is checked when the text is absent or empty */
    API_ROW_EVER = 1 << 4,     /* spec and status alike, whichever of them is written */
    API_ROW_LEAF = 1 << 5,     /* what is inside is not looked at */
    API_ROW_FRESH = 1 << 6,    /* what is inside is looked at as if it were new */
};

struct api_row {
    const struct api_field *field; /* NULL: rules of the struct */
    const struct api_rule *rules;
    const char *as; /* the field's name in paths, "": it is left out; NULL: its own */
    uint8_t nrules;
    uint8_t flags;
};

struct api_rules { /* of one type */
    const struct api_row *rows;
    uint16_t nrows;
};
/* NULL: the type has none. */
const struct api_rules *api_rules_of(const struct api_type *t);
/* Whether the type or one it contains has rules: others need not be walked. */
bool api_rules_below(const struct api_type *t);

/* ---- reporting; each returns false ---- */

bool api_report(struct api_at *at, enum api_error_type type, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* At a place below the value: suffix is "[3]" or ".name"; value is what is there. */
bool api_report_at(struct api_at *at, const char *suffix, const struct doc *value,
                   enum api_error_type type, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* At an absolute path. */
bool api_report_path(struct api_walk *w, struct str path, const struct doc *value,
                     enum api_error_type type, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* The same where something else than the value is shown as the bad one: shown is what is
 * printed, "null" or what api_shown_text makes; "": nothing. */
bool api_report_shown(struct api_at *at, const char *suffix, struct str shown,
                      enum api_error_type type, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Texts that say nothing of their own, "" for none. */
bool api_fail(struct api_at *at, enum api_error_type type, const char *text);

/* A value as Go prints it in an error about the path; NULL: what Go has where nothing was
 * written. */
struct str api_shown(struct api_walk *w, struct str path, const struct doc *d);
struct str api_shown_text(struct arena *a, struct str text); /* quoted */

/* ---- reading ---- */

struct str api_text(const struct doc *d); /* "" unless it is a string */
const struct doc *api_member(const struct doc *d, const char *key); /* null is absent */
/* Whether two values of a field mean the same: what is left out equals what is empty. */
bool api_same(struct api_walk *w, const struct api_field *f, const struct doc *a,
              const struct doc *b);
static inline bool api_empty(const struct doc *d)
{
    return !d || d->n == 0;
}
/* Runs fn over each item of a list (path "[i]"), or each value of a map (path "[key]").
 */
void api_each(struct api_at *at, api_rule_fn *fn, const char *arg);
/* Path of a map key, cut in the middle when longer than max. */
struct str api_key_path(struct arena *a, struct str key, size_t max);

/* Declares, or declares and begins the definition of, the rule called name in rules/. */
#define API_RULE(name)                                                                   \
    bool rule_##name(struct api_at *at, const char *arg);                                \
    bool rule_##name(struct api_at *at, const char *arg)

#endif
