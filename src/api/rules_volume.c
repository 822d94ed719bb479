/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a pod's volumes. */
#include "api/rules_pod.h"
#include "base/map.h"

/* ---- which volumes containers can use ---- */

static bool has_errors(const struct api_walk *w, struct str prefix)
{
    for (size_t i = 0; i < w->errors->list.n; i++) {
        struct str p = w->errors->list.v[i].path;
        if (str_starts(p, prefix) &&
            (p.n == prefix.n || p.p[prefix.n] == '.' || p.p[prefix.n] == '[') &&
            !str_ends(p, STR(".persistentVolumeClaim.claimName")))
            return true;
    }
    return false;
}

static bool is_sound(const struct api_walk *w, uint32_t i)
{
    return !has_errors(w, arena_printf(w->a, "%.*s%svolumes[%u]", STR_ARG(w->pod_path),
                                       w->pod_path.n ? "." : "", i));
}

static bool is_claim_template(const struct api_walk *w, struct str name,
                              const struct doc **found)
{
    const struct doc *list =
        api_member(api_member(w->object, "spec"), "volumeClaimTemplates");
    if (strcmp(w->type->name, "StatefulSet") != 0)
        return false;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(doc_get_text(api_member(&list->items[i], "metadata"), "name"), name)) {
            *found = &list->items[i];
            return true;
        }
    return false;
}

const struct doc *rules_volume(const struct api_walk *w, struct str name, bool *is_claim)
{
    const struct doc *list = api_member(w->pod_spec, "volumes"), *found = NULL;
    bool claim = is_claim_template(w, name, &found);
    for (uint32_t i = 0; !found && list && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name) && is_sound(w, i))
            found = &list->items[i];
    claim = claim || api_member(found, "persistentVolumeClaim") ||
            api_member(found, "ephemeral");
    if (is_claim)
        *is_claim = claim;
    return found;
}

/* ---- the list ---- */

/* Claims that are made for the pod's own ephemeral volumes belong to these. */
API_RULE(volumes)
{
    struct str pod = doc_get_text(api_member(at->w->object, "metadata"), "name");
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *claim = api_member(
            api_member(&at->value->items[i], "persistentVolumeClaim"), "claimName");
        for (uint32_t k = 0; rules_is_pod(at->w) && claim && k < at->value->n; k++) {
            const struct doc *v = &at->value->items[k];
            struct str made = arena_printf(at->w->a, "%.*s-%.*s", STR_ARG(pod),
                                           STR_ARG(doc_get_text(v, "name")));
            if (api_member(v, "ephemeral") && str_eq(made, api_text(claim)))
                api_report_at(
                    at,
                    arena_printf(at->w->a, "[%u].persistentVolumeClaim.claimName", i).p,
                    claim, API_ERROR_INVALID,
                    "must not reference a PVC that gets created for an ephemeral volume");
        }
    }
    return true;
}

/* The last rule of a volume: only sound ones before it take the name. */
API_RULE(volume_name)
{
    const struct doc *name = api_member(at->value, "name");
    const struct doc *list = api_member(at->w->pod_spec, "volumes");
    if (api_empty(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED, "%s", "");
    else
        rules_name_at(at, ".name", name, NAME_DNS1123_LABEL);
    for (uint32_t i = 0; list && &list->items[i] != at->value && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), api_text(name)) &&
            is_sound(at->w, i)) {
            api_report_at(at, ".name", name, API_ERROR_DUPLICATE, "%s", "");
            break;
        }
    return true;
}

