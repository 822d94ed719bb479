/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of the Pod Security Standards, in the order in which they are told. */
#include "api/pod_security_inner.h"

/* ---- a flag of containers ---- */

static void look_privilege_escalation(struct look *l)
{
    bool windows = l->data != NULL; /* pods of another system cannot say it */
    if (windows && seen_windows(l))
        return;
    for (uint32_t i = 0; i < l->ncontainers; i++)
        if (!seen_false(
                seen_at(l->containers[i], "securityContext.allowPrivilegeEscalation")))
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    if (l->bad.v.n == 0)
        return;
    l->reason = "allowPrivilegeEscalation != false";
    tell_containers(l, &l->bad);
    strbuf_adds(l->detail, " must set securityContext.allowPrivilegeEscalation=false");
}

static void look_privileged(struct look *l)
{
    for (uint32_t i = 0; i < l->ncontainers; i++)
        if (seen_true(seen_at(l->containers[i], "securityContext.privileged")))
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    if (l->bad.v.n == 0)
        return;
    l->reason = "privileged";
    tell_containers(l, &l->bad);
    strbuf_adds(l->detail, " must not set securityContext.privileged=true");
}

static void look_host_process(struct look *l)
{
    bool pod = seen_true(seen_at(l->context, "windowsOptions.hostProcess"));
    for (uint32_t i = 0; i < l->ncontainers; i++)
        if (seen_true(
                seen_at(l->containers[i], "securityContext.windowsOptions.hostProcess")))
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    if (!pod && l->bad.v.n == 0)
        return;
    l->reason = "hostProcess";
    tell_setters(l, pod, &l->bad);
    strbuf_adds(l->detail,
                " must not set securityContext.windowsOptions.hostProcess=true");
}

/* ---- capabilities ---- */

static const char *const DEFAULT_CAPABILITIES[] = {
    "AUDIT_WRITE", "CHOWN",   "DAC_OVERRIDE",     "FOWNER", "FSETID",  "KILL",
    "MKNOD",       "SETFCAP", "NET_BIND_SERVICE", "SETGID", "SETPCAP", "SYS_CHROOT",
    "SETUID",      NULL};
static const char *const BOUND_PORTS[] = {"NET_BIND_SERVICE", NULL};

/* bad: containers that add what is not allowed, values: what. */
static void gather_added(struct look *l, const char *const *allowed)
{
    for (uint32_t i = 0; i < l->ncontainers; i++) {
        const struct doc *list =
            seen_at(l->containers[i], "securityContext.capabilities.add");
        size_t before = l->values.v.n;
        for (uint32_t k = 0; list && list->type == DOC_LIST && k < list->n; k++)
            if (!seen_among(doc_str(&list->items[k]), allowed))
                vec_push(&l->values.v, doc_str(&list->items[k]));
        if (l->values.v.n > before)
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    }
    tell_set(&l->values);
}

static void tell_added(struct look *l)
{
    tell_containers(l, &l->bad);
    strbuf_adds(l->detail, " must not include ");
    tell_joined(l, &l->values, true);
    strbuf_adds(l->detail, " in securityContext.capabilities.add");
}

static void look_capabilities(struct look *l)
{
    gather_added(l, DEFAULT_CAPABILITIES);
    if (l->bad.v.n == 0)
        return;
    l->reason = "non-default capabilities";
    tell_added(l);
}

static bool drops_all(const struct doc *container)
{
    const struct doc *list = seen_at(container, "securityContext.capabilities.drop");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(&list->items[i], "ALL"))
            return true;
    return false;
}

static void look_capabilities_restricted(struct look *l)
{
    bool windows = l->data != NULL;
    if (windows && seen_windows(l))
        return;
    gather_added(l, BOUND_PORTS);
    for (uint32_t i = 0; i < l->ncontainers; i++)
        if (!drops_all(l->containers[i]))
            vec_push(&l->more.v, seen_name(l->containers[i]));
    if (l->more.v.n) {
        tell_containers(l, &l->more);
        strbuf_adds(l->detail, " must set securityContext.capabilities.drop=[\"ALL\"]");
    }
    if (l->bad.v.n) {
        strbuf_adds(l->detail, l->more.v.n ? "; " : "");
        tell_added(l);
    }
    if (l->detail->n)
        l->reason = "unrestricted capabilities";
}

/* ---- the host ---- */

static void look_host_namespaces(struct look *l)
{
    static const char *const FLAGS[] = {"hostNetwork", "hostPID", "hostIPC"};
    for (int i = 0; i < 3; i++)
        if (seen_true(doc_get(l->spec, FLAGS[i])))
            strbuf_addf(l->detail, "%s%s=true", l->detail->n ? ", " : "", FLAGS[i]);
    if (l->detail->n)
        l->reason = "host namespaces";
}

