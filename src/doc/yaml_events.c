/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/yaml_events.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "doc/source.h"

#define fail(ev, pos, ...) source_fail((ev)->src, (pos), (ev)->err, __VA_ARGS__)

/* ---- Cutting the stream ---- */

static size_t line_end(struct str t, size_t i)
{
    size_t nl = str_find_byte(t, '\n', i);
    return nl == SIZE_MAX ? t.n : nl + 1;
}

/* Behind --- only a comment may follow. */
static bool check_separator(struct yaml_events *ev, size_t from, size_t to)
{
    struct str rest = str_sub(ev->src->text, from, to), text = str_trim(rest);
    if (text.n == 0 || text.p[0] == '#')
        return true;
    return fail(ev, (uint32_t)(text.p - ev->src->text.p),
                "only a comment may follow --- on its line");
}

static bool find_piece(struct yaml_events *ev, bool *more)
{
    struct str t = ev->src->text;
    size_t start = ev->next, i = start;
    *more = start < t.n;
    while (i < t.n) {
        size_t end = line_end(t, i);
        if (str_starts(str_sub(t, i, end), STR("---"))) {
            if (!check_separator(ev, i + 3, end))
                return false;
            if (i > start) {
                ev->from = start;
                ev->to = i;
                ev->next = end;
                return true;
            }
        }
        i = end;
    }
    ev->from = start;
    ev->to = ev->next = t.n;
    return true;
}

static int feed(void *ctx, unsigned char *buffer, size_t size, size_t *used)
{
    struct yaml_events *ev = ctx;
    const char *text = ev->src->text.p;
    size_t n = ev->to - ev->fed;
    *used = n < size ? n : size;
    memcpy(buffer, text + ev->fed, *used);
    ev->fed += *used;
    if (*used == 0 && !ev->fed_newline && size > 0) {
        ev->fed_newline = true;
        if (ev->to > ev->from && text[ev->to - 1] != '\n') {
            buffer[0] = '\n';
            *used = 1;
        }
    }
    return 1;
}

/* ---- Places and errors ---- */

static size_t step_forward(struct str t, size_t i)
{
    uint32_t cp;
    unsigned len = utf8_decode(t, i, &cp);
    return i + (len ? len : 1);
}

static size_t step_back(struct str t, size_t i)
{
    do
        i--;
    while (i > 0 && ((unsigned char)t.p[i] & 0xc0) == 0x80);
    return i;
}

static uint32_t offset_of(struct yaml_events *ev, const yaml_mark_t *mark)
{
    struct str t = ev->src->text;
    while (ev->mark_index < mark->index && ev->mark_offset < ev->to) {
        ev->mark_offset = step_forward(t, ev->mark_offset);
        ev->mark_index++;
    }
    while (ev->mark_index > mark->index && ev->mark_offset > ev->from) {
        ev->mark_offset = step_back(t, ev->mark_offset);
        ev->mark_index--;
    }
    return (uint32_t)ev->mark_offset;
}

uint32_t yaml_events_pos(struct yaml_events *ev)
{
    return offset_of(ev, &ev->event.start_mark);
}

static bool starts_with_directive(struct yaml_events *ev)
{
    struct str piece = str_sub(ev->src->text, ev->from, ev->to);
    for (size_t i = 0; i < piece.n; i = line_end(piece, i)) {
        char c = piece.p[i];
        if (c == '%')
            return true;
        if (c != '#' && c != '\n' && c != '\r' && c != ' ')
            return false;
    }
    return false;
}

static bool fail_reader(struct yaml_events *ev)
{
    const yaml_parser_t *y = &ev->parser;
    uint32_t pos = (uint32_t)(ev->from + y->problem_offset);
    if (y->problem_value != -1)
        return fail(ev, pos, "%s (0x%02X)", y->problem, (unsigned)y->problem_value);
    return fail(ev, pos, "%s", y->problem);
}

/* kubectl would stop here in silence. */
static bool fail_ended(struct yaml_events *ev, uint32_t pos)
{
    return fail(ev, pos,
                "the document ends before this: is it indented like the rest, or is a "
                "line --- missing?");
}

/* libyaml's own words, with what helps in the usual cases. */
static bool fail_parse(struct yaml_events *ev)
{
    const yaml_parser_t *y = &ev->parser;
    if (y->error == YAML_MEMORY_ERROR)
        return err_set(ev->err, ERR_LIMIT, "%s: too little memory", ev->src->name);
    if (y->error == YAML_READER_ERROR)
        return fail_reader(ev);
    uint32_t pos = offset_of(ev, &y->problem_mark);
    struct str t = ev->src->text;
    if (starts_with_directive(ev))
        return fail(ev, (uint32_t)ev->from,
                    "kubectl reads no directives (lines that start with %%)");
    if (str_is(str_from(y->problem), "did not find expected <document start>"))
        return fail_ended(ev, pos);
    if (pos < t.n && t.p[pos] == '\t')
        return fail(ev, pos, "%s: a tab cannot indent; use spaces", y->problem);
    if (!y->context)
        return fail(ev, pos, "%s", y->problem);
    uint32_t start = offset_of(ev, &y->context_mark);
    return fail(ev, pos, "%s %s that starts in line %u", y->problem, y->context,
                doc_place(ev->src, start).line);
}

/* ---- Events ---- */

static void drop_event(struct yaml_events *ev)
{
    if (ev->have_event)
        yaml_event_delete(&ev->event);
    ev->have_event = false;
}

bool yaml_events_next(struct yaml_events *ev)
{
    drop_event(ev);
    if (!yaml_parser_parse(&ev->parser, &ev->event))
        return fail_parse(ev);
    ev->have_event = true;
    return true;
}

/* ---- Pieces ---- */

static void start(struct yaml_events *ev)
{
    ev->fed = ev->mark_offset = ev->from;
    ev->mark_index = 0;
    ev->fed_newline = false;
    if (!yaml_parser_initialize(&ev->parser))
        mem_array(SIZE_MAX, 2); /* aborts */
    ev->parsing = true;
    yaml_parser_set_encoding(&ev->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input(&ev->parser, feed, ev);
}

static void stop(struct yaml_events *ev)
{
    drop_event(ev);
    if (ev->parsing)
        yaml_parser_delete(&ev->parser);
    ev->parsing = false;
}

bool yaml_events_piece(struct yaml_events *ev, bool *more)
{
    stop(ev);
    if (!find_piece(ev, more))
        return false;
    if (*more)
        start(ev);
    return true;
}

bool yaml_events_end(struct yaml_events *ev)
{
    if (!yaml_events_next(ev) || !yaml_events_next(ev)) /* the document's end first */
        return false;
    if (ev->event.type != YAML_STREAM_END_EVENT)
        return fail_ended(ev, yaml_events_pos(ev));
    return true;
}

bool yaml_events_init(struct yaml_events *ev, const struct doc_source *src, size_t from,
                      struct err *e)
{
    *ev = (struct yaml_events){.src = src, .err = e, .next = from};
    return source_check_size(src, e);
}

void yaml_events_fini(struct yaml_events *ev)
{
    stop(ev);
}
