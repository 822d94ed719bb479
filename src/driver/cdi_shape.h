/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cdi: its structures as tables of their fields, in the order of the CDI
 * document. One table serves reading and writing.
 */
#ifndef DRAY_DRIVER_CDI_SHAPE_H
#define DRAY_DRIVER_CDI_SHAPE_H

#include "driver/cdi.h"

enum cdi_kind {
    CDI_TEXT,   /* struct str */
    CDI_TEXTS,  /* struct str *, count */
    CDI_NUMBER, /* int64_t; 0 is nothing */
    CDI_TIMED,  /* int64_t, behind a flag */
    CDI_WORD,   /* uint32_t, behind a flag */
    CDI_WORDS,  /* uint32_t *, count */
    CDI_FLAG,   /* bool */
    CDI_PAIRS,  /* struct cdi_pair *, count */
    CDI_PART,   /* a structure inside; flag: it is there, or none */
    CDI_PARTS,  /* an array of structures, count */
};

struct cdi_shape;
struct cdi_field {
    const char *name;
    enum cdi_kind kind;
    uint32_t at, beside; /* of the value; of its count or flag, CDI_NOTHING */
    const struct cdi_shape *shape;
    bool always; /* written also when it is empty */
};
struct cdi_shape {
    const struct cdi_field *fields;
    uint32_t n, size;
};

enum { CDI_NOTHING = UINT16_MAX };

/* Of struct cdi_spec; the others are reached from it. */
extern const struct cdi_shape cdi_spec_shape;

/* ---- a field's value in the structure at base ---- */

static inline struct str *cdi_text_at(const struct cdi_field *f, void *base)
{
    return (struct str *)((char *)base + f->at);
}

static inline void **cdi_array_at(const struct cdi_field *f, void *base)
{
    return (void **)((char *)base + f->at);
}

static inline uint32_t *cdi_count_at(const struct cdi_field *f, void *base)
{
    return (uint32_t *)((char *)base + f->beside);
}

static inline bool *cdi_flag_at(const struct cdi_field *f, void *base)
{
    return (bool *)((char *)base + f->beside);
}

static inline int64_t *cdi_number_at(const struct cdi_field *f, void *base)
{
    return (int64_t *)((char *)base + f->at);
}

static inline uint32_t *cdi_word_at(const struct cdi_field *f, void *base)
{
    return (uint32_t *)((char *)base + f->at);
}

/* Of what an array holds. */
static inline uint32_t cdi_item_size(const struct cdi_field *f)
{
    return f->kind == CDI_TEXTS   ? sizeof(struct str)
           : f->kind == CDI_WORDS ? sizeof(uint32_t)
                                  : f->shape->size;
}

#endif
