/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing: one table a structure, in the order of the CDI document. A field
 * that a table does not have makes a file unusable, as it does for the runtimes.
 */
#include "driver/cdi_inner.h"

enum kind {
    TEXT,   /* struct str */
    TEXTS,  /* struct str *, count */
    NUMBER, /* int64_t; 0 is nothing */
    TIMED,  /* int64_t, behind a flag */
    WORD,   /* uint32_t, behind a flag */
    WORDS,  /* uint32_t *, count */
    FLAG,   /* bool */
    PAIRS,  /* struct cdi_pair *, count */
    PART,   /* a structure inside; flag: it is there, or none */
    PARTS,  /* an array of structures, count */
};

struct shape;
struct field {
    const char *name;
    enum kind kind;
    uint32_t at, beside; /* of the value; of its count or flag, NOTHING */
    const struct shape *shape;
    bool always; /* written also when it is empty */
};
struct shape {
    const struct field *fields;
    uint32_t n, size;
};

enum { NOTHING = UINT16_MAX };

#define AT(type, member) (uint32_t) offsetof(struct type, member)
#define SHAPE(fields, type)                                                              \
    {                                                                                    \
        fields, sizeof(fields) / sizeof *(fields), sizeof(struct type)                   \
    }

static const struct field NODE_FIELDS[] = {
    {"path", TEXT, AT(cdi_node, path), NOTHING, NULL, true},
    {"hostPath", TEXT, AT(cdi_node, host_path), NOTHING, NULL, false},
    {"type", TEXT, AT(cdi_node, type), NOTHING, NULL, false},
    {"major", NUMBER, AT(cdi_node, major), NOTHING, NULL, false},
    {"minor", NUMBER, AT(cdi_node, minor), NOTHING, NULL, false},
    {"fileMode", WORD, AT(cdi_node, mode), AT(cdi_node, has_mode), NULL, false},
    {"permissions", TEXT, AT(cdi_node, permissions), NOTHING, NULL, false},
    {"uid", WORD, AT(cdi_node, uid), AT(cdi_node, has_uid), NULL, false},
    {"gid", WORD, AT(cdi_node, gid), AT(cdi_node, has_gid), NULL, false},
};
static const struct shape NODE = SHAPE(NODE_FIELDS, cdi_node);

static const struct field MOUNT_FIELDS[] = {
    {"hostPath", TEXT, AT(cdi_mount, host_path), NOTHING, NULL, true},
    {"containerPath", TEXT, AT(cdi_mount, container_path), NOTHING, NULL, true},
    {"options", TEXTS, AT(cdi_mount, options), AT(cdi_mount, noptions), NULL, false},
    {"type", TEXT, AT(cdi_mount, type), NOTHING, NULL, false},
};
static const struct shape MOUNT = SHAPE(MOUNT_FIELDS, cdi_mount);

static const struct field HOOK_FIELDS[] = {
    {"hookName", TEXT, AT(cdi_hook, name), NOTHING, NULL, true},
    {"path", TEXT, AT(cdi_hook, path), NOTHING, NULL, true},
    {"args", TEXTS, AT(cdi_hook, args), AT(cdi_hook, nargs), NULL, false},
    {"env", TEXTS, AT(cdi_hook, env), AT(cdi_hook, nenv), NULL, false},
    {"timeout", TIMED, AT(cdi_hook, timeout_s), AT(cdi_hook, has_timeout), NULL, false},
};
static const struct shape HOOK = SHAPE(HOOK_FIELDS, cdi_hook);

static const struct field NET_FIELDS[] = {
    {"hostInterfaceName", TEXT, AT(cdi_net_device, host_name), NOTHING, NULL, true},
    {"name", TEXT, AT(cdi_net_device, name), NOTHING, NULL, true},
};
static const struct shape NET = SHAPE(NET_FIELDS, cdi_net_device);

