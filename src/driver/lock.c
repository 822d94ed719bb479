/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int lock_whole(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status;
    do
        status = fcntl(fd, F_OFD_SETLKW, &whole);
    while (status < 0 && errno == EINTR);
    return status;
}

int driver_lock_take(struct str data_dir, struct err *e)
{
    char path[512];
    int n = snprintf(path, sizeof path, "%.*s/serialize.lock", STR_ARG(data_dir));
    if (n < 0 || (size_t)n >= sizeof path) {
        err_set(e, ERR_LIMIT, "the path of the data directory is too long");
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || lock_whole(fd) < 0) {
        err_set(e, ERR_IO, "serialize gRPC: %s: %s", path, strerror(errno));
        driver_lock_give(fd);
        return -1;
    }
    return fd;
}

void driver_lock_give(int fd)
{
    if (fd >= 0)
        close(fd);
}
