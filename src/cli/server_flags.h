/* SPDX-License-Identifier: Apache-2.0 */
/* The options of an API server, for every command that is one. */
#ifndef DRAY_CLI_SERVER_FLAGS_H
#define DRAY_CLI_SERVER_FLAGS_H

#include "cli/options.h"
#include "server/server.h"

enum { SERVER_NO_PORT = UINT32_MAX };

struct server_flags { /* first in the struct of a command that has more options */
    struct server_opts server;
    /* What is not the server's as it stands. */
    const char *listen, *bind_address;
    uint32_t secure_port;
};
#define SERVER_FLAGS_INIT                                                                \
    {                                                                                    \
        .server = SERVER_OPTS_INIT, .secure_port = SERVER_NO_PORT                        \
    }

extern const struct option_row server_rows[];
extern const uint32_t server_nrows;

/* Once they are read: where to listen is said by --listen, or by the two options that
 * kube-apiserver has for it. Errors: by both. */
bool server_flags_finish(struct server_flags *f, struct arena *a, struct err *e);

#endif
