/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "base/names.h"
#include "driver/file.h"
#include "num/quantity.h"

enum { DOMAIN_MAX = 63, IDENTIFIER_MAX = 32 };

static struct file_at at_of(struct file_at at, const struct doc *d, struct str path)
{
    if (d && d->type == DOC_NULL)
        d = NULL;
    return (struct file_at){at.r, d, path};
}

struct file_at file_member(struct file_at at, const char *key)
{
    return at_of(
        at, doc_get(at.d, key),
        arena_printf(at.r->a, "%.*s%s%s", STR_ARG(at.path), at.path.n ? "." : "", key));
}

struct file_at file_value(struct file_at at, const struct doc_member *m)
{
    return at_of(
        at, &m->value,
        arena_printf(at.r->a, "%.*s[%.*s]", STR_ARG(at.path), STR_ARG(doc_key(m))));
}

struct file_at file_item(struct file_at at, uint32_t i)
{
    return at_of(at, &at.d->items[i],
                 arena_printf(at.r->a, "%.*s[%u]", STR_ARG(at.path), i));
}

bool file_fail(struct file_at at, const char *fmt, ...)
{
    const struct doc_source *src = &at.r->src;
    va_list ap;
    va_start(ap, fmt);
    err_setv(at.r->e, ERR_INVALID, fmt, ap);
    va_end(ap);
    if (at.path.n)
        err_wrap(at.r->e, "%.*s", STR_ARG(at.path));
    if (!at.d || at.d->pos == UINT32_MAX)
        return err_wrap(at.r->e, "%s", src->name);
    struct doc_place p = doc_place(src, at.d->pos);
    return err_wrap(at.r->e, "%s:%u:%u", src->name, p.line, p.column);
}

static bool is_one_of(struct str s, const char *const *words)
{
    for (; *words; words++)
        if (str_is(s, *words))
            return true;
    return false;
}

static const char *listed(const char *const *words, struct arena *a)
{
    struct str all = str_from(*words);
    while (*++words)
        all = arena_printf(a, "%.*s, %s", STR_ARG(all), *words);
    return arena_str(a, all).p;
}

bool file_is_map(struct file_at at, const char *const *keys)
{
    if (!at.d || at.d->type != DOC_MAP)
        return file_fail(at, "a map is wanted here, not %s",
                         at.d ? doc_type_name(at.d) : "nothing");
    for (uint32_t i = 0; keys && i < at.d->n; i++) {
        struct str key = doc_key(&at.d->members[i]);
        if (!is_one_of(key, keys)) {
            struct file_at m = at;
            m.path = arena_printf(at.r->a, "%.*s%s%.*s", STR_ARG(at.path),
                                  at.path.n ? "." : "", STR_ARG(key));
            m.d = &at.d->members[i].value;
            return file_fail(m, "there is no such field; there are %s",
                             listed(keys, at.r->a));
        }
    }
    return true;
}

bool file_is_list(struct file_at at)
{
    return (at.d && at.d->type == DOC_LIST) ||
           file_fail(at, "a list is wanted here, not %s",
                     at.d ? doc_type_name(at.d) : "nothing");
}

bool file_text(struct file_at at, struct str *out)
{
    if (!at.d)
        return true;
    bool quotes = at.d->type == DOC_BOOL || at.d->type == DOC_NUMBER; /* n, 1 */
    if (at.d->type != DOC_STRING || at.d->n == 0)
        return file_fail(at, "a text is wanted here, not %s%s",
                         at.d->type == DOC_STRING ? "an empty one" : doc_type_name(at.d),
                         quotes ? ": put it into quotes" : "");
    *out = doc_str(at.d);
    return true;
}

bool file_bool(struct file_at at, bool *out)
{
    if (!at.d)
        return true;
    if (at.d->type != DOC_BOOL)
        return file_fail(at, "true or false is wanted here");
    *out = at.d->b;
    return true;
}

bool file_int(struct file_at at, int64_t min, int64_t max, int64_t *out)
{
    int64_t v;
    if (!at.d)
        return true;
    if (at.d->type != DOC_NUMBER || !doc_int64(at.d, &v) || v < min || v > max)
        return file_fail(at, "a whole number from %lld to %lld is wanted here",
                         (long long)min, (long long)max);
    *out = v;
    return true;
}

bool file_quantity(struct file_at at, struct str *out)
{
    struct quantity q;
    if (!at.d)
        return true;
    if ((at.d->type != DOC_STRING && at.d->type != DOC_NUMBER) ||
        !quantity_parse(doc_str(at.d), at.r->a, &q, NULL) || quantity_sign(&q) < 0)
        return file_fail(at, "a quantity is wanted here, such as 4, 16Gi or 100M");
    *out = doc_str(at.d);
    return true;
}

bool file_word(struct file_at at, const char *const *words, struct str *out)
{
    if (!file_text(at, out))
        return false;
    return !at.d || is_one_of(*out, words) ||
           file_fail(at, "\"%.*s\" is none of %s", STR_ARG(*out), listed(words, at.r->a));
}

bool file_texts(struct file_at at, struct str **out, uint32_t *n)
{
    if (!at.d)
        return true;
    if (!file_is_list(at))
        return false;
    struct str *v = ARENA_ARRAY(at.r->a, struct str, at.d->n);
    for (uint32_t i = 0; i < at.d->n; i++)
        if (!file_text(file_item(at, i), &v[i]))
            return false;
    *out = v;
    *n = at.d->n;
    return true;
}

bool file_qualified(struct file_at at, struct str key)
{
    size_t slash = str_find_byte(key, '/', 0);
    struct str domain = slash == SIZE_MAX ? STR_NONE : str_sub(key, 0, slash);
    struct str id = slash == SIZE_MAX ? key : str_sub(key, slash + 1, key.n);
    if (slash != SIZE_MAX &&
        (domain.n > DOMAIN_MAX || !name_valid(NAME_DNS1123_SUBDOMAIN, domain)))
        return file_fail(at, "\"%.*s\" is no domain of at most %d letters",
                         STR_ARG(domain), DOMAIN_MAX);
    return (id.n <= IDENTIFIER_MAX && name_valid(NAME_C_IDENTIFIER, id)) ||
           file_fail(at,
                     "\"%.*s\" is no name: at most %d letters, digits and _, "
                     "no digit first",
                     STR_ARG(id), IDENTIFIER_MAX);
}
