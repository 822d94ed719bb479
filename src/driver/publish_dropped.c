/* SPDX-License-Identifier: Apache-2.0 */
/* What a server did not keep of a slice: it is old, or features of it are off. */
#include "base/map.h"
#include "driver/publish_plan.h"

static void take_times(struct arena *a, struct doc *device, const struct doc *stored)
{
    struct doc *list = (struct doc *)doc_get(device, "taints");
    const struct doc *have = doc_get(stored, "taints");
    for (uint32_t i = 0; list && have && i < list->n && i < have->n; i++) {
        struct str time = doc_get_text(&have->items[i], "timeAdded");
        if (time.n && !doc_get_text(&list->items[i], "timeAdded").n)
            doc_set_text(a, &list->items[i], "timeAdded", time);
    }
}

bool publish_plan_differs(const struct doc *written, const struct doc *stored,
                          struct arena *a, struct doc *adopt)
{
    const struct doc *have = doc_get(stored, "spec");
    struct doc want = doc_dup(a, doc_get(written, "spec"));
    if (!have || have->type != DOC_MAP)
        return false;
    struct doc is = doc_dup(a, have);
    struct doc *to = (struct doc *)doc_get(&want, "devices");
    const struct doc *from = doc_get(&is, "devices");
    for (uint32_t i = 0; to && from && i < to->n && i < from->n; i++)
        take_times(a, &to->items[i], &from->items[i]);
    doc_remove(&want, STR("pool"));
    doc_remove(&is, STR("pool"));
    if (doc_equal(&want, &is))
        return false;
    *adopt = is;
    return true;
}

/* ---- for people ---- */

struct feature {
    const char *field, *gate;
};
static const struct feature FEATURES[] = {
    {"taints", "DRADeviceTaints"},
    {"consumesCounters", "DRAPartitionableDevices"},
    {"sharedCounters", "DRAPartitionableDevices"},
    {"allowMultipleAllocations", "DRAConsumableCapacity"},
    {"requestPolicy", "DRAConsumableCapacity"},
    {"attributes", "DRAListTypeAttributes"},
};
enum { NFEATURES = sizeof FEATURES / sizeof *FEATURES };

static unsigned feature_of(struct str field)
{
    unsigned i = 0;
    while (i < NFEATURES && !str_is(field, FEATURES[i].field))
        i++;
    return i;
}

/* A set of bits, one a feature; the last for what none of them explains. */
static unsigned missing(const struct doc *want, const struct doc *is, unsigned in)
{
    unsigned set = 0;
    if (want->type == DOC_LIST) {
        bool same = is && is->type == DOC_LIST && is->n == want->n;
        for (uint32_t i = 0; i < want->n; i++)
            set |= missing(&want->items[i], same ? &is->items[i] : NULL, in);
    } else if (want->type == DOC_MAP && is) {
        for (uint32_t i = 0; i < want->n; i++) {
            struct str key = doc_key(&want->members[i]);
            unsigned at = feature_of(key);
            set |= missing(&want->members[i].value, doc_get_str(is, key),
                           at < NFEATURES ? at : in);
        }
    } else if (!is || !doc_equal(want, is)) {
        set |= 1u << in;
    }
    return set;
}

struct str publish_plan_dropped(const struct doc *written, const struct doc *stored,
                                struct arena *a)
{
    unsigned set = missing(doc_get(written, "spec"), doc_get(stored, "spec"), NFEATURES);
    struct str out = STR_NONE;
    for (unsigned i = 0; i < NFEATURES; i++)
        if (set & 1u << i)
            out = arena_printf(a, "%.*s%s%s (%s)", STR_ARG(out), out.n ? ", " : "",
                               FEATURES[i].field, FEATURES[i].gate);
    return out.n ? out : STR("something unknown");
}