static const struct field RDT_FIELDS[] = {
    {"closID", TEXT, AT(cdi_rdt, clos_id), NOTHING, NULL, false},
    {"l3CacheSchema", TEXT, AT(cdi_rdt, l3_schema), NOTHING, NULL, false},
    {"memBwSchema", TEXT, AT(cdi_rdt, mem_bw_schema), NOTHING, NULL, false},
    {"schemata", TEXTS, AT(cdi_rdt, schemata), AT(cdi_rdt, nschemata), NULL, false},
    {"enableMonitoring", FLAG, AT(cdi_rdt, enable_monitoring), NOTHING, NULL, false},
};
static const struct shape RDT = SHAPE(RDT_FIELDS, cdi_rdt);

static const struct field EDITS_FIELDS[] = {
    {"env", TEXTS, AT(cdi_edits, env), AT(cdi_edits, nenv), NULL, false},
    {"deviceNodes", PARTS, AT(cdi_edits, nodes), AT(cdi_edits, nnodes), &NODE, false},
    {"netDevices", PARTS, AT(cdi_edits, net_devices), AT(cdi_edits, nnet_devices), &NET,
     false},
    {"hooks", PARTS, AT(cdi_edits, hooks), AT(cdi_edits, nhooks), &HOOK, false},
    {"mounts", PARTS, AT(cdi_edits, mounts), AT(cdi_edits, nmounts), &MOUNT, false},
    {"intelRdt", PART, AT(cdi_edits, rdt), AT(cdi_edits, rdt.present), &RDT, false},
    {"additionalGids", WORDS, AT(cdi_edits, gids), AT(cdi_edits, ngids), NULL, false},
};
static const struct shape EDITS = SHAPE(EDITS_FIELDS, cdi_edits);

static const struct field DEVICE_FIELDS[] = {
    {"name", TEXT, AT(cdi_device, name), NOTHING, NULL, true},
    {"annotations", PAIRS, AT(cdi_device, annotations), AT(cdi_device, nannotations),
     NULL, false},
    {"containerEdits", PART, AT(cdi_device, edits), NOTHING, &EDITS, true},
};
static const struct shape DEVICE = SHAPE(DEVICE_FIELDS, cdi_device);

static const struct field SPEC_FIELDS[] = {
    {"cdiVersion", TEXT, AT(cdi_spec, version), NOTHING, NULL, true},
    {"kind", TEXT, AT(cdi_spec, kind), NOTHING, NULL, true},
    {"annotations", PAIRS, AT(cdi_spec, annotations), AT(cdi_spec, nannotations), NULL,
     false},
    {"devices", PARTS, AT(cdi_spec, devices), AT(cdi_spec, ndevices), &DEVICE, true},
    {"containerEdits", PART, AT(cdi_spec, edits), NOTHING, &EDITS, true},
};
static const struct shape SPEC = SHAPE(SPEC_FIELDS, cdi_spec);

/* ---- values in structures ---- */

static struct str *text_at(const struct field *f, void *base)
{
    return (struct str *)((char *)base + f->at);
}

static void **array_at(const struct field *f, void *base)
{
    return (void **)((char *)base + f->at);
}

static uint32_t *count_at(const struct field *f, void *base)
{
    return (uint32_t *)((char *)base + f->beside);
}

static bool *flag_at(const struct field *f, void *base)
{
    return (bool *)((char *)base + f->beside);
}

static int64_t *number_at(const struct field *f, void *base)
{
    return (int64_t *)((char *)base + f->at);
}

static uint32_t *word_at(const struct field *f, void *base)
{
    return (uint32_t *)((char *)base + f->at);
}

/* ---- reading ---- */

static bool read_shape(const struct shape *s, const struct doc *d, struct arena *a,
                       void *out, struct err *e);

static bool wrong(const struct doc *d, const char *want, struct err *e)
{
    return err_set(e, ERR_INVALID, "is a %s, must be a %s", doc_type_name(d), want);
}

/* A plain number or boolean of YAML is also its text. */
static bool read_text(const struct doc *d, struct str *out, struct err *e)
{
    if (d->type == DOC_STRING || d->type == DOC_NUMBER)
        *out = doc_str(d);
    else if (d->type == DOC_BOOL)
        *out = d->b ? STR("true") : STR("false");
    else
        return wrong(d, "string", e);
    return true;
}

