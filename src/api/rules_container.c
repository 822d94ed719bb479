/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of containers. */
#include "api/rules_pod.h"
#include "base/map.h"

/* ---- the lists ---- */

static bool is_role(const struct api_at *at, const char *role)
{
    return strcmp(at->w->role, role) == 0;
}

static bool is_sidecar(const struct doc *c)
{
    return doc_is_string(api_member(c, "restartPolicy"), "Always");
}

/* Names of the lists whose containers come before those of this one. */
static bool named_before(struct api_at *at, struct str name)
{
    static const char *const MAIN[] = {"containers", NULL}, *const BOTH[] = {
                                                                "containers",
                                                                "initContainers", NULL};
    const char *const *lists = is_role(at, "init") ? MAIN : BOTH;
    if (is_role(at, "main"))
        return false;
    for (; *lists; lists++) {
        const struct doc *list = api_member(at->w->pod_spec, *lists);
        for (uint32_t i = 0; list && i < list->n; i++)
            if (str_eq(doc_get_text(&list->items[i], "name"), name))
                return true;
    }
    return false;
}

API_RULE(container_names)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        bool made = true;
        if (!api_empty(name) || !is_role(at, "init"))
            strmap_put(&seen, api_text(name), &made);
        if (!made || named_before(at, api_text(name)))
            api_report_at(at, arena_printf(at->w->a, "[%u].name", i).p, name,
                          API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
    return true;
}

static void check_port(struct api_at *at, struct strmap *seen, const struct doc *port,
                       uint32_t c, uint32_t i)
{
    struct arena *a = at->w->a;
    const struct doc *host = api_member(port, "hostPort");
    bool made;
    if (rules_int(host, 0) == 0)
        return;
    struct str key = arena_printf(
        a, "%.*s/%.*s/%lld", STR_ARG(doc_get_text(port, "protocol")),
        STR_ARG(doc_get_text(port, "hostIP")), (long long)rules_int(host, 0));
    strmap_put(seen, key, &made);
    if (!made)
        api_report_shown(at, arena_printf(a, "[%u].ports[%u].hostPort", c, i).p,
                         api_shown_text(a, key), API_ERROR_DUPLICATE, "%s", "");
}

/* No two containers that run together take the same port of the host. Init containers run
 * one by one, and are reported as the first. */
API_RULE(host_ports)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t c = 0; at->value && c < at->value->n; c++) {
        const struct doc *ports = api_member(&at->value->items[c], "ports");
        for (uint32_t i = 0; ports && i < ports->n; i++)
            check_port(at, &seen, &ports->items[i], is_role(at, "init") ? 0 : c, i);
        if (is_role(at, "init"))
            strmap_clear(&seen);
    }
    strmap_release(&seen);
    return true;
}

API_RULE(debug_target)
{
    bool found = false;
    for (int k = 0; k < 2; k++) {
        const struct doc *list = api_member(at->w->pod_spec, rules_container_lists[k]);
        for (uint32_t i = 0; list && i < list->n; i++)
            found = found ||
                    str_eq(doc_get_text(&list->items[i], "name"), api_text(at->value));
    }
    if (!found)
        api_fail(at, API_ERROR_NOT_FOUND, "");
    return true;
}

/* What containers for debugging cannot have. */
API_RULE(not_for_debug)
{
    bool empty = at->value && at->value->type == DOC_MAP && at->value->n == 0;
    bool counts = at->field->container == API_ONE && at->field->flags & API_POINTER;
    if (at->value && (!empty || counts))
        api_fail(at, API_ERROR_FORBIDDEN, "cannot be set for an Ephemeral Container");
    return strcmp(arg, "checked") == 0;
}

static void no_sub_path(struct api_at *at, uint32_t i, const char *key)
{
    const struct doc *value = api_member(&at->value->items[i], key);
    if (!api_empty(value))
        api_report_at(at, arena_printf(at->w->a, "[%u].%s", i, key).p, value,
                      API_ERROR_FORBIDDEN, "cannot be set for an Ephemeral Container");
}

API_RULE(no_sub_paths)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        no_sub_path(at, i, "subPath");
        no_sub_path(at, i, "subPathExpr");
    }
    return true;
}

/* ---- image and names ---- */

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

