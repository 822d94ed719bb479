/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/lists.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool golden_slurp(const char *path, struct arena *a, struct str *text, struct err *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path,
                       strerror(errno));
    struct strbuf b = STRBUF_INIT;
    size_t n;
    do {
        strbuf_reserve(&b, 65536);
        n = fread(b.p + b.n, 1, 65536, f);
        b.n += n;
    } while (n > 0);
    bool ok = !ferror(f) || err_set(e, ERR_IO, "%s: read error", path);
    fclose(f);
    if (ok)
        *text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return ok;
}

bool golden_next_line(struct str *rest, struct str *line)
{
    if (rest->n == 0)
        return false;
    size_t end = str_find_byte(*rest, '\n', 0);
    *line = str_sub(*rest, 0, end);
    *rest = str_sub(*rest, end == SIZE_MAX ? rest->n : end + 1, rest->n);
    return true;
}

static bool is_comment(struct str line)
{
    return line.n == 0 || line.p[0] == '#';
}

/* "folder case  # reason": a case's name may hold spaces and '#', but not " #". */
static bool known_parse(struct golden_lists *l, struct str line, unsigned number,
                        struct err *e)
{
    size_t space = str_find_byte(line, ' ', 0);
    size_t hash = str_find(line, STR(" #"));
    if (space == SIZE_MAX || hash == SIZE_MAX || hash <= space)
        return err_set(e, ERR_INVALID, "line %u: not 'folder case  # reason'", number);
    struct str name = str_trim(str_sub(line, space, hash));
    struct str reason = str_trim(str_sub(line, hash + 2, line.n));
    if (name.n == 0 || reason.n == 0)
        return err_set(e, ERR_INVALID, "line %u: no case or no reason", number);
    vec_push(&l->known, (struct known_failure){
                            .folder = arena_str(&l->arena, str_sub(line, 0, space)).p,
                            .name = arena_str(&l->arena, name).p,
                            .reason = arena_str(&l->arena, reason).p,
                            .line = number});
    return true;
}

static bool difference_parse(struct golden_lists *l, struct str line, unsigned number,
                             struct err *e)
{
    struct doc_source src = {.name = "differences", .text = line};
    struct doc d;
    if (!doc_read_json(&src, &l->arena, &d, e))
        return err_wrap(e, "line %u", number);
    const struct doc *want = doc_get(&d, "want");
    struct difference row = {
        .folder = doc_get_text(&d, "folder").p,
        .pattern = doc_get_text(&d, "id").p,
        .field = doc_get_text(&d, "field").p,
        .line = number,
    };
    if (!row.folder || !row.pattern || !row.field || !want ||
        doc_get_text(&d, "why").n == 0)
        return err_set(e, ERR_INVALID, "line %u: folder, id, field, want or why missing",
                       number);
    row.want = *want;
    vec_push(&l->differences, row);
    return true;
}

typedef bool parse_fn(struct golden_lists *l, struct str line, unsigned number,
                      struct err *e);

static bool load(struct golden_lists *l, const char *path, parse_fn *parse, struct err *e)
{
    struct str text, line;
    if (!golden_slurp(path, &l->arena, &text, e)) {
        bool missing = e->code == ERR_NOT_FOUND;
        if (missing)
            err_release(e);
        return missing;
    }
    for (unsigned number = 1; golden_next_line(&text, &line); number++) {
        line = str_trim(line);
        if (!is_comment(line) && !parse(l, line, number, e))
            return err_wrap(e, "%s", path);
    }
    return true;
}

bool golden_lists_load(struct golden_lists *l, const char *known_path,
                       const char *differences_path, struct err *e)
{
    *l = (struct golden_lists){0};
    arena_init(&l->arena);
    return load(l, known_path, known_parse, e) &&
           load(l, differences_path, difference_parse, e);
}

void golden_lists_fini(struct golden_lists *l)
{
    vec_release(&l->known);
    vec_release(&l->differences);
    arena_fini(&l->arena);
}

struct known_failure *golden_known_find(struct golden_lists *l, const char *folder,
                                        const char *name, const char *id)
{
    for (size_t i = 0; i < l->known.n; i++) {
        struct known_failure *k = &l->known.v[i];
        if (strcmp(k->folder, folder) == 0 &&
            (strcmp(k->name, name) == 0 || strcmp(k->name, id) == 0))
            return k;
    }
    return NULL;
}

void golden_known_add(struct golden_lists *l, const char *folder, const char *name)
{
    vec_push(&l->known, (struct known_failure){.folder = arena_strdup(&l->arena, folder),
                                               .name = arena_strdup(&l->arena, name),
                                               .reason = "TODO: explain"});
}

static bool dropped(const struct golden_lists *l, unsigned line)
{
    for (size_t i = 0; i < l->known.n; i++)
        if (l->known.v[i].line == line)
            return l->known.v[i].drop;
    return false;
}

bool golden_known_save(const struct golden_lists *l, const char *path, struct err *e)
{
    struct arena a;
    arena_init(&a);
    struct str text = STR_NONE, line;
    struct strbuf out = STRBUF_INIT;
    if (golden_slurp(path, &a, &text, NULL))
        for (unsigned number = 1; golden_next_line(&text, &line); number++)
            if (!dropped(l, number))
                strbuf_addf(&out, "%.*s\n", STR_ARG(line));
    for (size_t i = 0; i < l->known.n; i++)
        if (l->known.v[i].line == 0)
            strbuf_addf(&out, "%s %s  # %s\n", l->known.v[i].folder, l->known.v[i].name,
                        l->known.v[i].reason);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(strbuf_cstr(&out), 1, out.n, f) == out.n;
    if (f && fclose(f) != 0)
        ok = false;
    if (!ok)
        err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    strbuf_release(&out);
    arena_fini(&a);
    return ok;
}
