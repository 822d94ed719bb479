/* SPDX-License-Identifier: Apache-2.0 */
/* KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): a table of fields for each
 * of its parts, so that what is not in a table is named as an error. */
#include "base/duration.h"
#include "sched/pod_info.h"
#include "sched/profile.h"

struct reading {
    struct arena *a;
    struct err *e;
    const char *file;
};

struct field {
    const char *name;
    /* false: the error says why, without the field's name. NULL: read, and without
     * effect. */
    bool (*read)(struct reading *r, const struct doc *d, void *into);
};

static bool is_null(const struct doc *d)
{
    return !d || d->type == DOC_NULL;
}

static bool refuse(struct reading *r, const char *text)
{
    return err_set(r->e, ERR_UNSUPPORTED, "%s", text);
}

/* Each member by its row. */
static bool read_map(struct reading *r, const struct doc *d, const struct field *rows,
                     size_t n, void *into)
{
    if (d->type != DOC_MAP)
        return refuse(r, "must be an object");
    for (uint32_t i = 0; i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        const struct doc *value = &d->members[i].value;
        size_t k = 0;
        while (k < n && !str_is(key, rows[k].name))
            k++;
        if (is_null(value))
            continue;
        if (k == n)
            return err_set(r->e, ERR_UNSUPPORTED, "%.*s: not known, or not supported",
                           STR_ARG(key));
        if (rows[k].read && !rows[k].read(r, value, into))
            return err_wrap(r->e, "%.*s", STR_ARG(key));
    }
    return true;
}
#define READ_MAP(r, d, rows, into)                                                       \
    read_map(r, d, rows, sizeof(rows) / sizeof *(rows), into)

static bool read_list(struct reading *r, const struct doc *d,
                      bool (*item)(struct reading *r, const struct doc *d, void *into),
                      void *into)
{
    if (d->type != DOC_LIST)
        return refuse(r, "must be a list");
    for (uint32_t i = 0; i < d->n; i++)
        if (!item(r, &d->items[i], into))
            return err_wrap(r->e, "[%u]", (unsigned)i);
    return true;
}

/* ---- values ---- */

static bool whole(struct reading *r, const struct doc *d, int64_t lo, int64_t hi,
                  int64_t *out)
{
    if (!doc_int64(d, out) || *out < lo || *out > hi)
        return err_set(r->e, ERR_INVALID, "must be a number from %lld to %lld",
                       (long long)lo, (long long)hi);
    return true;
}

static bool text(struct reading *r, const struct doc *d, struct str *out)
{
    if (d->type != DOC_STRING)
        return refuse(r, "must be a string");
    *out = arena_str(r->a, doc_str(d));
    return true;
}

static bool flag(struct reading *r, const struct doc *d, bool *out)
{
    if (d->type != DOC_BOOL)
        return refuse(r, "must be true or false");
    *out = d->b;
    return true;
}

static bool milliseconds(struct reading *r, const struct doc *d, uint64_t *out)
{
    return (d->type == DOC_STRING && duration_parse(doc_str(d), out)) ||
           refuse(r, "must be a time such as \"10s\"");
}

/* ---- plugins of a profile ---- */

struct named { /* one of enabled or disabled */
    struct str name;
    int64_t weight;
};

static bool named_name(struct reading *r, const struct doc *d, void *into)
{
    return text(r, d, &((struct named *)into)->name);
}

static bool named_weight(struct reading *r, const struct doc *d, void *into)
{
    return whole(r, d, 0, 1000000, &((struct named *)into)->weight);
}

struct point { /* an extension point of a profile */
    struct profile *profile;
    bool filters, scores;
};

static bool read_named(struct reading *r, const struct doc *d, struct named *out,
                       enum plugin_id *id)
{
    static const struct field ROWS[] = {{"name", named_name}, {"weight", named_weight}};
    if (!READ_MAP(r, d, ROWS, out))
        return false;
    *id = plugin_find(out->name);
    if (*id == PLUGINS && !str_is(out->name, "*"))
        return err_set(r->e, ERR_UNSUPPORTED, "there is no plugin \"%.*s\"",
                       STR_ARG(out->name));
    return true;
}