/* In the order in which upstream asks for them. */
static const struct {
    const char *field, *shown; /* in the error; NULL: as it is */
} SOURCES[] = {
    {"emptyDir", NULL},
    {"hostPath", NULL},
    {"gitRepo", NULL},
    {"gcePersistentDisk", NULL},
    {"awsElasticBlockStore", NULL},
    {"secret", NULL},
    {"nfs", NULL},
    {"iscsi", NULL},
    {"glusterfs", NULL},
    {"flocker", NULL},
    {"persistentVolumeClaim", NULL},
    {"rbd", NULL},
    {"cinder", NULL},
    {"cephfs", "cephFS"},
    {"quobyte", NULL},
    {"downwardAPI", "downwarAPI"},
    {"fc", NULL},
    {"flexVolume", NULL},
    {"configMap", NULL},
    {"azureFile", NULL},
    {"vsphereVolume", NULL},
    {"photonPersistentDisk", NULL},
    {"portworxVolume", NULL},
    {"azureDisk", NULL},
    {"storageos", NULL},
    {"projected", NULL},
    {"scaleIO", NULL},
    {"csi", NULL},
    {"ephemeral", NULL},
    {"image", NULL},
};
enum { NSOURCES = sizeof SOURCES / sizeof *SOURCES };

API_RULE(some_volume)
{
    for (int i = 0; i < NSOURCES; i++)
        if (api_member(at->value, SOURCES[i].field))
            return true;
    api_fail(at, API_ERROR_REQUIRED, "must specify a volume type");
    return true;
}

API_RULE(one_volume)
{
    for (int i = 0; i < NSOURCES; i++) {
        if (strcmp(SOURCES[i].field, at->field->name) == 0)
            return true;
        if (!api_member(at->parent, SOURCES[i].field))
            continue;
        int own = i;
        while (strcmp(SOURCES[own].field, at->field->name) != 0)
            own++;
        struct str here = strbuf_str(&at->w->path);
        size_t end = here.n;
        while (end && here.p[end - 1] != '.')
            end--;
        const char *name = SOURCES[own].shown ? SOURCES[own].shown : SOURCES[own].field;
        return api_report_path(
            at->w, arena_printf(at->w->a, "%.*s%s", (int)end, here.p, name), at->value,
            API_ERROR_FORBIDDEN, "may not specify more than 1 volume type");
    }
    return true;
}

/* ---- kinds of volumes ---- */

API_RULE(size_limit)
{
    struct quantity q;
    if (rules_quantity(at, at->parent, at->field->name, &q) && quantity_sign(&q) < 0)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "SizeLimit field must be a valid resource quantity");
    return true;
}

API_RULE(ends_if_empty)
{
    return !api_empty(at->value) || api_fail(at, API_ERROR_REQUIRED, arg);
}

API_RULE(with_path)
{
    return !api_empty(api_member(at->parent, "path"));
}

/* The secret that a volume of some kinds may name. */
API_RULE(named)
{
    const struct doc *name = api_member(at->value, "name");
    if (api_empty(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED, "%s", "");
    return true;
}

API_RULE(absolute_path)
{
    if (!str_starts(api_text(at->value), STR("/")))
        api_fail(at, API_ERROR_INVALID, "must be an absolute path");
    return true;
}

static bool all_alnum(struct str s, size_t n)
{
    bool ok = s.n == n;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'z') ||
             (s.p[i] >= 'A' && s.p[i] <= 'Z');
    return ok;
}

static bool is_iqn(struct str s)
{
    static const char form[] = "iqn.dddd-dd.";
    for (size_t i = 0; i < sizeof form - 1; i++) {
        bool digit = i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
        if (i >= s.n || (form[i] == 'd' ? !digit : s.p[i] != form[i]))
            return false;
    }
    struct str rest = str_sub(s, sizeof form - 1, SIZE_MAX);
    size_t colon = str_find_byte(rest, ':', 0);
    if (colon == SIZE_MAX || colon == 0 || colon + 1 >= rest.n)
        return false;
    for (size_t i = colon + 1; i < rest.n; i++)
        if (strchr(",;*&$| \t\n\r\f\v", rest.p[i]))
            return false;
    return true;
}

