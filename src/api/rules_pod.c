/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a pod's spec as a whole (spec 2.8). Those of its containers, volumes, claims
 * and constraints of placing are in files of their own. */
#include "api/rules_pod.h"
#include "api/rules_ip.h"
#include "base/map.h"

/* ---- context ---- */

API_RULE(pod_context)
{
    at->w->pod_spec = at->value;
    at->w->pod_path = arena_str(at->w->a, strbuf_str(&at->w->path));
    return true;
}

API_RULE(role)
{
    at->w->role = arg;
    return true;
}

API_RULE(container_context)
{
    at->w->container = at->value;
    return true;
}

bool rules_is_pod(const struct api_walk *w)
{
    return strcmp(w->type->name, "Pod") == 0;
}

bool rules_is_true(const struct doc *parent, const char *key)
{
    const struct doc *d = api_member(parent, key);
    return d && d->type == DOC_BOOL && d->b;
}

const char *const rules_container_lists[] = {"initContainers", "containers",
                                             "ephemeralContainers"};

void rules_each_container(struct api_at *at, const struct doc *spec,
                          rules_container_fn *fn, void *ctx)
{
    struct api_walk *w = at->w;
    for (int k = 0; k < 3; k++) {
        const struct doc *list = api_member(spec, rules_container_lists[k]);
        for (uint32_t i = 0; list && i < list->n; i++) {
            struct str path =
                arena_printf(w->a, "%.*s%s%s[%u]", STR_ARG(w->pod_path),
                             w->pod_path.n ? "." : "", rules_container_lists[k], i);
            fn(w, &list->items[i], path, ctx);
        }
    }
}

struct str rules_below(struct api_walk *w, struct str path, const char *suffix)
{
    return arena_printf(w->a, "%.*s%s", STR_ARG(path), suffix);
}

/* ---- presence ---- */

/* A text that may be left out but not be empty. */
API_RULE(required_if_set)
{
    return !at->value || rule_required(at, arg);
}

/* Only whether it is there counts. */
API_RULE(required_pointer)
{
    return at->value ? true : api_fail(at, API_ERROR_REQUIRED, arg);
}

API_RULE(non_negative_in_pods)
{
    return !rules_is_pod(at->w) || rule_at_least(at, "0");
}

API_RULE(not_in_templates)
{
    if (!rules_is_pod(at->w) && !api_empty(at->value))
        api_fail(at, API_ERROR_FORBIDDEN,
                 "ephemeral containers not allowed in pod template");
    return true;
}

/* ---- a new pod ---- */

static bool is_new_pod(struct api_at *at)
{
    return rules_is_pod(at->w) && at->w->opts->op == API_CREATE;
}

API_RULE(not_on_create)
{
    if (is_new_pod(at) && !api_empty(at->value))
        api_fail(at, API_ERROR_FORBIDDEN, "cannot be set on create");
    return true;
}

API_RULE(after_gates)
{
    if (is_new_pod(at) && !api_empty(api_member(at->parent, "schedulingGates")))
        api_fail(at, API_ERROR_FORBIDDEN,
                 "cannot be set until all schedulingGates have been cleared");
    return true;
}

/* ---- names and addresses ---- */

API_RULE(same_account)
{
    const struct doc *account = api_member(at->parent, "serviceAccountName");
    if (!str_eq(api_text(at->value), api_text(account)))
        api_report(at, API_ERROR_INVALID, "must be the same as serviceAccountName: %.*s",
                   STR_ARG(api_shown_text(at->w->a, api_text(account))));
    return true;
}

API_RULE(hostname_override)
{
    if (rules_is_true(at->parent, "setHostnameAsFQDN"))
        api_fail(at, API_ERROR_FORBIDDEN,
                 "may not be specified when setHostnameAsFQDN is true");
    if (rules_is_true(at->parent, "hostNetwork"))
        api_fail(at, API_ERROR_FORBIDDEN,
                 "may not be specified when hostNetwork is true");
    if (api_text(at->value).n > 64)
        api_fail(at, API_ERROR_TOO_LONG, "may not be more than 64 bytes");
    return true;
}