static void set_plugin(struct point *p, enum plugin_id id, bool on, int64_t weight)
{
    if (p->filters)
        p->profile->filters = on ? p->profile->filters | PLUGIN_BIT(id)
                                 : p->profile->filters & ~PLUGIN_BIT(id);
    if (p->scores)
        p->profile->weights[id] = !on      ? 0
                                  : weight ? (int32_t)weight
                                           : plugin_table[id].weight;
}

static bool enable(struct reading *r, const struct doc *d, void *into)
{
    struct named n = {0};
    enum plugin_id id;
    if (!read_named(r, d, &n, &id))
        return false;
    if (id == PLUGINS)
        return refuse(r, "\"*\" cannot be enabled");
    set_plugin(into, id, true, n.weight);
    return true;
}

static bool disable(struct reading *r, const struct doc *d, void *into)
{
    struct named n = {0};
    enum plugin_id id;
    if (!read_named(r, d, &n, &id))
        return false;
    for (int i = 0; i < PLUGINS; i++)
        if (id == PLUGINS || id == (enum plugin_id)i)
            set_plugin(into, (enum plugin_id)i, false, 0);
    return true;
}

static bool enable_all(struct reading *r, const struct doc *d, void *into)
{
    return read_list(r, d, enable, into);
}

static bool disable_all(struct reading *r, const struct doc *d, void *into)
{
    return read_list(r, d, disable, into);
}

/* What is disabled goes first, as upstream has it. */
static bool read_point(struct reading *r, const struct doc *d, struct point *p)
{
    static const struct field OFF[] = {{"disabled", disable_all}, {"enabled", NULL}},
                              ON[] = {{"disabled", NULL}, {"enabled", enable_all}};
    return READ_MAP(r, d, OFF, p) && READ_MAP(r, d, ON, p);
}

static bool multi_point(struct reading *r, const struct doc *d, void *into)
{
    struct point p = {into, true, true};
    return read_point(r, d, &p);
}

static bool filter_point(struct reading *r, const struct doc *d, void *into)
{
    struct point p = {into, true, false};
    return read_point(r, d, &p);
}

static bool score_point(struct reading *r, const struct doc *d, void *into)
{
    struct point p = {into, false, true};
    return read_point(r, d, &p);
}

static bool read_plugins(struct reading *r, const struct doc *d, void *into)
{
    static const struct field ROWS[] = {
        {"multiPoint", multi_point},
        {"filter", filter_point},
        {"score", score_point},
    };
    return READ_MAP(r, d, ROWS, into);
}

/* ---- arguments of plugins ---- */

struct resource_list {
    struct profile_resource *v;
    uint32_t n;
};

static bool resource_name(struct reading *r, const struct doc *d, void *into)
{
    return text(r, d, &((struct profile_resource *)into)->name);
}

static bool resource_weight(struct reading *r, const struct doc *d, void *into)
{
    return whole(r, d, 1, 100, &((struct profile_resource *)into)->weight);
}

static bool add_resource(struct reading *r, const struct doc *d, void *into)
{
    static const struct field ROWS[] = {{"name", resource_name},
                                        {"weight", resource_weight}};
    struct resource_list *list = into;
    struct profile_resource x = {.weight = 1};
    if (list->n == PROFILE_RESOURCES)
        return refuse(r, "too many resources");
    if (!READ_MAP(r, d, ROWS, &x))
        return false;
    list->v[list->n++] = x;
    return true;
}

static bool fit_resources(struct reading *r, const struct doc *d, void *into)
{
    struct profile *p = into;
    struct resource_list list = {p->fit, 0};
    bool ok = read_list(r, d, add_resource, &list);
    p->nfit = list.n;
    return ok;
}

static bool fit_type(struct reading *r, const struct doc *d, void *into)
{
    struct profile *p = into;
    if (doc_is_string(d, "LeastAllocated"))
        p->strategy = FIT_LEAST;
    else if (doc_is_string(d, "MostAllocated"))
        p->strategy = FIT_MOST;
    else
        return refuse(r, "LeastAllocated and MostAllocated are supported");
    return true;
}

