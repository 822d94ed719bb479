/* SPDX-License-Identifier: Apache-2.0 */
/* An informer and a server that is played by the test: every way a watch can go. */
#include "client/informer.h"

#include "script.h"
#include "unit/unit.h"

struct seen {
    struct script script;
    struct informer *informer;
    char log[1024]; /* "+a1 ~a2 -a2 =" : added, changed, gone, synced */
    char troubles[256];
    unsigned free_at; /* changes; 0: never */
    unsigned changes;
    bool synced;
};

static void note(struct seen *s, char what, const struct object *o)
{
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof s->log - n, "%c%.*s%.*s ", what, STR_ARG(o->name),
             STR_ARG(o->version));
}

static void on_changed(void *ctx, const struct object *old, const struct object *now)
{
    struct seen *s = ctx;
    note(s, !old ? '+' : !now ? '-' : '~', now ? now : old);
    assert_ptr_equal(informer_get(s->informer, (now ? now : old)->key), now);
    if (++s->changes == s->free_at) {
        informer_free(s->informer);
        s->informer = NULL;
    }
}

static void on_synced(void *ctx)
{
    struct seen *s = ctx;
    assert_false(s->synced);
    s->synced = true;
    strncat(s->log, "= ", 3);
}

static void on_trouble(void *ctx, const char *what)
{
    struct seen *s = ctx;
    snprintf(s->troubles, sizeof s->troubles, "%s", what);
}

static const struct informer_ops OPS = {on_changed, on_synced, on_trouble};

static void begin(struct seen *s, const char *fields)
{
    struct informer_opts opts = {.kind = {"", "v1", "pods", true}, .fields = fields};
    *s = (struct seen){0};
    script_open(&s->script);
    s->informer = informer_new(s->script.client, &opts, &OPS, s);
}

static void end(struct seen *s)
{
    informer_free(s->informer);
    script_settle(&s->script);
    script_close(&s->script);
}

static void expect(struct seen *s, const char *want)
{
    script_settle(&s->script);
    assert_string_equal(s->log, want);
    s->log[0] = 0;
}

#define OBJECT(name, version)                                                            \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"resourceVersion\":"      \
    "\"" version "\"}}"
#define EVENT(type, name, version)                                                       \
    "{\"type\":\"" type "\",\"object\":" OBJECT(name, version) "}\n"
#define BOOKMARK(version, end)                                                           \
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version    \
    "\",\"annotations\":{\"k8s.io/initial-events-end\":\"" end "\"}}}}\n"
#define WATCH "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds="
#define GONE                                                                             \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,"                  \
    "\"reason\":\"Expired\",\"message\":\"too old\"}}\n"

static struct net_exchange *take_watch(struct seen *s, const char *rest)
{
    struct net_exchange *x = script_take(&s->script, WATCH);
    if (str_find(x->query, str_from(rest)) == SIZE_MAX)
        fail_msg("%.*s has no %s", STR_ARG(x->query), rest);
    return x;
}

