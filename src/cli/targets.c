/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/targets.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "client/kubeconfig.h"

typedef VEC(struct target) target_list;

struct str target_name(const struct target *t, struct arena *a)
{
    struct str kind = resource_kind_name(t->resource, a);
    return arena_printf(a, "%.*s/%.*s", STR_ARG(kind), STR_ARG(t->name));
}

/* ---- arguments ---- */

static struct target make(const struct session *s, const struct resource *r,
                          struct str name)
{
    bool all = s->opts->all_namespaces && !name.n;
    return (struct target){.resource = r,
                           .namespace = r->namespaced && !all ? s->namespace : STR_NONE,
                           .name = name};
}

static bool is_in(const struct resource *r, struct str category)
{
    const struct doc *list = r->categories;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), category))
            return true;
    return false;
}

/* All kinds of a category, where there is one of this name. */
static bool add_category(struct session *s, const struct discovery *d, struct str name,
                         target_list *out)
{
    size_t before = out->n;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->v[i].preferred && is_in(&d->v[i], name))
            vec_push_in(s->a, out, make(s, &d->v[i], STR_NONE));
    return out->n > before;
}

/* The types of "TYPE,TYPE", as collections. */
static bool add_types(struct session *s, const struct discovery *d, struct str types,
                      target_list *out, struct err *e)
{
    for (struct str rest = types, type; str_split_next(&rest, ',', &type);) {
        if (add_category(s, d, type, out))
            continue;
        const struct resource *r = discovery_find(d, type, e);
        if (!r)
            return false;
        vec_push_in(s->a, out, make(s, r, STR_NONE));
    }
    return true;
}

static bool add_pairs(struct session *s, const struct discovery *d,
                      const struct option_args *args, target_list *out, struct err *e)
{
    for (uint32_t i = 0; i < args->n; i++) {
        struct str arg = str_from(args->v[i]);
        size_t slash = str_find_byte(arg, '/', 0);
        if (slash == SIZE_MAX)
            return err_set(e, ERR_INVALID,
                           "there is no need to specify a resource type as a "
                           "separate argument when passing arguments in resource/name "
                           "form (e.g. 'dray get resource/<resource_name>' instead of "
                           "'dray get resource resource/<resource_name>'");
        const struct resource *r = discovery_find(d, str_sub(arg, 0, slash), e);
        if (!r)
            return false;
        vec_push_in(s->a, out, make(s, r, str_sub(arg, slash + 1, arg.n)));
    }
    return true;
}

/* Each type with each name. */
static bool add_names(struct session *s, const struct option_args *args,
                      target_list *types, target_list *out, struct err *e)
{
    for (size_t t = 0; t < types->n; t++)
        for (uint32_t i = 1; i < args->n; i++) {
            struct str name = str_from(args->v[i]);
            if (str_find_byte(name, '/', 0) != SIZE_MAX)
                return err_set(e, ERR_INVALID,
                               "\"%.*s\": names stand behind one type, or each "
                               "behind its own",
                               STR_ARG(name));
            vec_push_in(s->a, out, make(s, types->v[t].resource, name));
        }
    return true;
}

bool targets_of_args(struct session *s, const struct discovery *d,
                     const struct option_args *args, struct targets *out, struct err *e)
{
    target_list types = {0}, found = {0};
    struct str first = str_from(args->n ? args->v[0] : "");
    bool pairs = str_find_byte(first, '/', 0) != SIZE_MAX;
    bool ok =
        pairs ? add_pairs(s, d, args, &found, e) : add_types(s, d, first, &types, e);
    if (!ok || (!pairs && args->n > 1 && !add_names(s, args, &types, &found, e)))
        return false;
    target_list *use = pairs || args->n > 1 ? &found : &types;
    *out = (struct targets){use->v, (uint32_t)use->n, false, NULL};
    for (uint32_t i = 1; i < out->n; i++)
        out->several_types |= out->v[i].resource != out->v[0].resource;
    return true;
}

/* ---- files ---- */

struct reading {
    struct session *s;
    struct discovery *d;
    target_list found;
    struct strbuf missing; /* a line for each object whose kind the server has not */
    bool again;            /* discovery was read for this command's sake */
};

