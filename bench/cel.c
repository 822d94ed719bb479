/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device expressions: a verdict on each of many devices, with a memo that has seen none
 * of them, as the allocator asks for it; an evaluation on values that are ready; a
 * compilation. Reading the devices, which gives their values codes, is not counted here:
 * allocate.load counts it.
 */
#include <stdio.h>

#include "bench.h"
#include "device/device.h"

enum { DEVICES = 12800, PEER_DEVICES = 1280 };

static const char driver_test[] = "device.driver == \"gpu.example.com\"";
static const char int_test[] = "device.attributes[\"gpu.example.com\"].index == 3";
static const char string_tests[] =
    "device.driver == \"gpu.example.com\" && "
    "device.attributes[\"gpu.example.com\"].productName.startsWith(\"NVIDIA H100\") && "
    "device.attributes[\"resource.kubernetes.io\"].pcieRoot == \"pci0000:03\"";
static const char in_list[] = "device.attributes[\"gpu.example.com\"].type in "
                              "[\"mig\", \"vgpu\", \"gpu\", \"other\"]";
static const char exists_test[] = "[\"mig\", \"vgpu\", \"gpu\"].exists(x, "
                                  "x == device.attributes[\"gpu.example.com\"].type)";
static const char guarded[] =
    "has(device.attributes[\"gpu.example.com\"].productName) && "
    "device.attributes[\"gpu.example.com\"].productName.contains(\"H100\") && "
    "device.capacity[\"gpu.example.com\"].memory.isGreaterThan(quantity(\"40Gi\")) && "
    "device.attributes[\"gpu.example.com\"].driverVersion.isGreaterThan("
    "semver(\"535.0.0\"))";

struct work {
    struct device_names names;
    struct device_env *env;
    struct device_expr *expr;
    struct device_facts *devices;
    struct cel_run run;
    const char *text;
};

/* ---- Devices like those of a real GPU driver, all different ---- */

static void fail(const char *what, struct str why)
{
    fprintf(stderr, "bench: %s: %.*s\n", what, STR_ARG(why));
}

static struct device_attr text_attr(const char *name, uint8_t kind, struct str s)
{
    return (struct device_attr){.name = str_from(name), .value = {.kind = kind, .s = s}};
}

/* As views of slices are made: what is read is forgotten, the facts lie together. */
static void make_device(struct work *w, unsigned i, struct arena *a, struct arena *kept,
                        struct device_facts *out)
{
    const struct str driver = STR("gpu.example.com");
    struct device_attr *v = ARENA_ARRAY(a, struct device_attr, 8);
    struct device_capacity *c = ARENA_ARRAY(a, struct device_capacity, 2);
    v[0] = text_attr("type", DEVICE_ATTR_STRING, arena_str(a, STR("gpu")));
    v[1] = text_attr(
        "uuid", DEVICE_ATTR_STRING,
        arena_printf(a, "GPU-%08x-0123-4e5f-8a9b-0123456789ab", i * 2654435761u));
    v[2] = (struct device_attr){.name = STR("index"),
                                .value = {.kind = DEVICE_ATTR_INT, .i = i % 8}};
    v[3] =
        text_attr("productName", DEVICE_ATTR_STRING,
                  arena_printf(a, "NVIDIA %s", i % 2 ? "H100 80GB HBM3" : "A100-SXM4"));
    v[4] = text_attr("driverVersion", DEVICE_ATTR_VERSION,
                     arena_printf(a, "570.86.%u", i % 100));
    v[5] = text_attr("cudaComputeCapability", DEVICE_ATTR_VERSION,
                     arena_str(a, STR("9.0.0")));
    v[6] = text_attr("resource.kubernetes.io/pcieRoot", DEVICE_ATTR_STRING,
                     arena_printf(a, "pci0000:%02x", i % 16));
    v[7] = (struct device_attr){.name = STR("healthy"),
                                .value = {.kind = DEVICE_ATTR_BOOL, .b = i % 9 != 0}};
    c[0].name = STR("memory");
    quantity_parse(arena_printf(a, "%uMi", 40000 + i), a, &c[0].value, NULL);
    c[1].name = STR("multiprocessors");
    quantity_parse(STR("132"), a, &c[1].value, NULL);
    device_facts_make(out, &w->names, driver, v, 8, c, 2, false, kept);
}

static void write_device(struct strbuf *b, unsigned i)
{
    strbuf_addf(b,
                "%s{\"driver\":\"gpu.example.com\",\"attributes\":{"
                "\"type\":{\"string\":\"gpu\"},"
                "\"uuid\":{\"string\":\"GPU-%08x-0123-4e5f-8a9b-0123456789ab\"},"
                "\"index\":{\"int\":%u},\"productName\":{\"string\":\"NVIDIA %s\"},",
                i ? "," : "", i * 2654435761u, i % 8,
                i % 2 ? "H100 80GB HBM3" : "A100-SXM4");
    strbuf_addf(b,
                "\"driverVersion\":{\"version\":\"570.86.%u\"},"
                "\"cudaComputeCapability\":{\"version\":\"9.0.0\"},"
                "\"resource.kubernetes.io/pcieRoot\":{\"string\":\"pci0000:%02x\"},"
                "\"healthy\":{\"bool\":%s}},",
                i % 100, i % 16, i % 9 ? "true" : "false");
    strbuf_addf(b,
                "\"capacity\":{\"memory\":{\"value\":\"%uMi\"},"
                "\"multiprocessors\":{\"value\":\"132\"}}}",
                40000 + i);
}

