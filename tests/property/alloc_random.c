/* SPDX-License-Identifier: Apache-2.0 */
#include "property/alloc_random.h"

#include "base/rng.h"

const struct random_mix random_mix_of_all = {.pools = 20,
                                             .per_device = 10,
                                             .counters = 60,
                                             .groups = 15,
                                             .capacity = 40,
                                             .constraints = 20,
                                             .selectors = 30,
                                             .alternatives = 20,
                                             .admin = 15,
                                             .all = 5,
                                             .twins = 30,
                                             .max_devices = 10,
                                             .max_claims = 3,
                                             .max_count = 2};

#define A "a.example.com"
#define B "b.example.com"
#define OF_A "device.driver == \"" A "\""

struct maker {
    struct random_world *w;
    struct arena *a;
    struct rng rng;
    const struct random_mix *mix;
    uint32_t devices; /* made so far */
};

static int64_t draw(struct maker *m, int64_t lo, int64_t hi)
{
    return rng_range(&m->rng, lo, hi);
}

static bool chance(struct maker *m, uint32_t percent)
{
    return draw(m, 0, 99) < percent;
}

static struct str text(struct maker *m, const char *prefix, int64_t n)
{
    return arena_printf(m->a, "%s%lld", prefix, (long long)n);
}

#define ARRAY(m, type, n) ARENA_ARRAY((m)->a, type, (n) + 1)

/* ---- Expressions: text for CEL, and what it says in C ---- */

static const struct device_attr_value *attr(const struct view_device *d, const char *name)
{
    for (uint32_t i = 0; i < d->facts.shape->nattrs; i++)
        if (str_is(device_attr_name(&d->facts, i), name))
            return device_attr(&d->facts, i);
    return NULL;
}

static enum device_verdict verdict(bool yes)
{
    return yes ? DEVICE_YES : DEVICE_NO;
}

static enum device_verdict says_true(const struct view_device *d)
{
    return DEVICE_YES;
}
static enum device_verdict says_driver_a(const struct view_device *d)
{
    return verdict(str_is(d->facts.shape->driver, A));
}
static enum device_verdict says_gpu(const struct view_device *d)
{
    return verdict(str_is(d->facts.shape->driver, A) &&
                   str_is(attr(d, "kind")->s, "gpu"));
}
static enum device_verdict says_nic(const struct view_device *d)
{
    return verdict(str_is(d->facts.shape->driver, A) &&
                   str_is(attr(d, "kind")->s, "nic"));
}
static enum device_verdict says_small(const struct view_device *d)
{
    return verdict(str_is(d->facts.shape->driver, A) && attr(d, "size")->i < 2);
}
/* Fails on devices without the attribute. */
static enum device_verdict says_fast(const struct view_device *d)
{
    const struct device_attr_value *a = attr(d, "fast");
    return str_is(d->facts.shape->driver, A) && a ? verdict(a->i > 0) : DEVICE_ERROR;
}

static const struct {
    const char *text;
    enum device_verdict (*says)(const struct view_device *d);
} EXPRESSIONS[] = {
    {"true", says_true},
    {"device.driver == \"" A "\"", says_driver_a},
    {"device.driver == \"" A "\" && device.attributes[\"" A "\"].kind == \"gpu\"",
     says_gpu},
    {"device.driver == \"" A "\" && device.attributes[\"" A "\"].kind == \"nic\"",
     says_nic},
    {"device.driver == \"" A "\" && device.attributes[\"" A "\"].size < 2", says_small},
    {"device.attributes[\"" A "\"].fast > 0", says_fast},
};

static enum device_verdict match(struct str expression, const struct view_device *d)
{
    for (size_t i = 0; i < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; i++)
        if (str_is(expression, EXPRESSIONS[i].text))
            return EXPRESSIONS[i].says(d);
    return DEVICE_ERROR;
}

static struct view_selector selector(struct maker *m)
{
    size_t last = sizeof EXPRESSIONS / sizeof *EXPRESSIONS - 1;
    size_t i = chance(m, m->mix->errors) ? last : (size_t)draw(m, 0, (int64_t)last - 1);
    return (struct view_selector){.has_cel = true,
                                  .expression = str_from(EXPRESSIONS[i].text)};
}

static void selectors(struct maker *m, const struct view_selector **v, uint32_t *n)
{
    struct view_selector *s = ARRAY(m, struct view_selector, 1);
    *n = chance(m, m->mix->selectors);
    s[0] = selector(m);
    *v = s;
}

/* ---- Devices ---- */

