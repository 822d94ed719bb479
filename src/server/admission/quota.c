/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/quota_inner.h"

#include "api/apply.h"

enum { MAX_TRIES = 4 }; /* to write a quota, as upstream */

/* A quota in a round. */
struct account {
    struct round *round;
    struct cache_object *object; /* reference */
    struct str uid;
    struct amounts before; /* used, as it is stored */
    bool failed;
};

/* Writes of a namespace that are charged together. */
struct round {
    struct arena a;
    struct ledger *l;
    struct payment *payments;
    struct account *accounts;
    struct quota_state *states; /* beside accounts */
    uint32_t n, open, tries;
    enum store_answer answer; /* why the last update failed */
    struct str failed_name, why;
};

/* Of a namespace, as long as something is to be paid in it. */
struct ledger {
    struct quota_ledger *all;
    struct str namespace;
    struct payment *waiting, **tail;
    struct round *round;
};

struct quota_ledger {
    struct server *s;
    struct strmap by_namespace;
};

struct quota_ledger *quota_ledger_new(struct server *s)
{
    struct quota_ledger *l = mem_alloc(sizeof *l);
    *l = (struct quota_ledger){.s = s};
    return l;
}

void quota_ledger_free(struct quota_ledger *l)
{
    if (l)
        strmap_release(&l->by_namespace);
    free(l);
}

/* ---- quotas as they are stored ---- */

struct reading {
    struct round *round;
    const struct round *failed; /* only what could not be written; NULL: all */
    VEC(struct account) accounts;
};

static bool is_wanted(const struct reading *r, struct str key)
{
    for (uint32_t i = 0; r->failed && i < r->failed->n; i++)
        if (r->failed->accounts[i].failed &&
            str_eq(r->failed->accounts[i].object->key, key))
            return true;
    return !r->failed;
}

static bool note_quota(void *ctx, struct cache_object *o)
{
    struct reading *r = ctx;
    if (is_wanted(r, o->key))
        vec_push(&r->accounts,
                 (struct account){.round = r->round, .object = cache_object_ref(o)});
    return true;
}

static void read_account(struct round *r, uint32_t i)
{
    struct account *account = &r->accounts[i];
    struct doc d = object_doc(account->object, &r->a);
    const struct doc *status = doc_get(&d, "status");
    struct doc *spec = ARENA_NEW(&r->a, struct doc);
    if (doc_get(&d, "spec"))
        *spec = *doc_get(&d, "spec");
    account->uid = meta_text(&d, "uid");
    account->before = amounts_read(&r->a, doc_get(status, "used"));
    r->states[i] =
        (struct quota_state){.name = account->object->name,
                             .spec = spec,
                             .hard = amounts_read(&r->a, doc_get(status, "hard")),
                             .used = amounts_dup(&account->before)};
}

static void each_quota(struct server *s, struct str namespace,
                       bool (*each)(void *ctx, struct cache_object *o), void *ctx)
{
    const struct resource *res = kinds_stored(s, "", "resourcequotas");
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%.*s%.*s/", STR_ARG(res->prefix), STR_ARG(namespace));
    cache_each(s->cache, strbuf_str(&b), STR_NONE, each, ctx);
    strbuf_release(&b);
}

static void read_accounts(struct round *r, const struct round *failed)
{
    struct reading reading = {.round = r, .failed = failed};
    each_quota(r->l->all->s, r->l->namespace, note_quota, &reading);
    r->n = (uint32_t)reading.accounts.n;
    r->accounts = ARENA_ARRAY(&r->a, struct account, r->n + 1);
    r->states = ARENA_ARRAY(&r->a, struct quota_state, r->n + 1);
    for (uint32_t i = 0; i < r->n; i++) {
        r->accounts[i] = reading.accounts.v[i];
        read_account(r, i);
    }
    vec_release(&reading.accounts);
}

static struct round *round_new(struct ledger *l)
{
    struct round *r = mem_alloc(sizeof *r);
    *r = (struct round){.l = l};
    return r;
}

static void round_free(struct round *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        cache_object_unref(r->accounts[i].object);
    arena_fini(&r->a);
    free(r);
}

/* ---- looking at one write ---- */

static struct amounts paid_before(const struct payment *p, struct str uid)
{
    struct quota_paid *paid = p->paid;
    while (paid && !str_eq(paid->uid, uid))
        paid = paid->next;
    return paid ? paid->amounts : (struct amounts){.a = p->world.a};
}

