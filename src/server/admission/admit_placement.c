/* SPDX-License-Identifier: Apache-2.0 */
/* PodNodeSelector and PodTolerationRestriction: where the pods of a namespace may go, as
 * annotations of it say, or else a file. */
#include "server/admission/admit.h"

#include "api/prepare.h"

/* An annotation of the request's namespace; STR_NONE: it has none. */
static struct str annotation(struct admission *a, const char *name)
{
    struct doc namespace;
    if (!admit_find(a, "", "namespaces", STR(""), a->r->route.namespace, &namespace))
        return STR_NONE;
    return doc_get_text(doc_path(&namespace, "metadata.annotations"), name);
}

static bool fail_plainly(struct admission *a, const char *text)
{
    return fail(a->r, 500, NULL, "%s", text);
}

/* ---- PodNodeSelector ---- */

/* "key=value,..." into a map. */
static bool read_labels(struct admission *a, struct str text, struct doc *out)
{
    *out = doc_make_map();
    for (size_t at = 0; text.n && at <= text.n;) {
        size_t end = str_find_byte(text, ',', at);
        struct str pair = str_trim(str_sub(text, at, end));
        size_t equal = str_find_byte(pair, '=', 0);
        if (equal == SIZE_MAX)
            return fail(a->r, 500, NULL, "invalid selector: [%.*s]", STR_ARG(pair));
        doc_set_str(
            a->r->a, out, str_trim(str_sub(pair, 0, equal)),
            doc_make_string(a->r->a, str_trim(str_sub(pair, equal + 1, SIZE_MAX))));
        at = end == SIZE_MAX ? text.n + 1 : end + 1;
    }
    return true;
}

/* Whether a key has another value in each. */
static bool conflicts(const struct doc *x, const struct doc *y)
{
    for (uint32_t i = 0; y && y->type == DOC_MAP && i < y->n; i++) {
        const struct doc *v = doc_get_str(x, doc_key(&y->members[i]));
        if (v && !doc_equal(v, &y->members[i].value))
            return true;
    }
    return false;
}

static struct str configured(struct admission *a, struct str name)
{
    const struct doc *d = doc_get_str(a->r->s->plugins.node_selectors, name);
    return d && d->type == DOC_STRING ? doc_str(d) : STR("");
}

static bool namespace_selector(struct admission *a, struct doc *out)
{
    struct str own = annotation(a, "scheduler.alpha.kubernetes.io/node-selector");
    return read_labels(a, own.p ? own : configured(a, STR("clusterDefaultNodeSelector")),
                       out);
}

static bool fits_list(struct admission *a, const struct doc *selector)
{
    struct doc list;
    if (!read_labels(a, configured(a, a->r->route.namespace), &list))
        return false;
    bool all = true;
    for (uint32_t i = 0; list.n && selector && i < selector->n; i++) {
        const struct doc *v = doc_get_str(&list, doc_key(&selector->members[i]));
        all = all && v && doc_equal(v, &selector->members[i].value);
    }
    return all || admit_forbid(a, "pod node label selector labels conflict with its "
                                  "namespace whitelist");
}

bool check_node_selector(struct admission *a)
{
    struct doc selector;
    const struct doc *own = doc_path(a->object, "spec.nodeSelector");
    if (!admit_on(a, "", "pods"))
        return true;
    if (!namespace_selector(a, &selector))
        return false;
    if (conflicts(&selector, own))
        return admit_forbid(a,
                            "pod node label selector conflicts with its namespace node "
                            "label selector");
    return fits_list(a, own);
}

bool admit_node_selector(struct admission *a)
{
    struct doc selector;
    if (!admit_on(a, "", "pods"))
        return true;
    if (!check_node_selector(a) || !namespace_selector(a, &selector))
        return false;
    struct doc *spec = admit_made(a, a->object, "spec", doc_make_map());
    if (selector.n) {
        struct doc *own = admit_made(a, spec, "nodeSelector", doc_make_map());
        for (uint32_t i = 0; i < selector.n; i++)
            doc_set_str(a->r->a, own, doc_key(&selector.members[i]),
                        selector.members[i].value);
    }
    return check_node_selector(a);
}

/* ---- PodTolerationRestriction ---- */

static bool is_empty(const struct doc *d)
{
    return !d || d->type == DOC_NULL || (d->type == DOC_STRING && d->n == 0);
}

static bool same_member(const struct doc *x, const struct doc *y, const char *key)
{
    const struct doc *v = doc_get(x, key), *w = doc_get(y, key);
    return (is_empty(v) && is_empty(w)) || (v && w && doc_equal(v, w));
}

static bool is_same(const struct doc *x, const struct doc *y)
{
    static const char *const MEMBERS[] = {"key", "operator", "value", "effect",
                                          "tolerationSeconds"};
    bool same = true;
    for (int i = 0; i < 5; i++)
        same = same && same_member(x, y, MEMBERS[i]);
    return same;
}

