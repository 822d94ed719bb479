/* SPDX-License-Identifier: Apache-2.0 */
#include "server/daemon.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGS = 16 };

static void run_child(const char *program, const char *dir, const char *const *args,
                      int out)
{
    const char *argv[MOST_ARGS + 8] = {program, "apiserver", "--data",
                                       dir,     "--listen",  "127.0.0.1:0"};
    for (int i = 0; args && args[i] && i < MOST_ARGS; i++)
        argv[6 + i] = args[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* none outlives its test */
    dup2(out, STDOUT_FILENO);
    execv(program, (char **)argv);
    _exit(127);
}

/* The port at the end of "... ready on https://127.0.0.1:1234"; 0: it is not ready. */
static uint16_t read_port(FILE *out)
{
    char line[256];
    while (fgets(line, sizeof line, out)) {
        const char *colon = strrchr(line, ':');
        if (colon && strstr(line, "ready on "))
            return (uint16_t)strtoul(colon + 1, NULL, 10);
    }
    return 0;
}

bool daemon_start(struct daemon *d, const char *program, const char *dir,
                  const char *const *args)
{
    int ends[2];
    *d = (struct daemon){0};
    if (pipe2(ends, 0) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(program, dir, args, ends[1]);
    }
    close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    *d = (struct daemon){.pid = pid, .port = out ? read_port(out) : 0};
    if (out)
        fclose(out);
    if (d->port)
        return true;
    daemon_kill(d);
    return false;
}

void daemon_kill(struct daemon *d)
{
    if (d->pid <= 0)
        return;
    kill(d->pid, SIGKILL);
    waitpid(d->pid, NULL, 0);
    *d = (struct daemon){0};
}

bool daemon_stop(struct daemon *d)
{
    int status = -1;
    if (d->pid <= 0)
        return true;
    kill(d->pid, SIGTERM);
    waitpid(d->pid, &status, 0);
    *d = (struct daemon){0};
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

uint64_t daemon_memory(const struct daemon *d)
{
    char path[64], line[128];
    unsigned long long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)d->pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtoull(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kb * 1024;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    remove(path);
    return 0;
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
