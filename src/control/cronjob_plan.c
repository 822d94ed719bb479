/* SPDX-License-Identifier: Apache-2.0 */
#include "control/cronjob_plan.h"

#include "control/fields.h"

/* ---- the schedule ---- */

bool cronjob_has_own_zone(const struct doc *cronjob)
{
    return str_find(field_text(cronjob, "spec.schedule"), STR("TZ")) != SIZE_MAX;
}

enum cronjob_verdict cronjob_schedule(const struct doc *cronjob, struct arena *a,
                                      struct cron *out, struct str *why)
{
    struct str zone = field_text(cronjob, "spec.timeZone");
    if (zone.p && !zone_load(zone, a))
        return CRONJOB_BAD_ZONE;
    return cron_parse(field_text(cronjob, "spec.schedule"), zone, a, out, why)
               ? CRONJOB_FINE
               : CRONJOB_BAD_SCHEDULE;
}

/* ---- times ---- */

struct missed {
    int64_t since; /* what is looked at begins then */
    int64_t last;  /* the latest time that has come; 0: none */
    int64_t n;     /* how many have, roughly */
    bool fails;    /* times follow one another without end */
};

static int64_t look_from(const struct doc *cronjob, int64_t now, bool within_deadline)
{
    int64_t from = field_created(cronjob), last,
            deadline = field_int(cronjob, "spec.startingDeadlineSeconds", -1);
    if (field_time(cronjob, "status.lastScheduleTime", &last))
        from = last;
    if (within_deadline && deadline >= 0 && now - deadline > from)
        from = now - deadline;
    return from;
}

/* From where the last one should be, if they come at equal distances. */
static void find_last(const struct cron *c, int64_t first, int64_t distance, int64_t now,
                      struct missed *m)
{
    int64_t t, from = first + (m->n - 2) * distance;
    bool found = cron_next(c, from, &t);
    for (; found && t <= now; found = cron_next(c, t, &t))
        m->last = t;
}

static struct missed find_missed(const struct doc *cronjob, const struct cron *c,
                                 int64_t now, bool within_deadline)
{
    struct missed m = {.since = look_from(cronjob, now, within_deadline)};
    int64_t first, second;
    if (!cron_next(c, m.since, &first) || now < first)
        return m;
    if (!cron_next(c, first, &second) || now < second) {
        m.last = first;
        return m;
    }
    m.fails = second - first < 1;
    if (m.fails)
        return m;
    m.n = (now - first) / (second - first) + 1;
    find_last(c, first, second - first, now, &m);
    return m;
}

/* A tenth of a second behind it, so that it has come. */
static int64_t until_next_ms(const struct doc *cronjob, const struct cron *c,
                             int64_t now_ms)
{
    enum { BEHIND_MS = 100, NEVER_MS = 86400000 };
    int64_t now = now_ms / 1000, next;
    struct missed m = find_missed(cronjob, c, now, false);
    int64_t from = m.last ? m.last : m.n || m.fails ? now : m.since;
    if (!cron_next(c, from, &next))
        return NEVER_MS;
    int64_t left = next * 1000 + BEHIND_MS - now_ms;
    return left > 0 ? left : 1;
}

struct cronjob_times cronjob_times(const struct doc *cronjob, const struct cron *c,
                                   int64_t now_ms)
{
    enum { MANY = 100 };
    int64_t now = now_ms / 1000,
            deadline = field_int(cronjob, "spec.startingDeadlineSeconds", -1);
    struct missed m = find_missed(cronjob, c, now, true);
    struct cronjob_times t = {.due_s = m.last};
    t.too_many = m.last && m.n > MANY;
    t.too_late = m.last && deadline >= 0 && m.last * 1000 + deadline * 1000 < now_ms;
    t.again_ms = until_next_ms(cronjob, c, now_ms);
    return t;
}

/* ---- jobs ---- */

struct str cronjob_job_name(const struct doc *cronjob, int64_t due_s, struct arena *a)
{
    return arena_printf(a, "%.*s-%lld", STR_ARG(field_meta(cronjob, "name")),
                        (long long)(due_s / 60));
}

/* "2026-01-31T12:00:00+01:00", as a clock there shows it. */
static struct str local_text(const struct doc *cronjob, int64_t at, struct arena *a)
{
    struct str name = field_text(cronjob, "spec.timeZone");
    const struct zone *z = name.n ? zone_load(name, a) : NULL;
    z = z ? z : zone_load(STR("UTC"), a);
    struct zone_time t = zone_local(z, at);
    int32_t offset = zone_offset(z, at), minutes = (offset < 0 ? -offset : offset) / 60;
    struct str clock =
        arena_printf(a, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)t.year, t.month,
                     t.day, t.hour, t.minute, t.second);
    if (!offset)
        return arena_printf(a, "%.*sZ", STR_ARG(clock));
    return arena_printf(a, "%.*s%c%02d:%02d", STR_ARG(clock), offset < 0 ? '-' : '+',
                        minutes / 60, minutes % 60);
}

static void copy(struct arena *a, struct doc *to, const struct doc *from,
                 const char *path, const char *key)
{
    const struct doc *found = doc_path(from, path);
    if (found && found->type == DOC_MAP)
        doc_set(a, to, key, doc_dup(a, found));
}

struct doc cronjob_make_job(const struct doc *cronjob, int64_t due_s,
                            const struct doc *owner_ref, struct arena *a)
{
    struct doc job = doc_make_map(), meta = doc_make_map(), refs = doc_make_list();
    doc_append(a, &refs, *owner_ref);
    doc_set_text(a, &meta, "name", cronjob_job_name(cronjob, due_s, a));
    doc_set_text(a, &meta, "namespace", field_meta(cronjob, "namespace"));
    doc_set(a, &meta, "ownerReferences", refs);
    copy(a, &meta, cronjob, "spec.jobTemplate.metadata.labels", "labels");
    copy(a, &meta, cronjob, "spec.jobTemplate.metadata.annotations", "annotations");
    doc_set_text(a, &job, "apiVersion", STR("batch/v1"));
    doc_set_text(a, &job, "kind", STR("Job"));
    doc_set(a, &job, "metadata", meta);
    copy(a, &job, cronjob, "spec.jobTemplate.spec", "spec");
    field_set_meta(a, &job, "annotations",
                   "batch.kubernetes.io/cronjob-scheduled-timestamp",
                   local_text(cronjob, due_s, a));
    return job;
}
