/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of security contexts, of pods and of containers. */
#include "api/rules_pod.h"
#include "base/map.h"

static bool is_false(const struct doc *d)
{
    return d && d->type == DOC_BOOL && !d->b;
}

/* ---- containers ---- */

API_RULE(masked_proc)
{
    const struct doc *users = api_member(at->w->pod_spec, "hostUsers");
    if (doc_is_string(at->value, "Unmasked") && !is_false(users))
        api_fail(at, API_ERROR_INVALID, "`hostUsers` must be false to use `Unmasked`");
    return true;
}

API_RULE(escalation)
{
    const struct doc *add = api_member(api_member(at->value, "capabilities"), "add");
    if (!is_false(api_member(at->value, "allowPrivilegeEscalation")))
        return true;
    if (rules_is_true(at->value, "privileged"))
        api_fail(
            at, API_ERROR_INVALID,
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    for (uint32_t i = 0; add && i < add->n; i++)
        if (str_is(api_text(&add->items[i]), "CAP_SYS_ADMIN"))
            api_fail(at, API_ERROR_INVALID,
                     "cannot set `allowPrivilegeEscalation` to false and "
                     "`capabilities.Add` CAP_SYS_ADMIN");
    return true;
}

/* ---- profiles ---- */

API_RULE(seccomp_profile)
{
    const struct doc *type = api_member(at->value, "type");
    const struct doc *file = api_member(at->value, "localhostProfile");
    bool local = doc_is_string(type, "Localhost");
    if (api_empty(type))
        api_report_at(at, ".type", type, API_ERROR_REQUIRED,
                      "type is required when seccompProfile is set");
    else if (!local && !doc_is_string(type, "RuntimeDefault") &&
             !doc_is_string(type, "Unconfined"))
        rules_not_supported(at, ".type", type, "Localhost|RuntimeDefault|Unconfined");
    if (local && !file)
        api_report_at(at, ".localhostProfile", file, API_ERROR_REQUIRED,
                      "must be set when seccomp type is Localhost");
    else if (local)
        rules_descending(at, ".localhostProfile", file);
    else if (file)
        api_report_at(at, ".localhostProfile", at->value, API_ERROR_INVALID,
                      "can only be set when seccomp type is Localhost");
    return true;
}

static bool is_padded(struct str s)
{
    return !str_eq(str_trim(s), s);
}

static void check_app_armor_file(struct api_at *at, const struct doc *file)
{
    static const char text[] = "must be set when AppArmor type is Localhost";
    struct str s = api_text(file);
    if (!file) {
        api_report_at(at, ".localhostProfile", file, API_ERROR_REQUIRED, "%s", text);
        return;
    }
    if (is_padded(s))
        api_report_at(at, ".localhostProfile", file, API_ERROR_INVALID,
                      "must not be padded with whitespace");
    else if (s.n == 0)
        api_report_at(at, ".localhostProfile", file, API_ERROR_REQUIRED, "%s", text);
    if (s.n > 4095)
        api_report_at(at, ".localhostProfile", file, API_ERROR_TOO_LONG,
                      "may not be more than 4095 bytes");
}

API_RULE(app_armor_profile)
{
    const struct doc *type = api_member(at->value, "type");
    const struct doc *file = api_member(at->value, "localhostProfile");
    if (doc_is_string(type, "Localhost"))
        check_app_armor_file(at, file);
    else if (api_empty(type))
        api_report_at(at, ".type", type, API_ERROR_REQUIRED,
                      "type is required when appArmorProfile is set");
    else if (!doc_is_string(type, "RuntimeDefault") && !doc_is_string(type, "Unconfined"))
        rules_not_supported(at, ".type", type, "Localhost|RuntimeDefault|Unconfined");
    else if (file)
        api_report_at(at, ".localhostProfile", file, API_ERROR_INVALID,
                      "can only be set when AppArmor type is Localhost");
    return true;
}

/* ---- kernel parameters ---- */

static bool is_sysctl_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Words of letters and digits, with - and _ inside, joined by dots or slashes. */
static bool is_sysctl(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool first = i == 0 || s.p[i - 1] == '.' || s.p[i - 1] == '/';
        bool last = i + 1 == s.n || s.p[i + 1] == '.' || s.p[i + 1] == '/';
        bool inner = !first && !last && (s.p[i] == '-' || s.p[i] == '_');
        bool joint = i && !last && !first && (s.p[i] == '.' || s.p[i] == '/');
        if (!is_sysctl_char(s.p[i]) && !inner && !joint)
            return false;
    }
    return s.n > 0 && s.n <= 253;
}

