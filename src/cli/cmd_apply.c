/* SPDX-License-Identifier: Apache-2.0 */
/* dray apply: objects as files have them, by server-side apply. */
#include <stdio.h>

#include "base/query.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/output.h"

static const char USAGE[] =
    "usage: dray apply -f FILE [OPTION]...\n"
    "\n"
    "Makes objects as files have them, or changes them to that; the server finds the\n"
    "difference (server-side apply), and knows whose each field is.\n"
    "\n"
    "  dray apply -f examples/vllm\n"
    "\n";

struct apply_opts {
    struct session_opts session;
    const char *files, *manager, *output, *dry_run, *subresource;
    bool recursive, force, server_side;
};

#define AT(member) offsetof(struct apply_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct apply_opts),
    {"filename", "FILE,...", OPTION_LIST, AT(files),
     "files, folders, or - for standard input", NULL, 'f'},
    {"recursive", NULL, OPTION_FLAG, AT(recursive), "folders of folders too", NULL, 'R'},
    {"field-manager", "NAME", OPTION_TEXT, AT(manager), "whose fields they are (dray)"},
    {"force-conflicts", NULL, OPTION_FLAG, AT(force),
     "take fields that are somebody else's"},
    {"dry-run", "server", OPTION_TEXT, AT(dry_run), "say what would be; change nothing"},
    {"output", "FORMAT", OPTION_TEXT, AT(output), "the results, as dray get -o", NULL,
     'o'},
    {"subresource", "NAME", OPTION_TEXT, AT(subresource), "of objects: status"},
    {"server-side", NULL, OPTION_FLAG, AT(server_side), "it always is"},
};
#undef AT

static const char ADVICE[] =
    "\n"
    "Please review the fields above--they currently have other managers. Here\n"
    "are the ways you can resolve this warning:\n"
    "* If you intend to manage all of these fields, please re-run the apply\n"
    "  command with the `--force-conflicts` flag.\n"
    "* If you do not intend to manage all of the fields, please edit your\n"
    "  manifest to remove references to the fields that should keep their\n"
    "  current managers.\n"
    "* You may co-own fields by updating your manifest to match the existing\n"
    "  value; in this case, you'll become the manager if the other manager(s)\n"
    "  stop managing the field (remove it from their configuration).\n"
    "See "
    "https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

static struct str path_of(const struct session *s, const struct target *t,
                          const struct apply_opts *o)
{
    struct strbuf b = STRBUF_INIT;
    struct arena *a = s->a;
    strbuf_addstr(&b,
                  resource_path(t->resource, t->namespace, t->name, o->subresource, a));
    strbuf_adds(&b, "?fieldManager=");
    query_escape(str_from(o->manager), &b);
    strbuf_adds(&b, "&fieldValidation=Strict");
    strbuf_adds(&b, o->force ? "&force=true" : "");
    strbuf_adds(&b, o->dry_run ? "&dryRun=All" : "");
    struct str path = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return path;
}

static bool refuse(const struct client_answer *a, struct err *e)
{
    bool conflict =
        a->status == 409 && str_starts(str_from(a->message), STR("Apply failed with"));
    if (conflict)
        return err_set(e, ERR_INVALID, "%s%s", a->message, ADVICE);
    return session_refuse(a, e);
}

/* As a file has it, with the namespace that it is applied to. */
static struct doc body_of(const struct session *s, const struct target *t)
{
    struct doc body = doc_dup(s->a, t->object);
    struct doc *meta = (struct doc *)doc_get(&body, "metadata");
    if (t->namespace.n && meta && meta->type == DOC_MAP)
        doc_set_text(s->a, meta, "namespace", t->namespace);
    return body;
}

/* NULL: it was refused. */
static const struct doc *apply(struct session *s, const struct target *t,
                               const struct apply_opts *o, struct err *e)
{
    struct strbuf body = STRBUF_INIT;
    if (!t->name.n) {
        err_set(e, ERR_INVALID, "metadata.name: a name is needed to apply an object");
        return NULL;
    }
    struct doc object = body_of(s, t);
    doc_write_json(&object, DOC_JSON_COMPACT, &body);
    struct client_request q = {.method = "PATCH",
                               .path = path_of(s, t, o),
                               .type = "application/apply-patch+yaml",
                               .body = strbuf_str(&body)};
    const struct client_answer *a = session_ask(s, &q);
    strbuf_release(&body);
    if (a->ok)
        return session_doc(s, a, e);
    refuse(a, e);
    return NULL;
}

static void say(const struct session *s, const struct target *t,
                const struct apply_opts *o)
{
    printf("%.*s serverside-applied%s\n", STR_ARG(target_name(t, s->a)),
           o->dry_run ? " (server dry run)" : "");
}

/* One that is refused does not keep the others. */
static int apply_all(struct session *s, const struct targets *t,
                     const struct apply_opts *o, const struct output *out,
                     const struct discovery *d)
{
    struct doc list = output_list(s->a);
    const struct doc *items = doc_get(&list, "items");
    int code = EXIT_OK;
    for (uint32_t i = 0; i < t->n; i++) {
        struct err e = ERR_INIT;
        const struct doc *result = apply(s, &t->v[i], o, &e);
        if (result && out->kind == OUTPUT_TABLE)
            say(s, &t->v[i], o);
        else if (result)
            output_list_add(&list, result, s->a);
        else
            code = EXIT_NO;
        fflush(stdout);
        client_cmd_say(&e);
    }
    if (items->n)
        output_print(out, d, items->n == 1 ? &items->items[0] : &list, s->a);
    return code;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    const struct apply_opts *o = into;
    struct discovery d;
    struct output out;
    struct targets t;
    if (!o->files || args->n) {
        err_set(e, ERR_INVALID,
                o->files ? "\"%s\" is no option; each file has its own -f"
                         : "must specify -f FILE",
                args->n ? args->v[0] : "");
        return EXIT_INPUT;
    }
    if (o->dry_run && !str_is(str_from(o->dry_run), "server")) {
        err_set(e, ERR_INVALID, "--dry-run %s: it is \"server\"", o->dry_run);
        return EXIT_INPUT;
    }
    if (!output_read(o->output, s->a, &out, e) || !discovery_read(s, &d, e) ||
        !targets_of_files(s, &d, o->files, o->recursive, &t, e))
        return EXIT_NO;
    return targets_end(&t, apply_all(s, &t, o, &out, &d));
}

int cmd_apply(int argc, char **argv)
{
    struct apply_opts o = {.manager = "dray"};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
