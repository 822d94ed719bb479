/* SPDX-License-Identifier: Apache-2.0 */
/* Back ends by their names. */
#include "driver/discover.h"

enum { MAX_BACKENDS = 16 };

static const struct {
    const char *name;
    struct driver_backend *(*make)(const struct driver_discover_opts *o);
} BACKENDS[] = {
    {"net", driver_backend_net_new},
    {"amd", driver_backend_amd_new},
    {"intel", driver_backend_intel_new},
    {"tpu", driver_backend_tpu_new},
};

static struct driver_backend *make(struct str name, const struct driver_discover_opts *o,
                                   struct err *e)
{
    for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++)
        if (str_is(name, BACKENDS[i].name))
            return BACKENDS[i].make(o);
    if (str_is(name, "nvml"))
        return driver_backend_nvml_new(NULL, o, e);
    err_set(e, ERR_INVALID,
            "nothing finds \"%.*s\"; there are nvml, net, amd, intel and tpu",
            STR_ARG(name));
    return NULL;
}

/* Adds to v[n]; false: it is none. */
static bool add(struct driver_backend **v, uint32_t *n, struct driver_backend *b)
{
    if (b)
        v[(*n)++] = b;
    return b != NULL;
}

struct driver_backend *driver_backend_new(const char *names, const char *file,
                                          const struct driver_discover_opts *o,
                                          struct err *e)
{
    struct driver_backend *v[MAX_BACKENDS];
    struct str rest = str_from(names), name;
    uint32_t n = 0;
    bool ok = !file || add(v, &n, driver_backend_file_new(file, o, e));
    while (ok && str_split_next(&rest, ',', &name))
        ok = n < MAX_BACKENDS ? add(v, &n, make(str_trim(name), o, e))
                              : err_set(e, ERR_LIMIT, "too many to look with");
    if (ok && n == 0)
        ok = err_set(e, ERR_INVALID, "it is not said which devices there are");
    if (ok)
        return n == 1 ? v[0] : driver_backend_all_new(v, n);
    while (n > 0)
        driver_backend_free(v[--n]);
    return NULL;
}
