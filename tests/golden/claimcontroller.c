/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden/claimcontroller: what the ResourceClaim controller does with one key, and which
 * keys events bring, against an API server of documents.
 *
 * A time that is set and zero was printed as null there: such a deletionTimestamp counts
 * as set, and is left out of what is compared.
 */
#include <stdlib.h>

#include "control/claims_inner.h"
#include "fake_api.h"
#include "golden/golden.h"

#define ZERO_TIME "0001-01-01T00:00:00Z"

struct site {
    struct golden_case *c;
    struct arena *a;
    struct fake_api api;
    struct claims *claims;
    struct doc keys; /* that events brought */
    struct doc error;
};

static const struct {
    const char *kind, *resource;
} KINDS[] = {
    {"Pod", "pods"},
    {"PodGroup", "podgroups"},
    {"ResourceClaim", "resourceclaims"},
    {"ResourceClaimTemplate", "resourceclaimtemplates"},
};

static const char *resource_of(struct str kind)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (str_is(kind, KINDS[i].kind))
            return KINDS[i].resource;
    return "unknown";
}

/* ---- as recorded ---- */

static struct doc as_input(struct site *s, const struct doc *object)
{
    struct doc d = doc_dup(s->a, object);
    struct doc *meta = (struct doc *)doc_get(&d, "metadata");
    const struct doc *deleted = doc_get(meta, "deletionTimestamp");
    if (deleted && deleted->type == DOC_NULL)
        doc_set(s->a, meta, "deletionTimestamp", doc_make_string(s->a, STR(ZERO_TIME)));
    return d;
}

/* Without what a Go object does not say, or says in another way. */
static void plain(struct doc *d, bool typed)
{
    if (typed) {
        doc_remove(d, STR("apiVersion"));
        doc_remove(d, STR("kind"));
    }
    struct doc *meta = (struct doc *)doc_get(d, "metadata");
    if (meta && meta->type == DOC_MAP &&
        doc_is_string(doc_get(meta, "deletionTimestamp"), ZERO_TIME))
        doc_remove(meta, STR("deletionTimestamp"));
}

static void check(struct site *s, const char *field, const struct doc *want,
                  const struct doc *got)
{
    static const struct doc NONE = {.type = DOC_NULL};
    struct doc w = golden_lean(want ? want : &NONE, s->a), g = golden_lean(got, s->a);
    bool nothing = g.type != DOC_STRING && g.n == 0;
    if (w.type != DOC_STRING && w.n == 0)
        w = NONE;
    golden_check_doc(s->c, field, golden_want(s->c, field, &w), nothing ? &NONE : &g);
}

static int by_name(const void *a, const void *b)
{
    const struct doc *x = doc_get(a, "metadata"), *y = doc_get(b, "metadata");
    int c = str_cmp(doc_get_text(x, "namespace"), doc_get_text(y, "namespace"));
    return c ? c : str_cmp(doc_get_text(x, "name"), doc_get_text(y, "name"));
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(doc_str(a), doc_str(b));
}

static struct doc claims_after(struct site *s)
{
    struct doc list = doc_dup(s->a, fake_api_list(&s->api, "resourceclaims"));
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_name);
    for (uint32_t i = 0; i < list.n; i++)
        plain(&list.items[i], true);
    return list;
}

static struct doc actions_after(struct site *s)
{
    struct doc list = doc_dup(s->a, &s->api.actions);
    for (uint32_t i = 0; i < list.n; i++) {
        struct doc *object = (struct doc *)doc_get(&list.items[i], "object");
        if (object)
            plain(object, true);
    }
    return list;
}

static struct doc statuses_after(struct site *s, const char *resource)
{
    const struct doc *list = fake_api_list(&s->api, resource);
    struct doc all = doc_make_map();
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *meta = doc_get(&list->items[i], "metadata"),
                         *st = doc_path(&list->items[i], "status.resourceClaimStatuses");
        struct str ns = doc_get_text(meta, "namespace"),
                   name = doc_get_text(meta, "name");
        if (st)
            doc_set_str(s->a, &all,
                        arena_printf(s->a, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name)), *st);
    }
    return all;
}

/* ---- running ---- */

static void on_key(void *ctx, struct str key)
{
    struct site *s = ctx;
    doc_append(s->a, &s->keys, doc_make_string(s->a, key));
}

static void on_log(void *ctx, const char *text)
{
    struct site *s = ctx;
    if (s->error.type == DOC_NULL)
        s->error = doc_make_string(s->a, str_from(text));
    worker_hold(s->claims->worker, on_key, s); /* what failed is not tried again */
}

static void put_all(struct site *s, const char *field, const char *resource, bool known)
{
    const struct doc *list = doc_get(doc_get(s->c->doc, "in"), field);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct doc d = as_input(s, &list->items[i]);
        fake_api_put(&s->api, resource, &d, known);
    }
}

static void put_initial(struct site *s)
{
    const struct doc *list = doc_get(doc_get(s->c->doc, "in"), "initial");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct doc d = as_input(s, doc_get(&list->items[i], "object"));
        fake_api_put(&s->api, resource_of(doc_get_text(&list->items[i], "kind")), &d,
                     true);
    }
}

static void put_made(struct site *s)
{
    static const struct object_opts PLAIN;
    const struct doc *list = doc_get(doc_get(s->c->doc, "in"), "claimsInCache");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        claims_remember(s->claims, object_of_doc(&list->items[i], &PLAIN, NULL));
}

