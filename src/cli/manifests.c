/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/convert.h"
#include "api/decode.h"
#include "api/defaults.h"
#include "api/edit.h"
#include "api/validate.h"
#include "cli/hints.h"

enum { MOST = 100 }; /* errors, and notes, that are told of one file */

struct reading {
    struct cluster *c;
    const struct manifests_opts *opts;
    struct diags *diags;
    struct arena scratch;              /* of one object */
    unsigned errors, notes;            /* of one file */
    const struct api_kind *kind, *hub; /* of the last object */
    char *mapped;                      /* text of a file, NULL: none */
    size_t dropped;                    /* of that text, from its start */
};

/* ---- reporting ---- */

/* ResourceClaim "default/gpu" */
static struct str object_name(struct arena *a, const struct doc *d)
{
    const struct doc *meta = doc_get(d, "metadata");
    struct str namespace = doc_get_text(meta, "namespace"),
               name = doc_get_text(meta, "name");
    if (name.n == 0)
        name = doc_get_text(meta, "generateName");
    return arena_printf(a, "%.*s \"%.*s%s%.*s\"", STR_ARG(doc_get_text(d, "kind")),
                        STR_ARG(namespace), namespace.n ? "/" : "", STR_ARG(name));
}

/* Beyond so many of one file one more is only counted: finding its place reads the file
 * up to there. */
static void say(struct reading *r, enum diag_level level, const struct doc_source *src,
                const struct doc *object, uint32_t pos, const struct diag *what)
{
    unsigned *n = level == DIAG_ERROR ? &r->errors : &r->notes;
    struct diag d = *what;
    if (++*n > MOST) {
        diags_skip(r->diags, level);
        return;
    }
    d.file = src->name;
    if (pos == UINT32_MAX && object)
        pos = object->pos;
    if (pos != UINT32_MAX && d.place.line == 0)
        d.place = doc_place(src, pos);
    if (object)
        d.object = object_name(&r->scratch, object);
    diags_add(r->diags, level, &d);
}

static void report_issues(struct reading *r, const struct doc_source *src,
                          const struct doc *object, const struct api_issues *issues)
{
    for (size_t i = 0; i < issues->list.n; i++) {
        const struct api_issue *x = &issues->list.v[i];
        struct str advice = hint_for_issue(x, object, &r->scratch);
        struct str text = x->kind == API_WRONG_TYPE
                              ? arena_printf(&r->scratch, "%.*s: %.*s", STR_ARG(x->path),
                                             STR_ARG(x->text))
                              : x->text;
        say(r, DIAG_ERROR, src, object, x->pos,
            &(struct diag){.text = text, .advice = advice});
    }
}

/* A CEL error stands at a place inside the expression. */
static void report_cel(struct reading *r, const struct doc_source *src,
                       const struct doc *object, const struct api_error *x)
{
    for (uint32_t i = 0; i < x->issues->n; i++) {
        const struct cel_issue *issue = &x->issues->v[i];
        struct diag d = {.expression = doc_str(x->value)};
        if (x->pos != UINT32_MAX)
            d.place = doc_place_in(src, x->value, issue->pos);
        d.text = arena_printf(&r->scratch, "%.*s: %.*s", STR_ARG(x->path),
                              STR_ARG(issue->msg));
        say(r, DIAG_ERROR, src, object, x->pos, &d);
    }
}

static bool is_expression(const struct api_error *x)
{
    return x->value && x->value->type == DOC_STRING &&
           str_ends(x->path, STR(".expression"));
}

static void report_errors(struct reading *r, const struct doc_source *src,
                          const struct doc *object, const struct api_errors *errors)
{
    for (size_t i = 0; i < errors->list.n; i++) {
        const struct api_error *x = &errors->list.v[i];
        if (x->issues && x->issues->n && x->value) {
            report_cel(r, src, object, x);
            continue;
        }
        struct strbuf text = STRBUF_INIT;
        api_error_print(x, &text);
        struct diag d = {.text = strbuf_str(&text),
                         .advice = hint_for_error(x, object, &r->scratch)};
        if (is_expression(x))
            d.expression = doc_str(x->value);
        say(r, DIAG_ERROR, src, object, x->pos, &d);
        strbuf_release(&text);
    }
}

/* ---- one object ---- */

static bool is_stored(const struct doc *object)
{
    return doc_get_text(doc_get(object, "metadata"), "resourceVersion").n != 0;
}

