/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger in a storm: pods and claims come and go, writes are refused, fail, or happen
 * and their answers are lost, events come late, the scheduler begins anew at any moment.
 * Again and again
 *
 *   - on the server no device is in two allocations, and no capacity or counter is above
 *     its total;
 *   - the inventory, which only saw changes, answers as one that is made anew from known
 *     claims and flights.
 *
 * In the end nothing is in flight, and what is free on the server is free here.
 * DRAY_STORMS says how many storms there are.
 */
#include "unit/unit.h"

#include <stdlib.h>

#include "base/rng.h"
#include "fake_api.h"
#include "sched/dra_inner.h"

enum { SEEDS = 16, STEPS = 200, NODES = 2, PODS = 8, KINDS = 4, LEDGER_STEPS = 4 };

struct pod {
    struct object *object; /* NULL: free */
    struct dra_cycle *cycle;
    bool reserved, asking, bound;
};

struct storm {
    struct arena a;
    struct fake_api api;
    struct dra *dra;
    struct rng rng;
    struct sched_node nodes[NODES];
    struct pod pods[PODS];
    uint32_t made, allocated;
    uint64_t seed;
};

static uint32_t pick(struct storm *s, uint32_t n)
{
    return (uint32_t)rng_range(&s->rng, 0, (int64_t)n - 1);
}

static struct doc read_json(struct storm *s, struct str text)
{
    struct err e = ERR_INIT;
    struct doc_source src = {.name = "test", .text = text};
    struct doc d;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            ((char *)text.p)[i] = '"';
    if (!doc_read_json(&src, &s->a, &d, &e))
        fail_msg("%s", err_text(&e));
    return d;
}

/* ---- what there is: of each node two devices, one to share, one GPU in halves ---- */

static const char DEVICES[] =
    "[{'name':'d0','attributes':{'kind':{'int':0}}},"
    "{'name':'d1','attributes':{'kind':{'int':0}}},"
    "{'name':'m','allowMultipleAllocations':true,'attributes':{'kind':{'int':1}},"
    "'capacity':{'memory':{'value':'8'}}},"
    "{'name':'h0','attributes':{'kind':{'int':2}},'consumesCounters':[{'counterSet':'g',"
    "'counters':{'parts':{'value':'2'}}}]},"
    "{'name':'h1','attributes':{'kind':{'int':2}},'consumesCounters':[{'counterSet':'g',"
    "'counters':{'parts':{'value':'2'}}}]},"
    "{'name':'w','attributes':{'kind':{'int':3}},'consumesCounters':[{'counterSet':'g',"
    "'counters':{'parts':{'value':'4'}}}]}]";

static void put_slices(struct storm *s, uint32_t node)
{
    struct doc d = read_json(
        s,
        arena_printf(&s->a,
                     "{'metadata':{'name':'s%u'},'spec':{'driver':'x','nodeName':'n%u',"
                     "'pool':{'name':'n%u','generation':1,'resourceSliceCount':2},"
                     "'devices':%s}}",
                     node, node, node, DEVICES));
    fake_api_put(&s->api, "resourceslices", &d, false);
    d = read_json(s, arena_printf(&s->a,
                                  "{'metadata':{'name':'c%u'},'spec':{'driver':'x',"
                                  "'nodeName':'n%u','pool':{'name':'n%u','generation':1,"
                                  "'resourceSliceCount':2},'sharedCounters':[{'name':'g',"
                                  "'counters':{'parts':{'value':'4'}}}]}}",
                                  node, node, node));
    fake_api_put(&s->api, "resourceslices", &d, false);
}

static void put_site(struct storm *s)
{
    for (uint32_t i = 0; i < NODES; i++) {
        struct doc *d = ARENA_NEW(&s->a, struct doc);
        put_slices(s, i);
        *d = read_json(s, arena_printf(&s->a, "{'metadata':{'name':'n%u'}}", i));
        sched_node_init(&s->nodes[i], view_node_new(d, &s->a, NULL), &s->a);
    }
    for (uint32_t i = 0; i < KINDS; i++) {
        struct doc d = read_json(
            s, arena_printf(&s->a,
                            "{'metadata':{'name':'k%u'},'spec':{'selectors':[{'cel':{"
                            "'expression':'device.attributes[\\'x\\'].kind == %u'}}]}}",
                            i, i));
        fake_api_put(&s->api, "deviceclasses", &d, false);
    }
}

static void start(struct storm *s)
{
    struct dra_opts opts = {.gates = api_gates_default};
    fake_api_catch_up(&s->api);
    s->dra = dra_new(s->api.client, &opts);
    while (!dra_synced(s->dra))
        fake_api_settle(&s->api);
}

/* ---- invariants on the server ---- */

