/* SPDX-License-Identifier: Apache-2.0 */
#include "node/plugins_services.h"

#include "base/quote.h"

static const char *const DRA[] = {"v1.DRAPlugin", "v1beta1.DRAPlugin"};
static const char *const HEALTH[] = {"v1.DRAResourceHealth",
                                     "v1alpha1.DRAResourceHealth"};
enum { NDRA = sizeof DRA / sizeof *DRA, NHEALTH = sizeof HEALTH / sizeof *HEALTH };

static bool is_among(const char *const *names, size_t n, const char *name, size_t *at)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            *at = i;
            return true;
        }
    }
    return false;
}

static void quote_list(const char *const *names, size_t n, struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            strbuf_addc(out, ' ');
        strbuf_add_quoted(out, str_from(names[i]));
    }
    strbuf_addc(out, ']');
}

static bool none_fits(const char *const *names, size_t n, struct err *e)
{
    struct strbuf theirs = STRBUF_INIT, ours = STRBUF_INIT;
    quote_list(names, n, &theirs);
    quote_list(DRA, NDRA, &ours);
    err_set(e, ERR_UNSUPPORTED,
            "none of services supported by the plugin (%s) are supported by the kubelet "
            "(%s)",
            strbuf_cstr(&theirs), strbuf_cstr(&ours));
    strbuf_release(&theirs);
    strbuf_release(&ours);
    return false;
}

static enum plugin_health choose_health(const char *const *names, size_t n)
{
    size_t at;
    for (size_t i = 0; i < NHEALTH; i++)
        if (is_among(names, n, HEALTH[i], &at))
            return i == 0 ? PLUGIN_HEALTH_V1 : PLUGIN_HEALTH_V1ALPHA1;
    return PLUGIN_HEALTH_NONE;
}

bool plugin_services_choose(const char *const *names, size_t n, enum plugin_dra *dra,
                            enum plugin_health *health, struct err *e)
{
    size_t at = 0, i = 0;
    if (n == 0)
        return err_set(e, ERR_INVALID,
                       "empty list of supported gRPC services (aka supported versions)");
    while (i < n && !is_among(DRA, NDRA, names[i], &at))
        i++;
    if (i == n)
        return none_fits(names, n, e);
    *dra = at == 0 ? PLUGIN_V1 : PLUGIN_V1BETA1;
    *health = choose_health(names, n);
    return true;
}
