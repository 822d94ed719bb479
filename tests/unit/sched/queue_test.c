/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pods are in the queue, by scripts: one line a case. A step is a letter and what
 * it is done to; times are milliseconds.
 *
 *     +NAME[:PRIORITY]  a pod, new or changed      -NAME  it is gone
 *     !  the next one is tried: its name, or "-"   @MS    the time
 *     rNAME  it is refused    eNAME  an error      dNAME  it has its node
 *     g  from now on pods are gated    G  not anymore
 *     h  events help           H  they do not      *  one happens    ~  flush
 *     %  one happens that this plugin never asks for
 *     aNAME  activate
 *     ?NAME  where it is: a active, b back-off, x back-off of errors, p parked, g gated,
 *            f in flight, - nowhere
 */
#include "sched/queue.h"

#include <stdlib.h>

#include "unit/unit.h"

struct run {
    struct queue queue;
    uint64_t now;
    bool gates, helps;
    char told[128]; /* what ! and ? said */
    const char *at; /* of the script */
};

static plugin_set on_gate(void *ctx, const struct object *pod)
{
    (void)pod;
    return ((struct run *)ctx)->gates ? PLUGIN_BIT(PLUGIN_DEVICES) : 0;
}

static bool on_hint(void *ctx, enum plugin_id plugin, const struct object *pod,
                    const struct sched_event *e)
{
    (void)pod, (void)e;
    assert_int_equal(plugin, PLUGIN_DEVICES);
    return ((struct run *)ctx)->helps;
}

static const struct queue_ops OPS = {on_gate, on_hint, NULL};

static struct object *make_pod(char name, long priority)
{
    static const struct object_opts POD = {.view = pod_info_new};
    char json[256];
    snprintf(json, sizeof json,
             "{\"metadata\":{\"name\":\"%c\",\"namespace\":\"n\",\"uid\":\"%c\"},"
             "\"spec\":{\"priority\":%ld,\"containers\":[{\"name\":\"c\"}]}}",
             name, name, priority);
    struct err e = ERR_INIT;
    struct object *o = object_of_json(str_from(json), &POD, &e);
    if (!o)
        fail_msg("%s", err_text(&e));
    return o;
}

static struct queued *pod_at(struct run *r)
{
    return queue_find(&r->queue, (struct str){r->at++, 1});
}

static long number(struct run *r)
{
    char *end;
    long n = strtol(r->at, &end, 10);
    r->at = end;
    return n;
}

static void tell(struct run *r, char c)
{
    size_t n = strlen(r->told);
    assert_true(n + 1 < sizeof r->told);
    r->told[n] = c;
}

static void set_pod(struct run *r)
{
    char name = *r->at++;
    long priority = *r->at == ':' ? (r->at++, number(r)) : 0;
    struct object *pod = make_pod(name, priority);
    queue_set(&r->queue, pod, r->now);
    object_unref(pod);
}

static void try_next(struct run *r)
{
    struct queued *p = queue_pop(&r->queue, r->now);
    tell(r, p ? p->object->name.p[0] : '-');
}

static void tell_place(struct run *r)
{
    static const char PLACES[QUEUE_PLACES] = {
        [QUEUE_IN_FLIGHT] = 'f',     [QUEUE_ACTIVE] = 'a', [QUEUE_BACKOFF] = 'b',
        [QUEUE_ERROR_BACKOFF] = 'x', [QUEUE_PARKED] = 'p', [QUEUE_GATED] = 'g'};
    const struct queued *p = pod_at(r);
    tell(r, p ? PLACES[p->place] : '-');
}

static void refuse(struct run *r)
{
    struct queued *p = pod_at(r);
    p->rejected_by = PLUGIN_BIT(PLUGIN_DEVICES);
    queue_reject(&r->queue, p, r->now);
}

static void step(struct run *r)
{
    static const struct sched_event SLICE = {.kind = EVENT_SLICE},
                                    NAMESPACE = {.kind = EVENT_NAMESPACE_LABELS};
    switch (*r->at++) {
    case '+':
        set_pod(r);
        break;
    case '-':
        queue_remove(&r->queue, (struct str){r->at++, 1});
        break;
    case '!':
        try_next(r);
        break;
    case '@':
        r->now = (uint64_t)number(r);
        break;
    case 'r':
        refuse(r);
        break;
    case 'e':
        queue_fail(&r->queue, pod_at(r), r->now);
        break;
    case 'd':
        queue_done(&r->queue, pod_at(r));
        break;
    case 'a':
        queue_activate(&r->queue, pod_at(r), r->now);
        break;
    case 'g':
        r->gates = true;
        break;
    case 'G':
        r->gates = false;
        break;
    case 'h':
        r->helps = true;
        break;
    case 'H':
        r->helps = false;
        break;
    case '*':
        queue_event(&r->queue, &SLICE, r->now);
        break;
    case '%':
        queue_event(&r->queue, &NAMESPACE, r->now);
        break;
    case '~':
        queue_flush(&r->queue, r->now);
        break;
    case '?':
        tell_place(r);
        break;
    case ' ':
        break;
    default:
        fail_msg("no such step: %s", r->at - 1);
    }
}

