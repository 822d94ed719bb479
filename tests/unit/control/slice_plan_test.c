/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints in slices: what is there stays, and few slices change. */
#include "control/slice_plan.h"

#include "base/vec.h"
#include "unit/unit.h"

enum { MOST = 4 };

/* Slices as texts: a letter is an endpoint; "!": of another owner, "?": other ports. */
static const struct row {
    const char *what, *wanted;
    const char *slices[4];
    uint32_t creates, updates, deletes;
} ROWS[] = {
    {"a first one", "abc", {NULL}, 1, 0, 0},
    {"as it is", "abc", {"abc"}, 0, 0, 0},
    {"more than fit", "abcdef", {NULL}, 2, 0, 0},
    {"one less", "ab", {"abc"}, 0, 1, 0},
    {"one more", "abcd", {"abc"}, 0, 1, 0},
    {"one more, beside a full one", "abcde", {"abcd"}, 1, 0, 0},
    {"into the one that it fits best", "abcdefg", {"ab", "cdef"}, 0, 1, 0},
    {"one goes and one comes", "abx", {"abc", "d"}, 0, 1, 1},
    {"a slice that is empty goes", "a", {"a", "bc"}, 0, 0, 1},
    {"none are left", "", {"abc"}, 0, 1, 0},
    {"nor were there any", "", {""}, 0, 0, 0},
    {"slices of others go", "ab", {"!ab"}, 1, 0, 1},
    {"and those with other ports are used", "ab", {"?xy"}, 0, 1, 0},
};

static struct doc make_endpoint(char c, struct arena *a)
{
    struct doc e = doc_make_map(), list = doc_make_list();
    doc_append(a, &list, doc_make_string(a, (struct str){&c, 1}));
    doc_set(a, &e, "addresses", list);
    return e;
}

static struct doc make_ports(int64_t number, struct arena *a)
{
    struct doc ports = doc_make_list(), p = doc_make_map();
    doc_set(a, &p, "port", doc_make_int(a, number));
    doc_append(a, &ports, p);
    return ports;
}

static struct doc make_labels(struct arena *a)
{
    struct doc labels = doc_make_map();
    doc_set_text(a, &labels, SLICE_SERVICE, STR("x"));
    return labels;
}

static const struct object *make_slice(const char *text, struct arena *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), refs = doc_make_list(),
               ref = doc_make_map(), list = doc_make_list();
    bool other = *text == '!', ports = *text == '?' || !*text;
    const char *at = text + (other || *text == '?');
    doc_set_text(a, &ref, "uid", other ? STR("somebody") : STR("me"));
    doc_append(a, &refs, ref);
    doc_set_text(a, &meta, "name", arena_printf(a, "s%s", text));
    doc_set(a, &meta, "labels", make_labels(a));
    doc_set(a, &meta, "ownerReferences", refs);
    for (; *at; at++)
        doc_append(a, &list, make_endpoint(*at, a));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "ports", *text ? make_ports(ports ? 9 : 1, a) : doc_make_list());
    doc_set(a, &d, "endpoints", list);
    return object_of_doc(&d, &(struct object_opts){0}, NULL);
}

static struct slice_order make_order(const char *wanted, struct arena *a)
{
    struct slice_order o = {.a = a,
                            .address_type = "IPv4",
                            .prefix = STR("x-"),
                            .labels = make_labels(a),
                            .annotations = doc_make_map(),
                            .owner = doc_make_map(),
                            .owner_uid = STR("me"),
                            .most = MOST,
                            .placeholder = true};
    struct doc ports = make_ports(1, a);
    for (; *wanted; wanted++) {
        struct doc e = make_endpoint(*wanted, a);
        slice_add(&o, slice_group(&o, &ports), &e);
    }
    return o;
}

static void check(const struct row *row)
{
    struct arena a;
    struct objects existing = {0};
    struct slice_plan p = {0};
    arena_init(&a);
    for (int i = 0; i < 4 && row->slices[i]; i++)
        vec_push_in(&a, &existing, make_slice(row->slices[i], &a));
    struct slice_order o = make_order(row->wanted, &a);
    slice_plan(&o, &existing, &p);
    if (p.create.n != row->creates || p.update.n != row->updates ||
        p.delete.n != row->deletes)
        print_error("%s: creates %u, updates %u, deletes %u\n", row->what, p.create.n,
                    p.update.n, p.delete.n);
    assert_int_equal(p.create.n, row->creates);
    assert_int_equal(p.update.n, row->updates);
    assert_int_equal(p.delete.n, row->deletes);
    for (uint32_t i = 0; i < existing.n; i++)
        object_unref((struct object *)existing.v[i]);
    arena_fini(&a);
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        check(&ROWS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
