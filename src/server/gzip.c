/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large answers compressed, as fast as zlib can and on another thread: whoever asks for a
 * list of the whole cluster makes nobody wait but himself.
 */
#include <stdlib.h>
#include <zlib.h>

#include "server/inner.h"

enum {
    THRESHOLD = 128 * 1024, /* as upstream */
    WINDOW = 15 + 16,       /* the largest; 16: with the head of gzip */
    MEMORY = 8              /* what zlib takes when not told */
};

struct squeeze {
    struct net_exchange *x;
    unsigned code;
    struct net_header headers[MAX_HEADERS + 2];
    uint32_t n;
    struct strbuf body, small;
};

/* A name alone: with a weight it is not one that upstream knows. */
bool gzip_wanted(const struct request *r, size_t n)
{
    struct str accept = net_header_get(r->x, "accept-encoding");
    for (size_t at = 0; n > THRESHOLD && at < accept.n;) {
        size_t end = str_find_byte(accept, ',', at);
        if (str_is(str_trim(str_sub(accept, at, end)), "gzip"))
            return true;
        at = end == SIZE_MAX ? accept.n : end + 1;
    }
    return false;
}

static void compress_body(void *ctx)
{
    struct squeeze *s = ctx;
    z_stream z = {0};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return;
    strbuf_reserve(&s->small, deflateBound(&z, s->body.n));
    z.next_in = (unsigned char *)s->body.p;
    z.avail_in = (unsigned)s->body.n;
    z.next_out = (unsigned char *)s->small.p;
    z.avail_out = (unsigned)deflateBound(&z, s->body.n);
    if (deflate(&z, Z_FINISH) == Z_STREAM_END)
        s->small.n = z.total_out;
    deflateEnd(&z);
}

static void add_header(struct squeeze *s, struct str name, struct str value)
{
    s->headers[s->n++] = (struct net_header){name, value};
}

static void respond(void *ctx)
{
    struct squeeze *s = ctx;
    if (s->small.n) {
        add_header(s, STR("content-encoding"), STR("gzip"));
        add_header(s, STR("vary"), STR("Accept-Encoding"));
    }
    net_respond_buf(s->x, s->code, s->headers, s->n, s->small.n ? &s->small : &s->body);
    strbuf_release(&s->body);
    strbuf_release(&s->small);
    free(s);
}

void gzip_respond(struct request *r, unsigned code, const struct net_header *headers,
                  uint32_t nheaders, struct strbuf *body)
{
    struct squeeze *s = mem_zalloc(sizeof *s);
    s->x = r->x;
    s->code = code;
    s->n = nheaders;
    memcpy(s->headers, headers, nheaders * sizeof *headers);
    s->body = *body;
    strbuf_init(body);
    net_work(r->s->loop, compress_body, respond, s);
}
