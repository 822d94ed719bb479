/* SPDX-License-Identifier: Apache-2.0 */
#include "server/informer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unit/unit.h"

/* LAZY: revisions; more than a server remembers of a resource. REMEMBERED: revisions that
 * it has to remember. */
enum { LAZY = 6000, REMEMBERED = 1000, FORGOTTEN_S = 280, LONGEST_PATH = 400 };

/* ---- what is watched ---- */

static bool in_phase_a(uint32_t object, const struct content *c)
{
    return c->phase == 0;
}

static bool not_in_phase_b(uint32_t object, const struct content *c)
{
    return c->phase != 1;
}

static bool in_phase_b_or_c(uint32_t object, const struct content *c)
{
    return c->phase >= 1;
}

static bool is_cordoned(uint32_t object, const struct content *c)
{
    return c->cordoned;
}

static bool is_open_in_a(uint32_t object, const struct content *c)
{
    return !c->cordoned && c->phase == 0;
}

static bool is_o_12(uint32_t object, const struct content *c)
{
    return object == 12;
}

#define ALL ""
#define A "&labelSelector=phase%3Da"
#define NOT_B "&labelSelector=phase!%3Db"
#define B_OR_C "&labelSelector=phase%20in%20(b,c)"
#define CORDONED "&fieldSelector=spec.unschedulable%3Dtrue"
#define OPEN_IN_A "&fieldSelector=spec.unschedulable!%3Dtrue"
#define O_12 "&fieldSelector=metadata.name%3Do-12"

const struct informer_kind INFORMERS[] = {
    {{0, NULL, ALL, NULL}, false, false, 0},
    {{0, NULL, ALL, NULL}, true, false, 0},
    {{0, "default", ALL, NULL}, false, false, 1},
    {{0, "kube-public", A, in_phase_a}, true, false, 2},
    {{0, NULL, A, in_phase_a}, false, false, 0},
    {{0, NULL, NOT_B, not_in_phase_b}, false, false, 1},
    {{0, NULL, B_OR_C, in_phase_b_or_c}, true, true, 1},
    {{0, NULL, ALL, NULL}, false, true, 1},
    {{0, "default", O_12, is_o_12}, false, false, 0},
    {{1, NULL, ALL, NULL}, true, false, 1},
    {{1, "default", B_OR_C, in_phase_b_or_c}, false, false, 0},
    {{1, NULL, NOT_B, not_in_phase_b}, true, true, 2},
    {{2, NULL, ALL, NULL}, false, false, 0},
    {{2, NULL, CORDONED, is_cordoned}, false, false, 0},
    {{2, NULL, CORDONED, is_cordoned}, true, false, 1},
    {{2, NULL, OPEN_IN_A A, is_open_in_a}, false, false, 1},
};
const uint32_t NINFORMERS = sizeof INFORMERS / sizeof *INFORMERS;

/* ---- notes ---- */

static void note_begin(struct informer *i, uint64_t revision)
{
    struct note n = {.kind = NOTE_BEGIN, .revision = revision, .floor = i->floor};
    vec_push(&i->notes, n);
    i->synced = true;
    i->last = revision;
    i->relisted++;
}

static void note_gone(struct informer *i)
{
    struct note n = {.kind = NOTE_GONE, .revision = i->last, .floor = i->load->newest};
    if (i->synced)
        vec_push(&i->notes, n);
    i->synced = false;
    i->gone = true;
}

/* false: not one of ours. */
static bool make_note(const struct doc *object, enum note_kind kind, struct note *out)
{
    *out = (struct note){.kind = kind};
    return content_read(object, &out->object, &out->revision, &out->content);
}

/* ---- lists ---- */

static uint64_t revision_of(const struct doc *d)
{
    int64_t n = 0;
    char text[24] = "";
    struct str s = doc_get_text(doc_get(d, "metadata"), "resourceVersion");
    memcpy(text, s.p ? s.p : "", s.n < sizeof text ? s.n : 0);
    n = strtoll(text, NULL, 10);
    return (uint64_t)n;
}

