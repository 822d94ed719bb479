/* SPDX-License-Identifier: Apache-2.0 */
#include "control/job_spans.h"

#include "base/vec.h"

/* ---- text ---- */

static bool read_index(struct str text, int64_t *out)
{
    enum { DIGITS = 10 };
    *out = 0;
    if (!text.n || text.n > DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        *out = *out * 10 + (text.p[i] - '0');
    }
    return true;
}

static bool read_span(struct str text, struct job_span *out)
{
    size_t dash = str_find_byte(text, '-', 0);
    if (!read_index(str_sub(text, 0, dash), &out->first))
        return false;
    out->last = out->first;
    return dash == SIZE_MAX || read_index(str_sub(text, dash + 1, SIZE_MAX), &out->last);
}

/* Joins it to the last one where they touch. */
static void push(struct job_spans *s, struct job_span span, struct arena *a)
{
    struct job_span *last = s->n ? &s->v[s->n - 1] : NULL;
    if (!last || span.first > last->last + 1)
        vec_push_in(a, s, span);
    else if (span.last > last->last)
        last->last = span.last;
}

struct job_spans job_spans_parse(struct str text, int64_t limit, struct arena *a)
{
    struct job_spans s = {0};
    for (struct str rest = text, part; str_split_next(&rest, ',', &part);) {
        struct job_span span;
        if (!read_span(part, &span))
            continue;
        if (span.first >= limit)
            break;
        span.last = span.last < limit ? span.last : limit - 1;
        push(&s, span, a);
    }
    return s;
}

struct str job_spans_print(const struct job_spans *s, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t first = s->v[i].first, last = s->v[i].last;
        strbuf_addf(&b, "%s%lld", i ? "," : "", (long long)first);
        if (last > first)
            strbuf_addf(&b, "%c%lld", last == first + 1 ? ',' : '-', (long long)last);
    }
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* ---- sets ---- */

void job_spans_append(struct job_spans *s, int64_t index, struct arena *a)
{
    push(s, (struct job_span){index, index}, a);
}

struct job_spans job_spans_merge(const struct job_spans *x, const struct job_spans *y,
                                 struct arena *a)
{
    struct job_spans out = {0};
    uint32_t i = 0, j = 0;
    while (i < x->n || j < y->n) {
        bool left = j == y->n || (i < x->n && x->v[i].first < y->v[j].first);
        push(&out, left ? x->v[i++] : y->v[j++], a);
    }
    return out;
}

int64_t job_spans_total(const struct job_spans *s)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->v[i].last - s->v[i].first + 1;
    return n;
}

bool job_spans_have(const struct job_spans *s, int64_t index)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->v[mid].last >= index)
            high = mid;
        else
            low = mid + 1;
    }
    return high < s->n && s->v[high].first <= index;
}

int64_t job_spans_common(const struct job_spans *x, const struct job_spans *y)
{
    int64_t n = 0;
    for (uint32_t i = 0, j = 0; i < x->n && j < y->n;) {
        int64_t xl = x->v[i].last, yl = y->v[j].last, xf = x->v[i].first,
                yf = y->v[j].first;
        int64_t both = (xl < yl ? xl : yl) - (xf > yf ? xf : yf) + 1;
        n += both > 0 ? both : 0;
        i += xl <= yl;
        j += yl <= xl;
    }
    return n;
}
