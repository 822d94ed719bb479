/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client_cmd.h"

#include "cli/commands.h"

/* What a server says is said as kubectl says it. */
static bool is_whole(const char *text)
{
    static const char *const BEGINNINGS[] = {"Error from server", "Unable to connect",
                                             "error: "};
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof *BEGINNINGS; i++)
        if (str_starts(str_from(text), str_from(BEGINNINGS[i])))
            return true;
    return false;
}

void client_cmd_say(struct err *e)
{
    if (e->code != ERR_NONE)
        fprintf(stderr, "%s%s\n", is_whole(err_text(e)) ? "" : "error: ", err_text(e));
    err_release(e);
}

static int run(const struct client_cmd *c, int argc, char **argv, struct arena *a,
               struct err *e)
{
    struct option_args args;
    struct session s = {0};
    bool help = false;
    if (!options_read_args(&c->table, argc, argv, a, c->into, &args, &help, e))
        return EXIT_INPUT;
    if (help) {
        fputs(c->usage, stdout);
        options_print(&c->table, stdout);
        return EXIT_OK;
    }
    bool open = session_open(&s, c->session, a, e);
    int code = open ? c->run(&s, &args, c->into, e) : EXIT_INPUT;
    session_close(&s);
    return code;
}

int client_cmd_run(const struct client_cmd *c, int argc, char **argv)
{
    struct arena a = {0};
    struct err e = ERR_INIT;
    int code = run(c, argc, argv, &a, &e);
    client_cmd_say(&e);
    arena_fini(&a);
    return code;
}
