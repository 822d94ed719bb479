/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/continue.h"

#include "base/base64.h"
#include "doc/doc.h"

static const char FORMAT[] = "meta.k8s.io/v1";

/* Between base64 and its spelling for URLs. */
static struct str respell(struct str s, const char *from, const char *to, struct arena *a)
{
    struct str copy = arena_str(a, s);
    char *p = (char *)copy.p;
    size_t n = copy.n;
    while (n > 0 && p[n - 1] == '=')
        n--;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            if (s.p[i] == from[k])
                p[i] = to[k];
    return (struct str){p, n};
}

struct str continue_print(const struct continue_token *t, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set(a, &d, "v", doc_make_string(a, str_from(FORMAT)));
    doc_set(a, &d, "rv", doc_make_int(a, (int64_t)t->revision));
    doc_set(a, &d, "start", doc_make_string(a, t->after));
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_COMPACT, &b);
    struct str text = respell(base64_encode(strbuf_str(&b), a), "+/", "-_", a);
    strbuf_release(&b);
    return text;
}

bool continue_parse(struct str text, struct arena *a, struct continue_token *out)
{
    struct str json;
    if (!base64_decode(respell(text, "-_", "+/", a), a, &json))
        return false;
    struct doc_source src = {.name = "continue", .text = json};
    struct doc d;
    int64_t revision;
    if (!doc_read_json(&src, a, &d, NULL) || !str_is(doc_get_text(&d, "v"), FORMAT) ||
        !doc_get_int64(&d, "rv", &revision) || revision < 0 ||
        doc_get_text(&d, "start").n == 0)
        return false;
    *out = (struct continue_token){(uint64_t)revision, doc_get_text(&d, "start")};
    return true;
}