static struct quantity number(int64_t v)
{
    return quantity_from_int64(v, QUANTITY_DECIMAL_SI);
}

static struct view_amount amount(struct str name, int64_t v)
{
    return (struct view_amount){name, number(v)};
}

static void add_int(struct device_attr *v, uint32_t *n, const char *name, int64_t i)
{
    v[(*n)++] = (struct device_attr){.name = str_from(name),
                                     .value = {.kind = DEVICE_ATTR_INT, .i = i}};
}

static void add_links(struct maker *m, struct device_attr *v, uint32_t *n)
{
    uint32_t len = (uint32_t)draw(m, 1, 3);
    int64_t *ints = ARRAY(m, int64_t, len);
    for (uint32_t i = 0; i < len; i++)
        ints[i] = draw(m, 0, 4);
    v[(*n)++] =
        (struct device_attr){.name = STR("links"),
                             .value = {.kind = DEVICE_ATTR_INTS, .n = len, .ints = ints}};
}

static uint32_t attributes(struct maker *m, struct device_attr *v)
{
    uint32_t n = 0;
    v[n++] =
        (struct device_attr){.name = STR("kind"),
                             .value = {.kind = DEVICE_ATTR_STRING,
                                       .s = chance(m, 60) ? STR("gpu") : STR("nic")}};
    add_int(v, &n, "size", draw(m, 0, 3));
    add_int(v, &n, "numa", draw(m, 0, 1));
    if (chance(m, 80))
        add_int(v, &n, "fast", draw(m, 0, 2));
    if (chance(m, 90))
        add_int(v, &n, "root", draw(m, 0, 3));
    if (chance(m, m->mix->lists))
        add_links(m, v, &n);
    return n;
}

static const struct device_capacity_policy *policy(struct maker *m)
{
    struct device_capacity_policy *p = ARENA_NEW(m->a, struct device_capacity_policy);
    struct quantity *q = ARRAY(m, struct quantity, 4);
    for (int i = 0; i < 4; i++)
        q[i] = number(draw(m, 1, 3) + i);
    p->def = &q[0];
    if (chance(m, 50)) {
        p->has_range = true;
        p->min = &q[0];
        p->step = chance(m, 70) ? &q[1] : NULL;
        p->max = chance(m, 30) ? &q[3] : NULL;
    } else {
        p->valid_values = q;
        p->nvalid_values = 1;
    }
    return p;
}

static uint32_t capacities(struct maker *m, struct device_capacity *v)
{
    uint32_t n = 0;
    if (!chance(m, m->mix->capacity))
        return 0;
    v[n++] = (struct device_capacity){.name = STR("mem"), .value = number(draw(m, 2, 8))};
    if (chance(m, 50))
        v[0].policy = policy(m);
    if (chance(m, 30))
        v[n++] = (struct device_capacity){.name = STR("cores"), .value = number(4)};
    return n;
}

static struct view_strs group_names(struct maker *m)
{
    struct str *v = ARRAY(m, struct str, 2);
    uint32_t n = chance(m, m->mix->groups) ? (uint32_t)draw(m, 1, 2) : 0;
    int64_t first = draw(m, 0, 2);
    for (uint32_t i = 0; i < n; i++)
        v[i] = text(m, "g", (first + i) % 3);
    return (struct view_strs){v, n};
}

static void consumption(struct maker *m, struct view_device *d, uint32_t nsets)
{
    struct view_consumption *v = ARRAY(m, struct view_consumption, 2);
    uint32_t n = nsets && chance(m, m->mix->counters) ? (uint32_t)draw(m, 1, 2) : 0;
    int64_t first = draw(m, 0, (int64_t)nsets - 1 + !nsets);
    for (uint32_t i = 0; i < n && i < nsets; i++) {
        struct view_amount *take = ARRAY(m, struct view_amount, 2);
        v[i].counter_set = text(m, "cs", (first + i) % nsets);
        take[0] = amount(STR("x"), draw(m, 0, 3));
        take[1] = amount(STR("y"), draw(m, 0, 2));
        v[i].counters = take;
        v[i].ncounters = (uint32_t)draw(m, 1, 2);
        v[i].groups = group_names(m);
        d->nconsumes++;
    }
    d->consumes = v;
}

static void taints(struct maker *m, struct view_device *d)
{
    struct view_taint *t = ARRAY(m, struct view_taint, 1);
    if (!chance(m, m->mix->taints))
        return;
    t->key = STR("bad");
    t->effect = chance(m, 70) ? STR("NoSchedule") : STR("None");
    d->taints = t;
    d->ntaints = 1;
}

