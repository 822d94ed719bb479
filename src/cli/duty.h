/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that works beside an API server until it is told to stop: alone, or only
 * while it holds a lease that others like it want too.
 */
#ifndef DRAY_CLI_DUTY_H
#define DRAY_CLI_DUTY_H

#include "cli/options.h"
#include "client/leader.h"

struct duty_lease { /* as options set it */
    const char *namespace, *name;
    bool elect;
    uint64_t lease_ms, renew_ms, retry_ms;
};

struct duty {
    const char *name; /* "controllers": of the command */
    const struct duty_lease *lease;
    /* What works from then on. NULL: it cannot; ctx knows why, and duty_run returns. */
    void *(*start)(void *ctx, struct client *c);
    void (*stop)(void *work);
    void *ctx;
};

/* Where the server is: a file, or what a pod finds; *user_agent is "dray-NAME". */
bool duty_server(const char *name, const char *file, struct arena *a,
                 struct kubeconfig *out, struct err *e);
/* Until a signal, or until the lease is lost. The command's exit code. */
int duty_run(const struct duty *d, const struct kubeconfig *k, struct err *e);
/* A whole command: what it fails with is said. An exit code. */
typedef int duty_body(int argc, char **argv, struct arena *a, struct err *e);
int duty_command(const char *name, duty_body *body, int argc, char **argv);
/* A line of the command's log; ctx: its name. */
void duty_say(void *ctx, const char *text);

/* The rows of struct duty_lease at offset at of the command's struct. */
#define DUTY_ROWS(at, usual_name)                                                        \
    {"leader-elect",                                                                     \
     "BOOL",                                                                             \
     OPTION_FLAG,                                                                        \
     at + offsetof(struct duty_lease, elect),                                            \
     "whether only the holder of a lease works (true)",                                  \
     NULL},                                                                              \
        {"leader-elect-lease-duration",                                                  \
         "TIME",                                                                         \
         OPTION_DURATION,                                                                \
         at + offsetof(struct duty_lease, lease_ms),                                     \
         "after which a lease that nobody renews is taken (15s)",                        \
         NULL},                                                                          \
        {"leader-elect-renew-deadline",                                                  \
         "TIME",                                                                         \
         OPTION_DURATION,                                                                \
         at + offsetof(struct duty_lease, renew_ms),                                     \
         "within which it must be renewed (10s)",                                        \
         NULL},                                                                          \
        {"leader-elect-retry-period",                                                    \
         "TIME",                                                                         \
         OPTION_DURATION,                                                                \
         at + offsetof(struct duty_lease, retry_ms),                                     \
         "between tries (2s)",                                                           \
         NULL},                                                                          \
        {"leader-elect-resource-namespace",                                              \
         "NAME",                                                                         \
         OPTION_TEXT,                                                                    \
         at + offsetof(struct duty_lease, namespace),                                    \
         "where the lease is (kube-system)",                                             \
         NULL},                                                                          \
    {                                                                                    \
        "leader-elect-resource-name", "NAME", OPTION_TEXT,                               \
            at + offsetof(struct duty_lease, name), "and its name (" usual_name ")",     \
            NULL                                                                         \
    }

#endif