API_RULE(no_padding)
{
    struct str s = api_text(at->value);
    if ((rules_is_pod(at->w) || is_role(at, "debug")) && s.n &&
        (is_white(s.p[0]) || is_white(s.p[s.n - 1])))
        api_fail(at, API_ERROR_INVALID, "must not have leading or trailing whitespace");
    return true;
}

API_RULE(port_names)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        const char *path = arena_printf(at->w->a, "[%u].name", i).p;
        bool made;
        if (api_empty(name) || !rules_port_name(at, path, name))
            continue;
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, path, name, API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
    return true;
}

API_RULE(required_port)
{
    if (rules_int(at->value, 0) == 0)
        return api_fail(at, API_ERROR_REQUIRED, "");
    return true;
}

API_RULE(port_if_set)
{
    return rules_int(at->value, 0) == 0 || rule_port_number(at, arg);
}

/* ---- restarts ---- */

API_RULE(restart_policy)
{
    if (!at->value && !api_empty(api_member(at->parent, "restartPolicyRules")))
        api_fail(at, API_ERROR_REQUIRED,
                 "must specify restartPolicy when restart rules are used");
    return !at->value || rule_one_of(at, "Always|Never|OnFailure");
}

/* Rules of an init container count when it says what they are to change. */
API_RULE(rules_of_policy)
{
    return !is_role(at, "init") || api_member(at->parent, "restartPolicy");
}

API_RULE(resize_policies)
{
    static const char text[] =
        "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
    bool never = doc_is_string(api_member(at->w->pod_spec, "restartPolicy"), "Never");
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *p = &at->value->items[i];
        const struct doc *name = api_member(p, "resourceName");
        const struct doc *policy = api_member(p, "restartPolicy");
        struct api_at of_name = *at, of_policy = *at;
        bool made;
        of_name.value = name;
        of_policy.value = policy;
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, rules_index(at, i), name, API_ERROR_DUPLICATE, "%s", "");
        if (rule_required(&of_name, ""))
            rule_one_of(&of_name, "cpu|memory");
        if (rule_required(&of_policy, ""))
            rule_one_of(&of_policy, "NotRequired|RestartContainer");
        if (never && !doc_is_string(policy, "NotRequired"))
            api_report_at(at, "", policy ? policy : NULL, API_ERROR_INVALID, "%s", text);
        if (is_role(at, "init") && !is_sidecar(at->parent) &&
            doc_is_string(policy, "RestartContainer"))
            api_report_at(at, arena_printf(at->w->a, "[%u].restartPolicy", i).p, policy,
                          API_ERROR_INVALID,
                          "must not be set to 'RestartContainer' for non-sidecar "
                          "initContainers");
    }
    strmap_release(&seen);
    return true;
}

/* ---- probes and hooks ---- */

/* Containers that end before the others start are not watched. */
API_RULE(for_lasting)
{
    if (!is_role(at, "init") || is_sidecar(at->parent))
        return true;
    return api_fail(at, API_ERROR_FORBIDDEN,
                    "may not be set for init containers without restartPolicy=Always");
}

API_RULE(once_successful)
{
    if (rules_int(api_member(at->value, "successThreshold"), 0) != 1)
        api_report_at(at, ".successThreshold", api_member(at->value, "successThreshold"),
                      API_ERROR_INVALID, "must be 1");
    return true;
}

API_RULE(no_grace)
{
    const struct doc *grace = api_member(at->value, "terminationGracePeriodSeconds");
    if (grace)
        api_report_at(at, ".terminationGracePeriodSeconds", grace, API_ERROR_INVALID,
                      "must not be set for readinessProbes");
    return true;
}

