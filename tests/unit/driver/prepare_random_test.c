/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random claims prepared, unprepared, asked for otherwise, by a process that is started
 * anew, dies, or has a disk that fails, at random moments, and machines that reboot:
 * against a model of one line a claim. After every step the hardware, the files and the
 * holders are those of the model.
 *
 *     driver_prepare_random_test SEED STEPS    for debugging, or for long
 */
#include "unit/unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "node/disk.h"
#include "unit/driver/faults.h"
#include "unit/driver/scripted.h"

enum { SEEDS = 6, STEPS = 150, SHARED = WORLD_DEVICES - 1, FAULTS = 24 };

struct ask { /* of one claim; devices "": it is not prepared */
    char devices[WORLD_DEVICES];
    char flags[2];
};

static struct world w;
static struct ask model[WORLD_CLAIMS];
static struct rng rng;
static uint64_t seed;
static uint32_t step, steps = STEPS;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)rng_range(&rng, 0, (int64_t)n - 1);
}

/* ---- the model ---- */

static bool is_prepared(uint32_t c)
{
    return model[c].devices[0] != '\0';
}

static bool is_admin(const struct ask *q)
{
    return q->flags[0] == 'a';
}

static bool has(const struct ask *q, int device)
{
    return strchr(q->devices, device) != NULL;
}

static bool is_allowed(uint32_t c, const struct ask *q)
{
    for (uint32_t o = 0; o < WORLD_CLAIMS; o++) {
        if (o == c || !is_prepared(o) || is_admin(q) || is_admin(&model[o]))
            continue;
        for (int d = '0'; d < '0' + SHARED; d++) {
            if (has(q, d) && has(&model[o], d))
                return false;
        }
    }
    return true;
}

/* One to three devices that are not shared, or the one that is. */
static struct ask random_ask(void)
{
    struct ask q = {{0}, {0}};
    if (pick(4) == 0) {
        q.devices[0] = '0' + SHARED;
        q.flags[0] = "s\0a"[pick(3)];
        return q;
    }
    uint32_t n = 0, first = pick(SHARED), count = 1 + pick(3);
    for (uint32_t i = 0; i < count; i++)
        q.devices[n++] = (char)('0' + (first + i) % SHARED);
    q.flags[0] = pick(6) == 0 ? 'a' : '\0';
    return q;
}

static bool same(const struct ask *a, const struct ask *b)
{
    return strcmp(a->devices, b->devices) == 0 && a->flags[0] == b->flags[0];
}

/* ---- what is true ---- */

static void wrong(const char *what, uint32_t c)
{
    fail_msg("seed %lu, step %u: claim %u: %s", (unsigned long)seed, step, c, what);
}

/* The claim's devices on the hardware and in its file, no more and no less. */
static void check_claim(uint32_t c)
{
    struct str file = world_cdi(&w, c);
    if (is_prepared(c) != (file.p != NULL))
        wrong("its file", c);
    for (uint32_t d = 0; d < WORLD_DEVICES; d++) {
        char identity[] = "DEVICE=id-0";
        identity[sizeof identity - 2] = (char)('0' + d);
        bool want = has(&model[c], (int)('0' + d)) && is_prepared(c);
        if (world_has(&w, d, c) != want)
            wrong("the hardware", c);
        if (file.p && (str_find(file, str_from(identity)) != SIZE_MAX) != want)
            wrong("what its file says", c);
    }
}

static void check_all(void)
{
    struct driver_holder *v;
    uint32_t uses = 0;
    for (uint32_t c = 0; c < WORLD_CLAIMS; c++) {
        check_claim(c);
        uses += (uint32_t)strlen(model[c].devices);
    }
    if (driver_prepare_holders(w.p, &w.a, &v) != uses)
        wrong("holders", 0);
}

/* ---- steps ---- */

static bool prepare(uint32_t c, const struct ask *q)
{
    struct driver_prepared out;
    return driver_prepare_claim(w.p, world_claim(&w, c, q->devices, q->flags), &w.a, &out,
                                NULL);
}

static bool unprepare(uint32_t c)
{
    return driver_unprepare_claim(w.p, world_uid(&w, c), NULL);
}

/* Other devices are given back before new ones are refused. */
static void prepare_step(uint32_t c, const struct ask *q)
{
    bool again = is_prepared(c) && same(q, &model[c]);
    bool want = again || is_allowed(c, q);
    if (prepare(c, q) != want)
        wrong(want ? "was not prepared" : "was prepared beside another", c);
    if (want)
        model[c] = *q;
    else
        model[c] = (struct ask){{0}, {0}};
}

static void unprepare_step(uint32_t c)
{
    if (!unprepare(c))
        wrong("was not unprepared", c);
    model[c] = (struct ask){{0}, {0}};
}

static void restart(void)
{
    world_stop(&w);
    world_start(&w);
}

static void reboot(void)
{
    world_stop(&w);
    disk_remove_tree(w.opts.cdi_dir.p, NULL);
    memset(w.hardware, 0, sizeof(bool[WORLD_DEVICES][WORLD_CLAIMS]));
    world_discover(&w, WORLD_DEVICES, pick(2) ? "/dev/zero" : "/dev/null");
    world_start(&w);
}

/* Either it was done or not, if nobody was told; the kubelet's next word makes it sure.
 */
static void finish(uint32_t c, bool preparing, const struct ask *q, bool told)
{
    if (told && !preparing)
        model[c] = (struct ask){{0}, {0}};
    else if (told)
        model[c] = *q;
    else
        unprepare_step(c);
}

static void die(uint32_t c, bool preparing, const struct ask *q)
{
    bool *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0) {
        faults_arm(FAULT_DIE, 1 + pick(FAULTS));
        *told = preparing ? prepare(c, q) : unprepare(c);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    restart();
    finish(c, preparing, q, *told);
    munmap(told, sizeof *told);
}

static void fail_disk(uint32_t c, bool preparing, const struct ask *q)
{
    faults_arm(pick(2) ? FAULT_FAIL : FAULT_STUCK, 1 + pick(FAULTS));
    bool told = preparing ? prepare(c, q) : unprepare(c);
    faults_disarm();
    finish(c, preparing, q, told);
}

static void one_step(void)
{
    uint32_t c = pick(WORLD_CLAIMS), what = pick(20);
    struct ask q = is_prepared(c) && pick(2) ? model[c] : random_ask();
    bool preparing = pick(3) > 0;
    if (what == 0)
        reboot();
    else if (what < 3)
        restart();
    else if (what < 7)
        die(c, preparing, &q);
    else if (what < 10)
        fail_disk(c, preparing, &q);
    else if (preparing)
        prepare_step(c, &q);
    else
        unprepare_step(c);
}

static void run(uint64_t s)
{
    seed = s;
    rng_init(&rng, s);
    memset(model, 0, sizeof model);
    world_make(&w);
    world_start(&w);
    for (step = 0; step < steps; step++) {
        one_step();
        check_all();
    }
    for (uint32_t c = 0; c < WORLD_CLAIMS; c++)
        unprepare_step(c);
    check_all();
    assert_int_equal(world_files(&w), 0);
    world_end(&w);
}

static uint64_t first = 1;

static void test_random_steps(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        run(first + i);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        steps = (uint32_t)strtoul(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
