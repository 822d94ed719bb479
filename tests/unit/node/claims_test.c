/* SPDX-License-Identifier: Apache-2.0 */
/* Claims between a server of documents and drivers that do as they are told. */
#include "node/claims.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_api.h"
#include "node/checkpoint.h"
#include "node/state_file.h"
#include "scripted.h"
#include "unit/unit.h"

struct site {
    struct arena a;
    struct fake_api api;
    struct place place;
    struct plugins *plugins;
    struct node_claims *claims;
    struct node_claims_opts opts;
    struct scripted one, two;
    const char *active; /* the only pod that is; NULL: all of them are */
    char log[600];
};

static void on_log(void *ctx, const char *text)
{
    struct site *s = ctx;
    snprintf(s->log, sizeof s->log, "%s", text);
}

static bool is_active(void *ctx, struct str uid)
{
    struct site *s = ctx;
    return !s->active || str_is(uid, s->active);
}

/* ---- the agent comes and goes ---- */

static void start(struct site *s)
{
    static const struct plugins_ops ops = {.log = NULL};
    struct err e = ERR_INIT;
    s->plugins = plugins_new(s->place.loop, s->place.dir, &ops, s, &e);
    assert_non_null(s->plugins);
    s->opts.plugins = s->plugins;
    s->claims = node_claims_new(&s->opts, &e);
    if (!s->claims)
        fail_msg("%s", err_text(&e));
}

static void stop(struct site *s)
{
    node_claims_free(s->claims);
    plugins_free(s->plugins);
}

static bool are_registered(void *ctx)
{
    struct site *s = ctx;
    struct plugin *a = plugins_find(s->plugins, STR("one.example.com")),
                  *b = plugins_find(s->plugins, STR("two.example.com"));
    return a && b && plugin_connected(a) && plugin_connected(b);
}

static void restart(struct site *s)
{
    stop(s);
    start(s);
    place_await(&s->place, are_registered, s, "both drivers, after a restart");
}

static void open_site(struct site *s)
{
    *s = (struct site){.active = NULL};
    fake_api_open(&s->api, &s->a);
    place_open(&s->place, s->api.loop);
    s->opts = (struct node_claims_opts){.client = s->api.client,
                                        .dir = s->place.dir,
                                        .is_active = is_active,
                                        .log = on_log,
                                        .ctx = s,
                                        .sweep_ms = 50};
    scripted_init(&s->one, &s->place, "one.example.com");
    scripted_init(&s->two, &s->place, "two.example.com");
    start(s);
    scripted_listen(&s->one);
    scripted_listen(&s->two);
    scripted_register(&s->one, "plugins_registry/one.sock");
    scripted_register(&s->two, "plugins_registry/two.sock");
    place_await(&s->place, are_registered, s, "both drivers");
}

static void close_site(struct site *s)
{
    stop(s);
    scripted_fini(&s->one);
    scripted_fini(&s->two);
    fake_api_close(&s->api);
    place_close(&s->place);
    arena_fini(&s->a);
}

/* ---- objects ---- */

static struct doc read_json(struct site *s, const char *text)
{
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc d;
    struct err e = ERR_INIT;
    if (!doc_read_json(&src, &s->a, &d, &e))
        fail_msg("%s", err_text(&e));
    return d;
}

#define RESULT(driver) "{\"driver\":\"" driver ".example.com\",\"request\":\"r\"}"

/* Allocated (results NULL: not) and reserved for pods "p" and "q". */
static void put_claim(struct site *s, const char *name, const char *uid,
                      const char *results)
{
    char text[900];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s\"},"
             "\"status\":{%s%s%s\"reservedFor\":[{\"uid\":\"p-uid\"},{\"uid\":\"q-uid\"}]"
             "}}",
             name, uid, results ? "\"allocation\":{\"devices\":{\"results\":[" : "",
             results ? results : "", results ? "]}}," : "");
    struct doc d = read_json(s, text);
    fake_api_put(&s->api, "resourceclaims", &d, true);
}

