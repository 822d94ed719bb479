/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing and unpreparing, one rule a test; and every step of it at which the process
 * can die or the disk can fail. */
#include "unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "driver/prepare_inner.h"
#include "node/disk.h"
#include "unit/driver/faults.h"
#include "unit/driver/scripted.h"

static struct world w;

static int setup(void **state)
{
    (void)state;
    world_make(&w);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_end(&w);
    return 0;
}

static struct driver_prepared prepared(const struct doc *claim)
{
    struct driver_prepared out = {0};
    struct err e = ERR_INIT;
    if (!driver_prepare_claim(w.p, claim, &w.a, &out, &e))
        fail_msg("%s", err_text(&e));
    return out;
}

static void refused(const struct doc *claim, const char *why)
{
    struct driver_prepared out = {0};
    struct err e = ERR_INIT;
    assert_false(driver_prepare_claim(w.p, claim, &w.a, &out, &e));
    assert_string_equal(err_text(&e), why);
    err_release(&e);
}

static void unprepared(uint32_t c)
{
    struct err e = ERR_INIT;
    if (!driver_unprepare_claim(w.p, world_uid(&w, c), &e))
        fail_msg("%s", err_text(&e));
}

static bool holds(struct str text, const char *part)
{
    return str_find(text, str_from(part)) != SIZE_MAX;
}

static const char *first_complaint(void)
{
    const char *const *lines;
    return driver_prepare_complaints(w.p, &lines) > 0 ? lines[0] : "";
}

/* ---- one claim ---- */

static void test_answer_and_file(void **state)
{
    (void)state;
    world_start(&w);
    struct driver_prepared out = prepared(world_claim(&w, 1, "03", ""));
    assert_int_equal(out.n, 2);
    assert_str(out.devices[1].pool, "node-1");
    assert_str(out.devices[1].device, "dev-3");
    assert_int_equal(out.devices[1].nrequests, 1);
    assert_str(out.devices[1].requests[0], "r1");
    assert_int_equal(out.devices[1].ncdi_ids, 1);
    assert_str(out.devices[1].cdi_ids[0],
               "k8s.dev.example.com/claim=11111111-0000-4000-8000-000000000000_dev-3");
    struct cdi_spec spec;
    assert_true(cdi_spec_read(world_cdi(&w, 1), &w.a, &spec, NULL));
    assert_str(spec.version, "0.5.0");
    assert_int_equal(spec.ndevices, 2);
    assert_str(spec.devices[1].edits.env[0], "DEVICE=id-3");
    assert_str(spec.devices[1].edits.nodes[0].path, "/dev/x3");
    assert_true(world_has(&w, 0, 1) && world_has(&w, 3, 1));
    unprepared(1);
    assert_int_equal(world_busy(&w), 0);
    assert_int_equal(world_files(&w), 0);
}

static void test_again_is_the_same(void **state)
{
    (void)state;
    world_start(&w);
    const struct doc *claim = world_claim(&w, 1, "0", "");
    prepared(claim);
    struct str text = world_cdi(&w, 1);
    unlink(arena_printf(&w.a, "%s/k8s.dev.example.com-claim_%.*s.json", w.opts.cdi_dir.p,
                        STR_ARG(world_uid(&w, 1)))
               .p);
    w.hardware[0][1] = false; /* somebody has reset it */
    prepared(claim);
    assert_true(str_eq(world_cdi(&w, 1), text));
    assert_true(world_has(&w, 0, 1));
    /* Other devices than before: those of before are given back. */
    prepared(world_claim(&w, 1, "2", ""));
    assert_true(!world_has(&w, 0, 1) && world_has(&w, 2, 1));
    assert_true(holds(world_cdi(&w, 1), "id-2"));
    assert_false(holds(world_cdi(&w, 1), "id-0"));
}

