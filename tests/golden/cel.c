/* SPDX-License-Identifier: Apache-2.0 */
/* Device expressions against upstream: compilation, estimates, results, costs. */
#include "golden/golden.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "device/internal.h"
#include "device_doc.h"

struct judge {
    struct device_names names;
    struct device_env *envs[2][2][2]; /* kind, consumable capacity, list attributes */
    struct strmap devices;            /* struct device_facts by name */
    struct device_facts empty;
    /* What new expressions see when a version of the environment is theirs: without
     * gates, a release after it. For the table of overloads. */
    struct device_env *versions[64];
};

/* ---- Environments ---- */

static uint32_t members(const struct doc *d)
{
    return d && d->type == DOC_MAP ? d->n : 0;
}

static bool flag_or(const struct doc *d, const char *key, bool otherwise)
{
    doc_get_bool(d, key, &otherwise);
    return otherwise;
}

static const struct device_env *env_for(struct judge *j, const struct doc *d)
{
    bool stored = !doc_is_string(doc_get(d, "env"), "new");
    bool capacity = flag_or(d, "consumableCapacity", true);
    bool lists = flag_or(d, "listAttributes", true);
    struct device_env **env = &j->envs[stored][capacity][lists];
    if (!*env) {
        const struct device_env_opts opts = {.kind = stored ? DEVICE_ENV_STORED
                                                            : DEVICE_ENV_NEW,
                                             .consumable_capacity = capacity,
                                             .list_attributes = lists};
        *env = device_env_new(&opts, &j->names);
    }
    return *env;
}

static enum device_expr_mode mode_of(const struct doc *d)
{
    if (doc_is_string(doc_get(d, "mode"), "value"))
        return DEVICE_VALUE;
    return doc_is_string(doc_get(d, "mode"), "derived") ? DEVICE_DERIVED
                                                        : DEVICE_SELECTOR;
}

/* ---- Texts ---- */

/* What the folder's README takes out of the comparison: what follows "Syntax error" and
 * the Go names of map types; and the hint, which only selectors get. */
static struct str comparable(struct str s, enum device_expr_mode mode)
{
    static const char hint[] = ". consider using CEL optional chaining";
    size_t at = str_find(s, STR("Syntax error"));
    if (at != SIZE_MAX)
        return str_sub(s, 0, at + strlen("Syntax error"));
    at = str_find(s, STR("type: map["));
    if (at != SIZE_MAX)
        return str_sub(s, 0, at + strlen("type: map"));
    at = str_find(s, str_from(hint));
    return at != SIZE_MAX && mode != DEVICE_SELECTOR ? str_sub(s, 0, at) : s;
}

static void check_error(struct golden_case *c, const char *field, const struct doc *want,
                        struct str got, enum device_expr_mode mode)
{
    struct str text = want && want->type == DOC_STRING ? doc_str(want) : STR("no error");
    golden_check_str(c, field, comparable(text, mode), comparable(got, mode));
}

/* Numbers beyond int64 are texts, 2^64-1 is "max". */
static void check_count(struct golden_case *c, const char *field, const struct doc *want,
                        uint64_t got)
{
    struct doc d;
    if (got == UINT64_MAX)
        d = doc_make_string(c->arena, STR("max"));
    else if (got > INT64_MAX)
        d = doc_make_string(c->arena, arena_printf(c->arena, "%" PRIu64, got));
    else
        d = doc_make_int(c->arena, (int64_t)got);
    golden_check_doc(c, field, want, &d);
}

static void check_cost(struct golden_case *c, const char *field, const struct doc *want,
                       uint64_t got)
{
    const struct doc *cost = doc_get(want, "cost"), *range = doc_get(want, "costRange");
    int64_t lo, hi;
    if (range && doc_int64(&range->items[0], &lo) && doc_int64(&range->items[1], &hi)) {
        if ((int64_t)got < lo || (int64_t)got > hi)
            golden_fail(c, "%s: %" PRIu64 " is not in %" PRId64 "..%" PRId64, field, got,
                        lo, hi);
    } else if (cost) {
        check_count(c, field, cost, got);
    }
}

/* ---- Answers ---- */

