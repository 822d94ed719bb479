/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_child(const char *program, const char *mode, int in, int out)
{
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execl(program, program, "-repeat", "3", mode, (char *)NULL);
    _exit(127);
}

bool peer_start(struct peer *p, const char *program, const char *mode)
{
    int to[2], from[2];
    *p = (struct peer){0};
    if (pipe(to) != 0)
        return false;
    if (pipe(from) != 0) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    signal(SIGPIPE, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        close(to[1]);
        close(from[0]);
        run_child(program, mode, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    if (pid < 0) {
        close(to[1]);
        close(from[0]);
        return false;
    }
    *p = (struct peer){pid, fdopen(to[1], "w"), fdopen(from[0], "r")};
    return p->in && p->out;
}

void peer_stop(struct peer *p)
{
    if (p->pid == 0)
        return;
    if (p->in)
        fclose(p->in);
    if (p->out)
        fclose(p->out);
    waitpid(p->pid, NULL, 0);
    *p = (struct peer){0};
}

bool peer_ask(struct peer *p, struct str question, struct arena *a, struct doc *answer)
{
    if (p->pid == 0)
        return false;
    fwrite(question.p, 1, question.n, p->in);
    fputc('\n', p->in);
    if (fflush(p->in) != 0)
        return false;
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, p->out);
    bool ok = n > 0;
    if (ok) {
        struct doc_source src = {.name = "oracle",
                                 .text = arena_str(a, (struct str){line, (size_t)n})};
        struct err e = ERR_INIT;
        ok = doc_read_json(&src, a, answer, &e);
        if (!ok)
            fprintf(stderr, "dray-bench: %s\n", err_text(&e));
        err_release(&e);
    }
    free(line);
    return ok;
}
