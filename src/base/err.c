/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdlib.h>

#include "base/str.h"

bool err_setv(struct err *e, enum err_code code, const char *fmt, va_list ap)
{
    if (!e)
        return false;
    struct strbuf b = STRBUF_INIT;
    strbuf_addv(&b, fmt, ap);
    free(e->msg);
    e->code = code;
    e->msg = strbuf_steal(&b);
    return false;
}

bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(e, code, fmt, ap);
    va_end(ap);
    return false;
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
    if (!e)
        return false;
    struct strbuf b = STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    strbuf_addv(&b, fmt, ap);
    va_end(ap);
    strbuf_addf(&b, ": %s", err_text(e));
    free(e->msg);
    e->msg = strbuf_steal(&b);
    if (e->code == ERR_NONE)
        e->code = ERR_INTERNAL; /* wrapping nothing is a mistake of the caller */
    return false;
}

void err_release(struct err *e)
{
    free(e->msg);
    *e = (struct err)ERR_INIT;
}

const char *err_text(const struct err *e)
{
    return e->msg ? e->msg : "no error";
}
