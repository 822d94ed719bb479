/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas of custom resources. structural.jsonl has questions with upstream's answers
 * (tests/peers/record-schemas writes them down); what has no question of that form is
 * below.
 */
#include "api/structural.h"

#include <stdlib.h>

#include "api/typed.h"
#include "objects.h"
#include "schema_case.h"

static const char *recorded; /* the file */
static struct api_cel cel;

/* ---- Recorded cases ---- */

static struct str read_file(struct arena *a, const char *path)
{
    struct strbuf b = STRBUF_INIT;
    FILE *f = path ? fopen(path, "rb") : NULL;
    size_t n = 1;
    if (!f)
        fail_msg("cannot open %s", path ? path : "the recorded cases");
    while (n) {
        strbuf_reserve(&b, 65536);
        n = fread(b.p + b.n, 1, 65536, f);
        b.n += n;
    }
    fclose(f);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* The names of types, which are made up anew each time, all become one. */
static struct str one_name(struct arena *a, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t at = 0; at < s.n;) {
        struct str rest = str_sub(s, at, SIZE_MAX), name = STR("selfType");
        if (!str_starts(rest, name)) {
            strbuf_addc(&b, s.p[at++]);
            continue;
        }
        strbuf_addstr(&b, name);
        for (at += name.n; at < s.n; at++) {
            char c = s.p[at];
            bool in = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '@';
            if (!in)
                break;
        }
    }
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

static struct str printed(struct arena *a, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    if (d)
        doc_write_json(d, DOC_JSON_SORT, &b);
    struct str s = one_name(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static void same(struct arena *a, const char *id, const char *what, const struct doc *got,
                 const struct doc *want)
{
    struct str x = printed(a, got), y = printed(a, want);
    if (!str_eq(x, y) && !(got && want && doc_equal(got, want)))
        fail_msg("%s: %s\ngot  %.*s\nwant %.*s", id, what, STR_ARG(x), STR_ARG(y));
}

static void check_case(const struct doc *c, struct arena *a)
{
    static const char *const fields[] = {"bad", "unknown", "object", "errors"};
    const char *id = doc_get_text(c, "id").p;
    const struct doc *want = doc_get(c, "answer");
    struct doc got = doc_make_map();
    schema_case_answer(&cel, c, a, &got);
    same(a, id, "undecodable", doc_get(&got, "undecodable"),
         doc_get(want, "undecodable"));
    same(a, id, "definition", doc_get(&got, "definition"), doc_get(want, "definition"));
    const struct doc *x = doc_get(&got, "objects"), *y = doc_get(want, "objects");
    for (uint32_t i = 0; y && i < y->n; i++)
        for (size_t k = 0; k < UNIT_COUNT(fields); k++)
            same(a, id, fields[k], doc_get(&x->items[i], fields[k]),
                 doc_get(&y->items[i], fields[k]));
}

static void test_recorded(void **state)
{
    struct arena text, a;
    unsigned n = 0;
    arena_init(&text);
    struct str rest = read_file(&text, recorded);
    while (rest.n) {
        size_t end = str_find_byte(rest, '\n', 0);
        struct doc_source src = {.name = "case", .text = str_sub(rest, 0, end)};
        struct doc c;
        arena_init(&a);
        assert_true(doc_read_json(&src, &a, &c, NULL));
        check_case(&c, &a);
        arena_fini(&a);
        rest = end == SIZE_MAX ? STR_NONE : str_sub(rest, end + 1, SIZE_MAX);
        n++;
    }
    assert_true(n > 100);
    arena_fini(&text);
}

/* ---- Ownership ---- */

static const struct {
    const char *name, *schema, *object, *fields;
} OWNED[] = {
    {"members, one by one",
     "{\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":"
     "{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\"}}}}}",
     "{\"spec\":{\"a\":\"x\",\"b\":1}}", "{\"f:spec\":{\"f:a\":{},\"f:b\":{}}}"},
    {"an object that is owned as one",
     "{\"properties\":{\"spec\":{\"type\":\"object\",\"x-kubernetes-map-type\":"
     "\"atomic\","
     "\"properties\":{\"a\":{\"type\":\"string\"}}}}}",
     "{\"spec\":{\"a\":\"x\"}}", "{\"f:spec\":{}}"},
    {"a keyed list",
     "{\"properties\":{\"l\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","
     "\"x-kubernetes-list-map-keys\":[\"k\",\"p\"],\"items\":{\"type\":\"object\","
     "\"properties\":{\"k\":{\"type\":\"string\"},\"p\":{\"type\":\"integer\","
     "\"default\":80},\"v\":{\"type\":\"string\"}}}}}}",
     "{\"l\":[{\"k\":\"a\",\"v\":\"x\"}]}",
     "{\"f:l\":{\"k:{\\\"k\\\":\\\"a\\\",\\\"p\\\":80}\":{\".\":{},\"f:k\":{},\"f:v\":{}}"
     "}}"},
    {"a set, and a list as one",
     "{\"properties\":{\"s\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\","
     "\"items\":{\"type\":\"string\"}},\"l\":{\"type\":\"array\",\"items\":{\"type\":"
     "\"string\"}}}}",
     "{\"s\":[\"a\"],\"l\":[\"a\"]}", "{\"f:s\":{\"v:\\\"a\\\"\":{}},\"f:l\":{}}"},
    {"a map of keyed lists",
     "{\"properties\":{\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":"
     "\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"]"
     ","
     "\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}}}}}}}",
     "{\"m\":{\"x\":[{\"k\":\"a\"}]}}",
     "{\"f:m\":{\"f:x\":{\".\":{},\"k:{\\\"k\\\":\\\"a\\\"}\":{\".\":{},\"f:k\":{}}}}}"},
    {"what no schema says is deduced",
     "{\"properties\":{\"d\":{\"x-kubernetes-preserve-unknown-fields\":true},\"o\":{"
     "\"type\":"
     "\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"a\":"
     "{\"type\":\"string\"}}}}}",
     "{\"d\":{\"x\":{\"y\":[1]}},\"o\":{\"a\":\"1\",\"b\":{\"c\":1}}}",
     "{\"f:d\":{\"f:x\":{\".\":{},\"f:y\":{}}},"
     "\"f:o\":{\"f:a\":{},\"f:b\":{\".\":{},\"f:c\":{}}}}"},
    {"metadata as of every object, here and in embedded resources",
     "{\"properties\":{\"t\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":"
     "true,"
     "\"x-kubernetes-preserve-unknown-fields\":true}}}",
     "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"t\":{\"metadata\":{\"finalizers\":["
     "\"x\"]}}}",
     "{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":{}}},"
     "\"f:t\":{\"f:metadata\":{\"f:finalizers\":{\".\":{},\"v:\\\"x\\\"\":{}}}}}"},
};

