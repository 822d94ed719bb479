/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <libsmartcols.h>
#include <string.h>

#include "base/mem.h"
#include "cli/advice.h"
#include "cli/claimdoc.h"

/* ---- the table ---- */

enum column {
    COL_POD,
    COL_NODE,
    COL_CLAIM,
    COL_REQUEST,
    COL_DEVICE,
    COL_AMOUNT,
    COL_SHARE,
    COL_COUNT
};

static const char *const HEADS[COL_COUNT] = {
    [COL_POD] = "POD",         [COL_NODE] = "NODE",     [COL_CLAIM] = "CLAIM",
    [COL_REQUEST] = "REQUEST", [COL_DEVICE] = "DEVICE", [COL_AMOUNT] = "AMOUNT",
    [COL_SHARE] = "SHARE",
};

struct table {
    struct libscols_table *t;
    struct arena a;
    bool used[COL_COUNT];
};

static void put(struct table *t, struct libscols_line *line, enum column c, struct str s)
{
    char *copy = mem_dup(s.p, s.n);
    scols_line_refer_data(line, (size_t)c, copy);
    t->used[c] |= s.n > 0;
}

static struct str full_name(struct arena *a, struct str namespace, struct str name)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

static struct str device_path(struct arena *a, struct str driver, struct str pool,
                              struct str device, const char *more)
{
    return arena_printf(a, "%.*s/%.*s/%.*s%s", STR_ARG(driver), STR_ARG(pool),
                        STR_ARG(device), more);
}

static struct str amounts(struct arena *a, const struct view_amount *v, uint32_t n,
                          bool admin)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&b, "%s%.*s=%.*s", i ? "," : "", STR_ARG(v[i].name),
                    STR_ARG(quantity_print(&v[i].value, a)));
    if (admin)
        strbuf_adds(&b, b.n ? ",admin" : "admin");
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static struct libscols_line *pod_line(struct table *t, const struct placed_pod *pod)
{
    struct libscols_line *line = scols_table_new_line(t->t, NULL);
    put(t, line, COL_POD, full_name(&t->a, pod->pod.namespace, pod->pod.name));
    put(t, line, COL_NODE, pod->node ? pod->node->meta.name : STR("-"));
    return line;
}

static void pick_line(struct table *t, const struct placed_pod *pod,
                      const struct work_claim *c, const struct alloc_pick *pick)
{
    struct libscols_line *line = pod_line(t, pod);
    put(t, line, COL_CLAIM, c->view->meta.name);
    put(t, line, COL_REQUEST, pick->request);
    put(t, line, COL_DEVICE,
        device_path(&t->a, pick->slice->driver, pick->slice->pool, pick->device->name,
                    ""));
    put(t, line, COL_AMOUNT,
        amounts(&t->a, pick->consumed, pick->nconsumed, pick->admin));
    if (pick->share)
        put(t, line, COL_SHARE, claim_share_id(c, pick->share, &t->a));
}

static void result_line(struct table *t, const struct placed_pod *pod,
                        const struct work_claim *c, const struct view_result *r)
{
    struct libscols_line *line = pod_line(t, pod);
    put(t, line, COL_CLAIM, c->view->meta.name);
    put(t, line, COL_REQUEST, r->request);
    put(t, line, COL_DEVICE,
        device_path(&t->a, r->driver, r->pool, r->device, " (allocated before)"));
    put(t, line, COL_AMOUNT, amounts(&t->a, r->consumed, r->nconsumed, r->admin));
    put(t, line, COL_SHARE, r->share_id);
}

static uint32_t claim_lines(struct table *t, const struct placed_pod *pod,
                            const struct work_claim *c)
{
    const struct view_allocation *before = c->view->allocation;
    uint32_t n = c->result ? c->result->npicks : before ? before->nresults : 0;
    for (uint32_t i = 0; i < n; i++)
        if (c->result)
            pick_line(t, pod, c, &c->result->picks[i]);
        else
            result_line(t, pod, c, &before->results[i]);
    return n;
}

static void add_pod(struct table *t, const struct placed_pod *pod)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; pod->status == PLACED && i < pod->nclaims; i++)
        lines += claim_lines(t, pod, pod->claims[i]);
    if (pod->extended)
        lines += claim_lines(t, pod, pod->extended);
    if (lines)
        return;
    struct libscols_line *line = pod_line(t, pod);
    if (pod->status != PLACED)
        put(t, line, COL_DEVICE, STR("does not fit"));
}

