/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/sockets.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base64.h"
#include "net/pki.h"

/* The first n bytes of the SHA-256, in base 64 for URLs, without padding. */
static struct str short_hash(struct str text, unsigned n, struct arena *a)
{
    struct str hex = pki_sha256_hex(text, a);
    char *bytes = arena_alloc(a, n);
    for (unsigned i = 0; i < n; i++)
        bytes[i] =
            (char)(str_hex_digit(hex.p[2 * i]) << 4 | str_hex_digit(hex.p[2 * i + 1]));
    struct str text64 = base64_encode((struct str){bytes, n}, a);
    char *out = (char *)arena_str(a, text64).p;
    size_t size = 0;
    for (; size < text64.n && out[size] != '='; size++)
        out[size] = (char)(out[size] == '+' ? '-' : out[size] == '/' ? '_' : out[size]);
    return (struct str){out, size};
}

static struct str hash_of_both(struct str driver, struct str instance, struct arena *a)
{
    struct strbuf both = {0};
    strbuf_addstr(&both, driver);
    strbuf_addc(&both, '\0');
    strbuf_addstr(&both, instance);
    struct str hash = short_hash(strbuf_str(&both), 16, a);
    strbuf_release(&both);
    return hash;
}

/* The plainest name whose path is short enough. */
static struct str registration_path(struct str driver, struct str kubelet_dir,
                                    struct str instance, struct arena *a)
{
    struct str dir = arena_printf(a, "%.*s/plugins_registry", STR_ARG(kubelet_dir));
    if (instance.n == 0)
        return arena_printf(a, "%.*s/%.*s-reg.sock", STR_ARG(dir), STR_ARG(driver));
    struct str path = arena_printf(a, "%.*s/%.*s-%.*s-reg.sock", STR_ARG(dir),
                                   STR_ARG(driver), STR_ARG(instance));
    if (path.n <= DRIVER_SOCKET_PATH)
        return path;
    struct str hash = short_hash(instance, 8, a);
    path = arena_printf(a, "%.*s/%.*s-%.*s-reg.sock", STR_ARG(dir), STR_ARG(driver),
                        STR_ARG(hash));
    if (path.n <= DRIVER_SOCKET_PATH)
        return path;
    hash = hash_of_both(driver, instance, a);
    return arena_printf(a, "%.*s/dra-%.*s-reg.sock", STR_ARG(dir), STR_ARG(hash));
}

struct str driver_data_dir(struct str driver, struct str kubelet_dir, struct arena *a)
{
    return arena_printf(a, "%.*s/plugins/%.*s", STR_ARG(kubelet_dir), STR_ARG(driver));
}

static bool fits(struct str path, struct err *e)
{
    return path.n <= DRIVER_SOCKET_PATH ||
           err_set(e, ERR_LIMIT,
                   "%.*s: the path of a socket has at most %d bytes, this one %zu; use a "
                   "shorter kubelet directory",
                   STR_ARG(path), (int)DRIVER_SOCKET_PATH, path.n);
}

bool driver_sockets_name(struct str driver, struct str kubelet_dir, struct str instance,
                         struct arena *a, struct driver_sockets *out, struct err *e)
{
    struct str data = driver_data_dir(driver, kubelet_dir, a);
    struct driver_sockets s = {
        .dra = instance.n > 0 ? arena_printf(a, "%.*s/dra-%.*s.sock", STR_ARG(data),
                                             STR_ARG(instance))
                              : arena_printf(a, "%.*s/dra.sock", STR_ARG(data)),
        .registration = registration_path(driver, kubelet_dir, instance, a),
    };
    if (!fits(s.dra, e) || !fits(s.registration, e))
        return false;
    *out = s;
    return true;
}

/* ---- who is there ---- */

static bool answers(struct str path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    memcpy(to.sun_path, path.p, path.n < sizeof to.sun_path ? path.n : 0);
    bool yes = connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
    close(fd);
    return yes;
}

bool driver_sockets_unused(const struct driver_sockets *s, struct err *e)
{
    const struct str paths[] = {s->dra, s->registration};
    for (int i = 0; i < 2; i++)
        if (answers(paths[i]))
            return err_set(e, ERR_INVALID,
                           "%.*s: another instance of the driver answers there",
                           STR_ARG(paths[i]));
    return true;
}
