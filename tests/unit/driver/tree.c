/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/unit.h"

void tree_open(struct tree *t)
{
    *t = (struct tree){"/tmp/dray-tree-XXXXXX"};
    assert_non_null(mkdtemp(t->root));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)type;
    (void)f;
    return remove(path);
}

void tree_close(struct tree *t)
{
    nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_dirs(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
}

static void place(const struct tree *t, const char *path, char out[PATH_MAX])
{
    assert_true(snprintf(out, PATH_MAX, "%s%s", t->root, path) < PATH_MAX);
    make_dirs(out);
}

void tree_file(struct tree *t, const char *path, const char *text)
{
    char at[PATH_MAX];
    place(t, path, at);
    FILE *f = fopen(at, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

void tree_link(struct tree *t, const char *path, const char *target)
{
    char at[PATH_MAX];
    place(t, path, at);
    assert_int_equal(symlink(target, at), 0);
}

void tree_remove(struct tree *t, const char *path)
{
    char at[PATH_MAX];
    place(t, path, at);
    assert_int_equal(remove(at), 0);
}

/* "\\n" in a line is one. */
static char *with_breaks(char *text)
{
    for (char *p; (p = strstr(text, "\\n"));) {
        *p = '\n';
        memmove(p + 1, p + 2, strlen(p + 2) + 1);
    }
    return text;
}

static void fill_line(struct tree *t, char *line)
{
    char at[PATH_MAX], *mark;
    if ((mark = strstr(line, " -> "))) {
        *mark = '\0';
        tree_link(t, line, mark + 4);
    } else if ((mark = strstr(line, " = "))) {
        *mark = '\0';
        tree_file(t, line, with_breaks(mark + 3));
    } else {
        place(t, line, at);
    }
}

void tree_fill(struct tree *t, const char *lines)
{
    char *copy = strdup(lines), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            fill_line(t, line);
    free(copy);
}

/* ---- showing ---- */

static void show_value(const struct driver_value *v, struct strbuf *b)
{
    switch (v->kind) {
    case DRIVER_STRING:
        strbuf_addf(b, "\"%.*s\"", STR_ARG(v->text));
        return;
    case DRIVER_VERSION:
        strbuf_addf(b, "v%.*s", STR_ARG(v->text));
        return;
    case DRIVER_INT:
        strbuf_addf(b, "%lld", (long long)v->number);
        return;
    case DRIVER_BOOL:
        strbuf_adds(b, v->number ? "true" : "false");
        return;
    default:
        break;
    }
    strbuf_addc(b, '[');
    for (uint32_t i = 0; i < v->n; i++)
        if (v->kind == DRIVER_STRINGS || v->kind == DRIVER_VERSIONS)
            strbuf_addf(b, "%s\"%.*s\"", i ? " " : "", STR_ARG(v->texts[i]));
        else
            strbuf_addf(b, "%s%lld", i ? " " : "", (long long)v->numbers[i]);
    strbuf_addc(b, ']');
}

static void show_sets(const struct driver_counter_set *v, uint32_t n, const char *what,
                      struct strbuf *b)
{
    for (uint32_t i = 0; i < n; i++) {
        strbuf_addf(b, "%s %.*s:", what, STR_ARG(v[i].name));
        for (uint32_t k = 0; k < v[i].n; k++)
            strbuf_addf(b, " %.*s=%.*s", STR_ARG(v[i].counters[k].name),
                        STR_ARG(v[i].counters[k].quantity));
        strbuf_addc(b, '\n');
    }
}

static void show_capacity(const struct driver_capacity *c, struct strbuf *b)
{
    strbuf_addf(b, "  %.*s: %.*s", STR_ARG(c->name), STR_ARG(c->quantity));
    if (c->policy)
        strbuf_addf(b, " (default %.*s, min %.*s, max %.*s, step %.*s, %u values)",
                    STR_ARG(c->policy->preset), STR_ARG(c->policy->min),
                    STR_ARG(c->policy->max), STR_ARG(c->policy->step),
                    c->policy->nvalues);
    strbuf_addc(b, '\n');
}

static void show_edits(const struct cdi_edits *e, struct strbuf *b)
{
    for (uint32_t i = 0; i < e->nnodes; i++)
        strbuf_addf(b, "  node %.*s%s%.*s\n", STR_ARG(e->nodes[i].path),
                    e->nodes[i].host_path.n ? " from " : "",
                    STR_ARG(e->nodes[i].host_path));
    for (uint32_t i = 0; i < e->nmounts; i++)
        strbuf_addf(b, "  mount %.*s at %.*s\n", STR_ARG(e->mounts[i].host_path),
                    STR_ARG(e->mounts[i].container_path));
    for (uint32_t i = 0; i < e->nenv; i++)
        strbuf_addf(b, "  env %.*s\n", STR_ARG(e->env[i]));
    for (uint32_t i = 0; i < e->nnet_devices; i++)
        strbuf_addf(b, "  net %.*s as %.*s\n", STR_ARG(e->net_devices[i].host_name),
                    STR_ARG(e->net_devices[i].name));
}

static void show_device(const struct driver_device *d, struct strbuf *b)
{
    strbuf_addf(b, "%.*s (%.*s)%s\n", STR_ARG(d->name), STR_ARG(d->identity),
                d->shared ? " shared" : "");
    for (uint32_t i = 0; i < d->nattributes; i++) {
        strbuf_addf(b, "  %.*s=", STR_ARG(d->attributes[i].name));
        show_value(&d->attributes[i].value, b);
        strbuf_addc(b, '\n');
    }
    for (uint32_t i = 0; i < d->ncapacities; i++)
        show_capacity(&d->capacities[i], b);
    show_sets(d->consumes, d->nconsumes, "  of", b);
    for (uint32_t i = 0; i < d->ntaints; i++)
        strbuf_addf(b, "  taint %.*s=%.*s:%.*s\n", STR_ARG(d->taints[i].key),
                    STR_ARG(d->taints[i].value), STR_ARG(d->taints[i].effect));
    if (d->health == DRIVER_UNHEALTHY)
        strbuf_addf(b, "  unhealthy: %.*s\n", STR_ARG(d->health_message));
    show_edits(&d->edits, b);
}

struct str tree_show(const struct driver_inventory *v, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    show_sets(v->counters, v->ncounters, "counters", &b);
    for (uint32_t i = 0; i < v->ndevices; i++)
        show_device(&v->devices[i], &b);
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}
