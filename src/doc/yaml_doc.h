/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of doc: YAML as kubectl reads and writes it. What kubectl's library does with a
 * stream is the rule, also where YAML 1.1 says otherwise (spec 2.14).
 */
#ifndef DRAY_DOC_YAML_DOC_H
#define DRAY_DOC_YAML_DOC_H

#include "doc/build.h"

/* ---- What a plain scalar means ---- */

enum yaml_kind { YAML_STRING, YAML_NULL, YAML_BOOL, YAML_INT, YAML_FLOAT, YAML_TIME };

struct yaml_value {
    enum yaml_kind kind;
    bool b;
    bool minus; /* of an integer */
    uint64_t u; /* its magnitude */
    double d;   /* may be infinite or not a number */
};

struct yaml_value yaml_resolve(struct str s);
/* A double as strconv's 'g' format has it, the shortest that reads back the same; narrow:
 * as a float. */
void yaml_print_double(double d, bool narrow, struct strbuf *out);
/* A double as encoding/json has it. */
void json_print_double(double d, struct strbuf *out);

/* ---- Order of keys ---- */

/* As kubectl's YAML has them: numbers inside keys count as numbers, letters come behind
 * everything else. */
int yaml_key_cmp(struct str a, struct str b);

/* ---- Reading ---- */

struct yaml_reader {
    const struct doc_source *src;
    struct build *build; /* the caller's */
    struct err *err;
    struct yaml_parse *parse;
};

/* Reads the source from this offset on. */
bool yaml_reader_init(struct yaml_reader *r, const struct doc_source *src, size_t from,
                      struct build *b, struct err *e);
void yaml_reader_fini(struct yaml_reader *r);
/* The next document that is not empty or null; *more is false when there is none. */
bool yaml_reader_next(struct yaml_reader *r, struct doc *out, bool *more);

#endif
