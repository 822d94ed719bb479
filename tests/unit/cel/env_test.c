/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_unit.h"

#define OVERLOAD(id_, f, t, ...)                                                         \
    {                                                                                    \
        .id = (id_), .function = (f), .type = (t), __VA_ARGS__                           \
    }

static uint64_t cost_a(const struct cel_value *args, unsigned n, struct cel_value r)
{
    return 1;
}

static uint64_t cost_b(const struct cel_value *args, unsigned n, struct cel_value r)
{
    return 2;
}

static struct cel_ast *no_expansion(struct cel_parser *p, struct cel_ast *call,
                                    bool *failed)
{
    return NULL;
}

static const struct cel_overload rows[] = {
    OVERLOAD("f_int", "f", "(int) -> int", ),
    OVERLOAD("g_any", "a.g", "(list(<A>), <A>, <B>) -> <A>", .since = 30),
    OVERLOAD("f_string", "f", "(string) -> string", .member = true),
    OVERLOAD("h_old", "h", "() -> int", .until = 33),
    OVERLOAD("f_late", "f", "(bool) -> bool", .since = 31, .until = 35),
};
static const struct cel_overload more_rows[] = {
    OVERLOAD("f_int", "f", "(int) -> int", ), /* shared with the first library */
    OVERLOAD("f_double", "f", "(double) -> double", ),
};
static const struct cel_macro macros[] = {
    {"m", true, 1, NULL, 0, 0, no_expansion},  {"m", true, 2, NULL, 31, 0, no_expansion},
    {"m", false, 1, NULL, 0, 0, no_expansion}, {"v", true, -1, "x", 0, 0, no_expansion},
    {"v", true, 2, "x", 0, 0, no_expansion},
};
static const struct cel_cost_row costs[] = {
    {"f_string", NULL, cost_a},
    {NULL, "f", cost_b},
};
static const struct cel_type thing = {
    .kind = CEL_T_OPAQUE, .weight = 1, .name = "x.Thing"};
static const struct cel_type_name type_names[] = {{"x.Thing", &thing, 32}};

static const struct cel_lib first = {
    .name = "first",
    .overloads = rows,
    .noverloads = UNIT_COUNT(rows),
    .macros = macros,
    .nmacros = UNIT_COUNT(macros),
    .costs = costs,
    .ncosts = UNIT_COUNT(costs),
    .types = type_names,
    .ntypes = UNIT_COUNT(type_names),
};
static const struct cel_lib second = {
    .name = "second", .overloads = more_rows, .noverloads = UNIT_COUNT(more_rows)};

static struct cel_env *make(unsigned version)
{
    static const struct cel_env_lib libs[] = {{&first, 0, 0}, {&second, 29, 36}};
    struct cel_env_opts opts = {
        .version = version, .libs = libs, .nlibs = UNIT_COUNT(libs)};
    return cel_env_new(&opts);
}

static void check_function(const struct cel_env *env, const char *name, const char *want)
{
    struct strbuf got = STRBUF_INIT;
    uint32_t n;
    const struct cel_decl *d = cel_env_function(env, str_from(name), &n);
    assert_true((d == NULL) == (n == 0));
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&got, "%s%s", i ? " " : "", d[i].row->id);
    assert_str(strbuf_str(&got), want);
    strbuf_release(&got);
}

static void test_versions(void **state)
{
    static const struct {
        unsigned version;
        const char *f, *g, *h;
    } versions[] = {
        {28, "f_int f_string", "", "h_old"},
        {29, "f_int f_string f_double", "", "h_old"},
        {30, "f_int f_string f_double", "g_any", "h_old"},
        {31, "f_int f_string f_late f_double", "g_any", "h_old"},
        {33, "f_int f_string f_late f_double", "g_any", ""},
        {35, "f_int f_string f_double", "g_any", ""},
        {36, "f_int f_string", "g_any", ""},
        {0, "f_int f_string", "g_any", ""},
    };
    for (size_t i = 0; i < UNIT_COUNT(versions); i++) {
        struct cel_env *env = make(versions[i].version);
        check_function(env, "f", versions[i].f);
        check_function(env, "a.g", versions[i].g);
        check_function(env, "h", versions[i].h);
        check_function(env, "g", "");
        assert_true((cel_env_type(env, STR("x.Thing")) != NULL) ==
                    (versions[i].version == 0 || versions[i].version >= 32));
        assert_true(cel_env_qualifies(env, STR("a")) == (*versions[i].g != 0));
        cel_env_free(env);
    }
}

