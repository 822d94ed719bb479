/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <libsmartcols.h>
#include <string.h>

#include "base/mem.h"

/* ---- the table ---- */

enum column {
    COL_POD,
    COL_NODE,
    COL_CLAIM,
    COL_REQUEST,
    COL_DEVICE,
    COL_SHARE,
    COL_COUNT
};

static const char *const HEADS[COL_COUNT] = {
    [COL_POD] = "POD",         [COL_NODE] = "NODE",     [COL_CLAIM] = "CLAIM",
    [COL_REQUEST] = "REQUEST", [COL_DEVICE] = "DEVICE", [COL_SHARE] = "AMOUNT",
};

struct table {
    struct libscols_table *t;
    struct arena a;
};

static void put(struct libscols_line *line, enum column c, struct str s)
{
    char *copy = mem_dup(s.p, s.n);
    scols_line_refer_data(line, (size_t)c, copy);
}

static struct str full_name(struct arena *a, struct str namespace, struct str name)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

static struct str device_name(struct arena *a, const struct alloc_pick *pick)
{
    return arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(pick->slice->driver),
                        STR_ARG(pick->slice->pool), STR_ARG(pick->device->name));
}

static struct str amounts(struct arena *a, const struct alloc_pick *pick)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < pick->nconsumed; i++)
        strbuf_addf(&b, "%s%.*s=%.*s", i ? "," : "", STR_ARG(pick->consumed[i].name),
                    STR_ARG(quantity_print(&pick->consumed[i].value, a)));
    if (pick->admin)
        strbuf_adds(&b, b.n ? ",admin" : "admin");
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static struct libscols_line *pod_line(struct table *t, const struct placed_pod *pod)
{
    struct libscols_line *line = scols_table_new_line(t->t, NULL);
    put(line, COL_POD, full_name(&t->a, pod->pod.namespace, pod->pod.name));
    put(line, COL_NODE, pod->node ? pod->node->meta.name : STR("-"));
    return line;
}

static void claim_lines(struct table *t, const struct placed_pod *pod,
                        const struct work_claim *c)
{
    if (!c->result) {
        struct libscols_line *line = pod_line(t, pod);
        put(line, COL_CLAIM, c->view->meta.name);
        put(line, COL_DEVICE, STR("(allocated before)"));
        return;
    }
    for (uint32_t i = 0; i < c->result->npicks; i++) {
        const struct alloc_pick *pick = &c->result->picks[i];
        struct libscols_line *line = pod_line(t, pod);
        put(line, COL_CLAIM, c->view->meta.name);
        put(line, COL_REQUEST, pick->request);
        put(line, COL_DEVICE, device_name(&t->a, pick));
        put(line, COL_SHARE, amounts(&t->a, pick));
    }
}

static void add_pod(struct table *t, const struct placed_pod *pod)
{
    if (pod->status != PLACED || (pod->nclaims == 0 && !pod->extended)) {
        struct libscols_line *line = pod_line(t, pod);
        if (pod->status != PLACED)
            put(line, COL_DEVICE, STR("does not fit"));
        return;
    }
    for (uint32_t i = 0; i < pod->nclaims; i++)
        claim_lines(t, pod, pod->claims[i]);
    if (pod->extended)
        claim_lines(t, pod, pod->extended);
}

static bool any_amounts(const struct placement *p)
{
    for (size_t i = 0; i < p->claims.list.n; i++) {
        const struct alloc_result *r = p->claims.list.v[i]->result;
        for (uint32_t k = 0; r && k < r->npicks; k++)
            if (r->picks[k].nconsumed || r->picks[k].admin)
                return true;
    }
    return false;
}

void report_table(const struct placement *p, const struct report_opts *opts, FILE *out)
{
    struct table t = {.t = scols_new_table()};
    arena_init(&t.a);
    scols_table_set_stream(t.t, out);
    for (int i = 0; i < COL_COUNT; i++)
        if (scols_table_new_column(t.t, HEADS[i], 0, 0) == NULL)
            mem_array(SIZE_MAX, 2); /* aborts */
    if (!opts->wide && !any_amounts(p))
        scols_column_set_flags(scols_table_get_column(t.t, COL_SHARE), SCOLS_FL_HIDDEN);
    for (size_t i = 0; i < p->pods.n; i++)
        add_pod(&t, &p->pods.v[i]);
    scols_print_table(t.t);
    scols_unref_table(t.t);
    arena_fini(&t.a);
}

/* ---- why not ---- */

