/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server for tests: its loop runs in a thread of its own, its handler does what the
 * path says, and counts what it sees.
 *
 *     /hello            "hello"
 *     /echo             the request's body
 *     /who              "CN|O,O|error" of the client certificate
 *     /about            "METHOD path query headers http2"
 *     /stream?N         N lines of 1,000 bytes, from a timer, as the client takes them
 *     /flood?N          N lines at once, until net_write refuses
 *     /shared?N         N times the same bytes
 *     /big?N            N bytes in one response
 *     /hold             headers and one line, then nothing until the client goes
 *     /mirror           a header with a line break in its value
 *     /stuck            no answer, even when the client has gone
 *     /late?MS          "late" after so many milliseconds
 *     /early?MS         504 "early", and after so many milliseconds the handler's answer,
 *                       which looks at the client's certificate and is dropped
 *     /upgrade          echoes what comes
 *     /empty            204
 */
#ifndef DRAY_TESTS_NET_SITE_H
#define DRAY_TESTS_NET_SITE_H

#include <pthread.h>

#include "net/http.h"
#include "net/pki.h"

struct site {
    struct arena arena;
    struct pki_pair ca, server, client, stranger;
    struct net_tls_opts tls;
    struct net_loop *loop;
    struct net_server *net;
    pthread_t thread;
    uint16_t port;
    struct net_shared *line;
    struct net_exchange *stuck[100];
    unsigned nstuck;
    /* Written by the loop's thread alone; read by tests with site_get. */
    unsigned asked, gone, refused, stopped, held, drained, late;
    unsigned observed; /* ends of /early, in their place and later */
    size_t most_unsent;
};

/* tls: false for plain. opts: limits; address and tls are put in. */
void site_start(struct site *s, struct net_server_opts opts, bool tls);
void site_stop(struct site *s);
/* net_server_stop from the loop. */
void site_shut_down(struct site *s, unsigned ms);
unsigned site_get(unsigned *counter);
/* Waits up to five seconds for a counter. */
bool site_wait(unsigned *counter, unsigned least);

#endif
