/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests that real drivers and users publish: each gets the verdict of the real API
 * server (accepted, not decodable, invalid with the same fields and error types), foreign
 * kinds pass, and what is accepted is the same after writing and reading it again. Speaks
 * TAP, one line a document. The folder is $DRAY_SHARED/corpus.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/convert.h"
#include "api/decode.h"
#include "api/defaults.h"
#include "api/validate.h"
#include "base/vec.h"
#include "doc/doc.h"

struct run {
    struct arena arena; /* of one row */
    unsigned n, failed;
};

struct verdict {
    int64_t code;
    struct strbuf causes; /* "type field" lines, sorted, distinct */
};

/* ---- small helpers ---- */

static bool read_file(const char *path, struct arena *a, struct str *out)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    char *p = arena_alloc(a, (size_t)st.st_size + 1);
    size_t got = 0;
    ssize_t n = 1;
    while (got < (size_t)st.st_size &&
           (n = read(fd, p + got, (size_t)st.st_size - got)) > 0)
        got += (size_t)n;
    close(fd);
    p[got] = '\0';
    *out = (struct str){p, got};
    return n >= 0;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Sorted and without repetition, one a line. */
static void join(struct str *v, size_t n, struct strbuf *out)
{
    if (n > 1)
        qsort(v, n, sizeof *v, by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(v[i], v[i - 1]))
            strbuf_addf(out, "%.*s\n", STR_ARG(v[i]));
}

/* ---- dray's verdict ---- */

static void add_errors(struct run *r, const struct api_errors *errors,
                       struct verdict *out)
{
    struct str *lines = ARENA_ARRAY(&r->arena, struct str, errors->list.n + 1);
    for (size_t i = 0; i < errors->list.n; i++)
        lines[i] =
            arena_printf(&r->arena, "%s %.*s", api_error_reason(errors->list.v[i].type),
                         STR_ARG(errors->list.v[i].path));
    join(lines, errors->list.n, &out->causes);
    out->code = errors->list.n ? 422 : 201;
}

/* What a create request makes of the metadata it is sent with. */
static void place(struct run *r, const struct api_kind *kind, struct doc *object)
{
    struct doc *meta = (struct doc *)doc_get(object, "metadata");
    if (!meta || meta->type != DOC_MAP)
        return;
    doc_remove(meta, STR("generation"));
    doc_remove(meta, STR("managedFields"));
    if (!kind->namespaced)
        doc_remove(meta, STR("namespace"));
    else if (doc_get_text(meta, "namespace").n == 0)
        doc_set(&r->arena, meta, "namespace", doc_make_string(&r->arena, STR("default")));
}

static void validate(struct run *r, const struct api_kind *kind, const struct doc *d,
                     bool admin, struct verdict *out)
{
    struct doc object = doc_dup(&r->arena, d);
    const struct api_kind *hub = api_kind_hub(kind);
    struct api_gates gates = {~(uint64_t)0}; /* the recorded server had them all on */
    struct api_errors errors = {0};
    api_default(kind, &object, STR("2026-01-01T00:00:00Z"), &r->arena);
    api_convert(kind, hub, &object, &r->arena);
    doc_remove(&object, STR("status"));
    api_drop_disabled(hub, &object, NULL, &gates);
    place(r, kind, &object);
    const struct api_validate_opts opts = {.op = API_CREATE,
                                           .gates = &gates,
                                           .admin_namespace = admin,
                                           .requested_version = kind->version};
    api_validate(hub, &object, &opts, &r->arena, &errors);
    add_errors(r, &errors, out);
    api_errors_release(&errors);
}

static void judge(struct run *r, const struct doc_source *src, const struct doc *d,
                  bool admin, struct verdict *out)
{
    const struct api_kind *kind =
        api_kind_find(doc_get_text(d, "apiVersion"), doc_get_text(d, "kind"));
    struct api_issues issues = {0};
    if (!kind || !kind->type) {
        out->code = 0;
        return;
    }
    api_check_object(kind, d, src, &r->arena, &issues);
    if (issues.list.n)
        out->code = 400;
    else
        validate(r, kind, d, admin, out);
    api_issues_release(&issues);
}

/* ---- the recorded one ---- */

static void recorded(struct run *r, const struct doc *row, struct verdict *out)
{
    const struct doc *causes = doc_get(row, "causes");
    out->code = 0;
    doc_get_int64(row, "code", &out->code);
    if (!causes || causes->type != DOC_LIST)
        return;
    struct str *lines = ARENA_ARRAY(&r->arena, struct str, causes->n + 1);
    for (uint32_t i = 0; i < causes->n; i++)
        lines[i] = arena_printf(&r->arena, "%.*s %.*s",
                                STR_ARG(doc_get_text(&causes->items[i], "reason")),
                                STR_ARG(doc_get_text(&causes->items[i], "field")));
    join(lines, causes->n, &out->causes);
}

/* Written and read again, the document is the same. */
static bool round_trips(struct run *r, const struct doc *d)
{
    struct strbuf text = STRBUF_INIT;
    struct doc_list again = {0};
    struct doc json;
    doc_write_yaml(d, &text);
    struct doc_source yaml_src = {.name = "yaml", .text = strbuf_str(&text)};
    bool ok = doc_read_yaml(&yaml_src, &r->arena, &again, NULL) && again.n == 1 &&
              doc_equal(d, &again.v[0]);
    struct strbuf json_text = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_INDENT, &json_text);
    struct doc_source json_src = {.name = "json", .text = strbuf_str(&json_text)};
    ok = ok && doc_read_json(&json_src, &r->arena, &json, NULL) && doc_equal(d, &json);
    strbuf_release(&text);
    strbuf_release(&json_text);
    return ok;
}