static void test_holders(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "0", ""));
    refused(world_claim(&w, 2, "10", ""), "device dev-0 is held by claim ns/claim-1 (UID "
                                          "11111111-0000-4000-8000-000000000000)");
    assert_false(world_has(&w, 1, 2));
    prepared(world_claim(&w, 3, "0", "a"));
    prepared(world_claim(&w, 4, "5", "s"));
    prepared(world_claim(&w, 5, "55", "s"));
    struct driver_prepared out = prepared(world_claim(&w, 5, "55", "s"));
    assert_str(out.devices[1].share_id, "s51");
    assert_false(str_eq(out.devices[0].cdi_ids[0], out.devices[1].cdi_ids[0]));
    refused(world_claim(&w, 6, "22", ""), "device dev-2 is allocated to it twice");
    struct driver_holder *v;
    assert_int_equal(driver_prepare_holders(w.p, &w.a, &v), 5);
    assert_str(v[0].device, "dev-0");
    assert_str(v[0].claim_name, "claim-1");
    unprepared(1);
    prepared(world_claim(&w, 2, "10", ""));
}

/* dev-0 is the whole, dev-1 and dev-2 are its halves. */
static void test_parts_of_one_device(void **state)
{
    (void)state;
    static const struct driver_counter whole = {STR_INIT("mem"), STR_INIT("40Gi")},
                                       half = {STR_INIT("mem"), STR_INIT("20Gi")};
    static const struct driver_counter_set all = {STR_INIT("g0"), &whole, 1},
                                           part = {STR_INIT("g0"), &half, 1};
    world_start(&w);
    struct driver_device *v = (struct driver_device *)w.inventory.devices;
    for (int i = 0; i < 3; i++) {
        v[i].consumes = i == 0 ? &all : &part;
        v[i].nconsumes = 1;
    }
    w.inventory.counters = &all;
    w.inventory.ncounters = 1;
    prepared(world_claim(&w, 1, "1", ""));
    refused(world_claim(&w, 2, "0", ""),
            "device dev-0 needs more of g0/mem than is left by claim ns/claim-1 (UID "
            "11111111-0000-4000-8000-000000000000)");
    prepared(world_claim(&w, 3, "0", "a"));
    prepared(world_claim(&w, 2, "2", ""));
    unprepared(1);
    unprepared(2);
    prepared(world_claim(&w, 2, "0", ""));
    refused(world_claim(&w, 1, "1", ""),
            "device dev-1 needs more of g0/mem than is left by claim ns/claim-2 (UID "
            "21111111-0000-4000-8000-000000000000)");
    unprepared(2);
    refused(world_claim(&w, 1, "01", ""),
            "device dev-0 needs more of g0/mem than the claim's other devices leave");
}

static void test_configs(void **state)
{
    (void)state;
#define CONFIG(source, requests, driver, v)                                              \
    "{\"source\":\"" source "\",\"requests\":[" requests                                 \
    "],\"opaque\":{\"driver\":\"" driver "\",\"parameters\":{\"v\":\"" v "\"}}}"
    static const char config[] =
        CONFIG("FromClaim", "", "dev.example.com", "claim") "," CONFIG(
            "FromClaim", "\"r0\"", "dev.example.com",
            "own") "," CONFIG("FromClaim", "\"r1\"", "dev.example.com",
                              "others") "," CONFIG("FromClass", "\"r0\"",
                                                   "dev.example.com",
                                                   "class") "," CONFIG("FromClaim", "",
                                                                       "else.example.com",
                                                                       "foreign");
    world_start(&w);
    const struct doc *claim = world_claim_with(&w, 1, "0", "", config);
    prepared(claim);
    assert_string_equal(w.seen, "class,claim,own,");
    world_stop(&w); /* ... and after a start */
    w.seen[0] = '\0';
    world_start(&w);
    assert_string_equal(w.seen, "class,claim,own,");
    w.refuse_configs = true;
    refused(world_claim_with(&w, 2, "1", "", config),
            "request r0, device dev-1: spec.v: no");
    assert_int_equal(world_busy(&w), 1);
}