static void open_site(struct site *s, struct claims_opts opts)
{
    s->error = doc_make_null();
    s->keys = doc_make_list();
    fake_api_open(&s->api, s->a);
    put_all(s, "pods", "pods", true);
    put_all(s, "podsLater", "pods", false);
    put_all(s, "podGroups", "podgroups", true);
    put_all(s, "claims", "resourceclaims", true);
    put_all(s, "claimsLater", "resourceclaims", false);
    put_all(s, "templates", "resourceclaimtemplates", true);
    put_initial(s);
    doc_get_bool(doc_get(s->c->doc, "in"), "createFails", &s->api.create_fails);
    opts.log = on_log;
    opts.log_ctx = s;
    s->claims = claims_new(s->api.client, &opts);
    worker_hold(s->claims->worker, on_key, s);
    fake_api_settle(&s->api);
    if (!claims_synced(s->claims) || worker_length(s->claims->worker))
        golden_fail(s->c, "the controller did not begin");
}

static void close_site(struct site *s)
{
    claims_free(s->claims);
    fake_api_close(&s->api);
}

static void run_sync(struct site *s)
{
    const struct doc *out = doc_get(s->c->doc, "out");
    put_made(s);
    worker_hold(s->claims->worker, NULL, NULL);
    worker_add(s->claims->worker, doc_get_text(doc_get(s->c->doc, "in"), "key"));
    while (s->error.type == DOC_NULL && worker_length(s->claims->worker))
        net_loop_run_once(s->api.loop, true);
    worker_hold(s->claims->worker, on_key, s);
    fake_api_settle(&s->api);
    struct doc actions = actions_after(s), claims = claims_after(s),
               pods = statuses_after(s, "pods"), groups = statuses_after(s, "podgroups");
    check(s, "error", doc_get(out, "error"), &s->error);
    check(s, "events", doc_get(out, "events"), &s->api.events);
    check(s, "actions", doc_get(out, "actions"), &actions);
    check(s, "claims", doc_get(out, "claims"), &claims);
    check(s, "podStatuses", doc_get(out, "podStatuses"), &pods);
    check(s, "podGroupStatuses", doc_get(out, "podGroupStatuses"), &groups);
}

static void tell_all(struct site *s, const char *field, const char *type)
{
    const struct doc *list = doc_get(doc_get(s->c->doc, "in"), field);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct doc d = as_input(s, doc_get(&list->items[i], "object"));
        struct str kind = doc_get_text(&list->items[i], "kind");
        /* Each is another version. */
        doc_set(s->a, (struct doc *)doc_get(&d, "metadata"), "resourceVersion",
                doc_make_string(s->a, arena_printf(s->a, "%u", 10 + i)));
        fake_api_tell(&s->api, type, resource_of(kind), &d);
    }
}

static void add_value(void *ctx, struct str value)
{
    struct site *s = ctx;
    doc_append(s->a, &s->keys, doc_make_string(s->a, value));
}

static void sort_keys(struct site *s)
{
    if (s->keys.n)
        qsort(s->keys.items, s->keys.n, sizeof *s->keys.items, by_text);
}

static void run_event(struct site *s)
{
    const struct doc *out = doc_get(s->c->doc, "out");
    s->keys = doc_make_list();
    tell_all(s, "create", "ADDED");
    tell_all(s, "update", "MODIFIED");
    tell_all(s, "delete", "DELETED");
    fake_api_settle(&s->api);
    sort_keys(s);
    check(s, "queueKeys", doc_get(out, "queueKeys"), &s->keys);
    s->keys = doc_make_list();
    index_each(&s->claims->pods_by_template, add_value, s);
    sort_keys(s);
    check(s, "podTemplateIndex", doc_get(out, "podTemplateIndex"), &s->keys);
}

static void run_with(struct golden_case *c, struct claims_opts opts)
{
    struct site s = {.c = c, .a = c->arena};
    open_site(&s, opts);
    if (doc_get(doc_get(c->doc, "in"), "key"))
        run_sync(&s);
    else
        run_event(&s);
    close_site(&s);
}

/* ---- gates ---- */

static bool has(const struct doc *set, const char *gate)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (doc_is_string(&set->items[i], gate))
            return true;
    return false;
}

static void run_set(struct golden_case *c, const struct doc *set)
{
    run_with(c, (struct claims_opts){
                    .no_admin_access = !has(set, "AdminAccess"),
                    .no_prioritized_list = !has(set, "PrioritizedList"),
                    .pod_groups = has(set, "GenericWorkload"),
                    .group_claims = has(set, "WorkloadResourceClaims"),
                });
}

/* All sets that make sense: claims of groups need groups. */
static void run_all(struct golden_case *c)
{
    for (unsigned bits = 0; bits < 16; bits++)
        if (!(bits & 8) || bits & 4)
            run_with(c, (struct claims_opts){
                            .no_admin_access = !(bits & 1),
                            .no_prioritized_list = !(bits & 2),
                            .pod_groups = bits & 4,
                            .group_claims = bits & 8,
                        });
}

static void run_case(struct golden *g, struct golden_case *c)
{
    const struct doc *sets = doc_get(c->doc, "features");
    (void)g;
    if (doc_is_string(sets, "all")) {
        run_all(c);
        return;
    }
    for (uint32_t i = 0; i < sets->n; i++)
        run_set(c, &sets->items[i]);
}

const struct golden_runner golden_claimcontroller = {.folder = "claimcontroller",
                                                     .run_case = run_case};
