/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is odd about a pod, or the template of one: told when a pod is made, and when a
 * workload is made or changed, as people write these. Upstream's order.
 */
#include "api/rules.h"
#include "api/warn_inner.h"
#include "base/names.h"
#include "num/quantity.h"

struct pod {
    const struct api_warn *w;
    const char *at; /* "", "spec.template." */
    bool template;
    const struct doc *spec, *annotations;
};

static const char *path(const struct pod *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *path(const struct pod *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str rest = arena_vprintf(p->w->a, fmt, ap);
    va_end(ap);
    return arena_printf(p->w->a, "%s%.*s", p->at, STR_ARG(rest)).p;
}

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static const char *quoted(const struct pod *p, struct str s)
{
    return api_shown_text(p->w->a, s).p;
}

/* ---- labels of nodes ---- */

static void warn_selector(const struct pod *p)
{
    const struct doc *labels = doc_get(p->spec, "nodeSelector");
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        struct str key = doc_key(&labels->members[i]);
        if (warn_label(key))
            warn_tell(p->w, "%s: %s", path(p, "spec.nodeSelector[%.*s]", STR_ARG(key)),
                      warn_label(key));
    }
}

static void warn_values(const struct pod *p, const struct doc *values, const char *at)
{
    struct str problems[NAME_MAX_PROBLEMS];
    for (uint32_t i = 0; i < count(values); i++) {
        struct str value = api_text(&values->items[i]);
        unsigned n = name_check(NAME_LABEL_VALUE, value, p->w->a, problems);
        for (unsigned j = 0; j < n; j++)
            warn_tell(p->w, "%s.values[%u]: %.*s is invalid, %.*s", at, i, STR_ARG(value),
                      STR_ARG(problems[j]));
    }
}

static void warn_term(const struct pod *p, const struct doc *term, bool values,
                      const char *at)
{
    const struct doc *list = doc_get(term, "matchExpressions");
    for (uint32_t i = 0; i < count(list); i++) {
        struct str key = doc_get_text(&list->items[i], "key");
        const char *here = arena_printf(p->w->a, "%s.matchExpressions[%u]", at, i).p;
        if (warn_label(key))
            warn_tell(p->w, "%s.key: %.*s is %s", here, STR_ARG(key), warn_label(key));
        if (values)
            warn_values(p, doc_get(&list->items[i], "values"), here);
    }
}

static void warn_node_affinity(const struct pod *p)
{
    static const char REQUIRED[] = "requiredDuringSchedulingIgnoredDuringExecution",
                      PREFERRED[] = "preferredDuringSchedulingIgnoredDuringExecution",
                      AT[] = "spec.affinity.nodeAffinity";
    const struct doc *affinity = doc_path(p->spec, "affinity.nodeAffinity"),
                     *terms = doc_get(doc_get(affinity, REQUIRED), "nodeSelectorTerms"),
                     *preferred = doc_get(affinity, PREFERRED);
    for (uint32_t i = 0; i < count(terms); i++)
        warn_term(p, &terms->items[i], false,
                  path(p, "%s.%s.nodeSelectorTerms[%u]", AT, REQUIRED, i));
    for (uint32_t i = 0; i < count(preferred); i++)
        warn_term(p, doc_get(&preferred->items[i], "preference"), true,
                  path(p, "%s.%s[%u].preference", AT, PREFERRED, i));
}

/* ---- selectors of pods ---- */

static bool lacks_selector(const struct doc *d)
{
    const struct doc *selector = doc_get(d, "labelSelector");
    return !selector || selector->type == DOC_NULL;
}

static void warn_null_selector(const struct pod *p, const char *at)
{
    warn_tell(p->w, "%s.labelSelector: a null labelSelector results in matching no pod",
              at);
}

static void warn_spread(const struct pod *p)
{
    const struct doc *list = doc_get(p->spec, "topologySpreadConstraints");
    for (uint32_t i = 0; i < count(list); i++) {
        struct str key = doc_get_text(&list->items[i], "topologyKey");
        const char *at = path(p, "spec.topologySpreadConstraints[%u]", i);
        if (warn_label(key))
            warn_tell(p->w, "%s.topologyKey: %.*s is %s", at, STR_ARG(key),
                      warn_label(key));
        if (lacks_selector(&list->items[i]))
            warn_null_selector(p, at);
    }
}

