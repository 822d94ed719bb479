/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts that pods ask for, and the claims of their containers (spec 2.8). */
#include "api/rules_pod.h"
#include "api/rules_text.h"
#include "base/vec.h"

/* ---- names of resources ---- */

static bool among(struct str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, names[i]))
            return true;
    return false;
}
#define AMONG(s, names) among(s, names, sizeof(names) / sizeof *(names))

bool rules_native_resource(struct str name)
{
    return str_find_byte(name, '/', 0) == SIZE_MAX ||
           str_find(name, STR("kubernetes.io/")) != SIZE_MAX;
}

static bool is_huge_page(struct str name)
{
    return str_starts(name, STR("hugepages-"));
}

static bool is_extended(struct api_walk *w, struct str name)
{
    return !rules_native_resource(name) && !str_starts(name, STR("requests.")) &&
           name_valid(NAME_LABEL_KEY, arena_printf(w->a, "requests.%.*s", STR_ARG(name)));
}

static bool is_standard(struct str name)
{
    static const char *const NAMES[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "configmaps",
                                        "persistentvolumeclaims",
                                        "storage",
                                        "requests.storage",
                                        "services.nodeports",
                                        "services.loadbalancers"};
    return AMONG(name, NAMES) || is_huge_page(name) ||
           str_starts(name, STR("requests.hugepages-"));
}

static bool is_counted(struct api_walk *w, struct str name)
{
    static const char *const NAMES[] = {"pods",
                                        "resourcequotas",
                                        "services",
                                        "secrets",
                                        "replicationcontrollers",
                                        "configmaps",
                                        "persistentvolumeclaims",
                                        "services.nodeports",
                                        "services.loadbalancers"};
    return AMONG(name, NAMES) || is_extended(w, name);
}

static bool is_of_containers(struct str name)
{
    static const char *const NAMES[] = {"cpu", "memory", "ephemeral-storage"};
    return AMONG(name, NAMES) || is_huge_page(name);
}

/* True when it is a name of a resource at all. */
static bool check_name(struct api_at *at, const char *path, struct str name)
{
    struct str problems[NAME_MAX_PROBLEMS], shown = api_shown_text(at->w->a, name);
    unsigned n = name_check(NAME_LABEL_KEY, name, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, path, shown, API_ERROR_INVALID, "%.*s",
                         STR_ARG(problems[i]));
    if (n)
        return false;
    if (str_find_byte(name, '/', 0) != SIZE_MAX || is_standard(name))
        return true;
    return api_report_shown(at, path, shown, API_ERROR_INVALID,
                            "must be a standard resource type or fully qualified");
}

static void check_container_name(struct api_at *at, const char *path, struct str name)
{
    struct str shown = api_shown_text(at->w->a, name);
    check_name(at, path, name);
    if (str_find_byte(name, '/', 0) == SIZE_MAX) {
        if (!is_of_containers(name))
            api_report_shown(at, path, shown, API_ERROR_INVALID,
                             "must be a standard resource for containers");
    } else if (!rules_native_resource(name) && !is_extended(at->w, name)) {
        api_report_shown(at, path, shown, API_ERROR_INVALID,
                         "doesn't follow extended resource name standard");
    }
}

static void check_pod_name(struct api_at *at, const char *path, struct str name)
{
    static const char *const NAMES[] = {"cpu", "memory"};
    if (!check_name(at, path, name) || AMONG(name, NAMES) || is_huge_page(name))
        return;
    api_report_shown(at, path, api_shown_text(at->w->a, name), API_ERROR_NOT_SUPPORTED,
                     "supported values: \"cpu\", \"hugepages-\", \"memory\"");
}

/* ---- amounts ---- */

static struct str shown_amount(struct api_walk *w, const struct quantity *q)
{
    return api_shown_text(w->a, quantity_print(q, w->a));
}

static void rules_amount(struct api_at *at, const char *path, struct str name,
                         const struct quantity *q)
{
    int64_t whole;
    struct str shown = shown_amount(at->w, q);
    if (quantity_sign(q) < 0)
        api_report_shown(at, path, shown, API_ERROR_INVALID,
                         "must be greater than or equal to 0");
    if (is_counted(at->w, name) && !quantity_scaled_exact(q, 0, &whole))
        api_report_shown(at, path, shown, API_ERROR_INVALID, "must be an integer");
}

