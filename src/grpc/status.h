/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of an HTTP/2 call means as a gRPC status. */
#ifndef DRAY_GRPC_STATUS_H
#define DRAY_GRPC_STATUS_H

#include "base/arena.h"
#include "grpc/grpc.h"

enum grpc_status status_parse(struct str text);
/* Of an answer that is not gRPC's. */
enum grpc_status status_of_http(unsigned status);
/* Of a call that broke. */
enum grpc_status status_of_end(const struct net_call_end *end);
/* grpc-message is percent-encoded. */
struct str status_message(struct str encoded, struct arena *a);
void status_message_print(struct str message, struct strbuf *out);

#endif