static void look_host_ports(struct look *l)
{
    for (uint32_t i = 0; i < l->ncontainers; i++) {
        const struct doc *list = seen_at(l->containers[i], "ports");
        size_t before = l->values.v.n;
        int64_t port;
        for (uint32_t k = 0; list && list->type == DOC_LIST && k < list->n; k++)
            if (doc_get_int64(&list->items[k], "hostPort", &port) && port)
                vec_push(&l->values.v, arena_printf(l->a, "%d", (int)port));
        if (l->values.v.n > before)
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    }
    tell_set(&l->values);
    if (l->bad.v.n == 0)
        return;
    l->reason = "hostPort";
    tell_containers(l, &l->bad);
    strbuf_addf(l->detail, " %s %s ", tell_plural(&l->bad, "uses", "use"),
                tell_plural(&l->values, "hostPort", "hostPorts"));
    tell_joined(l, &l->values, false);
}

static void look_probes(struct look *l)
{
    static const char *const PATHS[] = {
        "livenessProbe.httpGet.host",         "livenessProbe.tcpSocket.host",
        "readinessProbe.httpGet.host",        "readinessProbe.tcpSocket.host",
        "startupProbe.httpGet.host",          "startupProbe.tcpSocket.host",
        "lifecycle.postStart.httpGet.host",   "lifecycle.preStop.httpGet.host",
        "lifecycle.postStart.tcpSocket.host", "lifecycle.preStop.tcpSocket.host"};
    for (uint32_t i = 0; i < l->ncontainers; i++)
        for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
            struct str host = seen_text(l->containers[i], PATHS[k]);
            if (host.n == 0)
                continue;
            vec_push(&l->bad.v, seen_name(l->containers[i]));
            vec_push(&l->values.v, host);
        }
    tell_set(&l->bad);
    tell_set(&l->values);
    if (l->bad.v.n == 0)
        return;
    l->reason = "probe or lifecycle host";
    tell_containers(l, &l->bad);
    strbuf_addf(
        l->detail, " %s %s ", tell_plural(&l->bad, "uses", "use"),
        tell_plural(&l->values, "probe or lifecycle host", "probe or lifecycle hosts"));
    tell_joined(l, &l->values, true);
}

/* ---- volumes ---- */

static const struct doc *volumes_of(const struct look *l)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *list = doc_get(l->spec, "volumes");
    return list && list->type == DOC_LIST ? list : &NONE;
}

static void look_host_paths(struct look *l)
{
    const struct doc *list = volumes_of(l);
    for (uint32_t i = 0; i < list->n; i++)
        if (seen_at(&list->items[i], "hostPath"))
            vec_push(&l->bad.v, seen_name(&list->items[i]));
    if (l->bad.v.n == 0)
        return;
    l->reason = "hostPath volumes";
    strbuf_addf(l->detail, "%s ", tell_plural(&l->bad, "volume", "volumes"));
    tell_joined(l, &l->bad, true);
}

static const char *first_set(const struct doc *d, const char *const *names)
{
    while (*names && !seen_at(d, *names))
        names++;
    return *names;
}

static void look_volumes(struct look *l)
{
    static const char *const OK[] = {
        "configMap", "csi",       "downwardAPI",           "emptyDir", "ephemeral",
        "image",     "projected", "persistentVolumeClaim", "secret",   NULL};
    static const char *const OTHERS[] = {"hostPath",
                                         "gcePersistentDisk",
                                         "awsElasticBlockStore",
                                         "gitRepo",
                                         "nfs",
                                         "iscsi",
                                         "glusterfs",
                                         "rbd",
                                         "flexVolume",
                                         "cinder",
                                         "cephfs",
                                         "flocker",
                                         "fc",
                                         "azureFile",
                                         "vsphereVolume",
                                         "quobyte",
                                         "azureDisk",
                                         "photonPersistentDisk",
                                         "portworxVolume",
                                         "scaleIO",
                                         "storageos",
                                         NULL};
    const struct doc *list = volumes_of(l);
    for (uint32_t i = 0; i < list->n; i++) {
        if (first_set(&list->items[i], OK))
            continue;
        const char *type = first_set(&list->items[i], OTHERS);
        vec_push(&l->bad.v, seen_name(&list->items[i]));
        vec_push(&l->values.v, str_from(type ? type : "unknown"));
    }
    tell_set(&l->values);
    if (l->bad.v.n == 0)
        return;
    l->reason = "restricted volume types";
    strbuf_addf(l->detail, "%s ", tell_plural(&l->bad, "volume", "volumes"));
    tell_joined(l, &l->bad, true);
    strbuf_addf(
        l->detail, " %s %s ", tell_plural(&l->bad, "uses", "use"),
        tell_plural(&l->values, "restricted volume type", "restricted volume types"));
    tell_joined(l, &l->values, true);
}