static void without_dots(struct doc *d)
{
    doc_remove(d, STR("."));
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        without_dots(&d->members[i].value);
}

/* Whether a container is a member itself is the business of api/typed.h's own tests. */
static void test_ownership(void **state)
{
    const struct structural_opts opts = {.cel = &cel, .kind = "Thing"};
    for (size_t i = 0; i < UNIT_COUNT(OWNED); i++) {
        struct arena a;
        struct str why;
        arena_init(&a);
        struct doc schema = read_object(&a, OWNED[i].schema);
        struct doc object = read_object(&a, OWNED[i].object);
        struct doc want = read_object(&a, OWNED[i].fields);
        struct structural *s = structural_new(&schema, &opts);
        ROW(OWNED[i].name, typed_check(structural_type(s), &object, false, &a, &why));
        struct fields f = typed_fields(structural_type(s), &object, &a);
        struct doc got = fields_encode(&f, &a);
        without_dots(&got);
        without_dots(&want);
        struct str text = printed(&a, &want);
        object_is(&a, OWNED[i].name, &got, text.p);
        structural_free(s);
        arena_fini(&a);
    }
}

/* ---- Texts that are called back ---- */

struct texts {
    char all[512];
};

static void add_text(void *ctx, struct str text)
{
    struct texts *t = ctx;
    size_t n = strlen(t->all);
    snprintf(t->all + n, sizeof t->all - n, "%.*s\n", STR_ARG(text));
}

