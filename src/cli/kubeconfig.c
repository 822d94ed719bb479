/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kubeconfig.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "doc/doc.h"

enum { MAX_FILE = 4 << 20 };

struct reading {
    const char *path;
    struct arena *a;
    struct err *e;
};

static bool read_file(struct reading *r, const char *path, struct str *out)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(r->e, ERR_IO, "%s: %m", path);
    struct strbuf b = STRBUF_INIT;
    char part[8192];
    for (size_t n; b.n <= MAX_FILE && (n = fread(part, 1, sizeof part, f)) > 0;)
        strbuf_add(&b, part, n);
    bool ok = !ferror(f) || err_set(r->e, ERR_IO, "%s: %m", path);
    if (ok && b.n > MAX_FILE)
        ok = err_set(r->e, ERR_LIMIT, "%s: too large", path);
    if (ok)
        *out = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    fclose(f);
    return ok;
}

/* The named entry's own part: of "clusters" the one whose name it is, there "cluster". */
static const struct doc *entry(struct reading *r, const struct doc *d, const char *list,
                               const char *part, struct str name)
{
    const struct doc *all = doc_get(d, list);
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (str_eq(doc_get_text(&all->items[i], "name"), name))
            return doc_get(&all->items[i], part);
    err_set(r->e, ERR_INVALID, "%s: there is no %s \"%.*s\"", r->path, part,
            STR_ARG(name));
    return NULL;
}

static const char *beside(struct reading *r, struct str file)
{
    size_t slash = str_rfind_byte(str_from(r->path), '/');
    if (file.p[0] == '/' || slash == SIZE_MAX)
        return arena_str(r->a, file).p;
    return arena_printf(r->a, "%.*s/%.*s", (int)slash, r->path, STR_ARG(file)).p;
}

/* "NAME-data" in base 64, or the file NAME; neither: left empty. */
static bool read_pem(struct reading *r, const struct doc *d, const char *name,
                     struct str *out)
{
    struct str data = doc_get_text(d, arena_printf(r->a, "%s-data", name).p),
               file = doc_get_text(d, name);
    if (data.n > 0)
        return base64_decode(data, r->a, out) ||
               err_set(r->e, ERR_INVALID, "%s: %s-data is no base 64", r->path, name);
    return file.n == 0 || read_file(r, beside(r, file), out);
}

static bool read_parts(struct reading *r, const struct doc *d, struct kubeconfig *out)
{
    struct str name = doc_get_text(d, "current-context");
    const struct doc *context = entry(r, d, "contexts", "context", name);
    const struct doc *cluster =
        context ? entry(r, d, "clusters", "cluster", doc_get_text(context, "cluster"))
                : NULL;
    const struct doc *user =
        cluster ? entry(r, d, "users", "user", doc_get_text(context, "user")) : NULL;
    if (!user)
        return false;
    out->server = doc_get_text(cluster, "server");
    out->token = doc_get_text(user, "token");
    doc_get_bool(cluster, "insecure-skip-tls-verify", &out->tls.insecure);
    return read_pem(r, cluster, "certificate-authority", &out->tls.ca_pem) &&
           read_pem(r, user, "client-certificate", &out->tls.cert_pem) &&
           read_pem(r, user, "client-key", &out->tls.key_pem);
}

bool kubeconfig_read(const char *path, struct arena *a, struct kubeconfig *out,
                     struct err *e)
{
    struct reading r = {path, a, e};
    struct doc_source src = {.name = path};
    struct doc_list docs = {0};
    *out = (struct kubeconfig){0};
    if (!read_file(&r, path, &src.text) || !doc_read(&src, a, &docs, e))
        return false;
    if (docs.n != 1)
        return err_set(e, ERR_INVALID, "%s: this is no kubeconfig", path);
    return read_parts(&r, &docs.v[0], out);
}