/* What the server would fill in: the namespace; the end of a generated name, here from
 * the place in the input. */
static void complete_meta(struct reading *r, const struct api_kind *kind,
                          struct doc *object, struct arena *a)
{
    struct doc *meta = api_edit_get(object, "metadata");
    if (!meta || meta->type != DOC_MAP)
        return;
    if (kind->namespaced && doc_get_text(meta, "namespace").n == 0)
        doc_set(a, meta, "namespace", doc_make_string(a, STR("default")));
    struct str base = doc_get_text(meta, "generateName");
    if (doc_get_text(meta, "name").n == 0 && base.n)
        doc_set(a, meta, "name",
                doc_make_string(
                    a, arena_printf(a, "%.*s%u", STR_ARG(base), ++r->c->ngenerated)));
}

/* Only the first object of a kind and name counts. */
static bool is_first(struct reading *r, const struct doc_source *src,
                     const struct api_kind *kind, const struct doc *object)
{
    const struct doc *meta = doc_get(object, "metadata");
    struct cluster_origin here = {src->name, object->pos};
    const struct cluster_origin *first =
        cluster_meet(r->c, str_from(kind->name), doc_get_text(meta, "namespace"),
                     doc_get_text(meta, "name"), here);
    if (!first)
        return true;
    struct str advice = arena_printf(&r->scratch, "first in %s", first->file);
    if (first->file == src->name) {
        struct doc_place place = doc_place(src, first->pos);
        advice = arena_printf(&r->scratch, "first in line %u", place.line);
    }
    say(r, DIAG_ERROR, src, object, object->pos,
        &(struct diag){.text = STR("is given twice"), .advice = advice});
    return false;
}

/* False when it was found wrong. */
static bool is_valid(struct reading *r, const struct doc_source *src,
                     const struct api_kind *kind, const struct doc *object)
{
    const struct api_validate_opts opts = {.op = API_CREATE,
                                           .gates = r->opts->gates,
                                           .admin_namespace = true,
                                           .requested_version = kind->version};
    struct api_errors errors = {0};
    api_validate(r->hub, object, &opts, &r->scratch, &errors);
    bool ok = errors.list.n == 0;
    report_errors(r, src, object, &errors);
    api_errors_release(&errors);
    return ok;
}

/* ---- what is accepted and hardly meant ---- */

struct doubt {
    struct reading *r;
    const struct doc_source *src;
    const struct doc *object;
};

static void doubt_expression(void *ctx, struct doc *d)
{
    struct doubt *x = ctx;
    struct reading *r = x->r;
    if (d->type != DOC_STRING || !hint_for_accepted(r->c, doc_str(d), &r->scratch).n)
        return;
    struct diag what = {.text =
                            STR("the selector compares texts where amounts are meant"),
                        .expression = doc_str(d)};
    say(r, DIAG_NOTE, x->src, x->object, d->pos, &what);
}

static void doubt_object(struct reading *r, const struct doc_source *src,
                         struct doc *object)
{
    static const char *const PLACES[] = {
        "spec.selectors[].cel.expression",
        "spec.devices.requests[].exactly.selectors[].cel.expression",
        "spec.devices.requests[].firstAvailable[].selectors[].cel.expression",
        "spec.spec.devices.requests[].exactly.selectors[].cel.expression",
        "spec.spec.devices.requests[].firstAvailable[].selectors[].cel.expression",
    };
    struct doubt x = {r, src, object};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++)
        api_edit_each(object, PLACES[i], doubt_expression, &x);
}

/* Slices are most of a large cluster; what a server has stored in the shape that views
 * read is known to be right. */
static bool is_known(const struct reading *r, const struct api_kind *kind,
                     const struct doc *object)
{
    return strcmp(kind->name, "ResourceSlice") == 0 && kind == r->hub &&
           is_stored(object);
}

static bool has_shape(struct reading *r, const struct doc_source *src,
                      const struct api_kind *kind, const struct doc *object)
{
    struct api_issues issues = {0};
    bool stored = is_stored(object);
    bool decodable = api_check_object(kind, object, src, &r->scratch, &issues);
    /* A newer server may know fields that we do not: what it stored is not wrong. */
    if (!stored || !decodable)
        report_issues(r, src, object, &issues);
    bool ok = issues.list.n == 0 || (stored && decodable);
    api_issues_release(&issues);
    return ok;
}