static void warn_pod_affinity(const struct pod *p, const char *kind)
{
    static const char REQUIRED[] = "requiredDuringSchedulingIgnoredDuringExecution",
                      PREFERRED[] = "preferredDuringSchedulingIgnoredDuringExecution";
    const struct doc *affinity = doc_get(doc_get(p->spec, "affinity"), kind),
                     *required = doc_get(affinity, REQUIRED),
                     *preferred = doc_get(affinity, PREFERRED);
    for (uint32_t i = 0; i < count(required); i++)
        if (lacks_selector(&required->items[i]))
            warn_null_selector(p, path(p, "spec.affinity.%s.%s[%u]", kind, REQUIRED, i));
    for (uint32_t i = 0; i < count(preferred); i++)
        if (lacks_selector(doc_get(&preferred->items[i], "podAffinityTerm")))
            warn_null_selector(p, path(p, "spec.affinity.%s.%s[%u].podAffinityTerm", kind,
                                       PREFERRED, i));
}

/* ---- annotations ---- */

static bool is_annotated(const struct pod *p, struct str key)
{
    return p->annotations && doc_get_str(p->annotations, key);
}

static void warn_annotation(const struct pod *p, struct str key, const char *text)
{
    if (is_annotated(p, key))
        warn_tell(p->w, "%s: %s", path(p, "metadata.annotations[%.*s]", STR_ARG(key)),
                  text);
}