/* ---- users ---- */

static void look_non_root(struct look *l)
{
    const struct doc *own = seen_at(l->context, "runAsNonRoot");
    bool excused = l->data != NULL;
    if (excused && seen_own_users(l))
        return;
    for (uint32_t i = 0; i < l->ncontainers; i++) {
        const struct doc *v = seen_at(l->containers[i], "securityContext.runAsNonRoot");
        if (seen_false(v))
            vec_push(&l->bad.v, seen_name(l->containers[i]));
        else if (!v && !seen_true(own))
            vec_push(&l->more.v, seen_name(l->containers[i]));
    }
    if (seen_false(own) || l->bad.v.n) {
        l->reason = "runAsNonRoot != true";
        tell_setters(l, seen_false(own), &l->bad);
        strbuf_adds(l->detail, " must not set securityContext.runAsNonRoot=false");
    } else if (l->more.v.n) {
        l->reason = "runAsNonRoot != true";
        strbuf_adds(l->detail, "pod or ");
        tell_containers(l, &l->more);
        strbuf_adds(l->detail, " must set securityContext.runAsNonRoot=true");
    }
}

static bool is_root(const struct doc *context)
{
    int64_t user;
    return doc_get_int64(context, "runAsUser", &user) && user == 0;
}

static void look_user(struct look *l)
{
    bool excused = l->data != NULL;
    if (excused && seen_own_users(l))
        return;
    for (uint32_t i = 0; i < l->ncontainers; i++)
        if (is_root(doc_get(l->containers[i], "securityContext")))
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    if (!is_root(l->context) && l->bad.v.n == 0)
        return;
    l->reason = "runAsUser=0";
    tell_setters(l, is_root(l->context), &l->bad);
    strbuf_adds(l->detail, " must not set runAsUser=0");
}

/* ---- the kernel ---- */

static void look_proc(struct look *l)
{
    bool excused = l->data != NULL;
    if (excused && seen_own_users(l))
        return;
    for (uint32_t i = 0; i < l->ncontainers; i++) {
        const struct doc *v = seen_at(l->containers[i], "securityContext.procMount");
        if (!v || doc_is_string(v, "Default"))
            continue;
        vec_push(&l->bad.v, seen_name(l->containers[i]));
        vec_push(&l->values.v, doc_str(v));
    }
    tell_set(&l->values);
    if (l->bad.v.n == 0)
        return;
    l->reason = "procMount";
    tell_containers(l, &l->bad);
    strbuf_adds(l->detail, " must not set securityContext.procMount to ");
    tell_joined(l, &l->values, true);
}

struct selinux {
    bool user, role;
};

static bool is_bad_selinux(struct look *l, const struct doc *options,
                           struct selinux *seen)
{
    const char *const *allowed = l->data;
    struct str type = seen_text(options, "type");
    bool bad = type.n && !seen_among(type, allowed), user = seen_text(options, "user").n,
         role = seen_text(options, "role").n;
    if (bad)
        vec_push(&l->values.v, type);
    seen->user |= user;
    seen->role |= role;
    return bad || user || role;
}

static void tell_selinux(struct look *l, const struct selinux *seen)
{
    size_t before = l->detail->n;
    tell_set(&l->values);
    if (l->values.v.n) {
        strbuf_addf(l->detail, "%s ", tell_plural(&l->values, "type", "types"));
        tell_joined(l, &l->values, true);
    }
    if (seen->user)
        strbuf_addf(l->detail, "%suser may not be set",
                    l->detail->n > before ? "; " : "");
    if (seen->role)
        strbuf_addf(l->detail, "%srole may not be set",
                    l->detail->n > before ? "; " : "");
}

static void look_selinux(struct look *l)
{
    struct selinux seen = {false, false};
    bool pod = is_bad_selinux(l, doc_get(l->context, "seLinuxOptions"), &seen);
    for (uint32_t i = 0; i < l->ncontainers; i++)
        if (is_bad_selinux(
                l, doc_path(l->containers[i], "securityContext.seLinuxOptions"), &seen))
            vec_push(&l->bad.v, seen_name(l->containers[i]));
    if (!pod && l->bad.v.n == 0)
        return;
    l->reason = "seLinuxOptions";
    tell_setters(l, pod, &l->bad);
    strbuf_adds(l->detail, " set forbidden securityContext.seLinuxOptions: ");
    tell_selinux(l, &seen);
}