/* arg: any, where the text is to leave out what it may start with */
API_RULE(iscsi_name)
{
    struct str s = api_text(at->value), rest = str_sub(s, 4, SIZE_MAX);
    bool iqn = str_starts(s, STR("iqn")), eui = str_starts(s, STR("eui")),
         naa = str_starts(s, STR("naa"));
    if (!iqn && !eui && !naa)
        api_fail(at, API_ERROR_INVALID,
                 *arg ? "must be valid format"
                      : "must be valid format starting with iqn, eui, or naa");
    else if ((iqn && !is_iqn(s)) || (eui && !all_alnum(rest, 16)) ||
             (naa && !all_alnum(rest, 32)))
        api_fail(at, API_ERROR_INVALID, "must be valid format");
    return true;
}

API_RULE(iscsi_secret)
{
    if ((rules_is_true(at->value, "chapAuthDiscovery") ||
         rules_is_true(at->value, "chapAuthSession")) &&
        !api_member(at->value, "secretRef"))
        api_report_at(at, ".secretRef", NULL, API_ERROR_REQUIRED, "%s", "");
    return true;
}

API_RULE(iscsi_initiator)
{
    const struct doc *iscsi = api_member(at->value, "iscsi");
    const struct doc *name = api_member(at->value, "name");
    if (api_member(iscsi, "initiatorName") &&
        api_text(name).n + 1 + doc_get_text(iscsi, "targetPortal").n > 64)
        api_report_at(
            at, ".name", name, API_ERROR_INVALID,
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
            "characters if iscsi.initiatorName is specified.");
    return true;
}

API_RULE(fibre_channel)
{
    const struct doc *names = api_member(at->value, "targetWWNs");
    const struct doc *lun = api_member(at->value, "lun");
    bool ids = !api_empty(api_member(at->value, "wwids"));
    if (api_empty(names) && !ids)
        api_report_at(at, ".targetWWNs", names, API_ERROR_REQUIRED,
                      "must specify either targetWWNs or wwids, but not both");
    if (!api_empty(names) && ids)
        api_report_at(at, ".targetWWNs", names, API_ERROR_INVALID,
                      "targetWWNs and wwids can not be specified simultaneously");
    if (api_empty(names))
        return true;
    if (!lun)
        api_report_at(at, ".lun", lun, API_ERROR_REQUIRED,
                      "lun is required if targetWWNs is specified");
    else if (rules_int(lun, 0) < 0 || rules_int(lun, 0) > 255)
        api_report_at(at, ".lun", lun, API_ERROR_INVALID,
                      "must be between 0 and 255, inclusive");
    return true;
}

API_RULE(flocker)
{
    const struct doc *name = api_member(at->value, "datasetName");
    bool uuid = !api_empty(api_member(at->value, "datasetUUID"));
    if (api_empty(name) && !uuid)
        api_fail(at, API_ERROR_REQUIRED,
                 "one of datasetName and datasetUUID is required");
    if (!api_empty(name) && uuid)
        api_report_shown(at, "", STR("\"resource\""), API_ERROR_INVALID,
                         "datasetName and datasetUUID can not be specified "
                         "simultaneously");
    if (str_find_byte(api_text(name), '/', 0) != SIZE_MAX)
        api_report_at(at, ".datasetName", name, API_ERROR_INVALID,
                      "must not contain '/'");
    return true;
}

static bool are_host_ports(struct str s)
{
    for (size_t from = 0;;) {
        size_t comma = str_find_byte(s, ',', from);
        struct str pair = str_sub(s, from, comma);
        size_t colon = str_find_byte(pair, ':', 0);
        if (colon == SIZE_MAX ||
            (pair.p[0] != '[' && str_find_byte(pair, ':', colon + 1) != SIZE_MAX))
            return false;
        if (comma == SIZE_MAX)
            return true;
        from = comma + 1;
    }
}

API_RULE(quobyte)
{
    static const char text[] =
        "must be a host:port pair or multiple pairs separated by commas";
    const struct doc *registry = api_member(at->value, "registry");
    if (api_empty(registry))
        api_report_at(at, ".registry", registry, API_ERROR_REQUIRED, "%s", text);
    else if (doc_get_text(at->value, "tenant").n >= 65)
        api_report_at(at, ".tenant", api_member(at->value, "tenant"), API_ERROR_REQUIRED,
                      "must be a UUID and may not exceed a length of 64 characters");
    else if (!are_host_ports(api_text(registry)))
        api_report_at(at, ".registry", registry, API_ERROR_INVALID, "%s", text);
    return true;
}

