/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cel_env.h"

#include "api/cel_authz.h"

/* ---- Environments ---- */

/* The base of the release: what devices have, but for cel.bind, back quotes, and what
 * their gates bring early. */
static const struct cel_env_lib LIBS[] = {
    {&cel_lib_standard, 0, 0},   {&cel_lib_url, 0, 0},       {&cel_lib_regex, 0, 0},
    {&cel_lib_k8s_lists, 0, 0},  {&cel_lib_optional, 28, 0}, {&cel_lib_quantity, 28, 0},
    {&cel_lib_strings, 0, 0},    {&cel_lib_sets, 29, 0},     {&cel_lib_ip, 30, 0},
    {&cel_lib_cidr, 30, 0},      {&cel_lib_format, 31, 0},   {&cel_lib_two_var, 32, 0},
    {&cel_lib_semver, 33, 0},    {&cel_lib_lists, 34, 0},    {&cel_lib_includes, 37, 0},
    {&api_cel_lib_authz, 27, 0},
};

enum { VERSION_FRESH = 36, VERSION_STORED = 0 };

static struct cel_env *make(unsigned version)
{
    const struct cel_env_opts opts = {
        .version = version,
        .libs = LIBS,
        .nlibs = sizeof LIBS / sizeof *LIBS,
        .flags = CEL_ENV_HOMOGENEOUS | CEL_ENV_VALIDATE | CEL_ENV_CROSS_NUMERIC |
                 CEL_ENV_OPTIONAL_SYNTAX | CEL_ENV_FOLD,
    };
    return cel_env_new(&opts);
}

void api_cel_init(struct api_cel *c)
{
    c->fresh = make(VERSION_FRESH);
    c->stored = make(VERSION_STORED);
}

void api_cel_fini(struct api_cel *c)
{
    cel_env_free(c->fresh);
    cel_env_free(c->stored);
}

struct str api_cel_issues(const char *prefix, const struct cel_issues *issues,
                          struct str text, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, prefix);
    cel_issues_print(issues, text, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* ---- Values ---- */

static struct cel_value number_value(const struct doc *d)
{
    int64_t i;
    double f;
    if (doc_int64(d, &i))
        return cel_int(i);
    return doc_double(d, &f) ? cel_double(f) : cel_int(0);
}

static struct cel_value list_value(const struct doc *d, struct cel_run *run)
{
    struct cel_value *items = ARENA_ARRAY(&run->arena, struct cel_value, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        items[i] = api_cel_value(&d->items[i], run);
    return cel_list(items, d->n);
}

static struct cel_value map_value(const struct doc *d, struct cel_run *run)
{
    struct cel_entry *entries = ARENA_ARRAY(&run->arena, struct cel_entry, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        entries[i].key = cel_string_marked(doc_key(&d->members[i]));
        entries[i].value = api_cel_value(&d->members[i].value, run);
    }
    return cel_map_make(run, entries, d->n);
}

struct cel_value api_cel_value(const struct doc *d, struct cel_run *run)
{
    switch (d ? (enum doc_type)d->type : DOC_NULL) {
    case DOC_BOOL:
        return cel_bool(d->b);
    case DOC_NUMBER:
        return number_value(d);
    case DOC_STRING:
        return cel_string_marked(doc_str(d));
    case DOC_LIST:
        return list_value(d, run);
    case DOC_MAP:
        return map_value(d, run);
    default:
        return cel_null();
    }
}

/* ---- Names ---- */

static const char *const RESERVED[] = {
    "true", "false",    "null", "in",     "as",   "break",    "const",
    "else", "continue", "for",  "if",     "let",  "function", "import",
    "loop", "package",  "var",  "return", "void", "while",    "namespace",
};

static bool is_reserved(struct str name)
{
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (str_is(name, RESERVED[i]))
            return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static const char *spelled(struct str name, size_t i)
{
    switch (name.p[i]) {
    case '.':
        return "__dot__";
    case '-':
        return "__dash__";
    case '/':
        return "__slash__";
    default:
        return "__underscores__";
    }
}

bool api_cel_escape(struct str name, struct arena *a, struct str *out)
{
    struct strbuf b = STRBUF_INIT;
    if (name.n == 0 || (name.p[0] >= '0' && name.p[0] <= '9'))
        return false;
    if (is_reserved(name)) {
        *out = arena_printf(a, "__%.*s__", STR_ARG(name));
        return true;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < name.n; i++) {
        char c = name.p[i];
        bool pair = c == '_' && i + 1 < name.n && name.p[i + 1] == '_';
        ok = is_letter(c) || c == '_' || c == '.' || c == '-' || c == '/';
        if (is_letter(c) || (c == '_' && !pair))
            strbuf_addc(&b, c);
        else
            strbuf_adds(&b, spelled(name, i));
        i += pair;
    }
    if (ok)
        *out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return ok;
}