static void test_decls(void **state)
{
    struct cel_env *env = make(0);
    uint32_t n;
    const struct cel_decl *g = cel_env_function(env, STR("a.g"), &n);
    assert_int_equal(g->nargs, 3);
    assert_int_equal(g->nparams, 2);
    assert_true(g->generic);
    assert_int_equal(g->args[0]->kind, CEL_T_LIST);
    assert_ptr_equal(g->args[1], g->result);
    assert_null(g->cost);
    const struct cel_decl *f = cel_env_function(env, STR("f"), &n);
    assert_false(f[0].generic);
    assert_true(f[1].row->member);
    assert_ptr_equal(f[0].cost, cost_b);
    assert_ptr_equal(f[1].cost, cost_a);
    assert_ptr_equal(cel_env_cost(env, STR("f")), cost_b);
    assert_null(cel_env_cost(env, STR("a.g")));
    /* Indices are dense. */
    uint32_t seen = 0;
    seen |= 1u << f[0].index | 1u << f[1].index | 1u << g->index;
    assert_int_equal(seen, 7);
    cel_env_free(env);
}

static void test_macros(void **state)
{
    struct cel_env *env = make(0), *old = make(30);
    const struct {
        const char *name;
        bool member;
        unsigned nargs;
        const struct cel_macro *want;
    } asked[] = {
        {"m", true, 1, &macros[0]}, {"m", true, 2, &macros[1]},
        {"m", true, 3, NULL},       {"m", false, 1, &macros[2]},
        {"m", false, 2, NULL},      {"n", true, 1, NULL},
        {"v", true, 7, &macros[3]}, {"v", true, 2, &macros[4]},
        {"v", true, 0, &macros[3]}, {"v", false, 2, NULL},
    };
    for (size_t i = 0; i < UNIT_COUNT(asked); i++)
        ROW(asked[i].name, cel_env_macro(env, str_from(asked[i].name), asked[i].member,
                                         asked[i].nargs) == asked[i].want);
    assert_null(cel_env_macro(old, STR("m"), true, 2));
    cel_env_free(env);
    cel_env_free(old);
}

