/* SPDX-License-Identifier: Apache-2.0 */
/* Which pod belongs where, and what a set's status says of them. Pure. */
#include <stdlib.h>

#include "base/vec.h"
#include "control/fields.h"
#include "control/statefulset_inner.h"

/* ---- ordinals ---- */

int64_t stateful_ordinal(struct str set, struct str pod)
{
    enum { DIGITS = 10 };
    size_t dash = str_rfind_byte(pod, '-');
    struct str digits = dash == SIZE_MAX ? STR_NONE : str_sub(pod, dash + 1, SIZE_MAX);
    int64_t n = 0;
    if (!digits.n || digits.n > DIGITS || !str_eq(str_sub(pod, 0, dash), set))
        return -1;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return -1;
        n = n * 10 + (digits.p[i] - '0');
    }
    return n <= INT32_MAX ? n : -1;
}

static bool is_in_range(const struct stateful *t, int64_t ordinal)
{
    return ordinal >= t->start && ordinal < t->start + t->replicas;
}

/* ---- places ---- */

static struct place place_of(const struct stateful *t, const struct object *o)
{
    struct place p = {.o = o,
                      .ordinal = stateful_ordinal(t->s->owner->name, o->name),
                      .revision = field_label(o->doc, STATEFUL_REVISION)};
    p.unavailable = !pod_is_available(o->doc, t->min_ready_s, t->s->now, NULL) ||
                    field_deleted(o->doc);
    return p;
}

/* Below the partition, and while a set without one is still growing, pods are of the
 * revision that was there before. */
static bool is_of_current(const struct stateful *t, int64_t ordinal)
{
    const struct doc *rolling = doc_path(t->set, "spec.updateStrategy.rollingUpdate");
    bool set = rolling && rolling->type == DOC_MAP;
    int64_t number = ordinal - t->start;
    if (set)
        return number < field_int(rolling, "partition", 0);
    return str_is(field_text(t->set, "spec.updateStrategy.type"), "RollingUpdate") &&
           number < field_int(t->set, "status.currentReplicas", 0);
}

static struct place empty_place(const struct stateful *t, int64_t ordinal)
{
    const struct revision *r = is_of_current(t, ordinal) ? &t->current : &t->update;
    return (struct place){.ordinal = ordinal, .revision = r->name, .unavailable = true};
}

/* No more than can be made at once, whatever number is asked for: the rest has its turn
 * when those are there. */
static uint32_t count_places(const struct stateful *t)
{
    enum { EMPTY_MAX = 1000 };
    int64_t most = (int64_t)t->pods.n + EMPTY_MAX;
    return (uint32_t)(t->replicas < most ? t->replicas : most);
}

static int downwards(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->ordinal > y->ordinal ? -1 : x->ordinal < y->ordinal;
}

static const struct place *first_unavailable(const struct stateful_plan *p)
{
    for (uint32_t i = 0; i < p->replicas.n; i++)
        if (p->replicas.v[i].unavailable)
            return &p->replicas.v[i];
    for (uint32_t i = p->condemned.n; i-- > 0;)
        if (p->condemned.v[i].unavailable)
            return &p->condemned.v[i];
    return NULL;
}

struct stateful_plan *stateful_plan(const struct stateful *t)
{
    struct stateful_plan *p = ARENA_NEW(t->s->a, struct stateful_plan);
    p->replicas.n = count_places(t);
    p->replicas.v = ARENA_ARRAY(t->s->a, struct place, p->replicas.n + 1);
    p->condemned.v = ARENA_ARRAY(t->s->a, struct place, t->pods.n + 1);
    for (uint32_t i = 0; i < p->replicas.n; i++)
        p->replicas.v[i] = empty_place(t, t->start + i);
    for (uint32_t i = 0; i < t->pods.n; i++) {
        struct place place = place_of(t, t->pods.v[i]);
        int64_t number = place.ordinal - t->start;
        if (number >= 0 && number < p->replicas.n)
            p->replicas.v[number] = place;
        else if (place.ordinal >= 0 && !is_in_range(t, place.ordinal))
            p->condemned.v[p->condemned.n++] = place;
    }
    qsort(p->condemned.v, p->condemned.n, sizeof *p->condemned.v, downwards);
    p->first_unavailable = first_unavailable(p);
    return p;
}

/* ---- rolling update ---- */

static bool is_old(const struct stateful *t, const struct place *p)
{
    return p->o && !str_eq(p->revision, t->update.name) && !field_deleted(p->o->doc);
}

static int64_t max_unavailable(const struct stateful *t)
{
    const struct doc *v =
        doc_path(t->set, "spec.updateStrategy.rollingUpdate.maxUnavailable");
    int64_t n = v && v->type != DOC_NULL ? field_scaled(v, t->replicas, false) : 1;
    return n > 1 ? n : 1;
}