static void test_refusals(void **state)
{
    (void)state;
    world_start(&w);
    struct doc claim = doc_make_map();
    struct doc *meta = doc_set(&w.a, &claim, "metadata", doc_make_map());
    refused(&claim, "claim / has no UID that can name a file");
    doc_set_text(&w.a, meta, "uid", STR("../x"));
    refused(&claim, "claim / has no UID that can name a file");
    doc_set_text(&w.a, meta, "uid", STR("u"));
    refused(&claim, "claim / not allocated");
    refused(world_claim(&w, 1, "9", ""), "there is no device dev-9 (any more)");
    assert_true(driver_unprepare_claim(w.p, STR("../../x"), NULL));
    assert_true(driver_unprepare_claim(w.p, STR("unknown"), NULL));
}

static void test_nodes_are_looked_at(void **state)
{
    (void)state;
    world_discover(&w, WORLD_DEVICES, "/dev/no such device");
    world_start(&w);
    refused(world_claim(&w, 1, "0", ""),
            "request r0, device dev-0: /dev/no such device: No such file or directory");
    world_discover(&w, WORLD_DEVICES, "/etc/passwd");
    refused(world_claim(&w, 1, "0", ""),
            "request r0, device dev-0: /etc/passwd is no device");
    assert_int_equal(world_busy(&w), 0);
    assert_int_equal(world_files(&w), 0);
}

static void test_half_done_is_taken_back(void **state)
{
    (void)state;
    world_start(&w);
    w.fail_prepare = 3;
    refused(world_claim(&w, 1, "03", ""),
            "request r1, device dev-3: the device does not answer");
    assert_int_equal(world_busy(&w), 0);
    assert_int_equal(world_files(&w), 0);
    /* It cannot be taken back now: it is known, and holds its devices. */
    w.fail_unprepare = 0;
    refused(world_claim(&w, 1, "03", ""),
            "request r1, device dev-3: the device does not answer");
    refused(world_claim(&w, 2, "0", ""),
            "device dev-0 is held by claim ns/claim-1 (UID "
            "11111111-0000-4000-8000-000000000000), whose preparation did not end");
    struct err e = ERR_INIT;
    assert_false(driver_unprepare_claim(w.p, world_uid(&w, 1), &e));
    assert_string_equal(err_text(&e), "request r0, device dev-0: the device is busy");
    err_release(&e);
    struct driver_holder *v;
    assert_int_equal(driver_prepare_holders(w.p, &w.a, &v), 2);
    assert_true(v[0].trouble.n > 0 && v[0].undo_since_s >= v[0].since_s);
    w.fail_unprepare = w.fail_prepare = -1;
    world_stop(&w);
    world_start(&w); /* takes it back */
    assert_int_equal(world_busy(&w), 0);
    prepared(world_claim(&w, 2, "0", ""));
}

/* What blocks an unprepare is told to whoever looks at the journal, which stays as it is
 * even where a line of it is only half written. */
static void test_trouble_is_told(void **state)
{
    (void)state;
    struct driver_holder *v;
    uint32_t n = 7;
    struct err e = ERR_INIT;
    assert_true(driver_prepare_peek(w.opts.data_dir, &w.a, &v, &n, NULL));
    assert_int_equal(n, 0);
    world_start(&w);
    prepared(world_claim(&w, 1, "0", ""));
    w.fail_unprepare = 0;
    assert_false(driver_unprepare_claim(w.p, world_uid(&w, 1), NULL));
    const char *path = arena_printf(&w.a, "%s/claims.journal", w.opts.data_dir.p).p;
    struct str text, after;
    assert_true(disk_read(path, 1 << 24, &w.a, &text, NULL));
    text = str_sub(text, 0, str_rfind_byte(text, '\n') + 1);
    text = arena_printf(&w.a, "%.*s12345678 put half", STR_ARG(text));
    assert_true(disk_write(path, text, 0600, NULL));
    if (!driver_prepare_peek(w.opts.data_dir, &w.a, &v, &n, &e))
        fail_msg("%s", err_text(&e));
    assert_int_equal(n, 1);
    assert_str(v[0].device, "dev-0");
    assert_int_equal(v[0].hold, DRIVER_UNPREPARING);
    assert_str(v[0].trouble, "request r0, device dev-0: the device is busy");
    assert_true(v[0].since_s > 0 && v[0].undo_since_s >= v[0].since_s);
    assert_true(disk_read(path, 1 << 24, &w.a, &after, NULL));
    assert_true(str_eq(text, after));
    w.fail_unprepare = -1;
    unprepared(1);
    assert_int_equal(world_busy(&w), 0);
}