static void place(struct maker *m, struct view_device *d)
{
    if (chance(m, 60))
        d->node_name = chance(m, 70) ? STR("n1") : STR("n2");
    else
        d->all_nodes = chance(m, 70);
}

static void device(struct maker *m, struct view_device *d, struct str driver,
                   uint32_t nsets, bool per_device)
{
    struct device_attr *attrs = ARRAY(m, struct device_attr, 8);
    struct device_capacity *caps = ARRAY(m, struct device_capacity, 2);
    uint32_t nattrs = attributes(m, attrs), ncaps = capacities(m, caps);
    device_facts_make(&d->facts, &m->w->names, driver, attrs, nattrs, caps, ncaps,
                      chance(m, m->mix->capacity), m->a);
    d->name = text(m, "d", m->devices++);
    consumption(m, d, nsets);
    taints(m, d);
    if (per_device)
        place(m, d);
    d->has_binding_conditions = chance(m, m->mix->binding);
    if (d->has_binding_conditions) {
        struct str *c = ARRAY(m, struct str, 1);
        c[0] = STR("Ready");
        d->binding_conditions = (struct view_strs){c, chance(m, 80)};
    }
}

static const void *copy_of(struct maker *m, const void *p, size_t size)
{
    return p ? memcpy(arena_alloc(m->a, size), p, size) : NULL;
}

/* A device has what it says for itself. */
static void own_facts(struct maker *m, struct device_facts *f)
{
    uint32_t n = f->shape->nattrs + f->shape->ncapacities;
    f->codes = copy_of(m, f->codes, (n + !n) * sizeof *f->codes);
    f->policies = copy_of(m, f->policies, f->shape->ncapacities * sizeof *f->policies);
}

/* A twin has another name and everything else in common. */
static void devices(struct maker *m, struct view_slice *s, uint32_t n, uint32_t nsets)
{
    struct view_device *v = ARRAY(m, struct view_device, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i && chance(m, m->mix->twins)) {
            v[i] = v[i - 1];
            v[i].name = text(m, "d", m->devices++);
            own_facts(m, &v[i].facts);
        } else {
            device(m, &v[i], s->driver, nsets, s->per_device);
        }
    }
    s->devices = v;
    s->ndevices = n;
}

/* ---- Slices ---- */

static void counter_sets(struct maker *m, struct view_slice *s, uint32_t nsets)
{
    struct view_counter_set *v = ARRAY(m, struct view_counter_set, nsets);
    for (uint32_t i = 0; i < nsets; i++) {
        struct view_amount *c = ARRAY(m, struct view_amount, 2);
        c[0] = amount(STR("x"), draw(m, 1, 6));
        c[1] = amount(STR("y"), draw(m, 1, 5));
        v[i] = (struct view_counter_set){text(m, "cs", i), c, 2};
    }
    s->counter_sets = v;
    s->ncounter_sets = nsets;
}

static void node_of_slice(struct maker *m, struct view_slice *s)
{
    if (chance(m, m->mix->per_device))
        s->per_device = s->has_per_device = true;
    else if (chance(m, m->mix->pools))
        s->all_nodes = true;
    else
        s->node_name = chance(m, m->mix->pools / 4) ? STR("n2") : STR("n1");
}

static struct view_slice *new_slice(struct maker *m, const struct view_slice *like,
                                    uint32_t number)
{
    struct view_slice *s = ARENA_NEW(m->a, struct view_slice);
    *s = *like;
    s->meta.name = text(m, "s", draw(m, 0, 9) * 1000 + number);
    if (chance(m, m->mix->pools / 8))
        s->generation++;
    if (chance(m, m->mix->pools / 8))
        s->slice_count++;
    node_of_slice(m, s);
    return s;
}

static void pool(struct maker *m, uint32_t number, uint32_t ndevices,
                 const struct view_slice **out, uint32_t *n)
{
    uint32_t nsets = chance(m, m->mix->counters) ? (uint32_t)draw(m, 1, 2) : 0;
    uint32_t parts = ndevices > 1 && chance(m, 40) ? 2 : 1;
    struct view_slice like = {.driver = chance(m, 80) ? STR(A) : STR(B),
                              .pool = text(m, "p", number),
                              .generation = 1,
                              .slice_count = parts + (nsets > 0)};
    struct str *skip = ARRAY(m, struct str, 1);
    skip[0] = STR("Prepare");
    for (uint32_t i = 0; i < parts; i++) {
        struct view_slice *s = new_slice(m, &like, *n);
        s->skip_node_operations = (struct view_strs){skip, chance(m, m->mix->pools / 4)};
        devices(m, s, ndevices / parts + (i < ndevices % parts), nsets);
        out[(*n)++] = s;
    }
    if (nsets) {
        struct view_slice *s = new_slice(m, &like, *n);
        counter_sets(m, s, nsets);
        out[(*n)++] = s;
    }
}

