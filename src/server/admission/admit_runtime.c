/* SPDX-License-Identifier: Apache-2.0 */
/* RuntimeClass: a pod's overhead, and where it may run, come from its class. */
#include "server/admission/admit.h"

static bool find_class(struct admission *a, struct doc *out, bool *found)
{
    struct str name = doc_get_text(doc_get(a->object, "spec"), "runtimeClassName");
    *found = name.p && admit_find(a, "node.k8s.io", "runtimeclasses", STR(""), name, out);
    return !name.p || *found ||
           admit_forbid(a, "pod rejected: RuntimeClass \"%.*s\" not found",
                        STR_ARG(name));
}

static bool is_empty(const struct doc *d)
{
    return !d || d->type != DOC_MAP || d->n == 0;
}

/* ---- tolerations that make others needless ---- */

static struct str text_or(const struct doc *d, const char *key, const char *otherwise)
{
    struct str s = doc_get_text(d, key);
    return s.n ? s : str_from(otherwise);
}

static bool same_toleration(const struct doc *x, const struct doc *y)
{
    static const char *const KEYS[] = {"key", "operator", "value", "effect"};
    int64_t a = -1, b = -1;
    bool has = doc_get_int64(x, "tolerationSeconds", &a);
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (!str_eq(doc_get_text(x, KEYS[i]), doc_get_text(y, KEYS[i])))
            return false;
    return has == doc_get_int64(y, "tolerationSeconds", &b) && a == b;
}

/* Whether big tolerates all that small does, and as long. */
static bool covers(const struct doc *big, const struct doc *small)
{
    struct str key = doc_get_text(big, "key"), effect = doc_get_text(big, "effect"),
               op = text_or(big, "operator", "Equal");
    bool exists = str_is(op, "Exists");
    int64_t limit, asked;
    if (same_toleration(big, small))
        return true;
    if (!str_eq(key, doc_get_text(small, "key")) && (key.n || !exists))
        return false;
    if (effect.n && !str_eq(effect, doc_get_text(small, "effect")))
        return false;
    if (str_is(effect, "NoExecute") && doc_get_int64(big, "tolerationSeconds", &limit) &&
        (!doc_get_int64(small, "tolerationSeconds", &asked) || asked > limit))
        return false;
    /* An operator that is left out is no "Equal" here: upstream compares it as it is. */
    return exists ||
           (str_is(op, "Equal") && doc_is_string(doc_get(small, "operator"), "Equal") &&
            str_eq(doc_get_text(small, "value"), doc_get_text(big, "value")));
}

static bool is_covered(const struct doc *all, uint32_t i, const struct doc *kept)
{
    const struct doc *t = &all->items[i];
    for (uint32_t k = 0; k < kept->n; k++)
        if (covers(&kept->items[k], t))
            return true;
    for (uint32_t k = i + 1; k < all->n; k++)
        if (!same_toleration(t, &all->items[k]) && covers(&all->items[k], t))
            return true;
    return false;
}

static void add_items(struct arena *a, struct doc *list, const struct doc *from)
{
    for (uint32_t i = 0; from && from->type == DOC_LIST && i < from->n; i++)
        doc_append(a, list, doc_dup(a, &from->items[i]));
}

static void merge_tolerations(struct admission *a, struct doc *spec,
                              const struct doc *scheduling)
{
    struct doc all = doc_make_list(), kept = doc_make_list();
    add_items(a->r->a, &all, doc_get(spec, "tolerations"));
    add_items(a->r->a, &all, doc_get(scheduling, "tolerations"));
    for (uint32_t i = 0; i < all.n; i++)
        if (!is_covered(&all, i, &kept))
            doc_append(a->r->a, &kept, all.items[i]);
    if (kept.n)
        doc_set(a->r->a, spec, "tolerations", kept);
}

/* ---- what the class says ---- */

static bool merge_selector(struct admission *a, struct doc *spec,
                           const struct doc *scheduling)
{
    const struct doc *from = doc_get(scheduling, "nodeSelector");
    if (is_empty(from))
        return true;
    struct doc *to = admit_made(a, spec, "nodeSelector", doc_make_map());
    for (uint32_t i = 0; i < from->n; i++) {
        struct str key = doc_key(&from->members[i]);
        const struct doc *want = &from->members[i].value, *have = doc_get_str(to, key);
        if (have && !doc_equal(have, want))
            return admit_forbid(a,
                                "conflict: runtimeClass.scheduling.nodeSelector[%.*s] = "
                                "%.*s; pod.spec.nodeSelector[%.*s] = %.*s",
                                STR_ARG(key), STR_ARG(doc_str(want)), STR_ARG(key),
                                STR_ARG(doc_str(have)));
        doc_set_str(a->r->a, to, key, *want);
    }
    return true;
}

static bool check_overhead(struct admission *a, const struct doc *class)
{
    const struct doc *overhead = doc_path(a->object, "spec.overhead");
    const struct doc *fixed = class ? doc_path(class, "overhead.podFixed") : NULL;
    if (!class || !doc_get(class, "overhead"))
        return !overhead ||
               admit_forbid(a, "pod rejected: Pod Overhead set without "
                               "corresponding RuntimeClass defined Overhead");
    return (is_empty(fixed) && is_empty(overhead)) ||
           (overhead && fixed && doc_equal(overhead, fixed)) ||
           admit_forbid(a, "pod rejected: Pod's Overhead doesn't match RuntimeClass's "
                           "defined Overhead");
}

static bool set_overhead(struct admission *a, struct doc *spec, const struct doc *class)
{
    const struct doc *fixed = doc_path(class, "overhead.podFixed");
    if (!doc_get(class, "overhead"))
        return true;
    if (!is_empty(doc_get(spec, "overhead")) && !check_overhead(a, class))
        return false;
    if (!is_empty(fixed))
        doc_set(a->r->a, spec, "overhead", doc_dup(a->r->a, fixed));
    return true;
}

bool admit_runtime(struct admission *a)
{
    struct doc class;
    bool found;
    if (!admit_on(a, "", "pods"))
        return true;
    if (!find_class(a, &class, &found))
        return false;
    if (!found)
        return true;
    struct doc *spec = admit_made(a, a->object, "spec", doc_make_map());
    const struct doc *scheduling = doc_get(&class, "scheduling");
    if (!set_overhead(a, spec, &class) || !merge_selector(a, spec, scheduling))
        return false;
    if (scheduling)
        merge_tolerations(a, spec, scheduling);
    return true;
}

bool check_runtime(struct admission *a)
{
    struct doc class;
    bool found;
    if (!admit_on(a, "", "pods"))
        return true;
    return find_class(a, &class, &found) && check_overhead(a, found ? &class : NULL);
}