struct block {
    const struct cluster *c;
    const struct report_opts *opts;
    FILE *out;
    struct arena a;
};

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static struct str request_name(struct arena *a, const struct view_claim *claim,
                               uint32_t request, uint32_t alternative)
{
    const struct view_request *r = &claim->requests[request];
    if (!r->first_available)
        return r->name;
    return arena_printf(a, "%.*s/%.*s", STR_ARG(r->name),
                        STR_ARG(r->alternatives[alternative].name));
}

static void print_filters(struct block *b, const struct why *w)
{
    for (size_t i = 0; i < w->filters.n; i++) {
        const struct why_filter *f = &w->filters.v[i];
        fprintf(b->out, "  %u of %u node%s: the node %s", f->nodes, w->nodes,
                plural(w->nodes), sched_refusal_text(f->refusal));
        if (f->detail.n)
            fprintf(b->out, " (%.*s on %.*s)", STR_ARG(f->detail),
                    STR_ARG(f->example->meta.name));
        fputc('\n', b->out);
    }
}

static void print_need(struct block *b, const struct why_need *n)
{
    const struct alloc_need *need = &n->need;
    struct str name = request_name(&b->a, n->claim, need->request, need->alternative);
    fprintf(b->out, "  request %.*s of claim %.*s", STR_ARG(name),
            STR_ARG(n->claim->meta.name));
    if (need->wanted < 0)
        fputs(" wants all matching devices", b->out);
    else
        fprintf(b->out, " wants %lld device%s", (long long)need->wanted,
                plural((uint64_t)need->wanted));
    fprintf(b->out, "; %llu match%s, %llu %s free; the best node is %.*s with %u\n",
            (unsigned long long)n->matching, n->matching == 1 ? "es" : "",
            (unsigned long long)n->free, n->free == 1 ? "is" : "are",
            STR_ARG(n->best->meta.name), need->free);
}

static void print_reason(struct block *b, const struct why_devices *d)
{
    const struct alloc_reason *r = &d->reason;
    fprintf(b->out, "    %u device%s on %u node%s: %s", r->devices, plural(r->devices),
            d->nodes, plural(d->nodes), alloc_rule_name(r->rule));
    if (r->example)
        fprintf(b->out, ", such as %.*s/%.*s", STR_ARG(d->example->meta.name),
                STR_ARG(r->example->name));
    if (r->detail.n)
        fprintf(b->out, " (%.*s)", STR_ARG(r->detail));
    fputc('\n', b->out);
}

static void print_devices(struct block *b, const struct why *w)
{
    for (size_t i = 0; i < w->needs.n; i++) {
        const struct why_need *n = &w->needs.v[i];
        print_need(b, n);
        for (size_t k = 0; k < w->devices.n; k++) {
            const struct why_devices *d = &w->devices.v[k];
            if (d->claim == n->claim && d->reason.request == n->need.request &&
                d->reason.alternative == n->need.alternative)
                print_reason(b, d);
        }
    }
    if (w->needs.n == 0 && w->summary.n)
        fprintf(b->out, "  %.*s\n", STR_ARG(w->summary));
}

static void print_unplaced(struct block *b, const struct placement *p, size_t first,
                           size_t count)
{
    const struct placed_pod *pod = &p->pods.v[first];
    fprintf(b->out, "\nPod %.*s/%.*s", STR_ARG(pod->pod.namespace),
            STR_ARG(pod->pod.name));
    if (count > 1)
        fprintf(b->out, " and %zu more like it", count - 1);
    fprintf(b->out, "%s on no node:\n", count > 1 ? " fit" : " fits");
    if (pod->status == UNPLACED_ERROR) {
        fprintf(b->out, "  %.*s\n", STR_ARG(pod->error));
        return;
    }
    print_filters(b, pod->why);
    print_devices(b, pod->why);
}

static bool alike(const struct placed_pod *a, const struct placed_pod *b)
{
    if (a->status != b->status)
        return false;
    return a->status == UNPLACED ? a->why == b->why : str_eq(a->error, b->error);
}

static bool is_first(const struct placement *p, size_t i, size_t *count)
{
    for (size_t k = 0; k < i; k++)
        if (p->pods.v[k].status != PLACED && alike(&p->pods.v[k], &p->pods.v[i]))
            return false;
    *count = 0;
    for (size_t k = i; k < p->pods.n; k++)
        *count += p->pods.v[k].status != PLACED && alike(&p->pods.v[k], &p->pods.v[i]);
    return true;
}

void report_unplaced(const struct cluster *c, const struct placement *p,
                     const struct report_opts *opts, FILE *out)
{
    struct block b = {.c = c, .opts = opts, .out = out};
    arena_init(&b.a);
    for (size_t i = 0; i < p->pods.n; i++) {
        size_t count;
        if (p->pods.v[i].status != PLACED && is_first(p, i, &count))
            print_unplaced(&b, p, i, count);
    }
    arena_fini(&b.a);
}