static void test_metadata(void **state)
{
    (void)state;
    const struct str versions[] = {STR("metadata.resource.k8s.io/v1beta1")};
    w.opts.metadata_versions = versions;
    w.opts.nmetadata_versions = 1;
    world_start(&w);
    struct driver_prepared out = prepared(world_claim(&w, 1, "03", ""));
    assert_int_equal(out.devices[0].ncdi_ids, 2);
    assert_str(out.devices[0].cdi_ids[1],
               "dev.example.com/metadata=11111111-0000-4000-8000-000000000000_r0");
    assert_int_equal(world_files(&w), 4);
    struct str text;
    assert_true(
        disk_read(arena_printf(&w.a, "%s/dra-device-metadata/ns_claim-1/r1/metadata.json",
                               w.opts.data_dir.p)
                      .p,
                  1 << 20, &w.a, &text, NULL));
    assert_true(holds(text, "\"string\": \"x\""));
    prepared(world_claim(&w, 2, "1", ""));
    unprepared(1);
    assert_int_equal(world_files(&w), 3);
    unprepared(2);
    assert_int_equal(world_files(&w), 0);
}

/* What is not a name came from nobody's API server, and names no file. */
static void test_metadata_of_odd_names(void **state)
{
    (void)state;
    const struct str versions[] = {STR("metadata.resource.k8s.io/v1beta1")};
    w.opts.metadata_versions = versions;
    w.opts.nmetadata_versions = 1;
    world_start(&w);
    struct doc *claim = (struct doc *)world_claim(&w, 1, "0", "");
    struct doc *meta = (struct doc *)doc_get(claim, "metadata");
    doc_set_text(&w.a, meta, "namespace", STR("../../kept/x"));
    doc_set_text(&w.a, meta, "name", STR("y"));
    const char *kept = arena_printf(&w.a, "%s/kept/x_y", w.dir).p;
    assert_true(disk_make_dirs(kept, NULL));
    assert_true(disk_make_dirs(
        arena_printf(&w.a, "%s/dra-device-metadata", w.opts.data_dir.p).p, NULL));
    assert_int_equal(prepared(claim).devices[0].ncdi_ids, 1);
    unprepared(1);
    assert_int_equal(access(kept, F_OK), 0);
    assert_int_equal(world_files(&w), 0);
}

/* Somebody has cleaned up. */
static void test_folder_is_removed(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "0", ""));
    assert_true(disk_remove_tree(w.opts.cdi_dir.p, NULL));
    prepared(world_claim(&w, 2, "1", ""));
    prepared(world_claim(&w, 1, "0", ""));
    assert_int_equal(world_files(&w), 2);
}

/* A map has no order: the same amounts are the same question. */
static void test_amounts_in_another_order(void **state)
{
    (void)state;
    world_start(&w);
    for (int i = 0; i < 2; i++) {
        struct doc *claim = (struct doc *)world_claim(&w, 1, "5", "s");
        const struct doc *list = doc_path(claim, "status.allocation.devices.results");
        struct doc amounts = doc_make_map();
        doc_set_text(&w.a, &amounts, i ? "cores" : "memory", STR("1"));
        doc_set_text(&w.a, &amounts, i ? "memory" : "cores", STR("1"));
        doc_set(&w.a, &list->items[1], "consumedCapacity", amounts);
        w.fail_unprepare = 5;
        prepared(claim);
    }
    w.fail_unprepare = -1;
}

/* However much went wrong before, what goes wrong is told, and once. */
static void test_complaints_go_on(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    unsigned told = 0;
    world_start(&w);
    for (int i = 0; i < MANY; i++) {
        prepare_complain(w.p, "trouble %d", i);
        prepare_complain(w.p, "trouble %d", i);
        for (const char *text; (text = driver_prepare_complaint(w.p)); told++)
            assert_string_equal(text, arena_printf(&w.a, "trouble %d", i).p);
    }
    assert_int_equal(told, MANY);
}

