/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "base/names.h"
#include "driver/file.h"
#include "num/semver.h"

enum { VALUE_MAX = 64, SHARES_MAX = 1 << 20 };

static const char *const EFFECTS[] = {"None", "NoSchedule", "NoExecute", NULL};

/* ---- attributes ---- */

static bool read_version(struct file_at at, struct str *out)
{
    struct semver v;
    if (!file_text(at, out) || !at.d)
        return false;
    return semver_parse(*out, false, at.r->a, &v, NULL) ||
           file_fail(at, "\"%.*s\" is no version such as 1.2.3", STR_ARG(*out));
}

static bool read_string(struct file_at at, struct str *out)
{
    *out = doc_str(at.d);
    return out->n <= VALUE_MAX ||
           file_fail(at, "a text of at most %d bytes is wanted here", VALUE_MAX);
}

/* A list is all texts or all whole numbers or all booleans. */
static bool read_values(struct file_at at, struct driver_value *out)
{
    uint8_t type = at.d->n ? at.d->items[0].type : DOC_NULL;
    struct str *texts = ARENA_ARRAY(at.r->a, struct str, at.d->n);
    int64_t *numbers = ARENA_ARRAY(at.r->a, int64_t, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++) {
        struct file_at item = file_item(at, i);
        if (!item.d || item.d->type != type)
            return file_fail(item, "values of one type are wanted in a list");
        if (type == DOC_STRING   ? !read_string(item, &texts[i])
            : type == DOC_NUMBER ? !file_int(item, INT64_MIN, INT64_MAX, &numbers[i])
                                 : type != DOC_BOOL)
            return type == DOC_STRING || type == DOC_NUMBER
                       ? false
                       : file_fail(item, "texts, whole numbers or booleans are wanted");
        if (type == DOC_BOOL)
            numbers[i] = item.d->b;
    }
    if (at.d->n == 0)
        return file_fail(at, "a list of values has at least one");
    *out = (struct driver_value){.kind = type == DOC_STRING ? DRIVER_STRINGS
                                         : type == DOC_BOOL ? DRIVER_BOOLS
                                                            : DRIVER_INTS,
                                 .texts = texts,
                                 .numbers = numbers,
                                 .n = at.d->n};
    return true;
}

static bool read_versions(struct file_at at, struct driver_value *out)
{
    static const char *const KEYS[] = {"version", "versions", NULL};
    if (!file_is_map(at, KEYS))
        return false;
    struct file_at one = file_member(at, "version"), many = file_member(at, "versions");
    if ((one.d != NULL) == (many.d != NULL))
        return file_fail(at, "either version or versions is wanted here");
    if (one.d) {
        out->kind = DRIVER_VERSION;
        return read_version(one, &out->text);
    }
    if (!file_is_list(many))
        return false;
    struct str *texts = ARENA_ARRAY(at.r->a, struct str, many.d->n);
    for (uint32_t i = 0; i < many.d->n; i++)
        if (!read_version(file_item(many, i), &texts[i]))
            return false;
    *out = (struct driver_value){.kind = DRIVER_VERSIONS, .texts = texts, .n = many.d->n};
    return true;
}

static bool read_value(struct file_at at, struct driver_value *out)
{
    if (!at.d)
        return file_fail(at, "a value is missing here");
    switch (at.d->type) {
    case DOC_STRING:
        out->kind = DRIVER_STRING;
        return read_string(at, &out->text);
    case DOC_NUMBER:
        out->kind = DRIVER_INT;
        return file_int(at, INT64_MIN, INT64_MAX, &out->number);
    case DOC_BOOL:
        out->kind = DRIVER_BOOL;
        out->number = at.d->b;
        return true;
    case DOC_LIST:
        return read_values(at, out);
    default:
        return read_versions(at, out);
    }
}