API_RULE(ip)
{
    rules_ip(at, "", at->value);
    return true;
}

static bool is_search_domain(struct str s)
{
    for (size_t from = 0;;) {
        size_t dot = str_find_byte(s, '.', from);
        struct str part = str_sub(s, from, dot);
        if (part.n && part.p[0] == '_')
            part = str_sub(part, 1, SIZE_MAX);
        for (size_t i = 0; i < part.n; i++) {
            char c = part.p[i];
            bool inner = i > 0 && i + 1 < part.n && (c == '-' || c == '_');
            if (!inner && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
                return false;
        }
        if (part.n == 0)
            return false;
        if (dot == SIZE_MAX)
            return true;
        from = dot + 1;
    }
}

static void check_search(struct api_at *at, uint32_t i, const struct doc *item)
{
    struct str s = api_text(item);
    if (str_is(s, "."))
        return;
    if (s.n && s.p[s.n - 1] == '.')
        s = str_sub(s, 0, s.n - 1);
    const char *path = arena_printf(at->w->a, ".searches[%u]", i).p;
    struct str shown = api_shown_text(at->w->a, s);
    if (s.n > 253)
        api_report_shown(at, path, shown, API_ERROR_INVALID,
                         "must be no more than 253 characters");
    if (!is_search_domain(s))
        api_report_shown(
            at, path, shown, API_ERROR_INVALID,
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
            "characters, '_', '-' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'example.com', regex used for validation is "
            "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')");
}

static void check_searches(struct api_at *at, const struct doc *searches)
{
    size_t total = searches->n ? searches->n - 1 : 0;
    for (uint32_t i = 0; i < searches->n; i++) {
        total += api_text(&searches->items[i]).n;
        check_search(at, i, &searches->items[i]);
    }
    if (searches->n > 32)
        api_report_at(at, ".searches", searches, API_ERROR_INVALID,
                      "must not have more than 32 search paths");
    if (total > 2048)
        api_report_at(at, ".searches", searches, API_ERROR_INVALID,
                      "must not have more than 2048 characters (including spaces) in the "
                      "search list");
}

API_RULE(dns_config)
{
    const struct doc *servers = api_member(at->value, "nameservers");
    const struct doc *searches = api_member(at->value, "searches");
    const struct doc *options = api_member(at->value, "options");
    struct arena *a = at->w->a;
    if (doc_is_string(api_member(at->parent, "dnsPolicy"), "None")) {
        if (!at->value)
            return api_fail(at, API_ERROR_REQUIRED,
                            "must provide `dnsConfig` when `dnsPolicy` is None");
        if (api_empty(servers))
            return api_report_at(at, ".nameservers", servers, API_ERROR_REQUIRED,
                                 "must provide at least one DNS nameserver when "
                                 "`dnsPolicy` is None");
    }
    if (servers && servers->n > 3)
        api_report_at(at, ".nameservers", servers, API_ERROR_INVALID,
                      "must not have more than 3 nameservers");
    for (uint32_t i = 0; servers && i < servers->n; i++)
        rules_ip(at, arena_printf(a, ".nameservers[%u]", i).p, &servers->items[i]);
    if (searches)
        check_searches(at, searches);
    for (uint32_t i = 0; options && i < options->n; i++)
        if (doc_get_text(&options->items[i], "name").n == 0)
            api_report_at(at, arena_printf(a, ".options[%u]", i).p, &options->items[i],
                          API_ERROR_REQUIRED, "must not be empty");
    return true;
}

/* ---- sharing with the host ---- */

API_RULE(not_with_host_pid)
{
    if (at->value->b && rules_is_true(at->parent, "hostPID"))
        api_fail(at, API_ERROR_INVALID,
                 "ShareProcessNamespace and HostPID cannot both be enabled");
    return true;
}

static void no_devices(struct api_walk *w, const struct doc *c, struct str path,
                       void *ctx)
{
    if (!api_empty(api_member(c, "volumeDevices")))
        api_report_path(w, rules_below(w, path, ".volumeDevices"), NULL,
                        API_ERROR_FORBIDDEN, "when `hostUsers` is false");
}

/* A user namespace of its own goes with none of the host's. */
API_RULE(own_users)
{
    static const char *const SHARED[][2] = {{"hostNetwork", ".hostNetwork"},
                                            {"hostPID", ".HostPID"},
                                            {"hostIPC", ".HostIPC"}};
    const struct doc *users = api_member(at->value, "hostUsers");
    if (!users || users->b)
        return true;
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        if (rules_is_true(at->value, SHARED[i][0]))
            api_report_at(at, SHARED[i][1], NULL, API_ERROR_FORBIDDEN,
                          "when `hostUsers` is false");
    rules_each_container(at, at->value, no_devices, NULL);
    return true;
}

static void check_host_port(struct api_at *at, const struct doc *port, uint32_t c,
                            uint32_t i)
{
    const struct doc *host = api_member(port, "hostPort");
    int64_t have = rules_int(host, 0);
    int64_t want = rules_int(api_member(port, "containerPort"), 0);
    if ((rules_is_pod(at->w) || have != 0) && have != want)
        api_report_at(
            at, arena_printf(at->w->a, ".containers[%u].ports[%u].hostPort", c, i).p,
            host, API_ERROR_INVALID,
            "must match `containerPort` when `hostNetwork` is true");
}

API_RULE(host_network_ports)
{
    const struct doc *list = api_member(at->value, "containers");
    if (!rules_is_true(at->value, "hostNetwork"))
        return true;
    for (uint32_t c = 0; list && c < list->n; c++) {
        const struct doc *ports = api_member(&list->items[c], "ports");
        for (uint32_t i = 0; ports && i < ports->n; i++)
            check_host_port(at, &ports->items[i], c, i);
    }
    return true;
}

/* ---- operating systems ---- */

static const struct doc *security(const struct doc *parent, const char *key)
{
    return api_member(api_member(parent, "securityContext"), key);
}

static void no_windows_options(struct api_walk *w, const struct doc *c, struct str path,
                               void *ctx)
{
    if (security(c, "windowsOptions"))
        api_report_path(w, rules_below(w, path, ".securityContext.windowsOptions"), NULL,
                        API_ERROR_FORBIDDEN,
                        "windows options cannot be set for a linux pod");
}

static void check_linux(struct api_at *at)
{
    const struct doc *spec = at->w->pod_spec;
    if (security(spec, "windowsOptions"))
        api_report_path(
            at->w, rules_below(at->w, at->w->pod_path, ".securityContext.windowsOptions"),
            NULL, API_ERROR_FORBIDDEN, "windows options cannot be set for a linux pod");
    rules_each_container(at, spec, no_windows_options, NULL);
}

static const char *const LINUX_OF_CONTAINERS[] = {"appArmorProfile",
                                                  "seLinuxOptions",
                                                  "seccompProfile",
                                                  "capabilities",
                                                  "privileged",
                                                  "procMount",
                                                  "allowPrivilegeEscalation",
                                                  "runAsUser",
                                                  "runAsGroup",
                                                  "readOnlyRootFilesystem"};
static const char *const LINUX_OF_PODS[] = {
    "appArmorProfile",     "seLinuxOptions",
    "seccompProfile",      "fsGroup",
    "fsGroupChangePolicy", "sysctls",
    "runAsUser",           "runAsGroup",
    "supplementalGroups",  "supplementalGroupsPolicy",
    "seLinuxChangePolicy"};

static void forbid_linux(struct api_walk *w, const struct doc *holder, struct str path,
                         const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct doc *d = security(holder, keys[i]);
        if (d && !(d->type == DOC_LIST && d->n == 0))
            api_report_path(
                w, arena_printf(w->a, "%.*s.securityContext.%s", STR_ARG(path), keys[i]),
                NULL, API_ERROR_FORBIDDEN, "cannot be set for a windows pod");
    }
}

