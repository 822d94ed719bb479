/* SPDX-License-Identifier: Apache-2.0 */
/* golden/metadata: what is written for a prepared claim, and what a reader takes. */
#include "golden/golden.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "driver/metadata.h"
#include "node/disk.h"

#define DATA_DIR "/var/lib/kubelet/plugins/gpu.example.com"
#define CDI_DIR "/var/run/cdi"
#define POD_CLAIM "resource.kubernetes.io/pod-claim-name"

/* The recorded paths are those below a folder of its own. */
static bool begin(struct golden *g)
{
    char dir[] = "/tmp/dray-metadata-XXXXXX";
    g->data = mkdtemp(dir) ? arena_strdup(g->arena, dir) : NULL;
    if (!g->data)
        golden_broken(g, "no folder to write to");
    return g->data != NULL;
}

static void end(struct golden *g)
{
    disk_remove_tree(g->data, NULL);
}

/* ---- writing ---- */

static struct metadata claim_of(const struct doc *d)
{
    const struct doc *annotation = doc_get(doc_get(d, "annotations"), POD_CLAIM);
    struct metadata m = {.namespace = doc_get_text(d, "namespace"),
                         .name = doc_get_text(d, "name"),
                         .uid = doc_get_text(d, "uid"),
                         .has_pod_claim = annotation != NULL,
                         .generation = 1};
    m.pod_claim = annotation ? doc_str(annotation) : STR_NONE;
    return m;
}

static bool names(const struct doc *device, struct str request)
{
    const struct doc *list = doc_get(device, "requests");
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (str_eq(doc_str(&list->items[i]), request))
            return true;
    }
    return false;
}

static const struct doc *map_or_null(const struct doc *d)
{
    return d && d->type == DOC_MAP ? d : NULL;
}

static struct metadata_device device_of(const struct doc *d)
{
    const struct doc *meta = doc_get(d, "metadata");
    return (struct metadata_device){
        .driver = STR("gpu.example.com"),
        .pool = doc_get_text(d, "pool"),
        .name = doc_get_text(d, "device"),
        .attributes = map_or_null(doc_get(meta, "attributes")),
        .network = map_or_null(doc_get(meta, "networkData")),
    };
}

static struct metadata_request request_of(struct golden_case *c, struct str name)
{
    const struct doc *devices = doc_get(c->doc, "devices");
    struct metadata_device *v = ARENA_ARRAY(c->arena, struct metadata_device, devices->n);
    struct metadata_request r = {.name = name, .devices = v};
    for (uint32_t i = 0; i < devices->n; i++) {
        if (names(&devices->items[i], name))
            v[r.n++] = device_of(&devices->items[i]);
    }
    return r;
}

