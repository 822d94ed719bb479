/* SPDX-License-Identifier: Apache-2.0 */
/* Versions: texts read back, the order is total, normal forms stay as they are. */
#include "unit/unit.h"

#include "base/rng.h"
#include "num/semver.h"

enum { ROUNDS = 20000 };

static struct rng rng;
static struct arena arena;

static void add_identifiers(struct strbuf *b, char lead, bool zeros)
{
    static const char alphabet[] = "09az-AZ5b";
    for (int64_t n = rng_range(&rng, 1, 3); n > 0; n--, lead = '.') {
        strbuf_addc(b, lead);
        if (rng_range(&rng, 0, 1) == 0) {
            strbuf_addf(b, "%d", (int)rng_range(&rng, 0, 11));
            continue;
        }
        strbuf_addc(b, zeros && rng_range(&rng, 0, 3) == 0 ? '0' : 'a');
        for (int64_t k = rng_range(&rng, 0, 2); k > 0; k--)
            strbuf_addc(b, alphabet[rng_range(&rng, 0, sizeof alphabet - 2)]);
    }
}

/* Small numbers, so that equal ones meet. */
static struct semver random_version(struct str *text)
{
    struct strbuf b = STRBUF_INIT;
    struct semver v;
    struct err e = ERR_INIT;
    strbuf_addf(&b, "%d.%d.%d", (int)rng_range(&rng, 0, 2), (int)rng_range(&rng, 0, 1),
                (int)rng_range(&rng, 0, 1));
    if (rng_range(&rng, 0, 3))
        add_identifiers(&b, '-', false);
    if (rng_range(&rng, 0, 3) == 0)
        add_identifiers(&b, '+', true);
    *text = arena_str(&arena, strbuf_str(&b));
    strbuf_release(&b);
    if (!semver_parse(*text, false, &arena, &v, &e))
        fail_msg("%s: %s", text->p, err_text(&e));
    return v;
}

static void test_reads_back(void **state)
{
    rng_init(&rng, 1);
    for (int i = 0; i < ROUNDS; i++) {
        struct str text;
        struct semver v = random_version(&text), normal;
        assert_str(semver_print(&v, &arena), text.p);
        struct str tagged = arena_printf(&arena, "v%s", text.p);
        assert_true(semver_parse(tagged, true, &arena, &normal, NULL));
        assert_str(semver_print(&normal, &arena), text.p);
        arena_reset(&arena);
    }
}

static void test_order(void **state)
{
    rng_init(&rng, 2);
    for (int i = 0; i < ROUNDS; i++) {
        struct str text[3];
        struct semver a = random_version(&text[0]), b = random_version(&text[1]),
                      c = random_version(&text[2]);
        int ab = semver_cmp(&a, &b), bc = semver_cmp(&b, &c), ac = semver_cmp(&a, &c);
        ROW(text[0].p, semver_cmp(&b, &a) == -ab);
        ROW(text[0].p, ab != bc || ac == ab);
        ROW(text[0].p, ab != 0 || ac == bc);
        ROW(text[0].p, (ab == 0) == (a.major == b.major && a.minor == b.minor &&
                                     a.patch == b.patch && str_eq(a.pre, b.pre)));
        arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_back),
        cmocka_unit_test(test_order),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
