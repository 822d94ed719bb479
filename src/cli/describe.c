/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/describe.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/vec.h"
#include "cli/event_rows.h"
#include "cli/template.h"

enum { MAX_CELLS = 5, PADDING = 2 };

/* Lines with cells that follow one another are aligned with each other. */
struct line {
    struct str cells[MAX_CELLS];
    uint32_t n;
};

struct page {
    struct arena *a;
    struct strbuf *out;
    VEC(struct line) block; /* that is not printed yet */
};

static size_t width(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xc0) != 0x80;
    return n;
}

static void flush(struct page *p)
{
    size_t widths[MAX_CELLS] = {0};
    for (size_t i = 0; i < p->block.n; i++)
        for (uint32_t c = 0; c + 1 < p->block.v[i].n; c++) {
            size_t w = width(p->block.v[i].cells[c]) + PADDING;
            widths[c] = w > widths[c] ? w : widths[c];
        }
    for (size_t i = 0; i < p->block.n; i++) {
        const struct line *l = &p->block.v[i];
        for (uint32_t c = 0; c + 1 < l->n; c++)
            strbuf_addf(p->out, "%.*s%*s", STR_ARG(l->cells[c]),
                        (int)(widths[c] - width(l->cells[c])), "");
        strbuf_addstr(p->out, l->cells[l->n - 1]);
        strbuf_addc(p->out, '\n');
    }
    vec_clear(&p->block);
}

static struct str indent(const struct page *p, int level, struct str text,
                         const char *end)
{
    return arena_printf(p->a, "%*s%.*s%s", 2 * level, "", STR_ARG(text), end);
}

/* A line of its own ends the block. */
static void add_head(struct page *p, int level, struct str text, const char *end)
{
    struct line l = {.cells = {indent(p, level, text, end)}, .n = 1};
    flush(p);
    vec_push_in(p->a, &p->block, l);
    flush(p);
}

static void add_pair(struct page *p, int level, const char *name, struct str value)
{
    struct str label = name[0] ? indent(p, level, str_from(name), ":") : STR("");
    struct line l = {.cells = {label, value}, .n = 2};
    vec_push_in(p->a, &p->block, l);
}

/* ---- names ---- */

static bool is_acronym(struct str word)
{
    static const char *const ALL[] = {"API", "URL", "UID", "OSB", "GUID"};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        bool same = strlen(ALL[i]) == word.n;
        for (size_t k = 0; same && k < word.n; k++)
            same = toupper((unsigned char)word.p[k]) == ALL[i][k];
        if (same)
            return true;
    }
    return false;
}

/* A word ends where a capital begins the next: pod|IP, pod|I|Ps, HTTP|Get; a dash is a
 * word of its own. */
static size_t word_end(struct str s, size_t from)
{
    size_t i = from + 1;
    if (s.p[from] == '-')
        return i;
    bool capital = isupper((unsigned char)s.p[from]);
    if (capital && i < s.n && isupper((unsigned char)s.p[i])) {
        while (i < s.n && isupper((unsigned char)s.p[i]))
            i++;
        return i < s.n && islower((unsigned char)s.p[i]) ? i - 1 : i;
    }
    while (i < s.n && islower((unsigned char)s.p[i]))
        i++;
    return i;
}

/* Letters and dashes alone; what else there is in a key is no name to be made nice. */
static bool is_plain(struct str field)
{
    for (size_t i = 0; i < field.n; i++)
        if (!isalpha((unsigned char)field.p[i]) && field.p[i] != '-')
            return false;
    return true;
}

struct str describe_label(struct str field, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (!is_plain(field))
        return arena_str(a, field);
    for (size_t at = 0, end; at < field.n; at = end) {
        end = word_end(field, at);
        struct str word = str_sub(field, at, end);
        strbuf_adds(&b, at ? " " : "");
        bool all = is_acronym(word);
        for (size_t i = 0; i < word.n; i++)
            strbuf_addc(&b, all || i == 0 ? (char)toupper((unsigned char)word.p[i])
                                          : word.p[i]);
    }
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

/* ---- values ---- */

static struct str scalar(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (d->type == DOC_NULL)
        return STR("<nil>");
    template_value(d, &b);
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

static int compare_members(const void *x, const void *y)
{
    return str_cmp(doc_key(x), doc_key(y));
}

static void add_map(struct page *p, int level, const struct doc *map, bool meta);

static void add_list(struct page *p, int level, const struct doc *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].type == DOC_MAP)
            add_map(p, level, &list->items[i], false);
        else
            add_head(p, level, scalar(&list->items[i], p->a), "");
    }
}