static void forbid_in_container(struct api_walk *w, const struct doc *c, struct str path,
                                void *ctx)
{
    forbid_linux(w, c, path, LINUX_OF_CONTAINERS,
                 sizeof LINUX_OF_CONTAINERS / sizeof *LINUX_OF_CONTAINERS);
}

static void check_windows(struct api_at *at)
{
    static const struct {
        const char *key;
        bool even_false;
    } HOST[] = {{"hostUsers", true},
                {"hostPID", false},
                {"hostIPC", false},
                {"shareProcessNamespace", true}};
    const struct doc *spec = at->w->pod_spec;
    struct api_walk *w = at->w;
    forbid_linux(w, spec, w->pod_path, LINUX_OF_PODS,
                 sizeof LINUX_OF_PODS / sizeof *LINUX_OF_PODS);
    for (size_t i = 0; i < sizeof HOST / sizeof *HOST; i++)
        if (HOST[i].even_false ? api_member(spec, HOST[i].key) != NULL
                               : rules_is_true(spec, HOST[i].key))
            api_report_path(
                w, arena_printf(w->a, "%.*s.%s", STR_ARG(w->pod_path), HOST[i].key), NULL,
                API_ERROR_FORBIDDEN, "cannot be set for a windows pod");
    rules_each_container(at, spec, forbid_in_container, NULL);
}

