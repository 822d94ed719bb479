/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/node_site.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { HOST_NAME = 256 };

static struct str or_else(const char *text, struct str other)
{
    return text && *text ? str_from(text) : other;
}

/* A kubelet that is not told another name takes the host's, in lower case. */
static struct str host_name(struct arena *a)
{
    char host[HOST_NAME] = "";
    gethostname(host, sizeof host - 1);
    for (char *p = host; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return str_trim(arena_str(a, str_from(host)));
}

struct node_site node_site_of(const char *driver, const char *node,
                              const char *kubelet_dir, const char *cdi_dir,
                              struct arena *a)
{
    return (struct node_site){
        .driver = or_else(driver, STR("device.dray.dev")),
        .node = or_else(node, or_else(getenv("NODE_NAME"), host_name(a))),
        .kubelet_dir = or_else(kubelet_dir, STR("/var/lib/kubelet")),
        .cdi_dir = or_else(cdi_dir, STR("/var/run/cdi")),
    };
}
