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
    STEP = 64 * 1024,
    WINDOW = 15 + 16, /* the largest; 16: with the head of gzip */
    MEMORY = 8        /* what zlib takes when not told */
};

struct squeeze {
    struct net_exchange *x;
    unsigned code;
    struct net_header headers[MAX_HEADERS + 2];
    uint32_t n;
    struct net_parts body;
    struct strbuf small;
};

/* A name alone: with a weight it is not one that upstream knows. */
bool gzip_wanted(const struct request *r, size_t n)
{
    struct str accept = net_header_get(r->x, "accept-encoding");
    for (struct str rest = accept, part;
         n > THRESHOLD && str_split_next(&rest, ',', &part);)
        if (str_is(str_trim(part), "gzip"))
            return true;
    return false;
}

/* last: the end, too. */
static bool add_part(z_stream *z, struct str part, bool last, struct strbuf *out)
{
    int status = Z_OK;
    z->next_in = (unsigned char *)part.p;
    z->avail_in = (unsigned)part.n;
    while (status == Z_OK && (z->avail_in > 0 || last)) {
        strbuf_reserve(out, STEP);
        z->next_out = (unsigned char *)out->p + out->n;
        z->avail_out = STEP;
        status = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        out->n += STEP - z->avail_out;
    }
    return status == (last ? Z_STREAM_END : Z_OK);
}

static void compress_body(void *ctx)
{
    struct squeeze *s = ctx;
    z_stream z = {0};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return;
    bool ok = true;
    for (uint32_t i = 0; ok && i <= s->body.n; i++) {
        struct str part = i < s->body.n ? s->body.parts[i] : STR_NONE;
        ok = add_part(&z, part, i == s->body.n, &s->small);
    }
    if (!ok)
        strbuf_release(&s->small);
    deflateEnd(&z);
}

static void add_header(struct squeeze *s, struct str name, struct str value)
{
    s->headers[s->n++] = (struct net_header){name, value};
}

static void release_body(struct squeeze *s)
{
    if (s->body.release)
        s->body.release(s->body.ctx);
}

static void respond(void *ctx)
{
    struct squeeze *s = ctx;
    if (s->small.n) {
        add_header(s, STR("content-encoding"), STR("gzip"));
        add_header(s, STR("vary"), STR("Accept-Encoding"));
    }
    if (s->small.n) {
        net_respond_buf(s->x, s->code, s->headers, s->n, &s->small);
        release_body(s);
    } else {
        net_respond_parts(s->x, s->code, s->headers, s->n, &s->body);
    }
    strbuf_release(&s->small);
    free(s);
}

void gzip_respond(struct request *r, unsigned code, const struct net_header *headers,
                  uint32_t nheaders, const struct net_parts *body)
{
    struct squeeze *s = mem_zalloc(sizeof *s);
    s->x = r->x;
    s->code = code;
    s->n = nheaders;
    memcpy(s->headers, headers, nheaders * sizeof *headers);
    s->body = *body;
    if (body->n == 1) { /* as with net_respond_parts, its array is the caller's alone */
        struct str *part = ARENA_NEW(r->a, struct str);
        *part = body->parts[0];
        s->body.parts = part;
    }
    net_work(r->s->loop, compress_body, respond, s);
}

void gzip_respond_buf(struct request *r, unsigned code, const struct net_header *headers,
                      uint32_t nheaders, struct strbuf *body)
{
    struct str *part = ARENA_NEW(r->a, struct str);
    size_t n = body->n;
    char *bytes = strbuf_steal(body);
    *part = (struct str){bytes, n};
    struct net_parts parts = {part, 1, free, bytes};
    gzip_respond(r, code, headers, nheaders, &parts);
}

bool gzip_pack(struct str bytes, struct strbuf *out)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    bool ok = add_part(&z, bytes, true, out);
    deflateEnd(&z);
    return ok;
}

bool gzip_unpack(struct str packed, size_t n, struct strbuf *out)
{
    z_stream z = {.next_in = (unsigned char *)packed.p, .avail_in = (unsigned)packed.n};
    if (inflateInit2(&z, WINDOW) != Z_OK)
        return false;
    strbuf_reserve(out, n + 1);
    z.next_out = (unsigned char *)out->p + out->n;
    z.avail_out = (unsigned)n;
    bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END;
    out->n += n - z.avail_out;
    out->p[out->n] = '\0';
    inflateEnd(&z);
    return ok;
}
