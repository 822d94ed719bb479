/* SPDX-License-Identifier: Apache-2.0 */
/* PodSecurity: what the labels of a namespace ask of its pods, and of the labels. */
#include "server/admission/admit.h"

#include "api/pod_security.h"
#include "base/clock.h"
#include "base/map.h"
#include "server/access/user.h"
#include "server/audit/audit.h"
#include "server/observe/metrics.h"

#include <stdlib.h>

enum {
    MAX_PODS = 3000, /* that are looked at when a namespace's labels change */
    MAX_NS = 250000000,
};

static void note(struct admission *a, const char *key, struct str text)
{
    audit_annotate(a->r, arena_printf(a->r->a, "pod-security.kubernetes.io/%s", key),
                   text);
}

/* ---- who is not looked at ---- */

static bool is_exempt(const struct admission *a, const char *what, struct str name)
{
    const struct doc *list = doc_get(a->r->s->plugins.exempt, what);
    for (uint32_t i = 0; name.n && list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), name))
            return true;
    return false;
}

static struct str runtime_class(const struct doc *pod)
{
    return doc_get_text(doc_get(pod, "spec"), "runtimeClassName");
}

/* ---- policies ---- */

static unsigned read_policy(const struct admission *a, const struct doc *labels,
                            struct pod_policy *out, struct pod_policy_problem *problems)
{
    return pod_policy_read(labels, &a->r->s->plugins.pod_defaults, out, problems);
}

/* The labels of the request's namespace; false: it is not there. */
static bool find_labels(struct admission *a, struct doc *labels)
{
    struct request *r = a->r;
    const struct resource *res = kinds_stored(r->s, "", "namespaces");
    struct cache_object *o =
        cache_get(r->s->cache, object_key(res, STR(""), r->route.namespace, r->a));
    *labels = doc_make_map();
    for (int i = 0; o && i < POD_MODES * 2; i++) {
        const char *name = pod_policy_label((enum pod_mode)(i / 2), i % 2);
        struct str value = cache_pair_find(o->labels, o->nlabels, str_from(name));
        if (value.p)
            doc_set(r->a, labels, name, doc_make_string(r->a, value));
    }
    return o != NULL;
}

static void note_problems(struct admission *a, const struct pod_policy_problem *p,
                          unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    for (unsigned i = 0; i < n; i++)
        strbuf_addf(&b, "%smetadata.labels[%s]: Invalid value: \"%.*s\": %s",
                    i ? ", " : "", p[i].label, STR_ARG(p[i].value), p[i].text);
    note(a, "error",
         arena_printf(a->r->a, "Failed to parse policy: %s%s%s", n > 1 ? "[" : "",
                      strbuf_cstr(&b), n > 1 ? "]" : ""));
    strbuf_release(&b);
}

/* ---- pods and what makes them ---- */

static struct str would_violate(struct admission *a, struct pod_standard s,
                                const struct doc *pod)
{
    struct arena *m = a->r->a;
    struct str what = pod_violations(s, pod, true, m);
    if (!what.p)
        return STR_NONE;
    return arena_printf(m, "would violate PodSecurity \"%.*s\": %.*s",
                        STR_ARG(pod_standard_print(s, m)), STR_ARG(what));
}

static bool enforce(struct admission *a, struct pod_standard s, const struct doc *pod)
{
    struct arena *m = a->r->a;
    struct str shown = pod_standard_print(s, m), what = pod_violations(s, pod, true, m);
    note(a, "enforce-policy", shown);
    if (!what.p)
        return true;
    return admit_forbid(a, "violates PodSecurity \"%.*s\": %.*s", STR_ARG(shown),
                        STR_ARG(what));
}

static void count(struct admission *a, enum pod_mode mode, struct pod_standard s,
                  bool allowed)
{
    static const char *const MODES[] = {"enforce", "audit", "warn"};
    static const char *const LEVELS[] = {"privileged", "baseline", "restricted"};
    struct str version =
        s.minor == POD_LATEST ? STR("latest") : arena_printf(a->r->a, "v1.%d", s.minor);
    if (s.minor > POD_NEWEST)
        version = STR("future");
    struct str labels[] = {allowed ? STR("allow") : STR("deny"),
                           str_from(MODES[mode]),
                           str_from(LEVELS[s.level]),
                           s.level == POD_PRIVILEGED ? STR("latest") : version,
                           a->verb == ADMIT_CREATE ? STR("create") : STR("update"),
                           admit_of(a, "", "pods") ? STR("pod") : STR("controller"),
                           str_from(admit_sub(a))};
    metrics_add(a->r->s->metrics, METRIC_POD_SECURITY, labels, 1);
}