API_RULE(flex_options)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        struct str key = doc_key(&at->value->members[i]);
        struct str host = str_sub(key, 0, str_find_byte(key, '/', 0));
        struct str dotted =
            arena_printf(at->w->a, ".%.*s", STR_ARG(rules_lowered(at->w->a, host)));
        if (str_ends(dotted, STR(".kubernetes.io")) || str_ends(dotted, STR(".k8s.io")))
            api_report_shown(at, arena_printf(at->w->a, "[%.*s]", STR_ARG(key)).p,
                             api_shown_text(at->w->a, key), API_ERROR_INVALID,
                             "kubernetes.io and k8s.io namespaces are reserved");
    }
    return true;
}

API_RULE(azure_disk)
{
    const struct doc *kind = api_member(at->value, "kind");
    const struct doc *uri = api_member(at->value, "diskURI");
    bool managed = doc_is_string(kind, "Managed");
    if (kind && managed && !str_starts(api_text(uri), STR("/subscriptions/")))
        rules_not_supported(
            at, ".diskURI", uri,
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
            "microsoft.compute/disks/{disk-id}");
    if (kind && !managed && !str_starts(api_text(uri), STR("https://")))
        rules_not_supported(at, ".diskURI", uri,
                            "https://{account-name}.blob.core.windows.net/"
                            "{container-name}/{disk-name}.vhd");
    return true;
}

/* The secret's name is reported where upstream does. */
API_RULE(csi_secret)
{
    const struct doc *name =
        api_member(api_member(at->value, "nodePublishSecretRef"), "name");
    if (!api_member(at->value, "nodePublishSecretRef"))
        return true;
    if (api_empty(name))
        api_report_at(at, ".nodePublishSecretRef.name", name, API_ERROR_REQUIRED, "%s",
                      "");
    else
        rules_name_at(at, ".name", name, NAME_DNS1123_SUBDOMAIN);
    return true;
}

API_RULE(ephemeral_name)
{
    struct str pod = doc_get_text(api_member(at->w->object, "metadata"), "name");
    const struct doc *name = api_member(at->value, "name");
    struct str problems[NAME_MAX_PROBLEMS];
    if (!api_member(at->value, "ephemeral") || !rules_is_pod(at->w) || pod.n == 0 ||
        api_empty(name))
        return true;
    struct str claim =
        arena_printf(at->w->a, "%.*s-%.*s", STR_ARG(pod), STR_ARG(api_text(name)));
    unsigned n = name_check(NAME_DNS1123_SUBDOMAIN, claim, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_at(at, ".name", name, API_ERROR_INVALID, "PVC name %.*s: %.*s",
                      STR_ARG(api_shown_text(at->w->a, claim)), STR_ARG(problems[i]));
    return true;
}

/* ---- files of the downward API ---- */

static void check_file(struct api_at *at, const struct doc *file)
{
    const struct doc *path = api_member(file, "path"), *mode = api_member(file, "mode");
    const struct doc *field = api_member(file, "fieldRef");
    const struct doc *resource = api_member(file, "resourceFieldRef");
    struct strbuf *b = &at->w->path;
    size_t mark = b->n;
    if (api_empty(path))
        api_report_at(at, ".path", path, API_ERROR_REQUIRED, "%s", "");
    rules_local_path(at, ".path", path);
    struct api_at ref = *at;
    ref.value = field ? field : resource;
    strbuf_adds(b, field ? ".fieldRef" : ".resourceFieldRef");
    if (field)
        rule_field_ref(&ref, "file");
    else if (resource)
        rule_resource_ref(&ref, "file");
    b->n = mark;
    b->p[mark] = '\0';
    if (field && resource)
        api_report_shown(at, "", STR("\"resource\""), API_ERROR_INVALID,
                         "fieldRef and resourceFieldRef can not be specified "
                         "simultaneously");
    if (!field && !resource)
        api_fail(at, API_ERROR_REQUIRED,
                 "one of fieldRef and resourceFieldRef is required");
    if (mode && (rules_int(mode, 0) < 0 || rules_int(mode, 0) > 0777))
        api_report_at(at, ".mode", mode, API_ERROR_INVALID,
                      "must be a number between 0 and 0777 (octal), both inclusive");
}

/* Upstream reports what is wrong with a file at the volume. */
API_RULE(downward_files)
{
    const struct doc *items = api_member(at->value, "items");
    for (uint32_t i = 0; items && i < items->n; i++)
        check_file(at, &items->items[i]);
    return true;
}

/* ---- projected volumes ---- */

API_RULE(one_projection)
{
    static const char *const KEYS[] = {"secret",
                                       "configMap",
                                       "downwardAPI",
                                       "serviceAccountToken",
                                       "clusterTrustBundle",
                                       "podCertificate"};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        n += api_member(at->value, KEYS[i]) != NULL;
    if (n > 1)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "may not specify more than 1 volume type per source");
    return true;
}