static bool read_number(const struct doc *d, int64_t *out, struct err *e)
{
    return doc_int64(d, out) || wrong(d, "whole number", e);
}

static bool read_word(const struct doc *d, uint32_t *out, struct err *e)
{
    int64_t v;
    if (!read_number(d, &v, e))
        return false;
    if (v < 0 || v > UINT32_MAX)
        return err_set(e, ERR_INVALID, "%lld is not between 0 and 4294967295",
                       (long long)v);
    *out = (uint32_t)v;
    return true;
}

static uint32_t size_of_item(const struct field *f)
{
    return f->kind == TEXTS   ? sizeof(struct str)
           : f->kind == WORDS ? sizeof(uint32_t)
                              : f->shape->size;
}

static bool read_item(const struct field *f, const struct doc *d, struct arena *a,
                      void *out, struct err *e)
{
    if (f->kind == TEXTS)
        return read_text(d, out, e);
    return f->kind == WORDS ? read_word(d, out, e) : read_shape(f->shape, d, a, out, e);
}

static bool read_items(const struct field *f, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    if (d->type != DOC_LIST)
        return wrong(d, "list", e);
    uint32_t size = size_of_item(f);
    char *items = arena_array_zalloc(a, d->n, size);
    for (uint32_t i = 0; i < d->n; i++) {
        if (!read_item(f, &d->items[i], a, items + (size_t)i * size, e))
            return err_wrap(e, "[%u]", i);
    }
    *array_at(f, out) = items;
    *count_at(f, out) = d->n;
    return true;
}

static bool read_pairs(const struct field *f, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    if (d->type != DOC_MAP)
        return wrong(d, "map", e);
    struct cdi_pair *pairs = ARENA_ARRAY(a, struct cdi_pair, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        pairs[i].key = doc_key(&d->members[i]);
        if (!read_text(&d->members[i].value, &pairs[i].value, e))
            return err_wrap(e, "%s", d->members[i].key);
    }
    *array_at(f, out) = pairs;
    *count_at(f, out) = d->n;
    return true;
}

static bool read_part(const struct field *f, const struct doc *d, struct arena *a,
                      void *out, struct err *e)
{
    if (!read_shape(f->shape, d, a, (char *)out + f->at, e))
        return false;
    if (f->beside != NOTHING)
        *flag_at(f, out) = true;
    return true;
}

static bool read_scalar(const struct field *f, const struct doc *d, void *out,
                        struct err *e)
{
    switch (f->kind) {
    case TEXT:
        return read_text(d, text_at(f, out), e);
    case NUMBER:
        return read_number(d, number_at(f, out), e);
    case TIMED:
        return *flag_at(f, out) = true, read_number(d, number_at(f, out), e);
    case WORD:
        return *flag_at(f, out) = true, read_word(d, word_at(f, out), e);
    default:
        if (d->type != DOC_BOOL)
            return wrong(d, "boolean", e);
        *(bool *)((char *)out + f->at) = d->b;
        return true;
    }
}

static bool read_field(const struct field *f, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    switch (f->kind) {
    case TEXTS:
    case WORDS:
    case PARTS:
        return read_items(f, d, a, out, e);
    case PAIRS:
        return read_pairs(f, d, a, out, e);
    case PART:
        return read_part(f, d, a, out, e);
    default:
        return read_scalar(f, d, out, e);
    }
}

static const struct field *find_field(const struct shape *s, struct str name)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (str_is(name, s->fields[i].name))
            return &s->fields[i];
    }
    return NULL;
}

static bool read_shape(const struct shape *s, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    if (d->type == DOC_NULL)
        return true;
    if (d->type != DOC_MAP)
        return wrong(d, "map", e);
    for (uint32_t i = 0; i < d->n; i++) {
        const struct doc_member *m = &d->members[i];
        const struct field *f = find_field(s, doc_key(m));
        if (!f)
            return err_set(e, ERR_INVALID, "%s: there is no such field", m->key);
        if (m->value.type != DOC_NULL && !read_field(f, &m->value, a, out, e))
            return err_wrap(e, "%s", m->key);
    }
    return true;
}