/* A pod of claims "c" and, perhaps, "d". */
static struct doc pod_of(struct site *s, const char *name, const char *claims)
{
    char text[900], list[400] = "";
    struct str rest = str_from(claims), claim;
    while (str_split_next(&rest, ',', &claim)) {
        size_t at = strlen(list);
        snprintf(list + at, sizeof list - at,
                 "%s{\"name\":\"%.*s\",\"resourceClaimName\":\"%.*s\"}", at ? "," : "",
                 STR_ARG(claim), STR_ARG(claim));
    }
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s-uid\"}"
        ",\"spec\":{\"resourceClaims\":[%s]}}",
        name, name, list);
    return read_json(s, text);
}

/* ---- tasks ---- */

struct outcome {
    bool done, failed;
    char why[600];
};

static void on_done(void *ctx, const struct err *why)
{
    struct outcome *o = ctx;
    o->done = true;
    o->failed = why != NULL;
    snprintf(o->why, sizeof o->why, "%s", why ? err_text(why) : "");
}

static bool is_done(void *ctx)
{
    return ((struct outcome *)ctx)->done;
}

static struct outcome prepare(struct site *s, const struct doc *pod)
{
    struct outcome o = {.done = false};
    node_claims_prepare(s->claims, pod, on_done, &o);
    place_await(&s->place, is_done, &o, "claims are prepared, or fail to be");
    return o;
}

static struct str uid_of(const struct doc *pod)
{
    return doc_get_text(doc_get(pod, "metadata"), "uid");
}

static struct outcome unprepare(struct site *s, const struct doc *pod)
{
    struct outcome o = {.done = false};
    node_claims_unprepare(s->claims, uid_of(pod), on_done, &o);
    place_await(&s->place, is_done, &o, "claims are unprepared, or fail to be");
    return o;
}

static void is_fine(struct outcome o)
{
    if (o.failed)
        fail_msg("%s", o.why);
}

static void says(struct outcome o, const char *text)
{
    assert_true(o.failed);
    assert_string_equal(o.why, text);
}

/* What the file says of the claims, "c(p-uid;one:1,two:0) " in short. */
static const char *file(struct site *s)
{
    struct checkpoint c;
    struct str text;
    struct err e = ERR_INIT;
    struct strbuf out = STRBUF_INIT;
    const char *path = arena_printf(&s->a, "%s/dra_manager_state", s->place.dir).p;
    if (!state_file_read(path, &s->a, &text, &e) || !checkpoint_read(text, &s->a, &c, &e))
        fail_msg("%s", err_text(&e));
    for (uint32_t i = 0; i < c.n; i++) {
        const struct checkpoint_claim *x = &c.claims[i];
        strbuf_addf(&out, "%.*s(", STR_ARG(x->name));
        for (uint32_t k = 0; k < x->npods; k++)
            strbuf_addf(&out, "%s%.*s", k ? "," : "", STR_ARG(x->pod_uids[k]));
        for (uint32_t k = 0; k < x->ndrivers; k++)
            strbuf_addf(&out, "%s%.3s:%u", k ? "," : ";", x->drivers[k].name.p,
                        x->drivers[k].ndevices);
        strbuf_adds(&out, ") ");
    }
    const char *kept = arena_strdup(&s->a, strbuf_cstr(&out));
    strbuf_release(&out);
    return kept;
}

static const char *devices(struct site *s, const struct doc *pod, const char *container)
{
    struct node_claims_devices v;
    struct err e = ERR_INIT;
    struct strbuf out = STRBUF_INIT;
    struct doc d = read_json(s, container);
    if (!node_claims_container_devices(s->claims, pod, &d, &s->a, &v, &e))
        strbuf_adds(&out, err_text(&e));
    else
        for (uint32_t i = 0; i < v.n; i++)
            strbuf_addf(&out, "%.*s ", STR_ARG(v.ids[i]));
    err_release(&e);
    const char *kept = arena_strdup(&s->a, strbuf_cstr(&out));
    strbuf_release(&out);
    return kept;
}

/* ---- tests ---- */