static void add_json(struct strbuf *b, const char *s)
{
    strbuf_addc(b, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            strbuf_addc(b, '\\');
        strbuf_addc(b, *s);
    }
    strbuf_addc(b, '"');
}

static void write_question(struct bench *b, const char *text, unsigned devices)
{
    struct strbuf q = STRBUF_INIT;
    strbuf_adds(&q, "{\"id\":\"cel\",\"expression\":");
    add_json(&q, text);
    if (devices == 1)
        strbuf_adds(&q, ",\"device\":"), write_device(&q, 0);
    if (devices > 1) {
        strbuf_adds(&q, ",\"devices\":[");
        for (unsigned i = 0; i < devices; i++)
            write_device(&q, i);
        strbuf_addc(&q, ']');
    }
    strbuf_addc(&q, '}');
    b->question = arena_str(b->arena, strbuf_str(&q));
    strbuf_release(&q);
}

/* ---- Set up and tear down ---- */

static void setup(struct bench *b, const struct bench_row *row, unsigned devices,
                  unsigned peer_devices)
{
    struct work *w = ARENA_NEW(b->arena, struct work);
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    struct device_expr_error error;
    b->data = w;
    w->text = row->arg;
    device_names_init(&w->names);
    cel_run_init(&w->run);
    w->env = device_env_new(&opts, &w->names);
    w->expr =
        device_expr_new(w->env, str_from(w->text), DEVICE_SELECTOR, b->arena, &error);
    if (!w->expr) {
        fail(w->text, error.text);
        b->skip = "does not compile";
        return;
    }
    w->devices = ARENA_ARRAY(b->arena, struct device_facts, devices);
    struct arena scratch;
    arena_init(&scratch);
    for (unsigned i = 0; i < devices; i++) {
        arena_reset(&scratch);
        make_device(w, i, &scratch, b->arena, &w->devices[i]);
    }
    arena_fini(&scratch);
    write_question(b, w->text, peer_devices);
}

static void setup_many(struct bench *b, const struct bench_row *row)
{
    setup(b, row, DEVICES, PEER_DEVICES);
}

static void setup_one(struct bench *b, const struct bench_row *row)
{
    setup(b, row, 1, 1);
}

static void setup_text(struct bench *b, const struct bench_row *row)
{
    setup(b, row, 1, 0);
}

static void teardown(struct bench *b)
{
    struct work *w = b->data;
    device_expr_free(w->expr);
    device_env_free(w->env);
    cel_run_fini(&w->run);
    device_names_fini(&w->names);
}

/* ---- What is measured ---- */

static uint64_t count(struct work *w, enum device_verdict verdict, struct str why)
{
    if (verdict == DEVICE_ERROR)
        fail(w->text, why);
    cel_run_reset(&w->run);
    return (uint64_t)verdict + w->run.cost;
}

/* As the allocator does it; each time with a new memo. */
static void run_many(struct bench *b, uint64_t n)
{
    struct work *w = b->data;
    struct arena a;
    arena_init(&a);
    while (n-- > 0) {
        struct device_memo memo;
        struct str why = STR_NONE;
        arena_reset(&a);
        device_memo_init(&memo, w->expr, &a);
        for (unsigned i = 0; i < DEVICES; i++)
            b->sink +=
                count(w, device_memo_match(&memo, &w->devices[i], &w->run, &why), why);
        device_memo_fini(&memo);
    }
    arena_fini(&a);
}

static void run_one(struct bench *b, uint64_t n)
{
    struct work *w = b->data;
    struct str why = STR_NONE;
    while (n-- > 0)
        b->sink +=
            count(w, device_expr_match(w->expr, &w->devices[0], &w->run, &why), why);
}

static void run_compile(struct bench *b, uint64_t n)
{
    struct work *w = b->data;
    struct arena a;
    struct device_expr_error error;
    arena_init(&a);
    while (n-- > 0) {
        device_expr_free(
            device_expr_new(w->env, str_from(w->text), DEVICE_SELECTOR, &a, &error));
        arena_reset(&a);
    }
    arena_fini(&a);
}

#define MATCH(name, text, is)                                                            \
    {                                                                                    \
        .id = "cel.match." name,                                                         \
        .what = is ", a verdict on each of 12,800 different devices", .cold = true,      \
        .goal = 300, .per = DEVICES, .setup = setup_many, .run = run_many,               \
        .teardown = teardown, .peer = "cel-match", .arg = text                           \
    }

#define BARE(name, text, is)                                                             \
    {                                                                                    \
        .id = "cel.eval." name, .what = is ", on values that are ready, costs counted",  \
        .goal = 5, .setup = setup_one, .run = run_one, .teardown = teardown,             \
        .peer = "cel-bare", .peer_field = "nsCosts", .arg = text                         \
    }

#define COMPILE(name, text, is)                                                          \
    {                                                                                    \
        .id = "cel.compile." name, .what = is ", compiled", .goal = 20,                  \
        .setup = setup_text, .run = run_compile, .teardown = teardown,                   \
        .peer = "cel-compile", .arg = text                                               \
    }

#define ALL(row)                                                                         \
    row("driver", driver_test, "one string test"),                                       \
        row("int", int_test, "one test of an int attribute"),                            \
        row("strings", string_tests, "three string tests"),                              \
        row("in", in_list, "an attribute in a list of constants"),                       \
        row("exists", exists_test, "exists over a list of constants"),                   \
        row("guarded", guarded, "has, contains, a quantity and a version")

const struct bench_row bench_cel[] = {ALL(MATCH), ALL(BARE), ALL(COMPILE), {0}};