static void test_names(void **state)
{
    static const struct cel_field inner_fields[] = {{"x", &cel_type_int}};
    static const struct cel_object_type inner = {"p.Inner", inner_fields, 1};
    static const struct cel_type inner_type = {
        .kind = CEL_T_OBJECT, .weight = 1, .name = "p.Inner", .object = &inner};
    static const struct cel_field outer_fields[] = {{"in", &inner_type}};
    static const struct cel_object_type outer = {"p.Outer", outer_fields, 1};
    static const struct cel_type outer_type = {
        .kind = CEL_T_OBJECT, .weight = 1, .name = "p.Outer", .object = &outer};
    const struct cel_var vars[] = {
        {.name = "v", .type = &outer_type},
        {.name = "a.b", .type = &cel_type_int},
    };
    static const struct cel_const consts[] = {
        {"p.E.ONE", &cel_type_int, {.kind = CEL_INT, .i = 1}}};
    struct cel_env_opts opts = {
        .vars = vars, .nvars = 2, .consts = consts, .nconsts = 1, .container = "p"};
    struct cel_env *env = cel_env_new(&opts);
    uint32_t n;

    assert_ptr_equal(cel_env_vars(env, &n), cel_env_var(env, STR("v")));
    assert_int_equal(n, 2);
    assert_ptr_equal(cel_env_var(env, STR("v"))->type, &outer_type);
    assert_ptr_equal(cel_env_var(env, STR("a.b"))->type, &cel_type_int);
    assert_null(cel_env_var(env, STR("int")));
    assert_null(cel_env_var(env, STR("b")));
    assert_string_equal(cel_env_container(env), "p");

    /* Types of the language, and those with fields that variables lead to. */
    assert_ptr_equal(cel_env_type(env, STR("int")), &cel_type_int);
    assert_ptr_equal(cel_env_type(env, STR("null_type")), &cel_type_null);
    assert_ptr_equal(cel_env_type(env, STR("p.Outer")), &outer_type);
    assert_ptr_equal(cel_env_type(env, STR("p.Inner")), &inner_type);
    assert_ptr_equal(cel_env_type(env, STR("google.protobuf.Timestamp")),
                     &cel_type_timestamp);
    assert_null(cel_env_type(env, STR("dyn")));
    assert_null(cel_env_type(env, STR("v")));

    const struct cel_ident *id = cel_env_ident(env, STR("p.E.ONE"));
    assert_int_equal(id->constant->value.i, 1);
    assert_ptr_equal(id->type, &cel_type_int);
    id = cel_env_ident(env, STR("string"));
    assert_int_equal(id->type->kind, CEL_T_TYPE);
    assert_ptr_equal(id->type->params[0], &cel_type_string);
    id = cel_env_ident(env, STR("google.protobuf.Duration"));
    assert_ptr_equal(id->names, &cel_type_duration);
    assert_int_equal(id->message->nfields, 2);
    assert_ptr_equal(cel_env_ident(env, STR("p.Outer"))->message, &outer);

    assert_true(cel_env_qualifies(env, STR("a")));
    assert_true(cel_env_qualifies(env, STR("google")));
    assert_false(cel_env_qualifies(env, STR("v")));
    assert_false(cel_env_qualifies(env, STR("int")));
    cel_env_free(env);
}

/* What an expression may not be resolved to is there for values of unknown type. */
static void test_dynamic_only(void **state)
{
    static const struct cel_overload less[] = {
        OVERLOAD("less_int64", "_<_", "(int, int) -> bool", ),
        OVERLOAD("less_int64_double", "_<_", "(int, double) -> bool", ),
        OVERLOAD("less_string", "_<_", "(string, string) -> bool", ),
        OVERLOAD("in_list", "_in_", "(<A>, list(<A>)) -> bool", ),
        OVERLOAD("add_cross", "_+_", "(int, double) -> bool", ),
    };
    for (unsigned cross = 0; cross < 2; cross++) {
        struct cel_env_opts opts = {.functions = less,
                                    .nfunctions = UNIT_COUNT(less),
                                    .flags = cross ? CEL_ENV_CROSS_NUMERIC : 0};
        struct cel_env *env = cel_env_new(&opts);
        uint32_t n;
        const struct cel_decl *d = cel_env_function(env, STR("_<_"), &n);
        assert_int_equal(n, 3);
        assert_false(d[0].dynamic_only);
        assert_true(d[1].dynamic_only == !cross);
        assert_false(d[2].dynamic_only);
        assert_true(cel_env_function(env, STR("_in_"), &n)->dynamic_only);
        assert_false(cel_env_function(env, STR("_+_"), &n)->dynamic_only);
        cel_env_free(env);
    }
}

/* Every row of every library has a signature that can be read. */
static void test_libraries(void **state)
{
    struct cel_env_opts opts = unit_opts();
    struct cel_env *env = cel_env_new(&opts);
    uint32_t n;
    assert_non_null(cel_env_function(env, STR("_+_"), &n));
    assert_non_null(cel_env_function(env, STR("lists.range"), &n));
    assert_true(cel_env_qualifies(env, STR("optional")));
    assert_int_equal(cel_env_flags(env), UNIT_FLAGS);
    cel_env_free(env);
    cel_env_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),     cmocka_unit_test(test_decls),
        cmocka_unit_test(test_macros),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_dynamic_only), cmocka_unit_test(test_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
