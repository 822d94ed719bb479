/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A POST of JSON to somebody whom an object of the cluster names, over HTTPS, and the
 * answer: to webhooks of admission, and to those that convert custom resources.
 * Connections are kept for the next request, as HTTP/1.1, which upstream speaks to
 * webhooks on purpose: so requests spread over the pods of a service.
 */
#ifndef DRAY_SERVER_ADMISSION_HOOK_POST_H
#define DRAY_SERVER_ADMISSION_HOOK_POST_H

#include "server/inner.h"

enum { HOOK_ANSWER_MAX = 8 << 20 }; /* bytes */

/* A clientConfig: a URL, or a service. Texts are the object's. */
struct hook_peer {
    struct str url, ca;                                  /* ca: PEM */
    struct str service_namespace, service, service_path; /* service empty: the URL */
    uint16_t service_port;
};

/* d: a clientConfig. */
void hook_peer_read(struct hook_peer *p, const struct doc *d, struct arena *a);

struct hook_answer {
    struct str fail; /* why there is none, as Go's client says it; empty: there is one */
    unsigned status;
    bool text; /* it says that it is one for people */
    struct str body;
};

struct hook_post;
/* Called from the loop, once; the answer lives in the arena that was given. */
typedef void hook_post_done(void *ctx, const struct hook_answer *answer);

/* All in the arena a, which lives until done was called or the post is cancelled. The
 * peer is looked at now, and not kept; body is kept. ms: all the time there is. */
struct hook_post *hook_post_start(struct request *r, struct arena *a,
                                  const struct hook_peer *to, struct str body,
                                  uint64_t ms, hook_post_done *done, void *ctx);
/* done will not be called. */
void hook_post_cancel(struct hook_post *p);

/* What upstream's client makes of an answer whose status is no success; empty: it is one.
 */
struct str hook_status_text(const struct hook_answer *answer, struct arena *a);

#endif