struct sums { /* of a node */
    uint32_t exclusive[8], memory, parts;
};

static void add_result(struct storm *s, struct sums *all, const struct doc *r)
{
    static const char *const NAMES[] = {"d0", "d1", "m", "h0", "h1", "w"};
    static const uint32_t PARTS[] = {0, 0, 0, 2, 2, 4};
    struct str pool = doc_get_text(r, "pool"), device = doc_get_text(r, "device");
    struct sums *n = &all[pool.p[1] - '0'];
    uint32_t i = 0;
    while (!str_is(device, NAMES[i]))
        i++;
    n->parts += PARTS[i];
    if (i == 2)
        n->memory +=
            (uint32_t)(doc_get_text(doc_get(r, "consumedCapacity"), "memory").p[0] - '0');
    else if (n->exclusive[i]++)
        fail_msg("seed %llu: %.*s of %.*s is given twice", (unsigned long long)s->seed,
                 STR_ARG(device), STR_ARG(pool));
}

static void check_server(struct storm *s)
{
    struct sums all[NODES] = {0};
    const struct doc *claims = fake_api_list(&s->api, "resourceclaims");
    for (uint32_t i = 0; i < claims->n; i++) {
        const struct doc *list =
            doc_path(&claims->items[i], "status.allocation.devices.results");
        for (uint32_t k = 0; list && k < list->n; k++)
            add_result(s, all, &list->items[k]);
    }
    for (uint32_t i = 0; i < NODES; i++)
        if (all[i].memory > 8 || all[i].parts > 4)
            fail_msg("seed %llu: n%u: memory %u of 8, parts %u of 4",
                     (unsigned long long)s->seed, i, all[i].memory, all[i].parts);
}

/* ---- invariants of the ledger ---- */

static void charge_known(struct storm *s, struct alloc_inventory *inv)
{
    struct dra *d = s->dra;
    strmap_each(&d->known, e)
    {
        const struct dra_known *k = e->value.ptr;
        const struct object *o = k->wrote ? k->wrote : k->told;
        const struct dra_flight *f = dra_flight(d, o->uid);
        if (dra_is_allocated(o))
            alloc_charge(inv, o->view);
        else if (f)
            alloc_charge(inv, f->claim->view);
    }
    strmap_each(&d->flights, e) /* of claims that are gone by now */
    {
        const struct dra_flight *f = e->value.ptr;
        if (!dra_known(d, f->claim->namespace, f->claim->name))
            alloc_charge(inv, f->claim->view);
    }
}

static struct alloc_inventory *made_anew(struct storm *s)
{
    struct dra *d = s->dra;
    struct alloc_inventory *inv = alloc_inventory_new(&d->features, &d->names);
    strmap_each(&d->slice_objects, e)
        alloc_inventory_put_slice(inv, ((const struct object *)e->value.ptr)->view);
    strmap_each(&d->class_objects, e)
        alloc_inventory_put_class(inv, ((const struct object *)e->value.ptr)->view);
    charge_known(s, inv);
    return inv;
}

static struct doc claim_doc(struct storm *s, uint32_t kind, uint32_t count, uint32_t id)
{
    return read_json(
        s, arena_printf(&s->a,
                        "{'metadata':{'name':'c%u','namespace':'ns','uid':'u%u'},'spec':{"
                        "'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':"
                        "'k%u','allocationMode':'ExactCount','count':%u%s}}]}}}",
                        id, id, kind, count,
                        kind == 1 ? ",'capacity':{'requests':{'memory':'3'}}" : ""));
}

static bool same_answer(const struct alloc_outcome *x, const struct alloc_outcome *y)
{
    if (x->status != y->status)
        return false;
    for (uint32_t i = 0; x->status == ALLOC_OK && i < x->results[0].npicks; i++)
        if (x->results[0].picks[i].device != y->results[0].picks[i].device)
            return false;
    return true;
}

static void check_ledger(struct storm *s)
{
    struct alloc_inventory *anew = made_anew(s);
    for (uint32_t node = 0; node < NODES; node++)
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            struct doc *d = ARENA_NEW(&s->a, struct doc);
            *d = claim_doc(s, kind, 1, 99999);
            const struct view_claim *c = view_claim_new(d, &s->a, NULL);
            struct alloc_outcome got, want;
            alloc_solve(s->dra->inv, s->nodes[node].view, &c, 1, NULL, &s->a, &got);
            alloc_solve(anew, s->nodes[node].view, &c, 1, NULL, &s->a, &want);
            if (!same_answer(&got, &want))
                fail_msg("seed %llu: n%u, k%u: the ledger is not what claims and flights "
                         "say",
                         (unsigned long long)s->seed, node, kind);
        }
    alloc_inventory_free(anew);
}

/* ---- pods ---- */

