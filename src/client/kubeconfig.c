/* SPDX-License-Identifier: Apache-2.0 */
#include "client/kubeconfig.h"

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

bool kubeconfig_read_file(const char *path, struct arena *a, struct str *out,
                          struct err *e)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(e, ERR_IO, "%s: %m", path);
    struct strbuf b = STRBUF_INIT;
    char part[8192];
    for (size_t n; b.n <= MAX_FILE && (n = fread(part, 1, sizeof part, f)) > 0;)
        strbuf_add(&b, part, n);
    bool ok = !ferror(f) || err_set(e, ERR_IO, "%s: %m", path);
    if (ok && b.n > MAX_FILE)
        ok = err_set(e, ERR_LIMIT, "%s: too large", path);
    if (ok)
        *out = arena_str(a, strbuf_str(&b));
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
    return file.n == 0 || kubeconfig_read_file(beside(r, file), r->a, out, r->e);
}

/* "https://HOST:PORT/PREFIX" */
static bool read_server(struct reading *r, struct str server, struct kubeconfig *out)
{
    out->server = server;
    if (!str_starts(server, STR("https://")))
        return err_set(r->e, ERR_INVALID,
                       "%s: the server \"%.*s\" is not https://HOST:PORT", r->path,
                       STR_ARG(server));
    size_t slash = str_find_byte(server, '/', 8);
    struct str host = str_sub(server, 8, slash);
    bool port = str_rfind_byte(host, ':') != SIZE_MAX && host.p[host.n - 1] != ']';
    out->address = arena_printf(r->a, "%.*s%s", STR_ARG(host), port ? "" : ":443").p;
    struct str prefix = slash == SIZE_MAX ? STR_NONE : str_sub(server, slash, server.n);
    while (str_ends(prefix, STR("/")))
        prefix.n--;
    out->prefix = arena_str(r->a, prefix).p;
    return true;
}

static bool check_user(struct reading *r, const struct doc *user)
{
    static const char *const UNSUPPORTED[] = {"exec", "auth-provider", "username"};
    for (size_t i = 0; i < sizeof UNSUPPORTED / sizeof *UNSUPPORTED; i++)
        if (doc_get(user, UNSUPPORTED[i]))
            return err_set(r->e, ERR_UNSUPPORTED,
                           "%s: the user authenticates by \"%s\", which is not "
                           "supported; use a token, tokenFile or a client certificate",
                           r->path, UNSUPPORTED[i]);
    return true;
}

static void read_names(struct reading *r, const struct doc *context,
                       const struct doc *cluster, const struct doc *user,
                       struct kubeconfig *out)
{
    struct str name = doc_get_text(cluster, "tls-server-name"),
               file = doc_get_text(user, "tokenFile");
    out->namespace = doc_get_text(context, "namespace");
    out->name = name.n ? arena_str(r->a, name).p : NULL;
    out->token_file = file.n ? beside(r, file) : NULL;
    out->token = doc_get_text(user, "token");
    doc_get_bool(cluster, "insecure-skip-tls-verify", &out->tls.insecure);
}

static bool read_as(struct reading *r, const struct doc *user, struct kubeconfig_as *out)
{
    const struct doc *list = doc_get(user, "as-groups");
    uint32_t n = list && list->type == DOC_LIST ? list->n : 0;
    struct str *groups = ARENA_ARRAY(r->a, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        groups[i] =
            list->items[i].type == DOC_STRING ? doc_str(&list->items[i]) : STR("");
    *out = (struct kubeconfig_as){doc_get_text(user, "as"), doc_get_text(user, "as-uid"),
                                  groups, n};
    if (doc_get(user, "as-user-extra"))
        return err_set(r->e, ERR_UNSUPPORTED, "%s: as-user-extra is not supported",
                       r->path);
    if (n > KUBECONFIG_MAX_GROUPS)
        return err_set(r->e, ERR_LIMIT, "%s: more than %d groups to act as", r->path,
                       KUBECONFIG_MAX_GROUPS);
    return true;
}

static bool read_parts(struct reading *r, const struct doc *d, const char *other,
                       struct kubeconfig *out)
{
    struct str name = other ? str_from(other) : doc_get_text(d, "current-context");
    const struct doc *context = entry(r, d, "contexts", "context", name);
    const struct doc *cluster =
        context ? entry(r, d, "clusters", "cluster", doc_get_text(context, "cluster"))
                : NULL;
    const struct doc *user =
        cluster ? entry(r, d, "users", "user", doc_get_text(context, "user")) : NULL;
    if (!user)
        return false;
    read_names(r, context, cluster, user, out);
    return read_server(r, doc_get_text(cluster, "server"), out) && check_user(r, user) &&
           read_as(r, user, &out->as) &&
           read_pem(r, cluster, "certificate-authority", &out->tls.ca_pem) &&
           read_pem(r, user, "client-certificate", &out->tls.cert_pem) &&
           read_pem(r, user, "client-key", &out->tls.key_pem);
}

bool kubeconfig_read_context(const char *path, const char *context, struct arena *a,
                             struct kubeconfig *out, struct err *e)
{
    struct reading r = {path, a, e};
    struct doc_source src = {.name = path};
    struct doc_list docs = {0};
    *out = (struct kubeconfig){0};
    if (!kubeconfig_read_file(path, a, &src.text, e) || !doc_read(&src, a, &docs, e))
        return false;
    if (docs.n != 1)
        return err_set(e, ERR_INVALID, "%s: this is no kubeconfig", path);
    return read_parts(&r, &docs.v[0], context, out);
}

bool kubeconfig_read(const char *path, struct arena *a, struct kubeconfig *out,
                     struct err *e)
{
    return kubeconfig_read_context(path, NULL, a, out, e);
}

bool kubeconfig_in_pod(const char *host, const char *port, const char *folder,
                       struct arena *a, struct kubeconfig *out, struct err *e)
{
    bool six = strchr(host, ':') != NULL;
    struct reading r = {folder, a, e};
    *out = (struct kubeconfig){0};
    struct str server =
        arena_printf(a, "https://%s%s%s:%s", six ? "[" : "", host, six ? "]" : "", port);
    struct str ca = arena_printf(a, "%s/ca.crt", folder),
               namespace = arena_printf(a, "%s/namespace", folder);
    out->token_file = arena_printf(a, "%s/token", folder).p;
    return read_server(&r, server, out) &&
           kubeconfig_read_file(ca.p, a, &out->tls.ca_pem, e) &&
           kubeconfig_read_file(out->token_file, a, &out->token, e) &&
           kubeconfig_read_file(namespace.p, a, &out->namespace, e);
}