static struct str print_value(struct cel_value v, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    cel_print(v, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static struct doc value_doc(struct cel_value v, struct arena *a)
{
    struct doc d = doc_make_map();
    struct str type = str_from(cel_type_name(cel_type_of_value(v)));
    doc_set(a, &d, "type", doc_make_string(a, type));
    doc_set(a, &d, "text", doc_make_string(a, print_value(v, a)));
    return d;
}

/* One of "match", "value", "attribute", "error". */
struct answer {
    const char *field;
    struct doc doc;
    struct str error;
};

static struct answer answer_error(struct str text)
{
    return (struct answer){.field = "error", .error = text};
}

/* The verdict by way of a memo that has seen the device: the same, whatever came of it.
 */
static enum device_verdict match(const struct device_expr *x,
                                 const struct device_facts *d, struct cel_run *run,
                                 struct str *why, struct arena *a)
{
    struct device_memo memo;
    device_memo_init(&memo, x, a);
    enum device_verdict first = device_expr_match(x, d, run, why);
    uint64_t cost = run->cost;
    device_memo_match(&memo, d, run, why);
    enum device_verdict last = device_memo_match(&memo, d, run, why);
    if (last != first || run->cost != cost)
        *why = STR("the memo has another answer");
    device_memo_fini(&memo);
    return str_is(*why, "the memo has another answer") ? DEVICE_ERROR : last;
}

static struct answer ask(const struct device_expr *x, enum device_expr_mode mode,
                         const struct device_facts *d, struct cel_run *run,
                         struct arena *a)
{
    struct str why = STR_NONE;
    if (mode == DEVICE_SELECTOR) {
        enum device_verdict verdict = match(x, d, run, &why, a);
        if (verdict == DEVICE_ERROR)
            return answer_error(arena_str(a, why));
        return (struct answer){"match", doc_make_bool(verdict == DEVICE_YES), STR_NONE};
    }
    if (mode == DEVICE_DERIVED) {
        struct device_attr_value v;
        if (!device_expr_derive(x, d, run, &v, &why))
            return answer_error(arena_str(a, why));
        return (struct answer){"attribute", device_doc_attr(&v, a), STR_NONE};
    }
    struct cel_value v = device_expr_value(x, d, run);
    if (v.kind == CEL_ERROR)
        return answer_error(arena_str(a, v.error->text));
    return (struct answer){"value", value_doc(v, a), STR_NONE};
}

static void check_result(struct golden_case *c, const char *prefix,
                         const struct doc *want, const struct device_expr *x,
                         enum device_expr_mode mode, const struct device_facts *d)
{
    struct cel_run run;
    cel_run_init(&run);
    struct answer got = ask(x, mode, d, &run, c->arena);
    const char *field = arena_printf(c->arena, "%s.%s", prefix, got.field).p;
    const struct doc *w = doc_get(want, got.field);
    if (strcmp(got.field, "error") == 0 || doc_get(want, "error"))
        check_error(c, arena_printf(c->arena, "%s.error", prefix).p,
                    doc_get(want, "error"), got.error.n ? got.error : STR("no error"),
                    mode);
    else if (w)
        golden_check_doc(c, field, w, &got.doc);
    if (w || got.error.n)
        check_cost(c, arena_printf(c->arena, "%s.cost", prefix).p, want, run.cost);
    cel_run_fini(&run);
}

/* Compiles and checks everything that is known before an evaluation. NULL: it did not
 * compile, and that was checked. */
static struct device_expr *check_compile(struct golden_case *c, struct judge *j,
                                         const char *prefix, const struct doc *want,
                                         enum device_expr_mode mode)
{
    struct str text = doc_get_text(c->doc, "expression");
    struct device_expr_error error;
    struct device_expr *x =
        device_expr_new(env_for(j, want), text, mode, c->arena, &error);
    const char *p = prefix;
#define FIELD(name) arena_printf(c->arena, "%s%s", p, name).p
    if (!x || doc_get(want, "compileError"))
        check_error(c, FIELD("compileError"), doc_get(want, "compileError"),
                    x ? STR("no error") : error.text, mode);
    if (!x && doc_get(want, "compileErrorType"))
        golden_check_str(c, FIELD("compileErrorType"),
                         doc_get_text(want, "compileErrorType"),
                         error.fault == DEVICE_FAULT_INVALID ? STR("RuleInvalid")
                                                             : STR("InternalError"));
    if (!x || doc_get(want, "compileError"))
        return x;
    struct strbuf b = STRBUF_INIT;
    cel_type_print(device_expr_type(x), &b);
    golden_check_str(c, FIELD("outputType"), doc_get_text(want, "outputType"),
                     strbuf_str(&b));
    strbuf_release(&b);
    struct cel_range estimate = device_expr_estimate(x);
    check_count(c, FIELD("estimateMin"), doc_get(want, "estimateMin"), estimate.min);
    check_count(c, FIELD("estimate"), doc_get(want, "estimate"), estimate.max);
#undef FIELD
    return x;
}

/* ---- The four shapes of a line ---- */

static void run_expression(struct golden_case *c, struct judge *j)
{
    enum device_expr_mode mode = mode_of(c->doc);
    struct device_expr *x = check_compile(c, j, "", c->doc, mode);
    const struct doc *results = doc_get(c->doc, "results");
    for (uint32_t i = 0; x && i < members(results); i++) {
        struct str name = doc_key(&results->members[i]);
        struct strmap_entry *device = strmap_find(&j->devices, name);
        if (device)
            check_result(c, arena_printf(c->arena, "results.%.*s", STR_ARG(name)).p,
                         &results->members[i].value, x, mode, device->value.ptr);
        else
            golden_fail(c, "no device %.*s", STR_ARG(name));
    }
    device_expr_free(x);
}

static void run_compile(struct golden_case *c, struct judge *j)
{
    enum device_expr_mode mode = mode_of(c->doc);
    const struct doc *runs = doc_get(c->doc, "runs");
    struct device_facts device;
    device_doc_read(&j->names, doc_get(c->doc, "device"), c->arena, &device);
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct doc *run = &runs->items[i];
        const char *prefix = arena_printf(c->arena, "runs[%u]", i).p;
        struct device_expr *x =
            check_compile(c, j, arena_printf(c->arena, "%s.", prefix).p, run, mode);
        if (x && (doc_get(run, "cost") || doc_get(run, "error")))
            check_result(c, prefix, run, x, mode, &device);
        device_expr_free(x);
    }
}

static void run_library(struct golden_case *c, struct judge *j)
{
    const struct doc *dra = doc_get(c->doc, "dra");
    struct device_expr *x = check_compile(c, j, "dra.", dra, DEVICE_VALUE);
    if (x)
        check_result(c, "dra", dra, x, DEVICE_VALUE, &j->empty);
    device_expr_free(x);
}

static const struct device_env *env_version(struct judge *j, unsigned version)
{
    struct device_env **env = &j->versions[version];
    if (!*env) {
        const struct device_env_opts opts = {.kind = DEVICE_ENV_NEW,
                                             .version = version + 1};
        *env = device_env_new(&opts, &j->names);
    }
    return *env;
}

static const struct cel_decl *find_overload(const struct device_env *env,
                                            const struct doc *d)
{
    uint32_t n;
    const struct cel_decl *decls =
        cel_env_function(env->cel, doc_get_text(d, "function"), &n);
    for (uint32_t i = 0; i < n; i++)
        if (str_is(doc_get_text(d, "id"), decls[i].row->id))
            return &decls[i];
    return NULL;
}

static void check_signature(struct golden_case *c, const struct cel_decl *decl)
{
    const struct doc *args = doc_get(c->doc, "args");
    struct strbuf want = STRBUF_INIT;
    for (uint32_t i = 0; i < args->n; i++)
        strbuf_addf(&want, "%s%s", i ? ", " : "(", args->items[i].s);
    strbuf_addf(&want, "%s) -> %.*s", args->n ? "" : "(",
                STR_ARG(doc_get_text(c->doc, "result")));
    struct cel_signature sig;
    bool same = cel_signature_parse(c->arena, strbuf_str(&want), &sig) &&
                sig.nargs == decl->nargs && cel_type_equal(sig.result, decl->result);
    for (uint32_t i = 0; same && i < sig.nargs; i++)
        same = cel_type_equal(sig.args[i], decl->args[i]);
    if (!same)
        golden_check_str(c, "type", strbuf_str(&want), str_from(decl->row->type));
    strbuf_release(&want);
}

/* An overload is there from its version on, not before. */
static void run_overload(struct golden_case *c, struct judge *j)
{
    unsigned since = (unsigned)strtoul(doc_get_text(c->doc, "since").p + 2, NULL, 10);
    const struct cel_decl *decl =
        find_overload(env_version(j, since ? since : 1), c->doc);
    golden_check_bool(c, "exists", true, decl != NULL);
    if (since > 1)
        golden_check_bool(c, "existsBefore", false,
                          find_overload(env_version(j, since - 1), c->doc) != NULL);
    golden_check_bool(c, "stored137", flag_or(c->doc, "stored137", false),
                      find_overload(env_for(j, NULL), c->doc) != NULL);
    if (!decl)
        return;
    golden_check_bool(c, "member", flag_or(c->doc, "member", false), decl->row->member);
    check_signature(c, decl);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    struct judge *j = g->data;
    if (doc_get(c->doc, "dra"))
        run_library(c, j);
    else if (doc_get(c->doc, "runs"))
        run_compile(c, j);
    else if (doc_get(c->doc, "stored137"))
        run_overload(c, j);
    else
        run_expression(c, j);
}

static bool begin(struct golden *g)
{
    struct judge *j = ARENA_NEW(g->arena, struct judge);
    struct doc_list lines;
    g->data = j;
    device_names_init(&j->names);
    device_doc_read(&j->names, NULL, g->arena, &j->empty);
    if (!golden_read_lines(g, "devices.jsonl", &lines))
        return false;
    for (size_t i = 0; i < lines.n; i++) {
        struct device_facts *facts = ARENA_NEW(g->arena, struct device_facts);
        device_doc_read(&j->names, &lines.v[i], g->arena, facts);
        strmap_put(&j->devices, doc_get_text(&lines.v[i], "name"), NULL)->value.ptr =
            facts;
    }
    return true;
}

static void end(struct golden *g)
{
    struct judge *j = g->data;
    for (unsigned i = 0; i < 8; i++)
        device_env_free(j->envs[i >> 2 & 1][i >> 1 & 1][i & 1]);
    for (unsigned i = 0; i < 64; i++)
        device_env_free(j->versions[i]);
    strmap_release(&j->devices);
    device_names_fini(&j->names);
}

const struct golden_runner golden_cel = {.folder = "cel",
                                         .begin = begin,
                                         .run_case = run_case,
                                         .end = end,
                                         .support = "devices.jsonl"};