/* Which of the host's namespaces a parameter belongs to: 'n'et, 'i'pc or none. */
static char sysctl_space(struct arena *a, struct str s)
{
    static const char *const IPC[] = {
        "kernel.sem",    "kernel.shmall",          "kernel.shmmax",
        "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
        "kernel.msgmax", "kernel.msgmnb",          "kernel.msgmni",
        "kernel.msg"};
    char *p = (char *)arena_str(a, s).p;
    size_t first = strcspn(p, "./");
    for (size_t i = 0; p[first] == '/' && i < s.n; i++)
        p[i] = p[i] == '/' ? '.' : p[i] == '.' ? '/' : p[i];
    for (size_t i = 0; i < sizeof IPC / sizeof *IPC; i++)
        if (strcmp(p, IPC[i]) == 0)
            return 'i';
    if (strncmp(p, "fs.mqueue.", 10) == 0)
        return 'i';
    return strncmp(p, "net.", 4) == 0 ? 'n' : '\0';
}

API_RULE(sysctls)
{
    struct strmap seen = STRMAP_INIT;
    const struct doc *spec = at->w->pod_spec;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        const char *path = arena_printf(at->w->a, "[%u].name", i).p;
        struct str s = api_text(name);
        bool made;
        strmap_put(&seen, s, &made);
        if (s.n == 0)
            api_report_at(at, path, name, API_ERROR_REQUIRED, "%s", "");
        else if (!is_sysctl(s))
            api_report_at(at, path, name, API_ERROR_INVALID,
                          "must have at most 253 characters and match regex "
                          "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*"
                          "[a-z0-9])?$");
        else if (!made)
            api_report_at(at, path, name, API_ERROR_DUPLICATE, "%s", "");
        char space = sysctl_space(at->w->a, s);
        if (space == 'n' && rules_is_true(spec, "hostNetwork"))
            api_report_at(at, path, name, API_ERROR_INVALID,
                          "may not be specified when 'hostNetwork' is true");
        else if (space == 'i' && rules_is_true(spec, "hostIPC"))
            api_report_at(at, path, name, API_ERROR_INVALID,
                          "may not be specified when 'hostIPC' is true");
    }
    strmap_release(&seen);
    return true;
}

/* ---- users of Windows ---- */

API_RULE(credential_spec)
{
    size_t n = api_text(at->value).n;
    if (n == 0)
        api_fail(at, API_ERROR_INVALID, "gmsaCredentialSpec cannot be an empty string");
    else if (n > 64 * 1024)
        api_fail(at, API_ERROR_INVALID, "gmsaCredentialSpec size must be under 64 KiB");
    return true;
}

static bool has_any(struct str s, const char *chars)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] && strchr(chars, s.p[i]))
            return true;
    return false;
}

static bool is_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool is_domain(struct arena *a, struct str s)
{
    bool netbios = s.n >= 1 && s.n <= 15 && s.p[0] != '.' && !has_any(s, "\\/:*?\"<>|");
    return netbios ||
           (s.n <= 253 && name_valid(NAME_DNS1123_SUBDOMAIN, rules_lowered(a, s)));
}

static const char *user_problem(struct str user)
{
    if (user.n == 0)
        return "runAsUserName's User cannot be empty";
    if (user.n > 104)
        return "runAsUserName's User length must not be longer than 104 characters";
    return NULL;
}