/* ---- starts ---- */

/* Devices have other nodes, the CDI folder is empty, one device is gone (case C11). */
static void test_reboot(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "0", ""));
    prepared(world_claim(&w, 2, "4", ""));
    struct str before = world_cdi(&w, 1);
    world_stop(&w);
    disk_remove_tree(w.opts.cdi_dir.p, NULL);
    world_discover(&w, 4, "/dev/zero");
    world_start(&w);
    assert_true(holds(before, "/dev/null"));
    assert_true(holds(world_cdi(&w, 1), "/dev/zero"));
    assert_null(world_cdi(&w, 2).p);
    static const char gone[] = "device dev-4 (id-4), which the claim holds, is gone: "
                               "delete the pod, so that its "
                               "successor gets another";
    assert_true(holds(str_from(first_complaint()), gone));
    refused(world_claim(&w, 2, "4", ""), gone);
    prepared(world_claim(&w, 1, "0", ""));
    struct driver_holder *v;
    assert_int_equal(driver_prepare_holders(w.p, &w.a, &v), 2);
    assert_str(v[1].device, "");
    assert_str(v[1].identity, "id-4");
    unprepared(2);
    unprepared(1);
    assert_int_equal(world_busy(&w), 0);
}

/* A device that goes takes the file along, and comes back with it. */
static void test_unplugged_while_in_use(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "4", ""));
    prepared(world_claim(&w, 2, "0", ""));
    w.hardware[0][2] = false; /* shows whether it is touched */
    world_discover(&w, WORLD_DEVICES, "/dev/null");
    assert_false(world_has(&w, 0, 2)); /* all is as it was */
    world_discover(&w, 4, "/dev/null");
    assert_null(world_cdi(&w, 1).p);
    assert_non_null(world_cdi(&w, 2).p);
    world_discover(&w, WORLD_DEVICES, "/dev/zero");
    assert_true(holds(world_cdi(&w, 1), "/dev/zero"));
    assert_true(holds(world_cdi(&w, 2), "/dev/zero"));
}

static void test_unwanted_files_go(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "4", ""));
    static const char *const ours[] = {"k8s.dev.example.com-claim_u-1.json",
                                       "k8s.dev.example.com-claim_u-1.json.tmp",
                                       "dev.example.com_metadata_u-1_r.json"};
    static const char *const theirs[] = {"k8s.gpu.example.com-claim_u-1.json",
                                         "k8s.dev.example.com-gpu_u-1.json",
                                         "vendor.json"};
    for (int i = 0; i < 3; i++) {
        const char *const both[] = {ours[i], theirs[i]};
        for (int j = 0; j < 2; j++)
            assert_true(
                disk_write(arena_printf(&w.a, "%s/%s", w.opts.cdi_dir.p, both[j]).p,
                           STR("{}"), 0644, NULL));
    }
    assert_int_equal(world_files(&w), 7);
    const char *metadata =
        arena_printf(&w.a, "%s/dra-device-metadata", w.opts.data_dir.p).p;
    assert_true(disk_make_dirs(metadata, NULL));
    assert_true(
        disk_write(arena_printf(&w.a, "%s/stray", metadata).p, STR(""), 0644, NULL));
    assert_int_equal(symlink(w.dir, arena_printf(&w.a, "%s/link", metadata).p), 0);
    world_stop(&w);
    world_start(&w);
    assert_int_equal(world_files(&w), 4);
    assert_non_null(world_cdi(&w, 1).p);
}

