/* SPDX-License-Identifier: Apache-2.0 */
/* What informers tell of owners and dependents, in every order, and whom it makes the
 * garbage collector look at. */
#include "control/garbage_graph.h"

#include "unit/unit.h"

struct site {
    struct garbage_graph graph;
    char log[512]; /* tasks as "c:UID ", in their order; "!UID " of one misplaced */
};

static void note(struct site *s, char what, struct str uid)
{
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof s->log - n, "%c%.*s ", what, STR_ARG(uid));
}

static void on_task(void *ctx, enum garbage_task what, const struct garbage_node *n)
{
    note(ctx,
         what == GARBAGE_CHECK     ? 'c'
         : what == GARBAGE_RELEASE ? 'r'
                                   : 'l',
         n->id.uid);
}

static void on_misplaced(void *ctx, const struct garbage_node *n,
                         const struct garbage_owner *o)
{
    (void)o;
    note(ctx, '!', n->id.uid);
}

static const struct garbage_graph_ops OPS = {on_task, on_misplaced};
static const struct object_opts META = {.view = garbage_meta_view, .drop_doc = true};

/* An object whose uid is its name: "NAMESPACE NAME OWNER... [FLAG...]". An owner is
 * "name", "name!" (which it blocks) or "name=uid" under another name; flags are -deleted,
 * -orphan and -foreground. */
static struct object *make(const char *text)
{
    char copy[128], *rest = NULL, json[1024];
    snprintf(copy, sizeof copy, "%s", text);
    char *ns = strtok_r(copy, " ", &rest), *name = strtok_r(NULL, " ", &rest), *word;
    int n = snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\"",
                     name, name);
    if (strcmp(ns, ".") != 0)
        n += snprintf(json + n, sizeof json - (size_t)n, ",\"namespace\":\"%s\"", ns);
    char owners[512] = "", finalizers[64] = "";
    while ((word = strtok_r(NULL, " ", &rest))) {
        if (strcmp(word, "-deleted") == 0) {
            n += snprintf(json + n, sizeof json - (size_t)n,
                          ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
        } else if (word[0] == '-') {
            snprintf(finalizers, sizeof finalizers, "\"%s\"",
                     strcmp(word, "-orphan") == 0 ? "orphan" : "foregroundDeletion");
        } else {
            size_t end = strlen(word);
            bool blocks = word[end - 1] == '!';
            if (blocks)
                word[end - 1] = '\0';
            char *uid = strchr(word, '=');
            if (uid)
                *uid++ = '\0';
            size_t had = strlen(owners);
            snprintf(owners + had, sizeof owners - had,
                     "%s{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"%s\","
                     "\"uid\":\"%s\",\"blockOwnerDeletion\":%s}",
                     had ? "," : "", word, uid ? uid : word, blocks ? "true" : "false");
        }
    }
    snprintf(json + n, sizeof json - (size_t)n,
             ",\"ownerReferences\":[%s],\"finalizers\":[%s]}}", owners, finalizers);
    struct object *o = object_of_json(str_from(json), &META, NULL);
    assert_non_null(o);
    return o;
}

/* "+TEXT" comes or changes, "-TEXT" goes, "?TEXT" is lost sight of, "0NAME NS" the server
 * says is not there, "*" compares the whole. */
static void tell(struct site *s, const char *step)
{
    struct object *o = step[0] == '*' ? NULL : make(step + 1);
    struct garbage_identity id = {STR("v1"), STR("K"), o ? o->namespace : STR_NONE,
                                  o ? o->name : STR_NONE, o ? o->uid : STR_NONE};
    switch (step[0]) {
    case '+':
        garbage_graph_change(&s->graph, STR("v1"), STR("K"), NULL, o);
        break;
    case '-':
        garbage_graph_change(&s->graph, STR("v1"), STR("K"), o, NULL);
        break;
    case '?':
        garbage_graph_lose(&s->graph, o);
        break;
    case '0':
        garbage_graph_absent(&s->graph, &id);
        break;
    default:
        garbage_graph_compare(&s->graph);
    }
    object_unref(o);
}