static void test_there_and_back(void **state)
{
    struct site s;
    open_site(&s);
    assert_string_equal(file(&s), "");
    put_claim(&s, "c", "c-uid", RESULT("one") "," RESULT("two") "," RESULT("one"));
    put_claim(&s, "d", "d-uid", RESULT("two"));
    struct doc p = pod_of(&s, "p", "c,d");
    is_fine(prepare(&s, &p));
    assert_string_equal(s.one.log, "prepare default/c;");
    assert_string_equal(s.two.log, "prepare default/c,default/d;");
    assert_string_equal(file(&s), "c(p-uid;one:1,two:1) d(p-uid;two:1) ");
    is_fine(prepare(&s, &p)); /* for another sandbox: nobody is asked */
    assert_string_equal(s.one.log, "prepare default/c;");
    assert_string_equal(
        devices(&s, &p, "{\"resources\":{\"claims\":[{\"name\":\"c\"}]}}"),
        "one.example.com/gpu=c-uid two.example.com/gpu=c-uid ");
    assert_string_equal(
        devices(&s, &p,
                "{\"resources\":{\"claims\":[{\"name\":\"d\",\"request\":\"x\"},"
                "{\"name\":\"d\",\"request\":\"r\"}]}}"),
        "two.example.com/gpu=d-uid ");
    assert_true(node_claims_has_pod(s.claims, STR("p-uid")));
    is_fine(unprepare(&s, &p));
    assert_false(node_claims_has_pod(s.claims, STR("p-uid")));
    assert_string_equal(s.one.log, "prepare default/c;unprepare default/c;");
    assert_string_equal(file(&s), "");
    is_fine(unprepare(&s, &p));
    assert_string_equal(s.one.log, "prepare default/c;unprepare default/c;");
    assert_string_equal(
        devices(&s, &p, "{\"resources\":{\"claims\":[{\"name\":\"c\"}]}}"),
        "internal error: unable to get claim info for ResourceClaim c in "
        "namespace default");
    close_site(&s);
}

/* Whoever fails the checks leaves nothing behind. */
static void test_checks(void **state)
{
    static const struct {
        const char *name, *uid, *results, *pod, *says;
    } ROWS[] = {
        {"other", "o-uid", RESULT("one"), "p",
         "prepare dynamic resources: fetch ResourceClaim c: "
         "resourceclaims.resource.k8s.io \"c\" not found"},
        {"c", "c-uid", NULL, "p",
         "prepare dynamic resources: ResourceClaim c: not allocated"},
        {"c", "c-uid", RESULT("one"), "z",
         "prepare dynamic resources: pod z (z-uid) is not allowed to use ResourceClaim c "
         "(c-uid)"},
        {"c", "c-uid", RESULT("three"), "p",
         "prepare dynamic resources: DRA driver three.example.com is not registered"},
        {"c", "c-uid",
         "{\"driver\":\"one.example.com\",\"skipNodeOperations\":[\"Unheard\"]}", "p",
         "prepare dynamic resources: ResourceClaim c: DRAOptionalNodeOperations feature "
         "gate is disabled on kubelet"},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct site s;
        open_site(&s);
        put_claim(&s, ROWS[i].name, ROWS[i].uid, ROWS[i].results);
        struct doc p = pod_of(&s, ROWS[i].pod, "c");
        struct outcome o = prepare(&s, &p);
        ROW(ROWS[i].says, o.failed);
        if (i > 0) /* the first text ends as the server says it */
            assert_string_equal(o.why, ROWS[i].says);
        else
            assert_non_null(strstr(o.why, "fetch ResourceClaim c: "));
        assert_string_equal(file(&s), "");
        assert_string_equal(s.one.log, "");
        is_fine(unprepare(&s, &p));
        assert_string_equal(s.one.log, "");
        close_site(&s);
    }
}

static void test_templates(void **state)
{
    static const char POD[] =
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"p-uid\"},"
        "\"spec\":{\"resourceClaims\":[{\"name\":\"t\",\"resourceClaimTemplateName\":"
        "\"x\"}"
        "]},\"status\":{\"resourceClaimStatuses\":[%s]}}";
    static const struct {
        const char *status, *says;
    } ROWS[] = {
        {"",
         "prepare dynamic resources: pod \"default/p\": ResourceClaim not created yet"},
        {"{\"name\":\"t\",\"resourceClaimName\":\"c\"}",
         "prepare dynamic resources: ResourceClaim default/c was not created for Pod "
         "default/p (Pod is not owner)"},
        {"{\"name\":\"t\"}", NULL}, /* there is none, and none is needed */
    };
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        char text[500];
        snprintf(text, sizeof text, POD, ROWS[i].status);
        struct doc p = read_json(&s, text);
        if (ROWS[i].says)
            says(prepare(&s, &p), ROWS[i].says);
        else
            is_fine(prepare(&s, &p));
        is_fine(unprepare(&s, &p)); /* whatever it has not got */
        assert_string_equal(s.one.log, "");
    }
    close_site(&s);
}