static bool read_attributes(struct file_at at, struct driver_device *out)
{
    if (!at.d)
        return true;
    if (!file_is_map(at, NULL))
        return false;
    struct driver_attribute *v = ARENA_ARRAY(at.r->a, struct driver_attribute, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++) {
        const struct doc_member *m = &at.d->members[i];
        struct file_at value = file_value(at, m);
        v[i].name = doc_key(m);
        if (!file_qualified(value, v[i].name) || !read_value(value, &v[i].value))
            return false;
    }
    out->attributes = v;
    out->nattributes = at.d->n;
    return true;
}

/* ---- capacity ---- */

static bool read_valid_values(struct file_at at, struct driver_policy *p)
{
    if (!at.d)
        return true;
    if (!file_is_list(at))
        return false;
    struct str *v = ARENA_ARRAY(at.r->a, struct str, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++)
        if (!file_quantity(file_item(at, i), &v[i]))
            return false;
    p->values = v;
    p->nvalues = at.d->n;
    return true;
}

static bool read_policy(struct file_at at, const struct driver_policy **out)
{
    static const char *const KEYS[] = {"default", "values", "min", "max", "step", NULL};
    if (!at.d)
        return true;
    struct driver_policy *p = ARENA_NEW(at.r->a, struct driver_policy);
    if (!file_is_map(at, KEYS) ||
        !file_quantity(file_member(at, "default"), &p->preset) ||
        !read_valid_values(file_member(at, "values"), p) ||
        !file_quantity(file_member(at, "min"), &p->min) ||
        !file_quantity(file_member(at, "max"), &p->max) ||
        !file_quantity(file_member(at, "step"), &p->step))
        return false;
    if (!p->preset.n)
        return file_fail(at,
                         "default is missing: what a claim gets that asks for nothing");
    if (p->nvalues && (p->min.n || p->max.n || p->step.n))
        return file_fail(at, "values exclude min, max and step");
    if (!p->min.n && (p->max.n || p->step.n))
        return file_fail(at, "min is missing beside max or step");
    *out = p;
    return true;
}

static bool read_capacity(struct file_at at, struct driver_capacity *c)
{
    static const char *const KEYS[] = {"value", "policy", NULL};
    if (!at.d)
        return file_fail(at, "a quantity is missing here");
    if (at.d->type != DOC_MAP)
        return file_quantity(at, &c->quantity);
    struct file_at value = file_member(at, "value");
    if (!file_is_map(at, KEYS) || !file_quantity(value, &c->quantity) ||
        !read_policy(file_member(at, "policy"), &c->policy))
        return false;
    return value.d || file_fail(value, "a quantity is missing here");
}

static const struct driver_policy ONE_SHARE = {
    .preset = STR_INIT("1"), .min = STR_INIT("1"), .step = STR_INIT("1")};

/* capacity, and behind it what "shares" says. */
static bool read_capacities(struct file_at at, struct file_at shares,
                            struct driver_device *out)
{
    uint32_t n = at.d && at.d->type == DOC_MAP ? at.d->n : 0;
    struct driver_capacity *v = ARENA_ARRAY(at.r->a, struct driver_capacity, n + 1);
    int64_t many = 0;
    if ((at.d && !file_is_map(at, NULL)) || !file_int(shares, 1, SHARES_MAX, &many))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct doc_member *m = &at.d->members[i];
        struct file_at value = file_value(at, m);
        v[i].name = doc_key(m);
        if (!file_qualified(value, v[i].name) || !read_capacity(value, &v[i]))
            return false;
        if (many && str_is(v[i].name, "shares"))
            return file_fail(value, "shares has a capacity of this name already");
        if (v[i].policy && !out->shared && !many)
            return file_fail(value, "a policy is for devices with shared: true");
    }
    if (many) {
        v[n++] = (struct driver_capacity){
            STR("shares"), arena_printf(at.r->a, "%lld", (long long)many), &ONE_SHARE};
        out->shared = true;
    }
    out->capacities = v;
    out->ncapacities = n;
    return true;
}

/* ---- counters ---- */

static bool is_label(struct file_at at, struct str name)
{
    return name_valid(NAME_DNS1123_LABEL, name) ||
           file_fail(at,
                     "\"%.*s\" is no name: at most 63 lower-case letters, digits "
                     "and -, which is neither first nor last",
                     STR_ARG(name));
}

