/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a server:
 *
 *     lock              held while a server runs
 *     ca.crt ca.key     authority of the cluster, made once
 *     server.crt .key   made at each start, for the address that is listened on
 *     admin.crt .key    of the administrator, renewed when it has little time left
 *     kubelet-client.crt .key   what kubelets are shown, renewed likewise
 *     admin.kubeconfig  all that kubectl needs
 *     sa.key            signs tokens of service accounts, made once
 *     store/            the objects
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base64.h"
#include "net/jwt.h"
#include "server/inner.h"

enum {
    ADMIN_DAYS = 365,
    RENEW_SECONDS = 30 * 24 * 3600, /* an administrator's certificate with less left */
    MAX_FILE = 1 << 20,
};

static const char *path_in(struct arena *a, const char *dir, const char *name)
{
    return arena_printf(a, "%s/%s", dir, name).p;
}

/* ---- files ---- */

/* Whole or not at all, for its owner alone. */
enum lasting { LASTS, MADE_ANEW /* at each start: a power cut may take it */ };

static bool write_file(struct arena *a, const char *path, struct str text,
                       enum lasting lasting, struct err *e)
{
    const char *part = arena_printf(a, "%s.part", path).p;
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0;
    for (size_t at = 0; ok && at < text.n;) {
        ssize_t n = write(fd, text.p + at, text.n - at);
        ok = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    ok = ok && (lasting == MADE_ANEW || fsync(fd) == 0);
    if (fd >= 0)
        close(fd);
    return (ok && rename(part, path) == 0) || err_set(e, ERR_IO, "%s: %m", path);
}

bool dir_read_file(struct arena *a, const char *path, struct str *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size > MAX_FILE) {
        err_set(e, ERR_IO, "%s: %m", path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    char *p = arena_alloc(a, (size_t)st.st_size + 1);
    ssize_t n = read(fd, p, (size_t)st.st_size);
    close(fd);
    if (n < 0)
        return err_set(e, ERR_IO, "%s: %m", path);
    p[n] = '\0';
    *out = (struct str){p, (size_t)n};
    return true;
}

static bool load_pair(struct arena *a, const char *dir, const char *name,
                      struct pki_pair *out, struct err *e)
{
    const char *base = path_in(a, dir, name);
    return dir_read_file(a, arena_printf(a, "%s.crt", base).p, &out->cert_pem, e) &&
           dir_read_file(a, arena_printf(a, "%s.key", base).p, &out->key_pem, e);
}

static bool save_pair(struct arena *a, const char *dir, const char *name,
                      const struct pki_pair *pair, enum lasting lasting, struct err *e)
{
    const char *base = path_in(a, dir, name);
    return write_file(a, arena_printf(a, "%s.key", base).p, pair->key_pem, lasting, e) &&
           write_file(a, arena_printf(a, "%s.crt", base).p, pair->cert_pem, lasting, e);
}

/* What was written stays there, under its name. */
static bool sync_dir(const char *dir, struct err *e)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        err_set(e, ERR_IO, "%s: %m", dir);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* ---- certificates ---- */

static bool ready_ca(struct dir *d, const char *dir, struct arena *a, struct err *e)
{
    if (access(path_in(a, dir, "ca.crt"), F_OK) == 0)
        return load_pair(a, dir, "ca", &d->ca, e);
    return pki_new_ca("dray", a, &d->ca, e) &&
           save_pair(a, dir, "ca", &d->ca, LASTS, e) && sync_dir(dir, e);
}

/* The certificate of somebody who may do everything: here, or at kubelets that trust the
 * folder's authority. */
static bool ready_master(struct dir *d, const char *dir, const char *file,
                         const char *name, struct pki_pair *out, struct arena *a,
                         struct err *e)
{
    int64_t until;
    if (load_pair(a, dir, file, out, NULL) && pki_expiry(out->cert_pem, &until, NULL) &&
        until > time(NULL) + RENEW_SECONDS)
        return true;
    static const char *const GROUPS[] = {"system:masters"};
    struct pki_subject master = {
        .name = name, .groups = GROUPS, .ngroups = 1, .client = true, .days = ADMIN_DAYS};
    return pki_issue(&d->ca, &master, a, out, e) &&
           save_pair(a, dir, file, out, LASTS, e);
}

static bool ready_serving(struct dir *d, const char *dir, const struct dir_hosts *more,
                          struct arena *a, struct err *e)
{
    const char *hosts[10] = {"127.0.0.1",
                             "::1",
                             "localhost",
                             "kubernetes",
                             "kubernetes.default",
                             "kubernetes.default.svc",
                             "kubernetes.default.svc.cluster.local"};
    const char *const others[] = {more->service, more->listen, more->address};
    uint32_t n = 7;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (*others[i])
            hosts[n++] = others[i];
    struct pki_subject serving = {.name = "dray-apiserver",
                                  .hosts = hosts,
                                  .nhosts = n,
                                  .server = true,
                                  .days = ADMIN_DAYS};
    return pki_issue(&d->ca, &serving, a, &d->serving, e) &&
           save_pair(a, dir, "server", &d->serving, MADE_ANEW, e);
}

/* ---- the key of service accounts' tokens ---- */

static bool ready_token_key(struct dir *d, const char *dir, struct arena *a,
                            struct err *e)
{
    const char *path = path_in(a, dir, "sa.key");
    if (access(path, F_OK) == 0)
        return dir_read_file(a, path, &d->token_key, e);
    return jwt_new_key(a, &d->token_key, e) &&
           write_file(a, path, d->token_key, LASTS, e) && sync_dir(dir, e);
}

/* ---- the folder ---- */

static bool lock(struct dir *d, const char *dir, struct arena *a, struct err *e)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: %m", dir);
    const char *path = path_in(a, dir, "lock");
    d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (d->lock < 0)
        return err_set(e, ERR_IO, "%s: %m", path);
    if (flock(d->lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    return err_set(e, ERR_IO, "%s: another server runs on this folder", dir);
}

bool dir_use_files(struct dir *d, const char *cert, const char *key,
                   const char *client_ca, struct arena *a, struct err *e)
{
    struct str more = STR_NONE;
    if (!cert != !key)
        return err_set(e, ERR_INVALID,
                       "--tls-cert-file and --tls-private-key-file need each other");
    if (cert) {
        if (!dir_read_file(a, cert, &d->serving.cert_pem, e) ||
            !dir_read_file(a, key, &d->serving.key_pem, e))
            return false;
        d->trusted_pem = arena_printf(a, "%.*s%.*s", STR_ARG(d->ca.cert_pem),
                                      STR_ARG(d->serving.cert_pem));
    }
    if (!client_ca)
        return true;
    if (!dir_read_file(a, client_ca, &more, e))
        return false;
    d->client_ca_pem =
        arena_printf(a, "%.*s%.*s", STR_ARG(d->ca.cert_pem), STR_ARG(more));
    return true;
}

static bool ready_authorities(struct dir *d)
{
    d->client_ca_pem = d->trusted_pem = d->ca.cert_pem;
    return true;
}

bool dir_open(struct dir *d, const char *path, const struct dir_hosts *hosts,
              struct arena *a, struct err *e)
{
    *d = (struct dir){.lock = -1};
    return lock(d, path, a, e) && ready_ca(d, path, a, e) &&
           ready_master(d, path, "admin", "kubernetes-admin", &d->admin, a, e) &&
           ready_master(d, path, "kubelet-client", "kube-apiserver-kubelet-client",
                        &d->kubelet_client, a, e) &&
           ready_serving(d, path, hosts, a, e) && ready_token_key(d, path, a, e) &&
           ready_authorities(d);
}

bool dir_write_kubeconfig(const struct dir *d, const char *path, const char *url,
                          struct arena *a, struct err *e)
{
    struct str text = arena_printf(a,
                                   "apiVersion: v1\n"
                                   "kind: Config\n"
                                   "clusters:\n"
                                   "- name: dray\n"
                                   "  cluster:\n"
                                   "    server: %s\n"
                                   "    certificate-authority-data: %s\n"
                                   "users:\n"
                                   "- name: admin\n"
                                   "  user:\n"
                                   "    client-certificate-data: %s\n"
                                   "    client-key-data: %s\n"
                                   "contexts:\n"
                                   "- name: dray\n"
                                   "  context:\n"
                                   "    cluster: dray\n"
                                   "    user: admin\n"
                                   "current-context: dray\n",
                                   url, base64_encode(d->trusted_pem, a).p,
                                   base64_encode(d->admin.cert_pem, a).p,
                                   base64_encode(d->admin.key_pem, a).p);
    return write_file(a, path_in(a, path, "admin.kubeconfig"), text, MADE_ANEW, e);
}

void dir_close(struct dir *d)
{
    if (d->lock >= 0)
        close(d->lock);
    d->lock = -1;
}
