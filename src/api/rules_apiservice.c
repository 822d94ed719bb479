/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of APIServices, in upstream's order. */
#include "api/rules_util.h"

/* Its name says version and group. */
API_RULE(apiservice_name)
{
    const struct doc *name = doc_path(at->value, "metadata.name"),
                     *spec = doc_get(at->value, "spec");
    struct str version = doc_get_text(spec, "version"),
               group = doc_get_text(spec, "group");
    struct str want =
        arena_printf(at->w->a, "%.*s.%.*s", STR_ARG(version), STR_ARG(group));
    if (!str_eq(api_text(name), want))
        api_report_at(at, ".metadata.name", name, API_ERROR_INVALID,
                      "must be `spec.version+\".\"+spec.group`: %.*s",
                      STR_ARG(api_shown_text(at->w->a, want)));
    return true;
}

static void check_group(struct api_at *at)
{
    const struct doc *group = api_member(at->value, "group");
    struct str version = doc_get_text(at->value, "version");
    if (api_empty(group) && !str_is(version, "v1"))
        api_report_at(at, ".group", group, API_ERROR_REQUIRED,
                      "only v1 may have an empty group and it better be legacy kube");
    if (!api_empty(group))
        rules_name_at(at, ".group", group, NAME_DNS1123_SUBDOMAIN);
}

static void check_priority(struct api_at *at, const char *member, int64_t most)
{
    const struct doc *v = api_member(at->value, member);
    int64_t n = 0;
    doc_get_int64(at->value, member, &n);
    if (n <= 0 || n > most)
        api_report_at(at, arena_printf(at->w->a, ".%s", member).p, v, API_ERROR_INVALID,
                      "must be positive and less than %lld", (long long)most);
}

static size_t base64_bytes(struct str text)
{
    size_t pad = str_ends(text, STR("==")) ? 2 : str_ends(text, STR("="));
    return text.n / 4 * 3 - (text.n ? pad : 0);
}

static void check_local(struct api_at *at, bool insecure)
{
    struct arena *a = at->w->a;
    const struct doc *ca = api_member(at->value, "caBundle");
    struct str size = arena_printf(a, "%zu bytes", base64_bytes(api_text(ca)));
    if (!api_empty(ca))
        api_report_shown(at, ".caBundle", api_shown_text(a, size), API_ERROR_INVALID,
                         "local APIServices may not have a caBundle");
    if (insecure)
        api_report_at(at, ".insecureSkipTLSVerify",
                      api_member(at->value, "insecureSkipTLSVerify"), API_ERROR_INVALID,
                      "local APIServices may not have insecureSkipTLSVerify");
}

static void check_service(struct api_at *at, const struct doc *service, bool insecure)
{
    static const char *const NEEDED[] = {"namespace", "name"};
    const struct doc *port = api_member(service, "port");
    int64_t n = 0;
    for (int i = 0; i < 2; i++)
        if (api_empty(api_member(service, NEEDED[i])))
            api_report_at(at, arena_printf(at->w->a, ".service.%s", NEEDED[i]).p, NULL,
                          API_ERROR_REQUIRED, "%s", "");
    doc_get_int64(service, "port", &n);
    if (n < 1 || n > 65535)
        api_report_at(at, ".service.port", port, API_ERROR_INVALID,
                      "port is not valid: must be between 1 and 65535, inclusive");
    if (insecure && !api_empty(api_member(at->value, "caBundle")))
        api_report_at(at, ".insecureSkipTLSVerify",
                      api_member(at->value, "insecureSkipTLSVerify"), API_ERROR_INVALID,
                      "may not be true if caBundle is present");
}

API_RULE(apiservice_spec)
{
    const struct doc *service = api_member(at->value, "service");
    bool insecure = false;
    check_group(at);
    rules_name_at(at, ".version", api_member(at->value, "version"), NAME_DNS1035_LABEL);
    check_priority(at, "groupPriorityMinimum", 20000);
    check_priority(at, "versionPriority", 1000);
    doc_get_bool(at->value, "insecureSkipTLSVerify", &insecure);
    if (service)
        check_service(at, service, insecure);
    else
        check_local(at, insecure);
    return true;
}