static bool read_counters(struct file_at at, struct driver_counter_set *s)
{
    if (!file_is_map(at, NULL))
        return false;
    if (at.d->n == 0)
        return file_fail(at, "a counter is missing here");
    struct driver_counter *v = ARENA_ARRAY(at.r->a, struct driver_counter, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++) {
        const struct doc_member *m = &at.d->members[i];
        struct file_at value = file_value(at, m);
        v[i].name = doc_key(m);
        if (!is_label(value, v[i].name) || !file_quantity(value, &v[i].quantity))
            return false;
        if (!value.d)
            return file_fail(value, "a quantity is missing here");
    }
    s->counters = v;
    s->n = at.d->n;
    return true;
}

static bool read_sets(struct file_at at, const struct driver_counter_set **out,
                      uint32_t *n)
{
    if (!at.d)
        return true;
    if (!file_is_map(at, NULL))
        return false;
    struct driver_counter_set *v =
        ARENA_ARRAY(at.r->a, struct driver_counter_set, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++) {
        const struct doc_member *m = &at.d->members[i];
        struct file_at set = file_value(at, m);
        v[i].name = doc_key(m);
        if (!is_label(set, v[i].name) || !read_counters(set, &v[i]))
            return false;
    }
    *out = v;
    *n = at.d->n;
    return true;
}

static bool has_counter(const struct file_table *t, struct str set, struct str counter)
{
    for (uint32_t i = 0; i < t->ncounters; i++)
        for (uint32_t k = 0; k < t->counters[i].n; k++)
            if (str_eq(t->counters[i].name, set) &&
                str_eq(t->counters[i].counters[k].name, counter))
                return true;
    return false;
}

static bool read_consumes(struct file_at at, const struct file_table *t,
                          struct driver_device *d)
{
    if (!read_sets(at, &d->consumes, &d->nconsumes))
        return false;
    for (uint32_t i = 0; i < d->nconsumes; i++)
        for (uint32_t k = 0; k < d->consumes[i].n; k++) {
            const struct driver_counter_set *s = &d->consumes[i];
            if (!has_counter(t, s->name, s->counters[k].name))
                return file_fail(at, "there is no counter \"%.*s\" in counters[%.*s]",
                                 STR_ARG(s->counters[k].name), STR_ARG(s->name));
        }
    return true;
}

/* ---- taints ---- */

static bool read_taint(struct file_at at, struct driver_taint *t)
{
    static const char *const KEYS[] = {"key", "value", "effect", NULL};
    struct file_at key = file_member(at, "key"), effect = file_member(at, "effect");
    if (!file_is_map(at, KEYS) || !file_text(key, &t->key) ||
        !file_text(file_member(at, "value"), &t->value) ||
        !file_word(effect, EFFECTS, &t->effect))
        return false;
    if (!key.d || !name_valid(NAME_LABEL_KEY, t->key))
        return file_fail(key, "a key such as example.com/name is wanted here");
    return effect.d || file_fail(effect, "None, NoSchedule or NoExecute is wanted here");
}

static bool read_taints(struct file_at at, struct driver_device *out)
{
    if (!at.d)
        return true;
    if (!file_is_list(at))
        return false;
    struct driver_taint *v = ARENA_ARRAY(at.r->a, struct driver_taint, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++)
        if (!read_taint(file_item(at, i), &v[i]))
            return false;
    out->taints = v;
    out->ntaints = at.d->n;
    return true;
}

/* ---- entries ---- */

static bool has_wildcard(struct str path)
{
    return str_find_byte(path, '*', 0) != SIZE_MAX ||
           str_find_byte(path, '?', 0) != SIZE_MAX ||
           str_find_byte(path, '[', 0) != SIZE_MAX;
}

