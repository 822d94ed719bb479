/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server for tests, rightly and wrongly, by nghttp2 on a thread of its own. What
 * it does stands in the method's name, "/t/NAME":
 *
 *     echo          each message back as it comes, then status 0
 *     twice         the message twice
 *     nothing       no message, status 0
 *     refuse        trailers alone: status 5, message "no%20such%3a %e2%82%ac%2"
 *     late-refuse   a message, then status 8
 *     odd-status    trailers with grpc-status "x"
 *     no-status     a message, and no trailers
 *     http          HTTP status 503 with a page
 *     html          HTTP status 200 with a page
 *     compressed    a message with the flag of compression
 *     huge          the prefix of a message of 4 GiB
 *     half          half a message, then status 0
 *     bytes         a message in frames of one byte
 *     many          10,000 messages of 100 bytes
 *     junk          a message that is no protobuf
 *     reset, cancel RST_STREAM (REFUSED_STREAM, CANCEL)
 *     headers       headers of 100 KiB
 *     silence       nothing
 *     hang-up       the connection is closed
 *     metadata      a message with the request's headers, "name: value\n"
 *     early         status 9 before the request is complete
 */
#ifndef DRAY_TESTS_GRPC_PEER_H
#define DRAY_TESTS_GRPC_PEER_H

#include <pthread.h>

struct peer {
    char path[64]; /* of the socket; as an address it is "unix:" and this */
    int listener;
    pthread_t thread;
};
void peer_start(struct peer *p);
void peer_stop(struct peer *p);

#endif
