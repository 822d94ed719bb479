/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "server.h"
#include "server/daemon.h"

struct target target_dray = {.name = "dray"}, target_kube = {.name = "kube-apiserver"};
static struct daemon process;
static uint16_t kube_port, etcd_port;

static bool connect_all(struct target *t, uint16_t port)
{
    char ca[128], cert[128], key[128];
    snprintf(ca, sizeof ca, "%s/ca.crt", t->dir);
    snprintf(cert, sizeof cert, "%s/admin.crt", t->dir);
    snprintf(key, sizeof key, "%s/admin.key", t->dir);
    https_free(t->https);
    t->https = https_new(&(struct https_opts){ca, cert, key});
    t->port = 0;
    memset(t->conns, 0, sizeof t->conns);
    for (int i = 0; i < CONNECTIONS; i++)
        if (!t->https || !(t->conns[i] = https_connect(t->https, port)))
            return false;
    t->port = port;
    return true;
}

static void make_dir(struct target *t)
{
    if (t->dir[0])
        return;
    snprintf(t->dir, sizeof t->dir, "dray-bench-XXXXXX");
    if (!mkdtemp(t->dir))
        t->dir[0] = '\0';
}

/* ---- dray ---- */

uint64_t target_restart(struct target *t, bool anew)
{
    const char *program = getenv("DRAY");
    daemon_stop(&process);
    t->port = 0;
    if (anew && t->dir[0]) {
        remove_tree(t->dir);
        t->dir[0] = '\0';
        t->objects = 0;
    }
    make_dir(t);
    uint64_t start = clock_mono_ns();
    if (!program || !daemon_start(&process, program, t->dir, NULL))
        return 0;
    uint64_t ns = clock_mono_ns() - start;
    return connect_all(t, process.port) ? ns : 0;
}

/* ---- kube ---- */

static bool port_is_free(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = bind(fd, (struct sockaddr *)&to, sizeof to) == 0;
    close(fd);
    return ok;
}

/* A port that nobody has, and if asked for the one behind it too; chosen once. */
static uint16_t free_port(uint16_t *port, int how_many)
{
    for (int tries = 0; *port == 0 && tries < 100; tries++) {
        uint16_t first = (uint16_t)(20000 + (clock_mono_ns() / 1000 + tries) % 10000);
        int taken = 0;
        for (int i = 0; i < how_many; i++)
            taken += !port_is_free((uint16_t)(first + i));
        if (!taken)
            *port = first;
    }
    return *port;
}

/* up.sh with its arguments; its output is of no interest. */
static bool run_script(const char *a, const char *b, const char *c)
{
    char port[16], etcd[16];
    snprintf(port, sizeof port, "%u", free_port(&kube_port, 1));
    snprintf(etcd, sizeof etcd, "%u", free_port(&etcd_port, 2));
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        const char *script = getenv("DRAY_KUBE_UP");
        setenv("PORT", port, 1);
        setenv("EPORT", etcd, 1);
        if (script && freopen("/dev/null", "w", stdout))
            execl(script, "up.sh", a, b, c, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool start_kube(struct target *t)
{
    return run_script(getenv("DRAY_KUBE"), t->dir, "api") && connect_all(t, kube_port);
}

static pid_t read_pid(const char *path)
{
    char text[24] = "";
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    char *line = fgets(text, sizeof text, f);
    fclose(f);
    return line ? (pid_t)strtol(line, NULL, 10) : 0;
}

static uint64_t memory_of(pid_t pid)
{
    struct daemon d = {.pid = pid};
    return daemon_memory(&d);
}

/* Of the processes whose numbers stand in DIR/NAME.pid. */
static uint64_t kube_memory(const struct target *t)
{
    DIR *d = opendir(t->dir);
    uint64_t sum = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", t->dir, e->d_name);
        pid_t pid = strstr(e->d_name, ".pid") ? read_pid(path) : 0;
        if (pid > 0)
            sum += memory_of(pid);
    }
    if (d)
        closedir(d);
    return sum;
}

/* ---- both ---- */

static void end_all(void)
{
    https_free(target_dray.https);
    https_free(target_kube.https);
    daemon_stop(&process);
    if (target_kube.dir[0])
        run_script("stop", target_kube.dir, NULL);
    if (target_dray.dir[0])
        remove_tree(target_dray.dir);
    if (target_kube.dir[0])
        remove_tree(target_kube.dir);
}

/* The peers are no children: they would stay. */
static void on_signal(int number)
{
    exit(128 + number); /* NOLINT(bugprone-signal-handler,cert-sig30-c): a benchmark */
}

/* A server ends connections on which nothing happens. */
static bool connected(struct target *t)
{
    https_run(t->https, 0);
    for (int i = 0; i < CONNECTIONS; i++)
        if (!t->conns[i] || https_is_lost(t->conns[i]))
            return false;
    return true;
}

static const char *missing(const struct target *t)
{
    if (t == &target_dray)
        return getenv("DRAY") ? NULL : "DRAY names no program";
    if (!getenv("DRAY_KUBE_UP") || !getenv("DRAY_KUBE"))
        return "no kube-apiserver";
    return NULL;
}

const char *target_up(struct target *t)
{
    static bool ends, failed[2];
    bool *gave_up = &failed[t == &target_kube];
    const char *why = missing(t);
    if (why)
        return why;
    if (t->port)
        return connected(t) || connect_all(t, t->port) ? NULL : "it cannot be reached";
    if (!ends) {
        atexit(end_all);
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
    }
    ends = true;
    make_dir(t);
    if (!*gave_up)
        *gave_up = !(t == &target_dray ? target_restart(t, false) > 0 : start_kube(t));
    return *gave_up ? "it does not start" : NULL;
}

uint64_t target_memory(const struct target *t)
{
    return t == &target_dray ? daemon_memory(&process) : kube_memory(t);
}
