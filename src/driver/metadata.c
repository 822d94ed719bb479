/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/metadata_inner.h"

#include "api/claim_refs.h"
#include "base/names.h"
#include "driver/cdi.h"
#include "node/disk.h"

#define CONTAINER_DIR "/var/run/kubernetes.io/dra-device-attributes"

static const char *const VERSIONS[] = {METADATA_GROUP "/v1beta1",
                                       METADATA_GROUP "/v1alpha1"};

bool metadata_version_known(struct str version)
{
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        if (str_is(version, VERSIONS[i]))
            return true;
    }
    return false;
}

bool metadata_versions_check(const struct str *versions, uint32_t n, struct err *e)
{
    bool newest = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!metadata_version_known(versions[i]))
            return err_set(e, ERR_INVALID, "metadata version \"%.*s\" is not known",
                           STR_ARG(versions[i]));
        newest |= str_is(versions[i], VERSIONS[0]);
    }
    return n == 0 || newest ||
           err_set(e, ERR_INVALID, "metadata versions must include %s", VERSIONS[0]);
}

/* ---- where things are ---- */

static const char *claim_dir(const struct metadata_place *p, struct str namespace,
                             struct str name, struct arena *a)
{
    return arena_printf(a, "%.*s/dra-device-metadata/%.*s_%.*s", STR_ARG(p->data_dir),
                        STR_ARG(namespace), STR_ARG(name))
        .p;
}

static const char *file_path(const struct metadata_place *p, const struct metadata *m,
                             struct arena *a)
{
    return arena_printf(a, "%s/%.*s/metadata.json",
                        claim_dir(p, m->namespace, m->name, a),
                        STR_ARG(claim_ref_request_base(m->requests[0].name)))
        .p;
}

static struct str container_path(const struct metadata_place *p, const struct metadata *m,
                                 struct arena *a)
{
    bool of_template = m->pod_claim.n > 0;
    return arena_printf(a, CONTAINER_DIR "/%s/%.*s/%.*s/%.*s-metadata.json",
                        of_template ? "resourceclaimtemplates" : "resourceclaims",
                        STR_ARG(of_template ? m->pod_claim : m->name),
                        STR_ARG(claim_ref_request_base(m->requests[0].name)),
                        STR_ARG(p->driver));
}

/* Names become parts of paths, here and in containers, and an annotation may hold
 * anything. */
