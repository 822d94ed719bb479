/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/driver/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "node/disk.h"
#include "unit/unit.h"

#define UID_FORM "%u1111111-0000-4000-8000-000000000000"

/* ---- the back end ---- */

static struct world *world_of(struct driver_backend *b)
{
    return (struct world *)b;
}

static uint32_t number_of(struct str identity)
{
    return (uint32_t)(identity.p[identity.n - 1] - '0');
}

static uint32_t claim_of(struct str uid)
{
    return (uint32_t)(uid.p[0] - '0');
}

static bool check(struct driver_backend *b, const struct driver_use *u, struct err *e)
{
    return !world_of(b)->refuse_configs || u->nconfigs == 0 ||
           err_set(e, ERR_INVALID, "spec.v: no");
}

static bool prepare(struct driver_backend *b, const struct driver_use *u, struct arena *a,
                    struct cdi_edits *edits, struct str *state, struct err *e)
{
    struct world *w = world_of(b);
    uint32_t device = number_of(u->device->identity);
    w->hardware[device][claim_of(u->claim_uid)] = true;
    if (w->fail_prepare == (int)device)
        return err_set(e, ERR_IO, "the device does not answer");
    size_t n = 0;
    w->seen[0] = '\0';
    for (uint32_t i = 0; i < u->nconfigs; i++)
        n += (size_t)snprintf(w->seen + n, sizeof w->seen - n, "%.*s,",
                              STR_ARG(doc_get_text(u->configs[i], "v")));
    struct str *env = ARENA_ARRAY(a, struct str, 1);
    env[0] = arena_printf(a, "DEVICE=%.*s", STR_ARG(u->device->identity));
    edits->env = env;
    edits->nenv = 1;
    *state = arena_printf(a, "{\"made\":\"%.*s\"}", STR_ARG(u->request));
    return true;
}

static bool unprepare(struct driver_backend *b, const struct driver_undo *u,
                      struct err *e)
{
    struct world *w = world_of(b);
    uint32_t device = number_of(u->identity), claim = claim_of(u->claim_uid);
    if (w->fail_unprepare == (int)device)
        return err_set(e, ERR_IO, "the device is busy");
    w->hardware[device][claim] = false;
    return true;
}

static const struct driver_backend_ops OPS = {
    .name = "scripted", .check = check, .prepare = prepare, .unprepare = unprepare};

/* ---- the world ---- */