static const struct {
    const char *name, *script, *told;
} ROWS[] = {
    {"who came first is tried first", "+a +b +c !!! !", "abc-"},
    {"a higher priority goes before", "+a:1 +b:9 +c:5 !!!", "bca"},
    {"a pod is in the queue once", "+a +a ! !", "a-"},
    {"a changed priority changes the order", "+a +b +b:2 !!", "ba"},
    {"gone before it is tried", "+a -a ! ?a", "--"},
    {"gone while it is tried", "+a ! -a ?a ra ?a !", "af--"},
    {"gone while it is tried, which fails", "+a ! -a ea ?a", "a-"},
    {"it has its node", "+a ! da ?a", "a-"},

    /* refused */
    {"who is refused is parked", "+a ! ra ?a !", "ap-"},
    {"an event that does not help", "+a ! ra * ?a", "ap"},
    {"an event helps after the back-off", "h @5000 +a ! ra * ?a", "ab"},
    {"nobody else is there: tried before its time", "h @5000 +a ! ra * !", "aa"},
    {"another one is there", "h @5000 +a ! ra * +b !!", "aba"},
    {"the back-off is over", "h @5000 +a ! ra * @7000 ~ ?a", "aa"},
    {"it ends on whole seconds", "h @5900 +a ! ra * @6900 ~ ?a", "ab"},
    {"and a second later", "h @5900 +a ! ra * @7000 ~ ?a", "aa"},
    {"an event after the back-off makes it active", "h @5000 +a ! ra @8000 * ?a", "aa"},
    {"the second back-off is twice as long",
     "h @5000 +a ! ra * @7000 ~ ! ra * @8900 ~ ?a @10000 ~ ?a", "aaba"},
    {"an event while it is tried", "h +a ! * ra ?a", "ab"},
    {"one of a kind that never helps", "h +a ! % ra ?a", "ap"},
    {"one before it is tried", "h +a * ! ra ?a", "ap"},
    {"forgotten for five minutes", "+a ! ra @300000 ~ ?a @300001 ~ ?a", "apa"},

    /* errors */
    {"an error waits by itself", "@5000 +a ! ea ?a !", "ax-"},
    {"its back-off is over", "@5000 +a ! ea @7000 ~ ?a", "aa"},

    /* gates */
    {"a gated pod is not tried", "g +a ?a !", "g-"},
    {"an event does not open the gate", "g +a h * ?a", "g"},
    {"an event, and the gate is open", "g +a G h * ?a !", "aa"},
    {"the gate is open, without an event", "g +a G ?a", "g"},
    {"gated on the way out of the parking", "h +a ! ra g * ?a", "ag"},
    {"the gate is not asked in the active heap", "+a g +a ?a !", "aa"},
    {"nor in the back-off", "h @5000 +a ! ra * g +a ?a", "ab"},
    {"nor on the way out of it", "h @5000 +a ! ra * g @7000 ~ ?a", "aa"},
    {"nor of that of errors", "@5000 +a ! ea g @7000 ~ ?a", "aa"},
    {"it is on the way into that of errors", "+a ! g ea ?a", "ag"},

    /* activation */
    {"parked, and activated", "+a ! ra aa ?a", "aa"},
    {"backing off, and activated", "h @5000 +a ! ra * aa ?a", "aa"},
    {"gated, and activated", "g +a aa ?a G aa ?a", "ga"},
    {"in flight, and activated: tried again", "@5000 +a ! aa ra ?a", "ab"},
};

static void test_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct run r = {.at = ROWS[i].script};
        queue_init(&r.queue, &OPS, &r, 0, 0);
        while (*r.at)
            step(&r);
        if (strcmp(r.told, ROWS[i].told) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", ROWS[i].name, r.told, ROWS[i].told);
        queue_fini(&r.queue);
    }
}

/* 1, 2, 4, 8 and then 10 seconds, however often. */
static void test_back_off_grows(void **state)
{
    static const uint64_t PAUSES[] = {1000, 2000, 4000, 8000, 10000, 10000};
    struct run r = {.helps = true, .now = 10000, .at = "+a"};
    (void)state;
    queue_init(&r.queue, &OPS, &r, 0, 0);
    step(&r);
    for (size_t i = 0; i < UNIT_COUNT(PAUSES); i++) {
        struct queued *p = queue_pop(&r.queue, r.now);
        assert_non_null(p);
        p->rejected_by = PLUGIN_BIT(PLUGIN_DEVICES);
        queue_reject(&r.queue, p, r.now);
        assert_int_equal(p->expires_ms, r.now + PAUSES[i]);
        r.at = "*~?a";
        r.now += PAUSES[i] + 1000;
        while (*r.at)
            step(&r);
    }
    assert_string_equal(r.told, "aaaaaa");
    queue_fini(&r.queue);
}

/* Many pods come out in their order, whatever was taken out of the middle. */
static void test_the_heap_keeps_its_order(void **state)
{
    static const long PRIORITIES[] = {5, 1, 9, 3, 7, 2, 8, 6, 4, 0};
    struct run r = {0};
    struct queued *p;
    (void)state;
    queue_init(&r.queue, &OPS, &r, 0, 0);
    for (size_t i = 0; i < UNIT_COUNT(PRIORITIES); i++) {
        struct object *pod = make_pod((char)('a' + i), PRIORITIES[i]);
        queue_set(&r.queue, pod, i);
        object_unref(pod);
    }
    queue_remove(&r.queue, STR("c")); /* 9 */
    queue_remove(&r.queue, STR("h")); /* 6 */
    while ((p = queue_pop(&r.queue, 0)))
        tell(&r, (char)('0' + p->info->priority));
    assert_string_equal(r.told, "87543210");
    queue_fini(&r.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_back_off_grows),
        cmocka_unit_test(test_the_heap_keeps_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