/* Each with the version that allowed it. */
static const struct {
    const char *name;
    int since;
} SYSCTLS[] = {
    {"kernel.shm_rmid_forced", 0},
    {"net.ipv4.ip_local_port_range", 0},
    {"net.ipv4.tcp_syncookies", 0},
    {"net.ipv4.ping_group_range", 0},
    {"net.ipv4.ip_unprivileged_port_start", 0},
    {"net.ipv4.ip_local_reserved_ports", 27},
    {"net.ipv4.tcp_keepalive_time", 29},
    {"net.ipv4.tcp_fin_timeout", 29},
    {"net.ipv4.tcp_keepalive_intvl", 29},
    {"net.ipv4.tcp_keepalive_probes", 29},
    {"net.ipv4.tcp_rmem", 32},
    {"net.ipv4.tcp_wmem", 32},
    {"net.ipv4.tcp_slow_start_after_idle", 37},
    {"net.ipv4.tcp_notsent_lowat", 37},
};

static bool is_safe(struct str name, int minor)
{
    for (size_t i = 0; i < sizeof SYSCTLS / sizeof *SYSCTLS; i++)
        if (str_is(name, SYSCTLS[i].name))
            return minor >= SYSCTLS[i].since;
    return false;
}

static void look_sysctls(struct look *l)
{
    const int *minor = l->data;
    const struct doc *list = doc_get(l->context, "sysctls");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (!is_safe(seen_name(&list->items[i]), *minor))
            vec_push(&l->bad.v, seen_name(&list->items[i]));
    if (l->bad.v.n == 0)
        return;
    l->reason = "forbidden sysctls";
    tell_joined(l, &l->bad, false);
}

/* ---- the table ---- */

static const char *const SELINUX_TYPES[] = {"container_t", "container_init_t",
                                            "container_kvm_t", NULL};
static const char *const SELINUX_TYPES_31[] = {
    "container_t", "container_init_t", "container_kvm_t", "container_engine_t", NULL};
static const int SYSCTLS_OF[] = {0, 27, 29, 32, 37};
static const char EXCUSED[] = ""; /* Windows pods, or those with users of their own */

#define B POD_BASELINE
#define R POD_RESTRICTED

const struct pod_check pod_checks[] = {
    {B, 0, 0, 0, look_armor, NULL},
    {B, 0, 0, 22, look_capabilities, NULL},
    {B, 0, 0, 0, look_host_namespaces, NULL},
    {B, 0, 0, -1, look_host_paths, NULL},
    {B, 0, 0, 0, look_host_ports, NULL},
    {B, 34, 0, 0, look_probes, NULL},
    {B, 0, 0, 0, look_privileged, NULL},
    {B, 0, 35, 0, look_proc, NULL},
    {B, 35, 0, 35, look_proc, EXCUSED},
    {B, 0, 31, 0, look_selinux, SELINUX_TYPES},
    {B, 31, 0, 0, look_selinux, SELINUX_TYPES_31},
    {B, 0, 19, 0, look_seccomp_annotations, NULL},
    {B, 19, 0, 19, look_seccomp, NULL},
    {B, 0, 27, 0, look_sysctls, &SYSCTLS_OF[0]},
    {B, 27, 29, 0, look_sysctls, &SYSCTLS_OF[1]},
    {B, 29, 32, 0, look_sysctls, &SYSCTLS_OF[2]},
    {B, 32, 37, 0, look_sysctls, &SYSCTLS_OF[3]},
    {B, 37, 0, 0, look_sysctls, &SYSCTLS_OF[4]},
    {B, 0, 0, 0, look_host_process, NULL},
    {R, 8, 25, 0, look_privilege_escalation, NULL},
    {R, 25, 0, 0, look_privilege_escalation, EXCUSED},
    {R, 22, 25, 0, look_capabilities_restricted, NULL},
    {R, 25, 0, 0, look_capabilities_restricted, EXCUSED},
    {R, 35, 0, 0, look_proc, NULL},
    {R, 0, 0, 0, look_volumes, NULL},
    {R, 0, 35, 0, look_non_root, NULL},
    {R, 35, 0, 0, look_non_root, EXCUSED},
    {R, 23, 35, 0, look_user, NULL},
    {R, 35, 0, 0, look_user, EXCUSED},
    {R, 19, 25, 0, look_seccomp_restricted, NULL},
    {R, 25, 0, 0, look_seccomp_restricted, EXCUSED},
};
const uint32_t npod_checks = sizeof pod_checks / sizeof *pod_checks;