/* What a view cannot be made of has a wrong shape, too, if it was not looked at before.
 */
static void add(struct reading *r, const struct doc_source *src,
                const struct api_kind *kind, const struct doc *object)
{
    struct err e = ERR_INIT;
    if (!cluster_add(r->c, str_from(kind->name), object, &e) &&
        (!is_known(r, kind, object) || has_shape(r, src, kind, object)))
        say(r, DIAG_ERROR, src, object, UINT32_MAX,
            &(struct diag){.text = str_from(err_text(&e))});
    err_release(&e);
}

/* A claim as it was written beside the same with its allocation, as this program and
 * servers print it: the allocation counts. */
static bool is_same_claim(struct reading *r, const struct api_kind *kind,
                          const struct doc *object)
{
    if (strcmp(kind->name, "ResourceClaim") != 0)
        return false;
    const struct doc *meta = doc_get(object, "metadata");
    struct cluster_claim *before =
        cluster_claim(r->c, doc_get_text(meta, "namespace"), doc_get_text(meta, "name"));
    bool allocated = doc_path(object, "status.allocation") != NULL;
    if (!before || allocated == (before->view->allocation != NULL) ||
        !doc_equal(doc_get(before->doc, "spec"), doc_get(object, "spec")))
        return false;
    return !allocated || cluster_set_claim(r->c, before, object);
}

static void take(struct reading *r, const struct doc_source *src,
                 const struct api_kind *kind, const struct doc *object)
{
    const struct api_kind *hub = r->hub;
    bool slice = strcmp(kind->name, "ResourceSlice") == 0;
    bool stored = is_stored(object);
    if (is_known(r, kind, object)) {
        if (is_first(r, src, kind, object))
            add(r, src, kind, object);
        return;
    }
    struct doc own = doc_dup(slice ? &r->scratch : &r->c->arena, object);
    struct arena *a = slice ? &r->scratch : &r->c->arena;
    api_default(kind, &own, r->opts->now, a);
    api_convert(kind, hub, &own, a);
    api_drop_disabled(hub, &own, stored ? &own : NULL, r->opts->gates);
    complete_meta(r, kind, &own, a);
    struct doc *kept = ARENA_NEW(a, struct doc);
    *kept = own;
    bool ok = stored || is_valid(r, src, kind, kept);
    if (ok && strcmp(kind->group, "resource.k8s.io") == 0 && !slice)
        doubt_object(r, src, kept);
    if (ok && is_same_claim(r, kind, kept))
        return;
    if (is_first(r, src, kind, kept) && ok)
        add(r, src, kind, kept);
}

/* What was read of a mapped file need not stay in memory; it comes back when asked for.
 */
static void drop_passed(void *ctx, uint32_t pos)
{
    enum { STEP = 1 << 20 };
    struct reading *r = ctx;
    if (!r->mapped)
        return;
    if (pos < r->dropped)
        r->dropped = 0;
    for (; pos >= r->dropped + 2 * (size_t)STEP; r->dropped += STEP)
        madvise(r->mapped + r->dropped, STEP, MADV_DONTNEED);
}

/* A kind that no server of this version has: of a group of Kubernetes' own it would be
 * refused, unless it is stored already in a server of another version. One object of each
 * foreign kind is enough. */
static void tell_unknown(struct reading *r, const struct doc_source *src,
                         const struct doc *object)
{
    struct str version = doc_get_text(object, "apiVersion"),
               kind = doc_get_text(object, "kind");
    struct cluster_origin here = {src->name, object->pos};
    struct diag d = {.advice = hint_for_version(version, kind, &r->scratch)};
    if (str_is(version, "v1") && str_is(kind, "List")) {
        d.text = STR("a List needs a list of items");
        say(r, DIAG_ERROR, src, NULL, object->pos, &d);
        return;
    }
    if (d.advice.n && !is_stored(object)) {
        d.text = arena_printf(&r->scratch, "Kubernetes has no kind \"%.*s\" in %.*s",
                              STR_ARG(kind), STR_ARG(version));
        say(r, DIAG_ERROR, src, object, object->pos, &d);
        return;
    }
    if (cluster_meet(r->c, STR("foreign"), version, kind, here))
        return;
    d.text = arena_printf(&r->scratch,
                          "%.*s is none of Kubernetes' own kinds; all of this kind are "
                          "passed over",
                          STR_ARG(version));
    say(r, DIAG_NOTE, src, object, object->pos, &d);
}

