/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors as values. A function that can fail returns bool or a pointer and fills the
 * caller's struct err; its outputs are untouched on failure. Libraries never log or exit.
 *
 *     struct err e = ERR_INIT;
 *     if (!thing_load(&thing, path, &e)) { ... e.msg ...; err_release(&e); }
 */
#ifndef DRAY_BASE_ERR_H
#define DRAY_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum err_code {
    ERR_NONE,
    ERR_INVALID, /* the input is wrong */
    ERR_NOT_FOUND,
    ERR_LIMIT, /* a documented limit was exceeded */
    ERR_IO,
    ERR_UNSUPPORTED,
    ERR_CANCELLED,
    ERR_TIMEOUT,
    ERR_INTERNAL,
};

struct err {
    enum err_code code;
    char *msg; /* owned; NULL if code is ERR_NONE */
};

#define ERR_INIT                                                                         \
    {                                                                                    \
        ERR_NONE, 0                                                                      \
    }

/* Replaces what e holds. Always returns false, so that "return err_set(...)" reads well.
 * e may be NULL: then nothing is recorded. */
bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool err_setv(struct err *e, enum err_code code, const char *fmt, va_list ap);
/* Puts "context: " in front of the message. Returns false. */
bool err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_release(struct err *e);
const char *err_text(const struct err *e); /* never NULL */

#endif
