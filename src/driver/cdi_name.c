/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/cdi_inner.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alnum(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

/* what: "vendor", "class", "device name"; of is its whole alphabet beside letters and
 * digits, which alone may stand at the ends. */
static bool check_part(struct str s, const char *what, const char *of, bool letter_first,
                       struct err *e)
{
    if (s.n == 0)
        return err_set(e, ERR_INVALID, "the %s is empty", what);
    for (size_t i = 0; i < s.n; i++) {
        if (!is_alnum(s.p[i]) && (s.p[i] == '\0' || !strchr(of, s.p[i])))
            return err_set(e, ERR_INVALID,
                           "%s \"%.*s\" may hold letters, digits and %s, nothing else",
                           what, STR_ARG(s), of);
    }
    if (letter_first && !is_letter(s.p[0]))
        return err_set(e, ERR_INVALID, "%s \"%.*s\" must start with a letter", what,
                       STR_ARG(s));
    if (!is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return err_set(e, ERR_INVALID,
                       "%s \"%.*s\" must start and end with a letter or digit", what,
                       STR_ARG(s));
    return true;
}

static bool check_vendor_class(struct str vendor, struct str class, struct err *e)
{
    return check_part(vendor, "vendor", "_.-", true, e) &&
           check_part(class, "class", "_.-", true, e);
}

bool cdi_device_name_check(struct str name, struct err *e)
{
    return check_part(name, "device name", "_.-:", false, e);
}

/* At the first slash: vendor "a/b" has none. */
static bool split_kind(struct str kind, struct str *vendor, struct str *class,
                       struct err *e)
{
    size_t slash = str_find_byte(kind, '/', 0);
    if (slash == SIZE_MAX)
        return err_set(e, ERR_INVALID, "\"%.*s\" is no vendor/class", STR_ARG(kind));
    *vendor = str_sub(kind, 0, slash);
    *class = str_sub(kind, slash + 1, kind.n);
    return true;
}

bool cdi_kind_check(struct str kind, struct err *e)
{
    struct str vendor = STR_NONE, class = STR_NONE;
    return split_kind(kind, &vendor, &class, e) && check_vendor_class(vendor, class, e);
}

bool cdi_name_parse(struct str name, struct str *vendor, struct str *class,
                    struct str *device, struct err *e)
{
    size_t equals = str_find_byte(name, '=', 0);
    if (equals == SIZE_MAX)
        return err_set(e, ERR_INVALID, "\"%.*s\" is no vendor/class=device",
                       STR_ARG(name));
    struct str v = STR_NONE, c = STR_NONE, d = str_sub(name, equals + 1, name.n);
    if (!split_kind(str_sub(name, 0, equals), &v, &c, e) ||
        !check_vendor_class(v, c, e) || !cdi_device_name_check(d, e))
        return false;
    *vendor = v;
    *class = c;
    *device = d;
    return true;
}