/* What went wrong at a driver is told in its words, and asked anew of all of them. */
static void test_driver_fails(void **state)
{
    static const struct {
        const char *error, *fails, *other;
        unsigned skips;
        const char *prepare, *unprepare;
    } ROWS[] = {
        {.error = "no luck",
         .prepare = "NodePrepareResources failed for ResourceClaim c: no luck",
         .unprepare = "NodeUnprepareResources failed for ResourceClaim c: no luck"},
        {.fails = "all lost",
         .prepare = "NodePrepareResources: rpc error: code = Unknown desc = all lost",
         .unprepare =
             "NodeUnprepareResources: rpc error: code = Unknown desc = all lost"},
        {.skips = 1,
         .prepare = "NodePrepareResources skipped 1 ResourceClaims",
         .unprepare = "NodeUnprepareResources skipped 1 ResourceClaims"},
        {.other = "x-uid",
         .prepare = "NodePrepareResources returned result for unknown claim UID x-uid"},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct site s;
        char text[300];
        open_site(&s);
        put_claim(&s, "c", "c-uid", RESULT("one") "," RESULT("two"));
        struct doc p = pod_of(&s, "p", "c");
        s.two.error = ROWS[i].error;
        s.two.fails = ROWS[i].fails;
        s.two.other = ROWS[i].other;
        s.two.skips = ROWS[i].skips;
        snprintf(text, sizeof text, "prepare dynamic resources: %s", ROWS[i].prepare);
        says(prepare(&s, &p), text);
        assert_true(node_claims_has_pod(s.claims, STR("p-uid")));
        assert_non_null(strstr(file(&s), "c(p-uid;one:"));
        s.two.error = s.two.fails = s.two.other = NULL;
        s.two.skips = 0;
        is_fine(prepare(&s, &p));
        assert_string_equal(s.one.log, "prepare default/c;prepare default/c;");
        assert_string_equal(file(&s), "c(p-uid;one:1,two:1) ");
        s.two.error = ROWS[i].error;
        s.two.fails = ROWS[i].fails;
        s.two.skips = ROWS[i].skips;
        if (ROWS[i].unprepare) {
            snprintf(text, sizeof text, "unprepare dynamic resources: %s",
                     ROWS[i].unprepare);
            says(unprepare(&s, &p), text);
            assert_string_equal(file(&s), "c(p-uid;one:1,two:1) ");
            struct doc q = pod_of(&s, "q", "c");
            says(prepare(&s, &q), "prepare dynamic resources: ResourceClaim c is being "
                                  "unprepared");
        }
        s.two.error = s.two.fails = NULL;
        s.two.skips = 0;
        is_fine(unprepare(&s, &p));
        assert_string_equal(file(&s), "");
        close_site(&s);
    }
}

/* A claim of two pods goes with the last of them. */
static void test_shared(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c"), q = pod_of(&s, "q", "c");
    is_fine(prepare(&s, &p));
    is_fine(prepare(&s, &q));
    assert_string_equal(s.one.log, "prepare default/c;");
    assert_string_equal(file(&s), "c(p-uid,q-uid;one:1) ");
    is_fine(unprepare(&s, &p));
    assert_string_equal(file(&s), "c(q-uid;one:1) ");
    is_fine(unprepare(&s, &q));
    assert_string_equal(s.one.log, "prepare default/c;unprepare default/c;");
    assert_string_equal(file(&s), "");
    close_site(&s);
}

/* Another claim of the same name waits until the old one is gone. */
static void test_replaced(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "old-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c"), q = pod_of(&s, "q", "c");
    is_fine(prepare(&s, &p));
    put_claim(&s, "c", "new-uid", RESULT("one"));
    says(
        prepare(&s, &q),
        "prepare dynamic resources: old ResourceClaim with same name c and different UID "
        "old-uid still exists (previous pod force-deleted?!)");
    is_fine(unprepare(&s, &p));
    is_fine(prepare(&s, &q));
    assert_string_equal(file(&s), "c(q-uid;one:1) ");
    close_site(&s);
}