static void check_huge_page(struct api_at *at, const char *path, struct str name,
                            const struct quantity *q)
{
    struct quantity size;
    int64_t page = 0, amount = 0;
    struct str text = str_sub(name, strlen("hugepages-"), SIZE_MAX);
    if (quantity_parse(text, at->w->a, &size, NULL) &&
        quantity_scaled_exact(&size, 0, &page) && page > 0 &&
        quantity_scaled(q, 0, &amount) && amount % page == 0)
        return;
    api_report_shown(at, path, shown_amount(at->w, q), API_ERROR_INVALID,
                     "%.*s is not positive integer multiple of %.*s",
                     STR_ARG(quantity_print(q, at->w->a)), STR_ARG(name));
}

typedef void name_fn(struct api_at *at, const char *path, struct str name);

static void check_amounts(struct api_at *at, const char *key, const struct doc *amounts,
                          name_fn *check)
{
    for (uint32_t i = 0; amounts && i < amounts->n; i++) {
        struct str name = doc_key(&amounts->members[i]);
        const char *path = arena_printf(at->w->a, "%s[%.*s]", key, STR_ARG(name)).p;
        struct quantity q;
        check(at, path, name);
        if (!rules_quantity(at, amounts, amounts->members[i].key, &q))
            continue;
        rules_amount(at, path, name, &q);
        if (is_huge_page(name))
            check_huge_page(at, path, name, &q);
    }
}

static void check_limit(struct api_at *at, struct str name, const struct quantity *q,
                        const struct doc *limits)
{
    struct quantity limit;
    bool fixed = !rules_native_resource(name) || is_huge_page(name);
    const struct doc *given = doc_get_str(limits, name);
    if (!given || !quantity_parse(doc_str(given), at->w->a, &limit, NULL)) {
        if (fixed)
            api_report_at(at, ".limits", limits, API_ERROR_REQUIRED,
                          "Limit must be set for non overcommitable resources");
        return;
    }
    int c = quantity_cmp(q, &limit);
    if (c > 0 || (c != 0 && fixed))
        api_report_shown(at, ".requests", shown_amount(at->w, q), API_ERROR_INVALID,
                         "must be %s %.*s limit of %.*s",
                         fixed ? "equal to" : "less than or equal to", STR_ARG(name),
                         STR_ARG(quantity_print(&limit, at->w->a)));
}

static bool names_of(const struct doc *amounts, bool huge)
{
    for (uint32_t i = 0; amounts && i < amounts->n; i++) {
        struct str name = doc_key(&amounts->members[i]);
        if (huge ? is_huge_page(name) : str_is(name, "cpu") || str_is(name, "memory"))
            return true;
    }
    return false;
}

static void check_requirements(struct api_at *at, const char *limits_key,
                               const struct doc *limits, const struct doc *requests,
                               name_fn *check)
{
    check_amounts(at, limits_key, limits, check);
    check_amounts(at, ".requests", requests, check);
    for (uint32_t i = 0; requests && i < requests->n; i++) {
        struct quantity q;
        if (rules_quantity(at, requests, requests->members[i].key, &q))
            check_limit(at, doc_key(&requests->members[i]), &q, limits);
    }
    if ((names_of(limits, true) || names_of(requests, true)) &&
        !names_of(limits, false) && !names_of(requests, false))
        api_fail(at, API_ERROR_FORBIDDEN, "HugePages require cpu or memory");
}

/* arg says whose they are: a container's or a pod's. */
/* What a status tells of them is not looked at. */
static bool in_status(const struct api_at *at)
{
    return str_starts(strbuf_str(&at->w->path), STR("status."));
}

API_RULE(requirements)
{
    if (in_status(at))
        return true;
    check_requirements(
        at, ".limits", api_member(at->value, "limits"), api_member(at->value, "requests"),
        str_is(str_from(at->w->role), "pod") ? check_pod_name : check_container_name);
    return true;
}

void rules_container_resource(struct api_at *at, const char *suffix,
                              const struct doc *value)
{
    check_container_name(at, suffix, api_text(value));
}

void rules_resource(struct api_at *at, const char *suffix, const struct doc *value)
{
    check_name(at, suffix, api_text(value));
}

/* Overhead is looked at as if it were the limits of a container; of a class of runtimes
 * upstream's path says so. */
API_RULE(overhead_amounts)
{
    check_requirements(at, ".limits", api_member(at->value, "podFixed"), NULL,
                       check_container_name);
    return true;
}

API_RULE(overhead)
{
    check_requirements(at, ".limits", at->value, NULL, check_container_name);
    return true;
}

