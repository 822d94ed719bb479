/* SPDX-License-Identifier: Apache-2.0 */
/* CronJobs; what they make is checked as Jobs are. */
#include <strings.h>

#include "api/cron.h"
#include "api/rules_pod.h"

API_RULE(cron_schedule)
{
    struct str s = api_text(at->value), why, was = api_text(at->old);
    bool zone = str_find(s, STR("TZ")) != SIZE_MAX,
         had = str_find(was, STR("TZ")) != SIZE_MAX;
    if (!cron_check(s, at->w->a, &why))
        api_report(at, API_ERROR_INVALID, "%.*s", STR_ARG(why));
    if (zone && had && api_member(at->parent, "timeZone"))
        api_fail(at, API_ERROR_INVALID,
                 "cannot use both timeZone field and TZ or CRON_TZ in schedule");
    else if (zone && !had)
        api_fail(at, API_ERROR_INVALID,
                 "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    return true;
}

static bool is_zone_part(struct str s)
{
    enum { PART_MAX = 14 };
    bool ok =
        s.n && s.n <= PART_MAX && s.p[0] != '-' && !str_is(s, ".") && !str_is(s, "..");
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'z') ||
             (s.p[i] >= 'A' && s.p[i] <= 'Z') || strchr(".-_+", s.p[i]);
    return ok;
}

API_RULE(time_zone)
{
    struct str s = api_text(at->value);
    if (at->old && str_eq(s, api_text(at->old)))
        return true;
    if (s.n == 0)
        return api_fail(at, API_ERROR_INVALID,
                        "timeZone must be nil or non-empty string");
    for (size_t from = 0;;) {
        size_t slash = str_find_byte(s, '/', from);
        size_t end = slash == SIZE_MAX ? s.n : slash;
        if (!is_zone_part((struct str){s.p + from, end - from}))
            return api_report(at, API_ERROR_INVALID, "unknown time zone %.*s",
                              STR_ARG(s));
        if (slash == SIZE_MAX)
            break;
        from = slash + 1;
    }
    bool local = s.n == 5 && strncasecmp(s.p, "local", 5) == 0;
    if (local)
        api_fail(at, API_ERROR_INVALID,
                 "timeZone must be an explicit time zone as defined in "
                 "https://www.iana.org/time-zones");
    if (!cron_zone_known(s))
        api_report(at, API_ERROR_INVALID, "unknown time zone %.*s", STR_ARG(s));
    return true;
}

/* Its jobs' names end in eleven characters more. */
API_RULE(cron_name)
{
    enum { NAME_MAX_CRON = 52 };
    const struct doc *name = doc_path(at->value, "metadata.name");
    if (at->w->opts->op == API_CREATE && api_text(name).n > NAME_MAX_CRON)
        api_report_at(at, ".metadata.name", name, API_ERROR_INVALID,
                      "must be no more than %d characters", NAME_MAX_CRON);
    return true;
}

API_RULE(no_selector_yet)
{
    const struct doc *selector = api_member(at->value, "selector"),
                     *manual = api_member(at->value, "manualSelector");
    if (selector)
        api_report_at(at, ".selector", selector, API_ERROR_INVALID,
                      "`selector` will be auto-generated");
    if (rules_is_true(at->value, "manualSelector"))
        api_report_at(at, ".manualSelector", manual, API_ERROR_NOT_SUPPORTED,
                      "supported values: \"nil\", \"false\"");
    return true;
}
