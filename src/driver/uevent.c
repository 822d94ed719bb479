/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/uevent.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KERNEL_GROUP = 1 };

int uevent_new(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    NETLINK_KOBJECT_UEVENT);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* What was lost because it came too fast (ENOBUFS) is an event too. */
void uevent_drain(int fd)
{
    char event[8192];
    if (fd < 0)
        return;
    recv(fd, event, sizeof event, MSG_DONTWAIT);
    while (recv(fd, event, sizeof event, MSG_DONTWAIT) > 0)
        continue;
}
