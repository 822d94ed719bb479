/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/build.h"

#include <stdlib.h>

#include "base/mem.h"
#include "doc/source.h"

/* Maps up to this size are searched for duplicate keys pair by pair. */
enum { SMALL_MAP = 32 };

void build_init(struct build *b)
{
    *b = (struct build){0};
}

void build_fini(struct build *b)
{
    free(b->pending);
    free(b->dups);
    build_init(b);
}

void build_begin(struct build *b, struct arena *a)
{
    b->arena = a;
    b->npending = b->ndups = 0;
}

void build_push(struct build *b, const struct doc_member *m)
{
    if (b->npending == b->pending_cap) {
        b->pending_cap = b->pending_cap ? 2 * b->pending_cap : 64;
        b->pending = mem_resize(b->pending, b->pending_cap, sizeof *b->pending);
    }
    b->pending[b->npending++] = *m;
}

struct doc build_list(struct build *b, size_t from, uint32_t pos)
{
    uint32_t n = (uint32_t)(b->npending - from);
    struct doc d = {.type = DOC_LIST, .n = n, .pos = pos};
    if (n)
        d.items = arena_alloc(b->arena, n * sizeof *d.items);
    for (uint32_t i = 0; i < n; i++)
        d.items[i] = b->pending[from + i].value;
    b->npending = from;
    return d;
}

/* ---- Duplicate keys ---- */

static int by_key(const void *a, const void *b)
{
    const struct doc_member *x = *(const struct doc_member *const *)a;
    const struct doc_member *y = *(const struct doc_member *const *)b;
    int c = str_cmp(doc_key(x), doc_key(y));
    return c ? c : (x > y) - (x < y);
}

void build_sort_members(const struct doc_member **v, size_t n)
{
    qsort(v, n, sizeof *v, by_key);
}

static void path_of(const struct build_frame *f, struct strbuf *out)
{
    if (!f)
        return;
    path_of(f->up, out);
    if (f->member)
        source_path_key(out, doc_key(f->member));
    else
        source_path_index(out, f->index);
}

static void note_dup(struct build *b, const struct build_frame *up,
                     const struct doc_member *m)
{
    struct strbuf path = STRBUF_INIT;
    path_of(up, &path);
    source_path_key(&path, doc_key(m));
    if (b->ndups == b->dups_cap) {
        b->dups_cap = b->dups_cap ? 2 * b->dups_cap : 8;
        b->dups = mem_resize(b->dups, b->dups_cap, sizeof *b->dups);
    }
    const char *copy = arena_str(b->arena, strbuf_str(&path)).p;
    b->dups[b->ndups++] = (struct doc_dup_key){copy, m->key_pos};
    strbuf_release(&path);
}

static bool key_among(const struct doc_member *v, size_t n, const struct doc_member *m)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].key_len == m->key_len &&
            (v[i].key == m->key || memcmp(v[i].key, m->key, m->key_len) == 0))
            return true;
    return false;
}

/* By sorting: keys that an outsider chose cannot make this slow, as they could a hash. */
static void find_dups_in_large(struct build *b, const struct build_frame *up,
                               const struct doc *map)
{
    const struct doc_member **v = mem_array(map->n, sizeof *v);
    for (uint32_t i = 0; i < map->n; i++)
        v[i] = &map->members[i];
    build_sort_members(v, map->n);
    for (uint32_t i = 1; i < map->n; i++)
        if (str_eq(doc_key(v[i]), doc_key(v[i - 1])))
            note_dup(b, up, v[i]);
    free(v);
}

static void find_dups(struct build *b, const struct build_frame *up,
                      const struct doc *map)
{
    if (map->n > SMALL_MAP) {
        find_dups_in_large(b, up, map);
        return;
    }
    for (uint32_t i = 1; i < map->n; i++)
        if (key_among(map->members, i, &map->members[i]))
            note_dup(b, up, &map->members[i]);
}

struct doc build_map(struct build *b, size_t from, uint32_t pos,
                     const struct build_frame *up)
{
    uint32_t n = (uint32_t)(b->npending - from);
    struct doc d = {.type = DOC_MAP, .n = n, .pos = pos};
    if (n) {
        d.members = arena_alloc(b->arena, n * sizeof *d.members);
        memcpy(d.members, b->pending + from, n * sizeof *d.members);
    }
    b->npending = from;
    find_dups(b, up, &d);
    return d;
}

static int by_pos(const void *a, const void *b)
{
    const struct doc_dup_key *x = a, *y = b;
    return (x->pos > y->pos) - (x->pos < y->pos);
}

void build_dups(struct build *b, struct doc_source *src)
{
    struct doc_dup_key *v = NULL;
    if (b->ndups) {
        v = ARENA_ARRAY(b->arena, struct doc_dup_key, b->ndups);
        memcpy(v, b->dups, b->ndups * sizeof *v);
        qsort(v, b->ndups, sizeof *v, by_pos);
    }
    src->dups = v;
    src->ndups = b->ndups;
}