static void note_paid(struct payment *p, struct str uid, const struct amounts *charge)
{
    struct arena *a = p->world.a;
    struct quota_paid *paid = p->paid;
    while (paid && !str_eq(paid->uid, uid))
        paid = paid->next;
    if (!paid) {
        paid = ARENA_NEW(a, struct quota_paid);
        *paid = (struct quota_paid){p->paid, arena_str(a, uid), {.a = a}};
        p->paid = paid;
    }
    amounts_add_all(&paid->amounts, charge);
}

static void refuse(struct payment *p, enum quota_verdict v, struct str why)
{
    if (v == QUOTA_FORBIDDEN)
        admit_forbid(&p->admission, "%.*s", STR_ARG(why));
    else
        fail(p->admission.r, 500, NULL, "%.*s", STR_ARG(why));
    p->state = PAYMENT_REFUSED;
}

/* What was used before a dry run is what is used after it. */
static void restore(struct round *r, const struct amounts *used)
{
    for (uint32_t i = 0; i < r->n; i++)
        r->states[i].used = used[i];
}

static void look_at(struct round *r, struct payment *p)
{
    struct str why = STR_NONE;
    bool dry = p->admission.r->dry_run, charged = false;
    struct amounts *used = ARENA_ARRAY(&r->a, struct amounts, r->n + 1);
    for (uint32_t i = 0; i < r->n; i++) {
        used[i] = amounts_dup(&r->states[i].used);
        r->states[i].paid = paid_before(p, r->accounts[i].uid);
    }
    enum quota_verdict v = quota_check(&p->q, r->states, r->n, &why);
    if (v != QUOTA_OK) {
        refuse(p, v, why);
        return;
    }
    p->charges = ARENA_ARRAY(&r->a, struct amounts, r->n + 1);
    for (uint32_t i = 0; i < r->n && !dry; i++) {
        p->charges[i] = r->states[i].charge;
        charged = charged || p->charges[i].n;
    }
    if (dry)
        restore(r, used);
    if (!charged)
        p->state = PAYMENT_MADE;
}

/* ---- the end of a round ---- */

static void begin_round(struct ledger *l);

/* Tells all; what they do next may be to pay again. */
static void end_round(struct round *r)
{
    struct ledger *l = r->l;
    struct payment *p = r->payments;
    round_free(r);
    l->round = NULL;
    begin_round(l);
    while (p) {
        struct payment *next = p->next;
        p->then(p->w, p->state == PAYMENT_MADE);
        p = next;
    }
}

static void settle(struct round *r)
{
    for (struct payment *p = r->payments; p; p = p->next)
        if (p->state == PAYMENT_OPEN)
            p->state = PAYMENT_MADE;
    end_round(r);
}

static void fail_unwritten(struct round *r, struct request *req)
{
    struct str name = arena_str(req->a, r->failed_name);
    if (r->answer == STORE_FAILED) {
        fail(req, 500, "InternalError", "Internal error occurred: %.*s", STR_ARG(r->why));
        return;
    }
    fail(req, 409, "Conflict",
         "Operation cannot be fulfilled on resourcequotas \"%.*s\": the object has been "
         "modified; please apply your changes to the latest version and try again",
         STR_ARG(name));
    req->failure.has_details = true;
    req->failure.name = name;
    req->failure.kind = STR("resourcequotas");
}

static void give_up(struct round *r)
{
    for (struct payment *p = r->payments; p; p = p->next)
        if (p->state == PAYMENT_OPEN) {
            fail_unwritten(r, p->admission.r);
            p->state = PAYMENT_REFUSED;
        }
    end_round(r);
}

/* ---- writing ---- */

static void on_written(void *ctx, enum store_answer answer, uint64_t revision,
                       const struct err *e);

/* As somebody who writes the status: the server itself. */
static void track(struct server *s, const struct doc *live, struct doc *d, struct str now,
                  struct arena *a)
{
    const struct resource *res =
        kinds_find(s, STR(""), STR("v1"), STR("resourcequotas/status"));
    struct apply_write w = {res->kind, STR("kube-apiserver"), now};
    struct doc entries = apply_update(&w, live, d, a);
    if (entries.n)
        doc_set(a, object_meta(d), "managedFields", entries);
}

static void write_account(struct round *r, uint32_t i)
{
    struct account *account = &r->accounts[i];
    struct server *s = r->l->all->s;
    struct strbuf b = STRBUF_INIT;
    struct doc live = object_doc(account->object, &r->a),
               d = object_doc(account->object, &r->a);
    struct doc status = doc_dup(&r->a, doc_get(&d, "status"));
    doc_set(&r->a, &status, "used", amounts_doc(&r->states[i].used));
    doc_set(&r->a, &d, "status", status);
    track(s, &live, &d, r->payments->admission.r->now, &r->a);
    object_encode(&d, &b);
    struct store_write w = {.key = account->object->key,
                            .value = strbuf_str(&b),
                            .expect = account->object->revision,
                            .done = on_written,
                            .ctx = account};
    store_submit(s->store, &w);
    strbuf_release(&b);
}