static bool fit_strategy(struct reading *r, const struct doc *d, void *into)
{
    static const struct field ROWS[] = {{"type", fit_type}, {"resources", fit_resources}};
    return READ_MAP(r, d, ROWS, into);
}

static bool balance_resources(struct reading *r, const struct doc *d, void *into)
{
    struct profile *p = into;
    struct resource_list list = {p->balance, 0};
    bool ok = read_list(r, d, add_resource, &list);
    p->nbalance = list.n;
    return ok;
}

static bool hard_weight(struct reading *r, const struct doc *d, void *into)
{
    return whole(r, d, 0, 100, &((struct profile *)into)->hard_affinity_weight);
}

static bool ignore_preferred(struct reading *r, const struct doc *d, void *into)
{
    return flag(r, d, &((struct profile *)into)->ignore_preferred);
}

static bool candidates_percent(struct reading *r, const struct doc *d, void *into)
{
    int64_t n;
    if (!whole(r, d, 0, 100, &n))
        return false;
    ((struct profile *)into)->min_candidates_percent = (uint32_t)n;
    return true;
}

static bool candidates(struct reading *r, const struct doc *d, void *into)
{
    int64_t n;
    if (!whole(r, d, 0, UINT32_MAX, &n))
        return false;
    ((struct profile *)into)->min_candidates = (uint32_t)n;
    return true;
}

static bool spread_type(struct reading *r, const struct doc *d, void *into)
{
    struct profile *p = into;
    p->default_spread = doc_is_string(d, "System");
    return p->default_spread || doc_is_string(d, "List") ||
           refuse(r, "must be System or List");
}

static bool spread_rules(struct reading *r, const struct doc *d, void *into)
{
    struct profile *p = into;
    struct view_reader reader = {.a = r->a, .e = r->e};
    if (d->type != DOC_LIST)
        return refuse(r, "must be a list");
    p->spread = spread_rules_read(&reader, d, NULL, &p->nspread);
    return !reader.failed;
}

static bool filter_timeout(struct reading *r, const struct doc *d, void *into)
{
    return milliseconds(r, d, &((struct profile *)into)->dra.filter_ms);
}

static bool binding_timeout(struct reading *r, const struct doc *d, void *into)
{
    struct dra_args *args = &((struct profile *)into)->dra;
    return milliseconds(r, d, &args->binding_ms) &&
           (args->binding_ms >= 1000 || refuse(r, "must be at least 1s"));
}

static bool device_policy(struct reading *r, const struct doc *d, void *into)
{
    struct profile *p = into;
    return (d->type == DOC_STRING && alloc_policy_find(doc_str(d), &p->dra.policy)) ||
           refuse(r, "must be first-fit, best-fit or spread");
}

#define HEAD                                                                             \
    {"apiVersion", NULL},                                                                \
    {                                                                                    \
        "kind", NULL                                                                     \
    }
static const struct field FIT_ARGS[] = {HEAD, {"scoringStrategy", fit_strategy}},
                          BALANCE_ARGS[] = {HEAD, {"resources", balance_resources}},
                          AFFINITY_ARGS[] = {HEAD,
                                             {"hardPodAffinityWeight", hard_weight},
                                             {"ignorePreferredTermsOfExistingPods",
                                              ignore_preferred}},
                          PREEMPTION_ARGS[] = {HEAD,
                                               {"minCandidateNodesPercentage",
                                                candidates_percent},
                                               {"minCandidateNodesAbsolute", candidates}},
                          SPREAD_ARGS[] = {HEAD,
                                           {"defaultingType", spread_type},
                                           {"defaultConstraints", spread_rules}},
                          VOLUME_ARGS[] = {HEAD, {"bindTimeoutSeconds", NULL}},
                          NODE_ARGS[] = {HEAD},
                          DEVICE_ARGS[] = {HEAD,
                                           {"filterTimeout", filter_timeout},
                                           {"bindingTimeout", binding_timeout},
                                           {"policy", device_policy}}; /* dray's own */

