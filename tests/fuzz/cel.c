/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a device expression, new and stored: what compiles can be estimated, what
 * runs stays within its cost, and devices that the expression cannot tell apart get the
 * same answer.
 */
#include "device/device.h"
#include "fuzz/fuzz.h"

enum { DEVICES = 4, COST_LIMIT = 100000, MAX_TEXT = 4096 };

struct world {
    struct arena arena;
    struct device_names names;
    struct device_env *envs[2];
    struct device_facts devices[DEVICES];
};

static struct device_attr attr(const char *name, struct device_attr_value value)
{
    return (struct device_attr){.name = str_from(name), .value = value};
}

static struct device_attr_value text(uint8_t kind, const char *s)
{
    return (struct device_attr_value){.kind = kind, .s = str_from(s)};
}

static struct device_attr_value number(int64_t i)
{
    return (struct device_attr_value){.kind = DEVICE_ATTR_INT, .i = i};
}

static struct device_attr_value words(void)
{
    static const struct str list[] = {{"fish", 4}, {"bird", 4}, {"cat", 3}};
    return (struct device_attr_value){
        .kind = DEVICE_ATTR_STRINGS, .n = 3, .strings = list};
}

/* Devices 0 and 1 differ in "index" alone, 2 has other names, 3 is bad. */
static void make_device(struct world *w, unsigned i)
{
    struct arena *a = &w->arena;
    struct device_attr *attrs = ARENA_ARRAY(a, struct device_attr, 6);
    struct device_capacity *memory = ARENA_NEW(a, struct device_capacity);
    attrs[0] = attr("model", text(DEVICE_ATTR_STRING, i == 2 ? "A100" : "H100 \xc3\xa9"));
    attrs[1] = attr("index", number(i));
    attrs[2] = attr("version", text(DEVICE_ATTR_VERSION, "1.2.3-rc.1"));
    attrs[3] = attr(i == 2 ? "other.example.com/names" : "names", words());
    attrs[4] =
        attr("resource.kubernetes.io/pcieRoot", text(DEVICE_ATTR_STRING, "pci0000:01"));
    attrs[5] = attr("bad", text(DEVICE_ATTR_VERSION, "v1"));
    memory->name = STR("memory");
    quantity_parse(STR("80Gi"), a, &memory->value, NULL);
    device_facts_make(&w->devices[i], &w->names, STR("gpu.example.com"), attrs,
                      i == 3 ? 6 : 5, memory, 1, i == 1, a);
}

/* Names are added by every input, so the world is made anew now and then. */
static struct world *world_get(void)
{
    static struct world *w;
    static unsigned uses;
    if (w && ++uses % 1000 != 0)
        return w;
    if (w) {
        device_env_free(w->envs[0]);
        device_env_free(w->envs[1]);
        device_names_fini(&w->names);
        arena_fini(&w->arena);
        free(w);
    }
    w = calloc(1, sizeof *w);
    arena_init(&w->arena);
    device_names_init(&w->names);
    for (unsigned kind = 0; kind < 2; kind++) {
        const struct device_env_opts opts = {.kind = kind ? DEVICE_ENV_STORED
                                                          : DEVICE_ENV_NEW,
                                             .consumable_capacity = true};
        w->envs[kind] = device_env_new(&opts, &w->names);
    }
    for (unsigned i = 0; i < DEVICES; i++)
        make_device(w, i);
    return w;
}

struct outcome {
    enum device_verdict verdict;
    uint64_t cost;
    struct str why;
};

/* One call may cost much at once, so the limit is passed by at most that; the texts and
 * lists it works on are no longer than the limit allowed to make. */
static struct outcome run_one(const struct device_expr *x, const struct device_facts *d,
                              struct cel_run *run)
{
    struct outcome o = {.why = STR_NONE};
    run->cost_limit = COST_LIMIT;
    o.verdict = device_expr_match(x, d, run, &o.why);
    o.cost = run->cost;
    FUZZ_CHECK(o.verdict == DEVICE_ERROR || o.cost <= COST_LIMIT);
    FUZZ_CHECK(o.verdict != DEVICE_ERROR || o.why.n > 0);
    return o;
}

static void check_pair(const struct world *w, const struct device_expr *x, unsigned i,
                       unsigned j, const struct outcome *outcomes)
{
    const struct device_facts *a = &w->devices[i], *b = &w->devices[j];
    bool same = device_expr_same(x, a, b);
    FUZZ_CHECK(same == device_expr_same(x, b, a));
    FUZZ_CHECK(i != j || same);
    if (!same)
        return;
    FUZZ_CHECK(device_expr_key(x, a) == device_expr_key(x, b));
    FUZZ_CHECK(outcomes[i].verdict == outcomes[j].verdict);
    FUZZ_CHECK(outcomes[i].cost == outcomes[j].cost);
    FUZZ_CHECK(str_eq(outcomes[i].why, outcomes[j].why));
}

/* What a memo remembers of one device changes nothing for another, nor for itself. */
static void check_memo(const struct world *w, const struct device_expr *x,
                       const struct outcome *outcomes, struct cel_run *run)
{
    struct device_memo memo;
    struct arena a;
    arena_init(&a);
    device_memo_init(&memo, x, &a);
    for (unsigned i = 0; i < 2 * DEVICES; i++) {
        const struct outcome *want = &outcomes[i % DEVICES];
        struct str why = STR_NONE;
        FUZZ_CHECK(device_memo_match(&memo, &w->devices[i % DEVICES], run, &why) ==
                   want->verdict);
        FUZZ_CHECK(run->cost == want->cost);
        FUZZ_CHECK(str_eq(why, want->why));
    }
    device_memo_fini(&memo);
    arena_fini(&a);
}

static void run_all(const struct world *w, const struct device_expr *x)
{
    struct cel_run run;
    struct outcome outcomes[DEVICES];
    cel_run_init(&run);
    for (unsigned i = 0; i < DEVICES; i++)
        outcomes[i] = run_one(x, &w->devices[i], &run);
    for (unsigned i = 0; i < DEVICES; i++)
        for (unsigned j = 0; j < DEVICES; j++)
            check_pair(w, x, i, j, outcomes);
    check_memo(w, x, outcomes, &run);
    cel_run_fini(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world *w = world_get();
    if (size > MAX_TEXT)
        return 0;
    struct arena a;
    arena_init(&a);
    for (unsigned kind = 0; kind < 2; kind++) {
        struct device_expr_error error;
        struct str source = {(const char *)data, size};
        struct device_expr *x =
            device_expr_new(w->envs[kind], source, DEVICE_SELECTOR, &a, &error);
        if (!x) {
            FUZZ_CHECK(error.text.n > 0);
            continue;
        }
        device_expr_estimate(x); /* min may pass max: some of upstream's sizes wrap */
        run_all(w, x);
        device_expr_free(x);
    }
    arena_fini(&a);
    return 0;
}