static void add_member(struct page *p, int level, const struct doc_member *m)
{
    struct str label = describe_label(doc_key(m), p->a);
    bool meta = level == 0 && str_is(doc_key(m), "metadata");
    if (m->value.type != DOC_MAP && m->value.type != DOC_LIST) {
        add_pair(p, level, label.p, scalar(&m->value, p->a));
        return;
    }
    add_head(p, level, label, ":");
    if (m->value.type == DOC_MAP)
        add_map(p, level + 1, &m->value, meta);
    else
        add_list(p, level + 1, &m->value);
}

/* What the page begins with is not said again. */
static bool is_said(struct str key)
{
    static const char *const SAID[] = {"name", "namespace", "labels", "annotations",
                                       "managedFields"};
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++)
        if (str_is(key, SAID[i]))
            return true;
    return false;
}

static void add_map(struct page *p, int level, const struct doc *map, bool meta)
{
    struct doc sorted = doc_dup(p->a, map);
    if (sorted.n)
        qsort(sorted.members, sorted.n, sizeof *sorted.members, compare_members);
    for (uint32_t i = 0; i < sorted.n; i++)
        if (!meta || !is_said(doc_key(&sorted.members[i])))
            add_member(p, level, &sorted.members[i]);
}

/* "Labels:  a=b", and the others below the first. What kubectl notes for itself is left
 * out. */
static void add_texts(struct page *p, const char *name, const struct doc *map,
                      const char *between)
{
    struct doc sorted = map && map->type == DOC_MAP ? doc_dup(p->a, map) : doc_make_map();
    doc_remove(&sorted, STR("kubectl.kubernetes.io/last-applied-configuration"));
    if (!sorted.n) {
        add_pair(p, 0, name, STR("<none>"));
        return;
    }
    qsort(sorted.members, sorted.n, sizeof *sorted.members, compare_members);
    for (uint32_t i = 0; i < sorted.n; i++)
        add_pair(p, 0, i ? "" : name,
                 arena_printf(p->a, "%.*s%s%.*s", STR_ARG(doc_key(&sorted.members[i])),
                              between, STR_ARG(doc_str(&sorted.members[i].value))));
}

/* ---- events ---- */

static struct str source_of(const struct doc *event)
{
    struct str from = doc_get_text(doc_get(event, "source"), "component");
    return from.n ? from : doc_get_text(event, "reportingComponent");
}

static void add_events(struct page *p, struct doc *events, int64_t now)
{
    static const struct line HEADS[] = {
        {{{"  Type", 6}, {"Reason", 6}, {"Age", 3}, {"From", 4}, {"Message", 7}}, 5},
        {{{"  ----", 6}, {"------", 6}, {"----", 4}, {"----", 4}, {"-------", 7}}, 5}};
    if (!events || !events->n) {
        add_pair(p, 0, "Events", STR("<none>"));
        return;
    }
    add_head(p, 0, STR("Events"), ":");
    event_rows_sort(events);
    for (int i = 0; i < 2; i++)
        vec_push_in(p->a, &p->block, HEADS[i]);
    for (uint32_t i = 0; i < events->n; i++) {
        const struct doc *e = &events->items[i];
        struct line l = {{indent(p, 1, doc_get_text(e, "type"), ""),
                          doc_get_text(e, "reason"), event_age(e, now, p->a),
                          source_of(e), str_trim(doc_get_text(e, "message"))},
                         5};
        vec_push_in(p->a, &p->block, l);
    }
}

void describe_object(const struct doc *object, struct doc *events, bool with_events,
                     int64_t now, struct arena *a, struct strbuf *out)
{
    const struct doc *meta = doc_get(object, "metadata");
    struct page p = {.a = a, .out = out};
    add_pair(&p, 0, "Name", doc_get_text(meta, "name"));
    add_pair(&p, 0, "Namespace", doc_get_text(meta, "namespace"));
    add_texts(&p, "Labels", doc_get(meta, "labels"), "=");
    add_texts(&p, "Annotations", doc_get(meta, "annotations"), ": ");
    add_map(&p, 0, object, false);
    if (with_events)
        add_events(&p, events, now);
    flush(&p);
}