/* A pod whose fields say nothing anymore, of which one driver never answered well. */
static void test_wiped_pod(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one") "," RESULT("two"));
    struct doc p = pod_of(&s, "p", "c"), wiped = pod_of(&s, "p", "");
    s.two.error = "never";
    assert_true(prepare(&s, &p).failed);
    s.two.error = NULL;
    is_fine(unprepare(&s, &wiped));
    assert_string_equal(s.one.log, "prepare default/c;unprepare default/c;");
    assert_string_equal(s.two.log, "prepare default/c;unprepare default/c;");
    assert_string_equal(file(&s), "");
    close_site(&s);
}

/* A driver that is gone holds its claims' pods; one that is back lets them go. */
static bool is_one_gone(void *ctx)
{
    return !plugins_find(((struct site *)ctx)->plugins, STR("one.example.com"));
}

static void test_driver_gone(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c");
    is_fine(prepare(&s, &p));
    scripted_hang_up(&s.one);
    struct outcome o = unprepare(&s, &p);
    assert_true(strstr(o.why, "NodeUnprepareResources: rpc error: code = Unavailable"));
    scripted_unregister(&s.one);
    place_await(&s.place, is_one_gone, &s, "the driver is gone");
    says(unprepare(&s, &p),
         "unprepare dynamic resources: DRA driver one.example.com is not registered");
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    scripted_listen(&s.one);
    scripted_register(&s.one, "plugins_registry/one.sock");
    place_await(&s.place, are_registered, &s, "the driver is back");
    is_fine(unprepare(&s, &p));
    assert_string_equal(file(&s), "");
    close_site(&s);
}

/* After a restart drivers are asked again, and what was known still is. */
static void test_restart(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c");
    is_fine(prepare(&s, &p));
    restart(&s);
    assert_true(node_claims_has_pod(s.claims, STR("p-uid")));
    assert_string_equal(
        devices(&s, &p, "{\"resources\":{\"claims\":[{\"name\":\"c\"}]}}"),
        "one.example.com/gpu=c-uid ");
    is_fine(prepare(&s, &p));
    assert_string_equal(s.one.log, "prepare default/c;prepare default/c;");
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    is_fine(unprepare(&s, &p));
    assert_string_equal(file(&s), "");
    close_site(&s);
}

static bool has_been_asked(void *ctx)
{
    return ((struct scripted *)ctx)->nheld > 0;
}

/* The agent dies while a driver works: what it asked for is in the file. */
static void test_crash_while_preparing(void **state)
{
    struct site s;
    struct outcome o = {.done = false};
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c");
    s.one.silent = true;
    node_claims_prepare(s.claims, &p, on_done, &o);
    place_await(&s.place, has_been_asked, &s.one, "the driver is asked");
    assert_string_equal(file(&s), "c(p-uid;one:0) ");
    restart(&s);
    assert_false(o.done);
    scripted_speak(&s.one);
    is_fine(prepare(&s, &p));
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    s.one.silent = true;
    node_claims_unprepare(s.claims, uid_of(&p), on_done, &o);
    place_await(&s.place, has_been_asked, &s.one, "the driver is asked");
    restart(&s);
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    scripted_speak(&s.one);
    is_fine(unprepare(&s, &p));
    assert_string_equal(file(&s), "");
    close_site(&s);
}

static void on_tick(void *ctx)
{
}

/* The process ends after so many rounds of its loop. */
static void crash_after(struct site *s, unsigned rounds)
{
    struct net_timer *tick = net_timer_start(s->place.loop, 1, 1, on_tick, NULL);
    while (rounds-- > 0)
        net_loop_run_once(s->place.loop, true);
    net_timer_stop(tick);
    restart(s);
}

/* At any moment: what a driver was asked for is in the file until it was given back, and
 * whoever comes next brings it to its end. */
