/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/server_flags.h"

#include <string.h>

#include "cli/gates.h"

static bool set_gates(void *into, const char *list, struct err *e)
{
    struct server_flags *f = into;
    return gates_read(&f->server.gates, list, e);
}

#define AT(member) offsetof(struct server_flags, server.member)
#define AT_FLAG(member) offsetof(struct server_flags, member)
/* clang-format off */
const struct option_row server_rows[] = {
    {NULL, NULL, 0, 0, "Serving"},
    {"data", "DIR", OPTION_TEXT, AT(dir), "objects, certificates, kubeconfig"},
    {"listen", "ADDRESS:PORT", OPTION_TEXT, AT_FLAG(listen),
     "where to listen (127.0.0.1:6443); port 0: any that is free"},
    {"bind-address", "ADDRESS", OPTION_TEXT, AT_FLAG(bind_address),
     "the same in two options: the address (127.0.0.1)"},
    {"secure-port", "PORT", OPTION_COUNT, AT_FLAG(secure_port), "and the port (6443)"},
    {"tls-cert-file", "FILE", OPTION_TEXT, AT(tls_cert),
     "the server's certificate, a chain if need be (one of the folder's own authority)"},
    {"tls-private-key-file", "FILE", OPTION_TEXT, AT(tls_key), "and its key"},
    {"client-ca-file", "FILE", OPTION_TEXT, AT(client_ca),
     "who signs certificates of users, beside the folder's own authority"},
    {"service-cluster-ip-range", "CIDR[,CIDR]", OPTION_TEXT, AT(service_range),
     "addresses of Services, of one family or both; the first is the server's own "
     "(10.0.0.0/24)"},
    {"service-node-port-range", "FIRST-LAST", OPTION_TEXT, AT(port_range),
     "ports of nodes that Services get (30000-32767)"},
    {"socket", "PATH", OPTION_TEXT, AT(socket),
     "a Unix socket beside it, without TLS: its owner alone opens it, and is an "
     "administrator"},

    {NULL, NULL, 0, 0, "Storage"},
    {"store", "URL", OPTION_TEXT, AT(store),
     "where objects are kept: sqlite:DIR (DIR/store), memory:, "
     "etcd://HOST:PORT,.../PREFIX, or etcds:// for TLS"},
    {"etcd-prefix", "PREFIX", OPTION_TEXT, AT(etcd_prefix),
     "what etcd's keys begin with, when the URL does not say (/dray)"},
    {"etcd-cafile", "FILE", OPTION_TEXT, AT(etcd_cafile), "who signs etcd's certificate"},
    {"etcd-certfile", "FILE", OPTION_TEXT, AT(etcd_certfile),
     "the certificate that is shown to etcd"},
    {"etcd-keyfile", "FILE", OPTION_TEXT, AT(etcd_keyfile), "and its key"},

    {NULL, NULL, 0, 0, "API"},
    {"runtime-config", "API=BOOL,...", OPTION_LIST, AT(runtime_config),
     "versions to serve beside the stable ones, or not: api/all, api/beta, GROUP/VERSION, "
     "GROUP/VERSION/RESOURCE"},
    {"feature-gates", "NAME=BOOL,...", OPTION_CALL, 0, "gates of Kubernetes", set_gates},

    {NULL, NULL, 0, 0, "Users"},
    {"anonymous-auth", "BOOL", OPTION_FLAG, AT(anonymous),
     "whether who shows nothing is system:anonymous (true), or refused"},
    {"token-auth-file", "FILE", OPTION_TEXT, AT(token_file),
     "fixed tokens, a line each: TOKEN,USER,UID,\"GROUP,...\""},
    {"enable-bootstrap-token-auth", "BOOL", OPTION_FLAG, AT(bootstrap_tokens),
     "whether Secrets of type bootstrap.kubernetes.io/token let machines ask for their "
     "first certificate (false)"},
    {"service-account-issuer", "URL,...", OPTION_LIST, AT(token_issuers),
     "who signs tokens of service accounts: the first new ones, all are believed "
     "(https://kubernetes.default.svc.cluster.local)"},
    {"api-audiences", "NAME,...", OPTION_LIST, AT(audiences),
     "what tokens for this server name (the issuers)"},
    {"service-account-signing-key-file", "FILE", OPTION_TEXT, AT(token_signing_key),
     "what signs new ones, RSA or EC (DIR/sa.key, made at the first start)"},
    {"service-account-max-token-expiration", "TIME", OPTION_DURATION, AT(max_token_ms),
     "how long new ones may live, 1h or more (as long as is asked for)"},
    {"service-account-extend-token-expiration", "BOOL", OPTION_FLAG, AT(extend_tokens),
     "whether those that pods mount live a year (true)"},
    {"service-account-key-file", "FILE,...", OPTION_LIST, AT(token_keys),
     "keys whose tokens are believed too"},

    {NULL, NULL, 0, 0, "Kubelets"},
    {"kubelet-client-certificate", "FILE", OPTION_TEXT, AT(kubelet.client_certificate),
     "what kubelets are shown; made in DIR when not given"},
    {"kubelet-client-key", "FILE", OPTION_TEXT, AT(kubelet.client_key), "its key"},
    {"kubelet-certificate-authority", "FILE", OPTION_TEXT,
     AT(kubelet.certificate_authority),
     "whose certificates kubelets have; not given: any"},
    {"kubelet-preferred-address-types", "TYPE,...", OPTION_LIST, AT(kubelet.address_types),
     "of a node's addresses, the first type that it has"},

    {NULL, NULL, 0, 0, "Admission"},
    {"enable-admission-plugins", "NAME,...", OPTION_LIST, AT(enable_admission),
     "plugins to have on beside those that are on by default"},
    {"disable-admission-plugins", "NAME,...", OPTION_LIST, AT(disable_admission),
     "plugins to have off"},
    {"admission-control-config-file", "FILE", OPTION_TEXT, AT(admission_config),
     "what plugins are told: an AdmissionConfiguration"},
    {"enforced-elsewhere", "RESOURCE.GROUP,...", OPTION_LIST, AT(enforced_elsewhere),
     "kinds that something beside the server gives effect to: no warnings of them"},
    {"default-not-ready-toleration-seconds", "N", OPTION_COUNT, AT(not_ready_seconds),
     "how long a pod stays on a node that is not ready, if it does not say (300)"},
    {"default-unreachable-toleration-seconds", "N", OPTION_COUNT, AT(unreachable_seconds),
     "the same of a node that nobody hears of (300)"},

    {NULL, NULL, 0, 0, "Audit"},
    {"audit-log-path", "FILE", OPTION_TEXT, AT(audit_log),
     "where what happens is logged, a line of JSON an event; - for standard output"},
    {"audit-log-maxsize", "N", OPTION_COUNT, AT(audit_megabytes),
     "megabytes after which it is put away and begun anew (100); 0: any number"},
    {"audit-log-maxbackup", "N", OPTION_COUNT, AT(audit_kept),
     "how many that were put away are kept (100); 0: all"},
    {"audit-log-maxage", "N", OPTION_COUNT, AT(audit_days),
     "and for how many days (366); 0: for ever"},
    {"audit-log-compress", "BOOL", OPTION_FLAG, AT(audit_compress),
     "what was put away is compressed by gzip (false)"},
    {"audit-policy-file", "FILE", OPTION_TEXT, AT(audit_policy),
     "what of it: a Policy of audit.k8s.io/v1"},

    {NULL, NULL, 0, 0, "Limits"},
    {"max-requests-inflight", "N", OPTION_COUNT, AT(max_reading),
     "requests that read, at once (400); 0: any number"},
    {"max-mutating-requests-inflight", "N", OPTION_COUNT, AT(max_writing),
     "requests that write, at once (200); 0: any number"},
    {"request-timeout", "DURATION", OPTION_DURATION, AT(request_ms),
     "how long a request may take that is no watch and no stream (1m); 0: any time"},
};
/* clang-format on */
#undef AT
#undef AT_FLAG
const uint32_t server_nrows = sizeof server_rows / sizeof *server_rows;

bool server_flags_finish(struct server_flags *f, struct arena *a, struct err *e)
{
    const char *address = f->bind_address ? f->bind_address : "127.0.0.1";
    bool apart = f->bind_address || f->secure_port != SERVER_NO_PORT,
         six = strchr(address, ':');
    if (f->listen && apart)
        return err_set(e, ERR_INVALID,
                       "--listen says what --bind-address and --secure-port say");
    if (f->listen)
        f->server.listen = f->listen;
    else if (apart)
        f->server.listen =
            arena_printf(a, "%s%s%s:%u", six ? "[" : "", address, six ? "]" : "",
                         f->secure_port == SERVER_NO_PORT ? 6443 : f->secure_port)
                .p;
    return true;
}