/* Mostly that of the object before. */
static const struct api_kind *kind_of(struct reading *r, struct str version,
                                      struct str name)
{
    const struct api_kind *k = r->kind;
    if (k && str_is(name, k->name) && api_version_is(k, version))
        return k;
    r->kind = api_kind_find(version, name);
    r->hub = r->kind ? api_kind_hub(r->kind) : NULL;
    return r->kind;
}

static bool each_object(void *ctx, const struct doc_source *src, const struct doc *object,
                        struct err *e)
{
    struct reading *r = ctx;
    (void)e;
    arena_reset(&r->scratch);
    struct str version = doc_get_text(object, "apiVersion"),
               name = doc_get_text(object, "kind");
    if (object->type != DOC_MAP || name.n == 0 || version.n == 0) {
        say(r, DIAG_ERROR, src, NULL, object->pos,
            &(struct diag){.text =
                               STR("this is no Kubernetes object: it needs apiVersion "
                                   "and kind")});
        return true;
    }
    const struct api_kind *kind = kind_of(r, version, name);
    if (!kind || !kind->type) {
        tell_unknown(r, src, object);
        return true;
    }
    if (cluster_wants(str_from(kind->group), name) &&
        (is_known(r, kind, object) || has_shape(r, src, kind, object)))
        take(r, src, kind, object);
    return true;
}

/* ---- files ---- */

static bool cannot(struct reading *r, const char *path, const char *what)
{
    struct str text = arena_printf(&r->scratch, "%s: %s", what, strerror(errno));
    struct diag d = {.file = path, .text = text};
    diags_add(r->diags, DIAG_ERROR, &d);
    return false;
}

static void tell_skipped(struct reading *r, const struct doc_source *src,
                         enum diag_level level, unsigned n, const char *what)
{
    if (n <= MOST)
        return;
    struct diag d = {.file = src->name};
    d.text = arena_printf(&r->scratch, "and %u more %s of this file", n - MOST, what);
    diags_add(r->diags, level, &d);
    if (level == DIAG_ERROR)
        r->diags->errors--; /* this line is none */
}

static void parse(struct reading *r, const char *path, struct str text)
{
    /* The name outlives the reading: later duplicates tell it. */
    struct doc_source src = {.name = arena_strdup(&r->c->arena, path),
                             .text = text,
                             .passed = drop_passed,
                             .passed_ctx = r};
    struct err e = ERR_INIT;
    size_t from = r->diags->list.n;
    r->errors = r->notes = 0;
    if (!doc_stream(&src, each_object, r, &e)) {
        struct diag d = {.text = str_from(err_text(&e))};
        diags_add(r->diags, DIAG_ERROR, &d);
    }
    err_release(&e);
    diags_sort(r->diags, from);
    tell_skipped(r, &src, DIAG_ERROR, r->errors, "mistakes");
    tell_skipped(r, &src, DIAG_NOTE, r->notes, "notes");
}

/* What cannot be mapped: a pipe, a device. Nothing at all means that the command at its
 * other end failed. */
static bool read_pipe(struct reading *r, int fd, const char *path)
{
    struct strbuf text = STRBUF_INIT;
    ssize_t n;
    do {
        strbuf_reserve(&text, 65536);
        n = read(fd, text.p + text.n, 65536);
        if (n > 0) {
            text.n += (size_t)n;
            text.p[text.n] = '\0';
        }
    } while (n > 0 || (n < 0 && errno == EINTR));
    bool ok = n == 0 || cannot(r, path, "cannot read");
    if (ok && text.n)
        parse(r, path, strbuf_str(&text));
    else if (ok)
        diags_add(r->diags, DIAG_ERROR,
                  &(struct diag){.file = path, .text = STR("nothing came in")});
    strbuf_release(&text);
    return ok;
}

static bool read_file(struct reading *r, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot(r, path, "cannot open");
    bool ok = fstat(fd, &st) == 0 || cannot(r, path, "cannot read");
    if (ok && !S_ISREG(st.st_mode))
        ok = read_pipe(r, fd, path);
    if (!ok || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return ok;
    }
    size_t size = (size_t)st.st_size;
    char *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return cannot(r, path, "cannot read");
    r->mapped = p;
    r->dropped = 0;
    parse(r, path, (struct str){p, size});
    r->mapped = NULL;
    munmap(p, size);
    return true;
}