/* Refuses what is enforced (of a pod), and tells of the rest. */
static bool judge(struct admission *a, const struct pod_policy *p, const struct doc *pod,
                  bool enforced)
{
    bool ok = !enforced || enforce(a, p->of[POD_ENFORCE], pod);
    if (enforced)
        count(a, POD_ENFORCE, p->of[POD_ENFORCE], ok);
    struct str audit = would_violate(a, p->of[POD_AUDIT], pod);
    if (audit.p) {
        note(a, "audit-violations", audit);
        count(a, POD_AUDIT, p->of[POD_AUDIT], false);
    }
    struct str warn = ok ? would_violate(a, p->of[POD_WARN], pod) : STR_NONE;
    if (warn.p) {
        request_warn(a->r, warn);
        count(a, POD_WARN, p->of[POD_WARN], false);
    }
    return ok;
}

static const struct doc *item(const struct doc *pod, const char *path, uint32_t i)
{
    const struct doc *list = doc_path(pod, path);
    return list && list->type == DOC_LIST && i < list->n ? &list->items[i] : NULL;
}

static bool same_image(const struct doc *x, const struct doc *y)
{
    return str_eq(doc_get_text(x, "image"), doc_get_text(y, "image"));
}

/* The only change that can matter: all else that is looked at is immutable. */
static bool same_images(const struct doc *pod, const struct doc *old, const char *path)
{
    uint32_t n = admit_count(pod, path);
    if (n != admit_count(old, path))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_image(item(pod, path, i), item(old, path, i)))
            return false;
    return true;
}

static const char EPHEMERAL[] = "spec.ephemeralContainers";

static bool has_same(const struct doc *old, const struct doc *container)
{
    struct str name = doc_get_text(container, "name");
    const struct doc *c;
    for (uint32_t i = 0; (c = item(old, EPHEMERAL, i)); i++)
        if (str_eq(doc_get_text(c, "name"), name))
            return same_image(c, container);
    return false;
}

static bool is_significant(const struct doc *pod, const struct doc *old)
{
    const struct doc *c;
    if (!same_images(pod, old, "spec.containers") ||
        !same_images(pod, old, "spec.initContainers"))
        return true;
    for (uint32_t i = 0; (c = item(pod, EPHEMERAL, i)); i++)
        if (!has_same(old, c))
            return true;
    return false;
}

static bool is_ignored(const char *sub)
{
    static const char *const NAMES[] = {"exec", "attach",      "binding", "eviction",
                                        "log",  "portforward", "proxy",   "status"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(sub, NAMES[i]) == 0)
            return true;
    return false;
}

static bool excuse(struct admission *a, const char *what)
{
    struct str labels[] = {a->verb == ADMIT_CREATE ? STR("create") : STR("update"),
                           admit_of(a, "", "pods") ? STR("pod") : STR("controller"),
                           str_from(admit_sub(a))};
    metrics_add(a->r->s->metrics, METRIC_POD_SECURITY_EXEMPT, labels, 1);
    note(a, "exempt", str_from(what));
    return true;
}

