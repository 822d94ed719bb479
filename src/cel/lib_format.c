/* SPDX-License-Identifier: Apache-2.0 */
/* Named formats: format.dns1123Label().validate("x"). */
#include "base/names.h"
#include "cel/format_text.h"
#include "cel/lib.h"
#include "cel/url.h"

/* What is wrong with a text: fills problems, whose texts live in the arena, and returns
 * their number. */
typedef unsigned check_fn(struct str s, struct arena *a,
                          struct str problems[NAME_MAX_PROBLEMS]);

struct cel_format {
    const char *name; /* equality goes by this */
    const char *function;
    unsigned regex_size; /* of the expression that the cost assumes */
    check_fn *check;
};

const char *cel_format_name(const struct cel_format *f)
{
    return f->name;
}

/* ---- Checks ---- */

/* A prefix that names are made from may end in a dash. */
static struct str masked_dash(struct str s, struct arena *a)
{
    if (s.n < 2 || s.p[s.n - 1] != '-')
        return s;
    char *p = arena_alloc(a, s.n - 1);
    memcpy(p, s.p, s.n - 2);
    p[s.n - 2] = 'a';
    return (struct str){p, s.n - 1};
}

#define NAME_CHECK(function, kind)                                                       \
    static unsigned function(struct str s, struct arena *a,                              \
                             struct str problems[NAME_MAX_PROBLEMS])                     \
    {                                                                                    \
        return name_check(kind, s, a, problems);                                         \
    }                                                                                    \
    static unsigned function##_prefix(struct str s, struct arena *a,                     \
                                      struct str problems[NAME_MAX_PROBLEMS])            \
    {                                                                                    \
        return name_check(kind, masked_dash(s, a), a, problems);                         \
    }

NAME_CHECK(dns_label, NAME_DNS1123_LABEL)
NAME_CHECK(dns_subdomain, NAME_DNS1123_SUBDOMAIN)
NAME_CHECK(dns1035_label, NAME_DNS1035_LABEL)

static unsigned qualified_name(struct str s, struct arena *a,
                               struct str problems[NAME_MAX_PROBLEMS])
{
    return name_check(NAME_LABEL_KEY, s, a, problems);
}

static unsigned label_value(struct str s, struct arena *a,
                            struct str problems[NAME_MAX_PROBLEMS])
{
    return name_check(NAME_LABEL_VALUE, s, a, problems);
}

#define TEXT_CHECK(function, complaint)                                                  \
    static unsigned function(struct str s, struct arena *a,                              \
                             struct str problems[NAME_MAX_PROBLEMS])                     \
    {                                                                                    \
        problems[0] = STR(complaint);                                                    \
        return !format_is_##function(s);                                                 \
    }

TEXT_CHECK(uuid, "does not match the UUID format")
TEXT_CHECK(base64, "invalid base64")
TEXT_CHECK(date, "invalid date")
TEXT_CHECK(datetime, "invalid datetime")

static unsigned uri(struct str s, struct arena *a, struct str problems[NAME_MAX_PROBLEMS])
{
    struct err e = ERR_INIT;
    bool ok = url_check(s, &e);
    if (!ok)
        problems[0] = arena_str(a, str_from(err_text(&e)));
    err_release(&e);
    return !ok;
}

/* ---- The formats ---- */

#define FORMATS(X)                                                                       \
    X(DNS1123Label, dns1123Label, 30, dns_label)                                         \
    X(DNS1123Subdomain, dns1123Subdomain, 60, dns_subdomain)                             \
    X(DNS1035Label, dns1035Label, 30, dns1035_label)                                     \
    X(QualifiedName, qualifiedName, 60, qualified_name)                                  \
    X(DNS1123LabelPrefix, dns1123LabelPrefix, 30, dns_label_prefix)                      \
    X(DNS1123SubdomainPrefix, dns1123SubdomainPrefix, 60, dns_subdomain_prefix)          \
    X(DNS1035LabelPrefix, dns1035LabelPrefix, 30, dns1035_label_prefix)                  \
    X(LabelValue, labelValue, 40, label_value)                                           \
    X(URI, uri, 1103, uri)                                                               \
    X(uuid, uuid, 70, uuid)                                                              \
    X(byte, byte, 84, base64)                                                            \
    X(date, date, 71, date)                                                              \
    X(datetime, datetime, 71, datetime)

#define FORMAT_ROW(name_, function_, size_, check_) {#name_, #function_, size_, check_},
static const struct cel_format formats[] = {FORMATS(FORMAT_ROW)};

#define FORMAT_INDEX(name_, function_, size_, check_) FORMAT_##function_,
enum format_index { FORMATS(FORMAT_INDEX) };

static struct cel_value format_value(const struct cel_format *f)
{
    return (struct cel_value){.kind = CEL_FORMAT, .format = f};
}

#define FORMAT_FUNCTION(name_, function_, size_, check_)                                 \
    static struct cel_value get_##function_(struct cel_run *run,                         \
                                            const struct cel_value *a, unsigned n)       \
    {                                                                                    \
        return format_value(&formats[FORMAT_##function_]);                               \
    }
FORMATS(FORMAT_FUNCTION)

static struct cel_value named(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    for (unsigned i = 0; i < CEL_COUNT(formats); i++)
        if (str_is(cel_str(a[0]), formats[i].function))
            return cel_optional_of(run, format_value(&formats[i]));
    return cel_optional_none();
}

static struct cel_value validate(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned found = a[0].format->check(cel_str(a[1]), &run->arena, problems);
    if (found == 0)
        return cel_optional_none();
    struct cel_value *items = ARENA_ARRAY(&run->arena, struct cel_value, found);
    for (unsigned i = 0; i < found; i++)
        items[i] = cel_string(problems[i]);
    return cel_optional_of(run, cel_list(items, found));
}

#define F "kubernetes.NamedFormat"
#define FORMAT_OVERLOAD(name_, function_, size_, check_)                                 \
    CEL_GLOBAL("format." #function_, "format." #function_, "() -> " F, 31,               \
               get_##function_),

static const struct cel_overload rows[] = {
    FORMATS(FORMAT_OVERLOAD) CEL_GLOBAL("format-named", "format.named",
                                        "(string) -> optional_type(" F ")", 31, named),
    CEL_MEMBER("format-validate", "validate",
               "(" F ", string) -> optional_type(list(string))", 31, validate),
};

static uint64_t cost_validate(const struct cel_value *args, unsigned n,
                              struct cel_value result)
{
    if (args[0].kind != CEL_FORMAT)
        return 1;
    return cel_cost_string(1 + cel_cost_size(args[1])) *
           cel_cost_regex(args[0].format->regex_size);
}

static const struct cel_cost_row costs[] = {{NULL, "validate", cost_validate}};

const struct cel_lib cel_lib_format = {
    .name = "kubernetes.format",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