/* *out NULL: the server has no such kind. */
static bool resource_of(struct reading *r, const struct doc *object, const char *file,
                        const struct resource **out, struct err *e)
{
    static const char *const NEEDED[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (!doc_get_text(object, NEEDED[i]).n)
            return err_set(e, ERR_INVALID, "%s: an object has no %s", file, NEEDED[i]);
    *out = discovery_of(r->d, object);
    if (*out || r->again)
        return true;
    r->again = true;
    if (!discovery_read(r->s, r->d, e))
        return false;
    *out = discovery_of(r->d, object);
    return true;
}

static void add_missing(struct reading *r, const struct doc *object, const char *file)
{
    struct str version = doc_get_text(object, "apiVersion"),
               kind = doc_get_text(object, "kind"),
               name = doc_get_text(doc_get(object, "metadata"), "name");
    strbuf_addf(&r->missing,
                "resource mapping not found for name: \"%.*s\" from \"%s\": no matches "
                "for kind \"%.*s\" in version \"%.*s\"\n",
                STR_ARG(name), file, STR_ARG(kind), STR_ARG(version));
}

static bool add_object(struct reading *r, const struct doc *object, const char *file,
                       struct err *e)
{
    const struct doc *meta = doc_get(object, "metadata"),
                     *items = doc_get(object, "items");
    struct str namespace = doc_get_text(meta, "namespace"), own = r->s->namespace;
    if (items && items->type == DOC_LIST &&
        str_ends(doc_get_text(object, "kind"), STR("List"))) {
        for (uint32_t i = 0; i < items->n; i++)
            if (!add_object(r, &items->items[i], file, e))
                return false;
        return true;
    }
    const struct resource *found = NULL;
    if (!resource_of(r, object, file, &found, e))
        return false;
    if (!found) {
        add_missing(r, object, file);
        return true;
    }
    if (found->namespaced && namespace.n && r->s->opts->namespace &&
        !str_eq(namespace, own))
        return err_set(
            e, ERR_INVALID,
            "the namespace from the provided object \"%.*s\" does not "
            "match the namespace \"%.*s\". You must pass '--namespace=%.*s' to "
            "perform this operation.",
            STR_ARG(namespace), STR_ARG(own), STR_ARG(namespace));
    struct target t = {.resource = found,
                       .namespace = !found->namespaced ? STR_NONE
                                    : namespace.n      ? namespace
                                                       : own,
                       .name = doc_get_text(meta, "name"),
                       .object = object};
    vec_push_in(r->s->a, &r->found, t);
    return true;
}

static bool read_text(struct reading *r, const char *file, struct str text, struct err *e)
{
    struct doc_source src = {.name = file, .text = text};
    struct doc_list docs;
    if (!doc_read(&src, r->s->a, &docs, e))
        return false;
    for (size_t i = 0; i < docs.n; i++)
        if (!add_object(r, &docs.v[i], file, e))
            return false;
    return true;
}

static bool read_stdin(struct reading *r, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    char piece[65536];
    for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0;)
        strbuf_add(&b, piece, n);
    struct str text = arena_str(r->s->a, strbuf_str(&b));
    strbuf_release(&b);
    return read_text(r, "STDIN", text, e);
}

static bool is_manifest(struct str name)
{
    return str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")) ||
           str_ends(name, STR(".json"));
}

static bool read_path(struct reading *r, const char *path, bool recursive, bool named,
                      struct err *e);

static bool read_folder(struct reading *r, const char *path, bool recursive,
                        struct err *e)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    bool ok = n >= 0 || err_set(e, ERR_IO, "cannot read \"%s\"", path);
    for (int i = 0; i < n; i++) {
        if (ok && entries[i]->d_name[0] != '.')
            ok = read_path(r, arena_printf(r->s->a, "%s/%s", path, entries[i]->d_name).p,
                           recursive, false, e);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return ok;
}

/* named: not met in a folder, where other files are passed over. */
static bool read_path(struct reading *r, const char *path, bool recursive, bool named,
                      struct err *e)
{
    struct stat st;
    struct str text;
    if (stat(path, &st) != 0)
        return err_set(e, ERR_NOT_FOUND, "the path \"%s\" does not exist", path);
    if (S_ISDIR(st.st_mode))
        return !(named || recursive) || read_folder(r, path, recursive, e);
    if (!named && !is_manifest(str_from(path)))
        return true;
    return kubeconfig_read_file(path, r->s->a, &text, e) && read_text(r, path, text, e);
}

static bool read_files(struct reading *r, const char *files, bool recursive,
                       struct err *e)
{
    struct str file;
    for (struct str rest = str_from(files); str_split_next(&rest, ',', &file);) {
        bool ok = str_is(file, "-")
                      ? read_stdin(r, e)
                      : read_path(r, arena_str(r->s->a, file).p, recursive, true, e);
        if (!ok)
            return false;
    }
    return true;
}

bool targets_of_files(struct session *s, struct discovery *d, const char *files,
                      bool recursive, struct targets *out, struct err *e)
{
    struct reading r = {.s = s, .d = d};
    bool ok = read_files(&r, files, recursive, e);
    const char *missing = NULL;
    if (r.missing.n)
        missing = arena_printf(s->a, "%sensure CRDs are installed first",
                               strbuf_cstr(&r.missing))
                      .p;
    strbuf_release(&r.missing);
    *out = (struct targets){r.found.v, (uint32_t)r.found.n, false, missing};
    if (!ok || out->n > 0)
        return ok;
    return missing ? err_set(e, ERR_NOT_FOUND, "%s", missing)
                   : err_set(e, ERR_INVALID, "there are no objects in %s", files);
}

int targets_end(const struct targets *t, int code)
{
    if (!t->missing)
        return code;
    fprintf(stderr, "error: %s\n", t->missing);
    return EXIT_NO;
}