/*
 * Rows that were recorded through another YAML reader than kubectl's: `string: 08` is the
 * number 8 to kubectl (as to go-yaml), which is no string.
 */
static const struct {
    const char *file;
    int64_t code;
} DIFFERENCES[] = {{"reconstructed/ibm-cex-ap-queues.yaml", 400}};

static void apply_differences(struct str file, struct verdict *want)
{
    for (size_t i = 0; i < sizeof DIFFERENCES / sizeof *DIFFERENCES; i++)
        if (str_is(file, DIFFERENCES[i].file))
            want->code = DIFFERENCES[i].code;
}

/* ---- one row ---- */

/* Documents of a file in order, the items of Lists one by one. */
static struct doc_list flatten(struct run *r, const struct doc_list *docs)
{
    VEC(struct doc) all = {0};
    for (size_t i = 0; i < docs->n; i++) {
        const struct doc *items = doc_get(&docs->v[i], "items");
        bool list = str_ends(doc_get_text(&docs->v[i], "kind"), STR("List"));
        if (!list || !items || items->type != DOC_LIST) {
            vec_push(&all, docs->v[i]);
            continue;
        }
        for (uint32_t k = 0; k < items->n; k++)
            vec_push(&all, items->items[k]);
    }
    struct doc_list out = {ARENA_ARRAY(&r->arena, struct doc, all.n + 1), all.n};
    for (size_t i = 0; i < all.n; i++)
        out.v[i] = all.v[i];
    vec_release(&all);
    return out;
}

/* Namespaces that the file does not bring were made with the label, but for the default.
 */
static bool allows_admin(const struct doc_list *docs, const struct doc *object)
{
    struct str namespace = doc_get_text(doc_get(object, "metadata"), "namespace");
    for (size_t i = 0; i < docs->n; i++) {
        const struct doc *labels = doc_path(&docs->v[i], "metadata.labels");
        if (doc_is_string(doc_get(&docs->v[i], "kind"), "Namespace") &&
            str_eq(doc_get_text(doc_get(&docs->v[i], "metadata"), "name"), namespace))
            return doc_is_string(doc_get(labels, "resource.kubernetes.io/admin-access"),
                                 "true");
    }
    return namespace.n && !str_is(namespace, "default");
}

static void result(struct run *r, bool ok, struct str name, const char *note)
{
    printf("%sok %u - %.*s%s\n", ok ? "" : "not ", ++r->n, STR_ARG(name), note);
    r->failed += !ok;
}

static void compare(struct run *r, struct str name, const struct verdict *want,
                    const struct verdict *got, const struct doc *d)
{
    bool same = want->code == got->code &&
                str_eq(strbuf_str(&want->causes), strbuf_str(&got->causes));
    bool kept = got->code != 201 || round_trips(r, d);
    result(r, same && kept, name, "");
    if (!same)
        printf("# wanted %lld\n# %s# got %lld\n# %s\n", (long long)want->code,
               strbuf_cstr(&want->causes), (long long)got->code,
               strbuf_cstr(&got->causes));
    if (!kept)
        printf("# does not survive writing and reading\n");
}

static void run_row(struct run *r, const char *folder, const struct doc *row)
{
    struct str file = doc_get_text(row, "file"), text;
    int64_t index = 0;
    bool context = false;
    doc_get_int64(row, "doc", &index);
    doc_get_bool(row, "context", &context);
    struct str name =
        arena_printf(&r->arena, "%.*s#%lld", STR_ARG(file), (long long)index);
    if (context) {
        result(r, true, name, " # SKIP depends on other objects");
        return;
    }
    const char *path = arena_printf(&r->arena, "%s/%.*s", folder, STR_ARG(file)).p;
    struct doc_list docs = {0};
    struct err e = ERR_INIT;
    if (!read_file(path, &r->arena, &text)) {
        result(r, false, name, " (cannot be opened)");
        return;
    }
    struct doc_source src = {.name = file.p, .text = text};
    bool read = doc_read(&src, &r->arena, &docs, &e);
    if (read)
        docs = flatten(r, &docs);
    if (!read || (size_t)index >= docs.n) {
        result(r, false, name, " (cannot be read)");
        printf("# %s\n", err_text(&e));
        err_release(&e);
        return;
    }
    struct verdict want = {0}, got = {0};
    recorded(r, row, &want);
    apply_differences(file, &want);
    judge(r, &src, &docs.v[index], allows_admin(&docs, &docs.v[index]), &got);
    compare(r, name, &want, &got, &docs.v[index]);
    strbuf_release(&want.causes);
    strbuf_release(&got.causes);
}

int main(void)
{
    const char *shared = getenv("DRAY_SHARED");
    struct arena lines;
    struct run r = {.n = 0};
    struct str text;
    arena_init(&lines);
    arena_init(&r.arena);
    const char *folder =
        arena_printf(&lines, "%s/corpus", shared ? shared : "../shared").p;
    const char *path = arena_printf(&lines, "%s/verdicts.jsonl", folder).p;
    if (!read_file(path, &lines, &text)) {
        printf("1..0 # SKIP no %s\n", path);
        arena_fini(&lines);
        return 0;
    }
    for (size_t from = 0, end; from < text.n; from = end + 1) {
        struct doc row;
        end = str_find_byte(text, '\n', from);
        end = end == SIZE_MAX ? text.n : end;
        struct doc_source src = {.name = path, .text = str_sub(text, from, end)};
        arena_reset(&r.arena);
        if (doc_read_json(&src, &r.arena, &row, NULL))
            run_row(&r, folder, &row);
    }
    printf("1..%u\n", r.n);
    arena_fini(&r.arena);
    arena_fini(&lines);
    return r.failed != 0;
}