static void check_user(struct api_at *at, struct str domain, struct str user)
{
    if (domain.n >= 256)
        api_fail(at, API_ERROR_INVALID,
                 "runAsUserName's Domain length must be under 256 characters");
    if (domain.p && !is_domain(at->w->a, domain))
        api_fail(at, API_ERROR_INVALID,
                 "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    if (user_problem(user))
        api_fail(at, API_ERROR_INVALID, user_problem(user));
    bool only_dots = user.n > 0;
    for (size_t i = 0; i < user.n; i++)
        only_dots = only_dots && (user.p[i] == '.' || user.p[i] == ' ');
    if (only_dots)
        api_fail(at, API_ERROR_INVALID,
                 "runAsUserName's User cannot contain only periods or spaces");
    if (has_any(user, "\"/\\:;|=,+*?<>@[]"))
        api_fail(at, API_ERROR_INVALID,
                 "runAsUserName's User cannot contain the following characters: "
                 "\"/\\:;|=,+*?<>@[]");
}

API_RULE(windows_user)
{
    struct str s = api_text(at->value);
    size_t slash = str_find_byte(s, '\\', 0);
    if (s.n == 0)
        return api_fail(at, API_ERROR_INVALID, "runAsUserName cannot be an empty string");
    if (is_control(s))
        return api_fail(at, API_ERROR_INVALID,
                        "runAsUserName cannot contain control characters");
    if (slash != SIZE_MAX && str_find_byte(s, '\\', slash + 1) != SIZE_MAX)
        return api_fail(at, API_ERROR_INVALID,
                        "runAsUserName cannot contain more than one backslash");
    if (slash == SIZE_MAX)
        check_user(at, STR_NONE, s);
    else
        check_user(at, str_sub(s, 0, slash), str_sub(s, slash + 1, SIZE_MAX));
    return true;
}

/* ---- annotations of pods ---- */

static bool has_container(const struct doc *spec, struct str name)
{
    for (int k = 0; k < 3; k++) {
        const struct doc *list = api_member(spec, rules_container_lists[k]);
        for (uint32_t i = 0; list && i < list->n; i++)
            if (str_eq(doc_get_text(&list->items[i], "name"), name))
                return true;
    }
    return false;
}

#define SECCOMP_POD "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/"
#define APP_ARMOR "container.apparmor.security.beta.kubernetes.io/"

static void check_seccomp(struct api_at *at, struct str base, const struct doc_member *m)
{
    static const char local[] = "localhost/";
    struct str s = api_text(&m->value);
    const char *path = arena_printf(at->w->a, "%.*s.%s", STR_ARG(base), m->key).p;
    if (str_is(s, "runtime/default") || str_is(s, "docker/default") ||
        str_is(s, "unconfined"))
        return;
    if (str_starts(s, STR("localhost/"))) {
        struct doc file =
            doc_make_string(at->w->a, str_sub(s, sizeof local - 1, SIZE_MAX));
        rules_descending(at, path, &file);
        return;
    }
    api_report_at(at, path, &m->value, API_ERROR_INVALID,
                  "must be a valid seccomp profile");
}

static void check_app_armor(struct api_at *at, struct str base, const struct doc *spec,
                            const struct doc_member *m)
{
    struct str s = api_text(&m->value);
    struct str name = str_sub(doc_key(m), strlen(APP_ARMOR), SIZE_MAX);
    const char *path = arena_printf(at->w->a, "%.*s[%s]", STR_ARG(base), m->key).p;
    if (!has_container(spec, name))
        api_report_shown(at, path, api_shown_text(at->w->a, name), API_ERROR_INVALID,
                         "container not found");
    if (s.n && !str_is(s, "runtime/default") && !str_is(s, "unconfined") &&
        !str_starts(s, STR("localhost/")))
        api_report_at(at, path, &m->value, API_ERROR_INVALID,
                      "invalid AppArmor profile name: %.*s",
                      STR_ARG(api_shown_text(at->w->a, s)));
}

static bool is_int32(struct str s)
{
    struct str digits =
        s.n && (s.p[0] == '-' || s.p[0] == '+') ? str_sub(s, 1, SIZE_MAX) : s;
    int64_t v = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9' || v > INT32_MAX)
            return false;
        v = v * 10 + (digits.p[i] - '0');
    }
    bool negative = s.n && s.p[0] == '-';
    /* Upstream refuses spellings with a plus sign or leading zeros. */
    return digits.n && s.p[0] != '+' && (digits.n == 1 ? true : digits.p[0] != '0') &&
           !(negative && v == 0) && v <= (int64_t)INT32_MAX + negative;
}

static void check_annotation(struct api_at *at, struct str base, const struct doc *spec,
                             const struct doc_member *m)
{
    static const char cost[] = "controller.kubernetes.io/pod-deletion-cost";
    struct str key = doc_key(m);
    struct str path = arena_printf(at->w->a, "%.*s[%s]", STR_ARG(base), m->key);
    if (str_is(key, "kubernetes.io/config.mirror") &&
        doc_get_text(spec, "nodeName").n == 0)
        api_report_at(at, path.p, &m->value, API_ERROR_INVALID,
                      "must set spec.nodeName if mirror pod annotation is set");
    if (str_is(key, cost) && !is_int32(api_text(&m->value)))
        api_report_at(at, path.p, &m->value, API_ERROR_INVALID,
                      "must be a 32bit integer");
    if (str_is(key, SECCOMP_POD) || str_starts(key, STR(SECCOMP_CONTAINER)))
        check_seccomp(at, base, m);
    if (str_starts(key, STR(APP_ARMOR)))
        check_app_armor(at, base, spec, m);
}