#define SPEC(props)                                                                      \
    "{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"properties\":{" props "}}}}]}"

static void test_warnings(void **state)
{
    struct arena a;
    struct texts t = {""};
    arena_init(&a);
    struct doc spec = read_object(
        &a, SPEC("\"a\":{\"type\":\"string\",\"format\":\"odd\"},\"b\":{\"type\":"
                 "\"integer\",\"format\":\"int16\"},\"c\":{\"type\":\"array\",\"items\":"
                 "{\"type\":\"object\"},\"x-kubernetes-list-type\":\"set\"}"));
    struct doc old =
        read_object(&a, SPEC("\"z\":{\"type\":\"string\",\"format\":\"odd\"}"));
    structural_warnings(&spec, &old, &a, add_text, &t);
    assert_string_equal(t.all,
                        "unrecognized format \"int16\"\n"
                        "x-kubernetes-list-type: set for items of type \"object\" is not "
                        "supported by server-side apply or CEL validation rules\n");
    arena_fini(&a);
}

static void test_ratcheted_rules_warn(void **state)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
        "\"x-kubernetes-validations\":[{\"rule\":\"self == 'x'\",\"message\":\"is x\"}]},"
        "\"b\":{\"type\":\"string\"}}}";
    const struct structural_opts opts = {.cel = &cel};
    struct arena a;
    struct texts t = {""};
    struct api_errors errors = {0};
    arena_init(&a);
    struct doc d = read_object(&a, schema), old = read_object(&a, "{\"a\":\"y\"}"),
               now = read_object(&a, "{\"a\":\"y\",\"b\":\"z\"}");
    struct structural *s = structural_new(&d, &opts);
    const struct structural_validate_opts o = {
        .old = &old, .warn = add_text, .warn_ctx = &t};
    structural_validate(s, &now, &o, &a, &errors);
    assert_int_equal(errors.list.n, 0);
    assert_string_equal(t.all, "a: Invalid value: \"y\": is x\n");
    api_errors_release(&errors);
    structural_free(s);
    arena_fini(&a);
}

/* ---- Status ---- */

static void test_status_alone(void **state)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"spec\":{"
                                 "\"type\":\"string\",\"maxLength\":1},"
                                 "\"status\":{\"type\":\"object\",\"properties\":{\"n\":{"
                                 "\"type\":\"integer\"}}}}}";
    const struct structural_opts opts = {.cel = &cel};
    struct arena a;
    struct api_errors errors = {0};
    struct strbuf b = STRBUF_INIT;
    arena_init(&a);
    struct doc d = read_object(&a, schema), old = read_object(&a, "{\"spec\":\"long\"}"),
               now = read_object(&a, "{\"spec\":\"longer\",\"status\":{\"n\":\"x\"}}");
    struct structural *s = structural_new(&d, &opts);
    const struct structural_validate_opts o = {.old = &old, .status = true};
    structural_validate(s, &now, &o, &a, &errors);
    assert_int_equal(errors.list.n, 1);
    api_error_print(&errors.list.v[0], &b);
    assert_string_equal(strbuf_cstr(&b),
                        "status.n: Invalid value: \"string\": n in body must be of type "
                        "integer: \"string\"");
    strbuf_release(&b);
    api_errors_release(&errors);
    structural_free(s);
    arena_fini(&a);
}

/* ---- Selectable fields ---- */

static const struct {
    const char *path, *clean, *why;
} SELECTABLE[] = {
    {".spec.a", "spec.a", NULL},
    {".spec.o", "",
     "must point to a field of type string, boolean or integer. Enum string "
     "fields and strings with formats are allowed."},
    {".spec.zz", "", "is an invalid path: does not refer to a valid field"},
    {".spec['a']", "", "is an invalid path: array notation is not allowed"},
    {"spec.a", "", "is an invalid path: expected [ or . but got: spec"},
    {".spec.", "", "is an invalid path: unexpected end of JSON path"},
    {".metadata.name", "", "must not point to fields in metadata"},
};