static void warn_annotations(const struct pod *p)
{
    static const char *const OLD[][2] = {
        {"scheduler.alpha.kubernetes.io/critical-pod",
         "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
        {"security.alpha.kubernetes.io/sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
        {"security.alpha.kubernetes.io/unsafe-sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
    };
    for (size_t i = 0; i < sizeof OLD / sizeof *OLD; i++)
        warn_annotation(p, str_from(OLD[i][0]), OLD[i][1]);
}

static const char SECCOMP[] =
    "non-functional in v1.27+; use the \"seccompProfile\" field instead";

static void warn_pod_seccomp(const struct pod *p)
{
    if (!doc_path(p->spec, "securityContext.seccompProfile"))
        warn_annotation(p, STR("seccomp.security.alpha.kubernetes.io/pod"), SECCOMP);
}

/* Whether an annotation and the pod's own profile mean the same. */
static bool is_profile(const struct doc *profile, struct str annotation)
{
    struct str type = doc_get_text(profile, "type"),
               name = doc_get_text(profile, "localhostProfile");
    if (str_is(annotation, "runtime/default"))
        return str_is(type, "RuntimeDefault");
    if (str_is(annotation, "unconfined"))
        return str_is(type, "Unconfined");
    return str_starts(annotation, STR("localhost/")) && str_is(type, "Localhost") &&
           str_eq(name, str_sub(annotation, strlen("localhost/"), SIZE_MAX));
}

static void warn_of_profiles(const struct pod *p, const struct doc *container)
{
    struct arena *a = p->w->a;
    struct str name = doc_get_text(container, "name");
    const struct doc *security = doc_get(container, "securityContext"),
                     *own = doc_path(p->spec, "securityContext.appArmorProfile");
    struct str seccomp =
                   arena_printf(a, "container.seccomp.security.alpha.kubernetes.io/%.*s",
                                STR_ARG(name)),
               armor =
                   arena_printf(a, "container.apparmor.security.beta.kubernetes.io/%.*s",
                                STR_ARG(name));
    if (!doc_get(security, "seccompProfile"))
        warn_annotation(p, seccomp, SECCOMP);
    if (!p->template || doc_get(security, "appArmorProfile") || !is_annotated(p, armor))
        return;
    if (!own || !is_profile(own, api_text(doc_get_str(p->annotations, armor))))
        warn_annotation(
            p, armor,
            "deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

/* ---- volumes ---- */

static void warn_volumes(const struct pod *p)
{
    static const char *const OLD[][2] = {
        {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
        {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
        {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
        {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
        {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
        {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
        {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
        {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
        {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
    };
    const struct doc *list = doc_get(p->spec, "volumes");
    for (uint32_t i = 0; i < count(list); i++) {
        for (size_t j = 0; j < sizeof OLD / sizeof *OLD; j++) {
            const struct doc *d = doc_get(&list->items[i], OLD[j][0]);
            const char *shown =
                strcmp(OLD[j][0], "storageos") == 0 ? "storageOS" : OLD[j][0];
            if (d && d->type == DOC_MAP)
                warn_tell(p->w, "%s: %s", path(p, "spec.volumes[%u].%s", i, shown),
                          OLD[j][1]);
        }
        warn_of_claim_spec(
            p->w, doc_path(&list->items[i], "ephemeral.volumeClaimTemplate.spec"),
            path(p, "spec.volumes[%u].ephemeral.volumeClaimTemplate.spec", i));
    }
    warn_of_overlaps(p->w, list);
}

/* ---- lists whose items are said twice ---- */

/* Whether an item before has the same text. */
static bool is_twice(const struct doc *list, uint32_t i, const char *key)
{
    struct str text = doc_get_text(&list->items[i], key);
    for (uint32_t j = 0; j < i; j++)
        if (str_eq(doc_get_text(&list->items[j], key), text))
            return true;
    return false;
}

enum { MOST_COMPARED = 1000 }; /* items of a list that are held against each other */

static void warn_twice(const struct pod *p, const char *member, const char *key)
{
    const struct doc *list = doc_get(p->spec, member);
    for (uint32_t i = 0; i < count(list) && i < MOST_COMPARED; i++)
        if (is_twice(list, i, key))
            warn_tell(p->w, "%s: duplicate %s %s",
                      path(p, "spec.%s[%u].%s", member, i, key), key,
                      quoted(p, doc_get_text(&list->items[i], key)));
}

static void warn_nameless_secrets(const struct pod *p)
{
    const struct doc *list = doc_get(p->spec, "imagePullSecrets");
    for (uint32_t i = 0; i < count(list); i++)
        if (!doc_get_text(&list->items[i], "name").n)
            warn_tell(p->w, "%s: invalid empty name \"\"",
                      path(p, "spec.imagePullSecrets[%u].name", i));
}

/* ---- parts of bytes ---- */

static void warn_fraction(const struct pod *p, const struct doc *amounts, const char *at,
                          const char *name)
{
    struct str text = doc_get_text(amounts, name);
    struct quantity q;
    int64_t milli;
    if (!text.n || !quantity_parse(text, p->w->a, &q, NULL))
        return;
    if (quantity_scaled(&q, 3, &milli) && milli % 1000 != 0)
        warn_tell(p->w, "%s[%s]: fractional byte value %s is invalid, must be an integer",
                  at, name, quoted(p, quantity_print(&q, p->w->a)));
}

static void warn_amounts(const struct pod *p, const struct doc *container, const char *at)
{
    static const char *const NAMES[] = {"memory", "ephemeral-storage"}, *const SIDES[] = {
                                                                            "limits",
                                                                            "requests"};
    const struct doc *resources = doc_get(container, "resources");
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            warn_fraction(p, doc_get(resources, SIDES[j]),
                          arena_printf(p->w->a, "%s.resources.%s", at, SIDES[j]).p,
                          NAMES[i]);
}

static void warn_overhead(const struct pod *p)
{
    const struct doc *overhead = doc_get(p->spec, "overhead");
    warn_fraction(p, overhead, path(p, "spec.overhead"), "memory");
    warn_fraction(p, overhead, path(p, "spec.overhead"), "ephemeral-storage");
}

/* ---- containers ---- */

/* A variable may be said again where it builds on what it was. */
static bool hides(const struct pod *p, const struct doc *env)
{
    struct str value = doc_get_text(env, "value");
    struct str ref = arena_printf(p->w->a, "$(%.*s)", STR_ARG(doc_get_text(env, "name")));
    return doc_get(env, "valueFrom") || str_eq(value, ref) ||
           str_find(value, ref) == SIZE_MAX;
}

static void warn_env(const struct pod *p, const struct doc *container, const char *at)
{
    const struct doc *list = doc_get(container, "env");
    for (uint32_t i = 0; i < count(list) && i < MOST_COMPARED; i++)
        if (is_twice(list, i, "name") && hides(p, &list->items[i]))
            warn_tell(p->w,
                      "%s.env[%u]: hides previous definition of %s, which may be dropped "
                      "when using apply",
                      at, i, quoted(p, doc_get_text(&list->items[i], "name")));
}

typedef void container_fn(const struct pod *p, const struct doc *container,
                          const char *at, void *ctx);

static void each_container(const struct pod *p, container_fn *each, void *ctx)
{
    static const char *const LISTS[] = {"initContainers", "containers",
                                        "ephemeralContainers"};
    for (int k = 0; k < 3; k++) {
        const struct doc *list = doc_get(p->spec, LISTS[k]);
        for (uint32_t i = 0; i < count(list); i++)
            each(p, &list->items[i], path(p, "spec.%s[%u]", LISTS[k], i), ctx);
    }
}

static void warn_container(const struct pod *p, const struct doc *container,
                           const char *at, void *ctx)
{
    warn_of_profiles(p, container);
    warn_amounts(p, container, at);
    warn_env(p, container, at);
}

/* ---- ports ---- */

struct port {
    const char *at;
    struct str name, protocol, ip;
    int64_t inside, host;
};
struct ports {
    struct port *v; /* NULL: they are only counted */
    uint32_t n;
};

static void take_ports(const struct pod *p, const struct doc *container, const char *at,
                       void *ctx)
{
    struct ports *all = ctx;
    const struct doc *list = doc_get(container, "ports");
    for (uint32_t i = 0; i < count(list) && all->n < MOST_COMPARED; i++) {
        if (!all->v) {
            all->n++;
            continue;
        }
        const struct doc *d = &list->items[i];
        struct port *port = &all->v[all->n++];
        *port = (struct port){.at = arena_printf(p->w->a, "%s.ports[%u]", at, i).p,
                              .name = doc_get_text(d, "name"),
                              .protocol = doc_get_text(d, "protocol"),
                              .ip = doc_get_text(d, "hostIP")};
        doc_get_int64(d, "containerPort", &port->inside);
        doc_get_int64(d, "hostPort", &port->host);
    }
}

static const char *conflict(const struct port *x, const struct port *y)
{
    bool one_ip = (x->ip.n == 0) != (y->ip.n == 0);
    if (str_eq(x->ip, y->ip) && x->host == y->host)
        return "duplicate";
    if (x->host == 0 || y->host == 0)
        return "overlapping";
    return x->host == y->host && one_ip ? "dangerously ambiguous" : NULL;
}

static void warn_port(const struct pod *p, const struct ports *all, uint32_t i)
{
    const struct port *port = &all->v[i];
    if (port->ip.n && port->host == 0)
        warn_tell(p->w,
                  "%s: hostIP set without hostPort: {Name:%.*s HostPort:0 "
                  "ContainerPort:%lld Protocol:%.*s HostIP:%.*s}",
                  port->at, STR_ARG(port->name), (long long)port->inside,
                  STR_ARG(port->protocol), STR_ARG(port->ip));
    for (uint32_t j = 0; j < i; j++) {
        const struct port *other = &all->v[j];
        const char *what = conflict(port, other);
        if (what && other->inside == port->inside &&
            str_eq(other->protocol, port->protocol))
            warn_tell(p->w, "%s: %s port definition with %s", port->at, what, other->at);
    }
}

static void warn_port_name(const struct pod *p, const struct ports *all, uint32_t i)
{
    struct str name = all->v[i].name;
    for (uint32_t j = 0; name.n && j < i; j++)
        if (str_eq(all->v[j].name, name)) {
            warn_tell(p->w,
                      "%s: duplicate port name %s with %s, services and probes that "
                      "select ports by name will use %s",
                      all->v[i].at, quoted(p, name), all->v[j].at, all->v[j].at);
            return;
        }
}

static void warn_ports(const struct pod *p)
{
    struct ports all = {0};
    each_container(p, take_ports, &all);
    all.v = ARENA_ARRAY(p->w->a, struct port, all.n);
    all.n = 0;
    each_container(p, take_ports, &all);
    for (uint32_t i = 0; i < all.n; i++)
        warn_port(p, &all, i);
    for (uint32_t i = 0; i < all.n; i++)
        warn_port_name(p, &all, i);
}

/* ---- addresses ---- */

static void warn_addresses(const struct pod *p)
{
    const struct doc *servers = doc_path(p->spec, "dnsConfig.nameservers"),
                     *aliases = doc_get(p->spec, "hostAliases");
    for (uint32_t i = 0; i < count(servers); i++)
        warn_address(p->w, path(p, "spec.dnsConfig.nameservers[%u]", i),
                     api_text(&servers->items[i]));
    for (uint32_t i = 0; i < count(aliases); i++)
        warn_address(p->w, path(p, "spec.hostAliases[%u].ip", i),
                     doc_get_text(&aliases->items[i], "ip"));
}

/* ---- all of it ---- */

static void warn_grace(const struct pod *p)
{
    int64_t seconds;
    if (doc_get_int64(p->spec, "terminationGracePeriodSeconds", &seconds) && seconds < 0)
        warn_tell(
            p->w,
            "%s: must be >= 0; negative values are invalid and will be treated as 1",
            path(p, "spec.terminationGracePeriodSeconds"));
}

static void warn_pod(const struct pod *p)
{
    warn_selector(p);
    warn_node_affinity(p);
    warn_spread(p);
    warn_annotations(p);
    warn_volumes(p);
    warn_twice(p, "hostAliases", "ip");
    warn_twice(p, "imagePullSecrets", "name");
    warn_nameless_secrets(p);
    warn_overhead(p);
    warn_pod_seccomp(p);
    each_container(p, warn_container, NULL);
    warn_ports(p);
    warn_grace(p);
    warn_pod_affinity(p, "podAffinity");
    warn_pod_affinity(p, "podAntiAffinity");
    warn_addresses(p);
}

/* Of a name that is no label; used: by what of the pods. */
static void warn_name(const struct api_warn *w, const struct doc *object,
                      const char *used)
{
    struct str problems[NAME_MAX_PROBLEMS], all = STR("");
    struct str name = doc_get_text(doc_get(object, "metadata"), "name");
    unsigned n = name.n ? name_check(NAME_DNS1123_LABEL, name, w->a, problems) : 0;
    for (unsigned i = 0; i < n; i++)
        all = arena_printf(w->a, "%.*s%s%.*s", STR_ARG(all), i ? " " : "",
                           STR_ARG(problems[i]));
    if (n)
        warn_tell(w,
                  "metadata.name: this is used in %s, which can result in surprising "
                  "behavior; a DNS label is recommended: [%.*s]",
                  used, STR_ARG(all));
}

static const char NAMES[] = "Pod names and hostnames";

void warn_of_pod(const struct api_warn *w, const struct doc *object,
                 const struct doc *old)
{
    struct pod p = {.w = w,
                    .at = "",
                    .spec = doc_get(object, "spec"),
                    .annotations = doc_path(object, "metadata.annotations")};
    if (old) /* nobody changes pods by hand */
        return;
    warn_name(w, object, "the Pod's hostname");
    warn_pod(&p);
}

static void warn_template(const struct api_warn *w, const struct doc *object,
                          const char *at)
{
    const struct doc *template = doc_path(object, at);
    struct pod p = {.w = w,
                    .at = arena_printf(w->a, "%s.", at).p,
                    .template = true,
                    .spec = doc_get(template, "spec"),
                    .annotations = doc_path(template, "metadata.annotations")};
    warn_pod(&p);
}

static int64_t generation(const struct doc *object)
{
    int64_t n = 0;
    doc_get_int64(doc_get(object, "metadata"), "generation", &n);
    return n;
}

/* Only what was changed is worth a word. */
static bool is_changed(const struct doc *object, const struct doc *old)
{
    return !old || generation(object) != generation(old);
}

void warn_of_workload(const struct api_warn *w, const struct doc *object,
                      const struct doc *old)
{
    if (is_changed(object, old))
        warn_template(w, object, "spec.template");
}

/* One that names its pods after itself. */
void warn_of_set(const struct api_warn *w, const struct doc *object,
                 const struct doc *old)
{
    if (!old)
        warn_name(w, object, NAMES);
    warn_of_workload(w, object, old);
}

/* Which of an Indexed job's many pods are done may get too long to be told. */
static void warn_job_size(const struct api_warn *w, const struct doc *object,
                          const char *at)
{
    const struct doc *spec = doc_path(object, at);
    int64_t completions = 0, parallelism = 0;
    doc_get_int64(spec, "completions", &completions);
    doc_get_int64(spec, "parallelism", &parallelism);
    if (doc_is_string(doc_get(spec, "completionMode"), "Indexed") &&
        completions > 100000 && parallelism > 10000)
        warn_tell(w,
                  "%s: In Indexed Jobs with a number of completions higher than 10^5 and "
                  "a parallelism higher than 10^4, Kubernetes might not be able to track "
                  "completedIndexes when a big number of indexes fail",
                  at);
}

void warn_of_job(const struct api_warn *w, const struct doc *object,
                 const struct doc *old)
{
    if (!old)
        warn_name(w, object, NAMES);
    if (is_changed(object, old))
        warn_job_size(w, object, "spec");
    warn_of_workload(w, object, old);
}

void warn_of_schedule(const struct api_warn *w, const struct doc *object,
                      const struct doc *old)
{
    struct str schedule = doc_get_text(doc_get(object, "spec"), "schedule");
    if (!old)
        warn_name(w, object, NAMES);
    if (is_changed(object, old)) {
        warn_job_size(w, object, "spec.jobTemplate.spec");
        warn_template(w, object, "spec.jobTemplate.spec.template");
    }
    if (old && str_find(schedule, STR("TZ")) != SIZE_MAX)
        warn_tell(
            w,
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for "
            "more details");
}

void warn_of_template(const struct api_warn *w, const struct doc *object,
                      const struct doc *old)
{
    if (is_changed(object, old))
        warn_template(w, object, "template");
}

/* Its generation counts other changes as well. */
void warn_of_daemons(const struct api_warn *w, const struct doc *object,
                     const struct doc *old)
{
    const struct doc *now = doc_path(object, "spec.template"),
                     *before = doc_path(old, "spec.template");
    if (now && (!before || !doc_equal(now, before)))
        warn_template(w, object, "spec.template");
}