/* What a later version wrote is carried along. */
static void test_unknown_fields_are_kept(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "4", ""));
    world_stop(&w);
    const char *path = arena_printf(&w.a, "%s/claims.journal", w.opts.data_dir.p).p;
    struct str text;
    assert_true(disk_read(path, 1 << 24, &w.a, &text, NULL));
    text = str_sub(text, 0, str_rfind_byte(text, '\n') + 1); /* without the room */
    static const char line[] =
        "85354a69 put 22222222-0 {\"uid\":\"22222222-0\",\"namespace\":\"ns\",\"name\":"
        "\"n\",\"phase\":\"prepared\",\"later\":{\"a\":[1]},\"devices\":[{\"request\":"
        "\"r\",\"pool\":\"node-1\",\"device\":\"dev-0\",\"identity\":\"id-0\",\"more\":7}"
        "]"
        "}\n";
    assert_true(
        disk_write(path, arena_printf(&w.a, "%.*s%s", STR_ARG(text), line), 0600, NULL));
    world_start(&w); /* writes the state into the entry */
    assert_true(disk_read(path, 1 << 24, &w.a, &text, NULL));
    text = str_sub(text, 0, str_rfind_byte(text, '\n') + 1);
    size_t last = str_rfind_byte(str_sub(text, 0, text.n - 1), '\n');
    struct str entry = str_sub(text, last, text.n);
    assert_true(holds(entry, "\"later\":{\"a\":[1]}"));
    assert_true(holds(entry, "\"more\":7"));
    assert_true(holds(entry, "\"state\":"));
    assert_int_equal(world_files(&w), 2);
}

/* Changes the identity in the entries of dev-4 from the n-th on. */
static void damage(uint32_t n)
{
    const char *path = arena_printf(&w.a, "%s/claims.journal", w.opts.data_dir.p).p;
    struct str text;
    assert_true(disk_read(path, 1 << 24, &w.a, &text, NULL));
    for (size_t i = 0; i + 6 < text.n; i++) {
        if (memcmp(text.p + i, "\"id-4\"", 6) != 0)
            continue;
        if (n > 1)
            n--;
        else
            ((char *)text.p)[i + 4] = '5';
    }
    assert_true(disk_write(path, text, 0600, NULL));
}

/* Of a claim whose entries are damaged nothing is known: its file stays, and goes when
 * the kubelet says that the claim does. */
static void test_damaged_entries(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "4", ""));
    prepared(world_claim(&w, 2, "0", ""));
    world_stop(&w);
    damage(1);
    for (int starts = 0; starts < 2; starts++) {
        world_start(&w);
        assert_true(holds(str_from(first_complaint()), "damaged"));
        struct driver_holder *v;
        assert_int_equal(driver_prepare_holders(w.p, &w.a, &v), 1);
        assert_str(v[0].claim_name, "claim-2");
        assert_non_null(world_cdi(&w, 1).p);
        world_stop(&w);
    }
    world_start(&w);
    unprepared(1);
    assert_null(world_cdi(&w, 1).p);
    assert_non_null(world_cdi(&w, 2).p);
}

/* The entry that says "begun" is whole, the one that says "done" is not: nothing is taken
 * from a pod that may run, and the kubelet's word is enough to end it. */
static void test_damage_rolls_nothing_back(void **state)
{
    (void)state;
    world_start(&w);
    prepared(world_claim(&w, 1, "4", ""));
    world_stop(&w);
    damage(2);
    world_start(&w);
    struct driver_holder *v;
    assert_int_equal(driver_prepare_holders(w.p, &w.a, &v), 1);
    assert_int_equal(v[0].hold, DRIVER_PREPARING);
    assert_true(world_has(&w, 4, 1));
    assert_non_null(world_cdi(&w, 1).p);
    unprepared(1);
    assert_int_equal(world_busy(&w), 0);
    assert_int_equal(world_files(&w), 0);
}

/* One process hands over to another while both run. */
static void test_two_processes(void **state)
{
    (void)state;
    world_start(&w);
    struct driver_prepare *old = w.p;
    prepared(world_claim(&w, 1, "4", ""));
    world_start(&w);
    refused(world_claim(&w, 2, "4", ""), "device dev-4 is held by claim ns/claim-1 (UID "
                                         "11111111-0000-4000-8000-000000000000)");
    unprepared(1);
    prepared(world_claim(&w, 2, "4", ""));
    struct driver_prepare *new = w.p;
    w.p = old;
    refused(world_claim(&w, 3, "4", ""), "device dev-4 is held by claim ns/claim-2 (UID "
                                         "21111111-0000-4000-8000-000000000000)");
    unprepared(2);
    assert_int_equal(world_busy(&w), 0);
    world_stop(&w);
    w.p = new;
}