static struct pod *any_pod(struct storm *s)
{
    return &s->pods[pick(s, PODS)];
}

/* Of a claim of its own, or of one that is there. */
static struct str claim_for(struct storm *s)
{
    const struct doc *claims = fake_api_list(&s->api, "resourceclaims");
    if (claims->n && !pick(s, 4))
        return doc_get_text(doc_get(&claims->items[pick(s, claims->n)], "metadata"),
                            "name");
    struct doc d = claim_doc(s, pick(s, KINDS), 1, s->made);
    fake_api_write(&s->api, "resourceclaims", &d);
    return arena_printf(&s->a, "c%u", s->made++);
}

static void come(struct storm *s, struct pod *p)
{
    static const struct object_opts PLAIN;
    struct str one = claim_for(s), two = claim_for(s);
    uint32_t id = s->made++;
    struct doc d = read_json(
        s, arena_printf(
               &s->a,
               "{'metadata':{'name':'p%u','namespace':'ns','uid':'p%u'},'spec':{"
               "'resourceClaims':[{'name':'a','resourceClaimName':'%.*s'}%s%.*s%s]"
               ",'containers':[]}}",
               id, id, STR_ARG(one),
               str_eq(one, two) ? "" : ",{'name':'b','resourceClaimName':'",
               str_eq(one, two) ? 0 : (int)two.n, two.p, str_eq(one, two) ? "" : "'}"));
    *p = (struct pod){.object = object_of_doc(&d, &PLAIN, NULL)};
}

static void end_cycle(struct pod *p)
{
    dra_cycle_free(p->cycle);
    p->cycle = NULL;
    p->reserved = p->asking = false;
}

static void on_unreserved(void *ctx, const struct sched_status *st)
{
    struct pod *p = ctx;
    (void)st;
    p->asking = p->reserved = false;
}

static void on_bound(void *ctx, const struct sched_status *st)
{
    struct pod *p = ctx;
    p->asking = false;
    if (sched_ok(st)) {
        p->bound = true;
        p->reserved = false;
        return;
    }
    p->asking = true;
    dra_unreserve(p->cycle, on_unreserved, p);
}

static void attempt(struct storm *s, struct pod *p)
{
    static const struct dra_args ARGS;
    uint32_t first = pick(s, NODES);
    p->cycle = dra_cycle_new(s->dra, &ARGS, p->object,
                             view_pod_new(p->object->doc, &s->a, NULL), NULL);
    struct sched_status st = dra_pre_filter(p->cycle);
    bool found = false;
    for (uint32_t i = 0; sched_ok(&st) && !found && i < NODES; i++) {
        struct sched_node *n = &s->nodes[(first + i) % NODES];
        struct sched_status f = dra_filter(p->cycle, n);
        found = sched_ok(&f);
        first = found ? (first + i) % NODES : first;
    }
    if (!found ||
        (st = dra_reserve(p->cycle, s->nodes[first].view->meta.name), !sched_ok(&st))) {
        end_cycle(p);
        return;
    }
    s->allocated++;
    p->reserved = true;
}

/* The pod is over: as the claim controller does, claims that nobody has a reservation of
 * are freed, and some go. */
static void free_claims(struct storm *s, const struct pod *p)
{
    const struct doc *claims = fake_api_list(&s->api, "resourceclaims");
    for (uint32_t i = claims->n; i-- > 0;) {
        struct doc d = doc_dup(&s->a, &claims->items[i]);
        struct doc *status = (struct doc *)doc_get(&d, "status"),
                   *users = (struct doc *)doc_get(status, "reservedFor");
        uint32_t kept = 0;
        for (uint32_t k = 0; users && k < users->n; k++)
            if (!str_eq(doc_get_text(&users->items[k], "uid"), p->object->uid))
                users->items[kept++] = users->items[k];
        if (!users || kept == users->n)
            continue;
        users->n = kept;
        if (!kept)
            doc_remove(status, STR("allocation"));
        if (!kept && pick(s, 2))
            fake_api_remove(&s->api, "resourceclaims", &d);
        else
            fake_api_write(&s->api, "resourceclaims", &d);
    }
}

static void go(struct storm *s, struct pod *p)
{
    free_claims(s, p);
    end_cycle(p);
    object_unref(p->object);
    *p = (struct pod){0};
}

/* ---- steps ---- */

static void move(struct storm *s, struct pod *p)
{
    if (!p->object)
        come(s, p);
    else if (!p->cycle && !p->bound)
        attempt(s, p);
    else if (p->bound)
        go(s, p);
    else if (p->reserved && !p->asking) {
        p->asking = true;
        if (pick(s, 5))
            dra_pre_bind(p->cycle, on_bound, p);
        else
            dra_unreserve(p->cycle, on_unreserved, p);
    } else if (!p->reserved) {
        end_cycle(p);
    }
}