/* Amounts are shown where there are any, share IDs when asked for. */
static void hide_columns(struct table *t, const struct report_opts *opts)
{
    const bool hidden[COL_COUNT] = {
        [COL_AMOUNT] = !t->used[COL_AMOUNT] && !opts->wide,
        [COL_SHARE] = !opts->wide,
    };
    for (int i = 0; i < COL_COUNT; i++)
        if (hidden[i])
            scols_column_set_flags(scols_table_get_column(t->t, (size_t)i),
                                   SCOLS_FL_HIDDEN);
}

void report_table(const struct placement *p, const struct report_opts *opts, FILE *out)
{
    struct table t = {.t = scols_new_table()};
    arena_init(&t.a);
    scols_table_set_stream(t.t, out);
    for (int i = 0; i < COL_COUNT; i++)
        if (scols_table_new_column(t.t, HEADS[i], 0, 0) == NULL)
            mem_array(SIZE_MAX, 2); /* aborts */
    for (size_t i = 0; i < p->pods.n; i++)
        add_pod(&t, &p->pods.v[i]);
    hide_columns(&t, opts);
    scols_print_table(t.t);
    scols_unref_table(t.t);
    arena_fini(&t.a);
}

/* ---- why not ---- */

struct block {
    struct cluster *c;
    const struct placement *p;
    const struct report_opts *opts;
    FILE *out;
    struct arena a;
};

/* Rows beyond the first few are told when asked for. */
enum { FEW = 4 };

static size_t shown(const struct block *b, size_t n)
{
    return b->opts->explain || n <= FEW ? n : FEW;
}