static void test_crash_at_any_moment(void **state)
{
    enum { ROUNDS = 16 };
    struct site s;
    struct outcome o;
    char name[16], uid[24], call[40];
    open_site(&s);
    for (unsigned i = 0; i < ROUNDS; i++) {
        snprintf(name, sizeof name, "c%u", i);
        snprintf(uid, sizeof uid, "c%u-uid", i);
        put_claim(&s, name, uid, RESULT("one") "," RESULT("two"));
        struct doc p = pod_of(&s, "p", name);
        node_claims_prepare(s.claims, &p, on_done, &o);
        crash_after(&s, i);
        snprintf(call, sizeof call, "prepare default/%s;", name);
        if (strstr(s.one.log, call) || strstr(s.two.log, call))
            assert_true(node_claims_has_pod(s.claims, STR("p-uid")));
        is_fine(prepare(&s, &p));
        node_claims_unprepare(s.claims, uid_of(&p), on_done, &o);
        crash_after(&s, i);
        if (node_claims_has_pod(s.claims, STR("p-uid")))
            is_fine(unprepare(&s, &p));
        assert_string_equal(file(&s), "");
        snprintf(call, sizeof call, "unprepare default/%s;", name);
        assert_non_null(strstr(s.one.log, call));
        assert_non_null(strstr(s.two.log, call));
    }
    close_site(&s);
}

static bool is_file_empty(void *ctx)
{
    return *file(ctx) == '\0';
}

/* Pods that went while nobody looked are swept, others are not. */
static void test_sweep(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    put_claim(&s, "d", "d-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c"), q = pod_of(&s, "q", "d");
    is_fine(prepare(&s, &p));
    is_fine(prepare(&s, &q));
    restart(&s);
    s.one.error = "not now";
    s.active = "q-uid";
    node_claims_sweep(s.claims);
    while (!strstr(s.log, "not now"))
        net_loop_run_once(s.place.loop, true);
    s.one.error = NULL;
    while (node_claims_has_pod(s.claims, STR("p-uid")))
        net_loop_run_once(s.place.loop, true);
    assert_true(node_claims_has_pod(s.claims, STR("q-uid")));
    s.active = "nobody";
    place_await(&s.place, is_file_empty, &s, "all is swept");
    close_site(&s);
}

/* Claims cannot be read for a while: nothing is lost, nothing is asked. */
static void test_server_gone(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c"), q = pod_of(&s, "q", "c");
    is_fine(prepare(&s, &p));
    s.api.failures =
        read_json(&s, "[{\"verb\":\"get\",\"resource\":\"*\",\"error\":\"away\","
                      "\"reason\":\"InternalError\"}]");
    says(prepare(&s, &q), "prepare dynamic resources: fetch ResourceClaim c: away");
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    is_fine(unprepare(&s, &p)); /* takes no server */
    assert_string_equal(file(&s), "");
    s.api.failures = doc_make_list();
    is_fine(prepare(&s, &q));
    close_site(&s);
}

/* A damaged file is kept beside, and told of. */
static void test_damaged_file(void **state)
{
    struct site s;
    struct stat st;
    char path[80];
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c");
    is_fine(prepare(&s, &p));
    stop(&s);
    snprintf(path, sizeof path, "%s/dra_manager_state", s.place.dir);
    assert_int_equal(truncate(path, 40), 0);
    start(&s);
    assert_non_null(strstr(s.log, "dra_manager_state.damaged"));
    snprintf(path, sizeof path, "%s/dra_manager_state.damaged", s.place.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 40);
    assert_string_equal(file(&s), "");
    close_site(&s);
}

/* A file that cannot be written fails the pod, and is made up for later. */
static void test_disk_fails(void **state)
{
    struct site s;
    char path[80];
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c");
    snprintf(path, sizeof path, "%s/.dra_manager_state.tmp", s.place.dir);
    assert_int_equal(mkdir(path, 0755), 0);
    struct outcome o = prepare(&s, &p);
    assert_non_null(
        strstr(o.why, "prepare dynamic resources: checkpoint ResourceClaim cache: "));
    assert_string_equal(s.one.log, "");
    assert_int_equal(rmdir(path), 0);
    is_fine(prepare(&s, &p));
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    close_site(&s);
}

