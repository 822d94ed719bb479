/* SPDX-License-Identifier: Apache-2.0 */
/* The environments of device expressions by version, gates and kind (spec 4.4). */
#include "device/internal.h"

enum {
    VERSION_NOW = 37,
    VERSION_CONSUMABLE_CAPACITY = 34,
    VERSION_LIST_ATTRIBUTES = 36,
};

static const struct cel_env_lib libs[] = {
    {&cel_lib_standard, 0, 0},  {&cel_lib_url, 0, 0},       {&cel_lib_regex, 0, 0},
    {&cel_lib_k8s_lists, 0, 0}, {&cel_lib_optional, 28, 0}, {&cel_lib_quantity, 28, 0},
    {&cel_lib_strings, 0, 0},   {&cel_lib_sets, 29, 0},     {&cel_lib_ip, 30, 0},
    {&cel_lib_cidr, 30, 0},     {&cel_lib_format, 31, 0},   {&cel_lib_bindings, 31, 0},
    {&cel_lib_two_var, 32, 0},  {&cel_lib_semver, 33, 0},   {&cel_lib_lists, 34, 0},
};

enum { LIBS = sizeof libs / sizeof *libs };

/* The API server compiles what is new with the rules of the release before, so that every
 * server of the cluster understands it; what is stored, with all it knows. */
static unsigned cel_version(const struct device_env_opts *opts)
{
    unsigned version = opts->version ? opts->version : VERSION_NOW;
    return opts->kind == DEVICE_ENV_NEW ? version - 1 : version;
}

/* A gate's fields count as soon as the release has the gate; stored expressions have
 * them whatever the gate says. */
static bool gated(const struct device_env_opts *opts, bool gate, unsigned since)
{
    unsigned version = opts->version ? opts->version : VERSION_NOW;
    return version >= since && (gate || opts->kind == DEVICE_ENV_STORED);
}

static const struct cel_type *attr_map(struct arena *a, const struct cel_type *value)
{
    const struct cel_type *inner = cel_type_map(a, &cel_type_string, value);
    return cel_type_map(a, &cel_type_string, inner);
}

static const struct cel_type *device_type(struct device_env *env)
{
    struct arena *a = &env->arena;
    struct cel_field *fields = ARENA_ARRAY(a, struct cel_field, 4);
    struct cel_object_type *type = ARENA_NEW(a, struct cel_object_type);
    type->name = "kubernetes.DRADevice";
    type->fields = fields;
    fields[type->nfields++] = (struct cel_field){"driver", &cel_type_string};
    fields[type->nfields++] =
        (struct cel_field){"attributes", attr_map(a, env->attr_type)};
    fields[type->nfields++] =
        (struct cel_field){"capacity", attr_map(a, &cel_type_quantity)};
    if (env->allow_multiple)
        fields[type->nfields++] =
            (struct cel_field){"allowMultipleAllocations", &cel_type_bool};
    return cel_type_object(a, type);
}

/* The list gate brings "includes", which is there for all from 1.37 on. */
static struct cel_env *make_cel(struct device_env *env, unsigned version, bool lists)
{
    struct cel_env_lib all[LIBS + 1];
    memcpy(all, libs, sizeof libs);
    all[LIBS] = (struct cel_env_lib){&cel_lib_includes, lists ? 0 : 37, 0};
    const struct cel_var var = {.name = "device",
                                .type = device_type(env),
                                .ops = &device_var_ops,
                                .decl = env,
                                .size = device_var_size};
    const struct cel_env_opts opts = {
        .version = version,
        .libs = all,
        .nlibs = LIBS + 1,
        .vars = &var,
        .nvars = 1,
        .flags = CEL_ENV_HOMOGENEOUS | CEL_ENV_VALIDATE | CEL_ENV_CROSS_NUMERIC |
                 CEL_ENV_OPTIONAL_SYNTAX | CEL_ENV_FOLD | CEL_ENV_BACKQUOTES,
    };
    return cel_env_new(&opts);
}

struct device_env *device_env_new(const struct device_env_opts *opts,
                                  struct device_names *names)
{
    struct device_env *env = mem_zalloc(sizeof *env);
    bool lists = gated(opts, opts->list_attributes, VERSION_LIST_ATTRIBUTES);
    arena_init(&env->arena);
    env->names = names;
    env->attr_type = lists ? &cel_type_dyn : &cel_type_any;
    env->allow_multiple =
        gated(opts, opts->consumable_capacity, VERSION_CONSUMABLE_CAPACITY);
    env->lists = lists || opts->kind == DEVICE_ENV_STORED;
    env->cel = make_cel(env, cel_version(opts), lists);
    return env;
}

void device_env_free(struct device_env *env)
{
    if (!env)
        return;
    cel_env_free(env->cel);
    arena_fini(&env->arena);
    free(env);
}
