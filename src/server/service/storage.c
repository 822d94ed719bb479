/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service/storage.h"

#include "server/inner.h"

static bool read_pem(const char *path, struct arena *a, struct str *out, struct err *e)
{
    return !path || dir_read_file(a, path, out, e);
}

/* "etcd://HOST:PORT" with the prefix that stands apart. */
static const char *store_url(const struct server_opts *o, struct arena *a, struct err *e)
{
    if (!o->store)
        return arena_printf(a, "sqlite:%s/store", o->dir).p;
    if (!o->etcd_prefix)
        return o->store;
    struct str url = str_from(o->store);
    size_t host = str_find(url, STR("://"));
    bool apart = host != SIZE_MAX && str_find_byte(url, '/', host + 3) == SIZE_MAX;
    if (apart && o->etcd_prefix[0] == '/')
        return arena_printf(a, "%s%s", o->store, o->etcd_prefix).p;
    err_set(e, ERR_INVALID, "--etcd-prefix \"%s\": %s", o->etcd_prefix,
            apart ? "it must begin with /" : "the store has a prefix, or is no etcd");
    return NULL;
}

struct store *storage_open(const struct server_opts *o, struct store_opts how,
                           struct arena *a, struct err *e)
{
    const char *url = store_url(o, a, e);
    if (!url || !read_pem(o->etcd_cafile, a, &how.etcd_ca_pem, e) ||
        !read_pem(o->etcd_certfile, a, &how.etcd_cert_pem, e) ||
        !read_pem(o->etcd_keyfile, a, &how.etcd_key_pem, e))
        return NULL;
    return store_open(url, &how, e);
}