static const char *const HANDLERS[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
enum { NHANDLERS = sizeof HANDLERS / sizeof *HANDLERS };

API_RULE(some_handler)
{
    for (int i = 0; i < NHANDLERS; i++)
        if (api_member(at->value, HANDLERS[i]))
            return true;
    api_fail(at, API_ERROR_REQUIRED, "must specify a handler type");
    return true;
}

API_RULE(one_handler)
{
    for (int i = 0; i < NHANDLERS && strcmp(HANDLERS[i], at->field->name) != 0; i++)
        if (api_member(at->parent, HANDLERS[i]))
            return api_fail(at, API_ERROR_FORBIDDEN,
                            "may not specify more than 1 handler type");
    return true;
}

API_RULE(http_protocol)
{
    const struct doc *host = api_member(at->parent, "host");
    if (!doc_is_string(at->value, "HTTP2"))
        return rule_one_of(at, "HTTP1|HTTP2");
    if (!doc_is_string(api_member(at->parent, "scheme"), "HTTP"))
        api_fail(at, API_ERROR_INVALID, "is only supported with HTTP (H2C)");
    else if (!api_empty(host))
        api_report_path(at->w,
                        rules_below(at->w,
                                    str_sub(strbuf_str(&at->w->path), 0,
                                            at->w->path.n - strlen(".protocol")),
                                    ".host"),
                        host, API_ERROR_INVALID,
                        "must be empty when `protocol` is \"HTTP2\"");
    return true;
}

API_RULE(sleep_seconds)
{
    const struct doc *grace =
        api_member(at->w->pod_spec, "terminationGracePeriodSeconds");
    const struct doc *seconds = api_member(at->value, "seconds");
    int64_t most = rules_int(grace, 0), v = rules_int(seconds, 0);
    if (grace && (v < 0 || v > most))
        api_report_shown(at, "", arena_printf(at->w->a, "%lld", (long long)v),
                         API_ERROR_INVALID,
                         "must be non-negative and less than "
                         "terminationGracePeriodSeconds (%lld)",
                         (long long)most);
    return true;
}

#define LINUX_SIGNALS                                                                    \
    "SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|"   \
    "SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|"         \
    "SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|" \
    "SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|"        \
    "SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+"   \
    "15|"                                                                                \
    "SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|"      \
    "SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|"       \
    "SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ"

API_RULE(stop_signal)
{
    struct str os = rules_pod_os(at->w);
    if (!api_member(at->w->pod_spec, "os"))
        return api_fail(at, API_ERROR_FORBIDDEN,
                        "may not be set for containers with empty `spec.os.name`");
    if (str_is(os, "windows"))
        rule_one_of(at, "SIGKILL|SIGTERM");
    else if (str_is(os, "linux"))
        rule_one_of(at, LINUX_SIGNALS);
    return true;
}

/* ---- environment ---- */

static unsigned count_members(const struct doc *d, const char *const *keys, size_t n)
{
    unsigned set = 0;
    for (size_t i = 0; i < n; i++)
        set += api_member(d, keys[i]) != NULL;
    return set;
}

API_RULE(env_source)
{
    static const char *const KEYS[] = {"fieldRef", "resourceFieldRef", "configMapKeyRef",
                                       "secretKeyRef", "fileKeyRef"};
    unsigned n = count_members(at->value, KEYS, sizeof KEYS / sizeof *KEYS);
    const char *text = NULL;
    if (n == 0)
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
               "`secretKeyRef` or `fileKeyRef`";
    else if (!api_empty(api_member(at->parent, "value")))
        text = "may not be specified when `value` is not empty";
    else if (n > 1)
        text = "may not have more than one field specified at a time";
    if (text)
        api_report_shown(at, "", STR("\"\""), API_ERROR_INVALID, "%s", text);
    return true;
}

/* Reported at the list. */
API_RULE(env_sources)
{
    static const char *const KEYS[] = {"configMapRef", "secretRef"};
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        unsigned n = count_members(&at->value->items[i], KEYS, 2);
        if (n != 1)
            api_report_shown(at, "", STR("\"\""), API_ERROR_INVALID, "%s",
                             n ? "may not have more than one field specified at a time"
                               : "must specify one of: `configMapRef` or `secretRef`");
    }
    return true;
}

/* "metadata.labels['key']" in two parts. */
static bool split_subscript(struct str s, struct str *path, struct str *key)
{
    size_t open = str_find(s, STR("['"));
    if (!str_ends(s, STR("']")) || open == SIZE_MAX || open == 0 || open + 4 > s.n)
        return false;
    *path = str_sub(s, 0, open);
    *key = str_sub(s, open + 2, s.n - 2);
    return true;
}

static void check_subscript(struct api_at *at, struct str path, struct str key)
{
    struct doc text = doc_make_string(at->w->a, str_is(path, "metadata.annotations")
                                                    ? rules_lowered(at->w->a, key)
                                                    : key);
    rules_name_at(at, "", &text, NAME_LABEL_KEY);
}

#define FIELDS_OF_FILES                                                                  \
    "metadata.annotations|metadata.labels|metadata.name|metadata.namespace|metadata.uid"