static void take_list(struct informer *i, struct str body)
{
    struct doc_source src = {.name = "list", .text = body};
    struct arena a = {0};
    struct doc d;
    struct note n;
    if (!doc_read_json(&src, &a, &d, NULL))
        fail_msg("a list is no JSON");
    note_begin(i, revision_of(&d));
    const struct doc *items = doc_get(&d, "items");
    for (uint32_t k = 0; items && k < items->n; k++)
        if (make_note(&items->items[k], NOTE_ITEM, &n))
            vec_push(&i->notes, n);
    arena_fini(&a);
}

static void listed(void *ctx, unsigned status, struct str body)
{
    struct informer *i = ctx;
    i->call = NULL;
    if (status == 200)
        take_list(i, body);
    else if (status != 0)
        fail_msg("a list is answered with %u: %.*s", status, STR_ARG(body));
}

/* ---- watches ---- */

static bool ends_initial(const struct doc *object)
{
    const struct doc *notes = doc_get(doc_get(object, "metadata"), "annotations");
    return str_is(doc_get_text(notes, "k8s.io/initial-events-end"), "true");
}

/* What the first events made, without what they took away again. */
static void take_first(struct informer *i, uint64_t revision)
{
    note_begin(i, revision);
    for (size_t k = 0; k < i->first.n; k++) {
        struct note n = i->first.v[k];
        n.kind = NOTE_ITEM;
        vec_push(&i->notes, n);
    }
    vec_clear(&i->first);
}

static void take_bookmark(struct informer *i, const struct doc *object)
{
    uint64_t revision = revision_of(object);
    struct note n = {.kind = NOTE_BOOKMARK, .revision = revision};
    if (!i->synced && ends_initial(object)) {
        take_first(i, revision);
        return;
    }
    if (!i->synced)
        fail_msg("a bookmark comes before the end of the first events");
    vec_push(&i->notes, n);
    i->last = revision;
}

static void take_error(struct informer *i, const struct doc *object)
{
    int64_t code = 0;
    doc_get_int64(object, "code", &code);
    if (code != 410)
        fail_msg("a watch ends with %d", (int)code);
    note_gone(i);
}

static void take_change(struct informer *i, struct str type, const struct doc *object)
{
    struct note n;
    bool ours = make_note(object, NOTE_EVENT, &n);
    uint64_t revision = revision_of(object);
    n.type = str_is(type, "ADDED")      ? ADDED
             : str_is(type, "MODIFIED") ? MODIFIED
                                        : DELETED;
    if (!i->synced) {
        if (n.type != ADDED)
            fail_msg("a first event is no ADDED");
        if (ours)
            vec_push(&i->first, n);
        return;
    }
    i->last = revision;
    i->events++;
    if (ours)
        vec_push(&i->notes, n);
}

static void take_line(struct informer *i, struct str line)
{
    struct doc_source src = {.name = "event", .text = line};
    struct arena a = {0};
    struct doc d;
    if (!doc_read_json(&src, &a, &d, NULL))
        fail_msg("an event is no JSON: %.*s", STR_ARG(line));
    struct str type = doc_get_text(&d, "type");
    const struct doc *object = doc_get(&d, "object");
    if (str_is(type, "ERROR"))
        take_error(i, object);
    else if (str_is(type, "BOOKMARK"))
        take_bookmark(i, object);
    else
        take_change(i, type, object);
    arena_fini(&a);
}

static void watch_data(void *ctx, struct https_call *call, struct str bytes)
{
    struct informer *i = ctx;
    strbuf_addstr(&i->line, bytes);
    if (https_status(call) != 200)
        return;
    struct str all = strbuf_str(&i->line);
    size_t at = 0, end;
    for (; (end = str_find_byte(all, '\n', at)) != SIZE_MAX; at = end + 1)
        take_line(i, str_sub(all, at, end));
    struct str rest = str_sub(all, at, SIZE_MAX);
    memmove(i->line.p, rest.p, rest.n);
    i->line.n = rest.n;
}