bool rules_quota_resource(struct str name)
{
    static const char *const NAMES[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.storage",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "persistentvolumeclaims",
                                        "configmaps",
                                        "services.nodeports",
                                        "services.loadbalancers"};
    return AMONG(name, NAMES) || is_huge_page(name) ||
           str_starts(name, STR("requests.hugepages-"));
}

static void check_quota_name(struct api_at *at, const char *path, struct str name)
{
    check_name(at, path, name);
    if (str_find_byte(name, '/', 0) == SIZE_MAX && !rules_quota_resource(name))
        api_report_shown(at, path, api_shown_text(at->w->a, name), API_ERROR_INVALID,
                         "must be a standard resource for quota");
}

API_RULE(quota_amounts)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        const char *path = arena_printf(at->w->a, "[%s]", m->key).p;
        struct quantity q;
        check_quota_name(at, path, doc_key(m));
        if (rules_quantity(at, at->value, m->key, &q))
            rules_amount(at, path, doc_key(m), &q);
    }
    return true;
}

API_RULE(node_amounts)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        struct quantity q;
        if (rules_quantity(at, at->value, m->key, &q))
            rules_amount(at, arena_printf(at->w->a, ".%s", m->key).p, doc_key(m), &q);
    }
    return true;
}

/* ---- of the pod as a whole ---- */

static struct quantity amount_of(struct api_walk *w, const struct doc *c,
                                 const char *kind, struct str name)
{
    struct quantity q = QUANTITY_ZERO;
    const struct doc *d = doc_get_str(api_member(api_member(c, "resources"), kind), name);
    if (d)
        quantity_parse(doc_str(d), w->a, &q, NULL);
    return q;
}

static void keep_larger(struct quantity *a, const struct quantity *b)
{
    if (quantity_cmp(b, a) > 0)
        *a = *b;
}

/* What all containers need at once: those that stay run together, each other init
 * container runs beside the ones before it that stay. */
static struct quantity aggregate(struct api_walk *w, const char *kind, struct str name)
{
    const struct doc *main = api_member(w->pod_spec, "containers");
    const struct doc *init = api_member(w->pod_spec, "initContainers");
    struct quantity sum = QUANTITY_ZERO, stay = QUANTITY_ZERO, peak = QUANTITY_ZERO;
    for (uint32_t i = 0; main && i < main->n; i++) {
        struct quantity q = amount_of(w, &main->items[i], kind, name);
        sum = quantity_add(&sum, &q, w->a);
    }
    for (uint32_t i = 0; init && i < init->n; i++) {
        struct quantity q = amount_of(w, &init->items[i], kind, name);
        bool stays = str_is(doc_get_text(&init->items[i], "restartPolicy"), "Always");
        struct quantity now = quantity_add(&stay, &q, w->a);
        if (stays)
            stay = now;
        keep_larger(&peak, &now);
    }
    sum = quantity_add(&sum, &stay, w->a);
    keep_larger(&sum, &peak);
    return sum;
}

static void check_aggregate(struct api_at *at, const char *kind, bool huge_only)
{
    const struct doc *amounts = api_member(at->value, kind);
    for (uint32_t i = 0; amounts && i < amounts->n; i++) {
        struct str name = doc_key(&amounts->members[i]);
        struct quantity q, all = aggregate(at->w, kind, name);
        if ((huge_only && !is_huge_page(name)) ||
            !rules_quantity(at, amounts, amounts->members[i].key, &q) ||
            quantity_cmp(&all, &q) <= 0)
            continue;
        api_report_shown(
            at, arena_printf(at->w->a, ".%s[%.*s]", kind, STR_ARG(name)).p,
            shown_amount(at->w, &q), API_ERROR_INVALID,
            "must be greater than or equal to aggregate container %s of %.*s", kind,
            STR_ARG(quantity_print(&all, at->w->a)));
    }
}

static void check_container_limits(struct api_at *at)
{
    const struct doc *limits = api_member(at->value, "limits");
    const struct doc *list = api_member(at->w->pod_spec, "containers");
    for (uint32_t c = 0; list && c < list->n; c++)
        for (uint32_t i = 0; limits && i < limits->n; i++) {
            struct str name = doc_key(&limits->members[i]);
            struct quantity most, q = amount_of(at->w, &list->items[c], "limits", name);
            if (!rules_quantity(at, limits, limits->members[i].key, &most) ||
                quantity_cmp(&q, &most) <= 0)
                continue;
            api_report_shown(
                at,
                arena_printf(at->w->a, ".containers[%u][%.*s].limits", c, STR_ARG(name))
                    .p,
                shown_amount(at->w, &q), API_ERROR_INVALID,
                "must be less than or equal to pod limits of %.*s",
                STR_ARG(quantity_print(&most, at->w->a)));
        }
}