static bool read_names(struct file_at at, struct file_entry *f)
{
    struct file_at name = file_member(at, "name"), path = file_member(at, "path");
    if (!file_text(name, &f->name) || !file_text(path, &f->path))
        return false;
    if (!name.d)
        return file_fail(name, "a name is missing here");
    if (path.d && f->path.p[0] != '/')
        return file_fail(path, "a path from / on is wanted here");
    bool many = has_wildcard(f->path), marked = str_find(f->name, STR("{}")) != SIZE_MAX;
    if (many && !marked)
        return file_fail(name,
                         "all that %.*s matches would have this name: put {} into "
                         "it, for what the wildcards match",
                         STR_ARG(f->path));
    if (marked && !many)
        return file_fail(name,
                         "{} stands for what the wildcards of path match, and there "
                         "are none");
    return marked || is_label(name, f->name);
}

static bool read_entry(struct file_at at, const struct file_table *t,
                       struct file_entry *f)
{
    static const char *const KEYS[] = {
        "name",     "path",   "missing", "attributes", "capacity", "shared", "shares",
        "consumes", "taints", "nodes",   "mounts",     "env",      NULL};
    struct driver_device *d = &f->device;
    f->missing = STR("NoSchedule");
    f->place = at.path;
    return file_is_map(at, KEYS) && read_names(at, f) &&
           file_word(file_member(at, "missing"), EFFECTS, &f->missing) &&
           read_attributes(file_member(at, "attributes"), d) &&
           file_bool(file_member(at, "shared"), &d->shared) &&
           read_capacities(file_member(at, "capacity"), file_member(at, "shares"), d) &&
           read_consumes(file_member(at, "consumes"), t, d) &&
           read_taints(file_member(at, "taints"), d) && file_edits(at, &d->edits);
}

static bool read_table(struct file_at at, struct file_table *out)
{
    static const char *const KEYS[] = {"counters", "devices", NULL};
    struct file_at devices = file_member(at, "devices");
    if (!file_is_map(at, KEYS) ||
        !read_sets(file_member(at, "counters"), &out->counters, &out->ncounters))
        return false;
    if (!devices.d)
        return true;
    if (!file_is_list(devices))
        return false;
    if (devices.d->n > FILE_MAX_ENTRIES)
        return file_fail(devices, "these are more than %d", FILE_MAX_ENTRIES);
    out->entries = ARENA_ARRAY(at.r->a, struct file_entry, devices.d->n);
    out->n = devices.d->n;
    for (uint32_t i = 0; i < devices.d->n; i++)
        if (!read_entry(file_item(devices, i), out, &out->entries[i]))
            return false;
    return true;
}

static bool read_document(struct file_reader *r, struct str text, struct doc_list *docs)
{
    if (text.n > FILE_MAX_BYTES)
        return err_set(r->e, ERR_LIMIT, "%s: more than %d bytes", r->src.name,
                       FILE_MAX_BYTES);
    if (!doc_read_yaml(&r->src, r->a, docs, r->e))
        return false;
    if (docs->n > 1)
        return err_set(r->e, ERR_INVALID, "%s: one document is wanted, not %zu",
                       r->src.name, docs->n);
    if (r->src.ndups) {
        struct doc_place p = doc_place(&r->src, r->src.dups[0].pos);
        return err_set(r->e, ERR_INVALID, "%s:%u:%u: %s: this is here twice", r->src.name,
                       p.line, p.column, r->src.dups[0].path);
    }
    return true;
}

bool file_read(struct str text, const char *name, struct arena *a, struct file_table *out,
               struct err *e)
{
    struct file_reader r = {.src = {.name = name, .text = text}, .a = a, .e = e};
    struct doc_list docs = {0};
    struct file_table t = {0};
    if (!read_document(&r, text, &docs))
        return false;
    struct file_at at = {&r, docs.n ? &docs.v[0] : NULL, STR_NONE};
    /* Whoever writes it may have come no further: nothing is no order to take all back.
     */
    if (!docs.n)
        return err_set(e, ERR_INVALID,
                       "%s: the file is empty; of no devices it says "
                       "\"devices: []\"",
                       name);
    if (!read_table(at, &t))
        return false;
    *out = t;
    return true;
}
