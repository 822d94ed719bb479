/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of doc share: a text in, a text out. */
#ifndef DRAY_TESTS_UNIT_DOCS_H
#define DRAY_TESTS_UNIT_DOCS_H

#include <stdlib.h>

#include "doc/doc.h"
#include "unit/unit.h"

/* A source with its tree; release with text_fini. */
struct text {
    struct arena arena;
    struct doc_source src;
    struct doc_list docs;
    struct doc doc; /* the first of docs, or that of JSON */
    struct err err;
    struct strbuf out;
    char *copy; /* of exactly the text's size, so that sanitizers see a byte more */
    bool ok;
};

static inline void text_init(struct text *t, struct str s)
{
    *t = (struct text){.err = ERR_INIT, .copy = malloc(s.n ? s.n : 1)};
    arena_init(&t->arena);
    memcpy(t->copy, s.p, s.n);
    t->src = (struct doc_source){.name = "f", .text = {t->copy, s.n}};
}

static inline void text_fini(struct text *t)
{
    arena_fini(&t->arena);
    err_release(&t->err);
    strbuf_release(&t->out);
    free(t->copy);
}

static inline void text_json(struct text *t, struct str s)
{
    text_init(t, s);
    t->ok = doc_read_json(&t->src, &t->arena, &t->doc, &t->err);
    t->docs = (struct doc_list){&t->doc, 1};
}

typedef bool text_reader(struct doc_source *src, struct arena *a, struct doc_list *out,
                         struct err *e);

static inline void text_docs(struct text *t, struct str s, text_reader *read)
{
    text_init(t, s);
    t->ok = read(&t->src, &t->arena, &t->docs, &t->err);
    if (t->ok && t->docs.n)
        t->doc = t->docs.v[0];
}

/* The trees as compact JSON, one space between documents; or the error. */
static inline const char *text_result(struct text *t)
{
    if (!t->ok)
        return err_text(&t->err);
    strbuf_clear(&t->out);
    for (size_t i = 0; i < t->docs.n; i++) {
        if (i)
            strbuf_addc(&t->out, ' ');
        doc_write_json(&t->docs.v[i], DOC_JSON_COMPACT, &t->out);
    }
    return strbuf_cstr(&t->out);
}

/* "PATH@OFFSET" of each duplicate key, a space between them. */
static inline void text_dups(const struct text *t, struct strbuf *out)
{
    strbuf_clear(out);
    for (size_t i = 0; i < t->src.ndups; i++)
        strbuf_addf(out, "%s%s@%u", i ? " " : "", t->src.dups[i].path,
                    t->src.dups[i].pos);
}

#endif
