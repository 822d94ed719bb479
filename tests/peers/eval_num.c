/* SPDX-License-Identifier: Apache-2.0 */
/* Modes quantity and semver of dray-eval. */
#include "num/quantity.h"
#include "num/semver.h"
#include "peers/eval.h"

static void set_error(struct eval *ev, struct doc *out, struct err *e)
{
    eval_set_str(ev, out, "error", str_from(e->msg));
    err_release(e);
}

/* What is timed; results go to memory that is reused. */
struct timing {
    struct arena arena;
    struct str text;
    const struct quantity *a, *b;
    int sink;
};

static void time_parse(void *ctx)
{
    struct timing *t = ctx;
    struct quantity q;
    arena_reset(&t->arena);
    t->sink += quantity_parse(t->text, &t->arena, &q, NULL);
}

static void time_print(void *ctx)
{
    struct timing *t = ctx;
    struct quantity q = *t->a;
    q.text = NULL;
    arena_reset(&t->arena);
    t->sink += (int)quantity_print(&q, &t->arena).n;
}

static void time_cmp(void *ctx)
{
    struct timing *t = ctx;
    t->sink += quantity_cmp(t->a, t->b);
}

static void time_add(void *ctx)
{
    struct timing *t = ctx;
    arena_reset(&t->arena);
    t->sink += (int)quantity_add(t->a, t->b, &t->arena).i;
}

static void set_time(struct eval *ev, struct doc *ns, const char *name, void (*f)(void *),
                     struct timing *t)
{
    struct str text = arena_printf(ev->arena, "%.1f", eval_median(ev->repeat, f, t));
    struct doc number = {.type = DOC_NUMBER, .n = (uint32_t)text.n, .s = text.p};
    eval_set(ev, ns, name, number);
}

static void set_scaled(struct eval *ev, struct doc *out, const char *key,
                       const struct quantity *q, int digits)
{
    int64_t v;
    bool fits = quantity_scaled(q, digits, &v);
    eval_set(ev, out, key, fits ? doc_make_int(ev->arena, v) : doc_make_null());
}

static void describe(struct eval *ev, struct doc *out, const struct quantity *q)
{
    static const char *const formats[] = {"DecimalSI", "BinarySI", "DecimalExponent"};
    struct doc as_int64 = doc_make_map();
    int64_t v = 0;
    bool fits = quantity_as_int64(q, &v);
    eval_set_str(ev, out, "canonical", quantity_print(q, ev->arena));
    eval_set_str(ev, out, "format", str_from(formats[q->format]));
    set_scaled(ev, out, "value", q, 0);
    set_scaled(ev, out, "milliValue", q, 3);
    set_scaled(ev, out, "scaledNano", q, 9);
    eval_set_double(ev, out, "approxFloat", quantity_approx_double(q));
    eval_set_int(ev, out, "sign", quantity_sign(q));
    eval_set_bool(ev, &as_int64, "ok", fits);
    eval_set_int(ev, &as_int64, "v", fits ? v : 0);
    eval_set(ev, out, "asInt64", as_int64);
    struct str exact = quantity_exact(q, ev->arena);
    if (exact.n <= 80)
        eval_set_str(ev, out, "exact", exact);
}

static void one_quantity(struct eval *ev, struct str text, struct doc *out)
{
    struct quantity q;
    struct err e = ERR_INIT;
    bool ok = quantity_parse(text, ev->arena, &q, &e);
    eval_set_str(ev, out, "s", text);
    eval_set_bool(ev, out, "ok", ok);
    if (!ok) {
        set_error(ev, out, &e);
        return;
    }
    describe(ev, out, &q);
    if (ev->repeat) {
        struct timing t = {.text = text, .a = &q};
        struct doc ns = doc_make_map();
        arena_init(&t.arena);
        set_time(ev, &ns, "parse", time_parse, &t);
        set_time(ev, &ns, "print", time_print, &t);
        eval_set(ev, out, "ns", ns);
        arena_fini(&t.arena);
    }
}

static void two_quantities(struct eval *ev, struct str left, struct str right,
                           struct doc *out)
{
    struct quantity a, b;
    bool ok = quantity_parse(left, ev->arena, &a, NULL) &&
              quantity_parse(right, ev->arena, &b, NULL);
    eval_set_str(ev, out, "a", left);
    eval_set_str(ev, out, "b", right);
    eval_set_bool(ev, out, "ok", ok);
    if (!ok)
        return;
    struct quantity sum = quantity_add(&a, &b, ev->arena);
    struct quantity rest = quantity_sub(&a, &b, ev->arena);
    int cmp = quantity_cmp(&a, &b);
    eval_set_int(ev, out, "cmp", cmp);
    eval_set_bool(ev, out, "equal", cmp == 0);
    eval_set_str(ev, out, "add", quantity_print(&sum, ev->arena));
    eval_set_str(ev, out, "sub", quantity_print(&rest, ev->arena));
    if (ev->repeat) {
        struct timing t = {.a = &a, .b = &b};
        struct doc ns = doc_make_map();
        arena_init(&t.arena);
        set_time(ev, &ns, "cmp", time_cmp, &t);
        set_time(ev, &ns, "add", time_add, &t);
        eval_set(ev, out, "ns", ns);
        arena_fini(&t.arena);
    }
}

static void answer_quantity(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct str s = doc_get_text(q, "s");
    if (s.p)
        one_quantity(ev, s, out);
    else
        two_quantities(ev, doc_get_text(q, "a"), doc_get_text(q, "b"), out);
}

static void one_version(struct eval *ev, struct str text, bool normalize, struct doc *out)
{
    struct semver v;
    struct err e = ERR_INIT;
    bool ok = semver_parse(text, normalize, ev->arena, &v, &e);
    eval_set_str(ev, out, "s", text);
    eval_set_bool(ev, out, "normalize", normalize);
    eval_set_bool(ev, out, "ok", ok);
    if (!ok) {
        set_error(ev, out, &e);
        return;
    }
    eval_set_str(ev, out, "canonical", semver_print(&v, ev->arena));
    eval_set_int(ev, out, "major", (int64_t)v.major);
    eval_set_int(ev, out, "minor", (int64_t)v.minor);
    eval_set_int(ev, out, "patch", (int64_t)v.patch);
}

static void two_versions(struct eval *ev, struct str left, struct str right,
                         struct doc *out)
{
    struct semver a, b;
    bool ok = semver_parse(left, false, ev->arena, &a, NULL) &&
              semver_parse(right, false, ev->arena, &b, NULL);
    eval_set_str(ev, out, "a", left);
    eval_set_str(ev, out, "b", right);
    eval_set_bool(ev, out, "ok", ok);
    if (!ok)
        return;
    int cmp = semver_cmp(&a, &b);
    eval_set_int(ev, out, "cmp", cmp);
    eval_set_bool(ev, out, "equal", cmp == 0);
}

static void answer_semver(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct str s = doc_get_text(q, "s");
    bool normalize = false;
    doc_get_bool(q, "normalize", &normalize);
    if (s.p)
        one_version(ev, s, normalize, out);
    else
        two_versions(ev, doc_get_text(q, "a"), doc_get_text(q, "b"), out);
}

const struct eval_mode eval_quantity = {.name = "quantity", .answer = answer_quantity};
const struct eval_mode eval_semver = {.name = "semver", .answer = answer_semver};