static const struct {
    enum plugin_id plugin;
    const struct field *rows;
    size_t n;
} ARGS[] = {
#define ROW(plugin, rows)                                                                \
    {                                                                                    \
        plugin, rows, sizeof(rows) / sizeof *(rows)                                      \
    }
    ROW(PLUGIN_RESOURCES, FIT_ARGS),         ROW(PLUGIN_BALANCE, BALANCE_ARGS),
    ROW(PLUGIN_POD_AFFINITY, AFFINITY_ARGS), ROW(PLUGIN_PREEMPTION, PREEMPTION_ARGS),
    ROW(PLUGIN_SPREAD, SPREAD_ARGS),         ROW(PLUGIN_VOLUMES, VOLUME_ARGS),
    ROW(PLUGIN_NODE_AFFINITY, NODE_ARGS),    ROW(PLUGIN_DEVICES, DEVICE_ARGS),
#undef ROW
};

static bool plugin_args(struct reading *r, const struct doc *d, void *into)
{
    struct str name = doc_get_text(d, "name");
    const struct doc *args = doc_get(d, "args");
    if (is_null(args))
        return true;
    for (size_t i = 0; i < sizeof ARGS / sizeof *ARGS; i++)
        if (str_is(name, plugin_table[ARGS[i].plugin].name))
            return read_map(r, args, ARGS[i].rows, ARGS[i].n, into) ||
                   err_wrap(r->e, "%.*s", STR_ARG(name));
    return err_set(r->e, ERR_UNSUPPORTED, "no arguments of \"%.*s\" are supported",
                   STR_ARG(name));
}

static bool all_plugin_args(struct reading *r, const struct doc *d, void *into)
{
    return read_list(r, d, plugin_args, into);
}

/* ---- profiles ---- */

static bool profile_name(struct reading *r, const struct doc *d, void *into)
{
    return text(r, d, &((struct profile *)into)->name);
}

static bool profile_percentage(struct reading *r, const struct doc *d, void *into)
{
    int64_t n;
    if (!whole(r, d, 0, 100, &n))
        return false;
    ((struct profile *)into)->percentage = (uint32_t)n;
    return true;
}

static bool read_profile(struct reading *r, const struct doc *d, void *into)
{
    static const struct field ROWS[] = {
        {"schedulerName", profile_name},
        {"percentageOfNodesToScore", profile_percentage},
        {"plugins", read_plugins},
        {"pluginConfig", all_plugin_args},
    };
    struct sched_config *c = into;
    struct profile *p = &c->profiles[c->n++];
    uint32_t percentage = p->percentage; /* of all profiles */
    *p = profile_default();
    p->percentage = percentage;
    return READ_MAP(r, d, ROWS, p);
}

static bool check_names(struct reading *r, const struct sched_config *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (str_eq(c->profiles[i].name, c->profiles[k].name))
                return err_set(r->e, ERR_INVALID, "[%u].schedulerName: it is there twice",
                               (unsigned)i);
    return true;
}

static bool read_profiles(struct reading *r, const struct doc *d, void *into)
{
    struct sched_config *c = into;
    uint32_t percentage = c->profiles[0].percentage;
    if (d->type != DOC_LIST || !d->n || d->n > PROFILES_MAX)
        return refuse(r, "must be a list of 1 to 64 profiles");
    c->profiles = ARENA_ARRAY(r->a, struct profile, d->n);
    c->n = 0;
    for (uint32_t i = 0; i < d->n; i++)
        c->profiles[i].percentage = percentage;
    return read_list(r, d, read_profile, c) && check_names(r, c);
}

/* ---- the whole ---- */