static void take_path(struct api_at *at, struct strmap *seen, struct str path,
                      struct str shown)
{
    bool made;
    strmap_put(seen, path, &made);
    if (!made)
        api_report_shown(at, "", api_shown_text(at->w->a, shown), API_ERROR_INVALID,
                         "conflicting duplicate paths");
}

static void take_items(struct api_at *at, struct strmap *seen, const struct doc *source,
                       bool named)
{
    const struct doc *items = api_member(source, "items");
    for (uint32_t i = 0; items && i < items->n; i++) {
        struct str path = doc_get_text(&items->items[i], "path");
        if (path.n)
            take_path(at, seen, path, named ? doc_get_text(source, "name") : path);
    }
}

static void take_source(struct api_at *at, struct strmap *seen, const struct doc *s)
{
    static const char *const CERTIFICATE[] = {"credentialBundlePath", "keyPath",
                                              "certificateChainPath"};
    const struct doc *bundle = api_member(s, "clusterTrustBundle");
    const struct doc *token = api_member(s, "serviceAccountToken");
    const struct doc *path = api_member(token, "path");
    take_items(at, seen, api_member(s, "secret"), true);
    take_items(at, seen, api_member(s, "configMap"), true);
    take_items(at, seen, api_member(s, "downwardAPI"), false);
    if (token && api_empty(path))
        api_report_at(at, ".path", path, API_ERROR_REQUIRED, "%s", "");
    else if (token)
        rules_local_path(at, ".path", path);
    if (bundle)
        take_path(at, seen, doc_get_text(bundle, "path"), doc_get_text(bundle, "path"));
    for (int i = 0; i < 3; i++) {
        struct str file = doc_get_text(api_member(s, "podCertificate"), CERTIFICATE[i]);
        if (file.n)
            take_path(at, seen, file, file);
    }
}

/* Some of it upstream reports at the volume. */
API_RULE(projections)
{
    const struct doc *sources = api_member(at->value, "sources");
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; sources && i < sources->n; i++)
        take_source(at, &seen, &sources->items[i]);
    strmap_release(&seen);
    return true;
}

API_RULE(token_expiration)
{
    int64_t v = rules_int(at->value, 0);
    if (!at->value)
        return api_fail(at, API_ERROR_REQUIRED, "");
    if (v < 600)
        api_fail(at, API_ERROR_INVALID,
                 "may not specify a duration less than 10 minutes");
    if (v > (int64_t)1 << 32)
        api_fail(at, API_ERROR_INVALID,
                 "may not specify a duration larger than 2^32 seconds");
    return true;
}

/* Only pods have the account that a token is of. */
API_RULE(token_account)
{
    if (rules_is_pod(at->w) && doc_get_text(at->w->pod_spec, "serviceAccountName").n == 0)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "must not be specified when serviceAccountName is not set");
    return true;
}

/* ---- certificates ---- */

