/* SPDX-License-Identifier: Apache-2.0 */
/* dra_health_state: {driver: {"Devices": {"pool/device": {...}}}}. */
#include "api/timestamp.h"
#include "node/checkpoint.h"
#include "node/checkpoint_fields.h"

static const char *const HEALTH[] = {
    [CHECKPOINT_UNKNOWN] = "Unknown",
    [CHECKPOINT_HEALTHY] = "Healthy",
    [CHECKPOINT_UNHEALTHY] = "Unhealthy",
};

/* ---- reading ---- */

static enum checkpoint_health health_of(struct str s)
{
    for (int i = CHECKPOINT_HEALTHY; i <= CHECKPOINT_UNHEALTHY; i++) {
        if (str_is(s, HEALTH[i]))
            return (enum checkpoint_health)i;
    }
    return CHECKPOINT_UNKNOWN;
}

static bool read_report(const struct doc *d, struct checkpoint_report *out, struct err *e)
{
    struct str health, updated;
    if (!go_field_is(d, DOC_MAP, e) || !go_field_text(d, "PoolName", &out->pool, e) ||
        !go_field_text(d, "DeviceName", &out->device, e) ||
        !go_field_text(d, "Health", &health, e) ||
        !go_field_text(d, "LastUpdated", &updated, e) ||
        !go_field_int64(d, "HealthCheckTimeout", &out->timeout_ns, e) ||
        !go_field_text(d, "Message", &out->message, e))
        return false;
    out->health = health_of(health);
    return updated.n == 0 ||
           timestamp_parse(updated, &out->updated_s, &out->updated_ns) ||
           err_set(e, ERR_INVALID, "LastUpdated is no RFC 3339 time");
}

static const struct doc *devices_of(const struct doc_member *driver)
{
    const struct doc *d = go_field_find(&driver->value, "Devices");
    return d && d->type == DOC_MAP ? d : NULL;
}

static uint32_t count_reports(const struct doc *file)
{
    uint32_t n = 0;
    for (uint32_t i = 0; file->type == DOC_MAP && i < file->n; i++) {
        const struct doc *devices = devices_of(&file->members[i]);
        n += devices ? devices->n : 0;
    }
    return n;
}

static bool read_driver(const struct doc_member *driver, struct checkpoint_report *v,
                        uint32_t *n, struct err *e)
{
    const struct doc *devices = NULL;
    if (driver->value.type != DOC_NULL &&
        (!go_field_is(&driver->value, DOC_MAP, e) ||
         !go_field_of_type(&driver->value, "Devices", DOC_MAP, &devices, e)))
        return err_wrap(e, "%s", driver->key);
    for (uint32_t i = 0; devices && i < devices->n; i++) {
        struct checkpoint_report *r = &v[(*n)++];
        r->driver = doc_key(driver);
        if (!read_report(&devices->members[i].value, r, e))
            return err_wrap(e, "%s: %s", driver->key, devices->members[i].key);
    }
    return true;
}

bool checkpoint_health_read(struct str file, struct arena *a,
                            struct checkpoint_reports *out, struct err *e)
{
    struct doc *d = ARENA_NEW(a, struct doc);
    if (!go_field_parse(file, "health", a, d, e) ||
        (d->type != DOC_NULL && !go_field_is(d, DOC_MAP, e)))
        return false;
    struct checkpoint_report *v =
        ARENA_ARRAY(a, struct checkpoint_report, count_reports(d));
    uint32_t n = 0;
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        if (!read_driver(&d->members[i], v, &n, e))
            return false;
    }
    *out = (struct checkpoint_reports){v, n};
    return true;
}

/* ---- writing ---- */

/* As Go prints times: a fraction as short as it can be. */
static struct str print_time(const struct checkpoint_report *r, struct arena *a)
{
    struct str whole = timestamp_print(r->updated_s, 0, false, a);
    if (r->updated_ns == 0)
        return whole;
    struct str digits = arena_printf(a, "%09d", (int)r->updated_ns);
    while (digits.n > 0 && digits.p[digits.n - 1] == '0')
        digits.n--;
    return arena_printf(a, "%.*s.%.*sZ", (int)(whole.n - 1), whole.p, STR_ARG(digits));
}

static struct doc print_report(const struct checkpoint_report *r, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set_text(a, &d, "PoolName", r->pool);
    doc_set_text(a, &d, "DeviceName", r->device);
    doc_set_text(a, &d, "Health", str_from(HEALTH[r->health]));
    doc_set_text(a, &d, "LastUpdated", print_time(r, a));
    doc_set(a, &d, "HealthCheckTimeout", doc_make_int(a, r->timeout_ns));
    doc_set_text(a, &d, "Message", r->message);
    return d;
}

static struct doc print_driver(const struct checkpoint_reports *r, uint32_t from,
                               uint32_t to, struct arena *a)
{
    struct doc d = doc_make_map(), devices = doc_make_map();
    for (uint32_t i = from; i < to; i++) {
        const struct checkpoint_report *x = &r->v[i];
        struct str key =
            arena_printf(a, "%.*s/%.*s", STR_ARG(x->pool), STR_ARG(x->device));
        doc_add_str(a, &devices, key, print_report(x, a));
    }
    doc_set(a, &d, "Devices", devices);
    return d;
}

struct str checkpoint_health_print(const struct checkpoint_reports *r, struct arena *a)
{
    struct doc file = doc_make_map();
    for (uint32_t from = 0, to; from < r->n; from = to) {
        for (to = from + 1; to < r->n && str_eq(r->v[to].driver, r->v[from].driver);)
            to++;
        doc_set_str(a, &file, r->v[from].driver, print_driver(r, from, to, a));
    }
    return go_field_print(&file, a);
}