/* Drivers that say they need not be asked. */
static void test_skipped_operations(void **state)
{
#define SKIP(driver, operation)                                                          \
    "{\"driver\":\"" driver ".example.com\",\"skipNodeOperations\":[\"" operation "\"]}"
    struct site s;
    open_site(&s);
    stop(&s);
    s.opts.optional_operations = true;
    start(&s);
    place_await(&s.place, are_registered, &s, "both drivers");
    put_claim(&s, "c", "c-uid",
              SKIP("three", "*") "," SKIP("one", "NodePrepareResources") "," SKIP(
                  "one", "*") "," SKIP("two", "NodeUnprepareResources"));
    struct doc p = pod_of(&s, "p", "c");
    is_fine(prepare(&s, &p)); /* driver three need not be there */
    assert_string_equal(s.one.log, "");
    assert_string_equal(s.two.log, "prepare default/c;");
    assert_string_equal(file(&s), "c(p-uid;thr:0,one:0,two:1) ");
    s.opts.optional_operations = false; /* what was written down counts */
    restart(&s);
    is_fine(unprepare(&s, &p));
    assert_string_equal(s.one.log, "unprepare default/c;");
    assert_string_equal(s.two.log, "prepare default/c;");
    close_site(&s);
}

static void test_v1beta1(void **state)
{
    struct site s;
    open_site(&s);
    scripted_unregister(&s.one);
    place_await(&s.place, is_one_gone, &s, "the driver is gone");
    s.one.versions[0] = "v1beta1.DRAPlugin";
    scripted_register(&s.one, "plugins_registry/one.sock");
    place_await(&s.place, are_registered, &s, "the driver is back, and old");
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = pod_of(&s, "p", "c");
    is_fine(prepare(&s, &p));
    assert_string_equal(file(&s), "c(p-uid;one:1) ");
    is_fine(unprepare(&s, &p));
    assert_string_equal(s.one.log, "prepare-v1beta1 default/c;unprepare default/c;");
    close_site(&s);
}

/* The claim that the scheduler makes for resources by name. */
static void test_extended_resources(void **state)
{
    struct site s;
    open_site(&s);
    put_claim(&s, "c", "c-uid", RESULT("one"));
    struct doc p = read_json(
        &s, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"p-uid\"},"
            "\"spec\":{},\"status\":{\"extendedResourceClaimStatus\":{"
            "\"resourceClaimName\":\"c\",\"requestMappings\":[{\"containerName\":\"x\","
            "\"resourceName\":\"e.com/gpu\",\"requestName\":\"r\"}]}}}");
    is_fine(prepare(&s, &p));
    assert_string_equal(devices(&s, &p,
                                "{\"name\":\"x\",\"resources\":{\"requests\":{"
                                "\"e.com/gpu\":\"1\"}}}"),
                        "one.example.com/gpu=c-uid ");
    assert_string_equal(devices(&s, &p,
                                "{\"name\":\"x\",\"resources\":{\"requests\":{"
                                "\"e.com/gpu\":\"0\"}}}"),
                        "");
    assert_string_equal(devices(&s, &p,
                                "{\"name\":\"y\",\"resources\":{\"requests\":{"
                                "\"e.com/gpu\":\"1\"}}}"),
                        "");
    is_fine(unprepare(&s, &p));
    assert_string_equal(file(&s), "");
    close_site(&s);
}

/* Many at once share what is written. */
static void test_crowd(void **state)
{
    enum { N = 50 };
    struct site s;
    struct outcome o[N] = {{.done = false}};
    char name[16], uid[24];
    open_site(&s);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "c%d", i);
        snprintf(uid, sizeof uid, "c%d-uid", i);
        put_claim(&s, name, uid, RESULT("one"));
        struct doc p = pod_of(&s, "p", name);
        node_claims_prepare(s.claims, &p, on_done, &o[i]);
    }
    for (int i = 0; i < N; i++) {
        place_await(&s.place, is_done, &o[i], "one of many");
        is_fine(o[i]);
    }
    struct doc p = pod_of(&s, "p", "");
    is_fine(unprepare(&s, &p)); /* one call for all of them */
    assert_non_null(strstr(s.one.log, "unprepare default/c"));
    assert_string_equal(file(&s), "");
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_driver_fails),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_wiped_pod),
        cmocka_unit_test(test_driver_gone),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_crash_while_preparing),
        cmocka_unit_test(test_crash_at_any_moment),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_server_gone),
        cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_disk_fails),
        cmocka_unit_test(test_skipped_operations),
        cmocka_unit_test(test_v1beta1),
        cmocka_unit_test(test_extended_resources),
        cmocka_unit_test(test_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