struct choice {
    const struct stateful *t;
    const struct stateful_plan *p;
    struct places out;
    int64_t first; /* the lowest number that is updated */
};

static void choose(struct choice *c, bool unavailable, int64_t most)
{
    for (int64_t i = c->p->replicas.n - 1; i >= c->first && most > 0; i--) {
        const struct place *place = &c->p->replicas.v[i];
        if (!is_old(c->t, place) || place->unavailable != unavailable)
            continue;
        c->out.v[c->out.n++] = *place;
        most--;
    }
}

/* In order: from the last one down, whatever state they are in. */
static void choose_ordered(struct choice *c, int64_t most)
{
    for (int64_t i = c->p->replicas.n - 1; i >= c->first && most > 0; i--)
        if (is_old(c->t, &c->p->replicas.v[i])) {
            c->out.v[c->out.n++] = c->p->replicas.v[i];
            most--;
        }
}

struct places stateful_outdated(const struct stateful *t, const struct stateful_plan *p)
{
    struct choice c = {t, p, {NULL, 0}, 0};
    int64_t budget = max_unavailable(t);
    c.out.v = ARENA_ARRAY(t->s->a, struct place, p->replicas.n + 1);
    c.first = field_int(t->set, "spec.updateStrategy.rollingUpdate.partition", 0);
    for (uint32_t i = 0; i < p->replicas.n; i++)
        budget -= p->replicas.v[i].unavailable;
    if (!t->burst) {
        choose_ordered(&c, budget);
        return c.out;
    }
    /* Those that serve nobody go whatever the budget. */
    choose(&c, true, INT64_MAX);
    choose(&c, false, budget);
    return c.out;
}

/* ---- status ---- */

struct tally {
    int64_t replicas, ready, available, current, updated;
};

static void count(const struct stateful *t, const struct object *o, struct tally *c)
{
    struct str revision = field_label(o->doc, STATEFUL_REVISION);
    bool running = doc_is_string(doc_path(o->doc, "status.phase"), "Running"),
         ready = running && pod_is_ready(o->doc, NULL), staying = !field_deleted(o->doc);
    c->replicas++;
    c->ready += ready;
    c->available += ready && pod_is_available(o->doc, t->min_ready_s, t->s->now, NULL);
    c->current += staying && str_eq(revision, t->current.name);
    c->updated += staying && str_eq(revision, t->update.name);
}

static struct tally tally(const struct stateful *t, const struct stateful_plan *p)
{
    struct tally c = {0};
    for (uint32_t i = 0; i < t->pods.n; i++)
        if (stateful_ordinal(t->s->owner->name, t->pods.v[i]->name) >= 0)
            count(t, t->pods.v[i], &c);
    c.current -= p->replaced;
    return c;
}

static bool has_changed(const struct doc *old, const struct doc *status)
{
    static const char *const NUMBERS[] = {"replicas", "readyReplicas", "currentReplicas",
                                          "updatedReplicas", "availableReplicas"};
    static const char *const TEXTS[] = {"currentRevision", "updateRevision"};
    bool changed = field_int(status, "observedGeneration", 0) >
                   field_int(old, "observedGeneration", 0);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        changed |= field_int(old, NUMBERS[i], 0) != field_int(status, NUMBERS[i], 0);
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        changed |= !str_eq(doc_get_text(old, TEXTS[i]), doc_get_text(status, TEXTS[i]));
    return changed;
}

bool stateful_status(const struct stateful *t, const struct stateful_plan *p,
                     struct doc *status)
{
    struct arena *a = t->s->a;
    const struct doc *old = doc_get(t->set, "status"),
                     *conditions = field_list(old, "conditions");
    struct tally c = tally(t, p);
    bool complete =
        c.updated == t->replicas && c.ready == t->replicas && c.replicas == t->replicas;
    *status = doc_make_map();
    field_set_int(a, status, "observedGeneration",
                  field_int(t->set, "metadata.generation", 0));
    doc_set(a, status, "replicas", doc_make_int(a, c.replicas));
    field_set_int(a, status, "readyReplicas", c.ready);
    field_set_int(a, status, "currentReplicas", complete ? c.updated : c.current);
    field_set_int(a, status, "updatedReplicas", c.updated);
    doc_set(a, status, "availableReplicas", doc_make_int(a, c.available));
    doc_set_text(a, status, "currentRevision",
                 complete ? t->update.name : t->current.name);
    doc_set_text(a, status, "updateRevision", t->update.name);
    doc_set(a, status, "collisionCount", doc_make_int(a, t->collisions));
    if (conditions->n)
        doc_set(a, status, "conditions", doc_dup(a, conditions));
    return has_changed(old, status);
}
