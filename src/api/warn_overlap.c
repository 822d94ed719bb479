/* SPDX-License-Identifier: Apache-2.0 */
/* Files of one volume that get into each other's way. */
#include "api/rules.h"
#include "api/warn_inner.h"

enum { MOST_COMPARED = 1000 }; /* files of a volume that are held against each other */

struct file {
    struct str path;    /* without slashes at its end */
    const char *source; /* of a projected volume; "": it needs no name */
};

struct volume {
    const struct api_warn *w;
    struct str name;
    const char *what;
    struct file *files;
    uint32_t n;
};

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static const char *quoted(const struct api_warn *w, struct str s)
{
    return api_shown_text(w->a, s).p;
}

static const char *shown(const struct volume *v, const struct file *f)
{
    const char *path = quoted(v->w, f->path);
    return *f->source ? arena_printf(v->w->a, "%s (%s)", path, f->source).p : path;
}

/* The same file, or a folder that the other is in. */
static bool is_in(struct str path, struct str folder)
{
    return str_starts(path, folder) && (path.n == folder.n || path.p[folder.n] == '/');
}

static void add_file(struct volume *v, struct str path, const char *source)
{
    struct file f = {path, source};
    while (f.path.n && f.path.p[f.path.n - 1] == '/')
        f.path.n--;
    for (uint32_t i = 0; f.path.n && i < v->n; i++) {
        const struct file *o = &v->files[i];
        if (o->path.n && (is_in(o->path, f.path) || is_in(f.path, o->path)))
            warn_tell(v->w, "volume %s (%s): overlapping paths: %s with %s",
                      quoted(v->w, v->name), v->what, shown(v, &f), shown(v, o));
    }
    if (v->n < MOST_COMPARED)
        v->files[v->n++] = f;
}

static void add_items(struct volume *v, const struct doc *source, const char *name)
{
    const struct doc *items = doc_get(source, "items");
    for (uint32_t i = 0; i < count(items) && i < MOST_COMPARED; i++)
        add_file(v, doc_get_text(&items->items[i], "path"), name);
}

static const char *named(const struct volume *v, const char *kind, struct str name)
{
    return arena_printf(v->w->a, "%s %s", kind, quoted(v->w, name)).p;
}

/* ---- projected volumes ---- */

static const struct doc *with_items(const struct doc *source, const char *member)
{
    const struct doc *d = doc_get(source, member);
    return count(doc_get(d, "items")) ? d : NULL;
}

static void add_bundle(struct volume *v, const struct doc *d)
{
    struct str name = doc_get_text(d, "name");
    add_file(
        v, doc_get_text(d, "path"),
        named(v, "ClusterTrustBundle", name.p ? name : doc_get_text(d, "signerName")));
}

static void add_certificate(struct volume *v, const struct doc *d)
{
    static const char *const FILES[][2] = {
        {"certificateChainPath", "PodCertificate chain"},
        {"keyPath", "PodCertificate key"},
        {"credentialBundlePath", "PodCertificate credential bundle"},
    };
    for (int i = 0; i < 3; i++)
        if (doc_get_text(d, FILES[i][0]).n)
            add_file(v, doc_get_text(d, FILES[i][0]), FILES[i][1]);
}

static void add_source(struct volume *v, const struct doc *source)
{
    const struct doc *d;
    if (source->type == DOC_MAP && source->n == 0)
        warn_tell(v->w, "volume %s (Projected) has no sources provided",
                  quoted(v->w, v->name));
    else if ((d = with_items(source, "configMap")))
        add_items(v, d, named(v, "ConfigMap", doc_get_text(d, "name")));
    else if ((d = with_items(source, "secret")))
        add_items(v, d, named(v, "Secret", doc_get_text(d, "name")));
    else if ((d = with_items(source, "downwardAPI")))
        add_items(v, d, "DownwardAPI");
    else if ((d = api_member(source, "serviceAccountToken")))
        add_file(v, doc_get_text(d, "path"), "ServiceAccountToken");
    else if ((d = api_member(source, "clusterTrustBundle")))
        add_bundle(v, d);
    else if ((d = api_member(source, "podCertificate")))
        add_certificate(v, d);
}

static void warn_volume(struct volume *v, const struct doc *d)
{
    const struct doc *map = doc_get(d, "configMap"), *secret = doc_get(d, "secret"),
                     *sources = doc_path(d, "projected.sources");
    v->what = named(v, "ConfigMap", doc_get_text(map, "name"));
    add_items(v, map, "");
    v->n = 0;
    v->what = named(v, "Secret", doc_get_text(secret, "secretName"));
    add_items(v, secret, "");
    v->n = 0;
    v->what = "DownwardAPI";
    add_items(v, doc_get(d, "downwardAPI"), "");
    v->n = 0;
    v->what = "Projected";
    for (uint32_t i = 0; i < count(sources); i++)
        add_source(v, &sources->items[i]);
}

void warn_of_overlaps(const struct api_warn *w, const struct doc *volumes)
{
    struct volume v = {.w = w, .files = ARENA_ARRAY(w->a, struct file, MOST_COMPARED)};
    for (uint32_t i = 0; i < count(volumes); i++) {
        v.name = doc_get_text(&volumes->items[i], "name");
        v.n = 0;
        warn_volume(&v, &volumes->items[i]);
    }
}
