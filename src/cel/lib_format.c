/* SPDX-License-Identifier: Apache-2.0 */
/* Named formats: format.dns1123Label().validate("x"). */
#include "cel/lib.h"
#include "cel/names.h"
#include "cel/url.h"

/* Messages of a check; those that are no constants are in the run's arena. */
typedef void check_fn(struct cel_run *run, struct str s, struct name_check *out);

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

static void dns_label(struct cel_run *run, struct str s, struct name_check *out)
{
    name_dns_label(s, out);
}

static void dns_subdomain(struct cel_run *run, struct str s, struct name_check *out)
{
    name_dns_subdomain(s, out);
}

static void dns1035_label(struct cel_run *run, struct str s, struct name_check *out)
{
    name_dns1035_label(s, out);
}

/* A prefix that names are made from may end in a dash. */
static struct str masked_dash(struct cel_run *run, struct str s)
{
    if (s.n < 2 || s.p[s.n - 1] != '-')
        return s;
    char *p = arena_alloc(&run->arena, s.n - 1);
    memcpy(p, s.p, s.n - 2);
    p[s.n - 2] = 'a';
    return (struct str){p, s.n - 1};
}

static void dns_label_prefix(struct cel_run *run, struct str s, struct name_check *out)
{
    name_dns_label(masked_dash(run, s), out);
}

static void dns_subdomain_prefix(struct cel_run *run, struct str s,
                                 struct name_check *out)
{
    name_dns_subdomain(masked_dash(run, s), out);
}

static void dns1035_label_prefix(struct cel_run *run, struct str s,
                                 struct name_check *out)
{
    name_dns1035_label(masked_dash(run, s), out);
}

static void qualified_name(struct cel_run *run, struct str s, struct name_check *out)
{
    name_label_key(s, out);
}

static void label_value(struct cel_run *run, struct str s, struct name_check *out)
{
    name_label_value(s, out);
}

static void complain_unless(bool ok, struct name_check *out, const char *message)
{
    out->n = !ok;
    out->messages[0] = message;
}

static void uri(struct cel_run *run, struct str s, struct name_check *out)
{
    struct err e = ERR_INIT;
    bool ok = url_check(s, &e);
    complain_unless(ok, out, ok ? "" : arena_strdup(&run->arena, err_text(&e)));
    err_release(&e);
}

static void uuid(struct cel_run *run, struct str s, struct name_check *out)
{
    complain_unless(name_is_uuid(s), out, "does not match the UUID format");
}

static void byte(struct cel_run *run, struct str s, struct name_check *out)
{
    complain_unless(name_is_base64(s), out, "invalid base64");
}

static void date(struct cel_run *run, struct str s, struct name_check *out)
{
    complain_unless(name_is_date(s), out, "invalid date");
}

static void datetime(struct cel_run *run, struct str s, struct name_check *out)
{
    complain_unless(name_is_datetime(s), out, "invalid datetime");
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
    X(byte, byte, 84, byte)                                                              \
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
    struct name_check found = {.n = 0};
    a[0].format->check(run, cel_str(a[1]), &found);
    if (found.n == 0)
        return cel_optional_none();
    struct cel_value *items = ARENA_ARRAY(&run->arena, struct cel_value, found.n);
    for (unsigned i = 0; i < found.n; i++)
        items[i] = cel_lib_cstr(found.messages[i]);
    return cel_optional_of(run, cel_list(items, found.n));
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