#define FIELDS_OF_ENV                                                                    \
    "metadata.name|metadata.namespace|metadata.uid|spec.nodeName|"                       \
    "spec.serviceAccountName|status.hostIP|status.hostIPs|status.podIP|status.podIPs"
#define FIELDS_OF_PODS                                                                   \
    FIELDS_OF_FILES "|spec.nodeName|spec.restartPolicy|spec.serviceAccountName|"         \
                    "spec.schedulerName|status.phase|status.hostIP|status.hostIPs|"      \
                    "status.podIP|status.podIPs|spec.host"

/* A field of the pod; arg "env" or "file" says for what. */
API_RULE(field_ref)
{
    const struct doc *version = api_member(at->value, "apiVersion");
    const struct doc *field = api_member(at->value, "fieldPath");
    struct str path = api_text(field), key;
    if (api_empty(version))
        return api_report_at(at, ".apiVersion", version, API_ERROR_REQUIRED, "%s", "");
    if (api_empty(field))
        return api_report_at(at, ".fieldPath", field, API_ERROR_REQUIRED, "%s", "");
    if (!doc_is_string(version, "v1"))
        return api_report_at(at, ".fieldPath", field, API_ERROR_INVALID,
                             "error converting fieldPath: unsupported pod version: %.*s",
                             STR_ARG(api_text(version)));
    if (split_subscript(path, &path, &key)) {
        if (str_is(path, "metadata.annotations") || str_is(path, "metadata.labels"))
            check_subscript(at, path, key);
        else
            api_report_at(at, ".fieldPath", field, API_ERROR_INVALID,
                          "error converting fieldPath: field label does not support "
                          "subscript: %.*s",
                          STR_ARG(api_text(field)));
        return false;
    }
    if (!rules_among(path, FIELDS_OF_PODS))
        return api_report_at(
            at, ".fieldPath", field, API_ERROR_INVALID,
            "error converting fieldPath: field label not supported: %.*s", STR_ARG(path));
    const char *choices = strcmp(arg, "env") == 0 ? FIELDS_OF_ENV : FIELDS_OF_FILES;
    if (!rules_among(path, choices) && !str_is(path, "spec.host"))
        rules_not_supported(at, ".fieldPath", field, choices);
    return false;
}

static bool is_divisor(struct str s, bool cpu)
{
    return cpu ? rules_among(s, "1|1m")
               : rules_among(s, "1|1k|1M|1G|1T|1P|1E|1Ki|1Mi|1Gi|1Ti|1Pi|1Ei");
}

static void check_divisor(struct api_at *at, const struct doc *resource)
{
    static const struct {
        const char *end, *values, *what;
    } KINDS[] = {
        {".cpu", "1m and 1", "cpu"},
        {".memory", "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei", "memory"},
        {".ephemeral-storage", "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei",
         "local ephemeral storage"},
        {".hugepages-", "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei",
         "hugepages"},
    };
    struct quantity q;
    if (!rules_quantity(at, at->value, "divisor", &q) || quantity_sign(&q) == 0)
        return;
    struct str s = api_text(resource), text = quantity_print(&q, at->w->a);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (str_find(s, str_from(KINDS[i].end)) != SIZE_MAX &&
            !is_divisor(text, i == 0)) {
            api_report_at(at, ".divisor", resource, API_ERROR_INVALID,
                          "only divisor's values %s are supported with the %s resource",
                          KINDS[i].values, KINDS[i].what);
            return;
        }
}

/* arg "file": the container has to be named. */
API_RULE(resource_ref)
{
    const struct doc *container = api_member(at->value, "containerName");
    const struct doc *resource = api_member(at->value, "resource");
    struct str s = api_text(resource);
    static const char choices[] =
        "limits.cpu|limits.ephemeral-storage|limits.memory|requests.cpu|"
        "requests.ephemeral-storage|requests.memory";
    if (strcmp(arg, "file") == 0 && api_empty(container))
        api_report_at(at, ".containerName", container, API_ERROR_REQUIRED, "%s", "");
    else if (s.n == 0)
        api_report_at(at, ".resource", resource, API_ERROR_REQUIRED, "%s", "");
    else if (!rules_among(s, choices) && !str_starts(s, STR("requests.hugepages-")) &&
             !str_starts(s, STR("limits.hugepages-")))
        rules_not_supported(at, ".resource", resource, choices);
    check_divisor(at, resource);
    return false;
}

