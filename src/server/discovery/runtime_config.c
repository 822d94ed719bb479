/* SPDX-License-Identifier: Apache-2.0 */
#include "server/discovery/runtime_config.h"

#include <stdio.h>
#include <string.h>

/* ---- stages ---- */

enum { GA = 1, BETA = 2, ALPHA = 4 };

static int stage_of(const char *version)
{
    return strstr(version, "alpha") ? ALPHA : strstr(version, "beta") ? BETA : GA;
}

/* In the order in which they are looked at. */
static const struct {
    const char *key;
    int stages;
} GROUPS[] = {{"api/all", GA | BETA | ALPHA},
              {"api/ga", GA},
              {"api/beta", BETA},
              {"api/alpha", ALPHA}};
enum { NGROUPS = sizeof GROUPS / sizeof *GROUPS };

/* ---- entries ---- */

struct entry {
    struct str key, value;
};

/* The next of the list; false: there is none. */
static bool next_entry(struct str *rest, struct entry *out)
{
    if (rest->n == 0)
        return false;
    size_t end = str_find_byte(*rest, ',', 0);
    struct str one = str_trim(str_sub(*rest, 0, end));
    size_t eq = str_find_byte(one, '=', 0);
    out->key = str_sub(one, 0, eq);
    out->value = eq == SIZE_MAX ? STR("") : str_sub(one, eq + 1, SIZE_MAX);
    *rest = end == SIZE_MAX ? STR("") : str_sub(*rest, end + 1, SIZE_MAX);
    return true;
}

static bool read_bool(struct str s, bool *out)
{
    *out = s.n == 0 || str_is(s, "true") || str_is(s, "1");
    return *out || str_is(s, "false") || str_is(s, "0");
}

/* The last word on a key wins. */
static bool find(const char *list, struct str key, bool *on)
{
    struct str rest = str_from(list ? list : "");
    struct entry x;
    bool found = false;
    while (next_entry(&rest, &x))
        if (str_eq(x.key, key) && read_bool(x.value, on))
            found = true;
    return found;
}

/* "apps/v1[/RESOURCE]"; the core group is "/v1", which nobody may name. */
static bool is_known(struct str key)
{
    size_t first = str_find_byte(key, '/', 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : str_find_byte(key, '/', first + 1);
    struct str group = str_sub(key, 0, first), version = str_sub(key, first + 1, second),
               resource =
                   second == SIZE_MAX ? STR_NONE : str_sub(key, second + 1, SIZE_MAX);
    for (uint32_t i = 0; first != SIZE_MAX && i < api_nkinds; i++)
        if (str_is(group, api_kinds[i].group) && str_is(version, api_kinds[i].version) &&
            (!resource.p || str_is(resource, api_kinds[i].resource)))
            return true;
    return false;
}

bool runtime_config_check(const char *list, struct err *e)
{
    struct str rest = str_from(list ? list : "");
    struct entry x;
    while (next_entry(&rest, &x)) {
        bool on, known = is_known(x.key);
        for (int i = 0; !known && i < NGROUPS; i++)
            known = str_is(x.key, GROUPS[i].key);
        if (!known)
            return err_set(e, ERR_INVALID,
                           "--runtime-config: there is no API \"%.*s\"; write api/all, "
                           "api/ga, api/beta, api/alpha, GROUP/VERSION or "
                           "GROUP/VERSION/RESOURCE",
                           STR_ARG(x.key));
        if (!read_bool(x.value, &on))
            return err_set(e, ERR_INVALID,
                           "--runtime-config: %.*s is true or false, not \"%.*s\"",
                           STR_ARG(x.key), STR_ARG(x.value));
    }
    return true;
}

/* ---- kinds ---- */

static bool gate_allows(const struct api_gates *g, const struct api_kind *k)
{
    static const struct {
        const char *group, *resource;
        enum api_gate gate;
    } ROWS[] = {
        {"certificates.k8s.io", "clustertrustbundles", API_GATE_ClusterTrustBundle},
        {"certificates.k8s.io", "podcertificaterequests", API_GATE_PodCertificateRequest},
        {"scheduling.k8s.io", "podgroups", API_GATE_GenericWorkload},
        {"scheduling.k8s.io", "workloads", API_GATE_GenericWorkload},
        {"storagemigration.k8s.io", "storageversionmigrations",
         API_GATE_StorageVersionMigrator},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strcmp(k->group, ROWS[i].group) == 0 &&
            strcmp(k->resource, ROWS[i].resource) == 0)
            return api_gate(g, ROWS[i].gate);
    return true;
}

/* Room for GROUP/VERSION/RESOURCE. */
enum { MAX_KEY = 300 };

static struct str key_of(const struct api_kind *k, bool resource, char out[MAX_KEY])
{
    int n = snprintf(out, MAX_KEY, "%s/%s%s%s", k->group, k->version, resource ? "/" : "",
                     resource ? k->resource : "");
    return (struct str){out, (size_t)n};
}

bool runtime_config_serves(const char *list, const struct api_gates *gates,
                           const struct api_kind *k)
{
    char key[MAX_KEY];
    int stage = stage_of(k->version);
    bool on = stage == GA;
    for (int i = 0; i < NGROUPS; i++)
        if (GROUPS[i].stages & stage)
            find(list, str_from(GROUPS[i].key), &on);
    find(list, key_of(k, false, key), &on);
    find(list, key_of(k, true, key), &on);
    return on && gate_allows(gates, k);
}
