/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod_security_inner.h"

static const char *const LEVELS[] = {"privileged", "baseline", "restricted"};

/* ---- standards ---- */

bool pod_standard_equal(struct pod_standard x, struct pod_standard y)
{
    return x.level == y.level && x.minor == y.minor;
}

bool pod_policy_is_privileged(const struct pod_policy *p)
{
    bool all = true;
    for (int i = 0; i < POD_MODES; i++)
        all = all && p->of[i].level == POD_PRIVILEGED;
    return all;
}

bool pod_policy_equal(const struct pod_policy *x, const struct pod_policy *y)
{
    bool all = true;
    for (int i = 0; i < POD_MODES; i++)
        all = all &&
              (pod_standard_equal(x->of[i], y->of[i]) ||
               (x->of[i].level == POD_PRIVILEGED && y->of[i].level == POD_PRIVILEGED));
    return all;
}

struct str pod_standard_print(struct pod_standard s, struct arena *a)
{
    return s.minor == POD_LATEST ? arena_printf(a, "%s:latest", LEVELS[s.level])
                                 : arena_printf(a, "%s:v1.%d", LEVELS[s.level], s.minor);
}

const char *pod_level_parse(struct str text, enum pod_level *out)
{
    for (int i = POD_PRIVILEGED; i <= POD_RESTRICTED; i++)
        if (str_is(text, LEVELS[i])) {
            *out = (enum pod_level)i;
            return NULL;
        }
    *out = POD_RESTRICTED;
    return "must be one of privileged, baseline, restricted";
}

/* No leading zeros; a number that no version will reach stands for all such. */
static bool parse_number(struct str s, int *out)
{
    int n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        n = n * 10 + (s.p[i] - '0');
        if (n > 100000000)
            return false;
    }
    *out = n;
    return s.n == 1 || (s.n > 1 && s.p[0] != '0');
}

const char *pod_minor_parse(struct str text, int *out)
{
    *out = POD_LATEST;
    if (str_is(text, "latest"))
        return NULL;
    if (str_starts(text, STR("v1.")) && parse_number(str_sub(text, 3, SIZE_MAX), out))
        return NULL;
    *out = POD_LATEST;
    return "must be \"latest\" or \"v1.x\"";
}

/* ---- labels ---- */

const char *pod_policy_label(enum pod_mode mode, bool version)
{
    static const char *const LABELS[][2] = {
        {"pod-security.kubernetes.io/enforce",
         "pod-security.kubernetes.io/enforce-version"},
        {"pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/audit-version"},
        {"pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/warn-version"}};
    return LABELS[mode][version];
}

struct reading {
    const struct doc *labels;
    struct pod_policy_problem *problems;
    unsigned n;
};

static void note(struct reading *r, const char *label, struct str value, const char *text)
{
    if (text)
        r->problems[r->n++] = (struct pod_policy_problem){label, value, text};
}

static bool read_mode(struct reading *r, enum pod_mode mode, struct pod_standard *s,
                      bool *wrong, bool *has_version)
{
    const char *level = pod_policy_label(mode, false),
               *version = pod_policy_label(mode, true), *text = NULL;
    struct str l = doc_get_text(r->labels, level), v = doc_get_text(r->labels, version);
    if (l.p) {
        text = pod_level_parse(l, &s->level);
        note(r, level, l, text);
    }
    *wrong = text != NULL;
    if (text && mode != POD_ENFORCE)
        s->level = POD_PRIVILEGED;
    *has_version = v.p != NULL;
    if (v.p)
        note(r, version, v, pod_minor_parse(v, &s->minor));
    return l.p != NULL;
}

unsigned pod_policy_read(const struct doc *labels, const struct pod_policy *defaults,
                         struct pod_policy *out,
                         struct pod_policy_problem problems[POD_POLICY_PROBLEMS])
{
    struct reading r = {labels, problems, 0};
    bool has[POD_MODES], wrong[POD_MODES], version[POD_MODES];
    *out = *defaults;
    for (int i = 0; i < POD_MODES; i++)
        has[i] = read_mode(&r, (enum pod_mode)i, &out->of[i], &wrong[i], &version[i]);
    /* Who is not let in hears of it beforehand. */
    struct pod_standard *warn = &out->of[POD_WARN], *enforce = &out->of[POD_ENFORCE];
    if (!has[POD_WARN] && has[POD_ENFORCE] && !wrong[POD_ENFORCE] &&
        enforce->level > warn->level) {
        warn->level = enforce->level;
        if (!version[POD_WARN])
            warn->minor = enforce->minor;
    }
    return r.n;
}

