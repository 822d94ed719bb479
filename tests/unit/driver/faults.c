/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/driver/faults.h"

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    enum fault what;
    uint32_t at, calls;
    bool struck;
} faults;

void faults_arm(enum fault what, uint32_t at)
{
    faults.what = what;
    faults.at = at;
    faults.calls = 0;
    faults.struck = false;
}

uint32_t faults_disarm(void)
{
    faults.what = FAULT_NONE;
    return faults.calls;
}

bool faults_struck(void)
{
    return faults.struck;
}

static bool strikes(void)
{
    faults.calls++;
    bool now = faults.calls == faults.at ||
               (faults.what == FAULT_STUCK && faults.calls > faults.at);
    if (faults.what == FAULT_NONE || !now)
        return false;
    if (faults.what == FAULT_DIE)
        _exit(FAULT_STATUS);
    faults.struck = true;
    errno = ENOSPC;
    return true;
}

ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    if (fd <= STDERR_FILENO || !strikes())
        return __real_write(fd, p, n);
    if (n > 1)
        (void)!__real_write(fd, p, n / 2); /* and then no more */
    errno = ENOSPC;
    return -1;
}

int __wrap_rename(const char *from, const char *to)
{
    return strikes() ? -1 : __real_rename(from, to);
}

#define WRAP(name, type)                                                                 \
    int __real_##name(type x);                                                           \
    int __wrap_##name(type x);                                                           \
    int __wrap_##name(type x)                                                            \
    {                                                                                    \
        return strikes() ? -1 : __real_##name(x);                                        \
    }

WRAP(fsync, int)
WRAP(fdatasync, int)
WRAP(unlink, const char *)
WRAP(rmdir, const char *)