/* A file of variables lies in a volume that lives with the pod. */
API_RULE(env_file_volume)
{
    const struct doc *volumes = api_member(at->w->pod_spec, "volumes");
    for (uint32_t i = volumes ? volumes->n : 0; i-- > 0;) {
        if (!str_eq(doc_get_text(&volumes->items[i], "name"), api_text(at->value)))
            continue;
        if (!api_member(&volumes->items[i], "emptyDir"))
            api_fail(at, API_ERROR_INVALID, "referenced volume must be of type emptyDir");
        return true;
    }
    api_fail(at, API_ERROR_NOT_FOUND, "");
    return true;
}

/* ---- mounts ---- */

static const struct doc *text_among(const struct doc *list, const char *key, struct str s,
                                    uint32_t n)
{
    for (uint32_t i = 0; list && i < list->n && i < n; i++)
        if (str_eq(doc_get_text(&list->items[i], key), s))
            return &list->items[i];
    return NULL;
}

static void check_propagation(struct api_at *at, const struct doc *mount)
{
    const struct doc *how = api_member(mount, "mountPropagation");
    const struct doc *context = api_member(at->w->container, "securityContext");
    struct str s = api_text(how);
    if (!how)
        return;
    if (!rules_among(s, "Bidirectional|HostToContainer|None"))
        rules_not_supported(at, ".mountPropagation", how,
                            "Bidirectional|HostToContainer|None");
    if (str_is(s, "Bidirectional") && !rules_is_true(context, "privileged"))
        api_report_at(at, ".mountPropagation", how, API_ERROR_FORBIDDEN,
                      "Bidirectional mount propagation is available only to privileged "
                      "containers");
}

static void check_recursion(struct api_at *at, const struct doc *mount)
{
    const struct doc *how = api_member(mount, "recursiveReadOnly");
    const struct doc *propagation = api_member(mount, "mountPropagation");
    struct str s = api_text(how);
    if (!how || str_is(s, "Disabled"))
        return;
    if (!rules_among(s, "Enabled|IfPossible")) {
        rules_not_supported(at, ".recursiveReadOnly", how, "Disabled|Enabled|IfPossible");
        return;
    }
    if (!rules_is_true(mount, "readOnly"))
        api_report_at(at, ".recursiveReadOnly", how, API_ERROR_FORBIDDEN,
                      "may only be specified when readOnly is true");
    if (propagation && !doc_is_string(propagation, "None"))
        api_report_at(at, ".recursiveReadOnly", how, API_ERROR_FORBIDDEN,
                      "may only be specified when mountPropagation is None or not "
                      "specified");
}

static void check_mount_place(struct api_at *at, uint32_t i, const struct doc *mount)
{
    struct arena *a = at->w->a;
    const struct doc *path = api_member(mount, "mountPath");
    const struct doc *devices = api_member(at->w->container, "volumeDevices");
    const char *place = arena_printf(a, "[%u].mountPath", i).p;
    if (api_empty(path))
        api_report_at(at, place, path, API_ERROR_REQUIRED, "%s", "");
    if (text_among(at->value, "mountPath", api_text(path), i))
        api_report_at(at, place, path, API_ERROR_INVALID, "must be unique");
    if (text_among(devices, "devicePath", api_text(path), UINT32_MAX))
        api_report_at(at, place, path, API_ERROR_INVALID,
                      "must not already exist as a path in volumeDevices");
}

static void check_mount_name(struct api_at *at, uint32_t i, const struct doc *mount)
{
    const struct doc *name = api_member(mount, "name");
    const struct doc *devices = api_member(at->w->container, "volumeDevices");
    const char *place = arena_printf(at->w->a, "[%u].name", i).p;
    if (api_empty(name))
        api_report_at(at, place, name, API_ERROR_REQUIRED, "%s", "");
    if (!rules_volume(at->w, api_text(name), NULL))
        api_report_at(at, place, name, API_ERROR_NOT_FOUND, "%s", "");
    if (text_among(devices, "name", api_text(name), UINT32_MAX))
        api_report_at(at, place, name, API_ERROR_INVALID,
                      "must not already exist in volumeDevices");
}