static void run_round(struct round *r)
{
    for (struct payment *p = r->payments; p; p = p->next)
        if (p->state == PAYMENT_OPEN)
            look_at(r, p);
    r->open = 1;
    for (uint32_t i = 0; i < r->n; i++) {
        if (amounts_equal(&r->accounts[i].before, &r->states[i].used))
            continue;
        r->open++;
        write_account(r, i);
    }
    if (--r->open == 0)
        settle(r);
}

/* Looks once more at the quotas that somebody else has written meanwhile. */
static void try_again(struct round *old)
{
    struct round *r = round_new(old->l);
    r->payments = old->payments;
    for (struct payment *p = r->payments; p; p = p->next)
        p->world.limited = NULL; /* it was covered, by more than is looked at now */
    r->tries = old->tries + 1;
    r->answer = old->answer;
    read_accounts(r, old);
    r->failed_name = arena_str(&r->a, old->failed_name);
    r->why = arena_str(&r->a, old->why);
    r->l->round = r;
    round_free(old);
    run_round(r);
}

/* What was written is paid; it is not asked for again when the write is made anew. */
static bool note_written(struct round *r)
{
    bool all = true;
    for (uint32_t i = 0; i < r->n; i++) {
        all = all && !r->accounts[i].failed;
        for (struct payment *p = r->payments; p && !r->accounts[i].failed; p = p->next)
            if (p->state == PAYMENT_OPEN && p->charges[i].n)
                note_paid(p, r->accounts[i].uid, &p->charges[i]);
    }
    return all;
}

static void on_written(void *ctx, enum store_answer answer, uint64_t revision,
                       const struct err *e)
{
    struct account *account = ctx;
    struct round *r = account->round;
    (void)revision;
    if (answer != STORE_OK) {
        account->failed = true;
        r->answer = answer;
        r->failed_name = account->object->name;
        r->why = arena_str(&r->a, str_from(e ? err_text(e) : "store"));
    }
    if (--r->open > 0)
        return;
    if (note_written(r))
        settle(r);
    else if (r->tries + 1 >= MAX_TRIES)
        give_up(r);
    else
        try_again(r);
}

/* ---- rounds ---- */

static void ledger_free(struct ledger *l)
{
    strmap_remove(&l->all->by_namespace, l->namespace);
    free((char *)l->namespace.p);
    free(l);
}

static void begin_round(struct ledger *l)
{
    if (!l->waiting) {
        ledger_free(l);
        return;
    }
    struct round *r = round_new(l);
    r->payments = l->waiting;
    l->waiting = NULL;
    l->tail = &l->waiting;
    l->round = r;
    read_accounts(r, NULL);
    run_round(r);
}

static struct ledger *ledger_of(struct quota_ledger *all, struct str namespace)
{
    bool made;
    struct strmap_entry *e = strmap_find(&all->by_namespace, namespace);
    if (e)
        return e->value.ptr;
    struct ledger *l = mem_alloc(sizeof *l);
    char *name = mem_alloc(namespace.n + 1);
    memcpy(name, namespace.p, namespace.n);
    *l = (struct ledger){.all = all, .namespace = {name, namespace.n}};
    l->tail = &l->waiting;
    e = strmap_put(&all->by_namespace, l->namespace, &made);
    e->value.ptr = l;
    return l;
}

static bool note_any(void *ctx, struct cache_object *o)
{
    (void)o;
    *(bool *)ctx = true;
    return false;
}

/* What is there already will not be made. */
static bool is_in_vain(struct write *w)
{
    return w->old ? !w->drop && apply_same_but_times(write_live(w), &w->object, w->r->a)
                  : cache_get(w->r->s->cache, w->key) != NULL;
}

bool quota_pay(struct write *w, void (*then)(struct write *w, bool ok))
{
    struct payment *p = w->r->payment;
    struct server *s = w->r->s;
    bool any = false;
    if (!p || !p->due)
        return false;
    p->due = false;
    each_quota(s, p->q.namespace, note_any, &any);
    if ((!any && !p->world.limited) || is_in_vain(w))
        return false;
    p->w = w;
    p->then = then;
    p->next = NULL;
    p->state = PAYMENT_OPEN;
    struct ledger *l = ledger_of(s->quotas, p->q.namespace);
    *l->tail = p;
    l->tail = &p->next;
    if (!l->round)
        begin_round(l);
    return true;
}
