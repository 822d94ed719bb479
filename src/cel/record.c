/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/record.h"

#include "cel/lib.h"
#include "cel/plan.h"

const struct cel_value *cel_record_get(const struct cel_record *r, struct str field)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->fields[i].name, field))
            return &r->fields[i].value;
    return NULL;
}

static struct cel_value get(const struct cel_object *o, struct str field,
                            struct cel_run *run, bool *present)
{
    const struct cel_value *v = cel_record_get((const struct cel_record *)o, field);
    *present = v != NULL;
    return v ? *v : cel_no_key(run, cel_string(field));
}

static bool equal(const struct cel_object *a, const struct cel_object *b)
{
    const struct cel_record *x = (const struct cel_record *)a,
                            *y = (const struct cel_record *)b;
    struct cel_run run;
    bool same = x->n == y->n && cel_type_equal(a->type, b->type);
    cel_run_init(&run);
    for (uint32_t i = 0; same && i < x->n; i++) {
        const struct cel_value *other = cel_record_get(y, x->fields[i].name);
        same = other && cel_lib_equal(&run, x->fields[i].value, *other);
    }
    cel_run_fini(&run);
    return same;
}

static const struct cel_object_ops OPS = {get, equal};

struct cel_value cel_record_make(struct cel_run *run, const struct cel_type *type,
                                 struct cel_field_value *fields, uint32_t n)
{
    struct cel_record *r = ARENA_NEW(&run->arena, struct cel_record);
    *r = (struct cel_record){.object = {.type = type, .ops = &OPS}, .fields = fields};
    for (uint32_t i = 0; i < n; i++)
        if (fields[i].value.kind != CEL_UNSET)
            fields[r->n++] = fields[i];
    return (struct cel_value){.kind = CEL_OBJECT, .object = &r->object};
}

const struct cel_record *cel_record_of(struct cel_value v)
{
    return v.kind == CEL_OBJECT && v.object->ops == &OPS
               ? (const struct cel_record *)v.object
               : NULL;
}