static void check_sub_paths(struct api_at *at, uint32_t i, const struct doc *mount)
{
    const struct doc *path = api_member(mount, "subPath");
    const struct doc *expr = api_member(mount, "subPathExpr");
    if (!api_empty(path))
        rules_descending(at, ".subPath", path);
    if (api_empty(expr))
        return;
    if (!api_empty(path))
        api_report_at(at, arena_printf(at->w->a, "[%u].subPathExpr", i).p, expr,
                      API_ERROR_INVALID,
                      "subPathExpr and subPath are mutually exclusive");
    rules_descending(at, ".subPathExpr", expr);
}

static void check_bind_options(struct api_at *at, uint32_t i, const struct doc *mount)
{
    const struct doc *options = api_member(mount, "bindMountOptions");
    const struct doc *volume = rules_volume(at->w, doc_get_text(mount, "name"), NULL);
    for (uint32_t k = 0; options && k < options->n; k++) {
        const struct doc *option = &options->items[k];
        const char *path = arena_printf(at->w->a, "[%u].bindMountOptions[%u]", i, k).p;
        if (!rules_among(api_text(option), "nodev|noexec|nosuid"))
            rules_not_supported(at, path, option, "nodev|noexec|nosuid");
        for (uint32_t j = 0; j < k; j++)
            if (doc_equal(&options->items[j], option)) {
                api_report_at(at, path, option, API_ERROR_DUPLICATE, "%s", "");
                break;
            }
    }
    if (!api_empty(options) && api_member(volume, "image"))
        api_report_at(at, arena_printf(at->w->a, "[%u].bindMountOptions", i).p, options,
                      API_ERROR_INVALID,
                      "bindMountOptions may not be used with image volumes");
}

/* Upstream reports some of what is wrong with a mount at the list. */
API_RULE(mounts)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *mount = &at->value->items[i];
        check_mount_name(at, i, mount);
        check_mount_place(at, i, mount);
        check_sub_paths(at, i, mount);
        check_propagation(at, mount);
        check_recursion(at, mount);
        check_bind_options(at, i, mount);
    }
    return true;
}

static void check_device_name(struct api_at *at, uint32_t i, const struct doc *name)
{
    const struct doc *mounts = api_member(at->w->container, "volumeMounts");
    const char *place = arena_printf(at->w->a, "[%u].name", i).p;
    bool is_claim = false;
    bool found = rules_volume(at->w, api_text(name), &is_claim) != NULL;
    if (api_empty(name))
        api_report_at(at, place, name, API_ERROR_REQUIRED, "%s", "");
    else if (text_among(at->value, "name", api_text(name), i))
        api_report_at(at, place, name, API_ERROR_INVALID, "must be unique");
    if (found && !is_claim)
        api_report_at(at, place, name, API_ERROR_INVALID,
                      "can only use volume source type of PersistentVolumeClaim or "
                      "Ephemeral for block mode");
    if (!found)
        api_report_at(at, place, name, API_ERROR_NOT_FOUND, "%s", "");
    if (text_among(mounts, "name", api_text(name), UINT32_MAX))
        api_report_at(at, place, name, API_ERROR_INVALID,
                      "must not already exist in volumeMounts");
}

static void check_device_path(struct api_at *at, uint32_t i, const struct doc *path)
{
    const struct doc *mounts = api_member(at->w->container, "volumeMounts");
    const char *place = arena_printf(at->w->a, "[%u].devicePath", i).p;
    struct str s = api_text(path), padded = arena_printf(at->w->a, "/%.*s/", STR_ARG(s));
    if (s.n == 0)
        api_report_at(at, place, path, API_ERROR_REQUIRED, "%s", "");
    if (text_among(at->value, "devicePath", s, i))
        api_report_at(at, place, path, API_ERROR_INVALID, "must be unique");
    if (str_find(padded, STR("/../")) != SIZE_MAX)
        api_report_at(at, place, path, API_ERROR_INVALID,
                      "can not contain backsteps ('..')");
    if (text_among(mounts, "mountPath", s, UINT32_MAX))
        api_report_at(at, place, path, API_ERROR_INVALID,
                      "must not already exist as a path in volumeMounts");
}

API_RULE(devices)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        check_device_name(at, i, api_member(&at->value->items[i], "name"));
        check_device_path(at, i, api_member(&at->value->items[i], "devicePath"));
    }
    return true;
}