API_RULE(pod_resources)
{
    if (str_is(rules_pod_os(at->w), "windows"))
        return api_fail(at, API_ERROR_FORBIDDEN, "may not be set for a windows pod");
    if (api_member(at->value, "claims"))
        api_report_at(at, ".claims", NULL, API_ERROR_FORBIDDEN,
                      "claims may not be set for Resources at pod-level");
    check_aggregate(at, "requests", false);
    check_aggregate(at, "limits", true);
    check_container_limits(at);
    return true;
}

/* ---- claims ---- */

API_RULE(pod_claims)
{
    const struct doc *annotations = doc_path(at->w->object, "metadata.annotations");
    if (rules_is_pod(at->w) && !api_empty(at->value) &&
        doc_get(annotations, "kubernetes.io/config.mirror"))
        return api_report_path(at->w, STR("[]"), NULL, API_ERROR_FORBIDDEN,
                               "static pods do not support resource claims");
    return true;
}

API_RULE(one_claim_source)
{
    bool claim = api_member(at->value, "resourceClaimName") != NULL;
    bool template = api_member(at->value, "resourceClaimTemplateName") != NULL;
    if (claim && template)
        api_fail(at, API_ERROR_INVALID,
                 "at most one of `resourceClaimName` or `resourceClaimTemplateName` may "
                 "be specified");
    if (!claim && !template)
        api_fail(at, API_ERROR_INVALID,
                 "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    return true;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The names of the pod's claims for a message, and whether one is among them. */
static struct str claim_names(struct api_walk *w, struct str name, bool *found)
{
    const struct doc *claims = api_member(w->pod_spec, "resourceClaims");
    VEC(struct str) all = {0};
    struct strbuf b = STRBUF_INIT;
    *found = false;
    for (uint32_t i = 0; claims && i < claims->n; i++) {
        struct str s = doc_get_text(&claims->items[i], "name");
        *found = *found || str_eq(s, name);
        if (s.n)
            vec_push(&all, s);
    }
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, by_text);
    for (size_t i = 0; i < all.n; i++)
        if (i == 0 || !str_eq(all.v[i], all.v[i - 1]))
            strbuf_addf(&b, "%s%.*s", i ? ", " : ": ", STR_ARG(all.v[i]));
    struct str text = all.n ? arena_str(w->a, strbuf_str(&b)) : STR(" which is empty");
    strbuf_release(&b);
    vec_release(&all);
    return text;
}

/* An earlier entry is for the whole claim, or for this request, or this one is for the
 * whole claim and an earlier one for a part of it. */
static void check_repeats(struct api_at *at, uint32_t i)
{
    const struct doc *item = &at->value->items[i];
    struct str name = doc_get_text(item, "name"), request = doc_get_text(item, "request");
    const char *path = rules_index(at, i);
    bool whole = false, same = false, part = false;
    for (uint32_t k = 0; k < i; k++) {
        struct str other = doc_get_text(&at->value->items[k], "request");
        if (!str_eq(doc_get_text(&at->value->items[k], "name"), name))
            continue;
        whole = whole || other.n == 0;
        same = same || (other.n && str_eq(other, request));
        part = part || (other.n && request.n == 0);
    }
    struct str key =
        request.n ? arena_printf(at->w->a, "%.*s/%.*s", STR_ARG(name), STR_ARG(request))
                  : name;
    if (!whole && request.n)
        rules_name_at(at, arena_printf(at->w->a, "%s.request", path).p,
                      api_member(item, "request"), NAME_DNS1123_LABEL);
    if (whole || part)
        key = name;
    if (whole || part || same)
        api_report_shown(at, path, api_shown_text(at->w->a, key), API_ERROR_DUPLICATE,
                         "%s", "");
}

API_RULE(container_claims)
{
    if (in_status(at))
        return true;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        bool found;
        if (api_empty(name)) {
            api_report_at(at, rules_index(at, i), NULL, API_ERROR_REQUIRED, "%s", "");
            continue;
        }
        check_repeats(at, i);
        struct str names = claim_names(at->w, api_text(name), &found);
        if (!found)
            api_report_at(at, rules_index(at, i), name, API_ERROR_NOT_FOUND,
                          "must be one of the names in pod.spec.resourceClaims%.*s",
                          STR_ARG(names));
    }
    return true;
}
