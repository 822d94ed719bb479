/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "cli/doctor.h"
#include "driver/prepare.h"
#include "driver/sockets.h"
#include "grpc/grpc.h"
#include "grpc/registration.pb-c.h"
#include "node/disk.h"

enum { ANSWER_MS = 5000 };

/* ---- asking a driver who it is ---- */

struct question {
    struct doctor *d;
    struct net_loop *loop;
    const char *path;
    bool done;
    struct str name; /* that it answers with */
    struct str why;  /* it does not */
};

static void on_answer(void *ctx, ProtobufCMessage *m, const struct grpc_end *end)
{
    struct question *q = ctx;
    q->done = true;
    if (m) {
        const Registration__PluginInfo *info = (const Registration__PluginInfo *)m;
        q->name = arena_str(q->d->a, str_from(info->name));
        protobuf_c_message_free_unpacked(m, NULL);
    } else {
        q->why = arena_str(q->d->a, end->message);
    }
}

static void on_closed(void *ctx, const struct err *why)
{
    struct question *q = ctx;
    if (!q->done)
        q->why = arena_str(q->d->a, str_from(err_text(why)));
    q->done = true;
}

static const struct net_client_ops QUIET = {.closed = on_closed};

static void ask(struct question *q)
{
    Registration__InfoRequest request = REGISTRATION__INFO_REQUEST__INIT;
    struct net_client_opts o = {.address = arena_printf(q->d->a, "unix:%s", q->path).p,
                                .connect_ms = ANSWER_MS};
    struct grpc_opts call = {.method = "/pluginregistration.Registration/GetInfo",
                             .timeout_ms = ANSWER_MS};
    struct err e = ERR_INIT;
    struct net_client *c = net_client_new(q->loop, &o, &QUIET, q, &e);
    if (!c) {
        q->why = arena_str(q->d->a, str_from(err_text(&e)));
        err_release(&e);
        return;
    }
    grpc_ask(c, &call, &request.base, &registration__plugin_info__descriptor, on_answer,
             q);
    while (!q->done)
        net_loop_run_once(q->loop, true);
    net_client_close(c);
}

/* ---- sockets ---- */

struct sockets {
    struct doctor *d;
    struct net_loop *loop;
    unsigned mine; /* of the driver that is looked for, answering */
};

static bool check_socket(void *ctx, const char *name)
{
    struct sockets *s = ctx;
    struct doctor *d = s->d;
    struct question q = {.d = d, .loop = s->loop};
    struct stat st;
    q.path = doctor_path(d, "%.*s/plugins_registry/%s", STR_ARG(d->kubelet_dir), name);
    if (name[0] == '.' || stat(q.path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return true;
    ask(&q);
    if (q.name.n)
        doctor_ok(d, "%.*s answers at %s", STR_ARG(q.name), name);
    else
        doctor_wrong(d,
                     "%s: nobody answers (%.*s); while the socket is there, the kubelet "
                     "takes the driver for registered and pods wait for it",
                     name, STR_ARG(q.why));
    s->mine += str_eq(q.name, d->driver);
    return true;
}

void doctor_sockets(struct doctor *d)
{
    struct sockets s = {d, net_loop_new(NULL), 0};
    if (!s.loop)
        return;
    disk_each(doctor_path(d, "%.*s/plugins_registry", STR_ARG(d->kubelet_dir)),
              check_socket, &s, NULL);
    net_loop_free(s.loop);
    if (!s.mine)
        doctor_wrong(d, "driver %.*s is not registered with the kubelet",
                     STR_ARG(d->driver));
}

/* ---- holders ---- */

static const struct client_kind CLAIM = {"resource.k8s.io", "v1", "resourceclaims", true};

/* NULL: the claim is gone, or no server is asked (*known false). */
static const struct doc *claim_of(struct doctor *d, const struct driver_holder *h,
                                  bool *known)
{
    *known = false;
    if (!d->session)
        return NULL;
    const struct client_answer *a = session_get(
        d->session, client_path(&CLAIM, h->claim_namespace, h->claim_name, NULL, d->a),
        NULL);
    *known = a->ok || a->status == 404;
    const struct doc *claim = a->ok ? session_doc(d->session, a, NULL) : NULL;
    return str_eq(doc_get_text(doc_get(claim, "metadata"), "uid"), h->claim_uid) ? claim
                                                                                 : NULL;
}

static struct str users_of(const struct doctor *d, const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "status.reservedFor");
    struct str all = STR_NONE;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        all = arena_printf(d->a, "%.*s%s%.*s", STR_ARG(all), all.n ? ", " : "",
                           STR_ARG(doc_get_text(&list->items[i], "name")));
    return all.n ? all : STR("nobody");
}

static void show_holder(struct doctor *d, const struct driver_holder *h)
{
    bool known;
    const struct doc *claim = claim_of(d, h, &known);
    struct str device = h->device.n ? h->device : h->identity;
    struct str what =
        arena_printf(d->a, "%.*s is held by claim %.*s/%.*s for %.*s", STR_ARG(device),
                     STR_ARG(h->claim_namespace), STR_ARG(h->claim_name),
                     STR_ARG(doctor_since(d, h->since_s)));
    if (h->trouble.n)
        doctor_wrong(d, "%.*s; it cannot be given back for %.*s: %.*s", STR_ARG(what),
                     STR_ARG(doctor_since(d, h->undo_since_s)), STR_ARG(h->trouble));
    else if (known && !claim)
        doctor_wrong(d, "%.*s; the claim is gone, and no kubelet has given it back",
                     STR_ARG(what));
    else if (claim && doc_path(claim, "metadata.deletionTimestamp"))
        doctor_note(d, "%.*s; the claim is being deleted, and used by %.*s",
                    STR_ARG(what), STR_ARG(users_of(d, claim)));
    else if (claim)
        doctor_ok(d, "%.*s, used by %.*s", STR_ARG(what), STR_ARG(users_of(d, claim)));
    else
        doctor_note(d, "%.*s", STR_ARG(what));
}

void doctor_holders(struct doctor *d)
{
    struct driver_holder *v;
    uint32_t n = 0;
    struct err e = ERR_INIT;
    struct str dir =
        arena_printf(d->a, "%.*s%.*s", STR_ARG(d->root),
                     STR_ARG(driver_data_dir(d->driver, d->kubelet_dir, d->a)));
    if (!driver_prepare_peek(dir, d->a, &v, &n, &e)) {
        doctor_wrong(d, "what is prepared: %s", err_text(&e));
        err_release(&e);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        show_holder(d, &v[i]);
    if (!n)
        doctor_ok(d, "no claim holds a device");
}
