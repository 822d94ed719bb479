/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "node/disk.h"

enum { CONFIG_BYTES = 1 << 20 };

/* ---- directories ---- */

static void check_directory(struct doctor *d, struct str dir, const char *whose)
{
    const char *path = doctor_path(d, "%.*s", STR_ARG(dir));
    struct stat st;
    if (stat(path, &st) < 0)
        doctor_wrong(d, "%.*s: %s (%s)", STR_ARG(dir), strerror(errno), whose);
    else if (!S_ISDIR(st.st_mode))
        doctor_wrong(d, "%.*s: no directory (%s)", STR_ARG(dir), whose);
    else if (access(path, W_OK | X_OK) < 0)
        doctor_wrong(d, "%.*s: cannot be written to: %s (%s)", STR_ARG(dir),
                     strerror(errno), whose);
    else
        doctor_ok(d, "%.*s can be written to", STR_ARG(dir));
}

void doctor_directories(struct doctor *d)
{
    check_directory(d,
                    arena_printf(d->a, "%.*s/plugins_registry", STR_ARG(d->kubelet_dir)),
                    "where the kubelet looks for drivers");
    check_directory(d, arena_printf(d->a, "%.*s/plugins", STR_ARG(d->kubelet_dir)),
                    "where drivers keep their state");
    check_directory(d, d->cdi_dir, "where container runtimes look for devices");
}

/* ---- configuration files: lines of KEY = VALUE, as far as CDI is concerned ---- */

struct config {
    int64_t version;          /* of a containerd's; 0: not said */
    struct str enable_cdi;    /* "true", "false"; empty: not said */
    struct str cdi_spec_dirs; /* "[...]"; empty: not said */
};

static struct str without_comment(struct str line)
{
    return str_trim(str_sub(line, 0, str_find_byte(line, '#', 0)));
}

/* The list that begins at value and may go on over lines. */
static struct str list_at(struct str value, const char *end)
{
    struct str all = {value.p, (size_t)(end - value.p)};
    return str_sub(all, 0, str_find_byte(all, ']', 0));
}

static void read_line(struct str line, const char *end, struct config *c)
{
    size_t eq = str_find_byte(line, '=', 0);
    struct str key = str_trim(str_sub(line, 0, eq)),
               value = str_trim(str_sub(line, eq + 1, line.n));
    if (str_is(key, "version") && !c->version)
        c->version = strtoll(value.p, NULL, 10);
    else if (str_is(key, "enable_cdi"))
        c->enable_cdi = value;
    else if (str_is(key, "cdi_spec_dirs"))
        c->cdi_spec_dirs = list_at(value, end);
}

static bool read_config(struct doctor *d, const char *path, struct config *c)
{
    struct str text, line;
    if (!disk_read(doctor_path(d, "%s", path), CONFIG_BYTES, d->a, &text, NULL))
        return false;
    const char *end = text.p + text.n;
    while (str_split_next(&text, '\n', &line)) {
        struct str bare = without_comment(line);
        if (str_find_byte(bare, '=', 0) != SIZE_MAX)
            read_line(bare, end, c);
    }
    return true;
}

static bool holds_quoted(struct str list, struct str dir, struct arena *a)
{
    return str_find(list, arena_printf(a, "\"%.*s\"", STR_ARG(dir))) != SIZE_MAX ||
           str_find(list, arena_printf(a, "'%.*s'", STR_ARG(dir))) != SIZE_MAX;
}

/* /run is /var/run. */
static bool has_directory(struct str list, struct str dir, struct arena *a)
{
    struct str other = str_starts(dir, STR("/var/run/")) ? str_sub(dir, 4, dir.n) : dir;
    return holds_quoted(list, dir, a) || holds_quoted(list, other, a);
}

static void check_dirs(struct doctor *d, const char *runtime, const struct config *c)
{
    if (!c->cdi_spec_dirs.n) {
        if (!str_is(d->cdi_dir, "/var/run/cdi") && !str_is(d->cdi_dir, "/etc/cdi"))
            doctor_wrong(d,
                         "%s looks for devices in /etc/cdi and /var/run/cdi, not in %.*s",
                         runtime, STR_ARG(d->cdi_dir));
    } else if (!has_directory(c->cdi_spec_dirs, d->cdi_dir, d->a)) {
        doctor_wrong(d, "%s: cdi_spec_dirs does not have %.*s", runtime,
                     STR_ARG(d->cdi_dir));
    }
}

