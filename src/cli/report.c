/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <libsmartcols.h>
#include <stdlib.h>
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

/* The library pads the last column. */
static void print_lines(struct libscols_table *t, FILE *out)
{
    char *text;
    if (scols_print_table_to_string(t, &text) != 0)
        mem_array(SIZE_MAX, 2); /* aborts */
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n"), used = n;
        while (used > 0 && line[used - 1] == ' ')
            used--;
        fprintf(out, "%.*s\n", (int)used, line);
        line += n + (line[n] == '\n');
    }
    free(text);
}

void report_table(const struct placement *p, const struct report_opts *opts, FILE *out)
{
    struct table t = {.t = scols_new_table()};
    arena_init(&t.a);
    for (int i = 0; i < COL_COUNT; i++)
        if (scols_table_new_column(t.t, HEADS[i], 0, 0) == NULL)
            mem_array(SIZE_MAX, 2); /* aborts */
    for (size_t i = 0; i < p->pods.n; i++)
        add_pod(&t, &p->pods.v[i]);
    hide_columns(&t, opts);
    print_lines(t.t, out);
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

/* "gpu-1", or "3 nodes, such as gpu-1". */
static void print_nodes(struct block *b, uint32_t n, const struct view_node *example)
{
    if (n > 1)
        fprintf(b->out, "  %u nodes, such as %.*s: ", n, STR_ARG(example->meta.name));
    else
        fprintf(b->out, "  node %.*s: ", STR_ARG(example->meta.name));
}

static void print_filters(struct block *b, const struct why *w)
{
    for (size_t i = 0; i < shown(b, w->filters.n); i++) {
        const struct why_filter *f = &w->filters.v[i];
        struct str text = sched_reason_print(&f->reason, &b->a);
        print_nodes(b, f->nodes, f->example);
        fprintf(b->out, "%.*s%s\n", STR_ARG(text),
                f->would_do && w->has_claims ? " (its devices would do)" : "");
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
        print_nodes(b, e->nodes, e->example);
        fprintf(b->out, "%.*s\n", STR_ARG(e->text));
    }
    print_rest(b, "  ", w->errors.n);
    if (w->gave_up)
        fprintf(
            b->out,
            "  %u node%s: the search was given up after %llu step%s, the pod may fit\n",
            w->gave_up, plural(w->gave_up), (unsigned long long)b->opts->max_steps,
            plural(b->opts->max_steps));
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

static const char *const RULES[ALLOC_RULES] = {
    [ALLOC_RULE_IN_USE] = "in use",
    [ALLOC_RULE_BINDING_OFF] = "need binding conditions, which are off",
    [ALLOC_RULE_CLASS_SELECTOR] = "not of the class",
    [ALLOC_RULE_SELECTOR] = "not what the request selects",
    [ALLOC_RULE_NODE] = "not for this node",
    [ALLOC_RULE_CAPACITY] = "too little capacity",
    [ALLOC_RULE_NODE_OPERATIONS] = "need a node that leaves operations out",
    [ALLOC_RULE_COUNTERS_OFF] = "draw on counters, which are off",
    [ALLOC_RULE_GROUPS] = "of a group that does not go with devices in use",
    [ALLOC_RULE_COUNTERS] = "share counters with devices in use",
    [ALLOC_RULE_TAINT] = "tainted",
    [ALLOC_RULE_CONSTRAINT] = "do not satisfy a constraint",
    [ALLOC_RULE_TAKEN] = "taken by other requests of the pod",
    [ALLOC_RULE_POOL_INCOMPLETE] = "in a pool that is incomplete",
    [ALLOC_RULE_POOL_INVALID] = "in a pool that is invalid",
    [ALLOC_RULE_POOL_OBSOLETE] = "in a pool that is being replaced",
    [ALLOC_RULE_UNKNOWN_CONSUMPTION] = "allocated and no longer published",
};

/* On one line and, unless everything is asked for, no longer than that. */
static struct str short_text(struct block *b, struct str s)
{
    enum { LONGEST = 100 };
    struct strbuf out = STRBUF_INIT;
    bool space = false;
    for (size_t i = 0; i < s.n; i++) {
        bool blank = s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t';
        if (!blank && space && out.n)
            strbuf_addc(&out, ' ');
        if (!blank)
            strbuf_addc(&out, s.p[i]);
        space = blank;
    }
    bool cut = !b->opts->explain && out.n > LONGEST;
    struct str text = str_sub(strbuf_str(&out), 0, cut ? LONGEST : SIZE_MAX);
    text = arena_printf(&b->a, "%.*s%s", STR_ARG(text), cut ? "..." : "");
    strbuf_release(&out);
    return text;
}

/* Of one device its name; of several, how many and one of them. */
static void print_subject(struct block *b, const struct why_devices *d)
{
    const struct alloc_reason *r = &d->reason;
    struct str node = d->example->meta.name;
    struct str device = r->example ? r->example->name : STR("");
    if (r->devices == 0 && d->nodes == 1)
        fprintf(b->out, "    node %.*s: ", STR_ARG(node));
    else if (r->devices == 0)
        fprintf(b->out, "    %u nodes, such as %.*s: ", d->nodes, STR_ARG(node));
    else if (r->devices == 1)
        fprintf(b->out, "    %.*s%s%.*s: ", STR_ARG(node), device.n ? "/" : "",
                STR_ARG(device));
    else
        fprintf(b->out, "    %u devices on %u node%s, such as %.*s%s%.*s: ", r->devices,
                d->nodes, plural(d->nodes), STR_ARG(node), device.n ? "/" : "",
                STR_ARG(device));
}

static void print_reason(struct block *b, const struct why_devices *d)
{
    const struct alloc_reason *r = &d->reason;
    bool none = r->devices == 0 && r->rule == ALLOC_RULE_CONSTRAINT;
    struct str text =
        none ? STR("no choice satisfies a constraint") : str_from(RULES[r->rule]);
    struct str detail = short_text(b, r->detail);
    print_subject(b, d);
    if (str_starts(detail, text)) /* "in use by claim ..." */
        fprintf(b->out, "%.*s\n", STR_ARG(detail));
    else if (detail.n)
        fprintf(b->out, "%.*s (%.*s)\n", STR_ARG(text), STR_ARG(detail));
    else
        fprintf(b->out, "%.*s\n", STR_ARG(text));
}

static bool is_about(const struct why_devices *d, const struct why_need *n)
{
    return d->claim == n->claim && d->reason.request == n->need.request &&
           d->reason.alternative == n->need.alternative;
}

/* Where some devices match, those of other classes are no news. */
static bool is_news(const struct block *b, const struct why_devices *d,
                    const struct why_need *n)
{
    bool other = d->reason.rule == ALLOC_RULE_CLASS_SELECTOR ||
                 d->reason.rule == ALLOC_RULE_SELECTOR;
    return b->opts->explain || !other || n->matching == 0;
}

static void print_request(struct block *b, const struct why *w, const struct why_need *n)
{
    size_t rows = 0, printed = 0;
    print_need(b, n);
    for (size_t i = 0; i < w->devices.n; i++)
        rows += is_about(&w->devices.v[i], n) && is_news(b, &w->devices.v[i], n);
    for (size_t i = 0; i < w->devices.n; i++) {
        const struct why_devices *d = &w->devices.v[i];
        if (is_about(d, n) && is_news(b, d, n) && printed++ < shown(b, rows))
            print_reason(b, d);
    }
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
    if (w->devices.n == 0 && w->errors.n == 0 && w->gave_up == 0 && !why_unmet(w) &&
        w->summary.n)
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