static const struct {
    const char *name, *steps[8], *want; /* of the last step */
    unsigned nodes;                     /* that are left */
} CASES[] = {
    {"an owner that is there", {"+n a", "+n b a"}, "", 2},
    {"an owner that is not known is looked for", {"+n b a"}, "ca ", 2},
    {"and is seen", {"+n b a", "+n a"}, "", 2},
    {"or is not there: its dependents are looked at", {"+n b a", "0n a"}, "cb ", 1},
    {"an owner goes", {"+n a", "+n b a", "-n a"}, "cb ", 1},
    {"a dependent goes: nobody cares", {"+n a", "+n b a", "-n b"}, "", 1},
    {"the last dependent of one that was not there", {"+n b a", "-n b"}, "", 0},
    {"foreground: both are looked at",
     {"+n a", "+n b a!", "+n a -deleted -foreground"},
     "cb ca ",
     2},
    {"foreground: a dependent goes",
     {"+n a -deleted -foreground", "+n b a!", "-n b"},
     "ca ",
     1},
    {"foreground: a dependent holds it up no longer",
     {"+n a -deleted -foreground", "+n b a!", "+n b a"},
     "ca ",
     2},
    {"foreground: a dependent comes late",
     {"+n a -deleted -foreground", "+n b a!"},
     "cb ",
     2},
    {"orphan: dependents are released",
     {"+n a", "+n b a", "+n a -deleted -orphan"},
     "rb ",
     2},
    {"orphan: without dependents", {"+n a", "+n a -deleted -orphan"}, "la ", 1},
    {"orphan: the last dependent was released",
     {"+n a -deleted -orphan", "+n b a", "+n b"},
     "la ",
     2},
    {"told twice is done once",
     {"+n a", "+n b a", "+n a -deleted -orphan", "+n a -deleted -orphan"},
     "",
     2},
    {"deleted as all others are", {"+n a", "+n b a", "+n a -deleted"}, "", 2},
    {"an owner elsewhere", {"+m a", "+n b a"}, "!b cb ", 2},
    {"an owner that turns out to be elsewhere", {"+n b a", "+m a"}, "!b cb ", 2},
    {"an owner everywhere", {"+. a", "+n b a"}, "", 2},
    {"an owner by another name", {"+n a", "+n b x=a"}, "cb ", 2},
    {"an owner that turns out to have another name", {"+n b x=a", "+n a"}, "cb ", 2},
    {"a circle", {"+n a b", "+n b a", "-n a"}, "cb ", 1},
    {"its own owner", {"+n a a", "-n a"}, "ca ", 0},
    {"the one is replaced by another",
     {"+n a", "+n c", "+n b a", "+n b c", "-n a"},
     "",
     2},
    {"an owner is lost sight of", {"+n a", "+n b a", "?n a"}, "ca ", 2},
    {"nobody's owner is lost sight of", {"+n a", "?n a"}, "", 0},
    {"the whole: all is well", {"+n a", "+n b a", "*"}, "", 2},
    {"the whole: an owner that went", {"+n a", "+n b a", "-n a", "*"}, "cb ", 1},
    {"the whole: an owner that waits",
     {"+n a -deleted -foreground", "+n b a!", "*"},
     "cb ca cb ",
     2},
    {"the whole: an owner nobody knows", {"+n b a", "*"}, "ca ", 2},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct site s = {0};
        garbage_graph_init(&s.graph, &OPS, &s);
        for (int k = 0; k < 8 && CASES[i].steps[k]; k++) {
            s.log[0] = '\0';
            tell(&s, CASES[i].steps[k]);
        }
        if (strcmp(s.log, CASES[i].want) != 0 || s.graph.nodes.live != CASES[i].nodes)
            fail_msg("%s: \"%s\", %u nodes", CASES[i].name, s.log, s.graph.nodes.live);
        garbage_graph_fini(&s.graph);
    }
}

/* Dependents disagree about an owner that nobody has seen: each of its names is asked
 * for, and who was wrong is looked at. */
static void test_disagreement(void **state)
{
    struct site s = {0};
    (void)state;
    garbage_graph_init(&s.graph, &OPS, &s);
    tell(&s, "+n b x=a");
    tell(&s, "+n c y=a");
    s.log[0] = '\0';
    struct garbage_identity id = garbage_graph_find(&s.graph, STR("a"))->id;
    assert_true(str_is(id.name, "x"));
    id = (struct garbage_identity){STR("v1"), STR("K"), STR("n"), STR("x"), STR("a")};
    garbage_graph_absent(&s.graph, &id);
    assert_string_equal(s.log, "cb ca ");
    assert_true(str_is(garbage_graph_find(&s.graph, STR("a"))->id.name, "y"));
    struct garbage_owner wrong = {STR("v1"), STR("K"), STR("x"), STR("a"), false},
                         open = {STR("v1"), STR("K"), STR("y"), STR("a"), false};
    assert_true(garbage_graph_is_absent(&s.graph, &wrong, STR("n")));
    assert_false(garbage_graph_is_absent(&s.graph, &wrong, STR("m")));
    assert_false(garbage_graph_is_absent(&s.graph, &open, STR("n")));
    garbage_graph_fini(&s.graph);
}

/* So many owners are remembered as absent, and the oldest forgotten. */
static void test_memory(void **state)
{
    struct site s = {0};
    struct garbage_owner o = {STR("v1"), STR("K"), STR("x"), STR_NONE, false};
    char uid[16];
    (void)state;
    garbage_graph_init(&s.graph, &OPS, &s);
    for (int i = 0; i <= GARBAGE_ABSENT; i++) {
        snprintf(uid, sizeof uid, "%d", i);
        o.uid = str_from(uid);
        garbage_graph_note_absent(&s.graph, &o, STR("n"));
    }
    assert_true(garbage_graph_is_absent(&s.graph, &o, STR("n")));
    o.uid = STR("0");
    assert_false(garbage_graph_is_absent(&s.graph, &o, STR("n")));
    assert_int_equal(s.graph.absent.live, GARBAGE_ABSENT);
    garbage_graph_fini(&s.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_disagreement),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
