/* SPDX-License-Identifier: Apache-2.0 */
/* dray events: what happened, of everything or of one object. */
#include <stdio.h>

#include "base/query.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/event_rows.h"
#include "cli/targets.h"

static const char USAGE[] = "usage: dray events [--for TYPE/NAME] [OPTION]...\n"
                            "\n"
                            "Prints events, the oldest first, as kubectl events does.\n"
                            "\n";

struct events_opts {
    struct session_opts session;
    const char *about, *types;
    bool no_headers;
};

#define AT(member) offsetof(struct events_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct events_opts),
    SESSION_ALL_ROW(struct events_opts),
    {"for", "TYPE/NAME", OPTION_TEXT, AT(about), "of this object alone"},
    {"types", "Normal,Warning", OPTION_LIST, AT(types), "of these types alone"},
    {"no-headers", NULL, OPTION_FLAG, AT(no_headers), "lines alone"},
};
#undef AT

static bool is_wanted(const struct doc *event, const char *types)
{
    bool found = !types;
    struct str part, all = str_from(types ? types : "");
    for (struct str rest = all; !found && str_split_next(&rest, ',', &part);)
        found = str_eq(part, doc_get_text(event, "type"));
    return found;
}

static struct str object_of(const struct doc *event, struct arena *a)
{
    const struct doc *about = doc_get(event, "involvedObject");
    return arena_printf(a, "%.*s/%.*s", STR_ARG(doc_get_text(about, "kind")),
                        STR_ARG(doc_get_text(about, "name")));
}

static void add_line(struct columns *c, const struct session *s, const struct doc *event,
                     int64_t now)
{
    struct str message = str_trim(doc_get_text(event, "message"));
    const struct str cells[] = {
        doc_get_text(doc_get(event, "metadata"), "namespace"),
        event_age(event, now, s->a),
        doc_get_text(event, "type"),
        doc_get_text(event, "reason"),
        object_of(event, s->a),
        message,
    };
    bool all = s->opts->all_namespaces;
    columns_add(c, cells + !all, sizeof cells / sizeof *cells - !all);
}

static void print(struct session *s, const struct events_opts *o, struct doc *items)
{
    static const struct str HEADERS[] = {{"NAMESPACE", 9}, {"LAST SEEN", 9},
                                         {"TYPE", 4},      {"REASON", 6},
                                         {"OBJECT", 6},    {"MESSAGE", 7}};
    struct columns c;
    int64_t now = event_rows_now();
    uint32_t n = 0;
    columns_init(&c);
    event_rows_sort(items);
    if (!o->no_headers)
        columns_add(&c, HEADERS + !s->opts->all_namespaces, 6 - !s->opts->all_namespaces);
    for (uint32_t i = 0; i < items->n; i++)
        if (is_wanted(&items->items[i], o->types)) {
            add_line(&c, s, &items->items[i], now);
            n++;
        }
    if (n)
        columns_flush(&c, stdout);
    else if (s->opts->all_namespaces)
        fputs("No events found.\n", stderr);
    else
        fprintf(stderr, "No events found in %.*s namespace.\n", STR_ARG(s->namespace));
    columns_fini(&c);
}

/* "&fieldSelector=involvedObject.kind=...,involvedObject.name=..." */
static bool add_about(struct session *s, const char *about, struct strbuf *path,
                      struct err *e)
{
    struct discovery d;
    struct targets t;
    char *argv[] = {(char *)about};
    struct option_args args = {argv, 1};
    if (!discovery_read(s, &d, e) || !targets_of_args(s, &d, &args, &t, e))
        return false;
    if (!t.v[0].name.n)
        return err_set(e, ERR_INVALID, "--for must be in resource/name form");
    strbuf_adds(path, "?fieldSelector=");
    query_escape(arena_printf(s->a, "involvedObject.kind=%.*s,involvedObject.name=%.*s",
                              STR_ARG(t.v[0].resource->kind), STR_ARG(t.v[0].name)),
                 path);
    return true;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    static const struct client_kind EVENT = {"", "v1", "events", true};
    const struct events_opts *o = into;
    struct strbuf b = STRBUF_INIT;
    struct str namespace = s->opts->all_namespaces ? STR_NONE : s->namespace;
    const struct doc *list = NULL;
    if (args->n) {
        err_set(e, ERR_INVALID, "\"%s\": --for TYPE/NAME says of what", args->v[0]);
        return EXIT_INPUT;
    }
    strbuf_addstr(&b, client_path(&EVENT, namespace, STR_NONE, NULL, s->a));
    if (!o->about || add_about(s, o->about, &b, e))
        list = session_doc(s, session_get(s, strbuf_str(&b), NULL), e);
    strbuf_release(&b);
    struct doc *items = (struct doc *)doc_get(list, "items");
    if (items && items->type == DOC_LIST)
        print(s, o, items);
    return list ? EXIT_OK : EXIT_NO;
}

int cmd_events(int argc, char **argv)
{
    struct events_opts o = {0};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