static void fail_next(struct storm *s)
{
    static const char *const VERBS[] = {"update", "update", "patch", "get"};
    static const struct {
        int status;
        const char *reason, *after;
    } HOW[] = {{409, "Conflict", "false"},
               {500, "InternalError", "false"},
               {500, "InternalError", "true"},
               {504, "Timeout", "true"},
               {403, "Forbidden", "false"}};
    uint32_t how = pick(s, UNIT_COUNT(HOW));
    struct doc d = read_json(
        s,
        arena_printf(&s->a,
                     "{'verb':'%s','resource':'resourceclaims','error':'no','status':%d,"
                     "'reason':'%s','after':%s,'times':1}",
                     VERBS[pick(s, UNIT_COUNT(VERBS))], HOW[how].status, HOW[how].reason,
                     HOW[how].after));
    doc_append(&s->a, &s->api.failures, d);
}

/* What was on its way to the server has reached it when the next scheduler begins: that
 * is what the time of a lease is for. */
static void begin_anew(struct storm *s)
{
    for (uint32_t i = 0; i < PODS; i++)
        end_cycle(&s->pods[i]);
    dra_free(s->dra);
    fake_api_settle(&s->api);
    start(s);
}

static void step(struct storm *s)
{
    switch (pick(s, 30)) {
    case 0:
        begin_anew(s);
        break;
    case 1:
        s->api.late = true;
        break;
    case 2:
        s->api.late = false;
        fake_api_tell_some(&s->api, UINT32_MAX);
        break;
    case 3:
        fake_api_tell_some(&s->api, pick(s, 4));
        break;
    case 4:
    case 9:
        fail_next(s);
        break;
    case 10:
        s->api.late = true;
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        for (uint32_t i = pick(s, 6); i-- > 0;)
            net_loop_run_once(s->api.loop, false);
        break;
    default:
        move(s, any_pod(s));
    }
}

/* ---- the end ---- */

static bool anybody_asks(const struct storm *s)
{
    for (uint32_t i = 0; i < PODS; i++)
        if (s->pods[i].asking)
            return true;
    return false;
}

static void calm_down(struct storm *s)
{
    s->api.late = false;
    fake_api_tell_some(&s->api, UINT32_MAX);
    s->api.failures.n = 0;
    while (anybody_asks(s))
        net_loop_run_once(s->api.loop, true);
    for (uint32_t i = 0; i < PODS; i++) {
        struct pod *p = &s->pods[i];
        if (p->reserved) {
            p->asking = true;
            dra_unreserve(p->cycle, on_unreserved, p);
        }
    }
    while (anybody_asks(s))
        net_loop_run_once(s->api.loop, true);
    fake_api_settle(&s->api);
}

/* What claims on the server hold, and nothing else. */
static void check_end(struct storm *s)
{
    const struct doc *claims = fake_api_list(&s->api, "resourceclaims");
    assert_int_equal(s->dra->flights.live, 0);
    assert_int_equal(s->dra->known.live, claims->n);
    for (uint32_t i = 0; i < claims->n; i++) {
        const struct doc *meta = doc_get(&claims->items[i], "metadata");
        const struct object *o = dra_known(s->dra, STR("ns"), doc_get_text(meta, "name"));
        assert_non_null(o);
        assert_int_equal(dra_is_allocated(o),
                         doc_path(&claims->items[i], "status.allocation") != NULL);
    }
}

static uint32_t weather(uint64_t seed)
{
    struct storm s = {.seed = seed};
    arena_init(&s.a);
    rng_init(&s.rng, seed);
    fake_api_open(&s.api, &s.a);
    s.api.stores = true;
    s.api.version = 1000;
    put_site(&s);
    start(&s);
    for (int i = 0; i < STEPS; i++) {
        step(&s);
        check_server(&s);
        if (i % LEDGER_STEPS == 0)
            check_ledger(&s);
    }
    calm_down(&s);
    check_server(&s);
    check_ledger(&s);
    check_end(&s);
    for (uint32_t i = 0; i < PODS; i++)
        if (s.pods[i].object)
            go(&s, &s.pods[i]);
    dra_free(s.dra);
    fake_api_close(&s.api);
    arena_fini(&s.a);
    return s.allocated;
}

static uint64_t storms(uint64_t usual)
{
    const char *n = getenv("DRAY_STORMS");
    return n ? strtoull(n, NULL, 10) : usual;
}

static void test_storm(void **state)
{
    uint64_t allocated = 0, n = storms(SEEDS);
    for (uint64_t seed = 0; seed < n; seed++)
        allocated += weather(seed);
    assert_true(allocated > n * 5); /* it has been put to the test */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_storm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
