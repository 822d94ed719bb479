/* SPDX-License-Identifier: Apache-2.0 */
/* What the status of a rule says: how far its evictions are, or what they would be if it
 * evicted (spec 6.2.8-9). */
#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"
#include "control/taints.h"

struct counts {
    int64_t pods, namespaces, published, allocated, evicted;
};

/* ---- pods that have to go ---- */

static bool is_for(const struct due *due, struct str uid)
{
    for (size_t i = 0; i < due->reasons.n; i++)
        if (due->reasons.v[i].rule && str_eq(due->reasons.v[i].rule->uid, uid))
            return true;
    return false;
}

static void count_pods(const struct taints *t, const struct object *rule,
                       struct counts *n)
{
    struct strmap namespaces = STRMAP_INIT;
    strmap_each(&t->pods, e)
    {
        const struct object *pod = e->value.ptr;
        struct due *due =
            claim_ref_is_deleted(pod->doc) ? NULL : taints_due_of_pod(t, pod);
        if (due && is_for(due, rule->uid)) {
            n->pods++;
            strmap_put(&namespaces, pod->namespace, NULL);
        }
        due_free(due);
    }
    n->namespaces = namespaces.live;
    strmap_release(&namespaces);
}

/* ---- what would be ---- */

/* Of the claims as they would be if this rule alone evicted. Pods and pools are those of
 * t, and stay its own. */
static void simulate(const struct taints *t, const struct object *rule, struct counts *n)
{
    struct taints s = {
        .group_claims = t->group_claims, .pods = t->pods, .pools = t->pools};
    strmap_put(&s.rules, rule->name, NULL)->value.ptr = (void *)rule;
    strmap_each(&t->claims, e)
    {
        const struct tainted_claim *c = e->value.ptr;
        struct tainted_claim *copy = mem_zalloc(sizeof *copy);
        *copy = (struct tainted_claim){c->claim, taints_due_of_claim(&s, c->claim)};
        strmap_put(&s.claims, c->claim->key, NULL)->value.ptr = copy;
    }
    count_pods(&s, rule, n);
    strmap_each(&s.claims, e)
    {
        due_free(((struct tainted_claim *)e->value.ptr)->due);
        free(e->value.ptr);
    }
    strmap_release(&s.claims);
    strmap_release(&s.rules);
}

struct selecting {
    const struct object *rule;
    struct str driver, pool;
    int64_t n;
};

static bool count_device(void *ctx, struct object *slice, const struct doc *device)
{
    struct selecting *s = ctx;
    const struct doc *spec = doc_get(slice->doc, "spec");
    s->n += taints_rule_selects(s->rule, doc_get_text(spec, "driver"),
                                doc_get_text(doc_get(spec, "pool"), "name"),
                                doc_get_text(device, "name"));
    return true;
}

static void count_devices(const struct taints *t, const struct object *rule,
                          struct counts *n)
{
    struct selecting s = {.rule = rule};
    strmap_each(&t->pools, e) taints_each_device(e->value.ptr, count_device, &s);
    n->published = s.n;
    strmap_each(&t->claims, e)
    {
        const struct tainted_claim *c = e->value.ptr;
        const struct doc *list =
            doc_path(c->claim->doc, "status.allocation.devices.results");
        for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
            n->allocated +=
                taints_rule_selects(rule, doc_get_text(&list->items[i], "driver"),
                                    doc_get_text(&list->items[i], "pool"),
                                    doc_get_text(&list->items[i], "device"));
    }
}

/* ---- words ---- */

static struct str plural(int64_t n, const char *one, const char *many, struct arena *a)
{
    return n == 1 ? arena_printf(a, "1 %s", one)
                  : arena_printf(a, "%lld %s", (long long)n, many);
}

static struct str text_of_pending(const struct counts *n, struct arena *a)
{
    struct str pods = plural(n->pods, "pod needs to be evicted in ",
                             "pods need to be evicted in ", a),
               namespaces =
                   plural(n->namespaces, "namespace.", "different namespaces.", a);
    return arena_printf(a, "%.*s%.*s", STR_ARG(pods), STR_ARG(namespaces));
}

static struct str text_of_nothing(const struct counts *n, struct arena *a)
{
    struct str published = plural(n->published, "published device selected.",
                                  "published devices selected.", a),
               allocated = plural(n->allocated, "allocated device selected.",
                                  "allocated devices selected.", a),
               pods = plural(n->pods, "pod would be evicted in",
                             "pods would be evicted in", a),
               namespaces = plural(n->namespaces, "namespace", "different namespaces", a);
    return arena_printf(a,
                        "%.*s %.*s %.*s %.*s if the effect was NoExecute. This "
                        "information will not be updated again. Recreate the "
                        "DeviceTaintRule to trigger an update.",
                        STR_ARG(published), STR_ARG(allocated), STR_ARG(pods),
                        STR_ARG(namespaces));
}

static struct str with_evicted(struct str text, const struct counts *n, struct arena *a)
{
    if (!n->evicted)
        return text;
    struct str more = plural(n->evicted, "pod", "pods", a);
    return arena_printf(a, "%.*s%s%.*s evicted since starting the controller.",
                        STR_ARG(text), text.n ? " " : "", STR_ARG(more));
}

struct saying {
    const char *status, *reason;
    struct str message;
};

static struct saying say(const struct object *rule, const struct counts *n,
                         struct arena *a)
{
    const struct doc *effect = doc_path(rule->doc, "spec.taint.effect");
    if (doc_is_string(effect, "None"))
        return (struct saying){"False", "NoEffect", text_of_nothing(n, a)};
    if (!doc_is_string(effect, "NoExecute"))
        return (struct saying){"False", "OtherEffect",
                               STR("Eviction only happens for the NoExecute effect.")};
    if (n->pods > 0)
        return (struct saying){"True", "PodsPendingEviction", text_of_pending(n, a)};
    return (struct saying){"False", n->evicted ? "Completed" : "NotStarted", STR("")};
}

struct doc taints_condition(const struct taints *t, const struct object *rule,
                            struct arena *a)
{
    const struct doc *effect = doc_path(rule->doc, "spec.taint.effect");
    const struct strmap_entry *e = strmap_find(&t->evicted_by, rule->uid);
    struct counts n = {.evicted = e ? (int64_t)e->value.u : 0};
    int64_t generation = 0;
    if (doc_is_string(effect, "None")) {
        simulate(t, rule, &n);
        count_devices(t, rule, &n);
    } else if (doc_is_string(effect, "NoExecute")) {
        count_pods(t, rule, &n);
    }
    struct saying s = say(rule, &n, a);
    struct doc d = doc_make_map();
    doc_get_int64(doc_get(rule->doc, "metadata"), "generation", &generation);
    doc_set_text(a, &d, "type", STR("EvictionInProgress"));
    doc_set_text(a, &d, "status", str_from(s.status));
    doc_set_text(a, &d, "reason", str_from(s.reason));
    doc_set_text(a, &d, "message", with_evicted(s.message, &n, a));
    doc_set(a, &d, "observedGeneration", doc_make_int(a, generation));
    return d;
}