/* Whether whatever t tolerates is tolerated by wide. */
static bool covers(const struct doc *wide, const struct doc *t)
{
    struct str op = doc_get_text(wide, "operator");
    int64_t most, seconds;
    if (is_same(wide, t))
        return true;
    if (!same_member(wide, t, "key") &&
        !(is_empty(doc_get(wide, "key")) && str_is(op, "Exists")))
        return false;
    if (!same_member(wide, t, "effect") && !is_empty(doc_get(wide, "effect")))
        return false;
    if (doc_is_string(doc_get(wide, "effect"), "NoExecute") &&
        doc_get_int64(wide, "tolerationSeconds", &most) &&
        (!doc_get_int64(t, "tolerationSeconds", &seconds) || seconds > most))
        return false;
    if (op.n == 0 || str_is(op, "Equal"))
        return doc_is_string(doc_get(t, "operator"), "Equal") &&
               same_member(wide, t, "value");
    return str_is(op, "Exists");
}

/* Those of an annotation, else of the file. false: the annotation cannot be read. */
static bool tolerations_of(struct admission *a, const char *name, const char *member,
                           struct doc *out, bool *own)
{
    struct str text = annotation(a, name);
    const struct doc *d = doc_get(a->r->s->plugins.tolerations, member);
    struct doc_source src = {.name = name, .text = text};
    struct err e = ERR_INIT;
    *own = text.p != NULL;
    *out = doc_make_list();
    if (!text.p && d && d->type == DOC_LIST)
        *out = *d;
    if (text.n == 0)
        return true;
    bool ok = doc_read_json(&src, a->r->a, out, &e) && out->type == DOC_LIST;
    if (!ok)
        fail_plainly(a, e.msg ? err_text(&e) : "json: a list of tolerations is needed");
    err_release(&e);
    return ok;
}

static bool is_redundant(const struct doc *all, uint32_t i, const struct doc *kept)
{
    const struct doc *t = &all->items[i];
    for (uint32_t k = 0; k < kept->n; k++)
        if (covers(&kept->items[k], t))
            return true;
    for (uint32_t k = i + 1; k < all->n; k++)
        if (!is_same(&all->items[k], t) && covers(&all->items[k], t))
            return true;
    return false;
}

static void merge(struct admission *a, const struct doc *more)
{
    struct arena *m = a->r->a;
    struct doc *spec = admit_made(a, a->object, "spec", doc_make_map());
    const struct doc *own = doc_get(spec, "tolerations");
    struct doc all = doc_make_list(), kept = doc_make_list();
    for (uint32_t i = 0; own && own->type == DOC_LIST && i < own->n; i++)
        doc_append(m, &all, own->items[i]);
    for (uint32_t i = 0; i < more->n; i++)
        doc_append(m, &all, doc_dup(m, &more->items[i]));
    for (uint32_t i = 0; i < all.n; i++)
        if (!is_redundant(&all, i, &kept))
            doc_append(m, &kept, all.items[i]);
    doc_set(m, spec, "tolerations", kept);
}

static void add_memory_pressure(struct admission *a, struct doc *list)
{
    struct doc t = doc_make_map();
    admit_set_text(a, &t, "key", STR("node.kubernetes.io/memory-pressure"));
    admit_set_text(a, &t, "operator", STR("Exists"));
    admit_set_text(a, &t, "effect", STR("NoSchedule"));
    doc_append(a->r->a, list, t);
}

bool check_tolerations(struct admission *a)
{
    struct doc list;
    bool own;
    const struct doc *mine = doc_path(a->object, "spec.tolerations");
    if (!admit_on(a, "", "pods") || !mine || mine->type != DOC_LIST || mine->n == 0)
        return true;
    if (!tolerations_of(a, "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
                        "whitelist", &list, &own))
        return false;
    for (uint32_t i = 0; list.n && i < mine->n; i++) {
        uint32_t k = 0;
        while (k < list.n && !covers(&list.items[k], &mine->items[i]))
            k++;
        if (k == list.n)
            return fail(a->r, 500, NULL,
                        "pod tolerations (possibly merged with namespace default "
                        "tolerations) conflict with its %s whitelist",
                        own ? "namespace" : "cluster");
    }
    return true;
}

bool admit_tolerations(struct admission *a)
{
    struct doc more = doc_make_list(), list;
    bool own;
    if (!admit_on(a, "", "pods"))
        return true;
    if (a->verb == ADMIT_CREATE) {
        if (!tolerations_of(a, "scheduler.alpha.kubernetes.io/defaultTolerations",
                            "default", &list, &own))
            return false;
        more = doc_dup(a->r->a, &list);
    }
    const char *class = api_pod_qos(doc_get(a->object, "spec"), a->r->a);
    if (strcmp(class, "BestEffort") != 0)
        add_memory_pressure(a, &more);
    if (more.n)
        merge(a, &more);
    return check_tolerations(a);
}