static bool lease_elect(struct reading *r, const struct doc *d, void *into)
{
    struct sched_config *c = into;
    c->has_elect = true;
    return flag(r, d, &c->elect);
}
static bool lease_name(struct reading *r, const struct doc *d, void *into)
{
    return text(r, d, &((struct sched_config *)into)->lease_name);
}
static bool lease_namespace(struct reading *r, const struct doc *d, void *into)
{
    return text(r, d, &((struct sched_config *)into)->lease_namespace);
}
static bool lease_duration(struct reading *r, const struct doc *d, void *into)
{
    return milliseconds(r, d, &((struct sched_config *)into)->lease_ms);
}
static bool lease_renew(struct reading *r, const struct doc *d, void *into)
{
    return milliseconds(r, d, &((struct sched_config *)into)->renew_ms);
}
static bool lease_retry(struct reading *r, const struct doc *d, void *into)
{
    return milliseconds(r, d, &((struct sched_config *)into)->retry_ms);
}
static bool lease_lock(struct reading *r, const struct doc *d, void *into)
{
    (void)into;
    return doc_is_string(d, "leases") || refuse(r, "must be leases");
}

static bool read_lease(struct reading *r, const struct doc *d, void *into)
{
    static const struct field ROWS[] = {
        {"leaderElect", lease_elect},           {"leaseDuration", lease_duration},
        {"renewDeadline", lease_renew},         {"retryPeriod", lease_retry},
        {"resourceLock", lease_lock},           {"resourceName", lease_name},
        {"resourceNamespace", lease_namespace},
    };
    return READ_MAP(r, d, ROWS, into);
}

static bool seconds(struct reading *r, const struct doc *d, uint64_t *ms)
{
    int64_t n;
    if (!whole(r, d, 1, 86400, &n))
        return false;
    *ms = (uint64_t)n * 1000;
    return true;
}

static bool first_backoff(struct reading *r, const struct doc *d, void *into)
{
    return seconds(r, d, &((struct sched_config *)into)->first_ms);
}
static bool longest_backoff(struct reading *r, const struct doc *d, void *into)
{
    return seconds(r, d, &((struct sched_config *)into)->longest_ms);
}
static bool percentage(struct reading *r, const struct doc *d, void *into)
{
    return profile_percentage(r, d, &((struct sched_config *)into)->profiles[0]);
}
static bool api_version(struct reading *r, const struct doc *d, void *into)
{
    (void)into;
    return doc_is_string(d, "kubescheduler.config.k8s.io/v1") ||
           refuse(r, "must be kubescheduler.config.k8s.io/v1");
}
static bool kind(struct reading *r, const struct doc *d, void *into)
{
    (void)into;
    return doc_is_string(d, "KubeSchedulerConfiguration") ||
           refuse(r, "must be KubeSchedulerConfiguration");
}

/* Profiles come last: what is said of all of them is known then. */
static bool read_all(struct reading *r, const struct doc *d, struct sched_config *c)
{
    static const struct field FIRST[] = {
        {"apiVersion", api_version},
        {"kind", kind},
        {"parallelism", NULL}, /* nothing runs side by side */
        {"enableProfiling", NULL},
        {"enableContentionProfiling", NULL},
        {"delayCacheUntilActive", NULL},
        {"leaderElection", read_lease},
        {"podInitialBackoffSeconds", first_backoff},
        {"podMaxBackoffSeconds", longest_backoff},
        {"percentageOfNodesToScore", percentage},
        {"profiles", NULL},
    };
    const struct doc *profiles = doc_get(d, "profiles");
    if (!READ_MAP(r, d, FIRST, c))
        return false;
    if (!doc_get(d, "kind") || !doc_get(d, "apiVersion"))
        return refuse(r, "it has no kind or apiVersion");
    return is_null(profiles) || read_profiles(r, profiles, c) ||
           err_wrap(r->e, "profiles");
}

bool sched_config_read(struct str source, const char *file, struct arena *a,
                       struct sched_config *out, struct err *e)
{
    struct doc_source src = {.name = file, .text = source};
    struct reading r = {a, e, file};
    struct sched_config c = sched_config_default(a);
    struct doc_list list;
    if (!doc_read(&src, a, &list, e))
        return false;
    if (list.n != 1)
        return err_set(e, ERR_INVALID, "%s: one document is expected", file);
    if (!read_all(&r, &list.v[0], &c))
        return err_wrap(e, "%s", file);
    *out = c;
    return true;
}