API_RULE(pod_os)
{
    const struct doc *name = api_member(at->value, "name");
    if (api_empty(name))
        return api_report_at(at, ".name", name, API_ERROR_REQUIRED, "%s", "");
    if (doc_is_string(name, "linux"))
        check_linux(at);
    else if (doc_is_string(name, "windows"))
        check_windows(at);
    else
        rules_not_supported(at, "", name, "linux|windows");
    return true;
}

struct str rules_pod_os(const struct api_walk *w)
{
    return doc_get_text(api_member(w->pod_spec, "os"), "name");
}

struct host_process {
    const struct doc *pod; /* what the pod says, or NULL */
    unsigned containers, hosts;
};

static void count_host_process(struct api_walk *w, const struct doc *c, struct str path,
                               void *ctx)
{
    struct host_process *h = ctx;
    const struct doc *own = api_member(security(c, "windowsOptions"), "hostProcess");
    h->containers++;
    if (h->pod && own && h->pod->b != own->b)
        api_report_path(
            w, rules_below(w, path, ".securityContext.windowsOptions.hostProcess"), own,
            API_ERROR_INVALID,
            "pod hostProcess value must be identical if both are specified, was %s",
            h->pod->b ? "true" : "false");
    h->hosts += own ? own->b : h->pod && h->pod->b;
}

API_RULE(host_process)
{
    struct host_process h = {
        .pod = api_member(security(at->value, "windowsOptions"), "hostProcess")};
    rules_each_container(at, at->value, count_host_process, &h);
    if (h.hosts && h.hosts != h.containers)
        api_report_shown(at, "", STR("\"\""), API_ERROR_INVALID,
                         "If pod contains any hostProcess containers then all containers "
                         "must be HostProcess containers");
    if (h.hosts && !rules_is_true(at->value, "hostNetwork"))
        api_report_shown(at, ".hostNetwork", STR("false"), API_ERROR_INVALID,
                         "hostNetwork must be true if pod contains any hostProcess "
                         "containers");
    return true;
}

/* ---- gates and groups ---- */

API_RULE(scheduling_gates)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        bool made;
        rules_name_at(at, rules_index(at, i), name, NAME_LABEL_KEY);
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, rules_index(at, i), name, API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
    return true;
}

API_RULE(scheduling_group)
{
    const struct doc *name = api_member(at->value, "podGroupName");
    if (!name)
        api_report_shown(at, ".podGroupName", STR("null"), API_ERROR_INVALID,
                         "must specify one of: `podGroupName`");
    else
        rules_name_at(at, ".podGroupName", name, NAME_DNS1123_SUBDOMAIN);
    return true;
}

/* Sets name their pods themselves. */
API_RULE(not_of_sets)
{
    return strcmp(at->w->type->name, "StatefulSet") != 0;
}
