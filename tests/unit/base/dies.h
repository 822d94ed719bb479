/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a call ends the process by abort(), tried in a child. */
#ifndef DRAY_TESTS_UNIT_BASE_DIES_H
#define DRAY_TESTS_UNIT_BASE_DIES_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool dies(void (*call)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0)
            dup2(null, STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        call();
        _exit(0);
    }
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGABRT;
}

#endif