static void pools(struct maker *m)
{
    const struct view_slice **v = ARRAY(m, const struct view_slice *, 12);
    uint32_t total = (uint32_t)draw(m, 1, m->mix->max_devices), npools = 1;
    if (chance(m, m->mix->pools))
        npools = (uint32_t)draw(m, 1, 3);
    for (uint32_t i = 0; i < npools; i++)
        pool(m, i, total / npools + (i < total % npools), v, &m->w->in.nslices);
    m->w->in.slices = v;
}

/* ---- Claims ---- */

static void tolerations(struct maker *m, struct view_alternative *v)
{
    struct view_toleration *t = ARRAY(m, struct view_toleration, 1);
    t->key = STR("bad");
    t->op = STR("Exists");
    v->tolerations = t;
    v->ntolerations = chance(m, m->mix->taints);
}

static void wanted_capacity(struct maker *m, struct view_alternative *v)
{
    struct view_amount *w = ARRAY(m, struct view_amount, 1);
    w[0] = amount(STR("mem"), draw(m, 1, 5));
    v->capacity = w;
    v->ncapacity = chance(m, m->mix->capacity) && chance(m, 60);
    v->has_capacity = v->ncapacity > 0 && m->w->features.consumable_capacity;
    if (!v->has_capacity)
        v->ncapacity = 0;
}

static void alternative(struct maker *m, struct view_alternative *v)
{
    v->class_name = chance(m, 50) ? STR("any") : STR("a");
    selectors(m, &v->selectors, &v->nselectors);
    v->mode = chance(m, m->mix->all) ? STR("All") : STR("ExactCount");
    v->count = draw(m, 1, m->mix->max_count);
    if (chance(m, 2))
        v->count = draw(m, 0, 1) ? 0 : 31;
    tolerations(m, v);
    wanted_capacity(m, v);
}

static void request(struct maker *m, struct view_request *r, uint32_t number)
{
    uint32_t n = 1;
    r->name = text(m, "r", number);
    r->first_available =
        m->w->features.prioritized_list && chance(m, m->mix->alternatives);
    if (r->first_available)
        n = (uint32_t)draw(m, 1, 3);
    struct view_alternative *v = ARRAY(m, struct view_alternative, n);
    for (uint32_t i = 0; i < n; i++) {
        alternative(m, &v[i]);
        v[i].name = r->first_available ? text(m, "s", i) : STR_NONE;
    }
    v[0].has_admin = v[0].admin =
        !r->first_available && m->w->features.admin_access && chance(m, m->mix->admin);
    r->alternatives = v;
    r->nalternatives = n;
}

static struct view_strs some_requests(struct maker *m, const struct view_claim *c)
{
    struct str *v = ARRAY(m, struct str, 1);
    const struct view_request *r = &c->requests[draw(m, 0, c->nrequests - 1)];
    if (chance(m, 60))
        return (struct view_strs){v, 0};
    v[0] = r->first_available && chance(m, 50)
               ? arena_printf(m->a, "%.*s/s0", STR_ARG(r->name))
               : r->name;
    return (struct view_strs){v, 1};
}

static void constraints(struct maker *m, struct view_claim *c)
{
    static const char *const names[] = {A "/numa", A "/root", A "/links", A "/size"};
    struct view_constraint *v = ARRAY(m, struct view_constraint, 2);
    c->nconstraints = chance(m, m->mix->constraints) ? (uint32_t)draw(m, 1, 2) : 0;
    for (uint32_t i = 0; i < c->nconstraints; i++) {
        struct str name = str_from(names[draw(m, 0, 3)]);
        v[i].requests = some_requests(m, c);
        if (chance(m, 60))
            v[i].match = name;
        else
            v[i].distinct = name;
    }
    c->constraints = v;
}

