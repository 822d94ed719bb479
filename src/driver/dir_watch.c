/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/dir_watch.h"

#include <limits.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
             IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF
};

int dir_watch_new(void)
{
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void dir_watch_add(int fd, struct str path)
{
    char dir[PATH_MAX];
    if (fd < 0 || path.n >= sizeof dir)
        return;
    memcpy(dir, path.p, path.n);
    dir[path.n] = '\0';
    for (char *slash = strrchr(dir, '/'); slash; slash = strrchr(dir, '/')) {
        slash[slash == dir] = '\0';
        if (inotify_add_watch(fd, dir, EVENTS) >= 0 || slash == dir)
            return;
    }
    inotify_add_watch(fd, ".", EVENTS); /* a name alone */
}

void dir_watch_drain(int fd)
{
    char events[4096];
    while (fd >= 0 && read(fd, events, sizeof events) > 0)
        continue;
}