/* ---- pods and templates ---- */

static const struct pod_row {
    const char *group, *resource, *path; /* path "": it is one */
} ROWS[] = {{"", "pods", ""},
            {"", "replicationcontrollers", "spec.template"},
            {"", "podtemplates", "template"},
            {"apps", "replicasets", "spec.template"},
            {"apps", "deployments", "spec.template"},
            {"apps", "statefulsets", "spec.template"},
            {"apps", "daemonsets", "spec.template"},
            {"batch", "jobs", "spec.template"},
            {"batch", "cronjobs", "spec.jobTemplate.spec.template"}};

static const struct pod_row *find_row(const char *group, const char *resource)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strcmp(ROWS[i].resource, resource) == 0 && strcmp(ROWS[i].group, group) == 0)
            return &ROWS[i];
    return NULL;
}

bool pod_kind(const char *group, const char *resource)
{
    return find_row(group, resource) != NULL;
}

const struct doc *pod_of(const char *group, const char *resource,
                         const struct doc *object)
{
    const struct pod_row *row = find_row(group, resource);
    if (!row)
        return NULL;
    return *row->path ? doc_path(object, row->path) : object;
}

/* ---- judging ---- */

static bool applies(const struct pod_check *c, enum pod_level level, int minor)
{
    if (minor < c->from || (c->until && minor >= c->until))
        return false;
    return level == POD_RESTRICTED
               ? c->level == POD_RESTRICTED || c->overridden == 0 || minor < c->overridden
               : c->level == POD_BASELINE;
}

static void gather(struct look *l)
{
    static const char *const KINDS[] = {"initContainers", "containers",
                                        "ephemeralContainers"};
    uint32_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        const struct doc **to =
            pass ? ARENA_ARRAY(l->a, const struct doc *, n + 1) : NULL;
        if (pass)
            l->containers = to;
        for (int k = 0; k < 3; k++) {
            const struct doc *list = doc_get(l->spec, KINDS[k]);
            for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
                if (pass)
                    to[l->ncontainers++] = &list->items[i];
                else
                    n++;
        }
    }
}

static void print(const struct look *l, bool details, struct strbuf *out)
{
    strbuf_addf(out, "%s%s", out->n ? ", " : "", l->reason);
    if (details && l->detail->n)
        strbuf_addf(out, " (%.*s)", STR_ARG(strbuf_str(l->detail)));
}

struct str pod_violations(struct pod_standard s, const struct doc *pod, bool details,
                          struct arena *a)
{
    int minor = s.minor == POD_LATEST || s.minor > POD_NEWEST ? POD_NEWEST : s.minor;
    struct strbuf detail = STRBUF_INIT, all = STRBUF_INIT;
    struct look l = {.a = a,
                     .meta = doc_get(pod, "metadata"),
                     .spec = doc_get(pod, "spec"),
                     .context = doc_path(pod, "spec.securityContext"),
                     .detail = &detail};
    if (s.level == POD_PRIVILEGED)
        return STR_NONE;
    gather(&l);
    for (uint32_t i = 0; i < npod_checks; i++) {
        if (!applies(&pod_checks[i], s.level, minor))
            continue;
        l.data = pod_checks[i].data;
        l.reason = NULL;
        strbuf_clear(&detail);
        vec_clear(&l.bad.v);
        vec_clear(&l.values.v);
        vec_clear(&l.more.v);
        pod_checks[i].look(&l);
        if (l.reason)
            print(&l, details, &all);
    }
    struct str text = all.n ? arena_str(a, strbuf_str(&all)) : STR_NONE;
    strbuf_release(&detail);
    strbuf_release(&all);
    vec_release(&l.bad.v);
    vec_release(&l.values.v);
    vec_release(&l.more.v);
    return text;
}
