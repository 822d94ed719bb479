/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct str: a borrowed run of bytes, not owned and not necessarily NUL-terminated.
 * struct strbuf: a growing text that owns its bytes; always NUL-terminated once not
 * empty.
 */
#ifndef DRAY_BASE_STR_H
#define DRAY_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})
#define STR_NONE ((struct str){NULL, 0})
/* The same for what is static. */
#define STR_INIT(lit)                                                                    \
    {                                                                                    \
        lit, sizeof(lit) - 1                                                             \
    }
/* For printf: printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

static inline struct str str_from(const char *cstr)
{
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): n is 0 then */
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *cstr)
{
    return str_eq(a, str_from(cstr));
}

int str_cmp(struct str a, struct str b); /* byte order, as Go compares strings */
uint64_t str_hash(struct str s);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Offset of the first byte c at or after from, or SIZE_MAX. */
size_t str_find_byte(struct str s, char c, size_t from);
/* Offset of the last byte c, or SIZE_MAX. */
size_t str_rfind_byte(struct str s, char c);
/* Offset of the first occurrence of needle, or SIZE_MAX. */
size_t str_find(struct str s, struct str needle);
/* s[from, to), bounds clamped. */
struct str str_sub(struct str s, size_t from, size_t to);
struct str str_trim(struct str s); /* ASCII white space */
/* Takes the next part of "A,B" out of *rest; false: nothing is left. What ends in a
 * separator has no empty part behind it. */
bool str_split_next(struct str *rest, char separator, struct str *part);
int str_hex_digit(char c); /* 0 - 15, or -1 */

struct strbuf {
    char *p;
    size_t n, cap;
};

#define STRBUF_INIT                                                                      \
    {                                                                                    \
        NULL, 0, 0                                                                       \
    }

void strbuf_init(struct strbuf *b);
void strbuf_release(struct strbuf *b);
void strbuf_clear(struct strbuf *b); /* keeps the memory */
void strbuf_reserve(struct strbuf *b, size_t more);
void strbuf_add(struct strbuf *b, const void *p, size_t n);
void strbuf_adds(struct strbuf *b, const char *cstr);
void strbuf_addstr(struct strbuf *b, struct str s);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addf(struct strbuf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_addv(struct strbuf *b, const char *fmt, va_list ap);
static inline struct str strbuf_str(const struct strbuf *b)
{
    return (struct str){b->p ? b->p : "", b->n};
}
/* Never NULL. */
static inline const char *strbuf_cstr(const struct strbuf *b)
{
    return b->p ? b->p : "";
}
char *strbuf_steal(struct strbuf *b); /* caller frees; b is empty afterwards */

#endif