static bool check_names(const struct metadata *m, struct err *e)
{
    const struct {
        const char *what;
        struct str s;
        enum name_kind kind;
    } rows[] = {
        {"namespace", m->namespace, NAME_DNS1123_LABEL},
        {"claim", m->name, NAME_DNS1123_SUBDOMAIN},
        {"request", claim_ref_request_base(m->requests[0].name), NAME_DNS1123_LABEL},
        {"pod claim", m->pod_claim, NAME_DNS1123_LABEL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool absent = i == 3 && rows[i].s.n == 0;
        if (!absent && !name_valid(rows[i].kind, rows[i].s))
            return err_set(e, ERR_INVALID, "the %s's name \"%.*s\" is not valid",
                           rows[i].what, STR_ARG(rows[i].s));
    }
    return true;
}

/* ---- the file ---- */

static struct doc device_doc(const struct metadata_device *d, struct arena *a)
{
    struct doc map = doc_make_map();
    doc_set_text(a, &map, "driver", d->driver);
    doc_set_text(a, &map, "pool", d->pool);
    doc_set_text(a, &map, "name", d->name);
    if (d->attributes && d->attributes->n > 0)
        doc_set(a, &map, "attributes", *d->attributes);
    if (d->network)
        doc_set(a, &map, "networkData", *d->network);
    return map;
}

static struct doc request_doc(const struct metadata_request *r, struct arena *a)
{
    struct doc map = doc_make_map(), devices = doc_make_list();
    doc_set_text(a, &map, "name", r->name);
    for (uint32_t i = 0; i < r->n; i++)
        doc_append(a, &devices, device_doc(&r->devices[i], a));
    if (r->n > 0)
        doc_set(a, &map, "devices", devices);
    return map;
}

static struct doc claim_doc(const struct metadata *m, struct arena *a)
{
    struct doc map = doc_make_map();
    doc_set_text(a, &map, "name", m->name);
    doc_set_text(a, &map, "namespace", m->namespace);
    doc_set_text(a, &map, "uid", m->uid);
    doc_set(a, &map, "generation", doc_make_int(a, m->generation));
    return map;
}

static struct doc object_doc(const struct metadata *m, struct str version,
                             struct arena *a)
{
    struct doc map = doc_make_map(), requests = doc_make_list();
    doc_set_text(a, &map, "kind", STR(METADATA_KIND));
    doc_set_text(a, &map, "apiVersion", version);
    doc_set(a, &map, "metadata", claim_doc(m, a));
    if (m->has_pod_claim)
        doc_set_text(a, &map, "podClaimName", m->pod_claim);
    doc_append(a, &requests, request_doc(&m->requests[0], a));
    doc_set(a, &map, "requests", requests);
    return map;
}

static void print_stream(const struct metadata_place *p, const struct metadata *m,
                         struct arena *a, struct strbuf *out)
{
    for (uint32_t i = 0; i < p->nversions; i++) {
        struct doc d = object_doc(m, p->versions[i], a);
        doc_write_json(&d, DOC_JSON_INDENT | DOC_JSON_NARROW | DOC_JSON_HTML, out);
        strbuf_addc(out, '\n');
    }
}

/* Whole, there, and so named for good. */
static bool place_file(const char *path, const char *dir, struct str text, struct err *e)
{
    bool changed = false;
    return disk_update(path, text, 0644, &changed, e) &&
           (!changed || disk_sync_dir(dir, e));
}

static bool write_file(const struct metadata_place *p, const struct metadata *m,
                       struct arena *a, struct err *e)
{
    const char *path = file_path(p, m, a);
    struct str whole = str_from(path);
    const char *dir = arena_str(a, str_sub(whole, 0, str_rfind_byte(whole, '/'))).p;
    struct strbuf text = STRBUF_INIT;
    print_stream(p, m, a, &text);
    bool ok = disk_make_dirs(dir, e) && place_file(path, dir, strbuf_str(&text), e);
    strbuf_release(&text);
    return ok;
}

/* ---- the CDI spec that mounts it ---- */

static bool write_spec(const struct metadata_place *p, const struct metadata *m,
                       struct arena *a, struct str *cdi_id, struct err *e)
{
    struct str base = claim_ref_request_base(m->requests[0].name);
    struct str options[] = {STR("ro"), STR("bind")};
    struct cdi_mount mount = {.host_path = str_from(file_path(p, m, a)),
                              .container_path = container_path(p, m, a),
                              .options = options,
                              .noptions = 2};
    struct cdi_device device = {
        .name = arena_printf(a, "%.*s_%.*s", STR_ARG(m->uid), STR_ARG(base)),
        .edits = {.mounts = &mount, .nmounts = 1}};
    struct cdi_spec spec = {.kind = arena_printf(a, "%.*s/metadata", STR_ARG(p->driver)),
                            .devices = &device,
                            .ndevices = 1};
    const char *path =
        arena_printf(a, "%.*s/%.*s_metadata_%.*s.json", STR_ARG(p->cdi_dir),
                     STR_ARG(p->driver), STR_ARG(device.name))
            .p;
    if (!cdi_spec_check(&spec, e) || !disk_place(path, cdi_spec_print(&spec, a), 0644, e))
        return false;
    *cdi_id = arena_printf(a, "%.*s=%.*s", STR_ARG(spec.kind), STR_ARG(device.name));
    return true;
}

bool metadata_write(const struct metadata_place *p, const struct metadata *m,
                    struct arena *a, struct str *cdi_id, struct err *e)
{
    return check_names(m, e) && write_file(p, m, a, e) && write_spec(p, m, a, cdi_id, e);
}

/* ---- update ---- */

static bool read_written(const struct metadata_place *p, const struct metadata *m,
                         struct arena *a, struct metadata *out, struct err *e)
{
    struct err why = ERR_INIT;
    struct str text;
    if (disk_read(file_path(p, m, a), METADATA_MAX, a, &text, &why))
        return metadata_read(text, a, out, e);
    if (why.code == ERR_NOT_FOUND)
        err_set(e, ERR_NOT_FOUND,
                "request \"%.*s\" not found in prepared claim %.*s/%.*s",
                STR_ARG(m->requests[0].name), STR_ARG(m->namespace), STR_ARG(m->name));
    else
        err_set(e, why.code, "%s", err_text(&why));
    err_release(&why);
    return false;
}

bool metadata_update(const struct metadata_place *p, const struct metadata *m,
                     struct err *e)
{
    struct arena a = {0};
    struct metadata now = *m, was;
    bool ok = check_names(m, e) && read_written(p, m, &a, &was, e);
    if (ok) {
        now.generation = was.generation + 1;
        now.has_pod_claim = was.has_pod_claim;
        now.pod_claim = was.pod_claim;
        ok = write_file(p, &now, &a, e);
    }
    arena_fini(&a);
    return ok;
}

/* ---- removal ---- */

static bool is_claim(struct str namespace, struct str name)
{
    return name_valid(NAME_DNS1123_LABEL, namespace) &&
           name_valid(NAME_DNS1123_SUBDOMAIN, name);
}

struct sweep {
    const struct metadata_place *place;
    struct str uid;
    struct arena *a;
    struct err *e;
};

static bool sweep_spec(void *ctx, const char *name)
{
    struct sweep *s = ctx;
    struct str start = arena_printf(s->a, "%.*s_metadata_%.*s_",
                                    STR_ARG(s->place->driver), STR_ARG(s->uid));
    if (!str_starts(str_from(name), start))
        return true;
    const char *path = arena_printf(s->a, "%.*s/%s", STR_ARG(s->place->cdi_dir), name).p;
    return disk_remove(path, s->e);
}

bool metadata_remove(const struct metadata_place *p, struct str namespace,
                     struct str name, struct str uid, struct err *e)
{
    struct arena a = {0};
    struct sweep s = {p, uid, &a, e};
    bool ok = disk_each(arena_str(&a, p->cdi_dir).p, sweep_spec, &s, e) &&
              (!is_claim(namespace, name) || /* of that nothing was written */
               disk_remove_tree(claim_dir(p, namespace, name, &a), e));
    arena_fini(&a);
    return ok || err_wrap(e, "clean up device metadata");
}