struct profiles {
    const struct doc *annotations;
    const struct doc *pod_armor; /* what the pod's context says, or NULL */
};

static void unlike(struct api_walk *w, struct str path, const char *profile,
                   const char *member, const char *text)
{
    api_report_path(
        w,
        arena_printf(w->a, "%.*s.securityContext.%s.%s", STR_ARG(path), profile, member),
        NULL, API_ERROR_FORBIDDEN, "%s in annotation and field must match", text);
}

static void match_profile(struct api_walk *w, struct str path, const char *field,
                          const char *what, struct str said, const struct doc *profile)
{
    struct str type = doc_get_text(profile, "type");
    const struct doc *file = api_member(profile, "localhostProfile");
    const char *kind = arena_printf(w->a, "%s type", what).p;
    if (str_is(type, "Unconfined") && !str_is(said, "unconfined"))
        unlike(w, path, field, "type", kind);
    else if (str_is(type, "RuntimeDefault") && !str_is(said, "runtime/default") &&
             !(strcmp(what, "seccomp") == 0 && str_is(said, "docker/default")))
        unlike(w, path, field, "type", kind);
    else if (str_is(type, "Localhost") && !str_starts(said, STR("localhost/")))
        unlike(w, path, field, "type", kind);
    else if (str_is(type, "Localhost") &&
             (!file ||
              !str_eq(str_sub(said, strlen("localhost/"), SIZE_MAX), api_text(file))))
        unlike(w, path, field, "localhostProfile",
               arena_printf(w->a, "%s profile", what).p);
}

static void match_container(struct api_walk *w, const struct doc *c, struct str path,
                            void *ctx)
{
    const struct profiles *p = ctx;
    const struct doc *context = api_member(c, "securityContext");
    const struct doc *seccomp = api_member(context, "seccompProfile");
    const struct doc *armor = api_member(context, "appArmorProfile");
    struct str name = doc_get_text(c, "name");
    const struct doc *said = doc_get_str(
        p->annotations, arena_printf(w->a, SECCOMP_CONTAINER "%.*s", STR_ARG(name)));
    if (seccomp && said)
        match_profile(w, path, "seccompProfile", "seccomp", api_text(said), seccomp);
    said =
        doc_get_str(p->annotations, arena_printf(w->a, APP_ARMOR "%.*s", STR_ARG(name)));
    armor = armor ? armor : p->pod_armor;
    if (armor && said && !str_is(rules_pod_os(w), "windows"))
        match_profile(w, path, "appArmorProfile", "apparmor", api_text(said), armor);
}

/* Fields and the annotations that came before them must say the same in what is new. */
static void match_profiles(struct api_at *at, const struct doc *spec,
                           const struct doc *annotations)
{
    const struct doc *context = api_member(spec, "securityContext");
    const struct doc *seccomp = api_member(context, "seccompProfile");
    const struct doc *said = doc_get(annotations, SECCOMP_POD);
    struct profiles p = {annotations, api_member(context, "appArmorProfile")};
    if (seccomp && said)
        match_profile(at->w, at->w->pod_path, "seccompProfile", "seccomp", api_text(said),
                      seccomp);
    rules_each_container(at, spec, match_container, &p);
}

/* Of a pod or a template; arg is their path below it. */
API_RULE(pod_annotations)
{
    const struct doc *annotations =
        api_member(api_member(at->value, "metadata"), "annotations");
    const struct doc *spec = api_member(at->value, "spec");
    struct str base = arena_printf(at->w->a, ".%s", arg), outer = at->w->pod_path;
    struct str here = strbuf_str(&at->w->path);
    for (uint32_t i = 0; annotations && i < annotations->n; i++)
        check_annotation(at, base, spec, &annotations->members[i]);
    if (rules_is_pod(at->w) && at->w->opts->op != API_CREATE)
        return true;
    at->w->pod_path =
        arena_printf(at->w->a, "%.*s%sspec", STR_ARG(here), here.n ? "." : "");
    const struct doc *pod = at->w->pod_spec;
    at->w->pod_spec = spec;
    match_profiles(at, spec, annotations);
    at->w->pod_spec = pod;
    at->w->pod_path = outer;
    return true;
}

API_RULE(template_labels)
{
    rules_labels(at, ".labels", api_member(at->value, "labels"));
    rules_annotations(at, ".annotations", api_member(at->value, "annotations"));
    return false;
}