static void watch_ended(void *ctx, unsigned status, struct str body)
{
    struct informer *i = ctx;
    i->call = NULL;
    if (status == 410)
        note_gone(i);
    else if (status != 0 && status != 200)
        fail_msg("a watch is answered with %u: %s", status, strbuf_cstr(&i->line));
    else if (status == 200 && i->line.n)
        fail_msg("a watch ends within an event");
    strbuf_clear(&i->line);
    vec_clear(&i->first);
}

/* ---- requests ---- */

static int print_path(const struct informer *i, char *out)
{
    const struct view *v = &i->kind->view;
    const struct kind *k = &KIND[v->kind];
    return snprintf(out, LONGEST_PATH, "%s%s%s/%s?", k->root,
                    v->namespace ? "/namespaces/" : "", v->namespace ? v->namespace : "",
                    k->plural);
}

static void send(struct informer *i, const char *path)
{
    struct https_request r = {.method = "GET", .path = str_from(path), .ctx = i};
    r.data = i->watching ? watch_data : NULL;
    r.done = i->watching ? watch_ended : listed;
    i->call = https_send(i->conn, &r);
}

static void list(struct informer *i)
{
    char path[LONGEST_PATH];
    int n = print_path(i, path);
    snprintf(path + n, sizeof path - (size_t)n, "limit=0%s", i->kind->view.query);
    i->floor = i->load->newest;
    i->watching = false;
    send(i, path);
}

static void watch(struct informer *i)
{
    char path[LONGEST_PATH];
    int n = print_path(i, path);
    n += snprintf(path + n, sizeof path - (size_t)n, "watch=1&allowWatchBookmarks=1%s",
                  i->kind->view.query);
    if (i->kind->seconds)
        n += snprintf(path + n, sizeof path - (size_t)n, "&timeoutSeconds=%u",
                      i->kind->seconds);
    if (i->synced)
        snprintf(path + n, sizeof path - (size_t)n, "&resourceVersion=%llu",
                 (unsigned long long)i->last);
    else
        snprintf(path + n, sizeof path - (size_t)n,
                 "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    i->floor = i->load->newest;
    i->resumed += i->synced;
    i->watching = true;
    send(i, path);
}

void informer_tend(struct informer *i)
{
    if (i->call || !i->conn || https_is_lost(i->conn))
        return;
    i->gone = false;
    if (i->kind->lazy && i->synced && i->load->newest < i->last + LAZY && !i->load->stop)
        return;
    if (i->synced || i->kind->stream)
        watch(i);
    else
        list(i);
}

void informer_init(struct informer *i, const struct informer_kind *kind, struct load *l)
{
    *i = (struct informer){.kind = kind, .load = l, .born_ns = clock_mono_ns()};
}

void informer_fini(struct informer *i)
{
    strbuf_release(&i->line);
    vec_release(&i->notes);
    vec_release(&i->first);
}

void informer_start(struct informer *i, struct https_conn *c)
{
    i->conn = c;
    informer_tend(i);
}

/* ---- judging ---- */

struct judge {
    struct informer *i;
    const struct history *h;
    size_t next; /* change to be seen, or passed over */
};

static void wrong(const struct judge *j, const char *what, uint64_t revision)
{
    fail_msg("%s%s after %llu: %s at %llu", KIND[j->i->kind->view.kind].plural,
             j->i->kind->view.query, (unsigned long long)j->i->at, what,
             (unsigned long long)revision);
}

/* Moves to the next change that the view's watcher is told. */
static const struct change *next_told(struct judge *j, enum event_type *type)
{
    for (; j->next < j->h->all.n; j->next++)
        if (view_event(&j->i->kind->view, &j->h->all.v[j->next], type))
            return &j->h->all.v[j->next];
    return NULL;
}

static void judge_event(struct judge *j, const struct note *n)
{
    enum event_type type;
    const struct change *c = next_told(j, &type);
    if (!c || c->revision > n->revision)
        wrong(j, "an event that never was", n->revision);
    else if (c->revision < n->revision)
        wrong(j, "an event is lost", c->revision);
    else if (c->object != n->object || type != n->type)
        wrong(j, "an event of the wrong type", n->revision);
    /* Who leaves a view is shown as it was in it. */
    bool left = type == DELETED && c->type == MODIFIED;
    if (n->content.n != (left ? c->before.n : c->now.n))
        wrong(j, "an event of the wrong content", n->revision);
    j->next++;
    j->i->at = n->revision;
}

static void judge_bookmark(struct judge *j, const struct note *n)
{
    enum event_type type;
    const struct change *c = next_told(j, &type);
    if (n->revision < j->i->at || n->revision > j->h->revision)
        wrong(j, "a bookmark of another time", n->revision);
    if (c && c->revision <= n->revision)
        wrong(j, "an event is lost before a bookmark", c->revision);
    j->i->at = n->revision;
}

/* The state at a revision, by object; revision 0: not there. */
struct state {
    struct {
        uint64_t revision;
        struct content content;
    } of[OBJECTS];
};

static void state_at(const struct history *h, uint64_t revision, struct state *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t o = 0; o < OBJECTS; o++)
        if (h->base[o].there) {
            s->of[o].revision = h->base[o].revision;
            s->of[o].content = h->base[o].content;
        }
    for (size_t i = 0; i < h->all.n && h->all.v[i].revision <= revision; i++) {
        const struct change *c = &h->all.v[i];
        s->of[c->object].revision = c->type == DELETED ? 0 : c->revision;
        s->of[c->object].content = c->now;
    }
}