static void label_problems(struct api_at *at, const char *suffix, struct str all,
                           struct str label, enum name_kind kind)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = name_check(kind, label, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, suffix, api_shown_text(at->w->a, all), API_ERROR_INVALID,
                         "validating label %.*s: %.*s",
                         STR_ARG(api_shown_text(at->w->a, label)), STR_ARG(problems[i]));
}

/* The first bad one of the parts between dots; returns how many parts there are. */
static unsigned check_parts(struct api_at *at, const char *suffix, struct str s,
                            enum name_kind kind)
{
    unsigned parts = 0;
    bool bad = false;
    for (size_t from = 0;;) {
        size_t dot = str_find_byte(s, '.', from);
        struct str part = str_sub(s, from, dot);
        parts++;
        if (!bad && !name_valid(kind, part)) {
            label_problems(at, suffix, s, part, kind);
            bad = true;
        }
        if (dot == SIZE_MAX)
            return parts;
        from = dot + 1;
    }
}

API_RULE(signer_name)
{
    struct str s = api_text(at->value);
    size_t slash = str_find_byte(s, '/', 0);
    if (s.n == 0)
        return api_fail(at, API_ERROR_REQUIRED, "");
    if (slash == SIZE_MAX || str_find_byte(s, '/', slash + 1) != SIZE_MAX)
        return api_fail(at, API_ERROR_INVALID,
                        "must be a fully qualified domain and path of the form "
                        "'example.com/signer-name'");
    struct str domain = str_sub(s, 0, slash);
    if (domain.n > 253)
        api_fail(at, API_ERROR_TOO_LONG, "may not be more than 253 bytes");
    if (check_parts(at, "", domain, NAME_DNS1123_LABEL) < 2)
        api_report_shown(at, "", api_shown_text(at->w->a, domain), API_ERROR_INVALID,
                         "should be a domain with at least two segments separated by "
                         "dots");
    check_parts(at, "", str_sub(s, slash + 1, SIZE_MAX), NAME_DNS1123_SUBDOMAIN);
    if (s.n > 571)
        api_fail(at, API_ERROR_TOO_LONG, "may not be more than 571 bytes");
    return true;
}

static void check_bundle_name(struct api_at *at, const struct doc *name)
{
    struct str s = api_text(name), problems[NAME_MAX_PROBLEMS];
    size_t colon = s.n;
    while (colon && s.p[colon - 1] != ':')
        colon--;
    unsigned n = name_check(NAME_DNS1123_SUBDOMAIN, str_sub(s, colon, SIZE_MAX), at->w->a,
                            problems);
    for (unsigned i = 0; i < n; i++)
        api_report_at(at, ".name", name, API_ERROR_INVALID,
                      "not a valid clustertrustbundlename: %.*s", STR_ARG(problems[i]));
}

API_RULE(trust_bundle)
{
    const struct doc *name = api_member(at->value, "name");
    const struct doc *signer = api_member(at->value, "signerName");
    const struct doc *selector = api_member(at->value, "labelSelector");
    if (name && signer) {
        api_fail(at, API_ERROR_INVALID, "only one of name and signerName may be used");
    } else if (name) {
        if (api_empty(name))
            api_report_at(at, ".name", name, API_ERROR_REQUIRED,
                          "must be a valid object name");
        check_bundle_name(at, name);
        if (selector)
            api_report_at(at, ".labelSelector", selector, API_ERROR_INVALID,
                          "labelSelector must be unset if name is specified");
    } else if (signer && api_empty(signer)) {
        api_report_at(at, ".signerName", signer, API_ERROR_REQUIRED,
                      "must be a valid signer name");
    } else if (!signer) {
        api_fail(at, API_ERROR_REQUIRED, "either name or signerName must be specified");
    }
    return true;
}

/* Of a bundle that is chosen by its signer. */
API_RULE(bundle_signer)
{
    return api_member(at->parent, "signerName") && !api_member(at->parent, "name");
}

