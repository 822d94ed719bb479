/* SPDX-License-Identifier: Apache-2.0 */
/* What checks of pods look with, and the words in which they tell. */
#include "api/pod_security_inner.h"

#include <stdlib.h>

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

/* Each once, sorted. */
void tell_set(struct words *w)
{
    size_t n = 0;
    if (w->v.n > 1)
        qsort(w->v.v, w->v.n, sizeof *w->v.v, by_text);
    for (size_t i = 0; i < w->v.n; i++)
        if (i == 0 || !str_eq(w->v.v[i], w->v.v[i - 1]))
            w->v.v[n++] = w->v.v[i];
    w->v.n = n;
}

void tell_joined(struct look *l, const struct words *w, bool quoted)
{
    const char *mark = quoted ? "\"" : "";
    for (size_t i = 0; i < w->v.n; i++)
        strbuf_addf(l->detail, "%s%s%.*s%s", i ? ", " : "", mark, STR_ARG(w->v.v[i]),
                    mark);
}

const char *tell_plural(const struct words *w, const char *one, const char *many)
{
    return w->v.n == 1 ? one : many;
}

struct str seen_name(const struct doc *d)
{
    struct str name = doc_get_text(d, "name");
    return name.p ? name : STR("");
}

/* container "a", containers "a", "b" */
void tell_containers(struct look *l, const struct words *names)
{
    strbuf_addf(l->detail, "%s ", tell_plural(names, "container", "containers"));
    tell_joined(l, names, true);
}

/* pod and containers "a", "b" */
void tell_setters(struct look *l, bool pod, const struct words *names)
{
    if (pod)
        strbuf_addf(l->detail, "pod%s", names->v.n ? " and " : "");
    if (names->v.n)
        tell_containers(l, names);
}

const struct doc *seen_at(const struct doc *d, const char *path)
{
    const struct doc *v = doc_path(d, path);
    return v && v->type != DOC_NULL ? v : NULL;
}

struct str seen_text(const struct doc *d, const char *path)
{
    const struct doc *v = doc_path(d, path);
    return v && v->type == DOC_STRING ? doc_str(v) : STR("");
}

bool seen_true(const struct doc *d)
{
    return d && d->type == DOC_BOOL && d->b;
}

bool seen_false(const struct doc *d)
{
    return d && d->type == DOC_BOOL && !d->b;
}

bool seen_windows(const struct look *l)
{
    return str_is(seen_text(l->spec, "os.name"), "windows");
}

/* Its root is nobody outside. */
bool seen_own_users(const struct look *l)
{
    return seen_false(doc_get(l->spec, "hostUsers"));
}

bool seen_among(struct str s, const char *const *names)
{
    while (*names && !str_is(s, *names))
        names++;
    return *names != NULL;
}