static bool check_workload(struct admission *a, bool pod)
{
    struct pod_policy_problem problems[POD_POLICY_PROBLEMS];
    struct pod_policy policy;
    struct doc labels;
    if (is_exempt(a, "namespaces", a->r->route.namespace))
        return excuse(a, "namespace");
    if (is_exempt(a, "usernames", a->r->user->name))
        return excuse(a, "user");
    if (!find_labels(a, &labels) && pod)
        return fail(a->r, 500, "InternalError",
                    "Internal error occurred: failed to lookup namespace \"%.*s\"",
                    STR_ARG(a->r->route.namespace));
    unsigned n = read_policy(a, &labels, &policy, problems);
    if (!pod)
        policy.of[POD_ENFORCE].level = POD_PRIVILEGED;
    if (n == 0 && pod_policy_is_privileged(&policy)) {
        if (pod) {
            note(a, "enforce-policy", STR("privileged:latest"));
            count(a, POD_ENFORCE, policy.of[POD_ENFORCE], true);
        }
        return true;
    }
    if (pod && a->verb == ADMIT_UPDATE && !is_significant(a->object, a->old))
        return true;
    const struct doc *spec =
        pod_of(a->r->res->main->group, a->r->res->main->resource, a->object);
    if (!spec || spec->type != DOC_MAP)
        return true;
    if (is_exempt(a, "runtimeClasses", runtime_class(spec)))
        return excuse(a, "runtimeClass");
    if (n)
        note_problems(a, problems, n);
    return judge(a, &policy, spec, pod);
}

/* ---- namespaces ---- */

static bool fail_labels(struct admission *a, const struct pod_policy_problem *p,
                        unsigned n)
{
    struct request *r = a->r;
    fail(r, 422, "Invalid", " ");
    for (unsigned i = 0; i < n; i++)
        fail_cause(r, "FieldValueInvalid",
                   arena_printf(r->a, "Invalid value: \"%.*s\": %s", STR_ARG(p[i].value),
                                p[i].text),
                   arena_printf(r->a, "metadata.labels[%s]", p[i].label));
    return fail_invalid(r, STR(""), "Namespace", a->name);
}

static bool same_problems(const struct pod_policy_problem *x, unsigned nx,
                          const struct pod_policy_problem *y, unsigned ny)
{
    bool same = nx == ny;
    for (unsigned i = 0; same && i < nx; i++)
        same = strcmp(x[i].label, y[i].label) == 0 && str_eq(x[i].value, y[i].value);
    return same;
}

static void warn_exempt(struct admission *a, const struct pod_policy *p,
                        const struct doc *labels)
{
    static const char *const NAMES[] = {"enforce", "audit", "warn"};
    struct arena *m = a->r->a;
    struct strbuf b = STRBUF_INIT;
    if (pod_policy_is_privileged(p) ||
        pod_policy_equal(p, &a->r->s->plugins.pod_defaults))
        return;
    for (int i = 0; i < POD_MODES; i++)
        if (p->of[i].level != POD_PRIVILEGED &&
            (doc_get(labels, pod_policy_label((enum pod_mode)i, false)) ||
             doc_get(labels, pod_policy_label((enum pod_mode)i, true))))
            strbuf_addf(&b, "%s%s=%.*s", b.n ? ", " : "", NAMES[i],
                        STR_ARG(pod_standard_print(p->of[i], m)));
    request_warn(a->r, arena_printf(m,
                                    "namespace \"%.*s\" is exempt from Pod Security, and "
                                    "the policy (%s) will be ignored",
                                    STR_ARG(a->name), strbuf_cstr(&b)));
    strbuf_release(&b);
}

/* Pods that violate in one way. */
struct violation {
    struct str what, pod; /* the first by name */
    uint32_t n;
};

struct survey {
    struct admission *a;
    struct pod_standard s;
    struct strmap seen; /* uids of controllers: one pod of each comes first */
    VEC(struct cache_object *) first, others;
    VEC(struct violation) violations;
};

static struct str controller_uid(const struct doc *pod)
{
    const struct doc *list = doc_path(pod, "metadata.ownerReferences");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        bool yes = false;
        if (doc_get_bool(&list->items[i], "controller", &yes) && yes)
            return doc_get_text(&list->items[i], "uid");
    }
    return STR_NONE;
}

static bool note_pod(void *ctx, struct cache_object *o)
{
    struct survey *s = ctx;
    struct doc pod = object_doc(o, s->a->r->a);
    struct str uid = controller_uid(&pod);
    bool made = true;
    if (is_exempt(s->a, "runtimeClasses", runtime_class(&pod)))
        return true;
    if (uid.n)
        strmap_put(&s->seen, uid, &made);
    if (made)
        vec_push(&s->first, o);
    else
        vec_push(&s->others, o);
    return true;
}

