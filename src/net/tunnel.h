/* SPDX-License-Identifier: Apache-2.0 */
/* Making of tunnels (http.h says what they do). */
#ifndef DRAY_NET_TUNNEL_H
#define DRAY_NET_TUNNEL_H

#include "net/stream.h"

/* Takes the stream, and the bytes that came already (ahead is empty afterwards). */
struct net_tunnel *tunnel_new(struct net_loop *l, struct stream *s, struct strbuf *ahead,
                              net_tunnel_data *on_data, void *ctx);
struct stream *tunnel_stream(struct net_tunnel *t);
/* It has another owner from now on, who waits for no drain. */
void net_tunnel_rebind(struct net_tunnel *t, net_tunnel_data *on_data, void *ctx);

#endif