static struct view_claim *claim(struct maker *m, uint32_t number)
{
    struct view_claim *c = ARENA_NEW(m->a, struct view_claim);
    c->meta.name = text(m, "c", number);
    c->meta.namespace = STR("default");
    c->nrequests = (uint32_t)draw(m, 1, 2);
    struct view_request *r = ARRAY(m, struct view_request, c->nrequests);
    for (uint32_t i = 0; i < c->nrequests; i++)
        request(m, &r[i], i);
    c->requests = r;
    constraints(m, c);
    return c;
}

static void claims(struct maker *m)
{
    uint32_t n = (uint32_t)draw(m, 1, m->mix->max_claims);
    const struct view_claim **v = ARRAY(m, const struct view_claim *, n);
    for (uint32_t i = 0; i < n; i++)
        v[i] = i && chance(m, m->mix->twins) ? v[i - 1] : claim(m, i);
    m->w->in.claims = v;
    m->w->in.nclaims = n;
}

static void classes(struct maker *m)
{
    static const struct view_selector of_a = {.has_cel = true,
                                              .expression = {OF_A, sizeof OF_A - 1}};
    static const struct view_class any = {.meta.name = {"any", 3}},
                                   a = {.meta.name = {"a", 1},
                                        .selectors = &of_a,
                                        .nselectors = 1};
    static const struct view_class *const both[] = {&any, &a};
    m->w->in.classes = both;
    m->w->in.nclasses = 2;
}

/* ---- What is held ---- */

static void hold(struct maker *m, const struct view_slice *s, const struct view_device *d,
                 struct naive_held *h)
{
    bool share = m->w->features.consumable_capacity && d->facts.shape->allow_multiple &&
                 chance(m, 85);
    struct view_amount *v = ARRAY(m, struct view_amount, 1);
    v[0] = amount(STR("mem"), draw(m, 0, 3));
    *h = (struct naive_held){.driver = s->driver, .pool = s->pool, .device = d->name};
    h->share = share;
    h->consumed = v;
    h->nconsumed = share && d->facts.shape->ncapacities && chance(m, 80);
}

static void held(struct maker *m)
{
    struct naive_input *in = &m->w->in;
    struct naive_held *v = ARRAY(m, struct naive_held, 2 * m->mix->max_devices);
    for (uint32_t i = 0; i < in->nslices; i++)
        for (uint32_t j = 0; j < in->slices[i]->ndevices; j++)
            if (chance(m, m->mix->held))
                hold(m, in->slices[i], &in->slices[i]->devices[j], &v[in->nheld++]);
    in->held = v;
}

static void features(struct maker *m)
{
    bool *f = (bool *)&m->w->features;
    m->w->features = alloc_features_all;
    for (size_t i = 0; i < sizeof m->w->features / sizeof *f; i++)
        if (chance(m, m->mix->features_off))
            f[i] = false;
}

void random_world_init(struct random_world *w, const struct random_mix *mix,
                       uint64_t seed)
{
    static const struct str operations = {"DRAOptionalNodeOperations", 25};
    struct maker m = {.w = w, .a = &w->arena, .mix = mix};
    *w = (struct random_world){0};
    arena_init(&w->arena);
    device_names_init(&w->names);
    rng_init(&m.rng, seed);
    features(&m);
    struct view_node *node = ARENA_NEW(m.a, struct view_node);
    node->meta.name = STR("n1");
    if (chance(&m, 70))
        node->declared_features = (struct view_strs){&operations, 1};
    w->in = (struct naive_input){.features = &w->features, .node = node, .match = match};
    pools(&m);
    classes(&m);
    claims(&m);
    held(&m);
}

void random_world_fini(struct random_world *w)
{
    device_names_fini(&w->names);
    arena_fini(&w->arena);
}

static void mark(struct alloc_inventory *inv, const struct naive_held *h)
{
    if (h->share)
        alloc_mark_share(inv, h->driver, h->pool, h->device, STR("u"));
    else
        alloc_mark_device(inv, h->driver, h->pool, h->device);
    if (h->nconsumed)
        alloc_mark_consumed(inv, h->driver, h->pool, h->device, h->consumed,
                            h->nconsumed);
}

struct alloc_inventory *random_inventory(struct random_world *w)
{
    struct alloc_inventory *inv = alloc_inventory_new(&w->features, &w->names);
    for (uint32_t i = 0; i < w->in.nslices; i++)
        alloc_inventory_put_slice(inv, w->in.slices[i]);
    for (uint32_t i = 0; i < w->in.nclasses; i++)
        alloc_inventory_put_class(inv, w->in.classes[i]);
    for (uint32_t i = 0; i < w->in.nheld; i++)
        mark(inv, &w->in.held[i]);
    return inv;
}