/* schemata counts from 1.1.0 on even when it is empty. */
static void mark_schemata(struct cdi_edits *x)
{
    x->rdt.has_schemata = x->rdt.schemata != NULL;
}

bool cdi_spec_read(struct str text, struct arena *a, struct cdi_spec *out, struct err *e)
{
    struct doc_source src = {.name = "CDI spec", .text = text};
    struct doc_list list;
    if (!doc_read_yaml(&src, a, &list, e))
        return false;
    if (list.n == 0)
        return err_set(e, ERR_INVALID, "the file is empty");
    if (src.ndups > 0)
        return err_set(e, ERR_INVALID, "%s is there twice", src.dups[0].path);
    struct cdi_spec s = {0};
    if (!read_shape(&SPEC, &list.v[0], a, &s, e))
        return false;
    mark_schemata(&s.edits);
    for (uint32_t i = 0; i < s.ndevices; i++)
        mark_schemata(&s.devices[i].edits);
    if (!cdi_spec_check_as(&s, CDI_AS_READ, e))
        return false;
    *out = s;
    return true;
}

/* ---- writing ---- */

static struct doc print_shape(const struct shape *s, struct arena *a, const void *in);

static struct doc print_item(const struct field *f, struct arena *a, const void *in)
{
    if (f->kind == TEXTS)
        return doc_make_string(a, *(const struct str *)in);
    return f->kind == WORDS ? doc_make_int(a, *(const uint32_t *)in)
                            : print_shape(f->shape, a, in);
}

static struct doc print_items(const struct field *f, struct arena *a, void *in)
{
    struct doc list = doc_make_list();
    const char *items = *array_at(f, in);
    uint32_t n = *count_at(f, in), size = size_of_item(f);
    for (uint32_t i = 0; i < n; i++)
        doc_append(a, &list, print_item(f, a, items + (size_t)i * size));
    return list;
}

static struct doc print_pairs(const struct field *f, struct arena *a, void *in)
{
    struct doc map = doc_make_map();
    const struct cdi_pair *pairs = *array_at(f, in);
    for (uint32_t i = 0; i < *count_at(f, in); i++)
        doc_set_str(a, &map, pairs[i].key, doc_make_string(a, pairs[i].value));
    return map;
}

/* Whether there is something to write. */
static bool is_there(const struct field *f, void *in)
{
    switch (f->kind) {
    case TEXT:
        return text_at(f, in)->n > 0;
    case NUMBER:
        return *number_at(f, in) != 0;
    case TIMED:
    case WORD:
        return *flag_at(f, in);
    case FLAG:
        return *(bool *)((char *)in + f->at);
    case PART:
        return f->beside == NOTHING || *flag_at(f, in);
    default:
        return *count_at(f, in) > 0;
    }
}

static struct doc print_field(const struct field *f, struct arena *a, void *in)
{
    switch (f->kind) {
    case TEXT:
        return doc_make_string(a, *text_at(f, in));
    case NUMBER:
    case TIMED:
        return doc_make_int(a, *number_at(f, in));
    case WORD:
        return doc_make_int(a, *word_at(f, in));
    case FLAG:
        return doc_make_bool(true);
    case PAIRS:
        return print_pairs(f, a, in);
    case PART:
        return print_shape(f->shape, a, (char *)in + f->at);
    default:
        return print_items(f, a, in);
    }
}

static struct doc print_shape(const struct shape *s, struct arena *a, const void *in)
{
    struct doc map = doc_make_map();
    for (uint32_t i = 0; i < s->n; i++) {
        const struct field *f = &s->fields[i];
        if (f->always || is_there(f, (void *)in))
            doc_add_str(a, &map, str_from(f->name), print_field(f, a, (void *)in));
    }
    return map;
}

struct str cdi_spec_print(const struct cdi_spec *s, struct arena *a)
{
    struct cdi_spec whole = *s;
    if (whole.version.n == 0)
        whole.version = str_from(cdi_spec_version(s));
    struct doc d = print_shape(&SPEC, a, &whole);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_INDENT | DOC_JSON_NARROW, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}