static void print_rest(const struct block *b, const char *indent, size_t n)
{
    if (shown(b, n) < n)
        fprintf(b->out, "%sand %zu more reasons (--explain)\n", indent, n - shown(b, n));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_filters(struct block *b, const struct why *w)
{
    for (size_t i = 0; i < shown(b, w->filters.n); i++) {
        const struct why_filter *f = &w->filters.v[i];
        struct str text = sched_reason_print(&f->reason, &b->a);
        fprintf(b->out, "  %u node%s: %.*s%s%.*s", f->nodes, plural(f->nodes),
                STR_ARG(text), f->nodes > 1 ? ", such as " : ": ",
                STR_ARG(f->example->meta.name));
        fputs(f->would_do && w->has_claims ? " (its devices would do)\n" : "\n", b->out);
    }
    print_rest(b, "  ", w->filters.n);
    if (w->elsewhere)
        fprintf(b->out, "  %u node%s: claim %.*s is allocated elsewhere\n", w->elsewhere,
                plural(w->elsewhere), STR_ARG(w->tied->view->meta.name));
}

static void print_errors(struct block *b, const struct why *w)
{
    for (size_t i = 0; i < shown(b, w->errors.n); i++) {
        const struct why_error *e = &w->errors.v[i];
        fprintf(b->out, "  %u node%s: %.*s: %.*s\n", e->nodes, plural(e->nodes),
                STR_ARG(e->text), STR_ARG(e->example->meta.name));
    }
    print_rest(b, "  ", w->errors.n);
    if (w->gave_up)
        fprintf(b->out,
                "  %u node%s: the search was given up after %llu steps, they may fit\n",
                w->gave_up, plural(w->gave_up), (unsigned long long)b->opts->max_steps);
}

static void print_need(struct block *b, const struct why_need *n)
{
    const struct alloc_need *need = &n->need;
    struct str name =
        advice_request_name(n->claim, need->request, need->alternative, &b->a);
    fprintf(b->out, "  %.*s: ", STR_ARG(name));
    if (need->wanted < 0)
        fputs("wants all matching devices of a node", b->out);
    else
        fprintf(b->out, "wants %lld device%s", (long long)need->wanted,
                plural((uint64_t)need->wanted));
    fprintf(b->out, "; %llu match%s", (unsigned long long)n->matching,
            n->matching == 1 ? "es" : "");
    if (n->matching)
        fprintf(b->out, " on %u node%s, %llu %s free", n->matching_nodes,
                plural(n->matching_nodes), (unsigned long long)n->free,
                n->free == 1 ? "is" : "are");
    if (n->free && n->matching_nodes > 1)
        fprintf(b->out, ", at most %u on one node (%.*s)", need->free,
                STR_ARG(n->best->meta.name));
    fputc('\n', b->out);
}

static void print_reason(struct block *b, const struct why_devices *d)
{
    const struct alloc_reason *r = &d->reason;
    fprintf(b->out, "    %u device%s on %u node%s: %s", r->devices, plural(r->devices),
            d->nodes, plural(d->nodes), alloc_rule_name(r->rule));
    if (r->example)
        fprintf(b->out, "%s%.*s/%.*s", r->devices > 1 ? ", such as " : ": ",
                STR_ARG(d->example->meta.name), STR_ARG(r->example->name));
    if (r->detail.n)
        fprintf(b->out, " (%.*s)", STR_ARG(r->detail));
    fputc('\n', b->out);
}

static bool is_about(const struct why_devices *d, const struct why_need *n)
{
    return d->claim == n->claim && d->reason.request == n->need.request &&
           d->reason.alternative == n->need.alternative;
}

static void print_request(struct block *b, const struct why *w, const struct why_need *n)
{
    size_t rows = 0, printed = 0;
    print_need(b, n);
    for (size_t i = 0; i < w->devices.n; i++)
        rows += is_about(&w->devices.v[i], n);
    for (size_t i = 0; i < w->devices.n; i++)
        if (is_about(&w->devices.v[i], n) && printed++ < shown(b, rows))
            print_reason(b, &w->devices.v[i]);
    print_rest(b, "    ", rows);
}

static void print_why(struct block *b, const struct why *w)
{
    if (w->nodes == 0)
        fputs("  there is no node among the input\n", b->out);
    print_filters(b, w);
    print_errors(b, w);
    for (size_t i = 0; i < w->needs.n; i++)
        print_request(b, w, &w->needs.v[i]);
    if (w->needs.n == 0 && w->summary.n)
        fprintf(b->out, "  %.*s\n", STR_ARG(w->summary));
}

static void print_unplaced(struct block *b, const struct placed_pod *pod, size_t count)
{
    fprintf(b->out, "\nPod %.*s/%.*s", STR_ARG(pod->pod.namespace),
            STR_ARG(pod->pod.name));
    if (count > 1)
        fprintf(b->out, " and %zu more like it", count - 1);
    if (pod->status == UNPLACED_ERROR)
        fprintf(b->out, " can be placed nowhere:\n  %.*s\n", STR_ARG(pod->error));
    else
        fprintf(b->out, "%s on no node:\n", count > 1 ? " fit" : " fits");
    if (pod->status == UNPLACED)
        print_why(b, pod->why);
    struct str advice = advice_for(b->c, b->p, pod, count, &b->a);
    if (advice.n)
        fprintf(b->out, "  To change first: %.*s\n", STR_ARG(advice));
}

/* Pods with one reason are told together. */
struct group {
    const struct placed_pod *first;
    size_t count;
};

static struct str group_key(const struct placed_pod *pod, struct arena *a)
{
    return pod->status == UNPLACED ? arena_printf(a, "%p", (void *)pod->why)
                                   : arena_printf(a, ":%.*s", STR_ARG(pod->error));
}

void report_unplaced(struct cluster *c, const struct placement *p,
                     const struct report_opts *opts, FILE *out)
{
    struct block b = {.c = c, .p = p, .opts = opts, .out = out};
    struct strmap groups = STRMAP_INIT;
    arena_init(&b.a);
    for (size_t i = 0; i < p->pods.n; i++) {
        const struct placed_pod *pod = &p->pods.v[i];
        if (pod->status == PLACED)
            continue;
        bool made;
        struct strmap_entry *e = strmap_put(&groups, group_key(pod, &b.a), &made);
        if (made) {
            struct group *g = ARENA_NEW(&b.a, struct group);
            g->first = pod;
            e->value.ptr = g;
        }
        ((struct group *)e->value.ptr)->count++;
    }
    strmap_each(&groups, e)
    {
        const struct group *g = e->value.ptr;
        print_unplaced(&b, g->first, g->count);
    }
    strmap_release(&groups);
    arena_fini(&b.a);
}