static struct net_exchange *take_initial(struct seen *s)
{
    return take_watch(s, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

static void test_stream(void **state)
{
    struct seen s;
    begin(&s, NULL);
    struct net_exchange *x = take_initial(&s);
    script_say(x, EVENT("ADDED", "a", "1") EVENT("ADDED", "b", "2"));
    expect(&s, "+a1 +b2 ");
    script_say(x, BOOKMARK("3", "true"));
    expect(&s, "= ");
    assert_true(informer_synced(s.informer));
    script_say(x, EVENT("MODIFIED", "a", "4") EVENT("DELETED", "b", "5")
                      EVENT("ADDED", "c", "6"));
    expect(&s, "~a4 -b2 +c6 ");
    assert_int_equal(informer_count(s.informer), 2);
    assert_null(informer_get(s.informer, STR("n/b")));

    net_done(x); /* its time was over: the next one goes on from there, at once */
    x = take_watch(&s, "&resourceVersion=6");
    script_say(x, EVENT("MODIFIED", "c", "7") BOOKMARK("9", "false"));
    expect(&s, "~c7 ");
    net_done(x);
    net_done(take_watch(&s, "&resourceVersion=9"));
    end(&s);
}

/* What happened meanwhile is told as one change each. */
static void test_expired(void **state)
{
    struct seen s;
    begin(&s, NULL);
    struct net_exchange *x = take_initial(&s);
    script_say(x, EVENT("ADDED", "a", "1") EVENT("ADDED", "b", "2")
                      EVENT("ADDED", "c", "3") BOOKMARK("3", "true"));
    expect(&s, "+a1 +b2 +c3 = ");
    script_say(x, GONE);
    net_done(x);
    x = take_initial(&s);
    script_say(x, EVENT("ADDED", "b", "2") EVENT("ADDED", "c", "8")
                      EVENT("ADDED", "d", "9"));
    expect(&s, "~c8 +d9 ");
    assert_true(informer_synced(s.informer));
    assert_non_null(informer_get(s.informer, STR("n/a"))); /* until all is told */
    script_say(x, BOOKMARK("9", "true"));
    expect(&s, "-a1 ");
    net_done(x);
    net_done(take_watch(&s, "&resourceVersion=9"));
    end(&s);
}

/* A state that broke off half way is asked for anew, and what it had counts. */
static void test_broken_initial(void **state)
{
    struct seen s;
    begin(&s, NULL);
    struct net_exchange *x = take_initial(&s);
    script_say(x, EVENT("ADDED", "a", "1"));
    script_settle(&s.script);
    net_abort(x);
    x = take_initial(&s);
    script_say(x, EVENT("ADDED", "b", "2") BOOKMARK("2", "true"));
    expect(&s, "+a1 +b2 -a1 = ");
    net_done(x);
    net_done(take_watch(&s, "&resourceVersion=2"));
    end(&s);
}

static void test_lists(void **state)
{
    struct seen s;
    begin(&s, "spec.nodeName=w 1");
    struct net_exchange *x = take_initial(&s);
    net_respond(x, 422, NULL, 0, STR("{\"message\":\"sendInitialEvents is forbidden\"}"));
    script_answer(&s.script, "GET /api/v1/pods?&fieldSelector=spec.nodeName%3Dw+1", 200,
                  "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" OBJECT(
                      "a", "1") "," OBJECT("b", "2") "]}");
    expect(&s, "+a1 +b2 = ");
    x = take_watch(&s, "&resourceVersion=5&fieldSelector=spec.nodeName%3Dw+1");
    script_say(x, GONE);
    net_done(x);
    script_answer(
        &s.script, "GET /api/v1/pods?&fieldSelector", 200,
        "{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" OBJECT("b", "7") "]}");
    expect(&s, "~b7 -a1 ");
    net_done(take_watch(&s, "&resourceVersion=9"));
    end(&s);
}

static void test_troubles(void **state)
{
    struct seen s;
    begin(&s, NULL);
    net_respond(take_initial(&s), 403, NULL, 0, STR("{\"message\":\"you may not\"}"));
    struct net_exchange *x = take_initial(&s); /* after a while */
    script_say(x, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n");
    script_settle(&s.script);
    assert_string_equal(s.troubles, "an object without metadata.name");
    script_say(x, "rubbish\n" EVENT("ADDED", "a", "1") BOOKMARK("1", "true"));
    expect(&s, "+a1 = ");
    net_done(x);
    net_done(take_watch(&s, "&resourceVersion=1"));
    end(&s);
}

static void test_free_inside(void **state)
{
    struct seen s;
    begin(&s, NULL);
    s.free_at = 2;
    struct net_exchange *x = take_initial(&s);
    script_say(x, EVENT("ADDED", "a", "1") EVENT("MODIFIED", "a", "2")
                      EVENT("ADDED", "c", "3"));
    expect(&s, "+a1 ~a2 ");
    assert_null(s.informer);
    net_done(x);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),         cmocka_unit_test(test_expired),
        cmocka_unit_test(test_broken_initial), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_troubles),       cmocka_unit_test(test_free_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
