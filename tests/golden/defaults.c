/* SPDX-License-Identifier: Apache-2.0 */
/* golden/defaults: what a server makes of minimal objects. Who manages which field is not
 * compared here. */
#include "golden/golden.h"

#include "api/admit.h"
#include "api/canonical.h"
#include "api/defaults.h"
#include "api/edit.h"
#include "api/prepare.h"

/* Times of the recorded run stand for the present. */
static struct str time_of(const struct doc *returned)
{
    static const char *const places[] = {"spec.taint.timeAdded",
                                         "status.lastPhaseTransitionTime"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct doc *d = doc_path(returned, places[i]);
        if (d)
            return doc_str(d);
    }
    const struct doc *devices = doc_path(returned, "spec.devices");
    for (uint32_t i = 0; devices && devices->type == DOC_LIST && i < devices->n; i++) {
        const struct doc *device = &devices->items[i], *basic = doc_get(device, "basic");
        const struct doc *taints = doc_get(basic ? basic : device, "taints");
        if (taints && taints->n)
            return doc_get_text(&taints->items[0], "timeAdded");
    }
    return STR("2026-01-01T00:00:00Z");
}

/* What the store gives to every object, as the recording spells it. */
static void identify(struct doc *object, struct arena *a)
{
    static const char *const fields[] = {"uid", "resourceVersion", "creationTimestamp"};
    struct doc *meta = api_edit_get(object, "metadata");
    for (size_t i = 0; meta && i < sizeof fields / sizeof *fields; i++)
        doc_set(a, meta, fields[i],
                doc_make_string(a, arena_printf(a, "<%s>", fields[i])));
}

static struct doc made_of(const struct api_kind *kind, const struct doc *sent,
                          struct str now, struct arena *a)
{
    struct doc object = doc_dup(a, sent);
    struct api_admit admit = {.a = a, .preemption = "PreemptLowerPriority"};
    struct api_prepare prepare = {a, now, "IPv4"};
    api_canonical(kind->type, &object, a);
    api_default(kind, &object, now, a);
    identify(&object, a);
    api_admit_create(&admit, kind, &object);
    api_prepare_create(&prepare, kind, &object);
    return object;
}

static void run_case(struct golden *g, struct golden_case *c)
{
    const struct doc *sent = doc_get(c->doc, "sent");
    struct doc want = doc_dup(c->arena, doc_get(c->doc, "returned"));
    const struct api_kind *kind =
        api_kind_find(doc_get_text(sent, "apiVersion"), doc_get_text(sent, "kind"));
    if (!kind) {
        golden_fail(c, "no such kind");
        return;
    }
    doc_remove(api_edit_get(&want, "metadata"), STR("managedFields"));
    struct doc got = made_of(kind, sent, time_of(&want), c->arena);
    golden_check_doc(c, "returned", &want, &got);
}

const struct golden_runner golden_defaults = {.folder = "defaults", .run_case = run_case};
