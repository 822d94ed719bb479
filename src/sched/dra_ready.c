/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that the devices of a claim have to meet before a pod is bound (spec 7.8.4,
 * KEP-5007). */
#include "api/timestamp.h"
#include "base/quote.h"
#include "sched/dra_inner.h"

static const struct doc *list_at(const struct doc *d, const char *path)
{
    const struct doc *list = doc_path(d, path);
    return list && list->type == DOC_LIST ? list : NULL;
}

/* The entry of status.devices; shares of a device are not told apart. */
static const struct doc *status_of(const struct object *claim,
                                   const struct view_result *r)
{
    const struct doc *list = list_at(claim->doc, "status.devices");
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *d = &list->items[i];
        if (str_eq(doc_get_text(d, "device"), r->device) &&
            str_eq(doc_get_text(d, "driver"), r->driver) &&
            str_eq(doc_get_text(d, "pool"), r->pool))
            return d;
    }
    return NULL;
}

/* The condition if it is True; else NULL. */
static const struct doc *true_condition(const struct doc *status, struct str type)
{
    const struct doc *list = list_at(status, "conditions");
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "type"), type))
            return doc_is_string(doc_get(&list->items[i], "status"), "True")
                       ? &list->items[i]
                       : NULL;
    return NULL;
}

static struct str failure_text(const struct object *claim, const struct doc *condition,
                               struct arena *a)
{
    struct strbuf message = STRBUF_INIT;
    strbuf_add_quoted(&message, doc_get_text(condition, "message"));
    struct str text =
        arena_printf(a, "device binding failed: claim=%.*s, reason=%.*s, message=%s",
                     STR_ARG(claim->name), STR_ARG(doc_get_text(condition, "reason")),
                     strbuf_cstr(&message));
    strbuf_release(&message);
    return text;
}

static enum dra_ready result_ready(const struct object *claim,
                                   const struct view_result *r, struct arena *a,
                                   struct str *why)
{
    const struct doc *status = status_of(claim, r);
    if (!status)
        return DRA_NOT_YET;
    for (uint32_t i = 0; i < r->binding_failure_conditions.n; i++) {
        const struct doc *f = true_condition(status, r->binding_failure_conditions.v[i]);
        if (!f)
            continue;
        *why = failure_text(claim, f, a);
        return DRA_FAILED;
    }
    for (uint32_t i = 0; i < r->binding_conditions.n; i++)
        if (!true_condition(status, r->binding_conditions.v[i]))
            return DRA_NOT_YET;
    return DRA_READY;
}

enum dra_ready dra_claim_ready(const struct object *claim, struct arena *a,
                               struct str *why)
{
    const struct view_allocation *al = dra_view(claim)->allocation;
    if (!al)
        return DRA_NOT_YET;
    for (uint32_t i = 0; i < al->nresults; i++) {
        if (!al->results[i].binding_conditions.n)
            continue;
        enum dra_ready ready = result_ready(claim, &al->results[i], a, why);
        if (ready != DRA_READY)
            return ready;
    }
    return DRA_READY;
}

bool dra_has_conditions(const struct object *claim)
{
    const struct view_allocation *al = dra_view(claim)->allocation;
    for (uint32_t i = 0; al && i < al->nresults; i++)
        if (al->results[i].binding_conditions.n)
            return true;
    return false;
}

bool dra_claim_late(const struct dra *d, const struct object *claim, uint64_t limit_ms)
{
    struct str text =
        doc_get_text(doc_path(claim->doc, "status.allocation"), "allocationTimestamp");
    int64_t seconds;
    int32_t nanos;
    return text.n && timestamp_parse(text, &seconds, &nanos) &&
           dra_has_conditions(claim) && dra_now(d) - seconds > (int64_t)(limit_ms / 1000);
}
