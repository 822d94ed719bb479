/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests for certificates are old. */
#include "control/csr.h"

#include <time.h>

#include "api/timestamp.h"
#include "fake_api.h"
#include "unit/unit.h"

struct site {
    struct arena a;
    struct fake_api api;
};

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

static struct str ago(struct site *s, int64_t seconds)
{
    return timestamp_print(time(NULL) - seconds, 0, false, &s->a);
}

/* One that was made, and decided on, so many seconds ago; type NULL: not decided. */
static void put(struct site *s, const char *name, int64_t made, const char *type,
                int64_t decided, bool issued)
{
    struct doc d, *p = &d;
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"1\","
                "\"creationTimestamp\":\"%.*s\"},\"status\":{",
                name, STR_ARG(ago(s, made)));
    if (type)
        strbuf_addf(&b,
                    "\"conditions\":[{\"type\":\"%s\",\"lastUpdateTime\":\"%.*s\"}]%s",
                    type, STR_ARG(ago(s, decided)), issued ? "," : "");
    if (issued)
        strbuf_adds(&b, "\"certificate\":\"eA==\"");
    strbuf_adds(&b, "}}");
    struct doc_source src = {.name = name, .text = arena_str(&s->a, strbuf_str(&b))};
    assert_true(doc_read_json(&src, &s->a, p, NULL));
    fake_api_put(&s->api, "certificatesigningrequests", p, true);
    strbuf_release(&b);
}

static const struct {
    const char *name;
    int64_t made;
    const char *type;
    int64_t decided;
    bool issued, goes;
} CASES[] = {
    {"pending", 23 * HOUR, NULL, 0, false, false},
    {"pending-long", 25 * HOUR, NULL, 0, false, true},
    {"denied", 2 * DAY, "Denied", 59 * MINUTE, false, false},
    {"denied-long", 2 * DAY, "Denied", 61 * MINUTE, false, true},
    {"failed", 2 * DAY, "Failed", 59 * MINUTE, false, false},
    {"failed-long", 2 * DAY, "Failed", 61 * MINUTE, false, true},
    {"issued", 2 * DAY, "Approved", 59 * MINUTE, true, false},
    {"issued-long", 2 * DAY, "Approved", 61 * MINUTE, true, true},
    {"approved", 2 * DAY, "Approved", 23 * HOUR, false, false},
    {"approved-long", 2 * DAY, "Approved", 25 * HOUR, false, true},
};
enum { NCASES = sizeof CASES / sizeof *CASES };

static bool is_there(struct site *s, const char *name)
{
    const struct doc *list = fake_api_list(&s->api, "certificatesigningrequests");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_path(&list->items[i], "metadata.name"), name))
            return true;
    return false;
}

static void test_cleaning(void **state)
{
    struct site s = {0};
    struct reconciler_opts opts = {0};
    (void)state;
    fake_api_open(&s.api, &s.a);
    for (int i = 0; i < NCASES; i++)
        put(&s, CASES[i].name, CASES[i].made, CASES[i].type, CASES[i].decided,
            CASES[i].issued);
    struct reconciler *r = reconciler_new(s.api.client, &csr_cleaning, &opts);
    for (int i = 0; i < 40; i++)
        fake_api_settle(&s.api);
    for (int i = 0; i < NCASES; i++)
        if (is_there(&s, CASES[i].name) == CASES[i].goes)
            fail_msg("%s", CASES[i].name);
    reconciler_free(r);
    fake_api_close(&s.api);
    arena_fini(&s.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cleaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