static struct metadata_place place_of(struct golden_case *c)
{
    const struct doc *list = doc_get(c->doc, "versions");
    struct str *versions = ARENA_ARRAY(c->arena, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        versions[i] = doc_str(&list->items[i]);
    const char *root = c->g->data;
    return (struct metadata_place){
        .driver = STR("gpu.example.com"),
        .data_dir = arena_printf(c->arena, "%s" DATA_DIR, root),
        .cdi_dir = arena_printf(c->arena, "%s" CDI_DIR, root),
        .versions = versions,
        .nversions = list->n,
    };
}

/* Once a request; a second device of it is in its file already. */
static void write_all(struct golden_case *c, const struct metadata_place *p,
                      struct doc *ids)
{
    const struct doc *devices = doc_get(c->doc, "devices");
    struct metadata m = claim_of(doc_get(c->doc, "claim"));
    for (uint32_t i = 0; i < devices->n; i++) {
        const struct doc *list = doc_get(&devices->items[i], "requests");
        for (uint32_t j = 0; list && j < list->n; j++) {
            struct metadata_request r = request_of(c, doc_str(&list->items[j]));
            struct str id = STR_NONE;
            struct err e = ERR_INIT;
            m.requests = &r;
            m.n = 1;
            if (!metadata_write(p, &m, c->arena, &id, &e))
                golden_fail(c, "%s", err_text(&e));
            err_release(&e);
            struct str base = str_sub(r.name, 0, str_find_byte(r.name, '/', 0));
            doc_set_str(c->arena, ids, base, doc_make_string(c->arena, id));
        }
    }
}

/* As the recording did: another device, with network data. */
static void update(struct golden_case *c, const struct metadata_place *p,
                   struct str request)
{
    static const char network[] =
        "{\"interfaceName\":\"eth1\",\"ips\":[\"10.0.0.2/24\",\"2001:db8::2/64\"],"
        "\"hardwareAddress\":\"02:00:00:00:00:01\"}";
    struct doc_source src = {.name = "network", .text = STR(network)};
    struct doc d;
    struct err e = ERR_INIT;
    doc_read_json(&src, c->arena, &d, NULL);
    struct metadata_device device = {.driver = STR("gpu.example.com"),
                                     .pool = STR("node-1"),
                                     .name = STR("nic-0"),
                                     .network = &d};
    struct metadata_request r = {request, &device, 1};
    struct metadata m = claim_of(doc_get(c->doc, "claim"));
    m.requests = &r;
    m.n = 1;
    if (!metadata_update(p, &m, &e))
        golden_fail(c, "%s", err_text(&e));
    err_release(&e);
}

/* Without the folder that all paths are below here. */
static struct str bare(struct golden_case *c, struct str text)
{
    struct str root = str_from(c->g->data);
    struct strbuf b = STRBUF_INIT;
    for (size_t at = 0; at < text.n;) {
        struct str rest = str_sub(text, at, text.n);
        if (str_starts(rest, root))
            at += root.n;
        else
            strbuf_addc(&b, text.p[at++]);
    }
    struct str out = arena_str(c->arena, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

static void check_file(struct golden_case *c, const struct doc *f)
{
    struct str path = doc_get_text(f, "path"), text = STR_NONE;
    const char *here =
        arena_printf(c->arena, "%s%.*s", (char *)c->g->data, STR_ARG(path)).p;
    struct stat st = {0};
    struct err e = ERR_INIT;
    if (!disk_read(here, 1 << 20, c->arena, &text, &e))
        golden_fail(c, "%s", err_text(&e));
    err_release(&e);
    stat(here, &st);
    golden_check_str(c, "mode", doc_get_text(f, "mode"),
                     arena_printf(c->arena, "%04o", st.st_mode & 07777));
    golden_check_str(c, "text", doc_get_text(f, "text"), bare(c, text));
}

static bool count(void *ctx, const char *name)
{
    (void)name;
    ++*(uint32_t *)ctx;
    return true;
}

static void check_removed(struct golden_case *c, const struct metadata_place *p)
{
    struct metadata m = claim_of(doc_get(c->doc, "claim"));
    uint32_t left = 0;
    if (!metadata_remove(p, m.namespace, m.name, m.uid, NULL))
        golden_fail(c, "not removed");
    disk_each(p->cdi_dir.p, count, &left, NULL);
    disk_each(arena_printf(c->arena, "%s/dra-device-metadata", p->data_dir.p).p, count,
              &left, NULL);
    golden_check_int(c, "left behind", 0, left);
}

static void check_written(struct golden_case *c)
{
    struct metadata_place p = place_of(c);
    struct doc ids = doc_make_map();
    disk_make_dirs(p.cdi_dir.p, NULL);
    write_all(c, &p, &ids);
    struct str request = doc_get_text(c->doc, "update");
    if (request.n > 0)
        update(c, &p, request);
    struct doc lean = golden_lean(doc_get(c->doc, "cdi_ids"), c->arena);
    golden_check_doc(c, "cdi_ids", &lean, &ids);
    const struct doc *files = doc_get(c->doc, "files");
    for (uint32_t i = 0; files && i < files->n; i++)
        check_file(c, &files->items[i]);
    check_removed(c, &p);
}

/* ---- reading ---- */

static struct doc device_doc(struct golden_case *c, const struct metadata_device *d)
{
    struct doc map = doc_make_map();
    doc_set_text(c->arena, &map, "Driver", d->driver);
    doc_set_text(c->arena, &map, "Pool", d->pool);
    doc_set_text(c->arena, &map, "Name", d->name);
    doc_set(c->arena, &map, "Attributes",
            d->attributes ? *d->attributes : doc_make_null());
    doc_set(c->arena, &map, "NetworkData", d->network ? *d->network : doc_make_null());
    return map;
}

static struct doc request_doc(struct golden_case *c, const struct metadata_request *r)
{
    struct doc map = doc_make_map(), devices = doc_make_list();
    for (uint32_t i = 0; i < r->n; i++)
        doc_append(c->arena, &devices, device_doc(c, &r->devices[i]));
    doc_set_text(c->arena, &map, "Name", r->name);
    doc_set(c->arena, &map, "Devices", devices);
    return map;
}

static struct doc object_doc(struct golden_case *c, const struct metadata *m)
{
    struct doc map = doc_make_map(), requests = doc_make_list();
    for (uint32_t i = 0; i < m->n; i++)
        doc_append(c->arena, &requests, request_doc(c, &m->requests[i]));
    doc_set_text(c->arena, &map, "namespace", m->namespace);
    doc_set_text(c->arena, &map, "name", m->name);
    doc_set_text(c->arena, &map, "uid", m->uid);
    doc_set(c->arena, &map, "generation", doc_make_int(c->arena, m->generation));
    if (m->has_pod_claim)
        doc_set_text(c->arena, &map, "podClaimName", m->pod_claim);
    doc_set(c->arena, &map, "requests", requests);
    return map;
}

static void check_stream(struct golden_case *c)
{
    struct metadata m;
    bool want = false;
    doc_get_bool(c->doc, "ok", &want);
    bool ok = metadata_read(doc_get_text(c->doc, "stream"), c->arena, &m, NULL);
    if (!golden_check_bool(c, "ok", want, ok) || !ok)
        return;
    struct doc got = object_doc(c, &m);
    struct doc lean_want = golden_lean(doc_get(c->doc, "object"), c->arena),
               lean_got = golden_lean(&got, c->arena);
    golden_check_doc(c, "object", &lean_want, &lean_got);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    (void)g;
    if (strcmp(c->file, "written.jsonl") == 0)
        check_written(c);
    else
        check_stream(c);
}

const struct golden_runner golden_metadata = {
    .folder = "metadata", .begin = begin, .run_case = run_case, .end = end};