static void test_selectable(void **state)
{
    struct arena a;
    arena_init(&a);
    struct doc schema = read_object(
        &a, "{\"properties\":{\"metadata\":{\"type\":\"object\",\"properties\":{\"name\":"
            "{\"type\":\"string\"}}},\"spec\":{\"type\":\"object\",\"properties\":{\"a\":"
            "{\"type\":\"string\"},\"o\":{\"type\":\"object\"}}}}}");
    for (size_t i = 0; i < UNIT_COUNT(SELECTABLE); i++) {
        struct str clean, why;
        bool ok = structural_selectable(&schema, str_from(SELECTABLE[i].path), &a, &clean,
                                        &why);
        ROW(SELECTABLE[i].path, ok == !SELECTABLE[i].why);
        assert_str(ok ? clean : why, ok ? SELECTABLE[i].clean : SELECTABLE[i].why);
    }
    arena_fini(&a);
}

/* ---- Names in expressions ---- */

static const struct {
    const char *name, *escaped; /* NULL: it has none */
} NAMES[] = {
    {"a", "a"},
    {"a_b", "a_b"},
    {"a__b", "a__underscores__b"},
    {"a___b", "a__underscores___b"},
    {"x-y.z/w", "x__dash__y__dot__z__slash__w"},
    {"namespace", "__namespace__"},
    {"in", "__in__"},
    {"int", "int"},
    {"9a", NULL},
    {"a b", NULL},
    {"\xc3\xa9", NULL},
    {"", NULL},
};

static void test_names(void **state)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        struct str out = STR("");
        bool ok = api_cel_escape(str_from(NAMES[i].name), &a, &out);
        ROW(NAMES[i].name, ok == (NAMES[i].escaped != NULL));
        if (ok)
            assert_str(out, NAMES[i].escaped);
    }
    arena_fini(&a);
}

/* ---- Limits ---- */

static void check_text(struct str json, const char *want)
{
    const struct structural_check_opts opts = {.cel = &cel, .path = "s"};
    struct arena a;
    struct doc_source src = {.name = "schema", .text = json};
    struct doc d;
    struct api_errors errors = {0};
    struct strbuf b = STRBUF_INIT;
    arena_init(&a);
    assert_true(doc_read_json(&src, &a, &d, NULL));
    structural_check(&d, &opts, &a, &errors);
    assert_int_equal(errors.list.n, want ? 1 : 0);
    if (want) {
        api_error_print(&errors.list.v[0], &b);
        assert_string_equal(strbuf_cstr(&b), want);
    }
    strbuf_release(&b);
    api_errors_release(&errors);
    arena_fini(&a);
}

static void test_depth(void **state)
{
    for (int depth = STRUCTURAL_DEPTH - 1; depth <= STRUCTURAL_DEPTH; depth++) {
        struct strbuf b = STRBUF_INIT;
        strbuf_adds(&b, "{\"type\":\"object\",\"properties\":{\"a\":");
        for (int i = 0; i < depth - 1; i++)
            strbuf_adds(&b, "{\"type\":\"array\",\"items\":");
        strbuf_adds(&b, "{\"type\":\"string\"}");
        for (int i = 0; i < depth - 1; i++)
            strbuf_adds(&b, "}");
        strbuf_adds(&b, "}}");
        check_text(strbuf_str(&b),
                   depth < STRUCTURAL_DEPTH
                       ? NULL
                       : "s.openAPIV3Schema: Invalid value: \"\": schemas "
                         "are nested too deeply");
        strbuf_release(&b);
    }
}

static void test_many(void **state)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}");
    for (int i = 0; i < STRUCTURAL_NODES; i++)
        strbuf_addf(&b, ",\"%x\":{\"type\":\"string\"}", i);
    strbuf_adds(&b, "}}");
    check_text(strbuf_str(&b),
               "s.openAPIV3Schema: Invalid value: \"\": there are too many "
               "schemas");
    strbuf_release(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),     cmocka_unit_test(test_ownership),
        cmocka_unit_test(test_warnings),     cmocka_unit_test(test_ratcheted_rules_warn),
        cmocka_unit_test(test_status_alone), cmocka_unit_test(test_selectable),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_many),
    };
    recorded = argc > 1 ? argv[1] : NULL;
    api_cel_init(&cel);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    api_cel_fini(&cel);
    return failed;
}