/* ---- runtimes ---- */

/* Of the first word that is a number, or a version: "v2.0.4", "1.7.23"; 0: none is. */
static int64_t first_number(struct str line)
{
    struct str word;
    int64_t n = 0;
    while (!n && str_split_next(&line, ' ', &word))
        n = strtoll(word.p + (word.n && *word.p == 'v'), NULL, 10);
    return n;
}

/* As "containerd --version" prints it; 0: unknown. */
static int64_t containerd_major(const struct doctor *d)
{
    char line[256] = "";
    if (d->root.n)
        return 0;
    FILE *f = popen("containerd --version 2>/dev/null", "re");
    if (!f)
        return 0;
    if (!fgets(line, sizeof line, f))
        line[0] = '\0';
    pclose(f);
    return first_number(str_from(line));
}

/* On unless said otherwise since containerd 2, whose files have version 3. */
static void check_containerd(struct doctor *d)
{
    struct config c = {0};
    bool has = read_config(d, "/etc/containerd/config.toml", &c);
    if (str_is(c.enable_cdi, "true")) {
        doctor_ok(d, "containerd takes devices by CDI (enable_cdi)");
    } else if (str_is(c.enable_cdi, "false")) {
        doctor_wrong(d, "containerd: CDI is off: enable_cdi = false in "
                        "/etc/containerd/config.toml");
    } else {
        int64_t major = c.version >= 3 ? 2 : containerd_major(d);
        if (major >= 2)
            doctor_ok(d, "containerd takes devices by CDI (its default since 2.0)");
        else if (major == 1 || (has && c.version == 2))
            doctor_wrong(d,
                         "containerd: CDI is off before 2.0 unless enable_cdi = true is "
                         "in /etc/containerd/config.toml");
        else
            doctor_note(d, "containerd: its version is unknown; before 2.0 CDI is off "
                           "unless enable_cdi = true is said");
    }
    check_dirs(d, "containerd", &c);
}

struct drop_ins {
    struct doctor *d;
    const char *dir;
    struct config *c;
};

static bool read_drop_in(void *ctx, const char *name)
{
    const struct drop_ins *x = ctx;
    if (str_ends(str_from(name), STR(".conf")))
        read_config(x->d, arena_printf(x->d->a, "%s/%s", x->dir, name).p, x->c);
    return true;
}

static void check_crio(struct doctor *d)
{
    struct config c = {0};
    struct drop_ins x = {d, "/etc/crio/crio.conf.d", &c};
    read_config(d, "/etc/crio/crio.conf", &c);
    disk_each(doctor_path(d, "%s", x.dir), read_drop_in, &x, NULL);
    doctor_ok(d, "CRI-O takes devices by CDI");
    check_dirs(d, "CRI-O", &c);
}

static void check_podman(struct doctor *d)
{
    struct config c = {0};
    read_config(d, "/etc/containers/containers.conf", &c);
    if (c.cdi_spec_dirs.n)
        check_dirs(d, "podman", &c);
    else
        doctor_note(d, "podman looks for devices where it does by default");
}

static const struct {
    const char *name;
    const char *signs[4]; /* of its being there */
    void (*check)(struct doctor *d);
} RUNTIMES[] = {
    {"containerd",
     {"/etc/containerd/config.toml", "/run/containerd/containerd.sock",
      "/usr/bin/containerd", "/usr/local/bin/containerd"},
     check_containerd},
    {"CRI-O",
     {"/etc/crio/crio.conf", "/etc/crio/crio.conf.d", "/run/crio/crio.sock",
      "/usr/bin/crio"},
     check_crio},
    {"podman",
     {"/etc/containers/containers.conf", "/usr/bin/podman", "/usr/local/bin/podman",
      NULL},
     check_podman},
};

static bool is_there(const struct doctor *d, const char *const *signs)
{
    for (int i = 0; i < 4 && signs[i]; i++)
        if (access(doctor_path(d, "%s", signs[i]), F_OK) == 0)
            return true;
    return false;
}

void doctor_runtimes(struct doctor *d)
{
    unsigned found = 0;
    for (size_t i = 0; i < sizeof RUNTIMES / sizeof *RUNTIMES; i++)
        if (is_there(d, RUNTIMES[i].signs)) {
            RUNTIMES[i].check(d);
            found++;
        }
    if (!found)
        doctor_wrong(d, "no container runtime was found (containerd, CRI-O, podman)");
}