static bool is_kubernetes_signer(struct str s)
{
    struct str host = str_sub(s, 0, str_find_byte(s, '/', 0));
    return str_is(host, "kubernetes.io") || str_ends(host, STR(".kubernetes.io"));
}

API_RULE(certificate_expiration)
{
    int64_t v = rules_int(at->value, 0);
    bool own = is_kubernetes_signer(doc_get_text(at->parent, "signerName"));
    int64_t most = own ? 86400 : 7862400;
    if (v < 3600)
        api_fail(at, API_ERROR_INVALID,
                 "if provided, maxExpirationSeconds must be >= 3600");
    if (v > most)
        api_report(at, API_ERROR_INVALID,
                   "if provided, maxExpirationSeconds must be <= %lld", (long long)most);
    return true;
}

API_RULE(certificate_paths)
{
    if (api_empty(api_member(at->value, "credentialBundlePath")) &&
        api_empty(api_member(at->value, "keyPath")) &&
        api_empty(api_member(at->value, "certificateChainPath")))
        api_fail(at, API_ERROR_REQUIRED,
                 "specify at least one of credentialBundlePath, keyPath, and "
                 "certificateChainPath");
    return true;
}

API_RULE(user_annotations)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        struct str key = rules_lowered(at->w->a, doc_key(&at->value->members[i]));
        struct str problems[NAME_MAX_PROBLEMS], shown = api_shown_text(at->w->a, key);
        unsigned n = key.n ? name_check(NAME_LABEL_KEY, key, at->w->a, problems) : 0;
        for (unsigned k = 0; k < n; k++)
            api_report_shown(at, "", shown, API_ERROR_INVALID, "%.*s",
                             STR_ARG(problems[k]));
        if (key.n == 0)
            api_fail(at, API_ERROR_REQUIRED, "");
        else if (n == 0 && str_find_byte(key, '/', 0) == SIZE_MAX)
            api_report_shown(at, "", shown, API_ERROR_INVALID,
                             "must be a domain-prefixed key (such as \"acme.io/foo\")");
    }
    return true;
}

/* ---- claims of storage ---- */

API_RULE(access_modes)
{
    static const char modes[] =
        "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod";
    bool alone = false, shared = false;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *mode = &at->value->items[i];
        struct api_at one = *at;
        one.value = mode;
        bool known = rule_one_of(&one, modes);
        bool once = doc_is_string(mode, "ReadWriteOncePod");
        alone = alone || once;
        shared = shared || (known && !once);
    }
    if (alone && shared)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "may not use ReadWriteOncePod with other access modes");
    return true;
}

API_RULE(claim_storage)
{
    const struct doc *requests =
        api_member(api_member(at->value, "resources"), "requests");
    struct quantity q;
    if (!rules_quantity(at, requests, "storage", &q))
        api_report_at(at, ".resources[storage]", NULL, API_ERROR_REQUIRED, "%s", "");
    else if (quantity_sign(&q) <= 0)
        api_report_at(at, ".resources[storage]", api_member(requests, "storage"),
                      API_ERROR_INVALID, "must be greater than zero");
    return true;
}

API_RULE(data_source)
{
    const struct doc *kind = api_member(at->value, "kind");
    const struct doc *group = api_member(at->value, "apiGroup");
    const struct doc *name = api_member(at->value, "name");
    const struct doc *namespace = api_member(at->value, "namespace");
    if (api_empty(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED, "%s", "");
    if (api_empty(kind))
        api_report_at(at, ".kind", kind, API_ERROR_REQUIRED, "%s", "");
    if (api_empty(group) && !doc_is_string(kind, "PersistentVolumeClaim"))
        api_report_shown(at, "", api_shown_text(at->w->a, api_text(kind)),
                         API_ERROR_INVALID,
                         "must be 'PersistentVolumeClaim' when referencing the default "
                         "apiGroup");
    if (!api_empty(group))
        rules_name_at(at, ".apiGroup", group, NAME_DNS1123_SUBDOMAIN);
    if (!api_empty(namespace))
        rules_name_at(at, ".namespace", namespace, NAME_DNS1123_LABEL);
    return true;
}
