/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"

/* ---- which there are ---- */

/* "etcd Version: 3.4.23" */
static bool read_version(const char *path, char name[32])
{
    char command[300], line[128] = "";
    if (access(path, X_OK) != 0)
        return false;
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", path);
    FILE *out = popen(command, "r");
    bool ok = out && fgets(line, sizeof line, out);
    if (out)
        pclose(out);
    line[strcspn(line, "\n")] = '\0';
    const char *colon = strchr(line, ':');
    if (!ok || !colon)
        return false;
    snprintf(name, 32, "etcd%.20s", colon + 1);
    return true;
}

static size_t add(struct etcd_binary *out, size_t have, size_t n, const char *path)
{
    struct etcd_binary b = {0};
    snprintf(b.path, sizeof b.path, "%s", path);
    if (have == n || !read_version(path, b.name))
        return have;
    for (size_t i = 0; i < have; i++)
        if (strcmp(out[i].name, b.name) == 0)
            return have;
    out[have] = b;
    return have + 1;
}

static size_t add_list(struct etcd_binary *out, size_t n, const char *list,
                       const char *behind)
{
    size_t have = 0;
    while (*list) {
        char path[256];
        int part = (int)strcspn(list, ":");
        snprintf(path, sizeof path, "%.*s%s", part, list, behind);
        have = add(out, have, n, path);
        list += part + (list[part] == ':');
    }
    return have;
}

size_t etcd_binaries(struct etcd_binary *out, size_t n)
{
    const char *chosen = getenv("DRAY_ETCD"), *path = getenv("PATH"),
               *home = getenv("HOME");
    char cached[256];
    if (chosen)
        return add_list(out, n, chosen, "");
    size_t have = add_list(out, n, path ? path : "", "/etcd");
    snprintf(cached, sizeof cached, "%s/.cache/dray/kube/etcd", home ? home : "");
    return add(out, have, n, cached);
}

/* ---- running ---- */

static int listen_somewhere(struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *at;
    *at = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)at, size) < 0 ||
        getsockname(fd, (struct sockaddr *)at, &size) < 0)
        bug("etcd: no port");
    return fd;
}

uint16_t etcd_free_port(void)
{
    struct sockaddr_in at;
    close(listen_somewhere(&at));
    return ntohs(at.sin_port);
}

static void run(const struct etcd_server *e)
{
    char urls[64];
    const char *argv[48] = {e->binary};
    const char *const options[] = {
        "--name",
        "one",
        "--data-dir",
        e->dir,
        "--listen-client-urls",
        urls,
        "--advertise-client-urls",
        urls,
        "--listen-peer-urls",
        "http://127.0.0.1:0",
        "--initial-advertise-peer-urls",
        "http://127.0.0.1:1",
        "--initial-cluster",
        "one=http://127.0.0.1:1",
        "--heartbeat-interval",
        "10",
        "--election-timeout",
        "100",
        "--max-request-bytes",
        "33554432",
        "--logger",
        "zap",
        "--log-outputs",
        "/dev/null",
    };
    size_t n = 1;
    snprintf(urls, sizeof urls, "%s://127.0.0.1:%u", e->tls ? "https" : "http", e->port);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        argv[n++] = options[i];
    for (size_t i = 0; e->extra[i]; i++)
        argv[n++] = e->extra[i];
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(e->binary, (char **)argv);
    _exit(127);
}

static int connect_to(const struct etcd_server *e)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(e->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool answers(const struct etcd_server *e)
{
    int fd = connect_to(e);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool is_healthy(const struct etcd_server *e)
{
    static const char ask[] = "GET /health HTTP/1.0\r\n\r\n";
    struct timeval most = {.tv_sec = 1};
    char text[1024] = "";
    size_t n = 0;
    int fd = connect_to(e);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    if (send(fd, ask, sizeof ask - 1, MSG_NOSIGNAL) > 0)
        for (ssize_t got; n < sizeof text - 1 &&
                          (got = recv(fd, text + n, sizeof text - 1 - n, 0)) > 0;)
            n += (size_t)got;
    close(fd);
    text[n] = '\0';
    return strstr(text, "\"health\":\"true\"") != NULL;
}

void etcd_server_settle(const struct etcd_server *e)
{
    for (int i = 0; i < 10 && !is_healthy(e); i++)
        usleep(100 * 1000);
}

/* False: it has ended. */
static bool comes_up(struct etcd_server *e)
{
    e->pid = fork();
    if (e->pid == 0)
        run(e);
    for (int i = 0; i < 2000 && !answers(e); i++) {
        usleep(10 * 1000);
        if (waitpid(e->pid, NULL, WNOHANG) == e->pid)
            return false;
    }
    return true;
}

/* A free port may be somebody else's a moment later. */
void etcd_server_start(struct etcd_server *e)
{
    bool any = e->port == 0;
    for (int tries = any ? 3 : 1; tries > 0; tries--) {
        if (any)
            e->port = etcd_free_port();
        if (comes_up(e) && answers(e))
            return;
    }
    bug("etcd: %s does not start", e->binary);
}

void etcd_server_kill(struct etcd_server *e)
{
    if (!e->pid)
        return;
    kill(e->pid, SIGKILL);
    waitpid(e->pid, NULL, 0);
    e->pid = 0;
}