void world_make(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->backend.ops = &OPS;
    w->fail_prepare = w->fail_unprepare = -1;
    snprintf(w->dir, sizeof w->dir, "/tmp/dray-prepare-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->hardware = mmap(NULL, sizeof(bool[WORLD_DEVICES][WORLD_CLAIMS]),
                       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    w->opts = (struct driver_prepare_opts){
        .driver = STR("dev.example.com"),
        .node = STR("node-1"),
        .data_dir = arena_printf(&w->a, "%s/data", w->dir),
        .cdi_dir = arena_printf(&w->a, "%s/run/cdi", w->dir),
    };
}

void world_end(struct world *w)
{
    world_stop(w);
    disk_remove_tree(w->dir, NULL);
    munmap(w->hardware, sizeof(bool[WORLD_DEVICES][WORLD_CLAIMS]));
    arena_fini(&w->a);
}

static struct cdi_edits edits_of(struct world *w, uint32_t i, const char *node)
{
    struct cdi_node *n = ARENA_NEW(&w->a, struct cdi_node);
    n->path = arena_printf(&w->a, "/dev/x%u", i);
    n->host_path = arena_str(&w->a, str_from(node));
    return (struct cdi_edits){.nodes = n, .nnodes = 1};
}

void world_discover(struct world *w, uint32_t there, const char *node)
{
    struct driver_device *v = ARENA_ARRAY(&w->a, struct driver_device, there);
    struct driver_attribute *model = ARENA_NEW(&w->a, struct driver_attribute);
    *model = (struct driver_attribute){STR("model"),
                                       {.kind = DRIVER_STRING, .text = STR("x")}};
    for (uint32_t i = 0; i < there; i++)
        v[i] = (struct driver_device){.name = arena_printf(&w->a, "dev-%u", i),
                                      .identity = arena_printf(&w->a, "id-%u", i),
                                      .attributes = model,
                                      .nattributes = 1,
                                      .shared = i == WORLD_DEVICES - 1,
                                      .edits = edits_of(w, i, node)};
    w->inventory = (struct driver_inventory){.devices = v, .ndevices = there};
    if (w->p)
        driver_prepare_inventory(w->p, &w->inventory);
}

void world_start(struct world *w)
{
    struct err e = ERR_INIT;
    w->p = driver_prepare_new(&w->opts, &w->backend, &e);
    if (!w->p)
        fail_msg("%s", err_text(&e));
    if (!w->inventory.devices)
        world_discover(w, WORLD_DEVICES, "/dev/null");
    driver_prepare_inventory(w->p, &w->inventory);
    if (!driver_prepare_recover(w->p, &e))
        fail_msg("%s", err_text(&e));
}

void world_stop(struct world *w)
{
    driver_prepare_free(w->p);
    w->p = NULL;
}

/* ---- claims ---- */

struct str world_uid(struct world *w, uint32_t c)
{
    return arena_printf(&w->a, UID_FORM, c);
}

const struct doc *world_claim_with(struct world *w, uint32_t c, const char *devices,
                                   const char *flags, const char *config)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"claim-%u\",\"uid\":"
                "\"" UID_FORM
                "\"},\"status\":{\"allocation\":{\"devices\":{\"config\":[%s]"
                ",\"results\":[{\"driver\":\"other.example.com\",\"request\":\"o\","
                "\"pool\":\"p\",\"device\":\"q\"}",
                c, c, config);
    for (uint32_t i = 0; devices[i]; i++) {
        strbuf_addf(&b,
                    ",{\"driver\":\"dev.example.com\",\"request\":\"r%u\",\"pool\":"
                    "\"node-1\",\"device\":\"dev-%c\"",
                    i, devices[i]);
        if (strchr(flags, 'a'))
            strbuf_adds(&b, ",\"adminAccess\":true");
        if (strchr(flags, 's'))
            strbuf_addf(&b, ",\"shareID\":\"s%u%u\"", c, i);
        strbuf_addc(&b, '}');
    }
    strbuf_adds(&b, "]}}}}");
    struct doc_source src = {.name = "claim", .text = arena_str(&w->a, strbuf_str(&b))};
    struct doc *d = ARENA_NEW(&w->a, struct doc);
    assert_true(doc_read_json(&src, &w->a, d, NULL));
    strbuf_release(&b);
    return d;
}

const struct doc *world_claim(struct world *w, uint32_t c, const char *devices,
                              const char *flags)
{
    return world_claim_with(w, c, devices, flags, "");
}

/* ---- what is there ---- */

struct str world_cdi(struct world *w, uint32_t c)
{
    struct str text = STR_NONE;
    disk_read(arena_printf(&w->a, "%s/k8s.dev.example.com-claim_%.*s.json",
                           w->opts.cdi_dir.p, STR_ARG(world_uid(w, c)))
                  .p,
              1 << 20, &w->a, &text, NULL);
    return text;
}

static bool count(void *ctx, const char *name)
{
    (void)name;
    ++*(uint32_t *)ctx;
    return true;
}

uint32_t world_files(struct world *w)
{
    uint32_t n = 0;
    disk_each(w->opts.cdi_dir.p, count, &n, NULL);
    disk_each(arena_printf(&w->a, "%s/dra-device-metadata", w->opts.data_dir.p).p, count,
              &n, NULL);
    return n;
}

bool world_has(const struct world *w, uint32_t device, uint32_t c)
{
    return w->hardware[device][c];
}

uint32_t world_busy(const struct world *w)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < WORLD_DEVICES; d++) {
        for (uint32_t c = 0; c < WORLD_CLAIMS; c++)
            n += w->hardware[d][c];
    }
    return n;
}