static bool is_manifest(const char *name)
{
    struct str s = str_from(name);
    return str_ends(s, STR(".yaml")) || str_ends(s, STR(".yml")) ||
           str_ends(s, STR(".json"));
}

/* A folder or a pipe that is named like a file. */
static bool is_special(int dir, const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, 0) == 0 && !S_ISREG(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool read_folder(struct reading *r, const char *path)
{
    VEC(char *) names = {0};
    DIR *dir = opendir(path);
    if (!dir)
        return cannot(r, path, "cannot open");
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (is_manifest(entry->d_name) && !is_special(dirfd(dir), entry->d_name))
            vec_push(&names, mem_dup(entry->d_name, strlen(entry->d_name)));
    closedir(dir);
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, by_name);
    bool ok = true;
    for (size_t i = 0; i < names.n; i++) {
        struct strbuf file = STRBUF_INIT;
        strbuf_addf(&file, "%s/%s", path, names.v[i]);
        ok = read_file(r, strbuf_cstr(&file)) && ok;
        strbuf_release(&file);
        free(names.v[i]);
    }
    vec_release(&names);
    return ok;
}

bool manifests_read(struct cluster *c, const char *path,
                    const struct manifests_opts *opts, struct diags *diags)
{
    struct reading r = {.c = c, .opts = opts, .diags = diags};
    struct stat st;
    arena_init(&r.scratch);
    bool ok;
    if (strcmp(path, "-") == 0)
        ok = read_pipe(&r, STDIN_FILENO, path);
    else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        ok = read_folder(&r, path);
    else
        ok = read_file(&r, path);
    arena_fini(&r.scratch);
    return ok;
}

/* ---- the whole ---- */

static bool wants_admin(const struct view_claim *claim)
{
    for (uint32_t i = 0; i < claim->nrequests; i++)
        for (uint32_t k = 0; k < claim->requests[i].nalternatives; k++)
            if (claim->requests[i].alternatives[k].admin)
                return true;
    return false;
}

static void check_admin(struct cluster *c, const char *kind,
                        const struct view_claim *claim, struct diags *diags)
{
    const struct strmap_entry *e = strmap_find(&c->namespaces, claim->meta.namespace);
    if (!wants_admin(claim) || (e && e->value.u))
        return;
    struct diag d = {.object = arena_printf(&diags->arena, "%s \"%.*s/%.*s\"", kind,
                                            STR_ARG(claim->meta.namespace),
                                            STR_ARG(claim->meta.name))};
    d.text = arena_printf(
        &diags->arena,
        "adminAccess needs the label resource.kubernetes.io/admin-access: \"true\" on "
        "namespace %.*s%s",
        STR_ARG(claim->meta.namespace), e ? "" : ", which is not among the input");
    diags_add(diags, e ? DIAG_ERROR : DIAG_NOTE, &d);
}

static void advise_expressions(struct cluster *c, struct diags *diags)
{
    struct arena *a = &diags->arena;
    for (size_t i = 0; i < diags->list.n; i++) {
        struct diag *d = &diags->list.v[i];
        /* Several errors of one expression have one remedy. */
        bool told = i > 0 && str_eq(d->expression, d[-1].expression) &&
                    str_eq(d->object, d[-1].object);
        if (d->expression.n && d->advice.n == 0 && !told)
            d->advice = d->level == DIAG_NOTE
                            ? hint_for_accepted(c, d->expression, a)
                            : hint_for_cel(c, d->expression, d->text, a);
    }
}

void manifests_finish(struct cluster *c, struct diags *diags)
{
    advise_expressions(c, diags);
    for (size_t i = 0; i < c->claims.n; i++)
        if (!c->claims.v[i].view->allocation)
            check_admin(c, "ResourceClaim", c->claims.v[i].view, diags);
    for (size_t i = 0; i < c->templates.n; i++) {
        const struct cluster_template *t = &c->templates.v[i];
        struct view_claim claim = {.meta = {.namespace = t->namespace, .name = t->name}};
        if (view_claim_spec(t->spec, &claim, &c->arena, NULL))
            check_admin(c, "ResourceClaimTemplate", &claim, diags);
    }
}