/* The notes behind a BEGIN; returns how many. */
static size_t judge_items(struct judge *j, const struct note *n, size_t most)
{
    struct state s;
    const struct view *v = &j->i->kind->view;
    uint64_t revision = n->revision;
    size_t items = 0;
    state_at(j->h, revision, &s);
    for (; items < most && n[1 + items].kind == NOTE_ITEM; items++) {
        const struct note *item = &n[1 + items];
        if (s.of[item->object].revision != item->revision ||
            s.of[item->object].content.n != item->content.n)
            wrong(j, "a list holds what was not there", item->revision);
        if (!view_has(v, item->object, &item->content))
            wrong(j, "a list holds what was not asked for", item->revision);
        s.of[item->object].revision = 0;
    }
    for (uint32_t o = 0; o < OBJECTS; o++)
        if (s.of[o].revision && view_has(v, o, &s.of[o].content))
            wrong(j, "a list lacks an object", s.of[o].revision);
    return items;
}

static size_t judge_begin(struct judge *j, const struct note *n, size_t most)
{
    if (n->revision < n->floor || n->revision < j->i->at)
        wrong(j, "a list is older than what was known", n->revision);
    if (n->revision < j->h->after || n->revision > j->h->revision)
        wrong(j, "a list is of another time", n->revision);
    j->i->at = n->revision;
    j->i->begun = true;
    j->next = history_seek(j->h, n->revision);
    return judge_items(j, n, most);
}

/* What is older than five minutes may be forgotten, however little it is: then a slow run
 * proves nothing. */
static bool may_remember(const struct informer *i)
{
    return clock_mono_ns() - i->born_ns < (uint64_t)FORGOTTEN_S * 1000000000;
}

void informer_check(struct informer *i, const struct history *h, bool complete)
{
    struct judge j = {i, h, history_seek(h, i->at)};
    for (size_t k = 0; k < i->notes.n; k++) {
        const struct note *n = &i->notes.v[k];
        if (n->kind == NOTE_BEGIN)
            k += judge_begin(&j, n, i->notes.n - k - 1);
        else if (n->kind == NOTE_EVENT)
            judge_event(&j, n);
        else if (n->kind == NOTE_BOOKMARK)
            judge_bookmark(&j, n);
        else if (n->floor < n->revision + REMEMBERED && may_remember(i))
            wrong(&j, "410, and little has happened", n->revision);
    }
    enum event_type type;
    const struct change *c = complete && i->synced ? next_told(&j, &type) : NULL;
    if (c)
        wrong(&j, "an event has not come", c->revision);
    vec_clear(&i->notes);
}

uint64_t informers_oldest(const struct informer *all, const struct history *h)
{
    uint64_t oldest = h->revision;
    for (uint32_t i = 0; i < NINFORMERS; i++)
        if (all[i].synced && all[i].at < oldest)
            oldest = all[i].at;
    return oldest;
}