static void look_at_pod(struct survey *s, struct cache_object *o)
{
    struct arena *m = s->a->r->a;
    struct doc pod = object_doc(o, m);
    struct str what = pod_violations(s->s, &pod, false, m);
    if (!what.p)
        return;
    struct violation *v = NULL;
    for (size_t i = 0; i < s->violations.n; i++)
        if (str_eq(s->violations.v[i].what, what))
            v = &s->violations.v[i];
    if (!v) {
        vec_push(&s->violations, (struct violation){what, arena_str(m, o->name), 1});
        return;
    }
    v->n++;
    if (str_cmp(o->name, v->pod) < 0)
        v->pod = arena_str(m, o->name);
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static struct str print_violation(const struct violation *v, struct arena *a)
{
    if (v->n == 1)
        return arena_printf(a, "%.*s: %.*s", STR_ARG(v->pod), STR_ARG(v->what));
    return arena_printf(a, "%.*s (and %u other pod%s): %.*s", STR_ARG(v->pod), v->n - 1,
                        v->n == 2 ? "" : "s", STR_ARG(v->what));
}

static void tell_violations(struct survey *s)
{
    struct arena *m = s->a->r->a;
    size_t n = s->violations.n;
    struct str *lines = ARENA_ARRAY(m, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        lines[i] = print_violation(&s->violations.v[i], m);
    if (n > 1)
        qsort(lines, n, sizeof *lines, by_text);
    if (n)
        request_warn(s->a->r,
                     arena_printf(m,
                                  "existing pods in namespace \"%.*s\" violate the new "
                                  "PodSecurity enforce level \"%.*s\"",
                                  STR_ARG(s->a->name),
                                  STR_ARG(pod_standard_print(s->s, m))));
    for (size_t i = 0; i < n; i++)
        request_warn(s->a->r, lines[i]);
}

/* Tells which pods would not be let in anymore. */
static void survey_pods(struct admission *a, struct pod_standard standard)
{
    struct survey s = {.a = a, .s = standard};
    uint64_t begun = clock_mono_ns();
    admit_each_in(a, "", "pods", a->name, note_pod, &s);
    size_t all = s.first.n + s.others.n, n = 0;
    while (n < all && n < MAX_PODS && clock_mono_ns() - begun < MAX_NS) {
        look_at_pod(&s, n < s.first.n ? s.first.v[n] : s.others.v[n - s.first.n]);
        n++;
    }
    if (n < all)
        request_warn(
            a->r, arena_printf(a->r->a,
                               "new PodSecurity enforce level only checked against the "
                               "first %zu of %zu existing pods",
                               n, all));
    tell_violations(&s);
    strmap_release(&s.seen);
    vec_release(&s.first);
    vec_release(&s.others);
    vec_release(&s.violations);
}

static bool check_namespace(struct admission *a)
{
    struct pod_policy_problem now[POD_POLICY_PROBLEMS], before[POD_POLICY_PROBLEMS];
    struct pod_policy policy, old;
    const struct doc *labels = doc_path(a->object, "metadata.labels");
    unsigned n = read_policy(a, labels, &policy, now), nold = 0;
    if (a->verb == ADMIT_UPDATE)
        nold = read_policy(a, doc_path(a->old, "metadata.labels"), &old, before);
    if (n && !same_problems(now, n, before, nold))
        return fail_labels(a, now, n);
    bool exempt = is_exempt(a, "namespaces", a->name);
    struct pod_standard to = policy.of[POD_ENFORCE];
    if (a->verb == ADMIT_UPDATE) {
        struct pod_standard from = old.of[POD_ENFORCE];
        if (pod_standard_equal(from, to) || to.level == POD_PRIVILEGED ||
            (from.minor == to.minor && to.level <= from.level))
            return true;
    }
    if (exempt)
        warn_exempt(a, &policy, labels);
    else if (a->verb == ADMIT_UPDATE)
        survey_pods(a, to);
    return true;
}

bool check_pod_security(struct admission *a)
{
    const struct api_kind *k = a->r->res->main;
    const char *sub = admit_sub(a);
    if (admit_of(a, "", "namespaces"))
        return *sub || check_namespace(a);
    if (admit_of(a, "", "pods"))
        return is_ignored(sub) || check_workload(a, true);
    return *sub || !pod_kind(k->group, k->resource) || check_workload(a, false);
}