/* ---- every step ---- */

/* Hardware and files are just those of the claims that are prepared. */
static void consistent(const char *when, uint32_t at)
{
    struct driver_holder *v;
    uint32_t n = driver_prepare_holders(w.p, &w.a, &v), files = 0;
    bool ok = world_busy(&w) == n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = (uint32_t)(v[i].claim_uid.p[0] - '0');
        ok &= world_has(&w, (uint32_t)(v[i].identity.p[3] - '0'), c);
        ok &= world_cdi(&w, c).p != NULL;
    }
    for (uint32_t c = 0; c < WORLD_CLAIMS; c++)
        files += world_cdi(&w, c).p != NULL;
    ok &= files == world_files(&w);
    if (!ok)
        fail_msg("%s at call %u: %u uses held, %u on the hardware, %u files", when, at, n,
                 world_busy(&w), files);
}

static void script(void)
{
    const struct doc *claims[] = {world_claim(&w, 1, "03", ""),
                                  world_claim(&w, 2, "1", "")};
    struct str uids[] = {world_uid(&w, 1), world_uid(&w, 3)};
    struct driver_prepared out[2] = {{0}};
    struct err errs[2] = {ERR_INIT, ERR_INIT}, gone[2] = {ERR_INIT, ERR_INIT};
    driver_prepare_claims(w.p, claims, 2, &w.a, out, errs);
    driver_unprepare_claims(w.p, uids, 2, gone);
    for (int i = 0; i < 2; i++) {
        err_release(&errs[i]);
        err_release(&gone[i]);
    }
}

/* The pods are tried again, and go in the end. */
static void end_well(const char *when, uint32_t at)
{
    consistent(when, at);
    prepared(world_claim(&w, 1, "03", ""));
    prepared(world_claim(&w, 2, "1", ""));
    consistent(when, at);
    unprepared(1);
    unprepared(2);
    assert_int_equal(world_busy(&w), 0);
    assert_int_equal(world_files(&w), 0);
}

static void test_dies_at_every_step(void **state)
{
    (void)state;
    int status = FAULT_STATUS << 8;
    uint32_t at = 0;
    while (WEXITSTATUS(status) == FAULT_STATUS) {
        at++;
        pid_t pid = fork();
        if (pid == 0) {
            world_start(&w);
            faults_arm(FAULT_DIE, at);
            script();
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        world_start(&w);
        end_well("died", at);
        world_stop(&w);
    }
    assert_true(at > 10);
}

static void test_disk_fails_at_every_step(void **state)
{
    (void)state;
    static const enum fault how[] = {FAULT_FAIL, FAULT_STUCK};
    for (int i = 0; i < 2; i++) {
        bool struck = true;
        for (uint32_t at = 1; struck; at++) {
            world_start(&w);
            faults_arm(how[i], at);
            script();
            struck = faults_struck();
            faults_disarm();
            for (uint32_t c = 1; i == 1 && c <= 2; c++)
                prepared(world_claim(&w, c, c == 1 ? "03" : "1", ""));
            end_well("disk failed", at);
            world_stop(&w);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answer_and_file),
        TEST(test_again_is_the_same),
        TEST(test_holders),
        TEST(test_parts_of_one_device),
        TEST(test_configs),
        TEST(test_refusals),
        TEST(test_nodes_are_looked_at),
        TEST(test_half_done_is_taken_back),
        TEST(test_trouble_is_told),
        TEST(test_metadata),
        TEST(test_metadata_of_odd_names),
        TEST(test_folder_is_removed),
        TEST(test_amounts_in_another_order),
        TEST(test_complaints_go_on),
        TEST(test_reboot),
        TEST(test_unplugged_while_in_use),
        TEST(test_unwanted_files_go),
        TEST(test_unknown_fields_are_kept),
        TEST(test_damaged_entries),
        TEST(test_damage_rolls_nothing_back),
        TEST(test_two_processes),
        TEST(test_dies_at_every_step),
        TEST(test_disk_fails_at_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
